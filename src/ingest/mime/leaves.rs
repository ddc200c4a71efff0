//! Collects the leaves of a MIME tree in one forward pass with a stack of open boundaries.
//!
//! Attached messages are leaves: nothing in here descends into them.

use super::{
    content_headers::ContentHeaders,
    header::{Headers, line_at},
};
use crate::ingest::limits::{MIME_DEPTH, PARTS};

/// A part that is not a multipart.
#[derive(Debug)]
pub(crate) struct MimeLeaf<'a> {
    pub(crate) headers: Headers<'a>,
    pub(crate) content: ContentHeaders,
    /// The body, still encoded.
    pub(crate) body: &'a [u8],
    /// Whether the part is inside multipart/related, and therefore likely a picture of the page next to it.
    pub(crate) related: bool,
    /// The outermost multipart/alternative that the part is in. Only one rendering of a group is shown.
    pub(crate) alternative_group: Option<usize>,
    /// Whether the end of the part was not found, as in a truncated mail.
    pub(crate) open_ended: bool,
}

/// The parts are nested more deeply than the bound.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// The leaves that were found, and whether there were more than the bound.
#[derive(Debug, Default)]
pub(crate) struct MimeLeaves<'a> {
    pub(crate) leaves: Vec<MimeLeaf<'a>>,
    pub(crate) too_many: bool,
}

/// A multipart whose closing boundary has not been found yet.
struct OpenMultipart {
    boundary: Vec<u8>,
    related: bool,
    /// Whether parts without a type are messages, as in multipart/digest.
    digest: bool,
    alternative_group: Option<usize>,
    /// Where its content starts, as long as no part was found in it.
    preamble: Option<usize>,
}

/// A line that ends the current part.
struct BoundaryLine {
    /// Where the line starts, including the line break before it.
    start: usize,
    /// The position in the stack of the multipart that the boundary belongs to.
    level: usize,
    is_closing: bool,
}

/// The cursor and the stack of one pass.
struct MimeWalker<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<OpenMultipart>,
    parts: MimeLeaves<'a>,
    groups: usize,
}

/// Collects the leaves of a message whose body starts at `body`.
pub(crate) fn collect_leaves<'a>(
    bytes: &'a [u8],
    headers: Headers<'a>,
    body: usize,
) -> Result<MimeLeaves<'a>, TooDeep> {
    let mut walk = MimeWalker { bytes, at: body, open: Vec::new(), parts: MimeLeaves::default(), groups: 0 };
    let mut next = Some(headers);
    while let Some(headers) = next {
        next = walk.read_part(headers)?;
    }
    Ok(walk.parts)
}

impl<'a> MimeWalker<'a> {
    /// Reads one part whose body starts at the cursor. Returns the headers of the next part.
    fn read_part(&mut self, headers: Headers<'a>) -> Result<Option<Headers<'a>>, TooDeep> {
        let digest = self.open.last().is_some_and(|frame| frame.digest);
        let content =
            ContentHeaders::from_headers(&headers, if digest { ("message", "rfc822") } else { ("text", "plain") });
        let start = self.at;
        if let Some(boundary) = content.parts_boundary() {
            if self.open.len() >= MIME_DEPTH {
                return Err(TooDeep);
            }
            let frame = self.new_multipart(&content, boundary);
            self.open.push(frame);
            let hit = self.seek();
            return Ok(self.read_next_headers(hit));
        }
        let hit = self.seek();
        let end = hit.as_ref().map_or(self.bytes.len(), |hit| hit.start);
        let open_ended = hit.is_none() && !self.open.is_empty();
        self.push_leaf(headers, content, start, end, open_ended);
        Ok(self.read_next_headers(hit))
    }

    /// Returns the stack entry of a multipart.
    fn new_multipart(&mut self, content: &ContentHeaders, boundary: &str) -> OpenMultipart {
        let parent = self.open.last();
        let mut group = parent.and_then(|frame| frame.alternative_group);
        if group.is_none() && content.sub_type == "alternative" {
            self.groups += 1;
            group = Some(self.groups);
        }
        OpenMultipart {
            boundary: boundary.as_bytes().to_vec(),
            related: content.sub_type == "related"
                || parent.is_some_and(|frame| frame.related && content.sub_type != "mixed"),
            digest: content.sub_type == "digest",
            alternative_group: group,
            preamble: Some(self.at),
        }
    }

    /// Records a leaf, unless there are too many.
    fn push_leaf(&mut self, headers: Headers<'a>, content: ContentHeaders, start: usize, end: usize, open_ended: bool) {
        if self.parts.leaves.len() >= PARTS {
            self.parts.too_many = true;
            return;
        }
        let body = self.bytes.get(start..end).unwrap_or_default();
        let (related, group) = self.open.last().map_or((false, None), |frame| (frame.related, frame.alternative_group));
        self.parts.leaves.push(MimeLeaf { headers, content, body, related, alternative_group: group, open_ended });
    }

    /// Returns the next line that is a boundary of an open multipart, the innermost first. The cursor is then after
    /// that line.
    fn seek(&mut self) -> Option<BoundaryLine> {
        if self.open.is_empty() {
            self.at = self.bytes.len();
            return None;
        }
        while let Some((line, next)) = line_at(self.bytes, self.at) {
            let start = self.at;
            self.at = next;
            if let Some(rest) = line.strip_prefix(b"--")
                && let Some((level, last)) = self.match_boundary(rest.trim_ascii_end())
            {
                return Some(BoundaryLine { start: include_line_break(self.bytes, start), level, is_closing: last });
            }
        }
        None
    }

    /// Returns the level of the multipart that a boundary line belongs to, and whether it closes that multipart.
    fn match_boundary(&self, text: &[u8]) -> Option<(usize, bool)> {
        self.open.iter().enumerate().rev().find_map(|(level, frame)| {
            match text.strip_prefix(frame.boundary.as_slice()) {
                Some(b"") => Some((level, false)),
                Some(b"--") => Some((level, true)),
                _ => None,
            }
        })
    }

    /// Closes what a boundary closes. Returns the headers of the next part; none at the end.
    fn read_next_headers(&mut self, mut hit: Option<BoundaryLine>) -> Option<Headers<'a>> {
        while let Some(BoundaryLine { start, level, is_closing: last }) = hit {
            self.close_multiparts_to(if last { level } else { level + 1 }, start);
            if !last && !self.parts.too_many {
                if let Some(frame) = self.open.last_mut() {
                    frame.preamble = None;
                }
                let (headers, body) = Headers::parse(self.bytes, self.at);
                self.at = body;
                return Some(headers);
            }
            hit = if self.parts.too_many { None } else { self.seek() };
        }
        self.close_multiparts_to(0, self.bytes.len());
        None
    }

