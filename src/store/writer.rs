//! The one writer: a thread that owns the connection and commits many requests at once.
//!
//! Nothing is acknowledged before its commit. Each request of a batch runs in a savepoint of its own, so a refused one
//! fails alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, TryRecvError},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    error::{Context, Result, StoreError},
    write::{Receipt, Write, perform},
};

/// Bounds how long the first of a batch waits for the last.
const LARGEST_BATCH: usize = 256;
/// When the last batch held several, its askers are about to ask again: waiting this long for them saves an fsync,
/// which costs more.
const LINGER: Duration = Duration::from_micros(120);

/// Not longer, or an idle daemon would burn a core after every mail.
const BEFORE_SLEEP: Duration = Duration::from_micros(60);

pub(super) struct Order {
    pub(super) write: Write,
    pub(super) reply: oneshot::Sender<Result<Receipt>>,
}

pub(super) fn run(mut connection: Connection, orders: &Receiver<Order>) {
    let mut expected = 1;
    while let Some(first) = next(orders) {
        let batch = gather(first, orders, expected);
        expected = batch.len();
        commit(&mut connection, batch);
    }
    // The last connection to close folds the WAL into the file; failing that, the next start does it.
    drop(connection.close());
}

/// Looks for the next order a moment before it sleeps: an asker that was just answered often asks at once, and waking a
/// thread takes longer than that.
fn next(orders: &Receiver<Order>) -> Option<Order> {
    let patience = Instant::now() + BEFORE_SLEEP;
    loop {
        match orders.try_recv() {
            Ok(order) => return Some(order),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if Instant::now() >= patience => return orders.recv().ok(),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
}

fn gather(first: Order, orders: &Receiver<Order>, expected: usize) -> Vec<Order> {
    let mut batch = vec![first];
    let mut patience = None;
    while batch.len() < LARGEST_BATCH {
        match orders.try_recv() {
            Ok(order) => batch.push(order),
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) if batch.len() >= expected => break,
            Err(TryRecvError::Empty) => {
                if Instant::now() >= *patience.get_or_insert_with(|| Instant::now() + LINGER) {
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
    batch
}

fn commit(connection: &mut Connection, batch: Vec<Order>) {
    let (orders, replies): (Vec<_>, Vec<_>) = batch.into_iter().map(|order| (order.write, order.reply)).unzip();
    let outcomes = transact(connection, &orders);
    match outcomes {
        Ok(outcomes) => {
            for (reply, outcome) in replies.into_iter().zip(outcomes) {
                // The asker may have gone away; what was committed stays committed.
                drop(reply.send(outcome));
            }
        }
        Err(error) => {
            if !connection.is_autocommit() {
                drop(connection.execute_batch("ROLLBACK"));
            }
            for reply in replies {
                drop(reply.send(Err(error.share())));
            }
        }
    }
}

fn transact(connection: &Connection, orders: &[Write]) -> Result<Vec<Result<Receipt>>> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let outcomes = orders.iter().map(|order| attempt(connection, order)).collect::<Result<Vec<_>>>()?;
    execute(connection, "COMMIT")?;
    Ok(outcomes)
}

/// The outer error is the batch's, the inner one the request's.
fn attempt(connection: &Connection, order: &Write) -> Result<Result<Receipt>> {
    execute(connection, "SAVEPOINT one")?;
    match guarded(connection, order) {
        // The disk is full or the database locked: SQLite may have rolled all of it back, and none of it is stored.
        Err(error) if error.is_passing() || connection.is_autocommit() => Err(error),
        outcome => {
            if outcome.is_err() {
                execute(connection, "ROLLBACK TO one")?;
            }
            execute(connection, "RELEASE one")?;
            Ok(outcome)
        }
    }
}

/// A panic fails the request, not the store.
fn guarded(connection: &Connection, order: &Write) -> Result<Receipt> {
    catch_unwind(AssertUnwindSafe(|| perform(connection, order)))
        .unwrap_or_else(|_| Err(StoreError::Refused("the store panicked over this request; it was taken back".into())))
}

fn execute(connection: &Connection, sql: &str) -> Result<()> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).context(sql)
}
