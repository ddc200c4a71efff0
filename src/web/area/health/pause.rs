//! Pausing and resuming all effects.

use crate::web::page::{Answer, Change, Note};

/// Holds all effects.
pub(super) async fn pause(change: Change) -> Answer {
    set(&change, true, "Paused: no effect is carried out until you resume. Mail is still read.").await
}

/// Lets effects go on.
pub(super) async fn resume(change: Change) -> Answer {
    set(&change, false, "Effects go on.").await
}

async fn set(change: &Change, on: bool, done: &str) -> Answer {
    let outcome = change.visit.app().effects().set_paused(on).await.map(|()| Note::done(done));
    change.visit.state().status.forget();
    change.visit.redirect_after("/health", outcome)
}
