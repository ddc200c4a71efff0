//! The role of the process in which one script runs. It ends with the script.

mod channel;
mod confinement;
mod engine;
mod failure;
mod text;

use std::process::ExitCode;

use channel::Channel;

/// The only argument of the role.
pub(crate) const ROLE: &str = "--script-sandbox";

/// Runs one script if this process was started for that, and returns its exit code. Must be the first thing in `main`:
/// every file that is opened and every thread that is started before it would be there for the script's interpreter.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ROLE || arguments.next().is_some() {
        return None;
    }
    Some(match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> std::io::Result<()> {
    let mut channel = Channel::of_process();
    let start = channel.read()?;
    confinement::confine(&start)?;
    engine::execute(start, channel)
}
