//! Following a mailbox: events are hints, scans are the truth.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::Shared;
use crate::app::{Followed, Pulse};

/// After a poll that failed.
const AFTER_TROUBLE: Duration = Duration::from_secs(5);
/// How soon a settled mail is shown.
const SHOW: Duration = Duration::from_millis(150);

pub(super) async fn follow(shared: Shared, nth: usize) {
    let Some(followed) = shared.worker.intakes.get(nth) else { return };
    let Followed { intake, maildir } = followed;
    let every = Duration::from_secs(shared.worker.app.config.poll_seconds);
    let hint = Arc::new(Notify::new());
    let _watch = maildir
        .watch(Arc::clone(&hint))
        .inspect_err(|error| tracing::warn!(account = %intake.desk.account, %error, "events are off"));
    // What came before the watch began is found by looking once more.
    let mut pause = Duration::ZERO;
    let mut told = String::new();
    while !shared.stop.is_cancelled() {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = hint.notified() => {}
            () = shared.stop.cancelled() => return,
        }
        pause = match shared.worker.take_in(followed).await {
            Ok((_, look_again)) => {
                told = String::new();
                look_again.unwrap_or(every)
            }
            Err(error) => {
                let problem = format!("{error:#}");
                // Said once; a full disk would otherwise say so at every event.
                if told != problem {
                    tracing::warn!(account = %intake.desk.account, error = problem, "a mailbox could not be polled");
                    shared.tell(Pulse::Trouble { account: intake.desk.account.to_string(), problem: problem.clone() });
                    told = problem;
                }
                AFTER_TROUBLE.min(every)
            }
        };
    }
}

/// Tells the door about each mail once, when it and its tasks have come to rest.
pub(super) async fn tell_settled(shared: Shared) {
    let app = &shared.worker.app;
    let Ok(mut mark) = app.newest_mail().await else { return };
    while shared.pause(SHOW).await {
        let Ok(newest) = app.newest_mail().await else { continue };
        if newest == mark {
            continue;
        }
        shared.worker.engine.idle().await;
        match app.outcomes(mark).await {
            Ok(outcomes) => {
                mark = outcomes.last().map_or(newest, |outcome| outcome.mail_id);
                outcomes.into_iter().for_each(|outcome| shared.tell(Pulse::Settled(outcome)));
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "settled mail could not be listed"),
        }
    }
}
