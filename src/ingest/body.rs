//! From the leaves of a message to its text, links, attachments and invitation.

use std::borrow::Cow;

use super::{
    address::collapse_whitespace,
    charset,
    header::Headers,
    hidden_chars::strip_hidden_chars,
    html::html_to_text,
    icalendar,
    limits::{ATTACHED_DEPTH, HTML_BYTES, LINKS, SHORT_CHARS, TEXT_BYTES, TEXT_CHARS, truncate_chars},
    mime::{self, MimeLeaf},
    transfer_encoding,
};
use crate::model::{
    Attachment,
    ids::sha256_hex,
    mail::{Invite, Link},
};

#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) text: String,
    pub(super) links: Vec<Link>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) invite: Option<Invite>,
    pub(super) tricks: u32,
    pub(super) text_cut: bool,
}

/// One readable rendering of (a piece of) the body.
struct Rendering {
    text: String,
    is_html: bool,
    alternative_group: Option<usize>,
}

pub(super) fn assemble_body(leaves: &[MimeLeaf<'_>]) -> Body {
    let mut body = Body::default();
    let mut shown = Vec::new();
    for part in leaves {
        let alone = leaves.len() == 1;
        if body.invite.is_none() && is_calendar(part) {
            let text = charset::decode(&decode_part(part, TEXT_BYTES), part.content.charset.as_deref());
            body.invite = icalendar::parse_invite(&text, part.content.method.as_deref());
        }
        if is_shown(part, alone) {
            shown.push(body.render_part(part));
        } else if is_attachment(part) {
            body.add_attachment(part);
        }
    }
    let mut text = join_chosen_renderings(shown);
    if text.trim().is_empty() {
        // Named but shown in line, or inside an attached message: the only words there are.
        let named = leaves
            .iter()
            .filter(|part| part.content.main_type == "text" && !part.content.is_attachment && !is_calendar(part));
        text = join_chosen_renderings(named.map(|part| body.render_part(part)).collect());
    }
    if text.trim().is_empty() {
        text = attached_text(leaves, ATTACHED_DEPTH).unwrap_or(text);
    }
    let stripped = strip_hidden_chars(&text);
    body.tricks += stripped.tricks;
    (body.text, body.text_cut) = truncate_chars(stripped.text, TEXT_CHARS);
    body
}

/// Text meant to be read in the message itself.
fn is_shown(part: &MimeLeaf<'_>, alone: bool) -> bool {
    let content = &part.content;
    let readable = content.main_type == "multipart" || (content.main_type == "text" && content.sub_type != "calendar");
    readable && !content.is_attachment && (content.file_name.is_none() || alone)
}

fn is_calendar(part: &MimeLeaf<'_>) -> bool {
    let content = &part.content;
    let named = || content.file_name.as_deref().is_some_and(|name| name.to_ascii_lowercase().ends_with(".ics"));
    content.is_type("text", "calendar") || content.is_type("application", "ics") || named()
}

/// Pictures a page shows, further renderings of the same text, messages shown in line (digests, bounces) and
/// cryptographic signatures are not attachments, unless they are called so.
fn is_attachment(part: &MimeLeaf<'_>) -> bool {
    let content = &part.content;
    if content.is_attachment || (content.file_name.is_some() && !content.is_type("message", "external-body")) {
        return true;
    }
    let of_page = part.related && part.headers.first("Content-ID").is_some();
    let rendering = part.alternative_group.is_some() || content.main_type == "text" || content.main_type == "message";
    let protocol = content.main_type == "application"
        && (content.sub_type.starts_with("pgp-") || content.sub_type.ends_with("pkcs7-signature"));
    !(of_page || rendering || protocol)
}

fn decode_part<'a>(part: &MimeLeaf<'a>, max: usize) -> Cow<'a, [u8]> {
    let encoding = part.headers.text("Content-Transfer-Encoding").unwrap_or_default();
    transfer_encoding::decode(part.body.get(..max).unwrap_or(part.body), &encoding)
}

