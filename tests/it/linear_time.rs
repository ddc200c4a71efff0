//! Tests that reading a mail takes linear time. Everything that can be repeated in a mail is repeated n, 2n and 4n
//! times and read from bytes to tasks: the CPU time may not grow more than 2.5-fold when the mail doubles.
//!
//! `IT_TOKENS=all` tries every token, and `IT_CASES` that many random combinations of them; by default a few of each.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    fuzz_entry::{self, CPU_TIME_LIMIT, MAX_INPUT_BYTES, cpu_time},
    support::test_home::SeededRandom,
};

/// What growth is still called linear: twice the work, and what caches and allocators add to it.
const MOST_GROWTH: f64 = 2.5;
/// Shorter times are noise.
const LEAST_TIME: Duration = Duration::from_millis(20);
const ROUNDS: usize = 5;
/// A build that is not optimised may be slower by this: a generous guess, for only the growth is the point here.
const SLOWER: u32 = if cfg!(debug_assertions) { 30 } else { 1 };

/// Where tokens stand in a mail: what comes before all of them, and after.
#[derive(Deserialize)]
struct Place {
    name: String,
    /// Bytes that are read of it at most. Beyond, the mail is read as something else, and the time is bounded whatever
    /// it is.
    limit: usize,
    before: String,
    after: String,
    /// With a `#` where their number stands.
    tokens: Vec<String>,
}

const HEAD: &str =
    "From: Tom Baker <tom@bakerand.example>\nTo: you@home.example\nSubject: x\nMessage-ID: <a@x.example>\n";

/// Everything that a mail may hold many of.
#[derive(Deserialize)]
struct Tokens {
    place: Vec<Place>,
}

impl Tokens {
    fn read() -> Vec<Place> {
        toml::from_str::<Self>(include_str!("../../fuzz/tokens.toml")).unwrap().place
    }
}

/// A mail with these tokens so many times each: one run of all after the other, or in turn.
fn mail(place: &Place, tokens: &[&str], in_turn: bool, count: usize) -> Vec<u8> {
    let mut mail = format!("{HEAD}{}", place.before);
    let mut put = |token: &str, number: usize| match token.split_once('#') {
        Some(_) => mail.push_str(&token.replace('#', &number.to_string())),
        None => mail.push_str(token),
    };
    if in_turn {
        for number in 0..count {
            tokens.iter().for_each(|token| put(token, number));
        }
    } else {
        for token in tokens {
            (0..count).for_each(|number| put(token, number));
        }
    }
    mail.push_str(&place.after);
    mail.into_bytes()
}

/// The quickest of some readings: others have their turns on the same machine.
fn quickest(raw: &[u8], rounds: usize) -> Duration {
    (0..rounds).map(|_| cpu_time(|| fuzz_entry::mail(raw))).min().unwrap()
}

/// Whether a mail takes longer than the bound on an input of the fuzzer, or as many times as it is larger.
fn over_bound(raw: &[u8]) -> Option<String> {
    let bound = CPU_TIME_LIMIT * SLOWER * u32::try_from(raw.len().div_ceil(MAX_INPUT_BYTES)).unwrap();
    let took = quickest(raw, 1);
    (took > bound && quickest(raw, ROUNDS) > bound).then(|| format!("{} bytes take {took:?}", raw.len()))
}

/// What is wrong with the time of a mail that grows up to a limit.
fn fault(limit: usize, grown: &dyn Fn(usize) -> Vec<u8>) -> Option<String> {
    let mut count = 16;
    let small = loop {
        let raw = grown(count);
        if quickest(&raw, 1) >= LEAST_TIME && quickest(&raw, 2) >= LEAST_TIME && raw.len() * 4 <= limit {
            break raw;
        }
        if raw.len() * 4 > limit {
            return over_bound(&grown(count * 4));
        }
        count *= 2;
    };
    if let Some(fault) = over_bound(&small) {
        return Some(fault);
    }
    let mails = [small, grown(count * 2), grown(count * 4)];
    // Measured again before it counts: the cause must be the mail and not its neighbours on the machine.
    let mut told = String::new();
    for rounds in [ROUNDS, ROUNDS, 2 * ROUNDS] {
        let times = mails.each_ref().map(|raw| quickest(raw, rounds).as_secs_f64());
        let growth = [times[1] / times[0], times[2] / times[1]];
        if growth.iter().all(|growth| *growth <= MOST_GROWTH) {
            return None;
        }
        told = format!("{count} times {:.1?} ms, growing {growth:.2?}-fold", times.map(|time| time * 1e3));
    }
    Some(told)
}

/// A number of cases, unless the knob says otherwise.
fn cases(few: u64) -> u64 {
    std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

fn must_be_linear(faults: &[String]) {
    assert!(faults.is_empty(), "more than linear time:\n{}", faults.join("\n"));
}

#[test]
fn what_is_repeated_is_read_in_linear_time() {
    let mut dice = SeededRandom::thrown("what_is_repeated_is_read_in_linear_time");
    let places = Tokens::read();
    let mut all: Vec<(&Place, &str)> =
        places.iter().flat_map(|place| place.tokens.iter().map(move |token| (place, token.as_str()))).collect();
    if std::env::var("IT_TOKENS").as_deref() != Ok("all") {
        let few = 8;
        for nth in 0..few {
            let other = nth + dice.below((all.len() - nth) as u64) as usize;
            all.swap(nth, other);
        }
        all.truncate(few);
        // Where reading was quadratic once.
        all.push((&places[0], "\n"));
        all.push((&places[0], "From: a\nTo: b\nCc: c\n>\n"));
    }
    let mut faults = Vec::new();
    for (place, token) in all {
        if let Some(fault) = fault(place.limit, &|count| mail(place, &[token], true, count)) {
            faults.push(format!("{} {token:?}: {fault}", place.name));
        }
    }
    must_be_linear(&faults);
}

#[test]
fn combinations_are_read_in_linear_time() {
    let mut dice = SeededRandom::thrown("combinations_are_read_in_linear_time");
    let places = Tokens::read();
    let mut faults = Vec::new();
    for _ in 0..cases(6) {
        let place = &places[dice.below(places.len() as u64) as usize];
        let chosen: Vec<&str> =
            (0..2 + dice.below(3)).map(|_| &*place.tokens[dice.below(place.tokens.len() as u64) as usize]).collect();
        let in_turn = dice.below(2) == 0;
        if let Some(fault) = fault(place.limit, &|count| mail(place, &chosen, in_turn, count)) {
            faults.push(format!("{} {chosen:?} in turn {in_turn}: {fault}", place.name));
        }
    }
    must_be_linear(&faults);
}
