//! The immediate answer to a correction: what it will teach, and what is still missing.

use std::fmt;

use super::{
    candidates::{LessonGroup, MIN_CORRECTIONS, MIN_DAYS, possible_reaches},
    learning::LearningInput,
    lesson::Lesson,
};
use crate::rules::RuleSet;

/// What the next nightly job would make of a correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CorrectionFeedback {
    /// Nothing can be learned from the correction; the text says why.
    NotLearned(String),
    /// The rules give the wanted result already.
    AlreadyKnown,
    /// More corrections are needed before the rule is made.
    NeedsMore { missing_corrections: usize, needs_another_day: bool, rule: String, needs_approval: bool },
    /// The correction was the last one needed.
    DueTonight { rule: String, needs_approval: bool },
}

/// Returns what the correction with this number teaches; none when it is not among the lessons.
pub fn explain_correction(material: &LearningInput, rules: &RuleSet, id: i64) -> Option<CorrectionFeedback> {
    let lesson = material.lessons.iter().find(|lesson| lesson.id == id)?;
    Some(explain_lesson(material, rules, lesson))
}

fn explain_lesson(material: &LearningInput, rules: &RuleSet, lesson: &Lesson) -> CorrectionFeedback {
    if lesson.is_known_to(rules) {
        return CorrectionFeedback::AlreadyKnown;
    }
    let reaches = possible_reaches(lesson);
    let Some(narrowest) = reaches.first().cloned() else {
        return CorrectionFeedback::NotLearned(
            "the sender is not verified, and nothing is learned about a name anyone can write".into(),
        );
    };
    // In the order of the nightly job: entries that keep being overruled come before anything new.
    let overruled = super::entry_review::review_entries(material, rules).into_iter();
    let coming = overruled
        .chain(super::candidates::find_candidates(material, rules))
        .find(|candidate| candidate.evidence.contains(&lesson.id));
    if let Some(candidate) = coming {
        return CorrectionFeedback::DueTonight {
            rule: candidate.edit.describe(),
            needs_approval: candidate.needs_approval,
        };
    }
    let group = LessonGroup::gather(material, narrowest, lesson);
    let another_day = group.count_days() < MIN_DAYS;
    let more = MIN_CORRECTIONS.saturating_sub(group.support.len()).max(usize::from(another_day));
    let rule = group.entry().describe();
    if more == 0 {
        return CorrectionFeedback::NotLearned(format!(
            "you have also said otherwise about {}",
            group.entry().reach.describe()
        ));
    }
    CorrectionFeedback::NeedsMore {
        missing_corrections: more,
        needs_another_day: another_day,
        rule,
        needs_approval: group.needs_approval(material),
    }
}

impl fmt::Display for CorrectionFeedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CorrectionFeedback::NotLearned(why) => write!(f, "noted for this one; {why}"),
            CorrectionFeedback::AlreadyKnown => f.write_str("noted; the rules say the same"),
            CorrectionFeedback::NeedsMore {
                missing_corrections: more,
                needs_another_day: another_day,
                rule,
                needs_approval: asked,
            } => {
                let times = if *more == 1 { "one more".to_owned() } else { format!("{more} more") };
                let day = if *another_day { " on another day" } else { "" };
                if *asked {
                    return write!(f, "noted; {times}{day} and tonight you would be asked: {rule}?");
                }
                write!(f, "noted; {times}{day} and tonight's rule would be: {rule}")
            }
            CorrectionFeedback::DueTonight { rule, needs_approval: false } => {
                write!(f, "noted; tonight's rule: {rule}")
            }
            CorrectionFeedback::DueTonight { rule, needs_approval: true } => {
                write!(f, "noted; tonight you will be asked: {rule}?")
            }
        }
    }
}
