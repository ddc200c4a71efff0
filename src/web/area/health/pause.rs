//! Pausing and resuming all effects.

use crate::web::page::{PageAnswer, PageChange, PageNote};

/// Holds all effects.
pub(super) async fn pause(change: PageChange) -> PageAnswer {
    set(&change, true, "Paused: no effect is carried out until you resume. Mail is still read.").await
}

/// Lets effects go on.
pub(super) async fn resume(change: PageChange) -> PageAnswer {
    set(&change, false, "Effects go on.").await
}

async fn set(change: &PageChange, on: bool, done: &str) -> PageAnswer {
    let outcome = change.visit.app().effects().set_paused(on).await.map(|()| PageNote::done(done));
    change.visit.state().status.forget();
    change.visit.redirect_after("/health", outcome)
}
