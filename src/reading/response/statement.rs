//! Turns what the recipient is to be told into a sentence for them: "tell her I am ill" becomes "I am ill."
//!
//! What cannot be turned with certainty is none, and the person words it themselves: no instruction may be sent as it was
//! typed.

use super::lexicon::ResponseLexicon;

/// Returns the text in quotes; none when it is not in quotes.
pub(super) fn unquote(text: &str) -> Option<&str> {
    const PAIRS: [(char, char); 5] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('\'', '\'')];
    let text = text.trim();
    let inside = PAIRS.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))?.trim();
    (!inside.is_empty()).then_some(inside)
}

/// Returns a sentence for the recipient; none for what is no sentence, or speaks of somebody who may be the recipient.
pub(super) fn read_statement(text: &str, lexicon: &ResponseLexicon) -> Option<String> {
    let words = plain_words(text);
    let first = words.first()?;
    if words.iter().any(|word| lexicon.has("third_person", word)) {
        return None;
    }
    let has_verb = || words.iter().any(|word| lexicon.has("verbs", word));
    let is_sentence = lexicon.has("statement", first) || lexicon.has("subject", first) && has_verb();
    is_sentence.then(|| finish_sentence(text))
}

/// Returns the main clause of a subordinate one: its verb moves behind the subject.
pub(super) fn read_clause(text: &str, lexicon: &ResponseLexicon) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let words = plain_words(text);
    let (first, last) = (words.first()?, words.last()?);
    let turns = words.len() > 1
        && lexicon.has("clause_subject", first)
        && lexicon.has("clause_verb", last)
        && !words.iter().skip(1).any(|word| lexicon.has("third_person", word));
    if !turns {
        return None;
    }
    let (rest, verb) = text.rsplit_once(char::is_whitespace)?;
    let sentence = match rest.split_once(char::is_whitespace) {
        Some((subject, rest)) => format!("{subject} {verb} {rest}"),
        None => format!("{rest} {verb}"),
    };
    Some(finish_sentence(&sentence))
}

/// Returns a request to the recipient: "to bring the plans" becomes "Please bring the plans."
pub(super) fn read_request(text: &str, is_negated: bool, lexicon: &ResponseLexicon) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let words = plain_words(text);
    // "My" was the person's when they typed it and would be the recipient's to a reader.
    let is_clear = !words.is_empty() && !words.iter().any(|word| lexicon.has("third_person", word));
    let form = lexicon.form(if is_negated { "please_not" } else { "please" });
    is_clear.then(|| form.replace("{text}", text))
}

fn plain_words(text: &str) -> Vec<String> {
    super::pattern::split_words(text).into_iter().map(|word| word.plain).collect()
}

/// Returns the text with a capital at its beginning and a full stop at its end.
fn finish_sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let mut sentence: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    // "i am ill" is typed in haste.
    sentence = sentence
        .split(' ')
        .map(|word| match word {
            "i" => "I".to_owned(),
            _ => match word.strip_prefix("i'") {
                Some(rest) => format!("I'{rest}"),
                None => word.to_owned(),
            },
        })
        .collect::<Vec<_>>()
        .join(" ");
    if !sentence.ends_with(['.', '!', '?', '…', ':', ')']) {
        sentence.push('.');
    }
    sentence
}
