//! The child gives away what it could harm with. None of it can be taken back.

use std::{fs, io, os::fd::RawFd};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};

use crate::message::Start;

/// The address space beside the heap of the script: the copies of a result on its way out, and the stack.
const HEADROOM_BYTES: u64 = 192 << 20;
/// The size of a page that `/proc/self/statm` counts in. Larger pages only make the limit stricter.
const PAGE_BYTES: u64 = 4096;
/// The whole address space where the system does not tell what the program itself takes.
const FALLBACK_BYTES: u64 = 2 << 30;

/// Confines this process. An error means that it must not run a script.
pub(super) fn confine(start: &Start) -> io::Result<()> {
    std::env::set_current_dir("/")?;
    close_inherited_files()?;
    // The parent may be killed; then nobody would keep the deadline.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::thread::set_no_new_privs(true)?;
    let limits = &start.limits;
    let own = mapped_bytes().unwrap_or(FALLBACK_BYTES);
    limit(Resource::As, own + HEADROOM_BYTES + limits.heap_bytes as u64)?;
    limit(Resource::Cpu, limits.deadline.as_secs() + 1)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nproc, 0)?;
    // The three pipes are open, so there is no number left for a file or a socket.
    limit(Resource::Nofile, 3)
}

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let current = rustix::process::getrlimit(resource);
    let value = current.maximum.map_or(value, |maximum| maximum.min(value));
    Ok(setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?)
}

/// What the program itself has mapped.
fn mapped_bytes() -> Option<u64> {
    let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

/// Closes what a careless ancestor left open. The parent opens everything so that it is not inherited, but a shell may
/// have passed on files of its own.
fn close_inherited_files() -> io::Result<()> {
    let Ok(listing) = fs::read_dir("/proc/self/fd") else { return Ok(()) };
    let listed: Vec<RawFd> = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in listed.into_iter().filter(|number| *number > 2) {
        // The listing listed itself, and is closed by now.
        if fs::read_link(format!("/proc/self/fd/{number}")).is_ok() {
            close(number);
        }
    }
    Ok(())
}

#[allow(
    unsafe_code,
    reason = "an inherited file has no owner in this process, and the standard library cannot close it"
)]
fn close(number: RawFd) {
    // SAFETY: the number is open. This is the only thread, and has opened nothing itself: nobody will use the number.
    unsafe { rustix::io::close(number) };
}
