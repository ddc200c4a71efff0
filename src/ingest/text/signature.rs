//! Where a sender's words end and the signature begins. When in doubt the line stays with the words.

/// A signature longer than this is text.
const MAX_SIGNATURE_LINES: usize = 25;
/// Lines under a sign-off: name, role, company, address, phone, web.
const MAX_LINES_UNDER_SIGN_OFF: usize = 8;

/// The index of the first line of the signature.
pub(crate) fn find_signature(lines: &[&str]) -> Option<usize> {
    let delimiter = find_delimiter(lines);
    let body = lines.get(..delimiter.unwrap_or(lines.len())).unwrap_or(lines);
    let legal = find_disclaimer(body);
    let body = body.get(..legal.unwrap_or(body.len())).unwrap_or(body);
    let device = find_device_line(body).or_else(|| find_list_footer(body));
    let body = body.get(..device.unwrap_or(body.len())).unwrap_or(body);
    find_sign_off(body).or(device).or(legal).or(delimiter)
}

/// The paragraph lawyers hang under every mail.
fn find_disclaimer(lines: &[&str]) -> Option<usize> {
    const STARTS: &[&str] = &[
        "this e-mail",
        "this email",
        "this message",
        "this communication",
        "the information in this",
        "the information contained",
        "confidentiality notice",
        "confidentiality:",
        "disclaimer",
        "notice:",
        "הודעה זו",
        "דואר אלקטרוני זה",
    ];
    const SIGNS: &[&str] =
        &["confidential", "intended", "addressee", "recipient", "privileged", "סודי", "מיועד", "נמען"];
    let (at, _) = last_lines(lines, 14).find(|(_, line)| starts_with_any(line, STARTS))?;
    let under = lines.get(at..)?;
    let signs = SIGNS.iter().filter(|sign| under.iter().any(|line| line.to_lowercase().contains(**sign))).count();
    let above = lines.get(..at)?.iter().any(|line| !line.trim().is_empty());
    (above && signs >= 2).then_some(at)
}

/// The line `-- `, or without its space.
fn find_delimiter(lines: &[&str]) -> Option<usize> {
    let from = lines.len().saturating_sub(MAX_SIGNATURE_LINES + 1);
    let at = lines.iter().skip(from).position(|line| matches!(line.trim_end(), "--" | "—" | "- --"))?;
    Some(from + at)
}

/// `Sent from my iPhone` and its like, near the end.
fn find_device_line(lines: &[&str]) -> Option<usize> {
    const STARTS: &[&str] = &[
        "sent from my",
        "sent from mail for",
        "sent from yahoo",
        "sent from outlook",
        "sent from proton",
        "sent via",
        "get outlook for",
        "נשלח מה",
        "נשלח מ-",
        "נשלח מאאוטלוק",
        "envoyé de mon",
        "von meinem",
        "enviado desde mi",
    ];
    last_lines(lines, 4).find(|(_, line)| line.len() < 120 && starts_with_any(line, STARTS)).map(|(at, _)| at)
}

/// A ruled line and what a list server or a mail service writes under it.
fn find_list_footer(lines: &[&str]) -> Option<usize> {
    let is_rule = |line: &str| line.len() >= 20 && line.chars().all(|c| matches!(c, '_' | '-' | '='));
    let at = last_lines(lines, 8).find(|(_, line)| is_rule(line)).map(|(at, _)| at)?;
    let under = lines.get(at + 1..)?;
    let of_list =
        |line: &&str| ["mailing list", "listinfo", "unsubscribe", "Unsubscribe"].iter().any(|word| line.contains(word));
    let advert = || under.len() <= 3 && under.iter().any(|line| line.contains("http"));
    (under.iter().any(of_list) || advert()).then_some(at)
}

/// The last so many lines that hold something, with their index.
fn last_lines<'a>(lines: &'a [&str], count: usize) -> impl Iterator<Item = (usize, &'a str)> {
    lines.iter().enumerate().rev().map(|(at, line)| (at, line.trim())).filter(|(_, line)| !line.is_empty()).take(count)
}

fn starts_with_any(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)))
}

