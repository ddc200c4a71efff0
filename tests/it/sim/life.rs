//! The days of the simulated person, driven through the program itself: mail into the Maildir, `once`, corrections
//! through the use cases of `app`, and the nightly job when the clock says so.

use std::collections::HashMap;

use adjutant::{
    app::{App, parse_mail_id},
    model::{Facts, Instant, ItemKind, Priority, TaskEditKind},
    rules::{BUILT_IN, RuleSet},
};

use super::{DAYS, Habit, NOTICES, Posting, TURN, WHIMS, Wish, day, habits};
use crate::support::test_home::{SeededRandom, TestHome};

/// From the morning's mail at eight to twenty past three.
const NIGHT: i64 = 19 * 3600 + 20 * 60;

/// How one habit was learned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Learning {
    corrections: u32,
    /// The day of the third correction, and the facts it was about.
    third: Option<(u32, Facts, Instant)>,
    pub(crate) learned_on: Option<u32>,
}

pub(crate) struct Life {
    pub(crate) home: TestHome,
    habits: Vec<Habit>,
    mail: SeededRandom,
    attacker: Option<SeededRandom>,
    seed: u64,
    postings: HashMap<String, Posting>,
    /// By habit, before and after the person changed their mind.
    learning: HashMap<(usize, bool), Learning>,
    /// For each day, the number of honest mails that came out as wanted, and of all honest mails.
    pub(crate) agreement: Vec<(u32, u32)>,
    /// The level each honest mail got when it came.
    pub(crate) levels: HashMap<String, String>,
    pub(crate) hostile: u32,
    /// Honest mails that came out otherwise than wanted, by day.
    pub(crate) wrong: Vec<(u32, String)>,
}

impl Life {
    pub(crate) fn new(seed: u64, attacked: bool) -> Self {
        let home = TestHome::active();
        let habits = habits();
        for name in ["choir", "garden"] {
            let sent = format!(
                "From: Alex Green <you@home.example>\nTo: ruth@{name}.example\nSubject: Hello\nDate: Sun, 15 Nov 2026 08:00:00 +0000\nMessage-ID: <s{name}@home.example>\n\nHello Ruth.\n"
            );
            home.deliver_into(".Sent/cur", &format!("{name}.eml:2,S"), sent);
        }
        Self {
            home,
            habits,
            mail: SeededRandom::seeded(seed),
            attacker: attacked.then(|| SeededRandom::seeded(seed ^ 0xbad)),
            seed,
            postings: HashMap::new(),
            learning: HashMap::new(),
            agreement: Vec::new(),
            levels: HashMap::new(),
            hostile: 0,
            wrong: Vec::new(),
        }
    }

    pub(crate) async fn live(&mut self, days: u32) {
        for nth in 0..days.min(DAYS) {
            self.home.clock.advance(if nth == 0 { 0 } else { 24 * 3600 - NIGHT });
            self.morning(nth).await;
            let app = self.home.app().await;
            self.look_at_the_mail(nth, &app).await;
            self.answer_questions(&app).await;
            self.home.clock.advance(NIGHT);
            app.nightly().run_if_due().await.unwrap();
            self.examine(nth);
        }
    }

    async fn morning(&mut self, nth: u32) {
        let mails = day(nth, &self.habits, &mut self.mail, self.attacker.as_mut());
        for posting in mails {
            self.home.post(&posting.letter(&self.home));
            self.hostile += u32::from(posting.hostile);
            self.postings.insert(posting.id.clone(), posting);
        }
        self.home.once().await;
    }

