//! Tests effects in Gmail: what was approved is sent exactly once, whatever the network does, and other effects can be
//! undone. The oracle is the mailbox itself, read without the program.
//!
//! `IT_CASES` says how many sends meet each kind of fault.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use adjutant::{
    app::DecisionInput,
    model::{
        ActionId, DecisionKind, Effect, OutboxState, RiskClass, TaskEditKind,
        action::{ComposedMessage, ReplacedDraft, SendKind},
        ids::sha256_hex,
    },
    outbox::EffectProgress,
    source::{Mailbox as _, SourceError},
};

use crate::support::{
    google::{Fault, Office, Trouble},
    outbox_fixture::{Asked, cases, with_effect},
    test_home::SeededRandom,
};

impl Office {
    async fn approve(&self, asked: &Asked) {
        self.yard
            .app
            .approvals()
            .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
            .await
            .unwrap();
    }

    /// Stored as a draft, and then the connection breaks before it is sent.
    async fn interrupted(&self, step: &str) -> Asked {
        let asked = self.yard.ask(step).await;
        self.google.breaks(Fault::on("POST", "/drafts/send", Trouble::ErrorBefore(503)));
        self.approve(&asked).await;
        let carried = self.yard.carry(asked.action.action_id).await;
        assert!(matches!(carried, EffectProgress::Deferred { .. }), "{carried:?}");
        assert_eq!(self.you().drafts().len(), 1);
        asked
    }

