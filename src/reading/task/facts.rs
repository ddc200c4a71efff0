//! The facts rules may ask about, taken from a mail and its reading.

use crate::model::{Addressed, ExtractedTask, Facts, FactsKind, Mail, Reading, UrgencyOrigin, WarningKind};

/// What is known about the mail's people and conversation beside the mail.
#[derive(Debug, Clone, Copy, Default)]
pub struct Relation {
    pub known_contact: bool,
    pub thread_mine: bool,
    pub addressed: Option<Addressed>,
}

/// The facts of a mail as a whole; [`Facts::for_task`] makes them those of one of its tasks.
pub fn collect_facts(mail: &Mail, reading: &Reading, account: &str, relation: &Relation) -> Facts {
    let phishing = reading.has_warning(WarningKind::Phishing);
    Facts {
        sender: mail.from.addr.clone(),
        sender_domain: mail.from.domain().to_owned(),
        // What looks like phishing gets no trusted sender's level.
        sender_verified: mail.authentication.verified && !phishing,
        known_contact: relation.known_contact,
        addressed: relation.addressed.unwrap_or(Addressed::To),
        list_id: mail.list_id.clone(),
        subject: mail.subject.clone(),
        objective: String::new(),
        kind: reading.no_task.map_or(FactsKind::Undecided, FactsKind::NoTask),
        language: reading.language.clone(),
        amount: None,
        due_at: reading.tasks.iter().filter_map(|task| task.due_at).min(),
        urgency: reading.urgency,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: !mail.attachments.is_empty(),
        thread_mine: relation.thread_mine,
        account: account.to_owned(),
    }
}

/// The most that the urgent words of a mail count for what is due after the first thing it asks.
const HIGHEST_OF_LATER_TASKS: f64 = 0.49;
/// From here on the mail says what is lost, which may be said of any of its tasks.
const AT_STAKE: f64 = 0.9;

impl Facts {
    /// The same mail's facts, for one of its tasks. Urgent words press what is due first.
    #[must_use]
    pub fn for_task(&self, task: &ExtractedTask) -> Facts {
        let is_later = task.due_at.zip(self.due_at).is_some_and(|(due, first)| due > first);
        let highest = if is_later && self.urgency < AT_STAKE { HIGHEST_OF_LATER_TASKS } else { 1.0 };
        Facts {
            urgency: self.urgency.min(highest),
            objective: task.objective.clone(),
            kind: FactsKind::Task(task.kind),
            amount: task.amount,
            due_at: task.due_at,
            ..self.clone()
        }
    }
}
