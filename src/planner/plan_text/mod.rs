//! Plans as text: the four formats in which a model may write one, tried in order, and the one in which a plan is
//! printed. Tolerant of the noise around a plan, strict about what it means.

mod json;
mod step_lines;

use super::{complexity::split_numbered_list, step_order};
use crate::model::plan::{PlannedStep, TaskPlan};

/// The longest description of a step, in characters.
const LONGEST_DESCRIPTION: usize = 160;
/// The longest instruction of a step, in characters.
const LONGEST_INSTRUCTION: usize = 4_000;
/// The longest text that is read as a plan, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// A step as a text describes it: its number in the text, what it is, and what it comes after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenStep {
    pub number: u32,
    pub description: String,
    pub instruction: String,
    pub after: Vec<u32>,
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanTextError {
    #[error("there are no steps in it")]
    NoSteps,
    #[error("it has more than {} steps", TaskPlan::MOST_STEPS)]
    TooManySteps,
    #[error("it is too long")]
    TooLong,
    #[error("it is cut off")]
    CutOff,
    #[error("two of its steps have the number {0}")]
    RepeatedNumber(u32),
    #[error("step {step} comes after step {after}, which it does not have")]
    UnknownStep { step: u32, after: u32 },
    #[error("its steps wait for each other")]
    Circular,
    #[error("step {0} does not say what is to be done")]
    EmptyStep(u32),
}

/// Reads a plan: between markers, as a JSON array, as STEP and INSTRUCTION lines, or as a numbered list.
pub fn parse_plan(text: &str) -> Result<Vec<WrittenStep>, PlanTextError> {
    if text.len() > LONGEST_TEXT {
        return Err(PlanTextError::TooLong);
    }
    let steps = match step_lines::between_markers(text) {
        Some(inside) => step_lines::parse_step_lines(inside),
        None => Vec::new(),
    };
    if !steps.is_empty() {
        return check_steps(steps);
    }
    if let Some(steps) = json::parse_json_plan(text) {
        return check_steps(steps?);
    }
    let steps = step_lines::parse_step_lines(text);
    if !steps.is_empty() {
        return check_steps(steps);
    }
    let items = split_numbered_list(text).into_iter().map(|item| {
        let (description, instruction) = split_at_dash(item.text.lines().next().unwrap_or_default());
        WrittenStep { number: item.number, description, instruction, after: Vec::new() }
    });
    check_steps(items.collect())
}

/// Returns a list item as its description and its instruction, which a dash divides.
fn split_at_dash(text: &str) -> (String, String) {
    let dash = [" - ", " – ", " — "].iter().filter_map(|dash| text.split_once(dash)).min_by_key(|(head, _)| head.len());
    let (description, instruction) = dash.unwrap_or((text, ""));
    (description.trim().to_owned(), instruction.trim().to_owned())
}

/// Checks what the steps mean and numbers them from 1. Numbers that skip some are noise, numbers that repeat are not.
fn check_steps(mut steps: Vec<WrittenStep>) -> Result<Vec<WrittenStep>, PlanTextError> {
    if steps.is_empty() {
        return Err(PlanTextError::NoSteps);
    }
    if steps.len() > TaskPlan::MOST_STEPS {
        return Err(PlanTextError::TooManySteps);
    }
    for step in &mut steps {
        step.description = shorten_description(&step.description);
        step.instruction = shorten(step_lines::trim_signs(&step.instruction).trim_end(), LONGEST_INSTRUCTION);
        if step.description.is_empty() {
            step.description = shorten_description(&step.instruction);
        }
        if step.instruction.is_empty() {
            step.instruction.clone_from(&step.description);
        }
        if !step.description.contains(char::is_alphanumeric) {
            return Err(PlanTextError::EmptyStep(step.number));
        }
        let named = step_order::steps_named_as_before(&step.instruction);
        step.after.extend(named.into_iter().chain(step_order::steps_named_as_before(&step.description)));
        step.after.sort_unstable();
        step.after.dedup();
    }
    renumber(&mut steps)?;
    step_order::check_order(&steps.iter().map(|step| (step.number, step.after.clone())).collect::<Vec<_>>())
        .map_err(|_| PlanTextError::Circular)?;
    Ok(steps)
}

/// Numbers the steps from 1 in their order, with the references to them.
fn renumber(steps: &mut [WrittenStep]) -> Result<(), PlanTextError> {
    let numbers: Vec<u32> = steps.iter().map(|step| step.number).collect();
    if let Some(twice) = numbers.iter().enumerate().find(|(at, number)| numbers.iter().take(*at).any(|n| n == *number))
    {
        return Err(PlanTextError::RepeatedNumber(*twice.1));
    }
    for (step, number) in steps.iter_mut().zip(1..) {
        for after in &mut step.after {
            let place = numbers.iter().position(|number| number == after);
            let place = place.ok_or(PlanTextError::UnknownStep { step: step.number, after: *after })?;
            *after = u32::try_from(place + 1).unwrap_or(u32::MAX);
        }
        step.number = number;
    }
    Ok(())
}

/// Returns a description as one line, without the signs of Markdown around it.
fn shorten_description(text: &str) -> String {
    shorten(step_lines::trim_signs_around(&one_line(text)), LONGEST_DESCRIPTION)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text at a character, and says so with an ellipsis.
fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}

/// Prints steps in the format with markers, in which a person edits them and from which they are read again.
pub fn print_plan(steps: &[WrittenStep]) -> String {
    let mut text = format!("{}\n", step_lines::START);
    for step in steps {
        text.push_str(&format!("STEP {}: {}\n", step.number, step.description));
        if !step.after.is_empty() {
            let after: Vec<String> = step.after.iter().map(u32::to_string).collect();
            text.push_str(&format!("AFTER: {}\n", after.join(", ")));
        }
        text.push_str(&format!("DO: {}\n", step_lines::escape_lines(&step.instruction)));
    }
    text + step_lines::END + "\n"
}

impl From<&PlannedStep> for WrittenStep {
    fn from(step: &PlannedStep) -> Self {
        Self {
            number: step.step_number,
            description: step.description.clone(),
            instruction: step.instruction.clone(),
            after: step.after.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
