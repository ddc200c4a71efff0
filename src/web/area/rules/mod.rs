//! The rules: the file with how often each rule matched, an edited copy with what it would change, and the versions with
//! the way back.

mod copy;
mod diff;
mod overview;
mod version;
mod what_if;

pub(in crate::web) use diff::diff_block;

use crate::{
    model::Actor,
    web::{area::Area, route::Route},
};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Rules, "/rules", overview::show),
        Route::page(Area::Rules, "/rules/edit", copy::show),
        Route::change(Area::Rules, "/rules/drafts", copy::keep),
        Route::page(Area::Rules, "/rules/drafts/{draft}", what_if::show),
        Route::change(Area::Rules, "/rules/drafts/{draft}/save", copy::save),
        Route::page(Area::Rules, "/rules/versions/{version}", version::show),
        Route::change(Area::Rules, "/rules/versions/{version}/rollback", version::roll_back),
    ]
}

/// Returns who made a version, in words.
pub(in crate::web) fn author(who: Actor) -> String {
    match who {
        Actor::Nightly => "the nightly job".into(),
        Actor::Person => "you".into(),
        Actor::Approval => "your approval".into(),
        Actor::Rollback => "a rollback".into(),
        other => other.to_string(),
    }
}
