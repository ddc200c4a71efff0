//! Tests that every message ever seen has its row in the ledger, whatever happens to the mailbox meanwhile.

use std::{fs, sync::Arc};

use adjutant::{
    app::FollowedAccount,
    ingest::PolledIntake,
    model::AccountMode,
    source::{PollResult, Source, SourceError},
};

use crate::support::test_home::{TestHome, set_mode};

fn states(home: &TestHome) -> Vec<String> {
    home.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_mail_twice_is_a_duplicate() {
    let home = TestHome::active();
    let letter = home.letter("one").question();
    home.deliver("a", letter.text());
    home.deliver("b", letter.text());
    let report = home.once().await;
    assert_eq!((report.entered, report.duplicates), (2, 1));
    assert_eq!(states(&home), ["task", "duplicate"]);
    assert_eq!(home.count("tasks"), 1);
    // Also when it comes a day later.
    home.clock.advance(86_400);
    home.deliver("c", letter.text());
    home.once().await;
    assert_eq!(states(&home), ["task", "duplicate", "duplicate"]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_borrowed_message_id_over_other_content_is_worked_and_flagged() {
    let home = TestHome::active();
    home.deliver("a", home.letter("one").text());
    home.once().await;
    home.deliver("b", home.letter("one").invoice(77).text());
    home.once().await;
    assert_eq!(states(&home), ["no_task", "task"]);
    let reason = home.sql_one("SELECT reason FROM ledger WHERE mail_id = 2");
    assert!(reason.starts_with("flagged: carries the Message-ID of mail 1"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_moved_or_flagged_is_the_same_mail() {
    let home = TestHome::active();
    let path = home.deliver("1700000001.M1.host", home.letter("one").question().text());
    home.once().await;
    let before = home.dump();
    let cur = home.maildir().join("cur/1700000001.M1.host:2,S");
    fs::rename(path, &cur).unwrap();
    home.once().await;
    fs::rename(&cur, home.maildir().join("cur/1700000001.M1.host:2,FS")).unwrap();
    home.once().await;
    fs::create_dir_all(home.maildir().join(".Archive/cur")).unwrap();
    fs::rename(
        home.maildir().join("cur/1700000001.M1.host:2,FS"),
        home.maildir().join(".Archive/cur/1700000001.M1.host:2,FS"),
    )
    .unwrap();
    let report = home.once().await;
    assert_eq!(report.entered, 0);
    let lines =
        |dump: &str| dump.lines().filter(|line| !line.starts_with("account:")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&home.dump()), lines(&before));
}

/// Takes the file away between seeing it and reading it.
struct Thief {
    inner: Arc<dyn Source>,
    file: std::path::PathBuf,
}

impl Source for Thief {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        self.inner.poll(cursor)
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        if key.ends_with("stolen") {
            drop(fs::remove_file(&self.file));
        }
        self.inner.fetch(key)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_gone_before_it_was_read_is_gone_in_the_ledger_too() {
    let home = TestHome::active();
    let file = home.deliver("stolen", home.letter("one").question().text());
    home.post(&home.letter("two").question());
    let mut worker = home.worker().await;
    let FollowedAccount { intake, location } = worker.followed_accounts.remove(0);
    let source = Arc::new(Thief { inner: intake.source.clone(), file: file.clone() });
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location });
    worker.run_once().await.unwrap();
    worker.stop().await;
    let rows = home.sql("SELECT source_key, state FROM ledger ORDER BY source_key");
    assert_eq!(rows, [["INBOX/stolen", "gone"], ["INBOX/two.eml", "task"]]);
    // It comes back: it is worked after all.
    fs::write(&file, home.letter("one").question().text()).unwrap();
    home.once().await;
    assert_eq!(home.sql_one("SELECT state FROM ledger WHERE source_key = 'INBOX/stolen'"), "task");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_mail_keeps_its_answer() {
    let home = TestHome::active();
    let path = home.post(&home.letter("one").question());
    home.once().await;
    fs::remove_file(path).unwrap();
    home.once().await;
    assert_eq!(states(&home), ["task"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_is_linked_and_may_raise_but_never_lower() {
    let home = TestHome::active();
    home.rules(
        "rules:\n  - name: hurry\n    when: { urgency: { gte: 0.3 } }\n    set: high\n    why: a hurry\ndefault: low\n",
    );
    home.post(&home.letter("one").question());
    home.once().await;
    let level = |home: &TestHome| home.sql_one("SELECT priority FROM tasks");
    assert_eq!(level(&home), "low");
    home.clock.advance(60);
    home.post(
        &home
            .letter("two")
            .answers("one")
            .subject("Re: About one")
            .body("Hello Alex,\n\nWhen will you be back at the house about one? This is urgent!\n\nTom\n"),
    );
    home.once().await;
    assert_eq!(states(&home), ["task", "linked"]);
    assert_eq!(level(&home), "high", "{:?}", home.sql("SELECT due_at, urgency FROM task_facts"));
    assert_eq!(home.count("task_history WHERE field = 'follow_up'"), 1);
    home.clock.advance(60);
    home.post(
        &home
            .letter("three")
            .answers("one")
            .subject("Re: About one")
            .body("Hello Alex,\n\nno hurry at all, whenever it suits you.\n\nTom\n"),
    );
    home.once().await;
    assert_eq!(states(&home), ["task", "linked", "linked"]);
    assert_eq!((home.count("tasks"), level(&home).as_str()), (1, "high"));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_does_not_lower_what_time_alone_would() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(5));
    home.once().await;
    let due: adjutant::model::Instant = home.sql_one("SELECT due_at FROM task_facts").parse().unwrap();
    let hours = (due.utc() - home.clock.now().utc()).num_hours();
    home.rules(&format!(
        "rules:\n  - name: in-time\n    when: {{ due_in: {{ gte: {}h }} }}\n    set: high\n    why: in time\ndefault: low\n",
        hours - 1
    ));
    home.once().await;
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["high"]]);
    // Later on the same day the rules would say low.
    home.clock.advance(3 * 3_600);
    let thanks = home.letter("two").answers("one").from("Acme Billing <billing@acme.example>");
    home.post(&thanks.body("Dear Alex Green,\n\nwe are closed over the holidays.\n\nAcme\n"));
    home.once().await;
    assert_eq!(states(&home), ["task", "linked"]);
    assert_eq!(home.count("run WHERE kind = 'rank' AND status = 'done'"), 1);
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["high"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_observing_account_withheld_never_fires() {
    let home = TestHome::observing();
    home.post(&home.letter("one").question());
    home.post(&home.letter("two").invoice(9));
    home.once().await;
    assert_eq!(home.count("outbox WHERE class <> 'R0' AND state <> 'withheld'"), 0);
    assert!(home.count("outbox WHERE state = 'withheld'") >= 2);
    assert_eq!(home.drafts(), [""; 0]);
    assert_eq!(home.count("label"), 0);
    let app = home.app().await;
    set_mode(&app, AccountMode::Active).await;
    drop(app);
    let before = home.sql("SELECT action_id, state FROM outbox");
    home.once().await;
    assert_eq!(home.sql("SELECT action_id, state FROM outbox"), before);
    assert_eq!(home.drafts(), [""; 0]);
    // Later mail is acted on.
    home.post(&home.letter("three").question());
    home.once().await;
    assert_eq!(home.drafts().len(), 1);
    assert_eq!(
        home.count("outbox WHERE state = 'withheld'"),
        before.iter().filter(|row| row[1] == "withheld").count() as u64
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unmounted_mailbox_is_trouble_and_not_a_deletion() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let before = home.dump();
    fs::rename(home.maildir(), home.root().join("elsewhere")).unwrap();
    let worker = home.worker().await;
    let report = worker.run_once().await.unwrap();
    assert!(report.troubles.iter().any(|trouble| trouble.contains("cannot be reached")), "{:?}", report.troubles);
    worker.stop().await;
    fs::rename(home.root().join("elsewhere"), home.root().join("mail")).unwrap();
    home.once().await;
    assert_eq!(home.dump(), before);
}
