//! A home whose account is a Gmail mailbox on loopback.

use std::{fs, os::unix::fs::PermissionsExt as _, sync::Arc};

use adjutant::{
    app::{FollowedAccount, PassReport, Worker},
    clock::Clock,
    ingest::PolledIntake,
    model::{AccountMode, Since},
    source::{
        gmail::{GmailClient, GmailSource, GmailWatchSettings, MAX_READ_PER_LABEL},
        google::{Quota, TokenFile, TokenStore},
    },
};
use serde_json::json;

use crate::support::{
    google::Google,
    test_home::{NOW, TestHome, WORK, once},
};

/// The scopes of a sign-in, unless a test wants others.
pub(crate) const SCOPES: [&str; 4] = [
    "https://www.googleapis.com/auth/gmail.modify",
    "https://www.googleapis.com/auth/calendar.events",
    "https://www.googleapis.com/auth/calendar.freebusy",
    "https://www.googleapis.com/auth/pubsub",
];

/// The secret in the client file. Tests check that it never appears anywhere else.
pub(crate) const CLIENT_SECRET: &str = "client-secret-nobody-may-see";

/// Returns the `[[account]]` section of a Gmail mailbox.
pub(crate) fn account(google: &Google, name: &str, more: &str) -> String {
    format!("[[account]]\nname = \"{name}\"\nkind = \"gmail\"\napi = \"{}\"\n{more}\n", google.url())
}

/// Creates a home that is not signed in.
pub(crate) fn signed_out(google: &Google, more: &str, clock: Clock) -> TestHome {
    let home = TestHome::with(&account(google, WORK, more), clock);
    let client = json!({ "installed": {
        "client_id": "adjutant-it",
        "client_secret": CLIENT_SECRET,
        "auth_uri": google.auth_uri(),
        "token_uri": google.token_uri(),
        "redirect_uris": ["http://localhost"],
    } });
    home.write("google-client.json", &client.to_string());
    home
}

/// Returns a clock that is stopped at [`NOW`].
pub(crate) fn stopped() -> Clock {
    Clock::stopped_at(NOW.parse().unwrap())
}

/// Creates a home that is signed in, in observe mode, with a stopped clock.
pub(crate) fn signed_in(google: &Google, address: &str, more: &str) -> TestHome {
    signed_in_at(google, address, more, stopped())
}

/// Creates a home that is signed in, with the given clock.
pub(crate) fn signed_in_at(google: &Google, address: &str, more: &str, clock: Clock) -> TestHome {
    let home = signed_out(google, more, clock);
    sign_in(&home, google, WORK, address);
    home
}

/// Signs a home in as `adjutant auth gmail` would. Returns the refresh token.
pub(crate) fn sign_in(home: &TestHome, google: &Google, account: &str, address: &str) -> String {
    sign_in_for(&SCOPES, home, google, account, address)
}

/// Signs a home in for certain scopes. Returns the refresh token.
pub(crate) fn sign_in_for(scopes: &[&str], home: &TestHome, google: &Google, account: &str, address: &str) -> String {
    let refresh = google.person(address).signs_in(&scopes.join("+"));
    let token = json!({
        "client_id": "adjutant-it",
        "refresh_token": refresh,
        "access_token": "",
        "expires_at": "2000-01-01T00:00:00Z",
        "scopes": scopes,
    });
    let path = format!("data/accounts/{account}.token");
    home.write(&path, &token.to_string());
    for (path, mode) in [(path.as_str(), 0o600), ("data/accounts", 0o700)] {
        fs::set_permissions(home.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    refresh
}

/// Works as `once` does, with pages of this size: small, so that a listing has several.
pub(crate) async fn once_in_pages(home: &TestHome, google: &Google, page: u32) -> PassReport {
    once(paged(home, google, page, MAX_READ_PER_LABEL).await).await
}

/// Returns a worker that lists `page` messages per page and reads at most `most` of each label.
pub(crate) async fn paged(home: &TestHome, google: &Google, page: u32, most: usize) -> Worker {
    let mut worker = home.worker().await;
    let FollowedAccount { intake, location: place } = worker.followed_accounts.remove(0);
    let (token, client) = (home.home().token_file(WORK), home.root().join("google-client.json"));
    let keeper = TokenStore::new(client, TokenFile::at(token), WORK, home.clock.clone());
    let quota = Arc::new(Quota::new(home.clock.clone()));
    let client = GmailClient::new(Arc::new(keeper), quota, Some(&google.url()));
    let watch = GmailWatchSettings { labels: vec!["INBOX".into()], since: Since::Days(7), page, most };
    let source = Arc::new(GmailSource::new(client, watch, home.clock.clone()));
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location: place });
    worker
}

/// Makes the account active.
pub(crate) async fn turn_on(home: &TestHome) {
    home.app().await.accounts().set_mode(WORK, AccountMode::Active).await.unwrap();
}

/// Returns the keys and states of the ledger, sorted by key.
pub(crate) fn ledger(home: &TestHome) -> Vec<(String, String)> {
    let rows = home.sql("SELECT source_key, state FROM ledger ORDER BY source_key");
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

pub(crate) fn state_of(home: &TestHome, id: &str) -> String {
    ledger(home).into_iter().find(|(key, _)| key == id).map_or_else(|| "not there".into(), |(_, state)| state)
}
