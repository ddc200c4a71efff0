//! Tests that a team whose process is killed goes on, and does nothing twice.
//!
//! `IT_TEAM_KILLS` says how many processes are killed with five workers under way; the default takes seconds.

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    campaign::Campaign,
    model_server::{Asked, Said, Server, kind, with_model},
    team_script::{finish, is_manager, orchestrate, turns},
    test_home::{Kind, SeededRandom, TestHome, eventually, signal},
};

const TASKS: [&str; 6] = ["Folder A", "Folder B", "Folder C", "Folder D", "Folder E", "Folder F"];

/// Starts a server whose workers each propose a folder, slowly enough to be killed at every point.
fn server() -> Server {
    Server::start(|asked: &Asked| {
        if !matches!(asked.prompt.as_str(), "task_manager" | "task_worker") {
            return Said::Answer(kind(asked));
        }
        if is_manager(asked) {
            return Said::Answer(orchestrate(asked, &TASKS));
        }
        let folder = asked.data["task"].as_str().unwrap().replace(' ', "-");
        let turn: Value = match turns(asked) {
            0 => json!({ "action": "list_tasks" }),
            1 => json!({ "action": "propose_action", "tool": "create_folder", "text": folder }),
            _ => finish(&format!("Made: {folder}")),
        };
        Said::Slow(Duration::from_millis(40), turn)
    })
}

/// Checks that every task was done once, whatever was killed.
fn everything_happened_once(home: &TestHome) {
    assert_eq!(home.sql("SELECT state FROM team"), [["answered"]]);
    assert_eq!(home.sql_one("SELECT count(*) FROM team_agent WHERE parent_id IS NOT NULL AND state = 'finished'"), "6");
    assert_eq!(home.count("team_agent"), 7);
    let reports = "SELECT count(*), count(DISTINCT json_extract(content, '$.worker')) FROM team_message
                   WHERE json_extract(content, '$.kind') = 'report'";
    assert_eq!(home.sql(reports), [["6", "6"]]);
    assert_eq!(home.count("tasks WHERE source LIKE 'team:%'"), 6);
    let effects = home.sql("SELECT count(*), count(DISTINCT task_id), group_concat(DISTINCT state) FROM outbox");
    assert_eq!(effects, [["6", "6", "applied"]]);
    // No conversation holds an action that was not followed by its own result.
    let open = "SELECT count(*) FROM team_message a JOIN team_message b ON b.agent_id = a.agent_id AND b.position = a.position + 1
                WHERE json_extract(a.content, '$.kind') = 'action' AND json_extract(b.content, '$.kind') <> 'result'";
    assert_eq!(home.sql_one(open), "0");
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_team_that_is_killed_with_five_workers_does_nothing_twice() {
    let wanted: usize = std::env::var("IT_TEAM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let mut dice = SeededRandom::thrown("team kills");
    let (mut kills, mut with_five) = (0, 0);
    while kills < wanted {
        let home = TestHome::real_time(Kind::Active);
        let server = server();
        with_model(&home, &server, "at_once = 8\ntokens_per_day = 0\ntokens_per_task = 0\n");
        let mut arguments = vec!["team", "Make six folders"];
        for attempt in 0..3 {
            if kills >= wanted {
                break;
            }
            let mut command = home.command(&arguments);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            if attempt == 0 {
                eventually("five workers are under way", || {
                    let active = home.count("team_agent WHERE parent_id IS NOT NULL AND state = 'working'");
                    (active == 5 || child.try_wait().unwrap().is_some()).then_some(())
                });
            }
            std::thread::sleep(Duration::from_millis(dice.below(250)));
            if child.try_wait().unwrap().is_none() {
                kills += 1;
                with_five += usize::from(attempt == 0);
            }
            signal(child.id(), "KILL");
            child.wait().unwrap();
            arguments = vec!["team", "--resume"];
        }
        let ended = home.run(&["team", "--resume"]);
        assert_eq!(ended.code, 0, "{} {}", ended.out, ended.err);
        everything_happened_once(&home);
    }
    println!("{with_five} of {kills} kills with five workers");
    Campaign::new("kills of a team", wanted, kills).deaths(kills).lost(0).twice(0).stuck(0).print();
}

#[test]
fn a_kill_around_any_commit_of_a_team_loses_at_most_a_step() {
    let mut dice = SeededRandom::thrown("team commits");
    for place in ["open_team.after", "team.before", "team.after", "open_request.before", "open_request.after"] {
        let home = TestHome::real_time(Kind::Active);
        let server = server();
        with_model(&home, &server, "at_once = 8\ntokens_per_day = 0\ntokens_per_task = 0\n");
        let nth = if place.starts_with("team") { 1 + dice.below(30) } else { 1 };
        let place = format!("commit.{place}:{nth}");
        let mut command = home.command(&["team", "Make six folders"]);
        let status = command.env("FAILPOINT", &place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.code().is_none(), "{place} is never reached");
        let ended = home.run(&["team", "--resume"]);
        assert_eq!(ended.code, 0, "{place}: {} {}", ended.out, ended.err);
        everything_happened_once(&home);
    }
}
