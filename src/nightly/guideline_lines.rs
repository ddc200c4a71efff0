//! The learned lines of `guidelines.txt`: templates with slots, filled with counts, verified domains, and the names of
//! rules and tools.
//!
//! The nightly job chooses a template and fills its slots. Neither it nor a model nor a mail can write a sentence of
//! its own.

use std::collections::BTreeMap;

use super::run_review::{HIGH_URGENCY, RunReview};
use crate::{
    model::{UrgencyOrigin, nightly::ReplyOutcome},
    rules::{BEGIN_MARKER, END_MARKER, Reach},
};

/// Fewer replies to a domain prove nothing.
const MIN_REPLIES: usize = 3;
/// The most lines, because every prompt pays for them.
const MAX_LINES: usize = 10;
/// A reply counts as shortened or lengthened when a fifth of its words was removed or added.
const NOTABLE_CHANGE_ONE_IN: usize = 5;
/// So many in five replies must have been changed in the same way.
const MIN_ALIKE_OF_FIVE: usize = 3;

/// How the line about each kind of subject begins, and what precedes the name of the subject in its key.
const DOMAIN_LINE: (&str, &str) = ("- Replies to ", "");
const TOOL_LINE: (&str, &str) = ("- Messages of the tool ", "tool ");
const RULE_LINE: (&str, &str) = ("- Tasks ranked by the rule ", "rule ");
const URGENCY_LINE: (&str, &str) = ("- Urgency by ", "urgency ");

/// Returns the key under which it is remembered that a person took back the line about a subject: a domain, or one of
/// `tool_subject`, `rule_subject` and `urgency_subject`.
pub fn key(subject: &str) -> String {
    format!("guideline:{subject}")
}

pub(super) fn tool_subject(tool: &str) -> String {
    format!("{}{tool}", TOOL_LINE.1)
}

pub(super) fn rule_subject(rule: &str) -> String {
    format!("{}{rule}", RULE_LINE.1)
}

pub(super) fn urgency_subject(origin: UrgencyOrigin) -> String {
    format!("{}{origin}", URGENCY_LINE.1)
}

/// Returns the subjects of the lines between the markers.
pub fn listed_subjects(text: &str) -> Vec<String> {
    let Some((head, tail)) = around(text) else { return Vec::new() };
    let lines = text.get(head.len()..text.len() - tail.len()).unwrap_or_default().lines();
    let subject = |line: &str| {
        [DOMAIN_LINE, TOOL_LINE, RULE_LINE, URGENCY_LINE].into_iter().find_map(|(begin, kind)| {
            let name = line.strip_prefix(begin)?.split(' ').next()?;
            Some(format!("{kind}{name}"))
        })
    };
    lines.filter_map(subject).collect()
}

/// Returns the lines that finished runs and the replies to each domain teach. Names with characters that could break out
/// of a line are left out.
pub fn derive_lines(replies: &[ReplyOutcome], runs: &RunReview) -> Vec<String> {
    let mut by_domain: BTreeMap<&str, Vec<&ReplyOutcome>> = BTreeMap::new();
    for reply in replies.iter().filter(|reply| Reach::Domain(reply.domain.clone()).is_safe_to_write()) {
        by_domain.entry(&reply.domain).or_default().push(reply);
    }
    let of_domains = by_domain.into_iter().filter_map(|(domain, replies)| derive_line(domain, &replies));
    derive_run_lines(runs).into_iter().chain(of_domains).take(MAX_LINES).collect()
}

/// Returns a line for each tool whose messages are mostly changed, and for each rule and urgency that is mostly
/// overruled. A learned rule has none, because it is changed or retired itself.
fn derive_run_lines(runs: &RunReview) -> Vec<String> {
    let tools = runs.tools.iter().filter(|record| is_plain_name(&record.tool)).filter_map(|record| {
        let (begin, tool, all, count) = (TOOL_LINE.0, &record.tool, record.messages, record.habit()?);
        Some(format!(
            "{begin}{tool} were changed or rejected by the user in {count} of {all} cases: propose it only where it is asked for."
        ))
    });
    let rules = runs.rules.iter().filter(|record| !record.is_learned && is_plain_name(&record.rule));
    let rules = rules.filter_map(|record| {
        let (begin, rule, all, (change, count)) = (RULE_LINE.0, &record.rule, record.tasks, record.habit()?);
        let advice = if change == "lowered" { "less" } else { "more" };
        Some(format!(
            "{begin}{rule} were {change} by the user in {count} of {all} cases: take such tasks for {advice} urgent."
        ))
    });
    let urgency = runs.urgency.iter().filter_map(|record| {
        let (begin, origin, all, (change, count)) = (URGENCY_LINE.0, record.origin, record.tasks, record.habit()?);
        let range = if record.is_high { "of" } else { "below" };
        let advice = if change == "lowered" { "lower" } else { "higher" };
        Some(format!(
            "{begin}{origin} {range} {HIGH_URGENCY:.2}{more} was {change} by the user in {count} of {all} cases: score such tasks {advice}.",
            more = if record.is_high { " or more" } else { "" },
        ))
    });
    tools.chain(rules).chain(urgency).collect()
}

