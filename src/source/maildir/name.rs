//! File names in a Maildir and the keys made of them.
//!
//! A key survives every move and flag change: it is the folder where the message was first seen and the unique part of
//! its name. Any file name gives a key, and the key gives back the same bytes.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use crate::model::{Instant, ids::hex};

/// The part of a file name before its flags.
pub(super) fn unique(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    let end = bytes.windows(3).rposition(|window| window == b":2,").unwrap_or(bytes.len());
    OsStr::from_bytes(bytes.get(..end).unwrap_or(bytes)).to_owned()
}

/// The flags of a file name, `FS`.
pub(super) fn flags(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.rsplit_once(":2,")
        .map(|(_, flags)| flags.chars().filter(char::is_ascii_alphanumeric).collect())
        .unwrap_or_default()
}

pub(super) fn key(folder: &str, unique: &OsStr) -> String {
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

/// The folder and the unique name a key was made of.
pub(super) fn parse_key(key: &str) -> Option<(&str, OsString)> {
    let (folder, escaped) = key.split_once('/')?;
    let mut pieces = escaped.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(piece.get(2..)?.as_bytes());
    }
    let legal = !bytes.is_empty() && !bytes.starts_with(b".") && !bytes.contains(&b'/') && !bytes.contains(&0);
    legal.then(|| (folder, OsString::from_vec(bytes)))
}

/// Delivery agents start a name with the second of delivery. Unlike the file's own time it survives copying.
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
            let unique = unique(OsStr::from_bytes(name));
            let key = key("INBOX", &unique);
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
