//! Every message id ever seen has its line, whatever the mailbox does meanwhile.

use std::{fs, sync::Arc};

use adjutant::{
    app::FollowedAccount,
    ingest::PolledIntake,
    model::AccountMode,
    source::{PollResult, Source, SourceError},
};

use crate::house::{House, set_mode};

fn states(house: &House) -> Vec<String> {
    house.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_mail_twice_is_a_duplicate() {
    let house = House::active();
    let letter = house.letter("one").question();
    house.deliver("a", letter.text());
    house.deliver("b", letter.text());
    let report = house.once().await;
    assert_eq!((report.entered, report.duplicates), (2, 1));
    assert_eq!(states(&house), ["task", "duplicate"]);
    assert_eq!(house.count("tasks"), 1);
    // Also when it comes a day later.
    house.clock.advance(86_400);
    house.deliver("c", letter.text());
    house.once().await;
    assert_eq!(states(&house), ["task", "duplicate", "duplicate"]);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_borrowed_message_id_over_other_content_is_worked_and_flagged() {
    let house = House::active();
    house.deliver("a", house.letter("one").text());
    house.once().await;
    house.deliver("b", house.letter("one").invoice(77).text());
    house.once().await;
    assert_eq!(states(&house), ["no_task", "task"]);
    let reason = house.sql_one("SELECT reason FROM ledger WHERE mail_id = 2");
    assert!(reason.starts_with("flagged: carries the Message-ID of mail 1"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_moved_or_flagged_is_the_same_mail() {
    let house = House::active();
    let path = house.deliver("1700000001.M1.host", house.letter("one").question().text());
    house.once().await;
    let before = house.dump();
    let cur = house.maildir().join("cur/1700000001.M1.host:2,S");
    fs::rename(path, &cur).unwrap();
    house.once().await;
    fs::rename(&cur, house.maildir().join("cur/1700000001.M1.host:2,FS")).unwrap();
    house.once().await;
    fs::create_dir_all(house.maildir().join(".Archive/cur")).unwrap();
    fs::rename(
        house.maildir().join("cur/1700000001.M1.host:2,FS"),
        house.maildir().join(".Archive/cur/1700000001.M1.host:2,FS"),
    )
    .unwrap();
    let report = house.once().await;
    assert_eq!(report.entered, 0);
    let lines =
        |dump: &str| dump.lines().filter(|line| !line.starts_with("account:")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&house.dump()), lines(&before));
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
    let house = House::active();
    let file = house.deliver("stolen", house.letter("one").question().text());
    house.post(&house.letter("two").question());
    let mut worker = house.worker().await;
    let FollowedAccount { intake, location } = worker.followed_accounts.remove(0);
    let source = Arc::new(Thief { inner: intake.source.clone(), file: file.clone() });
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location });
    worker.run_once().await.unwrap();
    worker.stop().await;
    let rows = house.sql("SELECT source_key, state FROM ledger ORDER BY source_key");
    assert_eq!(rows, [["INBOX/stolen", "gone"], ["INBOX/two.eml", "task"]]);
    // It comes back: it is worked after all.
    fs::write(&file, house.letter("one").question().text()).unwrap();
    house.once().await;
    assert_eq!(house.sql_one("SELECT state FROM ledger WHERE source_key = 'INBOX/stolen'"), "task");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_mail_keeps_its_answer() {
    let house = House::active();
    let path = house.post(&house.letter("one").question());
    house.once().await;
    fs::remove_file(path).unwrap();
    house.once().await;
    assert_eq!(states(&house), ["task"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_is_linked_and_may_raise_but_never_lower() {
    let house = House::active();
    house.rules(
        "rules:\n  - name: hurry\n    when: { urgency: { gte: 0.3 } }\n    set: high\n    why: a hurry\ndefault: low\n",
    );
    house.post(&house.letter("one").question());
    house.once().await;
    let level = |house: &House| house.sql_one("SELECT priority FROM tasks");
    assert_eq!(level(&house), "low");
    house.clock.advance(60);
    house.post(
        &house
            .letter("two")
            .answers("one")
            .subject("Re: About one")
            .body("Hello Alex,\n\nWhen will you be back at the house about one? This is urgent!\n\nTom\n"),
    );
    house.once().await;
    assert_eq!(states(&house), ["task", "linked"]);
    assert_eq!(level(&house), "high", "{:?}", house.sql("SELECT due_at, urgency FROM task_facts"));
    assert_eq!(house.count("task_history WHERE field = 'follow_up'"), 1);
    house.clock.advance(60);
    house.post(
        &house
            .letter("three")
            .answers("one")
            .subject("Re: About one")
            .body("Hello Alex,\n\nno hurry at all, whenever it suits you.\n\nTom\n"),
    );
    house.once().await;
    assert_eq!(states(&house), ["task", "linked", "linked"]);
    assert_eq!((house.count("tasks"), level(&house).as_str()), (1, "high"));
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_does_not_lower_what_time_alone_would() {
    let house = House::active();
    let rule =
        "rules:\n  - name: in-time\n    when: { due_in: { gte: 0 } }\n    set: high\n    why: in time\ndefault: low\n";
    house.rules(rule);
    house.post(&house.letter("one").invoice(5));
    house.once().await;
    assert_eq!(house.sql("SELECT priority FROM tasks"), [["high"]]);
    // Overdue by now: the rules would say low.
    house.clock.advance(20 * 86_400);
    let thanks = house.letter("two").answers("one").from("Acme Billing <billing@acme.example>");
    house.post(&thanks.body("Dear Alex Green,\n\nwe are closed over the holidays.\n\nAcme\n"));
    house.once().await;
    assert_eq!(states(&house), ["task", "linked"]);
    assert_eq!(house.count("run WHERE kind = 'rank' AND status = 'done'"), 1);
    assert_eq!(house.sql("SELECT priority FROM tasks"), [["high"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_observing_account_withheld_never_fires() {
    let house = House::observing();
    house.post(&house.letter("one").question());
    house.post(&house.letter("two").invoice(9));
    house.once().await;
    assert_eq!(house.count("outbox WHERE class <> 'R0' AND state <> 'withheld'"), 0);
    assert!(house.count("outbox WHERE state = 'withheld'") >= 2);
    assert_eq!(house.drafts(), [""; 0]);
    assert_eq!(house.count("label"), 0);
    let app = house.app().await;
    set_mode(&app, AccountMode::Active).await;
    drop(app);
    let before = house.sql("SELECT action_id, state FROM outbox");
    house.once().await;
    assert_eq!(house.sql("SELECT action_id, state FROM outbox"), before);
    assert_eq!(house.drafts(), [""; 0]);
    // Later mail is acted on.
    house.post(&house.letter("three").question());
    house.once().await;
    assert_eq!(house.drafts().len(), 1);
    assert_eq!(
        house.count("outbox WHERE state = 'withheld'"),
        before.iter().filter(|row| row[1] == "withheld").count() as u64
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unmounted_mailbox_is_trouble_and_not_a_deletion() {
    let house = House::active();
    house.post(&house.letter("one").question());
    house.once().await;
    let before = house.dump();
    fs::rename(house.maildir(), house.root().join("elsewhere")).unwrap();
    let worker = house.worker().await;
    let report = worker.run_once().await.unwrap();
    assert!(report.troubles.iter().any(|trouble| trouble.contains("cannot be reached")), "{:?}", report.troubles);
    worker.stop().await;
    fs::rename(house.root().join("elsewhere"), house.root().join("mail")).unwrap();
    house.once().await;
    assert_eq!(house.dump(), before);
}
