//! Teams: a task manager that divides a request into tasks, and up to five workers that do them at the same time.
//!
//! An agent is a stored conversation. Its model answers with one action of a closed set at a time; the action is stored
//! before it is carried out, and its result before the next question. So a team that is stopped or killed goes on where it
//! was. Agents read the mail and tasks of the person, and change nothing: what they propose takes the way of every effect,
//! through policy and approval.

mod data;
pub mod event;
mod handles;
mod job;
mod manager_turn;
mod message;
mod person;
mod prompts;
mod proposal;
mod question;
mod report;
mod result_format;
mod runner;
mod script;
mod session;
mod stop;
mod todo;
mod turn;
mod worker_turn;

pub use data::DataReader;
pub use handles::Handles;
pub use job::TeamContext;
pub use prompts::TeamPrompts;
pub use runner::TeamRunner;
pub use session::{MOST_ACTIVE_WORKERS, MOST_WORKERS};
