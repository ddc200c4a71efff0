//! Teams that a mail asks for. They start only when a person has agreed, through an item of the approval queue, and read
//! the account of the mail alone.

use chrono::Duration;
use serde_json::json;

use super::{TeamUseCases, number_of};
use crate::{
    model::{
        DecisionKind, ItemId, ItemKind, ItemRow, ItemState, NewItem, NewTeam, QueueLimits, TaskRow, TeamChange, TeamId,
        TeamOrigin, TeamRow, TeamState, TeamUpdate, TeamWrite,
    },
    store::{StoreError, Write},
};

/// How long the question waits. No answer counts as a no.
const CONSENT_DAYS: i64 = 3;
/// The longest title of the item, in characters.
const LONGEST_TITLE: usize = 200;

impl TeamUseCases<'_> {
    /// Asks about every task of a mail that a team may work and about which nobody was asked yet. While the approval
    /// queue is full, the question waits.
    pub(super) async fn propose_for_mails(self) -> anyhow::Result<()> {
        for task_id in self.app.store.read(|reader| reader.teams().tasks_without_team()).await? {
            let row = self.app.store.read(move |reader| reader.tasks().get(task_id)).await?;
            let Some(row) = row else { continue };
            match self.propose_for_task(&row).await {
                Err(error) if matches!(error.downcast_ref(), Some(StoreError::QueueFull(_))) => {}
                outcome => drop(outcome?),
            }
        }
        Ok(())
    }

    /// Asks whether a team may work the task of a mail. Returns the number of the team. Asking again for the same task
    /// asks nothing new.
    pub async fn propose_for_task(self, row: &TaskRow) -> anyhow::Result<Option<i64>> {
        let now = self.app.clock.now();
        let task_id = row.task.task_id;
        let id = task_id.to_string();
        let caps = self.app.effects().load_policy().caps;
        let title = format!("May a team work this? {}", row.task.objective);
        let question = NewItem {
            item_id: ItemId::derive(row.task.created_at, &["team", &id]),
            kind: ItemKind::Question,
            task_id: Some(task_id),
            mail_id: row.mail_id,
            action_id: None,
            title: title.chars().take(LONGEST_TITLE).collect(),
            body: json!({
                "question": "The mail asks for several things. Approve to let a task manager with workers divide and do it. \
                             They read this account only, and everything that they want to send waits for you.",
                "account": row.account,
                ItemRow::CONSENT: true,
            }),
            expires_at: Some(now.plus(Duration::days(CONSENT_DAYS))),
            sender: String::new(),
            queue_limits: Some(QueueLimits { all: caps.pending, per_sender: caps.pending_per_sender }),
        };
        let new = NewTeam {
            team_id: TeamId::derive(row.task.created_at, &["team", &id]),
            user: row.user.clone(),
            account: Some(row.account.clone()),
            request: row.task.objective.clone(),
            origin: TeamOrigin::Mail,
            task_id: Some(task_id),
            question: Some(question),
            at: now,
        };
        Ok(number_of(&self.app.store.write(Write::Team(Box::new(TeamWrite::Open(Box::new(new))))).await?))
    }

    /// Lets a proposed team start when the person has agreed, and cancels it when they have not. Returns the team when it
    /// may be worked.
    pub(super) async fn settle_proposed(self, mut team: TeamRow) -> anyhow::Result<Option<TeamRow>> {
        let Some(item_id) = team.item_id else { return Ok(None) };
        let item = self.app.store.read(move |reader| reader.approvals().item(item_id)).await?;
        let state = match item.map(|item| (item.state, item.decision)) {
            Some((ItemState::Open, _)) => return Ok(None),
            Some((ItemState::Decided, Some(DecisionKind::Approve))) => TeamState::Requested,
            _ => TeamState::Cancelled,
        };
        let update =
            TeamUpdate { team_id: team.team_id, changes: vec![TeamChange::SetState(state)], at: self.app.clock.now() };
        self.app.store.write(Write::Team(Box::new(TeamWrite::Update(update)))).await?;
        team.state = state;
        Ok((state == TeamState::Requested).then_some(team))
    }
}
