//! From the leaves of a message to its text, links, attachments and invitation.

use std::borrow::Cow;

use super::{
    address::one_line,
    calendar, charset,
    header::Headers,
    html::html_to_text,
    limits::{ATTACHED_DEPTH, HTML_BYTES, LINKS, SHORT_CHARS, TEXT_BYTES, TEXT_CHARS, cut},
    mime::{self, Part},
    transfer,
    tricks::strip,
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
    group: Option<usize>,
}

pub(super) fn gather(leaves: &[Part<'_>]) -> Body {
    let mut body = Body::default();
    let mut shown = Vec::new();
    for part in leaves {
        let alone = leaves.len() == 1;
        if body.invite.is_none() && is_calendar(part) {
            let text = charset::decode(&decoded(part, TEXT_BYTES), part.content.charset.as_deref());
            body.invite = calendar::invite(&text, part.content.method.as_deref());
        }
        if is_shown(part, alone) {
            shown.push(body.render(part));
        } else if is_attachment(part) {
            body.attach(part);
        }
    }
    let mut text = chosen(shown);
    if text.trim().is_empty() {
        // Named but shown in line, or inside an attached message: the only words there are.
        let named = leaves
            .iter()
            .filter(|part| part.content.main == "text" && !part.content.is_attachment && !is_calendar(part));
        text = chosen(named.map(|part| body.render(part)).collect());
    }
    if text.trim().is_empty() {
        text = attached_text(leaves, ATTACHED_DEPTH).unwrap_or(text);
    }
    let stripped = strip(&text);
    body.tricks += stripped.tricks;
    (body.text, body.text_cut) = cut(stripped.text, TEXT_CHARS);
    body
}

/// Text meant to be read in the message itself.
fn is_shown(part: &Part<'_>, alone: bool) -> bool {
    let content = &part.content;
    let readable = content.main == "multipart" || (content.main == "text" && content.sub != "calendar");
    readable && !content.is_attachment && (content.file_name.is_none() || alone)
}

fn is_calendar(part: &Part<'_>) -> bool {
    let content = &part.content;
    let named = || content.file_name.as_deref().is_some_and(|name| name.to_ascii_lowercase().ends_with(".ics"));
    content.is("text", "calendar") || content.is("application", "ics") || named()
}

/// Pictures a page shows, further renderings of the same text, messages shown in line (digests, bounces) and
/// cryptographic signatures are not attachments, unless they are called so.
fn is_attachment(part: &Part<'_>) -> bool {
    let content = &part.content;
    if content.is_attachment || (content.file_name.is_some() && !content.is("message", "external-body")) {
        return true;
    }
    let of_page = part.related && part.headers.first("Content-ID").is_some();
    let rendering = part.group.is_some() || content.main == "text" || content.main == "message";
    let protocol =
        content.main == "application" && (content.sub.starts_with("pgp-") || content.sub.ends_with("pkcs7-signature"));
    !(of_page || rendering || protocol)
}

fn decoded<'a>(part: &Part<'a>, max: usize) -> Cow<'a, [u8]> {
    let encoding = part.headers.text("Content-Transfer-Encoding").unwrap_or_default();
    transfer::decode(part.body.get(..max).unwrap_or(part.body), &encoding)
}

impl Body {
    fn render(&mut self, part: &Part<'_>) -> Rendering {
        let is_html = part.content.sub == "html";
        let bytes = decoded(part, if is_html { HTML_BYTES } else { TEXT_BYTES });
        let text = charset::decode(&bytes, part.content.charset.as_deref());
        let text = if is_html {
            let page = html_to_text(&text);
            self.links.extend(page.links);
            self.links.truncate(LINKS);
            page.text
        } else if part.content.flowed {
            unflowed(&text)
        } else {
            text
        };
        Rendering { text, is_html, group: part.group }
    }

    fn attach(&mut self, part: &Part<'_>) {
        let bytes = decoded(part, usize::MAX);
        let name = part.content.file_name.clone().unwrap_or_else(|| attached_subject(part).unwrap_or_default());
        let name = strip(&name);
        self.tricks += name.tricks;
        let mut name = cut(one_line(&name.text), SHORT_CHARS).0;
        if part.open_ended {
            name.push_str(" (incomplete)");
        }
        self.attachments.push(Attachment {
            name: name.trim().to_owned(),
            content_type: cut(strip(&part.content.full()).text, SHORT_CHARS).0,
            size: bytes.len() as u64,
            sha256: sha256_hex(&bytes),
        });
    }
}

fn attached_subject(part: &Part<'_>) -> Option<String> {
    part.content.is_message().then(|| Headers::read(part.body, 0).0.text("Subject"))?
}

/// Of each group of alternatives the plain rendering, unless it says nothing; everything else in order.
fn chosen(shown: Vec<Rendering>) -> String {
    let speaks = |one: &Rendering| !one.is_html && !says_nothing(&one.text);
    let with_plain: Vec<_> = shown.iter().filter(|one| speaks(one)).filter_map(|one| one.group).collect();
    let with_html: Vec<_> =
        shown.iter().filter(|one| one.is_html && !one.text.is_empty()).filter_map(|one| one.group).collect();
    let mut text = String::new();
    for one in shown {
        let keep = match one.group {
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
fn says_nothing(text: &str) -> bool {
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
fn unflowed(text: &str) -> String {
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
fn attached_text(leaves: &[Part<'_>], depth: usize) -> Option<String> {
    let part = leaves.iter().find(|part| part.content.is_message())?;
    let bytes = decoded(part, TEXT_BYTES);
    let (headers, at) = Headers::read(&bytes, 0);
    let parts = mime::leaves(&bytes, headers, at).ok()?;
    let mut ignored = Body::default();
    let alone = parts.leaves.len() == 1;
    let shown = parts.leaves.iter().filter(|part| is_shown(part, alone)).map(|part| ignored.render(part)).collect();
    let text = chosen(shown);
    if text.trim().is_empty() && depth > 1 { attached_text(&parts.leaves, depth - 1) } else { Some(text) }
}
