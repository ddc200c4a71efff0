//! Where a sender's words end and the signature begins. When in doubt the line stays with the words.

use super::{
    client_words::{Kind, WORDS},
    phrase_set::{Languages, fold},
    segment::starts_item,
};

/// A signature longer than this is text.
const MAX_SIGNATURE_LINES: usize = 25;
/// Lines under a sign-off: name, role, company, address, phone, web.
const MAX_LINES_UNDER_SIGN_OFF: usize = 12;
const MAX_SIGN_OFF_BYTES: usize = 120;
/// A line of a signature is shorter, and has fewer words; more where it is an address, and still more with a phone number.
const MAX_LINE_BYTES: usize = 120;
const MAX_LINE_WORDS: usize = 5;
const MAX_CONTACT_WORDS: usize = 12;
const MAX_PHONE_WORDS: usize = 16;
const MIN_PHONE_DIGITS: usize = 7;
/// Words of a name behind a sign-off.
const MAX_NAME_WORDS: usize = 4;

/// The index of the first line of the signature.
pub(super) fn find_signature(lines: &[&str]) -> Option<usize> {
    let delimiter = find_delimiter(lines);
    let body = lines.get(..delimiter.unwrap_or(lines.len())).unwrap_or(lines);
    find_sign_off(body).or(delimiter)
}

/// The line `-- `, or without its space.
fn find_delimiter(lines: &[&str]) -> Option<usize> {
    let from = lines.len().saturating_sub(MAX_SIGNATURE_LINES + 1);
    let at = lines.iter().skip(from).position(|line| matches!(line.trim_end(), "--" | "—" | "- --"))?;
    Some(from + at)
}

/// The last so many lines that hold something, with their index.
fn last_lines<'a>(lines: &'a [&str], count: usize) -> impl Iterator<Item = (usize, &'a str)> {
    lines.iter().enumerate().rev().map(|(at, line)| (at, line.trim())).filter(|(_, line)| !line.is_empty()).take(count)
}

/// `Best regards,` and the short lines under it.
fn find_sign_off(lines: &[&str]) -> Option<usize> {
    let mut last = last_lines(lines, MAX_LINES_UNDER_SIGN_OFF + 1);
    let (at, sign_off) = last.find_map(|(at, line)| Some((at, parse_sign_off(line)?)))?;
    let under: Vec<&str> = last_lines(lines.get(at + 1..)?, usize::MAX).map(|(_, line)| line).collect();
    let closes = sign_off.is_final || !under.is_empty();
    let is_signature = || under.iter().all(|line| is_signature_line(line, sign_off.languages)) && !is_list(&under);
    // "Best regards" may stand above "Your team".
    let higher = last.take_while(|(_, line)| parse_sign_off(line).is_some()).last().map_or(at, |(higher, _)| higher);
    let above = lines.get(..higher)?.iter().any(|line| !line.trim().is_empty());
    (above && closes && is_signature()).then_some(higher)
}

/// Things to do are often the last lines of a mail, and short.
fn is_list(lines: &[&str]) -> bool {
    lines.iter().filter(|line| starts_item(line)).count() > 1
}

struct SignOff {
    /// Nothing need stand under it: it is no mere thanks, or there is a name in it.
    is_final: bool,
    languages: Languages,
}

fn parse_sign_off(line: &str) -> Option<SignOff> {
    if line.len() > MAX_SIGN_OFF_BYTES {
        return None;
    }
    // Marks and pictures, but nothing that belongs to markup or lists.
    let is_mark = |c: char| " ,.!;:*_-~'\"".contains(c) || (!c.is_ascii() && !c.is_alphanumeric());
    let folded = fold(line);
    let said = folded.trim_matches(is_mark);
    for (kind, is_final) in [(Kind::SignOff, true), (Kind::Thanks, false)] {
        if let Some(languages) = WORDS.of(kind).find_whole(said) {
            return Some(SignOff { is_final, languages });
        }
    }
    [Kind::SignOff, Kind::Thanks].into_iter().find_map(|kind| {
        let start = WORDS.of(kind).find_start(said)?;
        let name = line.split_whitespace().skip(start.words);
        is_name(name, kind == Kind::Thanks).then_some(SignOff { is_final: true, languages: start.languages })
    })
}

/// Returns whether these words are a person's name. Scripts without capital letters do not show it, so that thanks in
/// them are taken to go on.
fn is_name<'a>(words: impl Iterator<Item = &'a str>, needs_capitals: bool) -> bool {
    let words: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_alphanumeric())).collect();
    let capital = |word: &&str| {
        let first = word.chars().find(|c| c.is_alphabetic()).unwrap_or('a');
        first.is_uppercase() || (!needs_capitals && !first.is_lowercase())
    };
    (1..=MAX_NAME_WORDS).contains(&words.len())
        && words.iter().all(capital)
        && !words.iter().any(|word| word.contains(|c: char| c.is_ascii_digit() || c == '?'))
        && !WORDS.of(Kind::When).is_inside(&fold(&words.join(" ")), Languages::ALL)
}

/// A name, a role, a phone number; not a sentence, and never an afterthought.
fn is_signature_line(line: &str, languages: Languages) -> bool {
    if line.len() >= MAX_LINE_BYTES || line.contains(['?', '？']) {
        return false;
    }
    let words = line.split_whitespace().count();
    let contact = line.chars().any(|c| c.is_ascii_digit() || matches!(c, '@' | '|' | ':' | '•' | '·'));
    let speaks = words > 1 && !line.contains('@') && asks(line, languages);
    let afterthought = WORDS.of(Kind::Afterthought).is_start(&fold(line));
    let has_phone = line.bytes().filter(u8::is_ascii_digit).count() >= MIN_PHONE_DIGITS;
    let most = if has_phone { MAX_PHONE_WORDS } else { MAX_CONTACT_WORDS };
    let short = words <= MAX_LINE_WORDS || (contact && words <= most && !line.ends_with('.'));
    short && !speaks && !afterthought
}

