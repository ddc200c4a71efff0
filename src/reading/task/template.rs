//! The steps of each kind of task, in order.
//!
//! Owns which steps a task is born with. A step named after a tool is the agent's, any other the person's. No template
//! archives anything, and every step that sends asks for approval first.

use crate::model::TaskKind;

/// What a template may depend on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TemplateContext {
    pub(super) has_due_date: bool,
    /// The mail answers earlier ones.
    pub(in crate::reading) in_thread: bool,
    /// The request names times, and an answer says whether one of them suits.
    pub(super) asks_for_time: bool,
}

pub(super) fn choose_steps(kind: TaskKind, situation: TemplateContext) -> Vec<String> {
    let steps: &[&str] = match kind {
        TaskKind::Meeting => &["propose_time_slots", "draft_reply", "send_calendar_invite"],
        TaskKind::Invitation => &["label", "answer_invitation"],
        TaskKind::Invoice => &["label", "record_invoice", "remind", "pay_invoice"],
        TaskKind::Alert => &["label", "check_alert"],
        TaskKind::Deadline => &["remind", "meet_deadline"],
        TaskKind::Question => &["draft_reply", "send_reply"],
        TaskKind::Request => &["summarise_thread", "remind", "do_the_work"],
        TaskKind::Review => &["remind", "review_document"],
        TaskKind::Commitment => &["remind", "keep_promise"],
        TaskKind::Reminder => &["remind"],
        TaskKind::Folder => &["create_folder"],
        TaskKind::Summary => &["summarise_thread"],
    };
    let applies = |step: &str| match (kind, step) {
        (TaskKind::Request, "summarise_thread") => situation.in_thread,
        // Without a date there is nothing to be reminded at; a reminder asked for is a reminder all the same.
        (TaskKind::Reminder, "remind") => true,
        (_, "remind") => situation.has_due_date,
        _ => true,
    };
    let answers_time =
        situation.asks_for_time && matches!(kind, TaskKind::Question | TaskKind::Request | TaskKind::Deadline);
    let answer: &[&str] = if answers_time { &["propose_time_slots", "draft_reply", "send_reply"] } else { &[] };
    let others = steps.iter().copied().filter(|step| applies(step) && !answer.contains(step));
    answer.iter().copied().chain(others).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_step_and_none_archives() {
        for kind in TaskKind::ALL.iter().copied() {
            for (due, in_thread) in [(false, false), (true, true)] {
                let steps =
                    choose_steps(kind, TemplateContext { has_due_date: due, in_thread, asks_for_time: in_thread });
                assert!(!steps.is_empty(), "{kind}");
                assert!(!steps.iter().any(|step| step == "archive"), "{kind}");
            }
        }
    }

    #[test]
    fn steps_depend_on_the_situation() {
        let bare = TemplateContext::default();
        assert_eq!(choose_steps(TaskKind::Request, bare), ["do_the_work"]);
        let full = TemplateContext { has_due_date: true, in_thread: true, asks_for_time: false };
        assert_eq!(choose_steps(TaskKind::Request, full), ["summarise_thread", "remind", "do_the_work"]);
        assert_eq!(choose_steps(TaskKind::Reminder, bare), ["remind"]);
        let timed = TemplateContext { asks_for_time: true, ..bare };
        assert_eq!(choose_steps(TaskKind::Question, timed), ["propose_time_slots", "draft_reply", "send_reply"]);
    }
}
