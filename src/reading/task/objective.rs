//! The objective: one imperative sentence made from the sentence that decided.
//!
//! Owns the wording. It uses the mail's own words and the sender's name; it never promises more than was asked. What
//! cannot be put in other words with confidence is quoted, and what does not say what it is about gets the subject.

use crate::reading::{
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::{
        clause::{Clause, ClauseKind, trim_courtesies},
        text::{normalise, words},
    },
    task::{
        english_act::strip_department,
        money::Money,
        shorten::{drop_reasons, shorten},
        third_person::name_writer,
        topic::{LEAST_SUBJECT_CHARS, points_at_matter, shorten_subject, speaks_of},
        wording::{Template, Wording},
    },
};

pub(in crate::reading) use crate::reading::task::shorten::truncate_at_word;

/// The longest objective, with the subject in brackets.
pub(in crate::reading) const MAX_OBJECTIVE_CHARS: usize = 160;

/// Who asks, as the objective will call them, about what, and in which language.
#[derive(Debug, Clone, Copy)]
pub(in crate::reading) struct ObjectiveWriter<'a> {
    pub(in crate::reading) person: &'a str,
    /// Without the marks of answers; empty when it says nothing.
    pub(in crate::reading) subject: &'a str,
    pub(in crate::reading) language: Language,
}

