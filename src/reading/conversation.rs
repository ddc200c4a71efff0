//! What a mail says about the matter of its conversation: taken back, solved, agreed, done, put off, reminded.
//!
//! Owns the signs by which an answer is told from a postponement and a withdrawal from a request. It decides nothing
//! about tasks: that is [`crate::followup`]. In doubt a sign is not seen.

use std::{collections::HashSet, sync::LazyLock};

use crate::date::ReferenceTime;
use crate::model::{Mail, PromisedDate, Turn};
use crate::reading::{
    language::FUNCTION_WORDS,
    lexicon::{Feature, Lexicon, WordList},
    mail::{addressing::is_greeting_word, annotated_mail::AnnotatedMail},
    read::ReadContext,
    sentence::{
        score::ScoredSentence,
        text::{normalise, words},
    },
};

/// The most words of a greeting on a line of its own.
const LONGEST_GREETING: usize = 4;

/// Returns what the mail says about the matter of its conversation.
pub fn read_turn(mail: &Mail, context: &ReadContext<'_>) -> Turn {
    let annotated = AnnotatedMail::new(mail, context.me, context.second_reading);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    let mut turn = Turn {
        is_automatic_or_forwarded: mail.bulk_header.is_some()
            || mail.composed_by_agent
            || annotated.subject_has(Feature::Away)
            || annotated.has_forwarded_part()
            || is_forwarded(&annotated.subject),
        ..Turn::default()
    };
    for scored in &annotated.sentences {
        let sentence = SpokenSentence::new(scored);
        if sentence.is_greeting() || sentence.is_signature(&context.me.names) {
            continue;
        }
        add_sentence(&mut turn, &sentence, &base);
    }
    turn
}

/// Adds what one sentence says.
fn add_sentence(turn: &mut Turn, sentence: &SpokenSentence<'_>, base: &ReferenceTime<'_>) {
    let raw = || sentence.scored.sentence.raw.to_owned();
    if sentence.says(WordList::Reminders) {
        turn.reminds.push(raw());
    }
    if sentence.says(WordList::NewMatters) {
        turn.new_matters.push(raw());
    }
    if sentence.is_question() || sentence.scored.has(Feature::Conditional) {
        return;
    }
    if sentence.says(WordList::Withdrawals) {
        turn.withdraws.get_or_insert_with(raw);
        return;
    }
    if sentence.says(WordList::Settlements) && !sentence.scored.asks_outright() && !sentence.is_negated() {
        turn.settles.get_or_insert_with(raw);
    }
    if sentence.says(WordList::Agreements) && !sentence.is_negated() {
        turn.agrees.get_or_insert_with(raw);
    }
    let is_promise = sentence.scored.has(Feature::Commits) || sentence.says(WordList::Handovers);
    if is_promise && let Some(due) = sentence.scored.due_date(base) {
        let promised = || PromisedDate { sentence: raw(), deadline: due.deadline.clone(), due_at: due.at };
        turn.promised.get_or_insert_with(promised);
    }
    // One that is promised or that names two days says too little about what was asked.
    if !is_promise
        && sentence.says(WordList::NewDates)
        && let Some(due) = sentence.scored.due_date(base).filter(|due| due.is_clear && due.is_only_day)
    {
        let named = || PromisedDate { sentence: raw(), deadline: due.deadline.clone(), due_at: due.at };
        turn.new_date.get_or_insert_with(named);
    }
    if sentence.says(WordList::Postponements) {
        turn.postpones.get_or_insert_with(raw);
        return;
    }
    let is_promise_alone = sentence.scored.has(Feature::Commits);
    if sentence.says(WordList::Completions) && !is_promise_alone && !sentence.is_negated() {
        turn.done.push(raw());
    }
    if !sentence.is_courtesy() {
        turn.statement.get_or_insert_with(raw);
    }
}

/// Whether a sentence says one of the phrases of a list.
pub(in crate::reading) fn says(scored: &ScoredSentence<'_>, list: WordList) -> bool {
    let lexicon = Lexicon::of(scored.sentence.language);
    let joined = join_words(&scored.sentence.normalised);
    lexicon.words(list).iter().any(|phrase| joined.contains(&join_words(phrase)))
}

