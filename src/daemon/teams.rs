//! Works the teams that chats, pages and mails asked for, and those whose process ended. Each is worked by one task; the
//! lock of a team keeps it from being worked twice.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::DaemonContext;
use crate::{app::TeamMode, model::TeamRow};

/// The pause between two looks for teams. A look is one cheap read.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long a team that failed is left alone before it is tried again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(60);
/// How many teams are worked at the same time.
const MOST_TEAMS: usize = 3;

/// The numbers of the teams that this process works.
type Worked = Arc<Mutex<HashSet<i64>>>;

/// Works teams until the daemon stops.
pub(super) async fn work_teams(shared: DaemonContext) {
    let worked = Worked::default();
    while shared.sleep_unless_stopped(INTERVAL).await {
        match shared.worker.app.teams().due().await {
            Ok(due) => due.into_iter().for_each(|team| begin(&shared, &worked, team)),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "teams could not be looked for"),
        }
    }
}

fn begin(shared: &DaemonContext, worked: &Worked, team: TeamRow) {
    {
        let mut worked = worked.lock().unwrap_or_else(PoisonError::into_inner);
        if worked.len() >= MOST_TEAMS || !worked.insert(team.number) {
            return;
        }
    }
    let (shared, worked) = (shared.clone(), Arc::clone(worked));
    shared.tracker.clone().spawn(async move {
        let mode = TeamMode { asks_in_queue: true, stays: false };
        if let Err(error) = shared.worker.app.teams().run(&team, mode, &shared.stop).await {
            tracing::warn!(team = team.number, error = format!("{error:#}"), "a team could not be worked");
            shared.sleep_unless_stopped(PAUSE_AFTER_FAILURE).await;
        }
        worked.lock().unwrap_or_else(PoisonError::into_inner).remove(&team.number);
    });
}
