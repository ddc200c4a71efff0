//! Tests a running daemon, and every other command next to it.

use std::{fs, io::Write as _, time::Duration};

use crate::support::test_home::{Kind, TestHome, eventually};

#[test]
fn a_second_daemon_is_refused_by_name() {
    let home = TestHome::real_time(Kind::Samples);
    let daemon = home.daemon();
    let second = home.run(&["run"]);
    assert_eq!(second.code, 1);
    let id = daemon.id().to_string();
    assert!(second.err.contains("another adjutant is at work") && second.err.contains(&id), "{}", second.err);
    assert_eq!(daemon.stop("INT").0, 0);
    // The role is free again, also after a kill.
    let daemon = home.daemon();
    assert_eq!(daemon.stop("KILL").0, -1);
    assert_eq!(home.run(&["once"]).code, 0);
}

#[test]
fn every_other_command_works_beside_it() {
    let home = TestHome::real_time(Kind::Samples);
    let mut daemon = home.daemon();
    for command in [
        &["tasks"][..],
        &["tasks", "show", "1"],
        &["tasks", "add", "Buy", "milk"],
        &["tasks", "done", "17"],
        &["tasks", "undo", "17"],
        &["hitl"],
        &["mail"],
        &["mail", "show", "1"],
        &["why", "1"],
        &["search", "invoice"],
        &["runs"],
        &["graph"],
        &["rules", "check"],
        &["doctor"],
    ] {
        let answered = home.run(command);
        assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
    }
    assert!(home.run(&["doctor"]).out.contains(&format!("process {}", daemon.id())));
    // `once` leaves a request and is answered.
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(once.out.contains("asked it to look") && once.out.contains("0 new mails"), "{}", once.out);
    assert_eq!(home.sql("SELECT DISTINCT state FROM request"), [["answered"]]);
    // What a person overrules is worked by the daemon.
    let mail = home.sql_one("SELECT mail_id FROM ledger WHERE source_key LIKE '%18-fyi'");
    let made = home.run(&["mail", "make-task", &mail]);
    assert!(made.code == 0 && made.out.contains("task"), "{}{}", made.out, made.err);
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task' ORDER BY run_id LIMIT 1");
    assert_eq!(home.run(&["runs", "fork", &run, "--from", "prioritise"]).code, 0);
    home.deliver("late", home.letter("late").question().text());
    daemon.until("About late");
    assert_eq!(daemon.stop("TERM").0, 0);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn it_stops_cleanly_when_asked() {
    for signal in ["INT", "TERM"] {
        let home = TestHome::real_time(Kind::Samples);
        let (code, said) = home.daemon().stop(signal);
        assert_eq!(code, 0, "{signal}");
        assert!(said.contains("Stopped. Nothing is lost"), "{said}");
        assert!(said.contains("22 mails: 16 tasks"), "{said}");
        assert_eq!(home.run(&["doctor"]).code, 0);
    }
}

#[test]
fn new_mail_is_picked_up_within_seconds() {
    let home = TestHome::real_time(Kind::Active);
    let mut daemon = home.daemon();
    let started = std::time::Instant::now();
    fs::write(home.maildir().join("tmp/a"), home.letter("moved").question().text()).unwrap();
    fs::rename(home.maildir().join("tmp/a"), home.maildir().join("new/a")).unwrap();
    daemon.until("About moved");
    // Well before the poll that stands behind the events.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(daemon.stop("INT").0, 0);
}

#[test]
fn a_mail_written_slowly_is_read_whole() {
    let home = TestHome::real_time(Kind::Active);
    let mut daemon = home.daemon();
    let text = home.letter("slow").question().text();
    let (first, second) = text.split_at(text.len() / 2);
    let mut file = fs::File::create(home.maildir().join("new/slow")).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    file.sync_all().unwrap();
    // Longer than a look takes, shorter than what counts as settled, as `cp` over a slow disk.
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(100));
        file.write_all(b"").unwrap();
        file.set_modified(std::time::SystemTime::now()).unwrap();
    }
    file.write_all(second.as_bytes()).unwrap();
    drop(file);
    daemon.until("About slow");
    assert_eq!(home.sql("SELECT state FROM ledger"), [["task"]]);
    assert_eq!(home.sql_one("SELECT length(body) > 0 AND body LIKE '%keys%' FROM mail"), "1");
    drop(daemon);
}

#[test]
fn a_half_written_mail_that_was_parked_is_read_when_it_is_whole() {
    let home = TestHome::real_time(Kind::Active);
    // So slow that it looked settled, and was nothing yet.
    home.deliver("slow", "");
    let daemon = home.daemon();
    eventually("it is parked", || (home.count("ledger WHERE state = 'parked'") == 1).then_some(()));
    fs::write(home.maildir().join("new/slow"), home.letter("slow").question().text()).unwrap();
    eventually("it is a task", || (home.sql("SELECT state FROM ledger") == [["task"]]).then_some(()));
    drop(daemon);
}

#[test]
fn a_request_the_daemon_cannot_fulfil_is_answered_all_the_same() {
    let home = TestHome::real_time(Kind::Active);
    let daemon = home.daemon();
    fs::rename(home.maildir(), home.root().join("elsewhere")).unwrap();
    let once = home.run(&["once"]);
    assert_eq!(once.code, 1);
    assert!(once.err.contains("not everything could be taken in"), "{}", once.err);
    assert!(once.out.contains("cannot be reached"), "{}", once.out);
    fs::rename(home.root().join("elsewhere"), home.root().join("mail")).unwrap();
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(daemon.stop("INT").0, 0);
}

#[test]
fn a_decision_does_not_wait_for_what_a_pause_keeps_from_leaving() {
    let home = TestHome::real_time(Kind::Active);
    for id in ["a", "b"] {
        let body = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
        home.post(&home.letter(id).subject(id).body(body));
    }
    assert_eq!(home.run(&["once"]).code, 0);
    let _daemon = home.daemon();
    assert_eq!(home.run(&["pause"]).code, 0);
    for number in ["1", "2"] {
        let digest = home.json(&["hitl", "show", number])["action_sha256"].as_str().unwrap().to_owned();
        let begun = std::time::Instant::now();
        assert_eq!(home.run(&["hitl", "approve", number, "--sha256", &digest]).code, 0);
        // The daemon defers what is paused every two seconds; a command that waited for that to end took a minute.
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
