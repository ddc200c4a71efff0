//! Waiting for pushes. They only wake the poll earlier; when they cease, a person is told once and polling goes on.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{DaemonContext, backoff};
use crate::{
    app::WorkerEvent,
    model::{AccountId, Instant},
    source::{gmail::PushSubscription, google::ApiError},
};

/// A watch lasts a week; Google asks for one a day.
const RENEW_EVERY: chrono::Duration = chrono::Duration::hours(24);
/// Trouble shorter than this is the network's.
const FAILURES_BEFORE_REPORT: u32 = 3;
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Wakes `hint` at every push, until it is time to stop.
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
                // What was pushed meanwhile may be lost with it.
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

struct PushCheck {
    has_arrived: bool,
    watch_expires_at: Option<Instant>,
}

async fn renew_or_pull(push: &Arc<PushSubscription>, renew: bool) -> Result<PushCheck, ApiError> {
    let mut until = None;
    if renew {
        let renewer = Arc::clone(push);
        let stopped = |_| ApiError::Network { what: "stopped".into(), left: false };
        until = tokio::task::spawn_blocking(move || renewer.renew()).await.map_err(stopped)??;
    }
    // What came before the watch is found by the poll.
    let came = if renew { true } else { push.pull().await? };
    Ok(PushCheck { has_arrived: came, watch_expires_at: until })
}

fn is_lasting(error: &ApiError) -> bool {
    matches!(error, ApiError::Auth(_) | ApiError::MissingScope(_) | ApiError::Refused { .. } | ApiError::Gone)
}

/// Whether what is looked for by the clock was announced. Mail that comes unannounced again and again says that pushes go
/// elsewhere, or nowhere, though the subscription answers.
#[derive(Default)]
pub(super) struct UnannouncedMailCounter {
    unannounced: u32,
}

impl UnannouncedMailCounter {
    pub(super) fn reset(&mut self) {
        self.unannounced = 0;
    }

    pub(super) fn record_unannounced_mail(&mut self, shared: &DaemonContext, account: &AccountId) {
        self.unannounced += 1;
        if self.unannounced == FAILURES_BEFORE_REPORT {
            report_push_lapsed(shared, account, "mail comes that no push has announced");
        }
    }
}

fn report_push_lapsed(shared: &DaemonContext, account: &AccountId, why: &str) {
    let every = shared.worker.app.config.poll_seconds;
    tracing::warn!(%account, why, "push has lapsed");
    let problem = format!("push has lapsed ({why}); mail is still looked for every {every} s. See docs/gmail.md");
    shared.send_event(WorkerEvent::PollFailed { account: account.to_string(), problem });
}
