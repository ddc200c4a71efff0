//! Cuts a mail's text into sentences and gives each a plain form to match words against.
//!
//! Owns where a sentence starts and ends, and which language it is in. Nothing in here knows what a sentence means.

use super::language_change::cut_at_changes;
pub(in crate::reading) use crate::plain_text::{normalise, normalise_spaces_and_quotes};
use crate::reading::{
    language::{Language, LanguageScores},
    lexicon::{Lexicon, WordList},
};

/// Longer texts are read up to here: what nobody scrolls to decides nothing.
pub(super) const READ_LIMIT: usize = 64 * 1024;

/// More sentences than any person writes; keeps hostile mail from buying time.
const MAX_SENTENCES: usize = 600;

/// Bytes of a sentence: a longer one is cut between words. Questions about a phrase look at the sentence around it, so
/// this is what keeps a text that never ends a sentence from costing its length times its phrases.
const LONGEST_SENTENCE: usize = 2 * 1024;

/// A number before a full stop that is longer than this is none of a list.
const LONGEST_NUMBER: usize = 64;

/// A line this short did not break because the margin was reached.
const SHORT_LINE: usize = 48;

/// Short names of days before a date: "Do. 18.6."
const SHORT_DAYS: &[&str] = &["mo", "di", "mi", "do", "fr", "sa", "so"];

#[derive(Debug, Clone)]
pub(in crate::reading) struct Sentence<'a> {
    /// As it stands in the mail, without its bullet.
    pub(in crate::reading) raw: &'a str,
    /// Lower case, single spaces, straight quotes, umlauts as two letters.
    pub(in crate::reading) normalised: String,
    /// Stood in a bulleted or numbered list.
    pub(in crate::reading) is_list_item: bool,
    /// Its own where it is plain, else that of the text it stands in.
    pub(in crate::reading) language: Language,
}

impl Sentence<'_> {
    pub(super) fn is_question(&self) -> bool {
        let tail = self.normalised.trim_end_matches(['"', ')', '!', '.', ' ']);
        tail.ends_with('?') || (self.normalised.contains('?') && self.normalised.contains("? "))
    }

    pub(in crate::reading) fn words(&self) -> impl Iterator<Item = &str> {
        words(&self.normalised)
    }
}

/// Runs of letters, digits and apostrophes.
pub(in crate::reading) fn words(plain: &str) -> impl Iterator<Item = &str> {
    plain.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty())
}

/// The sentences of a text that stands alone.
pub(in crate::reading) fn split_sentences(text: &str) -> Vec<Sentence<'_>> {
    split_sentences_about(text, "").0
}

/// The sentences of a text with a plain subject, and the language of both.
pub(in crate::reading) fn split_sentences_about<'a>(text: &'a str, subject: &str) -> (Vec<Sentence<'a>>, Language) {
    let score_all = |sentences: &[Sentence<'_>]| -> Vec<LanguageScores> {
        sentences.iter().map(|sentence| LanguageScores::of(&sentence.normalised)).collect()
    };
    let mut sentences = cut_sentences(text);
    let mut scores = score_all(&sentences);
    if scores.iter().any(LanguageScores::is_mixed) {
        sentences = cut_at_changes(sentences, &scores);
        scores = score_all(&sentences);
    }
    let mut sum = LanguageScores::of(subject);
    // A few sentences tell; what a mail quotes and ends with may be in another language.
    scores.iter().take(SENTENCES_THAT_TELL).for_each(|scores| sum.add(scores));
    let language = sum.decide();
    for (sentence, scores) in sentences.iter_mut().zip(&scores) {
        sentence.language = scores.decide_in(language);
    }
    (sentences, language)
}

/// So many sentences decide in which language a mail is.
const SENTENCES_THAT_TELL: usize = 12;

fn cut_sentences(text: &str) -> Vec<Sentence<'_>> {
    let text = text.get(..text.floor_char_boundary(READ_LIMIT)).unwrap_or_default();
    let mut found = Vec::new();
    for block in split_blocks(text) {
        push_block_sentences(block.text, block.is_list_item, &mut found);
        if found.len() >= MAX_SENTENCES {
            break;
        }
    }
    found.truncate(MAX_SENTENCES);
    found
}

