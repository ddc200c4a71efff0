//! Schema migrations: embedded in the program, append-only, each committed in one transaction with its version number.
//!
//! A kill leaves the old schema or the new one. A published migration is never edited.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::error::{Result, StoreContext, StoreError};

/// The name and the SQL of each migration, in order. The position is the schema version.
pub(super) type Migrations<'a> = &'a [(&'a str, &'a str)];

/// All migrations of this program.
pub(super) const MIGRATIONS: Migrations<'static> = &[
    ("0001_ground", include_str!("../../migrations/0001_ground.sql")),
    ("0002_approval", include_str!("../../migrations/0002_approval.sql")),
    ("0003_gmail", include_str!("../../migrations/0003_gmail.sql")),
    ("0004_memory", include_str!("../../migrations/0004_memory.sql")),
    ("0005_night", include_str!("../../migrations/0005_night.sql")),
    ("0006_model", include_str!("../../migrations/0006_model.sql")),
    ("0007_rows", include_str!("../../migrations/0007_rows.sql")),
    ("0008_settling", include_str!("../../migrations/0008_settling.sql")),
    ("0009_tries", include_str!("../../migrations/0009_tries.sql")),
    ("0010_triggers", include_str!("../../migrations/0010_triggers.sql")),
    ("0011_queue", include_str!("../../migrations/0011_queue.sql")),
    ("0012_times", include_str!("../../migrations/0012_times.sql")),
    ("0013_files", include_str!("../../migrations/0013_files.sql")),
    ("0014_witness", include_str!("../../migrations/0014_witness.sql")),
    ("0015_overruled", include_str!("../../migrations/0015_overruled.sql")),
    ("0016_reminders", include_str!("../../migrations/0016_reminders.sql")),
    ("0017_types", include_str!("../../migrations/0017_types.sql")),
    ("0018_words", include_str!("../../migrations/0018_words.sql")),
    ("0019_warnings", include_str!("../../migrations/0019_warnings.sql")),
    ("0020_drafts", include_str!("../../migrations/0020_drafts.sql")),
    ("0021_held_times", include_str!("../../migrations/0021_held_times.sql")),
    ("0022_rule_effects", include_str!("../../migrations/0022_rule_effects.sql")),
    ("0023_plans", include_str!("../../migrations/0023_plans.sql")),
    ("0025_conversations", include_str!("../../migrations/0025_conversations.sql")),
    ("0026_task_lists", include_str!("../../migrations/0026_task_lists.sql")),
    ("0027_clients", include_str!("../../migrations/0027_clients.sql")),
    ("0028_team", include_str!("../../migrations/0028_team.sql")),
    ("0029_page", include_str!("../../migrations/0029_page.sql")),
    ("0030_mail_times", include_str!("../../migrations/0030_mail_times.sql")),
    ("0032_listings", include_str!("../../migrations/0032_listings.sql")),
];

/// Migrates the database to the newest schema. Before each step on a database with content, a copy goes to `backups`.
pub(super) fn migrate(connection: &Connection, migrations: Migrations<'_>, backups: &Path) -> Result<()> {
    loop {
        let found = check_schema_version(connection, migrations)?;
        let Some((name, sql)) = migrations.get(found as usize) else { return Ok(()) };
        // A new database has no content to back up.
        if found > 0 {
            back_up_database(connection, &backup_path(backups, found, name))?;
        }
        apply_migration(connection, found, name, sql)?;
    }
}

/// Returns the schema version of the database. Refuses a version that is newer than this program.
pub(super) fn check_schema_version(connection: &Connection, migrations: Migrations<'_>) -> Result<u32> {
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    match read_schema_version(connection)? {
        found if found > known => Err(StoreError::NewerSchema { found, known }),
        found => Ok(found),
    }
}

fn read_schema_version(connection: &Connection) -> Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).context("reading the schema version")
}

/// Returns the file of a backup, named after the schema it has and the migration that follows.
fn backup_path(backups: &Path, found: u32, name: &str) -> PathBuf {
    backups.join(format!("tasks-schema{found}-before-{name}.db"))
}

/// Writes a consistent copy of the database that only this user can read.
fn back_up_database(connection: &Connection, target: &Path) -> Result<()> {
    let refuse =
        |error: std::io::Error| StoreError::ReadOnly { path: target.display().to_string(), why: error.to_string() };
    if let Some(folder) = target.parent() {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refuse)?;
    }
    // An earlier run that was killed may have left half a copy, so an existing one is replaced.
    match std::fs::remove_file(target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(refuse(error)),
        _ => {}
    }
    let text = target.to_string_lossy().into_owned();
    connection.execute("VACUUM INTO ?1", [text]).context("backing the database up before a migration")?;
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(target, std::fs::Permissions::from_mode(0o600)).map_err(refuse)
}

