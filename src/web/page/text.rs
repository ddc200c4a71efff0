//! Text from outside as markup. Characters that would act on the page or reorder it are written out, and the direction
//! of every piece is found from its own letters.

use maud::{Markup, html};

use crate::{ingest::escape_for_display, wording::escape_and_truncate};

/// The most characters of a text that is shown whole. A mail is rarely longer; the rest would only make the page slow.
const LONGEST_TEXT: usize = 200_000;

/// Returns a text on one line, whole.
pub(in crate::web) fn shown(text: &str) -> Markup {
    shown_short(text, LONGEST_TEXT)
}

/// Returns a text on one line, of limited length.
pub(in crate::web) fn shown_short(text: &str, longest: usize) -> Markup {
    html! { bdi { (escape_and_truncate(text, longest)) } }
}

/// Returns the direction of a text, by its first letter that has one: `rtl` for Hebrew and Arabic.
pub(in crate::web) fn direction(text: &str) -> &'static str {
    let first = text.chars().find(|c| c.is_alphabetic());
    let is_right_to_left = first.is_some_and(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
    if is_right_to_left { "rtl" } else { "ltr" }
}

/// Returns a text of several lines, such as the body of a mail. Each line has a direction of its own.
pub(in crate::web) fn shown_lines(text: &str) -> Markup {
    let is_cut = text.chars().nth(LONGEST_TEXT).is_some();
    let kept: String = text.chars().take(LONGEST_TEXT).collect();
    html! {
        div.text {
            @for line in kept.lines() {
                p dir="auto" { (escape_for_display(line)) }
            }
            @if is_cut { p.muted { "The text is longer; only its beginning is shown." } }
        }
    }
}
