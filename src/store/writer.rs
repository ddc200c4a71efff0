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
    commit_outcome::{BatchOutcomes, QueuedWrite},
    error::{Result, StoreContext, StoreError},
    session::Session,
    write::{Receipt, perform_write},
};

/// Bounds how long the first of a batch waits for the last.
const LARGEST_BATCH: usize = 256;
/// Askers that were just answered come back one after the other; when none has for this long, the rest are elsewhere.
const MAX_GAP_BETWEEN_WRITES: Duration = Duration::from_micros(80);
/// Not longer, or an idle daemon would burn a core after every mail.
const SPIN_BEFORE_SLEEP: Duration = Duration::from_micros(80);

pub(super) fn run(session: Session, queue: &Receiver<QueuedWrite>, counted: &AtomicUsize) {
    let mut waiting = Vec::new();
    let mut habit = LastCommit { in_flight: 1, has_backlog: false, commit_time: Duration::ZERO };
    loop {
        if waiting.is_empty() {
            let Some(first) = next_write(queue) else { break };
            waiting.push(first);
        }
        let begun = Instant::now();
        let mut batch = Batch { writes: std::mem::take(&mut waiting), idle: Duration::ZERO };
        let outcomes = commit_batch(&session, &mut batch, queue, habit);
        habit.commit_time = begun.elapsed().saturating_sub(batch.idle);
        // Who asks now, before the batch is answered, is in flight beside it.
        waiting.extend(queue.try_iter().take(LARGEST_BATCH));
        habit.has_backlog = waiting.len() * 2 >= batch.writes.len();
        habit.in_flight = batch.writes.len() + waiting.len();
        counted.store(habit.in_flight, Ordering::Relaxed);
        BatchOutcomes::new(batch.writes.into_iter().zip(outcomes)).deliver();
    }
    session.close();
}

/// What the last commit was like; the next will be much like it.
#[derive(Clone, Copy)]
struct LastCommit {
    in_flight: usize,
    /// Many had asked again before they were answered: there will be a next batch whether or not they are waited for.
    has_backlog: bool,
    commit_time: Duration,
}

/// Those that share a commit.
struct Batch {
    writes: Vec<QueuedWrite>,
    /// How long nobody came.
    idle: Duration,
}

