//! Which mail of an account is taken in, decided by its labels.

use google_gmail1::api::Message;

use super::client::{GmailClient, Hub, ME, SCOPE, price};
use crate::{
    model::Direction,
    source::google::{ApiError, FailureDetails},
};

pub(super) const SENT: &str = "SENT";
/// Mail with one of these labels is never taken in.
const EXCLUDED_LABELS: [&str; 4] = ["DRAFT", "TRASH", "SPAM", "CHAT"];

/// Gmail's ids of the watched labels. Sent mail is always among them, because the person may promise something in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WatchedLabels(Vec<String>);

impl WatchedLabels {
    /// Resolves names or ids of labels. A label that does not exist is an error: otherwise its mail would be missed
    /// silently.
    pub(super) fn resolve(client: &GmailClient, names: &[String]) -> Result<Self, ApiError> {
        let request = async |hub: &Hub, heard: &mut FailureDetails| {
            hub.users().labels_list(ME).add_scope(SCOPE).delegate(heard).doit().await
        };
        let labels = client.call(price::LABELS, request)?.labels.unwrap_or_default();
        let id = |name: &String| {
            let same = |text: &Option<String>| text.as_ref().is_some_and(|text| text.eq_ignore_ascii_case(name));
            let label = labels.iter().find(|label| same(&label.id) || same(&label.name));
            label.and_then(|label| label.id.clone()).ok_or_else(|| ApiError::Refused {
                status: 404,
                reason: format!("there is no label '{name}' in this account; see `labels` in adjutant.toml"),
            })
        };
        let mut ids = names.iter().map(id).collect::<Result<Vec<_>, _>>()?;
        ids.retain(|id| id != SENT);
        ids.push(SENT.to_owned());
        ids.dedup();
        Ok(Self(ids))
    }

    pub(super) fn labels(&self) -> &[String] {
        &self.0
    }

    /// Returns whether a message is taken in by its labels. One that the API returned without labels is decided when it
    /// is read.
    pub(super) fn includes(&self, message: &Message) -> bool {
        match &message.label_ids {
            None => true,
            Some(labels) => !is_excluded(labels) && self.has_any(labels),
        }
    }

    /// Returns whether one of the labels is watched.
    pub(super) fn has_any(&self, labels: &[String]) -> bool {
        labels.iter().any(|label| self.0.contains(label))
    }
}

/// Returns whether one of the labels keeps a message from being taken in.
pub(super) fn is_excluded(labels: &[String]) -> bool {
    labels.iter().any(|label| EXCLUDED_LABELS.contains(&label.as_str()))
}

/// Returns the direction of a message. A mail that the person wrote to themselves counts as received.
pub(super) fn direction_of_labels(labels: &[String]) -> Direction {
    let has = |name: &str| labels.iter().any(|label| label == name);
    if has(SENT) && !has("INBOX") { Direction::Out } else { Direction::In }
}

#[cfg(test)]
impl WatchedLabels {
    pub(super) fn of(labels: &[&str]) -> Self {
        Self(labels.iter().map(|label| (*label).to_owned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn drafts_spam_and_the_bin_are_nobodys_task() {
        let watched = WatchedLabels::of(&["INBOX", "SENT"]);
        let message = |names: &[&str]| Message { label_ids: Some(labels(names)), ..Message::default() };
        for (names, ours) in [
            (&["INBOX", "UNREAD"][..], true),
            (&["SENT"], true),
            (&["CATEGORY_PROMOTIONS"], false),
            (&["INBOX", "TRASH"], false),
            (&["DRAFT"], false),
            (&[], false),
        ] {
            assert_eq!(watched.includes(&message(names)), ours, "{names:?}");
        }
        assert!(watched.includes(&Message::default()));
    }

    #[test]
    fn a_star_is_no_label_that_is_watched() {
        let watched = WatchedLabels::of(&["INBOX", "SENT"]);
        assert!(watched.has_any(&labels(&["UNREAD", "INBOX"])));
        assert!(!watched.has_any(&labels(&["UNREAD", "STARRED"])) && !watched.has_any(&[]));
    }

    #[test]
    fn sent_mail_is_the_persons_own() {
        assert_eq!(direction_of_labels(&labels(&["SENT"])), Direction::Out);
        assert_eq!(direction_of_labels(&labels(&["SENT", "INBOX"])), Direction::In);
        assert_eq!(direction_of_labels(&labels(&["INBOX"])), Direction::In);
    }
}
