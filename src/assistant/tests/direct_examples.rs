//! The direct profile: every example, error and acceptance criterion of its specification, by its own name.

use super::conversation::Conversation;
use crate::{
    assistant::{TaskCall, intent::Intent},
    model::TaskStatus,
};

#[test]
fn happy_path_create_and_complete() {
    let mut chat = Conversation::direct(&[]);
    assert_eq!(chat.say("Add buy groceries"), "I've added 'Buy groceries' to your list.");
    assert_eq!(chat.tasks.number(1).title, "buy groceries", "stored as typed");
    assert_eq!(chat.say("Mark it as done"), "Great job! I've marked 'Buy groceries' as complete.");
    assert_eq!(chat.tasks.status(1), TaskStatus::Done);
}

#[test]
fn happy_path_list_filtered() {
    let mut chat = Conversation::direct(&["Call mom", "Submit report"]);
    assert_eq!(chat.say("Show my pending tasks"), "Here are your pending tasks:\n1. Call mom\n2. Submit report");
}

#[test]
fn happy_path_delete_by_title() {
    let mut chat = Conversation::direct(&["Buy groceries", "Call mom"]);
    let reply = chat.turn("Delete the groceries task");
    assert_eq!(reply.text.plain(), "I've deleted 'Buy groceries' from your list.");
    assert_eq!(chat.tasks.status(1), TaskStatus::Cancelled);
    // AC-CB3: the list comes before the deletion.
    let calls: Vec<&TaskCall> = reply.tools.iter().map(|record| &record.call).collect();
    assert!(matches!(calls.as_slice(), [TaskCall::FindTasks { .. }, TaskCall::DeleteTask { .. }]), "{calls:?}");
}

#[test]
fn edge_case_empty_list() {
    let mut chat = Conversation::direct(&[]);
    assert_eq!(chat.say("Show my tasks"), "You don't have any tasks. You're all caught up!");
    assert_eq!(chat.say("Show my pending tasks"), "You don't have any pending tasks. You're all caught up!");
    assert_eq!(chat.say("Show completed tasks"), "You don't have any completed tasks. Nothing completed yet.");
}

#[test]
fn edge_case_ambiguous_request() {
    let mut chat = Conversation::direct(&[]);
    let examples = "I'm not sure what you'd like me to do. Could you rephrase that? For example, you can say 'Add buy groceries' or 'Show my tasks'.";
    assert_eq!(chat.say("Do that thing"), examples);
    for message in ["task", "do it", "that thing", "Do the thing"] {
        assert_eq!(chat.say(message), "I'm not sure what you'd like me to do. Could you rephrase that?", "{message}");
    }
    assert!(chat.tasks.tasks.is_empty());
}

#[test]
fn error_1_task_not_found() {
    let mut chat = Conversation::direct(&["Buy milk"]);
    for number in [99, 999] {
        let expected = format!("I couldn't find task {number}. Would you like to see your current tasks?");
        assert_eq!(chat.say(&format!("Complete task {number}")), expected);
    }
    assert_eq!(chat.say("Yes"), "Here are your pending tasks:\n1. Buy milk");
}

#[test]
fn error_3_missing_parameters() {
    let mut chat = Conversation::direct(&["Walk the dog", "Pay rent", "Buy groceries"]);
    assert_eq!(
        chat.say("Mark it as done"),
        "Which task would you like to complete? You can say the task number or title."
    );
    assert_eq!(chat.say("Task 3"), "Great job! I've marked 'Buy groceries' as complete.");
}

