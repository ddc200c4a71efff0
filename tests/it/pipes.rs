//! A pipe in place of a file of the home: no command waits for its other end, and who needs the file names it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::house::{House, Kind, files_in};

fn pipe_at(path: &Path) {
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn worked_house() -> House {
    let house = House::real_time(Kind::Active);
    house.post(&house.letter("one").question());
    assert_eq!(house.run(&["once"]).code, 0);
    house
}

/// Runs commands of every kind. `doctor` says that all is well only when the file was put right meanwhile; what is wrong is
/// named with the file.
fn check(house: &House, path: &Path) {
    pipe_at(path);
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut said = String::new();
    for command in [&["tasks"][..], &["once"], &["doctor"], &["rules", "check"], &["audit", "verify"]] {
        let answered = house.run(command);
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
        let house = worked_house();
        check(&house, &house.root().join(file));
    }
}

#[test]
fn no_command_waits_for_a_pipe_in_place_of_a_lock_or_the_guidelines() {
    let house = worked_house();
    pipe_at(&house.root().join("data/worker.lock"));
    let once = house.run(&["once"]);
    assert!(once.code == 1 && once.err.contains("worker.lock"), "{}", once.err);
    assert_eq!(house.run(&["tasks"]).code, 0);
    let doctor = house.run(&["doctor"]);
    assert!(doctor.code == 4 && doctor.out.contains("lock_unusable"), "{}", doctor.out);
    let house = worked_house();
    pipe_at(&house.root().join("guidelines.txt"));
    for command in [&["tasks"][..], &["once"], &["reflect", "--dry-run"]] {
        house.run(command);
    }
}

#[test]
fn no_command_waits_for_a_pipe_in_the_state_folder() {
    for name in ["witness", "sends", "lock"] {
        let house = worked_house();
        let state = house.state().join("adjutant");
        let own: PathBuf = files_in(&state).first().map(|home| state.join(home)).unwrap();
        check(&house, &own.join(name));
    }
}
