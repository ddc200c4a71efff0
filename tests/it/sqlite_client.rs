//! Tests that a person can read their data with the `sqlite3` of their distribution, which may be years old.

use std::process::{Command, Stdio};

use crate::support::test_home::{Answered, TestHome, finish_with};

/// The index of words. It holds no text of anybody's, and clients before 3.43 do not know its kind.
const INDEX: &str = "search";

/// What the distribution's client makes of a home's file.
fn ask(home: &TestHome, script: &str) -> Answered {
    let mut client = Command::new("sqlite3");
    client.arg("-batch").arg(home.home().database());
    client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(
        Command::new("sqlite3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()),
        "missing: sqlite3, the distribution's own client. `make peers` fetches it; Debian: apt install sqlite3"
    );
    finish_with(client, format!("{script}\n").as_bytes())
}

fn answer(home: &TestHome, script: &str) -> String {
    let answered = ask(home, script);
    assert_eq!((answered.code, answered.err.as_str()), (0, ""), "{script}");
    answered.out.trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_distributions_client_reads_every_table_and_is_refused_like_everybody() {
    let home = TestHome::samples();
    home.once().await;
    println!("sqlite3 {}", answer(&home, "SELECT sqlite_version();"));
    assert!(answer(&home, ".schema").contains("CREATE TABLE tasks"));
    assert_eq!(answer(&home, "PRAGMA integrity_check;"), "ok");
    assert_eq!(answer(&home, "PRAGMA foreign_key_check;"), "");
    let tables = home.sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let mut read = 0;
    for table in tables.into_iter().flatten().filter(|table| table != INDEX) {
        let rows = format!("SELECT count(*) FROM (SELECT * FROM \"{table}\");");
        assert_eq!(answer(&home, &rows), home.count(&format!("\"{table}\"")).to_string(), "{table}");
        read += 1;
    }
    assert!(read > 40, "{read}");
    let views =
        home.sql("SELECT type || ' ' || name FROM sqlite_master WHERE type NOT IN ('table', 'index', 'trigger')");
    assert!(views.is_empty(), "read these with the client as well: {views:?}");
    assert!(answer(&home, "SELECT objective FROM tasks;").lines().count() > 5);
    for (table, set) in [("tasks", "status = 'NEW'"), ("ledger", "state = 'pending'"), ("run", "status = 'running'")] {
        let refused = ask(&home, &format!("UPDATE {table} SET {set};"));
        assert!(refused.code != 0 && refused.err.contains("illegal transition"), "{table}: {refused:?}");
    }
    let refused = ask(&home, "DELETE FROM tasks;");
    assert!(refused.code != 0 && refused.err.contains("never deleted"), "{refused:?}");
    // And the file is as good as it was.
    home.must_be_sound().await;
}

/// Only a literal is read by every SQLite; an expression needs 3.47.
#[tokio::test]
async fn no_trigger_raises_an_expression() {
    let home = TestHome::samples();
    drop(home.app().await);
    let triggers = home.sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'");
    assert!(triggers.len() > 10, "{}", triggers.len());
    let literal = regex::Regex::new(r"^RAISE\s*\(\s*(IGNORE|(ABORT|FAIL|ROLLBACK)\s*,\s*'(?:[^']|'')*')\s*\)").unwrap();
    for trigger in &triggers {
        let text = &trigger[1];
        for (at, _) in text.match_indices("RAISE") {
            assert!(literal.is_match(&text[at..]), "{}: {text}", trigger[0]);
        }
    }
}
