//! Tests that a plan that is killed at any step, and resumed, does every step exactly once.
//!
//! `IT_PLAN_KILLS` says how many kills there are at each step boundary; the default takes seconds.

use std::process::Stdio;

use crate::support::{
    campaign::Campaign,
    test_home::{Kind, SeededRandom, TestHome},
};

const STEPS: usize = 10;

/// Where a process dies: around the commits of a step, and around its effect.
const PLACES: [&str; 5] = [
    "commit.checkpoint.before:1",
    "commit.checkpoint.after:1",
    "commit.checkpoint.after:2",
    "folder.create.before:1",
    "folder.create.after:1",
];

/// Ten steps, each after the one before it: folders on the disk and reminders in the database.
fn request() -> String {
    let step = |nth: usize| match nth % 3 {
        0 => format!("{nth}. then remind me on 1 December 2029 to look at thing {nth}"),
        _ => format!("{nth}. then create folder Plan-{nth}"),
    };
    (1..=STEPS).map(step).collect::<Vec<_>>().join("\n")
}

fn ended_steps(home: &TestHome) -> usize {
    usize::try_from(home.count("plan_step WHERE status IN ('completed', 'skipped')")).unwrap()
}

/// Checks that every step has exactly one effect.
fn every_step_was_done_once(home: &TestHome) {
    assert_eq!(home.sql("SELECT status FROM plan"), [["completed"]]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    let effects =
        home.sql("SELECT step, count(*), group_concat(state) FROM outbox GROUP BY step ORDER BY min(action_id)");
    assert_eq!(effects.len(), STEPS, "{effects:?}");
    assert!(effects.iter().all(|row| row[1] == "1" && row[2] == "applied"), "{effects:?}");
    let reminders = home.sql("SELECT count(*), count(DISTINCT text) FROM reminder");
    assert_eq!(reminders, [["3", "3"]]);
    let mut folders: Vec<String> = std::fs::read_dir(home.home().files())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("Plan-"))
        .collect();
    folders.sort_unstable();
    assert_eq!(folders.len(), 7, "{folders:?}");
    assert_eq!(home.count("run WHERE kind = 'step'"), STEPS as u64);
    assert_eq!(home.count("run WHERE status = 'running'"), 0);
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_plan_that_is_killed_at_every_step_does_each_step_once() {
    let per_boundary: usize = std::env::var("IT_PLAN_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let mut dice = SeededRandom::thrown("plan kills");
    let mut kills = [0_usize; STEPS];
    while kills.iter().any(|count| *count < per_boundary) {
        let home = TestHome::real_time(Kind::Observing);
        let begun = ["ask", "--yes", &request()];
        assert!(is_killed(&home, &begun, "commit.checkpoint.before:1"), "it must die before the first checkpoint");
        let mut attempts = 0;
        while ended_steps(&home) < STEPS {
            let boundary = ended_steps(&home);
            // A home is finished at once when its boundary has had its kills, so that the later ones get theirs.
            let place = if kills[boundary] < per_boundary {
                // A reminder is a row of the database, so that there is no folder to die around.
                let places = if (boundary + 1).is_multiple_of(3) { &PLACES[..3] } else { &PLACES[..] };
                places[usize::try_from(dice.below(places.len() as u64)).unwrap()]
            } else {
                "commit.checkpoint.after:2"
            };
            if is_killed(&home, &["ask", "--yes", "--resume"], place) {
                kills[boundary] += 1;
            }
            attempts += 1;
            assert!(attempts < 40 * STEPS, "the plan does not advance: {:?}", home.sql("SELECT * FROM plan_step"));
        }
        // The last step has ended; its summary may not.
        drop(home.run(&["ask", "--yes", "--resume"]));
        every_step_was_done_once(&home);
    }
    let all: usize = kills.iter().sum();
    println!("{all} kills: {kills:?} after 0 to {} steps", STEPS - 1);
    Campaign::new("kills in a plan", per_boundary * STEPS, all).deaths(all).lost(0).twice(0).stuck(0).print();
}

#[test]
fn a_request_is_opened_with_its_run_or_not_at_all() {
    for (place, tasks) in [("commit.open_request.before:1", 0), ("commit.open_request.after:1", 1)] {
        let home = TestHome::real_time(Kind::Observing);
        assert!(is_killed(&home, &["ask", "--yes", "1. create folder Plan-1 2. create folder Plan-2"], place));
        assert_eq!((home.count("tasks"), home.count("plan"), home.count("run")), (tasks, tasks, tasks), "{place}");
        let resumed = home.run(&["ask", "--yes", "--resume"]);
        assert_eq!(resumed.code, if tasks == 0 { 3 } else { 0 }, "{}", resumed.err);
        assert_eq!(home.count("plan_step WHERE status = 'completed'"), 2 * tasks);
    }
}

/// Runs `ask` with a failpoint. Returns whether it was killed there.
fn is_killed(home: &TestHome, arguments: &[&str], place: &str) -> bool {
    let mut command = home.command(arguments);
    let status = command.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    status.code().is_none()
}
