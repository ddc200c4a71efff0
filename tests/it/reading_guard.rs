//! Tests that a mail over which the parser panics or hangs is parked alone: the other mails are worked, the pass ends,
//! and the mail is not tried again at every poll.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant as Wall},
};

use adjutant::{
    ingest::{GuardedParser, MailParseError, TrustedServers, parse_mail},
    model::Mail,
};

use crate::support::test_home::{TestHome, once};

const ASKS: &str = "Hello Alex,\n\nCould you send me the report by Friday?\n\nTom\n";
const PANICKED: &str =
    "reading it failed inside the program, which is a fault of the program; the mail is where it was";
const LATE: &str = "reading it took longer than any mail should; the mail is where it was";
/// So long a lost reader goes on here: far over its budget, and not for ever.
const LOST: Duration = Duration::from_secs(6);

static READ: AtomicUsize = AtomicUsize::new(0);

/// The shipped reader, with two faults in it that no known mail finds.
fn faulty(raw: &[u8], trust: &TrustedServers) -> Result<Mail, MailParseError> {
    READ.fetch_add(1, Ordering::SeqCst);
    let mail = parse_mail(raw, trust)?;
    assert!(mail.subject != "About panic", "a fault with the words of the mail: {}", mail.text);
    let start = Wall::now();
    while mail.subject == "About endless" && start.elapsed() < LOST {
        std::hint::black_box(&mail);
    }
    Ok(mail)
}

fn home() -> TestHome {
    let home = TestHome::active();
    for id in ["first", "panic", "second", "endless", "third"] {
        home.post(&home.letter(id).body(ASKS));
    }
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_cannot_be_read_is_parked_alone() {
    let home = home();
    let faulty_worker = || async {
        let mut worker = home.worker().await;
        worker.followed_accounts[0].intake.account_intake.parser =
            GuardedParser { read: faulty, budget: Duration::from_millis(200) };
        worker
    };
    let report = once(faulty_worker().await).await;
    assert_eq!((report.entered, report.unreadable), (5, 2), "{:?}", report.troubles);
    let rows = home.sql("SELECT source_key, state, reason FROM ledger WHERE state <> 'task' ORDER BY source_key");
    let rows: Vec<_> = rows.iter().map(|row| (row[1].as_str(), row[2].as_str())).collect();
    assert_eq!(rows, [("parked", LATE), ("parked", PANICKED)]);
    assert_eq!(home.count("ledger WHERE state = 'task'"), 3, "the neighbours are worked");
    assert_eq!(READ.load(Ordering::SeqCst), 5, "each was read once");
    // The next poll has nothing to read.
    let report = once(faulty_worker().await).await;
    assert_eq!((report.entered, READ.load(Ordering::SeqCst)), (0, 5));
    home.must_be_sound().await;
}
