//! Which mail of an account is the program's business.

use google_gmail1::api::Message;

use super::client::{GmailClient, Hub, ME, SCOPE, price};
use crate::{
    model::Direction,
    source::google::{ApiError, FailureDetails},
};

pub(super) const SENT: &str = "SENT";
/// Mail under one of these is nobody's task.
const EXCLUDED_LABELS: [&str; 4] = ["DRAFT", "TRASH", "SPAM", "CHAT"];

/// The labels that are watched, by Gmail's ids; sent mail always, for what the person promised in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WatchedLabels(Vec<String>);

impl WatchedLabels {
    /// Looks the names up. A label that is not there is an error: mail would be missed in silence.
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

    /// Whether a message is ours by its labels. One that came without any is decided when it is read.
    pub(super) fn includes(&self, message: &Message) -> bool {
        match &message.label_ids {
            None => true,
            Some(labels) => !is_excluded(labels) && self.has_any(labels),
        }
    }

    pub(super) fn has_any(&self, labels: &[String]) -> bool {
        labels.iter().any(|label| self.0.contains(label))
    }
}

pub(super) fn is_excluded(labels: &[String]) -> bool {
    labels.iter().any(|label| EXCLUDED_LABELS.contains(&label.as_str()))
}

/// What the person wrote to themselves is theirs, and also received.
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
