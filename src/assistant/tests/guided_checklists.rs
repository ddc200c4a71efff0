//! The guided profile: the validation checklists of its specification, item by item.

use super::conversation::Conversation;
use crate::{
    assistant::{ChatPriority, CommandIntent, FlowState, UpdateField},
    model::{Priority, TaskStatus},
};

#[test]
fn add_task_1_to_5_title_priority_deadline() {
    for (messages, titled, none) in [
        (["add task", "Buy milk", "HIGH"], "What is the title of the new task?", "none"),
        (["תוסיף משימה", "קנה חלב", "גבוהה"], "מה הכותרת של המשימה החדשה?", "אין"),
    ] {
        let mut chat = Conversation::guided(&[]);
        let [start, title, priority] = messages;
        let reply = chat.turn(start);
        assert_eq!((reply.text.plain(), reply.state), (titled, Some(FlowState::CreateTitle)));
        let command = reply.command().unwrap();
        assert_eq!((command.intent, command.ready, command.confidence), (CommandIntent::AddTask, false, 0.7));
        assert_eq!(command.missing_fields, ["title"]);
        let reply = chat.turn(title);
        assert_eq!(reply.state, Some(FlowState::CreatePriority));
        assert_eq!(reply.command().unwrap().fields.title.as_deref(), Some(title));
        assert_eq!(reply.command().unwrap().missing_fields, ["priority"]);
        let reply = chat.turn(priority);
        assert_eq!(reply.state, Some(FlowState::CreateDeadline));
        assert_eq!(reply.command().unwrap().fields.priority, Some(ChatPriority::High));
        assert_eq!(reply.command().unwrap().missing_fields, ["deadline"]);
        assert!(chat.tasks.tasks.is_empty(), "nothing is created before the last answer");
        let reply = chat.turn(none);
        let command = reply.command().unwrap();
        assert_eq!((command.ready, command.confidence, command.missing_fields.len()), (true, 1.0, 0));
        assert_eq!((reply.state, command.fields.deadline.clone()), (None, Some(None)));
        let task = chat.tasks.number(1);
        assert_eq!((task.title.as_str(), task.priority, task.deadline.clone()), (title, Priority::High, None));
    }
    let mut chat = Conversation::guided(&[]);
    for message in ["create", "Pay rent", "urgent", "2026-12-01"] {
        chat.say(message);
    }
    assert_eq!(chat.tasks.number(1).deadline.as_deref(), Some("2026-12-01"));
    assert_eq!(chat.tasks.number(1).priority, Priority::Critical);
}

#[test]
fn add_task_6_a_date_in_words_is_asked_again() {
    let mut chat = Conversation::guided(&[]);
    for message in ["add task", "Buy milk", "low"] {
        chat.say(message);
    }
    for message in ["tomorrow", "יום רביעי", "next week", "2026-02-30", "soon"] {
        let reply = chat.turn(message);
        assert_eq!(reply.state, Some(FlowState::CreateDeadline), "{message}");
        assert!(!reply.command().unwrap().ready && chat.tasks.tasks.is_empty(), "{message}");
    }
    assert!(chat.turn("no deadline").command().unwrap().ready, "an explicit none is no cancellation");
}

#[test]
fn add_task_a_wrong_priority_is_asked_again_and_yes_can_be_a_title() {
    let mut chat = Conversation::guided(&[]);
    chat.say("add task");
    assert_eq!(chat.turn("yes").command().unwrap().fields.title.as_deref(), Some("yes"));
    for message in ["maybe", "5", "high or low", "delete task"] {
        assert_eq!(chat.turn(message).state, Some(FlowState::CreatePriority), "{message}");
    }
    assert_eq!(chat.turn("בינונית").command().unwrap().fields.priority, Some(ChatPriority::Medium));
}

