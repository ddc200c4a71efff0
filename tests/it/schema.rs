//! Tests that the database agrees with the types in `model` (the same sets of states, the same allowed pairs), and that
//! a newer database is refused.

use std::{collections::BTreeSet, fmt::Display, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use adjutant::model::{
    AccountMode, Actor, AgentState, ChatProfile, ChatRole, DecisionKind, FactsKind, ItemKind, ItemState, MailId,
    MailState, MailboxKind, OutboxState, Priority, RequestKind, RunStatus, TaskEditKind, TaskStatus, TeamState,
    nightly::NightlyState,
};

use crate::support::test_home::{Kind, TestHome, finish};

fn words<T: Display>(all: &[T]) -> BTreeSet<String> {
    all.iter().map(ToString::to_string).collect()
}

fn column(home: &TestHome, query: &str) -> BTreeSet<String> {
    home.sql(query).into_iter().flatten().collect()
}

#[tokio::test]
async fn every_set_of_states_is_the_models() {
    let home = TestHome::samples();
    drop(home.app().await);
    for (query, model) in [
        ("SELECT status FROM task_status", words(TaskStatus::ALL)),
        ("SELECT state FROM mail_state", words(MailState::ALL)),
        ("SELECT status FROM run_status", words(RunStatus::ALL)),
        ("SELECT state FROM outbox_state", words(OutboxState::ALL)),
        ("SELECT kind FROM item_kind", words(ItemKind::ALL)),
        ("SELECT state FROM item_state", words(ItemState::ALL)),
        ("SELECT mode FROM account_mode", words(AccountMode::ALL)),
        ("SELECT level FROM priority", words(Priority::ALL)),
        ("SELECT kind FROM mailbox_kind", words(MailboxKind::ALL)),
        ("SELECT kind FROM request_kind", words(RequestKind::ALL)),
        ("SELECT state FROM nightly_state", words(NightlyState::ALL)),
        ("SELECT kind FROM facts_kind", words(&FactsKind::stored().collect::<Vec<_>>())),
        ("SELECT who FROM actor", words(Actor::ALL)),
        ("SELECT kind FROM decision_kind", words(DecisionKind::ALL)),
        ("SELECT profile FROM chat_profile", words(ChatProfile::ALL)),
        ("SELECT role FROM chat_role", words(ChatRole::ALL)),
        ("SELECT state FROM team_state", words(TeamState::ALL)),
        ("SELECT state FROM agent_state", words(AgentState::ALL)),
    ] {
        assert_eq!(column(&home, query), model, "{query}");
    }
    let pairs = TaskStatus::ALLOWED_TRANSITIONS.iter().map(|(from, to)| format!("{from} → {to}")).collect();
    assert_eq!(column(&home, "SELECT from_status || ' → ' || to_status FROM task_status_pair"), pairs);
}

#[tokio::test]
async fn states_without_a_way_out_are_the_ended_ones() {
    let home = TestHome::samples();
    drop(home.app().await);
    let ended: BTreeSet<String> =
        OutboxState::ALL.iter().filter(|state| state.is_ended()).map(ToString::to_string).collect();
    let no_way_out =
        column(&home, "SELECT state FROM outbox_state WHERE state NOT IN (SELECT from_state FROM outbox_state_pair)");
    assert!(no_way_out.is_subset(&ended), "{no_way_out:?}");
    let stuck = "SELECT state FROM mail_state WHERE state NOT IN (SELECT from_state FROM mail_state_pair)";
    assert_eq!(column(&home, stuck), ["duplicate".to_owned()].into());
}

#[tokio::test]
async fn tables_are_strict_and_tasks_has_the_twelve_columns() {
    let home = TestHome::samples();
    drop(home.app().await);
    let loose = home.sql(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite%'",
    );
    assert!(loose.is_empty(), "{loose:?}");
    let columns: Vec<String> = home.sql("SELECT name FROM pragma_table_info('tasks')").into_iter().flatten().collect();
    assert_eq!(
        columns,
        [
            "task_id",
            "created_at",
            "source",
            "objective",
            "context",
            "priority",
            "status",
            "subtasks",
            "assigned_agent",
            "last_updated",
            "tool_output",
            "result_summary"
        ]
    );
}

#[tokio::test]
async fn the_file_is_in_wal_mode_and_sqlite_is_new_enough() {
    let home = TestHome::samples();
    drop(home.app().await);
    assert_eq!(home.sql_one("PRAGMA journal_mode"), "wal");
    let version: Vec<u32> = adjutant::store::sqlite_version().split('.').map(|part| part.parse().unwrap()).collect();
    assert!(version >= vec![3, 51, 3], "{version:?}");
}

/// The writer's own setting cannot be asked from outside; what it is set to stands in one place.
#[test]
fn the_writer_asks_for_full_durability() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/connection.rs")).unwrap();
    assert!(text.contains("PRAGMA synchronous = FULL") && !text.contains("synchronous = NORMAL"));
}

