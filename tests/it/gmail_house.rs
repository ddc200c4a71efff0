//! A house whose account is a Gmail mailbox on loopback.

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

use crate::{
    google::Google,
    house::{House, NOW, WORK, once},
};

/// What a sign-in covers unless a test wants otherwise.
pub(crate) const SCOPES: [&str; 4] = [
    "https://www.googleapis.com/auth/gmail.modify",
    "https://www.googleapis.com/auth/calendar.events",
    "https://www.googleapis.com/auth/calendar.freebusy",
    "https://www.googleapis.com/auth/pubsub",
];

/// The client file's secret: must never be seen again.
pub(crate) const CLIENT_SECRET: &str = "client-secret-nobody-may-see";

/// `[[account]]` of a Gmail mailbox.
pub(crate) fn account(google: &Google, name: &str, more: &str) -> String {
    format!("[[account]]\nname = \"{name}\"\nkind = \"gmail\"\napi = \"{}\"\n{more}\n", google.url())
}

/// Not signed in yet.
pub(crate) fn signed_out(google: &Google, more: &str, clock: Clock) -> House {
    let house = House::with(&account(google, WORK, more), clock);
    let client = json!({ "installed": {
        "client_id": "adjutant-it",
        "client_secret": CLIENT_SECRET,
        "auth_uri": google.auth_uri(),
        "token_uri": google.token_uri(),
        "redirect_uris": ["http://localhost"],
    } });
    house.write("google-client.json", &client.to_string());
    house
}

pub(crate) fn stopped() -> Clock {
    Clock::stopped_at(NOW.parse().unwrap())
}

/// Signed in, in observe mode, with a stopped clock.
pub(crate) fn signed_in(google: &Google, address: &str, more: &str) -> House {
    signed_in_at(google, address, more, stopped())
}

pub(crate) fn signed_in_at(google: &Google, address: &str, more: &str, clock: Clock) -> House {
    let house = signed_out(google, more, clock);
    sign_in(&house, google, WORK, address);
    house
}

/// As `adjutant auth gmail` would have left it. The refresh token.
pub(crate) fn sign_in(house: &House, google: &Google, account: &str, address: &str) -> String {
    sign_in_for(&SCOPES, house, google, account, address)
}

pub(crate) fn sign_in_for(scopes: &[&str], house: &House, google: &Google, account: &str, address: &str) -> String {
    let refresh = google.person(address).signs_in(&scopes.join("+"));
    let token = json!({
        "client_id": "adjutant-it",
        "refresh_token": refresh,
        "access_token": "",
        "expires_at": "2000-01-01T00:00:00Z",
        "scopes": scopes,
    });
    let path = format!("data/accounts/{account}.token");
    house.write(&path, &token.to_string());
    for (path, mode) in [(path.as_str(), 0o600), ("data/accounts", 0o700)] {
        fs::set_permissions(house.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    refresh
}

/// Works as `once` does, with pages of so many: few, so that there are several.
pub(crate) async fn once_in_pages(house: &House, google: &Google, page: u32) -> PassReport {
    once(paged(house, google, page, MAX_READ_PER_LABEL).await).await
}

/// A worker that lists so many messages a page, and reads at most so many of each label.
pub(crate) async fn paged(house: &House, google: &Google, page: u32, most: usize) -> Worker {
    let mut worker = house.worker().await;
    let FollowedAccount { intake, location: place } = worker.followed_accounts.remove(0);
    let (token, client) = (house.home().token_file(WORK), house.root().join("google-client.json"));
    let keeper = TokenStore::new(client, TokenFile::at(token), WORK, house.clock.clone());
    let quota = Arc::new(Quota::new(house.clock.clone()));
    let client = GmailClient::new(Arc::new(keeper), quota, Some(&google.url()));
    let watch = GmailWatchSettings { labels: vec!["INBOX".into()], since: Since::Days(7), page, most };
    let source = Arc::new(GmailSource::new(client, watch, house.clock.clone()));
    worker.followed_accounts.push(FollowedAccount { intake: PolledIntake { source, ..intake }, location: place });
    worker
}

pub(crate) async fn turn_on(house: &House) {
    house.app().await.set_mode(WORK, AccountMode::Active).await.unwrap();
}

/// The ledger's keys and states, by key.
pub(crate) fn ledger(house: &House) -> Vec<(String, String)> {
    let rows = house.sql("SELECT source_key, state FROM ledger ORDER BY source_key");
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

pub(crate) fn state_of(house: &House, id: &str) -> String {
    ledger(house).into_iter().find(|(key, _)| key == id).map_or_else(|| "not there".into(), |(_, state)| state)
}
