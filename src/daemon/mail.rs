//! Follows the mailboxes. File events and pushes are only hints that wake the poll earlier; the poll finds everything.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{DaemonContext, backoff, push};
use crate::{
    app::{FollowedAccount, MailLocation, WorkerEvent},
    source::{SourceError, maildir::watch::MaildirWatcher},
};

/// The pause after a failed poll of a local mailbox.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(5);
/// The pause between two looks for processed mail to announce.
const SETTLED_CHECK_INTERVAL: Duration = Duration::from_millis(150);

/// Polls one account until the daemon stops: at every hint, at every interval, and with a backoff while it fails. The
/// same failure is reported once.
pub(super) async fn poll_account(shared: DaemonContext, nth: usize) {
    let Some(followed) = shared.worker.followed_accounts.get(nth) else { return };
    let every = Duration::from_secs(shared.worker.app.config.poll_seconds);
    let hint = Arc::new(Notify::new());
    let _watch = watch_maildir(followed, &hint);
    let account = &followed.intake.account_intake.account;
    if let MailLocation::Gmail { push: Some(push), .. } = &followed.location {
        let (push, hint) = (Arc::clone(push), Arc::clone(&hint));
        shared.tracker.spawn(push::wait_for_pushes(shared.clone(), push, account.clone(), hint));
    }
    // The first poll comes at once: it finds mail that arrived before the watch began.
    let mut pause = Duration::ZERO;
    let mut told = String::new();
    let mut troubles = 0;
    let (mut silence, mut by_clock) = (push::UnannouncedMailCounter::default(), false);
    while !shared.stop.is_cancelled() {
        let hinted = tokio::select! {
            () = tokio::time::sleep(pause) => false,
            () = hint.notified() => true,
            () = shared.stop.cancelled() => return,
        };
        if hinted {
            silence.reset();
        }
        let unannounced = by_clock && !hinted;
        pause = match shared.worker.poll_account(followed).await {
            Ok((tally, look_again)) => {
                (told, troubles) = (String::new(), 0);
                if unannounced && tally.entered > 0 && has_push(followed) {
                    silence.record_unannounced_mail(&shared, account);
                }
                by_clock = look_again.is_none();
                look_again.unwrap_or_else(|| backoff::add_jitter(every))
            }
            Err(error) => {
                let problem = format!("{error:#}");
                // Reported once; a full disk would otherwise be reported at every event.
                if told != problem {
                    tracing::warn!(%account, error = problem, "a mailbox could not be polled");
                    shared
                        .send_event(WorkerEvent::PollFailed { account: account.to_string(), problem: problem.clone() });
                    told = problem;
                }
                troubles += 1;
                match (&followed.location, error.downcast_ref()) {
                    (MailLocation::Maildir(_), _) => RETRY_AFTER_FAILURE.min(every),
                    // No request is made until the person has signed in, and that should be noticed soon: no backoff.
                    (MailLocation::Gmail { .. }, Some(SourceError::Auth { .. })) => backoff::add_jitter(every),
                    (MailLocation::Gmail { .. }, _) => {
                        backoff::add_jitter(backoff::delay_after_failures(every, troubles))
                    }
                }
            }
        };
    }
}

/// Returns whether pushes announce the mail of this account.
fn has_push(followed: &FollowedAccount) -> bool {
    matches!(followed.location, MailLocation::Gmail { push: Some(_), .. })
}

/// Watches a Maildir for file events, as long as the returned watcher lives. Without one the account is only polled.
fn watch_maildir(followed: &FollowedAccount, hint: &Arc<Notify>) -> Option<MaildirWatcher> {
    let MailLocation::Maildir(maildir) = &followed.location else { return None };
    let account = &followed.intake.account_intake.account;
    let watch = maildir.watch(Arc::clone(hint));
    watch.inspect_err(|error| tracing::warn!(%account, %error, "no file events; only polling")).ok()
}

/// Reports each mail once, when it and its tasks have been processed.
pub(super) async fn announce_settled_mail(shared: DaemonContext) {
    let app = &shared.worker.app;
    let Ok(mut mark) = app.mail().newest_id().await else { return };
    while shared.sleep_unless_stopped(SETTLED_CHECK_INTERVAL).await {
        let Ok(newest) = app.mail().newest_id().await else { continue };
        if newest == mark {
            continue;
        }
        shared.worker.engine.wait_until_idle().await;
        match app.mail().outcomes(mark).await {
            Ok(outcomes) => {
                mark = outcomes.last().map_or(newest, |outcome| outcome.mail_id);
                outcomes.into_iter().for_each(|outcome| shared.send_event(WorkerEvent::MailSettled(outcome)));
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "settled mail could not be listed"),
        }
    }
}
