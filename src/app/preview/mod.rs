//! What would become of recent mail. Nothing is stored, and no mailbox is changed.

mod people;
mod plan;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use people::{PreviewMails, PreviewTasks};
pub use plan::{PlanInput, PlanOutput};
use serde::Serialize;

use crate::{
    app::App,
    config::{AccountConfig, AccountKind, GmailConfig},
    ingest::{GuardedParser, NEVER_TOUCH_REASON, TrustedServers, is_never_touched, parse_mail},
    model::{AccountId, Direction, ExtractedTask, Instant, Mail, Priority, Reading, Since},
    reading,
    rules::RulesVerdict,
    source::{FoundMessage, Source as _, SourceError, import},
};

/// How many days back a preview of files looks.
const DEFAULT_DAYS: u32 = 7;
/// The most mails of a Gmail account that a preview reads: the newest, which takes a quarter of a minute at the quota's
/// pace.
const MOST_READ: usize = 100;

/// What recent mail would become.
#[derive(Debug, Default, Serialize)]
pub struct Preview {
    /// Which mail was read, in words.
    pub span: String,
    pub mails: usize,
    pub tasks: usize,
    pub overdue: usize,
    /// The number of tasks for which a reply would be drafted.
    pub replies_ready: usize,
    pub unreadable: usize,
    pub sent: usize,
    /// The number of mails that were counted but not read.
    pub not_read: usize,
    pub lines: Vec<PreviewLine>,
}

/// One task that a mail would become, or one mail that would become none.
#[derive(Debug, Serialize)]
pub struct PreviewLine {
    pub from: String,
    pub subject: String,
    pub objective: Option<String>,
    pub priority: Option<Priority>,
    pub rule: Option<String>,
    pub deadline: Option<String>,
    /// The sentence that decided, or the reason why there is no task.
    pub evidence: String,
    pub warnings: Vec<String>,
}

/// The use cases that read mail without storing anything.
#[derive(Clone, Copy)]
pub struct PreviewUseCases<'a> {
    pub(super) app: &'a App,
}

