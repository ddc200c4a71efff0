//! What an answer can be made of without knowing more than the person's own files and mails: a file that is asked for, or
//! what they answered to the same question before.

use mail_builder::{headers::content_type::ContentType, mime::MimePart};
use serde::{Deserialize, Serialize};

use crate::model::{Attachment, Instant, MailId, ids::sha256_hex};

/// What was found for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum FoundMaterial {
    File(FoundFile),
    Answer(EarlierAnswer),
}

/// A file of the folder `data/files`, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    pub name: String,
    /// Its bytes, in hexadecimal figures.
    pub bytes: String,
}

/// What the person answered to the same question in another conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierAnswer {
    pub mail_id: MailId,
    /// Whom they answered.
    pub to: String,
    pub at: Option<Instant>,
    pub subject: String,
    /// Their own words.
    pub text: String,
}

impl FoundFile {
    /// A larger file is left to the person.
    pub const MAX_BYTES: u64 = 2 << 20;

    pub fn new(name: String, bytes: &[u8]) -> Self {
        const FIGURES: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let figure = |half: u8| FIGURES.get(usize::from(half)).copied().unwrap_or('0');
        let bytes = bytes.iter().flat_map(|byte| [figure(byte >> 4), figure(byte & 15)]).collect();
        Self { name, bytes }
    }

    fn decode(&self) -> Vec<u8> {
        let half = |figure: &u8| char::from(*figure).to_digit(16).and_then(|half| u8::try_from(half).ok()).unwrap_or(0);
        let pairs = self.bytes.as_bytes().chunks_exact(2);
        pairs.map(|pair| pair.iter().fold(0, |byte, figure| (byte << 4) | half(figure))).collect()
    }

    pub(super) fn to_part(&self) -> FilePart {
        FilePart { name: self.name.clone(), bytes: self.decode() }
    }
}

/// A file as a part of a message.
pub(super) struct FilePart {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

impl FilePart {
    /// Returns the type by which mail programs open the file. A text has none, so that no program changes its lines.
    fn content_type(&self) -> &'static str {
        let ending = self.name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        match ending.as_str() {
            "pdf" => "application/pdf",
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "zip" => "application/zip",
            "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "odt" => "application/vnd.oasis.opendocument.text",
            _ => "application/octet-stream",
        }
    }

    /// Returns the attachment as it is shown to a person.
    pub(super) fn shown(&self) -> Attachment {
        Attachment {
            name: self.name.clone(),
            content_type: self.content_type().to_owned(),
            size: self.bytes.len() as u64,
            sha256: sha256_hex(&self.bytes),
        }
    }

    fn into_mime(self) -> MimePart<'static> {
        MimePart::new(ContentType::new(self.content_type()), self.bytes).attachment(self.name)
    }
}

/// Returns a body of a text and files. The boundary is derived from the idempotency key, so that it is always the same.
pub(super) fn body_with_files(token: &str, body: &str, files: Vec<FilePart>) -> MimePart<'static> {
    let mixed = ContentType::new("multipart/mixed").attribute("boundary", format!("=_{token}"));
    let text = ContentType::new("text/plain").attribute("charset", "utf-8");
    let parts = std::iter::once(MimePart::new(text, body.to_owned()));
    MimePart::new(mixed, parts.chain(files.into_iter().map(FilePart::into_mime)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_file_survive() {
        let bytes: Vec<u8> = (0..=255).collect();
        let file = FoundFile::new("table.CSV".into(), &bytes);
        let part = file.to_part();
        assert_eq!(part.bytes, bytes);
        assert_eq!((part.shown().content_type.as_str(), part.shown().size), ("application/octet-stream", 256));
    }
}
