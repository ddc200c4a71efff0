//! The objective: one imperative sentence made from the sentence that decided.
//!
//! Owns the wording. It uses the mail's own words and the sender's name; it never promises more than was asked.

use crate::reading::{
    sentence::{
        clause::{Clause, ClauseKind},
        text::words,
    },
    task::money::Money,
};

const MAX_OBJECTIVE_CHARS: usize = 120;

/// Who asks, as the objective will call them, and in which language.
#[derive(Debug, Clone, Copy)]
pub(in crate::reading) struct ObjectiveWriter<'a> {
    pub(in crate::reading) person: &'a str,
    pub(in crate::reading) is_hebrew: bool,
}

impl ObjectiveWriter<'_> {
    pub(super) fn write_request(self, clause: &Clause) -> String {
        let text =
            if self.is_hebrew { self.to_third_person_hebrew(&clause.text) } else { self.to_third_person(&clause.text) };
        let person = self.person;
        let said = match (clause.kind, self.is_hebrew) {
            (_, false) if words(&text).next().is_none() => format!("Reply to {person}"),
            (ClauseKind::Act, false) if starts_with_verb(&text) => self.rewrite_handover(&clause.text).unwrap_or(text),
            (ClauseKind::Act, true) => text,
            (ClauseKind::Tell, false) => format!("Tell {person} {}", replace_if_with_whether(&text)),
            (ClauseKind::Give, false) => format!("Get {person} {text}"),
            (ClauseKind::Answer, false) => format!("Answer {person}: {text}"),
            (_, false) => format!("Follow up with {person}: {text}"),
            (_, true) => format!("לענות ל{person}: {text}"),
        };
        format_objective(&said)
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

    pub(super) fn write_meeting(self, plain: &str, duration: Option<&str>) -> String {
        let noun = meeting_noun(plain);
        let said = if self.is_hebrew {
            let length = duration.map(|length| format!(" ({length})")).unwrap_or_default();
            format!("לקבוע {}{length} עם {}", if plain.contains("שיח") { "שיחה" } else { "פגישה" }, self.person)
        } else {
            let length = duration.map(|length| format!("{} ", format_length(length))).unwrap_or_default();
            format!("Schedule {length}{noun} with {}", self.person)
        };
        format_objective(&said)
    }

    pub(super) fn write_invoice(self, number: Option<&str>, money: Option<&Money>) -> String {
        let payee = strip_department(self.person);
        let number = number.map(|number| format!(" {number}")).unwrap_or_default();
        let sum = money.map(|money| format!(" ({})", money.format_with_currency())).unwrap_or_default();
        format_objective(&if self.is_hebrew {
            format!("לשלם חשבונית{number} ל{payee}{sum}")
        } else {
            format!("Pay invoice{number} to {payee}{sum}")
        })
    }

    /// The words as they are, dressed as an objective.
    pub(super) fn write_verbatim(self, text: &str) -> String {
        format_objective(text)
    }

    /// A fixed beginning, then what the mail says.
    pub(in crate::reading) fn write_with_lead(self, english: &str, hebrew: &str, text: &str) -> String {
        let lead = if self.is_hebrew { hebrew } else { english };
        let text = text.trim_end_matches(['.', '!', '?', ' ', ':']);
        format_objective(&format!("{lead}: {text}"))
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

fn meeting_noun(plain: &str) -> &'static str {
    const NOUNS: &[(&str, &str)] = &[
        ("catch-up", "catch-up"),
        ("catch up", "catch-up"),
        ("interview", "interview"),
        ("lunch", "lunch"),
        ("dinner", "dinner"),
        ("breakfast", "breakfast"),
        ("coffee", "coffee"),
        ("workshop", "workshop"),
        ("video call", "video call"),
        ("conference call", "conference call"),
        (" call", "call"),
        (" chat", "chat"),
    ];
    NOUNS.iter().find(|(sign, _)| plain.contains(sign)).map_or("meeting", |(_, noun)| noun)
}

/// "30m" is "30-min", "1h" is "1-hour".
fn format_length(length: &str) -> String {
    match (length.strip_suffix('m'), length.strip_suffix('h')) {
        (Some(minutes), _) if !minutes.contains('h') => format!("{minutes}-min"),
        (_, Some(hours)) => format!("{hours}-hour"),
        _ => length.to_owned(),
    }
}

/// "Acme Billing" is paid as "Acme".
fn strip_department(person: &str) -> &str {
    [" Billing", " Accounts", " Accounting", " Invoices", " Invoicing", " Finance", " Payments"]
        .iter()
        .find_map(|department| person.strip_suffix(department))
        .unwrap_or(person)
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

    fn check(text: &str, expected: &str) {
        let scored = score_sentence(split_sentences(text).into_iter().next().unwrap(), &[]);
        let writer = ObjectiveWriter { person: "Dana Levi", is_hebrew: text.contains('א') || text.contains('ל') };
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
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn fixed_forms() {
        let writer = ObjectiveWriter { person: "Acme Billing", is_hebrew: false };
        let money = Money { amount: 1250.0, currency: "EUR" };
        assert_eq!(writer.write_invoice(Some("2041"), Some(&money)), "Pay invoice 2041 to Acme (EUR 1,250.00)");
        let writer = ObjectiveWriter { person: "Dr. Anna Smith", is_hebrew: false };
        assert_eq!(
            writer.write_meeting("a catch-up next week", Some("30m")),
            "Schedule 30-min catch-up with Dr. Anna Smith"
        );
    }

    #[test]
    fn never_longer_than_a_line() {
        let long = format!("Please send {}the report.", "very ".repeat(60));
        let scored = score_sentence(split_sentences(&long).into_iter().next().unwrap(), &[]);
        let said = ObjectiveWriter { person: "Dana", is_hebrew: false }.write_request(&extract_clause(&scored));
        assert!(said.chars().count() <= MAX_OBJECTIVE_CHARS && said.ends_with('…'), "{said}");
    }
}
