//! A transport that accepts a message by moving it into a spool folder as a whole, and may fail before or after that.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use mail_parser::{HeaderValue, MessageParser};

/// What the transport does with the next messages, as the word in its mode file.
pub(super) const MODES: &[&str] = &["accept", "refuse", "busy", "accept-then-fail", "accept-then-die", "die"];

const SCRIPT: &str = r#"#!/bin/sh
# Accepts by a rename, so that a message is in the spool whole or not at all.
# The home may see another time; this file's name tells the real one.
unset LD_PRELOAD
cd "$(dirname "$0")" || exit 71
mode=$(cat mode)
case "$mode" in
  refuse) exit 64 ;;
  busy) cat > /dev/null; exit 75 ;;
  die) kill -KILL $$ ;;
esac
file=$(mktemp spool/tmp.XXXXXXXX) || exit 71
cat > "$file" || exit 71
# Whoever was killed before a byte was written wants nothing sent; no transport finds a recipient in it.
[ -s "$file" ] || exit 64
mv "$file" "spool/accepted.$(date +%s%N).$$"
case "$mode" in
  accept-then-fail) exit 75 ;;
  accept-then-die) kill -KILL $$ ;;
esac
"#;

/// Writes the program into its own folder; the path of it.
pub(super) fn install(folder: &Path) -> std::path::PathBuf {
    fs::create_dir_all(folder.join("spool")).unwrap();
    let program = folder.join("sendmail");
    fs::write(&program, SCRIPT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    set_mode(folder, "accept");
    program
}

pub(super) fn set_mode(folder: &Path, mode: &str) {
    fs::write(folder.join("mode"), mode).unwrap();
}

/// A message the transport has accepted, as its reader would see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) file: String,
    pub(super) answers: String,
    pub(super) to: Vec<String>,
    pub(super) subject: String,
    pub(super) text: String,
}

/// Everything that was accepted so far.
pub(super) fn accepted(folder: &Path) -> Vec<Accepted> {
    let spool = folder.join("spool");
    let names = crate::support::test_home::files_in(&spool).into_iter().filter(|name| name.starts_with("accepted."));
    names.map(|name| read(&fs::read(spool.join(&name)).unwrap(), name)).collect()
}

fn read(raw: &[u8], file: String) -> Accepted {
    let message = MessageParser::default().parse(raw).expect("what was handed over is a mail");
    let answers = match message.in_reply_to() {
        HeaderValue::Text(id) => id.to_string(),
        other => panic!("it answers nothing: {other:?}"),
    };
    let to = message.to().into_iter().flat_map(|list| list.clone().into_list());
    let to = to.filter_map(|person| person.address.map(|address| address.to_string())).collect();
    Accepted {
        file,
        answers,
        to,
        subject: message.subject().unwrap_or_default().to_owned(),
        text: plain(&message.body_text(0).unwrap_or_default()),
    }
}

/// Text without its line ends, so that a transfer encoding makes no difference.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
