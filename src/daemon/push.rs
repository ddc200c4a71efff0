//! Waits for Gmail's pushes. They only wake the poll earlier: when they stop, a person is told once and polling goes
//! on.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{DaemonContext, backoff};
use crate::{
    app::WorkerEvent,
    model::{AccountId, Instant},
    source::{gmail::PushSubscription, google::ApiError},
};

/// How often the watch is renewed. It lasts a week, and Google recommends to renew it daily.
const RENEW_EVERY: chrono::Duration = chrono::Duration::hours(24);
/// The number of failures in a row that is reported; fewer are taken for a short network failure.
const FAILURES_BEFORE_REPORT: u32 = 3;
/// The pause after the first failure; doubled for each further one.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Wakes `hint` at every push, until the daemon stops.
pub(super) async fn wait_for_pushes(
    shared: DaemonContext,
    push: Arc<PushSubscription>,
    account: AccountId,
    hint: Arc<Notify>,
) {
    let clock = shared.worker.app.clock.clone();
    let mut renew_at: Option<Instant> = None;
    let mut troubles = 0;
    while !shared.stop.is_cancelled() {
        let now = clock.now();
        let due = renew_at.is_none_or(|at| at <= now);
        let looked = tokio::select! {
            looked = renew_or_pull(&push, due) => looked,
            () = shared.stop.cancelled() => return,
        };
        match looked {
            Ok(PushCheck { has_arrived: came, watch_expires_at: until }) => {
                if due {
                    let soon = now.plus(RENEW_EVERY);
                    renew_at = Some(until.map_or(soon, |until| soon.min(until)));
                }
                if troubles >= FAILURES_BEFORE_REPORT {
                    tracing::info!(%account, "push is back");
                }
                troubles = 0;
                if came {
                    hint.notify_one();
                }
            }
            Err(error) => {
                troubles += 1;
                if troubles == FAILURES_BEFORE_REPORT || is_lasting(&error) && troubles == 1 {
                    report_push_lapsed(&shared, &account, &error.to_string());
                    troubles = troubles.max(FAILURES_BEFORE_REPORT);
                }
                // Pushes may have been lost during the failure, so the account is polled.
                hint.notify_one();
                if !shared
                    .sleep_unless_stopped(backoff::add_jitter(backoff::delay_after_failures(
                        RETRY_AFTER_FAILURE,
                        troubles,
                    )))
                    .await
                {
                    return;
                }
            }
        }
    }
}

/// The result of one renewal or one wait for a push.
struct PushCheck {
    has_arrived: bool,
    watch_expires_at: Option<Instant>,
}

/// Renews the watch, or waits for a push. A renewal counts as a push.
async fn renew_or_pull(push: &Arc<PushSubscription>, renew: bool) -> Result<PushCheck, ApiError> {
    let mut until = None;
    if renew {
        let renewer = Arc::clone(push);
        let stopped = |_| ApiError::Network { what: "stopped".into(), left: false };
        until = tokio::task::spawn_blocking(move || renewer.renew()).await.map_err(stopped)??;
    }
    // Mail that came before the watch was renewed was not announced, so it must be polled for.
    let came = if renew { true } else { push.pull().await? };
    Ok(PushCheck { has_arrived: came, watch_expires_at: until })
}

/// Returns whether the failure will last until a person acts, so that it is reported at once.
fn is_lasting(error: &ApiError) -> bool {
    matches!(error, ApiError::Auth(_) | ApiError::MissingScope(_) | ApiError::Refused { .. } | ApiError::Gone)
}

/// Counts polls by the clock that found mail which no push had announced. Several in a row mean that pushes go nowhere,
/// although the subscription answers.
#[derive(Default)]
pub(super) struct UnannouncedMailCounter {
    unannounced: u32,
}

impl UnannouncedMailCounter {
    /// Starts counting anew, because a push has come.
    pub(super) fn reset(&mut self) {
        self.unannounced = 0;
    }

    /// Counts one unannounced mail, and reports when there were several in a row.
    pub(super) fn record_unannounced_mail(&mut self, shared: &DaemonContext, account: &AccountId) {
        self.unannounced += 1;
        if self.unannounced == FAILURES_BEFORE_REPORT {
            report_push_lapsed(shared, account, "mail comes that no push has announced");
        }
    }
}

/// Reports that pushes have stopped and that the account is still polled.
fn report_push_lapsed(shared: &DaemonContext, account: &AccountId, why: &str) {
    let every = shared.worker.app.config.poll_seconds;
    tracing::warn!(%account, why, "push has lapsed");
    let problem = format!("push has lapsed ({why}); mail is still looked for every {every} s. See docs/gmail.md");
    shared.send_event(WorkerEvent::PollFailed { account: account.to_string(), problem });
}
