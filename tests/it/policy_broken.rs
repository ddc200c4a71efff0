//! A broken policy.yml: nobody knows what the person allows, so every effect waits, with the reason, until it is whole.

use std::fs;

use adjutant::app::FindingCode;

use crate::house::{House, Kind, approve_first, first};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
const BROKEN: &str = "caps: { messages_per_hour: 0 }\napprovals: { other_hours: 1 \n";

fn ruin(house: &House) {
    house.write("rules/policy.yml", BROKEN);
}

async fn works(house: &House) {
    house.clock.advance(60);
    house.once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_policy_is_never_looser_than_the_persons_own() {
    let house = House::active();
    house.policy("caps: { messages_per_hour: 0 }");
    house.post(&house.letter("one").question());
    house.once().await;
    assert_eq!(house.drafts().len(), 0, "the cap is 0");
    ruin(&house);
    house.post(&house.letter("two").question());
    house.post(&house.letter("three").invoice(7));
    house.post(&house.letter("four").body(MEETING));
    works(&house).await;
    works(&house).await;
    assert_eq!(house.drafts().len(), 0);
    assert_eq!(house.count("item WHERE state = 'open'"), 0, "nothing is asked under terms that nobody wrote");
    assert!(
        house.count("outbox WHERE class = 'R0' AND state = 'applied'") > 0,
        "rows of its own are none of its business"
    );
    assert_eq!(house.count("outbox WHERE class <> 'R0' AND state NOT IN ('ready', 'planned')"), 0);
    let reasons = house.sql("SELECT DISTINCT waits_for FROM run WHERE status = 'running'");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0][0].contains("policy.yml is broken"), "{reasons:?}");
    // Whole again, everything goes on under what it says.
    house.policy("");
    works(&house).await;
    assert!(house.drafts().len() >= 2, "{:?}", house.sql("SELECT step, state, result FROM outbox"));
    assert_eq!(house.count("item WHERE state = 'open'"), 1);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_stays_as_it_was_asked_and_a_yes_counts_only_under_a_whole_policy() {
    let house = House::active();
    house.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    house.post(&house.letter("one").body(MEETING));
    house.once().await;
    let app = house.app().await;
    let asked = first(&app).await.item;
    ruin(&house);
    works(&house).await;
    let still = first(&app).await;
    assert_eq!((still.item.action_sha256, still.item.expires_at), (asked.action_sha256, asked.expires_at));
    assert!(still.obstacle.unwrap().contains("policy.yml is broken"));
    assert!(approve_first(&app).await.unwrap_err().to_string().contains("policy.yml is broken"));
    house.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    approve_first(&app).await.unwrap();
    // Said under a whole policy and broken before it was done: it waits, and is not void.
    ruin(&house);
    works(&house).await;
    assert_eq!(house.sent().len(), 0);
    house.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    works(&house).await;
    assert_eq!(house.sent().len(), 1, "{:?}", house.sql("SELECT step, state, result FROM outbox"));
}

#[test]
fn a_policy_that_was_there_and_is_missing_is_told() {
    let codes = |house: &House| {
        let found = house.diagnosis()["findings"].clone();
        found.as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let house = House::real_time(Kind::Active);
    house.run(&["once"]);
    let policy = house.root().join("rules/policy.yml");
    fs::remove_file(&policy).unwrap();
    assert_eq!(codes(&house), [FindingCode::PolicyMissing.as_str()]);
    fs::write(&policy, "").unwrap();
    assert_eq!(codes(&house), [""; 0]);
    ruin(&house);
    let doctor = house.run(&["doctor"]);
    assert!(doctor.out.contains("policy   BROKEN: nothing is done until it is whole again"), "{}", doctor.out);
    // Who never had one has none.
    let house = House::real_time(Kind::Active);
    fs::remove_file(house.root().join("rules/policy.yml")).unwrap();
    house.run(&["once"]);
    assert_eq!(codes(&house), [""; 0]);
}
