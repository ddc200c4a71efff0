//! Tests a thousand old mails at the limit of Google's quota, on a stopped clock: they are read slowly and never fail,
//! and new mail does not wait for them.
//!
//! `IT_MAILS` says how many.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use adjutant::clock::Clock;

use crate::support::{
    gmail_home::{signed_in, state_of},
    google::{Google, Trouble, YOU},
    test_home::{TestHome, eventually},
};

/// Nobody has asked for so long: everybody waits.
const QUIET: Duration = Duration::from_millis(50);

/// Google's own count, kept as strictly as Google could: no 60 seconds may cost more.
struct Meter {
    clock: Clock,
    spent: Mutex<VecDeque<(i64, u32)>>,
    most: AtomicUsize,
    refused: AtomicUsize,
    calls: AtomicUsize,
    /// Every so many calls it says "too much" without reason.
    moody: usize,
}

impl Meter {
    fn new(clock: Clock, moody: usize) -> Arc<Self> {
        Arc::new(Self {
            clock,
            spent: Mutex::default(),
            most: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            moody,
        })
    }

    fn admit(&self, path: &str) -> Option<Trouble> {
        let units = match path {
            _ if !path.starts_with("/gmail/") => return None,
            _ if path.contains("/messages/") => 20,
            _ if path.contains("/messages?") => 5,
            _ if path.contains("/history?") => 2,
            _ => 1,
        };
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.moody > 0 && call.is_multiple_of(self.moody) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Some(if call.is_multiple_of(2) { Trouble::TooMany(7) } else { Trouble::RateLimited });
        }
        let now = self.clock.now().utc().timestamp();
        let mut spent = self.spent.lock().unwrap();
        spent.push_back((now, units));
        while spent.front().is_some_and(|(at, _)| *at <= now - 60) {
            spent.pop_front();
        }
        let minute: u32 = spent.iter().map(|(_, units)| units).sum();
        self.most.fetch_max(minute as usize, Ordering::SeqCst);
        if minute > 6_000 {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Some(Trouble::RateLimited);
        }
        None
    }
}

/// Time passes only while nobody asks Google anything: whoever may ask at once does, and the limit is met at its edge.
struct Ticking(Arc<AtomicBool>);

impl Ticking {
    fn start(meter: Arc<Meter>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                let before = meter.calls.load(Ordering::SeqCst);
                std::thread::sleep(QUIET);
                if meter.calls.load(Ordering::SeqCst) == before {
                    meter.clock.advance(1);
                }
            }
        });
        Self(stop)
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A mailbox full of old mail behind a meter, and the time that passes there.
struct Edge {
    google: Google,
    home: TestHome,
    meter: Arc<Meter>,
    ticking: Ticking,
}

impl Edge {
    fn reach(mails: usize, moody: usize) -> Self {
        let google = Google::start();
        let home = signed_in(&google, YOU, "");
        fill(&google, &home, mails);
        let meter = Meter::new(home.clock.clone(), moody);
        let guard = Arc::clone(&meter);
        google.guards(move |_, path| guard.admit(path));
        let ticking = Ticking::start(Arc::clone(&meter));
        Self { google, home, meter, ticking }
    }
}

fn fill(google: &Google, home: &TestHome, mails: usize) {
    let you = google.person(YOU);
    for nth in 0..mails {
        you.receives(home.letter(&format!("old{nth}")).text());
    }
}

fn knob() -> usize {
    std::env::var("IT_MAILS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

async fn backfill(moody: usize) {
    let mails = knob();
    let Edge { google: _google, home, meter, ticking: _ticking } = Edge::reach(mails, moody);
    let begun = home.clock.now().utc();
    let report = home.once().await;
    assert_eq!(report.troubles, [""; 0]);
    assert_eq!(home.count("ledger"), mails as u64);
    assert_eq!(home.count("ledger WHERE state IN ('failed', 'parked', 'gone', 'pending')"), 0);
    assert_eq!(home.count("ledger WHERE retries > 0"), 0, "a limit turned into a failure");
    let (most, refused) = (meter.most.load(Ordering::SeqCst), meter.refused.load(Ordering::SeqCst));
    let took = (home.clock.now().utc() - begun).num_seconds();
    println!("{mails} mails in {took} s: at most {most} of 6000 units in any minute, {refused} refusals");
    crate::support::campaign::Campaign::new("quota", mails, mails).lost(0).print();
    assert!(most <= 6_000, "{most} units in a minute");
    if moody == 0 {
        assert_eq!(refused, 0, "the quota was overdrawn");
        // A share of every minute is left to new mail; the rest is used.
        assert!(mails < 1_000 || most > 4_800, "only {most} units in the fullest minute");
    } else {
        assert!(refused > 0);
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_at_the_quotas_edge_is_slow_and_never_fails() {
    backfill(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_says_too_much_is_waited_for() {
    backfill(23).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_mail_does_not_wait_behind_old() {
    let mails = knob();
    let Edge { google, home, meter: _meter, ticking } = Edge::reach(mails, 0);
    let worker = home.worker().await;
    let working = tokio::spawn(async move {
        let report = worker.run_once().await;
        worker.stop().await;
        report
    });
    eventually("a part of the old mail is in", || (home.count("ledger") >= 30).then_some(()));
    let fresh = google.person(YOU).receives(home.letter("fresh").question().text());
    let report = working.await.unwrap().unwrap();
    drop(ticking);
    assert_eq!(report.troubles, [""; 0]);
    assert_eq!(state_of(&home, &fresh), "task");
    let before = format!(
        "SELECT count(*) FROM ledger WHERE mail_id < (SELECT mail_id FROM ledger WHERE source_key = '{fresh}')"
    );
    let place: usize = home.sql_one(&before).parse().unwrap();
    println!("the new mail was read after {place} of {mails} old ones");
    assert!(place + 30 < mails, "it waited for {place} of {mails}");
}
