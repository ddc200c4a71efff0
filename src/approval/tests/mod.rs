mod task_edit_tests;

use serde_json::{Value, json};

use super::*;
use crate::model::{
    AccountId, Action, ActionId, Actor, Decision, DecisionChannel, DecisionKind, Effect, Instant, InvitationAnswer,
    ItemId, ItemKind, ItemRow, ItemState, MailId, NodeName, OutboxRow, OutboxState, Priority, Rerank, RiskClass, RunId,
    StepInstruction, Subtask, Task, TaskContext, TaskEdit, TaskEditKind, TaskId, TaskRow, TaskStatus, UserId,
    action::{ApprovalTerms, ComposedMessage, SendKind},
    nightly::CorrectionKind,
    task::INSTRUCTION,
};

fn at() -> Instant {
    "2026-11-16T08:00:00Z".parse().unwrap()
}

fn later() -> Instant {
    at().plus(chrono::Duration::hours(1))
}

fn task_id() -> TaskId {
    TaskId::derive(at(), &["task"])
}

fn item(kind: ItemKind) -> ItemRow {
    ItemRow {
        item_id: ItemId::derive(at(), &["item"]),
        number: 1,
        action_sha256: Some("proposed".into()),
        kind,
        account: AccountId::from("work"),
        user: UserId::from("me"),
        task_id: Some(task_id()),
        mail_id: Some(MailId(7)),
        run_id: Some(RunId::derive(at(), &["run"])),
        action_id: None,
        title: String::new(),
        body: json!({ "step": "send_reply", "node": "prioritise" }),
        state: ItemState::Decided,
        decision: None,
        reason: String::new(),
        created_at: at(),
        expires_at: None,
        snooze_until: None,
        sender: String::new(),
    }
}

fn instruct(step: &str) -> StepInstruction {
    StepInstruction { step: step.into(), words: "Friday suits me.".into(), answer: None }
}

fn decision(kind: DecisionKind, reason: &str) -> Decision {
    Decision {
        item_id: ItemId::derive(at(), &["item"]),
        kind,
        who: Actor::Person,
        reason: reason.into(),
        instruction: (kind == DecisionKind::Respond).then(|| instruct("send_reply")),
        at: at(),
        channel: DecisionChannel::Cli,
        sha256: "shown".into(),
        release_at: None,
        epoch: 3,
        file_sha256: None,
    }
}

fn parked(body: &str) -> OutboxRow {
    let message = ComposedMessage { body: body.into(), ..ComposedMessage::default() };
    OutboxRow {
        action: Action {
            action_id: ActionId::derive(at(), &["action"]),
            account: AccountId::from("work"),
            user: UserId::from("me"),
            task_id: Some(task_id()),
            step: "send_reply".into(),
            generation: 2,
            mail_id: Some(MailId(7)),
            mail_key: None,
            tool: "send_reply".into(),
            effect: Effect::Send { kind: SendKind::Reply, message, replaces: None },
            arguments: Vec::new(),
            terms: Some(ApprovalTerms { policy: "1".into(), expires_at: later(), nonce: String::new() }),
        },
        class: RiskClass::R2,
        state: OutboxState::Parked,
        result: String::new(),
        sha256: "shown".into(),
        run_id: RunId::derive(at(), &["run"]),
        updated_at: at(),
        handle: String::new(),
        release_at: None,
        doubt_since: None,
        sender: String::new(),
        tried: false,
        begun: 0,
        overruled: false,
        intact: true,
    }
}

fn task(status: TaskStatus) -> TaskRow {
    let step = |step: &str| Subtask { step: step.into(), done: false };
    TaskRow {
        task: Task {
            task_id: task_id(),
            created_at: at(),
            source: "email:7".into(),
            objective: "Answer Dana".into(),
            context: TaskContext::default(),
            priority: Priority::Med,
            status,
            subtasks: vec![step("send_reply"), step("file_it")],
            assigned_agent: None,
            last_updated: at(),
            tool_output: json!({ "send_reply": { "planned": true } }).as_object().cloned(),
            result_summary: Some("ended".into()),
        },
        number: Some(4),
        account: AccountId::from("work"),
        user: UserId::from("me"),
        mail_id: Some(MailId(7)),
        revision: 1,
        rule: "default".into(),
        hand_ranked: false,
        snooze_until: None,
    }
}

