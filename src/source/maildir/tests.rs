use std::{
    cell::RefCell, fs::FileTimes, os::unix::ffi::OsStrExt, os::unix::fs::PermissionsExt, sync::Arc, time::Duration,
};

use super::{stamp::SETTLE_TIME, *};

/// A Maildir in a temporary folder, whose files are old enough to be read.
struct TestMaildir {
    dir: tempfile::TempDir,
    maildir: Maildir,
    ledger: TestLedger,
    /// The last poll, which is stored when its cursor comes back.
    last: RefCell<PollResult>,
}

/// A ledger that the tests fill.
#[derive(Clone, Default)]
struct TestLedger(Arc<Mutex<Vec<LedgerMessage>>>);

impl MaildirLedger for TestLedger {
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>> {
        self.0.lock().unwrap().messages()
    }

    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>> {
        self.0.lock().unwrap().messages_named(base)
    }
}

impl TestMaildir {
    fn new(known: &[&str]) -> TestMaildir {
        let dir = tempfile::tempdir().unwrap();
        let row =
            |key: &&str| LedgerMessage { key: (*key).to_owned(), size: 12, is_read: true, ..LedgerMessage::default() };
        Self::with_ledger(dir, known.iter().map(row).collect())
    }

    fn with_ledger(dir: tempfile::TempDir, rows: Vec<LedgerMessage>) -> TestMaildir {
        let ledger = TestLedger(Arc::new(Mutex::new(rows)));
        let maildir = Maildir::open(dir.path().join("mail"), Box::new(ledger.clone()));
        maildir.create_inbox().unwrap();
        maildir.deliver(".Archive", "unrelated", b"x").unwrap();
        TestMaildir { dir, maildir, ledger, last: RefCell::default() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("mail").join(path)
    }

    fn write_mail(&self, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "Subject: x\n\n").unwrap();
        self.age(&path, 60);
    }

    /// Makes a file or directory look as if it was last changed this many seconds ago.
    fn age(&self, path: &Path, seconds: u64) {
        let at = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::open(path).unwrap().set_times(FileTimes::new().set_modified(at)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn poll(&self, cursor: Option<&str>) -> PollResult {
        let last = self.last.take();
        if cursor == Some(last.cursor.as_str()) {
            self.store(last);
        }
        let poll = self.maildir.poll(cursor).unwrap();
        self.last.replace(poll.clone());
        poll
    }

    /// Stores a poll as the intake does.
    fn store(&self, poll: PollResult) {
        let read = |found: super::super::FoundMessage| {
            let bytes = self.maildir.fetch(&found.key).unwrap();
            let (sha256, size) = (sha256_hex(&bytes), bytes.len() as u64);
            LedgerMessage { key: found.key, stamp: found.file.stamp, size, sha256, is_read: true, is_gone: false }
        };
        let rows: Vec<LedgerMessage> = poll.messages.into_iter().map(read).collect();
        let mut book = self.ledger.0.lock().unwrap();
        book.extend(rows);
        for confirmed in poll.confirmed {
            for row in book.iter_mut().filter(|row| row.key == confirmed.key) {
                row.stamp = confirmed.stamp.clone();
            }
        }
    }
}

fn keys(poll: &PollResult) -> Vec<&str> {
    poll.messages.iter().map(|found| found.key.as_str()).collect()
}

#[test]
fn inbox_and_sent_are_listed_and_nothing_else() {
    let home = TestMaildir::new(&[]);
    for path in [
        "new/a",
        "cur/b:2,S",
        ".Sent/cur/c:2,S",
        ".Drafts/cur/d",
        ".Trash/cur/e",
        "tmp/f",
        "new/.hidden",
        "new/folder/g",
    ] {
        home.write_mail(path);
    }
    let poll = home.poll(None);
    let mut found: Vec<_> =
        poll.messages.iter().map(|one| (one.key.as_str(), one.folder.as_str(), one.direction)).collect();
    found.sort();
    assert_eq!(
        found,
        [
            (".Sent/c", ".Sent", Direction::Out),
            ("INBOX/a", "INBOX", Direction::In),
            ("INBOX/b", "INBOX", Direction::In)
        ]
    );
}

#[test]
fn the_same_name_in_new_and_cur_is_one_message() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    home.write_mail("cur/a:2,S");
    assert_eq!(keys(&home.poll(None)), ["INBOX/a"]);
}

#[test]
fn moves_and_flags_keep_the_message() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    let mut cursor = home.poll(None).cursor;
    let mut from = "new/a";
    for to in ["cur/a:2,S", "cur/a:2,FS", ".Archive/cur/a:2,FS", ".Old.2024/new/a"] {
        home.rename(from, to);
        let poll = home.poll(Some(&cursor));
        assert_eq!((keys(&poll), poll.gone.len()), (vec![], 0), "{to}");
        assert_eq!(home.maildir.fetch("INBOX/a").unwrap(), b"Subject: x\n\n", "{to}");
        cursor = poll.cursor;
        from = to;
    }
    fs::remove_file(home.path(from)).unwrap();
    // The inbox itself did not change; its next change brings the news.
    home.write_mail("new/b");
    let poll = home.poll(Some(&cursor));
    assert_eq!((keys(&poll), poll.gone.as_slice()), (vec!["INBOX/b"], &["INBOX/a".to_owned()][..]));
    assert!(matches!(home.maildir.fetch("INBOX/a"), Err(SourceError::Gone { .. })));
    assert_eq!(home.poll(Some(&poll.cursor)).gone, [] as [String; 0], "said once");
}

