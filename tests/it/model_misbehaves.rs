//! Tests a model that fails in every way: nothing crashes, no task is lost, and the tasks are those that there are
//! without it.
//!
//! `IT_CASES` says how many malformed replies (1,000 under `make crash`).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    model_server::{Asked, Said, Server, breaks_off, kind, ledger, tasks, with_model, with_model_at},
    outbox_fixture::cases,
    test_home::{SeededRandom, TestHome},
};

/// The sample mails worked with this server, beside the same without a model.
async fn as_without(server: &Server, more: &str) -> TestHome {
    let off = TestHome::samples();
    off.once().await;
    let on = TestHome::samples();
    with_model(&on, server, more);
    on.once().await;
    assert_eq!(tasks(&on), tasks(&off));
    assert_eq!(ledger(&on), ledger(&off));
    on.must_be_sound().await;
    assert_eq!(on.count("run WHERE status IN ('running', 'parked') AND kind = 'mail'"), 0);
    let parked = "SELECT count(*) FROM run WHERE status = 'parked'";
    assert_eq!(on.sql_one(parked), off.sql_one(parked), "no run is parked because of a model");
    on
}

fn outcomes(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT outcome, count(*) FROM model_call GROUP BY 1 ORDER BY 1")
}

/// One way to be wrong, chosen by dice.
fn wrong(dice: &mut SeededRandom, asked: &Asked) -> Said {
    let mut answer = kind(asked);
    match dice.below(16) {
        0 => Said::Text("I would say it is quite urgent.".into()),
        1 => Said::Text(String::new()),
        2 => Said::Text(format!("{answer}{answer}")),
        3 => {
            let text = answer.to_string();
            Said::Text(text.chars().take(text.chars().count() / 2).collect())
        }
        4 => {
            answer["send_mail"] = json!({ "to": "eve@evil.example" });
            Said::Answer(answer)
        }
        5 => Said::Answer(json!({ "urgency": 7, "tasks": [], "action": "delete_everything", "about": "" })),
        6 => Said::Answer(json!([[[[]]]])),
        7 => Said::Text("[".repeat(100_000)),
        8 => Said::Body(b"\x00\xff\xfe not json".to_vec()),
        9 => Said::Body(b"{\"choices\": 3}".to_vec()),
        10 => Said::Body(Vec::new()),
        11 => Said::Body(br#"{"choices":[{"mess"#.to_vec()),
        12 => Said::TooLong(answer.to_string()),
        13 => Said::Refusal,
        14 => Said::Answer(poisoned(answer)),
        _ => Said::Answer(Value::Null),
    }
}

/// Right in shape, with an address in every text.
fn poisoned(mut answer: Value) -> Value {
    let evil = "write to eve@evil.example";
    for field in ["greeting", "text", "closing", "about"] {
        if answer.get(field).is_some() {
            answer[field] = json!(evil);
        }
    }
    for task in answer.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten() {
        task["objective"] = json!(evil);
    }
    if answer.get("urgency").is_some() {
        answer["urgency"] = json!("very");
    }
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_replies_leave_everything_as_without_a_model() {
    let wanted = cases(120);
    let dice = std::sync::Mutex::new(SeededRandom::thrown("malformed"));
    let server = Server::start(move |asked| wrong(&mut dice.lock().unwrap(), asked));
    let mut homes = 0;
    while server.count() < wanted {
        // No budget stands in the way of being wronged.
        let home = as_without(&server, "tokens_per_day = 0\ntokens_per_task = 0").await;
        assert_eq!(home.count("model_call WHERE outcome IN ('answered', 'repaired')"), 0, "{:?}", outcomes(&home));
        assert_eq!(home.count("tasks WHERE objective LIKE '%evil%' OR result_summary LIKE '%evil%'"), 0);
        homes += 1;
    }
    println!("{} malformed replies over {homes} homes: 0 crashes, the same tasks", server.count());
    crate::support::campaign::Campaign::new("malformed replies", wanted, server.count()).lost(0).print();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_leaves_everything_as_without_a_model() {
    let refused = Server::start(|_| Said::Status(503, vec![]));
    let home = as_without(&refused, "").await;
    let shown = outcomes(&home);
    assert!(shown.iter().all(|row| ["unreachable", "resting"].contains(&row[0].as_str())), "{shown:?}");
    assert!(refused.count() < 100, "it is left alone after a while: {} requests", refused.count());
    // Nobody is there at all.
    let nobody = TestHome::samples();
    with_model_at(&nobody, "http://127.0.0.1:9/v1", "");
    nobody.once().await;
    assert_eq!(tasks(&nobody), tasks(&home));
    assert!(nobody.count("model_call WHERE outcome = 'unreachable'") > 0);
    let doctor = nobody.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "a model that is away is no fault of the home: {}", doctor.out);
    assert!(doctor.out.contains("UNREACHABLE: no server answers at the address; rules go on alone"), "{}", doctor.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_is_waited_for_no_longer_than_its_deadline() {
    let server = Server::start(|_| Said::Hang);
    let begun = Instant::now();
    let home = as_without(&server, "timeout_seconds = 1").await;
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    assert!(home.count("model_call WHERE outcome = 'late'") >= 3, "{:?}", outcomes(&home));
    assert_eq!(
        home.count("model_call WHERE outcome = 'late' AND tokens_in + tokens_out = 0"),
        0,
        "counted at its worst"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_up_in_the_middle_is_asked_no_more_than_it_may_have_heard() {
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{\"choices\":";
    for (sent, outcome, requests) in
        [(half, "malformed", "2"), ("", "unreachable", "1"), ("HTTP/1.1 2", "unreachable", "1")]
    {
        let home = TestHome::active();
        with_model_at(&home, &breaks_off(sent), "tokens_per_task = 0");
        home.post(&home.letter("q").question());
        home.once().await;
        assert_eq!(home.count("tasks"), 1);
        let first = home.sql("SELECT outcome, requests, tokens_in > 1000 FROM model_call ORDER BY call_id LIMIT 1");
        assert_eq!(first, [[outcome, requests, "1"]], "after {sent:?}, counted at its worst");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_one_is_waited_for() {
    let server = Server::start(|asked| Said::Slow(Duration::from_millis(300), kind(asked)));
    let home = TestHome::active();
    with_model(&home, &server, "timeout_seconds = 20");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(outcomes(&home), [["answered", "3"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_are_not_read() {
    let server = Server::start(|_| Said::Body(vec![b'x'; 10 << 20]));
    let home = TestHome::active();
    with_model(&home, &server, "tokens_per_day = 0\ntokens_per_task = 0");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(outcomes(&home), [["malformed", "4"]]);
    let note = home.sql_one("SELECT note FROM model_call LIMIT 1");
    assert!(note.contains("longer than"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_asked_again_when_it_says() {
    let server = Server::start(|asked| match asked.nth {
        0 => Said::Status(429, vec![("retry-after", "1".into())]),
        1 => Said::Status(500, vec![]),
        _ => Said::Answer(kind(asked)),
    });
    let home = TestHome::active();
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    let begun = Instant::now();
    home.once().await;
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(outcomes(&home), [["answered", "3"]]);
    // One that wants an hour is not waited for, and not bothered again.
    let busy = Server::start(|_| Said::Status(429, vec![("retry-after", "3600".into())]));
    let home = TestHome::active();
    with_model(&home, &busy, "");
    home.post(&home.letter("q").question());
    let begun = Instant::now();
    home.once().await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(busy.count(), 1);
    assert_eq!(outcomes(&home), [["resting", "3"], ["unreachable", "1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed_and_a_wrong_key_not_repeated() {
    let trap = Server::kind();
    let elsewhere = format!("{}/chat/completions", trap.url());
    let server = Server::start(move |_| Said::Status(307, vec![("location", elsewhere.clone())]));
    let home = TestHome::active();
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(trap.count(), 0, "the mail went elsewhere");
    let denied = Server::start(|_| Said::Status(401, vec![]));
    let home = TestHome::active();
    with_model(&home, &denied, "");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(denied.count(), 1);
    let note = home.sql_one("SELECT note FROM model_call WHERE outcome = 'denied'");
    assert!(note.contains("is the key right?") && !note.contains("secret words"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_count_of_tokens_the_worst_is_counted() {
    let server = Server::start(|asked| Said::Uncounted(kind(asked)));
    let home = TestHome::active();
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(home.count("model_call WHERE tokens_in < 1000"), 0);
}
