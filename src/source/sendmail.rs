//! Handing a message to the system's own transport, a program that reads it on stdin.
//!
//! Such a program may hang, read half, leave a child behind that holds its pipes, close them early, or die. Nothing is
//! waited for longer than the patience, and what it did with the message is concluded from what it read and how it ended:
//!
//! | it | then the message was |
//! | --- | --- |
//! | could not be run | certainly not sent |
//! | ended with an error or was stopped, and nobody had read a byte of it | certainly not sent |
//! | ended with 0 after it had read all of it | accepted |
//! | did anything else | perhaps sent |
//!
//! A part that was read counts as perhaps sent: whoever has it, be it a child in a session of its own, may take it for the
//! whole once our end of the pipe is closed.
//!
//! No code but 0 means anything by itself: a wrapper may fail after the transport inside it has accepted the message, and
//! `sendmail -t` fails for one recipient after it has accepted the message for another.

use std::{
    io::{self, PipeReader, PipeWriter, Read as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, kill_process_group},
};

use super::SendError;

/// Between two looks whether the program has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How long the kernel may take to end a killed program; one stuck in the kernel is left behind.
const REAP_TIMEOUT: Duration = Duration::from_secs(1);
/// How much of a complaint is kept.
const MAX_STDERR_BYTES: usize = 500;
const BUFFER_BYTES: usize = 8 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sendmail {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl Sendmail {
    /// A program and its arguments, with spaces between; none without a program. It is stopped after the patience.
    pub fn parse(line: &str, patience: Duration) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect(), timeout: patience })
    }

    pub fn name(&self) -> &str {
        &self.program
    }

    /// Hands the message over. Returns within the patience and a moment, whatever the program does.
    pub fn transmit(&self, message: &[u8]) -> Result<(), SendError> {
        let deadline = Instant::now() + self.timeout;
        let mut running = SendmailProcess::start(self, message)
            .map_err(|error| SendError::Refused(format!("{} cannot be run: {error}", self.program)))?;
        let ended = running.run_until(deadline);
        let taken = running.kill_unless_done(ended);
        let name = &self.program;
        let how = match ended {
            Some(status) => format!("{name} ended with {status}"),
            None => format!("{name} was stopped after {} s", self.timeout.as_secs()),
        };
        let complaint = running.stderr_suffix();
        let is_success = ended.is_some_and(|status| status.success());
        match taken {
            Taken::All if is_success => Ok(()),
            Taken::All => Err(SendError::OutcomeUnknowable(format!("{how}{complaint}"))),
            Taken::Part => {
                Err(SendError::OutcomeUnknowable(format!("{how} after it had read a part of the message{complaint}")))
            }
            Taken::Nothing if is_success => {
                Err(SendError::OutcomeUnknowable(format!("{how} before it had read the message{complaint}")))
            }
            Taken::Nothing => Err(SendError::Refused(format!("{how} before it had read the message{complaint}"))),
        }
    }
}

/// How much of a message was read by whoever held the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    Part,
    All,
}

/// The program and our ends of its pipes, none of which blocks.
struct SendmailProcess<'a> {
    child: Child,
    message_bytes: usize,
    /// What is still to be written; the pipe is closed once it is empty.
    unwritten: &'a [u8],
    input: Option<PipeWriter>,
    /// The end the program reads from: what is left in it was not read.
    unread: PipeReader,
    stderr: Option<PipeReader>,
    stderr_text: Vec<u8>,
}

impl<'a> SendmailProcess<'a> {
    /// Starts the program in a process group of its own, so that it can be stopped together with its children.
    fn start(sendmail: &Sendmail, message: &'a [u8]) -> io::Result<Self> {
        let (reader, input) = io::pipe()?;
        let (errors, complaints) = io::pipe()?;
        let unread = reader.try_clone()?;
        for end in [input.as_fd(), errors.as_fd()] {
            set_nonblocking(end)?;
        }
        // The command, and with it its ends of the pipes, is gone at the end of this statement.
        let child = Command::new(&sendmail.program)
            .args(&sendmail.arguments)
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(complaints)
            .process_group(0)
            .spawn()?;
        Ok(Self {
            child,
            message_bytes: message.len(),
            unwritten: message,
            input: Some(input),
            unread,
            stderr: Some(errors),
            stderr_text: Vec::new(),
        })
    }

