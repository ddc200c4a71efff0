//! Tests the exit code of `hitl approve`: 0 only when what was approved is done or still in progress.

use crate::support::test_home::{ACCEPT, Kind, TestHome};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

#[test]
fn an_approval_that_came_to_nothing_fails_with_its_reason() {
    for (script, code, state) in [
        (ACCEPT, 0, "sent"),
        ("cat > /dev/null; echo no such user >&2; exit 67", 1, "needs_human"),
        ("exit 1", 1, "failed"),
    ] {
        let home = TestHome::real_time(Kind::Active);
        home.transport(script, None);
        home.post(&home.letter("one").body(MEETING));
        assert_eq!(home.run(&["once"]).code, 0);
        let sha256 = home.json(&["hitl", "show", "1"])["action_sha256"].as_str().unwrap().to_owned();
        let approved = home.run(&["hitl", "approve", "1", "--sha256", &sha256]);
        let ended = home.sql_one("SELECT state FROM outbox WHERE step = 'send_calendar_invite'");
        assert_eq!(approved.code, code, "{script}: {ended}: {}{}", approved.out, approved.err);
        if code != 0 {
            assert!(approved.err.contains("number 1 was approved, but"), "{script}: {}", approved.err);
        }
        assert_eq!(ended, state, "{script}");
    }
}

#[test]
fn after_a_pause_what_waits_does_not_say_that_it_is_paused() {
    let home = TestHome::real_time(Kind::Active);
    home.run(&["pause"]);
    home.post(&home.letter("one").question());
    home.run(&["once"]);
    home.run(&["resume"]);
    let list = home.run(&["hitl", "list"]);
    assert!(!list.out.contains("paused:") && !list.out.contains("are paused"), "{}", list.out);
}