struct Block<'a> {
    text: &'a str,
    is_list_item: bool,
}

/// Paragraphs, list items and lines that stand alone; hard-wrapped lines are one block.
fn split_blocks(text: &str) -> Vec<Block<'_>> {
    let mut done = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let mut at = 0;
    let mut previous = "";
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        let quoted = trimmed.starts_with('>');
        let (rest, item) = strip_bullet(trimmed);
        let breaks = trimmed.is_empty() || quoted || item || starts_new_block(previous, trimmed);
        if breaks && let Some((from, to, was_item)) = open.take() {
            done.push(Block { text: text.get(from..to).unwrap_or_default(), is_list_item: was_item });
        }
        previous = trimmed;
        if trimmed.is_empty() || quoted {
            continue;
        }
        let lead = line.len() - line.trim_start().len() + (trimmed.len() - rest.len());
        let end = start + line.trim_end().len();
        open = Some(open.map_or((start + lead, end, item), |(from, _, was_item)| (from, end, was_item)));
    }
    if let Some((from, to, item)) = open {
        done.push(Block { text: text.get(from..to).unwrap_or_default(), is_list_item: item });
    }
    done
}

/// Whether `line` starts something new rather than going on with `previous`.
fn starts_new_block(previous: &str, line: &str) -> bool {
    if previous.ends_with(':') || (previous.ends_with(',') && previous.len() < SHORT_LINE) {
        return true;
    }
    let continues = line.starts_with(|c: char| c.is_ascii_lowercase());
    previous.chars().count() < SHORT_LINE && !continues
}

/// Takes off "- ", "* ", "• ", "1. ", "2) " and says whether there was one.
pub(in crate::reading) fn strip_bullet(line: &str) -> (&str, bool) {
    for bullet in ["- ", "* ", "• ", "– ", "· "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (rest.trim_start(), true);
        }
    }
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
    // "a) …": letters count as well.
    let lettered =
        line.split_once(") ").filter(|(mark, _)| mark.len() == 1 && mark.starts_with(|c: char| c.is_ascii_lowercase()));
    if let Some((_, rest)) = lettered {
        return (rest.trim_start(), true);
    }
    let digits = line.len() - after.len();
    let rest = after.strip_prefix(['.', ')']).filter(|rest| rest.starts_with([' ', '\t']));
    match rest {
        Some(rest) if (1..=2).contains(&digits) => (rest.trim_start(), true),
        _ => (line, false),
    }
}

fn push_block_sentences<'a>(block: &'a str, item: bool, found: &mut Vec<Sentence<'a>>) {
    let mut start = 0;
    let mut chars = block.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next, closing)) = chars.next_if(|(_, c)| matches!(c, '.' | '!' | '?' | '"' | '”' | ')' | '\''))
        {
            end = next + closing.len_utf8();
        }
        let spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let so_far = block.get(start..at).unwrap_or_default();
        let behind = || block.get(end..).unwrap_or_default().trim_start();
        // "am Dienstag (20.) um 19 Uhr": the sentence goes on behind the bracket.
        let is_aside =
            block.get(start..end).unwrap_or_default().ends_with(')') && behind().starts_with(char::is_lowercase);
        if spaced && !is_aside && (c != '.' || (ends_sentence(so_far) && !is_stop_of_date(so_far, behind()))) {
            push_sentence_or_points(block.get(start..end).unwrap_or_default(), item, found);
            start = end;
        }
    }
    push_sentence_or_points(block.get(start..).unwrap_or_default(), item, found);
}

fn ends_sentence(before_stop: &str) -> bool {
    let word = before_stop.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.starts_with(char::is_uppercase);
    // "א.ק.ג.", "i.d.R.": letters with stops between them.
    let spelled = word.contains('.')
        && word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic));
    let number = before_stop.len() <= LONGEST_NUMBER && before_stop.trim().chars().all(|c| c.is_ascii_digit());
    let word = word.to_ascii_lowercase();
    let short = [Language::English, Language::German]
        .map(Lexicon::of)
        .iter()
        .any(|lexicon| lexicon.has_word(WordList::Abbreviations, &word));
    !(initial || number || short || spelled)
}

