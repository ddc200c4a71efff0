//! The builder of all tests: a home in a temporary folder, mail written into it, and the program in-process or as a
//! process.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, mpsc},
    time::{Duration, Instant as Wall, SystemTime},
};

use adjutant::{
    app::{App, ItemDetail, PassReport, Worker},
    clock::Clock,
    config::{AccountKind, Config, Home},
    graph::{CallHandler, Engine, EngineLimits, FilesPresence, LiveCallHandler, node::Nodes},
    model::{AccountId, AccountMode, DecisionKind},
    source::Maildir,
    store::Write,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// The time of a stopped clock: a Monday morning.
pub(crate) const NOW: &str = "2026-11-16T08:00:00Z";
/// Longest time that a test waits for anything. Reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The account of a home that has mail of its own.
pub(crate) const WORK: &str = "work";
/// The configuration of the person whom the letters are written to.
pub(crate) const ME: &str = "[me]\nnames = [\"Alex Green\"]\naddresses = [\"you@home.example\"]\n\n";

/// A home and a state folder, deleted when this value is dropped.
pub(crate) struct TestHome {
    folder: TempDir,
    /// The state folder of the user.
    state: TempDir,
    pub(crate) clock: Clock,
}

/// The script of a transport that accepts a message: it is in the spool as a whole or not at all.
pub(crate) const ACCEPT: &str =
    "f=$(mktemp \"$SPOOL/tmp.XXXXXXXXXX\") && cat > \"$f\" && mv \"$f\" \"$SPOOL/mail.${f##*.}\"";

/// Which mailbox a home has.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Samples,
    Active,
    Observing,
}

impl TestHome {
    /// Creates a home with the shipped sample mails and nothing else.
    pub(crate) fn samples() -> Self {
        Self::build(Kind::Samples, Clock::stopped_at(NOW.parse().unwrap()))
    }

    /// Creates a home with an empty mailbox that the program may act on.
    pub(crate) fn active() -> Self {
        Self::build(Kind::Active, Clock::stopped_at(NOW.parse().unwrap()))
    }

    /// Creates a home with a real account in its initial mode, which only observes.
    pub(crate) fn observing() -> Self {
        Self::build(Kind::Observing, Clock::stopped_at(NOW.parse().unwrap()))
    }

    /// Creates a home for the real binary, which uses the system clock.
    pub(crate) fn real_time(kind: Kind) -> Self {
        Self::build(kind, Clock::System)
    }

