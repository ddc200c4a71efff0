//! Tests that every edited, missing, added or truncated entry of the audit chain is detected, by the chain or by its
//! anchors.

use std::fs;

use adjutant::{
    audit::{AnchorFile, AuditEvidence},
    witness::Witness,
};
use rusqlite::Connection;

use crate::support::{
    outbox_fixture::cases,
    test_home::{Kind, SeededRandom, TestHome, eventually, files_in},
};

/// One way to forge the past.
fn tamper(database: &Connection, lines: i64, dice: &mut SeededRandom) -> String {
    let line = 1 + i64::try_from(dice.below(lines.unsigned_abs())).unwrap();
    database.execute_batch("DROP TRIGGER audit_unedited; DROP TRIGGER audit_kept").unwrap();
    let columns = ["at", "account", "who", "act", "subject", "detail", "hash"];
    let column = columns[usize::try_from(dice.below(7)).unwrap()];
    match dice.below(6) {
        0 | 1 => {
            let sql = format!("UPDATE audit SET {column} = {column} || 'x' WHERE seq = ?1");
            database.execute(&sql, [line]).unwrap();
            format!("{column} of line {line} edited")
        }
        2 => {
            database.execute("DELETE FROM audit WHERE seq = ?1", [line]).unwrap();
            format!("line {line} of {lines} removed")
        }
        3 => {
            database.execute("DELETE FROM audit WHERE seq >= ?1", [line]).unwrap();
            format!("cut off at line {line}")
        }
        4 => {
            let sql = "UPDATE audit SET detail = (SELECT detail || '!' FROM audit b WHERE b.seq = ?2) WHERE seq = ?1";
            database.execute(sql, [line, 1 + line % lines]).unwrap();
            format!("line {line} got another's words")
        }
        _ => {
            // Everything from here on written anew, with a chain that fits: only the anchor tells.
            rewrite_from(database, line);
            format!("written anew from line {line}")
        }
    }
}

