//! Tests the page beside a running daemon: its link, a mail that arrives while the page is open, an approval that the
//! daemon carries out, and what is said when no page is served.

use crate::support::{
    browser::{Browser, DESKTOP},
    test_home::{Daemon, Kind, TestHome, eventually},
};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

/// Starts a daemon that serves the page. Returns it with the link that it printed.
fn daemon_with_page(home: &TestHome) -> (Daemon, String) {
    let mut command = home.command(&["run"]);
    command.env("ADJUTANT_WEB_ENABLED", "true");
    let daemon = Daemon::start(command);
    let said = daemon.said_so_far();
    let link = said.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:")).map(str::to_owned);
    (daemon, link.unwrap_or_else(|| panic!("no link: {said}")))
}

#[test]
fn a_mail_that_arrives_is_shown_approved_and_sent() {
    let home = TestHome::real_time(Kind::Active);
    let (daemon, link) = daemon_with_page(&home);
    let mut browser = Browser::start();
    browser.open(DESKTOP);
    assert_eq!(browser.goto(&link), 200);
    browser.until(".empty", "Nothing waits for you");
    home.post(&home.letter("meeting").body(MEETING));
    browser.until("ol.queue li", "tom@bakerand.example");
    browser.click("a.row");
    browser.click("button.primary");
    browser.until(".note", "");
    eventually("the invitation is in Sent", || (home.sent().len() == 1).then_some(()));
    // The first link was used; the daemon's page gives another one.
    let again = home.json(&["web"])["url"].as_str().unwrap().to_owned();
    assert_ne!(again, link);
    browser.open(DESKTOP);
    assert_eq!(browser.goto(&again), 200);
    assert_eq!(browser.goto(&link), 200, "a signed-in browser is led to the page by an old link");
    browser.open(DESKTOP);
    assert_eq!(browser.goto(&link), 401);
    browser.must_be_accessible();
    drop(daemon);
    let refused = home.run(&["web"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("start `adjutant run`"), "{}", refused.err);
}

#[test]
fn a_taken_port_is_told_and_the_mail_is_worked_all_the_same() {
    let home = TestHome::real_time(Kind::Active);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = home.command(&["run"]);
    command.env("ADJUTANT_WEB_ENABLED", "true");
    command.env("ADJUTANT_WEB_PORT", taken.local_addr().unwrap().port().to_string());
    let mut daemon = Daemon::start(command);
    assert!(!daemon.said_so_far().contains("http://"), "{}", daemon.said_so_far());
    home.post(&home.letter("meeting").body(MEETING));
    daemon.until("catch-up");
}
