//! The short run in which a task goes on after a decision.

use std::sync::Arc;

use crate::model::{Facts, Instant, NewRun, NodeName, RunId, RunKind, RunState, TaskPlan, TaskRow};

/// What is read from the database to open a decision run.
#[derive(Debug)]
pub struct DecisionRunInput<'a> {
    /// The id of the item that was decided, or of the task when a person edited it.
    pub because: &'a str,
    pub parent_run: Option<RunId>,
    pub row: &'a TaskRow,
    /// The step that was decided on; empty where it is about no step.
    pub step: &'a str,
    /// The node at which the run starts.
    pub node: NodeName,
    /// The generation of the next effect of the step. It keeps a new effect apart from the voided one.
    pub generation: u32,
    /// How many runs the task has had. It tells two decisions apart that fall into the same second, for example when an
    /// approval was revoked and given again.
    pub runs: i64,
    /// The source key of the mail that the task came from.
    pub mail_key: Option<String>,
    pub facts: Option<Facts>,
    pub at: Instant,
}

/// Returns the run. Its id is derived from the input, so that opening it twice opens it once.
pub fn new_decision_run(input: DecisionRunInput<'_>) -> NewRun {
    let DecisionRunInput { because, parent_run, row, step, node, generation, runs, mail_key, facts, at } = input;
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
            plan_step: TaskPlan::of_context(&row.task.context)
                .and_then(|plan| plan.step(step).map(|step| step.step_number)),
            ..RunState::default()
        },
    }
}
