//! Tests importing archives: each mail enters once however often it is imported, and opens no task unless asked to.

use std::fs;

use crate::support::test_home::{Kind, MailBuilder, TestHome};

const OLD: &str = "Mon, 03 Feb 2020 09:00:00 +0000";

fn letters(home: &TestHome) -> Vec<MailBuilder> {
    vec![
        home.letter("new").question(),
        home.letter("old").question().date(OLD),
        home.letter("noise").header("Precedence: bulk").header("List-Unsubscribe: <https://x.example/>"),
    ]
}

fn ledger(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT account, source_key, state, reason FROM ledger ORDER BY mail_id")
}

fn states(home: &TestHome) -> Vec<String> {
    let query = "SELECT m.subject || ': ' || l.state FROM ledger l JOIN mail m USING (mail_id) ORDER BY 1";
    home.sql(query).into_iter().flatten().collect()
}

fn mbox(letters: &[MailBuilder]) -> String {
    letters
        .iter()
        .map(|letter| {
            // When each was delivered: long ago, or just now.
            let now = chrono::Utc::now().format("%a %b %e %H:%M:%S %Y").to_string();
            let at = if letter.id == "old" { "Mon Feb  3 09:00:00 2020" } else { &now };
            format!("From MAILER {at}\n{}\n", letter.text().replace("\nFrom ", "\n>From "))
        })
        .collect()
}

#[test]
fn every_kind_of_archive_twice_is_the_same_ledger() {
    for kind in ["mbox", "eml", "folder", "maildir"] {
        let home = TestHome::real_time(Kind::Active);
        let letters = letters(&home);
        let place = home.root().join("archive");
        match kind {
            "mbox" => fs::write(&place, mbox(&letters)).unwrap(),
            "eml" => fs::write(&place, letters[0].text()).unwrap(),
            _ => {
                let inside = if kind == "maildir" { place.join("cur") } else { place.clone() };
                for folder in ["new", "tmp"].iter().filter(|_| kind == "maildir") {
                    fs::create_dir_all(place.join(folder)).unwrap();
                }
                fs::create_dir_all(&inside).unwrap();
                for letter in &letters {
                    let ending = if kind == "maildir" { ":2,S" } else { ".eml" };
                    fs::write(inside.join(format!("{}{ending}", letter.id)), letter.text()).unwrap();
                }
            }
        }
        let path = place.to_string_lossy().into_owned();
        let report = home.json(&["import", &path]);
        let mails = if kind == "eml" { 1 } else { 3 };
        assert_eq!((report["mails"].as_u64(), report["new"].as_u64()), (Some(mails), Some(mails)), "{kind}: {report}");
        if kind != "eml" {
            assert_eq!(states(&home), ["About new: task", "About noise: no_task", "About old: no_task"], "{kind}");
            assert_eq!(
                home.sql_one("SELECT reason FROM ledger JOIN mail USING (mail_id) WHERE subject = 'About old'"),
                "old: written 2020-02-03"
            );
        }
        let before = ledger(&home);
        let again = home.json(&["import", &path]);
        assert_eq!(again["new"].as_u64(), Some(0), "{kind}: {again}");
        assert_eq!(ledger(&home), before, "{kind}");
        assert_eq!(home.count("tasks"), 1);
        // It only observes.
        assert_eq!(home.count("outbox WHERE class <> 'R0' AND state <> 'withheld'"), 0);
        assert_eq!(home.run(&["mail", "mode", "import", "active"]).code, 1);
        assert_eq!(home.run(&["doctor"]).code, 0);
    }
}

#[test]
fn old_mail_opens_tasks_when_asked_to() {
    let home = TestHome::real_time(Kind::Active);
    let place = home.root().join("a.mbox");
    fs::write(&place, mbox(&letters(&home))).unwrap();
    home.json(&["import", &place.to_string_lossy(), "--tasks", "--account", "past"]);
    assert_eq!(states(&home), ["About new: task", "About noise: no_task", "About old: task"]);
    assert_eq!(home.sql("SELECT DISTINCT account FROM ledger"), [["past"]]);
}

