//! The text of a mail: hidden characters removed, the sender's own words told apart from quotes and signature.

mod clean;
mod hidden_chars;
mod quote;
mod signature;
mod whitespace;

pub use clean::{Cleaned, clean_body};
pub use hidden_chars::{Stripped, escape_for_display, strip_hidden_chars};
pub(super) use whitespace::collapse_whitespace;
