//! Which files of the person's own the tasks of a mail ask for, so that one is sent in place of work for the person.

use crate::{
    graph::entry::{Call, NodeInput, NodeOutput},
    model::{Direction, ExtractedTask, MailContext, Reading, task::SEND_REPLY},
};

/// Notes the files on the tasks that ask for them. Returns the output that looks for them, while they were not looked for.
/// Nothing is offered to who may be a fraud.
pub(super) fn note_asked_files(
    entry: &NodeInput<'_>,
    known: &MailContext,
    reading: &mut Reading,
) -> anyhow::Result<Option<NodeOutput>> {
    let asking: Vec<(usize, String)> = file_requests(reading).collect();
    let is_warned = !reading.warnings.is_empty();
    if !entry.has_files || is_warned || known.direction == Direction::Out || asking.is_empty() {
        return Ok(None);
    }
    let found = entry.find_reply::<Vec<Option<String>>>(|call| matches!(call, Call::FindFiles { .. }))?;
    let Some(found) = found else {
        let requests = asking.into_iter().map(|(_, request)| request).collect();
        return Ok(Some(NodeOutput::from_call(Call::FindFiles { requests })));
    };
    for ((nth, _), name) in asking.into_iter().zip(found) {
        if let (Some(task), Some(name)) = (reading.tasks.get_mut(nth), name) {
            send_file(task, name);
        }
    }
    Ok(None)
}

/// Returns the tasks that ask to be sent something, with their words.
fn file_requests(reading: &Reading) -> impl Iterator<Item = (usize, String)> + '_ {
    let asking = reading.tasks.iter().enumerate().filter(|(_, task)| task.asks_for_file);
    asking.map(|(nth, task)| (nth, format!("{}\n{}", task.evidence, task.objective)))
}

/// Has a file sent in place of the steps of an answer and of work for the person.
fn send_file(task: &mut ExtractedTask, name: String) {
    const REPLACED: [&str; 6] =
        ["draft_reply", SEND_REPLY, "propose_time_slots", "do_the_work", "meet_deadline", "summarise_thread"];
    task.steps.retain(|step| !REPLACED.contains(&step.as_str()));
    task.steps.insert(0, SEND_REPLY.to_owned());
    task.file = Some(name);
}