impl PreviewUseCases<'_> {
    /// Reads the recent mail of an account, or of a file or folder if no account has that name. Tasks come first, the
    /// most urgent on top.
    pub async fn read_place(self, place: &str, days: Option<u32>) -> anyhow::Result<Preview> {
        let account = self.app.config.accounts.iter().find(|account| account.name.as_str() == place);
        let mut preview = match account.map(|account| (account, &account.kind)) {
            Some((account, AccountKind::Gmail(gmail))) => self.read_gmail(account, gmail, days).await?,
            Some((account, AccountKind::Maildir { path, .. })) => self.read_files(path, place, Some(account), days)?,
            None => self.read_files(Path::new(place), place, None, days)?,
        };
        preview.lines.sort_by_key(|line| std::cmp::Reverse(line.priority));
        Ok(preview)
    }

    /// Reads the recent incoming mail of a file or folder. Without an account no server is trusted, so no sender is
    /// verified.
    fn read_files(
        self,
        path: &Path,
        place: &str,
        account: Option<&AccountConfig>,
        days: Option<u32>,
    ) -> anyhow::Result<Preview> {
        let days = days.unwrap_or(DEFAULT_DAYS);
        let trust =
            TrustedServers { servers: account.map(|account| account.trusted_servers.clone()).unwrap_or_default() };
        let never_touch = account.map_or(&[][..], |account| &account.never_touch);
        let since = self.app.clock.now().plus(-chrono::Duration::days(days.into()));
        let mut preview = Preview { span: format!("of the last {days} days"), ..Preview::default() };
        let mut mails = PreviewMails::default();
        for entry in import::Import::open(path).with_context(|| format!("{place} cannot be read"))? {
            let Ok(entry) = entry else {
                preview.unreadable += 1;
                continue;
            };
            let trust = trust.clone();
            let (direction, arrived_at) = (entry.direction, entry.arrived_at);
            let parsed = GuardedParser::default().run_within_budget(move || parse_mail(&entry.bytes, &trust));
            match parsed {
                Ok(Ok(mail)) if direction == Direction::Out => mails.add_sent(&mail),
                Ok(Ok(mail)) if mail.date.unwrap_or(arrived_at) >= since => mails.incoming.push(mail),
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => preview.unreadable += 1,
            }
        }
        self.read_mails(&mut preview, mails, account.map(|account| &account.name), never_touch)?;
        Ok(preview)
    }

    /// Lists what the first sync of a Gmail account would find, and reads the newest of it.
    async fn read_gmail(
        self,
        account: &AccountConfig,
        config: &GmailConfig,
        days: Option<u32>,
    ) -> anyhow::Result<Preview> {
        let config = GmailConfig { since: days.map_or(config.since, Since::Days), ..config.clone() };
        let gmail = Arc::new(self.app.accounts().open_gmail(account, &config).source);
        let surveyor = Arc::clone(&gmail);
        let mut found = tokio::task::spawn_blocking(move || surveyor.list_for_preview()).await??;
        let span = match config.since {
            Since::Today(_) => "of today".to_owned(),
            Since::Days(days) => format!("of the last {days} days"),
        };
        let not_read = found.len().saturating_sub(MOST_READ);
        let mut preview = Preview { span, not_read, ..Preview::default() };
        // The list is sorted by age; only the newest are read.
        let mut left = found.split_off(not_read);
        let trust = TrustedServers { servers: account.trusted_servers.clone() };
        let mut mails = PreviewMails::default();
        while !left.is_empty() {
            let reader = Arc::clone(&gmail);
            let read = tokio::task::spawn_blocking(move || fetch_batch(&reader, left)).await?;
            for (found, raw) in read.mails {
                let trust = trust.clone();
                let parse = move || raw.map(|raw| parse_mail(&raw, &trust));
                match GuardedParser::default().run_within_budget(parse) {
                    Ok(Some(Ok(mail))) if found.direction == Direction::Out => mails.add_sent(&mail),
                    Ok(Some(Ok(mail))) => mails.incoming.push(mail),
                    _ => preview.unreadable += 1,
                }
            }
            left = read.left;
            match read.trouble {
                Some(SourceError::RateLimited { after }) => self.app.clock.sleep(after).await,
                Some(error) => return Err(error.into()),
                None => {}
            }
        }
        self.read_mails(&mut preview, mails, Some(&account.name), &account.never_touch)?;
        Ok(preview)
    }

    /// Reads the incoming mails for tasks, oldest first, as the rules in force and the account's `never_touch` list
    /// would treat them. A later mail that asks for the same again is a follow-up and opens no second task.
    fn read_mails(
        self,
        preview: &mut Preview,
        mut mails: PreviewMails,
        account: Option<&AccountId>,
        never_touch: &[String],
    ) -> anyhow::Result<()> {
        let (rules, now) = (self.app.rules().load(), self.app.clock.now());
        let mut incoming = std::mem::take(&mut mails.incoming);
        incoming.sort_by_key(|mail| mail.date);
        let mut opened = PreviewTasks::default();
        for mail in incoming {
            preview.mails += 1;
            let relation = mails.relation(self.app, account, &mail)?;
            let Ok((mail, mut reading)) = self.read_with_time_limit(move || Ok(mail), relation) else {
                preview.unreadable += 1;
                continue;
            };
            if is_never_touched(&mail.from, never_touch) {
                reading.tasks.clear();
                reading.reason = NEVER_TOUCH_REASON.into();
            } else {
                opened.sort_out(&mail, relation, self.app, &mut reading);
            }
            let name = account.map_or("", AccountId::as_str);
            let facts = |task: &ExtractedTask| reading::collect_facts(&mail, &reading, name, &relation).for_task(task);
            preview.add_reading(&mail, &reading, |task| rules.rules.rank(&facts(task), now), now);
        }
        Ok(())
    }
}

/// What one round of fetching brought.
struct FetchedBatch {
    /// The messages, each with its bytes; none for a message that cannot be read.
    mails: Vec<(FoundMessage, Option<Vec<u8>>)>,
    /// The messages that are still to be fetched.
    left: Vec<FoundMessage>,
    /// Why the round ended early, if it did.
    trouble: Option<SourceError>,
}

/// Fetches messages until all are there or the mailbox as a whole fails, for example by a rate limit.
fn fetch_batch(gmail: &crate::source::gmail::GmailSource, wanted: Vec<FoundMessage>) -> FetchedBatch {
    let mut read = FetchedBatch { mails: Vec::new(), left: wanted.clone(), trouble: None };
    gmail.fetch_each(wanted, &mut |found, raw| match raw {
        Err(error) if error.is_mailbox_wide() => {
            read.trouble.get_or_insert(error);
        }
        raw => {
            read.left.retain(|wanted| wanted.key != found.key);
            // The message was deleted since it was listed, so there is nothing to show.
            if !matches!(raw, Err(SourceError::Gone { .. })) {
                read.mails.push((found, raw.ok()));
            }
        }
    });
    read
}

impl Preview {
    /// Adds a line for each task that was read in a mail, or one line with the reason why there is none.
    fn add_reading(
        &mut self,
        mail: &Mail,
        reading: &Reading,
        rank: impl Fn(&ExtractedTask) -> RulesVerdict,
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
            let verdict = rank(task);
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
