//! A folder of a mailbox may be a link to another place: what was sent is found there. Links and pipes among the mail are
//! told, never read.

use std::{fs, os::unix::fs::symlink};

use crate::{
    crash_matrix::{approve_all, invitations},
    house::{ACCEPT, House, Kind, files_in},
    unreadable_rows::copy_folder,
};

/// What was sent is renamed by a mail program, and the data put back to before: it is found by its header.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_found_in_a_folder_that_is_a_link() {
    for links in [&["new", "cur"][..], &[]] {
        let house = House::real_time(Kind::Active);
        house.transport(ACCEPT, None);
        let (real, sent) = (house.maildir().join("SentReal"), house.maildir().join(".Sent"));
        for state in ["cur", "new", "tmp"] {
            fs::create_dir_all(real.join(state)).unwrap();
        }
        if links.is_empty() {
            symlink("SentReal", &sent).unwrap();
        } else {
            fs::create_dir_all(sent.join("tmp")).unwrap();
            links.iter().for_each(|state| symlink(real.join(state), sent.join(state)).unwrap());
        }
        invitations(&house, 1, |nth| nth).for_each(|letter| drop(house.post(&letter)));
        house.once().await;
        let (data, before) = (house.root().join("data"), tempfile::tempdir().unwrap());
        copy_folder(&data, &before.path().join("data"));
        copy_folder(house.state(), &before.path().join("state"));
        approve_all(&house);
        house.once().await;
        assert_eq!(house.spool().len(), 1);
        let name = files_in(&sent.join("cur")).remove(0);
        fs::rename(real.join("cur").join(&name), real.join("cur/1700000000.M1P1.host:2,S")).unwrap();
        for (folder, copy) in [(data.as_path(), "data"), (house.state(), "state")] {
            fs::remove_dir_all(folder).unwrap();
            copy_folder(&before.path().join(copy), folder);
        }
        approve_all(&house);
        house.once().await;
        approve_all(&house);
        house.once().await;
        assert_eq!(house.spool().len(), 1, "{links:?}: sent again");
    }
}

#[test]
fn entries_that_are_no_mail_files_are_told() {
    let house = House::real_time(Kind::Active);
    let inbox = house.maildir().join("new");
    let note = |house: &House| {
        let notes = house.diagnosis()["accounts"].to_string();
        notes.contains("no mail file").then_some(notes)
    };
    assert_eq!(note(&house), None);
    symlink("/etc/passwd", inbox.join("link")).unwrap();
    assert!(note(&house).unwrap().contains("1 entry in the mailbox is no mail file"));
    assert!(std::process::Command::new("mkfifo").arg(inbox.join("pipe")).status().unwrap().success());
    assert!(note(&house).unwrap().contains("2 entries in the mailbox are no mail files"));
    assert_eq!(house.run(&["once"]).code, 0);
    assert_eq!(house.count("ledger"), 0);
}
