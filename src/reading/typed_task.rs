//! The facts of a task that a person typed, or that an agent proposes for them.

use crate::model::{Addressed, Facts, FactsKind, Instant, Me, TaskKind, UrgencyOrigin};

use super::detect_language;

/// The account of tasks that came from no mailbox.
pub const LOCAL_ACCOUNT: &str = "local";

/// Returns the facts of a task without a mail: as if the person had written it to themselves.
pub fn facts_of_typed_task(me: &Me, objective: &str, kind: TaskKind, due_at: Option<Instant>) -> Facts {
    let own = me.addresses.first().cloned().unwrap_or_default();
    Facts {
        sender_domain: own.rsplit_once('@').map_or(String::new(), |(_, domain)| domain.to_owned()),
        sender: own,
        sender_verified: true,
        known_contact: true,
        addressed: Addressed::To,
        list_id: None,
        subject: objective.to_owned(),
        objective: objective.to_owned(),
        kind: FactsKind::Task(kind),
        language: detect_language(objective).to_string(),
        amount: None,
        due_at,
        urgency: 0.0,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: false,
        thread_mine: false,
        account: LOCAL_ACCOUNT.into(),
    }
}
