//! Tests that whatever people, mails, faults and kills do, in whatever order, the database never holds an illegal
//! state.
//!
//! `IT_CASES` says how many random sequences; each is printed with the seed that repeats it.

use std::time::Duration;

use adjutant::{
    app::{App, NewTask},
    model::{AccountMode, DecisionKind, MailId, Priority, TaskEditKind, TaskStatus},
};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::{
    engine_faults::spoil,
    support::test_home::{SeededRandom, TestHome, once, set_mode},
};

#[derive(Debug, Clone)]
enum Act {
    Add(Option<Priority>),
    /// On the task of that number.
    Edit(u8, Wish),
    Decide(DecisionKind),
    Mail(u8),
    NotATask(u8),
    MakeTask(u8),
    Mute(u8, bool),
    Rules(Priority),
    Mode(bool),
    Once,
    /// With a tool that fails.
    OnceBroken,
    /// The process goes away after so many milliseconds of work.
    Killed(u8),
    Hours(u8),
}

#[derive(Debug, Clone)]
enum Wish {
    Done,
    Cancel,
    Level(Priority),
    Objective,
    Deadline,
    Step(&'static str),
    Snooze,
    Undo,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let levels = || select(Priority::ALL.to_vec());
    let wish = prop_oneof![
        3 => Just(Wish::Done),
        3 => Just(Wish::Cancel),
        2 => levels().prop_map(Wish::Level),
        1 => Just(Wish::Objective),
        1 => Just(Wish::Deadline),
        2 => select(vec!["do_the_work", "send_reply", "draft_reply", "pay_invoice"]).prop_map(Wish::Step),
        1 => Just(Wish::Snooze),
        4 => Just(Wish::Undo),
    ];
    let act = prop_oneof![
        2 => proptest::option::of(levels()).prop_map(Act::Add),
        8 => (1..7_u8, wish).prop_map(|(number, wish)| Act::Edit(number, wish)),
        3 => select(DecisionKind::ALL.to_vec()).prop_map(Act::Decide),
        5 => any::<u8>().prop_map(Act::Mail),
        1 => (1..6_u8).prop_map(Act::NotATask),
        1 => (1..6_u8).prop_map(Act::MakeTask),
        1 => (1..6_u8, any::<bool>()).prop_map(|(mail, on)| Act::Mute(mail, on)),
        1 => levels().prop_map(Act::Rules),
        1 => any::<bool>().prop_map(Act::Mode),
        4 => Just(Act::Once),
        3 => Just(Act::OnceBroken),
        4 => (0..60_u8).prop_map(Act::Killed),
        1 => (1..100_u8).prop_map(Act::Hours),
    ];
    vec(act, 5..30)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// What is refused is refused; only the state afterwards counts.
fn perform(home: &TestHome, nth: usize, act: &Act) {
    home.clock.advance(1);
    if let Act::Killed(after) = act {
        let doomed = runtime();
        doomed.block_on(async {
            let worker = home.worker().await;
            let story = tokio::spawn(async move {
                let outcome = worker.run_once().await;
                drop(worker);
                outcome
            });
            drop(tokio::time::timeout(Duration::from_millis((*after).into()), story).await);
        });
        doomed.shutdown_timeout(crate::support::test_home::PATIENCE);
        return;
    }
    let life = runtime();
    life.block_on(live(home, nth, act));
    life.shutdown_timeout(crate::support::test_home::PATIENCE);
}

async fn live(home: &TestHome, nth: usize, act: &Act) {
    match act {
        Act::Mail(kind) => return post(home, nth, *kind),
        Act::Once => return drop(home.once().await),
        Act::OnceBroken => {
            let broken = home
                .rigged(|rig| spoil(&mut rig.nodes.execute_tool, |_| Some(Err(anyhow::anyhow!("out of order")))))
                .await;
            return drop(once(broken).await);
        }
        Act::Hours(hours) => return home.clock.advance(i64::from(*hours) * 3600),
        Act::Rules(level) => {
            return home.rules(
                &format!("rules:\n  - name: all\n    when: {{ kind: {{ exists: true }} }}\n    set: {level}\n    why: so\ndefault: low\n"),
            );
        }
        _ => {}
    }
    let app = home.app().await;
    let outcome = match act {
        Act::Add(priority) => {
            let new = NewTask { objective: format!("Task {nth}"), priority: *priority, ..NewTask::default() };
            app.tasks().add(new).await.map(drop)
        }
        Act::Edit(number, wish) => edit(&app, &number.to_string(), wish).await,
        Act::Decide(verdict) => decide(&app, *verdict).await,
        Act::NotATask(mail) => app.mail().mark_not_a_task(MailId((*mail).into()), "").await,
        Act::MakeTask(mail) => app.mail().make_task(MailId((*mail).into()), "").await.map(drop),
        Act::Mute(mail, on) => app.mail().set_sender_muted(MailId((*mail).into()), *on).await.map(drop),
        Act::Mode(active) => {
            set_mode(&app, if *active { AccountMode::Active } else { AccountMode::Observe }).await;
            Ok(())
        }
        _ => Ok(()),
    };
    if let Err(error) = outcome {
        let said = format!("{error:#}");
        assert!(!said.contains("SQL") && !said.contains("constraint"), "{act:?}: {said}");
    }
}

/// On the first of what waits, if anything does.
async fn decide(app: &App, verdict: DecisionKind) -> anyhow::Result<()> {
    match app.approvals().list().await?.first() {
        Some(item) if verdict == DecisionKind::Approve => app.approvals().approve(item).await.map(drop),
        Some(item) => app.approvals().answer(&item.number.to_string(), verdict, "").await.map(drop),
        None => Ok(()),
    }
}

async fn edit(app: &App, task: &str, wish: &Wish) -> anyhow::Result<()> {
    let wish = match wish {
        Wish::Done => TaskEditKind::Done,
        Wish::Cancel => TaskEditKind::Cancel,
        Wish::Level(level) => TaskEditKind::Priority(*level),
        Wish::Objective => TaskEditKind::Objective("Something else".into()),
        Wish::Deadline => TaskEditKind::Deadline(Some("2026-12-01".into()), Some("2026-12-01T12:00:00Z".parse()?)),
        Wish::Step(step) => TaskEditKind::StepDone((*step).into()),
        Wish::Snooze => TaskEditKind::Snooze(Some("2026-12-01T12:00:00Z".parse()?)),
        Wish::Undo => TaskEditKind::Reopen,
    };
    app.tasks().edit(task, wish, "story").await.map(drop)
}

fn post(home: &TestHome, nth: usize, kind: u8) {
    let id = format!("s{nth}");
    let letter = home.letter(&id);
    let letter = match kind % 6 {
        0 | 1 => letter.question(),
        2 => letter.invoice(u32::from(kind)),
        3 => letter
            .answers(&format!("s{}", nth.saturating_sub(1 + usize::from(kind) % 4)))
            .body("Hello Alex,\n\nWhen will you be back at the house? This is urgent!\n\nTom\n"),
        4 => letter.body("Alex,\n\nremind me to renew the passport by Friday.\n").from("Alex Green <you@home.example>"),
        _ => letter,
    };
    home.post(&letter);
}

fn must_be_lawful(home: &TestHome, after: &str) {
    let transitions = home
        .sql("SELECT task_id, from_value, to_value FROM task_history WHERE field = 'status' ORDER BY task_id, entry");
    let mut at: std::collections::HashMap<String, String> = std::collections::HashMap::new();
    for row in transitions {
        let before = at.insert(row[0].clone(), row[2].clone()).unwrap_or_default();
        assert_eq!(before, row[1], "{after}: a transition does not continue the one before it");
        let legal = if before.is_empty() {
            row[2] == "NEW"
        } else {
            TaskStatus::ALLOWED_TRANSITIONS.contains(&(before.parse().unwrap(), row[2].parse().unwrap()))
        };
        assert!(legal, "{after}: {before} → {}", row[2]);
    }
    for row in home.sql("SELECT task_id, status FROM tasks") {
        assert_eq!(at.get(&row[0]), Some(&row[1]), "{after}: the task is not where its history ends");
    }
    let count = |what: &str| home.count(what);
    assert_eq!(
        count(
            "outbox o JOIN tasks t USING (task_id) WHERE t.status IN ('DONE', 'CANCELLED') AND o.state IN ('planned', 'parked', 'ready', 'held')"
        ),
        0,
        "{after}: an ended task has effects to come"
    );
    assert_eq!(
        count("item i JOIN tasks t USING (task_id) WHERE t.status IN ('DONE', 'CANCELLED') AND i.state = 'open'"),
        0,
        "{after}: an ended task asks a person"
    );
    assert_eq!(
        count(
            "tasks t WHERE t.status = 'WAITING_HITL' AND NOT EXISTS (SELECT 1 FROM item i WHERE i.task_id = t.task_id AND i.state = 'open')"
        ),
        0,
        "{after}: a task waits and nobody was asked"
    );
    assert_eq!(
        count("(SELECT 1 FROM task_owner WHERE number IS NOT NULL GROUP BY user_id, number HAVING count(*) > 1)"),
        0
    );
}

#[test]
fn no_order_of_acts_breaks_the_life_cycle() {
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(16);
    let mut dice = SeededRandom::thrown("life_cycle");
    let mut seed = [0_u8; 32];
    seed.iter_mut().for_each(|byte| *byte = u8::try_from(dice.below(256)).unwrap());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let story = |acts: Vec<Act>| {
        let home = TestHome::active();
        for (nth, act) in acts.iter().enumerate() {
            perform(&home, nth, act);
            must_be_lawful(&home, &format!("after act {nth}, {act:?}"));
        }
        // At the end everything comes to rest, and nothing is broken. Only an active account's drafts are cleaned up.
        perform(&home, acts.len(), &Act::Mode(true));
        perform(&home, acts.len(), &Act::Once);
        must_be_lawful(&home, "at the end");
        let life = runtime();
        life.block_on(home.must_be_sound());
        life.block_on(everything_done_can_be_done_again(&home));
        life.shutdown_timeout(crate::support::test_home::PATIENCE);
        assert_eq!(home.count("run WHERE status = 'running'"), 0);
        assert_eq!(home.count("ledger WHERE state IN ('pending', 'failed')"), 0);
        assert_eq!(home.count("outbox WHERE step = 'draft_reply' AND state = 'applied'"), home.drafts().len() as u64);
        Ok(())
    };
    runner.run(&acts(), story).unwrap();
}

async fn everything_done_can_be_done_again(home: &TestHome) {
    let app = home.app().await;
    for run in app.runs().list(None, 1000).await.unwrap() {
        let replay = app.runs().replay(&run.run_id.to_string()).await.unwrap();
        // What failed then does not fail now: the node was mended.
        let faulty =
            home.count(&format!("checkpoint WHERE run_id = '{}' AND move LIKE '%out of order%'", run.run_id)) > 0;
        assert!(replay.identical || faulty, "{:?} {:?} {}: {:?}", run.kind, run.status, run.reason, replay.checkpoints);
    }
}
