//! Tests the first run on the sample mails: every one is accounted for, and a second run changes nothing.

use adjutant::model::{MailId, MailState};

use crate::support::test_home::{Kind, TestHome};

/// Mail, what the ledger says, and `kind level` of each task, in the order of their numbers.
const BECAME: &[(&str, &str, &[&str])] = &[
    ("01-meeting-request", "task", &["meeting med"]),
    ("02-meeting-followup", "linked", &[]),
    ("03-invoice", "task", &["invoice med"]),
    ("04-bank-alert", "task", &["alert high"]),
    ("05-deadline", "task", &["deadline low"]),
    ("06-question", "task", &["question low"]),
    ("07-newsletter", "no_task", &[]),
    ("08-receipt", "no_task", &[]),
    ("09-list-thread", "no_task", &[]),
    ("10-list-thread-reply", "task", &["request low"]),
    ("11-invitation", "task", &["invitation med"]),
    ("12-hebrew-request", "task", &["request low"]),
    ("13-hebrew-meeting", "task", &["meeting med"]),
    ("14-html-only", "task", &["request high"]),
    ("15-two-requests", "task", &["request low", "request low"]),
    ("16-phishing", "no_task", &[]),
    ("17-injection", "task", &["request low"]),
    ("18-fyi", "no_task", &[]),
    ("19-outage", "task", &["alert critical"]),
    ("20-thank-you", "no_task", &[]),
    ("21-review-attachment", "task", &["review low"]),
    ("22-self-note", "task", &["reminder med"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_sample_becomes_what_the_table_says() {
    let home = TestHome::samples();
    let report = home.once().await;
    assert_eq!((report.entered, report.duplicates, report.unreadable), (BECAME.len(), 0, 0));
    let rows = home.sql(
        "SELECT substr(l.source_key, 7), l.state, coalesce((SELECT group_concat(word, ';') FROM (SELECT f.kind || ' ' || t.priority AS word
           FROM task_owner o JOIN tasks t USING (task_id) JOIN task_facts f USING (task_id) WHERE o.mail_id = l.mail_id ORDER BY t.task_id)), '')
         FROM ledger l ORDER BY 1",
    );
    let expected: Vec<Vec<String>> = BECAME
        .iter()
        .map(|(mail, state, tasks)| {
            let mut tasks = tasks.to_vec();
            tasks.sort_unstable();
            vec![(*mail).to_owned(), (*state).to_owned(), tasks.join(";")]
        })
        .collect();
    assert_eq!(rows, expected);
    assert!(report.outcomes.iter().all(|outcome| outcome.state != MailState::Pending && !outcome.reason.is_empty()));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn once_twice_changes_nothing() {
    let home = TestHome::samples();
    home.once().await;
    let (before, drafts) = (home.dump(), home.drafts());
    assert!(before.lines().count() > 300, "{}", before.lines().count());
    let report = home.once().await;
    assert_eq!((report.entered, report.outcomes.len()), (0, 0));
    assert_eq!(home.dump(), before);
    assert_eq!(home.drafts(), drafts);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_samples_stay_deleted() {
    let home = TestHome::samples();
    home.once().await;
    std::fs::remove_file(home.maildir().join("new/07-newsletter")).unwrap();
    let report = home.once().await;
    assert_eq!(report.entered, 0);
    assert!(!home.maildir().join("new/07-newsletter").exists());
}

#[test]
fn the_two_commands_of_a_first_look() {
    let home = TestHome::real_time(Kind::Samples);
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    for words in ["Schedule 30-min", "outage-verified", "no task", "[phishing!]", "22 mails: 16 tasks"] {
        assert!(once.out.contains(words), "'{words}' is not in\n{}", once.out);
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("0 unaccounted") && doctor.out.contains("chain whole"), "{}", doctor.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_alike_opens_no_task_and_made_one_gets_neither_the_bank_rule_nor_an_effect() {
    let home = TestHome::samples();
    home.once().await;
    let of_mail = |what: &str| format!("SELECT {what} FROM ledger WHERE source_key LIKE '%phishing'");
    assert_eq!(home.sql_one(&of_mail("state")), "no_task");
    assert!(home.sql_one(&of_mail("warnings")).contains("phishing"));
    let id = MailId(home.sql_one(&of_mail("mail_id")).parse().unwrap());
    let app = home.app().await;
    app.mail().make_task(id, "I want to see it").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    let states = home.sql(
        "SELECT DISTINCT o.state FROM outbox o JOIN task_owner w USING (task_id) JOIN ledger l ON l.mail_id = w.mail_id
         WHERE l.source_key LIKE '%phishing' AND o.class <> 'R0'",
    );
    assert!(states.iter().all(|state| *state == ["withheld"]), "{states:?}");
    let rule = home.sql_one(
        "SELECT rule FROM task_owner WHERE mail_id = (SELECT mail_id FROM ledger WHERE source_key LIKE '%phishing')",
    );
    assert_ne!(rule, "finance-alerts");
    let rule = home.sql_one(
        "SELECT rule FROM task_owner WHERE mail_id = (SELECT mail_id FROM ledger WHERE source_key LIKE '%bank-alert')",
    );
    assert_eq!(rule, "finance-alerts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_account_sends_the_samples_home() {
    let home = TestHome::samples();
    home.once().await;
    home.write("adjutant.toml", "[[account]]\nname = \"work\"\npath = \"mail\"\n");
    let app = home.app().await;
    let modes: Vec<String> = app
        .accounts()
        .list()
        .await
        .unwrap()
        .iter()
        .map(|account| format!("{} {}", account.account, account.mode))
        .collect();
    assert_eq!(modes, ["local active", "samples retired", "work observe"]);
}
