//! English acts in other words: to whom something is sent or paid, and who is called.
//!
//! Owns the swap of "me" for a name where it changes the order of the words.

use crate::reading::{
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::text::{normalise, words},
    task::{
        objective::ObjectiveWriter,
        third_person::{name_writer, names},
    },
};

impl ObjectiveWriter<'_> {
    /// "send me X by Friday" is "send X to Dana by Friday".
    pub(super) fn rewrite_handover(self, text: &str) -> Option<String> {
        const HAND_OVER: &[&str] =
            &["send", "give", "email", "e-mail", "forward", "bring", "mail", "pass", "show", "fax", "resend"];
        let (verb, rest) = text.split_once(' ')?;
        let rest = rest.strip_prefix("me ").or_else(|| rest.strip_prefix("us "))?;
        let thing =
            words(rest).next().is_some_and(|word| !matches!(word, "a" | "know" | "if" | "when" | "by" | "on" | "at"));
        let call = rest.starts_with("a call") || rest.starts_with("a ring");
        let hands = HAND_OVER.contains(&verb.to_ascii_lowercase().as_str());
        // What is long, or a list, is better named behind whom it is for.
        let is_short = words(rest).count() <= 12 && !rest.contains(", ");
        (hands && !call && is_short && (thing || rest.starts_with("a "))).then(|| {
            let rest = name_writer(rest, self.person, self.language, true);
            put_before_adverbial(&format!("{verb} {rest}"), &format!("to {}", self.person))
        })
    }

    /// "call 502-212-4908" says whom.
    pub(super) fn rewrite_call(self, text: &str) -> Option<String> {
        const CALL: &[&str] = &["call", "phone", "ring", "telephone", "dial"];
        let (verb, rest) = text.split_once(' ')?;
        let number = rest.strip_prefix("at ").or_else(|| rest.strip_prefix("on ")).unwrap_or(rest);
        let is_number = number.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '('));
        let calls = CALL.contains(&verb.to_ascii_lowercase().as_str());
        // "Call 1-800-555-0100 to speak with support" calls somebody else.
        let is_theirs = !words(rest).any(|word| word == "to") && !names(rest, self.person);
        (calls && is_number && is_theirs).then(|| {
            let number = name_writer(number, self.person, self.language, true);
            format!("{verb} {} at {number}", self.person)
        })
    }

    /// "pay £118 by Monday" says to whom.
    pub(super) fn rewrite_payment(self, text: &str) -> Option<String> {
        let (verb, rest) = text.split_once(' ')?;
        let is_sum = rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '€' | '$' | '£' | '₪'));
        let is_open = !format!(" {rest} ").contains(" to ") && !names(rest, self.person);
        (verb.eq_ignore_ascii_case("pay") && is_sum && is_open).then(|| {
            let rest = name_writer(rest, self.person, self.language, true);
            put_before_adverbial(&format!("{verb} {rest}"), &format!("to {}", strip_department(self.person)))
        })
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

/// "Acme Billing" is paid as "Acme".
pub(super) fn strip_department(person: &str) -> &str {
    let departments = [Language::English, Language::German].map(|it| Lexicon::of(it).words(WordList::Departments));
    let stripped = departments.into_iter().flatten().find_map(|department| {
        let at = person.len().checked_sub(department.len())?;
        let (name, last) = person.split_at_checked(at)?;
        (normalise(last) == *department).then(|| name.strip_suffix(' ')).flatten()
    });
    stripped.unwrap_or(person)
}
