//! The answer to a correction: what it teaches, and what is still missing.

use std::fmt;

use super::{
    candidates::{LessonGroup, MIN_CORRECTIONS, MIN_DAYS, possible_reaches},
    learning::LearningInput,
    lesson::Lesson,
};
use crate::rules::RuleSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing can be learned from it, and why.
    Nothing(String),
    /// The rules say the same by now.
    Known,
    Missing {
        more: usize,
        another_day: bool,
        rule: String,
        needs_approval: bool,
    },
    Tonight {
        rule: String,
        needs_approval: bool,
    },
}

/// `id` is the correction that was just made.
pub fn outlook(material: &LearningInput, rules: &RuleSet, id: i64) -> Option<Outlook> {
    let lesson = material.lessons.iter().find(|lesson| lesson.id == id)?;
    Some(of(material, rules, lesson))
}

fn of(material: &LearningInput, rules: &RuleSet, lesson: &Lesson) -> Outlook {
    if lesson.is_known_to(rules) {
        return Outlook::Known;
    }
    let reaches = possible_reaches(lesson);
    let Some(narrowest) = reaches.first().cloned() else {
        return Outlook::Nothing(
            "the sender is not verified, and nothing is learned about a name anyone can write".into(),
        );
    };
    // As the night does it: what keeps being overruled goes before anything new.
    let overruled = super::entry_review::review_entries(material, rules).into_iter();
    let coming = overruled
        .chain(super::candidates::find_candidates(material, rules))
        .find(|candidate| candidate.evidence.contains(&lesson.id));
    if let Some(candidate) = coming {
        return Outlook::Tonight { rule: candidate.edit.describe(), needs_approval: candidate.needs_approval };
    }
    let group = LessonGroup::gather(material, narrowest, lesson);
    let another_day = group.count_days() < MIN_DAYS;
    let more = MIN_CORRECTIONS.saturating_sub(group.support.len()).max(usize::from(another_day));
    let rule = group.entry().describe();
    if more == 0 {
        return Outlook::Nothing(format!("you have also said otherwise about {}", group.entry().reach.describe()));
    }
    Outlook::Missing { more, another_day, rule, needs_approval: group.needs_approval(material) }
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outlook::Nothing(why) => write!(f, "noted for this one; {why}"),
            Outlook::Known => f.write_str("noted; the rules say the same"),
            Outlook::Missing { more, another_day, rule, needs_approval: asked } => {
                let times = if *more == 1 { "one more".to_owned() } else { format!("{more} more") };
                let day = if *another_day { " on another day" } else { "" };
                if *asked {
                    return write!(f, "noted; {times}{day} and tonight you would be asked: {rule}?");
                }
                write!(f, "noted; {times}{day} and tonight's rule would be: {rule}")
            }
            Outlook::Tonight { rule, needs_approval: false } => write!(f, "noted; tonight's rule: {rule}"),
            Outlook::Tonight { rule, needs_approval: true } => write!(f, "noted; tonight you will be asked: {rule}?"),
        }
    }
}
