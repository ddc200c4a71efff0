//! The server of the page: its address, its sign-in links, and the few routes that belong to no area.

use std::{fs, io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use axum::{
    extract::{Query, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware,
    response::{IntoResponse as _, Response},
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    area::StatusCache,
    draft::DraftStore,
    guard::{Guard, Keys, check_request, issue_code, redeem_code},
    live::LiveFeed,
    page::{Notes, PageAnswer, PageChange, PageFailure, see_other},
    route::{ProtectionTable, build_router},
};
use crate::{
    app::App,
    durable_file::FileReplacement,
    failpoint,
    http_guard::{HttpGuard, OwnHosts, bind_to_loopback, only_value},
    regular_file,
};

/// The port of the page, when the configuration names none.
const USUAL_PORT: u16 = 7370;
/// How many ports behind the usual one are tried. Then any free one is taken.
const MORE_PORTS: u16 = 20;
/// How long requests under way may take after the server was told to stop.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// How long a process that serves the page may take to accept a connection.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// What every request shares.
#[derive(Clone)]
pub(super) struct WebState {
    pub(super) app: App,
    pub(super) keys: Arc<Keys>,
    pub(super) notes: Arc<Notes>,
    pub(super) live: LiveFeed,
    pub(super) hosts: OwnHosts,
    pub(super) drafts: Arc<DraftStore>,
    pub(super) status: Arc<StatusCache>,
}

/// A server that is bound to its address.
pub struct WebServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl WebServer {
    /// Binds the server to the configured port; without one, to the usual port or the next free one. Returns none when
    /// the page is switched off.
    pub async fn bind(app: &App) -> anyhow::Result<Option<Self>> {
        let config = &app.config.web;
        if !config.is_enabled {
            return Ok(None);
        }
        let listener = match config.port {
            Some(port) => bind_to_loopback(loopback(port)).await.with_context(|| {
                format!("web.port: {} cannot be served; name another port in [web], or none", loopback(port))
            })?,
            None => bind_usual_port().await.context("no port is free for the page")?,
        };
        let address = listener.local_addr().context("reading the address of a listener")?;
        Ok(Some(Self { listener, address }))
    }

    /// Returns the address of the page.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the page until `stop` is cancelled.
    pub async fn serve(self, app: &App, stop: CancellationToken) -> anyhow::Result<()> {
        let folder = app.home.web();
        make_folder(&folder).with_context(|| format!("making {}", folder.display()))?;
        let keys = Keys::load(folder.join("secret"), self.address.port()).context("the secret of the page")?;
        let config = &app.config.web;
        let state = WebState {
            app: app.clone(),
            keys: Arc::new(keys),
            notes: Arc::default(),
            live: LiveFeed::start(app, stop.child_token())?,
            hosts: OwnHosts::new(self.address, &config.allowed_hosts),
            drafts: Arc::default(),
            status: Arc::default(),
        };
        let guard = Guard {
            hosts: state.hosts.clone(),
            keys: Arc::clone(&state.keys),
            clock: app.clock.clone(),
            protections: Arc::new(ProtectionTable::new()),
            monitor: config.metrics_token.as_ref().map(|token| HttpGuard::new(self.address, token)),
        };
        let routes =
            build_router().fallback(answer_unknown).layer(middleware::from_fn_with_state(guard, check_request));
        let address_file = folder.join("address");
        let address = FileReplacement::new(&address_file);
        failpoint::around("page_address.write", || address.replace_durably(self.address.to_string().as_bytes()))?;
        let serving =
            axum::serve(self.listener, routes.with_state(state)).with_graceful_shutdown(stop.clone().cancelled_owned());
        let stopped = async {
            stop.cancelled().await;
            tokio::time::sleep(STOP_LIMIT).await;
        };
        let ended = tokio::select! {
            ended = serving => ended.context("serving the page"),
            () = stopped => Ok(()),
        };
        // A file that stays behind names an address that does not answer, which `adjutant web` notices.
        drop(fs::remove_file(&address_file));
        ended
    }
}

const fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), port)
}

async fn bind_usual_port() -> io::Result<TcpListener> {
    for port in USUAL_PORT..=USUAL_PORT + MORE_PORTS {
        if let Ok(listener) = bind_to_loopback(loopback(port)).await {
            return Ok(listener);
        }
    }
    bind_to_loopback(loopback(0)).await
}

fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns a link that signs a browser in once. `address` is where the page is served; without it, the address that the
/// running daemon noted. Returns none when no page is served.
pub fn new_sign_in_link(app: &App, address: Option<SocketAddr>) -> anyhow::Result<Option<String>> {
    let folder = app.home.web();
    let Some(address) = address.or_else(|| served_address(&folder)) else { return Ok(None) };
    let code = issue_code(&folder.join("codes"), app.clock.now()).context("making a sign-in code")?;
    Ok(Some(format!("http://{address}/sign-in?code={code}")))
}

/// Returns the address that a daemon noted, if somebody answers there.
fn served_address(folder: &Path) -> Option<SocketAddr> {
    let noted = regular_file::read_to_string(&folder.join("address")).ok()?.trim().parse().ok()?;
    std::net::TcpStream::connect_timeout(&noted, ANSWER_LIMIT).ok().map(|_| noted)
}

/// Exchanges a sign-in code for a session.
pub(super) async fn sign_in(
    State(state): State<WebState>,
    method: Method,
    headers: HeaderMap,
    Query(query): Query<Vec<(String, String)>>,
) -> PageAnswer {
    let now = state.app.clock.now();
    let code = query.iter().find(|(name, _)| name == "code").map_or("", |(_, value)| value.as_str());
    // Programs that look at a link before it is opened ask for its head only.
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if !redeem_code(&state.app.home.web().join("codes"), code, now) {
        let is_signed_in = state.keys.session_of(&headers, now).is_some();
        return if is_signed_in { Ok(see_other("/")) } else { Err(PageFailure::UsedCode) };
    }
    let session = state.keys.new_session(now)?;
    let host = only_value(&headers, &header::HOST).unwrap_or_default();
    let cookie = state.keys.cookie(&session, state.hosts.is_behind_proxy(host));
    Ok(([(header::SET_COOKIE, cookie)], see_other("/")).into_response())
}

/// Ends every session, in every browser.
pub(super) async fn sign_out(change: PageChange) -> PageAnswer {
    change.visit.state().keys.end_all_sessions()?;
    Err(PageFailure::SignedOut)
}

/// Says that the process is alive.
pub(super) async fn answer_liveness() -> &'static str {
    "ok"
}

/// Says whether the database answers.
pub(super) async fn answer_readiness(State(state): State<WebState>) -> Response {
    match state.app.effects().is_paused().await {
        Ok(_) => "ready".into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "unready").into_response(),
    }
}

/// Leads to the area that a person wants first.
pub(super) async fn show_start() -> Response {
    see_other("/approvals")
}

/// Answers a path that is not in the table, to whoever is signed in.
async fn answer_unknown() -> PageFailure {
    PageFailure::Refused(crate::app::NotFound("there is no such page".into()).into())
}
