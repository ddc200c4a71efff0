//! An item as lines of text, made from the stored bytes that would be sent.

use super::super::{description::format_timestamp, printer::escape_and_truncate};
use crate::{
    app::{App, ItemDetail},
    ingest::escape_for_display,
    plain_text::wrapping,
    wording::{
        item::{describe_expiry, describe_kind},
        item_lines::{ItemLine, action_lines, effect_line, reason_lines, task_lines},
    },
};

/// The width of the labels in front of the fields.
const LABEL_WIDTH: usize = 9;
/// The blanks that replace a tab, so that text looks the same wherever it stands.
const TAB: &str = "    ";

/// A line of a page before it is broken to the width of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageLine {
    pub(super) text: String,
    /// Whether the line is shown emphasised, for what a person must notice.
    pub(super) is_emphasised: bool,
    /// The indentation of the rows into which the line is broken.
    indent: usize,
}

impl PageLine {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_emphasised: false, indent: 0 }
    }

    pub(super) fn emphasised(text: impl Into<String>) -> Self {
        Self { is_emphasised: true, ..Self::plain(text) }
    }

    pub(super) fn field(label: &str, text: &str) -> Self {
        Self { indent: LABEL_WIDTH, ..Self::plain(format!("{label:<LABEL_WIDTH$}{text}")) }
    }
}

/// Returns what the item is and when it expires.
pub(super) fn title(app: &App, detail: &ItemDetail) -> String {
    let void = describe_expiry(&detail.item, app.clock.now(), app.config.me.time_zone);
    format!("number {}: {}, {void}", detail.item.number, describe_kind(detail))
}

/// Returns everything that a person needs to know before an approval.
pub(super) fn item_page(app: &App, detail: &ItemDetail) -> Vec<PageLine> {
    let zone = app.config.me.time_zone;
    let line = |line: ItemLine| PageLine { is_emphasised: line.is_warning, ..PageLine::field(line.label, &line.text) };
    let told = [action_lines(detail, zone), reason_lines(detail), task_lines(detail)];
    let mut lines: Vec<PageLine> = told.into_iter().flatten().map(line).collect();
    if let Some(mail) = &detail.mail {
        let text = format!(
            "{}: {} from {}",
            mail.mail_id,
            escape_and_truncate(&mail.subject, 120),
            escape_and_truncate(&mail.sender, 80)
        );
        lines.push(PageLine::field("Mail", &text));
    }
    lines.extend(effect_line(detail, zone).map(line));
    if let Some(message) = detail.action.as_ref().and_then(|row| row.action.effect.message()) {
        lines.push(PageLine::plain(""));
        lines.extend(body(&message.body));
    }
    lines
}

/// Returns the ids and digests, for scripts and for verification.
pub(super) fn technical_lines(app: &App, detail: &ItemDetail) -> Vec<PageLine> {
    let mut lines = vec![PageLine::plain("")];
    if let Some(sha256) = &detail.item.action_sha256 {
        lines.push(PageLine::field("Action", &format!("sha256 {sha256}")));
    }
    lines.push(PageLine::field(
        "Item",
        &format!("{} since {}", detail.item.item_id, format_timestamp(detail.item.created_at, app.config.me.time_zone)),
    ));
    lines
}

/// Returns the text of a mail, line by line. Characters that would act on the terminal are written out.
fn body(text: &str) -> impl Iterator<Item = PageLine> {
    text.lines().map(|line| PageLine {
        indent: 2,
        ..PageLine::plain(format!("  {}", escape_for_display(line).replace('\t', TAB)))
    })
}

/// Returns the mail that caused the item; none when there is none.
pub(super) fn source_mail_lines(app: &App, detail: &ItemDetail) -> Option<Vec<PageLine>> {
    let zone = app.config.me.time_zone;
    let (mail, text) = (detail.mail.as_ref()?, detail.cause.as_ref()?);
    let mut lines = vec![
        PageLine::plain(format!("The mail that caused it, number {}", mail.mail_id)),
        PageLine::field("From", &escape_and_truncate(&mail.sender, 254)),
        PageLine::field("Subject", &escape_and_truncate(&mail.subject, 998)),
        PageLine::field("Arrived", &format_timestamp(mail.arrived_at, zone)),
        PageLine::plain(""),
    ];
    lines.extend(body(text));
    Some(lines)
}

/// Breaks lines to a width in columns, between words where possible. Right-to-left order is left to the terminal.
pub(super) fn wrap(lines: &[PageLine], width: usize) -> Vec<PageLine> {
    let width = width.max(10);
    lines.iter().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(line: &PageLine, width: usize) -> Vec<PageLine> {
    let rows = wrapping::wrap(&line.text, width, line.indent);
    rows.into_iter().map(|text| PageLine { text, ..line.clone() }).collect()
}
