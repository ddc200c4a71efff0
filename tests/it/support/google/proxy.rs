//! The proxy between the program and the emulator: translates, injects faults, and records every call.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Response, StatusCode, header, request::Parts},
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::Mutex as Turn;

use super::{
    bridge::{self, Ids},
    events::{self, Events},
    fault::{self, Fault, Trouble},
};

/// Upper bound of a request: more than any mail of a test.
const LARGEST: usize = 64 * 1024 * 1024;

/// A call that the program has made.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) status: u16,
}

type Guard = Box<dyn Fn(&str, &str) -> Option<Trouble> + Send + Sync>;

pub(super) struct Proxy {
    pub(super) emulator: String,
    ids: Ids,
    client: reqwest::Client,
    pub(super) events: Turn<Events>,
    pub(super) faults: Mutex<Vec<Fault>>,
    pub(super) guard: Mutex<Option<Guard>>,
    pub(super) seen: Mutex<Vec<Seen>>,
    /// The valid access tokens. The emulator accepts any token; Google does not.
    pub(super) tokens: Mutex<HashSet<String>>,
    /// Whether the person has withdrawn their consent.
    pub(super) revoked: AtomicBool,
}

/// The answer to a call.
pub(super) struct Answer {
    status: u16,
    content_type: String,
    retry_after: Option<u32>,
    location: Option<String>,
    body: Bytes,
}

impl Answer {
    pub(super) fn json(status: u16, value: &Value) -> Self {
        let body = Bytes::from(value.to_string());
        Self { status, content_type: "application/json".into(), retry_after: None, location: None, body }
    }

    pub(super) fn error(status: u16, reason: &str, message: &str) -> Self {
        let errors = json!([{ "domain": "global", "reason": reason, "message": message }]);
        Self::json(status, &json!({ "error": { "code": status, "message": message, "errors": errors } }))
    }

    pub(super) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns where the answer redirects the browser.
    pub(super) fn goes_to(&self) -> &str {
        self.location.as_deref().unwrap()
    }

    fn trouble(trouble: Trouble) -> Self {
        match trouble {
            Trouble::HistoryGone => Self::error(404, "notFound", "Requested entity was not found."),
            Trouble::Late => Self::json(200, &json!({ "historyId": "1" })),
            Trouble::Unauthorized => Self::error(401, "authError", "Invalid Credentials"),
            Trouble::RateLimited => Self::error(403, "rateLimitExceeded", "Rate Limit Exceeded"),
            Trouble::TooMany(seconds) => Self {
                retry_after: Some(seconds),
                ..Self::error(429, "rateLimitExceeded", "Too many concurrent requests for user")
            },
            Trouble::BusyAfter(seconds) => {
                Self { retry_after: Some(seconds), ..Self::error(503, "backendError", "Backend Error") }
            }
            Trouble::ErrorBefore(status) | Trouble::ErrorAfter(status) => {
                Self::error(status, "backendError", "Backend Error")
            }
            Trouble::ResetBefore | Trouble::ResetAfter | Trouble::Slow(_) => Self::json(200, &json!({})),
        }
    }
}

/// The emulator, called on behalf of one person.
pub(super) struct Upstream<'a> {
    proxy: &'a Proxy,
    authorization: String,
}

impl Upstream<'_> {
    pub(super) const fn events(&self) -> &Turn<Events> {
        &self.proxy.events
    }

    pub(super) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(|body| ("application/json".to_owned(), body.to_string().into_bytes()));
        self.proxy.forward(method, path, &self.authorization, body).await.value()
    }
}

impl Proxy {
    pub(super) fn before(emulator: &str) -> Self {
        adjutant::tls::install_provider();
        Self {
            emulator: emulator.to_owned(),
            ids: Ids::from_now(),
            client: reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap(),
            events: Turn::default(),
            faults: Mutex::default(),
            guard: Mutex::default(),
            seen: Mutex::default(),
            tokens: Mutex::default(),
            revoked: AtomicBool::new(false),
        }
    }

