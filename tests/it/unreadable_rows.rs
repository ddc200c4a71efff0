//! Tests that a row which cannot be read fails no list, no loop and no nightly job. It is skipped, `doctor` names it, a
//! run over it is parked, and all other rows are processed.
//!
//! Every text column of every table is tried, as the schema has them; `IT_CASES` says how many per run.

use std::{collections::BTreeSet, fs, path::Path};

use adjutant::{app::NewTask, model::TaskEditKind};
use serde_json::Value;

use crate::support::test_home::{Kind, SeededRandom, TestHome, WORK};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
/// What no type of a column can be, and what some once were.
const BAD: &[&str] = &["", "?", "99999-01-01T09:00:00Z", "0001-01-01T00:00:00Z", "{\"a\":", "[7", "\u{feff}null"];

/// Something of everything, worked to a standstill.
pub(crate) async fn furnished() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.policy("approvals: { grace_seconds: 3000 }");
    for nth in 0..3 {
        home.post(
            &home.letter(&format!("meeting-{nth}")).from(&format!("Tom <tom{nth}@bakerand.example>")).body(MEETING),
        );
    }
    for nth in 0..2 {
        home.post(&home.letter(&format!("question-{nth}")).question().verified());
        home.post(&home.letter(&format!("invoice-{nth}")).invoice(7000 + nth));
    }
    home.post(&home.letter("again-0").question().answers("question-0"));
    home.deliver_into(".Sent/cur", "sent:2,S", home.letter("sent").text());
    let app = home.app().await;
    let worker = app.worker().start().await.unwrap().unwrap();
    let report = worker.run_once().await.unwrap();
    worker.stop().await;
    assert!(report.tasks >= 6 && report.waiting_for_you >= 3, "{report:?}");
    let new = |objective: &str| NewTask { objective: objective.into(), ..NewTask::default() };
    for objective in ["Buy milk", "Water the plants"] {
        app.tasks().add(new(objective)).await.unwrap();
    }
    let tasks = app.tasks().list(false, 100).await.unwrap();
    let by_hand = TaskEditKind::Priority(adjutant::model::Priority::High);
    app.tasks().edit(&tasks[0].task.task_id.to_string(), by_hand, "").await.unwrap();
    let snooze = TaskEditKind::Snooze(Some(app.tasks().parse_future_time("2h").unwrap()));
    app.tasks().edit(&tasks[1].task.task_id.to_string(), snooze, "").await.unwrap();
    for text in ["add buy bread", "show my tasks"] {
        let input = adjutant::app::ChatInput { text: text.into(), ..adjutant::app::ChatInput::default() };
        app.conversations().say(input).await.unwrap();
    }
    let items = app.approvals().list().await.unwrap();
    let approved = app.approvals().detail(&items[0].item_id.to_string()).await.unwrap();
    let said = adjutant::app::DecisionInput::at_terminal(
        adjutant::model::DecisionKind::Approve,
        "",
        &approved.action.as_ref().unwrap().sha256,
    );
    app.approvals().decide(items[0].item_id, said).await.unwrap();
    drop(app);
    let asked = &["ask", "--yes", "1. create folder Plans 2. create folder Letters"];
    for arguments in [&["reflect"][..], &["once"], &["import", "mail", "--account", "old"], asked] {
        let mut command = home.command(arguments);
        command.current_dir(home.root());
        let answered = crate::support::test_home::finish(command);
        assert_eq!(answered.code, 0, "{arguments:?}: {}", answered.err);
    }
    let runs = home.json(&["runs", "list"]);
    // Runs of one second are listed in any order, and not every run of a task has passed prioritise.
    let mut ids = runs.as_array().unwrap().iter().filter(|run| run["task_id"].is_string()).map(|run| &run["run_id"]);
    assert!(ids.any(|id| home.run(&["runs", "fork", id.as_str().unwrap(), "--from", "prioritise"]).code == 0));
    home.database().execute_batch(&made_up()).unwrap();
    home
}