#[test]
fn nothing_is_readable_by_others_even_without_a_umask() {
    let home = TestHome::real_time(Kind::Samples);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("umask 000; exec \"$@\"").arg("sh").arg(env!("CARGO_BIN_EXE_adjutant"));
    shell.arg("--home").arg(home.root()).arg("once").env("XDG_STATE_HOME", home.state());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let answered = finish(shell);
    assert_eq!(answered.code, 0, "{}", answered.err);
    let mut seen = 0;
    let mut folders = vec![home.home().data(), home.state().join("adjutant")];
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            seen += 1;
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    for journal in ["wal", "delete"] {
        let home = TestHome::real_time(Kind::Samples);
        assert_eq!(home.run(&["doctor"]).code, 0);
        home.database().execute_batch(&format!("PRAGMA journal_mode = {journal}; PRAGMA user_version = 99")).unwrap();
        let before = std::fs::read(home.home().database()).unwrap();
        for command in ["once", "run", "doctor", "tasks"] {
            let answered = home.run(&[command]);
            assert_eq!(answered.code, 1, "{command}: {}", answered.err);
            assert!(answered.err.contains("schema 99") && answered.err.contains("newer version"), "{}", answered.err);
            assert!(answered.err.contains("data/backups"), "{}", answered.err);
        }
        assert!(std::fs::read(home.home().database()).unwrap() == before, "the {journal} file was touched");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn illegal_transitions_by_hand_are_refused_by_the_database() {
    let home = TestHome::samples();
    home.once().await;
    assert!(home.app().await.tasks().edit("1", TaskEditKind::Done, "").await.is_ok());
    let connection = home.database();
    let task = |status: &str| home.sql_one(&format!("SELECT task_id FROM tasks WHERE status = '{status}' LIMIT 1"));
    for sql in [
        format!("UPDATE tasks SET status = 'NEW' WHERE task_id = '{}'", task("IN_PROGRESS")),
        format!("UPDATE tasks SET status = 'READY' WHERE task_id = '{}'", task("DONE")),
        format!("UPDATE tasks SET status = 'DONE' WHERE task_id = '{}'", task("READY")),
        "UPDATE ledger SET state = 'pending' WHERE state = 'task'".into(),
        "UPDATE run SET status = 'running'".into(),
        "UPDATE outbox SET state = 'ready' WHERE state = 'applied'".into(),
        "UPDATE account SET mode = 'active' WHERE mode = 'retired' OR account = 'samples' AND 0".into(),
    ] {
        let outcome = connection.execute(&sql, []);
        if sql.contains("account") {
            assert_eq!(outcome.unwrap(), 0);
            continue;
        }
        let error = outcome.expect_err(&sql).to_string();
        assert!(error.contains("illegal transition"), "{sql}: {error}");
    }
    for sql in ["DELETE FROM ledger", "DELETE FROM tasks", "DELETE FROM audit", "UPDATE audit SET detail = ''"] {
        connection.execute(sql, []).expect_err(sql);
    }
    for sql in [
        "UPDATE tasks SET status = 'FAILED'",
        "INSERT INTO tasks SELECT 'x', created_at, source, objective, context, priority, 'DONE', subtasks, NULL, last_updated, NULL, NULL FROM tasks LIMIT 1",
    ] {
        connection.execute(sql, []).expect_err(sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_the_model_does_not_know_is_refused_by_the_database() {
    let home = TestHome::samples();
    home.once().await;
    assert!(home.app().await.tasks().edit("1", TaskEditKind::Done, "").await.is_ok());
    let connection = home.database();
    for sql in [
        "UPDATE mail_facts SET kind = 'bill'",
        "UPDATE task_facts SET kind = ''",
        "INSERT OR REPLACE INTO mail_facts SELECT mail_id, sender, sender_domain, sender_verified, known_contact, addressed, list_id, subject,
           objective, 'bill', language, amount, due_at, urgency, urgency_origin, attachment, thread_mine, account FROM mail_facts LIMIT 1",
        "UPDATE task_history SET who = 'somebody'",
        "INSERT INTO task_history (task_id, field, from_value, to_value, who, why, at) SELECT task_id, field, '', '', '', '', at FROM task_history LIMIT 1",
        "INSERT INTO audit SELECT seq + 1, at, account, 'somebody', act, subject, detail, hash FROM audit ORDER BY seq DESC LIMIT 1",
        "INSERT INTO rules_version (at, who, run_id, why, rules, guidelines, edits) VALUES ('', 'meta', '', '', '', '', '{}')",
        "UPDATE item SET decision = 'yes'",
        "UPDATE item SET decided_by = 'somebody'",
    ] {
        let error = connection.execute(sql, []).expect_err(sql).to_string();
        assert!(error.contains("unknown"), "{sql}: {error}");
    }
    connection.execute("UPDATE ledger SET flagged = 2", []).expect_err("neither yes nor no");
}

/// Takes the database back to schema 17, by dropping whatever a later migration creates.
fn undo_the_last_migrations(home: &TestHome) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.file_name().unwrap().to_str().unwrap() >= "0018");
    let added: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let named = |what: &str| {
        let lines = added.lines().filter_map(|line| line.strip_prefix(what)?.split([' ', '(']).next());
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let mut undo: Vec<String> = Vec::new();
    undo.extend(named("CREATE TRIGGER ").iter().map(|name| format!("DROP TRIGGER {name}")));
    undo.extend(named("CREATE INDEX ").iter().map(|name| format!("DROP INDEX {name}")));
    undo.extend(named("CREATE UNIQUE INDEX ").iter().map(|name| format!("DROP INDEX {name}")));
    let tables = named("CREATE TABLE ");
    undo.extend(tables.iter().map(|name| format!("DROP TABLE {name}")));
    undo.extend(added.lines().filter_map(|line| {
        let (table, column) = line.strip_prefix("ALTER TABLE ")?.split_once(" ADD COLUMN ")?;
        // A table that a later migration creates is gone with all of its columns.
        (!tables.contains(table)).then_some(())?;
        Some(format!("ALTER TABLE {table} DROP COLUMN {}", column.split(' ').next()?))
    }));
    undo.push("PRAGMA user_version = 17".into());
    let connection = home.database();
    // The tables are dropped in the order of their names, not of their references.
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for statement in undo {
        connection.execute_batch(&statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_of_the_version_before_migrates_and_what_it_cannot_read_is_named() {
    let home = TestHome::active();
    for nth in 0..3 {
        home.post(&home.letter(&format!("question-{nth}")).from(&format!("Tom <tom{nth}@b.example>")).question());
    }
    home.once().await;
    let newest = home.sql_one("PRAGMA user_version");
    undo_the_last_migrations(&home);
    let connection = home.database();
    connection
        .execute_batch(
            "UPDATE ledger SET reason = 'flagged: carries another Message-ID; ' || reason WHERE mail_id = 1;
             UPDATE ledger SET reason = 'said: flagged: not really' WHERE mail_id = 2;
             UPDATE task_facts SET kind = 'bill' WHERE task_id = (SELECT min(task_id) FROM task_facts);
             UPDATE task_history SET who = 'somebody' WHERE entry = 1;",
        )
        .unwrap();
    drop(connection);
    let before = home.count("tasks");
    home.post(&home.letter("fresh").from("New <new@else.example>").question());
    home.once().await;
    assert_eq!(home.sql_one("PRAGMA user_version"), newest);
    assert_eq!(home.count("tasks"), before + 1, "new mail is worked");
    assert_eq!(column(&home, "SELECT mail_id FROM ledger WHERE flagged"), ["1".to_owned()].into());
    let unreadable = home.app().await.health().check().await.unwrap().unreadable;
    let named: BTreeSet<(&str, &str)> = unreadable.rows.iter().map(|row| (row.table, row.column)).collect();
    assert_eq!(named, [("task_facts", "kind"), ("task_history", "who")].into());
    assert_eq!(unreadable.count, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_odd_about_a_mail_stays_in_front_of_its_reason_and_no_wording_is_taken_for_it() {
    let home = TestHome::active();
    home.post(&home.letter("same").from("Tom <tom@b.example>").question());
    home.once().await;
    let forged = home.letter("same").from("Eve <eve@else.example>").body("Please pay the invoice 7 by Friday.\n");
    home.deliver("forged", forged.text());
    home.once().await;
    let reason = home.sql_one("SELECT reason FROM ledger WHERE flagged");
    assert!(reason.starts_with("flagged: carries the Message-ID of mail 1") && reason.contains("; "), "{reason}");
    home.database().execute("UPDATE ledger SET flagged = 0 WHERE mail_id = 2", []).unwrap();
    home.app().await.mail().mark_not_a_task(MailId(2), "").await.unwrap();
    assert_eq!(home.sql_one("SELECT reason FROM ledger WHERE mail_id = 2"), "a person said: not a task");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_audit_line_is_found() {
    let home = TestHome::samples();
    home.once().await;
    home.must_be_sound().await;
    home.database()
        .execute_batch("DROP TRIGGER audit_unedited; UPDATE audit SET detail = 'nothing happened' WHERE seq = 7")
        .unwrap();
    let health = home.app().await.health().check().await.unwrap();
    assert!(health.audit.problem.as_ref().unwrap().contains("line 7"), "{:?}", health.audit);
    assert!(!health.is_well());
}
