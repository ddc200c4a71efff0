//! Hands a message to the system's mail transport, a program such as `sendmail` that reads it on stdin.
//!
//! Such a program may hang, read half of its input, leave behind a child that holds its pipes, close them early, or
//! die. No call waits longer than the configured timeout. What became of the message is concluded from how much of it
//! was read and how the program ended:
//!
//! | the program | the message was |
//! | --- | --- |
//! | could not be started | certainly not sent |
//! | failed or was killed, and no byte of the message had been read | certainly not sent |
//! | ended with exit code 0 and the whole message had been read | accepted |
//! | did anything else | possibly sent |
//!
//! A message of which a part was read counts as possibly sent: whoever read it, even a child in a session of its own,
//! may take the part for the whole once our end of the pipe is closed.
//!
//! No exit code but 0 is conclusive by itself: a wrapper may fail after the transport inside it has accepted the
//! message, and `sendmail -t` fails for one recipient after it has accepted the message for another.

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

/// Interval between two checks whether the program has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How long to wait for a killed program to end. One that is stuck in the kernel is left behind.
const REAP_TIMEOUT: Duration = Duration::from_secs(1);
/// The most bytes of the program's stderr that are kept for the error message.
const MAX_STDERR_BYTES: usize = 500;
const BUFFER_BYTES: usize = 8 * 1024;

/// The command line of the transport and the time it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sendmail {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl Sendmail {
    /// Parses a program and its arguments, separated by spaces (there is no quoting). Returns none for an empty line.
    /// The program is killed when it runs longer than `patience`.
    pub fn parse(line: &str, patience: Duration) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect(), timeout: patience })
    }

    /// Returns the name of the program, for messages to a person.
    pub fn name(&self) -> &str {
        &self.program
    }

    /// Hands the message over. Returns about a second after the timeout at the latest, whatever the program does.
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

/// How much of the message was read, by the program or by a process that inherited its stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    Part,
    All,
}

/// The running program with our ends of its pipes. None of them blocks.
struct SendmailProcess<'a> {
    child: Child,
    message_bytes: usize,
    /// The rest of the message that is still to be written; the pipe is closed once it is empty.
    unwritten: &'a [u8],
    input: Option<PipeWriter>,
    /// A second handle of the end that the program reads from: bytes that are left in it were read by nobody.
    unread: PipeReader,
    stderr: Option<PipeReader>,
    stderr_text: Vec<u8>,
}

impl<'a> SendmailProcess<'a> {
    /// Starts the program in a process group of its own, so that it can be killed together with its children.
    fn start(sendmail: &Sendmail, message: &'a [u8]) -> io::Result<Self> {
        let (reader, input) = io::pipe()?;
        let (errors, complaints) = io::pipe()?;
        let unread = reader.try_clone()?;
        for end in [input.as_fd(), errors.as_fd()] {
            set_nonblocking(end)?;
        }
        // The command, and with it our copies of the child's pipe ends, is dropped at the end of this statement.
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

    /// Writes the message and reads stderr until the program ends or the deadline passes. Returns the exit status; none
    /// at the deadline. Children of the program are not waited for.
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

    /// Writes as much as the pipe takes, and closes the pipe after the last byte.
    fn write_input(&mut self) {
        while let Some(input) = self.input.as_mut().filter(|_| !self.unwritten.is_empty()) {
            match input.write(self.unwritten) {
                Ok(written) => self.unwritten = self.unwritten.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The pipe is full for now. No other error is possible, because this process holds a reading end open.
                Err(_) => return,
            }
        }
        self.input = None;
    }

    /// Reads what the program has written to stderr so far.
    fn read_stderr(&mut self) {
        let mut buffer = [0; BUFFER_BYTES];
        while let Some(errors) = &mut self.stderr {
            match errors.read(&mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(read) => {
                    let room = MAX_STDERR_BYTES.saturating_sub(self.stderr_text.len()).min(read);
                    self.stderr_text.extend(buffer.get(..room).unwrap_or_default());
                    // One buffer per turn, so that a program that writes without end cannot keep this loop busy.
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// Waits until a pipe can be written or read, at most for this time.
    fn wait_for_pipes(&self, time: Duration) {
        let input = self.input.as_ref().map(|input| PollFd::new(input, PollFlags::OUT));
        let errors = self.stderr.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN));
        let mut ends: Vec<PollFd<'_>> = input.into_iter().chain(errors).collect();
        let timeout = Timespec::try_from(time).unwrap_or_default();
        // An interrupted wait only ends early, and the caller checks everything again.
        let _ = poll(&mut ends, Some(&timeout));
    }

    /// Returns how much of the message was read. Unless the program ended after the whole message was read, its process
    /// group is killed and the pipe is emptied before it is closed, so that a process that has left the group and still
    /// holds the pipe reads no more of the message.
    fn kill_unless_done(&mut self, ended: Option<ExitStatus>) -> Taken {
        let left = rustix::io::ioctl_fionread(&self.unread).unwrap_or_default();
        if ended.is_some() && self.unwritten.is_empty() && left == 0 {
            return Taken::All;
        }
        // The call fails when the whole group has ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // The bytes that are drained here were read by nobody, and never will be.
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

    /// Empties the pipe. Returns the number of bytes that were in it.
    fn drain(&mut self) -> usize {
        // The program shares this end, so it could not be made non-blocking while the program ran.
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

    /// Waits for a killed program, so that no zombie is left; gives up after [`REAP_TIMEOUT`].
    fn reap(&mut self) {
        let deadline = Instant::now() + REAP_TIMEOUT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Returns what the program wrote to stderr, as the end of an error message.
    fn stderr_suffix(&self) -> String {
        let complaint = String::from_utf8_lossy(&self.stderr_text);
        let complaint = complaint.trim();
        if complaint.is_empty() { String::new() } else { format!(": {complaint}") }
    }
}

fn set_nonblocking(end: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?)
}
