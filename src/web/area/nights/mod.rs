//! The nights: what was learned, on which evidence, how often the program and the person agreed, and the digest.

mod agreement;
mod digest;
mod night;
mod overview;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Nights, "/nights", overview::show),
        Route::page(Area::Nights, "/nights/digest", digest::show),
        Route::page(Area::Nights, "/nights/{date}", night::show),
    ]
}
