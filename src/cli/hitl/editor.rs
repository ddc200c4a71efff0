//! Lets a person edit a message in their own editor: a `Subject:` line, an empty line, the text.

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{
    app::App,
    failpoint,
    model::{ItemId, action::ComposedMessage},
};

/// The editors that are tried when neither `VISUAL` nor `EDITOR` is set.
const FALLBACKS: [&str; 4] = ["editor", "nano", "vim", "vi"];
const SUBJECT: &str = "Subject:";
/// Begins the line with the words of a response. It is no part of the message.
const WORDS: &str = "You said (not sent):";

/// Opens the message in an editor, with the words of a response that was not understood beside the subject. Returns
/// subject and text as the person left them; none when nothing changed.
pub(super) fn edit_in_editor(
    app: &App,
    item: ItemId,
    message: &ComposedMessage,
    words: Option<&str>,
) -> anyhow::Result<Option<(String, String)>> {
    let text = open_editor(app, &item.to_string(), &render_message(message, words))?;
    Ok(parse_edited(message, &text))
}

/// Opens a text in an editor. Returns it as the person left it; none when it is empty.
pub(in crate::cli) fn edit_text(app: &App, name: &str, text: &str) -> anyhow::Result<Option<String>> {
    let text = open_editor(app, name, text)?.replace("\r\n", "\n");
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Opens a file with this text in the person's editor. Returns what the editor left.
fn open_editor(app: &App, name: &str, text: &str) -> anyhow::Result<String> {
    let file = Scratch::write(app.home.data().join(format!(".edit-{name}.txt")), text)?;
    let editor = find_editor()?;
    // Started by a shell, as other programs do, because the variable may contain arguments.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&file.0)
        .status()
        .with_context(|| format!("the editor ({editor}) could not be started"))?;
    if !status.success() {
        bail!("the editor ({editor}) ended with {status}; nothing was changed");
    }
    fs::read_to_string(&file.0).context("what the editor left cannot be read as text")
}

/// Returns the command of the person's editor.
fn find_editor() -> anyhow::Result<String> {
    let named = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let found = named("VISUAL").or_else(|| named("EDITOR")).or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let runs =
            |file: &Path| fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
        let there = |name: &&&str| env::split_paths(&path).any(|folder| runs(&folder.join(name)));
        FALLBACKS.iter().find(there).map(|name| (*name).to_owned())
    });
    found.context("no editor was found; set EDITOR, or use `adjutant hitl edit ITEM --text …`")
}

fn render_message(message: &ComposedMessage, words: Option<&str>) -> String {
    let words = words.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    let words = words.map_or_else(String::new, |words| format!("{WORDS} {words}\n"));
    format!("{SUBJECT} {}\n{words}\n{}\n", message.subject, message.body.trim_end())
}

/// Returns the edited subject and text; none for an empty file or one that says the same.
fn parse_edited(message: &ComposedMessage, file: &str) -> Option<(String, String)> {
    let file = file.replace("\r\n", "\n");
    let (subject, text) = match file.strip_prefix(SUBJECT) {
        Some(rest) => {
            let (subject, text) = rest.split_once('\n').unwrap_or((rest, ""));
            let text = match text.strip_prefix(WORDS) {
                Some(words) => words.split_once('\n').map_or("", |(_, text)| text),
                None => text,
            };
            (subject.trim().to_owned(), text.strip_prefix('\n').unwrap_or(text))
        }
        None => (message.subject.clone(), file.as_str()),
    };
    let same = subject == message.subject.trim() && text.trim_end() == message.body.trim_end();
    if text.trim().is_empty() || same {
        return None;
    }
    let end = if message.body.ends_with('\n') { "\n" } else { "" };
    Some((subject, format!("{}{end}", text.trim_end())))
}

/// A file for the editor that only this user can read and that is removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn write(path: PathBuf, text: &str) -> anyhow::Result<Self> {
        failpoint::around("scratch.write", || {
            drop(fs::remove_file(&path));
            let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            let mut file = opened.with_context(|| format!("{} cannot be written", path.display()))?;
            let scratch = Self(path);
            file.write_all(text.as_bytes())?;
            Ok(scratch)
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(failpoint::around("scratch.remove", || fs::remove_file(&self.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_left_is_read_generously() {
        let message =
            ComposedMessage {
                subject: "Re: keys".into(), body: "Hi Tom,\n\n…\n".into(), ..ComposedMessage::default()
            };
        let same = render_message(&message, None);
        let with_words = render_message(&message, Some("make it\nnicer"));
        assert!(
            with_words.starts_with("Subject: Re: keys\nYou said (not sent): make it nicer\n\nHi Tom,"),
            "{with_words}"
        );
        let edited = with_words.replace('…', "at five.");
        let new = |subject: &str, text: &str| Some((subject.to_owned(), text.to_owned()));
        for (file, expected) in [
            (same.as_str(), None),
            (with_words.as_str(), None),
            (edited.as_str(), new("Re: keys", "Hi Tom,\n\nat five.\n")),
            ("", None),
            ("\n\n", None),
            ("Subject: Re: keys\n\n  \n", None),
            ("Subject: Re: keys\n\nHi Tom,\n\nat five.\n\n\n", new("Re: keys", "Hi Tom,\n\nat five.\n")),
            ("Subject: Other\r\n\r\nHi\r\n", new("Other", "Hi\n")),
            ("Subject: Other\nHi\n", new("Other", "Hi\n")),
            ("Hi\n", new("Re: keys", "Hi\n")),
        ] {
            assert_eq!(parse_edited(&message, file), expected, "{file:?}");
        }
    }
}
