//! Agents of a team whose model is scripted: what they are asked, and the actions they answer with.

use adjutant::{
    app::{App, TeamMode},
    model::{TeamOrigin, TeamRow, TeamState},
    team::event::{StoredTeamEvent, TeamEvent},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::model_server::Asked;

/// Works a team in this process, as `adjutant team` does without a terminal, but for questions, which stay on the screen.
pub(crate) const AT_SCREEN: TeamMode = TeamMode { asks_in_queue: false, stays: false };
/// The mode of the daemon.
pub(crate) const IN_DAEMON: TeamMode = TeamMode { asks_in_queue: true, stays: false };

pub(crate) fn is_manager(asked: &Asked) -> bool {
    asked.prompt == "task_manager"
}

pub(crate) fn conversation(asked: &Asked) -> &Vec<Value> {
    asked.data["conversation"].as_array().unwrap()
}

/// Returns the last entry of the conversation.
pub(crate) fn last(asked: &Asked) -> &Value {
    conversation(asked).last().unwrap()
}

/// Returns how often the agent has taken this action.
pub(crate) fn times(asked: &Asked, action: &str) -> usize {
    conversation(asked).iter().filter(|entry| entry["you"]["action"] == action).count()
}

/// Returns the reports of workers that the manager has got.
pub(crate) fn reports(asked: &Asked) -> Vec<Value> {
    conversation(asked).iter().filter(|entry| !entry["report"].is_null()).map(|entry| entry["report"].clone()).collect()
}

/// Returns how many actions the agent has taken.
pub(crate) fn turns(asked: &Asked) -> usize {
    conversation(asked).iter().filter(|entry| !entry["you"].is_null()).count()
}

pub(crate) fn start(task: &str) -> Value {
    json!({ "action": "start_task", "task_description": task })
}

pub(crate) fn finish(text: &str) -> Value {
    json!({ "action": "finish", "text": text })
}

pub(crate) fn answer(text: &str) -> Value {
    json!({ "action": "answer", "text": text })
}

/// Answers as a manager that starts these tasks, waits for all reports, and answers with their results.
pub(crate) fn orchestrate(asked: &Asked, tasks: &[&str]) -> Value {
    let started = times(asked, "start_task");
    let reports = reports(asked);
    match tasks.get(started) {
        Some(task) => start(task),
        None if reports.len() < tasks.len() => json!({ "action": "wait" }),
        None => {
            let results: Vec<String> = reports.iter().map(|report| report["result"].to_string()).collect();
            answer(&format!("All done: {}", results.join(", ")))
        }
    }
}

/// Opens a team for a request.
pub(crate) async fn open(app: &App, request: &str) -> TeamRow {
    app.teams().open(request, None, TeamOrigin::Terminal).await.unwrap()
}

/// Works a team to its end. Returns the state that it is left in.
pub(crate) async fn run(app: &App, team: &TeamRow, mode: TeamMode) -> TeamState {
    app.teams().run(team, mode, &CancellationToken::new()).await.unwrap().expect("no other process works it")
}

/// Works a team in the background, until the token is cancelled or it has ended.
pub(crate) fn run_beside(
    app: &App,
    team: &TeamRow,
    mode: TeamMode,
) -> (CancellationToken, tokio::task::JoinHandle<Option<TeamState>>) {
    let shutdown = CancellationToken::new();
    let (app, team, token) = (app.clone(), team.clone(), shutdown.clone());
    let work = tokio::spawn(async move { app.teams().run(&team, mode, &token).await.unwrap() });
    (shutdown, work)
}

pub(crate) async fn events(app: &App, team: &TeamRow) -> Vec<StoredTeamEvent> {
    app.teams().events_after(team.team_id, 0).await.unwrap()
}

/// Waits until an event of the team passes the test, and returns all events until then.
pub(crate) async fn until(
    app: &App,
    team: &TeamRow,
    what: &str,
    is_reached: impl Fn(&[StoredTeamEvent]) -> bool,
) -> Vec<StoredTeamEvent> {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let seen = events(app, team).await;
        if is_reached(&seen) {
            return seen;
        }
        assert!(std::time::Instant::now() < deadline, "waited in vain: {what}: {seen:#?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Returns the manager's answer.
pub(crate) fn answered(events: &[StoredTeamEvent]) -> String {
    let text = events.iter().rev().find_map(|stored| match &stored.event {
        TeamEvent::Answered { text } => Some(text.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| panic!("there is no answer: {events:#?}"))
}