#[test]
fn what_cannot_be_imported_is_said() {
    let home = TestHome::real_time(Kind::Active);
    let missing = home.run(&["import", "/nowhere/at/all.mbox"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("/nowhere/at/all.mbox cannot be imported"), "{}", missing.err);
    home.write("x.eml", &home.letter("x").text());
    let path = home.root().join("x.eml").to_string_lossy().into_owned();
    for name in ["work", "local", "../evil", ""] {
        assert_eq!(home.run(&["import", &path, "--account", name]).code, 1, "{name}");
    }
    assert_eq!(home.count("ledger"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_in_the_ledger_and_read_when_it_can_be() {
    let home = TestHome::active();
    let place = home.root().join("archive");
    let letters: Vec<MailBuilder> = (0..70).map(|nth| home.letter(&format!("n{nth:02}"))).collect();
    for letter in &letters {
        home.write(&format!("archive/{}.eml", letter.id), &letter.text());
    }
    // It is there when the archive is listed, and not when its turn comes.
    let lost = place.join("n69.eml");
    let app = home.app().await;
    let report = app.mail().import(&place, "past", false, |_| drop(fs::remove_file(&lost))).await.unwrap();
    assert_eq!((report.mails, report.new, report.unreadable), (70, 70, 1));
    let parked = || home.sql("SELECT state, reason FROM ledger WHERE source_key LIKE 'file/%'");
    assert_eq!(parked().len(), 1);
    assert!(parked()[0][0] == "parked" && parked()[0][1].contains("n69.eml cannot be read"), "{:?}", parked());
    assert_eq!(app.mail().import(&place, "past", false, |_| ()).await.unwrap().new, 0);
    fs::write(&lost, letters[69].text()).unwrap();
    let report = app.mail().import(&place, "past", false, |_| ()).await.unwrap();
    assert_eq!((report.mails, report.new, report.unreadable), (70, 1, 0));
    assert_eq!(parked()[0][0], "gone");
    assert_eq!(home.count("mail WHERE subject = 'About n69'"), 1);
    home.must_be_sound().await;
}

#[test]
fn names_used_again_in_an_archive_are_other_mails() {
    let home = TestHome::real_time(Kind::Active);
    home.write("archive/new/other", &home.letter("other").text());
    for (round, id) in ["one", "two"].into_iter().enumerate() {
        home.write("archive/cur/same:2,S", &home.letter(id).text());
        std::thread::sleep(std::time::Duration::from_millis(320));
        let report = home.json(&["import", &home.root().join("archive").to_string_lossy()]);
        assert_eq!(report["new"].as_u64(), Some(2 - round as u64), "{report}");
    }
    assert_eq!(states(&home).len(), 3);
}

/// Whatever the time of its envelope says, a message is one of its own.
#[test]
fn no_mail_is_lost_behind_an_envelope_of_an_absurd_time() {
    for time in [
        "Thu Jan 01 00:00:00 99999",
        "Thu Jan 01 99:99:99 2026",
        "Thu Feb 31 00:00:00 2026",
        "Thu, 01 Jan 2026 00:00:00 +0000",
    ] {
        let home = TestHome::real_time(Kind::Active);
        let (one, two) = (home.letter("one").question(), home.letter("two").question());
        let text = format!("From a@b Wed Nov 18 03:00:00 2026\n{}\nFrom a@b {time}\n{}", one.text(), two.text());
        fs::write(home.root().join("archive.mbox"), text).unwrap();
        let path = home.root().join("archive.mbox").to_string_lossy().into_owned();
        home.json(&["import", &path]);
        assert_eq!(states(&home).len(), 2, "{time}: {:?}", states(&home));
    }
}