/// Returns whether a line speaks to the reader. Names may be such words too, but have a capital letter: "Will Smith".
fn asks(line: &str, languages: Languages) -> bool {
    let is_small = |word: &&str| word.chars().find(|c| c.is_alphabetic()).is_some_and(|first| !first.is_uppercase());
    let small: Vec<&str> = line.split_whitespace().filter(is_small).collect();
    let first = || line.split_whitespace().next().map(fold).unwrap_or_default();
    WORDS.of(Kind::Asks).is_inside(&fold(&small.join(" ")), languages)
        || (!small.is_empty() && WORDS.of(Kind::Asks).is_inside(&first(), languages))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` at the start of a line marks where the signature should start.
    fn check(marked: &str) {
        let expected = marked.lines().position(|line| line.starts_with('|'));
        let text: Vec<_> = marked.lines().map(|line| line.trim_start_matches('|')).collect();
        assert_eq!(find_signature(&text), expected, "{marked}");
    }

    #[test]
    fn signatures_are_found() {
        for marked in [
            "Please send it.\n|-- \nDana Cohen\nACME",
            "Please send it.\n|--\nDana Cohen",
            "Please send it.\n|Best regards,\nDana Cohen\nHead of Sales\n+972 3 555 0100",
            "Please send it.\n|Thanks!\nDana",
            "Please send it.\n|Thanks,\nDana\n-- \nDana Cohen, ACME",
            "Please send it.\n|Thanks!! Sophie",
            "Please send it.\n|Best, Claire",
            "Please send it.\n|Regards",
            "Please send it.\n|Regards,\nWill Smith\nUS Sales",
            "Please send it.\n|Cheers\nBen",
            "Please send it.\n|Kind regards, Tom Baker\nBaker & Sons | 12 High Street | 01632 960 001",
            "נא לשלוח.\n|בברכה,\nדנה",
            "נא לשלוח.\n|בברכה, דנה כהן\nמנהלת משרד | 03-555-0100",
            "נא לשלוח.\n|תודה רבה מראש,\nאבי",
            "Bitte schicken.\n|Mit freundlichen Grüßen\ni. A. Annegret Sievers\nAssistenz der Geschäftsleitung",
            "Bitte schicken.\n|Mit rudersportlichem Gruß\nHartmut Petersen",
            "Bitte schicken.\n|LG Wiebke",
            "Bitte schicken.\n|Freundliche Grüße\nIhr Team Vereinsretter",
            "Please send it.\n|Thanks\n\nKind regards\nTom",
            "Bitte schicken.\n|Viele Grüße, Ingrid",
            "Bitte schicken.\n|VG\nMax",
            "Bitte schicken.\n|Freundliche Grüsse\nUrs",
            "Merci de l'envoyer.\n|Bien cordialement,\nLuc Martin\nTél. 01 99 00 12 34",
            "Merci de l'envoyer.\n|Cdlt\nLuc",
            "Hay que enviarlo.\n|Un saludo,\nAna",
            "Hay que enviarlo.\n|Atentamente",
            "Da inviare.\n|Cordiali saluti\nGiulia Rossi",
            "Segue em anexo.\n|Atenciosamente,\nJoão",
            "Segue em anexo.\n|Abraços\nJoão",
            "Zie bijlage.\n|Met vriendelijke groet,\nPieter de Vries",
            "W załączniku.\n|Pozdrawiam serdecznie\nAnna Kowalska",
            "Файл во вложении.\n|С уважением,\nИван Петров",
            "Se bifogad fil.\n|Med vänlig hälsning\nKarin",
            "Se bifogad fil.\n|Mvh Karin",
            "Dosya ektedir.\n|Saygılarımla,\nMehmet Yılmaz",
            "資料を添付しました。\n|よろしくお願いいたします。\n山田太郎",
        ] {
            check(marked);
        }
    }

    #[test]
    fn words_stay_words() {
        for marked in [
            "Please send it.\nThanks!",
            "Thanks,\nDana",
            "Send it.\nThanks,\nDana\nPS please pay invoice 7 too",
            "Send it.\nThanks,\nDana\nCan you call me?",
            "Send it.\nThanks,\nDana\nCall me tomorrow",
            "Send it.\nRegards,\nDana\nPlease bring the keys",
            "To do this week.\nThanks\n- print agenda\n- order lunch",
            "Best\nof luck with the report and please send it to the whole team by Friday noon",
            "One\n----------------------------\nTwo",
            "Send it.\nThanks Friday works",
            "Send it.\nBest before Friday",
            "Schick es.\nDanke\nRuf mich an",
            "Schick es.\nLG\nDenk bitte an die Schlüssel",
            "נא לשלוח.\nתודה אשלח מחר",
            "Send it.\n~~~#<br>\n</p>",
            "נא לשלוח.\nתודה\nתתקשרי אליי",
            "Envoyez-le.\nMerci de confirmer",
            "Hay que enviarlo.\nGracias\nLlámame mañana",
            "",
        ] {
            check(marked);
        }
        let long = format!("a\n--\n{}", "line\n".repeat(40));
        check(&long);
    }
}
