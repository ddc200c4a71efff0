//! Which kind of work a sentence asks for.

use crate::model::{Mail, TaskKind};
use crate::reading::{
    lexicon::{Feature, Lexicon, PhraseMatch, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        clause::{Clause, ClauseKind},
        score::ScoredSentence,
    },
};

pub(super) struct KindHints {
    pub(super) has_date: bool,
    pub(super) has_amount: bool,
}

pub(super) fn choose_task_kind(
    scored: &ScoredSentence<'_>,
    clause: &Clause,
    annotated: &AnnotatedMail<'_>,
    mail: &Mail,
    seen: &KindHints,
) -> TaskKind {
    let lexicon = Lexicon::of(scored.sentence.language);
    let has = |feature| scored.has(feature);
    let invoiced = has(Feature::Invoice) || annotated.subject_has(Feature::Invoice);
    // Asking for the paper itself is not asking for its money.
    if invoiced && seen.has_amount && !lexicon.has_word(WordList::HandingVerbs, &clause.verb) {
        return TaskKind::Invoice;
    }
    if asks_for_meeting(scored, clause, lexicon) || asks_when_to_meet(scored, annotated) {
        return TaskKind::Meeting;
    }
    if has(Feature::Review) && (has(Feature::Document) || !mail.attachments.is_empty()) {
        return TaskKind::Review;
    }
    if has(Feature::Deadline) && seen.has_date && clause.kind != ClauseKind::Tell {
        return TaskKind::Deadline;
    }
    let asks_only =
        has(Feature::Question) && !scored.features.has_any(&[Feature::AsksYou, Feature::Please, Feature::Imperative]);
    if asks_only || clause.kind == ClauseKind::Tell { TaskKind::Question } else { TaskKind::Request }
}

fn asks_for_meeting(scored: &ScoredSentence<'_>, clause: &Clause, lexicon: &Lexicon) -> bool {
    use Feature::{AsksYou, Hopes, LetMeKnow, Meeting, Please, Proposes, Question};
    let proposed =
        scored.features.has_any(&[Proposes, AsksYou, Question, LetMeKnow, Hopes, Please, Feature::Imperative]);
    let hebrew = !clause.verb.is_ascii();
    let act = clause.kind != ClauseKind::Act || hebrew || lexicon.has_word(WordList::MeetingVerbs, &clause.verb);
    scored.has(Meeting) && proposed && act && !only_refers_to_meeting(scored)
}

/// "Before the board meeting", "for the kick-off": the meeting stands already and only says when or for what.
fn only_refers_to_meeting(scored: &ScoredSentence<'_>) -> bool {
    let lexicon = Lexicon::of(scored.sentence.language);
    let plain = &scored.sentence.normalised;
    let told = |hit: &PhraseMatch| {
        let before: Vec<&str> =
            plain.get(..hit.start).unwrap_or_default().rsplit(' ').filter(|w| !w.is_empty()).take(4).collect();
        let at = before.iter().position(|word| lexicon.has_word(WordList::MeetingLeads, word));
        at.is_some_and(|at| {
            before.get(..at).unwrap_or_default().iter().any(|word| lexicon.has_word(WordList::Articles, word))
        }) || before.first().is_some_and(|word| lexicon.has_word(WordList::MeetingReferences, word))
    };
    let mut meetings = scored.phrase_matches.iter().filter(|hit| hit.feature == Feature::Meeting).peekable();
    meetings.peek().is_some() && meetings.all(told)
}

/// "When would suit you?" beside a wish to meet is that meeting.
fn asks_when_to_meet(scored: &ScoredSentence<'_>, annotated: &AnnotatedMail<'_>) -> bool {
    use Feature::{AsksYou, Hopes, Proposes};
    let wish = |other: &ScoredSentence<'_>| {
        other.asks() && other.has(Feature::Meeting) && other.features.has_any(&[Proposes, Hopes, AsksYou])
    };
    scored.has(Feature::Question) && scored.has(Proposes) && annotated.sentences.iter().any(wish)
}
