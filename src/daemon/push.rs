//! Waiting for pushes. They only wake the poll earlier; when they cease, a person is told once and polling goes on.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{DaemonContext, backoff};
use crate::{
    app::Pulse,
    model::{AccountId, Instant},
    source::{gmail::PushSubscription, google::ApiError},
};

/// A watch lasts a week; Google asks for one a day.
const RENEW_EVERY: chrono::Duration = chrono::Duration::hours(24);
/// Trouble shorter than this is the network's.
const PATIENCE: u32 = 3;
const AFTER_TROUBLE: Duration = Duration::from_secs(5);

/// Wakes `hint` at every push, until it is time to stop.
pub(super) async fn follow(shared: DaemonContext, push: Arc<PushSubscription>, account: AccountId, hint: Arc<Notify>) {
    let clock = shared.worker.app.clock.clone();
    let mut renew_at: Option<Instant> = None;
    let mut troubles = 0;
    while !shared.stop.is_cancelled() {
        let now = clock.now();
        let due = renew_at.is_none_or(|at| at <= now);
        let looked = tokio::select! {
            looked = look(&push, due) => looked,
            () = shared.stop.cancelled() => return,
        };
        match looked {
            Ok(Looked { came, until }) => {
                if due {
                    let soon = now.plus(RENEW_EVERY);
                    renew_at = Some(until.map_or(soon, |until| soon.min(until)));
                }
                if troubles >= PATIENCE {
                    tracing::info!(%account, "push is back");
                }
                troubles = 0;
                if came {
                    hint.notify_one();
                }
            }
            Err(error) => {
                troubles += 1;
                if troubles == PATIENCE || is_lasting(&error) && troubles == 1 {
                    lapsed(&shared, &account, &error.to_string());
                    troubles = troubles.max(PATIENCE);
                }
                // What was pushed meanwhile may be lost with it.
                hint.notify_one();
                if !shared
                    .sleep_unless_stopped(backoff::add_jitter(backoff::delay_after_failures(AFTER_TROUBLE, troubles)))
                    .await
                {
                    return;
                }
            }
        }
    }
}

struct Looked {
    came: bool,
    until: Option<Instant>,
}

async fn look(push: &Arc<PushSubscription>, renew: bool) -> Result<Looked, ApiError> {
    let mut until = None;
    if renew {
        let renewer = Arc::clone(push);
        let stopped = |_| ApiError::Network { what: "stopped".into(), left: false };
        until = tokio::task::spawn_blocking(move || renewer.renew()).await.map_err(stopped)??;
    }
    // What came before the watch is found by the poll.
    let came = if renew { true } else { push.pull().await? };
    Ok(Looked { came, until })
}

fn is_lasting(error: &ApiError) -> bool {
    matches!(error, ApiError::Auth(_) | ApiError::MissingScope(_) | ApiError::Refused { .. } | ApiError::Gone)
}

/// Whether what is looked for by the clock was announced. Mail that comes unannounced again and again says that pushes go
/// elsewhere, or nowhere, though the subscription answers.
#[derive(Default)]
pub(super) struct Silence {
    unannounced: u32,
}

impl Silence {
    pub(super) fn hear(&mut self) {
        self.unannounced = 0;
    }

    pub(super) fn found_mail(&mut self, shared: &DaemonContext, account: &AccountId) {
        self.unannounced += 1;
        if self.unannounced == PATIENCE {
            lapsed(shared, account, "mail comes that no push has announced");
        }
    }
}

fn lapsed(shared: &DaemonContext, account: &AccountId, why: &str) {
    let every = shared.worker.app.config.poll_seconds;
    tracing::warn!(%account, why, "push has lapsed");
    let problem = format!("push has lapsed ({why}); mail is still looked for every {every} s. See docs/gmail.md");
    shared.send_event(Pulse::Trouble { account: account.to_string(), problem });
}