    /// Feeds the program and listens to it until it ends or the deadline has come. Its children are not waited for.
    fn run_until(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            self.write_input();
            self.read_stderr();
            if let Ok(Some(status)) = self.child.try_wait() {
                self.read_stderr();
                return Some(status);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            self.wait_for_pipes(left.min(CHECK_INTERVAL));
        }
    }

    /// Writes as much as the pipe takes, and closes it behind the last byte.
    fn write_input(&mut self) {
        while let Some(input) = self.input.as_mut().filter(|_| !self.unwritten.is_empty()) {
            match input.write(self.unwritten) {
                Ok(written) => self.unwritten = self.unwritten.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Full for now. Another error cannot be: a reading end is open here.
                Err(_) => return,
            }
        }
        self.input = None;
    }

    /// Reads what the program says, to the end or as far as it is there.
    fn read_stderr(&mut self) {
        let mut buffer = [0; BUFFER_BYTES];
        while let Some(errors) = &mut self.stderr {
            match errors.read(&mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(read) => {
                    let room = MAX_STDERR_BYTES.saturating_sub(self.stderr_text.len()).min(read);
                    self.stderr_text.extend(buffer.get(..room).unwrap_or_default());
                    // A chatterbox is heard again at the next look.
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// Sleeps until there is something to write or to read, at the longest for this time.
    fn wait_for_pipes(&self, time: Duration) {
        let input = self.input.as_ref().map(|input| PollFd::new(input, PollFlags::OUT));
        let errors = self.stderr.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN));
        let mut ends: Vec<PollFd<'_>> = input.into_iter().chain(errors).collect();
        let timeout = Timespec::try_from(time).unwrap_or_default();
        // An interrupted wait is a short one.
        let _ = poll(&mut ends, Some(&timeout));
    }

    /// Returns how much of the message was read. Unless the program ended after reading all of it, whoever is left of its
    /// process group is killed, and the pipe emptied before it is closed: whoever has left that group and still holds it
    /// reads no more of the message.
    fn kill_unless_done(&mut self, ended: Option<ExitStatus>) -> Taken {
        let left = rustix::io::ioctl_fionread(&self.unread).unwrap_or_default();
        if ended.is_some() && self.unwritten.is_empty() && left == 0 {
            return Taken::All;
        }
        // There is none when everybody has ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // What is taken out of the pipe here was read by nobody and will not be.
        let unread = self.unwritten.len() + self.drain();
        if ended.is_none() {
            self.reap();
        }
        match unread {
            0 => Taken::All,
            unread if unread == self.message_bytes => Taken::Nothing,
            _ => Taken::Part,
        }
    }

    /// Empties the pipe. Returns how much was in it.
    fn drain(&mut self) -> usize {
        // The program shares this end, so it could not be made so before.
        if set_nonblocking(self.unread.as_fd()).is_err() {
            return 0;
        }
        let mut buffer = [0; BUFFER_BYTES];
        let mut found = 0;
        loop {
            match self.unread.read(&mut buffer) {
                Ok(read) if read > 0 => found += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return found,
            }
        }
    }

    /// Takes a killed program's end out of the process table, if it comes soon.
    fn reap(&mut self) {
        let deadline = Instant::now() + REAP_TIMEOUT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    fn stderr_suffix(&self) -> String {
        let complaint = String::from_utf8_lossy(&self.stderr_text);
        let complaint = complaint.trim();
        if complaint.is_empty() { String::new() } else { format!(": {complaint}") }
    }
}

fn set_nonblocking(end: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?)
}
