//! A data folder that is put back under a running daemon: the daemon stops, and nothing leaves from the deleted database.

use std::fs;

use crate::{
    house::{ACCEPT, Daemon, House, Kind, eventually},
    unreadable_rows::copy_folder,
};

/// An account that answers Dana's invitations unasked.
fn trusting_house() -> House {
    let house = House::real_time(Kind::Active);
    house.transport(ACCEPT, None);
    house.policy("allow: [dana@work.example]");
    house
}

fn invite(house: &House, name: &str) {
    let raw = format!(
        "Authentication-Results: mx.home.example; dmarc=pass header.from=work.example\nFrom: Dana <dana@work.example>\nTo: you@home.example\nSubject: Lunch {name}\nMessage-ID: <{name}@work.example>\nMIME-Version: 1.0\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:{name}\nSUMMARY:Lunch {name}\nORGANIZER:mailto:dana@work.example\nDTSTART:20990301T100000Z\nDTEND:20990301T110000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    house.deliver(name, raw);
}

fn exit_code(daemon: &mut Daemon) -> i32 {
    eventually("the daemon stops by itself", || daemon.ended())
}

#[test]
fn a_daemon_whose_data_folder_is_replaced_stops_and_sends_nothing_more() {
    let house = trusting_house();
    assert_eq!(house.run(&["once"]).code, 0);
    let (data, copy) = (house.root().join("data"), tempfile::tempdir().unwrap());
    copy_folder(&data, copy.path());
    let mut daemon = house.daemon();
    invite(&house, "first");
    eventually("the first answer", || (house.spool().len() == 1).then_some(()));

    // Every command notes how far the home has come, outside it.
    assert_eq!(house.run(&["tasks"]).code, 0);
    // Until nobody writes into it meanwhile.
    eventually("the folder goes", || fs::remove_dir_all(&data).ok());
    fs::create_dir(&data).unwrap();
    copy_folder(copy.path(), &data);
    invite(&house, "second");
    assert_eq!(exit_code(&mut daemon), 1);
    assert_eq!(house.spool().len(), 1, "nothing leaves from a database that nobody sees");

    // The folder that is there is another worker's, and what the old one knew is not noted beside it.
    let once = house.run(&["once"]);
    assert!(once.err.contains("restored from a copy"), "{}", once.err);
    assert_eq!(house.spool().len(), 1, "{:?}", house.spool());
    assert_eq!(house.diagnosis()["audit"]["problem"], serde_json::Value::Null);
}

#[test]
fn a_lock_file_or_database_of_its_own_is_missed_too() {
    for file in ["data/worker.lock", "data/tasks.db"] {
        let house = trusting_house();
        let mut daemon = house.daemon();
        fs::rename(house.root().join(file), house.root().join("aside")).unwrap();
        invite(&house, "late");
        assert_eq!(exit_code(&mut daemon), 1, "{file}");
        assert_eq!(house.spool().len(), 0, "{file}");
    }
}

/// Without a daemon's loops: right before the effect.
#[tokio::test]
async fn an_effect_is_not_begun_under_a_database_that_was_taken_away() {
    let house = House::active();
    house.transport(ACCEPT, None);
    house.policy("allow: [dana@work.example]");
    let worker = house.worker().await;
    invite(&house, "late");
    fs::rename(house.root().join("data"), house.root().join("aside")).unwrap();
    assert!(worker.run_once().await.unwrap_err().to_string().contains("was replaced"));
    for followed in &worker.followed_accounts {
        worker.poll_account(followed).await.unwrap();
    }
    worker.engine.wait_until_idle().await;
    assert!(house.spool().is_empty() && house.sent().is_empty() && house.drafts().is_empty());
    fs::rename(house.root().join("aside"), house.root().join("data")).unwrap();
    worker.stop().await;
    house.clock.advance(120);
    house.once().await;
    assert_eq!(
        house.spool().len(),
        1,
        "and goes on when it is back: {:?}",
        house.sql("SELECT state, result FROM outbox")
    );
}