fn rewrite_from(database: &Connection, from: i64) {
    use adjutant::model::audit::{AuditEntry, GENESIS, chain_hash};
    database.execute("UPDATE audit SET detail = detail || ' (innocent)' WHERE seq = ?1", [from]).unwrap();
    let mut previous: String = database
        .query_row("SELECT hash FROM audit WHERE seq = ?1", [from - 1], |row| row.get(0))
        .unwrap_or(GENESIS.to_owned());
    let mut select = database
        .prepare("SELECT seq, at, account, who, act, subject, detail FROM audit WHERE seq >= ?1 ORDER BY seq")
        .unwrap();
    let rows: Vec<(i64, AuditEntry)> = select
        .query_map([from], |row| {
            let at: String = row.get(1)?;
            let entry = AuditEntry {
                at: at.parse().unwrap(),
                account: row.get(2)?,
                who: row.get::<_, String>(3)?.parse().unwrap(),
                act: row.get(4)?,
                subject: row.get(5)?,
                detail: row.get(6)?,
            };
            Ok((row.get(0)?, entry))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (seq, entry) in rows {
        previous = chain_hash(&previous, seq, &entry);
        database.execute("UPDATE audit SET hash = ?2 WHERE seq = ?1", (seq, &previous)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_forgery_is_found() {
    let home = TestHome::samples();
    home.once().await;
    home.must_be_sound().await;
    let app = home.app().await;
    let known = app.audit().evidence();
    let anchor = AnchorFile::new(home.home().anchor_file());
    let nowhere = || Witness::for_home(None, "");
    let alone = [
        AuditEvidence::new(anchor.clone(), nowhere(), home.home().data()),
        AuditEvidence::new(AnchorFile::new(home.root().join("nothing")), known.witness().clone(), home.home().data()),
        known,
    ];
    let whole = home.root().join("whole.db");
    home.database().execute("VACUUM INTO ?1", [whole.to_str().unwrap()]).unwrap();
    let lines = i64::try_from(home.count("audit")).unwrap();
    let heads = anchor.read_heads().unwrap().unwrap();
    assert!(lines > 30 && heads.last().is_some_and(|head| head.seq == lines), "{lines} lines");
    let mut dice = SeededRandom::thrown("audit");
    let cases = cases(60).min(1_000);
    for nth in 0..cases {
        let forged = home.root().join(format!("forged{nth}.db"));
        fs::copy(&whole, &forged).unwrap();
        let how = tamper(&Connection::open(&forged).unwrap(), lines, &mut dice);
        let store = adjutant::store::Store::open(&forged, &home.root().join("backups")).unwrap();
        // The anchor, the witness, and both.
        let outside = &alone[usize::try_from(dice.below(3)).unwrap()];
        let verified = outside.verify(&store).await.unwrap();
        assert!(verified.problem.is_some(), "not found: {how}");
        drop(store);
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(home.root().join(format!("forged{nth}.db{ending}"))));
        }
    }
    println!("{cases} forgeries, all found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_or_edited_anchor_file_is_no_excuse() {
    let home = TestHome::samples();
    home.once().await;
    let app = home.app().await;
    let path = home.home().anchor_file();
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{good}77 ab")).unwrap();
    assert_eq!(app.audit().verify().await.unwrap().problem, None, "a line torn by a kill does not count");
    fs::write(&path, good.replace(' ', "  ")).unwrap();
    assert!(app.audit().verify().await.unwrap().problem.is_some());
    fs::write(&path, "nonsense\n").unwrap();
    assert!(app.audit().verify().await.unwrap().problem.is_some());
    drop(app);
    assert_eq!(home.run(&["audit", "verify"]).code, 4);
}

/// Takes the newest line out of the chain while `look` looks, and puts it back.
fn without_its_end(home: &TestHome, look: impl FnOnce()) {
    let database = home.database();
    let triggers: Vec<String> = home
        .sql("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit' AND name IN ('audit_unedited', 'audit_kept')")
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(triggers.len(), 2);
    database.execute_batch("DROP TRIGGER audit_unedited; DROP TRIGGER audit_kept; CREATE TABLE cut AS SELECT * FROM audit ORDER BY seq DESC LIMIT 1; DELETE FROM audit WHERE seq IN (SELECT seq FROM cut)").unwrap();
    look();
    database.execute_batch("INSERT INTO audit SELECT * FROM cut; DROP TABLE cut").unwrap();
    triggers.iter().for_each(|trigger| database.execute_batch(trigger).unwrap());
}

const COMMANDS: [&[&str]; 12] = [
    &["hitl", "reject", "1"],
    &["pause"],
    &["resume"],
    &["mail", "mode", "work", "observe"],
    &["mail", "mode", "work", "active"],
    &["tasks", "add", "Water the plants"],
    &["tasks", "set", "1", "--priority", "high"],
    &["tasks", "done", "1"],
    &["tasks", "undo", "1"],
    &["tasks", "cancel", "1"],
    &["mail", "not-a-task", "1"],
    &["mail", "make-task", "2"],
];

fn worked() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("q").question());
    home.post(&home.letter("nothing").body("Hi Alex,\n\nthanks, all is well.\n\nTom\n"));
    home.post(&home.letter("m").body("Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"));
    home
}

fn verify(home: &TestHome) -> i32 {
    home.run(&["audit", "verify"]).code
}

/// Each command writes lines, and none of them can be cut off afterwards.
fn nothing_can_be_cut(home: &TestHome, daemon: bool) {
    let mut wrote = 0;
    for command in COMMANDS {
        let before = home.count("audit");
        let answered = home.run(command);
        assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
        wrote += usize::from(home.count("audit") > before);
        assert_eq!(verify(home), 0, "{command:?}");
        without_its_end(home, || assert_eq!(verify(home), 4, "cut after {command:?}, daemon: {daemon}"));
        assert_eq!(verify(home), 0, "{command:?}");
    }
    assert!(wrote >= 10, "only {wrote} of the commands wrote a line");
}

#[test]
fn the_end_cannot_be_cut_after_any_command() {
    let home = worked();
    assert_eq!(home.run(&["once"]).code, 0);
    nothing_can_be_cut(&home, false);
}

#[test]
fn the_end_cannot_be_cut_beside_a_daemon() {
    let home = worked();
    let daemon = home.daemon();
    // What the daemon itself writes is noted within seconds.
    eventually("the daemon's own lines are noted", || {
        let mut found = false;
        without_its_end(&home, || found = verify(&home) == 4);
        found.then_some(())
    });
    for command in [&["pause"][..], &["mail", "mode", "work", "observe"]] {
        assert_eq!(home.run(command).code, 0);
        without_its_end(&home, || assert_eq!(verify(&home), 4, "cut after {command:?}"));
    }
    assert_eq!(daemon.stop("TERM").0, 0);
    assert_eq!(verify(&home), 0);
}

#[test]
fn what_is_noted_outside_cannot_be_removed_or_put_back() {
    let home = worked();
    assert_eq!(home.run(&["once"]).code, 0);
    let folder = home.state().join("adjutant");
    let homes = files_in(&folder);
    assert_eq!(homes.len(), 1, "{homes:?}");
    let (anchor, witness) = (home.home().anchor_file(), folder.join(&homes[0]).join("witness"));
    let (old_anchor, old_witness) = (fs::read(&anchor).unwrap(), fs::read(&witness).unwrap());
    assert_eq!(home.run(&["pause"]).code, 0);
    let (good_anchor, good_witness) = (fs::read(&anchor).unwrap(), fs::read(&witness).unwrap());
    assert!(old_anchor != good_anchor && old_witness != good_witness, "a command without a daemon is noted");
    type Bytes<'a> = Option<&'a [u8]>;
    let nothing: Bytes<'_> = None;
    let cases: [(&str, Bytes<'_>, Bytes<'_>); 8] = [
        ("no anchor", nothing, Some(&good_witness)),
        ("no witness", Some(&good_anchor), nothing),
        ("neither", nothing, nothing),
        ("an empty anchor", Some(b""), Some(&good_witness)),
        ("a garbled anchor", Some(b"1 x\n"), Some(&good_witness)),
        ("an older anchor", Some(&old_anchor), Some(&good_witness)),
        ("a garbled witness", Some(&good_anchor), Some(b"adjutant witness 1\nepoch")),
        ("a witness of another chain", Some(&good_anchor), Some(b"adjutant witness 1\nepoch 0\nhead 3 0000000000000000000000000000000000000000000000000000000000000000\n")),
    ];
    for (what, one, other) in cases {
        for (path, bytes) in [(&anchor, one), (&witness, other)] {
            drop(fs::remove_file(path));
            bytes.iter().for_each(|bytes| fs::write(path, bytes).unwrap());
        }
        // Looking changes nothing.
        assert_eq!((verify(&home), verify(&home)), (4, 4), "{what}");
        assert_eq!(home.run(&["doctor"]).code, 4, "{what}");
        assert_eq!(home.run(&["resume"]).code, 0);
        assert_eq!(verify(&home), 4, "{what}: another command does not hide it");
        without_its_end(&home, || assert_eq!(verify(&home), 4, "{what}, and the end cut off"));
        fs::write(&anchor, &good_anchor).unwrap();
        fs::write(&witness, &good_witness).unwrap();
        assert_eq!(verify(&home), 0, "{what}: as it was");
    }
}
