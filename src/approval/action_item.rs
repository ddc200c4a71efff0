//! The item that asks a person about an action, and the terms that an approval of it is bound to.

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

/// Binds the action to the version of the policy, an expiry and a nonce. An approval covers all three, because the
/// digest of the action does. `salt` tells two requests for the same action apart.
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

/// Returns the item that asks about an action, with the limits of the approval queue. Its id is derived from the time,
/// the action and its digest, so that a step that is done again after a crash asks the same question once.
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
        task_id: action.task_id,
        mail_id: action.mail_id,
        action_id: Some(action.action_id),
        title,
        body: json!({ "step": action.step, "class": class, "reason": reason, "planned": output }),
        expires_at: action.terms.as_ref().map(|terms| terms.expires_at),
        sender: mail.map(|mail| mail.from.addr.clone()).unwrap_or_default(),
        queue_limits: Some(QueueLimits { all: policy.caps.pending, per_sender: policy.caps.pending_per_sender }),
    })
}
