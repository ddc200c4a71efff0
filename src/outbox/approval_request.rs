//! An action a person is asked about: with its terms, and the item that asks.

use chrono::Duration;
use serde_json::{Value, json};

use crate::{
    model::{
        Action, Effect, Instant, ItemId, ItemKind, Mail, NewItem, QueueLimits, RiskClass,
        action::{ApprovalTerms, SendKind},
        ids::sha256_hex,
    },
    policy::EffectPolicy,
};

/// Fixes what an approval will be bound to. `salt` tells two proposals of the same action apart.
pub fn bind_approval_terms(mut action: Action, policy: &EffectPolicy, now: Instant, salt: &str) -> Action {
    let hours = match action.effect {
        Effect::Send { kind: SendKind::Reply | SendKind::Answer, .. } => policy.approvals.reply_hours,
        _ => policy.approvals.other_hours,
    };
    let mut nonce = sha256_hex(format!("{}\n{now}\n{salt}", action.action_id).as_bytes());
    nonce.truncate(32);
    let expires_at = now.plus(Duration::hours(i64::from(hours)));
    action.terms = Some(ApprovalTerms { policy: policy.version.clone(), expires_at, nonce });
    action
}

/// The item that asks about it.
pub fn new_approval_item(
    action: &Action,
    class: RiskClass,
    reason: &str,
    output: &Value,
    mail: Option<&Mail>,
    policy: &EffectPolicy,
    now: Instant,
) -> serde_json::Result<NewItem> {
    let sha256 = action.sha256()?;
    let title = format!("{}: {reason}", action.step);
    Ok(NewItem {
        item_id: ItemId::derive(now, &[&action.action_id.to_string(), &sha256]),
        kind: ItemKind::Action,
        task_id: Some(action.task_id),
        mail_id: action.mail_id,
        action_id: Some(action.action_id),
        title,
        body: json!({ "step": action.step, "class": class, "reason": reason, "planned": output }),
        expires_at: action.terms.as_ref().map(|terms| terms.expires_at),
        sender: mail.map(|mail| mail.from.addr.clone()).unwrap_or_default(),
        queue_limits: Some(QueueLimits { all: policy.caps.pending, per_sender: policy.caps.pending_per_sender }),
    })
}