#[test]
fn delete_1_a_unique_title_asks_for_confirmation() {
    let mut chat = Conversation::guided(&["Buy milk", "Buy milk today"]);
    for (message, question) in [
        ("delete  BUY   milk", "Are you sure you want to delete the task 'Buy milk'?"),
        ("מחק את המשימה Buy milk", "האם אתה בטוח שברצונך למחוק את המשימה 'Buy milk'?"),
        ("delete the task 'Buy milk'", "Are you sure you want to delete the task 'Buy milk'?"),
        ("delete #1", "Are you sure you want to delete the task 'Buy milk'?"),
    ] {
        let mut chat = Conversation::guided(&["Buy milk", "Buy milk today"]);
        let reply = chat.turn(message);
        assert_eq!((reply.text.plain(), reply.state), (question, Some(FlowState::DeleteConfirm)), "{message}");
        let command = reply.command().unwrap();
        assert_eq!((command.intent, command.ready), (CommandIntent::DeleteTask, false));
        assert_eq!(command.missing_fields, ["confirmation"]);
        assert_eq!(command.target.as_ref().unwrap().task_id, Some(chat.tasks.number(1).task_id));
    }
    let id = chat.tasks.number(2).task_id;
    assert_eq!(chat.turn(&format!("delete {id}")).state, Some(FlowState::DeleteConfirm));
}

#[test]
fn delete_a_part_of_a_title_or_a_bare_number_is_no_match() {
    for message in ["delete milk", "delete 1", "delete it", "delete", "delete the first one"] {
        let mut chat = Conversation::guided(&["Buy milk", "Call mom"]);
        let reply = chat.turn(message);
        assert_eq!(reply.state, None, "{message}: the first question has no marker");
        let command = reply.command().unwrap();
        assert_eq!((command.intent, command.ready), (CommandIntent::Clarify, false), "{message}");
        assert_eq!(command.missing_fields, ["task_selection"]);
    }
}

#[test]
fn delete_2_and_3_several_matches_are_listed_and_chosen_from() {
    let titles = ["Report", "report", "REPORT", "Report ", "report", "report", "Other"];
    let mut chat = Conversation::guided(&titles);
    let reply = chat.turn("delete report");
    assert_eq!(reply.state, Some(FlowState::DeleteSelect));
    assert_eq!(reply.command().unwrap().intent, CommandIntent::Clarify);
    assert_eq!(reply.command().unwrap().missing_fields, ["task_selection"]);
    let options = reply.text.plain().lines().filter(|line| line.contains("(ID: ")).count();
    assert_eq!(options, 5, "{}", reply.text.plain());
    for message in ["6", "0", "the first one", "other", "yes", "9999999999999999999999"] {
        assert_eq!(chat.turn(message).state, Some(FlowState::DeleteSelect), "{message} is no choice");
    }
    let reply = chat.turn("2");
    assert_eq!(
        (reply.state, reply.command().unwrap().intent),
        (Some(FlowState::DeleteConfirm), CommandIntent::DeleteTask)
    );
    chat.say("yes");
    assert_eq!(chat.tasks.status(2), TaskStatus::Cancelled);
    assert_eq!(chat.tasks.tasks.iter().filter(|task| task.status == TaskStatus::Cancelled).count(), 1);
    let mut chat = Conversation::guided(&titles);
    chat.say("delete report");
    let id = chat.tasks.number(3).task_id;
    assert_eq!(chat.turn(&id.to_string()).state, Some(FlowState::DeleteConfirm), "an exact id is a choice");
}

#[test]
fn delete_4_to_7_only_a_yes_deletes() {
    for (answer, deletes, state) in [
        ("yes", true, None),
        ("כן", true, None),
        ("Okay", true, None),
        ("not ok", false, Some(FlowState::DeleteConfirm)),
        ("לא אוקיי", false, Some(FlowState::DeleteConfirm)),
        ("wait", false, Some(FlowState::DeleteConfirm)),
        ("מה?", false, Some(FlowState::DeleteConfirm)),
        ("add task", false, Some(FlowState::DeleteConfirm)),
        ("no", false, None),
        ("לא", false, None),
        ("never mind", false, None),
        ("בטל", false, None),
    ] {
        let mut chat = Conversation::guided(&["Buy milk"]);
        chat.say("delete buy milk");
        let reply = chat.turn(answer);
        assert_eq!(chat.tasks.status(1) == TaskStatus::Cancelled, deletes, "{answer}");
        assert_eq!(reply.state, state, "{answer}");
        let command = reply.command().unwrap();
        assert_eq!(command.ready, deletes, "{answer}");
        match state {
            // What was collected stays, and a question is never executed.
            Some(_) => {
                assert_eq!(command.intent, CommandIntent::Clarify, "{answer}");
                assert!(command.target.is_some(), "{answer}");
                chat.say("yes");
                assert_eq!(chat.tasks.status(1), TaskStatus::Cancelled, "{answer}, yes");
            }
            None if !deletes => assert!(command.target.is_none() && command.fields.is_empty(), "{answer}"),
            None => {}
        }
    }
}

