//! What would be done with one mail. Nothing is stored.

use serde::{Deserialize, Serialize};

use crate::{
    app::{PreviewUseCases, eval::mail_from_colleague},
    ingest::{GuardedParser, TrustedServers, parse_mail},
    model::{Address, Mail, Reading},
    reading::{self, ReadContext, Relation},
};

/// One input line of `plan --jsonl`: a text or a raw mail.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanInput {
    pub id: serde_json::Value,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub eml: Option<String>,
}

/// One output line of `plan --jsonl`.
#[derive(Debug, Clone, Serialize)]
pub struct PlanOutput {
    pub id: serde_json::Value,
    pub is_task: bool,
    pub score: f64,
    pub tasks: Vec<crate::model::ExtractedTask>,
    pub reason: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<crate::model::reading::MailWarning>,
}

impl PreviewUseCases<'_> {
    /// Parses and reads a raw mail.
    pub fn read_eml(self, raw: &[u8]) -> anyhow::Result<(Mail, Reading)> {
        let servers = self.app.config.accounts.iter().flat_map(|account| account.trusted_servers.clone()).collect();
        let (raw, trust) = (raw.to_vec(), TrustedServers { servers });
        self.read_with_time_limit(move || Ok(parse_mail(&raw, &trust)?), Relation::default())
    }

    /// Gets a mail and reads it, on a thread that is abandoned when it takes too long.
    pub(in crate::app) fn read_with_time_limit(
        self,
        mail: impl FnOnce() -> anyhow::Result<Mail> + Send + 'static,
        relation: Relation,
    ) -> anyhow::Result<(Mail, Reading)> {
        let (me, now, second_reader) =
            (self.app.config.me.clone(), self.app.clock.now(), self.app.config.second_reader);
        let work = move || {
            let mail = mail()?;
            let context = ReadContext {
                me: &me,
                now,
                known_contact: relation.known_contact,
                thread_mine: relation.thread_mine,
                second_reading: &[],
                is_genuine: false,
            };
            let reading =
                if second_reader { reading::read_twice(&mail, &context) } else { reading::read(&mail, &context) };
            Ok((mail, reading))
        };
        GuardedParser::default().run_within_budget(work)?
    }

    /// Reads one line of `plan --jsonl`.
    pub fn plan_line(self, input: PlanInput) -> anyhow::Result<PlanOutput> {
        let PlanInput { id, text, eml } = input;
        let mail: Box<dyn FnOnce() -> anyhow::Result<Mail> + Send> = match (text, eml) {
            (Some(text), None) => {
                let mail = self.build_mail(&text);
                Box::new(|| Ok(mail))
            }
            (None, Some(eml)) => Box::new(move || Ok(parse_mail(eml.as_bytes(), &TrustedServers::default())?)),
            _ => anyhow::bail!("give either \"text\" or \"eml\""),
        };
        let (_, reading) = self.read_with_time_limit(mail, Relation::default())?;
        Ok(PlanOutput {
            id,
            is_task: !reading.tasks.is_empty(),
            score: reading.score,
            tasks: reading.tasks,
            reason: reading.reason,
            warnings: reading.warnings,
        })
    }

    /// Returns a mail to the person that has nothing but a text: from a colleague, as `eval tasks` reads it.
    fn build_mail(self, text: &str) -> Mail {
        let own = self.app.config.me.addresses.first();
        let reader = own.map(|addr| Address { name: None, addr: addr.clone() });
        Mail { date: None, ..mail_from_colleague(text, reader) }
    }
}
