//! Parses what a part declares about itself: Content-Type and Content-Disposition.

use mail_parser::{ContentType, HeaderValue, parsers::MessageStream};

use super::header::{Headers, field_parser_input};
use crate::ingest::limits::PARAMETER_BYTES;

/// The declarations of one part. Types are in lower case. A missing or unreadable Content-Type becomes the default of
/// the context, usually `text/plain`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContentHeaders {
    pub(crate) main_type: String,
    pub(crate) sub_type: String,
    pub(crate) boundary: Option<String>,
    pub(crate) charset: Option<String>,
    /// The method of a calendar part.
    pub(crate) method: Option<String>,
    pub(crate) file_name: Option<String>,
    /// Whether lines that end with a space continue in the next (`format=flowed`, RFC 3676).
    pub(crate) is_flowed: bool,
    pub(crate) is_attachment: bool,
}

impl ContentHeaders {
    /// Parses the headers of a part. `default` is the type of a part that declares none.
    pub(crate) fn from_headers(headers: &Headers<'_>, default: (&str, &str)) -> ContentHeaders {
        let mut content = ContentHeaders {
            main_type: default.0.to_owned(),
            sub_type: default.1.to_owned(),
            ..ContentHeaders::default()
        };
        let mut name = None;
        read_parameters(headers, "Content-Type", |kind| {
            if let Some(sub) = kind.subtype() {
                kind.ctype().clone_into(&mut content.main_type);
                sub.trim().clone_into(&mut content.sub_type);
            }
            content.boundary = kind.attribute("boundary").map(|text| text.trim_end().to_owned());
            content.charset = kind.attribute("charset").map(str::to_owned);
            content.method = kind.attribute("method").map(str::to_owned);
            content.is_flowed = kind.attribute("format").is_some_and(|format| format.eq_ignore_ascii_case("flowed"));
            name = kind.attribute("name").map(str::to_owned);
        });
        read_parameters(headers, "Content-Disposition", |kind| {
            content.is_attachment = kind.ctype().eq_ignore_ascii_case("attachment");
            content.file_name = kind.attribute("filename").map(str::to_owned);
        });
        content.file_name = content.file_name.or(name).filter(|name| !name.trim().is_empty());
        content
    }

    pub(crate) fn is_type(&self, main: &str, sub: &str) -> bool {
        self.main_type == main && self.sub_type == sub
    }

    pub(crate) fn mime_type(&self) -> String {
        format!("{}/{}", self.main_type, self.sub_type)
    }

    /// Returns the boundary of a multipart; none for anything that cannot be split into parts.
    pub(crate) fn parts_boundary(&self) -> Option<&str> {
        self.boundary.as_deref().filter(|boundary| self.main_type == "multipart" && !boundary.is_empty())
    }

    /// Returns whether the part is another message.
    pub(crate) fn is_message(&self) -> bool {
        self.main_type == "message" && matches!(self.sub_type.as_str(), "rfc822" | "global")
    }
}

/// Parses a field with parameters and passes it to `take`, if it is there and can be parsed.
fn read_parameters(headers: &Headers<'_>, name: &str, take: impl FnOnce(&ContentType<'_>)) {
    let Some(value) = headers.first(name) else { return };
    let line = field_parser_input(value, PARAMETER_BYTES);
    if let HeaderValue::ContentType(kind) = MessageStream::new(&line).parse_content_type() {
        take(&kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(raw: &str) -> ContentHeaders {
        ContentHeaders::from_headers(&Headers::parse(raw.as_bytes(), 0).0, ("text", "plain"))
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
                (content.mime_type().as_str(), content.file_name.as_deref(), content.is_attachment),
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
