//! `web`, and serving the web page beside the daemon.

use serde::Serialize;

use super::{beside_daemon::ServerBesideDaemon, printer::Printer};
use crate::{
    app::App,
    web::{WebServer, new_sign_in_link},
};

/// A link that signs a browser in.
#[derive(Serialize)]
struct SignInLink<'a> {
    event: &'a str,
    url: String,
}

/// Starts serving the page beside the daemon, and prints a link to it. A port that cannot be served is reported and does
/// not keep the daemon from its mail.
pub(super) async fn serve_beside_daemon(app: &App, screen: Printer) -> anyhow::Result<ServerBesideDaemon> {
    let server = match WebServer::bind(app).await {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(ServerBesideDaemon::none()),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "the web page is not served");
            return Ok(ServerBesideDaemon::none());
        }
    };
    match new_sign_in_link(app, Some(server.address())) {
        Ok(link) => link.into_iter().try_for_each(|link| print_link(screen, link))?,
        Err(error) => tracing::warn!(error = format!("{error:#}"), "no sign-in link could be made"),
    }
    let app = app.clone();
    Ok(ServerBesideDaemon::start("the web page", |stop| async move { server.serve(&app, stop).await }))
}

/// Prints a new link to the page of the running daemon.
pub(super) fn print_sign_in_link(app: &App, screen: Printer) -> anyhow::Result<()> {
    let link = new_sign_in_link(app, None)?;
    let link = link.ok_or_else(|| {
        anyhow::anyhow!("no page is served: start `adjutant run`, and see that [web] in adjutant.toml is enabled")
    })?;
    print_link(screen, link)
}

fn print_link(screen: Printer, url: String) -> anyhow::Result<()> {
    if screen.is_json {
        return Ok(screen.print_unbroken(&serde_json::to_string(&SignInLink { event: "web", url })?)?);
    }
    // The link is one word that a terminal can open, so it is not broken.
    Ok(screen.print_unbroken(&format!("Open {url} (counts once, for a quarter of an hour)."))?)
}
