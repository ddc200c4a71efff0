//! Tests that a message is sent once whatever the transport does, and that an unknown outcome is reported.

use adjutant::{
    app::DecisionInput,
    model::{DecisionKind, OutboxState},
};

use crate::support::outbox_fixture::{Fault, OutboxFixture, cases};

/// How a message that meets the fault must end. What was delivered, or is still a draft, is found to be so; only where
/// nobody can be asked is a person.
const fn right_end(fault: Fault) -> OutboxState {
    match fault {
        Fault::None
        | Fault::Slow
        | Fault::DroppedBefore
        | Fault::DroppedAfter
        | Fault::ErrorAfterAccept
        | Fault::LateVisibility
        | Fault::Panics => OutboxState::Sent,
        Fault::ProbeError => OutboxState::NeedsHuman,
        Fault::DraftEdited => OutboxState::Void,
        Fault::Refused => OutboxState::Failed,
    }
}

/// A mailbox in memory here; transport.rs does the same with programs.
#[tokio::test(flavor = "multi_thread")]
async fn ambiguous_sends_are_looked_for_and_never_repeated_on_a_guess() {
    let yard = OutboxFixture::new().await;
    let each = cases(12);
    let mut ends = std::collections::BTreeMap::new();
    for fault in Fault::ALL {
        for nth in 0..each {
            let asked = yard.ask(&format!("{fault:?}-{nth}")).await;
            yard.mailbox.breaks(*fault);
            yard.app
                .approvals()
                .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
                .await
                .unwrap();
            let end = yard.carry_to_the_end(asked.action.action_id).await;
            let times = yard.mailbox.times(asked.action.action_id);
            assert!(times <= 1, "{fault:?} {nth}: delivered {times} times");
            let told = match end {
                OutboxState::Sent => times == 1,
                // A person is asked, or told that it did not leave.
                OutboxState::NeedsHuman => true,
                OutboxState::Failed | OutboxState::Void => times == 0,
                other => panic!("{fault:?} {nth}: ended {other}"),
            };
            assert!(told, "{fault:?} {nth}: {end}, delivered {times} times");
            assert_eq!(end, right_end(*fault), "{fault:?} {nth}");
            // Whoever comes back to it finds it ended.
            assert_eq!(yard.carry_to_the_end(asked.action.action_id).await, end);
            assert_eq!(yard.mailbox.times(asked.action.action_id), times);
            *ends.entry((format!("{fault:?}"), end)).or_insert(0) += 1;
        }
    }
    println!("{each} of each fault: {ends:?}");
    let all: usize = ends.values().sum();
    crate::support::campaign::Campaign::new("ambiguous sends", all, all).lost(0).twice(0).stuck(0).print();
}

#[tokio::test(flavor = "multi_thread")]
async fn doubt_lasts_a_quarter_of_an_hour_and_then_a_person_is_asked() {
    let yard = OutboxFixture::new().await;
    let asked = yard.ask("doubt").await;
    yard.mailbox.breaks(Fault::ProbeError);
    yard.app
        .approvals()
        .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
        .await
        .unwrap();
    let began = yard.now();
    let end = yard.carry_to_the_end(asked.action.action_id).await;
    let minutes = (yard.now().utc() - began.utc()).num_minutes();
    assert_eq!(end, OutboxState::NeedsHuman);
    assert!((15..=17).contains(&minutes), "{minutes} minutes");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_doors_at_once_approve_an_action_once() {
    let yard = OutboxFixture::new().await;
    let items = cases(8).min(200);
    let mut asked = Vec::new();
    for nth in 0..items {
        asked.push(yard.ask(&format!("race-{nth}")).await);
    }
    for asked in &asked {
        let mut doors = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (app, asked) = (yard.app.clone(), asked.clone());
            doors.spawn(async move {
                app.approvals()
                    .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
                    .await
                    .is_ok()
            });
        }
        let mut yes = 0;
        while let Some(done) = doors.join_next().await {
            yes += usize::from(done.unwrap());
        }
        assert_eq!(yes, 1, "{} of 64 were told that they approved it", yes);
        let action = asked.action.action_id;
        let (one, other) = tokio::join!(yard.carry_to_the_end(action), yard.carry_to_the_end(action));
        assert_eq!((one, other), (OutboxState::Sent, OutboxState::Sent));
        let trail = || yard.home.sql(&format!("SELECT act, detail FROM audit WHERE subject = 'action:{action}'"));
        assert_eq!(yard.mailbox.times(action), 1, "{:?}", trail());
    }
    println!("{items} items, 64 doors each");
    crate::support::campaign::Campaign::new("64 yeses at once", items, items).twice(0).print();
}
