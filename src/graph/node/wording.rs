//! What nodes ask a model for, and what they do with its wording. Which tasks there are, their facts, their risk class
//! and their end are decided before a model is called, and do not change. Without a usable reply, everything stays as
//! the program worded it. People and addresses are replaced by handles before a text goes to the model.

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

/// The key in a task's context that says who worded its objective.
const WORDED_BY: &str = "worded_by";
/// The key in a task's context that says who found its deadline.
const DEADLINE_BY: &str = "deadline_by";
/// The value of both keys when it was the model.
const MODEL: &str = "model";
/// How many earlier mails of the conversation the model is shown.
const MOST_EARLIER: usize = 6;
/// How many characters of an objective, a title or an earlier mail the model is shown.
const LONGEST_LINE: usize = 300;

/// Returns the output that calls the model; none when the prompt could not be built.
fn request_model_call(inquiry: Option<PromptInput>) -> Option<NodeOutput> {
    inquiry.map(|inquiry| NodeOutput::from_call(Call::Model { inquiry: Box::new(inquiry) }))
}

/// Returns the tasks that the output opens.
fn opened_tasks(step: &NodeOutput) -> impl Iterator<Item = &Task> {
    step.changes.iter().filter_map(|change| match change {
        Change::OpenTask { task, .. } => Some(task.as_ref()),
        _ => None,
    })
}

/// Returns the name under which the model is shown the nth task.
fn task_handle(nth: usize) -> String {
    format!("T{}", nth + 1)
}

/// Returns the call for a better wording of the tasks that this output opens; none when it opens none.
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

/// Returns the output with the model's wording, in the tasks and in the runs that will work on them.
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

/// Applies the model's wording to a task, and marks in its context what a model wrote. A deadline or a step is only
/// added, never changed or removed.
fn reword_task(task: &mut Task, worded: &plan_step::RewordedTask, tools: &Registry) {
    let objective = worded.objective.trim();
    if objective != task.objective {
        objective.clone_into(&mut task.objective);
        task.context.more.insert(WORDED_BY.into(), Value::from(MODEL));
    }
    // The deadline is shown but does not count for the priority: the facts keep what the program read.
    if task.context.deadline.is_none() && !worded.deadline.is_empty() {
        task.context.deadline = Some(worded.deadline.clone());
        task.context.more.insert(DEADLINE_BY.into(), Value::from(MODEL));
    }
    // Steps are added only if the task has a step of the person. A task that has only steps of the agent would
    // otherwise end with steps that a model added.
    let person = task.subtasks.iter().position(|subtask| tools.get(&subtask.step).is_none());
    let Some(person) = person else { return };
    for extra in &worded.steps {
        if !task.subtasks.iter().any(|subtask| subtask.step == extra.step()) {
            task.subtasks.insert(person, Subtask { step: extra.step().to_owned(), done: false });
            task.assigned_agent.get_or_insert_with(|| Task::TOOLING_AGENT.to_owned());
        }
    }
}

/// Returns the call for the model's estimate of the urgency.
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

/// Returns the call for the wording of a reply, with the conversation and samples of the person's style.
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

/// Returns the wording of a draft; none when the model had no usable answer or chose not to reply.
pub(super) fn draft_wording(heard: &ModelReply) -> Option<ReplyWording> {
    let answer = heard.answer::<draft_reply::DraftReplyAnswer>()?;
    (answer.action == draft_reply::ReplyChoice::Reply).then(|| ReplyWording {
        greeting: answer.greeting.trim().to_owned(),
        text: answer.text.trim().to_owned(),
        closing: answer.closing.trim().to_owned(),
    })
}

/// Returns the call for one sentence about what the task was about.
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

/// Returns the titles of the context documents, with people replaced by handles.
fn related(entry: &NodeInput<'_>, cast: &Anonymiser) -> Vec<String> {
    entry.state.context_docs.iter().map(|doc| cast.redact(&doc.title, LONGEST_LINE)).collect()
}
