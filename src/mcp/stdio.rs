//! Serving one client over a pair of streams: stdin and stdout, or any other.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::McpServer;
use crate::app::App;

/// Serves the client that started this process, until it closes stdin or `shutdown` completes. Calls that are under way
/// are answered first.
pub async fn serve_stdio(app: &App, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        let hint = "adjutant: this is a server for assistants and editors, which start it themselves (docs/mcp.md). Ctrl-C stops it.";
        writeln!(io::stderr().lock(), "{hint}")?;
    }
    let (input, output) = rmcp::transport::stdio_pipes();
    serve_connection(app, input, output, shutdown).await
}

/// Serves one client until it closes its side or `shutdown` completes.
pub async fn serve_connection(
    app: &App,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let server = McpServer::new(app.clone());
    let recorder = server.clone().record_heads();
    let serving = async {
        tokio::pin!(shutdown);
        let begun = tokio::select! {
            begun = server.serve((input, output)) => begun,
            () = &mut shutdown => return Ok(()),
        };
        let running = match begun {
            Ok(running) => running,
            // A client that leaves before it has said who it is wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(error).context("the client does not speak the Model Context Protocol"),
        };
        let stop = running.cancellation_token();
        let ended = running.waiting();
        tokio::pin!(ended);
        let reason = tokio::select! {
            reason = &mut ended => reason,
            () = shutdown => {
                stop.cancel();
                ended.await
            }
        };
        reason.map(drop).context("serving an MCP client")
    };
    tokio::select! {
        ended = serving => ended,
        () = recorder => Ok(()),
    }
}
