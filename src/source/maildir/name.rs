//! File names in a Maildir and the keys that are made from them.
//!
//! A key is the folder in which the message was first seen and the unique part of its file name, so it survives every
//! move and change of flags. Every file name has a key, and the key gives back the same bytes. A name may be used again
//! later: the key of the next message that has it is the same key, a slash, and the digest of the content.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use crate::model::{Instant, ids::hex};

/// Returns the part of a file name before its flags.
pub(super) fn unique_part(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    let end = bytes.windows(3).rposition(|window| window == b":2,").unwrap_or(bytes.len());
    OsStr::from_bytes(bytes.get(..end).unwrap_or(bytes)).to_owned()
}

/// Returns the flags of a file name, such as `FS`.
pub(super) fn flags(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.rsplit_once(":2,")
        .map(|(_, flags)| flags.chars().filter(char::is_ascii_alphanumeric).collect())
        .unwrap_or_default()
}

/// Returns the key of a folder and a unique name. Bytes that are not UTF-8, control characters and `%` are
/// percent-encoded.
pub(super) fn make_key(folder: &str, unique: &OsStr) -> String {
    let mut key = format!("{folder}/");
    for chunk in unique.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '%' || c.is_control() {
                c.to_string().bytes().for_each(|byte| escape(&mut key, byte));
            } else {
                key.push(c);
            }
        }
        chunk.invalid().iter().for_each(|byte| escape(&mut key, *byte));
    }
    key
}

fn escape(key: &mut String, byte: u8) {
    key.push('%');
    key.push_str(&hex(&[byte]));
}

/// How many characters of a SHA-256 stand in a key or a name.
const DIGEST_CHARS: usize = 32;

/// Returns the beginning of a digest, as it stands in keys and names.
pub(super) fn short_digest(sha256: &str) -> &str {
    sha256.get(..DIGEST_CHARS).unwrap_or(sha256)
}

/// Returns the key of another message under a name that is taken.
pub(super) fn key_with_digest(base: &str, sha256: &str) -> String {
    format!("{base}/{}", short_digest(sha256))
}

/// Returns the digest in a key; none when the key has none.
pub(super) fn digest_of(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(_, digest)| digest).filter(|digest| key.matches('/').count() == 2 && is_digest(digest))
}

/// Returns the part of a key that comes from folder and name alone.
pub(super) fn base_of_key(key: &str) -> &str {
    digest_of(key).and_then(|_| key.rsplit_once('/')).map_or(key, |(base, _)| base)
}

/// Returns the name that a file is given where its own is taken by another message.
pub(super) fn name_with_digest(unique: &OsStr, sha256: &str) -> OsString {
    let mut name = unique.to_owned();
    name.push(format!(".{}", short_digest(sha256)));
    name
}

/// Returns the name that a file had before a digest was appended; none when its name has no digest.
pub(super) fn without_digest(unique: &OsStr) -> Option<&OsStr> {
    let bytes = unique.as_bytes();
    let (name, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST_CHARS + 1)?)?;
    let digest = std::str::from_utf8(digest).ok()?.strip_prefix('.')?;
    (is_digest(digest) && !name.is_empty()).then(|| OsStr::from_bytes(name))
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_CHARS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the folder and the unique name of a key; none for a key that could lead out of the folder.
pub(super) fn parse_key(key: &str) -> Option<(&str, OsString)> {
    let (folder, escaped) = base_of_key(key).split_once('/')?;
    let mut pieces = escaped.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(piece.get(2..)?.as_bytes());
    }
    let legal = !bytes.is_empty() && !bytes.starts_with(b".") && !bytes.contains(&b'/') && !bytes.contains(&0);
    legal.then(|| (folder, OsString::from_vec(bytes)))
}

/// Returns the time of delivery, with which delivery agents begin a file name. Unlike the file's mtime it survives
/// copying.
pub(super) fn delivered_at(unique: &OsStr) -> Option<Instant> {
    let name = unique.to_str()?;
    let (seconds, _) = name.split_once('.')?;
    if !(9..=10).contains(&seconds.len()) {
        return None;
    }
    Instant::from_unix(seconds.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_gives_a_key_and_comes_back() {
        for (name, expected) in [
            (&b"1700000000.M1P2.host"[..], "INBOX/1700000000.M1P2.host"),
            (b"1700000000.M1P2.host:2,FS", "INBOX/1700000000.M1P2.host"),
            (b"invoice 100%.eml", "INBOX/invoice 100%25.eml"),
            (b"\xff\n.eml", "INBOX/%ff%0a.eml"),
            ("שלום.eml".as_bytes(), "INBOX/שלום.eml"),
            (b"a:2,b:2,S", "INBOX/a:2,b"),
        ] {
            let unique = unique_part(OsStr::from_bytes(name));
            let key = make_key("INBOX", &unique);
            assert_eq!(key, expected);
            assert_eq!(parse_key(&key), Some(("INBOX", unique)), "{key}");
        }
    }

    #[test]
    fn keys_that_reach_elsewhere_are_none() {
        for key in [
            "INBOX",
            "INBOX/",
            "INBOX/../x",
            "INBOX/a/b",
            "INBOX/%2e%2e",
            "INBOX/a%2fb",
            "INBOX/%0",
            "INBOX/%00",
            "INBOX/%é",
        ] {
            assert_eq!(parse_key(key), None, "{key}");
        }
    }

    #[test]
    fn a_name_used_again_has_a_key_of_its_own() {
        let sha = "0123456789abcdef".repeat(4);
        let key = key_with_digest("INBOX/a%25b", &sha);
        assert_eq!(key, "INBOX/a%25b/0123456789abcdef0123456789abcdef");
        assert_eq!((base_of_key(&key), digest_of(&key)), ("INBOX/a%25b", Some(short_digest(&sha))));
        assert_eq!(parse_key(&key), Some(("INBOX", OsString::from("a%b"))));
        for plain in [
            "INBOX/a",
            "INBOX/0123456789abcdef0123456789abcdef",
            "INBOX/a/b",
            "INBOX/a/../0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!((base_of_key(plain), digest_of(plain)), (plain, None), "{plain}");
        }
        let taken = name_with_digest(OsStr::new("a"), &sha);
        assert_eq!(without_digest(&taken), Some(OsStr::new("a")));
        for own in ["a", ".0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"] {
            assert_eq!(without_digest(OsStr::new(own)), None, "{own}");
        }
    }

    #[test]
    fn delivery_times() {
        let at = |name: &str| delivered_at(OsStr::new(name)).map(|at| at.to_string());
        assert_eq!(at("1700000000.M1.host").as_deref(), Some("2023-11-14T22:13:20Z"));
        assert_eq!(at("invoice.eml"), None);
        assert_eq!(at("2024.eml"), None);
    }

    #[test]
    fn flags_are_read() {
        assert_eq!(flags(OsStr::new("a:2,FS")), "FS");
        assert_eq!(flags(OsStr::new("a")), "");
    }
}
