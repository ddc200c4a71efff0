//! The web page: what a person sees and decides in a browser, served on the loopback address beside the daemon.
//!
//! One guard stands around the whole router, and the route table ([`route_table`]) says of every route what it asks
//! for. A page is made of our own markup only: text from outside is escaped, and nothing is loaded from elsewhere. Every
//! change names what was shown, by a nonce that counts once.

mod area;
mod asset;
mod chart;
mod draft;
mod guard;
mod live;
mod page;
mod route;
mod server;

pub use self::{
    route::{Protection, RouteEntry, route_table},
    server::{WebServer, new_sign_in_link},
};
