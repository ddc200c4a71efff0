//! The iCalendar format (RFC 5545, RFC 5546) as far as invitations need it: one reader and one writer for the whole
//! program.
//!
//! The text may come from a stranger: reading is linear in its length, never recurses, looks at no more than
//! [`MAX_BYTES`] and never panics. Escapes are undone only in values of type TEXT. An address is never unescaped:
//! otherwise one that is written with an escape could turn into the plain address of somebody else.
//!
//! No package does both. `calcard` 0.3.14 is linear (256 KiB of hostile text: 9 ms at most, no recursion), but undoes
//! escapes in addresses: `mailto:kar\en@x` is read as `mailto:karen@x`, and what was written is not kept. `icalendar`
//! 0.17.17 keeps addresses, but reads nothing of a calendar with one malformed line or a missing end, takes quadratic
//! time for nested components (3, 12, 54 ms for 16, 32, 64 KiB), and overflows a stack of 8 MiB at 100 KiB of
//! `BEGIN:VEVENT`.

mod event_times;
mod line;
mod reader;
mod time;
mod writer;

pub use event_times::EventTimes;
pub use line::Property;
pub use reader::{FirstEvent, UnfoldedCalendar};
pub use writer::{escape_text, format_utc, quote_parameter, render_calendar};

/// The number of bytes that are read of a calendar. One event with a long description fits a hundred times.
pub const MAX_BYTES: usize = 256 * 1024;