#[test]
fn known_messages_are_not_handed_out_again() {
    let home = TestMaildir::new(&["INBOX/a", "INBOX/lost"]);
    home.write_mail("new/a");
    home.write_mail("new/b");
    let poll = home.poll(None);
    assert_eq!((keys(&poll), poll.gone.as_slice()), (vec!["INBOX/b"], &["INBOX/lost".to_owned()][..]));
}

#[test]
fn a_mailbox_is_read_again_only_where_it_changed() {
    let sha = |text: &str| crate::model::ids::sha256_hex(text.as_bytes());
    let row = |key: &str, text: &str| LedgerMessage {
        key: key.to_owned(),
        size: text.len() as u64,
        sha256: sha(text),
        is_read: true,
        ..LedgerMessage::default()
    };
    let (one, two) = ("Subject: x\n\n", "Subject: y\n\n");
    let rows = vec![row("INBOX/a", one), row("INBOX/b", two), row("INBOX/c", "Sub")];
    let home = TestMaildir::with_ledger(tempfile::tempdir().unwrap(), rows);
    for name in ["new/a", "new/b", "new/c"] {
        home.write_mail(name);
    }
    let poll = home.poll(None);
    // Equal content is only confirmed, other content gets a key of its own, and what was read half is completed.
    let confirmed: Vec<_> = poll.confirmed.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(confirmed, ["INBOX/a"]);
    let (b, c) = (name::key_with_digest("INBOX/b", &sha(one)), name::key_with_digest("INBOX/c", &sha(one)));
    assert_eq!(keys(&poll), [b.as_str(), c.as_str()]);
    let completes: Vec<_> = poll.messages.iter().map(|found| found.file.completes.as_deref()).collect();
    assert_eq!(completes, [None, Some("INBOX/c")]);
    assert_eq!(home.maildir.fetch(&b).unwrap(), one.as_bytes());
    assert!(matches!(home.maildir.fetch("INBOX/b"), Err(SourceError::Gone { .. })));
    let next = home.poll(Some(&poll.cursor));
    assert!(next.messages.is_empty() && next.confirmed.is_empty(), "{next:?}");
}

#[test]
fn a_message_archived_beside_another_of_its_name_comes_back() {
    let row = |text: &str| LedgerMessage {
        key: "INBOX/a".into(),
        size: text.len() as u64,
        sha256: crate::model::ids::sha256_hex(text.as_bytes()),
        is_read: true,
        ..LedgerMessage::default()
    };
    let home = TestMaildir::with_ledger(tempfile::tempdir().unwrap(), vec![row("Subject: x\n\n")]);
    home.write_mail("cur/a:2,S");
    fs::create_dir_all(home.path(".Archive/cur")).unwrap();
    fs::write(home.path(".Archive/cur/a:2,S"), "another").unwrap();
    for _ in 0..2 {
        home.maildir.archive("INBOX/a").unwrap();
        assert_eq!(fs::read(home.path(".Archive/cur/a:2,S")).unwrap(), b"another");
        assert_eq!(fs::read_dir(home.path("cur")).unwrap().count(), 0);
        home.maildir.unarchive("INBOX/a").unwrap();
        assert_eq!(fs::read(home.path("cur/a:2,S")).unwrap(), b"Subject: x\n\n");
    }
}

