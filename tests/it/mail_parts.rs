//! Tests that two mails are the same only if all their parts are, and that what was not read of a mail is reported.

use adjutant::{
    followup::fingerprint,
    ingest::{TrustedServers, parse_mail},
};

use crate::support::test_home::TestHome;

fn states(home: &TestHome) -> Vec<String> {
    home.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect()
}

/// The same cover note over another mail.
fn handed_on(id: &str, text: &str) -> String {
    format!(
        "From: Tom <tom@b.example>\nTo: you@home.example\nSubject: Please handle\nMessage-ID: <{id}@x>\nDate: Mon, 16 Nov 2026 07:00:00 +0000\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: text/plain\n\nPlease handle the attached.\n\
         --q\nContent-Type: message/rfc822\n\nFrom: x@y.example\nSubject: it\n\n{text}\n--q--\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn different_mails_under_one_cover_note_are_different_tasks() {
    let home = TestHome::active();
    home.deliver("a", handed_on("m1", "Pay 10 to Bob"));
    home.deliver("b", handed_on("m2", "Sue Carol"));
    home.once().await;
    // An id that was used before, over something else.
    home.deliver("c", handed_on("m1", "Fire Dan"));
    home.once().await;
    assert_eq!(states(&home), ["task", "task", "task"], "{:?}", home.sql("SELECT reason FROM ledger"));
    assert!(home.sql_one("SELECT reason FROM ledger WHERE mail_id = 3").starts_with("flagged: carries the Message-ID"));
    // And again what is here, with the id it had and with another.
    home.deliver("d", handed_on("m2", "Sue Carol"));
    home.deliver("e", handed_on("m4", "Sue Carol"));
    home.once().await;
    assert_eq!(states(&home)[3..], ["duplicate", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_of_an_earlier_version_is_known_again() {
    let home = TestHome::active();
    let raw = handed_on("m1", "Pay 10 to Bob");
    home.deliver("a", &raw);
    home.once().await;
    // As it was stored before every part counted.
    let mail = parse_mail(raw.as_bytes(), &TrustedServers::default()).unwrap();
    let database = home.database();
    database.execute("UPDATE mail SET content_sha256 = ?1", [&mail.former_content_sha256]).unwrap();
    let (now, then) = (fingerprint::of_mail(&mail), fingerprint::former_of_mail(&mail));
    assert_eq!(
        database
            .execute("UPDATE task_mark SET mark = ?2 WHERE mark = ?1", (now.unwrap().as_str(), then.unwrap().as_str()))
            .unwrap(),
        1
    );
    drop(database);
    home.deliver("b", &raw);
    home.deliver("c", handed_on("m2", "Pay 10 to Bob"));
    home.once().await;
    assert_eq!(states(&home), ["task", "duplicate", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
    assert_eq!(home.count("tasks"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_read_is_told() {
    let home = TestHome::active();
    let log = "2026-11-18 all good, nothing to see\n".repeat(9_000);
    let letter = |id: &str| home.letter(id).subject(&format!("The log {id}"));
    home.post(
        &letter("silent").body(&format!("Hello, here is the log you wanted.\n{log}\nPlease send me the contract.\n")),
    );
    home.post(
        &letter("asks").body(&format!("Hello Alex,\n\nCould you send me the signed contract by Friday?\n\n{log}\n")),
    );
    home.once().await;
    for row in home.sql("SELECT reason FROM ledger") {
        assert!(
            row[0].starts_with("flagged: its text is too long: only the first 262144 characters were read; "),
            "{row:?}"
        );
    }
    for mail in ["1", "2"] {
        let shown = home.run(&["mail", "show", mail]).out;
        assert!(shown.contains("only the first 262144 characters were read"), "{}", shown.get(..500).unwrap_or(&shown));
    }
    let task = home.run(&["tasks", "show", "1"]).out;
    assert!(task.contains("only the first 262144 characters were read"), "{task}");
}
