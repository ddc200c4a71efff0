//! The first start: who the person is, where their mail is, what its last week would become, and entering the answers.

mod answers;
mod confirm;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Site, "/start", answers::show),
        Route::change(Area::Site, "/start/check", answers::check),
        Route::page(Area::Site, "/start/{draft}", confirm::show),
        Route::change(Area::Site, "/start/{draft}/write", confirm::write),
    ]
}
