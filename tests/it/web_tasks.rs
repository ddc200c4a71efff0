//! Tests the tasks of the page in a real browser: lists and the board, the page of a task, and everything that a person
//! changes there, with and without JavaScript, on a desk and on a phone.

use adjutant::model::{Priority, TaskEditKind};
use serde_json::json;

use crate::support::{
    browser::{Browser, DESKTOP, PHONE, Window},
    served_page::ServedPage,
    test_home::TestHome,
};

/// A home in which the sample mails were worked.
async fn with_samples() -> TestHome {
    let home = TestHome::samples();
    home.once().await;
    home
}

/// Returns the number of the task whose objective is like this.
fn number_of(home: &TestHome, objective: &str) -> String {
    home.sql_one(&format!(
        "SELECT o.number FROM tasks t JOIN task_owner o USING (task_id) WHERE t.objective LIKE '%{objective}%' AND o.number IS NOT NULL"
    ))
}

fn status_of(home: &TestHome, number: &str) -> String {
    home.sql_one(&format!("SELECT t.status FROM tasks t JOIN task_owner o USING (task_id) WHERE o.number = {number}"))
}

async fn signed_in(home: &TestHome, window: Window) -> (ServedPage, Browser) {
    let served = ServedPage::start(home).await;
    let mut browser = Browser::start();
    browser.open(window);
    assert_eq!(browser.goto(&served.sign_in_link()), 200);
    (served, browser)
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_listed_by_urgency_with_the_reason_and_on_a_board() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    browser.goto(&served.url("/tasks"));
    let first = browser.text("ol.queue li");
    assert!(first.contains("critical") && first.contains("something is down, and the sender is verified"), "{first}");
    browser.must_be_accessible();
    browser.screenshot("tasks");
    browser.click("nav.tabs.small a:has-text('high')");
    let levels = browser.evaluate("[...document.querySelectorAll('ol.queue .priority')].map(tag => tag.innerText)");
    assert!(levels.as_array().unwrap().iter().all(|level| level == "high"), "{levels}");
    browser.click("a:has-text('Board')");
    browser.until("section h2", "Waiting for you");
    assert!(browser.text("section[aria-label='Waiting for you']").contains("Schedule 30-min catch-up"));
    browser.must_be_accessible();
    browser.must_be_quiet(&served.url("/"));
    for (path, status) in
        [("/tasks?view=nothing", 422), ("/tasks?after=x", 422), ("/tasks/999", 404), ("/tasks/abcdef", 404)]
    {
        assert_eq!(browser.goto(&served.url(path)), status, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_long_list_follow_each_other() {
    let home = TestHome::active();
    let app = home.app().await;
    for nth in 1..=120 {
        let new = adjutant::app::NewTask { objective: format!("Call number {nth}"), ..Default::default() };
        app.tasks().add(new).await.unwrap();
    }
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    browser.goto(&served.url("/tasks"));
    let mut pages = vec![browser.count("ol.queue li")];
    while browser.count("a[rel=next]") > 0 {
        browser.click("a[rel=next]");
        pages.push(browser.count("ol.queue li"));
    }
    assert_eq!(pages, [50, 50, 20]);
    browser.click("a:has-text('First page')");
    assert!(browser.url().ends_with("/tasks?view=open"), "{}", browser.url());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_added_changed_done_and_opened_again() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    browser.goto(&served.url("/tasks"));
    browser.click("summary:has-text('Add a task')");
    browser.fill("details[open] input[name=objective]", "Call the plumber tomorrow at 10");
    browser.click("details[open] button.primary");
    browser.until(".note", "Added, due Tue 17 Nov 2026, 10:00");
    let number = number_of(&home, "plumber");
    browser.click("summary:has-text('Change it')");
    browser.fill("details[open] input[name=objective]", "Call another plumber");
    browser.evaluate("document.querySelector('details[open] select[name=priority]').value = 'critical'");
    browser.fill("details[open] input[name=due]", "in the evening of never");
    browser.click("details[open] button:has-text('Save')");
    browser.until(".note.refusal", "no time to come that I understand");
    browser.click("summary:has-text('Change it')");
    browser.fill("details[open] input[name=objective]", "Call another plumber");
    browser.evaluate("document.querySelector('details[open] select[name=priority]').value = 'critical'");
    browser.fill("details[open] input[name=due]", "friday 5pm");
    browser.click("details[open] button:has-text('Save')");
    browser.until(".note", "Changed.");
    let task = served.app.tasks().find(&number).await.unwrap();
    assert_eq!((task.task.objective.as_str(), task.task.priority), ("Call another plumber", Priority::Critical));
    assert!(browser.text("dl.facts").contains("Fri 20 Nov 2026, 17:00"), "{}", browser.text("dl.facts"));
    browser.goto(&served.url("/tasks"));
    browser.click("li:has-text('another plumber') button");
    browser.until(".note", "Done");
    assert!(browser.url().contains("/tasks?view=open"), "{}", browser.url());
    assert_eq!(status_of(&home, &number), "DONE");
    browser.click(".note button");
    browser.until(".note", "open again");
    assert_eq!(status_of(&home, &number), "IN_PROGRESS");
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_without_javascript_can_do_everything() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, Window { has_javascript: false, ..PHONE }).await;
    let number = number_of(&home, "Book the van");
    browser.goto(&served.url("/tasks"));
    browser.click("a:has-text('Book the van')");
    browser.click("summary:has-text('Hide it until later')");
    browser.fill("details[open] input[name=until]", "3d");
    browser.click("details[open] button");
    browser.until(".note", "Hidden until Thu 19 Nov 2026");
    browser.goto(&served.url("/tasks?view=snoozed"));
    browser.click("a:has-text('Book the van')");
    browser.click("button:has-text('Show it again')");
    browser.until(".note", "shown again");
    browser.click("li:has-text('do the work') button");
    browser.until(".note", "The step is done");
    browser.click("summary:has-text('Cancel it')");
    browser.fill("details[open] input[name=reason]", "nobody needs it");
    browser.click("details[open] button");
    browser.until(".note", "Cancelled");
    assert_eq!(status_of(&home, &number), "CANCELLED");
    browser.goto(&served.url("/tasks?view=cancelled"));
    browser.click("a:has-text('Book the van')");
    browser.click("button:has-text('Open it again')");
    browser.until(".note", "open again");
    browser.screenshot("task-on-a-phone");
    assert_ne!(status_of(&home, &number), "CANCELLED");
    browser.open(PHONE);
    browser.goto(&served.sign_in_link());
    for path in ["/tasks".to_owned(), "/tasks/board".into(), format!("/tasks/{number}"), format!("/tasks/{number}/why")]
    {
        assert_eq!(browser.goto(&served.url(&path)), 200);
        browser.must_be_accessible();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_task_shows_its_mail_its_run_and_its_records() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    let number = number_of(&home, "Schedule 30-min catch-up");
    browser.goto(&served.url(&format!("/tasks/{number}")));
    browser.screenshot("task");
    browser.must_be_accessible();
    let page = browser.text("main");
    for shown in [
        "Could we find time for a 30-min catch-up next week?",
        "Mornings suit me best",
        "propose time slots",
        "waits for your approval",
        "Dr. Anna Smith",
        "asks again in the conversation of this task",
        "READY",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // The graph tells its way in words, too.
    let told = browser.evaluate("document.querySelector('.graph svg').getAttribute('aria-label')");
    let told = told.as_str().unwrap();
    assert!(told.contains("execute tool") && told.contains("It ended parked"), "{told}");
    assert_eq!(browser.count(".graph .node"), 5);
    assert!(browser.count(".graph .edge.taken") >= 3);
    browser.click("summary:has-text('lines')");
    assert!(browser.text("section[aria-labelledby=audit]").contains("task ready"));
    browser.click("a:has-text('Replay it')");
    browser.until("h1", "The replay is identical");
    assert!(browser.text("main").contains("0 calls made"));
    browser.goto(&served.url(&format!("/tasks/{number}/why")));
    let why = browser.text("main");
    for shown in
        ["Why it is med", "meeting: somebody waits for a time", "decided", "Smallest change", "Rules that did not"]
    {
        assert!(why.contains(shown), "{shown}: {why}");
    }
    browser.must_be_accessible();
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hebrew_is_mirrored_and_mixed_lists_stay_readable() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    let number = number_of(&home, "דנה לוי");
    browser.goto(&served.url(&format!("/tasks/{number}")));
    let direction = |selector: &str| {
        format!("[...document.querySelectorAll({selector:?})].map(found => getComputedStyle(found).direction)")
    };
    assert_eq!(browser.evaluate(&direction("h1")), json!(["rtl"]));
    let lines = browser.evaluate(&direction("aside .text p"));
    assert!(lines.as_array().unwrap().iter().any(|line| line == "rtl"), "{lines}");
    browser.screenshot("task-in-hebrew");
    browser.goto(&served.url("/tasks"));
    let titles = browser.evaluate(&direction("ol.queue .title"));
    let titles = titles.as_array().unwrap();
    assert!(titles.contains(&json!("rtl")) && titles.contains(&json!("ltr")), "{titles:?}");
    browser.must_be_accessible();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_changed_meanwhile_is_shown_again() {
    let home = with_samples().await;
    let (served, mut browser) = signed_in(&home, Window { has_javascript: false, ..DESKTOP }).await;
    let number = number_of(&home, "Book the van");
    let before = status_of(&home, &number);
    browser.goto(&served.url(&format!("/tasks/{number}")));
    let wish = TaskEditKind::Objective("Book two vans".into());
    served.app.tasks().edit(&number, wish, "").await.unwrap();
    browser.click("button.primary:has-text('Done')");
    browser.until(".note.refusal", "has changed since it was shown");
    assert_eq!(status_of(&home, &number), before);
    browser.until("h1", "Book two vans");
    browser.click("button.primary:has-text('Done')");
    browser.until(".note", "Done");
    assert_eq!(status_of(&home, &number), "DONE");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_waits_for_approval() {
    let home = TestHome::active();
    home.post(&home.letter("keys").question());
    home.once().await;
    let (served, mut browser) = signed_in(&home, DESKTOP).await;
    browser.goto(&served.url("/tasks"));
    browser.click("ol.queue .title a");
    browser.click("summary:has-text('Answer the mail')");
    browser.fill("details[open] textarea", "On Friday at noon.");
    browser.click("details[open] button:has-text('Write this answer')");
    browser.until(".note", "nothing is sent before you approve it");
    home.once().await;
    assert!(home.sent().is_empty());
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
    browser.goto(&served.url("/tasks/write"));
    browser.fill("input[name=to]", "nobody");
    browser.fill("textarea", "Hello");
    browser.click("button.primary");
    browser.until(".note.refusal", "is not a mail address");
    browser.fill("input[name=to]", "Dana@Work.example");
    browser.fill("input[name=subject]", "Lunch");
    browser.fill("textarea", "Shall we?");
    browser.must_be_accessible();
    browser.click("button.primary");
    browser.until(".note", "nothing is sent before you approve it");
    home.once().await;
    assert!(home.sent().is_empty());
    assert_eq!(home.count("item WHERE state = 'open'"), 2);
}