impl ObjectiveWriter<'_> {
    /// The same in the language of a sentence, when that is one that is read.
    pub(in crate::reading) fn in_language(self, language: Language) -> Self {
        if language.is_read() { Self { language, ..self } } else { self }
    }

    pub(in crate::reading) fn write_request(self, clause: &Clause) -> String {
        let least = if clause.kind == ClauseKind::Tell { 1 } else { 3 };
        let text = trim_courtesies(drop_reasons(&clause.text, least, self.language), self.language);
        let text = replace_ignoring_case(text, " and please ", " and ");
        let text = text.as_str();
        if words(text).next().is_none() {
            return if clause.kind == ClauseKind::Tell {
                self.fill(Template::Reply, "")
            } else {
                self.quote_whole(clause)
            };
        }
        match clause.kind {
            ClauseKind::Act => self.write_act(text).unwrap_or_else(|| self.quote_whole(clause)),
            // Another's question is quoted in the words it was put in.
            ClauseKind::Answer => self.fill_quoting(Template::Answer, &clause.whole),
            ClauseKind::Whole => self.quote_whole(clause),
            // "Für meine Steuer bräuchte ich …" names the writer too often.
            ClauseKind::Give if self.language == Language::German && !speaks_of_own(text) => {
                self.write_german_gift(text)
            }
            ClauseKind::Give if self.language == Language::German => self.quote_whole(clause),
            ClauseKind::Give | ClauseKind::Tell if self.language == Language::Hebrew => self.quote_whole(clause),
            ClauseKind::Give => self.fill(Template::Give, &name_writer(text, self.person, self.language, true)),
            ClauseKind::Tell if clause.is_only_time() => self.fill(Template::Reply, text),
            // "If you like it, let me know and I'll get you one": what is to be told stands before.
            ClauseKind::Tell if text.starts_with("and ") => self.quote_whole(clause),
            ClauseKind::Tell => {
                let told = name_writer(text, self.person, self.language, true);
                self.fill(Template::Tell, &replace_if_with_whether(&told))
            }
        }
    }

    /// The sentence itself: a question is to be answered.
    fn quote_whole(self, clause: &Clause) -> String {
        let template = if clause.whole.ends_with('?') { Template::Answer } else { Template::Quote };
        self.fill_quoting(template, &clause.whole)
    }

    /// What is to be done, verb first, or last in German; none when the words begin with no verb.
    fn write_act(self, text: &str) -> Option<String> {
        match self.language {
            Language::German => Some(self.finish(&name_writer(text, self.person, self.language, false))),
            Language::Hebrew => {
                let act = put_hebrew_infinitive_first(text)?;
                Some(self.finish(&name_writer(&act, self.person, self.language, false)))
            }
            _ if !starts_with_verb(text) => None,
            _ => {
                let named = || name_writer(text, self.person, self.language, false);
                let act = self.rewrite_handover(text).or_else(|| self.rewrite_payment(text));
                let act = act.or_else(|| self.rewrite_call(text)).unwrap_or_else(named);
                Some(self.finish(&act))
            }
        }
    }

    /// A fixed form around what the mail says.
    pub(in crate::reading) fn fill(self, template: Template, text: &str) -> String {
        let text = text.trim_end_matches(['.', '!', '?', ' ', ':']);
        let values = [("person", self.person), ("text", text), ("subject", self.subject)];
        let filled = Wording::of(self.language).fill(template, &values);
        // These name what they are about.
        if matches!(template, Template::Alert | Template::Invitation) {
            shorten(&capitalise(&filled), MAX_OBJECTIVE_CHARS, self.language)
        } else {
            self.finish(&filled)
        }
    }

    /// A form in which the text stands between marks, which are not cut off with it.
    fn fill_quoting(self, template: Template, text: &str) -> String {
        let wording = Wording::of(self.language);
        let text = capitalise(text.trim_end_matches(['.', '!', '?', ' ', ':'])).replace('"', "'");
        let fill = |text: &str| wording.fill(template, &[("person", self.person), ("text", text)]);
        self.put_topic(&text, |text, longest| {
            let around = fill("").chars().count();
            fill(&shorten(text, longest.saturating_sub(around), self.language))
        })
    }

    /// The words as an objective: a capital, no stop, one line, and the subject when they do not say what it is about.
    fn finish(self, said: &str) -> String {
        let said = capitalise(said.trim_end_matches(['.', '!', '?', ',', ';', ':', ' ']));
        self.put_topic(&said, |said, longest| shorten(said, longest, self.language))
    }

    /// Adds the subject to what `fit` makes of the text, unless the text speaks of it or leaves no room.
    fn put_topic(self, text: &str, fit: impl Fn(&str, usize) -> String) -> String {
        let points = points_at_matter(text, self.language);
        let is_named = || normalise(text).contains(&normalise(self.subject));
        let is_spoken_of = || if points { is_named() } else { speaks_of(text, self.subject, self.person) };
        if self.subject.is_empty() || is_spoken_of() {
            return fit(text, MAX_OBJECTIVE_CHARS);
        }
        let length = fit(text, usize::MAX).chars().count();
        let room = MAX_OBJECTIVE_CHARS.saturating_sub(length + " ()".len());
        let topic = shorten_subject(self.subject);
        if topic.chars().count() <= room {
            return format!("{} ({topic})", fit(text, usize::MAX));
        }
        // A sentence that stands alone is worth more whole than with the subject; one that points is worth more with a
        // part of the subject than without its end.
        if points && room >= 2 * LEAST_SUBJECT_CHARS {
            return format!("{} ({})", fit(text, usize::MAX), truncate_at_word(&topic, room));
        }
        if length <= MAX_OBJECTIVE_CHARS {
            return fit(text, MAX_OBJECTIVE_CHARS);
        }
        let cut = fit(text, MAX_OBJECTIVE_CHARS.saturating_sub(topic.chars().count() + " ()".len()));
        if cut.contains('…') && !text.contains('…') {
            fit(text, MAX_OBJECTIVE_CHARS)
        } else {
            format!("{cut} ({topic})")
        }
    }

    /// What is needed stands before the verb, a clause that hangs on it behind.
    fn write_german_gift(self, text: &str) -> String {
        let text = name_writer(text, self.person, self.language, true);
        let is_date = |after: &str| after.trim_start_matches("den ").starts_with(|c: char| c.is_ascii_digit());
        let mut commas = text.match_indices(", ").map(|(at, comma)| (at, at + comma.len()));
        let end = commas.find(|(_, after)| !text.get(*after..).is_some_and(is_date)).map_or(text.len(), |(at, _)| at);
        let (thing, clause) = text.split_at_checked(end).unwrap_or((&text, ""));
        let values = [("person", self.person), ("text", thing)];
        self.finish(&format!("{}{clause}", Wording::of(self.language).fill(Template::Give, &values)))
    }

    /// What a mail in a language that is not read is about.
    pub(in crate::reading) fn write_unread(self, about: &str, language: Language) -> String {
        let wording = Wording::of(self.language);
        let name = wording.language_name(language);
        let around = wording.fill(Template::Unread, &[("language", name)]).chars().count();
        let about = shorten(about, MAX_OBJECTIVE_CHARS.saturating_sub(around), language);
        wording.fill(Template::Unread, &[("text", &about), ("language", name)])
    }

    pub(super) fn write_meeting(self, plain: &str, duration: Option<&str>) -> String {
        let wording = Wording::of(self.language);
        let length = duration.map(|length| format_length(wording, length)).unwrap_or_default();
        let values = [("person", self.person), ("noun", wording.meeting_noun(plain)), ("length", &length)];
        self.finish(&wording.fill(Template::Meeting, &values))
    }

    pub(super) fn write_invoice(self, number: Option<&str>, money: Option<&Money>) -> String {
        let wording = Wording::of(self.language);
        let payee = strip_department(self.person);
        let sum = money.map(|money| money.format_with_currency(wording)).unwrap_or_default();
        let values = [("person", payee), ("number", number.unwrap_or_default()), ("sum", &sum)];
        self.write_verbatim(&wording.fill(Template::Invoice, &values))
    }

    /// The words as they are, dressed as an objective.
    pub(super) fn write_verbatim(self, text: &str) -> String {
        let text = capitalise(text.trim_end_matches(['.', '!', '?', ',', ';', ':', ' ']));
        shorten(&text, MAX_OBJECTIVE_CHARS, self.language)
    }

    /// The objective with the number of questions that the answer is to cover besides the one that it quotes.
    pub(super) fn count_questions(self, objective: String, more: usize) -> String {
        let template = match more {
            0 => return objective,
            1 => Template::OneMoreQuestion,
            _ => Template::MoreQuestions,
        };
        let values = [("text", objective.as_str()), ("count", &more.to_string())];
        let counted = Wording::of(self.language).fill(template, &values);
        if counted.chars().count() <= MAX_OBJECTIVE_CHARS { counted } else { objective }
    }

    /// The words between quotation marks, with the subject: what could not be put in other words.
    pub(super) fn write_quote(self, text: &str) -> String {
        self.fill_quoting(Template::Quote, text)
    }
}

