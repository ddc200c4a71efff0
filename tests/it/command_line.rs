//! Tests what scripts rely on: command names, JSON output and exit codes.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::test_home::{Kind, TestHome, finish, finish_with};

fn bare(arguments: &[&str], folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adjutant"));
    command.args(arguments).current_dir(folder).env_remove("ADJUTANT_HOME").env("XDG_STATE_HOME", folder);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .stdin(std::process::Stdio::null());
    command
}

#[test]
fn whoever_stops_reading_completions_gets_no_panic() {
    for shell in ["bash", "zsh", "fish"] {
        let mut child = TestHome::real_time(Kind::Samples).command(&["completions", shell]).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0));
        assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn every_command_answers_in_json() {
    let home = TestHome::real_time(Kind::Samples);
    let once = home.json(&["once"]);
    assert_eq!((once["entered"].as_u64(), once["outcomes"].as_array().map(Vec::len)), (Some(22), Some(22)));
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task' LIMIT 1");
    let sample = format!("{}/samples/06-question.eml", env!("CARGO_MANIFEST_DIR"));
    let place = home.maildir().to_string_lossy().into_owned();
    let days_ahead = |days| home.clock.now().plus(chrono::Duration::days(days)).utc().format("%Y-%m-%d").to_string();
    let (soon, later) = (days_ahead(46), days_ahead(47));
    for command in [
        &["tasks"][..],
        &["tasks", "list", "--all"],
        &["tasks", "show", "1"],
        &["tasks", "add", "Buy", "milk", "--due", "friday 5pm"],
        &["tasks", "set", "17", "--priority", "high", "--objective", "Buy oat milk", "--due", &later],
        &["tasks", "snooze", "17", &soon],
        &["tasks", "done", "17"],
        &["tasks", "undo", "17"],
        &["tasks", "cancel", "17"],
        &["tasks", "invoices"],
        &["mail"],
        &["mail", "list", "--state", "task"],
        &["mail", "show", "1"],
        &["mail", "not-a-task", "1"],
        &["mail", "make-task", "1"],
        &["mail", "mute", "1"],
        &["mail", "mute", "1", "--off"],
        &["mail", "accounts"],
        &["mail", "mode", "samples", "observe"],
        &["why", "2"],
        &["search", "invoice"],
        &["hitl"],
        &["hitl", "list"],
        &["runs"],
        &["runs", "list", "--status", "done"],
        &["runs", "show", &run],
        &["runs", "replay", &run],
        &["runs", "fork", &run, "--from", "prioritise"],
        &["rules", "check"],
        &["graph"],
        &["doctor"],
        &["preview", &place],
        &["plan", "--eml", &sample],
        &["import", &sample],
        &["init"],
    ] {
        let value = home.json(command);
        assert!(value.is_object() || value.is_array(), "{command:?}: {value}");
    }
    assert_eq!(home.json(&["doctor"])["unaccounted"], 0);
    // The task of the specification, with its fields.
    let task = home.json(&["tasks", "show", "2"]);
    for field in
        ["task_id", "created_at", "source", "objective", "context", "priority", "status", "subtasks", "last_updated"]
    {
        assert!(!task[field].is_null(), "{field}");
    }
}

#[test]
fn data_goes_to_stdout_without_colours_and_complaints_to_stderr() {
    let home = TestHome::real_time(Kind::Samples);
    for command in [&["once"][..], &["tasks"], &["doctor"], &["why", "1"]] {
        let answered = home.run(command);
        // A reminder of the samples may fall due while this runs.
        let reminds = |line: &str| line.starts_with("Due now: ") || line.starts_with("Reminded: ");
        let complains = answered.err.lines().any(|line| !reminds(line));
        assert!(!answered.out.contains('\u{1b}') && !complains, "{command:?}: {}", answered.err);
    }
    let missing = home.run(&["tasks", "show", "999"]);
    assert!(missing.out.is_empty() && missing.err.contains("adjutant: there is no task '999'"), "{}", missing.err);
}

