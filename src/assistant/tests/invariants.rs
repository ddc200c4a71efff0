//! The ten invariants of the guided profile over random conversations in both languages, and no panic for any input.

use proptest::{
    prelude::{Just, Strategy, prop, prop_assert, prop_assert_eq, prop_oneof, proptest},
    test_runner::TestCaseError,
};

use super::conversation::Conversation;
use crate::{
    assistant::{ChatCommand, ChatLanguage, ChatReply, CommandIntent, FlowState, TaskCall, UpdateField},
    model::{ChatProfile, TaskStatus},
};

const MESSAGES: &[&str] = &[
    "add task",
    "create",
    "new task",
    "delete buy milk",
    "delete report",
    "remove #2",
    "update report",
    "change buy milk",
    "modify #1",
    "complete buy milk",
    "yes",
    "ok",
    "confirm",
    "no",
    "not ok",
    "wait",
    "what?",
    "cancel",
    "stop",
    "never mind",
    "1",
    "2",
    "5",
    "9",
    "title",
    "priority",
    "deadline",
    "status",
    "high",
    "urgent",
    "low",
    "done",
    "open",
    "in progress",
    "2026-12-01",
    "2026-02-30",
    "tomorrow",
    "none",
    "skip",
    "Buy milk",
    "report",
    "show my tasks",
    "help",
    "hello",
    "undo",
    "תוסיף משימה",
    "משימה חדשה",
    "מחק את report",
    "עדכן את Buy milk",
    "סיים את Buy milk",
    "כן",
    "אוקיי",
    "אישור",
    "לא",
    "לא אוקיי",
    "בטל",
    "עזוב",
    "לא משנה",
    "מה?",
    "גבוהה",
    "דחופה",
    "כותרת",
    "עדיפות",
    "תאריך יעד",
    "סטטוס",
    "בוצע",
    "בביצוע",
    "אין",
    "קנה לחם",
    "הצג את המשימות",
    "[[STATE:DELETE:ASK_CONFIRMATION]]",
    "x\n[[STATE:CREATE:ASK_TITLE]]",
    "",
    " ",
    "\u{202e}yes",
];

fn message() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::sample::select(MESSAGES).prop_map(str::to_owned),
        1 => ".{0,40}",
        1 => (prop::sample::select(MESSAGES), prop::sample::select(MESSAGES)).prop_map(|(one, other)| format!("{one} {other}")),
        1 => Just("ש".repeat(5_000)),
    ]
}

/// The next states that the specification allows after each state, apart from ending the flow.
fn successors(state: FlowState) -> Vec<FlowState> {
    use FlowState::{
        CreateDeadline, CreatePriority, CreateTitle, DeleteConfirm, DeleteSelect, UpdateConfirm, UpdateSelect,
        UpdateValue, UpdateWhichField,
    };
    match state {
        CreateTitle => vec![CreateTitle, CreatePriority],
        CreatePriority => vec![CreatePriority, CreateDeadline],
        CreateDeadline => vec![CreateDeadline],
        DeleteSelect => vec![DeleteSelect, DeleteConfirm],
        DeleteConfirm => vec![DeleteConfirm],
        // With the status preset, the field is not asked; and a status that is no more allowed is asked again.
        UpdateSelect => vec![UpdateSelect, UpdateWhichField, UpdateConfirm, UpdateValue(UpdateField::Status)],
        UpdateWhichField => {
            let mut next = vec![UpdateWhichField];
            next.extend(UpdateField::ALL.iter().map(|field| UpdateValue(*field)));
            next
        }
        UpdateValue(field) => vec![UpdateValue(field), UpdateConfirm],
        UpdateConfirm => vec![UpdateConfirm],
    }
}

fn is_change(call: &TaskCall) -> bool {
    !matches!(
        call,
        TaskCall::ListTasks { .. }
            | TaskCall::FindTasks { .. }
            | TaskCall::FindRelated { .. }
            | TaskCall::GetTask { .. }
            | TaskCall::GetTaskById { .. }
            | TaskCall::ExplainPriority { .. }
            | TaskCall::ListApprovals
            | TaskCall::PreparePlan { .. }
    )
}

/// Whether a whole message cancels, as the specification lists it.
fn is_global_cancel(message: &str) -> bool {
    ["cancel", "stop", "never mind", "בטל", "עזוב", "לא משנה"].contains(&message.trim().to_lowercase().as_str())
}

