//! Tests that approving by number approves what the person saw under that number, whatever arrived, ended or changed in
//! between.
//!
//! The oracle is what was shown when the person looked, and the bytes that a transport received; nothing from the
//! program's tables. `IT_CASES` says how many interleavings (2,000 under `make crash`).

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use adjutant::{
    app::App,
    model::{DecisionKind, ItemRow, Priority, TaskEditKind},
};
use serde_json::Value;

use crate::support::{
    outbox_fixture::cases,
    test_home::{Kind, SeededRandom, TestHome, files_in},
};

/// A home is left after so many, so that its queue stays one that a person would read.
const PER_HOME: usize = 20;
const MEETING: &str = "Could we find time for a 30-min catch-up next week?";
const URGENT: &str =
    "Urgent, today, as soon as possible: could we find time for a 30-min catch-up next week? This is critical.";

fn with_transport(home: &TestHome) -> PathBuf {
    let spool = home.root().join("spool");
    fs::create_dir(&spool).unwrap();
    home.write("sendmail", &format!("#!/bin/sh\nexec cat > \"$(mktemp {}/XXXXXXXX)\"\n", spool.display()));
    fs::set_permissions(home.root().join("sendmail"), fs::Permissions::from_mode(0o755)).unwrap();
    home.configure(&format!("sendmail = \"{}/sendmail -i -t\"\n", home.root().display()));
    spool
}

fn arrive(home: &TestHome, nth: usize, body: &str) {
    let from = format!("Person {nth} <p{nth}@d{nth}.example>");
    let letter = home.letter(&format!("m{nth}")).from(&from).subject(&format!("Topic {nth}"));
    home.post(&letter.body(&format!("Hi Alex,\n\n{body}\n\nPerson {nth}\n")));
}

/// The message as the page and the JSON show it; line ends are the transport's affair.
fn message(shown: &Value) -> String {
    shown["action"]["action"]["effect"]["message"]["mime"].as_str().unwrap_or_default().replace("\r\n", "\n")
}

/// A person who looks, is interrupted, and approves by the number they remember.
struct Person {
    home: TestHome,
    spool: PathBuf,
    dice: SeededRandom,
    arrived: usize,
    /// What they said yes to and were not refused, as it was shown to them.
    asked_for: Vec<String>,
    /// What they said yes to before the approval expired or the policy changed: it may have left before, or they are
    /// asked again.
    excused: Vec<String>,
    tally: BTreeMap<&'static str, usize>,
}

