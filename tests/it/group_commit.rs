//! Tests group commit: many writes share few commits, nothing is acknowledged before it is stored, and a refused write
//! fails alone.

use std::{
    io::{BufRead as _, BufReader},
    time::Duration,
};

use adjutant::{
    model::{AccountId, AccountMode},
    store::{PendingWrite, StoreError, Write},
};

use crate::support::test_home::{Kind, TestHome};

/// Commits in the write-ahead log: frames that say how large the database is after them.
fn commits(home: &TestHome) -> usize {
    let log = std::fs::read(home.root().join("data/tasks.db-wal")).unwrap();
    if log.is_empty() {
        return 0;
    }
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let (page, salt) = (word(8) as usize, (word(16), word(20)));
    let frames = (32..log.len()).step_by(24 + page);
    frames.filter(|at| (word(at + 8), word(at + 12)) == salt && word(at + 4) != 0).count()
}

fn setting(nth: usize) -> Write {
    Write::StoreSetting { name: format!("it.{nth}"), value: nth.to_string() }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_share_commits_and_a_refused_one_fails_alone() {
    let home = TestHome::active();
    let app = home.app().await;
    let before = commits(&home);
    let mut asked = Vec::new();
    for nth in 0..400 {
        let store = app.store.clone();
        let write = if nth % 50 == 25 {
            // Nothing leads from the modes there are to none at all.
            Write::SetMode { account: AccountId::from("nobody"), mode: AccountMode::Active, at: app.clock.now() }
        } else {
            setting(nth)
        };
        asked.push(tokio::spawn(async move { (nth, store.write(write).await) }));
    }
    let mut refused = 0;
    for one in asked {
        let (nth, outcome) = one.await.unwrap();
        assert_eq!(outcome.is_err(), nth % 50 == 25, "{nth}: {outcome:?}");
        refused += usize::from(outcome.is_err());
    }
    let made = commits(&home) - before;
    println!("400 writes in {made} commits");
    assert!((1..=100).contains(&made), "{made} commits for 400 writes");
    assert_eq!(home.count("setting WHERE name LIKE 'it.%'"), 400 - refused as u64);
}

/// An answer nobody waits for yet is not the one that tells all others theirs.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_ahead_holds_up_neither_itself_nor_others() {
    let home = TestHome::active();
    let app = home.app().await;
    let limit = Duration::from_secs(60);
    for round in 0..100 {
        let other = app.store.clone();
        let beside = tokio::spawn(async move { other.write(setting(3_000 + round)).await });
        let mut sent: Vec<PendingWrite> =
            (0..9).map(|nth| app.store.enqueue(setting(round * 9 + nth)).unwrap()).collect();
        // From the first to the last, from the last to the first, and one of them never.
        let forgotten = sent.pop();
        if round % 2 == 1 {
            sent.reverse();
        }
        for pending in sent {
            tokio::time::timeout(limit, pending.answer()).await.expect("an answer").unwrap();
        }
        tokio::time::timeout(limit, beside).await.expect("an answer for the other").unwrap().unwrap();
        drop(forgotten);
    }
    app.store.write(setting(2_000)).await.unwrap();
    assert_eq!(home.count("setting WHERE name LIKE 'it.%'"), 901 + 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_illegal_transition_is_refused_and_its_neighbours_are_stored() {
    let home = TestHome::samples();
    home.once().await;
    home.write("adjutant.toml", "[[account]]\nname = \"work\"\npath = \"mail\"\n");
    let app = home.app().await;
    let back = Write::SetMode { account: AccountId::from("samples"), mode: AccountMode::Active, at: app.clock.now() };
    let (first, refused, last) =
        tokio::join!(app.store.write(setting(1)), app.store.write(back), app.store.write(setting(2)));
    assert!(matches!(&refused, Err(StoreError::Refused(why)) if why.contains("from retired to active")), "{refused:?}");
    assert!(first.is_ok() && last.is_ok());
    assert_eq!(home.count("setting WHERE name LIKE 'it.%'"), 2);
    assert_eq!(home.sql_one("SELECT mode FROM account WHERE account = 'samples'"), "retired");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_can_be_seen_by_everybody() {
    let home = TestHome::active();
    let app = home.app().await;
    let other = home.database();
    for nth in 0..50 {
        app.store.write(setting(nth)).await.unwrap();
        let seen: String = other
            .query_row("SELECT value FROM setting WHERE name = ?1", [format!("it.{nth}")], |row| row.get(0))
            .unwrap();
        assert_eq!(seen, nth.to_string());
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let home = TestHome::real_time(Kind::Active);
    for nth in 1..=8 {
        let mut child = home.command(&["tasks", "add", &format!("Task of kill {nth}")]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.starts_with(&format!("Task {nth} added")), "{line}");
        assert_eq!(home.count(&format!("tasks WHERE objective = 'Task of kill {nth}' AND status = 'READY'")), 1);
    }
    assert_eq!(home.run(&["doctor"]).code, 0);
}