/// "16. März", "bis 12.3. bitte", "Do. 18.6.": a full stop within a date, not at the end of a sentence.
fn is_stop_of_date(before_stop: &str, behind: &str) -> bool {
    let mut before = before_stop.rsplit(|c: char| c.is_whitespace() || c == '(');
    let last = before.next().unwrap_or_default();
    if SHORT_DAYS.contains(&last.to_ascii_lowercase().as_str()) {
        return behind.starts_with(|c: char| c.is_ascii_digit());
    }
    let is_figure = last.len() <= "31.12".len() && last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_figure || !last.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let german = Lexicon::of(Language::German);
    let next = normalise(words(behind).next().unwrap_or_default());
    let is_month = [german, Lexicon::of(Language::English)].iter().any(|it| it.has_word(WordList::Months, &next));
    let previous = normalise(before.next().unwrap_or_default());
    let is_led = german.has_word(WordList::BeforeOrdinals, &previous);
    let goes_on = behind.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '–'));
    let is_range = ["bis ", "und ", "oder ", "- ", "– "].iter().any(|word| behind.starts_with(word));
    is_month || is_range || (goes_on && (last.contains('.') || is_led))
}

fn push_sentence_or_points<'a>(raw: &'a str, item: bool, found: &mut Vec<Sentence<'a>>) {
    let raw = raw.trim();
    if let Some((lead, points)) = split_enumeration(raw) {
        // "Can you" alone says nothing; a lead with something in it stands as a sentence.
        if words(lead).count() >= 5 {
            push_sentence(lead, item, found);
        }
        points.into_iter().for_each(|point| push_sentence(point, true, found));
        return;
    }
    push_sentence(raw, item, found);
}

/// "(1) do this, (2) do that": what stands before the first, and each.
fn split_enumeration(raw: &str) -> Option<(&str, Vec<&str>)> {
    const MARKS: [&str; 9] = ["(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)", "(8)", "(9)"];
    // A letter is found faster than a word, and most sentences have no bracket.
    let (lead, mut rest) = raw.contains('(').then(|| raw.split_once("(1) ")).flatten()?;
    let mut points = Vec::new();
    for mark in MARKS.iter().skip(1) {
        let Some((point, after)) = rest.split_once(mark) else { break };
        points.push(point);
        rest = after;
    }
    points.push(rest);
    let trim = |point: &'_ str| point.trim().trim_end_matches(" and").trim_end_matches([',', ';', ' ']).len();
    let points: Vec<&str> =
        points.into_iter().map(|point| point.trim()).map(|p| p.get(..trim(p)).unwrap_or(p)).collect();
    (points.len() >= 2).then_some((lead.trim(), points))
}

fn push_sentence<'a>(raw: &'a str, item: bool, found: &mut Vec<Sentence<'a>>) {
    let mut rest = raw.trim();
    while !rest.is_empty() && found.len() < MAX_SENTENCES {
        let (raw, after) = cut_sentence(rest);
        if raw.chars().any(char::is_alphabetic) {
            found.push(Sentence { raw, normalised: normalise(raw), is_list_item: item, language: Language::English });
        }
        rest = after;
    }
}

