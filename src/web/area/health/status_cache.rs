//! The counts of the health page. They look at every row of some tables, so that several open pages and a monitor share
//! one reading, and a page that is loaded again gets the last counts while newer ones are being read.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::app::{App, Status};

/// The age from which newer counts are read beside the answer.
const FRESH: Duration = Duration::from_secs(2);
/// The age from which nobody is shown the counts any more. The page says of what time they are.
const OUTDATED: Duration = Duration::from_secs(20);

/// The newest counts.
#[derive(Default)]
pub(in crate::web) struct StatusCache {
    newest: Mutex<Option<(Instant, Arc<Status>)>>,
    /// Held while counts are being read, so that they are read once however many ask.
    reading: tokio::sync::Mutex<()>,
}

impl StatusCache {
    /// Returns counts that are not outdated.
    pub(super) async fn get(self: &Arc<Self>, app: &App) -> anyhow::Result<Arc<Status>> {
        match self.newest() {
            Some((read_at, status)) if read_at.elapsed() < FRESH => Ok(status),
            Some((read_at, status)) if read_at.elapsed() < OUTDATED => {
                let (cache, app) = (Arc::clone(self), app.clone());
                tokio::spawn(async move {
                    if let Err(error) = cache.read(&app).await {
                        tracing::debug!(error = format!("{error:#}"), "no newer counts");
                    }
                });
                Ok(status)
            }
            _ => self.read(app).await,
        }
    }

    /// Forgets the counts, after a change that they show.
    pub(super) fn forget(&self) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn newest(&self) -> Option<(Instant, Arc<Status>)> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the counts, unless somebody has read them since this was called.
    async fn read(&self, app: &App) -> anyhow::Result<Arc<Status>> {
        let _one = self.reading.lock().await;
        if let Some((_, status)) = self.newest().filter(|(read_at, _)| read_at.elapsed() < FRESH) {
            return Ok(status);
        }
        let status = Arc::new(app.health().status().await?);
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Arc::clone(&status)));
        Ok(status)
    }
}
