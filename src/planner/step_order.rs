//! The order of steps: which comes after which, as a directed graph without cycles.

use std::collections::BTreeMap;

use petgraph::{
    Direction,
    algo::is_cyclic_directed,
    graph::{DiGraph, NodeIndex},
};

use crate::model::plan::{PlannedStep, TaskPlan};

/// The steps of a plan wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the steps wait for each other")]
pub struct CircularSteps;

/// The steps of a plan by number, with an edge to each from every step that must have ended before it.
pub struct StepGraph {
    graph: DiGraph<u32, ()>,
    places: BTreeMap<u32, NodeIndex>,
}

impl StepGraph {
    fn new(steps: impl IntoIterator<Item = (u32, Vec<u32>)>) -> Self {
        let steps: Vec<(u32, Vec<u32>)> = steps.into_iter().collect();
        let mut graph = DiGraph::new();
        let places: BTreeMap<u32, NodeIndex> =
            steps.iter().map(|(number, _)| (*number, graph.add_node(*number))).collect();
        for (number, after) in &steps {
            for before in after {
                if let (Some(before), Some(step)) = (places.get(before), places.get(number)) {
                    graph.update_edge(*before, *step, ());
                }
            }
        }
        Self { graph, places }
    }

    pub fn of_plan(plan: &TaskPlan) -> Self {
        Self::new(plan.steps.iter().map(|step| (step.step_number, step.after.clone())))
    }

    /// Returns whether every step that must come before has ended.
    pub fn is_ready(&self, number: u32, has_ended: impl Fn(u32) -> bool) -> bool {
        let Some(place) = self.places.get(&number) else { return false };
        let mut before = self.graph.neighbors_directed(*place, Direction::Incoming);
        before.all(|before| self.graph.node_weight(before).is_none_or(|number| has_ended(*number)))
    }
}

/// Checks that no step waits for itself, directly or through others.
pub fn check_order(steps: &[(u32, Vec<u32>)]) -> Result<(), CircularSteps> {
    let graph = StepGraph::new(steps.iter().cloned());
    if is_cyclic_directed(&graph.graph) { Err(CircularSteps) } else { Ok(()) }
}

