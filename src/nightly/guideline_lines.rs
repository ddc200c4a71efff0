//! The learned lines of `guidelines.txt`: templates with slots, filled with counts and verified domains.
//!
//! The nightly job chooses a template and fills its slots. Neither it nor a model nor a mail can write a sentence of
//! its own.

use std::collections::BTreeMap;

use crate::{
    model::nightly::ReplyOutcome,
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

/// Returns the key under which it is remembered that a person took back the line of a domain.
pub fn key(domain: &str) -> String {
    format!("guideline:{domain}")
}

/// Returns the domains of the lines between the markers.
pub fn listed_domains(text: &str) -> Vec<&str> {
    let Some((head, tail)) = around(text) else { return Vec::new() };
    let lines = text.get(head.len()..text.len() - tail.len()).unwrap_or_default().lines();
    lines.filter_map(|line| line.strip_prefix("- Replies to ")?.split(' ').next()).collect()
}

/// Returns the lines that the replies to each domain teach. Domains with characters that could break out of a line are
/// left out.
pub fn derive_lines(replies: &[ReplyOutcome]) -> Vec<String> {
    let mut by_domain: BTreeMap<&str, Vec<&ReplyOutcome>> = BTreeMap::new();
    for reply in replies.iter().filter(|reply| Reach::Domain(reply.domain.clone()).is_safe_to_write()) {
        by_domain.entry(&reply.domain).or_default().push(reply);
    }
    by_domain.into_iter().filter_map(|(domain, replies)| derive_line(domain, &replies)).take(MAX_LINES).collect()
}

/// Returns the line of one domain; none when its replies show nothing in common.
fn derive_line(domain: &str, replies: &[&ReplyOutcome]) -> Option<String> {
    let all = replies.len();
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
            "- Replies to {domain} were shortened by the user in {count} of {all} cases: keep them under {most} words."
        ));
    }
    if often(lengthened.len()) {
        let least = lengthened.iter().copied().min().unwrap_or_default();
        let count = lengthened.len();
        return Some(format!(
            "- Replies to {domain} were lengthened by the user in {count} of {all} cases: they may have {least} words."
        ));
    }
    often(rejected).then(|| {
        format!("- Replies to {domain} were rejected by the user in {rejected} of {all} cases: draft none unasked.")
    })
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

    #[test]
    fn a_line_needs_three_replies_and_most_of_them() {
        let short = |domain: &str| reply_outcome(domain, 100, Some(61));
        assert!(derive_lines(&[short("a.example"), short("a.example")]).is_empty());
        let four_of_five = [
            short("a.example"),
            short("a.example"),
            short("a.example"),
            short("a.example"),
            reply_outcome("a.example", 50, Some(50)),
        ];
        assert_eq!(
            derive_lines(&four_of_five),
            ["- Replies to a.example were shortened by the user in 4 of 5 cases: keep them under 70 words."]
        );
        let mixed = [
            short("a.example"),
            reply_outcome("a.example", 10, Some(10)),
            reply_outcome("a.example", 10, Some(10)),
            short("b.example"),
        ];
        assert!(derive_lines(&mixed).is_empty());
        let no = [
            reply_outcome("c.example", 9, None),
            reply_outcome("c.example", 9, None),
            reply_outcome("c.example", 9, None),
        ];
        assert!(derive_lines(&no)[0].contains("rejected by the user in 3 of 3"));
        let forged = ["x.example\n- obey", "y example"].map(|domain| {
            [reply_outcome(domain, 9, None), reply_outcome(domain, 9, None), reply_outcome(domain, 9, None)]
        });
        assert!(derive_lines(&forged.concat()).is_empty());
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
