//! `auth gmail`: a person gives consent in a browser, on this machine or on another one.

use std::{
    io::{self, BufRead as _},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use serde_json::json;

use super::printer::Printer;
use crate::{
    app::{App, PendingSignIn},
    model::Secret,
    source::google::sign_in::RedirectListener,
};

/// The redirect address for `--no-browser`. Nobody listens there, so the code stays visible in the browser's address
/// bar.
const UNUSED_REDIRECT: &str = "http://127.0.0.1:1";
/// How many pasted lines without a code are accepted before the command gives up.
const PASTES: usize = 5;

/// Signs in to a Gmail account, stores the token, and prints the signed-in address.
pub(super) async fn sign_in_gmail(
    app: &App,
    screen: Printer,
    account: Option<&str>,
    no_browser: bool,
) -> anyhow::Result<()> {
    let (signing_in, code) =
        if no_browser { authorise_by_paste(app, account)? } else { authorise_in_browser(app, account).await? };
    let address = app.accounts().end_sign_in(&signing_in, &code).await?;
    let account = &signing_in.account;
    screen.print_json_or(&json!({ "account": account, "signed_in": true, "address": address }), |screen| {
        screen.print_line(&format!("Account {account} is signed in as {address}."))?;
        screen.print_line(&format!(
            "Next: `adjutant preview {account}` shows what the first sync would do; `adjutant run` starts it. It only observes until `adjutant mail mode {account} active`."
        ))
    })
}

/// Opens a browser on this machine and waits for it on a local port.
async fn authorise_in_browser(app: &App, account: Option<&str>) -> anyhow::Result<(PendingSignIn, Secret)> {
    let listener = RedirectListener::open().context("no port on 127.0.0.1 is free; use --no-browser")?;
    let signing_in = app.accounts().begin_sign_in(account, &listener.address()?)?;
    print_to_stderr(&format!(
        "Opening a browser. If none comes up, open this address on this machine (elsewhere: --no-browser):\n\n{}\n",
        signing_in.consent.url
    ));
    open_browser(&signing_in.consent.url);
    let wait = move || listener.wait_for_code(&signing_in.consent).map(|brought| (brought, signing_in));
    let (brought, signing_in) = tokio::task::spawn_blocking(wait).await??;
    Ok((signing_in, brought.map_err(anyhow::Error::msg)?))
}

/// Tries to open a browser. A failure is not reported, because the address was printed.
fn open_browser(url: &str) {
    for program in ["xdg-open", "open"] {
        let started =
            Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if started.is_ok() {
            return;
        }
    }
}

/// Prints the address to open on any machine, and reads the address where the browser ended from stdin.
fn authorise_by_paste(app: &App, account: Option<&str>) -> anyhow::Result<(PendingSignIn, Secret)> {
    let signing_in = app.accounts().begin_sign_in(account, UNUSED_REDIRECT)?;
    print_to_stderr(&format!(
        "Open this address in a browser on any machine and agree:\n\n{}\n\nIt ends at a page that cannot be shown. Copy its whole address ({UNUSED_REDIRECT}/?…) and paste it here:",
        signing_in.consent.url
    ));
    for line in io::stdin().lock().lines().take(PASTES) {
        if let Some(code) = signing_in.consent.extract_code(&line?).map_err(anyhow::Error::msg)? {
            return Ok((signing_in, code));
        }
        print_to_stderr("That address contains no code. Paste the whole address of the page where the browser ended:");
    }
    anyhow::bail!("nothing was pasted; nothing was changed")
}

/// Prints instructions on stderr, because stdout is for data.
fn print_to_stderr(text: &str) {
    drop(io::Write::write_fmt(&mut io::stderr().lock(), format_args!("{text}\n")));
}