    /// As the outbox does it: what may have been done before is looked for first.
    async fn insist(&self, step: &str, effect: Effect) -> String {
        let (postbox, clock) = (self.postbox.clone(), self.yard.home.clock.clone());
        let approved = self.approved(step, effect);
        tokio::task::spawn_blocking(move || {
            for _ in 0..20 {
                let done = match postbox.probe(&approved) {
                    Ok(Some(found)) => Ok(found),
                    Ok(None) => postbox.apply(&approved),
                    Err(error) => Err(error),
                };
                match done {
                    Ok(applied) => return applied.handle,
                    Err(
                        SourceError::RetryLater { .. } | SourceError::RateLimited { .. } | SourceError::Auth { .. },
                    ) => {
                        clock.advance(61);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            panic!("it never works")
        })
        .await
        .unwrap()
    }

    /// A draft is there, and a message that would take its place waits for a yes.
    async fn ask_in_place_of(&self, draft: &str, step: &str) -> Asked {
        let subject = |text: &str| text.replace(&format!("Re: {draft}"), &format!("Re: {step}"));
        let message = self.message(draft);
        let message = ComposedMessage { subject: subject(&message.subject), mime: subject(&message.mime), ..message };
        self.insist(draft, Effect::Draft { message: message.clone() }).await;
        let action_id = ActionId::derive(self.yard.now(), &[draft]);
        let replaces = Some(ReplacedDraft { action_id, sha256: sha256_hex(message.mime.as_bytes()) });
        let mut action = self.yard.action(step, "On Friday, then.");
        let message = action.effect.message().unwrap().clone();
        action.effect = Effect::Send { kind: SendKind::Reply, message, replaces };
        self.yard.ask_about(action).await
    }

    async fn undo(&self, step: &str, effect: Effect, handle: String) -> Result<String, SourceError> {
        let (postbox, approved) = (self.postbox.clone(), self.approved(step, effect));
        tokio::task::spawn_blocking(move || postbox.undo(&approved, &handle)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_answer_lands_in_its_conversation_byte_for_byte() {
    let office = Office::open().await;
    let asked = office.yard.ask("answer").await;
    assert!(office.you().drafts().is_empty() && office.you().sent().is_empty(), "nothing before the yes");
    office.approve(&asked).await;
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
    let sent = office.you().sent();
    assert_eq!(sent.len(), 1);
    let message = asked.action.effect.message().unwrap();
    assert_eq!(sent[0].text(), message.mime);
    assert_eq!(sent[0].thread, office.you().message(&office.yard.key).thread);
    assert!(office.you().drafts().is_empty());
    assert_eq!(office.google.calls("POST", "/drafts/send"), 1);
    let result = office.yard.home.sql_one("SELECT result FROM outbox WHERE step = 'answer'");
    assert_eq!(result, "accepted by Gmail");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_the_person_has_changed_is_theirs_to_send() {
    let office = Office::open().await;
    let asked = office.interrupted("edited").await;
    let (draft, stored) = office.you().drafts().remove(0);
    office.you().edits_draft(&draft, stored.text().replace("On Friday, then.", "On Monday, rather."));
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Void);
    assert!(office.you().sent().is_empty());
    assert!(office.you().drafts()[0].1.text().contains("On Monday, rather."), "their words stay");
    assert_eq!(office.google.calls("POST", "/drafts/send"), 1, "the one that failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_the_person_has_sent_is_not_sent_again() {
    let office = Office::open().await;
    let asked = office.interrupted("theirs").await;
    let (draft, _) = office.you().drafts().remove(0);
    office.you().sends_draft(&draft);
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
    assert_eq!(office.you().sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_the_person_has_thrown_away_is_asked_about() {
    let office = Office::open().await;
    let asked = office.interrupted("gone").await;
    let (draft, _) = office.you().drafts().remove(0);
    office.you().discards_draft(&draft);
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::NeedsHuman);
    assert!(office.you().sent().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_can_be_asked_so_a_person_is() {
    let office = Office::open().await;
    let asked = office.yard.ask("silence").await;
    let left = Arc::new(AtomicBool::new(false));
    office.google.guards(move |method, path| {
        let silent = left.load(Ordering::Relaxed) && method == "GET";
        left.fetch_or(path.contains("/drafts/send"), Ordering::Relaxed);
        silent.then_some(Trouble::TooMany(1))
    });
    office.google.breaks(Fault::on("POST", "/drafts/send", Trouble::ResetAfter));
    office.approve(&asked).await;
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::NeedsHuman);
    assert_eq!(office.times(&asked.action), 1);
}

/// The calls a send is made of.
const PATHS: [(&str, &str); 8] = [
    ("POST", "/drafts/send"),
    ("POST", "/drafts?"),
    ("GET", "/drafts/"),
    ("GET", "/drafts?"),
    ("GET", "/messages/"),
    ("GET", "/history"),
    ("GET", "/profile"),
    ("POST", "/token"),
];

const TROUBLES: [Trouble; 11] = [
    Trouble::Late,
    Trouble::ErrorBefore(503),
    Trouble::ErrorAfter(500),
    Trouble::ErrorAfter(503),
    Trouble::BusyAfter(5),
    Trouble::ResetBefore,
    Trouble::ResetAfter,
    Trouble::Slow(2),
    Trouble::RateLimited,
    Trouble::TooMany(5),
    Trouble::Unauthorized,
];

/// A mailbox that has sent more than this is slow to look through, in the emulator.
const SENDS_OF_AN_OFFICE: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn ambiguous_sends_through_gmail_arrive_once() {
    let mut dice = SeededRandom::thrown("ambiguous sends through Gmail");
    let (each, mut calls) = (cases(2), 0);
    let sends: Vec<usize> = (0..each * TROUBLES.len()).collect();
    for part in sends.chunks(SENDS_OF_AN_OFFICE) {
        let office = Office::open().await;
        office.sends_in_doubt(part, &mut dice).await;
        calls += office.google.seen().len();
        println!("{} of {} sends", part[part.len() - 1] + 1, sends.len());
    }
    println!("{} sends, {each} with each of {TROUBLES:?}: {calls} calls", sends.len());
    crate::support::campaign::Campaign::new("ambiguous sends through Gmail", sends.len(), sends.len())
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
}

impl Office {
    async fn sends_in_doubt(&self, part: &[usize], dice: &mut SeededRandom) {
        let mut all = Vec::new();
        for nth in part {
            let trouble = TROUBLES[nth % TROUBLES.len()];
            let asked = self.yard.ask(&format!("case-{nth}")).await;
            let mut pick = |most: usize| usize::try_from(dice.below(most as u64)).unwrap();
            // The send itself is what matters most.
            let (method, path) = PATHS[if pick(2) == 0 { 0 } else { pick(PATHS.len()) }];
            let (times, skip) = ([1, 1, 1, 4][pick(4)], pick(2));
            let fault = match trouble {
                Trouble::Late => {
                    self.google.breaks(Fault::on("GET", "labelId=SENT", trouble).times(1 + pick(6) as u32));
                    Fault::on("POST", "/drafts/send", Trouble::ResetAfter)
                }
                _ => Fault::on(method, path, trouble).times(times).after(skip as u32),
            };
            let how = format!("case {nth}: {trouble:?}, {fault:?}");
            self.google.breaks(fault);
            if pick(3) == 0 {
                self.google.breaks(Fault::on("GET", "/history", Trouble::HistoryGone));
            }
            if pick(4) == 0 {
                self.google.expires_tokens();
            }
            self.approve(&asked).await;
            let end = self.yard.carry_to_the_end(asked.action.action_id).await;
            assert_eq!(end, OutboxState::Sent, "{how}");
            self.google.mends();
            all.push(asked.action);
        }
        let sent = self.you().sent();
        for action in &all {
            let message = action.effect.message().unwrap();
            let same = sent.iter().filter(|sent| sent.text() == message.mime).count();
            assert_eq!(same, 1, "{}: delivered {same} times", action.step);
        }
        assert_eq!(sent.len(), all.len(), "nothing else was sent");
        assert!(self.you().drafts().is_empty(), "{:?}", self.you().drafts());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_nobody_has_tried_to_send_is_not_looked_for() {
    let office = Office::open().await;
    let asked = office.ask_in_place_of("draft", "send").await;
    let before = office.google.seen().len();
    office.approve(&asked).await;
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
    let seen = office.google.seen();
    let calls: Vec<&str> = seen.iter().skip(before).map(|seen| seen.path.as_str()).collect();
    let sent_or_draft_lists = |path: &&&str| path.contains("labelIds=SENT");
    assert_eq!(calls.iter().filter(sent_or_draft_lists).count(), 0, "{calls:#?}");
    assert_eq!(calls.iter().filter(|path| path.contains("/threads/")).count(), 1, "{calls:#?}");
    assert!(calls.len() <= 14, "{} calls for one send: {calls:#?}", calls.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_stored_unheard_is_found_and_sent_as_it_is() {
    let office = Office::open().await;
    for (nth, trouble) in [Trouble::ErrorAfter(503), Trouble::ResetAfter, Trouble::BusyAfter(5)].into_iter().enumerate()
    {
        let asked = office.yard.ask(&format!("unheard-{nth}")).await;
        office.google.breaks(Fault::on("POST", "/drafts?", trouble));
        office.approve(&asked).await;
        let carried = office.yard.carry(asked.action.action_id).await;
        assert!(matches!(carried, EffectProgress::Deferred { .. }), "{carried:?}");
        assert_eq!(office.you().drafts().len(), 1);
        assert_eq!(office.yard.home.count("outbox WHERE state = 'ready' AND tried = 1"), 1);
        assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
        assert_eq!((office.times(&asked.action), office.you().drafts().len()), (1, 0), "{trouble:?}");
        assert_eq!(office.google.calls("POST", "/drafts?"), nth + 1, "made once each");
        office.yard.home.clock.advance(61);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_costs_more_than_the_quota_holds_comes_to_its_end() {
    let office = Office::open().await;
    let asked = office.yard.ask("unheard").await;
    office.google.breaks(Fault::on("POST", "/drafts?", Trouble::ResetAfter));
    office.approve(&asked).await;
    let carried = office.yard.carry(asked.action.action_id).await;
    assert!(matches!(carried, EffectProgress::Deferred { .. }), "{carried:?}");
    // Meanwhile the person has written to the same address all day.
    let message = &asked.action.effect.message().unwrap().mime;
    let id = asked.action.action_id.to_string();
    for nth in 0..45 {
        let other = ActionId::derive(office.yard.now(), &[&nth.to_string()]).to_string();
        office.you().stores(message.replace(&id, &other), &["SENT"]);
        office.you().drafts_one(message.replace(&id, &other));
    }
    let before = office.google.calls("GET", "metadataHeaders");
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
    let reads = office.google.calls("GET", "metadataHeaders") - before;
    assert!((80..=120).contains(&reads), "{reads} messages were read");
    assert_eq!((office.times(&asked.action), office.google.calls("POST", "/drafts?")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_certainly_did_not_leave_is_no_doubt() {
    let office = Office::open().await;
    for (nth, trouble) in [Trouble::TooMany(5), Trouble::RateLimited, Trouble::Unauthorized].into_iter().enumerate() {
        for (path, state) in [("/drafts/send", "drafted"), ("/drafts?", "ready")] {
            let asked = office.yard.ask(&format!("certain-{nth}-{state}")).await;
            office.google.breaks(Fault::on("POST", path, trouble));
            office.approve(&asked).await;
            let carried = office.yard.carry(asked.action.action_id).await;
            assert!(matches!(carried, EffectProgress::Deferred { .. }), "{trouble:?}: {carried:?}");
            let rows = format!("outbox WHERE state = '{state}' AND step = '{}'", asked.action.step);
            assert_eq!(office.yard.home.count(&rows), 1, "{trouble:?}");
            assert_eq!(office.yard.home.count(&format!("{rows} AND tried = 1")), u64::from(state == "drafted"));
            assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
            assert_eq!(office.times(&asked.action), 1, "{trouble:?}");
            office.yard.home.clock.advance(61);
        }
    }
    let doubts = "audit WHERE detail LIKE '%→ unknown%'";
    assert_eq!(office.yard.home.count(doubts), 0, "nobody had to look");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_gmail_refuses_ends_and_says_so() {
    let office = Office::open().await;
    let asked = office.yard.ask("refused").await;
    office.google.breaks(Fault::on("POST", "/drafts/send", Trouble::ErrorBefore(400)));
    office.approve(&asked).await;
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Failed);
    assert_eq!(office.times(&asked.action), 0);
    assert!(office.you().drafts().is_empty(), "its draft is in the bin");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_task_stops_what_waits_as_a_draft() {
    let office = Office::open().await;
    let asked = office.yard.ask("waits").await;
    office.google.breaks(Fault::on("POST", "/drafts/send", Trouble::TooMany(60)));
    office.approve(&asked).await;
    let carried = office.yard.carry(asked.action.action_id).await;
    assert!(matches!(carried, EffectProgress::Deferred { .. }), "{carried:?}");
    assert_eq!(office.you().drafts().len(), 1);
    office.yard.app.tasks().edit("1", TaskEditKind::Objective("Say Monday".into()), "").await.unwrap();
    office.yard.home.clock.advance(61);
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Void);
    assert!(office.you().sent().is_empty() && office.you().drafts().is_empty(), "neither sent nor left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_without_a_way_is_tried_ever_more_slowly_and_told_after_a_day() {
    let office = Office::open().await;
    let asked = office.yard.ask("no-way").await;
    office.google.breaks(Fault::on("POST", "/drafts/send", Trouble::Unauthorized).times(u32::MAX));
    office.approve(&asked).await;
    let begun = office.yard.now();
    let end = loop {
        match office.yard.carry(asked.action.action_id).await {
            EffectProgress::Ended(state, why) => break (state, why),
            EffectProgress::Deferred { until, .. } => {
                let pause = until.utc() - office.yard.now().utc();
                office.yard.home.clock.advance(pause.num_seconds().max(1));
            }
        }
    };
    assert_eq!(end.0, OutboxState::Failed, "{}", end.1);
    assert!(end.1.starts_with("it could not be sent for 24 hours"), "{}", end.1);
    let hours = (office.yard.now().utc() - begun.utc()).num_hours();
    let tries = office.google.calls("POST", "/drafts/send");
    assert!((24..25).contains(&hours) && tries < 400, "{tries} tries in {hours} h");
    assert_eq!((office.times(&asked.action), office.you().drafts().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_and_the_archive_are_the_same_however_often_they_are_asked_for() {
    let office = Office::open().await;
    let (you, key) = (office.you(), office.yard.key.clone());
    let label = || Effect::Label { label: "invoice".into() };
    let made = office.insist("label", label()).await;
    assert_eq!(you.own_labels(), [("Adjutant/invoice".to_owned(), made.clone())]);
    for (nth, trouble) in TROUBLES.into_iter().filter(|trouble| *trouble != Trouble::Late).enumerate() {
        // Once more than a call is repeated by itself, the first time.
        office.google.breaks(Fault::on("POST", "/modify", trouble).times(if nth == 0 { 4 } else { 1 }));
        let handle = office.insist("label", label()).await;
        office.insist("archive", Effect::Archive).await;
        let labels = you.message(&key).labels;
        assert!(labels.contains(&made) && !labels.contains(&"INBOX".to_owned()), "{trouble:?}: {labels:?}");
        assert_eq!(labels.iter().filter(|label| **label == made).count(), 1);
        office.google.mends();
        office.undo("label", label(), handle).await.unwrap();
        office.undo("archive", Effect::Archive, key.clone()).await.unwrap();
        let labels = you.message(&key).labels;
        assert!(!labels.contains(&made) && labels.contains(&"INBOX".to_owned()), "{trouble:?}: {labels:?}");
        office.yard.home.clock.advance(61);
    }
    assert_eq!(you.own_labels().len(), 1, "one label, however often it was asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_is_a_row_of_ours_and_a_label_in_gmail() {
    let office = Office::open().await;
    let effect = Effect::Label { label: "invoice".into() };
    let action = with_effect(office.yard.action("label", ""), effect);
    office.yard.plan(&action, RiskClass::R1, OutboxState::Ready, None).await;
    office.google.breaks(Fault::on("POST", "/modify", Trouble::TooMany(5)));
    let carried = office.yard.carry(action.action_id).await;
    assert!(matches!(carried, EffectProgress::Deferred { .. }), "it waits and does not fail: {carried:?}");
    assert_eq!(office.yard.carry_to_the_end(action.action_id).await, OutboxState::Applied);
    assert_eq!(office.yard.home.sql_one("SELECT label FROM label"), "invoice");
    let (_, id) = office.you().own_labels().remove(0);
    assert!(office.you().message(&office.yard.key).labels.contains(&id));
    office.yard.outbox.undo(action.action_id, office.yard.now()).await.unwrap();
    assert!(!office.you().message(&office.yard.key).labels.contains(&id));
    assert_eq!(office.yard.home.count("label"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_stored_once_and_goes_to_the_bin_unless_somebody_changed_it() {
    let office = Office::open().await;
    for (nth, trouble) in [Trouble::ErrorAfter(503), Trouble::ResetAfter, Trouble::ErrorBefore(500), Trouble::Slow(2)]
        .into_iter()
        .enumerate()
    {
        let step = format!("draft-{nth}");
        let message = office.message(&step);
        let effect = || Effect::Draft { message: message.clone() };
        office.google.breaks(Fault::on("POST", "/drafts?", trouble));
        let handle = office.insist(&step, effect()).await;
        let drafts = office.you().drafts();
        assert_eq!(drafts.len(), 1, "{trouble:?}");
        assert_eq!(drafts[0].1.text(), message.mime);
        assert_eq!(drafts[0].1.thread, office.you().message(&office.yard.key).thread);
        office.undo(&step, effect(), handle.clone()).await.unwrap();
        assert!(office.you().drafts().is_empty());
        office.yard.home.clock.advance(61);
    }
    let effect = || Effect::Draft { message: office.message("kept") };
    let handle = office.insist("kept", effect()).await;
    let (draft, stored) = office.you().drafts().remove(0);
    office.you().edits_draft(&draft, stored.text().replace("Friday", "Monday"));
    let refused = office.undo("kept", effect(), handle).await.unwrap_err();
    assert!(refused.to_string().contains("you have changed"), "{refused}");
    assert_eq!(office.you().drafts().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_is_not_sent_after_the_person_has_sent_its_draft() {
    let office = Office::open().await;
    let asked = office.ask_in_place_of("draft", "send").await;
    let (draft, _) = office.you().drafts().remove(0);
    office.you().sends_draft(&draft);
    office.approve(&asked).await;
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Void);
    let result = office.yard.home.sql_one("SELECT result FROM outbox WHERE step = 'send'");
    assert_eq!(result, "you have sent the draft yourself");
    assert_eq!((office.you().sent().len(), office.times(&asked.action)), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sent_message_takes_the_place_of_the_draft_before_it() {
    let office = Office::open().await;
    for (nth, (from, to)) in
        [("", ""), ("Message-ID: <", "Message-ID: <by-google-"), ("Friday", "Monday")].into_iter().enumerate()
    {
        let changed = to == "Monday";
        let asked = office.ask_in_place_of(&format!("draft-{nth}"), &format!("send-{nth}")).await;
        if !from.is_empty() {
            let (id, stored) = office.you().drafts().remove(0);
            office.you().edits_draft(&id, stored.text().replace(from, to));
        }
        office.approve(&asked).await;
        assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
        assert_eq!(office.you().drafts().len(), usize::from(changed), "a changed draft stays");
        office.yard.home.clock.advance(61);
    }
}

/// What sending one answer costs of the quota, in Google's units, by the calls that the emulator saw.
fn units(office: &Office) -> usize {
    let calls = |method, path| office.google.calls(method, path);
    20 * calls("GET", "/messages/")
        + 5 * calls("GET", "/messages?")
        + calls("GET", "/profile")
        + 2 * calls("GET", "/history?")
        + 40 * calls("GET", "/threads/")
        + 20 * calls("GET", "/drafts/")
        + 5 * calls("GET", "/drafts?")
        + 100 * calls("POST", "/drafts/send")
        + 10 * (calls("POST", "/drafts") - calls("POST", "/drafts/send"))
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_among_the_sent_before_a_send_costs_little() {
    let office = Office::open().await;
    let asked = office.yard.ask("answer").await;
    office.approve(&asked).await;
    let before = units(&office);
    assert_eq!(office.yard.carry_to_the_end(asked.action.action_id).await, OutboxState::Sent);
    let looks = office.google.calls("GET", "/messages?");
    assert_eq!((looks, office.google.calls("GET", "/threads/")), (1, 0), "one search");
    let cost = units(&office) - before;
    println!("one answer costs {cost} units, {} of them for the look", 5 * looks);
    assert!((100..=160).contains(&cost), "{cost} units");
}
