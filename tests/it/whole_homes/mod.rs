//! Tests random lives of whole homes: mail arrives, vanishes, is renamed and rewritten; a person approves, edits,
//! cancels and pauses; the database or the whole data folder is restored; rules break, the clock jumps, the disk is
//! full, two processes work at once; and the program is killed at random in between.
//!
//! The oracle knows what was put into the mailbox, what the person was shown and decided, and what the transport
//! accepted. It asks the program only what a person would ask, and never reads its tables.
//!
//! `IT_CASES` says how many lives; `IT_SEED` names the seed of the first.

mod life;
mod oracle;
mod person;
mod transport;
mod world;

use crate::{
    crash_matrix::knob,
    support::{campaign::Campaign, test_home::SeededRandom},
};

use self::world::World;

/// How one life ended.
#[derive(Debug, Default)]
struct Verdict {
    deaths: usize,
    sent: usize,
    lost: Vec<String>,
    twice: Vec<String>,
    unapproved: Vec<String>,
    stuck: Vec<String>,
}

impl Verdict {
    /// Lost, twice, unapproved, stuck.
    fn broken(&self) -> [&Vec<String>; 4] {
        [&self.lost, &self.twice, &self.unapproved, &self.stuck]
    }
}

/// Lives one life and judges it. A panic of the harness or of the program is a life that got stuck.
fn judge(seed: u64) -> (Verdict, Vec<String>) {
    let mut world = World::new(SeededRandom::seeded(seed));
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        life::live(&mut world);
        oracle::judge(&mut world)
    }));
    let verdict = lived.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).into()));
        Verdict { stuck: vec![why.unwrap_or_else(|| "a panic without words".into())], ..Verdict::default() }
    });
    (verdict, std::mem::take(&mut world.log))
}

#[test]
fn whole_homes_keep_every_promise_whatever_happens_to_them() {
    let lives = knob("IT_CASES", 6);
    let mut dice = SeededRandom::thrown("whole_homes");
    let single = std::env::var_os("IT_LIFE").and_then(|text| text.to_str()?.parse().ok());
    let (mut failures, mut sent, mut deaths, mut found) = (Vec::new(), 0, 0, [0; 4]);
    for nth in 0..lives {
        let seed = single.unwrap_or_else(|| dice.below(u64::MAX));
        let (verdict, log) = judge(seed);
        deaths += verdict.deaths;
        sent += verdict.sent;
        for (sum, broken) in found.iter_mut().zip(verdict.broken()) {
            *sum += broken.len();
        }
        if verdict.broken().iter().any(|broken| !broken.is_empty()) {
            println!("IT_LIFE={seed} {verdict:#?}\n  {}", log.join("\n  "));
            failures.push(seed);
        }
        if nth % 50 == 49 {
            println!("{} of {lives} lives, {deaths} deaths, {sent} messages, {} failed", nth + 1, failures.len());
        }
    }
    let [lost, twice, unapproved, stuck] = found;
    let campaign = Campaign::new("whole homes", lives, lives).deaths(deaths).lost(lost).twice(twice);
    campaign.unapproved(unapproved).stuck(stuck).print();
    assert!(
        failures.is_empty(),
        "{} of {lives} lives broke a promise; repeat one with IT_LIFE=…: {failures:?}",
        failures.len()
    );
    assert!(lives < 20 || (sent > lives / 4 && deaths > lives / 4), "too little happened: {sent} messages");
}
