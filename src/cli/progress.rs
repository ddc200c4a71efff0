//! A progress bar on stderr while old mail is read for the first time.

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;

use crate::app::BackfillProgress;

/// The number of mails from which a bar is shown; fewer are read before it could be seen.
const WORTH_SHOWING: u64 = 64;

/// Shows the progress until the worker ends.
pub(super) fn show(mut backfill: watch::Receiver<BackfillProgress>) {
    tokio::spawn(async move {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{prefix}: {bar:40} {pos} of {len} mails, {eta} left") {
            bar.set_style(style);
        }
        let mut whole: u64 = 0;
        while backfill.changed().await.is_ok() {
            let BackfillProgress { account, left } = backfill.borrow_and_update().clone();
            if left == 0 {
                bar.finish_and_clear();
                whole = 0;
                continue;
            }
            if whole == 0 && left > WORTH_SHOWING {
                bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
                bar.reset();
            }
            whole = whole.max(left);
            bar.set_prefix(account);
            bar.set_length(whole);
            bar.set_position(whole - left);
        }
        bar.finish_and_clear();
    });
}
