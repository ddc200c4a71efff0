//! Tests that a program that is killed at any moment and started again finishes everything exactly once.
//!
//! `IT_KILLS` says how many kills; the default takes seconds.

use std::{process::Stdio, time::Duration};

use crate::support::test_home::{Kind, SeededRandom, TestHome, eventually, files_in};

const MAILS: usize = 200;

/// Two hundred mails that need everything: drafts, rows, threads, duplicates, noise, and files that are no mail.
fn mailbox() -> Vec<(String, String)> {
    let home = TestHome::real_time(Kind::Observing);
    let at = home.clock.now().utc().timestamp() - 120;
    let mail = |nth: usize| {
        let id = format!("m{nth}");
        let letter = home.letter(&id);
        match nth % 10 {
            0 | 1 => letter.question().text(),
            2 => letter.invoice(u32::try_from(nth).unwrap()).text(),
            3 => home.letter(&format!("m{}", nth - 3)).question().text(),
            4 => letter
                .answers(&format!("m{}", nth - 3))
                .body(&format!("Hello Alex,\n\nWhen will you be back at the house about m{}?\n\nTom\n", nth - 3))
                .text(),
            5 => letter.header("List-Unsubscribe: <https://news.example/out>").header("Precedence: bulk").text(),
            6 => letter.body("Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nAnna\n").text(),
            7 => String::new(),
            8 => letter
                .body("Hi Alex,\n\nplease remind me to renew the passport by 27 November 2027.\n")
                .from("Alex Green <you@home.example>")
                .text(),
            _ => letter.text(),
        }
    };
    // Many arrive in the same second, and their names do not sort as they arrived.
    (0..MAILS)
        .map(|nth| (format!("{}.M{:03}.it", at + i64::try_from(nth / 50).unwrap(), (nth * 7) % MAILS), mail(nth)))
        .collect()
}

fn fill(mails: &[(String, String)]) -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    for (name, text) in mails {
        home.deliver(name, text);
    }
    home
}

/// Everything that must not depend on when it was killed.
fn outcome(home: &TestHome) -> Vec<Vec<String>> {
    [
        "SELECT 'ledger', source_key, state, task_id FROM ledger ORDER BY source_key",
        "SELECT 'task', task_id, source, objective, status, priority, subtasks, result_summary FROM tasks ORDER BY task_id",
        "SELECT 'effect', task_id, step, generation, class, state FROM outbox ORDER BY task_id, step",
        "SELECT 'history', task_id, field, from_value, to_value, who FROM task_history WHERE field = 'status' ORDER BY task_id, entry",
        "SELECT 'follow up', l.task_id, source_key FROM task_history JOIN ledger l ON to_value = 'mail:' || l.mail_id WHERE field = 'follow_up' ORDER BY source_key",
        "SELECT 'rows', (SELECT count(*) FROM label), (SELECT count(*) FROM reminder), (SELECT count(*) FROM invoice), (SELECT count(*) FROM reflection)",
        "SELECT 'runs', kind, status, count(*) FROM run GROUP BY kind, status",
    ]
    .iter()
    .flat_map(|query| home.sql(query))
    .collect()
}

fn check_files(home: &TestHome) {
    assert_eq!(home.drafts().len() as u64, home.count("outbox WHERE step = 'draft_reply' AND state = 'applied'"));
    let mut lines: Vec<String> = Vec::new();
    for day in files_in(&home.home().reflections()) {
        lines.extend(home.read(&format!("data/reflections/{day}")).lines().map(str::to_owned));
    }
    let mut rows: Vec<String> = home.sql("SELECT line FROM reflection").into_iter().flatten().collect();
    lines.sort_unstable();
    rows.sort_unstable();
    assert_eq!(lines, rows);
    must_be_well(home);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("0 unaccounted") && doctor.out.contains("chain whole"), "{}", doctor.out);
}

/// All that is wrong is that some files are no mail, which `doctor` says.
fn must_be_well(home: &TestHome) {
    let diagnosis = home.diagnosis();
    let findings = diagnosis["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["code"] == "mail_failed"), "{findings:?}");
}

/// Starts `once` and kills it after the time given. False when it had ended by itself.
fn killed(home: &TestHome, after: Duration) -> bool {
    let mut child = home.command(&["once"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

#[test]
fn killed_at_random_everything_is_finished_once() {
    let kills: u32 = std::env::var("IT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut dice = SeededRandom::thrown("crash");
    let mails = mailbox();
    let undisturbed = fill(&mails);
    let started = std::time::Instant::now();
    assert_eq!(undisturbed.run(&["once"]).code, 0);
    let takes = started.elapsed();
    let expected = outcome(&undisturbed);
    check_files(&undisturbed);
    let states: std::collections::BTreeSet<&str> =
        expected.iter().filter(|row| row[0] == "ledger").map(|row| row[2].as_str()).collect();
    assert_eq!(states, ["duplicate", "linked", "no_task", "parked", "task"].into());
    let (mut done, mut homes) = (0, 0);
    while done < kills {
        let home = fill(&mails);
        homes += 1;
        let mut here = 0;
        // Each kill leaves some work done; most of them fall into the work, some into the start.
        while done < kills && here < 12 {
            let most = u64::try_from(takes.as_millis()).unwrap() / 2;
            if !killed(&home, Duration::from_millis(dice.below(most.max(40)))) {
                break;
            }
            done += 1;
            here += 1;
            if dice.below(3) == 0 {
                must_be_well(&home);
            }
        }
        let last = home.run(&["once"]);
        assert_eq!(last.code, 0, "{}", last.err);
        // Reflections are mended at a start; one more, which has nothing else to do.
        assert_eq!(home.run(&["once"]).code, 0);
        let found = outcome(&home);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "home {homes}, {done} kills");
        }
        assert_eq!(found.len(), expected.len());
        check_files(&home);
    }
    println!("{done} kills over {homes} homes; undisturbed it takes {takes:?}");
    crate::support::campaign::Campaign::new("kills while reading", kills as usize, done as usize)
        .deaths(done as usize)
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
}

#[test]
fn a_killed_daemon_leaves_its_role_and_its_work_to_the_next() {
    let mails: Vec<(String, String)> = mailbox().into_iter().take(60).collect();
    let home = TestHome::real_time(Kind::Active);
    let daemon = home.daemon();
    for (name, text) in &mails {
        home.deliver(name, text);
    }
    eventually("some of it is in the ledger", || (home.count("ledger") > 0).then_some(()));
    assert_eq!(daemon.stop("KILL").0, -1);
    let next = home.daemon();
    assert_eq!(next.stop("TERM").0, 0);
    assert_eq!(home.count("ledger"), 60);
    assert_eq!(home.count("run WHERE status = 'running'"), 0);
    must_be_well(&home);
}
