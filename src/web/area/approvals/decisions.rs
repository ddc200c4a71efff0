//! The forms by which an item is decided. Each carries the digest of what the page shows.

use maud::{Markup, html};

use super::item::{message_of, seen_digest};
use crate::{
    app::{ItemDetail, is_approvable},
    model::{DecisionKind, ItemKind, ItemState, OutboxState, action::ComposedMessage},
    web::page::{PageFailure, Visit, direction},
};

/// What a person wrote into a form that was refused.
pub(super) enum RefusedDraft {
    /// Another wording of the message.
    Message { subject: String, text: String },
    /// What to do instead.
    Response(String),
}

/// Returns the forms that fit the item.
pub(super) fn decision_forms(
    visit: &Visit,
    detail: &ItemDetail,
    draft: Option<&RefusedDraft>,
) -> Result<Markup, PageFailure> {
    let item = &detail.item;
    if item.state != ItemState::Open {
        return Ok(html! {});
    }
    let forms = Forms { visit, detail, seen: seen_digest(detail) };
    let message = message_of(detail).filter(|_| item.kind == ItemKind::Action);
    Ok(html! {
        div.decisions {
            @if is_approvable(item) && detail.obstacle.is_none() { (forms.approve()?) }
            @if let Some(message) = message { (forms.edit(message, draft)?) }
            @if is_approvable(item) {
                (forms.verdict("r", DecisionKind::Reject, "Reject", "Why not? It helps next time.")?)
            }
            @if message.is_some() { (forms.respond(draft)) }
            @if item.kind == ItemKind::FailedStep { (forms.failed_step()?) }
            @if matches!(item.kind, ItemKind::Action | ItemKind::FailedStep) {
                (forms.verdict("C", DecisionKind::Cancel, "Cancel the task", "Why? The whole task ends.")?)
            }
            (forms.snooze()?)
        }
    })
}

/// Makes the forms of one item.
struct Forms<'a> {
    visit: &'a Visit,
    detail: &'a ItemDetail,
    seen: String,
}

impl Forms<'_> {
    fn form(&self, act: &str, fields: &Markup) -> Result<Markup, PageFailure> {
        self.visit.form(&format!("/approvals/{}/{act}", self.detail.item.number), &self.seen, fields)
    }

    fn approve(&self) -> Result<Markup, PageFailure> {
        self.form("approve", &html! { button.primary type="submit" data-key="a" { "Approve" } })
    }

    fn edit(&self, message: &ComposedMessage, draft: Option<&RefusedDraft>) -> Result<Markup, PageFailure> {
        let (subject, text, is_open) = match draft {
            Some(RefusedDraft::Message { subject, text }) => (subject, text, true),
            _ => (&message.subject, &message.body, false),
        };
        let rows = text.lines().count().clamp(8, 24);
        let fields = html! {
            label { span { "Subject" } input type="text" name="subject" value=(subject) dir="auto" maxlength="998"; }
            label {
                span { "Text" }
                textarea name="text" rows=(rows) dir=(direction(text)) { (text) }
            }
            p.muted { "The edited message is shown to you again before it is sent." }
            button type="submit" { "Save the text" }
        };
        Ok(html! {
            details.decision open[is_open] {
                summary.button data-key="e" { "Edit" }
                (self.form("edit", &fields)?)
            }
        })
    }

    /// Returns the form of a decision with a reason.
    fn verdict(&self, key: &str, kind: DecisionKind, name: &str, question: &str) -> Result<Markup, PageFailure> {
        let fields = html! {
            input type="hidden" name="verdict" value=(kind.as_str());
            label { span { (question) } input type="text" name="reason" autocomplete="off" dir="auto" maxlength="500"; }
            button type="submit" { (name) }
        };
        Ok(html! {
            details.decision {
                summary.button data-key=(key) { (name) }
                (self.form("answer", &fields)?)
            }
        })
    }

    /// Returns the form that says what to do instead. It only asks; what was understood is shown next.
    fn respond(&self, draft: Option<&RefusedDraft>) -> Markup {
        let words = match draft {
            Some(RefusedDraft::Response(words)) => words.as_str(),
            _ => "",
        };
        html! {
            details.decision open[!words.is_empty()] {
                summary.button data-key="t" { "Tell it what to do" }
                form method="get" action={ "/approvals/" (self.detail.item.number) "/respond" } {
                    label {
                        span { "Such as “make it Friday at 3”, “shorter”, “decline”" }
                        input type="text" name="words" value=(words) autocomplete="off" dir="auto" maxlength="2000" required;
                    }
                    button type="submit" { "Show what that means" }
                }
            }
        }
    }

    fn failed_step(&self) -> Result<Markup, PageFailure> {
        let is_in_doubt = self.detail.action.as_ref().is_some_and(|row| row.state == OutboxState::NeedsHuman);
        let at_once = |key: &str, kind: DecisionKind, name: &str| {
            let fields = html! {
                input type="hidden" name="verdict" value=(kind.as_str());
                button type="submit" data-key=(key) { (name) }
            };
            self.form("answer", &fields)
        };
        Ok(html! {
            @if is_in_doubt { (at_once("W", DecisionKind::Sent, "It was sent")?) }
            (at_once("R", DecisionKind::Retry, "Try again")?)
            (self.verdict("S", DecisionKind::Skip, "Go on without it", "Why?")?)
        })
    }

    fn snooze(&self) -> Result<Markup, PageFailure> {
        let choices = [("2h", "For two hours"), ("1d", "For a day"), ("1w", "For a week")];
        let fields = html! {
            label { span { "Until" } input type="text" name="typed" placeholder="2h, 3d, tomorrow 9am" autocomplete="off"; }
            button type="submit" { "Snooze" }
            @for (until, name) in choices { button type="submit" name="until" value=(until) { (name) } }
            p.muted { "It still expires at its time." }
        };
        Ok(html! {
            details.decision {
                summary.button data-key="s" { "Snooze" }
                (self.form("snooze", &fields)?)
            }
        })
    }
}
