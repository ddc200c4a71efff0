//! Cuts a sentence into words and figures, without the punctuation around them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// A full stop stands behind it: in German that makes a number an ordinal.
    pub(super) has_stop: bool,
    /// Punctuation stands behind it.
    pub(super) is_last_of_phrase: bool,
}

/// With the space after it: room for tokens as short is room enough for most sentences.
const SHORT_TOKEN: usize = 5;

pub(super) fn tokenise(plain: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(plain.len() / SHORT_TOKEN);
    for chunk in plain.split(char::is_whitespace).filter(|chunk| !chunk.is_empty()) {
        if chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            tokens.push(Token { text: chunk, has_stop: false, is_last_of_phrase: false });
            continue;
        }
        let mut rest = chunk;
        while let Some(at) = rest.find([',', ';', '(', ')', '[', ']', '—', '–', '|']) {
            let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            push_figures(head, true, &mut tokens);
            rest = tail.get(tail.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
            if tail.starts_with(['—', '–']) {
                push_dash(&mut tokens);
            } else if head.is_empty()
                && let Some(last) = tokens.last_mut()
            {
                last.is_last_of_phrase = true;
            }
        }
        push_figures(rest, false, &mut tokens);
    }
    tokens
}

/// "2-4pm", "22.-24.": both ends and the dash between them. A date with two dashes is one.
fn push_figures<'a>(chunk: &'a str, ends: bool, tokens: &mut Vec<Token<'a>>) {
    if chunk == "-" {
        return push_dash(tokens);
    }
    let figure = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    match chunk.split_once('-') {
        Some((from, to)) if figure(from) && figure(to) && !to.contains('-') => {
            push_trimmed(from, false, tokens);
            push_dash(tokens);
            push_trimmed(to, ends, tokens);
        }
        _ => push_trimmed(chunk, ends, tokens),
    }
}

fn push_dash(tokens: &mut Vec<Token<'_>>) {
    tokens.push(Token { text: "-", has_stop: false, is_last_of_phrase: false });
}

fn push_trimmed<'a>(chunk: &'a str, ends: bool, tokens: &mut Vec<Token<'a>>) {
    let is_edge = |c: char| !c.is_alphanumeric();
    // "+02:00" is a zone.
    let head = chunk.trim_start_matches(|c: char| is_edge(c) && c != '+');
    let text = head.trim_end_matches(|c: char| is_edge(c) && c != '\'');
    let text = if text.is_empty() && chunk == "@" { chunk } else { text };
    if text.is_empty() {
        if let Some(last) = tokens.last_mut() {
            last.is_last_of_phrase = true;
        }
        return;
    }
    let behind = head.get(text.len()..).unwrap_or_default();
    tokens.push(Token { text, has_stop: behind.starts_with('.'), is_last_of_phrase: ends || !behind.is_empty() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_figures_and_what_stands_behind_them() {
        for (text, expected) in [
            ("mo., 16.3., 14 uhr", vec!["mo", "16.3", "14", "uhr"]),
            ("2-4pm (pst)", vec!["2", "-", "4pm", "pst"]),
            ("22.–24. juni", vec!["22", "-", "24", "juni"]),
            ("2026-06-23, please!", vec!["2026-06-23", "please"]),
            ("עד ה-4 ביום ה'", vec!["עד", "ה-4", "ביום", "ה'"]),
            ("", vec![]),
        ] {
            let tokens = tokenise(text);
            assert_eq!(tokens.iter().map(|token| token.text).collect::<Vec<_>>(), expected, "{text}");
        }
        let tokens = tokenise("am 5. (mittags)");
        assert_eq!(tokens.iter().map(|token| token.has_stop).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(tokens.iter().map(|token| token.is_last_of_phrase).collect::<Vec<_>>(), [false, true, true]);
    }
}
