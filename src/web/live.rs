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

/// How often the database is looked at. A person notices nothing shorter, and it costs one look at the file.
const POLL: Duration = Duration::from_millis(700);

/// What open pages are told from: a number that grows with every change.
#[derive(Clone)]
pub(super) struct LiveFeed(watch::Receiver<u64>);

impl LiveFeed {
    /// Starts watching the database until `stop` is cancelled.
    pub(super) fn start(app: &App, stop: CancellationToken) -> anyhow::Result<Self> {
        let (sender, receiver) = watch::channel(0);
        let mut changes = app.worker().watch_changes()?;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(POLL) => {}
                    () = stop.cancelled() => return,
                }
                // A database that cannot be read now is asked again; the pages say what is wrong with it.
                if changes.has_changed().unwrap_or_default() {
                    sender.send_modify(|count| *count += 1);
                }
            }
        });
        Ok(Self(receiver))
    }
}

/// Streams events to one page. `news` tells it to load again what it shows.
pub(super) async fn stream(visit: Visit) -> Response {
    let mut feed = visit.state().live.0.clone();
    feed.mark_unchanged();
    let events = stream::unfold(feed, |mut feed| async move {
        feed.changed().await.ok()?;
        Some((Ok::<_, Infallible>(Event::default().event("news").data("")), feed))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
