//! The parent's side.

use std::{
    io::{self, BufRead, BufReader, Read as _, Write},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    child::ROLE,
    host::{Host, HostError},
    limits::Limits,
    message::{Ending, FromChild, Reply, Start},
    outcome::{ErrorKind, LogLine, Outcome, ScriptError},
    stop::{Stop, Waited},
};

/// How much longer than the script's deadline the parent waits, so that the child can say it itself, with its logs counted.
const GRACE: Duration = Duration::from_millis(250);

/// Where scripts run: a program with the role of [`crate::serve_if_asked`], and the limits of each run.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    limits: Limits,
}

/// Why the conversation with a child ended without its last word.
enum Broken {
    /// It closed its pipe: it died, or the parent ended it.
    Closed,
    /// It said what no honest child says.
    Misbehaved(&'static str),
}

impl Sandbox {
    /// Uses the program that is running, even if its file has been replaced meanwhile.
    pub fn of_this_program(limits: Limits) -> io::Result<Self> {
        let linked = PathBuf::from("/proc/self/exe");
        let program = if linked.exists() { linked } else { std::env::current_exe()? };
        Ok(Self::of_program(program, limits))
    }

    /// Uses another program that calls [`crate::serve_if_asked`].
    pub fn of_program(program: PathBuf, limits: Limits) -> Self {
        Self { program, limits }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Runs a script to its end and returns what came of it. Blocks for at most the deadline and a little more, and for
    /// as long as the host takes to answer one call.
    pub fn run(&self, script: &str, host: &mut dyn Host, stop: &Stop) -> Outcome {
        let began = Instant::now();
        let mut logs = Vec::new();
        let (result, dropped_log_lines) = match self.run_child(script, host, stop, &mut logs) {
            Ok(ending) => (ending.result.and_then(|json| parse_result(&json)), ending.dropped_log_lines),
            Err(error) => (Err(error), 0),
        };
        Outcome { result, logs, dropped_log_lines, elapsed: began.elapsed() }
    }

    fn run_child(
        &self,
        script: &str,
        host: &mut dyn Host,
        stop: &Stop,
        logs: &mut Vec<LogLine>,
    ) -> Result<Ending, ScriptError> {
        let (length, limit) = (script.len(), self.limits.script_bytes);
        if length > limit {
            let message = format!("the script has {length} bytes; at most {limit} are allowed");
            return Err(ScriptError::new(ErrorKind::TooLarge, message));
        }
        let unavailable = |error: io::Error| {
            ScriptError::new(ErrorKind::Unavailable, format!("the script could not be started: {error}"))
        };
        let mut child = Command::new(&self.program)
            .arg(ROLE)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(unavailable)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let child = Mutex::new(child);
        let finished = AtomicBool::new(false);
        let (ending, waited) = thread::scope(|scope| {
            let watchdog = scope.spawn(|| {
                let waited = stop.wait(&finished, self.limits.deadline + GRACE);
                // Also after the last word: what it does afterwards concerns nobody.
                end(&child);
                waited
            });
            let ending = match (stdin, stdout) {
                (Some(stdin), Some(stdout)) => self.converse(script, stdin, BufReader::new(stdout), host, logs),
                _ => Err(Broken::Closed),
            };
            stop.finish(&finished);
            (ending, watchdog.join().unwrap_or(Waited::TimedOut))
        });
        let status = child.into_inner().unwrap_or_else(PoisonError::into_inner).wait();
        ending.map_err(|broken| self.explain(&broken, waited, status.ok()))
    }

    /// Hands the script over and answers what it asks, until its last word.
    fn converse(
        &self,
        script: &str,
        mut stdin: impl Write,
        mut stdout: impl BufRead,
        host: &mut dyn Host,
        logs: &mut Vec<LogLine>,
    ) -> Result<Ending, Broken> {
        let functions: Vec<String> = host.functions().into_iter().map(str::to_owned).collect();
        let start = Start { script: script.to_owned(), functions, limits: self.limits.clone() };
        write_line(&mut stdin, &start)?;
        let mut log_bytes = 0;
        for _ in 0..self.limits.messages() {
            match self.read_message(&mut stdout)? {
                FromChild::Log(line) => {
                    log_bytes += line.text.len();
                    if log_bytes > self.limits.log_bytes {
                        return Err(Broken::Misbehaved("it wrote too much"));
                    }
                    logs.push(line);
                }
                FromChild::Call { name, arguments } => {
                    let reply = match self.ask(host, &start.functions, &name, &arguments) {
                        Ok(value) => Reply::Value(value),
                        Err(error) => Reply::Refused(error),
                    };
                    write_line(&mut stdin, &reply)?;
                }
                FromChild::End(ending) => return Ok(ending),
            }
        }
        Err(Broken::Misbehaved("it sent too many messages"))
    }

    fn read_message(&self, stdout: &mut impl BufRead) -> Result<FromChild, Broken> {
        let mut line = Vec::new();
        let read = stdout.take(self.limits.line_bytes()).read_until(b'\n', &mut line);
        if read.is_err() || line.is_empty() {
            return Err(Broken::Closed);
        }
        if !line.ends_with(b"\n") {
            return Err(Broken::Misbehaved("it sent half a line, or one without an end"));
        }
        serde_json::from_slice(&line).map_err(|_| Broken::Misbehaved("it sent what is no message"))
    }

    fn ask(&self, host: &mut dyn Host, functions: &[String], name: &str, arguments: &str) -> Result<Value, HostError> {
        if !functions.iter().any(|function| function == name) {
            return Err(HostError::new("not_found", format!("there is no function {name}")));
        }
        let arguments = serde_json::from_str(arguments)
            .map_err(|_| HostError::new("invalid_argument", "the arguments are nested too deeply"))?;
        let value = host.call(name, arguments)?;
        let (length, limit) = (value.to_string().len(), self.limits.reply_bytes);
        if length > limit {
            let message = format!("the answer has {length} bytes; at most {limit} are given. Ask for less at a time");
            return Err(HostError::new("too_large", message));
        }
        Ok(value)
    }

    fn explain(&self, broken: &Broken, waited: Waited, status: Option<ExitStatus>) -> ScriptError {
        let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
        let out_of_time = signal == Some(rustix::process::Signal::XCPU.as_raw());
        match (waited, broken) {
            (Waited::Stopped, _) => ScriptError::new(ErrorKind::Cancelled, "the script was stopped"),
            (Waited::TimedOut, _) => self.limits.timeout(),
            (Waited::Finished, _) if out_of_time => self.limits.timeout(),
            (Waited::Finished, Broken::Misbehaved(how)) => {
                ScriptError::new(ErrorKind::ProcessDied, format!("the script's process was ended: {how}"))
            }
            (Waited::Finished, Broken::Closed) => ScriptError::new(
                ErrorKind::ProcessDied,
                "the script's process died. It may have needed more memory than it may have",
            ),
        }
    }
}

impl Limits {
    pub(crate) fn timeout(&self) -> ScriptError {
        let message = format!("the script ran longer than {:?} and was stopped", self.deadline);
        ScriptError::new(ErrorKind::Timeout, message)
    }
}

fn end(child: &Mutex<Child>) {
    // It fails only if the process has ended already.
    drop(child.lock().unwrap_or_else(PoisonError::into_inner).kill());
}

fn write_line(stdin: &mut impl Write, message: &impl serde::Serialize) -> Result<(), Broken> {
    let mut line = serde_json::to_vec(message).map_err(|_| Broken::Closed)?;
    line.push(b'\n');
    stdin.write_all(&line).and_then(|()| stdin.flush()).map_err(|_| Broken::Closed)
}

fn parse_result(json: &str) -> Result<Value, ScriptError> {
    serde_json::from_str(json)
        .map_err(|_| ScriptError::new(ErrorKind::TooLarge, "the result is nested too deeply, or is no plain data"))
}
