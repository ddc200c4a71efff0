//! Tests with malformed and hostile mail: each is accounted for in the ledger, and the other mails are worked.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use adjutant::{
    app::FollowedAccount,
    ingest::PolledIntake,
    source::{PollResult, Source, SourceError},
};

use crate::support::test_home::{Kind, TestHome};

fn row(home: &TestHome, key: &str) -> (String, String) {
    let rows = home.sql(&format!("SELECT state, reason FROM ledger WHERE source_key = 'INBOX/{key}'"));
    assert_eq!(rows.len(), 1, "{key} is not in the ledger");
    (rows[0][0].clone(), rows[0][1].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_garbage_files_are_parked_beside_their_neighbours() {
    let home = TestHome::active();
    home.deliver("empty", "");
    home.deliver("zeros", [0_u8; 4096]);
    home.deliver("noise", (0..20_000_u32).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>());
    home.deliver("blank", "\n\n\n");
    home.post(&home.letter("good").question());
    let report = home.once().await;
    assert_eq!(report.entered, 5);
    for key in ["empty", "zeros", "noise", "blank"] {
        let (state, reason) = row(&home, key);
        assert!(["parked", "no_task"].contains(&state.as_str()) && !reason.is_empty(), "{key}: {state} {reason}");
    }
    assert_eq!(row(&home, "empty"), ("parked".into(), "the file is empty".into()));
    assert_eq!(row(&home, "good.eml").0, "task");
    let before = home.dump();
    home.once().await;
    assert_eq!(home.dump(), before, "they are not read again and again");
    home.must_be_sound().await;
}

/// A disk that cannot give back one of its files.
struct BadDisk(Arc<dyn Source>, Arc<AtomicBool>);

impl Source for BadDisk {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        self.0.poll(cursor)
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        if key.ends_with("bad.eml") && !self.1.load(Ordering::SeqCst) {
            let source = std::io::Error::other("input/output error");
            return Err(SourceError::Unreadable { key: key.into(), source });
        }
        self.0.fetch(key)
    }
}

async fn once_on_a_bad_disk(home: &TestHome, mended: bool) {
    let mut worker = home.worker().await;
    let FollowedAccount { intake, location: place } = worker.followed_accounts.remove(0);
    let source = Arc::new(BadDisk(intake.source.clone(), Arc::new(AtomicBool::new(mended))));
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location: place });
    worker.run_once().await.unwrap();
    worker.stop().await;
    home.clock.advance(60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_tried_again_and_then_given_to_a_person() {
    let home = TestHome::active();
    home.post(&home.letter("good").question());
    home.post(&home.letter("bad").question());
    once_on_a_bad_disk(&home, false).await;
    assert_eq!(row(&home, "good.eml").0, "task");
    let (state, reason) = row(&home, "bad.eml");
    assert!(state == "failed" && reason.contains("input/output error"), "{state}: {reason}");
    for _ in 0..5 {
        once_on_a_bad_disk(&home, false).await;
    }
    let (state, reason) = row(&home, "bad.eml");
    assert!(state == "parked" && reason.contains("given up after 5 attempts"), "{state}: {reason}");
    home.must_be_sound().await;
}

/// A disk that gives back nothing of some files, and counts how often each was asked for.
struct CountingDisk {
    inner: Arc<dyn Source>,
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
    mended: Arc<AtomicBool>,
}

impl Source for CountingDisk {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        self.inner.poll(cursor)
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        *self.asked.lock().unwrap().entry(key.to_owned()).or_default() += 1;
        if key.contains("bad") && !self.mended.load(Ordering::SeqCst) {
            return Err(SourceError::Unreadable {
                key: key.into(),
                source: std::io::Error::other("input/output error"),
            });
        }
        self.inner.fetch(key)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mail_that_cannot_be_read_gets_its_turn() {
    let home = TestHome::active();
    let (bad, parked) = (120, 60);
    for nth in 0..bad {
        home.post(&home.letter(&format!("bad{nth:03}")));
    }
    let mut worker = home.worker().await;
    let FollowedAccount { intake, location } = worker.followed_accounts.remove(0);
    let (asked, mended) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let disk = CountingDisk { inner: intake.source.clone(), asked: Arc::clone(&asked), mended: Arc::clone(&mended) };
    worker
        .followed_accounts
        .push(FollowedAccount { intake: PolledIntake { source: Arc::new(disk), ..intake }, location });
    worker.run_once().await.unwrap();
    // Younger ones that were given up must not stand in the way.
    for nth in 0..parked {
        home.deliver(&format!("garbage{nth:03}"), "no header at all\n");
    }
    for _ in 0..4 {
        home.clock.advance(60);
        worker.run_once().await.unwrap();
    }
    let counts = |of: &str| -> Vec<u32> {
        asked.lock().unwrap().iter().filter(|(key, _)| key.contains(of)).map(|(_, times)| *times).collect()
    };
    assert!(counts("bad").len() == bad && counts("bad").iter().all(|times| *times >= 2), "{:?}", counts("bad"));
    assert_eq!(counts("garbage"), vec![1; parked], "what was given up is not read again");
    mended.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        home.clock.advance(600);
        worker.run_once().await.unwrap();
    }
    worker.stop().await;
    assert_eq!(home.count("ledger WHERE source_key LIKE '%bad%' AND state = 'no_task'"), bad as u64);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_can_be_read_again_is_worked() {
    let home = TestHome::active();
    home.post(&home.letter("bad").question());
    once_on_a_bad_disk(&home, false).await;
    assert_eq!(row(&home, "bad.eml").0, "failed");
    once_on_a_bad_disk(&home, true).await;
    assert_eq!(row(&home, "bad.eml").0, "task");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_folders_in_a_mailbox_are_left_alone() {
    let home = TestHome::active();
    home.post(&home.letter("good").question());
    symlink("/nowhere/at/all", home.maildir().join("new/dangling")).unwrap();
    symlink("/etc/passwd", home.maildir().join("new/elsewhere")).unwrap();
    fs::create_dir(home.maildir().join("new/folder")).unwrap();
    home.once().await;
    assert_eq!(home.sql("SELECT source_key, state FROM ledger"), [["INBOX/good.eml", "task"]]);
    assert!(!home.dump().contains("root:x:0"), "a link is never followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_megabytes_are_read_as_far_as_the_bound() {
    let home = TestHome::active();
    let mut text = home.letter("huge").question().text();
    text = text.replace(
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n",
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n",
    );
    text.push_str("\n--b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename=big.bin\nContent-Transfer-Encoding: base64\n\n");
    let line = format!("{}\n", "QUJD".repeat(19));
    while text.len() < 30 * 1024 * 1024 {
        text.push_str(&line);
    }
    text.push_str("--b--\n");
    home.deliver("huge", text);
    home.post(&home.letter("good").question());
    let started = std::time::Instant::now();
    home.once().await;
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!((row(&home, "huge").0.as_str(), row(&home, "good.eml").0.as_str()), ("task", "task"));
    let size = fs::metadata(home.home().database()).unwrap().len();
    assert!(size < 2 * 1024 * 1024, "the attachment stays in the mailbox: {size} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_levels_of_nesting_are_read_or_parked() {
    let home = TestHome::active();
    let mut mixed = home.letter("deep").text().replace(
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n",
        "Content-Type: multipart/mixed; boundary=b0\n",
    );
    let mut attached = home.letter("wrapped").question().text();
    for level in 0..100 {
        mixed.push_str(&format!("--b{level}\nContent-Type: multipart/mixed; boundary=b{}\n\n", level + 1));
        attached = format!(
            "From: a@b.example\nSubject: level {level}\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n{attached}"
        );
    }
    mixed.push_str("--b100\nContent-Type: text/plain\n\nCould you send me the report?\n");
    home.deliver("deep", mixed);
    home.deliver("wrapped", attached);
    home.deliver(
        "parts",
        format!(
            "{}{}",
            home.letter("parts").text().replace("text/plain; charset=utf-8", "multipart/mixed; boundary=x"),
            "--x\n\nhi\n".repeat(20_000)
        ),
    );
    home.deliver("headers", format!("{}{}", "X-Many: yes\n".repeat(50_000), home.letter("headers").question().text()));
    home.deliver("line", home.letter("line").body(&"a".repeat(3_000_000)).text());
    home.post(&home.letter("good").question());
    let started = std::time::Instant::now();
    let report = home.once().await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(report.entered, 6);
    assert_eq!(row(&home, "good.eml").0, "task");
    for key in ["deep", "wrapped", "parts", "headers", "line"] {
        let (state, reason) = row(&home, key);
        assert!(
            ["task", "no_task", "parked"].contains(&state.as_str()) && !reason.is_empty(),
            "{key}: {state} {reason}"
        );
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_stay_words() {
    let home = TestHome::active();
    let body = "Hello Alex,\n\nWhen will you be back? '; DROP TABLE tasks; -- {{date:0d}} \u{202e}gnp.exe \u{200b}\u{feff}%s%n\n\nTom\n";
    home.post(
        &home
            .letter("one")
            .subject("=?utf-8?B?4oCuZ25w?= \u{202e}evil")
            .body(body)
            .from("\"Robert'); DROP TABLE mail;--\" <bob@b.example>"),
    );
    home.once().await;
    assert_eq!(home.sql("SELECT state FROM ledger"), [["task"]]);
    let shown = TestHome::run(&home, &["mail", "show", "1"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(!shown.out.contains('\u{202e}') && !shown.out.contains('\u{200b}'), "{}", shown.out);
    home.must_be_sound().await;
}

#[test]
fn an_illegal_transition_is_a_plain_no() {
    let home = TestHome::real_time(Kind::Active);
    assert_eq!(home.run(&["tasks", "add", "Buy milk"]).code, 0);
    assert_eq!(home.run(&["tasks", "cancel", "1"]).code, 0);
    let again = home.run(&["tasks", "done", "1"]);
    assert_eq!(again.code, 1);
    assert_eq!(again.err, "adjutant: refused: task 1 is CANCELLED: reopen it first with `adjutant tasks undo`\n");
    let undo = home.run(&["tasks", "undo", "1"]);
    assert_eq!(undo.code, 0);
    assert_eq!(home.run(&["tasks", "undo", "1"]).code, 1);
}
