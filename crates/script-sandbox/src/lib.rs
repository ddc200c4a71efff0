//! Runs a short script that nobody trusts, in a process of its own, with limits.
//!
//! [`Sandbox::run`] starts this program once more in another role ([`serve_if_asked`], the first thing in `main`), with
//! an empty environment and three pipes, hands it the script, answers the questions that the script asks ([`Host`]) and
//! ends the process. The child takes every right away from itself before it reads the script: no new file, socket or
//! process, bounded memory, bounded time. The script sees the language, `console` and the functions of the host.
//!
//! The parent believes nothing that the child says: lines have a maximal length, messages a maximal number, and the
//! deadline is kept by the interpreter, by the processor time of the process and by the parent.

mod child;
mod host;
mod limits;
mod message;
mod outcome;
mod runner;
mod stop;

pub use child::serve_if_asked;
pub use host::{Host, HostError, NoHost};
pub use limits::Limits;
pub use outcome::{ErrorKind, LogLevel, LogLine, Outcome, ScriptError};
pub use runner::Sandbox;
pub use stop::Stop;
