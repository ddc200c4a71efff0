//! Tests that exactly what was approved is carried out: after any change, any second use, too much time, or for another
//! task, it is not.

use adjutant::{
    app::DecisionInput,
    model::{DecisionKind, OutboxState},
};

use crate::support::{
    outbox_fixture::{Asked, OutboxFixture, cases},
    test_home::SeededRandom,
};

async fn approved(yard: &OutboxFixture, step: &str) -> Asked {
    let asked = yard.ask(step).await;
    yard.app
        .approvals()
        .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
        .await
        .unwrap();
    asked
}

/// Back to the moment after the yes, with the row as it was.
fn rewind(yard: &OutboxFixture, asked: &Asked) {
    let database = yard.home.database();
    let text = serde_json::to_string(&asked.action).unwrap();
    let id = asked.action.action_id.to_string();
    database
        .execute_batch("DROP TRIGGER IF EXISTS outbox_legal; PRAGMA foreign_keys = OFF;")
        .and_then(|()| {
            database.execute(
                "UPDATE outbox SET state = 'ready', action = ?2, sha256 = ?3, class = 'R2' WHERE action_id = ?1",
                (&id, text, &asked.sha256),
            )
        })
        .and_then(|_| {
            database
                .execute("UPDATE approval SET used_at = NULL, sha256 = ?2 WHERE action_id = ?1", (&id, &asked.sha256))
        })
        .unwrap();
}

/// One bit of the stored action is another.
fn flip(text: &str, dice: &mut SeededRandom) -> String {
    loop {
        let mut bytes = text.as_bytes().to_vec();
        let place = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
        bytes[place] ^= 1 << dice.below(7);
        if let Ok(flipped) = String::from_utf8(bytes) {
            return flipped;
        }
    }
}

/// One field is another, and the digest in the row is made to fit.
fn change(asked: &Asked, dice: &mut SeededRandom) -> (String, String) {
    let mut value = serde_json::to_value(&asked.action).unwrap();
    let mut paths = Vec::new();
    leaves(&value, String::new(), &mut paths);
    let path = paths[usize::try_from(dice.below(paths.len() as u64)).unwrap()].clone();
    let leaf = value.pointer_mut(&path).unwrap();
    *leaf = match &*leaf {
        serde_json::Value::String(text) => format!("{text}x").into(),
        serde_json::Value::Number(number) => (number.as_i64().unwrap_or(0) + 1).into(),
        serde_json::Value::Bool(flag) => (!flag).into(),
        _ => "x".into(),
    };
    let text = value.to_string();
    let sha = serde_json::from_value::<adjutant::model::Action>(value)
        .map_or_else(|_| adjutant::model::ids::sha256_hex(text.as_bytes()), |action| action.sha256().unwrap());
    (text, sha)
}

fn leaves(value: &serde_json::Value, path: String, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(value, format!("{path}/{key}"), found));
        }
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(nth, value)| leaves(value, format!("{path}/{nth}"), found));
        }
        _ => found.push(path),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_changed_after_the_yes_runs() {
    let yard = OutboxFixture::new().await;
    let asked = approved(&yard, "tampered").await;
    let mut dice = SeededRandom::thrown("tampering");
    let cases = cases(400);
    let stored = serde_json::to_string(&asked.action).unwrap();
    let id = asked.action.action_id;
    for nth in 0..cases {
        rewind(&yard, &asked);
        let (text, sha) =
            if nth % 2 == 0 { (flip(&stored, &mut dice), asked.sha256.clone()) } else { change(&asked, &mut dice) };
        if text == stored {
            continue;
        }
        let sql = "UPDATE outbox SET action = ?2, sha256 = ?3 WHERE action_id = ?1";
        yard.home.database().execute(sql, (id.to_string(), &text, sha)).unwrap();
        // A row that cannot be read is an error; one that can is void, or waits for what never comes.
        let outcome = yard.outbox.carry_out(id, None, Some(&yard.mail), yard.now()).await;
        let sent = yard.mailbox.delivered.lock().unwrap().len();
        assert_eq!(sent, 0, "case {nth}: {text}\n{outcome:?}");
    }
    rewind(&yard, &asked);
    assert_eq!(yard.carry_to_the_end(id).await, OutboxState::Sent, "untouched, it runs");
    println!("{cases} changes");
    crate::support::campaign::Campaign::new("tampered rows", cases, cases).unapproved(0).print();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_used_once() {
    let yard = OutboxFixture::new().await;
    let asked = approved(&yard, "replayed").await;
    let id = asked.action.action_id;
    assert_eq!(yard.carry_to_the_end(id).await, OutboxState::Sent);
    let cases = cases(300);
    for nth in 0..cases {
        match nth % 3 {
            // The same word again.
            0 => assert!(
                yard.app
                    .approvals()
                    .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
                    .await
                    .is_err()
            ),
            // The same row again.
            1 => assert_eq!(yard.carry_to_the_end(id).await, OutboxState::Sent),
            // Somebody turns the row back, but the approval stays used.
            _ => {
                let database = yard.home.database();
                database.execute_batch("DROP TRIGGER IF EXISTS outbox_legal").unwrap();
                database.execute("UPDATE outbox SET state = 'ready' WHERE action_id = ?1", [id.to_string()]).unwrap();
                assert_eq!(yard.carry_to_the_end(id).await, OutboxState::Void);
                database.execute("UPDATE outbox SET state = 'sent' WHERE action_id = ?1", [id.to_string()]).unwrap();
            }
        }
        assert_eq!(yard.mailbox.times(id), 1, "case {nth}");
    }
    println!("{cases} replays");
    crate::support::campaign::Campaign::new("replayed approvals", cases, cases).twice(0).unapproved(0).print();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_too_old_or_of_another_task_runs() {
    let yard = OutboxFixture::new().await;
    let cases = cases(60).min(1_000);
    let (one, other) = (approved(&yard, "one").await, approved(&yard, "other").await);
    for nth in 0..cases {
        rewind(&yard, &one);
        rewind(&yard, &other);
        let database = yard.home.database();
        let swap = "UPDATE approval SET sha256 = ?2 WHERE action_id = ?1";
        database.execute(swap, (one.action.action_id.to_string(), &other.sha256)).unwrap();
        database.execute(swap, (other.action.action_id.to_string(), &one.sha256)).unwrap();
        for asked in [&one, &other] {
            let end = yard.carry_to_the_end(asked.action.action_id).await;
            // A person said yes to something and it does not happen: they are asked again.
            assert_eq!(end, OutboxState::Failed, "case {nth}: an approval of another action");
        }
    }
    for nth in 0..cases {
        rewind(&yard, &one);
        let late = one.action.terms.as_ref().unwrap().expires_at.plus(chrono::Duration::seconds(nth as i64));
        let end = yard.outbox.carry_out(one.action.action_id, None, Some(&yard.mail), late).await.unwrap();
        assert!(matches!(end, adjutant::outbox::EffectProgress::Ended(OutboxState::Failed, _)), "{end:?}");
    }
    assert!(yard.mailbox.delivered.lock().unwrap().is_empty());
    println!("{cases} swapped, {cases} expired");
    crate::support::campaign::Campaign::new("swapped and expired", 2 * cases, 2 * cases).unapproved(0).print();
}