/// Applies one migration and sets the version in the same transaction.
fn apply_migration(connection: &Connection, found: u32, name: &str, sql: &str) -> Result<()> {
    connection.execute_batch("BEGIN EXCLUSIVE").context("starting a migration")?;
    let outcome = (|| {
        // Another process may have migrated while this one waited for the lock.
        if read_schema_version(connection)? == found {
            connection.execute_batch(sql).context(name)?;
            connection.execute_batch(&format!("PRAGMA user_version = {}", found + 1)).context(name)?;
        }
        connection.execute_batch("COMMIT").context(name)
    })();
    if outcome.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").context("taking a failed migration back")?;
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Migrations<'static> =
        &[("0001_a", "CREATE TABLE a (x TEXT) STRICT;"), ("0002_b", "CREATE TABLE b (x TEXT) STRICT;")];

    fn open(folder: &Path) -> Connection {
        Connection::open(folder.join("tasks.db")).unwrap()
    }

    fn tables(connection: &Connection) -> Vec<String> {
        let mut rows = connection.prepare("SELECT name FROM sqlite_master ORDER BY name").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect()
    }

    #[test]
    fn a_newer_schema_is_refused_and_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path());
        connection.execute_batch("PRAGMA user_version = 7").unwrap();
        let error = migrate(&connection, TWO, folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::NewerSchema { found: 7, known: 2 }), "{error}");
        assert!(error.to_string().contains("newer version"));
        assert_eq!(tables(&connection), [""; 0]);
    }

    #[test]
    fn a_backup_precedes_each_migration_of_a_file_with_content() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path());
        migrate(&connection, &TWO[..1], folder.path()).unwrap();
        connection.execute_batch("INSERT INTO a VALUES ('kept')").unwrap();
        migrate(&connection, TWO, folder.path()).unwrap();
        assert_eq!(tables(&connection), ["a", "b"]);
        let copy = Connection::open(folder.path().join("tasks-schema1-before-0002_b.db")).unwrap();
        assert_eq!(tables(&copy), ["a"]);
        assert_eq!(copy.query_row("SELECT x FROM a", [], |row| row.get::<_, String>(0)).unwrap(), "kept");
    }

    #[test]
    fn a_migration_that_fails_half_way_leaves_the_old_schema() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path());
        let broken: Migrations<'_> = &[TWO[0], ("0002_b", "CREATE TABLE b (x TEXT) STRICT; CREATE TABLE b (x TEXT);")];
        assert!(migrate(&connection, broken, folder.path()).is_err());
        assert_eq!(tables(&connection), ["a"]);
        assert_eq!(read_schema_version(&connection).unwrap(), 1);
        migrate(&connection, TWO, folder.path()).unwrap();
        assert_eq!(tables(&connection), ["a", "b"]);
    }

    #[test]
    fn every_statement_of_every_migration_can_be_the_last() {
        for (nth, (name, sql)) in MIGRATIONS.iter().enumerate() {
            let ends: Vec<usize> = sql.match_indices(";\n").map(|(at, _)| at + 2).collect();
            assert!(!ends.is_empty(), "{name}");
            for end in ends.iter().step_by(ends.len().div_ceil(8)) {
                let folder = tempfile::tempdir().unwrap();
                {
                    let connection = open(folder.path());
                    migrate(&connection, &MIGRATIONS[..nth], folder.path()).unwrap();
                    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
                    // A cut inside a trigger is an error of SQLite; the transaction is dropped all the same.
                    drop(connection.execute_batch(sql.get(..*end).unwrap()));
                    // Dropped here as a kill would: nothing was committed.
                }
                let connection = open(folder.path());
                migrate(&connection, MIGRATIONS, folder.path()).unwrap();
                assert_eq!(read_schema_version(&connection).unwrap() as usize, MIGRATIONS.len(), "{name}");
            }
        }
    }

    #[test]
    fn rows_that_move_to_other_tables_are_the_same_there() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path());
        connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        migrate(&connection, &MIGRATIONS[..6], folder.path()).unwrap();
        let rows = "INSERT INTO run (run_id, account, user_id, kind, schema, status, reason, node, seq, created_at, updated_at)
                    VALUES ('r1', 'work', 'me', 'mail', 1, 'running', '', 'plan_step', 2, 't', 't');
             INSERT INTO run_input VALUES ('r1', '{}');
             INSERT INTO checkpoint VALUES ('r1', 1, 'plan_step', '\"next\"', 'prioritise', '[]', 't'), ('r1', 2, 'prioritise', '\"next\"', NULL, '[1]', 'u');
             INSERT INTO reply VALUES ('r1', 'plan_step', 'h', 0, 1, '{}'), ('r1', 'plan_step', 'h', 1, 1, 'null');";
        connection.execute_batch(rows).unwrap();
        let all = |table: &str| {
            let sql = format!(
                "SELECT group_concat(row, ';') FROM (SELECT concat_ws(',', {table}.*) AS row FROM {table} ORDER BY 1)"
            );
            let columns = "SELECT group_concat(name) FROM pragma_table_info(?1)";
            let columns: String = connection.query_row(columns, [table], |row| row.get(0)).unwrap();
            let sql = sql.replace(&format!("{table}.*"), &columns);
            connection.query_row(&sql, [], |row| row.get::<_, String>(0)).unwrap()
        };
        let tables = ["run", "run_input", "checkpoint", "reply"];
        let before = tables.map(all);
        migrate(&connection, MIGRATIONS, folder.path()).unwrap();
        assert_eq!(tables.map(all), before);
        assert!(before.iter().all(|rows| rows.contains("r1")), "{before:?}");
        let orphan = connection.execute_batch("INSERT INTO checkpoint VALUES ('r2', 1, 'n', 'm', NULL, '[]', 't')");
        assert!(orphan.is_err(), "a checkpoint still needs its run");
    }
}
