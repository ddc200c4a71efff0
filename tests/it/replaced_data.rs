//! Tests a data folder that is replaced under a running daemon: the daemon stops, and nothing is sent from the deleted
//! database.

use std::fs;

use crate::{
    support::test_home::{ACCEPT, Daemon, Kind, TestHome, eventually},
    unreadable_rows::copy_folder,
};

/// An account that answers Dana's invitations unasked.
fn trusting_house() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.transport(ACCEPT, None);
    home.policy("allow: [dana@work.example]");
    home
}

fn invite(home: &TestHome, name: &str) {
    let raw = format!(
        "Authentication-Results: mx.home.example; dmarc=pass header.from=work.example\nFrom: Dana <dana@work.example>\nTo: you@home.example\nSubject: Lunch {name}\nMessage-ID: <{name}@work.example>\nMIME-Version: 1.0\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:{name}\nSUMMARY:Lunch {name}\nORGANIZER:mailto:dana@work.example\nDTSTART:20990301T100000Z\nDTEND:20990301T110000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    home.deliver(name, raw);
}

fn exit_code(daemon: &mut Daemon) -> i32 {
    eventually("the daemon stops by itself", || daemon.ended())
}

#[test]
fn a_daemon_whose_data_folder_is_replaced_stops_and_sends_nothing_more() {
    let home = trusting_house();
    assert_eq!(home.run(&["once"]).code, 0);
    let (data, copy) = (home.root().join("data"), tempfile::tempdir().unwrap());
    copy_folder(&data, copy.path());
    let mut daemon = home.daemon();
    invite(&home, "first");
    eventually("the first answer", || (home.spool().len() == 1).then_some(()));

    // Every command notes how far the home has come, outside it.
    assert_eq!(home.run(&["tasks"]).code, 0);
    // Until nobody writes into it meanwhile.
    eventually("the folder goes", || fs::remove_dir_all(&data).ok());
    fs::create_dir(&data).unwrap();
    copy_folder(copy.path(), &data);
    invite(&home, "second");
    assert_eq!(exit_code(&mut daemon), 1);
    assert_eq!(home.spool().len(), 1, "nothing leaves from a database that nobody sees");

    // The folder that is there is another worker's, and what the old one knew is not noted beside it.
    let once = home.run(&["once"]);
    assert!(once.err.contains("restored from a copy"), "{}", once.err);
    assert_eq!(home.spool().len(), 1, "{:?}", home.spool());
    assert_eq!(home.diagnosis()["audit"]["problem"], serde_json::Value::Null);
}

#[test]
fn a_lock_file_or_database_of_its_own_is_missed_too() {
    for file in ["data/worker.lock", "data/tasks.db"] {
        let home = trusting_house();
        let mut daemon = home.daemon();
        fs::rename(home.root().join(file), home.root().join("aside")).unwrap();
        invite(&home, "late");
        assert_eq!(exit_code(&mut daemon), 1, "{file}");
        assert_eq!(home.spool().len(), 0, "{file}");
    }
}

/// Without a daemon's loops: right before the effect.
#[tokio::test]
async fn an_effect_is_not_begun_under_a_database_that_was_taken_away() {
    let home = TestHome::active();
    home.transport(ACCEPT, None);
    home.policy("allow: [dana@work.example]");
    let worker = home.worker().await;
    invite(&home, "late");
    fs::rename(home.root().join("data"), home.root().join("aside")).unwrap();
    assert!(worker.run_once().await.unwrap_err().to_string().contains("was replaced"));
    for followed in &worker.followed_accounts {
        worker.poll_account(followed).await.unwrap();
    }
    worker.engine.wait_until_idle().await;
    assert!(home.spool().is_empty() && home.sent().is_empty() && home.drafts().is_empty());
    fs::rename(home.root().join("aside"), home.root().join("data")).unwrap();
    worker.stop().await;
    home.clock.advance(120);
    home.once().await;
    assert_eq!(
        home.spool().len(),
        1,
        "and goes on when it is back: {:?}",
        home.sql("SELECT state, result FROM outbox")
    );
}
