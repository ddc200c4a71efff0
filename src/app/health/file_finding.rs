//! What `doctor` finds wrong with the files and folders of a home beside the database.

use std::{fs, io, path::Path};

use crate::{
    app::{Finding, FindingCode, HealthUseCases, audit::epoch_problem},
    config::{AccountConfig, AccountKind},
    regular_file,
};

impl HealthUseCases<'_> {
    /// Returns what is wrong with the files of the home. Each is checked, whether or not anything has failed because of
    /// it.
    pub(in crate::app) fn find_file_faults(self) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        found.extend(find_queue_fault(&self.app.home.queue()));
        found.extend(epoch_problem(&self.app.home.epoch_file()).map(|problem| {
            let remedy = "remove it; the next `once` or `run` then takes the data for restored: approvals are void, accounts observe";
            Finding::new(FindingCode::EpochDamaged, problem, remedy)
        }));
        found.extend(find_copy_fault(&self.app.home.last_good_rules()));
        found.extend(find_lock_fault(&self.app.home.lock_file()));
        found
    }
}

/// Returns what is wrong with the Sent folder of a Maildir. A missing one is right before the first send.
pub(in crate::app) fn find_sent_fault(account: &AccountConfig) -> Option<Finding> {
    let AccountKind::Maildir { path, .. } = &account.kind else { return None };
    let sent = path.join(crate::source::maildir::SENT);
    let looked_into = ["new", "cur"].map(|state| sent.join(state)).into_iter().chain([sent.clone()]);
    let problem = looked_into.filter_map(|folder| Some((fs::read_dir(&folder).err()?, folder)));
    let (error, folder) = problem.into_iter().find(|(error, _)| error.kind() != io::ErrorKind::NotFound)?;
    let what = format!(
        "account {}: {} cannot be read ({error}), so mail you sent yourself is not seen and nothing can be saved there",
        account.name,
        folder.display()
    );
    Some(Finding::new(FindingCode::SentUnreadable, what, "make it a folder that this user can read and write"))
}

/// Returns why the queue's folder cannot be used. A missing one is right, because the worker creates it.
fn find_queue_fault(queue: &Path) -> Option<Finding> {
    let folders = [queue.to_owned(), queue.join("quarantine")];
    let problem = folders.into_iter().filter_map(|folder| Some((folder_problem(&folder).err()?, folder)));
    let (error, folder) = problem.into_iter().find(|(error, _)| error.kind() != io::ErrorKind::NotFound)?;
    let what = format!(
        "{} cannot be used ({error}), so what waits for you is not written there and dropped decisions are not read",
        folder.display()
    );
    Some(Finding::new(FindingCode::QueueUnusable, what, "make it a folder of this user with mode 0700, or remove it"))
}

/// Checks that a folder can be listed and written to by this user.
fn folder_problem(folder: &Path) -> io::Result<()> {
    fs::read_dir(folder)?;
    let needed = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(folder, needed).map_err(Into::into)
}

/// Returns why the copy of the last good rules cannot be read or replaced.
fn find_copy_fault(copy: &Path) -> Option<Finding> {
    let error = regular_file::read_to_string(copy).err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
    let what = format!("the last good rules cannot be kept, {} cannot be read: {error}", copy.display());
    Some(Finding::new(FindingCode::LastGoodUnusable, what, "remove it; it is written again from the rules file"))
}

/// Returns why the worker lock cannot be taken, so that no process can be the worker.
fn find_lock_fault(lock: &Path) -> Option<Finding> {
    let opened = regular_file::open_with(fs::OpenOptions::new().read(true).write(true), lock);
    let error = opened.err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
    let what = format!("no mail is read and nothing is done, {} cannot be opened: {error}", lock.display());
    Some(Finding::new(FindingCode::LockUnusable, what, "remove it; it is made again at the next start"))
}
