//! Answering the nodes' questions from the store, the rules and the outbox.

use std::{future::Future, pin::Pin, sync::Arc};

use anyhow::Context as _;
use serde_json::Value;
use tokio::sync::watch;

use super::{
    entry::{Call, EffectEnd, Ranked, RunHead, TaskNow},
    recall::{self, Question},
};
use crate::{
    model::{AccountMode, Instant, RunState},
    outbox::Outbox,
    policy::Standing,
    rules::Current,
    store::Store,
    tool::ThreadMail,
};

/// The newest mails of a conversation a tool may see.
const THREAD_MAILS: usize = 20;

pub type Reply<'a> = Pin<Box<dyn Future<Output = anyhow::Result<Value>> + Send + 'a>>;

/// Whoever answers the engine's calls.
pub trait Answer: Send + Sync {
    fn answer<'a>(&'a self, head: &'a RunHead, state: &'a RunState, call: &'a Call, now: Instant) -> Reply<'a>;
}

/// The real one.
pub struct Library {
    pub store: Store,
    pub rules: watch::Receiver<Arc<Current>>,
    pub outbox: Outbox,
    pub labels: Vec<String>,
}

impl Answer for Library {
    fn answer<'a>(&'a self, head: &'a RunHead, state: &'a RunState, call: &'a Call, now: Instant) -> Reply<'a> {
        Box::pin(async move {
            match call {
                Call::Acquaintance { mail_id } => {
                    let mail_id = *mail_id;
                    let known = self.store.read(move |reader| reader.acquaintance(mail_id)).await?;
                    to_value(&known.context("the mail is not in the ledger")?)
                }
                Call::Rank => self.rank(state, now),
                Call::Recall { mail_id, thread, person, words } => {
                    let question = Question {
                        account: head.account.clone(),
                        mail_id: *mail_id,
                        task_id: state.task.as_ref().map(|task| task.task_id),
                        thread: thread.clone(),
                        person: person.clone(),
                        words: words.clone(),
                    };
                    to_value(&self.store.read(move |reader| recall::recall(reader, &question)).await?)
                }
                Call::Thread { thread } => self.thread(head, thread.clone()).await,
                Call::Standing => self.standing(head, state).await,
                Call::Task { task_id } => {
                    let id = *task_id;
                    let row = self
                        .store
                        .read(move |reader| reader.task(id))
                        .await?
                        .context("the task is not in the store")?;
                    let facts =
                        self.store.read(move |reader| reader.task_facts(id)).await?.context("the task has no facts")?;
                    to_value(&TaskNow { task: row.task, facts, revision: row.revision, hand_ranked: row.hand_ranked })
                }
                Call::Effect { action_id } => {
                    let row = self.outbox.carry_out(*action_id, now).await?;
                    to_value(&EffectEnd { state: row.state, result: row.result })
                }
            }
        })
    }
}

impl Library {
    fn rank(&self, state: &RunState, now: Instant) -> anyhow::Result<Value> {
        let facts = state.facts.as_ref().context("the task has no facts to rank by")?;
        let rules = Arc::clone(&self.rules.borrow().rules);
        let verdict = rules.judge(facts, now);
        to_value(&Ranked {
            level: verdict.level,
            rule: verdict.rule,
            why: verdict.why,
            version: rules.version().to_owned(),
        })
    }

    async fn thread(&self, head: &RunHead, thread: String) -> anyhow::Result<Value> {
        let account = head.account.clone();
        let mails = self.store.read(move |reader| reader.thread_mails(&account, &thread, THREAD_MAILS)).await?;
        let mails: Vec<ThreadMail> = mails
            .into_iter()
            .map(|(_, mail)| ThreadMail {
                from: mail.from.label().to_owned(),
                at: mail.date,
                text: first_words(&mail.text),
            })
            .collect();
        to_value(&mails)
    }

    async fn standing(&self, head: &RunHead, state: &RunState) -> anyhow::Result<Value> {
        let (account, mail_id) = (head.account.clone(), state.mail_id);
        let read = self.store.read(move |reader| {
            let entry = mail_id.map(|id| reader.ledger_entry(id)).transpose()?.flatten();
            Ok((reader.account(&account)?, entry.map(|entry| entry.source_key)))
        });
        let (account, mail_key) = read.await?;
        let mode = account.map_or(AccountMode::Observe, |account| account.mode);
        to_value(&Standing { mode, labels: self.labels.clone(), mail_key })
    }
}

/// Enough for a summary line; the rest stays in the store.
fn first_words(text: &str) -> String {
    text.trim().chars().take(240).collect()
}

fn to_value<T: serde::Serialize>(value: &T) -> anyhow::Result<Value> {
    serde_json::to_value(value).context("a reply could not be encoded")
}
