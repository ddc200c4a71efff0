//! Questions of agents to the person: on the screen, and without a terminal as items of the approval queue.

use chrono::Duration;
use serde_json::json;

use super::{event::TeamEvent, message::AgentMessage, session::TeamSession, turn::TurnContext};
use crate::model::{AgentId, AgentState, DecisionKind, ItemId, ItemKind, ItemRow, ItemState, NewItem, TeamChange};

/// How long a question waits in the queue. After that the agent decides without an answer.
const QUESTION_DAYS: i64 = 7;
/// The longest title of an item, in characters.
const LONGEST_TITLE: usize = 200;

/// Asks the person and lets the agent wait. The question is in the event, and in the queue when nobody is at a screen.
pub(super) fn ask_person(session: &mut TeamSession, agent: AgentId, text: &str, context: &TurnContext<'_>) {
    let text = context.explain(text);
    session.record(TeamEvent::Question { agent, text: text.clone() });
    session.set_agent_state(agent, AgentState::Waiting, None);
    if context.asks_in_queue {
        put_in_queue(session, agent, &text, context);
    }
}

/// Puts the question of a waiting agent into the approval queue.
pub(super) fn put_in_queue(session: &mut TeamSession, agent: AgentId, text: &str, context: &TurnContext<'_>) {
    let Some(found) = session.agent(agent) else { return };
    // The turn is part of the key, so that a second question of the agent is another item.
    let parts = ["question", &agent.to_string(), &found.turns().to_string()];
    let number = found.row.number;
    let who = if number == 0 { "The task manager".to_owned() } else { format!("Task {number}") };
    let title: String = format!("{who} of team {} asks: {text}", session.team.number);
    let item = NewItem {
        item_id: ItemId::derive(context.now, &parts),
        kind: ItemKind::Question,
        task_id: session.team.task_id,
        mail_id: None,
        action_id: None,
        title: title.chars().take(LONGEST_TITLE).collect(),
        body: json!({ "team": session.team.number, "agent": agent, "question": text }),
        expires_at: Some(context.now.plus(Duration::days(QUESTION_DAYS))),
        sender: String::new(),
        queue_limits: None,
    };
    if let Some(found) = session.agent_mut(agent) {
        found.row.item_id = Some(item.item_id);
    }
    session.change(TeamChange::AskInQueue { agent, item: Box::new(item) });
}

/// Hands the decision on a question to the agent that asked. An item that is still open changes nothing.
pub(super) fn take_decision(session: &mut TeamSession, agent: AgentId, item: &ItemRow) {
    let message = match (item.state, item.decision) {
        (ItemState::Open, _) => return,
        (ItemState::Decided, Some(DecisionKind::Respond)) => {
            session.record(TeamEvent::PersonSaid { agent, text: item.reason.clone() });
            AgentMessage::Person { text: item.reason.clone() }
        }
        (ItemState::Decided, _) => AgentMessage::Program {
            text: "The person does not want to answer. Decide without the answer, or end.".into(),
        },
        (ItemState::Void | ItemState::Expired, _) => {
            AgentMessage::Program { text: "Nobody answered in time. Decide without the answer, or end.".into() }
        }
    };
    close(session, agent, "answered");
    session.post_message(agent, message);
}

/// Closes the question of an agent, because it was answered elsewhere or the agent was stopped.
pub(super) fn close(session: &mut TeamSession, agent: AgentId, why: &str) {
    let item = session.agent_mut(agent).and_then(|found| found.row.item_id.take());
    if let Some(item) = item {
        session.change(TeamChange::CloseQuestion { agent, item, why: why.to_owned() });
    }
}
