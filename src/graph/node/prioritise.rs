//! prioritise: the rules give the task its level, and it is ready. A later look may raise it, never lower it.

use anyhow::Context as _;

use crate::{
    graph::entry::{Call, Entry, Node, Ranked, Step},
    model::{Change, Move, RunKind, Status},
};

pub(super) struct Prioritise;

impl Node for Prioritise {
    fn enter(&self, entry: &Entry<'_>) -> anyhow::Result<Step> {
        let task = entry.state.task.as_ref().context("there is no task to rank")?;
        let Some(ranked) = entry.reply::<Ranked>(|call| *call == Call::Rank)? else {
            return Ok(Step::ask(Call::Rank));
        };
        let change = Change::Priority { priority: ranked.level, rule: ranked.rule.clone() };
        if entry.run.kind == RunKind::Rank {
            let raised = ranked.level > task.priority && !entry.state.hand_ranked && !task.status.is_terminal();
            return Ok(Step::go(Move::Done).changing(if raised { vec![change] } else { Vec::new() }));
        }
        let mut changes = vec![change];
        if task.status == Status::New {
            changes.push(Change::Status { to: Status::Ready, why: format!("{} by {}", ranked.level, ranked.rule) });
        }
        Ok(Step::go(Move::Next).changing(changes))
    }
}
