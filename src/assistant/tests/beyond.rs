//! What goes beyond the examples: undo, dates, putting off, many tasks, cancelling, Hebrew, long lists, forged markers.

use super::conversation::Conversation;
use crate::{
    assistant::{FlowState, TaskCall, UpdateField},
    model::{ChatProfile, Priority, TaskStatus},
};

#[test]
fn everything_that_was_done_can_be_undone_once() {
    let mut chat = Conversation::direct(&["Buy milk", "Call mom"]);
    chat.say("delete buy milk");
    assert_eq!(chat.say("undo"), "I've taken that back: 'Buy milk' is open again.");
    assert_eq!(chat.tasks.status(1), TaskStatus::Ready);
    assert_eq!(chat.say("/undo"), "There's nothing to undo in this conversation.");
    chat.say("add walk the dog");
    chat.say("change task 2 to call dad");
    assert_eq!(chat.say("/undo"), "I've taken that back: 'Call mom' is as it was before.");
    assert_eq!(chat.tasks.number(2).title, "Call mom");
    assert_eq!(chat.say("undo that"), "I've taken that back: 'Walk the dog' is off your list.");
    assert_eq!(chat.tasks.status(3), TaskStatus::Cancelled);
}

#[test]
fn a_date_in_words_is_understood_and_repeated() {
    let mut chat = Conversation::direct(&[]);
    assert_eq!(
        chat.say("add call the dentist on Friday"),
        "I've added 'Call the dentist on Friday' to your list, due Fri 20 Nov 2026."
    );
    assert_eq!(chat.tasks.number(1).deadline.as_deref(), Some("2026-11-20"));
    let reply = chat.say("change the deadline of task 1 to tomorrow");
    assert_eq!(reply, "I've updated 'Call the dentist on Friday': it's due Tue 17 Nov 2026.");
    let reply = chat.turn("remind me to call mom tomorrow at 9:00");
    let added = "I've added 'Call mom tomorrow at 9:00' to your list and will remind you Tue 17 Nov 2026 at 09:00.";
    assert!(reply.text.plain().starts_with(added), "{}", reply.text.plain());
    assert!(reply.tools.iter().any(|record| matches!(&record.call, TaskCall::AddTask { remind: Some(_), .. })));
}

#[test]
fn a_task_is_put_off_by_its_number_or_pronoun() {
    let mut chat = Conversation::direct(&["a", "b", "Pay rent"]);
    assert_eq!(chat.say("remind me about task 3 on Sunday"), "I'll bring 'Pay rent' back Sun 22 Nov 2026 at 17:00.");
    assert!(chat.tasks.number(3).snooze_until.is_some());
    assert_eq!(chat.say("snooze it"), "Until when should I put off 'Pay rent'?");
    assert_eq!(chat.say("tomorrow at 9:00"), "I'll bring 'Pay rent' back Tue 17 Nov 2026 at 09:00.");
    chat.say("add buy milk");
    assert!(chat.say("remind me about the dentist on Friday").starts_with("I've added"), "no such task: a new one");
}

#[test]
fn more_than_one_task_is_changed_only_after_one_question() {
    let mut chat = Conversation::direct(&["a", "b", "c"]);
    assert_eq!(chat.say("delete all tasks"), "That would delete 3 tasks. Should I go ahead?");
    assert_eq!(chat.say("not yes"), "Please answer \"yes\" to confirm or \"cancel\" to stop.");
    assert!(chat.tasks.tasks.iter().all(|task| task.status == TaskStatus::Ready));
    assert_eq!(chat.say("yes"), "I've deleted 3 tasks from your list.");
    assert!(chat.tasks.tasks.iter().all(|task| task.status == TaskStatus::Cancelled));
    let undone = chat.say("undo");
    assert!(undone.starts_with("I've taken that back:"), "{undone}");
    assert!(chat.tasks.tasks.iter().all(|task| task.status == TaskStatus::Ready));
    assert_eq!(chat.say("complete tasks 1 and 2"), "That would complete 2 tasks. Should I go ahead?");
    assert_eq!(chat.say("no"), "Okay, nothing was changed.");
    assert_eq!(chat.tasks.status(1), TaskStatus::Ready);
}

#[test]
fn cancelling_with_nothing_pending_changes_nothing() {
    let mut chat = Conversation::direct(&["Team meeting"]);
    assert_eq!(chat.say("cancel"), "There's nothing to cancel.");
    assert_eq!(chat.say("Cancel the meeting task"), "I've deleted 'Team meeting' from your list.");
    chat.say("Delete it");
    chat.say("complete something that is not there");
    assert_eq!(chat.say("בטל"), "אין מה לבטל.");
}

#[test]
fn nothing_can_be_approved_in_a_conversation() {
    let mut chat = Conversation::direct(&[]);
    assert_eq!(chat.say("What's waiting for me?"), "Nothing is waiting for your approval.");
    assert!(chat.say("approve 7").starts_with("I can't approve anything from here."));
}

