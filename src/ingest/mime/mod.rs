//! The structure of a message (RFC 5322, RFC 2045): header fields, addresses, parts, encodings, charsets, calendar
//! parts.
//!
//! Every part is found in one forward pass over the bytes. Nothing in here descends into an attached message.

mod address;
mod calendar;
pub(super) mod charset;
mod content_headers;
mod header;
mod leaves;
mod part_digest;
pub(super) mod transfer_encoding;

pub(super) use address::{is_address, is_sole_address, parse_addresses};
pub(super) use calendar::parse_invite;
pub(super) use content_headers::ContentHeaders;
pub(super) use header::{Headers, field_parser_input};
pub(super) use leaves::{MimeLeaf, TooDeep, collect_leaves};
pub(super) use part_digest::{FramedDigest, part_sha256, rest_sha256};
