//! Starting again with a changed configuration. Only the process itself can do it, so that it is asked.

use std::time::Duration;

use super::WorkerUseCases;

/// How long the process goes on after it was asked, so that whoever asked sees that it was done.
const RESTART_DELAY: Duration = Duration::from_secs(1);

impl WorkerUseCases<'_> {
    /// Asks this process to start again with the configuration as it is in the file now.
    pub fn request_restart(self) {
        self.app.restart.notify_one();
    }

    /// Waits until this process was asked to start again.
    pub async fn wait_for_restart_request(self) {
        self.app.restart.notified().await;
        tokio::time::sleep(RESTART_DELAY).await;
    }
}