    /// Creates a home with this configuration.
    pub(crate) fn with(config: &str, clock: Clock) -> Self {
        let test_home = Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap(), clock };
        App::init_home(test_home.root()).unwrap();
        test_home.policy("");
        let me = if config.contains("[me]") { "" } else { ME };
        test_home.write("adjutant.toml", &format!("{me}{config}"));
        test_home
    }

    fn build(kind: Kind, clock: Clock) -> Self {
        adjutant::tls::install_provider();
        let test_home = Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap(), clock };
        App::init_home(test_home.root()).unwrap();
        test_home.policy("");
        if !matches!(kind, Kind::Samples) {
            let account = format!(
                "{ME}[[account]]\nname = \"{WORK}\"\npath = \"mail\"\ntrusted_servers = [\"mx.home.example\"]\n"
            );
            test_home.write("adjutant.toml", &account);
            for folder in ["mail/new", "mail/cur", "mail/tmp"] {
                fs::create_dir_all(test_home.root().join(folder)).unwrap();
            }
        }
        if matches!(kind, Kind::Active) {
            let turn_on = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    test_home.app().await.accounts().set_mode(WORK, AccountMode::Active).await.unwrap()
                });
            };
            // A test may run inside a runtime, where blocking is not allowed, so this uses a thread of its own.
            std::thread::scope(|scope| scope.spawn(turn_on).join().unwrap());
        }
        test_home
    }

    /// Writes a policy with caps that tests do not reach by accident, no grace, and whatever else is given.
    pub(crate) fn policy(&self, more: &str) {
        let caps = "caps: { messages_per_sender_per_hour: 100000, messages_per_hour: 100000, labels_per_minute: 100000, pending: 100000, pending_per_sender: 100000 }";
        let caps = if more.contains("caps:") { "" } else { caps };
        let grace = if more.contains("approvals:") { "" } else { "approvals: { grace_seconds: 0 }" };
        self.write("rules/policy.yml", &format!("{caps}\n{grace}\n{more}\n"));
    }

    /// Returns a copy of the home in another folder.
    pub(crate) fn copied(&self) -> Self {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        crate::unreadable_rows::copy_folder(self.root(), folder.path());
        crate::unreadable_rows::copy_folder(self.state(), state.path());
        Self { folder, state, clock: self.clock.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.root().to_owned())
    }

    pub(crate) fn maildir(&self) -> PathBuf {
        let own = self.root().join("mail");
        if own.is_dir() { own } else { self.root().join("data/mail") }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces the rules, as a person would who leaves the learned part at the end of the file.
    pub(crate) fn rules(&self, text: &str) {
        let text = format!("{text}# >>> learned >>>\nlearned: []\n# <<< learned <<<\n");
        self.write("rules/priority.yml", &text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Puts a mail into `new/` as a delivery agent would have done a minute ago.
    pub(crate) fn deliver(&self, name: &str, raw: impl AsRef<[u8]>) -> PathBuf {
        self.deliver_into("new", name, raw)
    }

    pub(crate) fn deliver_into(&self, place: &str, name: &str, raw: impl AsRef<[u8]>) -> PathBuf {
        let path = self.maildir().join(place).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, raw).unwrap();
        let arrived = self.clock.now().utc() - chrono::Duration::minutes(1);
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_modified(arrived.into()).unwrap();
        path
    }

    /// Returns the names of the drafts.
    pub(crate) fn drafts(&self) -> Vec<String> {
        let drafts = self.maildir().join(".Drafts");
        ["new", "cur"].iter().flat_map(|state| files_in(&drafts.join(state))).collect()
    }

    /// Returns the messages in the Sent folder.
    pub(crate) fn sent(&self) -> Vec<String> {
        let folder = self.maildir().join(".Sent/cur");
        files_in(&folder).iter().map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect()
    }

    /// Gives the account a transport: a shell script that finds the spool folder in `$SPOOL` and the home in `$HOME`.
    pub(crate) fn transport(&self, script: &str, patience: Option<u64>) {
        let (root, spool) = (self.root().display(), self.spool_folder());
        fs::create_dir_all(&spool).unwrap();
        self.write("sendmail", &format!("HOME={root}\nSPOOL={}\n{script}\n", spool.display()));
        // The shell reads the script instead of executing it: a file that was just written may still be open somewhere.
        let patience = patience.map_or_else(String::new, |seconds| format!("sendmail_patience = {seconds}\n"));
        self.configure(&format!("sendmail = \"/bin/sh {root}/sendmail\"\n{patience}"));
    }

    fn spool_folder(&self) -> PathBuf {
        self.root().join("spool")
    }

    /// Returns the messages that the transport has accepted, each as often as it was accepted.
    pub(crate) fn spool(&self) -> Vec<String> {
        let spool = self.spool_folder();
        let accepted = files_in(&spool).into_iter().filter(|name| name.starts_with("mail."));
        accepted.map(|name| fs::read_to_string(spool.join(name)).unwrap()).collect()
    }

    /// Waits until no process of this home is left, such as a transport whose caller was killed.
    pub(crate) fn comes_to_rest(&self) {
        let root = self.root().as_os_str().as_encoded_bytes();
        let is_ours = |entry: &fs::DirEntry| {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            words.windows(root.len()).any(|part| part == root)
        };
        eventually("the transport has ended", || {
            let mut processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
            (!processes.any(|entry| is_ours(&entry))).then_some(())
        });
    }

    /// Adds lines to the account of the configuration.
    pub(crate) fn configure(&self, lines: &str) {
        let mut config = self.read("adjutant.toml");
        if lines.contains("[me]") {
            config = config.replace(ME, "");
        }
        self.write("adjutant.toml", &format!("{config}{lines}"));
    }

    pub(crate) fn letter(&self, id: &str) -> MailBuilder {
        let sent = self.clock.now().utc() - chrono::Duration::hours(1);
        MailBuilder::new(id, &sent.to_rfc2822())
    }

    /// Delivers a letter under a name made of its id.
    pub(crate) fn post(&self, letter: &MailBuilder) -> PathBuf {
        self.deliver(&format!("{}.eml", letter.id), letter.text())
    }

    pub(crate) fn config(&self) -> Config {
        Config { state_folder: Some(self.state().join("adjutant")), ..Config::load(&self.home()).unwrap() }
    }

    pub(crate) async fn app(&self) -> App {
        App::open(self.home(), self.config(), self.clock.clone()).await.unwrap()
    }

    pub(crate) async fn worker(&self) -> Worker {
        self.app().await.worker().start().await.unwrap().unwrap()
    }

    /// Does what the command `once` does: takes mail in, works it, stops.
    pub(crate) async fn once(&self) -> PassReport {
        once(self.worker().await).await
    }

    /// Returns a worker whose engine was modified by `change`.
    pub(crate) async fn rigged(&self, change: impl FnOnce(&mut WorkerSetup)) -> Worker {
        let mut worker = self.worker().await;
        let mut rig = WorkerSetup::shipped(&worker.app);
        change(&mut rig);
        let WorkerSetup { nodes, answer, limits } = rig;
        worker.engine = Engine::new(nodes, answer, worker.app.store.clone(), self.clock.clone(), limits, None).unwrap();
        worker
    }

    /// Returns the rows of a query as text, read from the database file.
    pub(crate) fn sql(&self, query: &str) -> Vec<Vec<String>> {
        let connection = self.database();
        let mut statement = connection.prepare(query).unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..width).map(|column| Ok(shown(row.get_ref(column)?))).collect::<rusqlite::Result<Vec<_>>>()
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    pub(crate) fn sql_one(&self, query: &str) -> String {
        self.sql(query)[0][0].clone()
    }

    pub(crate) fn count(&self, what: &str) -> u64 {
        self.sql_one(&format!("SELECT count(*) FROM {what}")).parse().unwrap()
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.home().database()).unwrap();
        connection.busy_timeout(PATIENCE).unwrap();
        connection
    }

    /// Returns every row of every table, except what a poll without news may change.
    pub(crate) fn dump(&self) -> String {
        let tables = self.sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%' AND name NOT LIKE 'sqlite%' AND name <> 'account_condition' ORDER BY name",
        );
        let mut dump = String::new();
        for table in tables.into_iter().map(|row| row[0].clone()) {
            let columns: Vec<String> =
                self.sql(&format!("SELECT name FROM pragma_table_info('{table}')")).into_iter().flatten().collect();
            let columns: Vec<String> = columns
                .into_iter()
                .filter(|column| table != "account" || !["polled_at", "cursor"].contains(&column.as_str()))
                // Moving a file changes its stamp.
                .filter(|column| table != "ledger" || column != "stamp")
                .collect();
            let order = (1..=columns.len()).map(|nth| nth.to_string()).collect::<Vec<_>>().join(", ");
            for row in self.sql(&format!("SELECT {} FROM \"{table}\" ORDER BY {order}", columns.join(", "))) {
                dump.push_str(&format!("{table}: {}\n", row.join(" | ")));
            }
        }
        dump
    }

    /// Returns how many messages the program itself put into Sent since the last poll. The next one enters them into the
    /// ledger.
    fn own_messages_to_poll(&self) -> u64 {
        let folder = self.maildir().join(".Sent/cur");
        let is_new_and_own = |name: &String| {
            let base = name.split(':').next().unwrap();
            fs::read_to_string(folder.join(name)).is_ok_and(|text| text.contains("X-Adjutant-Action:"))
                && self.count(&format!("ledger WHERE source_key LIKE '.Sent/{base}%'")) == 0
        };
        files_in(&folder).iter().filter(|name| is_new_and_own(name)).count() as u64
    }

    /// Checks what must hold for every database at any time.
    pub(crate) async fn must_be_sound(&self) {
        let health = self.app().await.health().check().await.unwrap();
        assert_eq!(
            health.unaccounted,
            0,
            "unaccounted mail: {:?}",
            self.sql("SELECT * FROM ledger WHERE state = 'pending'")
        );
        let waiting: u64 = health.accounts.iter().map(|account| account.waiting).sum();
        assert!(waiting <= self.own_messages_to_poll(), "no mail stands for files of {:?}", health.accounts);
        assert_eq!(health.illegal_transitions, 0);
        assert_eq!(health.audit.problem, None, "the audit chain breaks");
        assert_eq!(self.sql("PRAGMA integrity_check"), [["ok"]]);
        assert_eq!(self.sql("PRAGMA foreign_key_check"), [[""; 0]; 0]);
    }

    /// Returns a command of the real binary on this home.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adjutant"));
        command.arg("--home").arg(self.root()).args(arguments);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ADJUTANT_")) {
            command.env_remove(name);
        }
        command.env("XDG_STATE_HOME", self.state());
        // Only the tests of the page serve it, so that the others need no port.
        command.env("ADJUTANT_WEB_ENABLED", "false");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answered {
        finish(self.command(arguments))
    }

    /// Runs a command and returns its JSON; panics unless it succeeds.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut with_json = vec!["--json"];
        with_json.extend(arguments);
        let answered = self.run(&with_json);
        assert_eq!(answered.code, 0, "{arguments:?}: {}", answered.err);
        serde_json::from_str(&answered.out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", answered.out))
    }

    /// Returns what `doctor` reports, whatever it finds.
    pub(crate) fn diagnosis(&self) -> Value {
        let doctor = self.run(&["--json", "doctor"]);
        assert!([0, 4].contains(&doctor.code), "{}", doctor.err);
        serde_json::from_str(&doctor.out).unwrap()
    }

    /// Starts the daemon, which runs until it is dropped or stopped.
    pub(crate) fn daemon(&self) -> Daemon {
        Daemon::start(self.command(&["run"]))
    }
}

