//! Serving clients over Streamable HTTP, at one path of an address of this machine, behind the guard.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use axum::Router;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::server::McpServer;
use crate::{
    app::App,
    http_guard::{HttpGuard, bind_to_loopback, load_or_make_token},
    model::Secret,
};

/// The path at which clients are served.
const PATH: &str = "/mcp";
/// How long a session may be idle. An assistant stays open for a working day; a session costs some kilobytes.
const SESSION_IDLE_LIMIT: Duration = Duration::from_secs(8 * 3600);
/// The largest request. The largest arguments are far smaller.
const LARGEST_REQUEST: usize = 256 * 1024;
/// How long requests under way may take after the server was told to stop.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// A server that is bound to its address.
pub struct McpHttpServer {
    listener: TcpListener,
    token: Secret,
    address: SocketAddr,
    /// The file with the token; none when the configuration names one.
    token_file: Option<PathBuf>,
}

impl McpHttpServer {
    /// Binds the server to the configured address. Returns none when none is configured.
    pub async fn bind(app: &App) -> anyhow::Result<Option<Self>> {
        let Some(http) = &app.config.mcp.http else { return Ok(None) };
        let listener = bind_to_loopback(http.address).await;
        let listener = listener.with_context(|| format!("mcp.http: {} cannot be served", http.address))?;
        let address = listener.local_addr().context("reading the address of a listener")?;
        // The token is made by whoever has the address, so that two processes do not make two.
        let (token, token_file) = match &http.token {
            Some(token) => (token.clone(), None),
            None => {
                let file = app.home.mcp_token_file();
                let token = load_or_make_token(&file).with_context(|| format!("the token in {}", file.display()))?;
                (token, Some(file))
            }
        };
        Ok(Some(Self { listener, token, address, token_file }))
    }

    /// Returns the address that a client is given.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Returns where the token of the program's own is; none when the configuration names a token.
    pub fn token_file(&self) -> Option<&std::path::Path> {
        self.token_file.as_deref()
    }

    /// Serves clients until `stop` is cancelled.
    pub async fn serve(self, app: &App, stop: CancellationToken) -> anyhow::Result<()> {
        let server = McpServer::new(app.clone());
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE_LIMIT);
        let factory = {
            let server = server.clone();
            move || Ok(server.clone())
        };
        // The guard has checked host and origin before; the library checks them once more by its own rules.
        let origins = [format!("http://{}", self.address), format!("http://localhost:{}", self.address.port())];
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(origins)
            .with_max_request_body_bytes(LARGEST_REQUEST)
            .with_cancellation_token(stop.child_token());
        let service = StreamableHttpService::new(factory, Arc::new(sessions), config);
        let routes = HttpGuard::new(self.address, &self.token).protect(Router::new().nest_service(PATH, service));
        let serving = axum::serve(self.listener, routes).with_graceful_shutdown(stop.clone().cancelled_owned());
        let stopped = async {
            stop.cancelled().await;
            tokio::time::sleep(STOP_LIMIT).await;
        };
        tokio::select! {
            ended = serving => ended.context("serving MCP clients over HTTP"),
            () = stopped => Ok(()),
            () = server.record_heads() => Ok(()),
        }
    }
}
