//! Tests that a folder of a mailbox may be a link to another place, in which sent mail is found. Links and pipes among
//! the mail are reported and never read.

use std::{fs, os::unix::fs::symlink};

use crate::{
    crash_matrix::{approve_all, invitations},
    support::test_home::{ACCEPT, Kind, TestHome, files_in},
    unreadable_rows::copy_folder,
};

/// What was sent is renamed by a mail program, and the data put back to before: it is found by its header.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_found_in_a_folder_that_is_a_link() {
    for links in [&["new", "cur"][..], &[]] {
        let home = TestHome::real_time(Kind::Active);
        home.transport(ACCEPT, None);
        let (real, sent) = (home.maildir().join("SentReal"), home.maildir().join(".Sent"));
        for state in ["cur", "new", "tmp"] {
            fs::create_dir_all(real.join(state)).unwrap();
        }
        if links.is_empty() {
            symlink("SentReal", &sent).unwrap();
        } else {
            fs::create_dir_all(sent.join("tmp")).unwrap();
            links.iter().for_each(|state| symlink(real.join(state), sent.join(state)).unwrap());
        }
        invitations(&home, 1, |nth| nth).for_each(|letter| drop(home.post(&letter)));
        home.once().await;
        let (data, before) = (home.root().join("data"), tempfile::tempdir().unwrap());
        copy_folder(&data, &before.path().join("data"));
        copy_folder(home.state(), &before.path().join("state"));
        approve_all(&home);
        home.once().await;
        assert_eq!(home.spool().len(), 1);
        let name = files_in(&sent.join("cur")).remove(0);
        fs::rename(real.join("cur").join(&name), real.join("cur/1700000000.M1P1.host:2,S")).unwrap();
        for (folder, copy) in [(data.as_path(), "data"), (home.state(), "state")] {
            fs::remove_dir_all(folder).unwrap();
            copy_folder(&before.path().join(copy), folder);
        }
        approve_all(&home);
        home.once().await;
        approve_all(&home);
        home.once().await;
        assert_eq!(home.spool().len(), 1, "{links:?}: sent again");
    }
}

#[test]
fn entries_that_are_no_mail_files_are_told() {
    let home = TestHome::real_time(Kind::Active);
    let inbox = home.maildir().join("new");
    let note = |home: &TestHome| {
        let notes = home.diagnosis()["accounts"].to_string();
        notes.contains("no mail file").then_some(notes)
    };
    assert_eq!(note(&home), None);
    symlink("/etc/passwd", inbox.join("link")).unwrap();
    assert!(note(&home).unwrap().contains("1 entry in the mailbox is no mail file"));
    assert!(std::process::Command::new("mkfifo").arg(inbox.join("pipe")).status().unwrap().success());
    assert!(note(&home).unwrap().contains("2 entries in the mailbox are no mail files"));
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.count("ledger"), 0);
}
