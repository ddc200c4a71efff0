//! The head of an earlier mail as mail programs copy it into a reply: `From:`, `Sent:`, `To:`, `Subject:` in any order.

use super::{
    client_words::{Kind, WORDS},
    phrase_set::fold,
};

/// A block is looked for in so many lines from its first.
const BLOCK_LINES: usize = 14;
/// Lines between its fields that are none: long lists of recipients go on in the next line.
const MAX_CONTINUATION_LINES: usize = 3;
/// Bytes in which the name of a field and its colon must stand.
const NAME_BYTES: usize = 48;
/// A line in which a whole block may stand.
const MAX_RUN_TOGETHER_BYTES: usize = 600;

/// Returns the number of lines of the header block that starts here, if one does.
pub(super) fn header_block_len(lines: &[&str]) -> Option<usize> {
    let (first, _) = parse_field(lines.first()?)?;
    if first == Kind::Field {
        return None;
    }
    let mut block = HeaderBlock::default();
    let mut len = 0;
    let (mut others, mut empty) = (0, false);
    for (at, line) in lines.iter().take(BLOCK_LINES).enumerate() {
        if line.trim().is_empty() {
            // Two in a row end it.
            if std::mem::replace(&mut empty, true) {
                break;
            }
            continue;
        }
        match parse_field(line) {
            Some((kind, value)) => {
                block.add(kind, value);
                len = at + 1;
            }
            // A line of text under an empty one belongs to the mail, not to its head.
            None if empty || others == MAX_CONTINUATION_LINES => break,
            None => others += 1,
        }
        empty = false;
    }
    block.is_complete().then_some(len).or_else(|| is_run_together(lines.first()?).then_some(1))
}

/// Returns the field that a line begins with, and its value.
pub(super) fn parse_field(line: &str) -> Option<(Kind, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '|'));
    let head = line.get(..line.floor_char_boundary(NAME_BYTES))?;
    let (at, colon) = head.match_indices([':', '：']).next()?;
    let name = fold(head.get(..at)?);
    let kind = WORDS.field(name.trim_matches(['*', '_', ' ']))?;
    Some((kind, line.get(at + colon.len()..)?.trim_matches(|c: char| c.is_whitespace() || c == '*')))
}

/// What a block names so far.
#[derive(Default)]
struct HeaderBlock {
    kinds: Vec<Kind>,
    has_address: bool,
}

impl HeaderBlock {
    fn add(&mut self, kind: Kind, value: &str) {
        // `From: 3 May` is a time span.
        let is_number = value.starts_with(|c: char| c.is_ascii_digit()) && !value.contains('@');
        if matches!(kind, Kind::From | Kind::To) && is_number {
            return;
        }
        self.has_address |= value.contains('@') && matches!(kind, Kind::From | Kind::To);
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// Returns whether it can only be the head of a mail: a journey has "From", "To" and "Date" too.
    fn is_complete(&self) -> bool {
        let has = |kind| self.kinds.contains(&kind);
        let fields = self.kinds.iter().filter(|kind| **kind != Kind::Field).count();
        has(Kind::From) && fields >= 3 && (has(Kind::Subject) || has(Kind::Sent) || self.has_address)
    }
}

/// Returns whether a line holds a whole block: `From: Dana [mailto:d@x] Sent: Monday To: me Subject: x`.
fn is_run_together(line: &str) -> bool {
    if line.len() >= MAX_RUN_TOGETHER_BYTES {
        return false;
    }
    let mut block = HeaderBlock::default();
    for word in line.split_whitespace().filter(|word| word.trim_end_matches('*').ends_with(':')) {
        if let Some(kind) = WORDS.field(fold(word).trim_matches(['*', ':'])) {
            block.add(kind, "");
        }
    }
    block.kinds.first() == Some(&Kind::From) && block.is_complete()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_any_order_and_language() {
        for (text, expected) in [
            ("From: Dana\nSent: Monday\nTo: me\nSubject: x\n\nHello", Some(4)),
            ("Subject: x\nTo: me\nDate: Monday\nFrom: Dana\nHello", Some(4)),
            ("*Von:* Max\n*Gesendet:* Montag\n*An:* ich\n\nHallo", Some(3)),
            ("**Von:** Max\n**Gesendet:** Montag\n**An:** ich\n**Betreff:** x", Some(4)),
            ("Von: Max <m@x.example>\n\nAn: ich\n\nBetreff: x\n\nHallo", Some(5)),
            ("De : Luc\nEnvoyé : lundi\nÀ : moi\nCc : Anne,\n Paul,\n Zoé\nObjet : x\n", Some(7)),
            ("From: Dana [mailto:d@x.example] Sent: Monday To: me Subject: x\nHello", Some(1)),
            ("差出人： 山田\n送信日時： 2026年3月3日\n宛先： 私\n件名： 見積", Some(4)),
            ("From: Haifa\nTo: Tel Aviv\nDate: 3 May", None),
            ("From: 3 May\nTo: 5 May\nSubject: holiday", None),
            ("Von: 10 Uhr\nBis: 12 Uhr\nOrt: Büro", None),
            ("From: the kitchen\nWith love", None),
            ("Subject: x\nDate: Monday\nTo: all", None),
            ("A: yes\nB: no\nDe: oui", None),
            ("Importance: high\nFrom: Dana\nTo: me\nSubject: x", None),
            ("", None),
        ] {
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(header_block_len(&lines), expected, "{text}");
        }
    }
}
