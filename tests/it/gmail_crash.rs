//! Tests in which the program dies at every failpoint, or at random, while it works a Gmail account: what was asked for
//! is delivered exactly once. The oracle is the emulator's folder of sent mail, and its calendar.
//!
//! `IT_PLACES` says how many failpoints (all of them under `make crash`), `IT_KILLS` how many kills, `IT_MAILS` how
//! many mails.

use std::{process::Stdio, time::Duration};

use adjutant::clock::Clock;

use crate::{
    crash_matrix::{approve_all, check, chosen, dies, knob, letters, meddle, places},
    gmail_calendar::{kick_off, must_have_accepted},
    support::{
        gmail_home::{signed_in_at, turn_on},
        google::{Fault, Google, Stored, Trouble},
        test_home::{SeededRandom, TestHome, eventually},
    },
};

/// Places no home with a Gmail mailbox comes by, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("transport.", "Gmail is its own transport: crash_matrix.rs"),
    ("sent.", "Gmail moves what it has sent itself: crash_matrix.rs"),
    ("trash.", "drafts are thrown away by calls to Gmail: crash_matrix.rs"),
    ("archive.", "mail is archived by a call to Gmail: crash_matrix.rs"),
    ("maildir.", "there is no Maildir: crash_matrix.rs"),
    ("journal.rewrite", "needs another death before: crash_matrix.rs"),
    ("mailbox.withdraw", "needs a refusal before: dying_while_a_draft_is_thrown_away below"),
    ("calendar.invited", "needs an invitation from somebody else: dying_while_an_invitation_is_answered below"),
    ("calendar.patch", "needs an invitation from somebody else: dying_while_an_invitation_is_answered below"),
    ("commit.set_aside", "approved messages leave at once, so nothing is set aside: crash_matrix.rs"),
    ("token.write", "written when the person signs in: gmail_auth.rs"),
    ("witness.trim", "needs thousands of sends: witness/sends.rs"),
    ("scratch.", "a copy for the editor of a person at a terminal, which nothing depends on: approval_screen.rs"),
    ("model.", "no model is asked here: model_record.rs"),
    ("commit.hear_model", "no model is asked here: model_record.rs"),
    ("rules.write", "nothing is learned in a day: night_rewrite.rs"),
    ("rules.rename", "nothing is learned in a day: night_rewrite.rs"),
    ("rules.sync", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.intend_rules", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.keep_rules", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.drop_intent", "nothing is learned in a day: night_rewrite.rs"),
    ("epoch.", "a restore makes the account observe, and then nothing is sent: approval.rs"),
    ("anchor.rename", "a restore makes the account observe, and then nothing is sent: approval.rs"),
    ("commit.epoch", "a restore makes the account observe, and then nothing is sent: approval.rs"),
];

/// Homes share one emulator, each with a mailbox of its own.
struct Street {
    google: Google,
    next: usize,
}

impl Street {
    fn of(homes: usize) -> Self {
        let people: Vec<String> = (0..homes).map(address).collect();
        Self { google: Google::with_people(&people), next: 0 }
    }

    /// Signed in and trusted to act; its mailbox is empty.
    fn open(&mut self) -> Home<'_> {
        let address = address(self.next);
        self.next += 1;
        let more = format!("trusted_servers = [\"mx.home.example\"]\n\n[me]\naddresses = [\"{address}\"]\n");
        let test_home = signed_in_at(&self.google, &address, &more, Clock::System);
        test_home.policy("approvals: { grace_seconds: 0, reply_hours: 11, other_hours: 11 }");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(turn_on(&test_home));
        Home { google: &self.google, test_home, address, mails: 0 }
    }

    /// Mails that bring out every part: invitations to send, drafts, labels, reminders, noise.
    fn fill(&mut self, mails: usize) -> Home<'_> {
        let home = self.open();
        for letter in letters(&home.test_home, mails) {
            home.google.person(&home.address).receives(letter.text().replace('\n', "\r\n"));
        }
        Home { mails, ..home }
    }
}

fn address(nth: usize) -> String {
    format!("you{nth}@home.example")
}

struct Home<'a> {
    google: &'a Google,
    test_home: TestHome,
    address: String,
    mails: usize,
}

