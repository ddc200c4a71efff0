//! The database `data/tasks.db`: one writer with group commit, many readers, and all SQL of the program.
//!
//! Every change is a [`Write`] that is handed to the writer thread; it is acknowledged only after its commit. Reads run
//! on connections that cannot write, each in a transaction of its own, so that all statements of a query see one state.
//! `table` has one folder per area with the SQL and the reader handle of that area.
//!
//! No rusqlite type, no transaction and no connection leaves this module. Nothing is acknowledged before it is on the
//! disk.

mod change_watch;
mod commit_outcome;
mod connection;
mod error;
mod migration;
mod prepared;
mod session;
mod table;
mod write;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::document::EmbedFn;
use error::StoreContext as _;

pub use change_watch::ChangeWatch;
pub use commit_outcome::PendingWrite;
pub use error::{Result, SkipUnreadable, StoreError};
pub use table::{
    account::AccountReader,
    approval::ApprovalReader,
    audit::AuditReader,
    conversation::ConversationReader,
    document::{
        DocumentReader,
        search::SearchDepth,
        vector::{MEMORY_TROUBLE, VectorReader},
    },
    mail::{MailReader, ledger_read::LedgerReader},
    nightly::{NightlyReader, rules_version::RulesReader},
    outbox::OutboxReader,
    request::RequestReader,
    run::{RunReader, model_call::ModelCallReader},
    setting::SettingReader,
    task::{
        TaskReader,
        listing::{ListedTasks, TaskListReader},
        plan::PlanReader,
    },
    team::TeamReader,
};
pub use write::{Receipt, Write};

/// The number of connections that read at the same time. More would wait for the same cores, and each keeps a cache.
const MAX_READERS: usize = 4;

/// The tracing span around every read, for measuring how long reads take.
pub const READ_SPAN: &str = "store-reader";
/// The tracing span around encoding the rows of a mail or a checkpoint, which happens on the thread of the caller.
pub const ENCODE_SPAN: &str = "store-rows";

/// A cheap handle on the open database. Dropping the last one finishes the queued writes and closes the database.
#[derive(Clone)]
pub struct Store(Arc<StoreInner>);

/// What all handles share. Dropping it stops the writer, which first commits what is queued.
struct StoreInner {
    path: PathBuf,
    /// The queue of the writer. Taking it out tells the writer to stop after what is queued.
    write_queue: Option<mpsc::Sender<commit_outcome::QueuedWrite>>,
    writer_thread: Mutex<Option<JoinHandle<()>>>,
    /// Read connections that are open and not in use.
    idle_readers: Mutex<Vec<Connection>>,
    /// Bounds the queries that run on blocking threads.
    read_permits: Semaphore,
    /// Makes the vectors of new documents, so that a document and its vectors commit together. Without it, vectors are
    /// due and made later.
    embed: OnceLock<EmbedFn>,
    /// The number of writes that were in flight at the last commit. It tells a caller whether it writes alone.
    in_flight: Arc<AtomicUsize>,
}

