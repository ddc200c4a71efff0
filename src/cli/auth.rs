//! `auth gmail`: the person agrees in a browser, here or elsewhere.

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

/// Where the browser ends up when nobody listens: the address bar then holds the answer.
const UNUSED_REDIRECT: &str = "http://127.0.0.1:1";
/// Pastes that hold no answer before it is given up.
const PASTES: usize = 5;

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
            "Next: `adjutant preview {account}` shows what the first look would do; `adjutant run` starts it. It only observes until `adjutant mail mode {account} active`."
        ))
    })
}

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

/// One that cannot be started is no trouble: the address was shown.
fn open_browser(url: &str) {
    for program in ["xdg-open", "open"] {
        let started =
            Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if started.is_ok() {
            return;
        }
    }
}

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
        print_to_stderr("That holds no answer. Paste the whole address of the page the browser ended at:");
    }
    anyhow::bail!("nothing was pasted; nothing was changed")
}

/// Asked on stderr: stdout is for the answer.
fn print_to_stderr(text: &str) {
    drop(io::Write::write_fmt(&mut io::stderr().lock(), format_args!("{text}\n")));
}
