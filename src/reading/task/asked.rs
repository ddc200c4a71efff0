//! What a sentence asks that the program can answer with what it knows for certain.

use crate::model::{ExtractedTask, Mail, TaskKind, reading::Asked};
use crate::reading::{
    conversation::says,
    lexicon::{Lexicon, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::{clause::Clause, score::ScoredSentence},
};

/// How many words may stand between asking for a confirmation and the arrival that is to be confirmed.
const CONFIRM_REACH: usize = 12;
/// How many words may stand between an arrival and what has arrived.
const THING_REACH: usize = 4;
/// How many words behind a conjunction are another request.
const REQUEST_WORDS: usize = 3;

pub(in crate::reading) fn find_asked(scored: &ScoredSentence<'_>, has_attachments: bool) -> Option<Asked> {
    let words: Vec<&str> = scored.sentence.words().collect();
    let has = |list: WordList, word: &str| Lexicon::of(scored.sentence.language).has_word(list, word);
    let at = find_receipt_request(scored, &words, has_attachments, &has)?;
    let mut joined = words.iter().enumerate().skip(at + 1).filter(|(_, word)| has(WordList::Conjunctions, word));
    let asks_more = joined.any(|(nth, _)| words.len() > nth + REQUEST_WORDS);
    Some(if asks_more { Asked::ReceiptAndMore } else { Asked::Receipt })
}

/// Returns the place of the word by which the writer asks whether this mail has arrived. A parcel, a payment or a key
/// is not in the mail: whether it has arrived, only the person knows.
fn find_receipt_request(
    scored: &ScoredSentence<'_>,
    words: &[&str],
    has_attachments: bool,
    has: &impl Fn(WordList, &str) -> bool,
) -> Option<usize> {
    let after = |at: usize, reach: usize| words.iter().skip(at + 1).take(reach);
    let is_last = |word: &str| words.last().is_some_and(|last| std::ptr::eq(*last, word));
    let is_sent = |word: &&str| {
        has(WordList::ReceiptThings, word)
            || (has_attachments && has(WordList::ReceiptPronouns, word))
            || (is_last(word) && has(WordList::MailPointers, word))
    };
    let names_mail = |at: usize| match after(at, 1).next() {
        Some(next) if has(WordList::ReceiptLinks, next) => after(at, THING_REACH).any(is_sent),
        _ => true,
    };
    let place = |list: WordList| words.iter().position(|word| has(list, word));
    if let Some(at) = words.iter().position(|word| has(WordList::ReceiptWishes, word)) {
        return names_mail(at).then_some(at);
    }
    if says(scored, WordList::ReceiptWishes) {
        return Some(words.len().saturating_sub(1));
    }
    let confirms = place(WordList::ConfirmVerbs)?;
    let noun = place(WordList::ReceiptNouns).filter(|at| confirms.abs_diff(*at) <= CONFIRM_REACH && names_mail(*at));
    noun.or_else(|| {
        let arrives = after(confirms, CONFIRM_REACH).position(|word| has(WordList::ArrivalVerbs, word))?;
        let between = after(confirms, arrives).any(is_sent);
        let at = confirms + 1 + arrives;
        (between || after(at, THING_REACH).any(is_sent)).then_some(at)
    })
}

/// Returns the kind of a task whose request can be answered at once: where an answer is all that is asked for, the
/// task is a question, whatever its form.
pub(super) fn kind_for_asked(
    kind: TaskKind,
    asked: Option<Asked>,
    clause: &Clause,
    scored: &ScoredSentence<'_>,
) -> TaskKind {
    let answers = Lexicon::of(scored.sentence.language).has_word(WordList::AnswerVerbs, &clause.verb);
    match (kind, asked) {
        (TaskKind::Request | TaskKind::Deadline, Some(Asked::Receipt)) => TaskKind::Question,
        (TaskKind::Request | TaskKind::Deadline, Some(Asked::ReceiptAndMore)) if answers => TaskKind::Question,
        _ => kind,
    }
}

/// Joins a request to confirm the receipt with a question of the same mail: one answer does both.
pub(in crate::reading) fn join_receipt_with_question(
    tasks: &mut Vec<ExtractedTask>,
    annotated: &AnnotatedMail<'_>,
    mail: &Mail,
) {
    if !annotated.sentences.iter().any(|scored| find_asked(scored, !mail.attachments.is_empty()).is_some()) {
        return;
    }
    let is_question = |task: &&mut ExtractedTask| task.kind == TaskKind::Question && task.asked.is_none();
    if let Some(question) = tasks.iter_mut().find(is_question) {
        question.asked = Some(Asked::ReceiptAndMore);
        tasks.retain(|task| task.asked != Some(Asked::Receipt));
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Address, Attachment, Mail, TaskKind, reading::Asked};
    use crate::reading::{ReadContext, read, read_tests};

    /// What is asked in the first task of a mail with this text, and how many tasks there are.
    fn asked(text: &str, with_file: bool) -> (Option<Asked>, Option<TaskKind>, usize) {
        let me = read_tests::me();
        let file = || Attachment {
            name: "form.pdf".into(),
            content_type: "application/pdf".into(),
            size: 9,
            sha256: String::new(),
        };
        let mail = Mail {
            from: Address { name: Some("Tom Baker".into()), addr: "tom@bakerand.example".into() },
            to: vec![Address { name: None, addr: me.addresses.first().cloned().unwrap() }],
            subject: "The form".into(),
            text: text.into(),
            attachments: with_file.then(file).into_iter().collect(),
            ..Mail::default()
        };
        let now = "2026-11-16T08:00:00Z".parse().unwrap();
        let context = ReadContext {
            me: &me,
            now,
            known_contact: true,
            thread_mine: false,
            second_reading: &[],
            is_genuine: false,
        };
        let tasks = read(&mail, &context).tasks;
        (tasks.first().and_then(|task| task.asked), tasks.first().map(|task| task.kind), tasks.len())
    }

    #[test]
    fn a_receipt_is_asked_for_in_three_languages() {
        for (text, file) in [
            ("Please confirm receipt of this order by return e-mail.", false),
            ("Kindly acknowledge receipt.", false),
            ("Could you please confirm that you received my email?", false),
            ("Please confirm that they have arrived safely.", true),
            ("Bitte bestätigen Sie mir kurz den Eingang dieser Mail.", false),
            ("Kannst du mir bitte bestätigen, dass du die Unterlagen erhalten hast?", false),
            ("נא לאשר קבלת המייל.", false),
        ] {
            assert_eq!(asked(text, file), (Some(Asked::Receipt), Some(TaskKind::Question), 1), "{text}");
        }
    }

    #[test]
    fn what_is_not_in_the_mail_is_not_confirmed() {
        for text in [
            "Please confirm receipt of the payment.",
            "Please confirm that the parcel has arrived.",
            "Please confirm that it has arrived.",
            "Please confirm by tomorrow that this will be the case.",
            "Please confirm once the payment is done.",
            "Bitte bestätigen Sie den Eingang der Zahlung.",
            "When will you be back at the house?",
            "נשמח לאישור הגעה.",
        ] {
            assert_eq!(asked(text, false).0, None, "{text}");
        }
    }

    #[test]
    fn a_receipt_beside_a_question_is_one_task() {
        for text in [
            "When will you be back at the house? I have the keys. Please confirm receipt of this mail.",
            "Could you confirm that you received this mail, and let me know when you will be back at the house?",
        ] {
            assert_eq!(asked(text, false), (Some(Asked::ReceiptAndMore), Some(TaskKind::Question), 1), "{text}");
        }
    }
}
