//! What a node changed, in words.

use chrono_tz::Tz;

use crate::{model::Change, wording::description::localise_times};

/// Returns what a change did, in one sentence. Its text may come from a mail and is made safe where it is shown.
pub(super) fn describe_change(change: &Change, zone: Tz) -> String {
    let words = |step: &str| step.replace('_', " ");
    match change {
        Change::OpenTask { task, .. } => format!("opened the task “{}”", task.objective),
        Change::LinkMail { evidence, .. } if evidence.is_empty() => "linked the mail to an open task".into(),
        Change::LinkMail { evidence, .. } => format!("linked the mail to an open task: {evidence}"),
        Change::Settle { state, reason, .. } => {
            format!("the mail is {}: {}", state.as_str().replace('_', " "), localise_times(reason, zone))
        }
        Change::HoldTimes { appointments } => match appointments.len() {
            0 => "the mail takes none of your time".into(),
            1 => "1 time is taken because of the mail".into(),
            count => format!("{count} times are taken because of the mail"),
        },
        Change::Priority { priority, rule, urgency } => {
            let urgency = urgency.map(|urgency| format!(", urgency {urgency:.2}")).unwrap_or_default();
            format!("priority {priority} by {rule}{urgency}")
        }
        Change::Status { to, why } => format!("status {to}: {}", localise_times(why, zone)),
        Change::Documents { documents } => match documents.len() {
            0 => "found nothing related".into(),
            1 => "found 1 related document".into(),
            count => format!("found {count} related documents"),
        },
        Change::StepDone { index } => format!("step {} is done", index + 1),
        Change::StepStarted { number } => format!("began step {number} of the plan"),
        Change::StepCalls { number, calls } => format!("step {number} of the plan became {} calls", calls.len()),
        Change::AddStep { subtask } => format!("added the step “{}” for you", words(&subtask.step)),
        Change::ReplaceSteps { steps, by } => {
            let steps: Vec<String> = steps.iter().map(|step| words(step)).collect();
            format!("replaced {} by “{}”, which is yours", steps.join(", "), words(by))
        }
        Change::Output { step, .. } => format!("stored what “{}” found out", words(step)),
        Change::Summary { text } => format!("summary: {}", localise_times(text, zone)),
    }
}
