//! What the clock brings: reminders, and the daily ranking in the person's time zone.

use std::{collections::HashSet, sync::Arc, time::Duration};

use croner::Cron;

use super::DaemonContext;
use crate::{
    app::WorkerEvent,
    model::{ActionId, Instant},
};

/// A reminder is this late at the most.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Long sleeps are cut, so that a suspended machine is not late by its suspension.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Hands over each reminder once for its time. Whoever prints it marks it as shown, afterwards; until then the next start
/// shows it again.
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

pub(super) async fn rerank_daily(shared: DaemonContext) {
    let app = &shared.worker.app;
    // Checked when the configuration was read.
    let Ok(cron) = app.config.nightly_schedule.parse::<Cron>() else { return };
    loop {
        let now = app.clock.now().utc().with_timezone(&app.config.me.time_zone);
        let Ok(next) = cron.find_next_occurrence(&now, false) else { return };
        while app.clock.now().utc() < next {
            let left = (next.to_utc() - app.clock.now().utc()).to_std().unwrap_or_default();
            if !shared.sleep_unless_stopped(left.min(MAX_SLEEP)).await {
                return;
            }
        }
        let rules = Arc::clone(&shared.worker.rules.borrow().rules);
        match app.tasks().rerank(&rules, "a new day").await {
            Ok(changed) => tracing::info!(changed, "open tasks were ranked again"),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "tasks could not be ranked again"),
        }
    }
}
