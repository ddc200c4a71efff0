//! The only rusqlite in the program: one writer with group commit, many readers, one folder per area of
//! tables with the SQL and the reader handle of that area.
//!
//! Owns `data/tasks.db`. Takes and gives plain values; no rusqlite type and no transaction ever leaves it, and nothing
//! is acknowledged before it is on the disk.

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

pub use commit_outcome::PendingWrite;
pub use error::{Result, SkipUnreadable, StoreError};
pub use table::{
    account::AccountReader,
    approval::ApprovalReader,
    audit::AuditReader,
    document::{
        DocumentReader,
        search::SearchDepth,
        vector::{MEMORY_TROUBLE, VectorReader},
    },
    mail::{MailReader, ledger_read::LedgerReader},
    nightly::{NightlyReader, rules_version::RulesReader},
    outbox::{OutboxReader, journal::JournalRow},
    request::RequestReader,
    run::{RunReader, model_call::ModelCallReader},
    setting::SettingReader,
    task::{TaskReader, facts::RankableTask},
};
pub use write::{Receipt, Write};

/// Connections that read at once: more would only wait for the same cores, and each keeps a cache.
const MAX_READERS: usize = 4;

/// The spans around every reading, and around making the texts of a mail's and a checkpoint's rows, for whoever wants to
/// know how long they take.
pub const READ_SPAN: &str = "store-reader";
pub const ENCODE_SPAN: &str = "store-rows";

/// A cheap handle; the last one to go closes the database.
#[derive(Clone)]
pub struct Store(Arc<StoreInner>);

struct StoreInner {
    path: PathBuf,
    write_queue: Option<mpsc::Sender<commit_outcome::QueuedWrite>>,
    writer_thread: Mutex<Option<JoinHandle<()>>>,
    idle_readers: Mutex<Vec<Connection>>,
    read_permits: Semaphore,
    /// Makes vectors of what is written, so that both commit together; without it they are due.
    embed: OnceLock<EmbedFn>,
    /// Writes that were under way at the last commit.
    in_flight: Arc<AtomicUsize>,
}

impl Store {
    /// Opens `path`, brings its schema up to date and starts the writer. Backups go to `backups`.
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

    /// From now on documents are stored with their vectors. The first call counts.
    pub fn set_embedder(&self, embed: EmbedFn) {
        // One that is there already makes the same vectors.
        drop(self.0.embed.set(embed));
    }

    /// Hands a value to the writer and waits until it is on the disk, or refused.
    pub async fn write(&self, write: Write) -> Result<Receipt> {
        self.enqueue(write)?.answer().await
    }

    /// Hands a value to the writer, behind all that was handed over before. It is not stored before the answer says so.
    pub fn enqueue(&self, write: Write) -> Result<PendingWrite> {
        let prepared = prepared::prepare(&write, self.0.embed.get())?;
        let alone = self.0.in_flight.load(Ordering::Relaxed) <= 1;
        let (queued, pending) = commit_outcome::create_queued_write(write, prepared, alone);
        let queue = self.0.write_queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.send(queued).map_err(|_| StoreError::Stopped)?;
        Ok(pending)
    }

    /// Runs a query on a reader, off the async threads.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&StoreReader<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _place = self.0.read_permits.acquire().await.map_err(|_| StoreError::Stopped)?;
        let store = self.clone();
        tokio::task::spawn_blocking(move || store.read_blocking(query)).await.map_err(|_| StoreError::Stopped)?
    }

    /// Runs a short query right here. Readers never wait for the writer in WAL mode, so this costs what the query costs;
    /// for anything that walks many rows use [`Store::read`]. All of its statements see the database of one moment.
    pub fn read_blocking<T>(&self, query: impl FnOnce(&StoreReader<'_>) -> Result<T>) -> Result<T> {
        let _reading = tracing::trace_span!(READ_SPAN).entered();
        let idle = self.0.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| connection::open_reader(&self.0.path), Ok)?;
        let step =
            |sql| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).context("reading");
        let outcome = step("BEGIN").and_then(|_| query(&StoreReader(&connection)));
        // It has only read, so nothing can be lost with it; one that cannot end is closed.
        if step("COMMIT").is_ok() {
            self.0.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        outcome
    }
}

/// What a query sees: one connection that cannot write. The queries are on a handle per area.
pub struct StoreReader<'a>(&'a Connection);

// One handle per area; each holds the connection and nothing else.
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

    pub fn runs(&self) -> RunReader<'a> {
        RunReader(self.0)
    }

    pub fn settings(&self) -> SettingReader<'a> {
        SettingReader(self.0)
    }

    pub fn tasks(&self) -> TaskReader<'a> {
        TaskReader(self.0)
    }

    pub fn vectors(&self) -> VectorReader<'a> {
        VectorReader(self.0)
    }
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.write_queue.take();
        let thread = self.writer_thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the writer was already answered with `Stopped`.
            drop(thread.join());
        }
    }
}

/// The SQLite compiled into this program.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