/// After "could you" or "please" nearly every word is a verb, known or not; these never are.
const NOT_VERBS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "i", "we", "he", "she", "it", "they", "my", "our", "your", "if", "is",
    "are", "for", "in", "on", "at", "and", "or", "when", "what", "who", "how", "why", "where", "all", "any", "some",
    "not", "no", "you", "as", "also", "there", "to", "of", "with", "by", "after", "before", "us", "me", "from",
];

fn starts_with_verb(text: &str) -> bool {
    words(text).next().is_some_and(|word| !NOT_VERBS.contains(&word.to_ascii_lowercase().as_str()))
}

/// "שלחי לי את הרשימה" is "לשלוח לי את הרשימה"; none when the words begin neither with an order nor with what to do.
fn put_hebrew_infinitive_first(text: &str) -> Option<String> {
    let (first, rest) = text.split_once(' ')?;
    let first = first.trim_end_matches([',', ':']);
    let orders = Lexicon::of(Language::Hebrew).words(WordList::Orders);
    let done = |word: &str| {
        let known = orders.iter().filter_map(|entry| entry.split_once(' '));
        known.clone().find(|(order, _)| *order == word).map(|(_, done)| done.to_owned())
    };
    let bare = || first.strip_prefix(['ש', 'ו']).and_then(done);
    // "נבקש לקבל", "אפשר להתקשר אליך": whoever writes wants to do it.
    let is_done_to_reader = || words(rest).any(|word| matches!(word, "אליך" | "אלייך" | "אליכם" | "אותך" | "אתכם"));
    if first == "לקבל" || (first.starts_with('ל') && is_done_to_reader()) {
        return None;
    }
    let is_infinitive = first.starts_with('ל') && first.chars().count() >= 4 && first != "לפני";
    let verb = if is_infinitive { first.to_owned() } else { done(first).or_else(bare)? };
    let lexicon = Lexicon::of(Language::Hebrew);
    // "Bring it with you": who reads the list is nobody's companion.
    let is_companion = |word: &str| matches!(word, "איתך" | "אתך" | "עמך" | "איתכם");
    let kept = |word: &&str| {
        let word = word.trim_end_matches(',');
        !lexicon.has_word(WordList::Fillers, word) && !is_companion(word)
    };
    // "תעברי … ותשלחי": every order of the line.
    let order = |word: &str| {
        let bare = word.strip_prefix("ות").map(|rest| format!("ת{rest}"));
        bare.and_then(|bare| done(&bare)).map_or_else(|| word.to_owned(), |done| format!("ו{done}"))
    };
    Some(std::iter::once(verb.clone()).chain(rest.split(' ').filter(kept).map(order)).collect::<Vec<_>>().join(" "))
}

