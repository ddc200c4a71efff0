//! The parts of the Calendar API that the emulator lacks: event ids chosen by the client, reading one event, changing
//! one, and finding one by the UID of its invitation.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::proxy::{Answer, Upstream};

/// What the emulator does not store about its events, by its own ids.
#[derive(Debug, Default)]
pub(super) struct Events {
    own_ids: HashMap<String, String>,
    uids: HashMap<String, String>,
    organizers: HashMap<String, Value>,
}

impl Events {
    /// Records the UID and the organizer of an event.
    pub(super) fn name(&mut self, event: &str, uid: &str, organizer: Value) {
        self.uids.insert(event.to_owned(), uid.to_owned());
        self.organizers.insert(event.to_owned(), organizer);
    }

    /// Returns an event as Google would show it.
    fn shown(&self, mut event: Value) -> Value {
        let id = event["id"].as_str().unwrap_or_default().to_owned();
        let shown = self.own_ids.get(&id).cloned().unwrap_or_else(|| id.clone());
        event["iCalUID"] = Value::from(self.uids.get(&id).cloned().unwrap_or_else(|| format!("{shown}@google.com")));
        if let Some(organizer) = self.organizers.get(&id) {
            event["organizer"] = organizer.clone();
        }
        event["id"] = Value::from(shown);
        event
    }
}

/// Answers a call that the emulator does not support; none for any other call.
pub(super) async fn answer(
    upstream: &Upstream<'_>,
    (method, path, query): (&str, &str, &str),
    body: &[u8],
) -> Option<Answer> {
    let (list, id) = match path.split_once("/events") {
        Some((calendar, rest)) if path.starts_with("/calendar/") => {
            (format!("{calendar}/events"), rest.trim_start_matches('/').to_owned())
        }
        _ => return None,
    };
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    // One call at a time, so that of two events with the same id one is refused.
    let mut events = upstream.events().lock().await;
    Some(match (method, id.as_str()) {
        ("POST", "") => insert(upstream, &mut events, &list, &body).await,
        ("GET", "") => {
            let mut found = all(upstream, &events, &list, query).await;
            if let Some(uid) = query.split('&').find_map(|pair| pair.strip_prefix("iCalUID=")) {
                let uid = uid.replace("%40", "@");
                found.retain(|event| event["iCalUID"] == uid.as_str());
            }
            Answer::json(200, &json!({ "kind": "calendar#events", "items": found }))
        }
        ("GET", id) => match all(upstream, &events, &list, "").await.into_iter().find(|event| event["id"] == id) {
            Some(event) => Answer::json(200, &event),
            None => Answer::error(404, "notFound", "Not Found"),
        },
        ("PATCH", id) => patch(upstream, &mut events, &list, id, &body).await,
        _ => return None,
    })
}

async fn insert(upstream: &Upstream<'_>, events: &mut Events, list: &str, body: &Value) -> Answer {
    let own = body["id"].as_str().map(str::to_owned);
    if own.as_ref().is_some_and(|own| events.own_ids.values().any(|known| known == own)) {
        return Answer::error(409, "duplicate", "The requested identifier already exists.");
    }
    let made = upstream.ask("POST", list, Some(body)).await;
    let id = made["id"].as_str().unwrap_or_default().to_owned();
    if let Some(own) = own {
        events.own_ids.insert(id, own);
    }
    Answer::json(200, &events.shown(made))
}

/// Changes an event. The emulator cannot do that, so the event is deleted and created again.
async fn patch(upstream: &Upstream<'_>, events: &mut Events, list: &str, id: &str, body: &Value) -> Answer {
    let Some(mut event) = all(upstream, events, list, "").await.into_iter().find(|event| event["id"] == id) else {
        return Answer::error(404, "notFound", "Not Found");
    };
    let theirs = events.own_ids.iter().find(|(_, own)| *own == id).map_or(id, |(theirs, _)| theirs).to_owned();
    upstream.ask("DELETE", &format!("{list}/{theirs}"), None).await;
    for (name, value) in body.as_object().into_iter().flatten() {
        event[name] = value.clone();
    }
    let made = upstream.ask("POST", list, Some(&event)).await;
    let made_id = made["id"].as_str().unwrap_or_default().to_owned();
    events.own_ids.remove(&theirs);
    events.own_ids.insert(made_id.clone(), id.to_owned());
    let uid = events.uids.remove(&theirs).or_else(|| event["iCalUID"].as_str().map(str::to_owned));
    events.uids.insert(made_id.clone(), uid.unwrap_or_default());
    let organizer = events.organizers.remove(&theirs).unwrap_or_default();
    events.organizers.insert(made_id, organizer);
    Answer::json(200, &events.shown(made))
}

async fn all(upstream: &Upstream<'_>, events: &Events, list: &str, query: &str) -> Vec<Value> {
    let listed = upstream.ask("GET", &format!("{list}?maxResults=250&{query}"), None).await;
    listed["items"].as_array().into_iter().flatten().map(|event| events.shown(event.clone())).collect()
}
