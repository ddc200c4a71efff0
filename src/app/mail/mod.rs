//! The ledger as a person handles it: what became of each mail, and overruling it.

mod import;
mod outcome;

use anyhow::Context as _;
pub use import::{ImportReport, Progress};
pub use outcome::{MailOutcome, PassReport, TaskLine, next_step};
use serde::Serialize;

use crate::{
    app::{App, NotFound},
    memory::{FoundDocument, HybridResults, MemoryQuery, Scope},
    model::{
        Account, AccountId, AccountMode, LedgerRow, Mail, MailEdit, MailEditKind, MailId, MailState, MailboxKind,
        NewRun, NodeName, RunId, RunKind, RunState, TaskRow,
    },
    store::{Receipt, SkipUnreadable as _, Write},
};

#[derive(Debug, Serialize)]
pub struct MailDetail {
    #[serde(flatten)]
    pub row: LedgerRow,
    pub mail: Option<Mail>,
    pub tasks: Vec<TaskRow>,
}

/// What a search found, and why not by meaning when it was not.
#[derive(Debug, Default)]
pub struct SearchResults {
    pub found: Vec<FoundDocument>,
    pub trouble: Option<String>,
}

impl App {
    pub async fn list_mails(&self, state: Option<MailState>, limit: usize) -> anyhow::Result<Vec<LedgerRow>> {
        Ok(self.store.read(move |reader| reader.ledger_rows(state, limit)).await?)
    }

    pub async fn mail_detail(&self, mail_id: MailId) -> anyhow::Result<MailDetail> {
        let found = self.store.read(move |reader| {
            let Some(row) = reader.ledger_entry(mail_id)? else { return Ok(None) };
            Ok(Some(MailDetail {
                row,
                mail: reader.mail(mail_id).skip_unreadable()?,
                tasks: reader.tasks_of_mail(mail_id)?,
            }))
        });
        found
            .await?
            .ok_or_else(|| NotFound(format!("there is no mail {mail_id}; `adjutant mail list` shows them")).into())
    }

    pub async fn mark_not_a_task(&self, mail_id: MailId, why: &str) -> anyhow::Result<()> {
        self.edit_mail(mail_id, MailEditKind::NotATask, why).await.map(drop)
    }

    /// Mutes the sender of a mail, or no longer. Returns what that means, in words.
    pub async fn set_sender_muted(&self, mail_id: MailId, muted: bool) -> anyhow::Result<String> {
        let wish = if muted { MailEditKind::Mute } else { MailEditKind::Unmute };
        self.edit_mail(mail_id, wish, "").await?;
        let row = self.mail_detail(mail_id).await?.row;
        let (account, sender) = (row.account, row.sender.clone());
        let mute = self.store.read(move |reader| reader.mutes_unverified_only(&account, &sender)).await?;
        Ok(match mute {
            None => format!("{} is not muted: its mail opens tasks again", row.sender),
            Some(false) => format!("{} is muted: its mail opens no task", row.sender),
            Some(true) => format!(
                "unverified mail of {0} is muted, for nobody vouches that {0} wrote this one; verified mail of {0} still opens tasks",
                row.sender
            ),
        })
    }

    /// The mail should have been a task: a run that opens one. The daemon works it, or the next `once`.
    pub async fn make_task(&self, mail_id: MailId, why: &str) -> anyhow::Result<Vec<RunId>> {
        let detail = self.mail_detail(mail_id).await?;
        anyhow::ensure!(
            detail.row.state == MailState::NoTask,
            "mail {mail_id} is {}: there is nothing to overrule",
            detail.row.state
        );
        anyhow::ensure!(detail.mail.is_some(), "mail {mail_id} could not be read, so no task can be made of it");
        let now = self.clock.now();
        let run = NewRun {
            run_id: RunId::derive(now, &["make_task", &mail_id.to_string()]),
            account: detail.row.account,
            user: self.user.clone(),
            kind: RunKind::Mail,
            parent_run: None,
            fork: None,
            node: NodeName::PlanStep,
            task_id: None,
            state: RunState { mail_id: Some(mail_id), forced: true, ..RunState::default() },
        };
        self.edit_mail(mail_id, MailEditKind::MakeTask(Box::new(run)), why).await
    }

    async fn edit_mail(&self, mail_id: MailId, wish: MailEditKind, why: &str) -> anyhow::Result<Vec<RunId>> {
        let edit = MailEdit { mail_id, user: self.user.clone(), kind: wish, why: why.to_owned(), at: self.clock.now() };
        match self.store.write(Write::EditMail(Box::new(edit))).await? {
            Receipt::Runs(runs) => Ok(runs),
            _ => Ok(Vec::new()),
        }
    }

    pub async fn list_accounts(&self) -> anyhow::Result<Vec<Account>> {
        Ok(self.store.read(|reader| reader.accounts()).await?)
    }

    /// Turns an account on, or back to observing.
    pub async fn set_mode(&self, account: &str, mode: AccountMode) -> anyhow::Result<()> {
        let account = AccountId::from(account);
        let known = self.list_accounts().await?;
        let names: Vec<String> = known.iter().map(|known| known.account.to_string()).collect();
        let found = known.iter().find(|known| known.account == account);
        let found = found
            .ok_or_else(|| NotFound(format!("there is no account '{account}'; there are {}", names.join(", "))))?;
        anyhow::ensure!(
            found.kind != MailboxKind::Import || mode != AccountMode::Active,
            "an imported account only observes"
        );
        self.store
            .write(Write::SetMode { account, mode, at: self.clock.now() })
            .await
            .context("the mode was not changed")?;
        Ok(())
    }

    /// The index is a cache of what is stored.
    pub async fn rebuild_search(&self) -> anyhow::Result<()> {
        self.store.write(Write::RebuildSearchIndex).await?;
        Ok(())
    }

    /// By words and by meaning, in every account of the person; each is asked for itself.
    pub async fn search(&self, text: &str, limit: usize) -> anyhow::Result<SearchResults> {
        let mut search = SearchResults::default();
        for account in self.store.read(|reader| reader.account_ids()).await? {
            let question = MemoryQuery {
                account: &account,
                text,
                thread: "",
                person: "",
                invoice: "",
                leave_out: &[],
                now: self.clock.now(),
                scope: Scope::person(limit),
            };
            let HybridResults { found, trouble } = self.memory.search(&question).await?;
            search.found.extend(found);
            search.trouble = search.trouble.or(trouble);
        }
        search.found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)));
        search.found.truncate(limit);
        Ok(search)
    }
}
