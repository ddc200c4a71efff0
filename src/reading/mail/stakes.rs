//! What is lost if the reader does not act, as the mail says: money, cover, a place, somebody's pay.
//!
//! Owns which sentences say so. A loss alone is news, and a condition alone is a courtesy: a sentence warns when both
//! stand in it, or when its words say both at once ("your cover lapses").

use super::annotated_mail::AnnotatedMail;
use crate::reading::{lexicon::Feature, sentence::score::ScoredSentence};

/// How much is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::reading) enum Stakes {
    /// Somebody waits or something is put off.
    Delay,
    /// Money, cover, health, a place or a right.
    Harm,
}

/// Returns the most that one of the sentences says is lost.
pub(in crate::reading) fn find_stakes(annotated: &AnnotatedMail<'_>) -> Option<Stakes> {
    annotated.sentences.iter().filter_map(stakes_of).max()
}

/// Returns what a sentence says is lost if the reader does not act.
pub(in crate::reading) fn stakes_of(scored: &ScoredSentence<'_>) -> Option<Stakes> {
    let is_conditional = scored.has(Feature::IfNot);
    if scored.has(Feature::AtStake) || (is_conditional && scored.has(Feature::Harm)) {
        Some(Stakes::Harm)
    } else {
        (is_conditional && scored.has(Feature::Delay)).then_some(Stakes::Delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::{score::score_sentence, text::split_sentences};

    #[test]
    fn a_warning_names_a_condition_and_a_loss() {
        for (text, expected) in [
            ("If it is not approved by 17:00 today your staff will not be paid on Friday.", Some(Stakes::Harm)),
            ("HR say they stop my sick pay on Friday if they have not got it.", Some(Stakes::Harm)),
            ("You may not offer treatments without a valid licence.", Some(Stakes::Harm)),
            ("Please update your card, otherwise your online bookings will be switched off.", Some(Stakes::Harm)),
            ("Unless we have the form by Monday the fine goes up to £90.", Some(Stakes::Harm)),
            ("Without it I cannot order the parts.", Some(Stakes::Delay)),
            ("Andernfalls wird ein Verspätungszuschlag festgesetzt.", Some(Stakes::Harm)),
            ("Ohne den Fragebogen läuft Ihr Schutz am 20. September aus.", Some(Stakes::Harm)),
            ("Das muss ich morgen abgeben, sonst darf ich nicht mit.", Some(Stakes::Harm)),
            ("יש להסדיר את החוב עד 20.9, אחרת הפוליסה תבוטל.", Some(Stakes::Harm)),
            ("ילד ללא אישור לא יוכל לצאת.", Some(Stakes::Harm)),
            ("Please call us if you cannot come.", None),
            ("If you do not agree you can cancel at any time.", None),
            ("Otherwise all is well here.", None),
            ("The fine was paid last week.", None),
            ("Sonst ist hier alles beim Alten.", None),
            ("Ohne die Kinder ist es ruhig.", None),
        ] {
            let scored = score_sentence(split_sentences(text).remove(0), &[]);
            assert_eq!(stakes_of(&scored), expected, "{text}");
        }
    }
}
