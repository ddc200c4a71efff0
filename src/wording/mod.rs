//! What people read in every interface: times, effects, waits and items of the queue in words, and text from outside
//! made safe. Each interface adds only how it is laid out.

pub mod description;
pub mod item;
pub mod item_lines;
pub mod output;
pub mod plan;

use crate::ingest::escape_for_display;

/// Returns text from outside as one safe line of limited length.
pub fn escape_and_truncate(text: &str, longest: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = escape_for_display(&one_line);
    if safe.chars().count() > longest {
        safe = safe.chars().take(longest.saturating_sub(1)).collect::<String>() + "…";
    }
    safe
}
