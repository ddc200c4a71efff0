//! The short run in which a task goes on after a decision.

use std::sync::Arc;

use crate::model::{Facts, Instant, NewRun, NodeName, RunId, RunKind, RunState, TaskRow};

/// What is read to open a decision run.
#[derive(Debug)]
pub struct DecisionRunInput<'a> {
    /// What the run is opened for: the id of an item or of a task.
    pub because: &'a str,
    pub parent_run: Option<RunId>,
    pub row: &'a TaskRow,
    pub node: NodeName,
    /// The generation of the next effect of the step.
    pub generation: u32,
    /// How many runs the task has had. A yes that was taken back and given again in the same second is another decision.
    pub runs: i64,
    pub mail_key: Option<String>,
    pub facts: Option<Facts>,
    pub at: Instant,
}

/// Returns the run, its id derived so that opening it twice is opening it once.
pub fn new_decision_run(input: DecisionRunInput<'_>) -> NewRun {
    let DecisionRunInput { because, parent_run, row, node, generation, runs, mail_key, facts, at } = input;
    NewRun {
        run_id: RunId::derive(at, &["decision", because, &generation.to_string(), &runs.to_string()]),
        account: row.account.clone(),
        user: row.user.clone(),
        kind: RunKind::Decision,
        parent_run,
        fork: None,
        node,
        task_id: Some(row.task.task_id),
        state: RunState {
            mail_id: row.mail_id,
            mail_key,
            task: Some(Arc::new(row.task.clone())),
            facts,
            rule: Some(row.rule.clone()),
            generation,
            ..RunState::default()
        },
    }
}