/// A sentence, with its words between single spaces to look phrases up in.
struct SpokenSentence<'a> {
    scored: &'a ScoredSentence<'a>,
    words: String,
}

impl<'a> SpokenSentence<'a> {
    fn new(scored: &'a ScoredSentence<'a>) -> Self {
        Self { scored, words: join_words(&scored.sentence.normalised) }
    }

    /// Whether it says one of the phrases of a list. A phrase with "^" counts only where the sentence begins.
    fn says(&self, list: WordList) -> bool {
        let lexicon = Lexicon::of(self.scored.sentence.language);
        lexicon.words(list).iter().any(|phrase| match phrase.strip_prefix('^') {
            Some(first) => self.words.starts_with(&join_words(first)),
            None => self.words.contains(&join_words(phrase)),
        })
    }

    fn is_question(&self) -> bool {
        self.scored.sentence.raw.trim_end_matches(['"', ')', ' ', '!']).ends_with('?')
    }

    fn is_negated(&self) -> bool {
        self.says(WordList::Negations) || words(&self.words).any(|word| word.ends_with("n't"))
    }

    fn is_greeting(&self) -> bool {
        let mut said = words(&self.words);
        said.next().is_some_and(is_greeting_word) && said.count() < LONGEST_GREETING
    }

    /// Whether it holds nothing but the writer's own name or initial.
    fn is_signature(&self, names: &[String]) -> bool {
        let own: HashSet<String> =
            names.iter().flat_map(|name| words(&normalise(name)).map(str::to_owned).collect::<Vec<_>>()).collect();
        words(&self.words).all(|word| own.contains(word) || word.chars().count() == 1)
    }

    fn is_courtesy(&self) -> bool {
        let thanks = self.scored.features.has_any(&[Feature::Thanks, Feature::ShortThanks, Feature::Boilerplate]);
        (thanks || self.says(WordList::Receipts)) && !self.says(WordList::Agreements)
    }
}

/// Returns the words of a text in plain letters, each with a space on both sides.
fn join_words(plain: &str) -> String {
    let mut joined = String::from(" ");
    for word in words(plain) {
        joined.push_str(word);
        joined.push(' ');
    }
    joined
}

fn is_forwarded(subject: &str) -> bool {
    let head = subject.split(':').next().unwrap_or_default().trim();
    subject.contains(':') && ["fw", "fwd", "wg", "tr", "הועבר"].contains(&head)
}

/// A shorter word tells too little.
const SHORTEST_CONTENT_WORD: usize = 3;

/// Returns the words that say what a text is about, in plain letters: no small words, and in Hebrew without the letters
/// that are written in front of a word.
pub fn content_words(text: &str) -> Vec<String> {
    static SMALL: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let read = |line: &str| ["en: ", "de: "].iter().any(|code| line.starts_with(code));
        FUNCTION_WORDS.lines().filter(|line| read(line)).flat_map(|line| line.split(' ')).map(normalise).collect()
    });
    let mut found: Vec<String> = Vec::new();
    for word in words(&normalise(text)) {
        let word = strip_hebrew_prefix(word);
        if word.chars().count() >= SHORTEST_CONTENT_WORD
            && !SMALL.contains(word)
            && !found.iter().any(|known| known == word)
        {
            found.push(word.to_owned());
        }
    }
    found
}

