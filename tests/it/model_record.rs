//! Tests that a model's answer is stored before it is used: after a kill it is read from the record, and a replay makes
//! no call.

use std::{process::Stdio, time::Duration};

use adjutant::model::NodeName;
use serde_json::json;

use crate::support::{
    model_server::{Said, Server, kind, with_model},
    test_home::{Kind, TestHome},
};

/// Says something else each time.
fn fickle() -> Server {
    Server::start(|asked| match asked.prompt.as_str() {
        "plan_step" => Said::Answer(json!({ "tasks": [
            { "task": "T1", "objective": format!("Answer Tom, wording {}", asked.nth), "deadline": "", "steps": [] },
        ] })),
        "prioritise" => Said::Answer(json!({ "urgency": f64::from(u8::try_from(asked.nth % 10).unwrap()) / 10.0 })),
        _ => Said::Answer(kind(asked)),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_makes_no_calls_with_the_model_on_or_off() {
    let (home, server) = (TestHome::samples(), Server::kind());
    with_model(&home, &server, "");
    home.once().await;
    let asked = server.count();
    let before = home.dump();
    for turned_off in [false, true] {
        if turned_off {
            let config = home.read("adjutant.toml").replace("provider = \"compatible\"", "provider = \"off\"");
            home.write("adjutant.toml", &config);
        }
        let app = home.app().await;
        for run in app.runs().list(None, 1000).await.unwrap() {
            let replay = app.runs().replay(&run.run_id.to_string()).await.unwrap();
            assert!(replay.identical, "{} {:?}: {:?}", run.run_id, run.kind, replay.checkpoints);
            assert_eq!(replay.calls_made, 0);
        }
    }
    assert_eq!(server.count(), asked, "nobody was asked");
    assert_eq!(home.dump(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_model_replays_with_one() {
    let home = TestHome::samples();
    home.once().await;
    let server = Server::kind();
    with_model(&home, &server, "");
    let app = home.app().await;
    for run in app.runs().list(None, 1000).await.unwrap() {
        assert!(app.runs().replay(&run.run_id.to_string()).await.unwrap().identical, "{}", run.run_id);
    }
    assert_eq!(server.count(), 0);
}

/// Both are read before either is stored. The one that comes second is refused, asks anew and finds the other's task;
/// what it heard before, which its answer from the model had put on the disk, does not keep it from that.
#[tokio::test(flavor = "multi_thread")]
async fn two_mails_about_one_invoice_read_at_once_are_one_task() {
    let home = TestHome::active();
    let server = Server::start(|asked| Said::Slow(Duration::from_millis(400), kind(asked)));
    with_model(&home, &server, "at_once = 4");
    home.post(&home.letter("one").invoice(2041).verified());
    let notice = home.letter("two").from("Acme Billing <billing@acme.example>").subject("Second notice").verified();
    home.post(&notice.body(
        "Dear Alex Green,\n\nour invoice no. 2041 over EUR 1,250.00 is still unpaid. Please pay it today.\n\nAcme Furniture Ltd.\n",
    ));
    tokio::time::timeout(Duration::from_secs(120), home.once()).await.expect("both mails are read to their end");
    let plans = server.asked().iter().filter(|asked| asked.prompt == "plan_step").count();
    assert!(plans >= 2, "{plans} were asked about, so they were not read at once");
    assert_eq!(home.sql("SELECT state FROM ledger ORDER BY state"), [["linked"], ["task"]]);
    assert_eq!(home.count("tasks"), 1);
    let app = home.app().await;
    for run in app.runs().list(None, 1000).await.unwrap() {
        let replay = app.runs().replay(&run.run_id.to_string()).await.unwrap();
        assert!(replay.identical, "{} {:?}: {:?}", run.run_id, run.kind, replay.checkpoints);
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_asks_again_from_its_node_only() {
    let (home, server) = (TestHome::active(), fickle());
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task'");
    for (from, expected) in [
        (NodeName::Prioritise, vec!["draft_reply", "generate_response", "prioritise"]),
        (NodeName::RetrieveContext, vec!["draft_reply", "generate_response"]),
        (NodeName::ExecuteTool, vec!["draft_reply", "generate_response"]),
    ] {
        let before = server.count();
        home.clock.advance(1);
        let app = home.app().await;
        let fork = app.runs().fork(&run, from).await.unwrap();
        app.worker().finish_runs().await.unwrap();
        let mut asked: Vec<String> = server.asked().split_off(before).into_iter().map(|asked| asked.prompt).collect();
        asked.sort();
        // The run was parked by its sending, so the fork may end before it sums up.
        let parked = home.sql_one(&format!("SELECT status FROM run WHERE run_id = '{fork}'")) == "parked";
        let expected: Vec<&str> = expected.into_iter().filter(|name| !parked || *name != "generate_response").collect();
        assert_eq!(asked, expected, "from {from}");
        assert!(app.runs().replay(&fork.to_string()).await.unwrap().identical, "from {from}");
    }
    assert!(home.sent().is_empty());
}

/// Dies at the place while one mail is worked; what was said is then in the record, or was not asked for.
fn dies_at(place: &str) -> (TestHome, Server) {
    let (home, server) = (TestHome::real_time(Kind::Active), fickle());
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    let mut once = home.command(&["once"]);
    let status = once.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.code().is_none(), "{place} was never passed");
    (home, server)
}

#[test]
fn a_killed_run_hears_the_same_answer_again() {
    // The nth time: plan_step, prioritise, draft_reply, generate_response or the park before it.
    for nth in 1..=3 {
        let (home, server) = dies_at(&format!("commit.hear_model.after:{nth}"));
        let said = home.sql("SELECT node, input_hash, reply FROM model_call WHERE run_id IS NOT NULL ORDER BY call_id");
        assert_eq!((said.len(), server.count()), (nth, nth));
        assert_eq!(home.run(&["once"]).code, 0);
        let prompts: Vec<String> = server.asked().into_iter().map(|asked| asked.prompt).collect();
        let mut unique = prompts.clone();
        unique.dedup();
        assert_eq!(prompts, unique, "nothing was asked twice");
        let now = home.sql("SELECT node, input_hash, reply FROM model_call WHERE run_id IS NOT NULL ORDER BY call_id");
        assert_eq!(now[..nth], said[..], "what was said stands");
        let objective = home.sql_one("SELECT objective FROM tasks");
        assert_eq!(objective, "Answer Tom, wording 0");
        assert_eq!(home.count("tasks"), 1);
        assert_eq!(home.run(&["doctor"]).code, 0);
    }
}

#[test]
fn what_arrives_after_a_kill_does_not_change_the_question() {
    let (home, server) = dies_at("commit.hear_model.after:3");
    home.post(&home.letter("later").answers("q").body("Hello Alex,\n\nand bring the ladder, please.\n\nTom\n"));
    assert_eq!(home.run(&["once"]).code, 0);
    let drafts = server.asked().into_iter().filter(|asked| asked.prompt == "draft_reply");
    assert_eq!(drafts.filter(|draft| draft.data.to_string().contains("keys")).count(), 1, "not asked again");
    assert_eq!(home.count("model_call WHERE prompt = 'draft_reply'"), 1);
}

#[test]
fn killed_before_it_is_stored_it_is_asked_again_and_counted_at_its_worst() {
    for place in ["model.ask.before", "model.ask.after", "commit.hear_model.before"] {
        let (home, _server) = dies_at(place);
        assert_eq!(home.count("model_call"), 0, "{place}");
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(home.count("tasks"), 1, "{place}");
        let lost = home.sql("SELECT outcome, tokens_in > 100000 FROM model_call WHERE node = 'stopped'");
        assert_eq!(lost, [["lost", "1"]], "{place}");
        // An orderly end leaves nothing to count.
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(home.count("model_call WHERE node = 'stopped'"), 1, "{place}");
    }
}

#[test]
fn stopping_does_not_wait_for_a_model_and_counts_what_it_gave_up() {
    let (home, server) = (TestHome::real_time(Kind::Active), Server::start(|_| Said::Hang));
    with_model(&home, &server, "timeout_seconds = 600");
    let daemon = home.daemon();
    home.post(&home.letter("q").question());
    crate::support::test_home::eventually("it asks", || (server.count() > 0).then_some(()));
    let begun = std::time::Instant::now();
    assert_eq!(daemon.stop("TERM").0, 0);
    assert!(begun.elapsed() < std::time::Duration::from_secs(15), "{:?}", begun.elapsed());
    let lost = home.sql("SELECT outcome, tokens_in BETWEEN 1000 AND 60000 FROM model_call");
    assert_eq!(lost, [["lost", "1"]], "one question, not all there could be");
    assert_eq!(home.sql_one("SELECT value FROM setting WHERE name = 'model_in_use'"), "");
    assert_eq!(home.count("run WHERE status = 'running'"), 1, "it goes on at the next start");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_guidelines_are_versioned_in_the_run_record() {
    let (home, server) = (TestHome::active(), Server::kind());
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task'");
    let shown = home.json(&["runs", "show", &run]);
    let call = &shown["model_calls"][0];
    assert_eq!((call["prompt"].as_str(), call["outcome"].as_str()), (Some("prioritise"), Some("answered")));
    assert_eq!(call["version"].as_str().map(str::len), Some(12));
    assert_eq!(call["guidelines"].as_str().map(str::len), Some(12));
    assert!(home.run(&["runs", "show", &run]).out.contains("prompt draft_reply"));
}