    /// Forwards a call to the emulator without translating it.
    pub(super) async fn forward(
        &self,
        method: &str,
        path: &str,
        authorization: &str,
        body: Option<(String, Vec<u8>)>,
    ) -> Answer {
        let method = method.parse().unwrap();
        let mut request = self.client.request(method, format!("{}{path}", self.emulator));
        if !authorization.is_empty() {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if let Some((kind, bytes)) = body {
            request = request.header(header::CONTENT_TYPE, kind).body(bytes);
        }
        let answered = request.send().await.unwrap();
        let head = |name| answered.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (content_type, location) = (head(header::CONTENT_TYPE).unwrap_or_default(), head(header::LOCATION));
        let status = answered.status().as_u16();
        Answer { status, content_type, retry_after: None, location, body: answered.bytes().await.unwrap() }
    }

    /// Opens an address as a browser would. It does not matter whether anybody listens there.
    pub(super) async fn browse(&self, url: &str) -> Option<u16> {
        let answered = self.client.get(url).send().await.ok()?;
        Some(answered.status().as_u16())
    }

    fn trouble(&self, method: &str, path: &str) -> Option<Trouble> {
        let guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        let guarded = guard.as_ref().and_then(|guard| guard(method, path));
        guarded.or_else(|| fault::meet(&mut self.faults.lock().unwrap(), method, path))
    }

    /// Answers a call as Google would.
    async fn google(&self, (method, path, query): (&str, &str, &str), head: Head, body: Bytes) -> Answer {
        let path = if path == "/token" { "/oauth2/token" } else { path };
        if path == "/oauth2/token" && self.revoked.load(Ordering::Relaxed) {
            let told = json!({ "error": "invalid_grant", "error_description": "Token has been expired or revoked." });
            return Answer::json(400, &told);
        }
        let api = ["/gmail/", "/calendar/", "/upload/"].iter().any(|start| path.starts_with(start));
        let token = head.authorization.strip_prefix("Bearer ").unwrap_or_default();
        if api && !self.tokens.lock().unwrap().contains(token) {
            return Answer::trouble(Trouble::Unauthorized);
        }
        let upstream = Upstream { proxy: self, authorization: head.authorization.clone() };
        if path.ends_with("/profile") && path.starts_with("/gmail/") {
            return self.profile(&upstream).await;
        }
        if let Some(answer) = events::answer(&upstream, (method, path, query), &body).await {
            return answer;
        }
        let (path, body) = match bridge::upload(path, &head.content_type, &body) {
            Some(fields) => {
                (path.trim_start_matches("/upload"), ("application/json".to_owned(), fields.to_string().into_bytes()))
            }
            None => (path, (head.content_type, body.to_vec())),
        };
        if method == "POST" && path.ends_with("/drafts/send") {
            self.renew_draft(&upstream, path, &body.1).await;
        }
        let body = (method != "GET").then_some(body);
        let bridged = format!("{path}?{}", self.ids.query(query));
        let mut answer = self.forward(method, &bridged, &head.authorization, body).await;
        if answer.content_type.contains("json")
            && let Ok(mut value) = serde_json::from_slice::<Value>(&answer.body)
        {
            self.ids.answer(path, query, &mut value);
            if let Some(token) = value["access_token"].as_str() {
                self.tokens.lock().unwrap().insert(token.to_owned());
            }
            answer.body = Bytes::from(value.to_string());
        }
        answer
    }

    /// Google sends the message that comes with the call; the emulator would send the draft it has, so that is replaced
    /// first.
    async fn renew_draft(&self, upstream: &Upstream<'_>, path: &str, body: &[u8]) {
        let draft: Value = serde_json::from_slice(body).unwrap_or_default();
        if let (Some(id), true) = (draft["id"].as_str(), draft["message"]["raw"].is_string()) {
            let path = format!("{}/{id}", path.trim_end_matches("/send"));
            upstream.ask("PUT", &path, Some(&json!({ "message": draft["message"] }))).await;
        }
    }

    async fn profile(&self, upstream: &Upstream<'_>) -> Answer {
        let who = upstream.ask("GET", "/oauth2/v2/userinfo", None).await;
        let mails = upstream.ask("GET", "/gmail/v1/users/me/messages?maxResults=1&includeSpamTrash=true", None).await;
        let mut profile = upstream.ask("GET", "/gmail/v1/users/me/history?startHistoryId=1&maxResults=1", None).await;
        self.ids.answer("", "", &mut profile);
        let told = json!({
            "emailAddress": who["email"],
            "messagesTotal": mails["resultSizeEstimate"],
            "threadsTotal": mails["resultSizeEstimate"],
            "historyId": profile["historyId"],
        });
        Answer::json(200, &told)
    }
}

#[derive(Debug, Clone)]
struct Head {
    authorization: String,
    content_type: String,
}

/// Carries out a call even if the program dies before it receives the answer.
pub(super) async fn serve(State(proxy): State<Arc<Proxy>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    match to_bytes(body, LARGEST).await {
        Ok(body) => tokio::spawn(carry_out(proxy, parts, body)).await.unwrap(),
        // The program died while it sent the request, so nothing has arrived.
        Err(_) => respond(Answer::trouble(Trouble::ErrorBefore(400)), None),
    }
}

/// Handles one call: injects a fault, answers, or both.
async fn carry_out(proxy: Arc<Proxy>, parts: Parts, body: Bytes) -> Response<Body> {
    let text = |name| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let head = Head { authorization: text(header::AUTHORIZATION), content_type: text(header::CONTENT_TYPE) };
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let query = parts.uri.query().unwrap_or_default();
    let asked = parts.uri.to_string();
    let trouble = proxy.trouble(method, &asked);
    let answer = match trouble {
        Some(trouble) if !trouble.arrives() => Answer::trouble(trouble),
        _ => proxy.google((method, path, query), head, body).await,
    };
    let answer = match trouble {
        Some(trouble @ (Trouble::ErrorAfter(_) | Trouble::BusyAfter(_))) => Answer::trouble(trouble),
        _ => answer,
    };
    let seen = Seen { method: method.to_owned(), path: asked, trouble, status: answer.status };
    proxy.seen.lock().unwrap().push(seen);
    respond(answer, trouble)
}

fn respond(answer: Answer, trouble: Option<Trouble>) -> Response<Body> {
    let length = answer.body.len();
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    response = response.header(header::CONTENT_TYPE, answer.content_type);
    if let Some(seconds) = answer.retry_after {
        response = response.header(header::RETRY_AFTER, seconds);
    }
    if let Some(location) = answer.location {
        response = response.header(header::LOCATION, location);
    }
    let body = match trouble {
        Some(Trouble::ResetBefore | Trouble::ResetAfter) => {
            // The announced length is longer than the body.
            response = response.header(header::CONTENT_LENGTH, length + 1);
            Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("reset"))]))
        }
        Some(Trouble::Slow(pause)) => Body::from_stream(stream::unfold(answer.body, move |mut left| async move {
            if left.is_empty() {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let drop = left.split_to(left.len().min(64));
            Some((Ok::<_, Infallible>(drop), left))
        })),
        _ => Body::from(answer.body),
    };
    response.body(body).unwrap()
}