#[test]
fn error_4_multiple_matches_and_rule_2() {
    let mut chat = Conversation::direct(&["a", "b", "Finish Q4 Report", "c", "d", "e", "Review Report Draft"]);
    let question = "I found multiple tasks matching 'report':\n1. Finish Q4 Report (ID: 3)\n2. Review Report Draft (ID: 7)\nWhich task would you like to delete? Please specify by number.";
    assert_eq!(chat.say("Delete the report"), question);
    assert_eq!(chat.say("hmm"), question, "an unclear answer repeats the question");
    assert_eq!(chat.say("The first one"), "I've deleted 'Finish Q4 Report' from your list.");
    for (answer, number) in [("number 2", 7), ("2", 7), ("task 7", 7), ("7", 7), ("the second one", 7)] {
        let mut chat = Conversation::direct(&["a", "b", "Finish Q4 Report", "c", "d", "e", "Review Report Draft"]);
        chat.say("Delete the report");
        chat.say(answer);
        assert_eq!(chat.tasks.status(number), TaskStatus::Cancelled, "{answer}");
    }
}

#[test]
fn error_5_database_error() {
    let mut chat = Conversation::direct(&["Buy milk"]);
    chat.tasks.is_broken = true;
    for message in
        ["Add buy groceries", "Show my tasks", "Delete task 1", "Complete buy milk", "undo", "why is task 1 low?"]
    {
        let reply = chat.say(message);
        if message != "undo" {
            assert_eq!(reply, "Sorry, I encountered an issue. Please try again in a moment.", "{message}");
        }
    }
}

#[test]
fn error_7_invalid_update() {
    let mut chat = Conversation::direct(&["a", "b", "Call dad"]);
    assert_eq!(
        chat.say("Update task 3"),
        "What would you like to change about task 3? You can update the title or description."
    );
    assert_eq!(chat.say("Change title to call mom"), "I've updated 'Call mom'.");
    assert_eq!(chat.tasks.number(3).title, "call mom");
}

#[test]
fn multi_turn_clarification_flow() {
    let mut chat = Conversation::direct(&["a", "b", "Buy groceries"]);
    assert_eq!(chat.say("Delete it"), "Which task would you like to delete? You can say the task number or title.");
    assert_eq!(chat.say("Task 3"), "I've deleted 'Buy groceries' from your list.");
}

#[test]
fn multi_turn_chained_actions() {
    let mut chat = Conversation::direct(&["Call mom"]);
    assert_eq!(
        chat.say("Add buy milk and show me all tasks"),
        "I've added 'Buy milk' to your list. Here are all your tasks:\n1. Call mom\n2. Buy milk"
    );
}

#[test]
fn rule_4_multi_intent_messages() {
    let mut chat = Conversation::direct(&["a1", "b2", "Old notes"]);
    let reply = chat.say("Delete task 3 and tell me what's left");
    assert_eq!(reply, "I've deleted 'Old notes' from your list. Here are your pending tasks:\n1. A1\n2. B2");
    let reply = chat.say("Delete task 99 and show me all tasks");
    assert_eq!(reply, "I couldn't find task 99. Would you like to see your current tasks?", "an error stops the chain");
}

#[test]
fn scenario_2_complete_by_title() {
    let mut chat = Conversation::direct(&["Finish project report"]);
    assert_eq!(chat.say("I finished the report"), "Great job! I've marked 'Finish project report' as complete.");
}

#[test]
fn scenario_4_update_multiple_fields() {
    let mut chat = Conversation::direct(&["a", "b", "Call dad"]);
    let message = "Change task 3 title to 'Call mom tonight' and add description 'Ask about weekend plans'";
    assert_eq!(chat.say(message), "I've updated task 3 with the new title and description.");
    let task = chat.tasks.number(3);
    assert_eq!(
        (task.title.as_str(), task.description.as_deref()),
        ("Call mom tonight", Some("Ask about weekend plans"))
    );
}

#[test]
fn templates_created_completed_deleted_updated() {
    let mut chat = Conversation::direct(&["Call dad", "Old meeting notes", "Buy groceries"]);
    assert_eq!(
        chat.say("Remember to call mom"),
        "Got it! 'Call mom' is now on your list. (You also have 'Call dad' pending.)"
    );
    assert_eq!(chat.say("Done with task 3"), "Great job! I've marked 'Buy groceries' as complete.");
    assert_eq!(chat.say("Delete task 2"), "I've deleted 'Old meeting notes' from your list.");
    assert_eq!(chat.say("Change task 1 to call mom"), "I've updated 'Call mom'.");
    assert_eq!(
        chat.say("Change the description of task 1 to ask about Sunday"),
        "I've updated task 1 with the new description."
    );
}

