//! The objective: one imperative sentence made from the sentence that decided.
//!
//! Owns the wording. It uses the mail's own words and the sender's name; it never promises more than was asked.

use crate::reading::{
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::{
        clause::{Clause, ClauseKind},
        text::{normalise, words},
    },
    task::{
        money::Money,
        wording::{Template, Wording},
    },
};

const MAX_OBJECTIVE_CHARS: usize = 120;

/// The length of a subject beside a quoted sentence, in characters.
const MAX_QUOTED_SUBJECT: usize = 40;

/// Who asks, as the objective will call them, about what, and in which language.
#[derive(Debug, Clone, Copy)]
pub(in crate::reading) struct ObjectiveWriter<'a> {
    pub(in crate::reading) person: &'a str,
    pub(in crate::reading) subject: &'a str,
    pub(in crate::reading) language: Language,
}

impl ObjectiveWriter<'_> {
    /// The same in the language of a sentence, when that is one that is read.
    pub(in crate::reading) fn in_language(self, language: Language) -> Self {
        if language.is_read() { Self { language, ..self } } else { self }
    }

    pub(in crate::reading) fn write_request(self, clause: &Clause) -> String {
        let text = match self.language {
            Language::Hebrew => self.to_third_person_hebrew(&clause.text),
            Language::German => self.to_third_person_german(&clause.text),
            _ => self.to_third_person(&clause.text),
        };
        let template = match (clause.kind, self.language) {
            _ if words(&text).next().is_none() => Template::Reply,
            (ClauseKind::Act, Language::German | Language::Hebrew) => return format_objective(&text),
            (ClauseKind::Act, _) if starts_with_verb(&text) => {
                return format_objective(&self.rewrite_handover(&clause.text).unwrap_or(text));
            }
            // Another's question is quoted in the words it was put in.
            (ClauseKind::Answer, Language::German) => return self.fill_quoting(Template::Answer, &clause.text),
            (ClauseKind::Whole, Language::German) => return self.fill_quoting(Template::FollowUp, &clause.text),
            (ClauseKind::Give, Language::German) => return self.write_german_gift(&text),
            (ClauseKind::Tell, Language::English) => {
                return self.fill(Template::Tell, &replace_if_with_whether(&text));
            }
            (ClauseKind::Tell, _) => Template::Tell,
            (ClauseKind::Give, _) => Template::Give,
            (ClauseKind::Answer, _) => Template::Answer,
            _ => Template::FollowUp,
        };
        self.fill(template, &text)
    }

    /// A fixed form around what the mail says.
    pub(in crate::reading) fn fill(self, template: Template, text: &str) -> String {
        let text = text.trim_end_matches(['.', '!', '?', ' ', ':']);
        let values = [("person", self.person), ("text", text), ("subject", self.subject)];
        format_objective(&Wording::of(self.language).fill(template, &values))
    }

    /// A form in which the text stands between marks, which are not cut off with it.
    fn fill_quoting(self, template: Template, text: &str) -> String {
        let wording = Wording::of(self.language);
        let text = text.trim_end_matches(['.', '!', '?', ' ', ':']).replace('"', "'");
        let subject = truncate_at_word(self.subject, MAX_QUOTED_SUBJECT);
        let fill = |text: &str, subject: &str| {
            wording.fill(template, &[("person", self.person), ("text", text), ("subject", subject)])
        };
        // A subject that says the same again says nothing.
        let subject = if normalise(&text).contains(&normalise(&subject)) { "" } else { &subject };
        let around = fill("", subject).chars().count();
        fill(&truncate_at_word(&text, MAX_OBJECTIVE_CHARS.saturating_sub(around)), subject)
    }

    /// What is needed stands before the verb, a clause that hangs on it behind.
    fn write_german_gift(self, text: &str) -> String {
        let (thing, clause) = text.split_once(", ").map_or((text, String::new()), |(a, b)| (a, format!(", {b}")));
        format_objective(&format!("{}{clause}", self.fill(Template::Give, thing)))
    }

    /// What a mail in a language that is not read is about.
    pub(in crate::reading) fn write_unread(self, about: &str, language: Language) -> String {
        let wording = Wording::of(self.language);
        let name = wording.language_name(language);
        let around = wording.fill(Template::Unread, &[("language", name)]).chars().count();
        let about = truncate_at_word(about, MAX_OBJECTIVE_CHARS.saturating_sub(around));
        wording.fill(Template::Unread, &[("text", &about), ("language", name)])
    }

    /// "send me X by Friday" is "send X to Dana by Friday".
    fn rewrite_handover(self, text: &str) -> Option<String> {
        const HAND_OVER: &[&str] =
            &["send", "give", "email", "e-mail", "forward", "bring", "mail", "pass", "show", "fax", "resend"];
        let (verb, rest) = text.split_once(' ')?;
        let rest = rest.strip_prefix("me ").or_else(|| rest.strip_prefix("us "))?;
        let thing =
            words(rest).next().is_some_and(|word| !matches!(word, "a" | "know" | "if" | "when" | "by" | "on" | "at"));
        let call = rest.starts_with("a call") || rest.starts_with("a ring");
        let hands = HAND_OVER.contains(&verb.to_ascii_lowercase().as_str());
        (hands && !call && (thing || rest.starts_with("a "))).then(|| {
            put_before_adverbial(&format!("{verb} {}", self.to_third_person(rest)), &format!("to {}", self.person))
        })
    }

    /// The sender's "I", "me" and "my" by name: the objective is read by someone else.
    fn to_third_person(self, text: &str) -> String {
        let mut said: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let core = word.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '\''));
            let tail = word.strip_prefix(core).unwrap_or_default();
            let swapped = match core {
                "me" | "us" | "I" | "myself" => self.person.to_owned(),
                "my" | "My" => format!("{}'s", self.person),
                "I'm" => format!("{} is", self.person),
                "I've" => format!("{} has", self.person),
                "I'll" => format!("{} will", self.person),
                "I'd" => format!("{} would", self.person),
                _ => core.to_owned(),
            };
            said.push(format!("{swapped}{tail}"));
        }
        said.join(" ").replace(&format!("{} am ", self.person), &format!("{} is ", self.person))
    }

    fn to_third_person_hebrew(self, text: &str) -> String {
        let swap = |word: &str| match word {
            "לי" | "לנו" => format!("ל{}", self.person),
            "אותי" => format!("את {}", self.person),
            word => word.to_owned(),
        };
        text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
    }

    /// The writer's "mir" and "mein" by name.
    fn to_third_person_german(self, text: &str) -> String {
        let swap = |word: &str| {
            let core = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let tail = word.strip_prefix(core).unwrap_or_default();
            match normalise(core).as_str() {
                "mir" | "mich" | "uns" => format!("{}{tail}", self.person),
                "mein" | "meine" | "meinen" | "meinem" | "meiner" | "meines" => {
                    format!("{}{tail}", self.german_genitive())
                }
                _ => word.to_owned(),
            }
        };
        text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
    }

    /// "Oles", but "Jonas'".
    pub(super) fn german_genitive(self) -> String {
        let ending = if self.person.ends_with(['s', 'ß', 'x', 'z']) { "'" } else { "s" };
        format!("{}{ending}", self.person)
    }

    pub(super) fn write_meeting(self, plain: &str, duration: Option<&str>) -> String {
        let wording = Wording::of(self.language);
        let length = duration.map(|length| format_length(wording, length)).unwrap_or_default();
        let values = [("person", self.person), ("noun", wording.meeting_noun(plain)), ("length", &length)];
        format_objective(&wording.fill(Template::Meeting, &values))
    }

    pub(super) fn write_invoice(self, number: Option<&str>, money: Option<&Money>) -> String {
        let wording = Wording::of(self.language);
        let payee = strip_department(self.person);
        let sum = money.map(|money| money.format_with_currency(wording)).unwrap_or_default();
        let values = [("person", payee), ("number", number.unwrap_or_default()), ("sum", &sum)];
        format_objective(&wording.fill(Template::Invoice, &values))
    }

    /// The words as they are, dressed as an objective.
    pub(super) fn write_verbatim(self, text: &str) -> String {
        format_objective(text)
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
    "not", "no", "you", "as",
];