impl Body {
    fn render_part(&mut self, part: &MimeLeaf<'_>) -> Rendering {
        let is_html = part.content.sub_type == "html";
        let bytes = decode_part(part, if is_html { HTML_BYTES } else { TEXT_BYTES });
        let text = charset::decode(&bytes, part.content.charset.as_deref());
        let text = if is_html {
            let page = html_to_text(&text);
            self.links.extend(page.links);
            self.links.truncate(LINKS);
            page.text
        } else if part.content.is_flowed {
            join_flowed_lines(&text)
        } else {
            text
        };
        Rendering { text, is_html, alternative_group: part.alternative_group }
    }

    fn add_attachment(&mut self, part: &MimeLeaf<'_>) {
        let bytes = decode_part(part, usize::MAX);
        let name = part.content.file_name.clone().unwrap_or_else(|| attached_subject(part).unwrap_or_default());
        let name = strip_hidden_chars(&name);
        self.tricks += name.tricks;
        let mut name = truncate_chars(collapse_whitespace(&name.text), SHORT_CHARS).0;
        if part.open_ended {
            name.push_str(" (incomplete)");
        }
        self.attachments.push(Attachment {
            name: name.trim().to_owned(),
            content_type: truncate_chars(strip_hidden_chars(&part.content.mime_type()).text, SHORT_CHARS).0,
            size: bytes.len() as u64,
            sha256: sha256_hex(&bytes),
        });
    }
}

fn attached_subject(part: &MimeLeaf<'_>) -> Option<String> {
    part.content.is_message().then(|| Headers::parse(part.body, 0).0.text("Subject"))?
}

/// Of each group of alternatives the plain rendering, unless it says nothing; everything else in order.
fn join_chosen_renderings(shown: Vec<Rendering>) -> String {
    let speaks = |one: &Rendering| !one.is_html && !is_empty_or_placeholder(&one.text);
    let with_plain: Vec<_> = shown.iter().filter(|one| speaks(one)).filter_map(|one| one.alternative_group).collect();
    let with_html: Vec<_> = shown
        .iter()
        .filter(|one| one.is_html && !one.text.is_empty())
        .filter_map(|one| one.alternative_group)
        .collect();
    let mut text = String::new();
    for one in shown {
        let keep = match one.alternative_group {
            None => true,
            Some(group) if with_plain.contains(&group) => speaks(&one),
            Some(group) => one.is_html || !with_html.contains(&group),
        };
        let piece = one.text.trim_end();
        if keep && !piece.trim().is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(piece);
        }
    }
    text
}

/// Empty, or only an apology for being plain.
fn is_empty_or_placeholder(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() {
        return true;
    }
    if text.len() > 400 {
        return false;
    }
    let text = text.to_lowercase();
    text.contains("html")
        && ["support", "view this", "to view", "enable", "תומכ"].iter().any(|word| text.contains(word))
}

/// Soft line breaks undone; quoted lines stay as they are.
fn join_flowed_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line);
        if !(line.ends_with(' ') && line != "-- " && !line.starts_with('>')) {
            out.push('\n');
        }
    }
    out
}

/// A mail that only hands on another one is read as that one.
fn attached_text(leaves: &[MimeLeaf<'_>], depth: usize) -> Option<String> {
    let part = leaves.iter().find(|part| part.content.is_message())?;
    let bytes = decode_part(part, TEXT_BYTES);
    let (headers, at) = Headers::parse(&bytes, 0);
    let parts = mime::collect_leaves(&bytes, headers, at).ok()?;
    let mut ignored = Body::default();
    let alone = parts.leaves.len() == 1;
    let shown =
        parts.leaves.iter().filter(|part| is_shown(part, alone)).map(|part| ignored.render_part(part)).collect();
    let text = join_chosen_renderings(shown);
    if text.trim().is_empty() && depth > 1 { attached_text(&parts.leaves, depth - 1) } else { Some(text) }
}