/// The text up to the longest sentence there can be, ended between words where it has any, and what follows.
fn cut_sentence(text: &str) -> (&str, &str) {
    if text.len() <= LONGEST_SENTENCE {
        return (text, "");
    }
    let most = text.floor_char_boundary(LONGEST_SENTENCE);
    let head = text.get(..most).unwrap_or_default();
    let end = head.rfind(char::is_whitespace).filter(|end| *end > 0).unwrap_or(most);
    let (raw, after) = text.split_at_checked(end).unwrap_or((text, ""));
    (raw.trim_end(), after.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let raws: Vec<_> =
            split_sentences(text).iter().map(|s| s.raw.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(raws, expected, "{text}");
    }

    #[test]
    fn cuts_where_people_would() {
        check("Hi Alex,\nCould you call Dr. Smith? Thanks!", &["Hi Alex,", "Could you call Dr. Smith?", "Thanks!"]);
        check(
            "This line was wrapped by a mail program at seventy columns, as they\nstill do. Second one.",
            &["This line was wrapped by a mail program at seventy columns, as they still do.", "Second one."],
        );
        check(
            "Please:\n1. send the report\n2) book a room\n- call me",
            &["Please:", "send the report", "book a room", "call me"],
        );
        check("Version 2.5 costs 1.250,00 EUR. ok? fine", &["Version 2.5 costs 1.250,00 EUR.", "ok?", "fine"]);
        check(
            "Das muss bis 9. April bei Dr. Amsel sein. Am 31. ist zu.",
            &["Das muss bis 9. April bei Dr. Amsel sein.", "Am 31. ist zu."],
        );
        check(
            "Kostet ca. 20 Euro inkl. MwSt. Am 31. Bitte komm.",
            &["Kostet ca. 20 Euro inkl. MwSt.", "Am 31.", "Bitte komm."],
        );
        check("> quoted words\nmine\n\n--\n", &["mine"]);
        check("שלום דנה,\nתוכלי לשלוח את הדוח? תודה.", &["שלום דנה,", "תוכלי לשלוח את הדוח?", "תודה."]);
        check("Can you (1) call Paul, (2) draft it, and (3) rest?", &["call Paul", "draft it", "rest?"]);
        check("", &[]);
    }

    #[test]
    fn a_date_with_full_stops_is_one() {
        check("Am 16. März um 14 Uhr. Passt das?", &["Am 16. März um 14 Uhr.", "Passt das?"]);
        check("Bitte bis 12.3. bezahlen. Danke", &["Bitte bis 12.3. bezahlen.", "Danke"]);
        check("Spätestens am 24. bitte.", &["Spätestens am 24. bitte."]);
        check("Do. 18.6. um neun", &["Do. 18.6. um neun"]);
        check("Die Reise (22. bis 26. Juni) rückt näher.", &["Die Reise (22. bis 26. Juni) rückt näher."]);
        check("It costs 12. Pay it.", &["It costs 12.", "Pay it."]);
        check("Bis zum 31.03. Danke", &["Bis zum 31.03.", "Danke"]);
    }

    #[test]
    fn plain_form_is_what_phrases_are_written_in() {
        assert_eq!(normalise("Don’t  “STOP”\nדו״ח"), "don't \"stop\" דו\"ח");
        assert_eq!(normalise("Über „ÄRGER“: heißt ÉTÉ İ"), "ueber \"aerger\": heisst été İ");
    }

    #[test]
    fn a_sentence_is_in_its_own_language_or_in_that_of_its_mail() {
        let text = "Hallo Jonas, hier ist noch die Mail von Dave, die ich dir schicken wollte. Can you believe it? Beleg 12. תודה רבה";
        let (sentences, language) = split_sentences_about(text, "");
        assert_eq!(language, Language::German);
        let languages: Vec<_> = sentences.iter().map(|sentence| sentence.language.as_str()).collect();
        assert_eq!(languages, ["de", "en", "de", "he"]);
    }

    #[test]
    fn reads_no_further_than_the_limit_and_never_inside_a_letter() {
        let long = "שלום ".repeat(READ_LIMIT);
        assert!(split_sentences(&long).iter().map(|s| s.raw.len()).sum::<usize>() <= READ_LIMIT);
        assert!(split_sentences(&"Hi. ".repeat(5_000)).len() <= MAX_SENTENCES);
    }

    #[test]
    fn a_sentence_without_an_end_is_cut_between_words() {
        for (text, pieces) in [("word ".repeat(4_000), 10), ("א".repeat(4_096), 4), ("ab".repeat(2_000), 2)] {
            let found = split_sentences(&text);
            assert_eq!(found.len(), pieces, "{}", text.len());
            assert!(found.iter().all(|one| one.raw.len() <= LONGEST_SENTENCE));
            let whole: String = found.iter().map(|one| one.raw.replace(' ', "")).collect();
            assert_eq!(whole, text.replace(' ', ""));
        }
    }

    #[test]
    fn questions_end_in_a_question_mark() {
        for (text, expected) in [("Really?", true), ("\"Really?\"", true), ("Really.", false), ("Ready? Thanks", true)]
        {
            let sentence = split_sentences(text).remove(0);
            assert_eq!(sentence.is_question(), expected, "{text}");
        }
    }
}
