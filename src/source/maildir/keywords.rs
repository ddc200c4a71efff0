//! Labels as keywords of messages, where Dovecot serves the Maildir: other mail programs see them over IMAP.
//!
//! A keyword is a small letter among the flags of a file name. What a letter stands for is in the file `dovecot-keywords`
//! of each folder, which is replaced under Dovecot's own lock file. Elsewhere a label is only a row in the store, because
//! nothing would read the letter.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{INBOX, Maildir, deliver::rename_no_replace, name};
use crate::{durable_file::sync_folder, failpoint, source::SourceError};

/// The file with the keywords of a folder.
const KEYWORDS: &str = "dovecot-keywords";
/// The file that Dovecot keeps in every folder it serves.
const UID_LIST: &str = "dovecot-uidlist";
/// The lock under which the file is replaced. It becomes the new file.
const LOCK: &str = "dovecot-keywords.lock";
/// The letters that can stand for keywords.
const LETTERS: std::ops::RangeInclusive<char> = 'a'..='z';
/// The retry interval while another program has the lock.
const LOCKED: Duration = Duration::from_secs(5);

/// The keywords of one folder, by their letters.
#[derive(Debug, Default, PartialEq, Eq)]
struct FolderKeywords(Vec<(char, String)>);

impl FolderKeywords {
    fn read(folder: &Path) -> io::Result<Self> {
        match fs::read_to_string(folder.join(KEYWORDS)) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> Self {
        let entry = |line: &str| {
            let (number, keyword) = line.trim_end().split_once(' ')?;
            Some((LETTERS.clone().nth(number.parse().ok()?)?, keyword.to_owned()))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    fn render(&self) -> String {
        let number = |letter: char| u32::from(letter) - u32::from('a');
        self.0.iter().map(|(letter, keyword)| format!("{} {keyword}\n", number(*letter))).collect()
    }

    fn letter_of(&self, keyword: &str) -> Option<char> {
        self.0.iter().find(|(_, known)| known == keyword).map(|(letter, _)| *letter)
    }

    fn keyword_of(&self, letter: char) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == letter).map(|(_, keyword)| keyword.as_str())
    }

    /// Adds a keyword under the first free letter; none when all are taken.
    fn add(&mut self, keyword: &str) -> Option<char> {
        let letter = LETTERS.clone().find(|letter| self.keyword_of(*letter).is_none())?;
        self.0.push((letter, keyword.to_owned()));
        self.0.sort();
        Some(letter)
    }
}

/// Returns a label as an IMAP keyword, which has neither blanks nor letters outside ASCII; none if nothing is left of it.
pub(super) fn keyword_for(label: &str) -> Option<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let keyword: String = label.trim().chars().map(plain).collect();
    keyword.contains(|c: char| c.is_ascii_alphanumeric()).then_some(keyword)
}

/// Returns the name of a file with another set of flags.
fn with_flags(file: &Path, change: impl FnOnce(&mut Vec<char>)) -> OsString {
    let file_name = file.file_name().unwrap_or_default();
    let mut flags: Vec<char> = name::flags(file_name).chars().collect();
    change(&mut flags);
    flags.sort_unstable();
    flags.dedup();
    let mut renamed = name::unique_part(file_name);
    renamed.push(format!(":2,{}", flags.into_iter().collect::<String>()));
    renamed
}

/// The keywords of the messages of one Maildir.
pub(super) struct MaildirKeywords<'a>(pub(super) &'a Maildir);

