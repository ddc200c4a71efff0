//! Assembles the text, links, attachments and invitation of a message from its MIME leaves.

use std::borrow::Cow;

use super::{
    html::html_to_text,
    limits::{ATTACHED_DEPTH, HTML_BYTES, LINKS, SHORT_CHARS, TEXT_BYTES, TEXT_CHARS, truncate_chars},
    mime::{
        ContentHeaders, FramedDigest, Headers, MimeLeaf, charset, collect_leaves, parse_invite, part_sha256,
        transfer_encoding,
    },
    text::{collapse_whitespace, strip_hidden_chars},
};
use crate::{
    followup::fingerprint,
    icalendar::UnfoldedCalendar,
    model::{
        Attachment,
        ids::sha256_hex,
        mail::{Invite, Link},
    },
};

/// The content of a message.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) text: String,
    pub(super) links: Vec<Link>,
    /// What a person does not see of the HTML parts.
    pub(super) hidden_text: String,
    pub(super) attachments: Vec<Attachment>,
    pub(super) invite: Option<Invite>,
    /// Number of hidden or deceptive characters that were removed from text and names.
    pub(super) tricks: u32,
    /// Whether some of the text exceeded a bound and was not read.
    pub(super) text_cut: bool,
    /// A digest of each part, in the order of the parts.
    pub(super) part_digests: Vec<String>,
    /// Digest of everything that is neither in the text nor among the attachments; none without any. It distinguishes
    /// mails that look the same.
    pub(super) other_parts_sha256: Option<String>,
}

/// One readable rendering of the body or of a piece of it.
struct Rendering {
    text: String,
    is_html: bool,
    /// The multipart/alternative that the rendering belongs to.
    alternative_group: Option<usize>,
}

/// Decides for each leaf whether it is shown, attached or neither, and joins what is shown.
pub(super) fn assemble_body(leaves: &[MimeLeaf<'_>]) -> Body {
    let mut body = Body::default();
    let mut shown = Vec::new();
    // Digests or words of everything that is neither shown nor attached.
    let mut others = Vec::new();
    let alone = leaves.len() == 1;
    for part in leaves {
        let decoded = decode_part(part, usize::MAX);
        body.part_digests.push(part_sha256(&part.content, &decoded));
        let calendar = is_calendar(part).then(|| unfold_calendar(part));
        if let (None, Some(calendar)) = (&body.invite, &calendar) {
            body.invite = parse_invite(calendar, part.content.method.as_deref());
        }
        if is_shown(part, alone) {
            shown.push(body.render_part(part));
        } else if is_attachment(part) {
            body.add_attachment(part, &decoded);
        } else if let Some(calendar) = &calendar {
            others.push(calendar.without_timestamps());
        } else if !is_cryptographic(&part.content) {
            others.extend(body.part_digests.last().cloned());
        }
    }
    let (mut text, left_out) = join_chosen_renderings(shown);
    others.extend(left_out);
    if text.trim().is_empty() {
        // Parts that have a file name but are shown inline, or an attached message: the only text that there is.
        let named = leaves
            .iter()
            .filter(|part| part.content.main_type == "text" && !part.content.is_attachment && !is_calendar(part));
        text = join_chosen_renderings(named.map(|part| body.render_part(part)).collect()).0;
    }
    if text.trim().is_empty() {
        text = attached_text(leaves, ATTACHED_DEPTH).unwrap_or(text);
    }
    let stripped = strip_hidden_chars(&text);
    body.tricks += stripped.tricks;
    let (text, is_cut) = truncate_chars(stripped.text, TEXT_CHARS);
    (body.text, body.text_cut) = (text, body.text_cut || is_cut);
    if body.text_cut {
        others.extend(body.part_digests.iter().cloned());
    }
    body.other_parts_sha256 = (!others.is_empty()).then(|| {
        let mut digest = FramedDigest::default();
        others.iter().for_each(|other| digest.put(other));
        digest.finish()
    });
    body
}

/// Returns whether a part is text that is meant to be read in the message itself. `alone`: it is the only part.
fn is_shown(part: &MimeLeaf<'_>, alone: bool) -> bool {
    let content = &part.content;
    let readable = content.main_type == "multipart" || (content.main_type == "text" && content.sub_type != "calendar");
    readable && !content.is_attachment && (content.file_name.is_none() || alone)
}

/// Returns whether a part is a calendar, by its type or by its file name.
fn is_calendar(part: &MimeLeaf<'_>) -> bool {
    let content = &part.content;
    let named = || content.file_name.as_deref().is_some_and(|name| name.to_ascii_lowercase().ends_with(".ics"));
    content.is_type("text", "calendar") || content.is_type("application", "ics") || named()
}

/// Decodes a calendar part and unfolds its lines.
fn unfold_calendar(part: &MimeLeaf<'_>) -> UnfoldedCalendar {
    UnfoldedCalendar::unfold(&charset::decode(&decode_part(part, TEXT_BYTES), part.content.charset.as_deref()))
}

/// Returns whether a part is an attachment. Pictures that a page shows, further renderings of the same text, messages
/// shown inline (digests, bounces) and cryptographic signatures are not, unless they are declared as attachments.
fn is_attachment(part: &MimeLeaf<'_>) -> bool {
    let content = &part.content;
    if content.is_attachment || (content.file_name.is_some() && !content.is_type("message", "external-body")) {
        return true;
    }
    let of_page = part.related && part.headers.first("Content-ID").is_some();
    let rendering = part.alternative_group.is_some() || content.main_type == "text" || content.main_type == "message";
    !(of_page || rendering || is_cryptographic(content))
}

/// Returns whether a part is a cryptographic signature or belongs to one. It differs each time the same mail is sent,
/// so it is left out of the digest of other parts.
fn is_cryptographic(content: &ContentHeaders) -> bool {
    content.main_type == "application"
        && (content.sub_type.starts_with("pgp-") || content.sub_type.ends_with("pkcs7-signature"))
}

/// Returns the first `max` encoded bytes of a part, decoded.
fn decode_part<'a>(part: &MimeLeaf<'a>, max: usize) -> Cow<'a, [u8]> {
    let encoding = part.headers.text("Content-Transfer-Encoding").unwrap_or_default();
    transfer_encoding::decode(part.body.get(..max).unwrap_or(part.body), &encoding)
}

