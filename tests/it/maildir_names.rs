//! A mail is its content. Names of files are used again, overwritten, moved and restored, and each content is read once.

use std::{fs, io::Write as _, path::Path, time::Duration};

use adjutant::app::MailLocation;

use crate::house::{Daemon, House, Kind, eventually};

/// The subjects of the mails in the ledger, with what became of them, as the program tells a person.
pub(crate) fn mails(house: &House) -> Vec<(String, String)> {
    let rows = house.json(&["mail", "list", "--limit", "100000"]);
    let text = |row: &serde_json::Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (text(row, "subject"), text(row, "state"))).collect();
    rows.sort();
    rows
}

fn subjects(house: &House) -> Vec<String> {
    mails(house).into_iter().map(|(subject, _)| subject).collect()
}

fn must_be_well(house: &House) {
    let doctor = house.diagnosis();
    assert_eq!(doctor["unaccounted"], 0, "{doctor:#}");
}

fn once(house: &House) {
    let answered = house.run(&["once"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
}

/// Two letters that differ in their words and in nothing a directory tells.
fn pair(house: &House) -> (String, String) {
    (house.letter("aa").question().text(), house.letter("bb").question().text())
}

#[test]
fn a_name_used_again_is_another_mail() {
    type Put = fn(&House, &str);
    let ways: [(&str, Put); 6] = [
        ("removed and put anew", |house, text| {
            fs::remove_file(house.maildir().join("new/x")).unwrap();
            once(house);
            house.deliver("x", text);
        }),
        ("removed and put anew between two looks", |house, text| {
            fs::remove_file(house.maildir().join("new/x")).unwrap();
            house.deliver("x", text);
        }),
        ("overwritten in place", |house, text| {
            house.deliver("x", text);
        }),
        ("renamed over", |house, text| {
            let tmp = house.deliver_into("tmp", "x", text);
            fs::rename(tmp, house.maildir().join("new/x")).unwrap();
        }),
        ("beside it under another flag", |house, text| {
            house.deliver_into("new", "x:2,S", text);
        }),
        ("beside it in the other directory", |house, text| {
            house.deliver_into("cur", "x:2,S", text);
        }),
    ];
    for (way, put) in ways {
        let house = House::real_time(Kind::Active);
        let (first, second) = pair(&house);
        let path = house.deliver("x", &first);
        let stamp = fs::metadata(&path).unwrap().modified().unwrap();
        once(&house);
        put(&house, &second);
        // A backup that is put back keeps even the times.
        for file in ["new/x", "new/x:2,S", "cur/x:2,S"].map(|name| house.maildir().join(name)) {
            if file.exists() {
                fs::File::options().write(true).open(file).unwrap().set_modified(stamp).unwrap();
            }
        }
        once(&house);
        assert_eq!(subjects(&house), ["About aa", "About bb"], "{way}");
        must_be_well(&house);
        once(&house);
        assert_eq!(subjects(&house).len(), 2, "{way}: each is read once");
        must_be_well(&house);
    }
}

#[test]
fn two_mails_of_one_name_at_once_are_two_mails() {
    let house = House::real_time(Kind::Active);
    let (first, second) = pair(&house);
    house.deliver("x", &first);
    house.deliver_into("cur", "x:2,S", &second);
    // The same again is the same mail.
    house.deliver_into("cur", "x:2,F", &first);
    once(&house);
    once(&house);
    assert_eq!(subjects(&house), ["About aa", "About bb"]);
    must_be_well(&house);
}

#[test]
fn a_folder_emptied_and_refilled_is_read() {
    let house = House::real_time(Kind::Active);
    for round in 0..3 {
        for nth in 0..4 {
            house.deliver(&format!("{nth}.eml"), house.letter(&format!("r{round}n{nth}")).text());
        }
        once(&house);
        for nth in 0..4 {
            fs::remove_file(house.maildir().join(format!("new/{nth}.eml"))).unwrap();
        }
    }
    // The first filling comes back as it was.
    for nth in 0..4 {
        house.deliver(&format!("{nth}.eml"), house.letter(&format!("r0n{nth}")).date("x").text());
    }
    once(&house);
    assert_eq!(subjects(&house).len(), 16, "{:?}", subjects(&house));
    must_be_well(&house);
}

#[test]
fn what_the_mailbox_holds_and_the_ledger_does_not_is_unaccounted() {
    let house = House::real_time(Kind::Active);
    house.deliver("x", house.letter("aa").text());
    once(&house);
    must_be_well(&house);
    house.deliver("y", house.letter("bb").text());
    let doctor = house.diagnosis();
    assert_eq!((doctor["unaccounted"].as_u64(), doctor["accounts"][1]["waiting"].as_u64()), (Some(0), Some(1)));
    // A poll that ought to have seen it has been made since.
    std::thread::sleep(Duration::from_millis(700));
    let later = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    house
        .database()
        .execute("UPDATE account SET cursor = ?1 WHERE account = 'work'", [format!("maildir1 {later} ? ? ? ?")])
        .unwrap();
    let doctor = house.run(&["--json", "doctor"]);
    let health: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    assert_eq!(health["unaccounted"], 1, "{health:#}");
    assert_ne!(doctor.code, 0);
}

/// Archives a mail as the outbox does; whether it could be.
async fn archive(house: &House, mail: &str) -> bool {
    let key = house.sql_one(&format!("SELECT source_key FROM ledger WHERE mail_id = {mail}"));
    let worker = house.worker().await;
    let MailLocation::Maildir(maildir) = worker.followed_accounts[0].location.clone() else { panic!("no Maildir") };
    let archived = tokio::task::spawn_blocking(move || maildir.archive(&key)).await.unwrap();
    worker.stop().await;
    archived.is_ok()
}

fn number(house: &House, subject: &str) -> String {
    let rows = house.json(&["mail", "list"]);
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
    let house = House::real_time(Kind::Active);
    let (first, second) = pair(&house);
    house.deliver("x", &first);
    once(&house);
    let old = number(&house, "About aa");
    // Before anything is polled again, and after.
    for polled in [false, true] {
        house.deliver("x", &second);
        if polled {
            once(&house);
        }
        assert!(!archive(&house, &old).await);
        assert_eq!(texts_in(&house.maildir()), ["About bb"]);
        assert_eq!(texts_in(&house.maildir().join(".Archive")), [""; 0]);
    }
    // The other is the one that is there. Then the first is put back, and goes the same way: neither is overwritten.
    assert!(archive(&house, &number(&house, "About bb")).await);
    house.deliver("x", &first);
    once(&house);
    assert!(archive(&house, &old).await);
    assert_eq!(texts_in(&house.maildir()), [""; 0]);
    assert_eq!(texts_in(&house.maildir().join(".Archive")), ["About aa", "About bb"]);
    once(&house);
    assert_eq!(subjects(&house), ["About aa", "About bb"]);
    must_be_well(&house);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_a_filter_adds_fields_to_stays_the_same_mail() {
    let house = House::real_time(Kind::Active);
    let letter = house.letter("aa").question();
    house.deliver("x", letter.text());
    once(&house);
    house.deliver("x", format!("X-Spam-Score: 0.1\n{}", letter.text()));
    once(&house);
    assert_eq!(mails(&house), [("About aa".into(), "duplicate".into()), ("About aa".into(), "task".into())]);
    assert!(archive(&house, &number(&house, "About aa")).await);
    assert_eq!(texts_in(&house.maildir().join(".Archive")), ["About aa"]);
    must_be_well(&house);
}

#[test]
fn flags_moves_and_backups_are_quiet() {
    let house = House::real_time(Kind::Active);
    for nth in 0..20 {
        house.deliver(&format!("{nth}.eml"), house.letter(&format!("n{nth}")).question().text());
    }
    once(&house);
    let before = house.dump();
    for nth in 0..20 {
        let (new, cur) =
            (house.maildir().join(format!("new/{nth}.eml")), house.maildir().join(format!("cur/{nth}.eml:2,S")));
        match nth % 4 {
            0 => fs::rename(new, cur).unwrap(),
            1 => fs::hard_link(&new, house.root().join(format!("backup-{nth}"))).unwrap(),
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
    once(&house);
    once(&house);
    assert_eq!(house.dump(), before);
    must_be_well(&house);
}

/// Writes the beginning of a letter, waits until it was read, and returns the file.
fn begin(house: &House, name: &str, first: &str) -> fs::File {
    let mut file = fs::File::create(house.maildir().join("new").join(name)).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    file
}

fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.find("I have the keys").unwrap())
}

fn whole_is_read(house: &House, subject: &str) {
    let whole = || {
        let rows = house.json(&["mail", "list"]);
        let found = rows.as_array().unwrap().iter().filter(|row| row["subject"] == subject).find(|row| {
            let shown = house.json(&["mail", "show", &row["mail_id"].to_string()]);
            shown.to_string().contains("I have the keys")
        });
        found.map(|row| row["state"].as_str().unwrap().to_owned()).filter(|state| state != "pending")
    };
    let state = eventually("the whole of it is read", whole);
    assert!(["task", "linked"].contains(&state.as_str()), "{state}");
    let open = house.sql("SELECT objective FROM tasks WHERE status NOT IN ('DONE', 'CANCELLED')");
    assert_eq!(open.len(), 1, "one mail, one task: {open:?}");
}

#[test]
fn a_writer_that_pauses_is_waited_for_or_read_again() {
    let house = House::real_time(Kind::Active);
    let daemon: Daemon = house.daemon();
    let letter = house.letter("slow").question();
    let text = letter.text();
    let (first, second) = halves(&text);
    let mut file = begin(&house, "slow", first);
    std::thread::sleep(Duration::from_secs(2));
    file.write_all(second.as_bytes()).unwrap();
    drop(file);
    whole_is_read(&house, "About slow");
    must_be_well(&house);
    assert_eq!(daemon.stop("TERM").0, 0);
}

#[test]
fn a_writer_that_was_killed_and_comes_back_after_a_day_is_read_again() {
    let house = House::real_time(Kind::Active);
    let letter = house.letter("late").question();
    let text = letter.text();
    let (first, second) = halves(&text);
    let path = house.deliver("late", first);
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(yesterday).unwrap();
    once(&house);
    assert_eq!(subjects(&house), ["About late"]);
    let daemon = house.daemon();
    // It begins anew, as a copy that is made again does, and pauses once more.
    let mut file = begin(&house, "late", first);
    std::thread::sleep(Duration::from_millis(600));
    file.write_all(second.as_bytes()).unwrap();
    // As one that keeps the time of what it copies.
    file.set_modified(yesterday).unwrap();
    drop(file);
    whole_is_read(&house, "About late");
    assert_eq!(daemon.stop("TERM").0, 0);
    // And with a time from another clock.
    let path = house.deliver("future", house.letter("future").question().text());
    let later = std::time::SystemTime::now() + Duration::from_secs(86_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    once(&house);
    assert!(subjects(&house).contains(&"About future".to_owned()));
    must_be_well(&house);
}

#[test]
fn a_task_a_person_has_touched_is_kept_when_the_rest_of_its_mail_comes() {
    let house = House::real_time(Kind::Active);
    let text = house.letter("slow").question().text();
    let (first, second) = halves(&text);
    house.deliver("slow", first);
    once(&house);
    assert_eq!(house.run(&["tasks", "set", "1", "--priority", "high"]).code, 0);
    house.deliver("slow", format!("{first}{second}"));
    once(&house);
    whole_is_read(&house, "About slow");
    assert_eq!(house.sql("SELECT priority, status <> 'CANCELLED' FROM tasks"), [["high", "1"]]);
    must_be_well(&house);
}

/// Bytes a process has read so far, from whatever file.
fn bytes_read(process: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().trim().parse().unwrap()
}

#[test]
fn mail_that_cannot_be_read_is_not_read_at_every_poll() {
    let house = House::real_time(Kind::Active);
    let (mails, size) = (12, 4 << 20);
    for nth in 0..mails {
        house.deliver(&format!("garbage-{nth}"), "no header at all\n".repeat(size / 17));
    }
    let daemon = house.daemon();
    assert_eq!(house.count("ledger WHERE state = 'parked'"), mails);
    once(&house);
    let before = bytes_read(daemon.id());
    for nth in 0..5 {
        // New mail, so that each look is a whole one.
        house.deliver(&format!("news-{nth}"), house.letter(&format!("news{nth}")).text());
        once(&house);
    }
    let read = bytes_read(daemon.id()) - before;
    assert!(read < size as u64, "{read} bytes were read in five looks");
    // One that changes is read, alone, and worked.
    let before = bytes_read(daemon.id());
    house.deliver("garbage-3", house.letter("mended").question().text());
    once(&house);
    assert!(subjects(&house).contains(&"About mended".to_owned()));
    let read = bytes_read(daemon.id()) - before;
    assert!(read < size as u64, "{read} bytes were read for one mail");
    must_be_well(&house);
    assert_eq!(daemon.stop("TERM").0, 0);
}