/// Returns the names of the changes, each with what tells two of a kind apart.
fn names(changes: &[DecisionChange<'_>]) -> Vec<String> {
    let name = |change: &DecisionChange<'_>| match change {
        DecisionChange::VoidItem { why } => format!("void item: {why}"),
        DecisionChange::ReopenItem => "reopen item".into(),
        DecisionChange::Grant(grant) => format!("grant: {}", grant.next_state()),
        DecisionChange::Revoke { .. } => "revoke".into(),
        DecisionChange::VoidAction { why, .. } => format!("void action: {why}"),
        DecisionChange::VoidActionsOfTask { why, .. } => format!("void actions: {why}"),
        DecisionChange::VoidActionsOfStep { step, why, .. } => format!("void actions of {step}: {why}"),
        DecisionChange::MoveAction(mv) => format!("move action: {} to {}", mv.from, mv.to),
        DecisionChange::RecordCorrection { kind, why, .. } => format!("correction: {} {why}", kind.as_str()),
        DecisionChange::ResumeTask { why, .. } => format!("resume: {why}"),
        DecisionChange::SuspendTask { why, .. } => format!("suspend: {why}"),
        DecisionChange::ChangeTask { changes, .. } => format!("change: {changes:?}"),
        DecisionChange::EndTask { to, why, .. } => format!("end: {to} {why}"),
        DecisionChange::OpenRun { step, node, approved, .. } => format!("run: {step}/{node} {}", approved.is_some()),
        DecisionChange::AuditAction { act, .. } => format!("audit: {act}"),
        DecisionChange::EndDecisionRuns { why, .. } => format!("end runs: {why}"),
        DecisionChange::RejectProposal { why } => format!("reject proposal: {why}"),
        DecisionChange::RetryMail(mail_id) => format!("retry mail: {mail_id}"),
        DecisionChange::CloseMail { mail_id, why } => format!("close mail: {mail_id} {why}"),
    };
    changes.iter().map(name).collect()
}

/// Returns the task after all `ChangeTask` changes; other changes are ignored.
fn changed(mut row: TaskRow, changes: &[DecisionChange<'_>]) -> Task {
    for change in changes {
        if let DecisionChange::ChangeTask { changes, .. } = change {
            for change in changes {
                change.apply_to(&mut row.task);
            }
        }
    }
    row.task
}

fn output<'a>(task: &'a Task, step: &str) -> Option<&'a Value> {
    task.tool_output.as_ref()?.get(step)
}

#[test]
fn every_kind_of_item_has_its_own_decisions() {
    use DecisionKind::{Approve, Cancel, Reject, Respond, Retry, Sent, Skip};
    for (kind, allowed) in [
        (ItemKind::Action, vec![Approve, Reject, Respond, Skip, Cancel]),
        (ItemKind::FailedStep, vec![Retry, Skip, Cancel, Sent]),
        (ItemKind::RuleProposal, vec![Approve, Reject]),
        (ItemKind::Question, vec![Reject, Respond]),
    ] {
        for decided in DecisionKind::ALL {
            let said = decision(*decided, "why");
            let subject = DecisionSubject::new(&said, &item(kind));
            assert_eq!(subject.is_ok(), allowed.contains(decided), "{kind} {decided}: {subject:?}");
        }
    }
    let mail = ItemRow { task_id: None, ..item(ItemKind::FailedStep) };
    let retried = decision(Retry, "");
    assert_eq!(DecisionSubject::new(&retried, &mail), Ok(DecisionSubject::Mail(MailId(7))));
    assert!(DecisionSubject::new(&decision(Sent, ""), &mail).is_err());
    let neither = ItemRow { mail_id: None, ..mail };
    assert!(DecisionSubject::new(&retried, &neither).is_err());
    let silent = Decision { instruction: None, ..decision(Respond, " ") };
    let silent = DecisionSubject::new(&silent, &item(ItemKind::Action));
    assert_eq!(silent.unwrap_err().to_string(), "say what to do instead");
}

