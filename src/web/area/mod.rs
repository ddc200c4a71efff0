//! The areas of the page. Each has a folder or file of its own with its routes; a new area is a variant of [`Area`] and
//! a line in [`area_routes`].

mod approvals;
mod chat;
mod first_start;
mod health;
mod mail;
mod nights;
mod overview;
mod plans;
mod rules;
mod runs;
mod search;
mod tasks;

pub(super) use health::StatusCache;

use super::route::Route;

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Overview,
    Approvals,
    Tasks,
    Mail,
    Plans,
    Chat,
    Rules,
    Nights,
    Runs,
    Search,
    Health,
    /// What belongs to no area: signing in, assets, the live stream.
    Site,
}

impl Area {
    /// The areas in the order of the navigation.
    pub(super) const NAVIGATION: [Self; 11] = [
        Self::Overview,
        Self::Approvals,
        Self::Tasks,
        Self::Mail,
        Self::Plans,
        Self::Chat,
        Self::Rules,
        Self::Nights,
        Self::Runs,
        Self::Search,
        Self::Health,
    ];

    /// Returns the name in the navigation.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Approvals => "Approvals",
            Self::Tasks => "Tasks",
            Self::Mail => "Mail",
            Self::Plans => "Plans",
            Self::Chat => "Chat",
            Self::Rules => "Rules",
            Self::Nights => "Nights",
            Self::Runs => "Runs",
            Self::Search => "Search",
            Self::Health => "Health",
            Self::Site => "Adjutant",
        }
    }

    /// Returns the path of the first page of the area.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/overview",
            Self::Approvals => "/approvals",
            Self::Tasks => "/tasks",
            Self::Mail => "/mail",
            Self::Plans => "/plans",
            Self::Chat => "/chat",
            Self::Rules => "/rules",
            Self::Nights => "/nights",
            Self::Runs => "/runs",
            Self::Search => "/search",
            Self::Health => "/health",
            Self::Site => "/",
        }
    }
}

/// Returns the routes of every area.
pub(super) fn area_routes() -> Vec<Route> {
    let areas = [
        overview::routes(),
        approvals::routes(),
        tasks::routes(),
        mail::routes(),
        plans::routes(),
        chat::routes(),
        rules::routes(),
        nights::routes(),
        runs::routes(),
        search::routes(),
        health::routes(),
        first_start::routes(),
    ];
    areas.into_iter().flatten().collect()
}
