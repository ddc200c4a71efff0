//! What would be done with one mail. Nothing is stored.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::{
    app::PreviewUseCases,
    ingest::{GuardedParser, TrustedServers, parse_mail},
    model::{Address, Mail, Reading},
    reading::{self, ReadContext},
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
}

impl PreviewUseCases<'_> {
    /// Parses and reads a raw mail.
    pub fn read_eml(self, raw: &[u8]) -> anyhow::Result<(Mail, Reading)> {
        let servers = self.app.config.accounts.iter().flat_map(|account| account.trusted_servers.clone()).collect();
        let (raw, trust) = (raw.to_vec(), TrustedServers { servers });
        self.read_with_time_limit(move || Ok(Some(parse_mail(&raw, &trust)?)))?.context("the mail was not read")
    }

    /// Gets a mail and reads it, on a thread that is abandoned when it takes too long. Returns none when `mail` returns
    /// none.
    pub(in crate::app) fn read_with_time_limit(
        self,
        mail: impl FnOnce() -> anyhow::Result<Option<Mail>> + Send + 'static,
    ) -> anyhow::Result<Option<(Mail, Reading)>> {
        let (me, now) = (self.app.config.me.clone(), self.app.clock.now());
        let work = move || {
            let Some(mail) = mail()? else { return Ok(None) };
            let reading = reading::read(&mail, &ReadContext { me: &me, now, known_contact: false, thread_mine: false });
            Ok(Some((mail, reading)))
        };
        GuardedParser::default().run_within_budget(work)?
    }

    /// Reads one line of `plan --jsonl`.
    pub fn plan_line(self, input: PlanInput) -> anyhow::Result<PlanOutput> {
        let PlanInput { id, text, eml } = input;
        let mail: Box<dyn FnOnce() -> anyhow::Result<Option<Mail>> + Send> = match (text, eml) {
            (Some(text), None) => {
                let mail = self.build_mail(text);
                Box::new(|| Ok(Some(mail)))
            }
            (None, Some(eml)) => Box::new(move || Ok(Some(parse_mail(eml.as_bytes(), &TrustedServers::default())?))),
            _ => anyhow::bail!("give either \"text\" or \"eml\""),
        };
        let (_, reading) = self.read_with_time_limit(mail)?.context("the mail was not read")?;
        Ok(PlanOutput {
            id,
            is_task: !reading.tasks.is_empty(),
            score: reading.score,
            tasks: reading.tasks,
            reason: reading.reason,
        })
    }

    /// Returns a mail to the person that has nothing but a text.
    fn build_mail(self, text: String) -> Mail {
        let to = |addr: &String| Address { name: None, addr: addr.clone() };
        Mail {
            from: Address { name: None, addr: "someone@else.example".into() },
            to: self.app.config.me.addresses.first().map(to).into_iter().collect(),
            text,
            ..Mail::default()
        }
    }
}