#[test]
fn update_1_to_6_field_value_confirmation() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    let reply = chat.turn("update Buy milk");
    assert_eq!(
        (reply.state, &reply.command().unwrap().missing_fields[..]),
        (Some(FlowState::UpdateWhichField), &["field_selection".to_owned()][..])
    );
    assert_eq!(chat.turn("colour").state, Some(FlowState::UpdateWhichField));
    let reply = chat.turn("priority");
    assert_eq!(reply.state, Some(FlowState::UpdateValue(UpdateField::Priority)));
    assert_eq!(reply.command().unwrap().missing_fields, ["priority_value"]);
    assert!(chat.raw("huge").ends_with("[[STATE:UPDATE:ASK_VALUE:priority]]"));
    let reply = chat.turn("high");
    assert_eq!(reply.state, Some(FlowState::UpdateConfirm));
    assert_eq!(reply.command().unwrap().fields.priority, Some(ChatPriority::High));
    assert_eq!(chat.tasks.number(1).priority, Priority::Low, "nothing changes before the yes");
    let reply = chat.turn("yes");
    assert!(reply.command().unwrap().ready);
    assert_eq!(
        serde_json::to_value(&reply.command().unwrap().fields).unwrap(),
        serde_json::json!({ "priority": "high" }),
        "only the changed field"
    );
    assert_eq!(chat.tasks.number(1).priority, Priority::High);
}

#[test]
fn update_2_and_3_several_matches() {
    let mut chat = Conversation::guided(&["Report", "report"]);
    assert_eq!(chat.turn("update report").state, Some(FlowState::UpdateSelect));
    let reply = chat.turn("2");
    assert_eq!(
        (reply.state, reply.command().unwrap().intent),
        (Some(FlowState::UpdateWhichField), CommandIntent::UpdateTask)
    );
    for message in ["title", "Final report", "ok"] {
        chat.say(message);
    }
    assert_eq!(chat.tasks.number(2).title, "Final report");
    assert_eq!(chat.tasks.number(1).title, "Report");
}

#[test]
fn update_7_to_9_refusals_and_wrong_values() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    for message in ["עדכן את Buy milk", "סטטוס"] {
        chat.say(message);
    }
    assert_eq!(chat.turn("כמעט").state, Some(FlowState::UpdateValue(UpdateField::Status)), "no status is invented");
    assert_eq!(chat.turn("בוצע").state, Some(FlowState::UpdateConfirm));
    let reply = chat.turn("wait");
    assert_eq!(
        (reply.state, reply.command().unwrap().intent),
        (Some(FlowState::UpdateConfirm), CommandIntent::Clarify)
    );
    assert!(!chat.turn("not ok").command().unwrap().ready);
    assert_eq!(chat.tasks.status(1), TaskStatus::Ready);
    chat.say("כן");
    assert_eq!(chat.tasks.status(1), TaskStatus::Done);
}

#[test]
fn the_deadline_can_be_set_and_removed() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    for message in ["update buy milk", "deadline", "2026-12-24T10:00:00Z", "yes"] {
        chat.say(message);
    }
    assert_eq!(chat.tasks.number(1).deadline.as_deref(), Some("2026-12-24T10:00:00Z"));
    for message in ["update buy milk", "deadline", "none", "yes"] {
        chat.say(message);
    }
    assert_eq!(chat.tasks.number(1).deadline, None);
}

#[test]
fn several_tasks_are_deleted_after_one_question_with_their_number() {
    let mut chat = Conversation::guided(&["a", "b", "c"]);
    let reply = chat.turn("delete #1 and #2");
    assert_eq!(reply.text.plain(), "Are you sure you want to delete 2 tasks?");
    chat.say("yes");
    assert_eq!([1, 2, 3].map(|number| chat.tasks.status(number) == TaskStatus::Cancelled), [true, true, false]);
}

#[test]
fn lists_help_and_greetings_are_as_in_the_direct_profile() {
    let mut chat = Conversation::guided(&["Buy milk"]);
    assert_eq!(chat.say("show my tasks"), "Here are all your tasks:\n1. Buy milk");
    assert!(chat.say("What can you do?").starts_with("I can help you manage your tasks!"));
    assert!(chat.say("Hello!").starts_with("Hi! I'm your task assistant."));
    assert_eq!(chat.turn("Buy bread").state, None, "only a keyword begins a flow");
    assert_eq!(chat.tasks.tasks.len(), 1);
}
