//! Looks for what an answer can be made of: files under `data/files` by their names, and the person's own answers to the
//! same question. It never looks into another account.

use std::{
    collections::HashSet,
    fs, io,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant as StdInstant},
};

use crate::{
    graph::CallContext,
    model::{Direction, Mail, MailId, Me, TaskId},
    reading, regular_file,
    store::{SkipUnreadable as _, Store, StoreReader},
    tool::{EarlierAnswer, FoundFile},
};

/// More files are not compared with every request.
const MOST_FILES: usize = 2000;
/// Whether there are files at all is looked up again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// The mails of a conversation in which an answer is looked for.
const THREAD_MAILS: usize = 20;
/// The longest earlier answer that is offered again, in characters.
const LONGEST_ANSWER: usize = 1500;
/// So many words that two questions share make them the same, if they are most of the shorter one.
const SHARED_WORDS: usize = 3;
/// A word of so many letters may be all that a file name shares with a request.
const TELLING_WORD: usize = 7;

/// Whether the folder of files holds any, looked up every now and then.
#[derive(Default)]
pub struct FilesPresence(Mutex<Option<(StdInstant, bool)>>);

impl FilesPresence {
    pub(in crate::graph) fn is_known(&self, folder: &Path) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some((at, present)) if at.elapsed() < LOOK_AGAIN => present,
            _ => {
                let present = list_files(folder).is_ok_and(|files| !files.is_empty());
                *known = Some((StdInstant::now(), present));
                present
            }
        }
    }
}

/// Returns the names of the files directly in the folder, in order. Hidden ones are not offered to anybody.
fn list_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.take(MOST_FILES) {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if !name.is_empty() && !name.starts_with('.') && entry.file_type()?.is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns for each request the one file that it asks for by name; none where it is not certain which.
pub(in crate::graph) fn find_files(folder: &Path, requests: &[String], me: &Me) -> Vec<Option<String>> {
    // The folder need not exist.
    let names = list_files(folder).unwrap_or_default();
    requests.iter().map(|request| choose_file(&names, request, me).map(str::to_owned)).collect()
}

/// Returns a file with its bytes; none if it is gone, or too large to be sent unseen.
pub(in crate::graph) fn read_file(folder: &Path, name: &str) -> io::Result<Option<FoundFile>> {
    let is_plain =
        !name.is_empty() && !name.starts_with('.') && Path::new(name).file_name().is_some_and(|file| file == name);
    let path = folder.join(name);
    if !is_plain || !fs::symlink_metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= FoundFile::MAX_BYTES)
    {
        return Ok(None);
    }
    Ok(Some(FoundFile::new(name.to_owned(), &regular_file::read(&path)?)))
}

/// Returns the file that shares the most words with a request, if they are enough and no other shares as many.
fn choose_file<'a>(names: &'a [String], request: &str, me: &Me) -> Option<&'a str> {
    let own: HashSet<String> = me.names.iter().flat_map(|name| reading::content_words(name)).collect();
    let asked = reading::content_words(request);
    let shared = |name: &str| {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).replace(['-', '_', '.', '(', ')'], " ");
        let words = reading::content_words(&stem).into_iter().filter(|word| !own.contains(word));
        let words: Vec<String> = words.filter(|word| word.chars().any(char::is_alphabetic)).collect();
        let common: Vec<&String> = words.iter().filter(|word| asked.contains(word)).collect();
        let is_whole = common.len() == words.len() && common.iter().any(|word| word.chars().count() >= TELLING_WORD);
        (common.len() >= 2 || is_whole).then_some(common.len())
    };
    let mut found: Vec<(usize, &str)> = names.iter().filter_map(|name| Some((shared(name)?, name.as_str()))).collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    match found.as_slice() {
        [(most, _), (next, _), ..] if most == next => None,
        [(_, name), ..] => Some(name),
        [] => None,
    }
}

/// Returns what the person answered to the same question in another conversation, the newest first. `documents` are those that
/// were found for the task.
pub(in crate::graph) fn find_earlier_answer(
    store: &Store,
    asker: CallContext<'_>,
    question: &str,
    documents: &[String],
) -> crate::store::Result<Option<EarlierAnswer>> {
    let Some(mail) = asker.mail else { return Ok(None) };
    let answers = store.read_blocking(|reader| {
        let mut answers = Vec::new();
        for document in documents {
            let Some(asked_in) = mail_of_document(reader, document)? else { continue };
            answers.extend(answer_in_conversation(reader, asker, mail, (asked_in, question))?);
        }
        Ok(answers)
    })?;
    Ok(answers.into_iter().max_by_key(|answer| answer.at))
}