/// Works everything once and stops the worker.
pub(crate) async fn once(worker: Worker) -> PassReport {
    let watched = worker.engine.clone();
    let watch = tokio::spawn(async move { watched.supervise_nodes().await });
    let report = worker.run_once().await.unwrap();
    worker.stop().await;
    watch.await.unwrap();
    report
}

fn shown(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => "∅".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// The parts of an engine, which a test can replace one by one.
pub(crate) struct WorkerSetup {
    pub(crate) nodes: Nodes,
    pub(crate) answer: Arc<dyn CallHandler>,
    pub(crate) limits: EngineLimits,
}

impl WorkerSetup {
    fn shipped(app: &App) -> Self {
        let outbox = app.effects().build_outbox().unwrap();
        for account in &app.config.accounts {
            if let AccountKind::Maildir { path, .. } = &account.kind {
                outbox.register_mailbox(
                    account.name.clone(),
                    Arc::new(Maildir::open(path.clone(), Box::new(Vec::new()))),
                );
            }
        }
        let (_, rules) = watch::channel(Arc::new(app.rules().load()));
        let (store, memory, labels) = (app.store.clone(), app.memory.clone(), app.config.labels.clone());
        let library = LiveCallHandler {
            store,
            memory,
            rules,
            outbox,
            labels,
            model: None,
            second_reader: true,
            files: app.home.files(),
            files_presence: FilesPresence::default(),
            me: Arc::new(app.config.me.clone()),
        };
        Self {
            nodes: Nodes::shipped(&Arc::new(app.config.me.clone()), &app.tools),
            answer: Arc::new(library),
            limits: EngineLimits { backoff: Duration::from_millis(1), ..EngineLimits::default() },
        }
    }
}

/// A mail that a test puts together.
#[derive(Clone)]
pub(crate) struct MailBuilder {
    pub(crate) id: String,
    from: String,
    subject: String,
    date: String,
    body: String,
    more: String,
}

impl MailBuilder {
    pub(crate) fn new(id: &str, date: &str) -> Self {
        Self {
            id: id.into(),
            from: "Tom Baker <tom@bakerand.example>".into(),
            subject: format!("About {id}"),
            date: date.into(),
            body: "Hello Alex,\n\nnothing in particular.\n\nTom\n".into(),
            more: String::new(),
        }
    }

    pub(crate) fn from(mut self, from: &str) -> Self {
        self.from = from.into();
        self
    }

    pub(crate) fn subject(mut self, subject: &str) -> Self {
        self.subject = subject.into();
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn date(mut self, date: &str) -> Self {
        self.date = date.into();
        self
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.more.push_str(line);
        self.more.push('\n');
        self
    }

    /// Adds a header by which the sender is verified.
    pub(crate) fn verified(self) -> Self {
        let domain = self.from.trim_end_matches('>').rsplit_once('@').unwrap().1.to_owned();
        self.header(&format!("Authentication-Results: mx.home.example; dmarc=pass header.from={domain}"))
    }

    pub(crate) fn answers(self, other: &str) -> Self {
        self.header(&format!("In-Reply-To: <{other}@it.example>")).header(&format!("References: <{other}@it.example>"))
    }

    /// Gives it a question and a wish to know that it has arrived. It opens a task whose only tool drafts the second half
    /// of the answer; the first is the person's.
    pub(crate) fn question(self) -> Self {
        let body = format!(
            "Hello Alex,\n\nWhen will you be back at the house about {}? I have the keys. Please confirm receipt of this mail.\n\nTom\n",
            self.id
        );
        self.body(&body)
    }

    /// Makes it an invoice, which opens a task with label, record_invoice and remind.
    pub(crate) fn invoice(self, number: u32) -> Self {
        let body = format!(
            "Dear Alex Green,\n\nplease find below our invoice no. {number}.\n\n    Total      EUR 1,250.00\n\nThe amount due is payable by 25 November 2026.\n\nAcme Furniture Ltd.\n"
        );
        self.from("Acme Billing <billing@acme.example>").subject(&format!("Invoice {number}")).body(&body)
    }

    pub(crate) fn text(&self) -> String {
        let Self { id, from, subject, date, body, more } = self;
        format!(
            "From: {from}\nTo: Alex Green <you@home.example>\nSubject: {subject}\nDate: {date}\nMessage-ID: <{id}@it.example>\n{more}MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}"
        )
    }
}

/// How a process ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn finish(command: Command) -> Answered {
    finish_with(command, b"")
}

/// Runs a command to its end with this input. Kills it and panics if it does not end.
pub(crate) fn finish_with(mut command: Command, input: &[u8]) -> Answered {
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    let feed = child.stdin.take().map(|mut stdin| {
        let input = input.to_vec();
        std::thread::spawn(move || drop(stdin.write_all(&input)))
    });
    let (sent, ended) = mpsc::channel();
    let id = child.id();
    let wait = std::thread::spawn(move || drop(sent.send(child.wait_with_output())));
    let output: Output = match ended.recv_timeout(PATIENCE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            signal(id, "KILL");
            panic!("{command:?} did not end");
        }
    };
    wait.join().unwrap();
    if let Some(feed) = feed {
        feed.join().unwrap();
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Answered { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Sends a signal to one process, by its id.
pub(crate) fn signal(id: u32, name: &str) {
    Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).stderr(Stdio::null()).status().unwrap();
}

/// A running daemon and what it has printed so far.
pub(crate) struct Daemon {
    child: Child,
    lines: mpsc::Receiver<String>,
    said: Vec<String>,
}

impl Daemon {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut daemon = Self { child, lines, said: Vec::new() };
        daemon.until("Waiting for mail");
        daemon
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line with these words and returns it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        let deadline = Wall::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Wall::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(_) => panic!("the daemon never said '{words}', only: {}", self.said.join("\n")),
            }
        }
    }

    /// Returns everything that the daemon has printed until now.
    pub(crate) fn said_so_far(&self) -> String {
        self.said.join("\n")
    }

    /// Returns the exit code if the daemon has ended by itself.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(|status| status.code().unwrap_or(-1))
    }

    /// Stops the daemon with a signal. Returns its exit code and everything that it printed.
    pub(crate) fn stop(mut self, with: &str) -> (i32, String) {
        signal(self.child.id(), with);
        let status = eventually("the daemon ends", || self.child.try_wait().unwrap());
        self.said.extend(self.lines.iter());
        (status.code().unwrap_or(-1), self.said.join("\n"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Polls until there is a result, at most for [`PATIENCE`].
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Wall::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Wall::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a header field of a message, which must be on one line.
pub(crate) fn field<'a>(message: &'a str, name: &str) -> &'a str {
    let mut lines = message.lines().take_while(|line| !line.is_empty());
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    found.unwrap_or_else(|| panic!("no {name} in {message}"))
}

pub(crate) fn files_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A small random number generator, so that a printed seed repeats a test.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// Creates a generator from `IT_SEED` or the time. The seed is printed, so that a failure can be repeated.
    pub(crate) fn thrown(test: &str) -> Self {
        let by_time = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos().into();
        let seed = std::env::var("IT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(by_time);
        println!("{test}: IT_SEED={seed}");
        Self(seed)
    }

    /// Creates a generator for tests that claim something for certain seeds.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

/// Returns the first item that waits for the person, as it is shown to them.
pub(crate) async fn first(app: &App) -> ItemDetail {
    let items = app.approvals().list().await.unwrap();
    app.approvals().detail(&items.first().expect("something waits").item_id.to_string()).await.unwrap()
}

/// Approves the first item that waits, exactly as it is shown.
pub(crate) async fn approve_first(app: &App) -> anyhow::Result<()> {
    let seen = first(app).await;
    app.approvals().approve(&seen.item).await.map(drop)
}

/// Answers the first item that waits with another decision.
pub(crate) async fn answer_first(app: &App, verdict: DecisionKind, reason: &str) -> anyhow::Result<()> {
    let number = first(app).await.item.number.to_string();
    app.approvals().answer(&number, verdict, reason).await.map(drop)
}

pub(crate) async fn set_mode(app: &App, mode: AccountMode) {
    let write = Write::SetMode { account: AccountId::from(WORK), mode, at: app.clock.now() };
    app.store.write(write).await.unwrap();
}
