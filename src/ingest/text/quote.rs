//! Which lines of a body the sender wrote, which were quoted, and which were forwarded.
//!
//! A forward carries its content; a reply carries only its own words, also those between quotes.

/// A header block or attribution is looked for in so many lines from its first.
const HEADER_BLOCK_LINES: usize = 7;
const ATTRIBUTION_LINES: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct SplitBody<'a> {
    pub(crate) own: Vec<&'a str>,
    /// From the forward's marker on.
    pub(crate) forwarded: Vec<&'a str>,
}

pub(crate) fn split_quotes<'a>(lines: &[&'a str], subject: &str) -> SplitBody<'a> {
    let forward = is_forward_subject(subject);
    let mut split = SplitBody::default();
    // Whether a line of their own that holds something was seen. Asked at every header block, so kept and not counted.
    let mut spoken = false;
    let mut answered = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let text = line.trim();
        if is_forward_marker(text) || (!answered && is_forward_marker(strip_quote_marks(text))) {
            split.forwarded = rest.to_vec();
            break;
        }
        if starts_earlier_mail(rest) {
            // Answers below a marked quote are the reply's own, whatever stands above the quote.
            if let Some(len) = rest.iter().take(HEADER_BLOCK_LINES * 2).position(|line| is_quoted(line))
                && !forward
                && !spoken
            {
                answered = true;
                at += len;
                continue;
            }
            // With nothing above it, it is not a reply but something handed on.
            if forward || !spoken {
                split.forwarded = rest.to_vec();
            }
            break;
        }
        if let Some(len) = attribution_len(rest) {
            let below = rest.get(len..).unwrap_or_default();
            if !below.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| is_quoted(line)) {
                if forward || !spoken {
                    split.forwarded = below.to_vec();
                }
                break;
            }
            answered = true;
            at += len;
            continue;
        }
        if !is_quoted(line) {
            spoken |= !text.is_empty();
            split.own.push(line);
        }
        at += 1;
    }
    // Quote marks and nothing else: the sender's way of setting text apart.
    if !answered && !spoken && split.forwarded.is_empty() {
        split.own = lines.to_vec();
    }
    split
}

/// What is not the sender's own: marked lines, and everything below an attribution or an earlier mail's header.
pub(crate) fn quoted_lines<'a>(lines: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let earlier =
        |at: &usize| lines.get(*at..).is_some_and(|rest| starts_earlier_mail(rest) || attribution_len(rest).is_some());
    let below = (0..lines.len()).find(earlier).unwrap_or(lines.len());
    lines
        .iter()
        .enumerate()
        .filter(move |(at, line)| *at >= below || is_quoted(line))
        .map(|(_, line)| strip_quote_marks(line.trim()))
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

fn strip_quote_marks(text: &str) -> &str {
    text.trim_start_matches(['>', ' '])
}

pub(crate) fn is_forward_subject(subject: &str) -> bool {
    let subject = subject.trim_start_matches(['[', ' ']);
    ["fw:", "fwd:", "הועבר:", "העברה:", "wg:", "tr:"]
        .iter()
        .any(|start| subject.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)))
}

/// `---------- Forwarded message ---------`, `Begin forwarded message:`.
fn is_forward_marker(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "forwarded message",
        "forwarded by",
        "הודעה שהועברה",
        "הודעה מועברת",
        "weitergeleitete nachricht",
        "message transféré",
    ];
    const LINES: &[&str] =
        &["begin forwarded message:", "start of forwarded message", "תחילת ההודעה שהועברה:", "תחילת הודעה מועברת:"];
    text_inside_rule(text).is_some_and(|inner| starts_with_any(inner, WORDS))
        || LINES.iter().any(|line| same(text, line))
}

/// The words inside a ruled line, `-----Original Message-----`.
fn text_inside_rule(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("--").or_else(|| text.strip_prefix("__"))?;
    let inner = inner.trim_matches(['-', '_', ' ', '\u{a0}']);
    (!inner.is_empty() && inner.len() < 80).then_some(inner)
}

fn starts_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.get(..word.len()).is_some_and(|start| same(start, word)))
}

fn same(text: &str, word: &str) -> bool {
    text.eq_ignore_ascii_case(word)
}

