//! Tests with files and folders of a home that are not what they should be: mail is still read, the path is named, and
//! `doctor` reports it.

use std::fs;

use adjutant::{
    app::FindingCode,
    source::{Maildir, Source as _},
};

use crate::support::test_home::{Kind, TestHome, eventually, files_in};

fn codes(home: &TestHome) -> Vec<String> {
    let findings = home.diagnosis()["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// A home that has polled once, and a mail that came since.
fn house_with_news() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    assert_eq!(home.run(&["once"]).code, 0);
    home.post(&home.letter("news").question());
    home
}

#[test]
fn a_broken_sent_folder_does_not_keep_the_inbox_from_being_read() {
    for break_it in [
        |home: &TestHome| fs::write(home.maildir().join(".Sent"), "x").unwrap(),
        |home: &TestHome| home.write("mail/.Sent/new", "x"),
        |home: &TestHome| home.write("mail/.Sent/cur", "x"),
        |home: &TestHome| std::os::unix::fs::symlink(".Sent", home.maildir().join(".Sent")).unwrap(),
    ] {
        let home = house_with_news();
        break_it(&home);
        let once = home.run(&["once"]);
        assert_eq!(once.code, 0, "{} {}", once.out, once.err);
        assert_eq!(home.count("ledger"), 1, "the inbox is read");
        assert!(once.err.contains(".Sent"), "{}", once.err);
        assert_eq!(codes(&home), [FindingCode::SentUnreadable.as_str()]);
        assert_eq!(home.diagnosis()["unaccounted"], 0);
    }
}

#[test]
fn mail_that_may_be_in_a_folder_nobody_can_read_is_not_gone() {
    let home = TestHome::real_time(Kind::Observing);
    home.deliver_into(".Sent/cur", "mine:2,S", home.letter("mine").text());
    let letter = home.post(&home.letter("letter"));
    let maildir = Maildir::open(home.maildir(), Box::new(Vec::new()));
    let mut cursor = None;
    let mut poll = || {
        // Handed out, then known, when the cursor comes back.
        let found = eventually("what was just written has settled", || {
            let poll = maildir.poll(cursor.as_deref()).unwrap();
            cursor = Some(poll.cursor.clone());
            poll.poll_again_after.is_none().then_some(poll)
        });
        (found.messages.len(), found.gone.len())
    };
    assert_eq!(poll(), (2, 0));
    for folder in [".Sent", ".Later"] {
        let (place, aside) = (home.maildir().join(folder), home.root().join("aside"));
        fs::create_dir_all(&place).unwrap();
        fs::rename(&place, &aside).unwrap();
        fs::create_dir(&place).unwrap();
        fs::write(place.join("cur"), "x").unwrap();
        drop(fs::remove_file(&letter));
        assert_eq!(poll(), (0, 0), "{folder}: nobody can know");
        fs::remove_dir_all(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
    }
    assert_eq!(poll(), (0, 1), "only what was removed");
}

#[test]
fn a_queue_that_is_no_folder_is_named_and_mail_is_still_read() {
    for place in ["data/hitl_queue", "data/hitl_queue/quarantine"] {
        let home = house_with_news();
        let path = home.root().join(place);
        fs::remove_dir_all(&path).unwrap();
        fs::write(&path, "x").unwrap();
        let once = home.run(&["once"]);
        assert_eq!(once.code, 1);
        assert!(once.out.contains(place), "{} {}", once.out, once.err);
        assert_eq!(home.count("ledger"), 1);
        assert!(home.count("tasks") > 0);
        assert_eq!(codes(&home), [FindingCode::QueueUnusable.as_str()]);
        fs::remove_file(&path).unwrap();
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(codes(&home), [""; 0]);
    }
}

#[test]
fn a_poll_that_failed_does_not_look_like_one() {
    let home = house_with_news();
    let (mail, away) = (home.root().join("mail"), home.root().join("away"));
    fs::rename(&mail, &away).unwrap();
    assert_eq!(home.run(&["once"]).code, 1);
    assert!(home.run(&["mail", "accounts"]).out.contains("FAILED at"));
    assert!(home.run(&["doctor"]).out.contains("FAILED at"));
    fs::rename(&away, &mail).unwrap();
    assert_eq!(codes(&home), [FindingCode::MailboxUnreachable.as_str()], "until it was read again");
    assert_eq!(home.run(&["once"]).code, 0);
    assert!(!home.run(&["mail", "accounts"]).out.contains("FAILED"));
    assert_eq!(codes(&home), [""; 0]);
}

#[test]
fn an_epoch_that_cannot_be_read_is_named() {
    let home = house_with_news();
    let path = home.root().join("data/epoch");
    fs::create_dir(&path).unwrap();
    let once = home.run(&["once"]);
    assert_eq!(once.code, 1);
    assert!(once.err.contains("data/epoch"), "{}", once.err);
    assert_eq!(codes(&home), [FindingCode::EpochDamaged.as_str()]);
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "seven").unwrap();
    assert_eq!(codes(&home), [FindingCode::EpochDamaged.as_str()]);
}

#[test]
fn a_copy_of_the_rules_that_cannot_be_kept_is_found() {
    let home = house_with_news();
    let path = home.root().join("data/rules.good.yml");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(codes(&home), [FindingCode::LastGoodUnusable.as_str()]);
}

#[test]
fn a_time_that_never_comes_and_a_log_of_sends_that_is_no_file_are_found() {
    let home = house_with_news();
    home.write("adjutant.toml", &format!("nightly = \"0 0 31 2 *\"\n{}", home.read("adjutant.toml")));
    assert_eq!(codes(&home), [FindingCode::NeverDue.as_str()]);
    let home = house_with_news();
    let state = home.state().join("adjutant");
    let own = state.join(&files_in(&state)[0]);
    drop(fs::remove_file(own.join("sends")));
    fs::create_dir(own.join("sends")).unwrap();
    assert_eq!(codes(&home), [FindingCode::WitnessAway.as_str()]);
}
