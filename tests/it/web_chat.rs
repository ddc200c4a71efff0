//! Tests the chat on the page: both profiles, Hebrew, and what is never shown.

use crate::support::{
    page_client::{PageAnswer, PageClient},
    test_home::TestHome,
};

fn say(page: &PageClient, at: &PageAnswer, text: &str, profile: &str) -> PageAnswer {
    let start = at.body.find("action=\"/chat/").unwrap() + 8;
    let action = at.body[start..].split('"').next().unwrap().to_owned();
    page.submit(at, &action, &[("text", text), ("profile", profile)])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_in_hebrew_keeps_its_order() {
    let home = TestHome::active();
    let page = PageClient::open(&home).await;
    let at = say(&page, &page.page("/chat"), "הוסף לקנות חלב", "direct");
    assert!(at.body.contains("<p dir=\"auto\">הוסף לקנות חלב</p>"), "{}", at.body);
    assert!(at.body.contains("'<bdi>לקנות חלב</bdi>'"), "{}", at.body);
    assert_eq!(home.sql("SELECT objective FROM tasks"), [["לקנות חלב"]]);
    let at = say(&page, &at, "what are my tasks?", "direct");
    assert!(at.body.contains("1. <bdi>לקנות חלב</bdi>"), "{}", at.body);
    let at = say(&page, &at, "undo", "direct");
    assert_eq!(home.sql("SELECT status FROM tasks WHERE objective = 'לקנות חלב'"), [["CANCELLED"]], "{}", at.text());
    assert_eq!(home.count("conversations"), 1, "the whole conversation is one");
    page.page("/chat").must_say("הוסף לקנות חלב");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guided_profile_asks_and_its_markers_are_never_shown() {
    let home = TestHome::active();
    let page = PageClient::open(&home).await;
    let at = say(&page, &page.page("/chat"), "add task", "guided");
    at.must_say("What is the title of the new task?");
    let stored = home.sql_one("SELECT content FROM chat_messages WHERE role = 'assistant'");
    assert!(stored.contains("CREATE:ASK_TITLE"), "{stored}");
    assert!(!at.body.contains("ASK_TITLE"), "{}", at.body);
    assert!(at.body.contains("value=\"guided\" selected"), "the profile stays: {}", at.body);
    say(&page, &at, "Buy milk", "guided").must_say("What is its priority");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_said_acts_on_the_page_and_long_histories_have_pages() {
    let home = TestHome::active();
    let page = PageClient::open(&home).await;
    let mut at = say(&page, &page.page("/chat"), "add <b>bold</b> '<img src=x>'\u{202e}", "direct");
    assert!(
        !at.body.contains("<b>bold") && !at.body.contains("<img src") && !at.body.contains('\u{202e}'),
        "{}",
        at.body
    );
    for nth in 0..35 {
        at = say(&page, &at, &format!("hello {nth}"), "direct");
    }
    assert!(at.text().contains("hello 34") && !at.text().contains("hello 1 "), "{}", at.text());
    let earlier = page.page(&at.link(&format!("{}?shown", at.path)));
    earlier.must_say("hello 1");
    assert_eq!(page.get("/chat/not%20a%20name").status, 422);
}
