//! Tests the budget of a model, per day and per task: when it is used up, every command says so.

use std::time::Duration;

use crate::support::{
    model_server::{Said, Server, kind, ledger, tasks, with_model},
    test_home::{Kind, TestHome},
};

/// Does not say what it cost, so that each answer counts at its worst.
fn dear() -> Server {
    Server::start(|asked| Said::Uncounted(kind(asked)))
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_days_budget_is_gone_rules_go_on_alone_and_every_door_says_so() {
    let off = TestHome::samples();
    off.once().await;
    let (home, server) = (TestHome::samples(), dear());
    with_model(&home, &server, "tokens_per_day = 100000\nat_once = 1");
    let report = home.once().await;
    assert_eq!(tasks(&home), tasks(&off));
    assert_eq!(ledger(&home), ledger(&off));
    assert!(home.count("model_call WHERE outcome = 'answered'") > 0);
    assert!(home.count("model_call WHERE outcome = 'day_budget'") > 0);
    assert!(home.sql_one("SELECT sum(tokens_in + tokens_out) FROM model_call").parse::<u64>().unwrap() <= 100_000);
    assert!(report.model_note.unwrap().contains("budget for 2026-11-16 is gone"));
    let asked = server.count();
    home.post(&home.letter("late").question());
    home.once().await;
    assert_eq!(server.count(), asked, "not even once more");
    // The next day has a budget of its own.
    home.clock.advance(24 * 3600);
    home.post(&home.letter("next").question());
    let report = home.once().await;
    assert!(server.count() > asked);
    assert_eq!(report.model_note, None);
}

#[test]
fn the_doors_say_that_the_budget_is_gone() {
    let (home, server) = (TestHome::real_time(Kind::Active), dear());
    with_model(&home, &server, "tokens_per_day = 40000\nat_once = 1");
    for nth in 0..6 {
        home.post(&home.letter(&format!("q{nth}")).subject(&format!("Topic {nth}")).question());
    }
    let once = home.run(&["once"]);
    assert!(once.out.contains("is gone since"), "{}", once.out);
    for command in [
        &["tasks"][..],
        &["hitl"],
        &["mail"],
        &["runs"],
        &["why", "1"],
        &["search", "house"],
        &["digest"],
        &["rules", "history"],
        &["memory"],
    ] {
        let answered = home.run(command);
        assert!(answered.err.contains("rules go on alone"), "{command:?}: {}", answered.err);
    }
    assert!(home.run(&["doctor"]).out.contains("BUDGET IS GONE"));
    assert!(home.run(&["cost"]).out.contains("budget is GONE since"));
    let (code, said) = home.daemon().stop("TERM");
    assert_eq!(code, 0);
    assert!(said.contains("rules go on alone"), "{said}");
}

#[test]
fn a_running_daemon_says_it_when_it_happens() {
    let (home, server) = (TestHome::real_time(Kind::Active), dear());
    with_model(&home, &server, "tokens_per_day = 40000\nat_once = 1");
    let mut daemon = home.daemon();
    for nth in 0..6 {
        home.post(&home.letter(&format!("q{nth}")).subject(&format!("Topic {nth}")).question());
    }
    daemon.until("rules go on alone");
    drop(daemon);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_has_a_budget_of_its_own() {
    let (home, server) = (TestHome::active(), dear());
    with_model(&home, &server, "tokens_per_task = 16000");
    home.post(&home.letter("q").question());
    home.once().await;
    let by_task = home.sql("SELECT outcome, count(*) FROM model_call WHERE node <> 'plan_step' GROUP BY 1 ORDER BY 1");
    let spent = home.sql("SELECT node, outcome, tokens_in, tokens_out FROM model_call");
    assert!(by_task.iter().any(|row| row[0] == "task_budget"), "{by_task:?} {spent:?}");
    assert_eq!(home.count("model_call WHERE outcome = 'day_budget'"), 0);
    let worst: u64 = home
        .sql_one("SELECT max(s) FROM (SELECT sum(tokens_in + tokens_out) s FROM model_call GROUP BY about)")
        .parse()
        .unwrap();
    assert!(worst <= 16_000, "{worst}");
}

#[tokio::test(flavor = "multi_thread")]
async fn money_is_counted_with_prices() {
    let (home, server) = (TestHome::real_time(Kind::Active), Server::kind());
    with_model(&home, &server, "price_in = 2.0\nprice_out = 10.0\nmoney_per_day = 5.0");
    home.post(&home.letter("q").question());
    home.post(&home.letter("i").invoice(7));
    home.once().await;
    // 100 tokens in and 20 out each.
    assert_eq!(home.count("model_call WHERE cost_micros <> 400"), 0);
    let cost = home.json(&["cost"]);
    let calls = home.count("model_call");
    assert_eq!(cost["spent_today"]["micros"], 400 * calls);
    let nodes: Vec<&str> = cost["rows"].as_array().unwrap().iter().map(|row| row["node"].as_str().unwrap()).collect();
    assert!(nodes.contains(&"plan_step") && nodes.contains(&"prioritise"), "{nodes:?}");
    let rules = cost["rows"].as_array().unwrap().iter().filter(|row| row["rule"] != "").count();
    assert_eq!(rules, cost["rows"].as_array().unwrap().len(), "every question was for a task that a rule ranked");
    let shown = home.run(&["cost"]).out;
    for word in ["DAY", "NODE", "RULE", "execute_tool", "fuzzy-urgency", "of 5.0000 money"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_at_once_never_overspends() {
    let server = Server::start(|asked| Said::Slow(Duration::from_millis(20), kind(asked)));
    let home = TestHome::active();
    with_model(&home, &server, "tokens_per_day = 60000\nat_once = 16");
    for nth in 0..40 {
        home.post(&home.letter(&format!("q{nth}")).subject(&format!("Topic {nth}")).question());
    }
    home.once().await;
    let spent: u64 = home.sql_one("SELECT sum(tokens_in + tokens_out) FROM model_call").parse().unwrap();
    assert!(spent <= 60_000 && spent > 0, "{spent}");
    assert!(home.count("model_call WHERE outcome = 'day_budget'") > 0);
}
