//! Tests a year of nightly jobs under a simulated clock: exactly one per date, through both changes of daylight saving
//! time, restarts, suspensions, crashes in the middle and manual runs.

use std::collections::BTreeMap;

use chrono::{Duration, NaiveDate};

use crate::support::{
    outbox_fixture::cases,
    test_home::{SeededRandom, TestHome},
};

/// Dates of the rows, and how each came to be.
fn dates(test_home: &TestHome) -> BTreeMap<String, String> {
    test_home.sql("SELECT date, state FROM nightly").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

async fn live(days: i64, zone: &str, line: &str, dice: &mut SeededRandom) {
    let test_home = TestHome::active();
    test_home.write(
        "adjutant.toml",
        &format!("nightly = \"{line}\"\n[me]\nnames = [\"Alex Green\"]\naddresses = [\"you@home.example\"]\ntime_zone = \"{zone}\"\n[[account]]\nname = \"work\"\npath = \"mail\"\n"),
    );
    let begin = test_home.clock.now();
    let end = begin.plus(Duration::days(days));
    let mut app = test_home.app().await;
    app.nightly().run_if_due().await.unwrap();
    let (mut held, mut restarts, mut suspensions, mut by_hand, mut cut_off) = (0, 0, 0, 0, 0);
    while test_home.clock.now() < end {
        match dice.below(60) {
            0 => {
                suspensions += 1;
                test_home.clock.advance(i64::try_from(dice.below(60 * 3600)).unwrap());
            }
            1 => {
                restarts += 1;
                drop(app);
                app = test_home.app().await;
            }
            2 => {
                by_hand += 1;
                app.nightly().run_unless_done_today().await.unwrap();
            }
            _ => test_home.clock.advance(i64::try_from(60 + dice.below(90 * 60)).unwrap()),
        }
        if app.nightly().run_if_due().await.unwrap().is_some() {
            held += 1;
            // A crash just before the end of some: the date is open again, and taken up by its own run.
            if dice.below(12) == 0 {
                cut_off += 1;
                let sql = "DROP TRIGGER IF EXISTS nightly_legal; UPDATE nightly SET state = 'running', ended_at = NULL WHERE date = (SELECT max(date) FROM nightly);";
                test_home.database().execute_batch(sql).unwrap();
                drop(app);
                app = test_home.app().await;
                assert!(app.nightly().run_if_due().await.unwrap().is_some(), "what was cut off is taken up");
            }
        }
    }
    let found = dates(&test_home);
    let first: NaiveDate = found.keys().next().unwrap().parse().unwrap();
    let last: NaiveDate = found.keys().next_back().unwrap().parse().unwrap();
    let missing: Vec<NaiveDate> = first
        .iter_days()
        .take_while(|date| *date <= last)
        .filter(|date| !found.contains_key(&date.to_string()))
        .collect();
    let made_up = found.values().filter(|state| *state == "caught_up").count();
    println!(
        "{zone} '{line}': {} dates from {first} to {last}, {held} nights by the clock, {made_up} made up for, {by_hand} by hand, {restarts} restarts, {suspensions} suspensions, {cut_off} cut off",
        found.len()
    );
    assert!(missing.is_empty(), "{missing:?}");
    assert!((last - first).num_days() >= days - 3, "{first} to {last}");
    assert!(found.values().all(|state| state != "running"), "{found:?}");
    let twice =
        test_home.sql("SELECT subject FROM audit WHERE act = 'nightly_begun' GROUP BY subject HAVING count(*) > 1");
    assert!(twice.is_empty(), "begun twice: {twice:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_date_of_a_year_has_one_night() {
    let mut dice = SeededRandom::thrown("a year of nights");
    live(366, "Europe/Berlin", "15 3 * * *", &mut dice).await;
}

/// A line that the clocks skip in spring and repeat in autumn; under `make crash` the autumn too.
#[tokio::test(flavor = "multi_thread")]
async fn so_have_seasons_whose_hour_the_clocks_skip_and_repeat() {
    let mut dice = SeededRandom::thrown("skipped hours");
    let days = if cases(0) > 0 { 366 } else { 125 };
    live(days, "America/New_York", "30 2 * * *", &mut dice).await;
}