fn starts_with_verb(text: &str) -> bool {
    words(text).next().is_some_and(|word| !NOT_VERBS.contains(&word.to_ascii_lowercase().as_str()))
}

/// "if X" is told as "whether X".
fn replace_if_with_whether(text: &str) -> String {
    match text.strip_prefix("if ") {
        Some(rest) => format!("whether {rest}"),
        None => text.to_owned(),
    }
}

/// Where the thing ends and when, why or how begins.
fn put_before_adverbial(text: &str, inserted: &str) -> String {
    const STARTS: &[&str] = &[
        " by ",
        " before ",
        " until ",
        " no later ",
        " today",
        " tomorrow",
        " tonight",
        " this week",
        " this afternoon",
        " next ",
        " on ",
        " at ",
        " asap",
        " as soon ",
        " so ",
        " because ",
        " if ",
        " when ",
        " once ",
        ", ",
        "; ",
        " and ",
        " - ",
        " first thing",
    ];
    let at = STARTS.iter().filter_map(|start| text.find(start)).min().unwrap_or(text.len());
    let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
    format!("{head} {inserted}{tail}")
}

/// "30m" is "30-min", "1h" is "1-hour".
fn format_length(wording: &Wording, length: &str) -> String {
    match (length.strip_suffix('m'), length.strip_suffix('h')) {
        (Some(minutes), _) if !minutes.contains('h') => wording.fill(Template::Minutes, &[("count", minutes)]),
        (_, Some(hours)) => wording.fill(Template::Hours, &[("count", hours)]),
        _ => length.to_owned(),
    }
}

