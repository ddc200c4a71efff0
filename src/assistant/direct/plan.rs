//! Requests of several steps: shown as a plan, and carried out after a yes.

use crate::{
    assistant::{
        direct::act::ask,
        intent::{Evidence, Intent, IntentReading},
        memory::{MadeChange, Pending},
        reply::{ReplySentence, ReplyText, Value},
        tool::{OfferedPlan, TaskCall, TaskTools, ToolResult},
        turn::{ChatTurn, Step},
    },
    model::plan::ComplexityReason,
    planner::{PlannerRequest, detect_complexity, file_reference::find_file_references},
};

/// Shows the steps of a request that has several, and asks whether to carry them out. Returns whether it did.
pub(in crate::assistant) async fn offer_plan<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    reading: &IntentReading,
) -> Step<bool> {
    let Some(wanted) = PlanWish::find(&turn.message, reading) else { return Ok(false) };
    let call = TaskCall::PreparePlan { request: turn.request.message.to_owned() };
    let Ok(ToolResult::Plan(plan)) = turn.call(call).await else { return Err(turn.give_up()) };
    if plan.steps.is_empty() && wanted == PlanWish::NothingElse && !plan.notes.is_empty() {
        turn.say_lines(&lines_of(&plan.notes));
        return Ok(true);
    }
    // Several things that only the person can do are tasks of their own.
    if plan.steps.len() < 2 || (wanted == PlanWish::OrTasks && !plan.has_calls) {
        return Ok(false);
    }
    turn.say(ReplySentence("plan_offer"), &[("count", Value::Text(plan.steps.len().to_string()))]);
    let steps: Vec<String> = (1..).zip(&plan.steps).map(|(number, step)| format!("{number}. {step}")).collect();
    turn.say_lines(&lines_of(&steps));
    turn.say_lines(&lines_of(&plan.notes));
    turn.say_below(ReplySentence("plan_question"), &[]);
    ask(turn, Pending::StartPlan { plan }, "confirmation");
    Ok(true)
}

/// Opens the task of a plan to which the person has agreed.
pub(in crate::assistant) async fn open_plan<T: TaskTools>(turn: &mut ChatTurn<'_, T>, plan: OfferedPlan) -> Step {
    turn.reply.intent = Intent::Create;
    let count = plan.steps.len().to_string();
    let Ok(ToolResult::Changed { task, .. }) = turn.call(TaskCall::OpenPlan { plan }).await else {
        return Err(turn.give_up());
    };
    turn.reply.memory.changes.push(MadeChange::Added(task.task_id));
    turn.reply.mentioned = Some(task.task_id);
    let number = task.number.map_or_else(|| task.task_id.to_string(), |number| number.to_string());
    turn.say(ReplySentence("plan_opened"), &[("number", Value::Text(number)), ("count", Value::Text(count))]);
    Ok(())
}

/// Why a message may be a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanWish {
    /// It begins with a numbered list.
    List,
    /// It may as well be several new tasks.
    OrTasks,
    /// It was not understood in any other way.
    NothingElse,
}

impl PlanWish {
    fn find(message: &str, reading: &IntentReading) -> Option<Self> {
        let complexity = detect_complexity(PlannerRequest::typed(message));
        let begins_with_number = message.starts_with(|c: char| c.is_ascii_digit());
        if begins_with_number && complexity.reasons.contains(&ComplexityReason::NumberedList) {
            return Some(Self::List);
        }
        let is_understood = |intent| intent != Intent::Unclear;
        let mut clauses = reading.clauses.iter();
        let has_keyword = clauses.any(|it| it.evidence == Evidence::Keyword && is_understood(it.intent));
        if has_keyword || !complexity.is_complex() && find_file_references(message).is_empty() {
            return None;
        }
        let has_tasks = reading.clauses.iter().any(|clause| is_understood(clause.intent));
        Some(if has_tasks { Self::OrTasks } else { Self::NothingElse })
    }
}

/// Returns texts of a person as lines that are shown safely.
fn lines_of(texts: &[String]) -> ReplyText {
    let mut lines = ReplyText::default();
    for text in texts {
        let mut line = ReplyText::default();
        line.push_title(text);
        lines.join("\n", &line);
    }
    lines
}
