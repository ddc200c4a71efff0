//! Health: accounts, queues, cost, the pause, and what `doctor` finds; and the same figures for a monitor.

mod doctor;
mod metrics;
mod overview;
mod pause;
mod status_cache;

pub(in crate::web) use status_cache::StatusCache;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Health, "/health", overview::show),
        Route::page(Area::Health, "/health/doctor", doctor::show),
        Route::change(Area::Health, "/health/pause", pause::pause),
        Route::change(Area::Health, "/health/resume", pause::resume),
        Route::for_monitor(Area::Health, "/metrics", metrics::answer),
    ]
}