#[test]
fn exit_codes_mean_one_thing_each() {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    for (command, code) in [
        (&["tasks", "add", " "][..], 2),
        (&["tasks", "add", "x", "--due", "the twelfth of never"], 2),
        (&["import", "/nowhere"], 1),
        (&["nonsense"], 2),
        (&["tasks", "set", "1"], 2),
        (&["tasks", "set", "1", "--priority", "urgentest"], 2),
        (&["eval", "nonsense"], 2),
        (&["tasks", "show", "999"], 3),
        (&["tasks", "done", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], 3),
        (&["mail", "show", "999"], 3),
        (&["mail", "show", "x"], 3),
        (&["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], 3),
        (&["hitl", "show", "99"], 3),
        (&["hitl", "approve", "99"], 3),
        (&["audit", "verify"], 0),
        (&["why", "999"], 3),
        (&["mail", "mode", "nobody", "active"], 3),
        (&["doctor"], 0),
        (&["--version"], 0),
        (&["--help"], 0),
        (&["completions", "bash"], 0),
        (&["graph", "--dot"], 0),
    ] {
        let answered = home.run(command);
        assert_eq!(answered.code, code, "{command:?}: {}{}", answered.out, answered.err);
        assert!(code == 0 || !answered.err.is_empty(), "{command:?} says nothing");
    }
    // Something found: code 4.
    home.write("rules/priority.yml", "rules: nonsense");
    assert_eq!((home.run(&["rules", "check"]).code, home.run(&["doctor"]).code), (4, 4));
}

#[test]
fn without_a_home_it_names_init() {
    let nowhere = tempfile::tempdir().unwrap();
    for command in ["once", "tasks", "doctor", "run"] {
        let answered = finish(bare(&[command], nowhere.path()));
        assert_eq!(answered.code, 2, "{command}");
        assert!(answered.err.contains("adjutant init") && answered.err.contains("--home"), "{}", answered.err);
    }
    assert_eq!(std::fs::read_dir(nowhere.path()).unwrap().count(), 0, "nothing was made");
    let made = finish(bare(&["init"], nowhere.path()));
    assert_eq!(made.code, 0, "{}", made.err);
    let inside = nowhere.path().join("rules");
    assert_eq!(finish(bare(&["doctor"], &inside)).code, 0, "a home is found from below");
    let again = finish(bare(&["init"], nowhere.path()));
    assert!(again.out.contains("nothing was changed"), "{}", again.out);
}

#[test]
fn a_wrong_configuration_names_the_key() {
    for (text, key) in [
        ("[me]\ntime_zone = \"Mars\"\n", "me.time_zone"),
        ("[engine]\nin_flight = 0\n", "engine.in_flight"),
        ("[mee]\n", "mee"),
        ("[mail]\npoll_seconds = \"often\"\n", "poll_seconds"),
        ("nightly = \"often\"\n", "nightly"),
        ("[[account]]\nname = \"local\"\npath = \"x\"\n", "local"),
        ("= nonsense\n", "adjutant.toml"),
    ] {
        let home = TestHome::real_time(Kind::Samples);
        home.write("adjutant.toml", text);
        let answered = home.run(&["once"]);
        assert_eq!(answered.code, 2, "{text}: {}", answered.err);
        assert!(answered.err.contains("adjutant.toml") && answered.err.contains(key), "{text}: {}", answered.err);
        assert!(!home.home().data().exists(), "{text}: nothing was made");
    }
    let home = TestHome::real_time(Kind::Samples);
    let mut command = home.command(&["tasks"]);
    command.env("ADJUTANT_ME_TIME_ZONE", "Mars");
    assert_eq!(finish(command).code, 2);
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn eval_answers_line_for_line_and_errors_in_their_place() {
    let home = TestHome::real_time(Kind::Samples);
    let input = "{\"id\": 1, \"text\": \"Please send me the report by Friday.\"}\nnot json\n{\"id\": \"two\", \"text\": \"The sky was blue.\"}\n{\"id\": 3}\n{\"id\": 4, \"text\": \"Could we find time for a 30-min catch-up next week?\"}\n";
    let answered = finish_with(home.command(&["eval", "tasks"]), input.as_bytes());
    assert_eq!(answered.code, 0, "{}", answered.err);
    let out = lines(&answered.out);
    assert_eq!(out.len(), 5);
    assert_eq!((&out[0]["id"], &out[0]["pred"], &out[0]["meeting"]), (&json!(1), &json!(true), &json!(false)));
    assert_eq!((&out[2]["id"], &out[2]["pred"]), (&json!("two"), &json!(false)));
    assert_eq!((&out[4]["pred"], &out[4]["meeting"]), (&json!(true), &json!(true)));
    assert!(out[1]["error"].is_string() && out[3]["error"].is_string(), "{out:?}");
    assert!(out.iter().filter_map(|line| line["score"].as_f64()).all(|score| (0.0..=1.0).contains(&score)));

    let letter = home.deliver("one.eml", home.letter("one").question().text());
    let input = format!("{}\n{}\n[]\n", json!({ "file": letter }), json!({ "file": "/nowhere.eml" }));
    let answered = finish_with(home.command(&["eval", "mails"]), input.as_bytes());
    let out = lines(&answered.out);
    assert_eq!((out.len(), answered.code), (3, 0));
    assert_eq!(
        (&out[0]["subject"], &out[0]["from_addr"], &out[0]["n_attachments"]),
        (&json!("About one"), &json!("tom@bakerand.example"), &json!(0))
    );
    for field in ["file", "date", "body", "reply", "signature"] {
        assert!(out[0].get(field).is_some(), "{field}");
    }
    assert_eq!(out[1]["file"], "/nowhere.eml");
    assert!(out[1]["error"].is_string() && out[2]["error"].is_string());
}

#[test]
fn plan_stores_nothing_and_answers_line_for_line() {
    let home = TestHome::real_time(Kind::Active);
    let eml = home.letter("one").question().text();
    let input = format!(
        "{}\n{}\ngarbage\n",
        json!({ "id": "a", "eml": eml }),
        json!({ "id": "b", "text": "The sky was blue." })
    );
    let answered = finish_with(home.command(&["plan", "--jsonl"]), input.as_bytes());
    let out = lines(&answered.out);
    assert_eq!((out.len(), answered.code), (3, 4));
    assert_eq!((&out[0]["id"], &out[0]["is_task"], &out[1]["is_task"]), (&json!("a"), &json!(true), &json!(false)));
    assert!(out[2]["error"].is_string());
    assert_eq!((home.count("ledger"), home.count("tasks")), (0, 0));
    home.post(&home.letter("two").question());
    let preview = home.run(&["preview", "work"]);
    assert!(
        preview.code == 0
            && preview.out.contains("1 tasks")
            && preview.out.contains("0 sent")
            && preview.out.contains("Nothing was touched"),
        "{}",
        preview.out
    );
    assert_eq!((home.count("ledger"), home.drafts().len()), (0, 0));
}

#[test]
fn a_level_given_by_hand_and_the_trace_of_rules() {
    let home = TestHome::real_time(Kind::Samples);
    home.run(&["once"]);
    let task = home.sql_one("SELECT number FROM task_owner WHERE rule = 'finance-alerts'");
    let why = home.run(&["why", &task]);
    for words in ["finance-alerts", "bank_whitelist", "high"] {
        assert!(why.out.contains(words), "{words}: {}", why.out);
    }
    home.run(&["tasks", "set", &task, "--priority", "low", "--reason", "known"]);
    let why = home.run(&["why", &task]);
    assert!(why.out.contains("set by hand"), "{}", why.out);
}

#[test]
fn invoices_leave_as_csv() {
    let home = TestHome::real_time(Kind::Samples);
    home.run(&["once"]);
    let csv = home.run(&["tasks", "invoices", "--csv"]);
    let rows: Vec<&str> = csv.out.lines().collect();
    assert_eq!(rows[0], "payee,amount,currency,due,number,recorded_at,task_id");
    assert!(rows.len() == 2 && rows[1].contains("\"1250.00\",\"EUR\"") && rows[1].contains("2041"), "{}", csv.out);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let home = TestHome::real_time(Kind::Samples);
    home.run(&["once"]);
    let mut shell = Command::new("bash");
    shell
        .arg("-c")
        .arg("set -o pipefail; \"$@\" | head -c 1 >/dev/null")
        .arg("bash")
        .arg(env!("CARGO_BIN_EXE_adjutant"));
    shell.arg("--home").arg(home.root()).args(["tasks", "list", "--all"]).env("XDG_STATE_HOME", home.state());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).stdin(std::process::Stdio::null());
    let answered = finish(shell);
    assert!(!answered.err.contains("panicked"), "{}", answered.err);
    assert_eq!(answered.code, 0, "{}", answered.err);
}
