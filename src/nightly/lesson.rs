//! Lessons: the facts of a corrected task or mail, and what the person wanted instead.

use std::collections::HashMap;

use chrono_tz::Tz;

use crate::{
    model::{
        Facts, Instant, MailId, Priority, TaskId, UrgencyOrigin,
        nightly::{CorrectionKind, LessonRow},
    },
    rules::RuleSet,
};

/// What the person wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LessonTarget {
    /// Another level.
    Level(Priority),
    /// The mail is a task, or is none.
    Task(bool),
}

/// A correction that something can be learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The number of the correction.
    pub id: i64,
    pub target: LessonTarget,
    /// Whether the person wanted more than the program gave: a higher level, or a task.
    pub is_raise: bool,
    pub facts: Facts,
    /// When the task was opened or the mail arrived: the moment at which rules judge it.
    pub created_at: Instant,
    /// When the correction was made.
    pub at: Instant,
    /// The local date of the correction.
    pub day: String,
    /// Whether the headers mark the mail as sent to many or by a machine.
    pub bulk: bool,
    /// The task that was corrected; none for a mail without one.
    pub task_id: Option<TaskId>,
    /// The level that the program had given; none for a correction of what is a task.
    pub given: Option<Priority>,
    /// What had decided the level, as the reflection of the run says; none without such a line.
    pub basis: Option<RankBasis>,
}

/// What had decided the level of a task when the person corrected it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankBasis {
    /// The name of the rule.
    pub rule: String,
    pub urgency: f64,
    /// Who estimated the urgency; none where the line does not say.
    pub urgency_origin: Option<UrgencyOrigin>,
}

/// Returns the person's last correction of each task and mail, compared with what the program had first given.
/// Corrections of tasks that were typed in by hand are left out, because they teach nothing about mail.
pub fn collect_lessons(rows: Vec<LessonRow>, zone: Tz) -> Vec<Lesson> {
    let mut last: HashMap<(Option<TaskId>, Option<MailId>), (String, Lesson)> = HashMap::new();
    for row in rows {
        let about = match row.correction.kind {
            CorrectionKind::Priority => (row.correction.task_id, None),
            _ => (None, row.correction.mail_id),
        };
        let from = last.get(&about).map_or_else(|| row.correction.from.clone(), |(from, _)| from.clone());
        if let Some(lesson) = lesson_from_row(row, &from, zone) {
            last.insert(about, (from, lesson));
        }
    }
    let mut lessons: Vec<Lesson> = last.into_values().map(|(_, lesson)| lesson).collect();
    lessons.sort_by_key(|lesson| lesson.id);
    lessons
}

/// Returns the lesson of a correction; none for kinds that say nothing about levels or tasks.
fn lesson_from_row(row: LessonRow, from: &str, zone: Tz) -> Option<Lesson> {
    let LessonRow { correction, facts, created_at: born_at, bulk } = row;
    correction.mail_id?;
    let (wish, up, given) = match correction.kind {
        CorrectionKind::Priority => {
            let (from, to) = (from.parse::<Priority>().ok()?, correction.to.parse::<Priority>().ok()?);
            (LessonTarget::Level(to), to > from, Some(from))
        }
        CorrectionKind::NotATask => (LessonTarget::Task(false), false, None),
        CorrectionKind::MakeTask => (LessonTarget::Task(true), true, None),
        _ => return None,
    };
    let day = correction.at.utc().with_timezone(&zone).format("%Y-%m-%d").to_string();
    Some(Lesson {
        id: correction.correction,
        target: wish,
        is_raise: up,
        facts,
        created_at: born_at,
        at: correction.at,
        day,
        bulk,
        task_id: correction.task_id,
        given,
        basis: None,
    })
}

impl Lesson {
    /// Returns whether these rules alone give what the person wanted.
    pub fn is_known_to(&self, rules: &RuleSet) -> bool {
        match self.target {
            LessonTarget::Level(level) => rules.rank(&self.facts, self.created_at).level == level,
            LessonTarget::Task(opens) => {
                rules.find_task_rule(&self.facts, self.created_at).is_some_and(|taught| taught.opens == opens)
            }
        }
    }
}
