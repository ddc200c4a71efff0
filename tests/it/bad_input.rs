//! Mail nobody should send: each is accounted for, and its neighbours go on.

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

use crate::house::{House, Kind};

fn row(house: &House, key: &str) -> (String, String) {
    let rows = house.sql(&format!("SELECT state, reason FROM ledger WHERE source_key = 'INBOX/{key}'"));
    assert_eq!(rows.len(), 1, "{key} is not in the ledger");
    (rows[0][0].clone(), rows[0][1].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_garbage_files_are_parked_beside_their_neighbours() {
    let house = House::active();
    house.deliver("empty", "");
    house.deliver("zeros", [0_u8; 4096]);
    house
        .deliver("noise", (0..20_000_u32).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>());
    house.deliver("blank", "\n\n\n");
    house.post(&house.letter("good").question());
    let report = house.once().await;
    assert_eq!(report.entered, 5);
    for key in ["empty", "zeros", "noise", "blank"] {
        let (state, reason) = row(&house, key);
        assert!(["parked", "no_task"].contains(&state.as_str()) && !reason.is_empty(), "{key}: {state} {reason}");
    }
    assert_eq!(row(&house, "empty"), ("parked".into(), "the file is empty".into()));
    assert_eq!(row(&house, "good.eml").0, "task");
    let before = house.dump();
    house.once().await;
    assert_eq!(house.dump(), before, "they are not read again and again");
    house.must_be_sound().await;
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

async fn once_on_a_bad_disk(house: &House, mended: bool) {
    let mut worker = house.worker().await;
    let FollowedAccount { intake, location: place } = worker.followed_accounts.remove(0);
    let source = Arc::new(BadDisk(intake.source.clone(), Arc::new(AtomicBool::new(mended))));
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location: place });
    worker.run_once().await.unwrap();
    worker.stop().await;
    house.clock.advance(60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_tried_again_and_then_given_to_a_person() {
    let house = House::active();
    house.post(&house.letter("good").question());
    house.post(&house.letter("bad").question());
    once_on_a_bad_disk(&house, false).await;
    assert_eq!(row(&house, "good.eml").0, "task");
    let (state, reason) = row(&house, "bad.eml");
    assert!(state == "failed" && reason.contains("input/output error"), "{state}: {reason}");
    for _ in 0..5 {
        once_on_a_bad_disk(&house, false).await;
    }
    let (state, reason) = row(&house, "bad.eml");
    assert!(state == "parked" && reason.contains("given up after 5 attempts"), "{state}: {reason}");
    house.must_be_sound().await;
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
    let house = House::active();
    let (bad, parked) = (120, 60);
    for nth in 0..bad {
        house.post(&house.letter(&format!("bad{nth:03}")));
    }
    let mut worker = house.worker().await;
    let FollowedAccount { intake, location } = worker.followed_accounts.remove(0);
    let (asked, mended) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let disk = CountingDisk { inner: intake.source.clone(), asked: Arc::clone(&asked), mended: Arc::clone(&mended) };
    worker
        .followed_accounts
        .push(FollowedAccount { intake: PolledIntake { source: Arc::new(disk), ..intake }, location });
    worker.run_once().await.unwrap();
    // Younger ones that were given up must not stand in the way.
    for nth in 0..parked {
        house.deliver(&format!("garbage{nth:03}"), "no header at all\n");
    }
    for _ in 0..4 {
        house.clock.advance(60);
        worker.run_once().await.unwrap();
    }
    let counts = |of: &str| -> Vec<u32> {
        asked.lock().unwrap().iter().filter(|(key, _)| key.contains(of)).map(|(_, times)| *times).collect()
    };
    assert!(counts("bad").len() == bad && counts("bad").iter().all(|times| *times >= 2), "{:?}", counts("bad"));
    assert_eq!(counts("garbage"), vec![1; parked], "what was given up is not read again");
    mended.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        house.clock.advance(600);
        worker.run_once().await.unwrap();
    }
    worker.stop().await;
    assert_eq!(house.count("ledger WHERE source_key LIKE '%bad%' AND state = 'no_task'"), bad as u64);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_can_be_read_again_is_worked() {
    let house = House::active();
    house.post(&house.letter("bad").question());
    once_on_a_bad_disk(&house, false).await;
    assert_eq!(row(&house, "bad.eml").0, "failed");
    once_on_a_bad_disk(&house, true).await;
    assert_eq!(row(&house, "bad.eml").0, "task");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_folders_in_a_mailbox_are_left_alone() {
    let house = House::active();
    house.post(&house.letter("good").question());
    symlink("/nowhere/at/all", house.maildir().join("new/dangling")).unwrap();
    symlink("/etc/passwd", house.maildir().join("new/elsewhere")).unwrap();
    fs::create_dir(house.maildir().join("new/folder")).unwrap();
    house.once().await;
    assert_eq!(house.sql("SELECT source_key, state FROM ledger"), [["INBOX/good.eml", "task"]]);
    assert!(!house.dump().contains("root:x:0"), "a link is never followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_megabytes_are_read_as_far_as_the_bound() {
    let house = House::active();
    let mut text = house.letter("huge").question().text();
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
    house.deliver("huge", text);
    house.post(&house.letter("good").question());
    let started = std::time::Instant::now();
    house.once().await;
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!((row(&house, "huge").0.as_str(), row(&house, "good.eml").0.as_str()), ("task", "task"));
    let size = fs::metadata(house.home().database()).unwrap().len();
    assert!(size < 2 * 1024 * 1024, "the attachment stays in the mailbox: {size} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_levels_of_nesting_are_read_or_parked() {
    let house = House::active();
    let mut mixed = house.letter("deep").text().replace(
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n",
        "Content-Type: multipart/mixed; boundary=b0\n",
    );
    let mut attached = house.letter("wrapped").question().text();
    for level in 0..100 {
        mixed.push_str(&format!("--b{level}\nContent-Type: multipart/mixed; boundary=b{}\n\n", level + 1));
        attached = format!(
            "From: a@b.example\nSubject: level {level}\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n{attached}"
        );
    }
    mixed.push_str("--b100\nContent-Type: text/plain\n\nCould you send me the report?\n");
    house.deliver("deep", mixed);
    house.deliver("wrapped", attached);
    house.deliver(
        "parts",
        format!(
            "{}{}",
            house.letter("parts").text().replace("text/plain; charset=utf-8", "multipart/mixed; boundary=x"),
            "--x\n\nhi\n".repeat(20_000)
        ),
    );
    house
        .deliver("headers", format!("{}{}", "X-Many: yes\n".repeat(50_000), house.letter("headers").question().text()));
    house.deliver("line", house.letter("line").body(&"a".repeat(3_000_000)).text());
    house.post(&house.letter("good").question());
    let started = std::time::Instant::now();
    let report = house.once().await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(report.entered, 6);
    assert_eq!(row(&house, "good.eml").0, "task");
    for key in ["deep", "wrapped", "parts", "headers", "line"] {
        let (state, reason) = row(&house, key);
        assert!(
            ["task", "no_task", "parked"].contains(&state.as_str()) && !reason.is_empty(),
            "{key}: {state} {reason}"
        );
    }
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_stay_words() {
    let house = House::active();
    let body = "Hello Alex,\n\nWhen will you be back? '; DROP TABLE tasks; -- {{date:0d}} \u{202e}gnp.exe \u{200b}\u{feff}%s%n\n\nTom\n";
    house.post(
        &house
            .letter("one")
            .subject("=?utf-8?B?4oCuZ25w?= \u{202e}evil")
            .body(body)
            .from("\"Robert'); DROP TABLE mail;--\" <bob@b.example>"),
    );
    house.once().await;
    assert_eq!(house.sql("SELECT state FROM ledger"), [["task"]]);
    let shown = House::run(&house, &["mail", "show", "1"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(!shown.out.contains('\u{202e}') && !shown.out.contains('\u{200b}'), "{}", shown.out);
    house.must_be_sound().await;
}

#[test]
fn an_illegal_transition_is_a_plain_no() {
    let house = House::real_time(Kind::Active);
    assert_eq!(house.run(&["tasks", "add", "Buy milk"]).code, 0);
    assert_eq!(house.run(&["tasks", "cancel", "1"]).code, 0);
    let again = house.run(&["tasks", "done", "1"]);
    assert_eq!(again.code, 1);
    assert_eq!(again.err, "adjutant: refused: task 1 is CANCELLED: reopen it first with `adjutant tasks undo`\n");
    let undo = house.run(&["tasks", "undo", "1"]);
    assert_eq!(undo.code, 0);
    assert_eq!(house.run(&["tasks", "undo", "1"]).code, 1);
}
