//! The wording of items and recipients, the same in every interface.

use chrono_tz::Tz;

use super::{description::format_date_time, escape_and_truncate};
use crate::{
    app::{ItemDetail, Recipient},
    model::{Effect, Instant, ItemKind, ItemRow, OutboxRow, OutboxState},
    policy::recipient::Standing,
};

/// Returns what an item asks for, in a word or two.
pub fn describe_kind(detail: &ItemDetail) -> String {
    match (detail.item.kind, &detail.action) {
        (ItemKind::Action, Some(row)) => row.action.tool.replace('_', " "),
        (ItemKind::FailedStep, Some(row)) if row.state == OutboxState::NeedsHuman => "in doubt".into(),
        (kind, _) => kind.as_str().replace('_', " "),
    }
}

/// Returns what a person must know about a recipient before an approval, and whether it is a warning.
pub fn describe_recipient(to: &Recipient) -> (String, bool) {
    if to.standing == Some(Standing::Own) {
        return ("you".into(), false);
    }
    let mut marks = vec![match to.standing {
        None => "NOT AN ADDRESS",
        Some(Standing::New) => "NEW: not in the conversation",
        Some(_) => "in the conversation",
    }];
    marks.extend((!to.verified).then_some("UNVERIFIED"));
    marks.extend((!to.known).then_some("you never wrote to them"));
    (marks.join(", "), to.standing != Some(Standing::Thread) || !to.verified)
}

/// Returns one line for a list: recipients, subject and risk class.
pub fn headline(detail: &ItemDetail) -> String {
    let Some(row) = &detail.action else { return escape_and_truncate(&detail.item.title, 120) };
    let Some(message) = row.action.effect.message() else {
        return format!("{} [{}]", escape_and_truncate(&detail.item.title, 120), row.class);
    };
    let warned = |to: &Recipient| if to.standing == Some(Standing::New) { " (NEW)" } else { "" };
    let to: Vec<String> =
        detail.recipients.iter().map(|to| format!("{}{}", escape_and_truncate(&to.address, 80), warned(to))).collect();
    format!("{} · {} [{}]", to.join(", "), escape_and_truncate(&message.subject, 100), row.class)
}

/// Returns whether the effect is a message that leaves the mailbox.
pub fn is_send(row: &OutboxRow) -> bool {
    matches!(row.action.effect, Effect::Send { .. })
}

/// Returns when the item expires if nobody decides.
pub fn describe_expiry(item: &ItemRow, now: Instant, zone: Tz) -> String {
    item.expires_at.map_or_else(
        || "stays until you decide".to_owned(),
        |at| {
            let hours = now.hours_until(at);
            let left = if hours < 1.0 {
                format!("{:.0} min", (hours * 60.0).max(0.0))
            } else {
                format!("{:.0} h", hours.floor())
            };
            format!("void in {left} ({})", format_date_time(at, zone))
        },
    )
}
