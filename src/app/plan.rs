//! What would it do? Reads mail without storing anything.

use serde::{Deserialize, Serialize};

use super::App;
use crate::{
    ingest::{Trust, read_mail},
    model::{Address, Mail, Reading},
    planner::{self, ReadContext},
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

impl App {
    pub fn read_eml(&self, raw: &[u8]) -> anyhow::Result<(Mail, Reading)> {
        let servers = self.config.accounts.iter().flat_map(|account| account.trusted_servers.clone()).collect();
        let mail = read_mail(raw, &Trust { servers })?;
        let reading = self.read(&mail);
        Ok((mail, reading))
    }

    pub(super) fn read(&self, mail: &Mail) -> Reading {
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
}