impl Home<'_> {
    /// Works until nothing is left to do; what met trouble on the way is tried again some seconds later.
    fn finish(&self) {
        eventually("everything is worked", || {
            let once = self.test_home.run(&["once"]);
            assert_eq!(once.code, 0, "{}{}", once.out, once.err);
            approve_all(&self.test_home);
            let open = ["item WHERE state = 'open'", "run WHERE status = 'running'"];
            open.iter().all(|rows| self.test_home.count(rows) == 0).then_some(())
        });
    }

    /// A message was approved and stored as a draft, and the program died there. The draft's id, and it.
    fn dies_over_a_draft(&self, place: &str) -> (String, Stored) {
        assert_eq!(self.test_home.run(&["once"]).code, 0);
        approve_all(&self.test_home);
        assert!(dies(&self.test_home, place), "{place} is not passed");
        let id = self.test_home.sql_one("SELECT action_id FROM outbox WHERE state IN ('drafting', 'drafted')");
        let mut drafts = self.google.person(&self.address).drafts().into_iter();
        drafts.find(|(_, draft)| draft.header("X-Adjutant-Action").as_ref() == Some(&id)).unwrap()
    }

    /// How an effect ended, once it has.
    fn end_of(&self, draft: &Stored) -> String {
        let id = draft.header("X-Adjutant-Action").unwrap();
        eventually("the effect has ended", || {
            assert_eq!(self.test_home.run(&["once"]).code, 0);
            let state = self.test_home.sql_one(&format!("SELECT state FROM outbox WHERE action_id = '{id}'"));
            ["sent", "void", "failed", "needs_human"].contains(&state.as_str()).then_some(state)
        })
    }

    /// Every invitation was delivered, each once, in its conversation, with one event; and nothing else was.
    fn check(&self, how: &str) {
        let you = self.google.person(&self.address);
        let answered = you.sent().into_iter().map(|sent| sent.header("In-Reply-To").unwrap());
        let invitations = check(&self.test_home, answered, self.mails, how);
        assert_eq!(you.events().len(), invitations, "{how}: events");
        // What the agent left to the person: an answer with a gap.
        let left: Vec<String> = you.drafts().iter().map(|(_, draft)| draft.header("Subject").unwrap()).collect();
        assert_eq!(left.len(), (0..self.mails).filter(|nth| nth % 4 == 2).count(), "{how}: drafts {left:?}");
    }
}

#[test]
fn dying_at_every_place_on_gmail_loses_nothing_and_sends_nothing_twice() {
    let (all, mails) = (places(), knob("IT_MAILS", 4));
    let mut dice = SeededRandom::thrown("places on Gmail");
    let chosen = chosen(&mut dice, knob("IT_PLACES", 3), ELSEWHERE);
    let mut street = Street::of(chosen.len());
    let (mut died, mut spared) = (0, Vec::new());
    for place in &chosen {
        let before = died;
        let home = street.fill(mails);
        let test_home = &home.test_home;
        // Commits are passed many times; some calls only once, while mail is read for the first time.
        let nth = if place.starts_with("commit.") { 1 + dice.below(3) } else { 1 };
        if place.starts_with("mailbox.probe") {
            // What is looked for first is what died while it was put there.
            dies(test_home, "mailbox.apply.after");
        }
        if place.starts_with("token.") {
            home.google.expires_tokens();
        }
        died += usize::from(dies(test_home, &format!("{place}:{nth}")));
        assert_eq!(test_home.run(&["once"]).code, 0, "after {place}");
        died += meddle(test_home, place, "label");
        assert_eq!(test_home.run(&["once"]).code, 0, "after {place}");
        approve_all(test_home);
        if place.starts_with("mailbox.find") {
            // What is looked for is what died while it was sent.
            dies(test_home, "mailbox.send.after");
        }
        for _ in 0..2 {
            died += usize::from(dies(test_home, place));
        }
        home.finish();
        home.check(place);
        if died == before {
            spared.push(place.as_str());
        }
    }
    println!("{} of {} places, {mails} mails each: died {died} times", chosen.len(), all.len());
    let reached = chosen.len() - spared.len();
    crate::support::campaign::Campaign::new("places on Gmail", chosen.len(), chosen.len())
        .deaths(died)
        .places(reached, all.len())
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
    assert_eq!(spared, [""; 0], "nobody came by: reach it, or say where it is tried");
}

#[test]
fn dying_while_an_invitation_is_answered_answers_it_once() {
    let places = ["mailbox.send.before", "mailbox.send.after", "calendar.patch.before", "calendar.patch.after"];
    let mut street = Street::of(places.len());
    for place in places {
        let home = street.open();
        kick_off(home.google, &home.address, home.test_home.clock.now());
        assert_eq!(home.test_home.run(&["once"]).code, 0);
        approve_all(&home.test_home);
        assert!(dies(&home.test_home, place), "{place} is not passed");
        home.finish();
        must_have_accepted(home.google, &home.address);
    }
}

