//! `mcp`, and serving MCP clients over HTTP beside the daemon.

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{UsageError, beside_daemon::ServerBesideDaemon, printer::Printer, run::wait_for_stop_signal};
use crate::{
    app::App,
    mcp::{McpHttpServer, serve_stdio},
};

/// Serves one client on stdin and stdout, or any number of them over HTTP.
pub(super) async fn serve(app: &App, screen: Printer, over_http: bool) -> anyhow::Result<()> {
    if !over_http {
        return serve_stdio(app, wait_for_stop_signal()).await;
    }
    let server = McpHttpServer::bind(app).await?.ok_or_else(|| {
        UsageError("no address is configured; set http of [mcp] in adjutant.toml, such as \"127.0.0.1:7373\"".into())
    })?;
    print_address(screen, &server)?;
    let stop = CancellationToken::new();
    let serving = server.serve(app, stop.clone());
    tokio::pin!(serving);
    tokio::select! {
        ended = &mut serving => ended,
        () = wait_for_stop_signal() => {
            stop.cancel();
            serving.await
        }
    }
}

/// Starts serving clients over HTTP beside the daemon. An address that cannot be served is reported and does not keep
/// the daemon from its mail.
pub(super) async fn serve_beside_daemon(app: &App, screen: Printer) -> anyhow::Result<ServerBesideDaemon> {
    let server = match McpHttpServer::bind(app).await {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(ServerBesideDaemon::none()),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "MCP clients are not served over HTTP");
            return Ok(ServerBesideDaemon::none());
        }
    };
    print_address(screen, &server)?;
    let app = app.clone();
    Ok(ServerBesideDaemon::start("MCP clients over HTTP", |stop| async move { server.serve(&app, stop).await }))
}

/// What a person enters into a client.
#[derive(Serialize)]
struct ServedAt<'a> {
    event: &'a str,
    url: String,
    token_file: Option<String>,
}

/// Prints where clients reach the server, and where its token is.
fn print_address(screen: Printer, server: &McpHttpServer) -> anyhow::Result<()> {
    let token_file = server.token_file().map(|file| file.display().to_string());
    let served = ServedAt { event: "mcp", url: server.url(), token_file };
    if screen.is_json {
        // One line, like every event of the daemon.
        return Ok(screen.print_unbroken(&serde_json::to_string(&served)?)?);
    }
    let token = served.token_file.as_deref().map_or_else(|| "as configured".to_owned(), |file| format!("in {file}"));
    Ok(screen.print_line(&format!("Assistants are served at {} (token {token}).", served.url))?)
}
