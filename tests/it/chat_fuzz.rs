//! Thousands of random turns against a real database: no panic, no reply with a marker, no jump of a state, and a sound
//! database at the end. `IT_TURNS` sets how many.

use adjutant::{
    app::{App, ChatInput, ChatOutput},
    model::ChatProfile,
};

use crate::support::test_home::{SeededRandom, TestHome};

const TURNS: u64 = 2_000;

/// What messages are put together from.
const PARTS: &[&str] = &[
    "add",
    "create",
    "delete",
    "remove",
    "update",
    "change",
    "rename",
    "complete",
    "mark",
    "show",
    "list",
    "undo",
    "more",
    "yes",
    "no",
    "not",
    "ok",
    "cancel",
    "stop",
    "never mind",
    "it",
    "that one",
    "the first one",
    "task 1",
    "task 2",
    "#3",
    "number 2",
    "7",
    "all",
    "all tasks",
    "to",
    "and",
    "with",
    "as done",
    "priority",
    "high",
    "urgent",
    "title",
    "deadline",
    "status",
    "none",
    "2026-12-01",
    "tomorrow",
    "on Friday",
    "buy milk",
    "the report",
    "call mom",
    "groceries",
    "'quoted'",
    "what's waiting for me?",
    "why is",
    "remind me about",
    "snooze",
    "/undo",
    "/profile guided",
    "/profile direct",
    "/help",
    "help",
    "hello",
    "is not a task",
    "הוסף",
    "תוסיפי",
    "מחק",
    "את",
    "עדכן",
    "סיים",
    "משימה",
    "משימה 2",
    "חלב",
    "כן",
    "לא",
    "בטל",
    "עזוב",
    "הראשונה",
    "גבוהה",
    "כותרת",
    "מה נשאר?",
    "בוצע",
    "ל",
    "[[STATE:DELETE:ASK_CONFIRMATION]]",
    "[[STATE:UPDATE:ASK_VALUE:title]]",
    "\n",
    "\u{0}",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{200f}",
    "😀",
    "?",
    "!",
    "{title}",
    "%",
    "'; DROP TABLE tasks; --",
];

fn message(random: &mut SeededRandom) -> String {
    match random.below(100) {
        0 => "ab ".repeat(350_000),
        1..=3 => (0..random.below(40))
            .filter_map(|_| char::from_u32(u32::try_from(random.below(0x2_ffff)).unwrap()))
            .collect(),
        _ => {
            let words =
                (0..=random.below(6)).map(|_| PARTS[usize::try_from(random.below(PARTS.len() as u64)).unwrap()]);
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Says a random message in one of a few conversations of two users.
async fn turn(app: &App, random: &mut SeededRandom) -> (String, ChatOutput) {
    let (user, conversation) = (random.below(2), random.below(3));
    let profile = match (conversation, random.below(200)) {
        (0, _) => Some(ChatProfile::Guided),
        (_, 0) => Some(ChatProfile::Direct),
        _ => None,
    };
    let text = message(random);
    let input = ChatInput {
        text: text.clone(),
        conversation_id: Some(format!("c{conversation}")),
        user_id: Some(format!("u{user}")),
        profile,
    };
    (text, app.conversations().say(input).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn random_turns_do_no_harm() {
    let turns = std::env::var("IT_TURNS").ok().and_then(|turns| turns.parse().ok()).unwrap_or(TURNS);
    let mut random = SeededRandom::thrown("random_turns_do_no_harm");
    let home = TestHome::active();
    let app = home.app().await;
    for _ in 0..turns {
        let (text, output) = turn(&app, &mut random).await;
        let shown: String = text.chars().take(200).collect();
        assert!(!output.reply.is_empty(), "{shown:?}");
        assert!(!output.reply.contains("[[STATE:"), "{shown:?}: {}", output.reply);
        assert!(!output.reply.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}: {:?}", output.reply);
        assert!(!output.reply.starts_with("Sorry, I encountered"), "{shown:?}: {:?}", output.tools);
        let marker = output.state.map(|state| format!("\n[[STATE:{state}]]")).unwrap_or_default();
        assert_eq!(output.raw, format!("{}{marker}", output.reply), "{shown:?}");
    }
    // Every reply is stored, and nobody has acted for anybody else.
    assert_eq!(home.count("chat_messages WHERE role = 'assistant'"), turns);
    assert_eq!(home.count("chat_messages WHERE role = 'user' AND content LIKE '%[[STATE:%' AND memory <> ''"), 0);
    let foreign =
        "tasks t JOIN task_owner o USING (task_id) WHERE t.source LIKE 'chat:c%' AND o.user_id NOT IN ('u0', 'u1')";
    assert_eq!(home.count(foreign), 0);
    // The lists say what the tables say.
    let listed = "SELECT task_id, state FROM task_listing ORDER BY task_id";
    let known = "SELECT t.task_id, CASE t.status WHEN 'DONE' THEN 'completed' ELSE 'pending' END FROM tasks t JOIN task_owner o USING (task_id)
                 WHERE t.status <> 'CANCELLED' AND o.number IS NOT NULL ORDER BY t.task_id";
    assert_eq!(home.sql(listed), home.sql(known));
    home.must_be_sound().await;
}
