//! The one writer: a thread that owns the connection and commits many requests at once.
//!
//! Nothing is acknowledged before its commit, and a refused request fails alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, TryRecvError},
    },
    time::{Duration, Instant},
};

use crate::failpoint;

use super::{
    answer::{Answers, Order},
    error::{Context, Result, StoreError},
    session::Session,
    write::{Receipt, perform},
};

/// Bounds how long the first of a batch waits for the last.
const LARGEST_BATCH: usize = 256;
/// Askers that were just answered come back one after the other; when none has for this long, the rest are elsewhere.
const GAP: Duration = Duration::from_micros(80);
/// Not longer, or an idle daemon would burn a core after every mail.
const BEFORE_SLEEP: Duration = Duration::from_micros(80);

pub(super) fn run(session: Session, orders: &Receiver<Order>, counted: &AtomicUsize) {
    let mut waiting = Vec::new();
    let mut in_flight = 1;
    let mut cost = Duration::ZERO;
    loop {
        if waiting.is_empty() {
            let Some(first) = next(orders) else { break };
            waiting.push(first);
        }
        let mut batch = gather(std::mem::take(&mut waiting), orders, in_flight, cost);
        // All are asked at once, so any order will do.
        batch.sort_by_key(|order| order.write.place());
        let begun = Instant::now();
        let outcomes = commit(&session, &batch);
        cost = begun.elapsed();
        // Who asks now, before the batch is answered, is in flight beside it.
        waiting.extend(orders.try_iter().take(LARGEST_BATCH));
        in_flight = batch.len() + waiting.len();
        counted.store(in_flight, Ordering::Relaxed);
        Answers::new(batch.into_iter().zip(outcomes)).give();
    }
    session.close();
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

/// As many as were in flight a moment ago are about to ask again, and sharing a commit with them costs less than
/// another one. So they are waited for, while they keep coming and at most half as long as a commit takes.
fn gather(mut batch: Vec<Order>, orders: &Receiver<Order>, in_flight: usize, cost: Duration) -> Vec<Order> {
    let begun = Instant::now();
    let mut last = begun;
    while batch.len() < LARGEST_BATCH {
        match orders.try_recv() {
            Ok(order) => {
                batch.push(order);
                last = Instant::now();
            }
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) if batch.len() >= in_flight => break,
            Err(TryRecvError::Empty) => {
                if last.elapsed() >= GAP || begun.elapsed() * 2 >= cost {
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
    batch
}

/// One outcome for each order; when the commit itself fails, the same for all.
fn commit(session: &Session, batch: &[Order]) -> Vec<Result<Receipt>> {
    transact(session, batch).unwrap_or_else(|error| {
        session.forget();
        if !session.is_autocommit() {
            drop(session.execute_batch("ROLLBACK"));
        }
        batch.iter().map(|_| Err(error.share())).collect()
    })
}

/// Nearly always every request of a batch is fine, and savepoints would only cost: each one journals pages and makes the
/// full-text index write out what it has gathered. So a batch is tried without; if one is refused, all of it is taken
/// back and done again with a savepoint for each, and the refused one fails alone.
fn transact(session: &Session, batch: &[Order]) -> Result<Vec<Result<Receipt>>> {
    execute(session, "BEGIN IMMEDIATE")?;
    let receipts = batch.iter().map(|order| guarded(session, order).ok()).collect::<Option<Vec<_>>>();
    if let Some(receipts) = receipts
        && session.settle().is_ok()
    {
        commit_all(session, batch)?;
        return Ok(receipts.into_iter().map(Ok).collect());
    }
    session.forget();
    if !session.is_autocommit() {
        execute(session, "ROLLBACK")?;
    }
    execute(session, "BEGIN IMMEDIATE")?;
    let outcomes = batch.iter().map(|order| attempt(session, order)).collect::<Result<Vec<_>>>()?;
    commit_all(session, batch)?;
    Ok(outcomes)
}

fn commit_all(session: &Session, batch: &[Order]) -> Result<()> {
    let pass = |when| batch.iter().for_each(|order| failpoint::pass_commit(order.write.name(), when));
    pass("before");
    execute(session, "COMMIT")?;
    pass("after");
    Ok(())
}

/// The outer error is the batch's, the inner one the request's.
fn attempt(session: &Session, order: &Order) -> Result<Result<Receipt>> {
    execute(session, "SAVEPOINT one")?;
    match guarded(session, order).and_then(|receipt| session.settle().map(|()| receipt)) {
        // The disk is full or the database locked: SQLite may have rolled all of it back, and none of it is stored.
        Err(error) if error.is_passing() || session.is_autocommit() => Err(error),
        outcome => {
            if outcome.is_err() {
                session.forget();
                execute(session, "ROLLBACK TO one")?;
            }
            execute(session, "RELEASE one")?;
            Ok(outcome)
        }
    }
}

/// A panic fails the request, not the store.
fn guarded(session: &Session, order: &Order) -> Result<Receipt> {
    catch_unwind(AssertUnwindSafe(|| perform(session, &order.write, &order.prepared)))
        .unwrap_or_else(|_| Err(StoreError::Refused("the store panicked over this request; it was taken back".into())))
}

fn execute(session: &Session, sql: &str) -> Result<()> {
    session.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).context(sql)
}
