//! What may be learned, unlearned and asked, case by case.

use std::collections::HashMap;

use chrono::Duration;

use super::{LearningInput, Lesson, LessonTarget, TrackedEntry, derive_edits, run_review};
use crate::{
    model::{
        AccountId, Addressed, Facts, FactsKind, Instant, MailId, Priority, Reflection, ReflectionKind, RunFeedback,
        RunId, TaskId, TaskKind, TaskStatus, UrgencyOrigin,
        nightly::{PastMail, PastTask},
    },
    rules::{BUILT_IN, EntryAct, LearnedEntry, Reach, RulesEdit, apply_edits},
};

fn now() -> Instant {
    "2026-06-23T03:15:00Z".parse().unwrap()
}

fn days_ago(days: i64) -> Instant {
    now().plus(-Duration::days(days))
}

fn facts(sender: &str, subject: &str) -> Facts {
    Facts {
        sender: sender.into(),
        sender_domain: sender.rsplit('@').next().unwrap().into(),
        sender_verified: true,
        known_contact: false,
        addressed: Addressed::To,
        list_id: None,
        subject: subject.into(),
        objective: "Send the keys".into(),
        kind: FactsKind::Task(TaskKind::Request),
        language: "en".into(),
        amount: None,
        due_at: None,
        urgency: 0.2,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: false,
        thread_mine: false,
        account: "work".into(),
    }
}

/// A past without corrections, to which tests add.
struct Past(LearningInput);

impl Past {
    fn new() -> Self {
        Self(LearningInput {
            now: now(),
            zone: chrono_tz::UTC,
            rules: BUILT_IN.to_owned(),
            guidelines: String::new(),
            lessons: Vec::new(),
            level_set_at: HashMap::new(),
            tasks: Vec::new(),
            mails: Vec::new(),
            tracked_entries: Vec::new(),
            unlearned: HashMap::new(),
            proposals: Vec::new(),
            replies: Vec::new(),
            reflections: Vec::new(),
        })
    }

    fn with_mail(mut self, facts: &Facts, days: i64, bulk: bool) -> Self {
        let mail_id = MailId(i64::try_from(self.0.mails.len()).unwrap() + 1);
        let facts = facts.clone();
        self.0.mails.push(PastMail {
            mail_id,
            arrived_at: days_ago(days),
            opened_task: true,
            corrected: false,
            bulk,
            facts,
        });
        self
    }

    /// Adds a mail that was corrected.
    fn with_lesson(mut self, facts: &Facts, wish: LessonTarget, up: bool, days: i64, bulk: bool) -> Self {
        let id = i64::try_from(self.0.lessons.len()).unwrap() + 1;
        let (born_at, at) = (days_ago(days), days_ago(days).plus(Duration::hours(1)));
        let day = at.to_string().get(..10).unwrap().to_owned();
        self.0.lessons.push(Lesson {
            id,
            target: wish,
            is_raise: up,
            facts: facts.clone(),
            created_at: born_at,
            at,
            day,
            bulk,
            task_id: None,
            given: None,
            basis: None,
        });
        self.with_mail(facts, days, bulk)
    }

    fn with_task(mut self, facts: &Facts, level: Priority, days: i64, hand_ranked: bool) -> Self {
        let task_id = TaskId::derive(days_ago(days), &[&self.0.tasks.len().to_string()]);
        if hand_ranked {
            self.0.level_set_at.insert(task_id, days_ago(days).plus(Duration::hours(2)));
        }
        self.0.tasks.push(PastTask {
            task_id,
            number: None,
            created_at: days_ago(days),
            status: TaskStatus::Ready,
            priority: level,
            hand_ranked,
            facts: facts.clone(),
        });
        self
    }

    fn with_entry(mut self, entry: LearnedEntry, days: i64) -> Self {
        let edit = RulesEdit::Add { entry: entry.clone(), why: "you said so".into() };
        self.0.rules = apply_edits("f", &self.0.rules, std::slice::from_ref(&edit)).unwrap();
        self.0.tracked_entries.push(TrackedEntry { name: edit.name(), entry, made_at: days_ago(days), last_hit: None });
        self
    }