impl Person {
    async fn with(dice: SeededRandom) -> Self {
        let home = TestHome::active();
        let spool = with_transport(&home);
        let mut person =
            Self { home, spool, dice, arrived: 0, asked_for: Vec::new(), excused: Vec::new(), tally: BTreeMap::new() };
        person.mail(3).await;
        person
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.dice.below(limit as u64)).unwrap()
    }

    fn note(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    async fn works(&self) {
        self.home.clock.advance(1);
        self.home.once().await;
    }

    async fn mail(&mut self, count: usize) {
        for _ in 0..count {
            self.arrived += 1;
            let body = if self.below(2) == 0 { URGENT } else { MEETING };
            arrive(&self.home, self.arrived, body);
        }
        self.works().await;
    }

    async fn pick(&mut self, app: &App) -> Option<ItemRow> {
        let mut items = app.approvals().list().await.unwrap();
        items.retain(|item| item.action_sha256.is_some());
        if items.is_empty() { None } else { Some(items.swap_remove(self.below(items.len()))) }
    }

    async fn show(&self, app: &App, number: i64) -> Value {
        serde_json::to_value(app.approvals().detail(&number.to_string()).await.unwrap()).unwrap()
    }

    /// Something happens between the look and the yes; half of the time to the item itself.
    async fn interrupt(&mut self, app: &App, looked_at: &ItemRow) {
        let other = self.pick(app).await.unwrap_or_else(|| looked_at.clone());
        let target = if self.below(2) == 0 { looked_at.clone() } else { other };
        match self.below(8) {
            0 | 1 => self.mail(1).await,
            2 => {
                self.excuse_what_has_not_left();
                self.home.clock.advance(73 * 3600);
                self.works().await;
                self.note("expired");
            }
            3 => {
                drop(app.approvals().answer(&target.number.to_string(), DecisionKind::Reject, "elsewhere").await);
                self.works().await;
                self.note("rejected elsewhere");
            }
            4 => {
                let words = format!("Shall we say Thursday, {}?\n", self.arrived);
                drop(app.approvals().edit_action(target.item_id, "Re: another day", &words).await);
                self.note("edited");
            }
            5 => {
                let nth = self.below(1_000_000);
                self.excuse_what_has_not_left();
                self.home.policy(&format!("allow: [p{nth}@d.example]"));
                // Whoever comes first: the worker that asks anew, or the person.
                if self.below(2) == 0 {
                    self.works().await;
                }
                self.note("another policy");
            }
            6 => {
                let level = [Priority::Critical, Priority::Low][self.below(2)];
                let tasks = self.home.sql("SELECT number FROM task_owner");
                let task = tasks[self.below(tasks.len())][0].clone();
                drop(app.tasks().edit(&task, TaskEditKind::Priority(level), "").await);
                self.note("ranked again");
            }
            _ => {
                let seen = self.show(app, target.number).await;
                if app.approvals().approve(&target).await.is_ok() {
                    self.asked_for.push(message(&seen));
                    self.note("approved elsewhere");
                }
            }
        }
    }

    async fn interleave(&mut self) {
        let app = self.home.app().await;
        let Some(looked_at) = self.pick(&app).await else { return self.mail(3).await };
        let number = looked_at.number;
        let seen = self.show(&app, number).await;
        for _ in 0..=self.below(3) {
            self.interrupt(&app, &looked_at).await;
        }
        // A number names what it named.
        let now = self.show(&app, number).await;
        assert_eq!(message(&now), message(&seen), "number {number} is another message now");
        let named = app.approvals().find_id(&number.to_string()).await.unwrap();
        let digest = if self.below(2) == 0 { &seen } else { &now }["action_sha256"].as_str().map(str::to_owned);
        let said = app.approvals().approve(&ItemRow { item_id: named, action_sha256: digest, ..looked_at }).await;
        self.note(if said.is_ok() { "approved" } else { "refused" });
        if said.is_ok() {
            self.asked_for.push(message(&seen));
        }
        drop(app);
        self.works().await;
        self.must_have_sent_only_what_was_asked_for();
    }

    fn spooled(&self) -> Vec<String> {
        let read = |name: &String| fs::read_to_string(self.spool.join(name)).unwrap().replace("\r\n", "\n");
        files_in(&self.spool).iter().map(read).collect()
    }

    fn excuse_what_has_not_left(&mut self) {
        let sent = self.spooled();
        let (left, waiting) =
            std::mem::take(&mut self.asked_for).into_iter().partition(|message| sent.contains(message));
        self.asked_for = left;
        self.excused.extend::<Vec<String>>(waiting);
    }

    /// Everything that left was seen and approved, once for each time; and everything that was approved has left.
    fn must_have_sent_only_what_was_asked_for(&self) {
        let mut unsent = self.asked_for.clone();
        let mut excused = self.excused.clone();
        for message in self.spooled() {
            let place = |list: &[String]| list.iter().position(|asked| *asked == message);
            match (place(&unsent), place(&excused)) {
                (Some(at), _) => drop(unsent.swap_remove(at)),
                (None, Some(at)) => drop(excused.swap_remove(at)),
                (None, None) => panic!("this left and was not seen and approved: {message}"),
            }
        }
        assert_eq!(unsent, [""; 0], "approved and never sent");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_by_number_is_what_was_seen() {
    let count = cases(12).min(5_000);
    let mut dice = SeededRandom::thrown("approval by number");
    let mut tally = BTreeMap::new();
    let mut left = count;
    while left > 0 {
        let mut person = Person::with(SeededRandom::seeded(dice.below(u64::MAX))).await;
        let part = left.min(PER_HOME);
        for _ in 0..part {
            person.interleave().await;
        }
        person.home.must_be_sound().await;
        for (what, times) in person.tally {
            *tally.entry(what).or_insert(0_usize) += times;
        }
        left -= part;
    }
    println!("{count} interleavings, 0 others approved: {tally:?}");
    crate::support::campaign::Campaign::new("approvals by number", count, count).unapproved(0).print();
    let happened = tally.contains_key("approved") && tally.contains_key("refused");
    assert!(count < 50 || happened, "too little happened: {tally:?}");
}

/// Every digest in a text that a person or a script is shown, with its key.
fn digests(value: &Value, key: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| digests(value, key, found)),
        Value::Array(values) => values.iter().for_each(|value| digests(value, key, found)),
        Value::String(text) if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            found.push((key.to_owned(), text.clone()));
        }
        _ => {}
    }
}

