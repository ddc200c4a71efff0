//! The runs: the list, one run drawn as the graph, its replay, and forks.

mod change_words;
mod graph;
mod list;
mod show;

pub(in crate::web) use self::{list::run_link, show::run_section};
use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Runs, "/runs", list::show),
        Route::page(Area::Runs, "/runs/{run}", show::show),
        Route::page(Area::Runs, "/runs/{run}/replay", show::replay),
        Route::change(Area::Runs, "/runs/{run}/fork", show::fork),
    ]
}
