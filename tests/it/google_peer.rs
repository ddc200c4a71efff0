//! Tests the stand-in for Google itself: where the emulator differs from Google, the proxy bridges the difference, and
//! faults happen on demand.

use serde_json::{Value, json};

use crate::support::google::{Fault, Google, Trouble, YOU};

const MAIL: &str = "From: Tom Baker <tom@bakerand.example>\r\nTo: you@home.example\r\nSubject: Hello\r\nMessage-ID: <a@it.example>\r\n\r\nHi?\r\n";

/// The program's side of the wire, in the plainest form.
struct Wire<'a> {
    google: &'a Google,
    client: reqwest::Client,
    token: String,
}

impl<'a> Wire<'a> {
    async fn sign_in(google: &'a Google) -> Self {
        adjutant::tls::install_provider();
        let client = reqwest::Client::new();
        let refresh = google.person(YOU).signs_in("mail");
        let body = json!({ "grant_type": "refresh_token", "refresh_token": refresh });
        let tokens: Value = client.post(google.token_uri()).json(&body).send().await.unwrap().json().await.unwrap();
        Self { google, client, token: tokens["access_token"].as_str().unwrap().to_owned() }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Result<(u16, Value), reqwest::Error> {
        let url = format!("{}{path}", self.google.url());
        let mut request = self.client.request(method.parse().unwrap(), url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answered = request.send().await?;
        let status = answered.status().as_u16();
        let bytes = answered.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    async fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, None).await.unwrap();
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn history_ids_fit_and_keep_their_order() {
    let google = Google::start();
    let you = google.person(YOU);
    let wire = Wire::sign_in(&google).await;
    let first = you.receives(MAIL);
    let profile = wire.get("/gmail/v1/users/me/profile").await;
    assert_eq!(profile["emailAddress"], YOU);
    assert_eq!(profile["messagesTotal"], 1);
    let cursor: u64 = profile["historyId"].as_str().unwrap().parse().expect("it fits into 64 bits");
    let second = you.receives(MAIL);
    let since = wire.get(&format!("/gmail/v1/users/me/history?startHistoryId={cursor}")).await;
    let added: Vec<&str> =
        since["history"].as_array().unwrap().iter().map(|entry| entry["messages"][0]["id"].as_str().unwrap()).collect();
    assert_eq!(added, [second.as_str()], "and not {first}");
    assert!(since["historyId"].as_str().unwrap().parse::<u64>().unwrap() > cursor);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_come_back_as_they_went_in() {
    let google = Google::start();
    let you = google.person(YOU);
    let wire = Wire::sign_in(&google).await;
    let id = you.receives(MAIL);
    let raw = wire.get(&format!("/gmail/v1/users/me/messages/{id}?format=raw")).await;
    assert_eq!(raw["raw"].as_str().unwrap().len() % 4, 0, "padded");
    assert_eq!(you.message(&id).bytes, MAIL.as_bytes());
    let headers = wire.get(&format!("/gmail/v1/users/me/messages/{id}?format=metadata&metadataHeaders=subject")).await;
    assert_eq!(headers["payload"]["headers"], json!([{ "name": "Subject", "value": "Hello" }]));
    // In parts, as a client that uploads sends it.
    let parts = format!(
        "--b\r\nContent-Type: application/json\r\n\r\n{{\"message\":{{\"threadId\":\"t\"}}}}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n{MAIL}\r\n--b--"
    );
    let url = format!("{}/upload/gmail/v1/users/me/drafts?uploadType=multipart", google.url());
    let upload = wire.client.post(url).bearer_auth(&wire.token);
    let upload = upload.header("content-type", "multipart/related; boundary=b").body(parts);
    assert_eq!(upload.send().await.unwrap().status(), 200);
    let drafts = you.drafts();
    assert_eq!(drafts.len(), 1);
    assert_eq!((drafts[0].1.bytes.as_slice(), drafts[0].1.thread.as_str()), (MAIL.as_bytes(), "t"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_expire_and_consent_is_taken_back() {
    let google = Google::start();
    let wire = Wire::sign_in(&google).await;
    wire.get("/gmail/v1/users/me/labels").await;
    google.expires_tokens();
    assert_eq!(wire.ask("GET", "/gmail/v1/users/me/labels", None).await.unwrap().0, 401);
    google.revokes(true);
    let body = json!({ "grant_type": "refresh_token", "refresh_token": "any" });
    let told = wire.client.post(google.token_uri()).json(&body).send().await.unwrap();
    assert_eq!(told.status(), 400);
    assert_eq!(told.json::<Value>().await.unwrap()["error"], "invalid_grant");
    google.revokes(false);
    Wire::sign_in(&google).await.get("/gmail/v1/users/me/labels").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_keep_the_id_they_were_given() {
    let google = Google::start();
    let you = google.person(YOU);
    let wire = Wire::sign_in(&google).await;
    let list = "/calendar/v3/calendars/primary/events";
    let (from, to) = ("2026-11-17T10:00:00Z", "2026-11-17T10:30:00Z");
    let event =
        json!({ "id": "adj00001", "summary": "Talk", "start": { "dateTime": from }, "end": { "dateTime": to } });
    assert_eq!(wire.ask("GET", &format!("{list}/adj00001"), None).await.unwrap().0, 404);
    let (status, made) = wire.ask("POST", list, Some(event.clone())).await.unwrap();
    assert_eq!((status, made["id"].as_str()), (200, Some("adj00001")));
    assert_eq!(wire.ask("POST", list, Some(event)).await.unwrap().0, 409, "the same id again");
    assert_eq!(wire.get(&format!("{list}/adj00001")).await["summary"], "Talk");
    assert_eq!(you.events().len(), 1);
    let invited = json!({ "summary": "Theirs", "start": { "dateTime": from }, "end": { "dateTime": to } });
    you.is_invited("uid@there.example", invited);
    let found = wire.get(&format!("{list}?iCalUID=uid%40there.example")).await;
    let id = found["items"][0]["id"].as_str().unwrap().to_owned();
    let answer = json!({ "attendees": [{ "email": YOU, "responseStatus": "accepted" }] });
    wire.ask("PATCH", &format!("{list}/{id}"), Some(answer)).await.unwrap();
    let changed = wire.get(&format!("{list}/{id}")).await;
    assert_eq!(changed["iCalUID"], "uid@there.example");
    assert_eq!(changed["attendees"][0]["responseStatus"], "accepted");
    you.is_busy("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z");
    assert_eq!(you.events().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_breaks_as_told_and_is_written_down() {
    let google = Google::start();
    let you = google.person(YOU);
    let wire = Wire::sign_in(&google).await;
    let labels = "/gmail/v1/users/me/labels";
    let told = [
        (Trouble::HistoryGone, 404),
        (Trouble::Unauthorized, 401),
        (Trouble::RateLimited, 403),
        (Trouble::TooMany(3), 429),
        (Trouble::ErrorBefore(503), 503),
    ];
    for (trouble, status) in told {
        google.breaks(Fault::on("GET", "/labels", trouble));
        assert_eq!(wire.ask("GET", labels, None).await.unwrap().0, status, "{trouble:?}");
        assert_eq!(wire.ask("GET", labels, None).await.unwrap().0, 200, "only once");
    }
    for trouble in [
        Trouble::ErrorAfter(500),
        Trouble::ResetAfter,
        Trouble::Slow(1),
        Trouble::ErrorBefore(500),
        Trouble::ResetBefore,
    ] {
        google.breaks(Fault::on("POST", "/labels", trouble));
        let before = you.own_labels().len();
        let answered = wire.ask("POST", labels, Some(json!({ "name": format!("{trouble:?}") }))).await;
        let arrived = you.own_labels().len() - before;
        match trouble {
            Trouble::ErrorAfter(_) => assert_eq!((answered.unwrap().0, arrived), (500, 1)),
            Trouble::ResetAfter => assert!(answered.is_err() && arrived == 1),
            Trouble::Slow(_) => assert_eq!((answered.unwrap().0, arrived), (200, 1)),
            Trouble::ErrorBefore(_) => assert_eq!((answered.unwrap().0, arrived), (500, 0)),
            _ => assert!(answered.is_err() && arrived == 0),
        }
    }
    google.breaks(Fault::on("GET", "/labels", Trouble::ErrorBefore(503)).after(1).times(2));
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(wire.ask("GET", labels, None).await.unwrap().0);
    }
    assert_eq!(statuses, [200, 503, 503]);
    google.breaks(Fault::on("GET", "/labels", Trouble::ErrorBefore(503)));
    google.mends();
    google.guards(|_, path| path.contains("/drafts").then_some(Trouble::TooMany(1)));
    assert_eq!(wire.ask("GET", labels, None).await.unwrap().0, 200);
    assert_eq!(wire.ask("GET", "/gmail/v1/users/me/drafts", None).await.unwrap().0, 429);
    assert_eq!(google.calls("POST", "/labels"), 5);
    let last = google.seen().pop().unwrap();
    assert_eq!((last.status, last.trouble), (429, Some(Trouble::TooMany(1))));
}
