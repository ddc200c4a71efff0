//! Explains a task's priority: every rule that was tried, what matched, and what would change it.

use serde::Serialize;

use crate::{
    app::TaskUseCases,
    model::{FollowUp, Priority, TaskRow},
    rules::Trace,
    store::SkipUnreadable as _,
};

/// Why a task has its priority.
#[derive(Debug, Serialize)]
pub struct PriorityExplanation {
    pub task: TaskRow,
    /// What the rules in force say now.
    pub trace: Trace,
    /// Whether a person set the priority, which then stays whatever the rules say.
    pub set_by_hand: bool,
    /// Why the sender does not count as verified; none when it does.
    pub sender: Option<String>,
    /// What is wrong with the rules file; the last good rules are in force meanwhile.
    pub rules_broken: Option<String>,
    /// The priority that the task has.
    pub level: Priority,
    /// The later mails about the same, each of which may have raised the priority.
    pub follow_ups: Vec<FollowUp>,
}

impl TaskUseCases<'_> {
    /// Returns why the task has its priority. Fails when its facts cannot be read.
    pub async fn explain_priority(self, reference: &str) -> anyhow::Result<PriorityExplanation> {
        let row = self.find(reference).await?;
        let (id, mail_id) = (row.task.task_id, row.mail_id);
        let (facts, mail, follow_ups) = self
            .app
            .store
            .read(move |reader| {
                let mail = mail_id.map(|mail_id| reader.mails().get(mail_id).skip_unreadable()).transpose()?.flatten();
                Ok((reader.tasks().facts(id).skip_unreadable()?, mail, reader.tasks().follow_ups(id)?))
            })
            .await?;
        let facts = facts.ok_or_else(|| anyhow::anyhow!("the task has no facts; run `adjutant doctor`"))?;
        let rules = self.app.rules().load();
        let sender = mail.filter(|_| !facts.sender_verified).map(|mail| {
            let reason =
                if mail.authentication.verified { "the mail looks like phishing" } else { &mail.authentication.reason };
            format!(
                "not counted: sender unverified ({reason}); the key is trusted_servers of [[account]] {}",
                facts.account
            )
        });
        Ok(PriorityExplanation {
            trace: rules.rules.trace(&facts, self.app.clock.now()),
            set_by_hand: row.hand_ranked,
            sender,
            rules_broken: rules.broken.map(|broken| broken.to_string()),
            level: row.task.priority,
            follow_ups,
            task: row,
        })
    }
}
