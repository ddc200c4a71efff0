//! Messages that a person has written from a task: answers, forwards and new mails. Each becomes a step of the task, so
//! that it goes through the policy and the approval queue like every other.

use crate::{
    app::{BadInput, LOCAL_ACCOUNT, NewTask, NotFound, TaskUseCases},
    model::{AccountId, AccountMode, NamedMessage, TaskEditKind, TaskRow},
    policy::recipient::normalise_address,
};

impl TaskUseCases<'_> {
    /// Has a step of a task done with a person's words. Returns the task; the worker does the step.
    pub async fn instruct(
        self,
        reference: &str,
        step: &str,
        words: &str,
        message: Option<NamedMessage>,
    ) -> anyhow::Result<TaskRow> {
        let wish = TaskEditKind::InstructStep { step: step.to_owned(), words: words.to_owned(), message };
        self.edit(reference, wish, "told what to do").await
    }

    /// Adds the task of a new mail to an account that may send: the one that the person names, or the only one.
    pub async fn add_letter(self, message: &NamedMessage, account: Option<&str>) -> anyhow::Result<TaskRow> {
        let accounts = self.app.accounts().list().await?;
        let may_send = |mode: AccountMode| mode != AccountMode::Retired;
        let mut able = accounts.into_iter().filter(|known| known.kind.is_polled() && may_send(known.mode));
        let account: AccountId = match account {
            Some(name) => {
                let known = able.find(|known| known.account.as_str() == name);
                known.map(|known| known.account).ok_or_else(|| {
                    NotFound(format!("there is no account '{name}' to send from; `adjutant mail accounts` lists them"))
                })?
            }
            None => match (able.next(), able.next()) {
                (Some(only), None) => only.account,
                (None, _) => return Err(BadInput("there is no account to send from".into()).into()),
                _ => return Err(BadInput("there are several accounts: name one with --account".into()).into()),
            },
        };
        let to = message.to.join(", ");
        let subject = message.subject.as_deref().map_or_else(String::new, |subject| format!(": {subject}"));
        debug_assert_ne!(account.as_str(), LOCAL_ACCOUNT);
        self.add_to(NewTask { objective: format!("Write to {to}{subject}"), ..NewTask::default() }, account, &[], None)
            .await
    }
}

/// Checks the recipients that a person typed. Returns whom the message goes to.
pub fn name_recipients(to: &[String], subject: Option<String>) -> Result<NamedMessage, BadInput> {
    let to = to.iter().map(|typed| {
        normalise_address(typed)
            .ok_or_else(|| BadInput(format!("'{typed}' is not a mail address; expected such as \"dana@work.example\"")))
    });
    Ok(NamedMessage { to: to.collect::<Result<_, _>>()?, subject })
}
