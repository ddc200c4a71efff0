//! Tests a pipe in the place of a file of the home: no command waits for its other end, and one that needs the file
//! names it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::test_home::{Kind, TestHome, files_in};

fn pipe_at(path: &Path) {
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn worked_house() -> TestHome {
    let test_home = TestHome::real_time(Kind::Active);
    test_home.post(&test_home.letter("one").question());
    assert_eq!(test_home.run(&["once"]).code, 0);
    test_home
}

/// Runs commands of every kind. `doctor` says that all is well only when the file was put right meanwhile; what is
/// wrong is named with the file.
fn check(test_home: &TestHome, path: &Path) {
    pipe_at(path);
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut said = String::new();
    for command in [&["tasks"][..], &["once"], &["doctor"], &["rules", "check"], &["audit", "verify"]] {
        let answered = test_home.run(command);
        said += &format!("{command:?}: {} {}{}\n", answered.code, answered.out, answered.err);
        assert!(answered.code != 0 || command != ["doctor"] || path.is_file(), "{name}: {said}");
    }
    assert!(said.contains("pipe") && said.contains(name) || path.is_file(), "{name}: {said}");
}

#[test]
fn no_command_waits_for_a_pipe_in_place_of_a_file() {
    for file in [
        "rules/priority.yml",
        "rules/policy.yml",
        "adjutant.toml",
        "data/rules.good.yml",
        "data/audit.anchor",
        "data/epoch",
        "data/tasks.db",
    ] {
        let test_home = worked_house();
        check(&test_home, &test_home.root().join(file));
    }
}

#[test]
fn no_command_waits_for_a_pipe_in_place_of_a_lock_or_the_guidelines() {
    let test_home = worked_house();
    pipe_at(&test_home.root().join("data/worker.lock"));
    let once = test_home.run(&["once"]);
    assert!(once.code == 1 && once.err.contains("worker.lock"), "{}", once.err);
    assert_eq!(test_home.run(&["tasks"]).code, 0);
    let doctor = test_home.run(&["doctor"]);
    assert!(doctor.code == 4 && doctor.out.contains("lock_unusable"), "{}", doctor.out);
    let test_home = worked_house();
    pipe_at(&test_home.root().join("guidelines.txt"));
    for command in [&["tasks"][..], &["once"], &["reflect", "--dry-run"]] {
        test_home.run(command);
    }
}

#[test]
fn no_command_waits_for_a_pipe_in_the_state_folder() {
    for name in ["witness", "sends", "lock"] {
        let test_home = worked_house();
        let state = test_home.state().join("adjutant");
        let own: PathBuf = files_in(&state).first().map(|home| state.join(home)).unwrap();
        check(&test_home, &own.join(name));
    }
}
