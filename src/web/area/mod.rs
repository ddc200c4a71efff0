//! The areas of the page. Each has a folder or file of its own with its routes; a new area is a variant of [`Area`] and
//! a line in [`area_routes`].

mod approvals;

use super::route::Route;

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
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
    pub(super) const NAVIGATION: [Self; 10] = [
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
    [approvals::routes()].into_iter().flatten().collect()
}
