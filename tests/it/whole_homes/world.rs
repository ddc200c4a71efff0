//! A home with its mailbox, its transport and its clock, and everything that the oracle and the person know.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use super::transport::{self, Accepted};
use crate::support::test_home::{Answered, Daemon, Kind, SeededRandom, TestHome, finish};

/// Where Debian and its kin put the library that shows a process another time.
const FAKETIME: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
];

/// A mail somebody put into the mailbox.
#[derive(Debug, Clone)]
pub(super) struct Delivered {
    /// A word that stands in its subject and in no other mail.
    pub(super) token: String,
    /// Where it lies, while it lies there whole.
    pub(super) file: Option<PathBuf>,
    /// What is still to be written of it.
    pub(super) rest: Option<String>,
    pub(super) asks_for_a_meeting: bool,
}

/// A question as the person saw it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) number: String,
    pub(super) sha256: String,
    pub(super) message: Message,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) answers: String,
    pub(super) to: Vec<String>,
    pub(super) subject: String,
    pub(super) text: String,
}

/// A yes, and what was said about it later.
#[derive(Debug, Clone)]
pub(super) struct Yes {
    pub(super) number: String,
    pub(super) message: Message,
    /// The program answered that it was decided; else it was killed while it was asked.
    pub(super) is_acknowledged: bool,
    /// Something happened after which it need not leave any more.
    pub(super) excused: Option<&'static str>,
    /// Taken back, with the program's word for it: it must not leave from then on.
    pub(super) revoked: Option<SystemTime>,
}

/// A stretch of time in which nothing may leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    pub(super) from: SystemTime,
    pub(super) until: Option<SystemTime>,
}

pub(super) struct World {
    pub(super) home: TestHome,
    pub(super) dice: SeededRandom,
    /// What happened, for whoever reads a failure.
    pub(super) log: Vec<String>,
    pub(super) mails: Vec<Delivered>,
    pub(super) seen: Vec<Seen>,
    pub(super) yeses: Vec<Yes>,
    /// Tasks the person added, and whether one of them may have been forgotten by a restore.
    pub(super) added: Vec<(String, bool)>,
    pub(super) copies: Vec<(PathBuf, Copied)>,
    pub(super) silences: Vec<Silence>,
    pub(super) daemon: Option<Daemon>,
    pub(super) deaths: usize,
    pub(super) was_restored: bool,
    pub(super) transport_works: bool,
    /// It never failed in this life.
    pub(super) transport_worked: bool,
    pub(super) count: usize,
    clock: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    Database,
    Folder,
}

impl World {
    pub(super) fn new(dice: SeededRandom) -> Self {
        let home = TestHome::real_time(Kind::Active);
        let program = transport::install(&home.root().join("transport"));
        home.configure(&format!("sendmail = \"{}\"\n", program.display()));
        home.policy("approvals: { grace_seconds: 2 }");
        Self {
            home,
            dice,
            log: Vec::new(),
            mails: Vec::new(),
            seen: Vec::new(),
            yeses: Vec::new(),
            added: Vec::new(),
            copies: Vec::new(),
            silences: Vec::new(),
            daemon: None,
            deaths: 0,
            was_restored: false,
            transport_works: true,
            transport_worked: true,
            count: 0,
            clock: 0,
        }
    }

    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.dice.below(many) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        from.get(usize::try_from(self.dice.below(from.len() as u64)).unwrap()).cloned()
    }

    pub(super) fn transport(&self) -> PathBuf {
        self.home.root().join("transport")
    }

    pub(super) fn accepted(&self) -> Vec<Accepted> {
        transport::accepted(&self.transport())
    }

    /// Moves the clock that every process of this home sees from now on.
    pub(super) fn jump(&mut self, seconds: i64) {
        self.clock += seconds;
        let unfinished = self.home.root().join("clock.tmp");
        fs::write(&unfinished, format!("{:+}\n", self.clock)).unwrap();
        fs::rename(unfinished, self.clock_file()).unwrap();
    }

    pub(super) const fn clock(&self) -> i64 {
        self.clock
    }

    fn clock_file(&self) -> PathBuf {
        self.home.root().join("clock")
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        self.show_the_time(&mut command);
        command
    }

    fn show_the_time(&self, command: &mut Command) {
        if self.clock == 0 {
            return;
        }
        let library = FAKETIME.iter().find(|path| Path::new(path).exists());
        let library = library.expect("clock jumps need libfaketime; Debian: apt install faketime");
        command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", self.clock_file());
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }

    /// Runs a command to its end. A panic of the program ends the life.
    pub(super) fn run(&mut self, arguments: &[&str]) -> Answered {
        let answered = finish(self.command(arguments));
        let said = answered.err.lines().chain(answered.out.lines()).last().unwrap_or_default();
        self.log.push(format!("{} -> {} {said}", arguments.join(" "), answered.code));
        assert!(!answered.err.contains("panicked"), "{arguments:?}: {}", answered.err);
        answered
    }

    /// The answer of a command that must succeed, whatever happened before.
    pub(super) fn json(&mut self, arguments: &[&str]) -> serde_json::Value {
        let mut with_json = vec!["--json"];
        with_json.extend(arguments);
        let answered = self.run(&with_json);
        assert_eq!(answered.code, 0, "{arguments:?}: {}", answered.err);
        serde_json::from_str(&answered.out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", answered.out))
    }

    /// Starts a command and kills it after a random time. Whether it had ended by itself, and well.
    pub(super) fn run_and_kill(&mut self, arguments: &[&str]) -> bool {
        let mut command = self.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let after = self.dice.below(180);
        std::thread::sleep(Duration::from_millis(after));
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        self.deaths += usize::from(ended.is_none());
        self.log.push(format!("{} killed after {after} ms: {}", arguments.join(" "), ended.is_none()));
        ended.is_some_and(|status| status.success())
    }

    /// Runs a command that may not make any file larger than the database is now.
    pub(super) fn run_on_a_full_disk(&mut self, arguments: &[&str]) -> Answered {
        let database = fs::metadata(self.home.home().database()).map_or(0, |found| found.len());
        let blocks = database / 1024 + self.dice.below(64);
        let plain = self.command(arguments);
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("bash");
        shell.arg(plain.get_program()).args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let answered = finish(shell);
        self.log.push(format!("{} with {blocks} blocks -> {}", arguments.join(" "), answered.code));
        assert!(!answered.err.contains("panicked"), "{arguments:?}: {}", answered.err);
        answered
    }

    pub(super) fn start_daemon(&mut self) {
        if self.daemon.is_none() {
            let command = self.command(&["run"]);
            self.daemon = Some(Daemon::start(command));
            self.note("daemon starts");
        }
    }

    /// Ends the daemon, if there is one: with a word, or by killing it.
    pub(super) fn stop_daemon(&mut self, signal: &str) {
        if let Some(daemon) = self.daemon.take() {
            self.deaths += usize::from(signal == "KILL");
            self.note(format!("daemon gets {signal}"));
            let (code, _) = daemon.stop(signal);
            assert!(signal == "KILL" || code == 0, "the daemon ended with {code}");
        }
    }

    /// What was said yes to and has not left yet need not leave any more.
    pub(super) fn excuse_all(&mut self, why: &'static str) {
        for yes in self.yeses.iter_mut().filter(|yes| yes.excused.is_none()) {
            yes.excused = Some(why);
        }
    }
}