#[test]
fn the_digest_to_approve_is_named_once_at_the_top() {
    let home = TestHome::real_time(Kind::Active);
    arrive(&home, 1, MEETING);
    assert_eq!(home.run(&["once"]).code, 0);
    let listed = home.json(&["hitl", "list"])[0].clone();
    let shown = home.json(&["hitl", "show", "1"]);
    let file = files_in(&home.home().queue()).into_iter().find(|name| name.ends_with(".json")).unwrap();
    let file: Value = serde_json::from_str(&home.read(&format!("data/hitl_queue/{file}"))).unwrap();
    let digest = listed["action_sha256"].as_str().unwrap().to_owned();
    for (what, whole) in [("list", &listed), ("show", &shown), ("file", &file)] {
        assert_eq!(whole["action_sha256"], digest.as_str(), "{what}");
        assert_eq!(whole["number"], 1, "{what}");
        let mut found = Vec::new();
        digests(whole, "", &mut found);
        assert_eq!(found.iter().filter(|(_, text)| *text == digest).count(), 1, "{what}: {found:?}");
        assert_eq!(found.iter().filter(|(key, _)| key == "action_sha256").count(), 1, "{what}: {found:?}");
        assert!(found.iter().all(|(key, _)| key != "sha256"), "{what}: {found:?}");
    }
    let answered = home.run(&["hitl", "approve", "1", "--sha256", &digest]);
    assert_eq!(answered.code, 0, "{}", answered.err);
}

/// The same with the real binary: shown, outranked, decided elsewhere, and approved by the number that was shown.
#[test]
fn a_script_approves_what_it_was_shown_or_nothing() {
    let home = TestHome::real_time(Kind::Active);
    let spool = with_transport(&home);
    arrive(&home, 1, MEETING);
    assert_eq!(home.run(&["once"]).code, 0);
    let first = home.json(&["hitl", "show", "1"]);
    arrive(&home, 2, URGENT);
    assert_eq!(home.run(&["once"]).code, 0);
    let listed = home.json(&["hitl", "list"]);
    assert_eq!(listed[0]["number"], 2, "the urgent one stands first, under a number of its own: {listed}");
    let digest = |shown: &Value| shown["action_sha256"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["hitl", "approve", "2", "--sha256", &digest(&first)]).code, 1);
    assert_eq!(home.run(&["hitl", "approve", "1"]).code, 2, "nobody is there to be shown it");
    assert!(files_in(&spool).is_empty());
    assert_eq!(home.run(&["hitl", "approve", "1", "--sha256", &digest(&first)]).code, 0);
    let sent = files_in(&spool);
    assert_eq!(sent.len(), 1);
    assert_eq!(fs::read_to_string(spool.join(&sent[0])).unwrap().replace("\r\n", "\n"), message(&first));
    // Decided, edited, void: the number stays its item's, and no other moves up to it.
    assert_eq!(home.json(&["hitl", "show", "1"])["item_id"], first["item_id"]);
    let edited = home.json(&["hitl", "edit", "2", "--text", "Shall we say Thursday?"]);
    assert_eq!(edited["number"], 3);
    assert_eq!(home.run(&["hitl", "approve", "2", "--sha256", &digest(&edited)]).code, 1);
    assert_eq!(files_in(&spool).len(), 1);
}