/// A ruled line or a header block under which an earlier mail stands as it was.
fn starts_earlier_mail(lines: &[&str]) -> bool {
    const WORDS: &[&str] = &[
        "original message",
        "original appointment",
        "reply message",
        "הודעה מקורית",
        "ursprüngliche nachricht",
        "message d'origine",
        "mensaje original",
    ];
    let Some(first) = lines.first().map(|line| line.trim()) else { return false };
    match first.chars().next() {
        Some('-' | '_') => {
            let rule = first.len() >= 20 && first.chars().all(|c| c == '_' || c == '-');
            text_inside_rule(first).is_some_and(|inner| starts_with_any(inner, WORDS))
                || (rule && is_rule_before_header_block(lines))
        }
        Some('F' | 'f' | 'מ' | 'V' | 'D' | '*') => is_header_block(lines),
        _ => false,
    }
}

fn is_rule_before_header_block(lines: &[&str]) -> bool {
    let below = lines.iter().take(4).skip(1).position(|line| !line.trim().is_empty());
    below.and_then(|at| lines.get(at + 1..)).is_some_and(is_header_block)
}

/// `From:`, `Sent:`, `To:`, `Subject:` as Outlook writes them, on lines of their own or run together.
fn is_header_block(lines: &[&str]) -> bool {
    const FROM: &[&str] = &["From:", "מאת:", "Von:", "De:"];
    const OTHERS: &[&str] = &[
        "Sent:",
        "Date:",
        "To:",
        "Subject:",
        "Cc:",
        "נשלח:",
        "תאריך:",
        "אל:",
        "נושא:",
        "עותק:",
        "Gesendet:",
        "An:",
        "Betreff:",
        "Envoyé:",
        "À:",
        "Objet:",
    ];
    let bare = |line: &str| line.trim().trim_start_matches('*').replacen(":*", ":", 1);
    let Some(first) = lines.first().map(|line| bare(line)) else { return false };
    if !starts_with_any(&first, FROM) {
        return false;
    }
    let below =
        lines.iter().take(HEADER_BLOCK_LINES).skip(1).filter(|line| starts_with_any(&bare(line), OTHERS)).count();
    let inside = OTHERS.iter().filter(|word| first.contains(&format!(" {word}"))).count();
    below >= 2 || (inside >= 2 && first.len() < 600)
}

/// The number of lines of an `On … wrote:`, when one starts here.
fn attribution_len(lines: &[&str]) -> Option<usize> {
    let first = unless_quoted(lines.first()?.trim())?;
    if first.starts_with("On ")
        || first.starts_with("Am ")
        || first.starts_with("Le ")
        || first.starts_with("בתאריך")
        || first.starts_with("ב-")
        || first.starts_with("ביום")
    {
        let mut joined = String::new();
        for (count, line) in lines.iter().take(ATTRIBUTION_LINES).enumerate() {
            let line = line.trim();
            if line.is_empty() || joined.len() > 500 {
                return None;
            }
            joined.push(' ');
            joined.push_str(line);
            if line.ends_with(':') {
                return is_attribution(joined.trim()).then_some(count + 1);
            }
        }
        return None;
    }
    // `Dana <d@x.example> wrote:` counts only right above a quote. The lines below are looked at last: from an empty line
    // the next that holds something may be far away.
    let quoted_below = || lines.iter().skip(1).find(|line| !line.trim().is_empty()).is_some_and(|line| is_quoted(line));
    (first.ends_with(':') && (ends_with_wrote(first) || is_dated(first)) && quoted_below()).then_some(1)
}

/// Quoted attributions belong to the quote.
fn unless_quoted(text: &str) -> Option<&str> {
    (!text.starts_with('>')).then_some(text)
}

fn is_attribution(text: &str) -> bool {
    let evidence = text.contains('@') || text.chars().any(|c| c.is_ascii_digit());
    evidence
        && (ends_with_wrote(text) || (text.starts_with("בתאריך") && text.ends_with(">:")) || text.ends_with("schrieb:"))
        || (evidence && text.starts_with("Am ") && text.contains(" schrieb "))
}

