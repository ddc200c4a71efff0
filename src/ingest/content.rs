//! What a part says it is: Content-Type and Content-Disposition.

use mail_parser::{ContentType, HeaderValue, parsers::MessageStream};

use super::{
    header::{Headers, terminated},
    limits::PARAMETER_BYTES,
};

/// Types are lower case; a missing or unreadable Content-Type is `text/plain`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) main: String,
    pub(super) sub: String,
    pub(super) boundary: Option<String>,
    pub(super) charset: Option<String>,
    /// Of a calendar part.
    pub(super) method: Option<String>,
    pub(super) file_name: Option<String>,
    /// Lines ending in a space go on in the next (RFC 3676).
    pub(super) flowed: bool,
    pub(super) is_attachment: bool,
}

impl Content {
    pub(super) fn read(headers: &Headers<'_>, default: (&str, &str)) -> Content {
        let mut content = Content { main: default.0.to_owned(), sub: default.1.to_owned(), ..Content::default() };
        let mut name = None;
        parameters(headers, "Content-Type", |kind| {
            if let Some(sub) = kind.subtype() {
                kind.ctype().clone_into(&mut content.main);
                sub.trim().clone_into(&mut content.sub);
            }
            content.boundary = kind.attribute("boundary").map(|text| text.trim_end().to_owned());
            content.charset = kind.attribute("charset").map(str::to_owned);
            content.method = kind.attribute("method").map(str::to_owned);
            content.flowed = kind.attribute("format").is_some_and(|format| format.eq_ignore_ascii_case("flowed"));
            name = kind.attribute("name").map(str::to_owned);
        });
        parameters(headers, "Content-Disposition", |kind| {
            content.is_attachment = kind.ctype().eq_ignore_ascii_case("attachment");
            content.file_name = kind.attribute("filename").map(str::to_owned);
        });
        content.file_name = content.file_name.or(name).filter(|name| !name.trim().is_empty());
        content
    }

    pub(super) fn is(&self, main: &str, sub: &str) -> bool {
        self.main == main && self.sub == sub
    }

    pub(super) fn full(&self) -> String {
        format!("{}/{}", self.main, self.sub)
    }

    /// The boundary of a multipart that can be taken apart.
    pub(super) fn parts_boundary(&self) -> Option<&str> {
        self.boundary.as_deref().filter(|boundary| self.main == "multipart" && !boundary.is_empty())
    }

    /// Another whole message.
    pub(super) fn is_message(&self) -> bool {
        self.main == "message" && matches!(self.sub.as_str(), "rfc822" | "global")
    }
}

fn parameters(headers: &Headers<'_>, name: &str, take: impl FnOnce(&ContentType<'_>)) {
    let Some(value) = headers.first(name) else { return };
    let line = terminated(value, PARAMETER_BYTES);
    if let HeaderValue::ContentType(kind) = MessageStream::new(&line).parse_content_type() {
        take(&kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(raw: &str) -> Content {
        Content::read(&Headers::read(raw.as_bytes(), 0).0, ("text", "plain"))
    }

    #[test]
    fn types_and_names() {
        let table = [
            ("", "text/plain", None, false),
            ("Content-Type: TEXT/HTML; charset=\"x\"\n", "text/html", None, false),
            ("Content-Type: garbage\n", "text/plain", None, false),
            ("Content-Type: image/png; name=a.png\n", "image/png", Some("a.png"), false),
            (
                "Content-Type: image/png;\n name=a.png\nContent-Disposition: ATTACHMENT;\n\tfilename=\"b c.png\"\n",
                "image/png",
                Some("b c.png"),
                true,
            ),
            ("Content-Disposition: attachment; filename*=utf-8''%D7%A9.txt\n", "text/plain", Some("ש.txt"), true),
            ("Content-Disposition: inline; filename=\"=?utf-8?B?16k=?=.txt\"\n", "text/plain", Some("ש.txt"), false),
            ("Content-Disposition: attachment; filename*0=\"a\"; filename*1=\"b\"\n", "text/plain", Some("ab"), true),
        ];
        for (raw, full, name, attachment) in table {
            let content = content(raw);
            assert_eq!(
                (content.full().as_str(), content.file_name.as_deref(), content.is_attachment),
                (full, name, attachment),
                "{raw}"
            );
        }
    }

    #[test]
    fn only_a_multipart_has_parts() {
        assert_eq!(content("Content-Type: multipart/mixed; boundary=\"a b \"\n").parts_boundary(), Some("a b"));
        assert_eq!(content("Content-Type: text/plain; boundary=a\n").parts_boundary(), None);
        assert_eq!(content("Content-Type: multipart/mixed; boundary=\"\"\n").parts_boundary(), None);
    }
}
