//! The terminal screen of a team: what its agents do, and what a person says to them.
//!
//! [`Screen`] is a pure state machine: events of the team, keys and the time go in, what to send to the team comes out,
//! and it can be drawn at any moment. Only [`run`] touches the terminal. What agents and mails say is shown with whatever
//! would act on a terminal written out; right-to-left text is left in its order, which the terminal arranges.

mod draft;
mod layout;
mod log;
mod pane;
mod pane_list;
mod render;
mod screen;
mod side;
mod terminal;
mod theme;

pub use log::{LogWriter, log_writer};
pub use screen::{Screen, ScreenCommand};
pub use terminal::{ScreenEnd, run};
