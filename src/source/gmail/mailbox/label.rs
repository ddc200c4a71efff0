//! Labels on Gmail messages. The program's own labels have one parent, `Adjutant`, and are created when first needed.

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

/// Returns the name that a label has in Gmail.
pub(super) fn full_label_name(label: &str) -> String {
    format!("{PARENT}/{label}")
}

/// The labels of one account.
pub(super) struct Labels {
    client: GmailClient,
    /// Gmail's ids of labels by name, as far as they were looked up.
    known: Mutex<HashMap<String, String>>,
}

impl Labels {
    pub(super) fn new(client: GmailClient) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// Returns Gmail's id of one of the program's labels, creating the label if necessary.
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

    /// Returns the ids of the labels that a message has.
    pub(super) fn ids_of_message(&self, message: &str) -> Result<Vec<String>, ApiError> {
        let found = self.client.call(price::READ, async |hub, heard| {
            let call = hub.users().messages_get(ME, message).format("minimal");
            call.add_scope(SCOPE).delegate(heard).doit().await
        })?;
        Ok(found.label_ids.unwrap_or_default())
    }

    /// Adds or removes labels. Idempotent.
    fn change(&self, message: &str, change: ModifyMessageRequest) -> Result<(), ApiError> {
        let changed = self.client.call(price::MODIFY, async |hub, heard| {
            let call = hub.users().messages_modify(change.clone(), ME, message);
            call.add_scope(SCOPE).delegate(heard).doit().await
        });
        if matches!(changed, Err(ApiError::Refused { .. })) {
            // The person may have deleted the label: its new id is looked up the next time.
            self.known().clear();
        }
        changed.map(drop)
    }

    /// Returns the id of the label with this name.
    fn listed(&self, name: &str) -> Result<Option<String>, ApiError> {
        let listed = self.client.call(price::LABELS, async |hub, heard| {
            hub.users().labels_list(ME).add_scope(SCOPE).delegate(heard).doit().await
        })?;
        let mut labels = listed.labels.unwrap_or_default().into_iter();
        Ok(labels.find(|label| label.name.as_deref() == Some(name)).and_then(|label| label.id))
    }

    /// Creates a label. Names are unique: if another process creates it first, the call is refused and that label is
    /// used.
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