/// "Acme Billing" is paid as "Acme".
fn strip_department(person: &str) -> &str {
    let departments = [Language::English, Language::German].map(|it| Lexicon::of(it).words(WordList::Departments));
    let stripped = departments.into_iter().flatten().find_map(|department| {
        let at = person.len().checked_sub(department.len())?;
        let (name, last) = person.split_at_checked(at)?;
        (normalise(last) == *department).then(|| name.strip_suffix(' ')).flatten()
    });
    stripped.unwrap_or(person)
}

fn format_objective(said: &str) -> String {
    let said = said.trim_end_matches(['.', '!', '?', ',', ';', ':', ' ']);
    let mut chars = said.chars();
    let upper: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    truncate_at_word(cut_after_first_clause(&upper), MAX_OBJECTIVE_CHARS)
}

/// A sentence too long for one line ends where its first thought does.
fn cut_after_first_clause(said: &str) -> &str {
    const ENDS: &[&str] =
        &["—", " – ", " - ", "; ", " because ", " so that ", ", otherwise", ", since ", ", which ", " or else "];
    const LEAST: usize = 30;
    if said.chars().count() <= MAX_OBJECTIVE_CHARS {
        return said;
    }
    let ends = ENDS.iter().filter_map(|end| said.find(end)).filter(|at| *at >= LEAST);
    ends.min().and_then(|at| said.get(..at)).map_or(said, str::trim_end)
}

/// At most `longest` characters, cut between words.
pub(in crate::reading) fn truncate_at_word(text: &str, longest: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= longest {
        return text;
    }
    let cut: String = text.chars().take(longest.saturating_sub(1)).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{}…", whole.trim_end_matches([',', ';', ':', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::{clause::extract_clause, score::score_sentence, text::split_sentences};

    fn writer_for(person: &str, language: Language) -> ObjectiveWriter<'_> {
        ObjectiveWriter { person, subject: "Sommerfest", language }
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
            ("When will the budget be ready?", "Answer Dana Levi: When will the budget be ready"),
            ("Please water my plants while I'm away.", "Water Dana Levi's plants while Dana Levi is away"),
            ("Can you help me with this one?", "Help Dana Levi with this one"),
            ("תוכלי לשלוח לי את הדוח?", "לשלוח לDana Levi את הדוח"),
            ("Schick mir bitte den Entwurf des Kassenberichts.", "Dana Levi den Entwurf des Kassenberichts schicken"),
            ("Könnten Sie mich morgen anrufen?", "Dana Levi morgen anrufen"),
            ("Gieß bitte meine Blumen.", "Dana Levis Blumen gießen"),
            (
                "Ich brauche noch deine Unterschrift, damit es losgehen kann.",
                "Dana Levi deine Unterschrift geben, damit es losgehen kann",
            ),
            ("Wann passt es dir nächste Woche?", "Dana Levi antworten: „Wann passt es dir nächste Woche?“"),
            (
                "Auf dem Antrag fehlt noch Ihre Unterschrift.",
                "„Auf dem Antrag fehlt noch Ihre Unterschrift“ (Sommerfest)",
            ),
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