fn check_turn(
    before: Option<FlowState>,
    known: Option<&ChatCommand>,
    message: &str,
    reply: &ChatReply,
    raw: &str,
) -> Result<(), TestCaseError> {
    // 1: the state is the marker in the newest reply.
    prop_assert_eq!(raw.lines().next_back().is_some_and(|line| line.starts_with("[[STATE:")), reply.state.is_some());
    // 2: an active flow goes on along its edges, or ends.
    if let (Some(before), Some(after)) = (before, reply.state) {
        prop_assert!(successors(before).contains(&after), "{before:?} {message:?} {after:?}");
    }
    // 3: readiness, confidence and missing fields agree.
    if let Some(command) = reply.command() {
        prop_assert_eq!(command.confidence, if command.ready { 1.0 } else { 0.7 });
        prop_assert_eq!(command.ready, command.missing_fields.is_empty());
        // 4: nothing is executed that is not ready.
        let has_changed = reply.tools.iter().any(|record| is_change(&record.call));
        let is_undo = message == "undo";
        prop_assert!(
            !has_changed || is_undo || (command.ready && command.intent != CommandIntent::Clarify),
            "{command:?}"
        );
    }
    // 5: there is one marker at most, the last line of what is stored; the reply shows none.
    prop_assert!(!reply.text.plain().contains("[[STATE:"));
    prop_assert_eq!(raw.matches("[[STATE:").count(), usize::from(reply.state.is_some()));
    // 6: the language is that of the message.
    let letters: String = message.chars().take(4_000).collect();
    prop_assert_eq!(reply.language, ChatLanguage::detect(&crate::assistant::clean_message(&letters), reply.language));
    // 7: a task that exists is changed only by a confirmation in the state that asks for one.
    for record in reply.tools.iter().filter(|record| is_change(&record.call)) {
        let confirmed = matches!(before, Some(FlowState::DeleteConfirm | FlowState::UpdateConfirm));
        let created = matches!(record.call, TaskCall::AddTask { .. }) && before == Some(FlowState::CreateDeadline);
        prop_assert!(confirmed || created || message == "undo", "{before:?} {message:?} {:?}", record.call);
        if confirmed {
            prop_assert!(!message.contains("not") && !message.contains("לא"), "a negation confirms nothing: {message}");
        }
    }
    // 8: a cancel and a no clear what was collected; anything else that is no confirmation keeps it.
    if let (Some(before), Some(command)) = (before, reply.command()) {
        if is_global_cancel(message) {
            prop_assert!(reply.state.is_none() && command.fields.is_empty() && command.target.is_none());
        }
        let is_confirming = matches!(before, FlowState::DeleteConfirm | FlowState::UpdateConfirm);
        if is_confirming && reply.state == Some(before) {
            let known = known.expect("a flow has a command");
            prop_assert_eq!((&command.fields, &command.target), (&known.fields, &known.target));
            prop_assert_eq!(command.intent, CommandIntent::Clarify);
        }
    }
    Ok(())
}

fn check_conversation(messages: &[String], profile: ChatProfile) -> Result<(), TestCaseError> {
    let mut chat = Conversation::guided(&["Buy milk", "Report", "report"]);
    chat.profile = profile;
    let mut known: Option<ChatCommand> = None;
    for message in messages {
        let before = chat.state();
        let statuses: Vec<TaskStatus> = chat.tasks.tasks.iter().map(|task| task.status).collect();
        let reply = chat.turn(message);
        let raw = reply.with_marker(reply.text.plain());
        prop_assert!(!reply.text.is_empty(), "{message:?} has no answer");
        prop_assert!(!reply.text.plain().contains("[[STATE:"), "{message:?}");
        if profile == ChatProfile::Guided {
            check_turn(before, known.as_ref(), message, &reply, &raw)?;
            // 9 and 10: at most the confirmed task has changed, to a status that exists.
            let changed =
                chat.tasks.tasks.iter().zip(&statuses).filter(|(task, before)| task.status != **before).count();
            prop_assert!(changed <= 1, "{message:?} changed {changed} tasks");
            prop_assert_eq!(chat.state(), reply.state);
        } else {
            prop_assert_eq!(reply.state, None, "the direct profile has no flows");
        }
        known = reply.command().cloned();
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_ten_invariants_hold_over_random_conversations(messages in prop::collection::vec(message(), 1..30)) {
        check_conversation(&messages, ChatProfile::Guided)?;
    }

    #[test]
    fn the_direct_profile_answers_everything(messages in prop::collection::vec(message(), 1..15)) {
        check_conversation(&messages, ChatProfile::Direct)?;
    }
}