/// Looks for the next order a moment before it sleeps: an asker that was just answered often asks at once, and waking a
/// thread takes longer than that.
fn next_write(queue: &Receiver<QueuedWrite>) -> Option<QueuedWrite> {
    let patience = Instant::now() + SPIN_BEFORE_SLEEP;
    loop {
        match queue.try_recv() {
            Ok(queued) => return Some(queued),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if Instant::now() >= patience => return queue.recv().ok(),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
}

impl Batch {
    /// Takes in who is there, and says where they begin. As many as were in flight a moment ago are about to ask again,
    /// and sharing a commit with them costs less than another one: they are waited for while they keep coming, at most
    /// half as long as a commit takes.
    fn gather_more(&mut self, queue: &Receiver<QueuedWrite>, habit: LastCommit) -> Option<usize> {
        let (begun, before) = (Instant::now(), self.writes.len());
        loop {
            self.writes.extend(queue.try_iter().take(LARGEST_BATCH.saturating_sub(before)));
            if self.writes.len() > before {
                self.idle += begun.elapsed();
                return Some(before);
            }
            let idle = begun.elapsed();
            let all = before >= habit.in_flight.min(LARGEST_BATCH);
            if habit.has_backlog || all || idle >= MAX_GAP_BETWEEN_WRITES || (self.idle + idle) * 2 >= habit.commit_time
            {
                self.idle += idle;
                return None;
            }
            std::thread::yield_now();
        }
    }
}

/// One outcome for each order; when the commit itself fails, the same for all.
fn commit_batch(
    session: &Session,
    batch: &mut Batch,
    queue: &Receiver<QueuedWrite>,
    habit: LastCommit,
) -> Vec<Result<Receipt>> {
    run_transaction(session, batch, queue, habit).unwrap_or_else(|error| {
        session.discard_pending_tokens();
        if !session.is_autocommit() {
            drop(session.execute_batch("ROLLBACK"));
        }
        batch.writes.iter().map(|_| Err(error.clone_for_batch())).collect()
    })
}

/// Nearly always every request of a batch is fine, and savepoints would only cost: each one journals pages and makes the
/// full-text index write out what it has gathered. So a batch is tried without; if one is refused, all of it is taken
/// back and done again with a savepoint for each, and the refused one fails alone.
fn run_transaction(
    session: &Session,
    batch: &mut Batch,
    queue: &Receiver<QueuedWrite>,
    habit: LastCommit,
) -> Result<Vec<Result<Receipt>>> {
    execute(session, "BEGIN IMMEDIATE")?;
    if let Some(receipts) = perform_all(session, batch, queue, habit)
        && session.flush_pending_tokens().is_ok()
    {
        commit_transaction(session, &batch.writes)?;
        return Ok(receipts.into_iter().map(Ok).collect());
    }
    session.discard_pending_tokens();
    if !session.is_autocommit() {
        execute(session, "ROLLBACK")?;
    }
    execute(session, "BEGIN IMMEDIATE")?;
    let outcomes =
        batch.writes.iter().map(|queued| perform_in_savepoint(session, queued)).collect::<Result<Vec<_>>>()?;
    commit_transaction(session, &batch.writes)?;
    Ok(outcomes)
}

/// Performs those that wait, and while others are still on their way, those that have come. None once one is refused.
fn perform_all(
    session: &Session,
    batch: &mut Batch,
    queue: &Receiver<QueuedWrite>,
    habit: LastCommit,
) -> Option<Vec<Receipt>> {
    let mut receipts = Vec::new();
    let mut begin = Some(0);
    while let Some(begin_at) = begin {
        let fresh = batch.writes.get_mut(begin_at..)?;
        // All are asked at once, so any order will do, except of the checkpoints of one run: the sort is stable.
        fresh.sort_by_key(|queued| queued.write.batch_sort_key());
        for queued in fresh {
            receipts.push(perform_catching_panic(session, queued).ok()?);
        }
        begin = batch.gather_more(queue, habit);
    }
    Some(receipts)
}

fn commit_transaction(session: &Session, batch: &[QueuedWrite]) -> Result<()> {
    let pass = |when| batch.iter().for_each(|queued| failpoint::hit_commit(queued.write.name(), when));
    pass("before");
    execute(session, "COMMIT")?;
    pass("after");
    Ok(())
}

/// The outer error is the batch's, the inner one the request's.
fn perform_in_savepoint(session: &Session, queued: &QueuedWrite) -> Result<Result<Receipt>> {
    execute(session, "SAVEPOINT one")?;
    match perform_catching_panic(session, queued).and_then(|receipt| session.flush_pending_tokens().map(|()| receipt)) {
        // The disk is full or the database locked: SQLite may have rolled all of it back, and none of it is stored.
        Err(error) if error.is_transient() || session.is_autocommit() => Err(error),
        outcome => {
            if outcome.is_err() {
                session.discard_pending_tokens();
                execute(session, "ROLLBACK TO one")?;
            }
            execute(session, "RELEASE one")?;
            Ok(outcome)
        }
    }
}

/// A panic fails the request, not the store.
fn perform_catching_panic(session: &Session, queued: &QueuedWrite) -> Result<Receipt> {
    catch_unwind(AssertUnwindSafe(|| perform_write(session, &queued.write, &queued.prepared)))
        .unwrap_or_else(|_| Err(StoreError::Refused("the store panicked over this request; it was taken back".into())))
}

fn execute(session: &Session, sql: &str) -> Result<()> {
    session.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).context(sql)
}