    /// The same coin for the same mail, attacked or not.
    fn coin(&self, id: &str, salt: u64) -> u64 {
        let hash = id.bytes().fold(self.seed ^ salt, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        SeededRandom::seeded(hash).below(100)
    }

    async fn look_at_the_mail(&mut self, nth: u32, app: &App) {
        let rows = self.home.sql(&format!(
            "SELECT m.message_id, l.mail_id, l.state, coalesce(t.task_id, ''), coalesce(t.priority, ''), t.created_at, f.sender
             FROM ledger l JOIN mail m USING (mail_id) JOIN mail_facts f USING (mail_id) LEFT JOIN tasks t ON t.task_id = l.task_id
             WHERE m.message_id LIKE '<d{nth}-%' ORDER BY l.mail_id"
        ));
        let (mut right, mut all) = (0, 0);
        for row in rows {
            let id = row[0].trim_start_matches('<').split('@').next().unwrap().to_owned();
            let posting = self.postings[&id].clone();
            let seen =
                Seen { mail: row[1].clone(), task: (row[2] == "task").then(|| row[3].clone()), level: row[4].clone() };
            if posting.hostile {
                self.deal_with_a_stranger(app, &id, &seen).await;
                continue;
            }
            all += 1;
            let wish = posting.habit.map_or(Wish::AsRanked, |habit| self.habits[habit].wish_on(nth));
            let is_right = self.is_right(app, wish, &seen).await;
            right += u32::from(is_right);
            if !is_right {
                let reach = posting.habit.map(|habit| self.habits[habit].reach.clone());
                self.wrong.push((nth, format!("{id} {reach:?} {wish:?}: {:?} {}", seen.task.is_some(), seen.level)));
            }
            self.levels.insert(id.clone(), if seen.task.is_some() { seen.level.clone() } else { "none".into() });
            self.correct(app, nth, &id, &posting, wish, &seen).await;
        }
        self.agreement.push((right, all));
    }

    async fn is_right(&self, app: &App, wish: Wish, seen: &Seen) -> bool {
        match wish {
            Wish::Level(level) => seen.task.is_some() && seen.level == level.as_str(),
            Wish::Never => seen.task.is_none(),
            Wish::Always => seen.task.is_some(),
            Wish::AsRanked => {
                let Some(task) = &seen.task else { return true };
                self.as_shipped(app, task).await.as_str() == seen.level
            }
        }
    }

    async fn as_shipped(&self, app: &App, task: &str) -> Priority {
        let detail = app.tasks().detail(task).await.unwrap();
        let rules = RuleSet::parse("built in", BUILT_IN).unwrap();
        rules.rank(&detail.facts.unwrap(), detail.row.task.created_at).level
    }

    async fn correct(&mut self, app: &App, nth: u32, id: &str, posting: &Posting, wish: Wish, seen: &Seen) {
        if wish == Wish::AsRanked {
            if let Some(task) = seen.task.as_ref().filter(|_| self.coin(id, 3) < WHIMS) {
                app.tasks().edit(task, TaskEditKind::Priority(Priority::High), "a whim").await.unwrap();
            } else if let Some(task) = &seen.task
                && !self.is_right(app, wish, seen).await
                && self.coin(id, 5) < NOTICES
            {
                let level = self.as_shipped(app, task).await;
                app.tasks().edit(task, TaskEditKind::Priority(level), "").await.unwrap();
            }
            return;
        }
        if self.is_right(app, wish, seen).await || self.coin(id, 5) >= NOTICES {
            return;
        }
        let mail = parse_mail_id(&seen.mail).unwrap();
        let facts = match (wish, &seen.task) {
            (Wish::Level(level), Some(task)) => {
                app.tasks().edit(task, TaskEditKind::Priority(level), "").await.unwrap();
                app.tasks().detail(task).await.unwrap().facts
            }
            (Wish::Never, Some(_)) => {
                app.mail().mark_not_a_task(mail, "").await.unwrap();
                app.store.read(move |reader| reader.mails().facts(mail)).await.unwrap()
            }
            (Wish::Always, None) => {
                app.mail().make_task(mail, "").await.unwrap();
                app.worker().finish_runs().await.unwrap();
                app.store.read(move |reader| reader.mails().facts(mail)).await.unwrap()
            }
            _ => None,
        };
        let habit = posting.habit.unwrap();
        let phase = self.habits[habit].later.is_some() && nth >= TURN;
        let learning = self.learning.entry((habit, phase)).or_default();
        learning.corrections += 1;
        if let (3, Some(facts)) = (learning.corrections, facts) {
            learning.third = Some((nth, facts, app.clock.now()));
        }
    }

    /// A stranger's task is no task, or of no importance.
    async fn deal_with_a_stranger(&self, app: &App, id: &str, seen: &Seen) {
        let Some(task) = &seen.task else { return };
        if self.coin(id, 7) < 50 {
            app.mail().mark_not_a_task(parse_mail_id(&seen.mail).unwrap(), "").await.unwrap();
        } else if seen.level != "low" {
            app.tasks().edit(task, TaskEditKind::Priority(Priority::Low), "").await.unwrap();
        }
    }

    /// Says yes to everything: the worst that can be asked of the one who asks.
    async fn answer_questions(&self, app: &App) {
        for item in app.approvals().list().await.unwrap() {
            if item.kind == ItemKind::RuleProposal {
                app.approvals().approve(&item).await.unwrap();
            }
        }
    }

    /// Which habits the morning's rules know, or ask about.
    fn examine(&mut self, nth: u32) {
        let rules = RuleSet::parse("priority.yml", &self.home.read("rules/priority.yml")).unwrap();
        let asked: Vec<String> =
            self.home.sql("SELECT edit FROM proposal").into_iter().map(|row| row[0].clone()).collect();
        for ((habit, phase), learning) in &mut self.learning {
            let (None, Some((_, facts, at))) = (learning.learned_on, &learning.third) else { continue };
            let habit = &self.habits[*habit];
            let known = match habit.later.filter(|_| *phase).unwrap_or(habit.wish) {
                Wish::Level(level) => {
                    let asks =
                        asked.iter().any(|edit| edit.contains(habit.reach.value()) || edit.contains(&facts.sender));
                    rules.rank(facts, *at).level == level || (asks && rules.rank(facts, *at).level > level)
                }
                Wish::Never => {
                    rules.find_task_rule(facts, *at).is_some_and(|taught| !taught.opens)
                        || asked.iter().any(|edit| edit.contains(habit.reach.value()))
                }
                Wish::Always => rules.find_task_rule(facts, *at).is_some_and(|taught| taught.opens),
                Wish::AsRanked => true,
            };
            if known {
                learning.learned_on = Some(nth);
            }
        }
    }

    /// Returns how many habits that were corrected three times, with two nights to spare, were learned within two
    /// nights; how many such habits there are; and those that were learned late.
    pub(crate) fn learned(&self, days: u32) -> (usize, usize, Vec<String>) {
        let mut late = Vec::new();
        let mut all = 0;
        for ((habit, phase), learning) in &self.learning {
            let Some((third, ..)) = learning.third.as_ref().filter(|(third, ..)| third + 1 < days) else { continue };
            all += 1;
            // The night after the third is that of the same day here.
            if learning.learned_on.is_none_or(|on| on > third + 1) {
                let habit = &self.habits[*habit];
                late.push(format!(
                    "{:?} {:?}{}: third on day {third}, learned {:?}",
                    habit.reach,
                    habit.wish,
                    if *phase { " (turned)" } else { "" },
                    learning.learned_on
                ));
            }
        }
        (all - late.len(), all, late)
    }

    /// Agreement by week, as shares with their numbers.
    pub(crate) fn weeks(&self) -> Vec<(f64, u32)> {
        let week = |days: &[(u32, u32)]| {
            let (right, all) = days.iter().fold((0, 0), |(right, all), day| (right + day.0, all + day.1));
            (f64::from(right) / f64::from(all.max(1)), all)
        };
        self.agreement.chunks(7).filter(|days| days.len() >= 4).map(week).collect()
    }
}

struct Seen {
    mail: String,
    task: Option<String>,
    level: String,
}
