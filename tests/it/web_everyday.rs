//! Tests rules, nights, chat, plans, health and the first start in a real browser: with keys alone, without JavaScript,
//! on a phone, in the dark, and for a screen reader.

use crate::support::{
    browser::{Browser, DESKTOP, PHONE, Window},
    served_page::ServedPage,
    test_home::TestHome,
};

const DARK: Window = Window { is_dark: true, ..DESKTOP };
const WITHOUT_JAVASCRIPT: Window = Window { has_javascript: false, ..PHONE };
/// The pages that are looked at in every window.
const PAGES: [(&str, &str); 10] = [
    ("/rules", "rules"),
    ("/rules/edit", "rules-edit"),
    ("/nights", "nights"),
    ("/nights/digest", "digest"),
    ("/chat", "chat"),
    ("/plans", "plans"),
    ("/health", "health"),
    ("/health/doctor", "doctor"),
    ("/start", "start"),
    ("/rules/versions/1", "rules-version"),
];

/// Replaces the copy in the editor by one with another default, and looks at what would change.
fn try_other_default(browser: &mut Browser) {
    let other = "document.querySelector('#text').value = document.querySelector('#text').value.replace('default: low', 'default: high')";
    browser.evaluate(other);
    browser.click("form[action='/rules/drafts'] button");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_tried_saved_and_taken_back() {
    let home = TestHome::samples();
    home.once().await;
    let before = home.read("rules/priority.yml");
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(DESKTOP);
    browser.goto(&served.sign_in_link());
    browser.goto(&served.url("/rules/edit"));
    try_other_default(&mut browser);
    browser.until("h1", "What would change");
    assert!(browser.text("main").contains("Nothing is saved yet"), "{}", browser.text("main"));
    browser.must_be_accessible();
    browser.screenshot("what-if");
    assert_eq!(home.read("rules/priority.yml"), before);
    browser.click("form[action$='/save'] button");
    browser.until(".note", "Saved as version 2");
    assert_eq!(home.read("rules/priority.yml"), before.replace("default: low", "default: high"));
    // The whole text of the version before is taken up as a copy, and tried in its turn.
    browser.goto(&served.url("/rules/versions/1"));
    browser.click("a[href='/rules/edit?version=1']");
    browser.click("form[action='/rules/drafts'] button");
    browser.click("form[action$='/save'] button");
    browser.until(".note", "Saved as version 3");
    assert_eq!(home.read("rules/priority.yml"), before);
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_in_hebrew_needs_only_the_keyboard() {
    let home = TestHome::active();
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(PHONE);
    browser.goto(&served.sign_in_link());
    browser.goto(&served.url("/chat"));
    // The field has the focus, so that a person just types.
    for (said, answered) in [("הוסף לקנות חלב", "לקנות חלב"), ("what are my tasks?", "all your tasks")]
    {
        browser.type_text(said);
        browser.press(&["Enter"]);
        browser.until("article.said:last-of-type", answered);
    }
    let side = "getComputedStyle([...document.querySelectorAll('article.you p')].find((p) => p.textContent.includes('הוסף'))).direction";
    assert_eq!(browser.evaluate(side), "rtl");
    assert!(browser.count("article.said bdi") >= 2);
    browser.must_be_accessible();
    browser.screenshot("chat-hebrew");
    assert_eq!(home.sql("SELECT objective FROM tasks"), [["לקנות חלב"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_agreed_on_and_followed_as_it_goes() {
    let home = TestHome::observing();
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(DESKTOP);
    browser.goto(&served.sign_in_link());
    browser.goto(&served.url("/plans"));
    browser.fill("#text", "1. create folder Taxes 2. create folder Bills after step 1");
    browser.click("form[action='/plans/prepare'] button");
    browser.until("h1", "The plan");
    browser.must_be_accessible();
    browser.screenshot("plan");
    assert_eq!(home.count("plan"), 0);
    browser.click("form[action$='/execute'] button");
    browser.until("#plan", "0 of 2 steps");
    // The page follows the plan by itself.
    served.app.worker().finish_runs().await.unwrap();
    browser.until("#plan", "2 of 2 steps");
    browser.must_be_accessible();
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_works_in_every_window() {
    let home = TestHome::samples();
    home.once().await;
    let served = ServedPage::start(&home).await;
    let base = served.app.rules().overview().await.unwrap();
    let text = base.text.replace("default: low", "default: med");
    served.app.rules().copy(&text).save(&base.fingerprint).await.unwrap();
    let mut browser = Browser::start();
    for (window, suffix) in [(DESKTOP, "light"), (DARK, "dark"), (PHONE, "phone")] {
        browser.open(window);
        browser.goto(&served.sign_in_link());
        for (path, name) in PAGES {
            assert_eq!(browser.goto(&served.url(path)), 200, "{path}");
            browser.must_be_accessible();
            browser.screenshot(&format!("{name}-{suffix}"));
        }
        browser.must_be_quiet(&served.url("/"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_needs_javascript() {
    let home = TestHome::samples();
    home.once().await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(WITHOUT_JAVASCRIPT);
    browser.goto(&served.sign_in_link());
    browser.goto(&served.url("/chat"));
    browser.fill("input[name=text]", "add buy milk");
    browser.press(&["Enter"]);
    browser.until("article.said:last-of-type", "Buy milk");
    browser.goto(&served.url("/plans"));
    browser.fill("#text", "1. create folder Taxes 2. create folder Bills");
    browser.click("form[action='/plans/prepare'] button");
    browser.click("form[action$='/execute'] button");
    browser.until("#plan", "of 2 steps");
    browser.goto(&served.url("/health"));
    browser.click("form[action='/health/pause'] button");
    browser.until(".note", "Paused");
    browser.click("form[action='/health/resume'] button");
    browser.until(".note", "Effects go on");
    browser.goto(&served.url("/rules/edit"));
    browser.click("form[action='/rules/drafts'] button");
    browser.until("main", "0 raised, 0 lowered");
    browser.goto(&served.url("/start"));
    browser.fill("#time_zone", "Mars");
    browser.click("form[action='/start/check'] button");
    browser.until("[role=alert]", "expected a name such as");
}
