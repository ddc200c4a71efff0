//! A person who uses their mailbox and calendar directly: what they do there, and what is really there. The oracle of
//! the Gmail tests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Google, bridge, peer::pass_of};

/// One person, who calls the emulator without the proxy.
pub(crate) struct Person<'a> {
    google: &'a Google,
    address: String,
}

/// A message as it is stored in the mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) id: String,
    pub(crate) thread: String,
    pub(crate) labels: Vec<String>,
    pub(crate) bytes: Vec<u8>,
}

impl Stored {
    fn of(message: &Value) -> Self {
        let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
        let labels = message["labelIds"].as_array().into_iter().flatten();
        Self {
            id: text("id"),
            thread: text("threadId"),
            labels: labels.map(|label| label.as_str().unwrap().to_owned()).collect(),
            bytes: bridge::decode(message["raw"].as_str().unwrap_or_default()),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let text = self.text();
        let head = text.split("\r\n\r\n").next()?.replace("\r\n ", " ").replace("\r\n\t", " ");
        head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.trim().to_owned()))
    }
}

impl<'a> Person<'a> {
    pub(super) fn new(google: &'a Google, address: &str) -> Self {
        Self { google, address: address.to_owned() }
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.google.direct(method, path, format!("Bearer {}", pass_of(&self.address)), body)
    }

    fn mail(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.ask(method, &format!("/gmail/v1/users/me/{path}"), body)
    }

    /// Consents on Google's page and follows the redirect of the browser. Returns the authorization code.
    pub(crate) fn consents(&self, page: &str) -> String {
        let (_, query) = page.split_once('?').unwrap();
        let form = format!("{query}&email={}", self.address.replace('@', "%40")).into_bytes();
        let proxy = Arc::clone(&self.google.proxy);
        self.google.wait(async move {
            let form = ("application/x-www-form-urlencoded".to_owned(), form);
            let answer = proxy.forward("POST", "/o/oauth2/v2/auth/callback", "", Some(form)).await;
            let back = answer.goes_to().to_owned();
            // On a server without a browser, nobody listens there.
            let _ = proxy.browse(&back).await;
            let (_, query) = back.split_once('?').unwrap();
            query.split('&').find_map(|pair| pair.strip_prefix("code=")).unwrap().to_owned()
        })
    }

    /// Returns a refresh token as a sign-in with these scopes, separated by spaces, would bring.
    pub(crate) fn signs_in(&self, scopes: &str) -> String {
        let scopes = scopes.replace(':', "%3A").replace('/', "%2F").replace(' ', "+");
        let page = format!("{}?redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2F&scope={scopes}", self.google.auth_uri());
        let code = self.consents(&page);
        let body = json!({ "grant_type": "authorization_code", "code": code, "redirect_uri": "http://127.0.0.1:9/" });
        let tokens = self.google.direct("POST", "/oauth2/token", String::new(), Some(body));
        tokens["refresh_token"].as_str().unwrap().to_owned()
    }

    /// Delivers a mail to the inbox. Returns its id.
    pub(crate) fn receives(&self, raw: impl AsRef<[u8]>) -> String {
        self.stores(raw, &["INBOX", "UNREAD"])
    }