#[test]
fn dying_while_a_draft_is_thrown_away_leaves_what_ended_as_it_ended() {
    let places = ["mailbox.withdraw.before", "mailbox.withdraw.after"];
    let mut street = Street::of(places.len());
    for place in places {
        let home = street.fill(1);
        assert_eq!(home.test_home.run(&["once"]).code, 0);
        approve_all(&home.test_home);
        home.google.breaks(Fault::on("POST", "/drafts/send", Trouble::ErrorBefore(400)));
        assert!(dies(&home.test_home, place), "{place} is not passed");
        assert_eq!(home.test_home.run(&["once"]).code, 0, "after {place}");
        assert_eq!(home.test_home.count("outbox WHERE state = 'failed'"), 1, "{place}");
        let id = home.test_home.sql_one("SELECT action_id FROM outbox WHERE state = 'failed'");
        let you = home.google.person(&home.address);
        let of_it = |(_, draft): &(String, Stored)| draft.header("X-Adjutant-Action").as_ref() == Some(&id);
        assert!(you.sent().is_empty() && !you.drafts().iter().any(of_it), "{place}: neither sent nor left behind");
    }
}

#[test]
fn a_draft_the_person_changes_while_the_program_is_down_is_theirs() {
    let mut street = Street::of(1);
    let home = street.fill(1);
    let you = home.google.person(&home.address);
    let (id, draft) = home.dies_over_a_draft("mailbox.draft.after");
    let changed = draft.text().replace("\r\nSubject: ", "\r\nSubject: Later: ");
    you.edits_draft(&id, &changed);
    assert_eq!(home.end_of(&draft), "void");
    assert!(you.sent().is_empty(), "{:?}", you.sent());
    let action = draft.header("X-Adjutant-Action");
    let drafts: Vec<Stored> = you.drafts().into_iter().map(|(_, draft)| draft).collect();
    let ours: Vec<&Stored> = drafts.iter().filter(|draft| draft.header("X-Adjutant-Action") == action).collect();
    assert_eq!(ours.len(), 1, "no second draft of the approved words");
    assert_eq!(ours[0].text(), changed);
}

#[test]
fn a_draft_the_person_sends_while_the_program_is_down_is_not_sent_again() {
    let mut street = Street::of(1);
    let home = street.fill(1);
    let you = home.google.person(&home.address);
    let (id, draft) = home.dies_over_a_draft("mailbox.draft.after");
    you.sends_draft(&id);
    assert_eq!(home.end_of(&draft), "sent");
    assert_eq!(you.sent().len(), 1);
}

#[test]
fn a_draft_the_person_has_sent_and_nobody_sees_yet_is_waited_for() {
    let mut street = Street::of(1);
    let home = street.fill(1);
    let you = home.google.person(&home.address);
    // Drafting, drafted.
    let (id, draft) = home.dies_over_a_draft("commit.move_action.after:2");
    assert_eq!(home.test_home.count("outbox WHERE state = 'drafted'"), 1);
    you.sends_draft(&id);
    home.google.breaks(Fault::on("GET", "labelId=SENT", Trouble::Late));
    assert_eq!(home.end_of(&draft), "sent");
    assert_eq!(you.sent().len(), 1);
}

#[test]
fn killed_at_random_on_gmail_while_calls_break_nothing_is_sent_twice() {
    let (kills, mails) = (knob("IT_KILLS", 4), knob("IT_MAILS", 6));
    let mut dice = SeededRandom::thrown("kills on Gmail");
    // Some homes are done before anybody is killed in them.
    let mut street = Street::of(2 * kills + 8);
    let (mut done, mut homes) = (0, 0);
    while done < kills {
        let home = street.fill(mails);
        homes += 1;
        for _ in 0..8.min(kills - done) {
            let troubles = [Trouble::ErrorAfter(503), Trouble::ResetAfter, Trouble::ErrorBefore(500), Trouble::Slow(3)];
            let trouble = troubles[usize::try_from(dice.below(4)).unwrap()];
            home.google.breaks(Fault::on("POST", "/drafts", trouble).after(u32::try_from(dice.below(4)).unwrap()));
            let mut child =
                home.test_home.command(&["once"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(dice.below(300)));
            let running = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            done += usize::from(running);
            approve_all(&home.test_home);
        }
        home.google.mends();
        home.finish();
        home.check(&format!("after {done} kills"));
        println!("{done} of {kills} kills over {homes} homes of {mails} mails");
    }
    crate::support::campaign::Campaign::new("kills on Gmail", kills, done)
        .deaths(done)
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
}
