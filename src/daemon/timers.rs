//! The timers: reminders, and the daily ranking in the person's time zone.

use std::{collections::HashSet, sync::Arc, time::Duration};

use super::DaemonContext;
use crate::{
    app::WorkerEvent,
    model::{ActionId, Instant},
};

/// The pause between two looks for reminders, and so the largest delay of one.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The pause between two looks whether a new day has begun, so that a machine that was suspended notices it soon after
/// it wakes.
const DAY_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Reports each reminder once for each time it is due. Whoever prints it marks it as shown afterwards; until then, the
/// next start reports it again.
pub(super) async fn announce_due_reminders(shared: DaemonContext) {
    let app = &shared.worker.app;
    let mut told: HashSet<(ActionId, Instant)> = HashSet::new();
    loop {
        match app.tasks().due_reminders().await {
            Ok(due) => {
                let fresh = due.into_iter().filter(|row| told.insert((row.action_id, row.due_at)));
                fresh.for_each(|reminder| shared.send_event(WorkerEvent::ReminderDue(reminder)));
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "reminders could not be read"),
        }
        if !shared.sleep_unless_stopped(CHECK_INTERVAL).await {
            return;
        }
    }
}

/// Ranks open tasks again at the time of the nightly schedule, because deadlines have come nearer. A time that passed
/// while nothing ran is made up for.
pub(super) async fn rerank_daily(shared: DaemonContext) {
    let app = &shared.worker.app;
    loop {
        let rules = Arc::clone(&shared.worker.rules.borrow().rules);
        match app.tasks().rerank_if_day_passed(&rules).await {
            Ok(0) => {}
            Ok(changed) => tracing::info!(changed, "open tasks were ranked again"),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "tasks could not be ranked again"),
        }
        if !shared.sleep_unless_stopped(DAY_CHECK_INTERVAL).await {
            return;
        }
    }
}