/// Rows of tables that need a network, a model or weeks of corrections.
fn made_up() -> String {
    let at = "2026-11-16T08:00:00Z";
    format!(
        "UPDATE reminder SET due_at = '{at}', first_at = '{at}', every = CASE WHEN action_id = (SELECT min(action_id) FROM reminder) THEN '7d' END;
         INSERT OR IGNORE INTO account_condition VALUES ('{WORK}', '', 1, 1, 0, 0, 0, 0, '{at}');
         INSERT INTO muted VALUES ('{WORK}', 'nobody@else.example', '{at}', 1);
         INSERT INTO consumed VALUES ('00', '{at}');
         INSERT OR IGNORE INTO unlearned VALUES ('sender_domain else.example', '{at}', 'no');
         INSERT INTO rules_version (at, who, run_id, why, rules, guidelines, edits, live) VALUES ('{at}', 'night', '', 'x', 'x', 'x', '{{}}', 1);
         INSERT INTO learned_entry VALUES ('learned-1', '{{}}', '', '[1]', '{at}', 0, '{at}');
         INSERT INTO item (item_id, kind, account, user_id, title, body, state, created_at, updated_at)
           VALUES ('01KA5Z0000000000000000000A', 'rule_proposal', '{WORK}', 'me', 'Shall it be?', '{{}}', 'open', '{at}', '{at}');
         INSERT INTO proposal (item_id, edit, run_id, evidence) VALUES ('01KA5Z0000000000000000000A', '{{}}', '', '[1]');
         INSERT INTO request (kind, state, asked_at) VALUES ('once', 'answered', '{at}');
         INSERT INTO mail_time SELECT mail_id, 'me', '{at}', '{at}', 'written', 'Then.' FROM mail LIMIT 1;
         INSERT INTO fork_effect SELECT run_id, 99, 'R1', action, 'void' FROM outbox LIMIT 1;
         INSERT OR IGNORE INTO journal SELECT action_id, '', '{at}', NULL FROM outbox LIMIT 1;
         INSERT INTO model_call (node, input_hash, ordinal, seq, reply, about, day, at, provider, model, prompt, version, guidelines, outcome,
           note, requests, tokens_in, tokens_out, cost_micros, took_ms)
           VALUES ('prioritise', '', 0, 0, '{{}}', '', '2026-11-16', '{at}', 'ollama', 'm', 'p', '1', '', 'answered', '', 1, 1, 1, 1, 1);
         INSERT INTO team SELECT '01KA5Z0000000000000000000' || n, n, 'me', NULL, 'List invoices', 'terminal', NULL, NULL, 'stopped', '{at}', '{at}'
           FROM (SELECT 1 AS n UNION SELECT 2);
         INSERT INTO team_agent VALUES ('01KA5Z0000000000000000000M', '01KA5Z00000000000000000001', 0, NULL, 'List', NULL, 'waiting', NULL, NULL, '{at}', '{at}');
         INSERT INTO team_message (agent_id, position, content, at) VALUES ('01KA5Z0000000000000000000M', 1, '{{}}', '{at}');
         INSERT INTO team_todo VALUES ('01KA5Z00000000000000000001', 1, 'List', 'Listing', 'pending');
         INSERT INTO team_event VALUES ('01KA5Z00000000000000000001', 1, '{at}', '{{}}');
         INSERT INTO team_handle VALUES ('01KA5Z00000000000000000001', 'P1', 'a@b.example', 'A');
         INSERT INTO team_input (team_id, input, at, taken) VALUES ('01KA5Z00000000000000000001', '{{}}', '{at}', 1);"
    )
}

/// Every text column of every table that grows, and how many rows it has.
fn columns(home: &TestHome) -> Vec<(String, String, u64)> {
    // The sets of states and of legal pairs are the program's own, and never written.
    let fixed = ["_state", "_pair", "_mode", "_status", "_kind"];
    let tables = home.sql(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict AND name NOT IN ('actor', 'priority') ORDER BY name",
    );
    let tables = tables.into_iter().flatten().filter(|name| !fixed.iter().any(|end| name.ends_with(end)));
    let of_table = |table: String| {
        let rows = home.count(&format!("\"{table}\""));
        let columns = home.sql(&format!("SELECT name FROM pragma_table_info('{table}') WHERE type = 'TEXT'"));
        columns.into_iter().flatten().map(move |column| (table.clone(), column, rows)).collect::<Vec<_>>()
    };
    tables.flat_map(of_table).collect()
}