impl MaildirKeywords<'_> {
    /// Returns whether Dovecot serves this Maildir, so that keywords are seen by other mail programs.
    pub(super) fn are_shown(&self) -> bool {
        [UID_LIST, KEYWORDS].iter().any(|file| self.0.folders.root().join(file).is_file())
    }

    /// Puts a label on a message as a keyword, or takes it off. Does nothing if it is so already.
    pub(super) fn set(&self, key: &str, label: &str, is_on: bool) -> Result<(), SourceError> {
        let mut state = self.0.lock();
        let path = self.0.locate_or_gone(&mut state, key)?;
        let folder = self.folder_of(&path);
        let letter = match self.find_letter(&folder, label)? {
            Some(letter) => letter,
            None if is_on => self.add_letter(&folder, label)?,
            None => return Ok(()),
        };
        let new_name = with_flags(&path, |flags| {
            flags.retain(|flag| *flag != letter);
            flags.extend(is_on.then_some(letter));
        });
        let target = folder.join("cur").join(new_name);
        if target == path {
            return Ok(());
        }
        failpoint::around("keyword.rename", || {
            rename_no_replace(&path, &target)?;
            sync_folder(&folder.join("cur"))
        })
        .map_err(|source| SourceError::Unreadable { key: key.to_owned(), source })?;
        for dir in [folder.join("cur"), folder.join("new")] {
            state.listings.invalidate(&dir);
        }
        Ok(())
    }

    /// Returns whether a message has a label as a keyword.
    pub(super) fn has(&self, key: &str, label: &str) -> Result<bool, SourceError> {
        let path = self.0.locate_or_gone(&mut self.0.lock(), key)?;
        let letter = self.find_letter(&self.folder_of(&path), label)?;
        Ok(letter.is_some_and(|letter| name::flags(path.file_name().unwrap_or_default()).contains(letter)))
    }

    /// Returns the flags that a message keeps in another folder, where other letters may stand for its keywords. A
    /// keyword that cannot be added there is left out.
    pub(super) fn flags_in_folder(&self, path: &Path, folder: &str) -> String {
        let flags = name::flags(path.file_name().unwrap_or_default());
        if !self.are_shown() {
            return flags;
        }
        let Ok(known) = FolderKeywords::read(&self.folder_of(path)) else { return flags };
        let target = self.0.folders.path(folder);
        let translate = |flag: char| {
            if !LETTERS.contains(&flag) {
                return Some(flag);
            }
            let keyword = known.keyword_of(flag)?;
            let there = FolderKeywords::read(&target).ok()?.letter_of(keyword);
            there.or_else(|| self.add_letter(&target, keyword).ok())
        };
        let mut flags: Vec<char> = flags.chars().filter_map(translate).collect();
        flags.sort_unstable();
        flags.into_iter().collect()
    }

    fn folder_of(&self, path: &Path) -> PathBuf {
        let folder = path.parent().and_then(Path::parent);
        folder.map_or_else(|| self.0.folders.path(INBOX), Path::to_owned)
    }

    fn find_letter(&self, folder: &Path, label: &str) -> Result<Option<char>, SourceError> {
        let keyword = keyword_for(label).ok_or_else(|| no_keyword(label))?;
        let known = FolderKeywords::read(folder).map_err(|error| self.0.unavailable(error))?;
        Ok(known.letter_of(&keyword))
    }

    /// Adds a keyword to a folder. The lock file is written first and then takes the place of the old file, as Dovecot
    /// itself does it.
    fn add_letter(&self, folder: &Path, label: &str) -> Result<char, SourceError> {
        let keyword = keyword_for(label).ok_or_else(|| no_keyword(label))?;
        let lock = folder.join(LOCK);
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&lock) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let problem = format!("another program has the lock {}", lock.display());
                return Err(SourceError::RetryLater { problem, after: LOCKED });
            }
            Err(error) => return Err(self.0.unavailable(error)),
        };
        let written = failpoint::around("keywords.write", || -> io::Result<Option<char>> {
            // Read again under the lock.
            let mut known = FolderKeywords::read(folder)?;
            let Some(letter) = known.letter_of(&keyword).or_else(|| known.add(&keyword)) else { return Ok(None) };
            file.write_all(known.render().as_bytes())?;
            file.sync_all()?;
            fs::rename(&lock, folder.join(KEYWORDS))?;
            sync_folder(folder)?;
            Ok(Some(letter))
        });
        if !matches!(written, Ok(Some(_))) {
            // The lock is ours, and nothing was put in its place.
            drop(fs::remove_file(&lock));
        }
        let letter = written.map_err(|error| self.0.unavailable(error))?;
        letter.ok_or_else(|| SourceError::Unsupported { what: "have more than 26 keywords in a folder".into() })
    }
}

fn no_keyword(label: &str) -> SourceError {
    SourceError::Unsupported {
        what: format!("show the label '{}', which has no letter of ASCII", label.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folders_keywords_are_read_and_written_as_dovecot_does() {
        let text = "0 $Forwarded\n1 bill\n3 Shop_A\n";
        let mut known = FolderKeywords::parse(text);
        assert_eq!(known.render(), text);
        assert_eq!(
            (known.letter_of("bill"), known.keyword_of('d'), known.letter_of("Bill")),
            (Some('b'), Some("Shop_A"), None)
        );
        assert_eq!(known.add("new"), Some('c'), "the first free letter");
        assert_eq!(known.render(), "0 $Forwarded\n1 bill\n2 new\n3 Shop_A\n");
        assert_eq!(FolderKeywords::parse("x y\n99 z\n\n5\n"), FolderKeywords::default());
        let mut full = FolderKeywords::default();
        for letter in LETTERS {
            full.add(&letter.to_string());
        }
        assert_eq!(full.add("one more"), None);
    }

    #[test]
    fn a_label_becomes_a_keyword_without_blanks() {
        for (label, expected) in
            [("bill", Some("bill")), ("To do", Some("To_do")), ("Büro", Some("B_ro")), ("חשבון", None), (" ", None)]
        {
            assert_eq!(keyword_for(label).as_deref(), expected, "{label}");
        }
    }

    #[test]
    fn flags_keep_their_order() {
        let renamed = |file: &str, letter: char| with_flags(Path::new(file), |flags| flags.push(letter));
        assert_eq!(renamed("/m/new/1.host", 'a'), "1.host:2,a");
        assert_eq!(renamed("/m/cur/1.host:2,FSb", 'a'), "1.host:2,FSab");
        assert_eq!(renamed("/m/cur/1.host:2,Sa", 'a'), "1.host:2,Sa");
    }
}