fn strip_hebrew_prefix(word: &str) -> &str {
    const PREFIXES: [char; 7] = ['ו', 'ה', 'ב', 'ל', 'מ', 'ש', 'כ'];
    let is_long = |word: &str| word.chars().count() > SHORTEST_CONTENT_WORD;
    let mut bare = word;
    while is_long(bare)
        && let Some(rest) = bare.strip_prefix(PREFIXES)
    {
        bare = rest;
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Instant;

    fn turn(text: &str) -> Turn {
        let me = crate::reading::read_tests::me();
        let now: Instant = "2026-03-04T09:00:00Z".parse().unwrap();
        let context = ReadContext {
            me: &me,
            now,
            known_contact: true,
            thread_mine: true,
            second_reading: &[],
            is_genuine: false,
        };
        read_turn(&Mail { text: text.into(), date: Some(now), ..Mail::default() }, &context)
    }

    #[test]
    fn what_is_taken_back_or_solved() {
        for text in [
            "No need any more, the neighbours lend us theirs.",
            "Never mind the figures, Ruth sent them.",
            "Please ignore my last mail.",
            "We no longer need the van.",
            "Hat sich erledigt, der Schlüssel lag im Auto.",
            "Du brauchst nichts mehr zu suchen.",
            "Das brauche ich nicht mehr.",
            "כבר לא צריך, מצאתי אצלי.",
            "עזבי, הסתדרתי.",
            "No need to look at the section any more, our engineer did.",
            "Vergiss bitte meine Mail von Montag.",
        ] {
            assert!(turn(text).withdraws.is_some(), "{text}");
        }
        for text in [
            "All sorted, thanks!",
            "Thanks for the numbers, just what I needed.",
            "Das Problem ist gelöst, danke.",
            "Die Unterlagen sind angekommen, vielen Dank.",
            "הכול בסדר, תודה.",
            "Found it, it was in my coat!",
            "Our engineer has sorted it out.",
            "Ihre Zahlung ist bei uns eingegangen.",
            "מצאתי אותם, היו במגירה.",
        ] {
            assert!(turn(text).settles.is_some(), "{text}");
        }
        for text in [
            "Do you still need the van?",
            "Is this no longer needed?",
            "If you no longer need it, tell me.",
            "It is not sorted yet.",
            "Hat sich das erledigt?",
            "Das hat sich leider noch nicht erledigt.",
            "Please send the form.",
            "כבר לא צריך?",
            "There is no need to hurry.",
            "I have not found it yet.",
            "Hast du ihn gefunden?",
        ] {
            let turn = turn(text);
            assert_eq!((turn.withdraws, turn.settles), (None, None), "{text}");
        }
    }

    #[test]
    fn what_is_done_promised_or_put_off() {
        for text in
            ["I paid it this morning.", "Attached.", "Anbei die Liste.", "Die 80 Euro sind überwiesen.", "שלחתי אתמול."]
        {
            assert_eq!(turn(text).done.len(), 1, "{text}");
        }
        for text in
            ["I haven't paid it yet.", "I'll pay it tomorrow.", "Have you paid?", "Ich habe noch nicht bezahlt."]
        {
            assert!(turn(text).done.is_empty(), "{text}");
        }
        for text in ["I'll get back to you on Monday.", "Ich melde mich.", "אבדוק ואחזור אלייך."] {
            let turn = turn(text);
            assert!(turn.postpones.is_some() && turn.statement.is_none(), "{text}");
        }
        let promised = turn("Du bekommst sie spätestens am Sonntag, 8. März.").promised.unwrap();
        assert_eq!(promised.deadline, "2026-03-08");
    }

    #[test]
    fn what_answers_and_what_does_not() {
        for text in ["Hi Tom,\n\nThursday at ten.\n\nAlex", "Yes.", "Ja, passt.", "כן, אפשר.", "Sure, that works!"]
        {
            assert!(turn(text).statement.is_some(), "{text}");
        }
        for text in
            ["Hi Tom,\n\nwhich report do you mean?\n\nAlex", "Thanks!\nAlex", "Vielen Dank für deine Mail.", "A."]
        {
            assert_eq!(turn(text).statement, None, "{text}");
        }
    }

    #[test]
    fn the_words_that_say_what_a_text_is_about() {
        assert_eq!(content_words("Could you send me the signed lease?"), ["signed", "lease"]);
        assert_eq!(content_words("den Nachweis und die Bescheinigung"), ["nachweis", "bescheinigung"]);
        assert_eq!(content_words("את החשבוניות"), content_words("חשבוניות"));
    }
}