fn ends_with_wrote(text: &str) -> bool {
    const WROTE: &[&str] = &["wrote", "writes", "a écrit", "כתב", "כתבה", "כתב/ה", "כתב\\ה", "כתבו", "schrieb", "said"];
    let text = text.trim_end_matches([':', ' ', '\u{a0}']);
    WROTE.iter().any(|word| text.ends_with(word))
}

/// `2025-03-01 10:00 GMT+02:00 Dana <d@x.example>:`.
fn is_dated(text: &str) -> bool {
    text.starts_with("20") && text.ends_with(">:") && text.len() < 200
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(subject: &str, body: &str, own: &str, forwarded: &str) {
        let lines: Vec<_> = body.lines().collect();
        let split = split_quotes(&lines, subject);
        assert_eq!(split.own.join("\n").trim(), own, "own of {body:?}");
        assert_eq!(split.forwarded.join("\n").trim(), forwarded, "forwarded of {body:?}");
    }

    #[test]
    fn replies_keep_their_own_words() {
        for body in [
            "Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Dana <d@x.example> wrote:\n> Can you?\n> Thanks",
            "Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Dana Cohen of the long name\n<d@x.example> wrote:\n\n> Can you?",
            "Yes.\n\nOn 3/3/25, Dana wrote:\nCan you?\nThanks",
            "Yes.\n\n-----Original Message-----\nFrom: Dana\nCan you?",
            "Yes.\n\n________________________________\nFrom: Dana <d@x.example>\nSent: Monday\nTo: me\nSubject: x\n\nCan you?",
            "Yes.\nFrom: Dana [mailto:d@x.example] Sent: Monday To: me Subject: x\nCan you?",
            "Yes.\n*From:* Dana\n*Sent:* Monday\n*To:* me\n\nCan you?",
            "Yes.\nבתאריך יום ב׳, 3 במרץ 2025 ב-10:00 מאת דנה <d@x.example>:\n> אפשר?",
            "Yes.\nב-3 במרץ 2025, דנה <d@x.example> כתב/ה:\n\nאפשר?",
            "Yes.\nמאת: דנה\nנשלח: יום שני\nאל: אבי\nנושא: x\n\nאפשר?",
            "Yes.\n---- הודעה מקורית ----\nאפשר?",
            "> Can you?\nYes.",
            "----- Original Message -----\nFrom: Dana\n\n> Can you?\nYes.",
            "Dana wrote:\n> Can you?\n\nYes.",
        ] {
            check("Re: x", body, "Yes.", "");
        }
    }

    #[test]
    fn inline_answers_are_kept() {
        check(
            "Re: x",
            "Hi,\nOn 3 Mar 2025 Dana wrote:\n> When?\nFriday.\n> Where?\nHere.\n",
            "Hi,\nFriday.\nHere.",
            "",
        );
    }

    #[test]
    fn forwards_keep_their_content() {
        let gmail = "---------- Forwarded message ---------\nFrom: Dana <d@x.example>\nDate: Mon\nSubject: x\nTo: me\n\nPay this.";
        check("Fwd: x", &format!("Please handle.\n\n{gmail}"), "Please handle.", gmail);
        check("x", &format!("Please handle.\n\n{gmail}"), "Please handle.", gmail);
        let outlook = "From: Dana\nSent: Monday\nTo: me\nSubject: x\n\nPay this.";
        check("FW: x", &format!("See below\n{outlook}"), "See below", outlook);
        check("x", outlook, "", outlook);
        let apple = "> Begin forwarded message:\n> \n> From: Dana\n> Pay this.";
        check("Fwd: x", &format!("FYI\n\n{apple}"), "FYI", apple);
    }

    #[test]
    fn prose_is_not_mistaken() {
        for body in [
            "On Monday we meet.\nPlease bring the report.",
            "From: the kitchen\nWith love",
            "He wrote:\n\nnothing new",
            "On my list:\n- milk",
            "> all of it quoted\n> for no reason",
            "-----\nPrice list\n-----",
            "",
        ] {
            check("x", body, body, "");
        }
    }

    #[test]
    fn a_quoted_forward_in_an_answer_is_a_quote() {
        check("Re: x", "Ok.\nOn 3/3 D wrote:\n> hi\n> ---------- Forwarded message ---------\n> x", "Ok.", "");
    }
}
