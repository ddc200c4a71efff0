//! The counts of the health page, read at most once in a while: they look at every row of some tables, and a monitor and
//! several open pages need not each do that.

use std::{sync::Arc, time::Duration};

use tokio::sync::Mutex;

use crate::app::{App, Status};

/// How old the counts may be. The page says of what time they are.
const LIFETIME: Duration = Duration::from_secs(2);

/// The newest counts.
#[derive(Default)]
pub(in crate::web) struct StatusCache(Mutex<Option<(std::time::Instant, Arc<Status>)>>);

impl StatusCache {
    /// Returns the counts, read now unless they were read a moment ago. Whoever asks meanwhile waits for the same
    /// reading.
    pub(super) async fn get(&self, app: &App) -> anyhow::Result<Arc<Status>> {
        let mut newest = self.0.lock().await;
        if let Some((read_at, status)) = newest.as_ref().filter(|(read_at, _)| read_at.elapsed() < LIFETIME) {
            tracing::trace!(age_ms = read_at.elapsed().as_millis(), "counts of a moment ago");
            return Ok(Arc::clone(status));
        }
        let status = Arc::new(app.health().status().await?);
        *newest = Some((std::time::Instant::now(), Arc::clone(&status)));
        Ok(status)
    }

    /// Forgets the counts, after a change that they show.
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}