impl Body {
    /// Returns the text of a part and collects its links.
    fn render_part(&mut self, part: &MimeLeaf<'_>) -> Rendering {
        let is_html = part.content.sub_type == "html";
        let max = if is_html { HTML_BYTES } else { TEXT_BYTES };
        self.text_cut |= part.body.len() > max;
        let bytes = decode_part(part, max);
        let text = charset::decode(&bytes, part.content.charset.as_deref());
        let text = if is_html {
            let page = html_to_text(&text);
            self.links.extend(page.links);
            self.links.truncate(LINKS);
            if self.hidden_text.is_empty() {
                self.hidden_text = strip_hidden_chars(&page.hidden_text).text;
            }
            page.text
        } else if part.content.is_flowed {
            join_flowed_lines(&text)
        } else {
            text
        };
        Rendering { text, is_html, alternative_group: part.alternative_group }
    }

    /// Records an attachment by name, type, size and digest. Its bytes are not kept.
    fn add_attachment(&mut self, part: &MimeLeaf<'_>, bytes: &[u8]) {
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
            sha256: sha256_hex(bytes),
        });
    }
}

/// Returns the subject of an attached message, which serves as its name.
fn attached_subject(part: &MimeLeaf<'_>) -> Option<String> {
    part.content.is_message().then(|| Headers::parse(part.body, 0).0.text("Subject"))?
}

/// Joins the renderings that a reader should see: of each group of alternatives the plain text, unless it is only a
/// placeholder, and everything outside such groups. Returns the text and the words of the renderings that were left
/// out.
fn join_chosen_renderings(shown: Vec<Rendering>) -> (String, Vec<String>) {
    let speaks = |one: &Rendering| !one.is_html && !is_empty_or_placeholder(&one.text);
    let with_plain: Vec<_> = shown.iter().filter(|one| speaks(one)).filter_map(|one| one.alternative_group).collect();
    let with_html: Vec<_> = shown
        .iter()
        .filter(|one| one.is_html && !one.text.is_empty())
        .filter_map(|one| one.alternative_group)
        .collect();
    let (mut text, mut left_out) = (String::new(), Vec::new());
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
        } else if !keep && !piece.trim().is_empty() {
            left_out.push(collapse_whitespace(&strip_hidden_chars(piece).text));
        }
    }
    // An HTML rendering with the same words as the plain text adds nothing.
    if !left_out.is_empty() {
        let said = fingerprint::normalise_words(&text);
        left_out.retain(|words| fingerprint::normalise_words(words) != said);
    }
    (text, left_out)
}

/// Returns whether a plain text is empty or only says that the mail needs HTML.
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

/// Joins lines that end with a soft break (RFC 3676). Quoted lines stay as they are.
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

/// Returns the text of an attached message, for a mail that only forwards another one.
fn attached_text(leaves: &[MimeLeaf<'_>], depth: usize) -> Option<String> {
    let part = leaves.iter().find(|part| part.content.is_message())?;
    let bytes = decode_part(part, TEXT_BYTES);
    let (headers, at) = Headers::parse(&bytes, 0);
    let parts = collect_leaves(&bytes, headers, at).ok()?;
    let mut ignored = Body::default();
    let alone = parts.leaves.len() == 1;
    let shown =
        parts.leaves.iter().filter(|part| is_shown(part, alone)).map(|part| ignored.render_part(part)).collect();
    let text = join_chosen_renderings(shown).0;
    if text.trim().is_empty() && depth > 1 { attached_text(&parts.leaves, depth - 1) } else { Some(text) }
}
