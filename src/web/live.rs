//! Live updates: one watcher of the database tells every open page what changed, and the page loads that part again.

use std::{convert::Infallible, time::Duration};

use axum::response::{
    IntoResponse as _, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::page::Visit;
use crate::app::App;

/// How often the database is looked at. A person notices nothing shorter, and it costs one short query.
const POLL: Duration = Duration::from_millis(700);

/// What open pages are told from: a number that grows with every change.
#[derive(Clone)]
pub(super) struct LiveFeed(watch::Receiver<u64>);

impl LiveFeed {
    /// Starts watching the database until `stop` is cancelled.
    pub(super) fn start(app: App, stop: CancellationToken) -> Self {
        let (sender, receiver) = watch::channel(0);
        tokio::spawn(async move {
            let mut seen = None;
            loop {
                let now = app.audit().newest_line().await.ok();
                if now.is_some() && now != seen {
                    seen = now;
                    sender.send_modify(|changes| *changes += 1);
                }
                tokio::select! {
                    () = tokio::time::sleep(POLL) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
        Self(receiver)
    }
}

/// Streams events to one page. `changed` tells it to load again what it shows.
pub(super) async fn stream(visit: Visit) -> Response {
    let mut feed = visit.state().live.0.clone();
    feed.mark_unchanged();
    let events = stream::unfold(feed, |mut feed| async move {
        feed.changed().await.ok()?;
        Some((Ok::<_, Infallible>(Event::default().event("changed").data("")), feed))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
