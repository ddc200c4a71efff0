//! Which kind of work a sentence asks for.

use super::{
    clause::{Clause, Wish},
    lexicon::Feature,
    page::Page,
    score::Scored,
};
use crate::model::{Mail, TaskKind};

/// Verbs that ask for a meeting when meeting words stand beside them. "Send the agenda of the meeting" does not.
const MEETING_VERBS: &[&str] = &[
    "meet", "schedule", "set", "arrange", "join", "attend", "have", "find", "book", "come", "catch", "get", "do",
    "discuss", "talk", "speak", "chat", "make", "be", "sit", "grab", "hop", "jump", "plan", "fit", "spare", "organise",
    "organize",
];

/// Asking for the paper itself is not asking for its money.
const HANDING_VERBS: &[&str] =
    &["send", "resend", "forward", "issue", "email", "check", "review", "approve", "explain", "confirm"];

pub(super) struct Seen {
    pub(super) dated: bool,
    pub(super) money: bool,
}

pub(super) fn kind(scored: &Scored<'_>, clause: &Clause, page: &Page<'_>, mail: &Mail, seen: &Seen) -> TaskKind {
    let verb = clause.verb();
    let has = |feature| scored.has(feature);
    let invoiced = has(Feature::Invoice) || page.subject_has(Feature::Invoice);
    if invoiced && seen.money && !HANDING_VERBS.contains(&verb.as_str()) {
        return TaskKind::Invoice;
    }
    if meets(scored, clause, &verb) || fits(scored, page) {
        return TaskKind::Meeting;
    }
    if has(Feature::Review) && (has(Feature::Document) || !mail.attachments.is_empty()) {
        return TaskKind::Review;
    }
    if has(Feature::Deadline) && seen.dated && clause.wish != Wish::Tell {
        return TaskKind::Deadline;
    }
    let asks_only =
        has(Feature::Question) && !scored.features.any(&[Feature::AsksYou, Feature::Please, Feature::Imperative]);
    if asks_only || clause.wish == Wish::Tell { TaskKind::Question } else { TaskKind::Request }
}

fn meets(scored: &Scored<'_>, clause: &Clause, verb: &str) -> bool {
    use Feature::{AsksYou, Hopes, LetMeKnow, Meeting, Please, Proposes, Question};
    let proposed = scored.features.any(&[Proposes, AsksYou, Question, LetMeKnow, Hopes, Please, Feature::Imperative]);
    let hebrew = !verb.is_ascii();
    let act = clause.wish != Wish::Act || hebrew || MEETING_VERBS.contains(&verb);
    scored.has(Meeting) && proposed && act
}

/// "When would suit you?" beside a wish to meet is that meeting.
fn fits(scored: &Scored<'_>, page: &Page<'_>) -> bool {
    use Feature::{AsksYou, Hopes, Proposes};
    let wish = |other: &Scored<'_>| {
        other.asks() && other.has(Feature::Meeting) && other.features.any(&[Proposes, Hopes, AsksYou])
    };
    scored.has(Feature::Question) && scored.has(Proposes) && page.sentences.iter().any(wish)
}
