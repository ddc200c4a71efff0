//! The usual places of mailboxes on a machine. Only names are read, never mail.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{config::Surroundings, regular_file};

/// The most mailboxes that are offered.
const MOST_FOUND: usize = 40;
/// The most entries of one folder that are looked at.
const MOST_ENTRIES: usize = 2_000;
/// How deep below a usual place a mailbox may be: that of a mail program is in its profile, its account and its folder.
const MOST_DEPTH: usize = 4;
/// Where mail is below the home of a user, in the order in which they are offered.
const PLACES: [&str; 14] = [
    "Maildir",
    ".maildir",
    "Mail",
    "mail",
    ".mail",
    ".local/share/mail",
    ".local/share/local-mail",
    ".local/share/evolution/mail",
    "mbox",
    ".thunderbird",
    "snap/thunderbird/common/.thunderbird",
    ".var/app/org.mozilla.Thunderbird/.thunderbird",
    "Library/Thunderbird/Profiles",
    "Library/Mail",
];
/// Where mail of all users is, by their names.
const SPOOLS: [&str; 2] = ["var/mail", "var/spool/mail"];

/// How mail is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MailboxFormat {
    /// One file per mail. Such a mailbox can be followed.
    Maildir,
    /// One file for all mail. It can be looked at and imported; new mail in it is not noticed.
    Mbox,
}

/// A mailbox in one of the usual places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundMailbox {
    pub path: PathBuf,
    pub format: MailboxFormat,
    /// How many mails the inbox of a Maildir has, up to a limit.
    pub mails: usize,
    /// The size of an mbox.
    pub bytes: u64,
}

/// Looks for mailboxes. `root` is the root of the file system; tests give another.
pub(super) fn find_mailboxes(surroundings: &Surroundings, root: &Path) -> Vec<FoundMailbox> {
    let mut search = MailboxSearch::default();
    if let Some(home) = &surroundings.user_home {
        for place in PLACES {
            search.look_at(&home.join(place), MOST_DEPTH);
        }
    }
    if let Some(name) = &surroundings.user_name {
        for spool in SPOOLS {
            search.look_at(&root.join(spool).join(name), 0);
        }
    }
    search.found
}

#[derive(Default)]
struct MailboxSearch {
    found: Vec<FoundMailbox>,
    /// The real paths that were looked at, because places may be links to each other.
    seen: Vec<PathBuf>,
}

impl MailboxSearch {
    /// Adds the mailbox at a path, or those in the folders below it.
    fn look_at(&mut self, path: &Path, depth: usize) {
        let Ok(real) = fs::canonicalize(path) else { return };
        if self.found.len() >= MOST_FOUND || self.seen.contains(&real) {
            return;
        }
        self.seen.push(real);
        let Ok(meta) = fs::metadata(path) else { return };
        if meta.is_file() {
            self.add_mbox(path, meta.len());
        } else if ["new", "cur"].iter().all(|state| path.join(state).is_dir()) {
            let mails = ["new", "cur"].iter().map(|state| count_entries(&path.join(state))).sum();
            self.found.push(FoundMailbox { path: path.to_owned(), format: MailboxFormat::Maildir, mails, bytes: 0 });
        } else if depth > 0 && meta.is_dir() {
            let Ok(entries) = fs::read_dir(path) else { return };
            let mut below: Vec<PathBuf> =
                entries.take(MOST_ENTRIES).filter_map(Result::ok).map(|entry| entry.path()).collect();
            below.sort();
            below.iter().filter(|path| may_hold_mail(path)).for_each(|path| self.look_at(path, depth - 1));
        }
    }

    /// Adds a file that begins as an mbox does.
    fn add_mbox(&mut self, path: &Path, bytes: u64) {
        let mut head = [0; 5];
        let begins = regular_file::open(path).and_then(|mut file| file.read_exact(&mut head));
        if begins.is_ok() && &head == b"From " {
            self.found.push(FoundMailbox { path: path.to_owned(), format: MailboxFormat::Mbox, mails: 0, bytes });
        }
    }
}

/// Returns whether a name below a place of mail can be that of a mailbox: the index files of mail programs are not, nor
/// are their caches.
fn may_hold_mail(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    !["cache", "trash", "junk", "spam", "drafts", "templates"].iter().any(|no| name.contains(no))
        && !["msf", "dat", "html", "json", "sqlite", "js", "log"].iter().any(|no| name.ends_with(&format!(".{no}")))
}

fn count_entries(folder: &Path) -> usize {
    fs::read_dir(folder).map(|entries| entries.take(MOST_ENTRIES).count()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_are_found_where_mail_programs_keep_them() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home/you");
        for folder in ["Maildir", "Mail/work/INBOX", "Mail/work/Trash"] {
            for state in ["new", "cur", "tmp"] {
                fs::create_dir_all(home.join(folder).join(state)).unwrap();
            }
        }
        fs::write(home.join("Maildir/new/1"), "Subject: a\n\nb").unwrap();
        std::os::unix::fs::symlink(home.join("Maildir"), home.join("mail")).unwrap();
        let thunderbird = home.join(".thunderbird/abc.default/Mail/Local Folders");
        fs::create_dir_all(&thunderbird).unwrap();
        fs::create_dir_all(root.path().join("var/mail")).unwrap();
        for (file, text) in [
            (thunderbird.join("Inbox"), "From - Mon\nSubject: a\n\nb\n"),
            (thunderbird.join("Inbox.msf"), "From here"),
            (thunderbird.join("notes"), "nothing of mail"),
            (root.path().join("var/mail/you"), "From a@b Mon\n\n"),
            (root.path().join("var/mail/other"), "From a@b Mon\n\n"),
        ] {
            fs::write(file, text).unwrap();
        }
        let surroundings =
            Surroundings { user_home: Some(home.clone()), user_name: Some("you".into()), time_zone: None };
        let found = find_mailboxes(&surroundings, root.path());
        let paths: Vec<_> = found.iter().map(|found| found.path.clone()).collect();
        let expected = [
            home.join("Maildir"),
            home.join("Mail/work/INBOX"),
            thunderbird.join("Inbox"),
            root.path().join("var/mail/you"),
        ];
        assert_eq!(paths, expected);
        assert_eq!((found[0].format, found[0].mails), (MailboxFormat::Maildir, 1));
        assert_eq!(found[2].format, MailboxFormat::Mbox);
    }
}
