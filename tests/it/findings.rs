//! Tests `doctor` for a monitor: its exit code, and each finding with a code, what is wrong and what to do.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _};

use adjutant::app::FindingCode;
use serde_json::Value;

use crate::support::test_home::{Kind, TestHome};

/// The codes doctor finds, having made sure that its exit code and both of its forms say the same.
fn found(home: &TestHome) -> BTreeSet<String> {
    let json = home.run(&["--json", "doctor"]);
    let health: Value = serde_json::from_str(&json.out).unwrap();
    let findings = health["findings"].as_array().unwrap();
    assert_eq!(json.code, if findings.is_empty() { 0 } else { 4 }, "{findings:?}");
    let plain = home.run(&["doctor"]);
    assert_eq!(plain.code, json.code);
    for finding in findings {
        let (code, text) = (finding["code"].as_str().unwrap(), finding["text"].as_str().unwrap());
        assert!(code.parse::<FindingCode>().is_ok(), "{code}");
        let (what, remedy) = text.split_once("; ").unwrap_or_else(|| panic!("{text}: what to do is missing"));
        assert!(!what.is_empty() && !remedy.is_empty(), "{text}");
        assert!(plain.out.contains(&format!("{code}: ")), "{}", plain.out);
    }
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn only(code: FindingCode) -> BTreeSet<String> {
    [code.to_string()].into()
}

#[test]
fn a_home_in_order_has_no_findings_and_its_notes_are_none() {
    for kind in [Kind::Samples, Kind::Active, Kind::Observing] {
        let home = TestHome::real_time(kind);
        assert_eq!(found(&home), BTreeSet::new(), "before the first start");
        home.run(&["once"]);
        home.run(&["pause"]);
        assert_eq!(found(&home), BTreeSet::new());
    }
}

#[test]
fn a_mailbox_that_is_away_is_found_and_found_again() {
    let home = TestHome::real_time(Kind::Active);
    let (mail, away) = (home.root().join("mail"), home.root().join("unmounted"));
    fs::rename(&mail, &away).unwrap();
    assert_eq!(found(&home), only(FindingCode::MailboxMissing));
    fs::create_dir(&mail).unwrap();
    assert_eq!(found(&home), only(FindingCode::MailboxMissing), "an empty mount point is no Maildir");
    fs::remove_dir(&mail).unwrap();
    fs::write(&mail, "a file").unwrap();
    assert_eq!(found(&home), only(FindingCode::MailboxUnreachable));
    fs::remove_file(&mail).unwrap();
    fs::rename(&away, &mail).unwrap();
    assert_eq!(found(&home), BTreeSet::new());
}

#[test]
fn a_transport_that_cannot_be_run_is_found() {
    let home = TestHome::real_time(Kind::Active);
    let program = home.root().join("sendmail");
    home.configure(&format!("sendmail = \"{} -i -t\"\n", program.display()));
    assert_eq!(found(&home), only(FindingCode::TransportMissing));
    fs::write(&program, "#!/bin/sh\ncat >/dev/null\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(found(&home), only(FindingCode::TransportMissing), "not executable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(found(&home), BTreeSet::new());
}

#[test]
fn broken_files_failed_mails_and_failed_steps_are_found_until_they_are_dealt_with() {
    let home = TestHome::real_time(Kind::Active);
    home.write("rules/policy.yml", "allow: [");
    let rules = home.read("rules/priority.yml");
    home.write("rules/priority.yml", "rules: 7\n");
    let both = [FindingCode::PolicyBroken, FindingCode::RulesBroken].map(|code| code.to_string());
    assert_eq!(found(&home), both.into());
    home.policy("");
    home.write("rules/priority.yml", &rules);
    assert_eq!(found(&home), BTreeSet::new());

    // A mail that cannot be read.
    home.deliver("broken", "");
    home.run(&["once"]);
    assert_eq!(home.sql("SELECT state FROM ledger"), [["parked"]]);
    assert_eq!(found(&home), only(FindingCode::MailFailed));
    assert_eq!(home.run(&["mail", "not-a-task", "1"]).code, 0);
    assert_eq!(found(&home), BTreeSet::new());

    // A step that fails: its folder's name is taken by a file.
    home.write("data/files", "in the way");
    home.post(
        &home.letter("folder").from("Alex Green <you@home.example>").body("Create a folder for the Acme project.\n"),
    );
    home.run(&["once"]);
    assert_eq!(home.sql("SELECT kind FROM item WHERE state = 'open'"), [["failed_step"]]);
    assert_eq!(found(&home), only(FindingCode::StepFailed));
    assert_eq!(home.run(&["hitl", "skip", "1"]).code, 0);
    assert_eq!(found(&home), BTreeSet::new());
}

#[test]
fn equal_waits_are_one_line() {
    let home = TestHome::real_time(Kind::Active);
    home.policy("caps: { messages_per_hour: 100, messages_per_sender_per_hour: 1, labels_per_minute: 600 }");
    for id in ["a", "b", "c", "d"] {
        home.post(&home.letter(id).question());
    }
    home.run(&["once"]);
    let doctor = home.run(&["doctor"]);
    let waits: Vec<&str> = doctor.out.lines().filter(|line| line.starts_with("waits")).collect();
    assert_eq!(waits.len(), 1, "{}", doctor.out);
    assert!(waits[0].contains("3 steps wait: 1 messages an hour per sender is the cap, next at "), "{}", doctor.out);
    assert_eq!(doctor.code, 0, "a cap is no finding");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_nobody_polls_is_found_after_a_day() {
    let home = TestHome::active();
    home.once().await;
    let codes = async || {
        let health = home.app().await.health().check().await.unwrap();
        health.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    home.clock.advance(23 * 3600);
    assert_eq!(codes().await, []);
    home.clock.advance(2 * 3600);
    assert_eq!(codes().await, [FindingCode::NotPolled]);
    home.once().await;
    assert_eq!(codes().await, []);
}
