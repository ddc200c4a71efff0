//! What a person's rules do to a mail, one effect after the other. The policy judges each of them like an effect of a task;
//! one that it does not allow is recorded and left out.

use std::sync::Arc;

use crate::{
    graph::entry::{Call, NodeInput, NodeOutput},
    model::{
        Action, Me, Move, NewAction, OutboxState, PlannedRuleEffect, RiskClass, RuleAct,
        action::{Argument, Origin},
    },
    policy::{AccountPermissions, PolicyContext, PolicyVerdict, judge_action},
};

/// Plans the next effect of a mail's rules and waits for it; goes on when all of them have ended.
pub(super) fn work_on_mail(entry: &NodeInput<'_>, me: &Me) -> anyhow::Result<NodeOutput> {
    let effects = &entry.state.rule_effects;
    let ended = entry.replies.iter().find_map(|(call, _)| match call {
        Call::Effect { action_id } => effects.iter().position(|effect| effect.action_id == *action_id),
        _ => None,
    });
    let Some(effect) = effects.get(ended.map_or(0, |at| at + 1)) else {
        return Ok(NodeOutput::from_move(Move::Next));
    };
    let Some(permissions) = entry.find_reply::<AccountPermissions>(|call| *call == Call::AccountPermissions)? else {
        return Ok(NodeOutput::from_call(Call::AccountPermissions));
    };
    let action = resolve_action(entry, effect);
    let (class, state, reason) = match judge_action(action.clone(), &policy_context(entry, me, &permissions)) {
        PolicyVerdict::Allowed(approved) => (approved.class(), OutboxState::Ready, String::new()),
        PolicyVerdict::Withheld { class, reason } => (class, OutboxState::Withheld, reason),
        // A rule can ask for nothing that a person would be asked about.
        PolicyVerdict::NeedsApproval { class, reason } => (class, OutboxState::Void, reason),
        PolicyVerdict::Denied { reason } => (RiskClass::R4, OutboxState::Void, format!("not allowed: {reason}")),
    };
    let sender = entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default();
    let wait = NodeOutput::from_move(Move::Wait { action_id: effect.action_id });
    Ok(NodeOutput { action: Some(Arc::new(NewAction { action, class, state, reason, sender })), ..wait })
}

fn resolve_action(entry: &NodeInput<'_>, effect: &PlannedRuleEffect) -> Action {
    let (run, state, act) = (entry.run, entry.state, &effect.matched.act);
    Action {
        action_id: effect.action_id,
        account: run.account.clone(),
        user: run.user.clone(),
        task_id: None,
        step: act.step(),
        generation: state.generation,
        mail_id: state.mail_id,
        mail_key: state.mail_key.clone(),
        tool: act.tool().to_owned(),
        effect: act.effect(),
        arguments: match act {
            RuleAct::Label { .. } => vec![Argument::new("label", Origin::Person)],
            RuleAct::Archive => Vec::new(),
        },
        terms: None,
    }
}

fn policy_context<'a>(entry: &NodeInput<'a>, me: &'a Me, permissions: &'a AccountPermissions) -> PolicyContext<'a> {
    PolicyContext {
        mode: permissions.mode,
        mail: entry.mail,
        labels: &permissions.labels,
        // No such run is opened for a mail that looks like phishing.
        is_phishing: false,
        own: &me.addresses,
        policy: &permissions.policy,
        approval: None,
        epoch: permissions.epoch,
        restored_at: permissions.restored_at,
        now: entry.now,
    }
}
