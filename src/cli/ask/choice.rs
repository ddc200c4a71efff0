//! The questions of `ask`, answered by a letter and Enter.

use std::io::{self, BufRead as _, Write as _};

/// What a person wants done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanChoice {
    Execute,
    Edit,
    /// Execute the request as one step.
    Direct,
    Cancel,
}

/// What a person wants done about a step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureChoice {
    Retry,
    Skip,
    Cancel,
    /// Leave it in the approval queue.
    Later,
}

/// Asks what to do with a plan.
pub(super) fn read_plan_choice() -> io::Result<PlanChoice> {
    let question = "Execute [e], edit the steps [s], execute directly without a plan [d], cancel [c]? ";
    read_choice(question, PlanChoice::Cancel, |letter| match letter {
        'e' | 'y' => Some(PlanChoice::Execute),
        's' => Some(PlanChoice::Edit),
        'd' => Some(PlanChoice::Direct),
        'c' | 'n' | 'q' => Some(PlanChoice::Cancel),
        _ => None,
    })
}

/// Asks what to do about a step that failed.
pub(super) fn read_failure_choice() -> io::Result<FailureChoice> {
    let question = "Retry [r], skip it and continue [s], cancel the plan [c], decide later [l]? ";
    read_choice(question, FailureChoice::Later, |letter| match letter {
        'r' => Some(FailureChoice::Retry),
        's' => Some(FailureChoice::Skip),
        'c' => Some(FailureChoice::Cancel),
        'l' | 'q' => Some(FailureChoice::Later),
        _ => None,
    })
}

/// Repeats a question until it is answered. The end of the input counts as `at_end`.
fn read_choice<T>(question: &str, at_end: T, parse: impl Fn(char) -> Option<T>) -> io::Result<T> {
    loop {
        let mut out = io::stderr().lock();
        out.write_all(question.as_bytes())?;
        out.flush()?;
        drop(out);
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(at_end);
        }
        if let Some(choice) = line.trim().to_lowercase().chars().next().and_then(&parse) {
            return Ok(choice);
        }
    }
}
