use super::*;

const MAIL: &str = "Date: Mon, 3 Mar 2025 10:00:00 +0000\nSubject: x\n\nbody\n";

fn read(path: &Path) -> Vec<Imported> {
    let import = Import::open(path).unwrap();
    let total = import.total_bytes();
    let all: Vec<_> = import.map(Result::unwrap).collect();
    assert_eq!(all.last().map_or(0, |last| last.progress), total, "the progress ends at the total");
    all
}

/// (folder, direction, arrival, bytes)
fn summary(all: &[Imported]) -> Vec<(&str, Direction, String, usize)> {
    all.iter().map(|one| (one.folder.as_str(), one.direction, one.arrived_at.to_string(), one.bytes.len())).collect()
}

#[test]
fn a_single_message() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.eml");
    fs::write(&file, MAIL).unwrap();
    assert_eq!(summary(&read(&file)), [("", Direction::In, "2025-03-03T10:00:00Z".to_owned(), MAIL.len())]);
}

#[test]
fn a_directory_with_folders_and_links() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("Sent Items")).unwrap();
    fs::write(dir.path().join("b.EML"), MAIL).unwrap();
    fs::write(dir.path().join("notes.txt"), MAIL).unwrap();
    fs::write(dir.path().join("Sent Items/a.eml"), format!("{MAIL}more")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("c.eml")).unwrap();
    let at = || "2025-03-03T10:00:00Z".to_owned();
    let all = read(dir.path());
    assert_eq!(
        summary(&all),
        [("Sent Items", Direction::Out, at(), MAIL.len() + 4), ("", Direction::In, at(), MAIL.len())]
    );
    assert_eq!(all, read(dir.path()), "keys repeat");
}

#[test]
fn an_mbox() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("Sent.mbox");
    fs::write(
        &file,
        format!("From a@b Tue Mar  4 09:00:00 2025\n{MAIL}\nFrom a@b Tue Mar  4 09:00:01 2025\nSubject: y\n\n"),
    )
    .unwrap();
    let all = read(&file);
    assert_eq!(summary(&all)[0], ("Sent", Direction::Out, "2025-03-04T09:00:00Z".to_owned(), MAIL.len()));
    assert_eq!(all.len(), 2);
    assert_ne!(all[0].key, all[1].key);
    assert_eq!(all, read(&file), "keys repeat");
}

#[test]
fn a_maildir() {
    let dir = tempfile::tempdir().unwrap();
    let maildir = Maildir::open(dir.path().to_owned(), Box::new(Vec::new()));
    maildir.create_inbox().unwrap();
    for (folder, unique) in [("INBOX", "1700000000.a.h"), (".Sent", "1700000001.b.h"), (".Trash", "1700000002.c.h")] {
        maildir.deliver(folder, unique, MAIL.as_bytes()).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(320));
    let all = read(dir.path());
    let found: Vec<_> = all.iter().map(|one| (one.folder.as_str(), one.direction)).collect();
    assert_eq!(found, [("INBOX", Direction::In), (".Sent", Direction::Out)]);
    assert_eq!(all, read(dir.path()), "keys repeat");
}

#[test]
fn nothing_there_says_so() {
    assert!(matches!(Import::open(Path::new("/nowhere/at/all")), Err(SourceError::Unavailable { .. })));
}
