//! A server that runs beside the daemon: one of clients or of the page. Its end does not keep the daemon from its mail.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A running server; none when there is nothing to serve.
pub(super) struct ServerBesideDaemon(Option<(CancellationToken, JoinHandle<()>)>);

impl ServerBesideDaemon {
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// Starts a server. `name` says in the log what is served.
    pub(super) fn start<F>(name: &'static str, serve: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let serving = serve(stop.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = serving.await {
                tracing::warn!(error = format!("{error:#}"), "no longer served: {name}");
            }
        });
        Self(Some((stop, serving)))
    }

    /// Stops the server and waits until the requests under way are answered.
    pub(super) async fn stop(self) {
        let Some((stop, serving)) = self.0 else { return };
        stop.cancel();
        if let Err(error) = serving.await {
            tracing::warn!(%error, "a server beside the daemon ended badly");
        }
    }
}