/// Whether a German text says "mein".
fn speaks_of_own(text: &str) -> bool {
    words(&normalise(text)).any(|word| word.starts_with("mein"))
}

/// "if X" is told as "whether X", and so is "by Monday if X".
fn replace_if_with_whether(text: &str) -> String {
    const MOST_WORDS_BEFORE: usize = 6;
    if let Some(rest) = text.strip_prefix("if ") {
        return format!("whether {rest}");
    }
    let asks =
        |word: &str| matches!(word, "whether" | "what" | "when" | "which" | "who" | "how" | "where" | "why" | "that");
    match text.split_once(" if ") {
        Some((before, rest)) if words(before).count() <= MOST_WORDS_BEFORE && !words(before).any(asks) => {
            format!("{before} whether {rest}")
        }
        _ => text.to_owned(),
    }
}

fn replace_ignoring_case(text: &str, from: &str, to: &str) -> String {
    match text.to_ascii_lowercase().find(from).and_then(|at| Some((text.get(..at)?, text.get(at + from.len()..)?))) {
        Some((before, after)) => format!("{before}{to}{after}"),
        None => text.to_owned(),
    }
}

/// With a capital, and dashes that part.
fn capitalise(said: &str) -> String {
    // The number of the first point of a list that follows.
    let said = said.strip_suffix(": 1").unwrap_or(said);
    let said = said.replace('—', " — ").replace("''", "\"").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = said.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// "30m" is "30-min", "1h" is "1-hour".
fn format_length(wording: &Wording, length: &str) -> String {
    match (length.strip_suffix('m'), length.strip_suffix('h')) {
        (Some(minutes), _) if !minutes.contains('h') => wording.fill(Template::Minutes, &[("count", minutes)]),
        (_, Some(hours)) => wording.fill(Template::Hours, &[("count", hours)]),
        _ => length.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::{clause::extract_clause, score::score_sentence, text::split_sentences};

    fn writer_for(person: &str, language: Language) -> ObjectiveWriter<'_> {
        ObjectiveWriter { person, subject: "", language }
    }

    fn check(text: &str, expected: &str) {
        let scored = score_sentence(split_sentences(text).into_iter().next().unwrap(), &[]);
        let writer = writer_for("Dana Levi", scored.sentence.language);
        assert_eq!(writer.write_request(&extract_clause(&scored)), expected, "{text}");
    }

    #[test]
    fn one_imperative_sentence() {
        for (text, expected) in [
            ("Could you please send me the Q3 report by Friday?", "Send the Q3 report to Dana Levi by Friday"),
            ("Alex, call me tomorrow.", "Call Dana Levi tomorrow"),
            ("Please give me a call.", "Give Dana Levi a call"),
            ("Please let me know if Tuesday works for you.", "Tell Dana Levi whether Tuesday works for you"),
            ("I need the signed contract by noon.", "Get Dana Levi the signed contract by noon"),
            ("When will the budget be ready?", "Answer Dana Levi: “When will the budget be ready?”"),
            ("The form still needs your signature.", "“The form still needs your signature”"),
            ("Please water my plants while I'm away.", "Water Dana Levi's plants while Dana is away"),
            ("Can you help me with this one?", "Help Dana Levi with this one"),
            ("תוכלי לשלוח לי את הדוח?", "לשלוח לDana Levi את הדוח"),
            ("Schick mir bitte den Entwurf des Kassenberichts.", "Dana Levi den Entwurf des Kassenberichts schicken"),
            ("Könnten Sie mich morgen anrufen?", "Dana Levi morgen anrufen"),
            ("Gieß bitte meine Blumen.", "Dana Levis Blumen gießen"),
            (
                "Ich brauche noch deine Unterschrift, damit es losgehen kann.",
                "Dana Levi meine Unterschrift geben, damit es losgehen kann",
            ),
            ("Wann passt es dir nächste Woche?", "Dana Levi antworten: „Wann passt es dir nächste Woche?“"),
            ("Auf dem Antrag fehlt noch Ihre Unterschrift.", "„Auf dem Antrag fehlt noch Ihre Unterschrift“"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn what_it_is_about_stands_in_brackets() {
        for (text, subject, expected) in [
            ("Can you order 6 more before the 26th?", "plotter paper", "Order 6 more before the 26th (plotter paper)"),
            (
                "Please send me the list of vacation days.",
                "Vacation days",
                "Send the list of vacation days to Dana Levi",
            ),
            ("What do you think?", "Boston proposal", "Answer Dana Levi: “What do you think?” (Boston proposal)"),
            ("We have to see the certificate.", "Your check", "“We have to see the certificate” (Your check)"),
        ] {
            let scored = score_sentence(split_sentences(text).into_iter().next().unwrap(), &[]);
            let writer = ObjectiveWriter { subject, ..writer_for("Dana Levi", Language::English) };
            assert_eq!(writer.write_request(&extract_clause(&scored)), expected, "{text}");
        }
    }

    #[test]
    fn what_says_nothing_of_the_act_is_left_out() {
        for (text, expected) in [
            (
                "Let me know by Monday if you can do it so that I can book.",
                "Tell Dana Levi by Monday whether you can do it",
            ),
            ("Tell me which you prefer and I will begin.", "Tell Dana Levi which you prefer"),
            ("Call your mother if you get a chance, no hurry, I like to hear you.", "Call your mother"),
            (
                "Please let me know if you come and please pass this on.",
                "Tell Dana Levi whether you come and pass this on",
            ),
            ("Please send us name, address and phone by the 6th.", "Send Dana Levi name, address and phone by the 6th"),
            ("Would you like Tom to forward the plan?", "Answer Dana Levi: “Would you like Tom to forward the plan?”"),
            ("What do we need to do to get this?", "Answer Dana Levi: “What do we need to do to get this?”"),
            ("No slides please, after last year.", "“No slides please, after last year”"),
            ("Please review our draft before I leave.", "Review the draft before Dana Levi leaves"),
            ("Please send your thoughts to Julie by Tuesday.", "Send your thoughts to Julie by Tuesday"),
            ("שלחי לי את הרשימה, אני מכינה מדבקות.", "לשלוח לDana Levi את הרשימה"),
            ("תעברי על החוזה ותשלחי לי הערות.", "לעבור על החוזה ולשלוח לDana Levi הערות"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn fixed_forms() {
        let writer = writer_for("Acme Billing", Language::English);
        let money = Money { amount: 1250.0, currency: "EUR" };
        assert_eq!(writer.write_invoice(Some("2041"), Some(&money)), "Pay invoice 2041 to Acme (EUR 1,250.00)");
        let writer = writer_for("Jo", Language::German);
        let money = Money { amount: 412.8, currency: "GBP" };
        assert_eq!(writer.write_invoice(Some("3318"), Some(&money)), "Rechnung 3318 an Jo zahlen (412,80 GBP)");
        assert_eq!(
            writer.write_meeting("ein kurzes telefonat", Some("30m")),
            "30 Minuten Telefonat mit Jo vereinbaren"
        );
        assert_eq!(writer.write_unread("Faktura", Language::Polish), "„Faktura“ lesen (auf Polnisch)");
        let writer = writer_for("Dr. Anna Smith", Language::English);
        assert_eq!(writer.write_unread("Faktura", Language::Polish), "Read “Faktura” (in Polish)");
        assert_eq!(
            writer.write_meeting("a catch-up next week", Some("30m")),
            "Schedule 30-min catch-up with Dr. Anna Smith"
        );
    }

    #[test]
    fn never_longer_than_a_line() {
        let long = format!("Please send {}the report.", "very ".repeat(60));
        let scored = score_sentence(split_sentences(&long).into_iter().next().unwrap(), &[]);
        let said = writer_for("Dana", Language::English).write_request(&extract_clause(&scored));
        assert!(said.chars().count() <= MAX_OBJECTIVE_CHARS && said.ends_with('…'), "{said}");
    }
}
