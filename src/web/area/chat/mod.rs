//! Chat: conversations with the assistant, the same as `adjutant chat`. Nothing can be approved here.

mod conversation;
mod list;
mod message;

use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Chat, "/chat", list::show),
        Route::page(Area::Chat, "/chat/{conversation}", conversation::show),
        Route::change(Area::Chat, "/chat/{conversation}/say", conversation::say),
    ]
}