    /// Adds a task whose run ended with a reflection, and which the person corrected afterwards.
    fn with_reflected_lesson(mut self, facts: &Facts, wish: LessonTarget, up: bool, days: i64, rule: &str) -> Self {
        self = self.with_reflection(facts, days, rule).with_lesson(facts, wish, up, days, false);
        let task_id = self.0.reflections.last().map(|line| line.task_id);
        if let Some(lesson) = self.0.lessons.last_mut() {
            (lesson.task_id, lesson.given) = (task_id, Some(Priority::Med));
        }
        run_review::add_basis(&mut self.0.lessons, &self.0.reflections);
        self
    }

    fn with_reflection(mut self, facts: &Facts, days: i64, rule: &str) -> Self {
        let nth = self.0.reflections.len().to_string();
        self.0.reflections.push(Reflection {
            schema: 1,
            kind: ReflectionKind::Run,
            at: days_ago(days),
            run_id: RunId::derive(days_ago(days), &[&nth]),
            account: AccountId::from("work"),
            task_id: TaskId::derive(days_ago(days), &["reflected", &nth]),
            task_kind: facts.kind,
            status: TaskStatus::Ready,
            priority: Priority::Med,
            rule: rule.into(),
            urgency: facts.urgency,
            urgency_origin: Some(facts.urgency_origin),
            tools: Vec::new(),
            steps_done: 0,
            steps_open: 1,
            documents: 0,
            language: "en".into(),
            feedback: RunFeedback::default(),
            cost: None,
        });
        self
    }

    /// Checks what is adopted and what is asked, in words.
    fn check(&self, adopted: &[&str], asked: &[&str]) {
        let found = derive_edits(&self.0).unwrap();
        let words = |all: &[super::TestedEdit]| all.iter().map(|tested| tested.words.clone()).collect::<Vec<_>>();
        assert_eq!(
            (words(&found.adopted), words(&found.questions)),
            (to_strings(adopted), to_strings(asked)),
            "{found:?}"
        );
    }
}

fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

const LOW: LessonTarget = LessonTarget::Level(Priority::Low);
const HIGH: LessonTarget = LessonTarget::Level(Priority::High);
const NONE: LessonTarget = LessonTarget::Task(false);

#[test]
fn three_words_on_two_days_and_not_less() {
    let ann = facts("ann@shop.example", "Keys");
    let says =
        |days: &[i64]| days.iter().fold(Past::new(), |past, day| past.with_lesson(&ann, HIGH, true, *day, false));
    says(&[3, 2]).check(&[], &[]);
    says(&[2, 2, 2]).check(&[], &[]);
    says(&[3, 3, 2]).check(&["mail from ann@shop.example is at least high"], &[]);
    // Corrections from before it was taken back do not count.
    let mut past = says(&[3, 3, 2]);
    past.0.unlearned.insert(Reach::Sender("ann@shop.example".into()).key(), days_ago(1));
    past.check(&[], &[]);
    // Nor do corrections about an unverified sender.
    let stranger = Facts { sender_verified: false, ..ann };
    [3, 3, 2]
        .iter()
        .fold(Past::new(), |past, day| past.with_lesson(&stranger, HIGH, true, *day, false))
        .check(&[], &[]);
}

#[test]
fn only_who_writes_to_many_and_nothing_else_is_silenced_unasked() {
    let news = facts("news@shop.example", "Offers");
    let says = || [4, 3, 2].iter().fold(Past::new(), |past, day| past.with_lesson(&news, NONE, false, *day, true));
    let rule = "mail from news@shop.example is no task";
    says().check(&[rule], &[]);
    says().with_mail(&news, 5, false).check(&[], &[rule]);
    let known = Facts { known_contact: true, ..news.clone() };
    says().with_mail(&known, 5, true).check(&[], &[rule]);
    // Anyone can write the name of a list.
    let post = |sender: &str| Facts { list_id: Some("club.example".into()), ..facts(sender, "Post") };
    let past = [("a@x.example", 4), ("b@y.example", 3), ("c@z.example", 2)]
        .iter()
        .fold(Past::new(), |past, (sender, day)| past.with_lesson(&post(sender), NONE, false, *day, true));
    let found = derive_edits(&past.0).unwrap();
    assert!(found.adopted.is_empty() && found.questions.len() == 1, "{found:?}");
}

#[test]
fn a_task_whose_level_a_person_set_is_not_made_none() {
    let news = facts("news@shop.example", "Offers");
    let past = [4, 3, 2].iter().fold(Past::new(), |past, day| past.with_lesson(&news, NONE, false, *day, true));
    let past = past.with_task(&news, Priority::High, 2, true);
    let found = derive_edits(&past.0).unwrap();
    assert!(found.adopted.is_empty(), "{found:?}");
    assert!(found.proposals.iter().any(|kept| kept.trial.reason.contains("whose level you set")), "{found:?}");
}

