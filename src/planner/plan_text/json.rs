//! A plan as a JSON array of steps, also inside of an object or with small faults.

use serde_json::{Map, Value};

use super::{PlanTextError, WrittenStep};
use crate::planner::json_repair::{RepairDoubt, repair_json};

/// Reads a plan written as JSON. Returns none when the text is none.
pub(super) fn parse_json_plan(text: &str) -> Option<Result<Vec<WrittenStep>, PlanTextError>> {
    let repaired = repair_json(text).ok()?;
    let is_cut = repaired.doubts.contains(&RepairDoubt::Truncated);
    let is_unclear = repaired.doubts.contains(&RepairDoubt::DroppedText);
    let steps = repaired.values.iter().find_map(find_steps)?;
    if is_cut || is_unclear {
        return Some(Err(PlanTextError::CutOff));
    }
    let read: Option<Vec<WrittenStep>> = steps.iter().zip(1..).map(|(step, nth)| read_step(step, nth)).collect();
    Some(read.ok_or(PlanTextError::NoSteps))
}

/// Returns the array of steps: the value itself, or the field of an object that holds it.
fn find_steps(value: &Value) -> Option<&Vec<Value>> {
    let steps = match value {
        Value::Array(steps) => steps,
        Value::Object(fields) => ["steps", "plan", "tasks"].iter().find_map(|key| fields.get(*key)?.as_array())?,
        _ => return None,
    };
    let is_step = |step: &Value| step.as_object().is_some_and(|fields| text_of(fields, DESCRIPTION).is_some());
    (!steps.is_empty() && steps.iter().all(is_step)).then_some(steps)
}

const DESCRIPTION: &[&str] = &["description", "title", "step_description", "task", "instruction", "do"];
const INSTRUCTION: &[&str] = &["instruction", "do", "details", "instructions"];

fn read_step(step: &Value, nth: u32) -> Option<WrittenStep> {
    let fields = step.as_object()?;
    let number = ["step", "number", "step_number", "id"].iter().find_map(|key| fields.get(*key)?.as_u64());
    let after = ["after", "depends_on", "dependencies"].iter().find_map(|key| fields.get(*key)?.as_array());
    Some(WrittenStep {
        number: number.and_then(|number| u32::try_from(number).ok()).unwrap_or(nth),
        description: text_of(fields, DESCRIPTION)?.to_owned(),
        instruction: text_of(fields, INSTRUCTION).unwrap_or_default().to_owned(),
        after: after.into_iter().flatten().filter_map(|number| u32::try_from(number.as_u64()?).ok()).collect(),
    })
}

fn text_of<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| fields.get(*key)?.as_str()).filter(|text| !text.trim().is_empty())
}