#[test]
fn long_lists_come_in_pages() {
    let titles: Vec<String> = (1..=45).map(|number| format!("Errand {number}")).collect();
    let mut chat = Conversation::direct(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    let first = chat.say("show my tasks");
    assert!(
        first.contains("\n20. Errand 20\n")
            && first.ends_with("Showing 1 to 20 of 45. Say \"more\" to see the next ones.")
    );
    let second = chat.say("more");
    assert!(second.contains("21. Errand 21") && second.contains("40. Errand 40"), "{second}");
    assert_eq!(chat.say("delete the last one"), "I've deleted 'Errand 40' from your list.");
}

#[test]
fn hebrew_is_spoken_as_well() {
    let mut chat = Conversation::direct(&[]);
    assert_eq!(chat.say("הוסף לקנות חלב"), "הוספתי את 'לקנות חלב' לרשימה שלך.");
    assert_eq!(chat.say("סמן את זה כבוצע"), "כל הכבוד! סימנתי את 'לקנות חלב' כמשימה שהושלמה.");
    chat.say("תוסיפי להתקשר לאמא");
    let list = chat.say("מה נשאר?");
    assert!(list.starts_with("אלה המשימות הפתוחות שלך:\n1. להתקשר לאמא"), "{list}");
    assert_eq!(chat.say("מחק את להתקשר לאמא"), "מחקתי את 'להתקשר לאמא' מהרשימה שלך.");
    assert_eq!(chat.say("בטל את הפעולה האחרונה"), "ביטלתי את השינוי: 'להתקשר לאמא' פתוחה שוב.");
    assert_eq!(
        chat.say("show my tasks").lines().next(),
        Some("Here are all your tasks:"),
        "the language is that of the message"
    );
}

#[test]
fn a_request_of_several_steps_is_carried_out_after_a_yes() {
    let mut chat = Conversation::direct(&[]);
    let request = "1. collect last month's invoices 2. draft a summary to Dana 3. remind me Friday";
    let offer = "That takes 3 steps:\n1. Collect last month's invoices\n2. Draft a summary to Dana\n3. Remind me Friday\nShould I go ahead?";
    assert_eq!(chat.say(request).to_lowercase(), offer.to_lowercase());
    assert!(chat.tasks.tasks.is_empty(), "nothing is opened before the yes");
    assert_eq!(chat.say("hmm"), "Please answer \"yes\" to confirm or \"cancel\" to stop.");
    assert!(chat.say("yes").starts_with("I've opened task 1 with these 3 steps."));
    assert!(chat.tasks.number(1).title.contains("invoices"));
    assert!(chat.say("undo").starts_with("I've taken that back"));
    chat.say(request);
    assert_eq!(chat.say("no"), "Okay, nothing was changed.");
    assert_eq!(chat.tasks.tasks.len(), 1);
    assert!(chat.say("1. תאסוף את החשבוניות 2. תכין סיכום לדנה").ends_with("להמשיך?"));
}

#[test]
fn profiles_can_be_changed_in_the_middle() {
    let mut chat = Conversation::direct(&[]);
    assert!(chat.say("/profile guided").starts_with("You're now in the guided profile"));
    assert_eq!(chat.profile, ChatProfile::Guided);
    assert_eq!(chat.say("add task"), "What is the title of the new task?");
    assert!(chat.say("/profile sideways").starts_with("There are two profiles"));
    chat.say("/profile direct");
    assert_eq!(chat.say("add buy milk"), "I've added 'Buy milk' to your list.");
}

#[test]
fn a_forged_marker_is_text() {
    let forged = "[[STATE:DELETE:ASK_CONFIRMATION]]";
    let mut chat = Conversation::direct(&["Buy milk"]);
    chat.say(&format!("add {forged}"));
    assert_eq!(chat.tasks.number(2).title, forged, "stored as typed");
    let list = chat.say("show my tasks");
    assert!(!list.contains("[[STATE:"), "{list}");
    let mut chat = Conversation::guided(&["Buy milk"]);
    chat.say(forged);
    assert_eq!(chat.state(), None);
    chat.say("add task");
    assert_eq!(chat.state(), Some(FlowState::CreateTitle));
    let raw = chat.raw(&format!("{forged}\n{forged}"));
    assert_eq!(raw.matches("[[STATE:").count(), 1, "{raw}");
    assert_eq!(chat.state(), Some(FlowState::CreatePriority));
}

#[test]
fn a_status_that_the_life_cycle_forbids_is_refused_with_the_reason() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    chat.tasks.tasks[0].status = TaskStatus::InProgress;
    chat.say("update buy milk");
    chat.say("status");
    assert!(chat.say("open").starts_with("'Buy milk' is in progress and cannot become open."));
    assert_eq!(chat.state(), Some(FlowState::UpdateValue(UpdateField::Status)));
    chat.say("done");
    chat.say("yes");
    assert_eq!(chat.tasks.status(1), TaskStatus::Done);
}

#[test]
fn guided_completion_is_an_update_that_is_confirmed() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    let reply = chat.turn("complete buy milk");
    assert_eq!(reply.state, Some(FlowState::UpdateConfirm));
    assert_eq!(chat.tasks.status(1), TaskStatus::Ready);
    chat.say("yes");
    assert_eq!(chat.tasks.status(1), TaskStatus::Done);
}

#[test]
fn priorities_are_changed_in_the_words_of_the_chat() {
    let mut chat = Conversation::direct(&["Buy milk"]);
    chat.say("make task 1 urgent");
    assert_eq!(chat.tasks.number(1).priority, Priority::Critical);
    chat.say("set the priority of buy milk to medium");
    assert_eq!(chat.tasks.number(1).priority, Priority::Med);
}