    /// Closes multiparts down to a level. One in which no part was found is treated as plain text.
    fn close_multiparts_to(&mut self, level: usize, end: usize) {
        while self.open.len() > level {
            let Some(frame) = self.open.pop() else { return };
            if let Some(start) = frame.preamble {
                let content =
                    ContentHeaders { main_type: "text".into(), sub_type: "plain".into(), ..ContentHeaders::default() };
                self.push_leaf(Headers::default(), content, start, end.max(start), false);
            }
        }
    }
}

/// Moves the start of a boundary before its line break, which belongs to the boundary and not to the part.
fn include_line_break(bytes: &[u8], start: usize) -> usize {
    match bytes.get(..start) {
        Some([.., b'\r', b'\n']) => start - 2,
        Some([.., b'\n']) => start - 1,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &[(&str, &str)]) {
        let (headers, body) = Headers::parse(raw.as_bytes(), 0);
        let parts = collect_leaves(raw.as_bytes(), headers, body).unwrap();
        let found: Vec<_> = parts
            .leaves
            .iter()
            .map(|part| (part.content.mime_type(), String::from_utf8_lossy(part.body).into_owned()))
            .collect();
        let found: Vec<_> = found.iter().map(|(kind, body)| (kind.as_str(), body.as_str())).collect();
        assert_eq!(found, expected, "{raw:?}");
    }

    #[test]
    fn leaves_of_good_and_broken_trees() {
        check("A: b\n\ntext\n", &[("text/plain", "text\n")]);
        let mixed = "Content-Type: multipart/mixed; boundary=x\n\n";
        check(
            &format!("{mixed}pre\n--x\n\none\r\n--x  \nContent-Type: text/html\n\n<p>\n--x--\nafter"),
            &[("text/plain", "one"), ("text/html", "<p>")],
        );
        check(&format!("{mixed}--x\n\nno end"), &[("text/plain", "no end")]);
        check(&format!("{mixed}no part at all"), &[("text/plain", "no part at all")]);
        check(&format!("{mixed}--xy\n\na\n--x\n\nb"), &[("text/plain", "b")]);
        check(&format!("{mixed}--x\nA: b\n--x\n\nc\n--x--"), &[("text/plain", ""), ("text/plain", "c")]);
        check("Content-Type: multipart/mixed\n\nno boundary", &[("multipart/mixed", "no boundary")]);
        check(
            &format!(
                "{mixed}--x\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\ninner\n--x\n\nouter\n--x--"
            ),
            &[("text/plain", "inner"), ("text/plain", "outer")],
        );
        check(
            "Content-Type: multipart/digest; boundary=x\n\n--x\n\nSubject: a\n\nb\n--x--",
            &[("message/rfc822", "Subject: a\n\nb")],
        );
    }

    fn nested(depth: usize) -> String {
        let mut raw = String::new();
        for level in 0..depth {
            raw += &format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n");
        }
        raw + "\ndeep"
    }

    #[test]
    fn depth_is_bounded() {
        let read = |depth| {
            let raw = nested(depth);
            let (headers, body) = Headers::parse(raw.as_bytes(), 0);
            collect_leaves(raw.as_bytes(), headers, body).map(|parts| parts.leaves.len())
        };
        assert_eq!(read(MIME_DEPTH), Ok(1));
        assert_eq!(read(MIME_DEPTH + 1), Err(TooDeep));
        assert_eq!(read(100_000), Err(TooDeep));
    }

    #[test]
    fn the_number_of_parts_is_bounded() {
        let raw = format!("Content-Type: multipart/mixed; boundary=x\n\n{}", "--x\n\na\n".repeat(PARTS + 10));
        let (headers, body) = Headers::parse(raw.as_bytes(), 0);
        let parts = collect_leaves(raw.as_bytes(), headers, body).unwrap();
        assert_eq!((parts.leaves.len(), parts.too_many), (PARTS, true));
    }
}