/// Two files of one name, one of them empty, come back after their directory was away.
#[test]
fn an_empty_file_that_comes_back_hides_no_mail_of_its_name() {
    let row =
        LedgerMessage { key: "INBOX/a".into(), sha256: sha256_hex(b""), is_gone: true, ..LedgerMessage::default() };
    for never_read in [false, true] {
        for (mail, empty) in [("cur/a", "cur/a:2,S"), ("cur/a:2,S", "cur/a")] {
            let sha256 = if never_read { String::new() } else { row.sha256.clone() };
            let home =
                TestMaildir::with_ledger(tempfile::tempdir().unwrap(), vec![LedgerMessage { sha256, ..row.clone() }]);
            home.write_mail(mail);
            fs::write(home.path(empty), "").unwrap();
            home.age(&home.path(empty), 60);
            let poll = home.poll(None);
            let contents: Vec<Vec<u8>> =
                poll.messages.iter().map(|found| home.maildir.fetch(&found.key).unwrap()).collect();
            assert!(contents.contains(&b"Subject: x\n\n".to_vec()), "{mail}: {:?}", keys(&poll));
        }
    }
}

#[test]
fn what_was_not_stored_is_handed_out_again() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    let first = home.poll(None);
    assert_eq!(keys(&home.poll(None)), ["INBOX/a"], "the first cursor never came back");
    let second = home.poll(Some(&first.cursor));
    assert_eq!(keys(&second), ["INBOX/a"], "an older cursor is no receipt for a later poll");
    assert_eq!(keys(&home.poll(Some(&second.cursor))), [] as [&str; 0]);
}

#[test]
fn an_idle_poll_reads_no_directory() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    for dir in ["new", "cur"] {
        home.age(&home.path(dir), 60);
    }
    let cursor = home.poll(None).cursor;
    assert!(!cursor.contains('?'), "{cursor}");
    // A change that leaves no trace in the directory's stamp: only a poll that does not list the directory can miss it.
    let stamp = fs::metadata(home.path("new")).unwrap().modified().unwrap();
    home.write_mail("new/b");
    fs::File::open(home.path("new")).unwrap().set_times(FileTimes::new().set_modified(stamp)).unwrap();
    let idle = home.poll(Some(&cursor));
    assert_eq!((keys(&idle), &idle.cursor), (vec![], &cursor));
}

#[test]
fn a_young_directory_is_looked_at_again() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    let now = SystemTime::now();
    let dir = fs::File::open(home.path("new")).unwrap();
    dir.set_times(FileTimes::new().set_modified(now)).unwrap();
    let cursor = home.poll(None).cursor;
    home.write_mail("new/b");
    dir.set_times(FileTimes::new().set_modified(now)).unwrap();
    assert_eq!(keys(&home.poll(Some(&cursor))), ["INBOX/b"], "the stamp did not change, the content did");
}

#[test]
fn half_written_files_wait() {
    let home = TestMaildir::new(&[]);
    fs::write(home.path("new/a"), "Subj").unwrap();
    let poll = home.poll(None);
    assert_eq!((keys(&poll), poll.poll_again_after), (vec![], Some(SETTLE_TIME)));
    home.age(&home.path("new/a"), 1);
    let poll = home.poll(Some(&poll.cursor));
    assert_eq!((keys(&poll), poll.poll_again_after), (vec!["INBOX/a"], None));
}

#[test]
fn a_file_from_the_future_is_not_waited_for() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    let later = SystemTime::now() + Duration::from_secs(86_400);
    fs::File::open(home.path("new/a")).unwrap().set_times(FileTimes::new().set_modified(later)).unwrap();
    // The file's mtime says nothing; its ctime does.
    assert_eq!(home.poll(None).poll_again_after, Some(SETTLE_TIME));
    std::thread::sleep(SETTLE_TIME);
    assert_eq!(keys(&home.poll(None)), ["INBOX/a"]);
}

#[test]
fn links_are_not_followed() {
    let home = TestMaildir::new(&[]);
    let outside = home.dir.path().join("secret");
    fs::write(&outside, "secret").unwrap();
    home.age(&outside, 60);
    std::os::unix::fs::symlink(&outside, home.path("new/link")).unwrap();
    assert_eq!(keys(&home.poll(None)), [] as [&str; 0]);
    assert!(matches!(home.maildir.fetch("INBOX/link"), Err(SourceError::Gone { .. })));
    // The file is replaced by a link after it was listed.
    home.write_mail("new/a");
    assert_eq!(keys(&home.poll(None)), ["INBOX/a"]);
    fs::remove_file(home.path("new/a")).unwrap();
    std::os::unix::fs::symlink(&outside, home.path("new/a")).unwrap();
    assert!(matches!(home.maildir.fetch("INBOX/a"), Err(SourceError::Unreadable { .. })));
}