#[test]
fn greeting_and_help() {
    let mut chat = Conversation::direct(&[]);
    let greeting = "Hi! I'm your task assistant. I can help you add, view, complete, update, and delete tasks. What would you like to do?";
    for message in ["Hello!", "Hey there", "Hi bot"] {
        assert_eq!(chat.say(message), greeting, "{message}");
    }
    for message in ["What can you do?", "Help me", "How do I add a task?"] {
        assert!(
            chat.say(message).starts_with(
                "I can help you manage your tasks! Here's what you can say:\n• 'Add [task]' - Create a new task"
            ),
            "{message}"
        );
    }
    assert!(chat.tasks.tasks.is_empty(), "a question about adding adds nothing");
}

#[test]
fn intent_categories_table() {
    for (message, expected) in [
        ("Add buy groceries", Intent::Create),
        ("I need to call mom", Intent::Create),
        ("Don't forget to submit report", Intent::Create),
        ("Show all tasks", Intent::List),
        ("What's on my list?", Intent::List),
        ("See pending items", Intent::List),
        ("Mark task 3 as done", Intent::Complete),
        ("I finished the report", Intent::Complete),
        ("Complete buy groceries", Intent::Complete),
        ("Delete task 2", Intent::Delete),
        ("Remove buy groceries", Intent::Delete),
        ("Cancel the meeting task", Intent::Delete),
        ("Change task 1 to call mom", Intent::Update),
        ("Update the title", Intent::Update),
        ("Rename buy milk", Intent::Update),
        ("What can you do?", Intent::Help),
        ("Help me", Intent::Help),
        ("How do I add a task?", Intent::Help),
        ("Hello!", Intent::Greeting),
        ("task", Intent::Unclear),
        ("do it", Intent::Unclear),
        ("that thing", Intent::Unclear),
    ] {
        let mut chat = Conversation::direct(&["Buy milk", "Buy groceries", "Finish report", "Team meeting"]);
        assert_eq!(chat.turn(message).intent, expected, "{message}");
    }
}

#[test]
fn rule_3_pronouns_follow_what_was_mentioned() {
    let mut chat = Conversation::direct(&["a", "b"]);
    chat.say("Add buy groceries");
    assert_eq!(chat.say("Actually, mark it as done"), "Great job! I've marked 'Buy groceries' as complete.");
    let mut chat = Conversation::direct(&["Buy groceries", "Call mom"]);
    chat.say("Show my tasks");
    assert_eq!(chat.say("Delete that one"), "I've deleted 'Buy groceries' from your list.");
    let mut chat = Conversation::direct(&["Buy groceries", "Call mom"]);
    chat.say("Show my tasks");
    assert_eq!(chat.say("Delete the second one"), "I've deleted 'Call mom' from your list.");
    let mut chat = Conversation::direct(&[]);
    chat.say("Add buy milk");
    assert_eq!(chat.say("Actually, change it to buy oat milk"), "I've updated 'Buy oat milk'.");
}

#[test]
fn ac_cb6_and_ac_cb10_the_context_is_fifty_messages() {
    let mut chat = Conversation::direct(&[]);
    chat.say("Add task A");
    for _ in 0..24 {
        chat.say("Hello!");
    }
    assert_eq!(chat.say("Delete it"), "I've deleted 'A' from your list.", "24 pairs ago is within the context");
    let mut chat = Conversation::direct(&[]);
    chat.say("Add task A");
    for _ in 0..25 {
        chat.say("Hello!");
    }
    assert_eq!(chat.say("Delete it"), "Which task would you like to delete? You can say the task number or title.");
}

