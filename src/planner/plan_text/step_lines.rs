//! Steps on lines: `STEP 1: …`, then `DO: …` or `INSTRUCTION: …`, and `AFTER: 1, 2`.

use super::WrittenStep;

pub(super) const START: &str = "---PLAN-START---";
pub(super) const END: &str = "---PLAN-END---";

/// What a line of a plan is.
enum PlanLine<'a> {
    Step(u32, &'a str),
    Instruction(&'a str),
    After(Vec<u32>),
    Other(&'a str),
}

/// Returns the text between the markers, or behind the first one when the last is missing.
pub(super) fn between_markers(text: &str) -> Option<&str> {
    let mut from = None;
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        let end = position + line.len();
        match marker(line) {
            Some("START") => from = Some(end),
            Some("END") => {
                if let Some(from) = from {
                    return text.get(from..position);
                }
            }
            _ => {}
        }
        position = end;
    }
    text.get(from?..)
}

/// Returns which marker a line is. A model may vary its dashes, its case and the signs of Markdown around it.
fn marker(line: &str) -> Option<&'static str> {
    let bare: String = line.chars().filter(|c| c.is_alphanumeric()).collect();
    let has_dashes = line.matches('-').count() + line.matches('—').count() * 2 >= 3;
    match bare.to_ascii_uppercase().as_str() {
        "PLANSTART" if has_dashes => Some("START"),
        "PLANEND" if has_dashes => Some("END"),
        _ => None,
    }
}

/// Reads the steps. Lines before the first step are noise; lines behind an instruction belong to it.
pub(super) fn parse_step_lines(text: &str) -> Vec<WrittenStep> {
    let mut steps: Vec<WrittenStep> = Vec::new();
    let mut in_instruction = false;
    for line in text.lines() {
        let parsed = parse_line(line);
        if let PlanLine::Step(number, description) = parsed {
            steps.push(WrittenStep { number, description: description.to_owned(), ..WrittenStep::default() });
            in_instruction = false;
            continue;
        }
        let Some(step) = steps.last_mut() else { continue };
        match parsed {
            PlanLine::Instruction(text) => {
                append_line(&mut step.instruction, text);
                in_instruction = true;
            }
            PlanLine::After(numbers) => step.after.extend(numbers),
            // A line of the instruction that looks like a line of the plan was escaped when it was printed.
            PlanLine::Other(text) if in_instruction && !is_rule(text) => {
                append_line(&mut step.instruction, text.strip_prefix('\\').unwrap_or(text));
            }
            PlanLine::Other(_) | PlanLine::Step(..) => {}
        }
    }
    for step in &mut steps {
        step.instruction.truncate(step.instruction.trim_end().len());
    }
    steps
}

/// Returns whether a line is only a rule or a fence between paragraphs.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") || (line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_')))
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line.trim_end());
}

/// Returns an instruction as lines that are read as its own.
pub(super) fn escape_lines(instruction: &str) -> String {
    let escape = |(nth, line): (usize, &str)| {
        let is_text = matches!(parse_line(line), PlanLine::Other(_)) && marker(line).is_none() && !is_rule(line);
        if nth > 0 && (!is_text || line.starts_with('\\')) { format!("\\{line}") } else { line.to_owned() }
    };
    instruction.lines().enumerate().map(escape).collect::<Vec<_>>().join("\n")
}

fn parse_line(line: &str) -> PlanLine<'_> {
    let bare = line.trim().trim_start_matches(['#', '*', '>', '_', ' ', '-', '•']);
    let without_bold = |text: &'static str| strip_word(bare, text);
    if let Some(rest) = without_bold("STEP") {
        let digits = rest.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (number, behind) = digits.split_at_checked(end).unwrap_or((digits, ""));
        if let (Ok(number), Some(description)) = (number.parse(), strip_separator(behind)) {
            return PlanLine::Step(number, description);
        }
    }
    for word in ["DO", "INSTRUCTION", "INSTRUCTIONS"] {
        if let Some(text) = without_bold(word).and_then(strip_colon) {
            return PlanLine::Instruction(text);
        }
    }
    if let Some(text) = without_bold("AFTER").and_then(strip_colon) {
        let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        return PlanLine::After(numbers.collect());
    }
    PlanLine::Other(line.trim_end())
}

/// Returns what follows a word at the beginning of a line, whatever its case.
fn strip_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let head = line.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| line.get(word.len()..)).flatten()
}

fn strip_colon(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['*', '_', ' ']).strip_prefix([':', '：'])?;
    Some(trim_signs(text).trim_end())
}

/// Returns a text without white space and the signs of Markdown at its beginning.
pub(super) fn trim_signs(text: &str) -> &str {
    text.trim_start_matches(is_sign)
}

/// Returns a text without white space and the signs of Markdown around it.
pub(super) fn trim_signs_around(text: &str) -> &str {
    text.trim_matches(is_sign)
}

fn is_sign(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_')
}

/// Returns what follows the number of a step: behind a colon, a point, a bracket or a dash, or nothing.
fn strip_separator(text: &str) -> Option<&str> {
    let text = trim_signs(text);
    if text.is_empty() {
        return Some(text);
    }
    let text = text.strip_prefix([':', '.', ')', '-', '–', '—', '：'])?;
    Some(trim_signs_around(text))
}
