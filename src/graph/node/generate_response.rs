//! The node generate_response: sums up what was done, completes the task when every step is done, and writes the
//! reflection that the nightly job learns from.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;

use super::wording;
use crate::{
    graph::entry::{Node, NodeInput, NodeOutput},
    llm::{ModelReply, Prompt, prompt::generate_response},
    model::{Change, Me, Move, Reflection, ReflectionKind, RunFeedback, RunKind, StepOutput, Task, TaskStatus},
    tool::Registry,
};

/// The node generate_response.
pub(super) struct GenerateResponse {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
}

impl Node for GenerateResponse {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        // What a rule did to a mail is no task and has no summary.
        if entry.run.kind == RunKind::Effect {
            return Ok(NodeOutput::from_move(Move::Done));
        }
        let task = entry.state.task.as_ref().context("there is no task to answer for")?;
        let heard = entry.find_model_reply(Prompt::GenerateResponse)?;
        if let (None, true, Some(mail)) = (&heard, entry.has_model, entry.mail)
            && let Some(step) = wording::request_summary(entry, mail, &self.me, task)
        {
            return Ok(step);
        }
        let mut changes = vec![Change::Summary { text: append_model_summary(summarise_steps(task), heard.as_ref()) }];
        let complete = task.status == TaskStatus::InProgress && task.all_steps_done() && !task.subtasks.is_empty();
        if complete {
            changes.push(Change::Status { to: TaskStatus::Done, why: "all steps complete".into() });
        }
        let reflection = self.build_reflection(entry, task, complete)?;
        Ok(NodeOutput {
            reflection: Some(Box::new(reflection)),
            ..NodeOutput::from_move(Move::Done).with_changes(changes)
        })
    }
}

impl GenerateResponse {
    /// Returns the local date and the reflection of this run. It has facts and figures, never the text of a mail.
    fn build_reflection(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        complete: bool,
    ) -> anyhow::Result<(String, Reflection)> {
        let facts = entry.state.facts.as_ref().context("the task has no facts")?;
        let done = task.subtasks.iter().filter(|subtask| subtask.done);
        let day = entry.now.day_in(self.me.time_zone);
        let line = Reflection {
            schema: 1,
            kind: ReflectionKind::Run,
            at: entry.now,
            run_id: entry.run.run_id,
            account: entry.run.account.clone(),
            task_id: task.task_id,
            task_kind: facts.kind,
            status: if complete { TaskStatus::Done } else { task.status },
            priority: task.priority,
            rule: entry.state.rule.clone().unwrap_or_default(),
            urgency: facts.urgency,
            urgency_origin: Some(facts.urgency_origin),
            tools: done
                .clone()
                .map(|subtask| subtask.step.clone())
                .filter(|step| self.tools.get(step).is_some())
                .collect(),
            steps_done: done.count(),
            steps_open: task.subtasks.iter().filter(|subtask| !subtask.done).count(),
            documents: entry.state.context_docs.len(),
            language: facts.language.clone(),
            // The engine fills this in when it builds the checkpoint.
            feedback: RunFeedback::default(),
            cost: None,
        };
        Ok((day, line))
    }
}

/// Appends the model's sentence about the subject, marked as "About". What was done is always stated by the program.
fn append_model_summary(done: String, heard: Option<&ModelReply>) -> String {
    match heard.and_then(|heard| heard.answer::<generate_response::GenerateResponseAnswer>()) {
        Some(answer) => format!("{done} About: {}", answer.about.trim()),
        None => done,
    }
}

/// Returns a summary such as "Done: label, remind. Withheld: draft_reply. Waits for you: pay_invoice."
fn summarise_steps(task: &Task) -> String {
    let output = |step: &str| task.tool_output.as_ref().and_then(|output| output.get(step));
    let told = |step: &str, word: &str| {
        output(step).and_then(Value::as_object).is_some_and(|fields| fields.contains_key(word))
    };
    let list = |wanted: &dyn Fn(&str, bool) -> bool| -> String {
        let steps = task.subtasks.iter().filter(|subtask| wanted(&subtask.step, subtask.done));
        steps.map(|subtask| subtask.step.replace('_', " ")).collect::<Vec<_>>().join(", ")
    };
    let parts = [
        ("Done", list(&|step, done| done && !told(step, "skipped"))),
        ("Skipped", list(&|step, done| done && told(step, "skipped"))),
        ("Withheld", list(&|step, done| !done && told(step, "withheld"))),
        ("Void", list(&|step, done| !done && told(step, "void"))),
        ("Waits for its time", list(&|step, done| !done && told(step, "remind_at") && !told(step, "void"))),
        (
            "Waits for you",
            list(&|step, done| !done && (output(step).is_none() || told(step, StepOutput::LEFT_TO_PERSON))),
        ),
    ];
    let sentences: Vec<String> = parts
        .into_iter()
        .filter(|(_, steps)| !steps.is_empty())
        .map(|(word, steps)| format!("{word}: {steps}."))
        .collect();
    if sentences.is_empty() { "Nothing to do but what the objective says.".into() } else { sentences.join(" ") }
}
