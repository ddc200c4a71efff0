//! Tests the questions of a team: on the screen, in the approval queue, and whether a team that a mail asks for may start.

use adjutant::{
    model::{AgentState, DecisionKind, ItemKind, TeamState},
    team::event::{TeamEvent, TeamInput},
};
use serde_json::json;

use crate::support::{
    model_server::{Said, Server, kind, with_model},
    team_script::{
        self, AT_SCREEN, IN_DAEMON, answered, events, finish, is_manager, last, open, orchestrate, run_beside, turns,
        until,
    },
    test_home::{Kind, TestHome, eventually},
};

/// Starts a server whose only worker asks for a month and then finishes with what it was told.
fn asking_worker() -> Server {
    Server::start(|asked| {
        if !matches!(asked.prompt.as_str(), "task_manager" | "task_worker") {
            return Said::Answer(kind(asked));
        }
        if is_manager(asked) {
            return Said::Answer(orchestrate(asked, &["List the invoices"]));
        }
        Said::Answer(match turns(asked) {
            0 => json!({ "action": "ask_user", "text": "Which month?" }),
            _ => finish(&format!("Answered: {}", last(asked))),
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_on_the_screen() {
    let (home, server) = (TestHome::observing(), asking_worker());
    with_model(&home, &server, "");
    let app = home.app().await;
    let team = open(&app, "List invoices").await;
    let (_, work) = run_beside(&app, &team, AT_SCREEN);
    let seen = until(&app, &team, "a question", |seen| {
        seen.iter().any(|stored| matches!(stored.event, TeamEvent::Question { .. }))
    })
    .await;
    let asker = seen.iter().find_map(|stored| match &stored.event {
        TeamEvent::Question { agent, text } => Some((*agent, text.clone())),
        _ => None,
    });
    let (agent, text) = asker.unwrap();
    assert_eq!(text, "Which month?");
    assert!(app.approvals().list().await.unwrap().is_empty(), "somebody is at the screen");
    app.teams().send(team.team_id, &TeamInput::Say { agent, text: "June".into() }).await.unwrap();
    assert_eq!(work.await.unwrap(), Some(TeamState::Answered));
    assert!(answered(&events(&app, &team).await).contains("June"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_screen_a_question_waits_in_the_queue() {
    for (decision, words) in [(DecisionKind::Respond, "June"), (DecisionKind::Reject, "does not want to answer")] {
        let (home, server) = (TestHome::observing(), asking_worker());
        with_model(&home, &server, "");
        let app = home.app().await;
        let team = open(&app, "List invoices").await;
        let (_, work) = run_beside(&app, &team, IN_DAEMON);
        until(&app, &team, "a question", |seen| {
            seen.iter().any(|stored| matches!(stored.event, TeamEvent::Question { .. }))
        })
        .await;
        let items = app.approvals().list().await.unwrap();
        assert_eq!((items.len(), items[0].kind), (1, ItemKind::Question));
        assert!(items[0].title.contains("Task 1 of team 1 asks: Which month?"), "{}", items[0].title);
        let refused = app.approvals().answer(&items[0].item_id.to_string(), DecisionKind::Retry, "").await;
        assert!(refused.unwrap_err().to_string().contains("cannot be answered with retry"));
        app.approvals().answer(&items[0].item_id.to_string(), decision, "June").await.unwrap();
        assert_eq!(work.await.unwrap(), Some(TeamState::Answered));
        let text = answered(&events(&app, &team).await);
        assert!(text.contains(words), "{text}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_its_screen() {
    let (home, server) = (TestHome::observing(), asking_worker());
    with_model(&home, &server, "");
    let app = home.app().await;
    let team = open(&app, "List invoices").await;
    let (shutdown, work) = run_beside(&app, &team, AT_SCREEN);
    until(&app, &team, "a question", |seen| {
        seen.iter()
            .any(|stored| matches!(stored.event, TeamEvent::AgentStateChanged { state: AgentState::Waiting, .. }))
            && seen.iter().any(|stored| matches!(stored.event, TeamEvent::Question { .. }))
    })
    .await;
    shutdown.cancel();
    work.await.unwrap();
    let (_, work) = run_beside(&app, &team, IN_DAEMON);
    until(&app, &team, "the same", |seen| !seen.is_empty()).await;
    let mut items = Vec::new();
    while items.is_empty() {
        items = app.approvals().list().await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    app.approvals().answer(&items[0].item_id.to_string(), DecisionKind::Respond, "May").await.unwrap();
    assert_eq!(work.await.unwrap(), Some(TeamState::Answered));
}

/// The same answer as a decision file beside the items.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_a_decision_file() {
    let (home, server) = (TestHome::observing(), asking_worker());
    with_model(&home, &server, "");
    let app = home.app().await;
    let team = open(&app, "List invoices").await;
    let (_, work) = run_beside(&app, &team, IN_DAEMON);
    until(&app, &team, "a question", |seen| {
        seen.iter().any(|stored| matches!(stored.event, TeamEvent::Question { .. }))
    })
    .await;
    app.approvals().reconcile_queue().await.unwrap();
    let item = app.approvals().list().await.unwrap().remove(0);
    let file = home.home().queue().join(format!("{}.decision.json", item.item_id));
    std::fs::write(&file, r#"{"decision": "respond", "reason": "March"}"#).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    app.approvals().reconcile_queue().await.unwrap();
    assert_eq!(work.await.unwrap(), Some(TeamState::Answered));
    assert!(answered(&events(&app, &team).await).contains("March"));
}

/// A mail that asks for several things for which the program has no tool.
const COMPLEX: &str = "Hi Alex,\n\nCould you please build a website for the spring fair and also compare the three offers for the tents?\n\nAnna\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_complex_mail_asks_for_a_team_and_its_words_are_no_instruction() {
    let home = TestHome::active();
    let server = Server::start(|asked| {
        if !matches!(asked.prompt.as_str(), "task_manager" | "task_worker") {
            return Said::Answer(kind(asked));
        }
        if is_manager(asked) {
            return Said::Answer(orchestrate(asked, &["Read task T1 and mail M1"]));
        }
        Said::Answer(match turns(asked) {
            0 => json!({ "action": "read_mail", "handle": "M1" }),
            _ => finish("Two things are asked for: a website, a comparison."),
        })
    });
    with_model(&home, &server, "");
    home.post(&home.letter("fair").subject("Spring fair").body(COMPLEX));
    home.once().await;
    assert_eq!(home.sql("SELECT assigned_agent FROM tasks"), [["TaskManager"]]);
    let app = home.app().await;
    assert!(app.teams().due().await.unwrap().is_empty(), "it waits for a yes");
    let item = app.approvals().list().await.unwrap().into_iter().find(|item| item.asks_consent()).unwrap();
    app.approvals().approve(&item).await.unwrap();
    let due = app.teams().due().await.unwrap();
    assert_eq!(team_script::run(&app, &due[0], IN_DAEMON).await, TeamState::Answered);
    for asked in server.asked().iter().filter(|asked| is_manager(asked)) {
        let first = team_script::conversation(asked)[0]["person"].as_str().unwrap();
        assert!(first.contains("task T1 and mail M1") && !first.contains("website"), "{first}");
    }
    let seen = server.asked();
    let worker = seen.iter().rfind(|asked| asked.prompt == "task_worker").unwrap();
    assert!(last(worker)["result"]["text"].as_str().unwrap().contains("website"), "the mail is quoted under a result");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complex_mail_starts_nothing_without_a_model() {
    let home = TestHome::active();
    home.post(&home.letter("fair").subject("Spring fair").body(COMPLEX));
    home.once().await;
    let app = home.app().await;
    assert!(app.teams().due().await.unwrap().is_empty());
    assert_eq!(home.count("team"), 0);
    assert_eq!(home.count("tasks WHERE assigned_agent = 'TaskManager'"), 0);
}

#[test]
fn the_daemon_works_a_request_and_hands_on_the_answer() {
    let home = TestHome::real_time(Kind::Observing);
    let server = asking_worker();
    with_model(&home, &server, "");
    let left = home.run(&["team", "--background", "List invoices"]);
    assert_eq!(left.code, 0, "{}", left.err);
    let daemon = home.daemon();
    let number = eventually("the question is in the queue", || {
        let items = home.sql("SELECT number FROM item WHERE kind = 'question' AND state = 'open'");
        items.first().map(|row| row[0].clone())
    });
    let said = home.run(&["hitl", "respond", &number, "April"]);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    eventually("the team has answered", || (home.count("team WHERE state = 'answered'") == 1).then_some(()));
    daemon.stop("TERM");
    assert!(home.run(&["team", "--show"]).out.contains("April"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_for_a_mail_starts_only_after_a_yes_and_reads_that_account() {
    for (decision, state) in
        [(DecisionKind::Approve, TeamState::Answered), (DecisionKind::Reject, TeamState::Cancelled)]
    {
        let home = TestHome::active();
        home.post(
            &home.letter("a").subject("Invoice 1").body("Please pay invoice 4711 over EUR 300.00 by 30 June 2026.\n"),
        );
        home.once().await;
        let server = asking_worker();
        with_model(&home, &server, "");
        let app = home.app().await;
        let row = app.store.read(|reader| reader.tasks().list(None, 1)).await.unwrap().remove(0);
        let number = app.teams().propose_for_task(&row).await.unwrap().unwrap();
        assert_eq!(app.teams().propose_for_task(&row).await.unwrap(), Some(number), "asking again asks nothing new");
        assert!(app.teams().due().await.unwrap().is_empty(), "nothing starts without a yes");
        let item = app.approvals().list().await.unwrap().into_iter().find(|item| item.asks_consent()).unwrap();
        if decision == DecisionKind::Approve {
            app.approvals().approve(&item).await.unwrap();
        } else {
            app.approvals().answer(&item.item_id.to_string(), decision, "").await.unwrap();
        }
        let due = app.teams().due().await.unwrap();
        let team = app.teams().find(Some(&number.to_string())).await.unwrap();
        assert_eq!(team.account.as_ref().map(|account| account.as_str()), Some(row.account.as_str()));
        if let [team] = &due[..] {
            let (_, work) = run_beside(&app, team, AT_SCREEN);
            let seen = until(&app, team, "a question", |seen| {
                seen.iter().any(|stored| matches!(stored.event, TeamEvent::Question { .. }))
            })
            .await;
            let agent = seen.iter().rev().find_map(|stored| match &stored.event {
                TeamEvent::Question { agent, .. } => Some(*agent),
                _ => None,
            });
            app.teams()
                .send(team.team_id, &TeamInput::Say { agent: agent.unwrap(), text: "June".into() })
                .await
                .unwrap();
            work.await.unwrap();
        }
        assert_eq!(app.teams().find(None).await.unwrap().state, state);
        home.must_be_sound().await;
    }
}
