//! Tests with a full or read-only disk: it is reported plainly, nothing is lost, and work continues when there is room
//! again.

use std::process::{Command, Stdio};

use crate::support::test_home::{Kind, TestHome, finish};

/// The binary under a limit on the size of any file it writes, which SQLite reports as a full disk.
fn limited(home: &TestHome, blocks: u32, arguments: &[&str]) -> Command {
    let mut shell = Command::new("bash");
    // The signal is ignored, so that the write fails instead of killing the process.
    shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("bash");
    shell.arg(env!("CARGO_BIN_EXE_adjutant")).arg("--home").arg(home.root()).args(arguments);
    shell.env("XDG_STATE_HOME", home.state());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Mounts, as root or in a namespace of our own where the whole test runs once more. False when that has been done.
fn can_mount(test: &str, folder: &std::path::Path, how: &[&str]) -> bool {
    if mounted(folder, how) {
        return true;
    }
    let again = "IT_UNSHARED";
    assert!(std::env::var_os(again).is_none(), "mounting needs root, or unprivileged user namespaces");
    let exe = std::env::current_exe().unwrap();
    let test = format!("full_disk::{test}");
    let inside = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(exe)
        .args([&test, "--exact"])
        .env(again, "1")
        .output();
    let inside = inside.expect("mounting needs root, or `unshare` (util-linux)");
    let said = String::from_utf8_lossy(&inside.stdout);
    assert!(
        inside.status.success() && said.contains("1 passed"),
        "in a namespace of its own: {said}{}",
        String::from_utf8_lossy(&inside.stderr)
    );
    false
}

fn mounted(folder: &std::path::Path, how: &[&str]) -> bool {
    let status = Command::new("mount").args(how).arg(folder).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a data folder must have of what it held before something was mounted over it: the database and its anchor.
struct Kept(tempfile::TempDir);

impl Kept {
    fn of(data: &std::path::Path) -> Self {
        let kept = tempfile::tempdir().unwrap();
        for name in ["tasks.db", "audit.anchor"] {
            std::fs::copy(data.join(name), kept.path().join(name)).unwrap();
        }
        Self(kept)
    }

    fn put_into(&self, data: &std::path::Path) {
        crate::unreadable_rows::copy_folder(self.0.path(), data);
    }
}

struct Mount(std::path::PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_said_and_waited_out() {
    let home = TestHome::real_time(Kind::Active);
    let data = home.home().data();
    let kept = Kept::of(&data);
    if !can_mount("a_full_disk_is_said_and_waited_out", &data, &["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]) {
        return;
    }
    let _mount = Mount(data.clone());
    kept.put_into(&data);
    for nth in 0..150 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    // The daemon fills the disk while it works, stands still, and goes on when there is room.
    let log = home.root().join("log");
    let mut child =
        home.command(&["once"]).stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let started = std::time::Instant::now();
    let full = crate::support::test_home::eventually("the disk is full or the work refused", || {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(Some(status));
        }
        let room = free_blocks(&data);
        (room == 0 && started.elapsed() > std::time::Duration::from_secs(3)).then_some(None)
    });
    assert!(mounted(&data, &["-o", "remount,size=64m"]));
    match full {
        // Refused while taking in: said, and nothing of it is lost.
        Some(status) => assert!(!status.success()),
        // Stood still in the middle: goes on by itself.
        None => {
            crate::support::test_home::eventually("it goes on", || child.try_wait().unwrap());
        }
    }
    let said = home.read("log");
    assert!(said.contains("the disk is full") && said.contains("Free some space"), "{said}");
    let again = home.run(&["once"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(home.count("ledger WHERE state = 'task'"), 150);
    assert_eq!(home.count("tasks WHERE result_summary IS NOT NULL"), 150);
    assert_eq!(home.drafts().len(), 150);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_daemon_on_a_full_disk_says_so_and_goes_on_when_there_is_room() {
    let home = TestHome::real_time(Kind::Active);
    let data = home.home().data();
    let kept = Kept::of(&data);
    if !can_mount(
        "a_daemon_on_a_full_disk_says_so_and_goes_on_when_there_is_room",
        &data,
        &["-t", "tmpfs", "-o", "size=48m,mode=700", "tmpfs"],
    ) {
        return;
    }
    let _mount = Mount(data.clone());
    kept.put_into(&data);
    let mut daemon = home.daemon();
    // Every free block, and the log has no room left to grow.
    let filler = data.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    assert_eq!(free_blocks(&data), 0);
    for nth in 0..100 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    daemon.until("the disk is full");
    assert_eq!(home.run(&["tasks"]).code, 0, "reading goes on");
    drop(file);
    std::fs::remove_file(filler).unwrap();
    crate::support::test_home::eventually("it goes on by itself", || {
        (home.count("tasks WHERE result_summary IS NOT NULL") == 100).then_some(())
    });
    assert_eq!(daemon.stop("TERM").0, 0);
    assert_eq!(home.count("ledger WHERE state = 'task'"), 100);
    assert_eq!(home.drafts().len(), 100);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_a_rebuild_of_the_memory_and_the_next_one_finishes() {
    let home = TestHome::real_time(Kind::Active);
    crate::memory_faults::add_tasks(&home.app().await, 400).await;
    assert_eq!(home.run(&["once"]).code, 0);
    let data = home.home().data();
    let kept = Kept::of(&data);
    if !can_mount(
        "a_full_disk_stops_a_rebuild_of_the_memory_and_the_next_one_finishes",
        &data,
        &["-t", "tmpfs", "-o", "size=48m,mode=700", "tmpfs"],
    ) {
        return;
    }
    let _mount = Mount(data.clone());
    kept.put_into(&data);
    assert_eq!(home.count("search_vector"), 400);
    let filler = data.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    // Room for the log to begin, and for a part of the work.
    file.set_len(file.metadata().unwrap().len() - 128 * 1024).unwrap();
    let full = home.run(&["memory", "rebuild"]);
    assert!(full.code == 1 && full.err.contains("the disk is full"), "{}{}", full.out, full.err);
    assert!(home.count("search_vector") + home.count("search_due") >= 400);
    assert_eq!(home.count("tasks"), 400);
    drop(file);
    std::fs::remove_file(filler).unwrap();
    let again = home.run(&["memory", "rebuild"]);
    assert_eq!(again.code, 0, "{}", again.err);
    crate::memory_faults::must_be_complete(&home);
    assert_eq!(home.count("search_vector"), 400);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

fn free_blocks(folder: &std::path::Path) -> u64 {
    let output = Command::new("stat").args(["-f", "-c", "%a"]).arg(folder).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

#[test]
fn a_file_that_may_not_grow_is_a_full_disk() {
    let home = TestHome::real_time(Kind::Samples);
    let answered = finish(limited(&home, 64, &["once"]));
    assert_eq!(answered.code, 1, "{}{}", answered.out, answered.err);
    assert!(!answered.err.contains("panicked"), "{}", answered.err);
    let again = home.run(&["once"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(home.count("ledger"), 22);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let home = TestHome::real_time(Kind::Samples);
    home.write("data", "a file where the folder should be");
    for command in ["once", "run", "tasks", "doctor"] {
        let answered = home.run(&[command]);
        assert_eq!(answered.code, 1, "{command}");
        assert!(answered.err.contains("data") && answered.err.contains("cannot be written"), "{}", answered.err);
        assert!(answered.err.contains("--home"), "{}", answered.err);
    }
}

#[test]
fn a_read_only_data_folder_is_named_and_left_alone() {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    let data = home.home().data();
    let before = std::fs::read(home.home().database()).unwrap();
    let here = data.to_string_lossy().into_owned();
    if !can_mount("a_read_only_data_folder_is_named_and_left_alone", &data, &["--bind", &here]) {
        return;
    }
    let _mount = Mount(data.clone());
    assert!(mounted(&data, &["-o", "remount,ro,bind"]));
    for command in ["once", "run"] {
        let answered = home.run(&[command]);
        assert_eq!(answered.code, 1, "{command}: {}", answered.out);
        assert!(
            answered.err.contains("cannot be written") || answered.err.contains("cannot be opened"),
            "{}",
            answered.err
        );
        assert!(answered.err.contains("Make it writable") || answered.err.contains("Read-only"), "{}", answered.err);
    }
    assert!(std::fs::read(home.home().database()).unwrap() == before);
}

/// A decision that cannot be stored now is still the person's word.
#[test]
fn a_decision_file_survives_a_full_disk() {
    let home = TestHome::real_time(Kind::Active);
    let meeting = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
    home.post(&home.letter("one").body(meeting));
    assert_eq!(home.run(&["once"]).code, 0);
    let shown = home.json(&["hitl", "show", "1"]);
    let queue = home.home().queue();
    let decision = queue.join(format!("{}.decision.json", shown["item_id"].as_str().unwrap()));
    let text = serde_json::json!({ "action_sha256": shown["action_sha256"], "decision": "approve" }).to_string();
    std::fs::write(&decision, text).unwrap();
    std::fs::set_permissions(&decision, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut tried = 0;
    // From too little for anything to just too little.
    for blocks in [32, 36, 40, 44, 48, 56, 64] {
        let answered = finish(limited(&home, blocks, &["once"]));
        tried += usize::from(answered.err.contains("a decision file could not be acted on yet"));
        if !home.sent().is_empty() {
            break;
        }
        assert!(decision.exists(), "{blocks} blocks: {}", answered.err);
        assert!(
            crate::support::test_home::files_in(&queue.join("quarantine")).is_empty(),
            "{blocks} blocks: {}",
            answered.err
        );
    }
    assert!(tried > 0, "no limit was met while deciding");
    let again = home.run(&["once"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(home.sent().len(), 1);
    assert!(!decision.exists() && crate::support::test_home::files_in(&queue.join("quarantine")).is_empty());
}
