//! A request as steps with their tools, by its own words: numbered lists, joined tasks and sentences of their own. What
//! no tool can do becomes a step of the person.

mod choose;

pub use choose::choose_call;

use super::complexity::{
    RequestWord, has_joining_prefix, skip_politeness, split_numbered_list, split_words, starts_joined_task,
};
use crate::model::plan::{PlannedStep, TaskPlan, ToolCall};

/// The longest description of a step, in characters.
const LONGEST_DESCRIPTION: usize = 80;

/// Returns the steps of a request. A request that joins nothing is one step.
pub fn split_request(
    text: &str,
    choose: impl Fn(&str) -> Option<ToolCall>,
    finds_data: impl Fn(&str) -> bool,
) -> Vec<PlannedStep> {
    let items: Vec<String> = match split_numbered_list(text) {
        items if items.is_empty() => split_joined_tasks(text),
        items => items.into_iter().map(|item| item.text.to_owned()).collect(),
    };
    let mut steps: Vec<PlannedStep> = items
        .into_iter()
        .filter(|item| item.contains(char::is_alphanumeric))
        .take(TaskPlan::MOST_STEPS)
        .zip(1..)
        .map(|(item, number)| new_step(number, &item, &choose))
        .collect();
    super::step_order::infer_order(&mut steps, |step| step.call.as_ref().is_some_and(|call| finds_data(&call.tool)));
    steps
}

/// Returns a step for one instruction.
pub fn new_step(number: u32, instruction: &str, choose: impl Fn(&str) -> Option<ToolCall>) -> PlannedStep {
    let instruction = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    PlannedStep {
        step_number: number,
        description: describe(&instruction),
        call: choose(&instruction),
        instruction,
        ..PlannedStep::default()
    }
}

/// Returns a short text for a person: the instruction without politeness, with a capital at its start.
pub fn describe(instruction: &str) -> String {
    let text = without_politeness(instruction).trim_end_matches(['.', ',', ';', '!', '?', ' ']);
    let mut chars = text.chars();
    let text: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    if text.chars().count() <= LONGEST_DESCRIPTION {
        return text;
    }
    let cut: String = text.chars().take(LONGEST_DESCRIPTION - 1).collect();
    format!("{}…", cut.trim_end())
}

/// Returns an instruction without "please", "then" and the like at its beginning.
fn without_politeness(instruction: &str) -> &str {
    let words = split_words(instruction);
    let start = skip_politeness(&words).first().map_or(0, |word| word.start);
    instruction.get(start..).unwrap_or(instruction)
}

/// Returns the tasks that a text joins: by "and", "also", "then", commas and the ends of sentences, each only where the
/// verb of a task follows.
fn split_joined_tasks(text: &str) -> Vec<String> {
    let words = split_words(text);
    let mut cuts = Vec::new();
    for at in 1..words.len() {
        if let Some(cut) = joint_before(text, &words, at) {
            cuts.push(cut);
        }
    }
    let mut items = Vec::new();
    let mut from = 0;
    for (end, next) in cuts {
        items.extend(text.get(from..end).map(trim_joint));
        from = next;
    }
    items.extend(text.get(from..).map(trim_joint));
    items.retain(|item| !item.is_empty());
    items
}

/// Returns where the text is cut before the word at this place: the end of the task before, and the start of the next.
fn joint_before(text: &str, words: &[RequestWord<'_>], at: usize) -> Option<(usize, usize)> {
    let (before, here) = (words.get(at.checked_sub(1)?)?, words.get(at..)?);
    let first = here.first()?;
    let between = text.get(before.end..first.start)?;
    if has_joining_prefix(here) {
        return Some((before.end, first.start + 'ו'.len_utf8()));
    }
    let is_joint =
        |word: &RequestWord<'_>| matches!(word.text.as_ref(), "and" | "also" | "then" | "ואז" | "וגם" | "גם");
    // Only the first of several joints cuts: "and then call".
    if is_joint(first) && !is_joint(before) {
        let next = here.iter().position(|word| !is_joint(word))?;
        let task = skip_politeness(here.get(next..)?);
        let keeps_then = here.get(..next)?.iter().find(|word| matches!(word.text.as_ref(), "then" | "ואז"));
        let start = keeps_then.map_or(here.get(next)?.start, |then| then.start);
        return starts_joined_task(task).then_some((before.end, start));
    }
    let ends_clause = between.contains(['.', ';', ',', '\n', '!']);
    (ends_clause && starts_joined_task(skip_politeness(here)) && !is_joint(first)).then_some((before.end, first.start))
}

fn trim_joint(item: &str) -> String {
    item.trim().trim_matches([',', ';']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instructions(text: &str) -> Vec<String> {
        split_request(text, |_| None, |_| false).into_iter().map(|step| step.instruction).collect()
    }

    #[test]
    fn joined_tasks_become_steps() {
        for (text, steps) in [
            (
                "1. collect last month's invoices 2. draft a summary to Dana 3. remind me Friday",
                &["collect last month's invoices", "draft a summary to Dana", "remind me Friday"][..],
            ),
            ("Send the report to Dana and remind me on Friday", &["Send the report to Dana", "remind me on Friday"]),
            (
                "Find the contract, then send it to Ann and also call Bob",
                &["Find the contract", "then send it to Ann", "call Bob"],
            ),
            ("Send the offer, order and invoice", &["Send the offer, order and invoice"]),
            ("Book a table. Remind me tomorrow.", &["Book a table", "Remind me tomorrow."]),
            ("Buy milk and bread", &["Buy milk and bread"]),
            ("Send Dana and Tom the report", &["Send Dana and Tom the report"]),
            (
                "Could you collect the invoices and send them to Dana?",
                &["Could you collect the invoices", "send them to Dana?"],
            ),
            ("שלח את הדוח לדנה ותזכיר לי ביום שישי", &["שלח את הדוח לדנה", "תזכיר לי ביום שישי"]),
            ("", &[]),
        ] {
            assert_eq!(instructions(text), steps, "{text}");
        }
    }

    #[test]
    fn a_description_is_short_and_polite_words_are_left_out() {
        assert_eq!(describe("could you please collect the invoices?"), "Collect the invoices");
        assert_eq!(describe("then send it"), "Send it");
        assert!(describe(&"word ".repeat(50)).chars().count() <= LONGEST_DESCRIPTION);
    }
}
