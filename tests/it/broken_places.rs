//! Files and folders of a home that are not what they should be: mail is still read, the path is named, `doctor` tells.

use std::fs;

use adjutant::{
    app::FindingCode,
    source::{Maildir, Source as _},
};

use crate::house::{House, Kind, eventually, files_in};

fn codes(house: &House) -> Vec<String> {
    let findings = house.diagnosis()["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// A house that has polled once, and a mail that came since.
fn house_with_news() -> House {
    let house = House::real_time(Kind::Active);
    assert_eq!(house.run(&["once"]).code, 0);
    house.post(&house.letter("news").question());
    house
}

#[test]
fn a_broken_sent_folder_does_not_keep_the_inbox_from_being_read() {
    for break_it in [
        |house: &House| fs::write(house.maildir().join(".Sent"), "x").unwrap(),
        |house: &House| house.write("mail/.Sent/new", "x"),
        |house: &House| house.write("mail/.Sent/cur", "x"),
        |house: &House| std::os::unix::fs::symlink(".Sent", house.maildir().join(".Sent")).unwrap(),
    ] {
        let house = house_with_news();
        break_it(&house);
        let once = house.run(&["once"]);
        assert_eq!(once.code, 0, "{} {}", once.out, once.err);
        assert_eq!(house.count("ledger"), 1, "the inbox is read");
        assert!(once.err.contains(".Sent"), "{}", once.err);
        assert_eq!(codes(&house), [FindingCode::SentUnreadable.as_str()]);
        assert_eq!(house.diagnosis()["unaccounted"], 0);
    }
}

#[test]
fn mail_that_may_be_in_a_folder_nobody_can_read_is_not_gone() {
    let house = House::real_time(Kind::Observing);
    house.deliver_into(".Sent/cur", "mine:2,S", house.letter("mine").text());
    let letter = house.post(&house.letter("letter"));
    let maildir = Maildir::open(house.maildir(), Box::new(Vec::new()));
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
        let (place, aside) = (house.maildir().join(folder), house.root().join("aside"));
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
        let house = house_with_news();
        let path = house.root().join(place);
        fs::remove_dir_all(&path).unwrap();
        fs::write(&path, "x").unwrap();
        let once = house.run(&["once"]);
        assert_eq!(once.code, 1);
        assert!(once.out.contains(place), "{} {}", once.out, once.err);
        assert_eq!(house.count("ledger"), 1);
        assert!(house.count("tasks") > 0);
        assert_eq!(codes(&house), [FindingCode::QueueUnusable.as_str()]);
        fs::remove_file(&path).unwrap();
        assert_eq!(house.run(&["once"]).code, 0);
        assert_eq!(codes(&house), [""; 0]);
    }
}

#[test]
fn a_poll_that_failed_does_not_look_like_one() {
    let house = house_with_news();
    let (mail, away) = (house.root().join("mail"), house.root().join("away"));
    fs::rename(&mail, &away).unwrap();
    assert_eq!(house.run(&["once"]).code, 1);
    assert!(house.run(&["mail", "accounts"]).out.contains("FAILED at"));
    assert!(house.run(&["doctor"]).out.contains("FAILED at"));
    fs::rename(&away, &mail).unwrap();
    assert_eq!(codes(&house), [FindingCode::MailboxUnreachable.as_str()], "until it was read again");
    assert_eq!(house.run(&["once"]).code, 0);
    assert!(!house.run(&["mail", "accounts"]).out.contains("FAILED"));
    assert_eq!(codes(&house), [""; 0]);
}

#[test]
fn an_epoch_that_cannot_be_read_is_named() {
    let house = house_with_news();
    let path = house.root().join("data/epoch");
    fs::create_dir(&path).unwrap();
    let once = house.run(&["once"]);
    assert_eq!(once.code, 1);
    assert!(once.err.contains("data/epoch"), "{}", once.err);
    assert_eq!(codes(&house), [FindingCode::EpochDamaged.as_str()]);
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "seven").unwrap();
    assert_eq!(codes(&house), [FindingCode::EpochDamaged.as_str()]);
}

#[test]
fn a_copy_of_the_rules_that_cannot_be_kept_is_found() {
    let house = house_with_news();
    let path = house.root().join("data/rules.good.yml");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(codes(&house), [FindingCode::LastGoodUnusable.as_str()]);
}

#[test]
fn a_time_that_never_comes_and_a_log_of_sends_that_is_no_file_are_found() {
    let house = house_with_news();
    house.write("adjutant.toml", &format!("nightly = \"0 0 31 2 *\"\n{}", house.read("adjutant.toml")));
    assert_eq!(codes(&house), [FindingCode::NeverDue.as_str()]);
    let house = house_with_news();
    let state = house.state().join("adjutant");
    let own = state.join(&files_in(&state)[0]);
    drop(fs::remove_file(own.join("sends")));
    fs::create_dir(own.join("sends")).unwrap();
    assert_eq!(codes(&house), [FindingCode::WitnessAway.as_str()]);
}
