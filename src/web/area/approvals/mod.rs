//! The approvals: what waits for a person, shown from the bytes that would be carried out.

mod decide;
mod item;
mod list;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Approvals, "/approvals", list::show),
        Route::page(Area::Approvals, "/approvals/{item}", item::show),
        Route::change(Area::Approvals, "/approvals/{item}/approve", decide::approve),
        Route::change(Area::Approvals, "/approvals/{item}/reject", decide::reject),
        Route::change(Area::Approvals, "/approvals/{item}/undo", decide::undo),
    ]
}
