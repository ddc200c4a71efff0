//! Tests random schedules of everything that happens to a mailbox and to the connection: in the end the ledger has what
//! the mailbox has, and each mail was worked once.
//!
//! `IT_CASES` says how many schedules.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{
    gmail_home::{ledger, once_in_pages, signed_in},
    google::{Fault, Google, Person, Trouble},
    test_home::{SeededRandom, TestHome, once},
};

/// What a person does to their mailbox between two looks, and what is true of it then.
struct Mailbox<'a> {
    person: Person<'a>,
    /// Every id there ever was, and whether it was ever ours to see.
    ever: BTreeMap<String, bool>,
    count: usize,
}

impl Mailbox<'_> {
    fn letter(&mut self, home: &TestHome) -> String {
        self.count += 1;
        let letter = home.letter(&format!("m{}", self.count));
        if self.count.is_multiple_of(2) { letter.question().text() } else { letter.text() }
    }

    fn some(&self, dice: &mut SeededRandom) -> Option<String> {
        let ids = self.person.ids(None);
        let nth = usize::try_from(dice.below(ids.len() as u64)).unwrap();
        ids.get(nth).cloned()
    }

    fn meddle(&mut self, home: &TestHome, dice: &mut SeededRandom) {
        let text = self.letter(home);
        match dice.below(10) {
            0..=3 => drop(self.ever.insert(self.person.receives(text), true)),
            4 => drop(self.ever.insert(self.person.stores(text, &["SENT"]), true)),
            5 => drop(self.ever.insert(self.person.stores(text, &["CATEGORY_FORUMS"]), false)),
            6 => drop(self.ever.insert(self.person.stores(text, &["DRAFT"]), false)),
            what => {
                let Some(id) = self.some(dice) else { return };
                match what {
                    7 => {
                        self.person.changes_labels(&id, &["INBOX"], &["TRASH"]);
                        self.ever.insert(id, true);
                    }
                    8 => self.person.changes_labels(&id, &["TRASH"], &["INBOX"]),
                    _ => self.person.deletes(&id),
                }
            }
        }
    }

    /// The ids that are ours now.
    fn ours(&self) -> BTreeSet<String> {
        let ids = |label: &str| self.person.ids(Some(label)).into_iter().collect::<BTreeSet<_>>();
        let out: BTreeSet<String> = ["DRAFT", "TRASH", "SPAM"].iter().flat_map(|label| ids(label)).collect();
        ids("INBOX").union(&ids("SENT")).filter(|id| !out.contains(*id)).cloned().collect()
    }
}

fn trouble(dice: &mut SeededRandom) -> Fault {
    let (path, trouble) = match dice.below(9) {
        0 | 1 => ("/history?", Trouble::HistoryGone),
        2 => ("/history?", Trouble::ErrorBefore(503)),
        3 => ("pageToken", Trouble::ResetAfter),
        4 => ("/messages/", Trouble::ErrorBefore(500)),
        5 => ("/messages/", Trouble::RateLimited),
        6 => ("/messages?", Trouble::TooMany(3)),
        7 => ("/gmail/", Trouble::Unauthorized),
        _ => ("/messages/", Trouble::ResetBefore),
    };
    let times = 1 + u32::try_from(dice.below(4)).unwrap();
    Fault::on("GET", path, trouble).times(times).after(u32::try_from(dice.below(4)).unwrap())
}

/// One look; whatever goes wrong in it, the next goes on. Now and then with pages of two or three.
async fn look(home: &TestHome, google: &Google, dice: &mut SeededRandom) {
    match dice.below(3) {
        0 => once(home.worker().await).await,
        _ => once_in_pages(home, google, 2 + u32::try_from(dice.below(2)).unwrap()).await,
    };
    home.clock.advance(60);
}

async fn schedule(google: &Google, address: &str, dice: &mut SeededRandom) -> usize {
    let home = signed_in(google, address, "");
    // A stopped clock that nobody moves would never let a limit pass.
    let clock = home.clock.clone();
    let ticking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            clock.advance(1);
        }
    });
    let mut mailbox = Mailbox { person: google.person(address), ever: BTreeMap::new(), count: 0 };
    for _ in 0..3 + dice.below(5) {
        for _ in 0..dice.below(6) {
            mailbox.meddle(&home, dice);
        }
        if dice.below(2) == 0 {
            google.breaks(trouble(dice));
        }
        look(&home, google, dice).await;
    }
    google.mends();
    for _ in 0..2 {
        look(&home, google, dice).await;
    }
    ticking.abort();
    check(&home, &mailbox).await
}

async fn check(home: &TestHome, mailbox: &Mailbox<'_>) -> usize {
    let rows = ledger(home);
    let keys: BTreeSet<String> = rows.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys.len(), rows.len(), "an id is in the ledger twice");
    let ours = mailbox.ours();
    let missing: Vec<_> = ours.difference(&keys).collect();
    assert!(missing.is_empty(), "in the mailbox and not in the ledger: {missing:?}");
    let invented: Vec<_> = keys.iter().filter(|key| mailbox.ever.get(*key) != Some(&true)).collect();
    assert!(invented.is_empty(), "in the ledger and never ours: {invented:?}");
    for (key, state) in &rows {
        let answered = ["task", "linked", "no_task", "duplicate"].contains(&state.as_str());
        assert!(answered || (state == "gone" && !ours.contains(key)), "{key} is {state}");
    }
    let twice = home.sql("SELECT mail_id, count(*) FROM run WHERE kind = 'mail' AND parent_run IS NULL GROUP BY mail_id HAVING count(*) > 1");
    assert_eq!(twice, [[""; 0]; 0], "worked twice");
    let twins = home.sql("SELECT source, count(*) FROM tasks GROUP BY source, objective HAVING count(*) > 1");
    assert_eq!(twins, [[""; 0]; 0], "two tasks of one mail");
    home.must_be_sound().await;
    rows.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_the_ledger_has_what_the_mailbox_has() {
    let cases: usize = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut dice = SeededRandom::thrown("gmail schedules");
    let people: Vec<String> = (0..cases).map(|nth| format!("p{nth}@home.example")).collect();
    let google = Google::with_people(&people);
    let mut mails = 0;
    for (nth, address) in people.iter().enumerate() {
        mails += schedule(&google, address, &mut dice).await;
        if (nth + 1).is_multiple_of(25) {
            println!("{} of {cases} schedules, {mails} mails", nth + 1);
        }
    }
    assert!(mails > cases, "{mails} mails in {cases} schedules");
    println!("{cases} schedules, {mails} mails in the ledgers, none lost, none twice");
    crate::support::campaign::Campaign::new("schedules on Gmail", cases, cases).lost(0).twice(0).print();
}