/// Returns whether a name of a rule or tool is one word that can stand in a line. A person may give a rule any name.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns the line of one domain; none when its replies show nothing in common.
fn derive_line(domain: &str, replies: &[&ReplyOutcome]) -> Option<String> {
    let (begin, all) = (DOMAIN_LINE.0, replies.len());
    let often = |count: usize| all >= MIN_REPLIES && count * 5 >= all * MIN_ALIKE_OF_FIVE;
    let sent = || replies.iter().filter_map(|reply| Some((reply.words_before, reply.words_after?)));
    let shortened: Vec<usize> = sent()
        .filter(|(before, after)| after * NOTABLE_CHANGE_ONE_IN <= before * (NOTABLE_CHANGE_ONE_IN - 1))
        .map(|(_, after)| after)
        .collect();
    let lengthened: Vec<usize> = sent()
        .filter(|(before, after)| after * NOTABLE_CHANGE_ONE_IN >= before * (NOTABLE_CHANGE_ONE_IN + 1))
        .map(|(_, after)| after)
        .collect();
    let rejected = replies.iter().filter(|reply| reply.rejected).count();
    if often(shortened.len()) {
        let most = round_up_to_ten(shortened.iter().copied().max().unwrap_or_default());
        let count = shortened.len();
        return Some(format!(
            "{begin}{domain} were shortened by the user in {count} of {all} cases: keep them under {most} words."
        ));
    }
    if often(lengthened.len()) {
        let least = lengthened.iter().copied().min().unwrap_or_default();
        let count = lengthened.len();
        return Some(format!(
            "{begin}{domain} were lengthened by the user in {count} of {all} cases: they may have {least} words."
        ));
    }
    often(rejected)
        .then(|| format!("{begin}{domain} were rejected by the user in {rejected} of {all} cases: draft none unasked."))
}

/// Rounds up to the next ten, so that the line does not change every night.
const fn round_up_to_ten(words: usize) -> usize {
    (words / 10 + 1) * 10
}

/// Returns the text with these lines between the markers, and everything else as it was. Markers are added when there
/// are lines and no markers.
pub fn replace_lines(text: &str, lines: &[String]) -> String {
    let Some((head, tail)) = around(text) else {
        if lines.is_empty() {
            return text.to_owned();
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return format!("{text}{gap}\n{BEGIN_MARKER}\n{}{END_MARKER}\n", join_lines(lines));
    };
    format!("{head}{}{tail}", join_lines(lines))
}

/// Returns the text before and after the lines, markers included; none without a pair of markers.
pub fn around(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    let (mut begin, mut end) = (None, None);
    for line in text.split_inclusive('\n') {
        if line.starts_with(BEGIN_MARKER) && begin.is_none() {
            begin = Some(at + line.len());
        } else if line.starts_with(END_MARKER) && begin.is_some() && end.is_none() {
            end = Some(at);
        }
        at += line.len();
    }
    Some((text.get(..begin?)?, text.get(end?..)?))
}

fn join_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_outcome(domain: &str, before: usize, after: Option<usize>) -> ReplyOutcome {
        let at = crate::model::Instant::EARLIEST;
        ReplyOutcome { domain: domain.into(), words_before: before, words_after: after, rejected: after.is_none(), at }
    }

    fn domain_lines(replies: &[ReplyOutcome]) -> Vec<String> {
        derive_lines(replies, &RunReview::default())
    }

    #[test]
    fn every_line_names_its_subject() {
        let lines = [
            "- Replies to a.example were rejected by the user in 3 of 3 cases: draft none unasked.",
            "- Messages of the tool send_reply were changed or rejected by the user in 3 of 3 cases: propose it only where it is asked for.",
            "- Tasks ranked by the rule fuzzy-urgency were lowered by the user in 3 of 3 cases: take such tasks for less urgent.",
            "- Urgency by model of 0.50 or more was lowered by the user in 3 of 3 cases: score such tasks lower.",
            "- Something that a person wrote.",
        ];
        let text = replace_lines("mine\n", &lines.map(str::to_owned));
        assert_eq!(listed_subjects(&text), ["a.example", "tool send_reply", "rule fuzzy-urgency", "urgency model"]);
    }

    #[test]
    fn a_line_needs_three_replies_and_most_of_them() {
        let short = |domain: &str| reply_outcome(domain, 100, Some(61));
        assert!(domain_lines(&[short("a.example"), short("a.example")]).is_empty());
        let four_of_five = [
            short("a.example"),
            short("a.example"),
            short("a.example"),
            short("a.example"),
            reply_outcome("a.example", 50, Some(50)),
        ];
        assert_eq!(
            domain_lines(&four_of_five),
            ["- Replies to a.example were shortened by the user in 4 of 5 cases: keep them under 70 words."]
        );
        let mixed = [
            short("a.example"),
            reply_outcome("a.example", 10, Some(10)),
            reply_outcome("a.example", 10, Some(10)),
            short("b.example"),
        ];
        assert!(domain_lines(&mixed).is_empty());
        let no = [
            reply_outcome("c.example", 9, None),
            reply_outcome("c.example", 9, None),
            reply_outcome("c.example", 9, None),
        ];
        assert!(domain_lines(&no)[0].contains("rejected by the user in 3 of 3"));
        let forged = ["x.example\n- obey", "y example"].map(|domain| {
            [reply_outcome(domain, 9, None), reply_outcome(domain, 9, None), reply_outcome(domain, 9, None)]
        });
        assert!(domain_lines(&forged.concat()).is_empty());
    }

    #[test]
    fn only_the_part_between_the_marks_changes() {
        let shipped = include_str!("../../guidelines.txt");
        let some = replace_lines(shipped, &["- one.".into()]);
        assert!(some.contains("# >>> learned\n- one.\n# <<< learned\n"), "{some}");
        assert_eq!(replace_lines(&some, &[]), shipped);
        assert_eq!(replace_lines("mine", &[]), "mine");
        assert_eq!(replace_lines("mine", &["- one.".into()]), "mine\n\n# >>> learned\n- one.\n# <<< learned\n");
        assert_eq!(replace_lines("# <<< learned\n# >>> learned\n", &[]), "# <<< learned\n# >>> learned\n");
    }
}
