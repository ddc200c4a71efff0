//! Cuts a mail's text into sentences and gives each a plain form to match words against.
//!
//! Owns where a sentence starts and ends. Nothing in here knows what a sentence means.

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

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "vs", "no", "nr", "inc", "ltd", "co", "corp", "jr", "sr", "approx", "dept",
    "e.g", "i.e", "p.s", "ext", "tel", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
    "dec", "a.m", "p.m", "u.s", "attn", "re", "fig", "min", "max", "ca", "bzw", "inkl", "einschl", "mrz", "okt", "dez",
];

/// Short names of days before a date: "Do. 18.6."
const SHORT_DAYS: &[&str] = &["mo", "di", "mi", "do", "fr", "sa", "so"];
/// Words before a day of the month: "am 5. um acht".
const BEFORE_DAY: &[&str] = &["am", "zum", "den", "dem", "vom", "bis", "der", "ab", "spätestens"];
/// How the names of months start in English and German.
const MONTHS: &[&str] = &[
    "jan", "jän", "feb", "mär", "mar", "apr", "mai", "may", "jun", "jul", "aug", "sep", "okt", "oct", "nov", "dez",
    "dec",
];

#[derive(Debug, Clone)]
pub(in crate::reading) struct Sentence<'a> {
    /// As it stands in the mail, without its bullet.
    pub(in crate::reading) raw: &'a str,
    /// Lower case, single spaces, straight quotes.
    pub(in crate::reading) normalised: String,
    /// Stood in a bulleted or numbered list.
    pub(in crate::reading) is_list_item: bool,
}

impl Sentence<'_> {
    pub(super) fn is_question(&self) -> bool {
        let tail = self.normalised.trim_end_matches(['"', ')', '!', '.', ' ']);
        tail.ends_with('?') || (self.normalised.contains('?') && self.normalised.contains("? "))
    }

    pub(in crate::reading) fn is_hebrew(&self) -> bool {
        !self.normalised.is_ascii() && self.normalised.chars().any(|c| ('א'..='ת').contains(&c))
    }

    pub(in crate::reading) fn words(&self) -> impl Iterator<Item = &str> {
        words(&self.normalised)
    }
}

/// Runs of letters, digits and apostrophes.
pub(in crate::reading) fn words(plain: &str) -> impl Iterator<Item = &str> {
    plain.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty())
}

pub(in crate::reading) fn split_sentences(text: &str) -> Vec<Sentence<'_>> {
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
fn strip_bullet(line: &str) -> (&str, bool) {
    for bullet in ["- ", "* ", "• ", "– ", "· "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (rest.trim_start(), true);
        }
    }
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
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
        let behind = block.get(end..).unwrap_or_default();
        if spaced && (c != '.' || (ends_sentence(so_far) && !is_stop_of_date(so_far, behind))) {
            push_sentence_or_points(block.get(start..end).unwrap_or_default(), item, found);
            start = end;
        }
    }
    push_sentence_or_points(block.get(start..).unwrap_or_default(), item, found);
}

fn ends_sentence(before_stop: &str) -> bool {
    let word = before_stop.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.starts_with(char::is_uppercase);
    let number = before_stop.len() <= LONGEST_NUMBER && before_stop.trim().chars().all(|c| c.is_ascii_digit());
    !(initial || number || ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str()))
}

/// "16. März", "bis 12.3. bitte", "Do. 18.6.": a full stop within a date, not at the end of a sentence.
fn is_stop_of_date(before_stop: &str, behind: &str) -> bool {
    let mut words = before_stop.rsplit(|c: char| c.is_whitespace() || c == '(');
    let last = words.next().unwrap_or_default();
    let behind = behind.trim_start();
    if SHORT_DAYS.contains(&last.to_ascii_lowercase().as_str()) {
        return behind.starts_with(|c: char| c.is_ascii_digit());
    }
    let is_figure = (1..=5).contains(&last.len()) && last.chars().all(|c| c.is_ascii_digit() || c == '.');
    if !is_figure || !last.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let month: String = behind.chars().take(3).flat_map(char::to_lowercase).collect();
    let mut led = || words.next().is_some_and(|word| BEFORE_DAY.contains(&word.to_lowercase().as_str()));
    let goes_on = behind.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '–'));
    let is_range = ["bis ", "und ", "oder ", "- ", "– "].iter().any(|word| behind.starts_with(word));
    MONTHS.contains(&month.as_str()) || is_range || (goes_on && (last.contains('.') || led()))
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
            found.push(Sentence { raw, normalised: normalise(raw), is_list_item: item });
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

/// Lower case (ASCII; Hebrew has none), single spaces, straight quotes.
pub(in crate::reading) fn normalise(raw: &str) -> String {
    let mut plain = normalise_spaces_and_quotes(raw);
    plain.make_ascii_lowercase();
    plain
}

/// Single spaces and straight quotes. Byte positions in the plain form hold here too.
pub(in crate::reading) fn normalise_spaces_and_quotes(raw: &str) -> String {
    // Most sentences are one line of ASCII and need no change.
    if raw.is_ascii() && !raw.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'`')) && !raw.contains("  ") {
        return raw.to_owned();
    }
    let mut tidy = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '’' | '‘' | '`' | '׳' => tidy.push('\''),
            '“' | '”' | '״' => tidy.push('"'),
            c if c.is_whitespace() => {
                if !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            c => tidy.push(c),
        }
    }
    tidy
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
            let sentence = Sentence { raw: text, normalised: normalise(text), is_list_item: false };
            assert_eq!(sentence.is_question(), expected, "{text}");
        }
    }
}
