//! Facts that tests start from: an invoice from a known, verified sender, 250, due in 30 hours.

use chrono::Duration;

use crate::model::{Addressed, Facts, FactsKind, Instant, TaskKind, UrgencyOrigin};

pub(super) fn now() -> Instant {
    "2025-06-23T09:00:00Z".parse().unwrap()
}

/// Returns the facts; tests change one field at a time.
pub(super) fn facts() -> Facts {
    Facts {
        sender: "ann@shop.example".into(),
        sender_domain: "shop.example".into(),
        sender_verified: true,
        known_contact: true,
        addressed: Addressed::To,
        list_id: None,
        subject: "Your Invoice 4711".into(),
        objective: "Pay invoice 4711".into(),
        kind: FactsKind::Task(TaskKind::Invoice),
        language: "en".into(),
        amount: Some(250.0),
        due_at: Some(now().plus(Duration::hours(30))),
        urgency: 0.5,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: false,
        thread_mine: false,
        account: "samples".into(),
    }
}
