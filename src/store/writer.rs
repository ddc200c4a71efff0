//! The writer: one thread that owns the only connection that writes, and commits many writes at once (group commit).
//!
//! Nothing is acknowledged before its commit, and a refused write fails alone. A panic in a write fails that write and
//! not the store.

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

/// The largest number of writes in a commit. It bounds how long the first waits for the last.
const LARGEST_BATCH: usize = 256;
/// How long a batch stays open without a new write. Callers that were just answered write again one after the other;
/// after this gap the others are busy elsewhere.
const MAX_GAP_BETWEEN_WRITES: Duration = Duration::from_micros(80);
/// How long the writer polls before it sleeps. Polling longer would burn a core after every mail.
const SPIN_BEFORE_SLEEP: Duration = Duration::from_micros(80);

/// Runs until the queue is closed, and then closes the connection. `counted` receives the number of writes in flight.
pub(super) fn run(session: Session, queue: &Receiver<QueuedWrite>, counted: &AtomicUsize) {
    let mut waiting = Vec::new();
    // The first batch has nothing to go by, and waits for nobody.
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
        // Writes that come before the batch is answered are in flight beside it.
        waiting.extend(queue.try_iter().take(LARGEST_BATCH));
        habit.has_backlog = waiting.len() * 2 >= batch.writes.len();
        habit.in_flight = batch.writes.len() + waiting.len();
        counted.store(habit.in_flight, Ordering::Relaxed);
        BatchOutcomes::new(batch.writes.into_iter().zip(outcomes)).deliver();
    }
    session.close();
}

/// What the last commit was like, as a prediction for the next.
#[derive(Clone, Copy)]
struct LastCommit {
    /// The number of writes in the last batch and those queued right after it.
    in_flight: usize,
    /// Whether at least half as many writes were queued again before the batch was answered. Then waiting for more
    /// gains nothing, because another batch follows anyway.
    has_backlog: bool,
    /// How long the last batch took, without the time it waited for more writes.
    commit_time: Duration,
}

/// The writes that share a commit.
struct Batch {
    writes: Vec<QueuedWrite>,
    /// How long the batch was open without a new write.
    idle: Duration,
}

/// Returns the next write, or none when the queue is closed. Polls for a moment before it sleeps: a caller that was
/// just answered often writes again at once, and waking a thread takes longer than that.
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
    /// Adds the writes that have come, and returns the index of the first of them; none when the batch is complete. As
    /// many writes as were in flight a moment ago are likely to come again, and sharing a commit is cheaper than
    /// another one, so they are waited for while they keep coming, at most half as long as a commit takes.
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

/// Commits a batch. Returns one result per write; when the commit itself fails, the same error for all.
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

/// Performs a batch in one transaction. Nearly always every write succeeds, and savepoints would only cost: each
/// journals pages and makes the full-text index flush. So the batch is tried without savepoints; if a write is refused,
/// all is rolled back and repeated with a savepoint for each, so that the refused one fails alone.
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

/// Performs the queued writes, and those that arrive meanwhile. Returns none as soon as one is refused.
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
        // The writes are concurrent, so any order is right, except among the checkpoints of one run. The sort is stable
        // and keeps those.
        fresh.sort_by_key(|queued| queued.write.batch_sort_key());
        for queued in fresh {
            receipts.push(perform_catching_panic(session, queued).ok()?);
        }
        begin = batch.gather_more(queue, habit);
    }
    Some(receipts)
}

/// Commits, with a failpoint before and after for every write of the batch.
fn commit_transaction(session: &Session, batch: &[QueuedWrite]) -> Result<()> {
    let pass = |when| batch.iter().for_each(|queued| failpoint::hit_commit(queued.write.name(), when));
    pass("before");
    execute(session, "COMMIT")?;
    pass("after");
    Ok(())
}

/// Performs one write in a savepoint. The outer error fails the whole batch, the inner one only this write.
fn perform_in_savepoint(session: &Session, queued: &QueuedWrite) -> Result<Result<Receipt>> {
    execute(session, "SAVEPOINT one")?;
    match perform_catching_panic(session, queued).and_then(|receipt| session.flush_pending_tokens().map(|()| receipt)) {
        // On a full disk or a lock, SQLite may have rolled the whole transaction back: nothing of the batch is stored.
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

/// Performs a write; a panic becomes a refusal of this write.
fn perform_catching_panic(session: &Session, queued: &QueuedWrite) -> Result<Receipt> {
    catch_unwind(AssertUnwindSafe(|| perform_write(session, &queued.write, &queued.prepared)))
        .unwrap_or_else(|_| Err(StoreError::Refused("the store panicked over this request; it was taken back".into())))
}

fn execute(session: &Session, sql: &str) -> Result<()> {
    session.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).context(sql)
}