impl Store {
    /// Opens the database at `path`, migrates it to the newest schema and starts the writer. Before a migration a copy
    /// of the database goes to `backups`. A database with a newer schema is refused and not changed.
    pub fn open(path: &Path, backups: &Path) -> Result<Self> {
        connection::check_version()?;
        let connection = connection::open_writer(path)?;
        migration::check_schema_version(&connection, migration::MIGRATIONS)?;
        connection::configure_writer(&connection)?;
        migration::migrate(&connection, migration::MIGRATIONS, backups)?;
        let (write_queue, queue) = mpsc::channel();
        let in_flight = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&in_flight);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || writer::run(session::Session::new(connection), &queue, &counted))
            .map_err(|error| StoreError::Sqlite { context: "starting the writer".into(), source: Box::new(error) })?;
        Ok(Self(Arc::new(StoreInner {
            path: path.to_owned(),
            write_queue: Some(write_queue),
            writer_thread: Mutex::new(Some(thread)),
            idle_readers: Mutex::default(),
            read_permits: Semaphore::new(MAX_READERS),
            embed: OnceLock::new(),
            in_flight,
        })))
    }

    /// Sets the function by which documents are stored together with their vectors. Only the first call counts.
    pub fn set_embedder(&self, embed: EmbedFn) {
        // All embedders of a process make the same vectors, so a second one can be ignored.
        drop(self.0.embed.set(embed));
    }

    /// Hands a write to the writer and waits until it is committed or refused.
    pub async fn write(&self, write: Write) -> Result<Receipt> {
        self.enqueue(write)?.answer().await
    }

    /// Hands a write to the writer, behind all writes that were handed over before. It is not stored before
    /// [`PendingWrite::answer`] returns.
    pub fn enqueue(&self, write: Write) -> Result<PendingWrite> {
        let prepared = prepared::prepare(&write, self.0.embed.get())?;
        let alone = self.0.in_flight.load(Ordering::Relaxed) <= 1;
        let (queued, pending) = commit_outcome::create_queued_write(write, prepared, alone);
        let queue = self.0.write_queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.send(queued).map_err(|_| StoreError::Stopped)?;
        Ok(pending)
    }

    /// Runs a query on a blocking thread. Use it for anything that walks many rows.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&StoreReader<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _place = self.0.read_permits.acquire().await.map_err(|_| StoreError::Stopped)?;
        let store = self.clone();
        tokio::task::spawn_blocking(move || store.read_blocking(query)).await.map_err(|_| StoreError::Stopped)?
    }

    /// Runs a short query on the calling thread. In WAL mode readers never wait for the writer, so this costs what the
    /// query costs; for anything that walks many rows use [`Store::read`]. All statements of the query see the same
    /// state of the database.
    pub fn read_blocking<T>(&self, query: impl FnOnce(&StoreReader<'_>) -> Result<T>) -> Result<T> {
        let _reading = tracing::trace_span!(READ_SPAN).entered();
        let idle = self.0.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| connection::open_reader(&self.0.path), Ok)?;
        let step =
            |sql| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).context("reading");
        let outcome = step("BEGIN").and_then(|_| query(&StoreReader(&connection)));
        // The connection has only read, so nothing is lost with it: one whose transaction cannot end is closed.
        if step("COMMIT").is_ok() {
            self.0.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        outcome
    }
}

/// A read-only view of the database in one transaction. The queries are on one handle per area.
pub struct StoreReader<'a>(&'a Connection);

// Each handle holds the connection and nothing else.
impl<'a> StoreReader<'a> {
    pub fn accounts(&self) -> AccountReader<'a> {
        AccountReader(self.0)
    }

    pub fn approvals(&self) -> ApprovalReader<'a> {
        ApprovalReader(self.0)
    }

    pub fn audit(&self) -> AuditReader<'a> {
        AuditReader(self.0)
    }

    pub fn conversations(&self) -> ConversationReader<'a> {
        ConversationReader(self.0)
    }

    pub fn documents(&self) -> DocumentReader<'a> {
        DocumentReader(self.0)
    }

    pub fn ledger(&self) -> LedgerReader<'a> {
        LedgerReader(self.0)
    }

    pub fn mails(&self) -> MailReader<'a> {
        MailReader(self.0)
    }

    pub fn model_calls(&self) -> ModelCallReader<'a> {
        ModelCallReader(self.0)
    }

    pub fn nightly(&self) -> NightlyReader<'a> {
        NightlyReader(self.0)
    }

    pub fn outbox(&self) -> OutboxReader<'a> {
        OutboxReader(self.0)
    }

    pub fn requests(&self) -> RequestReader<'a> {
        RequestReader(self.0)
    }

    pub fn rules(&self) -> RulesReader<'a> {
        RulesReader(self.0)
    }

    pub fn plans(&self) -> PlanReader<'a> {
        PlanReader(self.0)
    }

    pub fn runs(&self) -> RunReader<'a> {
        RunReader(self.0)
    }

    pub fn settings(&self) -> SettingReader<'a> {
        SettingReader(self.0)
    }

    pub fn task_lists(&self) -> TaskListReader<'a> {
        TaskListReader(self.0)
    }

    pub fn tasks(&self) -> TaskReader<'a> {
        TaskReader(self.0)
    }

    pub fn teams(&self) -> TeamReader<'a> {
        TeamReader(self.0)
    }

    pub fn vectors(&self) -> VectorReader<'a> {
        VectorReader(self.0)
    }
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        // Readers close first, so that the writer closes the last connection and checkpoints the WAL.
        self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.write_queue.take();
        let thread = self.writer_thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // If the writer panicked, its callers have received `Stopped` already.
            drop(thread.join());
        }
    }
}

/// Returns the version of the SQLite that is compiled into this program.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
