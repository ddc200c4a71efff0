//! The route table: every path with its area and what it asks for. The router is built from it, and so are the tests
//! of the guard.

use std::sync::LazyLock;

use axum::{
    Router,
    handler::Handler,
    http::Method,
    routing::{MethodRouter, get, post},
};

use super::{
    area::{Area, area_routes},
    asset, live,
    server::{self, WebState},
};

/// What a request must have to reach a route. A path that is not in the table asks for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Nothing but the right host: liveness, static assets, the exchange of a sign-in code.
    Open,
    /// The cookie of a session.
    Session,
    /// The same, a CSRF token, and a nonce for exactly this path and what it showed.
    Change,
    /// The token of a monitor.
    Bearer,
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteEntry {
    pub method: &'static str,
    /// The path, with names in braces for what varies.
    pub path: &'static str,
    pub area: Area,
    pub protection: Protection,
}

/// A line of the table with what answers it.
pub(super) struct Route {
    entry: RouteEntry,
    answer: MethodRouter<WebState>,
}

impl Route {
    /// Creates a page that reads and changes nothing.
    pub(super) fn page<T: 'static>(area: Area, path: &'static str, handler: impl Handler<T, WebState>) -> Self {
        Self::new("GET", area, path, Protection::Session, get(handler))
    }

    /// Creates a change, made by a form.
    pub(super) fn change<T: 'static>(area: Area, path: &'static str, handler: impl Handler<T, WebState>) -> Self {
        Self::new("POST", area, path, Protection::Change, post(handler))
    }

    /// Creates one of the few routes that need no session.
    pub(super) fn open<T: 'static>(path: &'static str, handler: impl Handler<T, WebState>) -> Self {
        Self::new("GET", Area::Site, path, Protection::Open, get(handler))
    }

    /// Creates a route for a monitor that has a token.
    pub(super) fn for_monitor<T: 'static>(area: Area, path: &'static str, handler: impl Handler<T, WebState>) -> Self {
        Self::new("GET", area, path, Protection::Bearer, get(handler))
    }

    fn new(
        method: &'static str,
        area: Area,
        path: &'static str,
        protection: Protection,
        answer: MethodRouter<WebState>,
    ) -> Self {
        Self { entry: RouteEntry { method, path, area, protection }, answer }
    }
}

/// Returns all routes: those of the site and those of every area.
fn all_routes() -> Vec<Route> {
    let mut routes = vec![
        Route::open("/healthz", server::answer_liveness),
        Route::open("/readyz", server::answer_readiness),
        Route::open("/assets/{name}", asset::serve),
        Route::open("/sign-in", server::sign_in),
        Route::page(Area::Site, "/", server::show_start),
        Route::page(Area::Site, "/live", live::stream),
        Route::change(Area::Site, "/sign-out", server::sign_out),
    ];
    routes.extend(area_routes());
    routes
}

/// Returns the route table of the running program.
pub fn route_table() -> Vec<RouteEntry> {
    all_routes().iter().map(|route| route.entry).collect()
}

/// Returns whether there is a page at exactly this path.
pub(super) fn is_served(path: &str) -> bool {
    static PATHS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| route_table().iter().map(|entry| entry.path).collect());
    PATHS.contains(&path)
}

/// Returns the router of all routes. It has no guard yet.
pub(super) fn build_router() -> Router<WebState> {
    all_routes().into_iter().fold(Router::new(), |router, route| router.route(route.entry.path, route.answer))
}

/// What each route asks for.
pub(super) struct ProtectionTable(Vec<RouteEntry>);

impl ProtectionTable {
    pub(super) fn new() -> Self {
        Self(route_table())
    }

    /// Returns what a request must have. Whatever is not in the table is closed.
    pub(super) fn of(&self, method: &Method, path: Option<&str>) -> Protection {
        // A HEAD request is answered by the route of GET.
        let method = if *method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
        let found = self.0.iter().find(|entry| entry.method == method && Some(entry.path) == path);
        found.map_or(Protection::Session, |entry| entry.protection)
    }
}