    /// Stores a mail with these labels. Returns its id.
    pub(crate) fn stores(&self, raw: impl AsRef<[u8]>, labels: &[&str]) -> String {
        let body = json!({ "raw": bridge::encode(raw.as_ref()), "labelIds": labels });
        self.mail("POST", "messages", Some(body))["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn message(&self, id: &str) -> Stored {
        Stored::of(&self.mail("GET", &format!("messages/{id}?format=raw"), None))
    }

    /// Returns the ids of all messages, or of all with a label.
    pub(crate) fn ids(&self, label: Option<&str>) -> Vec<String> {
        let label = label.map_or_else(String::new, |label| format!("&labelIds={label}"));
        let (mut ids, mut page) = (Vec::new(), String::new());
        loop {
            let path = format!("messages?includeSpamTrash=true&maxResults=500{label}{page}");
            let listed = self.mail("GET", &path, None);
            let found = listed["messages"].as_array().into_iter().flatten();
            ids.extend(found.map(|message| message["id"].as_str().unwrap().to_owned()));
            match listed["nextPageToken"].as_str() {
                Some(next) => page = format!("&pageToken={next}"),
                None => return ids,
            }
        }
    }

    /// Returns the messages that were sent.
    pub(crate) fn sent(&self) -> Vec<Stored> {
        self.ids(Some("SENT")).iter().map(|id| self.message(id)).collect()
    }

    /// Returns the drafts with their ids, without those in the bin.
    pub(crate) fn drafts(&self) -> Vec<(String, Stored)> {
        let listed = self.mail("GET", "drafts?maxResults=500", None);
        let ids = listed["drafts"].as_array().into_iter().flatten().map(|draft| draft["id"].as_str().unwrap());
        let drafts = ids.map(|id| {
            let draft = self.mail("GET", &format!("drafts/{id}?format=raw"), None);
            (id.to_owned(), Stored::of(&draft["message"]))
        });
        drafts.filter(|(_, draft)| !draft.labels.iter().any(|label| label == "TRASH")).collect()
    }

    /// Stores a draft of the person's own.
    pub(crate) fn drafts_one(&self, raw: impl AsRef<[u8]>) {
        let body = json!({ "message": { "raw": bridge::encode(raw.as_ref()) } });
        self.mail("POST", "drafts", Some(body));
    }

    pub(crate) fn edits_draft(&self, id: &str, raw: impl AsRef<[u8]>) {
        let body = json!({ "message": { "raw": bridge::encode(raw.as_ref()) } });
        self.mail("PUT", &format!("drafts/{id}"), Some(body));
    }

    pub(crate) fn sends_draft(&self, id: &str) {
        self.mail("POST", "drafts/send", Some(json!({ "id": id })));
    }

    pub(crate) fn discards_draft(&self, id: &str) {
        self.mail("DELETE", &format!("drafts/{id}"), None);
    }

    /// Deletes a message for good.
    pub(crate) fn deletes(&self, id: &str) {
        self.mail("DELETE", &format!("messages/{id}"), None);
    }

    pub(crate) fn changes_labels(&self, id: &str, add: &[&str], remove: &[&str]) {
        let body = json!({ "addLabelIds": add, "removeLabelIds": remove });
        self.mail("POST", &format!("messages/{id}/modify"), Some(body));
    }

    /// Returns name and id of the labels that were created in the mailbox.
    pub(crate) fn own_labels(&self) -> Vec<(String, String)> {
        let listed = self.mail("GET", "labels", None);
        let own = listed["labels"].as_array().into_iter().flatten().filter(|label| label["type"] == "user");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        own.map(|label| (text(&label["name"]), text(&label["id"]))).collect()
    }

    /// Enters an event of the person's own, between two times in RFC 3339.
    pub(crate) fn is_busy(&self, from: &str, to: &str) {
        self.enters(json!({ "summary": "Busy", "start": { "dateTime": from }, "end": { "dateTime": to } }));
    }

    /// Enters the event of an invitation, as Gmail does by itself.
    pub(crate) fn is_invited(&self, uid: &str, event: Value) {
        let organizer = event["attendees"].as_array().and_then(|all| all.iter().find(|one| one["organizer"] == true));
        let organizer = serde_json::json!({ "email": organizer.map(|one| one["email"].clone()) });
        let made = self.enters(event);
        let (proxy, uid) = (Arc::clone(&self.google.proxy), uid.to_owned());
        self.google.wait(async move { proxy.events.lock().await.name(&made, &uid, organizer) });
    }

    fn enters(&self, event: Value) -> String {
        let made = self.ask("POST", "/calendar/v3/calendars/primary/events", Some(event));
        made["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let listed = self.ask("GET", "/calendar/v3/calendars/primary/events?maxResults=250", None);
        listed["items"].as_array().unwrap().clone()
    }
}
