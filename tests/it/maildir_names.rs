//! Tests that a mail is identified by its content: file names are reused, overwritten, moved and restored, and each
//! content is read once.

use std::{fs, io::Write as _, path::Path, time::Duration};

use adjutant::app::MailLocation;

use crate::support::test_home::{Daemon, Kind, TestHome, eventually};

/// The subjects of the mails in the ledger, with what became of them, as the program tells a person.
pub(crate) fn mails(home: &TestHome) -> Vec<(String, String)> {
    let rows = home.json(&["mail", "list", "--limit", "100000"]);
    let text = |row: &serde_json::Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (text(row, "subject"), text(row, "state"))).collect();
    rows.sort();
    rows
}

fn subjects(home: &TestHome) -> Vec<String> {
    mails(home).into_iter().map(|(subject, _)| subject).collect()
}

fn must_be_well(home: &TestHome) {
    let doctor = home.diagnosis();
    assert_eq!(doctor["unaccounted"], 0, "{doctor:#}");
}

fn once(home: &TestHome) {
    let answered = home.run(&["once"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
}

/// Two letters that differ in their words and in nothing a directory tells.
fn pair(home: &TestHome) -> (String, String) {
    (home.letter("aa").question().text(), home.letter("bb").question().text())
}

#[test]
fn a_name_used_again_is_another_mail() {
    type Put = fn(&TestHome, &str);
    let ways: [(&str, Put); 6] = [
        ("removed and put anew", |home, text| {
            fs::remove_file(home.maildir().join("new/x")).unwrap();
            once(home);
            home.deliver("x", text);
        }),
        ("removed and put anew between two looks", |home, text| {
            fs::remove_file(home.maildir().join("new/x")).unwrap();
            home.deliver("x", text);
        }),
        ("overwritten in place", |home, text| {
            home.deliver("x", text);
        }),
        ("renamed over", |home, text| {
            let tmp = home.deliver_into("tmp", "x", text);
            fs::rename(tmp, home.maildir().join("new/x")).unwrap();
        }),
        ("beside it under another flag", |home, text| {
            home.deliver_into("new", "x:2,S", text);
        }),
        ("beside it in the other directory", |home, text| {
            home.deliver_into("cur", "x:2,S", text);
        }),
    ];
    for (way, put) in ways {
        let home = TestHome::real_time(Kind::Active);
        let (first, second) = pair(&home);
        let path = home.deliver("x", &first);
        let stamp = fs::metadata(&path).unwrap().modified().unwrap();
        once(&home);
        put(&home, &second);
        // A backup that is put back keeps even the times.
        for file in ["new/x", "new/x:2,S", "cur/x:2,S"].map(|name| home.maildir().join(name)) {
            if file.exists() {
                fs::File::options().write(true).open(file).unwrap().set_modified(stamp).unwrap();
            }
        }
        once(&home);
        assert_eq!(subjects(&home), ["About aa", "About bb"], "{way}");
        must_be_well(&home);
        once(&home);
        assert_eq!(subjects(&home).len(), 2, "{way}: each is read once");
        must_be_well(&home);
    }
}

#[test]
fn two_mails_of_one_name_at_once_are_two_mails() {
    let home = TestHome::real_time(Kind::Active);
    let (first, second) = pair(&home);
    home.deliver("x", &first);
    home.deliver_into("cur", "x:2,S", &second);
    // The same again is the same mail.
    home.deliver_into("cur", "x:2,F", &first);
    once(&home);
    once(&home);
    assert_eq!(subjects(&home), ["About aa", "About bb"]);
    must_be_well(&home);
}

#[test]
fn a_folder_emptied_and_refilled_is_read() {
    let home = TestHome::real_time(Kind::Active);
    for round in 0..3 {
        for nth in 0..4 {
            home.deliver(&format!("{nth}.eml"), home.letter(&format!("r{round}n{nth}")).text());
        }
        once(&home);
        for nth in 0..4 {
            fs::remove_file(home.maildir().join(format!("new/{nth}.eml"))).unwrap();
        }
    }
    // The first filling comes back as it was.
    for nth in 0..4 {
        home.deliver(&format!("{nth}.eml"), home.letter(&format!("r0n{nth}")).date("x").text());
    }
    once(&home);
    assert_eq!(subjects(&home).len(), 16, "{:?}", subjects(&home));
    must_be_well(&home);
}

#[test]
fn what_the_mailbox_holds_and_the_ledger_does_not_is_unaccounted() {
    let home = TestHome::real_time(Kind::Active);
    home.deliver("x", home.letter("aa").text());
    once(&home);
    must_be_well(&home);
    home.deliver("y", home.letter("bb").text());
    let doctor = home.diagnosis();
    assert_eq!((doctor["unaccounted"].as_u64(), doctor["accounts"][1]["waiting"].as_u64()), (Some(0), Some(1)));
    // A poll that ought to have seen it has been made since.
    std::thread::sleep(Duration::from_millis(700));
    let later = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    home.database()
        .execute("UPDATE account SET cursor = ?1 WHERE account = 'work'", [format!("maildir1 {later} ? ? ? ?")])
        .unwrap();
    let doctor = home.run(&["--json", "doctor"]);
    let health: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    assert_eq!(health["unaccounted"], 1, "{health:#}");
    assert_ne!(doctor.code, 0);
}

/// Archives a mail as the outbox does; whether it could be.
async fn archive(home: &TestHome, mail: &str) -> bool {
    let key = home.sql_one(&format!("SELECT source_key FROM ledger WHERE mail_id = {mail}"));
    let worker = home.worker().await;
    let MailLocation::Maildir(maildir) = worker.followed_accounts[0].location.clone() else { panic!("no Maildir") };
    let archived = tokio::task::spawn_blocking(move || maildir.archive(&key)).await.unwrap();
    worker.stop().await;
    archived.is_ok()
}

fn number(home: &TestHome, subject: &str) -> String {
    let rows = home.json(&["mail", "list"]);
    let row = rows.as_array().unwrap().iter().find(|row| row["subject"] == subject && row["state"] != "duplicate");
    row.unwrap()["mail_id"].to_string()
}

fn texts_in(folder: &Path) -> Vec<String> {
    let mut texts: Vec<String> = ["new", "cur"]
        .iter()
        .filter_map(|state| fs::read_dir(folder.join(state)).ok())
        .flatten()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter_map(|text| text.lines().find_map(|line| line.strip_prefix("Subject: ").map(str::to_owned)))
        .collect();
    texts.sort();
    texts
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_on_a_mail_never_meets_another_of_its_name() {
    let home = TestHome::real_time(Kind::Active);
    let (first, second) = pair(&home);
    home.deliver("x", &first);
    once(&home);
    let old = number(&home, "About aa");
    // Before anything is polled again, and after.
    for polled in [false, true] {
        home.deliver("x", &second);
        if polled {
            once(&home);
        }
        assert!(!archive(&home, &old).await);
        assert_eq!(texts_in(&home.maildir()), ["About bb"]);
        assert_eq!(texts_in(&home.maildir().join(".Archive")), [""; 0]);
    }
    // The other is the one that is there. Then the first is put back, and goes the same way: neither is overwritten.
    assert!(archive(&home, &number(&home, "About bb")).await);
    home.deliver("x", &first);
    once(&home);
    assert!(archive(&home, &old).await);
    assert_eq!(texts_in(&home.maildir()), [""; 0]);
    assert_eq!(texts_in(&home.maildir().join(".Archive")), ["About aa", "About bb"]);
    once(&home);
    assert_eq!(subjects(&home), ["About aa", "About bb"]);
    must_be_well(&home);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_a_filter_adds_fields_to_stays_the_same_mail() {
    let home = TestHome::real_time(Kind::Active);
    let letter = home.letter("aa").question();
    home.deliver("x", letter.text());
    once(&home);
    home.deliver("x", format!("X-Spam-Score: 0.1\n{}", letter.text()));
    once(&home);
    assert_eq!(mails(&home), [("About aa".into(), "duplicate".into()), ("About aa".into(), "task".into())]);
    assert!(archive(&home, &number(&home, "About aa")).await);
    assert_eq!(texts_in(&home.maildir().join(".Archive")), ["About aa"]);
    must_be_well(&home);
}

#[test]
fn flags_moves_and_backups_are_quiet() {
    let home = TestHome::real_time(Kind::Active);
    for nth in 0..20 {
        home.deliver(&format!("{nth}.eml"), home.letter(&format!("n{nth}")).question().text());
    }
    once(&home);
    let before = home.dump();
    for nth in 0..20 {
        let (new, cur) =
            (home.maildir().join(format!("new/{nth}.eml")), home.maildir().join(format!("cur/{nth}.eml:2,S")));
        match nth % 4 {
            0 => fs::rename(new, cur).unwrap(),
            1 => fs::hard_link(&new, home.root().join(format!("backup-{nth}"))).unwrap(),
            2 => {
                fs::copy(&new, &cur).unwrap();
                fs::remove_file(new).unwrap();
            }
            _ => {
                fs::copy(&new, &cur).unwrap();
            }
        }
    }
    std::thread::sleep(Duration::from_millis(320));
    once(&home);
    once(&home);
    assert_eq!(home.dump(), before);
    must_be_well(&home);
}

/// Writes the beginning of a letter, waits until it was read, and returns the file.
fn begin(home: &TestHome, name: &str, first: &str) -> fs::File {
    let mut file = fs::File::create(home.maildir().join("new").join(name)).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    file
}

fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.find("I have the keys").unwrap())
}

fn whole_is_read(home: &TestHome, subject: &str) {
    let whole = || {
        let rows = home.json(&["mail", "list"]);
        let found = rows.as_array().unwrap().iter().filter(|row| row["subject"] == subject).find(|row| {
            let shown = home.json(&["mail", "show", &row["mail_id"].to_string()]);
            shown.to_string().contains("I have the keys")
        });
        found.map(|row| row["state"].as_str().unwrap().to_owned()).filter(|state| state != "pending")
    };
    let state = eventually("the whole of it is read", whole);
    assert!(["task", "linked"].contains(&state.as_str()), "{state}");
    let open = home.sql("SELECT objective FROM tasks WHERE status NOT IN ('DONE', 'CANCELLED')");
    assert_eq!(open.len(), 1, "one mail, one task: {open:?}");
}

#[test]
fn a_writer_that_pauses_is_waited_for_or_read_again() {
    let home = TestHome::real_time(Kind::Active);
    let daemon: Daemon = home.daemon();
    let letter = home.letter("slow").question();
    let text = letter.text();
    let (first, second) = halves(&text);
    let mut file = begin(&home, "slow", first);
    std::thread::sleep(Duration::from_secs(2));
    file.write_all(second.as_bytes()).unwrap();
    drop(file);
    whole_is_read(&home, "About slow");
    must_be_well(&home);
    assert_eq!(daemon.stop("TERM").0, 0);
}

#[test]
fn a_writer_that_was_killed_and_comes_back_after_a_day_is_read_again() {
    let home = TestHome::real_time(Kind::Active);
    let letter = home.letter("late").question();
    let text = letter.text();
    let (first, second) = halves(&text);
    let path = home.deliver("late", first);
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(yesterday).unwrap();
    once(&home);
    assert_eq!(subjects(&home), ["About late"]);
    let daemon = home.daemon();
    // It begins anew, as a copy that is made again does, and pauses once more.
    let mut file = begin(&home, "late", first);
    std::thread::sleep(Duration::from_millis(600));
    file.write_all(second.as_bytes()).unwrap();
    // As one that keeps the time of what it copies.
    file.set_modified(yesterday).unwrap();
    drop(file);
    whole_is_read(&home, "About late");
    assert_eq!(daemon.stop("TERM").0, 0);
    // And with a time from another clock.
    let path = home.deliver("future", home.letter("future").question().text());
    let later = std::time::SystemTime::now() + Duration::from_secs(86_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    once(&home);
    assert!(subjects(&home).contains(&"About future".to_owned()));
    must_be_well(&home);
}

#[test]
fn a_task_a_person_has_touched_is_kept_when_the_rest_of_its_mail_comes() {
    let home = TestHome::real_time(Kind::Active);
    let text = home.letter("slow").question().text();
    let (first, second) = halves(&text);
    home.deliver("slow", first);
    once(&home);
    assert_eq!(home.run(&["tasks", "set", "1", "--priority", "high"]).code, 0);
    home.deliver("slow", format!("{first}{second}"));
    once(&home);
    whole_is_read(&home, "About slow");
    assert_eq!(home.sql("SELECT priority, status <> 'CANCELLED' FROM tasks"), [["high", "1"]]);
    must_be_well(&home);
}

/// Bytes a process has read so far, from whatever file.
fn bytes_read(process: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().trim().parse().unwrap()
}

#[test]
fn mail_that_cannot_be_read_is_not_read_at_every_poll() {
    let home = TestHome::real_time(Kind::Active);
    let (mails, size) = (12, 4 << 20);
    for nth in 0..mails {
        home.deliver(&format!("garbage-{nth}"), "no header at all\n".repeat(size / 17));
    }
    let daemon = home.daemon();
    assert_eq!(home.count("ledger WHERE state = 'parked'"), mails);
    once(&home);
    let before = bytes_read(daemon.id());
    for nth in 0..5 {
        // New mail, so that each look is a whole one.
        home.deliver(&format!("news-{nth}"), home.letter(&format!("news{nth}")).text());
        once(&home);
    }
    let read = bytes_read(daemon.id()) - before;
    assert!(read < size as u64, "{read} bytes were read in five looks");
    // One that changes is read, alone, and worked.
    let before = bytes_read(daemon.id());
    home.deliver("garbage-3", home.letter("mended").question().text());
    once(&home);
    assert!(subjects(&home).contains(&"About mended".to_owned()));
    let read = bytes_read(daemon.id()) - before;
    assert!(read < size as u64, "{read} bytes were read for one mail");
    must_be_well(&home);
    assert_eq!(daemon.stop("TERM").0, 0);
}