#[test]
fn a_pipe_in_the_place_of_a_message_is_not_waited_for() {
    let home = TestMaildir::new(&[]);
    home.write_mail("new/a");
    assert_eq!(keys(&home.poll(None)), ["INBOX/a"]);
    fs::remove_file(home.path("new/a")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path("new/a")).status().unwrap();
    assert!(made.success());
    assert!(home.maildir.fetch("INBOX/a").is_err());
}

#[test]
fn names_that_are_no_text_are_read() {
    let home = TestMaildir::new(&[]);
    let path = home.path("new").join(std::ffi::OsStr::from_bytes(b"caf\xe9:2,"));
    fs::write(&path, "x").unwrap();
    home.age(&path, 60);
    assert_eq!(keys(&home.poll(None)), ["INBOX/caf%e9"]);
    assert_eq!(home.maildir.fetch("INBOX/caf%e9").unwrap(), b"x");
}

#[test]
fn large_messages_are_cut() {
    let home = TestMaildir::new(&[]);
    fs::File::create(home.path("new/a")).unwrap().set_len(MAX_FETCH_BYTES + 5).unwrap();
    assert_eq!(home.maildir.fetch("INBOX/a").unwrap().len() as u64, MAX_FETCH_BYTES);
}

#[test]
fn delivery_happens_once_and_is_private() {
    let home = TestMaildir::new(&[]);
    let key = home.maildir.deliver(".Sent", "act-1", b"one").unwrap();
    assert_eq!(home.maildir.deliver(".Sent", "act-1", b"two").unwrap(), key);
    home.rename(".Sent/cur/act-1:2,S", ".Sent/cur/act-1:2,RS");
    home.maildir.deliver(".Sent", "act-1", b"three").unwrap();
    assert_eq!(home.maildir.fetch(&key).unwrap(), b"one");
    assert_eq!(fs::read_dir(home.path(".Sent/tmp")).unwrap().count(), 0);
    let mode = |path: &str| fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".Sent/cur/act-1:2,RS"), mode(".Sent"), mode("new")), (0o600, 0o700, 0o700));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let home = TestMaildir::new(&[]);
    for (folder, unique) in [
        ("INBOX", "../x"),
        ("INBOX", ""),
        ("INBOX", ".x"),
        ("INBOX", "a:2,S"),
        ("..", "x"),
        ("../..", "x"),
        ("x", "x"),
        (".a/b", "x"),
    ] {
        assert!(home.maildir.deliver(folder, unique, b"x").is_err(), "{folder} {unique}");
    }
}

#[test]
fn archiving_is_a_move_that_can_be_undone_and_repeated() {
    let home = TestMaildir::new(&[]);
    home.write_mail("cur/a:2,FS");
    home.write_mail("new/b");
    for (key, archived, back) in
        [("INBOX/a", ".Archive/cur/a:2,FS", "cur/a:2,FS"), ("INBOX/b", ".Archive/cur/b:2,", "cur/b:2,")]
    {
        for _ in 0..2 {
            home.maildir.archive(key).unwrap();
            assert!(home.path(archived).exists(), "{key}");
        }
        for _ in 0..2 {
            home.maildir.unarchive(key).unwrap();
            assert!(home.path(back).exists() && !home.path(archived).exists(), "{key}");
        }
    }
    assert!(matches!(home.maildir.archive("INBOX/nothing"), Err(SourceError::Gone { .. })));
}

#[test]
fn a_missing_maildir_is_unavailable_and_its_mail_not_gone() {
    let home = TestMaildir::new(&["INBOX/a"]);
    // As an unmounted disk leaves the folder.
    fs::remove_dir_all(home.path("new")).unwrap();
    fs::remove_dir_all(home.path("cur")).unwrap();
    assert!(matches!(home.maildir.poll(None), Err(SourceError::Unavailable { .. })));
}

#[tokio::test]
async fn a_change_wakes_the_watcher() {
    let home = TestMaildir::new(&[]);
    let hint = std::sync::Arc::new(tokio::sync::Notify::new());
    let _watch = home.maildir.watch(hint.clone()).unwrap();
    home.write_mail("new/a");
    tokio::time::timeout(Duration::from_secs(5), hint.notified()).await.unwrap();
}
