//! What an edit of a task means.

use super::*;

fn edit(kind: TaskEditKind) -> TaskEdit {
    let (account, user) = (AccountId::from("work"), UserId::from("me"));
    TaskEdit {
        task_id: task_id(),
        account,
        user,
        who: Actor::Person,
        kind,
        why: "why".into(),
        at: later(),
        remind_at: None,
    }
}

#[test]
fn an_edit_says_what_changed_what_it_teaches_and_what_it_voids() {
    let row = task(TaskStatus::Ready);
    for (kind, field, teaches, voids) in [
        (TaskEditKind::Priority(Priority::High), "priority", Some((CorrectionKind::Priority, "high")), false),
        (TaskEditKind::Objective("Call".into()), "objective", Some((CorrectionKind::Objective, "")), true),
        (TaskEditKind::Description(Some("By phone".into())), "description", None, true),
        (TaskEditKind::Deadline(None, None), "deadline", Some((CorrectionKind::Deadline, "")), true),
        (TaskEditKind::StepDone("file_it".into()), "step", None, false),
    ] {
        let TaskEditOutcome::Change(change) = plan_task_edit(&row, &edit(kind)).unwrap() else { panic!("{field}") };
        let taught = change.correction.as_ref().map(|correction| (correction.kind, correction.to.as_str()));
        assert_eq!((change.field, taught, change.voids_actions), (field, teaches, voids));
        assert_eq!(change.task.last_updated, later());
    }
    let missing = plan_task_edit(&row, &edit(TaskEditKind::StepDone("fly".into())));
    assert_eq!(missing, Err(DecisionError::NotFound("open step 'fly'".into())));
}

#[test]
fn an_ended_task_is_reopened_first_and_only_once() {
    let done = task(TaskStatus::Done);
    let refused = plan_task_edit(&done, &edit(TaskEditKind::Cancel)).unwrap_err().to_string();
    assert!(refused.contains("adjutant tasks undo"), "{refused}");
    assert_eq!(plan_task_edit(&done, &edit(TaskEditKind::Reopen)), Ok(TaskEditOutcome::Reopen));
    assert!(plan_task_edit(&task(TaskStatus::Ready), &edit(TaskEditKind::Reopen)).is_err());
    let reopened_before = TaskRow { number: None, ..done.clone() };
    assert!(plan_task_edit(&reopened_before, &edit(TaskEditKind::Reopen)).is_err());
    let successor = reopen_task(&done, later());
    assert_eq!((successor.status, successor.result_summary.as_deref()), (TaskStatus::New, None));
    assert_eq!(successor.context.more.get("reopened_from").unwrap(), &task_id().to_string());
    for (before, after) in [
        (Some(TaskStatus::WaitingHitl), TaskStatus::InProgress),
        (Some(TaskStatus::InProgress), TaskStatus::InProgress),
        (Some(TaskStatus::Ready), TaskStatus::Ready),
        (None, TaskStatus::Ready),
    ] {
        assert_eq!(status_after_reopening(&done, before), after, "{before:?}");
    }
}

#[test]
fn an_instruction_needs_an_open_step() {
    let row = task(TaskStatus::WaitingHitl);
    let instruct =
        |step: &str| edit(TaskEditKind::InstructStep { step: step.into(), words: "say Friday".into(), message: None });
    let outcome = plan_task_edit(&row, &instruct("send_reply")).unwrap();
    let TaskEditOutcome::RedoStep { step, words, changes } = outcome else { panic!("{outcome:?}") };
    assert_eq!((step.as_str(), words.as_str(), changes.len()), ("send_reply", "say Friday", 2));
    let refused = plan_task_edit(&row, &instruct("fly")).unwrap_err().to_string();
    assert_eq!(refused, "task 4 has no open step 'fly'");
    let TaskEditOutcome::RedoStep { changes, .. } = plan_task_edit(&row, &instruct("send_mail")).unwrap() else {
        panic!("a person may write to anybody from any task")
    };
    assert!(changes.contains(&TaskChange::AddStep("send_mail".into())));
}

#[test]
fn every_way_to_an_end_is_legal() {
    for from in TaskStatus::ALL.iter().filter(|status| !status.is_terminal()) {
        for to in [TaskStatus::Done, TaskStatus::Cancelled] {
            let mut status = *from;
            for next in status_path(*from, to) {
                status = status.transition_to(next).unwrap();
            }
            assert_eq!(status, to, "from {from}");
        }
    }
}

#[test]
fn rules_rank_neither_by_hand_nor_after_the_end() {
    let (task_id, priority) = (task_id(), Priority::High);
    let rerank = Rerank { task_id, revision: 1, priority, rule: "r".into(), why: String::new(), at: later() };
    assert_eq!(rerank_task(&task(TaskStatus::Ready), &rerank).unwrap().priority, Priority::High);
    assert_eq!(rerank_task(&task(TaskStatus::Done), &rerank), None);
    assert_eq!(rerank_task(&TaskRow { hand_ranked: true, ..task(TaskStatus::Ready) }, &rerank), None);
}
