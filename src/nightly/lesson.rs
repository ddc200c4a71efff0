//! What a correction teaches: the facts of its task or mail, and what the person wanted instead.

use std::collections::HashMap;

use chrono_tz::Tz;

use crate::{
    model::{
        Facts, Instant, MailId, Priority, TaskId,
        nightly::{CorrectionKind, LessonRow},
    },
    rules::RuleSet,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LessonTarget {
    Level(Priority),
    /// The mail is a task, or is none.
    Task(bool),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The number of the correction.
    pub id: i64,
    pub target: LessonTarget,
    /// Where the person wanted it from there: up is true. Of a task: opened is up.
    pub is_raise: bool,
    pub facts: Facts,
    pub created_at: Instant,
    pub at: Instant,
    /// The local date of the correction.
    pub day: String,
    pub bulk: bool,
}

/// The person's last word on each task and mail, measured from where the program had it. What was typed in by hand
/// teaches nothing about mail.
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

fn lesson_from_row(row: LessonRow, from: &str, zone: Tz) -> Option<Lesson> {
    let LessonRow { correction, facts, created_at: born_at, bulk } = row;
    correction.mail_id?;
    let (wish, up) = match correction.kind {
        CorrectionKind::Priority => {
            let (from, to) = (from.parse::<Priority>().ok()?, correction.to.parse::<Priority>().ok()?);
            (LessonTarget::Level(to), to > from)
        }
        CorrectionKind::NotATask => (LessonTarget::Task(false), false),
        CorrectionKind::MakeTask => (LessonTarget::Task(true), true),
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
    })
}

impl Lesson {
    /// Whether the rules give it by themselves what the person wanted.
    pub fn is_known_to(&self, rules: &RuleSet) -> bool {
        match self.target {
            LessonTarget::Level(level) => rules.rank(&self.facts, self.created_at).level == level,
            LessonTarget::Task(opens) => {
                rules.find_task_rule(&self.facts, self.created_at).is_some_and(|taught| taught.opens == opens)
            }
        }
    }
}
