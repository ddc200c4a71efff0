//! A diff as markup. What was added and removed is also said by a sign, not by colour alone.

use maud::{Markup, html};

use crate::{app::DiffLine, ingest::escape_for_display};

/// The most lines of a diff that are shown. The file itself has the rest.
const MOST_LINES: usize = 2_000;

/// Returns the lines of a diff.
pub(in crate::web) fn diff_block(lines: &[DiffLine], label: &str) -> Markup {
    if lines.is_empty() {
        return html! { p.muted { "No line differs." } };
    }
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            pre.diff dir="ltr" {
                @for line in lines.iter().take(MOST_LINES) {
                    @match line.sign {
                        '+' => ins { "+ " (escape_for_display(&line.line)) "\n" },
                        '-' => del { "- " (escape_for_display(&line.line)) "\n" },
                        '@' => span.hunk { (escape_for_display(&line.line)) "\n" },
                        _ => span { "  " (escape_for_display(&line.line)) "\n" },
                    }
                }
            }
        }
        @if lines.len() > MOST_LINES { p.muted { "… and " (lines.len() - MOST_LINES) " more lines." } }
    }
}
