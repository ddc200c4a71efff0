//! The text of a mail: hidden characters removed, the sender's own words told apart from quotes, signature and notices.
//!
//! What mail programs write in which language stands in `mail_clients.txt` and nowhere in the code.

mod attribution;
mod clean;
mod client_words;
mod header_block;
mod hidden_chars;
mod notice;
mod phrase_set;
mod quote;
mod segment;
mod signature;
mod whitespace;

pub use clean::{Cleaned, clean_body};
pub use hidden_chars::{Stripped, escape_for_display, strip_hidden_chars};
pub(super) use whitespace::collapse_whitespace;