#[test]
fn what_several_taught_one_alone_does_not_unteach() {
    let word = LearnedEntry { reach: Reach::Word("standup".into()), act: EntryAct::Set(Priority::Med) };
    let about = |sender: &str| facts(sender, "Standup notes");
    let says = |senders: [&str; 3]| {
        let past = Past::new().with_entry(word.clone(), 20);
        senders
            .iter()
            .zip([4, 3, 2])
            .fold(past, |past, (sender, day)| past.with_lesson(&about(sender), LOW, false, day, false))
    };
    let retired =
        |past: &Past| derive_edits(&past.0).unwrap().adopted.iter().any(|edit| edit.words.contains("standup"));
    assert!(!retired(&says(["eve@evil.example", "eve@evil.example", "eve@evil.example"])));
    assert!(retired(&says(["a@x.example", "b@y.example", "c@z.example"])));
}

#[test]
fn an_entry_that_is_mostly_left_stands() {
    let word = LearnedEntry { reach: Reach::Word("standup".into()), act: EntryAct::Set(Priority::Med) };
    let about = |sender: &str| facts(sender, "Standup notes");
    let says = |left: usize| {
        let past = Past::new().with_entry(word.clone(), 20);
        let past = ["a@x.example", "b@y.example", "c@z.example"]
            .iter()
            .zip([4, 3, 2])
            .fold(past, |past, (sender, day)| past.with_lesson(&about(sender), LOW, false, day, false));
        let sender = |nth: usize| format!("p{nth}@firm{nth}.example");
        (0..left).fold(past, |past, nth| past.with_task(&about(&sender(nth)), Priority::Med, 1, false))
    };
    let touched = |past: Past| derive_edits(&past.0).unwrap().adopted.iter().any(|edit| edit.words.contains("standup"));
    assert!(touched(says(2)) && !touched(says(3)));
}

#[test]
fn what_nothing_has_matched_for_sixty_days_goes() {
    let entry = LearnedEntry { reach: Reach::Sender("ann@shop.example".into()), act: EntryAct::Set(Priority::High) };
    let gone = Past::new().with_entry(entry.clone(), 61);
    assert!(
        derive_edits(&gone.0).unwrap().adopted.iter().any(|tested| matches!(tested.edit, RulesEdit::Retire { .. }))
    );
    Past::new().with_entry(entry.clone(), 59).check(&[], &[]);
    Past::new().with_entry(entry, 90).with_mail(&facts("ann@shop.example", "Keys"), 30, false).check(&[], &[]);
}

#[test]
fn five_a_night_and_nothing_critical_for_a_crowd() {
    let mut past = Past::new();
    for nth in 0..8 {
        let sender = facts(&format!("p{nth}@firm{nth}.example"), "Keys");
        past = [4, 3, 2].iter().fold(past, |past, day| past.with_lesson(&sender, HIGH, true, *day, false));
    }
    assert_eq!(derive_edits(&past.0).unwrap().adopted.len(), 5);
    let alarm = |nth: usize| facts(&format!("p{nth}@site{nth}.example"), "Outage");
    let past = (0..3).fold(Past::new(), |past, nth| {
        past.with_lesson(
            &alarm(nth),
            LessonTarget::Level(Priority::Critical),
            true,
            4 - i64::try_from(nth).unwrap(),
            false,
        )
    });
    let found = derive_edits(&past.0).unwrap();
    let acts: Vec<EntryAct> = found.adopted.iter().filter_map(|tested| Some(tested.edit.entry()?.act)).collect();
    assert!(!acts.contains(&EntryAct::Set(Priority::Critical)), "{found:?}");
}

/// Single corrections of three senders about different matters, which no entry can be learned from.
fn three_alone(urgency: f64, origin: UrgencyOrigin, rule: &str) -> Past {
    let about = |sender: &str, subject: &str| Facts { urgency, urgency_origin: origin, ..facts(sender, subject) };
    [("a@x.example", "Keys", 4), ("b@y.example", "Lamps", 3), ("c@z.example", "Roof", 2)]
        .iter()
        .fold(Past::new(), |past, (sender, subject, day)| {
            past.with_reflected_lesson(&about(sender, subject), HIGH, true, *day, rule)
        })
}

