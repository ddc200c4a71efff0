//! `plan_step`: better wording for the tasks that were found in a mail. The model can neither add nor remove a task.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};
use crate::llm::{
    anonymiser::{Person, QuotedMessage},
    text_check,
};

/// Upper bound of an objective, in characters.
const LONGEST_OBJECTIVE: usize = 160;
/// A deadline further ahead than this counts as a mistake of the model.
const FURTHEST_DAYS: i64 = 730;

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStepData {
    pub language: String,
    pub people: Vec<Person>,
    pub message: QuotedMessage,
    pub tasks: Vec<TaskShown>,
}

/// A task as the program has worded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskShown {
    /// The handle of the task: `T1`, `T2` and so on.
    pub handle: String,
    pub objective: String,
    #[serde(default)]
    pub deadline: String,
    pub steps: Vec<String>,
}

/// What the model answers: every task that was shown, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStepAnswer {
    pub tasks: Vec<RewordedTask>,
}

/// A task as the model words it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewordedTask {
    /// The handle of the task.
    pub task: String,
    pub objective: String,
    /// `YYYY-MM-DD`, or empty.
    pub deadline: String,
    /// Steps to be added to those that the program chose.
    pub steps: Vec<ExtraStep>,
}

/// A step that the model may add to those of the template. None of them sends anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtraStep {
    DraftReply,
    SummariseThread,
}

impl ExtraStep {
    /// Returns the name of the tool that does the step.
    pub const fn step(self) -> &'static str {
        match self {
            Self::DraftReply => "draft_reply",
            Self::SummariseThread => "summarise_thread",
        }
    }
}

impl PlanStepData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::PlanStep, self)
    }
}

impl CheckedAnswer for PlanStepAnswer {
    type Data = PlanStepData;

    fn check(&self, data: &PlanStepData) -> Result<(), String> {
        let known: Vec<&str> = data.tasks.iter().map(|task| task.handle.as_str()).collect();
        let mut named: Vec<&str> = self.tasks.iter().map(|task| task.task.as_str()).collect();
        named.sort_unstable();
        named.dedup();
        if named.len() != self.tasks.len()
            || named.len() != known.len()
            || !named.iter().all(|name| known.contains(name))
        {
            return Err("each task of the data must be answered once, by its handle".into());
        }
        self.tasks.iter().try_for_each(|task| {
            text_check::check_line(&task.objective, LONGEST_OBJECTIVE)?;
            check_deadline(&task.deadline, data)
        })
    }
}

/// Checks that a deadline is a date from the day of the mail on, and not too far ahead.
fn check_deadline(text: &str, data: &PlanStepData) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| "a deadline is YYYY-MM-DD or empty")?;
    let sent = data.message.sent.map(|sent| sent.utc().date_naive());
    let fits = sent.is_some_and(|sent| day >= sent && (day - sent).num_days() <= FURTHEST_DAYS);
    if fits { Ok(()) } else { Err("a deadline lies after the mail and within two years".into()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn inquiry() -> PromptInput {
        let message = QuotedMessage {
            handle: "M0".into(),
            from: "P1".into(),
            sent: "2026-11-16T08:00:00Z".parse().ok(),
            subject: String::new(),
            text: "By 20 November, please.".into(),
        };
        let shown = |handle: &str| TaskShown {
            handle: handle.into(),
            objective: "Send Tom the numbers".into(),
            deadline: String::new(),
            steps: vec!["do_the_work".into()],
        };
        let data =
            PlanStepData { language: "en".into(), people: vec![], message, tasks: vec![shown("T1"), shown("T2")] };
        data.to_prompt_input().unwrap()
    }

    fn worded(task: &str, objective: &str, deadline: &str) -> serde_json::Value {
        json!({ "task": task, "objective": objective, "deadline": deadline, "steps": [] })
    }

    #[test]
    fn the_tasks_are_those_that_were_found() {
        let check = |tasks: &[serde_json::Value]| inquiry().check_answer(&json!({ "tasks": tasks }).to_string());
        let (one, two) = (worded("T1", "Send Tom the numbers", ""), worded("T2", "Call Tom", "2026-11-20"));
        assert!(check(&[one.clone(), two.clone()]).is_ok());
        for tasks in [
            vec![one.clone()],
            vec![one.clone(), one.clone()],
            vec![one.clone(), two.clone(), worded("T3", "Pay Eve", "")],
            vec![one.clone(), worded("T9", "Pay Eve", "")],
            vec![one.clone(), worded("T2", "Write to eve@evil.example", "")],
            vec![one.clone(), worded("T2", "", "")],
            vec![one.clone(), worded("T2", &"x ".repeat(200), "")],
            vec![one.clone(), worded("T2", "Call Tom", "tomorrow")],
            vec![one.clone(), worded("T2", "Call Tom", "2020-01-01")],
            vec![one, json!({ "task": "T2", "objective": "x", "deadline": "", "steps": ["send_mail"] })],
        ] {
            assert!(check(&tasks).is_err(), "{tasks:?}");
        }
    }
}
