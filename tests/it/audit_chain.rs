//! Any edited, missing, added or cut-off line of the audit is found, by the chain or by its anchors.

use std::fs;

use adjutant::audit::Anchor;
use rusqlite::Connection;

use crate::{
    deeds::cases,
    house::{Dice, House},
};

/// One way to forge the past.
fn tamper(database: &Connection, lines: i64, dice: &mut Dice) -> String {
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
                who: row.get(3)?,
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
    let house = House::samples();
    house.once().await;
    house.must_be_sound().await;
    let anchor = Anchor::at(house.home().anchor_file());
    let whole = house.root().join("whole.db");
    house.database().execute("VACUUM INTO ?1", [whole.to_str().unwrap()]).unwrap();
    let lines = i64::try_from(house.count("audit")).unwrap();
    assert!(lines > 30 && anchor.last().unwrap().is_some_and(|head| head.seq == lines), "{lines} lines");
    let mut dice = Dice::thrown("audit");
    let cases = cases(60).min(1_000);
    for nth in 0..cases {
        let forged = house.root().join(format!("forged{nth}.db"));
        fs::copy(&whole, &forged).unwrap();
        let how = tamper(&Connection::open(&forged).unwrap(), lines, &mut dice);
        let store = adjutant::store::Store::open(&forged, &house.root().join("backups")).unwrap();
        let verified = anchor.verify(&store).await.unwrap();
        assert!(verified.problem.is_some(), "not found: {how}");
        drop(store);
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(house.root().join(format!("forged{nth}.db{ending}"))));
        }
    }
    println!("{cases} forgeries, all found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_or_edited_anchor_file_is_no_excuse() {
    let house = House::samples();
    house.once().await;
    let app = house.app().await;
    let path = house.home().anchor_file();
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{good}77 ab")).unwrap();
    assert_eq!(app.verify_audit().await.unwrap().problem, None, "a line torn by a kill does not count");
    fs::write(&path, good.replace(' ', "  ")).unwrap();
    assert!(app.verify_audit().await.unwrap().problem.is_some());
    fs::write(&path, "nonsense\n").unwrap();
    assert!(app.verify_audit().await.unwrap().problem.is_some());
    drop(app);
    assert_eq!(house.run(&["audit", "verify"]).code, 4);
}