#[test]
fn a_yes_lets_the_effect_go_and_its_run_waits_for_it() {
    let (row, item) = (parked("Yes."), item(ItemKind::Action));
    let changes = approve_action(&decision(DecisionKind::Approve, ""), &item, &row).unwrap();
    assert_eq!(names(&changes), ["grant: ready", "resume: approved", "run: send_reply/execute_tool true"]);
    let graced = Decision { release_at: Some(later()), ..decision(DecisionKind::Approve, "") };
    let changes = approve_action(&graced, &item, &row).unwrap();
    assert_eq!(names(&changes).first().unwrap(), "grant: held");
    let Some(DecisionChange::Grant(grant)) = changes.first() else { panic!("{changes:?}") };
    assert_eq!((grant.epoch, grant.expires_at, grant.sha256.as_str()), (3, later(), "shown"));
}

#[test]
fn a_yes_counts_only_for_what_was_shown_and_in_time() {
    let yes = || decision(DecisionKind::Approve, "");
    let never_asked = OutboxRow { action: Action { terms: None, ..parked("").action }, ..parked("") };
    for (said, row, why) in [
        (yes(), never_asked, "never asked"),
        (Decision { channel: DecisionChannel::Chat, ..yes() }, parked(""), "can show it"),
        (Decision { sha256: "other".into(), ..yes() }, parked(""), "not what you were shown"),
        (yes(), OutboxRow { intact: false, ..parked("") }, "not what you were shown"),
        (Decision { at: later(), ..yes() }, parked(""), "expired"),
        (yes(), parked("Dear Dana,\n…\nBest"), "gap"),
    ] {
        let refused = approve_action(&said, &item(ItemKind::Action), &row).unwrap_err().to_string();
        assert!(refused.contains(why) && refused.contains("was not approved"), "{refused}");
    }
}

#[test]
fn a_no_gives_the_step_to_the_person_and_is_a_correction() {
    let row = parked("Yes.");
    let changes = reject_by_person(&decision(DecisionKind::Reject, ""), &row.action);
    let named = names(&changes);
    let why = "rejected: no reason given";
    let first = ["correction: reject ".to_owned(), format!("void item: {why}"), format!("void action: {why}")];
    assert_eq!(named.get(..3).unwrap(), first);
    assert_eq!(named.last().unwrap(), "run: send_reply/execute_tool false");
    let task = changed(task(TaskStatus::WaitingHitl), &changes);
    assert_eq!(task.subtasks.last().unwrap(), &Subtask { step: "send_reply_by_hand".into(), done: false });
    assert_eq!(output(&task, "send_reply").unwrap(), &json!({ "void": why }));
    let by_clock = reject_action(&row.action, "nobody answered in time");
    assert!(!names(&by_clock).iter().any(|name| name.starts_with("correction")), "{by_clock:?}");
}

#[test]
fn another_answer_does_the_step_anew_with_the_persons_words() {
    let row = parked("Yes.");
    let said = decision(DecisionKind::Respond, "say Friday");
    let waiting = task(TaskStatus::WaitingHitl);
    let changes = redo_step(&said, &instruct("send_reply"), &waiting, &row.action).unwrap();
    assert_eq!(names(&changes).first().unwrap(), "correction: respond say Friday");
    let task = changed(waiting.clone(), &changes);
    assert_eq!(task.context.more.get(INSTRUCTION).unwrap(), "Friday suits me.");
    assert_eq!((output(&task, "send_reply"), task.context.more.get("answer")), (None, None));
    let declined = StepInstruction { answer: Some(InvitationAnswer::Declined), ..instruct("send_reply") };
    let changes = redo_step(&said, &declined, &waiting, &row.action).unwrap();
    assert_eq!(changed(waiting.clone(), &changes).context.more.get("answer").unwrap(), "declined");
    let other = redo_step(&said, &instruct("send_calendar_invite"), &waiting, &row.action);
    assert!(other.unwrap_err().to_string().contains("no open step"));
}

#[test]
fn what_a_person_knows_to_be_sent_is_sent() {
    let row = parked("Yes.");
    let changes = confirm_sent(&decision(DecisionKind::Sent, ""), task_id(), &row.action);
    assert_eq!(names(&changes).first().unwrap(), "move action: needs_human to sent");
    let task = changed(task(TaskStatus::WaitingHitl), &changes);
    assert!(task.subtasks.iter().any(|subtask| subtask.step == "send_reply" && subtask.done));
}

