//! Tests the mail, the runs, the search and the overview of the page in a real browser.

use serde_json::json;

use crate::support::{
    browser::{Browser, DESKTOP, PHONE, Window},
    served_page::ServedPage,
    test_home::{Kind, TestHome},
};

async fn with_samples(window: Window) -> (TestHome, ServedPage, Browser) {
    let home = TestHome::samples();
    let (served, browser) = worked(&home, window).await;
    (home, served, browser)
}

/// Works the mail of a home, and signs a browser in to its page.
async fn worked(home: &TestHome, window: Window) -> (ServedPage, Browser) {
    home.once().await;
    let served = ServedPage::start(home).await;
    let mut browser = Browser::start();
    browser.open(window);
    assert_eq!(browser.goto(&served.sign_in_link()), 200);
    (served, browser)
}

fn mail_of(home: &TestHome, subject: &str) -> String {
    home.sql_one(&format!("SELECT mail_id FROM mail WHERE subject LIKE '%{subject}%' ORDER BY mail_id LIMIT 1"))
}

fn state_of(home: &TestHome, mail: &str) -> String {
    home.sql_one(&format!("SELECT state FROM ledger WHERE mail_id = {mail}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_says_of_every_mail_what_became_of_it() {
    let (home, served, mut browser) = with_samples(DESKTOP).await;
    browser.goto(&served.url("/mail"));
    assert_eq!(browser.count("ol.queue li"), home.count("ledger"));
    browser.screenshot("mail");
    browser.must_be_accessible();
    browser.click("nav.tabs a:has-text('no task')");
    assert_eq!(browser.count("ol.queue li"), home.count("ledger WHERE state = 'no_task'"));
    browser.until("ol.queue li", "for information only");
    browser.goto(&served.url("/mail?before=5"));
    assert_eq!(browser.count("ol.queue li"), 4);
    assert_eq!(browser.goto(&served.url("/mail?account=nobody%26")), 200);
    browser.until(".empty", "There is no mail here");
    browser.must_be_quiet(&served.url("/"));
    for path in ["/mail?state=lost", "/mail?before=x"] {
        assert_eq!(browser.goto(&served.url(path)), 422, "{path}");
    }
    assert_eq!(browser.goto(&served.url("/mail/999")), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_corrected_without_javascript() {
    let (home, served, mut browser) = with_samples(Window { has_javascript: false, ..PHONE }).await;
    let invoice = mail_of(&home, "Invoice 2041");
    browser.goto(&served.url(&format!("/mail/{invoice}")));
    assert!(browser.text("main").contains("Pay invoice 2041"), "{}", browser.text("main"));
    browser.click("button:has-text('This is not a task')");
    browser.until(".note", "It is no task now");
    assert_eq!(state_of(&home, &invoice), "no_task");
    browser.click("button:has-text('Make it a task')");
    browser.until(".note", "becomes a task in a moment");
    home.once().await;
    assert_eq!(state_of(&home, &invoice), "task");
    let news = mail_of(&home, "off everything");
    browser.goto(&served.url(&format!("/mail/{news}")));
    browser.click("button:has-text('Open no tasks for its sender')");
    browser.until(".note", "muted");
    assert_eq!(home.count("muted"), 1);
    browser.click("button:has-text('Open tasks for its sender again')");
    browser.until(".note", "not muted");
    assert_eq!(home.count("muted"), 0);
    browser.click("button:has-text('Archive it')");
    browser.until(".note", "being archived");
    assert_eq!(home.count("run WHERE kind = 'mail' AND status = 'running'"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn deceit_is_shown_as_text_and_can_be_called_genuine() {
    let (home, served, mut browser) = with_samples(DESKTOP).await;
    let phishing = mail_of(&home, "Your account will be closed");
    browser.goto(&served.url(&format!("/mail/{phishing}")));
    browser.until("p.warning", "phishing");
    // Where a link leads is shown, and it cannot be followed.
    let foreign =
        browser.evaluate("[...document.querySelectorAll('main a')].filter(a => a.origin !== location.origin).length");
    assert_eq!(foreign, json!(0));
    browser.must_be_accessible();
    let warned = browser.text("main");
    browser.click("button:has-text('It is genuine')");
    browser.until(".note", "read again without them");
    home.once().await;
    assert_eq!(state_of(&home, &phishing), "task", "{warned}");
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_of_which_something_else_became_is_shown_again() {
    let (home, served, mut browser) = with_samples(Window { has_javascript: false, ..DESKTOP }).await;
    let invoice = mail_of(&home, "Invoice 2041");
    browser.goto(&served.url(&format!("/mail/{invoice}")));
    let mail_id = adjutant::app::parse_mail_id(&invoice).unwrap();
    served.app.mail().mark_not_a_task(mail_id, "").await.unwrap();
    browser.click("button:has-text('Open no tasks for its sender')");
    browser.until(".note.refusal", "something else has become of the mail");
    assert_eq!(home.count("muted"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_drawn_replayed_and_forked() {
    let (home, served, mut browser) = with_samples(DESKTOP).await;
    browser.goto(&served.url("/runs"));
    assert_eq!(browser.count("ol.queue li"), home.count("run").min(50));
    browser.must_be_accessible();
    browser.click("nav.tabs a:has-text('parked')");
    assert_eq!(browser.count("ol.queue li"), home.count("run WHERE status = 'parked'"));
    browser.click("ol.queue a");
    browser.until(".graph .end", "parked");
    browser.screenshot("run");
    browser.must_be_accessible();
    // What a node wrote is there in words and as it is stored.
    browser.click("summary:has-text('What execute tool read and wrote')");
    browser.until("details[open] .recorded", "wrote task.tool_output");
    browser.click("summary:has-text('Fork it')");
    browser.evaluate("document.querySelector('details[open] select[name=from]').value = 'execute_tool'");
    browser.click("button:has-text('Run it again from there')");
    browser.until(".note", "Forked");
    assert_eq!(home.count("run WHERE fork_of IS NOT NULL"), 1);
    browser.until("main", "an experiment without effects");
    browser.click("a:has-text('Replay it')");
    browser.until("main", "0 calls made");
    browser.must_be_quiet(&served.url("/"));
    for (path, status) in
        [("/runs?status=odd", 422), ("/runs?before=x", 422), ("/runs/01JYD3A8P0WQ5M4T6R2P0N1M4K", 404)]
    {
        assert_eq!(browser.goto(&served.url(path)), status, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_finds_by_words_and_meaning_with_the_reasons() {
    let (_home, served, mut browser) = with_samples(Window { has_javascript: false, ..PHONE }).await;
    browser.goto(&served.url("/search"));
    browser.fill("input[type=search]", "bill from Acme");
    browser.click("form.search button");
    let first = browser.text("ol.queue li");
    assert!(first.contains("Acme") && first.contains("found by"), "{first}");
    let all = browser.text("ol.queue");
    assert!(all.contains("words (") && all.contains("meaning ("), "{all}");
    browser.fill("input[type=search]", "<script>alert(1)</script> zzzz");
    browser.click("form.search button");
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_have_the_same_figures_as_their_tables() {
    // The sample mails arrive when they are written, so the clock must go.
    let home = TestHome::real_time(Kind::Samples);
    let (served, mut browser) = worked(&home, Window { is_dark: true, ..DESKTOP }).await;
    browser.goto(&served.url("/overview"));
    browser.screenshot("overview");
    browser.must_be_accessible();
    let drawn =
        "[...document.querySelectorAll('figure.chart')].map(figure => [...figure.querySelectorAll('rect title')]
                 .reduce((sum, title) => sum + Number(title.textContent.split(': ').pop()), 0))";
    let written = "[...document.querySelectorAll('figure.chart')].map(figure => [...figure.querySelectorAll('td')]
                   .reduce((sum, cell) => sum + Number(cell.textContent), 0))";
    let drawn = browser.evaluate(drawn);
    assert_eq!(drawn, browser.evaluate(written));
    let open = home.count("tasks WHERE status NOT IN ('DONE', 'CANCELLED')");
    assert_eq!(drawn, json!([home.count("ledger"), open, home.count("item WHERE state = 'open'")]));
    browser.open(PHONE);
    browser.goto(&served.sign_in_link());
    for path in ["/overview", "/mail", "/mail/3", "/runs", "/search?text=invoice"] {
        assert_eq!(browser.goto(&served.url(path)), 200);
        browser.must_be_accessible();
    }
}