/// Returns the mail that a document is, or that its task came from.
fn mail_of_document(reader: &StoreReader<'_>, doc: &str) -> crate::store::Result<Option<MailId>> {
    if let Some(number) = doc.strip_prefix("mail:") {
        return Ok(number.parse().ok().map(MailId));
    }
    let task_id = doc.strip_prefix("task:").and_then(|id| id.parse::<TaskId>().ok());
    let Some(task_id) = task_id else { return Ok(None) };
    Ok(reader.tasks().get(task_id).skip_unreadable()?.and_then(|row| row.mail_id))
}

/// Returns the person's own answer in the conversation of a mail, if the mail asks the same question.
fn answer_in_conversation(
    reader: &StoreReader<'_>,
    asker: CallContext<'_>,
    mail: &Mail,
    (asked_in, question): (MailId, &str),
) -> crate::store::Result<Option<EarlierAnswer>> {
    let Some(earlier) = reader.mails().get(asked_in).skip_unreadable()? else { return Ok(None) };
    let is_own = |mail: &Mail, id: MailId| mail.thread == earlier.thread && id != asked_in;
    if earlier.thread == mail.thread || !asks_the_same(question, &earlier.text) {
        return Ok(None);
    }
    let thread = reader.mails().of_thread(&asker.run.account, &earlier.thread, THREAD_MAILS)?;
    for (mail_id, answer) in thread.into_iter().filter(|(id, answer)| is_own(answer, *id)) {
        let is_out = reader.ledger().get(mail_id)?.is_some_and(|row| row.direction == Direction::Out);
        let goes_back = answer.to.iter().any(|to| to.addr == earlier.from.addr) && answer.date > earlier.date;
        let length = answer.text.trim().chars().count();
        if is_out && goes_back && (1..=LONGEST_ANSWER).contains(&length) && answer.attachments.is_empty() {
            return Ok(Some(EarlierAnswer {
                mail_id,
                to: earlier.from.label().to_owned(),
                at: answer.date,
                subject: answer.subject.clone(),
                text: answer.text.trim().to_owned(),
            }));
        }
    }
    Ok(None)
}

/// Returns whether a text has a sentence that asks what the question asks.
fn asks_the_same(question: &str, text: &str) -> bool {
    let asked = reading::content_words(question);
    text.split_inclusive(['?', '!', '\n']).filter(|sentence| sentence.contains('?')).any(|sentence| {
        let words = reading::content_words(sentence);
        let shared = asked.iter().filter(|word| words.contains(word)).count();
        shared >= SHARED_WORDS && shared * 10 >= asked.len().min(words.len()) * 6
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_chosen_by_the_words_of_its_name_or_not_at_all() {
        let me = Me { names: vec!["Ada Berg".into()], ..Me::in_zone(chrono_tz::UTC) };
        let files =
            ["Ada Berg price list 2026.pdf", "price-list-2025.pdf", "Lebenslauf.pdf", "insurance certificate.pdf"];
        let files: Vec<String> = files.map(str::to_owned).to_vec();
        let chosen = |request: &str| choose_file(&files, request, &me);
        assert_eq!(chosen("Please send me the certificate of your insurance."), Some("insurance certificate.pdf"));
        assert_eq!(chosen("Bitte schicken Sie mir Ihren Lebenslauf."), Some("Lebenslauf.pdf"));
        // Two lists of prices: only the person knows which.
        assert_eq!(chosen("Could you email me your price list?"), None);
        assert_eq!(chosen("Could you send me the list of guests?"), None);
        assert_eq!(chosen("Please send Ada Berg the figures."), None);
    }

    #[test]
    fn a_question_is_the_same_if_it_shares_most_of_its_words() {
        let question = "Do you bring your own headset or should we provide one for you?";
        assert!(asks_the_same(
            question,
            "Hi,\n\nquick question: do you bring your own headset, or should we provide one?\n"
        ));
        assert!(!asks_the_same(question, "Do you bring the children?"));
        assert!(!asks_the_same(question, "I bring my own headset, you need not provide one."));
    }
}