fn lines(past: &Past) -> Vec<String> {
    derive_edits(&past.0).unwrap().guidelines_lines
}

#[test]
fn a_rule_and_an_urgency_that_are_mostly_overruled_get_a_line() {
    let past = three_alone(0.2, UrgencyOrigin::Model, "mine");
    past.check(&[], &[]);
    let expected = [
        "- Tasks ranked by the rule mine were raised by the user in 3 of 3 cases: take such tasks for more urgent.",
        "- Urgency by model below 0.50 was raised by the user in 3 of 3 cases: score such tasks higher.",
    ];
    assert_eq!(lines(&past), expected);
    // Most tasks of the rule are left alone.
    let bob = facts("bob@left.example", "Hay");
    let left = (0..3).fold(three_alone(0.2, UrgencyOrigin::Model, "mine"), |past, day| {
        past.with_reflection(&Facts { urgency_origin: UrgencyOrigin::Model, ..bob.clone() }, day, "mine")
    });
    assert!(lines(&left).is_empty(), "{:?}", lines(&left));
    // A name that is no plain word is not written; a person may call a rule anything.
    let odd = three_alone(0.2, UrgencyOrigin::BuiltIn, "mine: obey");
    assert_eq!(lines(&odd).len(), 1, "{:?}", lines(&odd));
    // What was taken back counts from then on.
    let mut back = three_alone(0.2, UrgencyOrigin::Model, "mine");
    back.0.unlearned.insert("guideline:rule mine".into(), days_ago(1));
    back.0.unlearned.insert("guideline:urgency model".into(), days_ago(1));
    assert!(lines(&back).is_empty());
}

#[test]
fn one_sender_or_a_stranger_says_nothing_about_a_rule() {
    let about = |sender: &str, subject: &str| facts(sender, subject);
    let one = [("Keys", 4), ("Lamps", 3)].iter().fold(Past::new(), |past, (subject, day)| {
        past.with_reflected_lesson(&about("a@x.example", subject), HIGH, true, *day, "mine")
    });
    let two = one.with_reflected_lesson(&about("b@y.example", "Roof"), HIGH, true, 2, "mine");
    assert!(lines(&two).is_empty(), "{:?}", lines(&two));
    let strangers =
        [("a@x.example", 4), ("b@y.example", 3), ("c@z.example", 2)].iter().fold(Past::new(), |past, (sender, day)| {
            let stranger = Facts { sender_verified: false, ..about(sender, "Keys") };
            past.with_reflected_lesson(&stranger, HIGH, true, *day, "mine")
        });
    assert!(lines(&strangers).is_empty(), "{:?}", lines(&strangers));
}

#[test]
fn an_entry_is_not_blamed_for_what_another_rule_had_given() {
    let word = LearnedEntry { reach: Reach::Word("standup".into()), act: EntryAct::Set(Priority::Med) };
    let about = |sender: &str| facts(sender, "Standup notes");
    let says = |rule: &str| {
        [("a@x.example", 4), ("b@y.example", 3), ("c@z.example", 2)]
            .iter()
            .fold(Past::new().with_entry(word.clone(), 20), |past, (sender, day)| {
                past.with_reflected_lesson(&about(sender), LOW, false, *day, rule)
            })
    };
    let retired =
        |past: &Past| derive_edits(&past.0).unwrap().adopted.iter().any(|edit| edit.words.contains("is retired"));
    assert!(retired(&says(&word.name())));
    assert!(!retired(&says("mine")));
}

#[test]
fn the_evidence_names_what_had_decided() {
    let ann = |urgency| Facts { urgency, ..facts("ann@shop.example", "Keys") };
    let past = [(0.1, 4), (0.3, 3), (0.2, 2)].iter().fold(Past::new(), |past, (urgency, day)| {
        past.with_reflected_lesson(&ann(*urgency), HIGH, true, *day, "default")
    });
    let found = derive_edits(&past.0).unwrap();
    let why = "you said so 3 times on 3 days: corrections 1, 2, 3; decided by default, urgency 0.10 to 0.30";
    assert_eq!(found.adopted[0].edit.why(), why);
    // A level that somebody else had given meanwhile is not the rule's.
    let mut later = past;
    later.0.lessons.iter_mut().for_each(|lesson| lesson.given = Some(Priority::Critical));
    run_review::add_basis(&mut later.0.lessons, &later.0.reflections);
    assert!(later.0.lessons.iter().all(|lesson| lesson.basis.is_none()));
}
