//! What nodes ask a model for, and what they make of its words. Without words everything is as it was.
//!
//! Which tasks there are, their facts, their class and their end are decided before a model is asked, and stay.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    graph::entry::{Call, NodeInput, NodeOutput},
    llm::{
        ModelReply, PromptInput,
        anonymiser::{Anonymiser, QuotedMessage},
        prompt::{draft_reply, generate_response, plan_step, prioritise},
    },
    model::{Change, Mail, Me, Subtask, Task},
    tool::{Registry, ReplyWording, ThreadMail},
};

/// In a task's context: who worded what.
const WORDED_BY: &str = "worded_by";
const DEADLINE_BY: &str = "deadline_by";
const MODEL: &str = "model";
/// Of the conversation beside the mail at hand.
const MOST_EARLIER: usize = 6;
const LONGEST_LINE: usize = 300;

fn request_model_call(inquiry: Option<PromptInput>) -> Option<NodeOutput> {
    inquiry.map(|inquiry| NodeOutput::from_call(Call::Model { inquiry: Box::new(inquiry) }))
}

fn opened_tasks(step: &NodeOutput) -> impl Iterator<Item = &Task> {
    step.changes.iter().filter_map(|change| match change {
        Change::OpenTask { task, .. } => Some(task.as_ref()),
        _ => None,
    })
}

fn task_handle(nth: usize) -> String {
    format!("T{}", nth + 1)
}

/// Better words for the tasks this step opens; none when it opens none.
pub(super) fn request_plan_wording(step: &NodeOutput, mail: &Mail, me: &Me, language: &str) -> Option<NodeOutput> {
    let cast = Anonymiser::for_mail(mail, me);
    let tasks: Vec<_> = opened_tasks(step)
        .enumerate()
        .map(|(nth, task)| plan_step::TaskShown {
            handle: task_handle(nth),
            objective: cast.redact(&task.objective, LONGEST_LINE),
            deadline: task.context.deadline.clone().unwrap_or_default(),
            steps: task.subtasks.iter().map(|subtask| subtask.step.clone()).collect(),
        })
        .collect();
    if tasks.is_empty() {
        return None;
    }
    let data = plan_step::PlanStepData {
        language: language.to_owned(),
        people: cast.people(),
        message: cast.message(mail),
        tasks,
    };
    request_model_call(data.to_prompt_input())
}

/// The same step with better words, in the tasks and in the runs that will work them.
pub(super) fn apply_plan_wording(mut step: NodeOutput, heard: &ModelReply, tools: &Registry) -> NodeOutput {
    let Some(answer) = heard.answer::<plan_step::PlanStepAnswer>() else { return step };
    let tasks = step.changes.iter_mut().filter_map(|change| match change {
        Change::OpenTask { task, .. } => Some(task.as_mut()),
        _ => None,
    });
    for (nth, task) in tasks.enumerate() {
        let Some(worded) = answer.tasks.iter().find(|worded| worded.task == task_handle(nth)) else { continue };
        reword_task(task, worded, tools);
        let run = step.runs.iter_mut().find(|run| run.task_id == Some(task.task_id));
        if let Some(run) = run {
            run.state.task = Some(Arc::new(task.clone()));
        }
    }
    step
}

fn reword_task(task: &mut Task, worded: &plan_step::RewordedTask, tools: &Registry) {
    let objective = worded.objective.trim();
    if objective != task.objective {
        objective.clone_into(&mut task.objective);
        task.context.more.insert(WORDED_BY.into(), Value::from(MODEL));
    }
    // Shown, not ranked by: the facts keep what was read.
    if task.context.deadline.is_none() && !worded.deadline.is_empty() {
        task.context.deadline = Some(worded.deadline.clone());
        task.context.more.insert(DEADLINE_BY.into(), Value::from(MODEL));
    }
    // Only beside a step of the person's, for a task whose steps are all the agent's ends with them.
    let person = task.subtasks.iter().position(|subtask| tools.get(&subtask.step).is_none());
    let Some(person) = person else { return };
    for extra in &worded.steps {
        if !task.subtasks.iter().any(|subtask| subtask.step == extra.step()) {
            task.subtasks.insert(person, Subtask { step: extra.step().to_owned(), done: false });
            task.assigned_agent = Some(Task::TOOLING_AGENT.to_owned());
        }
    }
}

pub(super) fn request_urgency(mail: &Mail, me: &Me, task: &Task) -> Option<NodeOutput> {
    let cast = Anonymiser::for_mail(mail, me);
    let data = prioritise::PrioritiseData {
        people: cast.people(),
        message: cast.message(mail),
        objective: cast.redact(&task.objective, LONGEST_LINE),
        deadline: task.context.deadline.clone().unwrap_or_default(),
    };
    request_model_call(data.to_prompt_input())
}

pub(super) fn request_draft(
    entry: &NodeInput<'_>,
    mail: &Mail,
    me: &Me,
    task: &Task,
    (thread, style): (&[ThreadMail], &[String]),
) -> Option<NodeOutput> {
    let cast = Anonymiser::for_mail(mail, me);
    let mut messages = vec![cast.message(mail)];
    let earlier = thread.iter().filter(|other| !mail.text.trim().starts_with(other.text.trim())).take(MOST_EARLIER);
    messages.extend(earlier.enumerate().map(|(nth, other)| QuotedMessage {
        handle: format!("M{}", nth + 1),
        from: cast.redact(&other.from, LONGEST_LINE),
        sent: other.at,
        subject: String::new(),
        text: cast.redact(&other.text, LONGEST_LINE),
    }));
    let asked = task.context.more.get("evidence").and_then(Value::as_str).unwrap_or_default();
    let data = draft_reply::DraftReplyData {
        language: language(entry),
        people: cast.people(),
        messages,
        objective: cast.redact(&task.objective, LONGEST_LINE),
        asked: cast.redact(asked, LONGEST_LINE),
        style: style.iter().map(|text| cast.redact(text, usize::MAX)).collect(),
        related: related(entry, &cast),
        times_follow: task.tool_output.as_ref().is_some_and(|output| output.contains_key("propose_time_slots")),
    };
    request_model_call(data.to_prompt_input())
}

/// The words for a draft, if the model had any.
pub(super) fn draft_wording(heard: &ModelReply) -> Option<ReplyWording> {
    let answer = heard.answer::<draft_reply::DraftReplyAnswer>()?;
    (answer.action == draft_reply::ReplyChoice::Reply).then(|| ReplyWording {
        greeting: answer.greeting.trim().to_owned(),
        text: answer.text.trim().to_owned(),
        closing: answer.closing.trim().to_owned(),
    })
}

pub(super) fn request_summary(entry: &NodeInput<'_>, mail: &Mail, me: &Me, task: &Task) -> Option<NodeOutput> {
    let cast = Anonymiser::for_mail(mail, me);
    let data = generate_response::GenerateResponseData {
        language: language(entry),
        people: cast.people(),
        message: cast.message(mail),
        objective: cast.redact(&task.objective, LONGEST_LINE),
        related: related(entry, &cast),
    };
    request_model_call(data.to_prompt_input())
}

fn language(entry: &NodeInput<'_>) -> String {
    entry.state.facts.as_ref().map(|facts| facts.language.clone()).unwrap_or_default()
}

fn related(entry: &NodeInput<'_>, cast: &Anonymiser) -> Vec<String> {
    entry.state.context_docs.iter().map(|doc| cast.redact(&doc.title, LONGEST_LINE)).collect()
}