/// Puts a value where the program would never have.
fn spoil(home: &TestHome, (table, column, rows): &(String, String, u64), value: &str, dice: &mut SeededRandom) {
    let database = home.database();
    database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let triggers =
        home.sql(&format!("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}'"));
    for trigger in &triggers {
        database.execute_batch(&format!("DROP TRIGGER {}", trigger[0])).unwrap();
    }
    let key = home.sql(&format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk")).concat();
    let key = if key.is_empty() { "rowid".to_owned() } else { key.join(", ") };
    let nth = dice.below(*rows);
    let sql = format!(
        "UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE ({key}) = (SELECT {key} FROM \"{table}\" ORDER BY {key} LIMIT 1 OFFSET {nth})"
    );
    assert_eq!(database.execute(&sql, [value]).unwrap(), 1, "{sql}");
    for trigger in &triggers {
        database.execute_batch(&trigger[1]).unwrap();
    }
}

/// What a person sees of the home, list by list.
type Seen = Vec<(&'static str, BTreeSet<String>)>;

fn seen(home: &TestHome) -> Result<Seen, String> {
    let lists: [(&'static str, &[&str], &str); 6] = [
        ("tasks", &["tasks", "list", "--all", "--limit", "1000"], "task_id"),
        ("items", &["hitl", "list", "--all"], "item_id"),
        ("mails", &["mail", "list", "--limit", "1000"], "mail_id"),
        ("runs", &["runs", "list", "--limit", "1000"], "run_id"),
        ("teams", &["team", "--list"], "team_id"),
        ("search", &["search", "invoice", "catch-up", "home", "--limit", "1000"], "doc"),
    ];
    let mut seen = Seen::new();
    for (name, arguments, key) in lists {
        let answer = told(home, arguments)?;
        let rows = answer.as_array().unwrap_or_else(|| panic!("{name}: {answer}"));
        // The approval queue also lists steps that wait for no person, and those are no items.
        let keys = rows.iter().filter_map(|row| row.get(key)).map(Value::to_string);
        seen.push((name, keys.collect()));
    }
    for item in seen[1].1.iter().take(3) {
        told(home, &["hitl", "show", item.trim_matches('"')])?;
    }
    told(home, &["reflect", "--dry-run"])?;
    told(home, &["digest"])?;
    Ok(seen)
}

fn told(home: &TestHome, arguments: &[&str]) -> Result<Value, String> {
    let answered = home.run(&[&["--json"], arguments].concat());
    if answered.code != 0 {
        return Err(format!("{arguments:?}: {}", answered.err));
    }
    Ok(serde_json::from_str(&answered.out).unwrap_or_default())
}

/// The rows `doctor` says it cannot read, and its exit code.
fn diagnosed(home: &TestHome) -> (i32, Value) {
    let answered = home.run(&["--json", "doctor"]);
    let health: Value = serde_json::from_str(&answered.out).unwrap_or_else(|_| panic!("doctor: {}", answered.err));
    (answered.code, health["unreadable"].clone())
}

/// What is wrong with the home after one of its rows was spoiled; none when all holds.
fn endures(home: &TestHome, before: &Seen, table: &str) -> Option<String> {
    home.post(&home.letter("fresh").from("New <new@else.example>").question());
    let worked = told(home, &["once"]).and_then(|_| seen(home));
    // What was parked the first time stays so, and the index is made anew from what can be read.
    let again = told(home, &["search", "--rebuild"]).and_then(|_| told(home, &["once"]));
    let after = match worked.and_then(|after| again.map(|_| after)) {
        Ok(after) => after,
        Err(failed) => return Some(failed),
    };
    let (code, unreadable) = diagnosed(home);
    let named = unreadable["rows"].as_array().unwrap().iter().any(|row| row["table"] == table);
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        let missing: Vec<&String> = before.difference(after).collect();
        if missing.len() > 1 || (missing.len() == 1 && !named) {
            return Some(format!("{name}: {missing:?} missing, and doctor says {unreadable}"));
        }
    }
    if named && code != 4 {
        return Some(format!("doctor ends with {code}"));
    }
    let fresh = home
        .count("ledger WHERE state = 'task' AND mail_id IN (SELECT mail_id FROM mail WHERE subject = 'About fresh')");
    (named && fresh == 0).then(|| "new mail is not worked any more".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_value_in_any_column_of_any_table_stops_nothing() {
    let mut dice = SeededRandom::thrown("unreadable_rows");
    let home = furnished().await;
    let (code, unreadable) = diagnosed(&home);
    assert_eq!(unreadable["count"], 0, "{code} {unreadable}");
    // In a copy: what is due is shown once.
    let before = seen(&home.copied()).unwrap();
    assert!(before.iter().all(|(_, rows)| rows.len() > 1), "{before:?}");
    let mut columns = columns(&home);
    let empty: Vec<_> = columns.iter().filter(|(.., rows)| *rows == 0).collect();
    assert!(empty.is_empty(), "nothing was put into {empty:?}");
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut failures = Vec::new();
    for _ in 0..cases {
        let Some(last) = columns.len().checked_sub(1) else { break };
        let column = columns.swap_remove(usize::try_from(dice.below(last as u64 + 1)).unwrap());
        let value = BAD[usize::try_from(dice.below(BAD.len() as u64)).unwrap()];
        let copy = home.copied();
        spoil(&copy, &column, value, &mut dice);
        failures.extend(
            endures(&copy, &before, &column.0).map(|why| format!("{}.{} = {value:?}: {why}", column.0, column.1)),
        );
    }
    assert!(failures.is_empty(), "{} of {cases}:\n{}", failures.len(), failures.join("\n"));
}

/// What older versions took from a mail of the year 99999 is mended when the home is opened.
#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_met_a_mail_of_the_year_99999_is_well_again() {
    let home = furnished().await;
    let bad = "99999-01-01T09:00:00Z";
    let database = home.database();
    database
        .execute_batch(&format!(
            "UPDATE mail SET sent_at = '{bad}', body = json_set(body, '$.date', '{bad}') WHERE mail_id = 1;
             UPDATE mail SET body = json_set(body, '$.invite', json('{{\"method\":\"REQUEST\",\"uid\":\"u\",\"summary\":\"\",\"start\":\"{bad}\",\"end\":\"{bad}\"}}')) WHERE mail_id = 2;
             UPDATE ledger SET arrived_at = '0001-01-01T00:00:00Z' WHERE mail_id = 3;
             UPDATE search_doc SET at = '{bad}' WHERE doc_id = 1;
             UPDATE mail_facts SET due_at = '{bad}' WHERE mail_id = 1;
             UPDATE task_facts SET due_at = '10000-01-01T09:00:00Z';
             UPDATE reminder SET due_at = '{bad}';
             UPDATE run_input SET state = json_set(state, '$.facts.due_at', '{bad}') WHERE json_extract(state, '$.facts') IS NOT NULL;
             UPDATE checkpoint SET changes = json_set(changes, '$[0].facts.due_at', '{bad}') WHERE json_extract(changes, '$[0].change') = 'open_task';"
        ))
        .unwrap();
    let (code, unreadable) = diagnosed(&home);
    assert!(code == 4 && unreadable["count"].as_u64().unwrap() > 8, "{code} {unreadable}");
    database.execute_batch(include_str!("../../migrations/0012_times.sql")).unwrap();
    drop(database);
    let (_, unreadable) = diagnosed(&home);
    assert_eq!(unreadable["count"], 0, "{unreadable}");
    seen(&home).unwrap();
    assert_eq!(home.run(&["search", "--rebuild", "invoice"]).code, 0);
}

/// A copy of a folder and what is below it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            let modified = entry.metadata().unwrap().modified().unwrap();
            if let Ok(file) = fs::OpenOptions::new().write(true).open(&target) {
                file.set_modified(modified).unwrap();
            }
        }
    }
}