#[test]
fn a_failed_step_is_retried_skipped_or_cancelled() {
    let (waiting, item) = (task(TaskStatus::WaitingHitl), item(ItemKind::FailedStep));
    let retried = decide_step(&decision(DecisionKind::Retry, ""), &item, &waiting);
    let run = "run: send_reply/execute_tool false";
    assert_eq!(names(&retried).first().unwrap(), "void actions: a person decided");
    assert_eq!(names(&retried).last().unwrap(), run);
    assert_eq!(output(&changed(waiting.clone(), &retried), "send_reply"), None);
    let skipped = decide_step(&decision(DecisionKind::Skip, "no need"), &item, &waiting);
    assert_eq!(names(&skipped).last().unwrap(), run);
    let task_after = changed(waiting.clone(), &skipped);
    assert!(task_after.subtasks.iter().any(|subtask| subtask.step == "send_reply" && subtask.done));
    let said = json!({ "skipped": true, "by": "person", "reason": "no need" });
    assert_eq!(output(&task_after, "send_reply").unwrap(), &said);
    let cancelled = decide_step(&decision(DecisionKind::Cancel, ""), &item, &waiting);
    assert_eq!(names(&cancelled), ["end: CANCELLED cancelled"]);
}

#[test]
fn a_run_that_parked_before_any_tool_goes_on_at_its_node() {
    let (ready, item) = (task(TaskStatus::Ready), item(ItemKind::FailedStep));
    let retried = decide_step(&decision(DecisionKind::Retry, ""), &item, &ready);
    assert_eq!(names(&retried), ["run: /prioritise false"]);
    assert!(decide_step(&decision(DecisionKind::Skip, ""), &item, &ready).is_empty());
}

#[test]
fn proposals_and_mails_are_decided_without_a_task() {
    let item = item(ItemKind::RuleProposal);
    let yes = Decision { sha256: "proposed".into(), ..decision(DecisionKind::Approve, "") };
    assert!(decide_proposal(&yes, &item).unwrap().is_empty());
    assert!(decide_proposal(&decision(DecisionKind::Approve, ""), &item).is_err());
    assert!(decide_proposal(&Decision { channel: DecisionChannel::Mcp, ..yes }, &item).is_err());
    let no = decide_proposal(&decision(DecisionKind::Reject, "too broad"), &item).unwrap();
    assert_eq!(names(&no), ["reject proposal: too broad"]);
    assert_eq!(names(&decide_mail(&decision(DecisionKind::Retry, ""), MailId(7))), ["retry mail: 7"]);
    let skipped = decide_mail(&decision(DecisionKind::Skip, ""), MailId(7));
    assert_eq!(names(&skipped), ["close mail: 7 skipped by a person"]);
}

#[test]
fn an_approval_that_is_taken_back_is_asked_about_again() {
    let row = OutboxRow { state: OutboxState::Held, ..parked("Yes.") };
    let why = "the approval was taken back";
    let expected = [
        "revoke".to_owned(),
        "reopen item".into(),
        format!("end runs: {why}"),
        format!("suspend: {why}"),
        "correction: undo ".into(),
        "audit: taken_back".into(),
    ];
    assert_eq!(names(&revoke_approval(&row)), expected);
    assert!(refuse_revocation(OutboxState::Sent).to_string().contains("too late"));
    assert_eq!(refuse_revocation(OutboxState::Parked).to_string(), "it was not approved");
}

#[test]
fn a_decision_given_again_in_the_same_second_opens_another_run() {
    let row = task(TaskStatus::InProgress);
    let run = |runs| {
        new_decision_run(DecisionRunInput {
            step: "",
            because: "item",
            parent_run: None,
            row: &row,
            node: NodeName::ExecuteTool,
            generation: 1,
            runs,
            mail_key: None,
            facts: None,
            at: at(),
        })
    };
    assert_eq!(run(1).run_id, run(1).run_id);
    assert_ne!(run(1).run_id, run(2).run_id);
    assert_eq!(run(1).state.generation, 1);
}