/// Returns the numbers of the steps that a text names as coming before: "after step 2", "after steps 1 and 3", "using the
/// result of step 1".
pub fn steps_named_as_before(text: &str) -> Vec<u32> {
    let lower = text.to_lowercase();
    let mut numbers = Vec::new();
    for opening in [
        "after step",
        "after steps",
        "from step",
        "from steps",
        "of step",
        "of steps",
        "in step",
        "אחרי שלב",
        "אחרי צעד",
        "של שלב",
        "משלב",
        "בשלב",
    ] {
        for (at, _) in lower.match_indices(opening) {
            let Some(rest) = lower.get(at + opening.len()..) else { continue };
            numbers.extend(leading_numbers(rest));
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns the numbers at the beginning of a text, with commas and "and" between them.
fn leading_numbers(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    let text = text.strip_prefix('s').unwrap_or(text);
    for word in text.split([' ', ',', '.', ';', ':', ')', '\n']).filter(|word| !word.is_empty()) {
        match word.parse() {
            Ok(number) => numbers.push(number),
            Err(_) if matches!(word, "and" | "&" | "ו") => {}
            Err(_) => break,
        }
    }
    numbers
}

/// Adds the order that follows from what steps say: "then …" comes after the step before, and a step that speaks of "the
/// results" or of "them" comes after the nearest earlier one that finds something.
pub fn infer_order(steps: &mut [PlannedStep], finds_data: impl Fn(&PlannedStep) -> bool) {
    let finders: Vec<bool> = steps.iter().map(finds_data).collect();
    let count = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    for (at, step) in steps.iter_mut().enumerate() {
        let named = steps_named_as_before(&step.instruction);
        step.after.extend(named.into_iter().filter(|number| *number != step.step_number && *number <= count));
        if at > 0 && starts_afterwards(&step.instruction) {
            step.after.push(step.step_number - 1);
        }
        if step.after.is_empty() && refers_to_results(&step.instruction) {
            let finder = finders.iter().take(at).rposition(|finds| *finds);
            step.after.extend(finder.and_then(|place| u32::try_from(place + 1).ok()));
        }
        step.after.sort_unstable();
        step.after.dedup();
    }
    let order: Vec<(u32, Vec<u32>)> = steps.iter().map(|step| (step.step_number, step.after.clone())).collect();
    if check_order(&order).is_err() {
        // Steps that wait for each other are done in the order in which they are written.
        steps.iter_mut().for_each(|step| step.after.retain(|before| *before < step.step_number));
    }
}

fn starts_afterwards(text: &str) -> bool {
    let lower = text.trim_start().to_lowercase();
    [
        "then ",
        "and then ",
        "after that",
        "afterwards",
        "finally ",
        "next, ",
        "ואז ",
        "אז ",
        "אחר כך",
        "לאחר מכן",
        "לבסוף",
    ]
    .iter()
    .any(|opening| lower.starts_with(opening))
}

/// Returns whether a text speaks of what another step finds.
fn refers_to_results(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word,
            "them"
                | "it"
                | "these"
                | "those"
                | "result"
                | "results"
                | "summary"
                | "list"
                | "findings"
                | "total"
                | "above"
                | "אותם"
                | "אותן"
                | "אותו"
                | "אותה"
                | "סיכום"
                | "התוצאות"
                | "הרשימה"
                | "רשימה"
                | "הסיכום"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_named_come_before() {
        for (text, numbers) in [
            ("send it after step 2", &[2][..]),
            ("use the results of steps 1 and 3, please", &[1, 3]),
            ("After steps 1, 2 and 4: pay", &[1, 2, 4]),
            ("step by step", &[]),
            ("take one step after another", &[]),
            ("שלח אחרי שלב 2", &[2]),
        ] {
            assert_eq!(steps_named_as_before(text), numbers, "{text}");
        }
    }

    #[test]
    fn data_and_words_give_the_order() {
        let step = |number, text: &str| PlannedStep {
            step_number: number,
            instruction: text.into(),
            ..PlannedStep::default()
        };
        let mut steps = [
            step(1, "collect last month's invoices"),
            step(2, "draft a summary to Dana"),
            step(3, "remind me Friday"),
            step(4, "then call Ann"),
            step(5, "file the results of step 1"),
        ];
        infer_order(&mut steps, |step| step.instruction.starts_with("collect"));
        let after: Vec<&[u32]> = steps.iter().map(|step| &*step.after).collect();
        assert_eq!(after, [&[][..], &[1], &[], &[3], &[1]]);
    }

    #[test]
    fn a_step_may_wait_for_a_later_one_unless_that_waits_for_it() {
        let step = |number, text: &str| PlannedStep {
            step_number: number,
            instruction: text.into(),
            ..PlannedStep::default()
        };
        let after = |texts: [&str; 2]| {
            let mut steps = [step(1, texts[0]), step(2, texts[1])];
            infer_order(&mut steps, |_| false);
            steps.map(|step| step.after)
        };
        assert_eq!(after(["pay after step 2", "call Ann"]), [vec![2], vec![]]);
        assert_eq!(after(["pay after step 2", "call Ann after step 1"]), [vec![], vec![1]]);
        assert_eq!(after(["pay after step 7", "call Ann"]), [Vec::<u32>::new(), Vec::new()]);
    }

    #[test]
    fn a_circle_is_found() {
        assert_eq!(check_order(&[(1, vec![]), (2, vec![1]), (3, vec![1, 2])]), Ok(()));
        assert_eq!(check_order(&[(1, vec![3]), (2, vec![1]), (3, vec![2])]), Err(CircularSteps));
        assert_eq!(check_order(&[(1, vec![1])]), Err(CircularSteps));
    }

    #[test]
    fn a_step_is_ready_when_all_before_it_have_ended() {
        let graph = StepGraph::new([(1, vec![]), (2, vec![]), (3, vec![1, 2])]);
        assert!(graph.is_ready(1, |_| false));
        assert!(!graph.is_ready(3, |number| number == 1));
        assert!(graph.is_ready(3, |_| true));
    }
}