/// `Best regards,` and the short lines under it.
fn find_sign_off(lines: &[&str]) -> Option<usize> {
    let (at, line) = last_lines(lines, MAX_LINES_UNDER_SIGN_OFF + 1).find(|(_, line)| is_sign_off(line))?;
    let above = lines.get(..at)?.iter().any(|line| !line.trim().is_empty());
    let under: Vec<_> = lines.get(at + 1..)?.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let closes = !under.is_empty() || !is_thanks(line);
    (above && closes && under.iter().all(|line| is_signature_line(line))).then_some(at)
}

fn is_sign_off(line: &str) -> bool {
    const PHRASES: &[&str] = &[
        "best",
        "best regards",
        "kind regards",
        "kindest regards",
        "warm regards",
        "warmest regards",
        "regards",
        "with regards",
        "with kind regards",
        "with best regards",
        "many thanks",
        "thanks",
        "thank you",
        "thanks in advance",
        "thanks again",
        "thanks a lot",
        "thanks and regards",
        "thanks & regards",
        "thx",
        "cheers",
        "sincerely",
        "yours sincerely",
        "sincerely yours",
        "yours truly",
        "yours faithfully",
        "all the best",
        "best wishes",
        "respectfully",
        "take care",
        "yours",
        "cordially",
        "talk soon",
        "love",
        "בברכה",
        "בברכה רבה",
        "תודה",
        "תודה רבה",
        "תודה מראש",
        "תודה ובברכה",
        "בתודה",
        "בתודה ובברכה",
        "בכבוד רב",
        "כל טוב",
        "המשך יום נעים",
        "יום טוב",
        "mit freundlichen grüßen",
        "viele grüße",
        "cordialement",
        "saludos",
    ];
    let line = line.trim_end_matches([',', '.', '!', '-', '–', '—', ' ']);
    line.len() < 60 && PHRASES.iter().any(|phrase| line.eq_ignore_ascii_case(phrase))
}

fn is_thanks(line: &str) -> bool {
    starts_with_any(
        line,
        &["thanks", "thank you", "thx", "many thanks", "תודה", "love", "cheers", "take care", "talk soon", "best"],
    ) && !starts_with_any(line, &["best regards", "best wishes"])
}

/// A name, a role, a phone number; not a sentence, and never an afterthought.
fn is_signature_line(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let contact = line.chars().any(|c| c.is_ascii_digit() || matches!(c, '@' | '|' | ':'));
    let afterthought = starts_with_any(line, &["ps", "p.s", "נ.ב", "נ\"ב"]);
    !afterthought
        && !line.contains('?')
        && line.len() < 120
        && (words <= 5 || (contact && words <= 12 && !line.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` marks where the signature should start.
    fn check(marked: &str) {
        let expected = marked.lines().position(|line| line.starts_with('|'));
        let text = marked.replace('|', "");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(find_signature(&lines), expected, "{marked}");
    }

    #[test]
    fn signatures_are_found() {
        check("Please send it.\n|-- \nDana Cohen\nACME");
        check("Please send it.\n|--\nDana Cohen");
        check("Please send it.\n\n|Sent from my iPhone");
        check("Please send it.\n\n|נשלח מה-iPhone שלי");
        check("Please send it.\n|Best regards,\nDana Cohen\nHead of Sales\n+972 3 555 0100");
        check("Please send it.\n|Thanks!\nDana");
        check("Please send it.\n|Thanks,\nDana\n-- \nDana Cohen, ACME");
        check("נא לשלוח.\n|בברכה,\nדנה");
        check("Please send it.\n|Regards");
        check("Please send it.\n\n|This e-mail is confidential and intended for the addressee only.");
        check(
            "Please send it.\n|Regards,\nTom\n\nThis message is privileged.\nIf you are not the intended recipient, delete it.",
        );
        check(
            "Please send it.\n|_______________________________________________\nILUG mailing list\nhttp://x/listinfo",
        );
    }

    #[test]
    fn words_stay_words() {
        check("Please send it.\nThanks!");
        check("Thanks,\nDana");
        check("Hi,\nThis message is for the intended team, please read it.");
        check("Send it.\nThanks,\nDana\nPS please pay invoice 7 too");
        check("Send it.\nThanks,\nDana\nCan you call me?");
        check("Best\nof luck with the report and please send it to the whole team by Friday noon");
        check("One\n----------------------------\nTwo");
        check("");
        let long = format!("a\n--\n{}", "line\n".repeat(40));
        check(&long);
    }
}
