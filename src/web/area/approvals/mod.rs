//! The approvals: what waits for a person, shown from the bytes that would be carried out.

mod batch;
mod decide;
mod decisions;
mod edit;
mod item;
mod queue;
mod respond;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Approvals, "/approvals", queue::show),
        Route::page(Area::Approvals, "/approvals/batch", batch::preview),
        Route::change(Area::Approvals, "/approvals/batch", batch::approve),
        Route::change(Area::Approvals, "/approvals/undo", decide::undo),
        Route::page(Area::Approvals, "/approvals/{item}", item::show),
        Route::change(Area::Approvals, "/approvals/{item}/approve", decide::approve),
        Route::change(Area::Approvals, "/approvals/{item}/answer", decide::answer),
        Route::change(Area::Approvals, "/approvals/{item}/snooze", decide::snooze),
        Route::change(Area::Approvals, "/approvals/{item}/edit", edit::edit),
        Route::page(Area::Approvals, "/approvals/{item}/respond", respond::preview),
        Route::change(Area::Approvals, "/approvals/{item}/respond", respond::carry_out),
    ]
}
