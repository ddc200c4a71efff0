//! Tests stopping a team with its context, and the three ways to go on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use adjutant::{
    app::App,
    model::{TeamRow, TeamState},
    team::event::{StoredTeamEvent, TeamEvent, TeamInput},
};
use serde_json::json;

use crate::support::{
    model_server::{Said, Server, with_model},
    team_script::{
        AT_SCREEN, answer, answered, conversation, events, finish, is_manager, last, open, orchestrate, reports, run,
        run_beside, times, turns, until,
    },
    test_home::TestHome,
};

const TASKS: [&str; 3] = ["List the mails", "List the tasks", "Name the day"];

/// Starts a server whose workers read once and then think for a long time, until they are released.
fn slow_workers(is_released: Arc<AtomicBool>) -> Server {
    Server::start(move |asked| {
        if is_manager(asked) {
            let said_cancel = conversation(asked).iter().any(|entry| entry["person"] == "cancel remaining");
            let new_wish = conversation(asked).iter().any(|entry| entry["person"] == "Name the week instead");
            return Said::Answer(match (said_cancel, new_wish) {
                (true, _) => answer("That is all I have."),
                (_, true) if times(asked, "start_task") == TASKS.len() => {
                    json!({ "action": "start_task", "task_description": "Name the week" })
                }
                (_, true) if reports(asked).is_empty() => json!({ "action": "wait" }),
                (_, true) => answer("It is week 25."),
                _ if turns(asked) == 0 => json!({ "action": "todo_write", "todos": [
                    { "content": "A", "activeForm": "Doing A", "status": "in_progress" },
                    { "content": "B", "activeForm": "Doing B", "status": "pending" } ] }),
                _ => orchestrate(asked, &TASKS),
            });
        }
        if asked.data["task"] == "Name the week" || (turns(asked) > 0 && is_released.load(Ordering::SeqCst)) {
            return Said::Answer(finish("Done: 1"));
        }
        match turns(asked) {
            0 => Said::Answer(json!({ "action": "list_tasks" })),
            _ => Said::Slow(Duration::from_secs(600), finish("too late: 1")),
        }
    })
}

fn returned(events: &[StoredTeamEvent]) -> usize {
    events.iter().filter(|stored| matches!(stored.event, TeamEvent::ToolReturned { .. })).count()
}

/// Opens a team, lets every worker read once, and stops it. Returns it with the summary.
async fn stopped_team(app: &App) -> (TeamRow, String) {
    let team = open(app, "Three things").await;
    let (_, work) = run_beside(app, &team, AT_SCREEN);
    until(app, &team, "three workers have read", |seen| returned(seen) == 3).await;
    app.teams().send(team.team_id, &TeamInput::Stop).await.unwrap();
    assert_eq!(work.await.unwrap(), Some(TeamState::Stopped));
    let summary = events(app, &team).await.into_iter().find_map(|stored| match stored.event {
        TeamEvent::Stopped { summary } => Some(summary),
        _ => None,
    });
    (team, summary.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_says_where_everybody_stood_and_continue_goes_on() {
    let (home, is_released) = (TestHome::observing(), Arc::new(AtomicBool::new(false)));
    let server = slow_workers(Arc::clone(&is_released));
    with_model(&home, &server, "at_once = 8\n");
    let app = home.app().await;
    let (team, summary) = stopped_team(&app).await;
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[0], "[SYSTEM INTERRUPTION]");
    assert!(lines[1].starts_with("User pressed Stop at "), "{summary}");
    assert!(lines.contains(&"- Task Manager: idle"), "{summary}");
    for (number, task) in (1..).zip(TASKS) {
        let line = lines.iter().find(|line| line.starts_with(&format!("- Task {number}: \"{task}\""))).unwrap();
        assert!(line.contains("partial result of list_tasks"), "{line}");
    }
    assert!(lines.contains(&"Todo list: 2 tasks (1 pending, 1 in_progress, 0 completed)"), "{summary}");
    assert!(lines.contains(&"Workers: 3 (3 stopped, 0 finished, 0 failed, 0 cancelled)"), "{summary}");
    assert_eq!(lines.last(), Some(&"What would you like to do next?"));
    assert_eq!(home.count("team_agent WHERE state = 'stopped'"), 3);

    is_released.store(true, Ordering::SeqCst);
    app.teams().say(&team, None, "continue").await.unwrap();
    assert_eq!(run(&app, &team, AT_SCREEN).await, TeamState::Answered);
    let seen = events(&app, &team).await;
    assert!(answered(&seen).contains("Done: 1"));
    assert_eq!(home.count("team_agent WHERE state = 'finished'"), 3);
    assert_eq!(home.count("team_agent"), 4, "nobody was started twice");
    // The manager saw the summary, then what the person said.
    let asked = server.asked();
    let heard = conversation(asked.iter().rfind(|asked| is_manager(asked)).unwrap());
    let interrupted =
        heard.iter().position(|entry| entry["program"].to_string().contains("SYSTEM INTERRUPTION")).unwrap();
    assert_eq!(heard[interrupted + 1]["person"], "continue");
    // No conversation has an action without a result.
    for asked in &asked {
        for pair in conversation(asked).windows(2).filter(|pair| !pair[0]["you"].is_null()) {
            assert!(!pair[1]["tool"].is_null(), "{pair:?}");
        }
    }
    // What the cut-off calls may have cost is counted.
    assert!(home.count("model_call WHERE outcome = 'lost'") >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn remaining_tasks_are_cancelled_or_replaced() {
    for (said, wanted, agents) in [("cancel remaining", "all I have", 4), ("Name the week instead", "week 25", 5)] {
        let (home, is_released) = (TestHome::observing(), Arc::new(AtomicBool::new(false)));
        let server = slow_workers(is_released);
        with_model(&home, &server, "at_once = 8\n");
        let app = home.app().await;
        let (team, _) = stopped_team(&app).await;
        app.teams().say(&team, None, said).await.unwrap();
        assert_eq!(run(&app, &team, AT_SCREEN).await, TeamState::Answered, "{said}");
        assert!(answered(&events(&app, &team).await).contains(wanted), "{said}");
        assert_eq!(home.count("team_agent WHERE state = 'cancelled'"), 3, "{said}");
        assert_eq!(home.count("team_agent"), agents, "{said}");
        let asked = server.asked();
        assert!(last(asked.iter().rfind(|asked| is_manager(asked)).unwrap()).is_object());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_gone_stops_the_team_and_loses_nothing() {
    let home = TestHome::observing();
    let is_back = Arc::new(AtomicBool::new(false));
    let back = Arc::clone(&is_back);
    let server = Server::start(move |asked| match (is_manager(asked), back.load(Ordering::SeqCst)) {
        (true, true) => Said::Answer(orchestrate(asked, &["One", "Two"])),
        (true, false) if turns(asked) == 0 => Said::Answer(orchestrate(asked, &["One", "Two"])),
        (_, true) => Said::Answer(finish("Done: 1")),
        _ => Said::Status(401, Vec::new()),
    });
    with_model(&home, &server, "");
    let app = home.app().await;
    let team = open(&app, "Two things").await;
    assert_eq!(run(&app, &team, AT_SCREEN).await, TeamState::Stopped);
    let notice = events(&app, &team)
        .await
        .iter()
        .any(|stored| matches!(&stored.event, TeamEvent::Notice { text } if text.contains("adjutant team --resume 1")));
    assert!(notice);
    is_back.store(true, Ordering::SeqCst);
    app.teams().say(&team, None, "continue").await.unwrap();
    assert_eq!(run(&app, &team, AT_SCREEN).await, TeamState::Answered);
}
