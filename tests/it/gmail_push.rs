//! Tests push notifications: one wakes the poll; when they stop, that is reported once and mail still arrives.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use adjutant::clock::Clock;
use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
};
use tokio::runtime::Runtime;

use crate::support::{
    gmail_home::{signed_in_at, state_of},
    google::{Google, YOU},
    test_home::{TestHome, eventually},
};

/// A subscription that holds a pull open until there is something, as Pub/Sub does.
#[derive(Default)]
struct Subscription {
    waiting: AtomicUsize,
    acknowledged: AtomicUsize,
    /// What it answers instead, unless 0.
    broken: AtomicU16,
}

async fn serve(State(subscription): State<Arc<Subscription>>, request: Request) -> (StatusCode, String) {
    let broken = subscription.broken.load(Ordering::SeqCst);
    if broken != 0 {
        return (StatusCode::from_u16(broken).unwrap(), "{}".into());
    }
    let path = request.uri().path().to_owned();
    if !request.headers().contains_key("authorization") {
        return (StatusCode::UNAUTHORIZED, "{}".into());
    }
    if path == "/v1/projects/p/subscriptions/s:acknowledge" {
        subscription.acknowledged.fetch_add(1, Ordering::SeqCst);
        return (StatusCode::OK, "{}".into());
    }
    assert_eq!(path, "/v1/projects/p/subscriptions/s:pull");
    for _ in 0..100 {
        let taken = subscription.waiting.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if taken.is_ok() {
            let message = r#"{"receivedMessages":[{"ackId":"a","message":{"data":"e30="}}]}"#;
            return (StatusCode::OK, message.into());
        }
        if subscription.broken.load(Ordering::SeqCst) != 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (StatusCode::OK, "{}".into())
}

fn start(subscription: &Arc<Subscription>) -> (Runtime, SocketAddr) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let app = Router::new().fallback(serve).with_state(Arc::clone(subscription));
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        tell.send(listener.local_addr().unwrap()).unwrap();
        axum::serve(listener, app).await.unwrap();
    });
    (runtime, told.recv().unwrap())
}

/// An account that is pushed to, and looks by itself only so often.
fn pushed(google: &Google, pubsub: SocketAddr, seconds: u32) -> TestHome {
    let push = format!(
        "push = {{ topic = \"projects/p/topics/t\", subscription = \"projects/p/subscriptions/s\" }}\npubsub_api = \"http://{pubsub}\"\n[mail]\npoll_seconds = {seconds}"
    );
    signed_in_at(google, YOU, &push, Clock::System)
}

#[test]
fn a_subscription_that_hears_nothing_is_told_by_the_mail_that_came() {
    let google = Google::start();
    let (runtime, address) = start(&Arc::new(Subscription::default()));
    let home = pushed(&google, address, 1);
    let mut daemon = home.daemon();
    eventually("Gmail was asked to write", || (google.calls("POST", "/watch") == 1).then_some(()));
    for nth in 0..4 {
        let looks = google.calls("GET", "/history?");
        eventually("it looks by the clock", || (google.calls("GET", "/history?") >= looks + 2).then_some(()));
        let id = google.person(YOU).receives(home.letter(&format!("unannounced-{nth}")).question().text());
        eventually("the mail is in", || (state_of(&home, &id) == "task").then_some(()));
    }
    let told = daemon.until("push has lapsed");
    assert!(told.contains("no push has announced"), "{told}");
    let (code, said) = daemon.stop("TERM");
    assert_eq!((code, said.matches("push has lapsed").count()), (0, 1), "{said}");
    runtime.shutdown_background();
}

#[test]
fn a_push_brings_mail_at_once_and_its_end_is_told() {
    let google = Google::start();
    let subscription = Arc::new(Subscription::default());
    let (runtime, address) = start(&subscription);
    let home = pushed(&google, address, 3600);
    let mut daemon = home.daemon();
    eventually("Gmail was asked to write", || (google.calls("POST", "/watch") == 1).then_some(()));
    // Nothing would be looked for in the next hour.
    eventually("the first looks are over", || (google.calls("GET", "/history?") >= 1).then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    let id = google.person(YOU).receives(home.letter("one").question().text());
    subscription.waiting.fetch_add(1, Ordering::SeqCst);
    eventually("the mail is in", || (state_of(&home, &id) == "task").then_some(()));
    assert_eq!(subscription.acknowledged.load(Ordering::SeqCst), 1);
    subscription.broken.store(403, Ordering::SeqCst);
    let told = daemon.until("push has lapsed");
    assert!(told.contains("Account work") && told.contains("every 3600 s"), "{told}");
    let (code, said) = daemon.stop("TERM");
    assert_eq!((code, said.matches("push has lapsed").count()), (0, 1), "{said}");
    runtime.shutdown_background();
}
