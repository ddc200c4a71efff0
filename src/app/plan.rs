//! What would it do? Reads mail without storing anything.

use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::App;
use crate::{
    ingest::{Trust, read_mail},
    model::{Address, Direction, Facts, Instant, Mail, Priority, Reading},
    planner::{self, ReadContext, Relation},
    source::import,
};

/// One line of `plan --jsonl`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanInput {
    pub id: serde_json::Value,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub eml: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Planned {
    pub id: serde_json::Value,
    pub is_task: bool,
    pub score: f64,
    pub tasks: Vec<crate::model::PlannedTask>,
    pub reason: String,
}

/// What the last week's mail would become.
#[derive(Debug, Serialize)]
pub struct Preview {
    pub mails: usize,
    pub tasks: usize,
    pub overdue: usize,
    pub replies_ready: usize,
    pub unreadable: usize,
    pub sent: usize,
    pub lines: Vec<PreviewLine>,
}

#[derive(Debug, Serialize)]
pub struct PreviewLine {
    pub from: String,
    pub subject: String,
    pub objective: Option<String>,
    pub priority: Option<Priority>,
    pub rule: Option<String>,
    pub deadline: Option<String>,
    /// The sentence that decided, or the reason there is no task.
    pub evidence: String,
    pub warnings: Vec<String>,
}

impl App {
    pub fn read_eml(&self, raw: &[u8]) -> anyhow::Result<(Mail, Reading)> {
        let servers = self.config.accounts.iter().flat_map(|account| account.trusted_servers.clone()).collect();
        let mail = read_mail(raw, &Trust { servers })?;
        let reading = self.read(&mail);
        Ok((mail, reading))
    }

    fn read(&self, mail: &Mail) -> Reading {
        let context =
            ReadContext { me: &self.config.me, now: self.clock.now(), known_contact: false, thread_mine: false };
        planner::read(mail, &context)
    }

    pub fn plan_line(&self, input: PlanInput) -> anyhow::Result<Planned> {
        let mail = match (&input.text, &input.eml) {
            (Some(text), None) => Mail {
                from: Address { name: None, addr: "someone@else.example".into() },
                to: self
                    .config
                    .me
                    .addresses
                    .first()
                    .map(|addr| Address { name: None, addr: addr.clone() })
                    .into_iter()
                    .collect(),
                text: text.clone(),
                ..Mail::default()
            },
            (None, Some(eml)) => read_mail(eml.as_bytes(), &Trust::default())?,
            _ => anyhow::bail!("give either \"text\" or \"eml\""),
        };
        let reading = self.read(&mail);
        Ok(Planned {
            id: input.id,
            is_task: !reading.tasks.is_empty(),
            score: reading.score,
            tasks: reading.tasks,
            reason: reading.reason,
        })
    }

    /// The mail of the last `days` in a file, a folder or an account's mailbox; nothing is touched.
    pub fn preview(&self, place: &str, days: i64) -> anyhow::Result<Preview> {
        let account = self.config.accounts.iter().find(|account| account.name.as_str() == place);
        let path = account.map_or_else(|| Path::new(place).to_owned(), |account| account.path.clone());
        let trust = Trust { servers: account.map(|account| account.trusted_servers.clone()).unwrap_or_default() };
        let rules = self.rules();
        let now = self.clock.now();
        let since = now.plus(-chrono::Duration::days(days));
        let mut preview =
            Preview { mails: 0, tasks: 0, overdue: 0, replies_ready: 0, unreadable: 0, sent: 0, lines: Vec::new() };
        for entry in import::Import::open(&path).with_context(|| format!("{place} cannot be read"))? {
            let Ok(entry) = entry else {
                preview.unreadable += 1;
                continue;
            };
            let Ok(mail) = read_mail(&entry.bytes, &trust) else {
                preview.unreadable += 1;
                continue;
            };
            if entry.direction == Direction::Out || mail.date.unwrap_or(entry.arrived_at) < since {
                continue;
            }
            preview.mails += 1;
            let reading = self.read(&mail);
            preview.take(&mail, &reading, |facts| rules.rules.judge(facts, now), place, now);
        }
        preview.lines.sort_by_key(|line| std::cmp::Reverse(line.priority));
        Ok(preview)
    }
}

impl Preview {
    fn take(
        &mut self,
        mail: &Mail,
        reading: &Reading,
        judge: impl Fn(&Facts) -> crate::rules::Verdict,
        account: &str,
        now: Instant,
    ) {
        let warnings: Vec<String> =
            reading.warnings.iter().map(|warning| format!("{}: {}", warning.kind, warning.text)).collect();
        let line = |evidence: &str| PreviewLine {
            from: mail.from.label().to_owned(),
            subject: mail.subject.clone(),
            objective: None,
            priority: None,
            rule: None,
            deadline: None,
            evidence: evidence.to_owned(),
            warnings: warnings.clone(),
        };
        if reading.tasks.is_empty() {
            self.lines.push(line(&reading.reason));
        }
        for task in &reading.tasks {
            let verdict = judge(&planner::facts(mail, reading, account, &Relation::default()).of(task));
            self.tasks += 1;
            self.overdue += usize::from(task.due_at.is_some_and(|due| due < now));
            self.replies_ready += usize::from(task.steps.iter().any(|step| step == "draft_reply"));
            self.lines.push(PreviewLine {
                objective: Some(task.objective.clone()),
                priority: Some(verdict.level),
                rule: Some(verdict.rule),
                deadline: task.deadline.clone(),
                ..line(&task.evidence)
            });
        }
    }
}
