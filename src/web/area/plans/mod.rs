//! Plans: a request with several steps, agreed on before anything is done, and followed step by step.

mod decide;
mod list;
mod prepared;
mod progress;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Plans, "/plans", list::show),
        Route::change(Area::Plans, "/plans/prepare", prepared::prepare),
        Route::page(Area::Plans, "/plans/drafts/{draft}", prepared::show),
        Route::change(Area::Plans, "/plans/drafts/{draft}/execute", prepared::execute),
        Route::change(Area::Plans, "/plans/drafts/{draft}/direct", prepared::make_direct),
        Route::change(Area::Plans, "/plans/drafts/{draft}/steps", prepared::edit_steps),
        Route::change(Area::Plans, "/plans/drafts/{draft}/cancel", prepared::cancel),
        Route::page(Area::Plans, "/plans/{task}", progress::show),
        Route::change(Area::Plans, "/plans/{task}/decide", decide::decide),
    ]
}