#[test]
fn ac_cb7_natural_language_flexibility() {
    for message in [
        "add buy milk",
        "I need to buy milk",
        "remind me to buy milk",
        "Add a task to buy milk",
        "Don't forget to buy milk",
        "Make a note to buy milk",
        "Buy milk",
    ] {
        let mut chat = Conversation::direct(&[]);
        let reply = chat.turn(message);
        let title = reply.tools.iter().find_map(|record| match &record.call {
            TaskCall::AddTask { title, .. } => Some(title.to_lowercase()),
            _ => None,
        });
        assert_eq!(title.as_deref(), Some("buy milk"), "{message}: {}", reply.text.plain());
    }
    for message in ["Show tasks", "What's on my list?", "Tell me my todos"] {
        let mut chat = Conversation::direct(&["Call mom"]);
        assert_eq!(chat.say(message), "Here are all your tasks:\n1. Call mom", "{message}");
    }
    for message in ["Done with task 3", "Finished task 3", "Mark 3 as complete"] {
        let mut chat = Conversation::direct(&["a", "b", "Buy groceries"]);
        chat.say(message);
        assert_eq!(chat.tasks.status(3), TaskStatus::Done, "{message}");
    }
}

#[test]
fn ac_cb8_ambiguous_task_handling() {
    let mut chat = Conversation::direct(&["Finish report", "Review report"]);
    let reply = chat.say("delete report");
    assert!(reply.contains("1. Finish report (ID: 1)\n2. Review report (ID: 2)"), "{reply}");
    assert!(chat.tasks.tasks.iter().all(|task| task.status == TaskStatus::Ready), "nothing was deleted");
}

#[test]
fn ac_cb9_task_resolution_priority() {
    let mut chat = Conversation::direct(&["groceries", "b", "Call mom"]);
    chat.say("delete task 3 groceries");
    assert_eq!(chat.tasks.status(3), TaskStatus::Cancelled);
    assert_eq!(chat.tasks.status(1), TaskStatus::Ready);
    let mut chat = Conversation::direct(&["Buy Groceries", "Return Groceries"]);
    chat.say("delete buy groceries");
    assert_eq!(chat.tasks.status(1), TaskStatus::Cancelled, "an exact title comes before a similar one");
    let mut chat = Conversation::direct(&["Buy Groceries", "Return Groceries"]);
    assert!(chat.say("delete groceries").starts_with("I found multiple tasks matching 'groceries':"));
}

#[test]
fn a_title_that_no_task_has_shows_the_list() {
    let mut chat = Conversation::direct(&["Call mom"]);
    let expected = "I couldn't find a task matching 'groceries'. Here's your current list:\n1. Call mom";
    assert_eq!(chat.say("Delete the groceries task"), expected);
}

#[test]
fn behavior_1_and_3_remarks_and_nudges() {
    let mut chat = Conversation::direct(&["Buy groceries"]);
    assert_eq!(
        chat.say("Add buy milk"),
        "I've added 'Buy milk' to your list. (You also have 'Buy groceries' pending.)"
    );
    chat.say("Add call the plumber");
    let third = chat.say("Add water the plants");
    assert!(third.ends_with("You now have 4 pending tasks. Ready to tackle one?"), "{third}");
    for number in 1..=4 {
        chat.say(&format!("complete task {number}"));
    }
    assert_eq!(chat.say("What's pending?"), "You don't have any pending tasks. You're all caught up! 🎉");
}

#[test]
fn behavior_2_smart_defaults() {
    let mut chat = Conversation::direct(&["Submit report", "Buy groceries"]);
    chat.say("complete task 1");
    assert_eq!(chat.say("Show tasks"), "Here are all your tasks:\n1. ✓ Submit report\n2. Buy groceries");
    assert_eq!(chat.say("What's left to do?"), "Here are your pending tasks:\n1. Buy groceries (#2)");
    assert_eq!(chat.say("What did I finish?"), "Here are your completed tasks:\n1. ✓ Submit report");
}
