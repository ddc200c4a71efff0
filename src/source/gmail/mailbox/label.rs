//! Labels on Gmail messages. Ours lie under one parent, and are made when first needed.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use google_gmail1::api::{Label, ModifyMessageRequest};

use crate::source::{
    gmail::client::{GmailClient, ME, SCOPE, price},
    google::ApiError,
};

const PARENT: &str = "Adjutant";

/// A label as it is called in Gmail.
pub(super) fn full_label_name(label: &str) -> String {
    format!("{PARENT}/{label}")
}

pub(super) struct Labels {
    client: GmailClient,
    /// Ids by name, as far as they were asked for.
    known: Mutex<HashMap<String, String>>,
}

impl Labels {
    pub(super) fn new(client: GmailClient) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// Gmail's id of a label of ours, which is made if it is not there.
    pub(super) fn find_or_create(&self, label: &str) -> Result<String, ApiError> {
        let name = full_label_name(label);
        if let Some(id) = self.known().get(&name) {
            return Ok(id.clone());
        }
        let id = match self.listed(&name)? {
            Some(id) => id,
            None => self.create(&name)?,
        };
        self.known().insert(name, id.clone());
        Ok(id)
    }

    pub(super) fn add_to_message(&self, message: &str, id: &str) -> Result<(), ApiError> {
        self.change(message, ModifyMessageRequest { add_label_ids: Some(vec![id.to_owned()]), remove_label_ids: None })
    }

    pub(super) fn remove_from_message(&self, message: &str, id: &str) -> Result<(), ApiError> {
        self.change(message, ModifyMessageRequest { add_label_ids: None, remove_label_ids: Some(vec![id.to_owned()]) })
    }

    /// The ids of the labels a message has.
    pub(super) fn ids_of_message(&self, message: &str) -> Result<Vec<String>, ApiError> {
        let found = self.client.call(price::READ, async |hub, heard| {
            let call = hub.users().messages_get(ME, message).format("minimal");
            call.add_scope(SCOPE).delegate(heard).doit().await
        })?;
        Ok(found.label_ids.unwrap_or_default())
    }

    /// However often it is made, the message has the label, or has it not.
    fn change(&self, message: &str, change: ModifyMessageRequest) -> Result<(), ApiError> {
        let changed = self.client.call(price::MODIFY, async |hub, heard| {
            let call = hub.users().messages_modify(change.clone(), ME, message);
            call.add_scope(SCOPE).delegate(heard).doit().await
        });
        if matches!(changed, Err(ApiError::Refused { .. })) {
            // A label that the person has deleted since: its new id is asked for the next time.
            self.known().clear();
        }
        changed.map(drop)
    }

    fn listed(&self, name: &str) -> Result<Option<String>, ApiError> {
        let listed = self.client.call(price::LABELS, async |hub, heard| {
            hub.users().labels_list(ME).add_scope(SCOPE).delegate(heard).doit().await
        })?;
        let mut labels = listed.labels.unwrap_or_default().into_iter();
        Ok(labels.find(|label| label.name.as_deref() == Some(name)).and_then(|label| label.id))
    }

    /// A name exists once: whoever comes second is refused, and finds it.
    fn create(&self, name: &str) -> Result<String, ApiError> {
        let label = Label { name: Some(name.to_owned()), ..Label::default() };
        let made = self.client.call(price::NEW_LABEL, async |hub, heard| {
            hub.users().labels_create(label.clone(), ME).add_scope(SCOPE).delegate(heard).doit().await
        });
        match made {
            Ok(Label { id: Some(id), .. }) => Ok(id),
            Ok(_) => Err(ApiError::Network { what: "a label came back without an id".into(), left: true }),
            Err(error @ (ApiError::Refused { .. } | ApiError::Conflict)) => self.listed(name)?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
