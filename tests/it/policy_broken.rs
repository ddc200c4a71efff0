//! Tests a broken policy.yml: nobody knows what the person allows, so every effect waits, with the reason, until the
//! file is valid.

use std::fs;

use adjutant::app::FindingCode;

use crate::support::test_home::{Kind, TestHome, approve_first, first};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
const BROKEN: &str = "caps: { messages_per_hour: 0 }\napprovals: { other_hours: 1 \n";

fn ruin(home: &TestHome) {
    home.write("rules/policy.yml", BROKEN);
}

async fn works(home: &TestHome) {
    home.clock.advance(60);
    home.once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_policy_is_never_looser_than_the_persons_own() {
    let home = TestHome::active();
    home.policy("caps: { messages_per_hour: 0 }");
    home.post(&home.letter("one").question());
    home.once().await;
    assert_eq!(home.drafts().len(), 0, "the cap is 0");
    ruin(&home);
    home.post(&home.letter("two").question());
    home.post(&home.letter("three").invoice(7));
    home.post(&home.letter("four").body(MEETING));
    let folder = "Create a folder for the Acme project.\n";
    home.post(&home.letter("five").from("Alex Green <you@home.example>").body(folder));
    works(&home).await;
    works(&home).await;
    assert_eq!(home.drafts().len(), 0);
    assert_eq!(home.count("item WHERE state = 'open'"), 0, "nothing is asked under terms that nobody wrote");
    assert!(
        home.count("outbox WHERE class = 'R0' AND state = 'applied'") > 0,
        "rows of its own are none of its business"
    );
    assert_eq!(home.count("outbox WHERE class <> 'R0' AND state NOT IN ('ready', 'planned')"), 0);
    let reasons = home.sql("SELECT DISTINCT waits_for FROM run WHERE status = 'running'");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0][0].contains("policy.yml is broken"), "{reasons:?}");
    // Whole again, everything goes on under what it says.
    home.policy("");
    works(&home).await;
    assert!(home.drafts().len() >= 2, "{:?}", home.sql("SELECT step, state, result FROM outbox"));
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_stays_as_it_was_asked_and_a_yes_counts_only_under_a_whole_policy() {
    let home = TestHome::active();
    home.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    home.post(&home.letter("one").body(MEETING));
    home.once().await;
    let app = home.app().await;
    let asked = first(&app).await.item;
    ruin(&home);
    works(&home).await;
    let still = first(&app).await;
    assert_eq!((still.item.action_sha256, still.item.expires_at), (asked.action_sha256, asked.expires_at));
    assert!(still.obstacle.unwrap().contains("policy.yml is broken"));
    assert!(approve_first(&app).await.unwrap_err().to_string().contains("policy.yml is broken"));
    home.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    approve_first(&app).await.unwrap();
    // Said under a whole policy and broken before it was done: it waits, and is not void.
    ruin(&home);
    works(&home).await;
    assert_eq!(home.sent().len(), 0);
    home.policy("approvals: { grace_seconds: 0, other_hours: 5 }");
    works(&home).await;
    assert_eq!(home.sent().len(), 1, "{:?}", home.sql("SELECT step, state, result FROM outbox"));
}

#[test]
fn a_policy_that_was_there_and_is_missing_is_told() {
    let codes = |home: &TestHome| {
        let found = home.diagnosis()["findings"].clone();
        found.as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let home = TestHome::real_time(Kind::Active);
    home.run(&["once"]);
    let policy = home.root().join("rules/policy.yml");
    fs::remove_file(&policy).unwrap();
    assert_eq!(codes(&home), [FindingCode::PolicyMissing.as_str()]);
    fs::write(&policy, "").unwrap();
    assert_eq!(codes(&home), [""; 0]);
    ruin(&home);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("policy   BROKEN: nothing is done until it is whole again"), "{}", doctor.out);
    // Who never had one has none.
    let home = TestHome::real_time(Kind::Active);
    fs::remove_file(home.root().join("rules/policy.yml")).unwrap();
    home.run(&["once"]);
    assert_eq!(codes(&home), [""; 0]);
}
