//! Tests `data/hitl_queue/` ("human in the loop"): a view of the database in which scripts can decide items, and do
//! nothing else.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
};

use adjutant::model::DecisionKind;
use serde_json::{Value, json};

use crate::support::{
    outbox_fixture::cases,
    test_home::{Kind, SeededRandom, TestHome, answer_first, eventually, files_in},
};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

async fn asked() -> (TestHome, String, Value) {
    let home = TestHome::active();
    home.post(&home.letter("one").body(MEETING));
    home.once().await;
    let files = queue(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    let shown: Value = serde_json::from_str(&home.read(&format!("data/hitl_queue/{}", files[0]))).unwrap();
    (home, files[0].trim_end_matches(".json").to_owned(), shown)
}

fn queue(home: &TestHome) -> Vec<String> {
    files_in(&home.home().queue()).into_iter().filter(|name| name != "quarantine").collect()
}

fn put_away(home: &TestHome) -> usize {
    files_in(&home.home().queue().join("quarantine")).len()
}

fn drop_file(home: &TestHome, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = home.home().queue().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn decision(shown: &Value, word: &str) -> String {
    json!({ "action_sha256": shown["action_sha256"], "decision": word, "reason": "a script says so" }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_item_has_its_state_in_a_file_of_its_own() {
    let (home, item, shown) = asked().await;
    assert_eq!(shown["item_id"], item);
    assert_eq!(shown["task"]["status"], "WAITING_HITL");
    assert!(shown["state"]["checkpoints"].as_array().is_some_and(|points| !points.is_empty()), "{shown}");
    assert!(shown["action"]["action"]["effect"]["message"]["mime"].as_str().unwrap().contains("METHOD:REQUEST"));
    let meta = fs::metadata(home.home().queue().join(format!("{item}.json"))).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(home.home().queue()).unwrap().permissions().mode() & 0o777, 0o700);
    answer_first(&home.app().await, DecisionKind::Reject, "").await.unwrap();
    home.once().await;
    assert!(queue(&home).is_empty(), "what is decided is gone from the queue");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_decides_by_dropping_a_file_and_only_once() {
    let (home, item, shown) = asked().await;
    let name = format!("{item}.decision.json");
    drop_file(&home, &name, &decision(&shown, "approve"), 0o600);
    home.clock.advance(1);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
    assert!(queue(&home).is_empty());
    assert_eq!(home.sql("SELECT door FROM approval"), [["file"]]);
    drop_file(&home, &name, &decision(&shown, "approve"), 0o600);
    home.clock.advance(1);
    home.once().await;
    assert_eq!((home.sent().len(), put_away(&home)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_file_does_not_count_again_after_an_undo() {
    let (home, item, _) = asked().await;
    home.policy("approvals: { grace_seconds: 600 }");
    home.once().await;
    let text = home.read(&format!("data/hitl_queue/{item}.json"));
    let shown: Value = serde_json::from_str(&text).unwrap();
    let name = format!("{item}.decision.json");
    drop_file(&home, &name, &decision(&shown, "approve"), 0o600);
    home.clock.advance(1);
    home.once().await;
    assert_eq!(home.count("outbox WHERE state = 'held'"), 1);
    home.app().await.approvals().revoke(item.parse().unwrap()).await.unwrap();
    drop_file(&home, &name, &decision(&shown, "approve"), 0o600);
    home.clock.advance(700);
    home.once().await;
    assert_eq!((home.count("outbox WHERE state = 'parked'"), home.sent().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_belong_is_put_away_and_never_used() {
    let (home, item, shown) = asked().await;
    let good = decision(&shown, "approve");
    let name = format!("{item}.decision.json");
    let elsewhere = home.root().join("elsewhere.json");
    fs::write(&elsewhere, &good).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    let wrong = json!({ "action_sha256": "0".repeat(64), "decision": "approve" }).to_string();
    let unknown =
        json!({ "action_sha256": shown["action_sha256"], "decision": "approve", "also": "delete" }).to_string();
    type Hostile<'a> = (&'a str, Box<dyn Fn(&TestHome) + 'a>);
    let hostile: Vec<Hostile<'_>> = vec![
        ("others can write it", Box::new(|home| drop(drop_file(home, &name, &good, 0o666)))),
        ("a link", Box::new(|home| symlink(&elsewhere, home.home().queue().join(&name)).unwrap())),
        ("a second name", Box::new(|home| fs::hard_link(&elsewhere, home.home().queue().join(&name)).unwrap())),
        ("a folder", Box::new(|home| fs::create_dir(home.home().queue().join(&name)).unwrap())),
        ("another digest", Box::new(|home| drop(drop_file(home, &name, &wrong, 0o600)))),
        ("unknown fields", Box::new(|home| drop(drop_file(home, &name, &unknown, 0o600)))),
        ("no JSON", Box::new(|home| drop(drop_file(home, &name, "yes", 0o600)))),
        ("too large", Box::new(|home| drop(drop_file(home, &name, &" ".repeat(100_000), 0o600)))),
        (
            "no such item",
            Box::new(|home| drop(drop_file(home, "01ARZ3NDEKTSV4RRFFQ69G5FAV.decision.json", &good, 0o600))),
        ),
        ("a lower-case id", Box::new(|home| drop(drop_file(home, &name.to_lowercase(), &good, 0o600)))),
        ("a forged item", Box::new(|home| drop(drop_file(home, "01ARZ3NDEKTSV4RRFFQ69G5FAV.json", "{}", 0o600)))),
    ];
    for (nth, (what, hostile)) in hostile.iter().enumerate() {
        hostile(&home);
        home.clock.advance(1);
        home.once().await;
        assert_eq!(put_away(&home), nth + 1, "{what}");
        assert_eq!(queue(&home), [format!("{item}.json")], "{what}");
        assert_eq!((home.sent().len(), home.count("approval")), (0, 0), "{what}");
    }
    // An edited view is put away and written again.
    drop_file(&home, &format!("{item}.json"), "{\"approved\": true}", 0o600);
    home.once().await;
    assert_eq!(put_away(&home), hostile.len() + 1);
    let again: Value = serde_json::from_str(&home.read(&format!("data/hitl_queue/{item}.json"))).unwrap();
    assert_eq!(again["item_id"], item);
}

/// A name nobody should act on.
fn hostile_name(dice: &mut SeededRandom) -> String {
    let parts = [
        "..",
        "/",
        "%2e%2e",
        "\u{202e}",
        "nosj",
        ".json",
        ".decision.json",
        "\n",
        " ",
        "~",
        "$HOME",
        "`id`",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "etc",
        "passwd",
        "quarantine",
        "-rf",
        "CON",
        "\u{0}",
        "'",
        "\"",
        ";",
        "|",
        "*",
        "א",
        ".tmp",
        "tasks.db",
    ];
    (0..=dice.below(5)).map(|_| parts[usize::try_from(dice.below(parts.len() as u64)).unwrap()]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_open_nothing_outside_the_queue() {
    let (home, item, shown) = asked().await;
    let mut dice = SeededRandom::thrown("names");
    let cases = cases(300).min(5_000);
    let good = decision(&shown, "approve");
    let app = home.app().await;
    let canary = home.root().join("etc");
    for nth in 0..cases {
        let name = hostile_name(&mut dice);
        if name == format!("{item}.decision.json") || name == format!("{item}.json") {
            continue;
        }
        // As an id on the command line: not found, whatever it says.
        assert!(app.approvals().detail(&name).await.is_err(), "{name:?}");
        assert!(app.approvals().answer(&name, DecisionKind::Reject, "").await.is_err(), "{name:?}");
        // As a file name, where the file system can carry it.
        if !name.contains(['/', '\0']) && name != "." && name != ".." && name != "quarantine" && name.len() < 250 {
            drop_file(&home, &name, &good, 0o600);
        }
        if nth % 50 == 49 {
            app.approvals().reconcile_queue().await.unwrap();
            assert_eq!(queue(&home), [format!("{item}.json")]);
        }
    }
    app.approvals().reconcile_queue().await.unwrap();
    assert!(!canary.exists());
    assert_eq!((home.sent().len(), home.count("approval"), queue(&home).len()), (0, 0, 1));
    println!("{cases} hostile names");
    crate::support::campaign::Campaign::new("hostile names", cases, cases).unapproved(0).print();
}

#[test]
fn a_running_daemon_notices_a_decision_at_once() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("one").body(MEETING));
    let daemon = home.daemon();
    let item = eventually("the item is in the queue", || {
        queue(&home).first().map(|name| name.trim_end_matches(".json").to_owned())
    });
    let shown: Value = serde_json::from_str(&home.read(&format!("data/hitl_queue/{item}.json"))).unwrap();
    let unfinished = drop_file(&home, ".incoming", &decision(&shown, "approve"), 0o600);
    fs::rename(unfinished, home.home().queue().join(format!("{item}.decision.json"))).unwrap();
    eventually("it is saved in Sent", || (home.sent().len() == 1).then_some(()));
    assert_eq!(daemon.stop("TERM").0, 0);
}
