//! Regular expressions in the form `/text/` or `/text/i`, compiled once, within limits, matched in linear time.

use regex::{Regex, RegexBuilder};

use crate::rules::grammar::limits::{MAX_REGEX_BYTES, MAX_REGEX_CACHE_BYTES, MAX_REGEX_COMPILED_BYTES};

/// A compiled expression with its source.
#[derive(Debug, Clone)]
pub(in crate::rules) struct Pattern {
    /// The expression as written, slashes included.
    pub(in crate::rules) source: String,
    regex: Regex,
}

/// What is wrong with an expression: what was found, and what was expected.
pub(super) type BadPattern = (String, String);

impl Pattern {
    /// Compiles an expression. One that would grow beyond the limits is refused, not cut.
    pub(in crate::rules) fn parse(source: &str) -> Result<Self, BadPattern> {
        let (text, ignore_case) = split_flags(source)?;
        if text.len() > MAX_REGEX_BYTES {
            return Err((
                format!("an expression of {} bytes", text.len()),
                format!("at most {MAX_REGEX_BYTES}; several rules may share a level"),
            ));
        }
        let regex = RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .size_limit(MAX_REGEX_COMPILED_BYTES)
            .dfa_size_limit(MAX_REGEX_CACHE_BYTES)
            .build()
            .map_err(describe_regex_error)?;
        Ok(Self { source: source.to_owned(), regex })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the words that matched, each once, in order.
    pub(in crate::rules) fn matched_words(&self, text: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for found in self.regex.find_iter(text).map(|found| found.as_str()) {
            if !found.is_empty() && !words.iter().any(|word| word == found) {
                words.push(found.to_owned());
            }
        }
        words
    }

    /// Returns the text without what matched; none when that still matches.
    pub(in crate::rules) fn remove_matches(&self, text: &str) -> Option<String> {
        let rest = self.regex.replace_all(text, "").trim().to_owned();
        (!self.is_match(&rest)).then_some(rest)
    }

    /// Returns a text that matches, and the word it was made with. `place` puts the literal words of the expression
    /// into texts to try. Returns none when no such text matches.
    pub(in crate::rules) fn build_match<const N: usize>(
        &self,
        place: impl Fn(&str) -> [String; N],
    ) -> Option<(String, String)> {
        let literals = literal_words(&self.source);
        let joined = literals.join(" ");
        let glued = literals.concat();
        literals.iter().chain([&joined, &glued]).filter(|word| !word.is_empty()).find_map(|word| {
            let made = place(word).into_iter().find(|made| self.is_match(made))?;
            Some((made, word.clone()))
        })
    }
}

/// Returns the expression between the slashes, and whether it ignores case.
fn split_flags(source: &str) -> Result<(&str, bool), BadPattern> {
    let form = || (format!("'{source}'"), "an expression between slashes: \"/text/\" or \"/text/i\"".to_owned());
    let (text, flags) = source.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).ok_or_else(form)?;
    match flags {
        _ if text.is_empty() => Err(form()),
        "" => Ok((text, false)),
        "i" => Ok((text, true)),
        other => Err((format!("the flag '{other}'"), "no flag, or i to ignore case".to_owned())),
    }
}

/// Returns the error of the regex crate as what was found and what was expected.
fn describe_regex_error(error: regex::Error) -> BadPattern {
    match error {
        regex::Error::CompiledTooBig(limit) => (
            "an expression that grows too large".to_owned(),
            format!("one that compiles to at most {} KiB: fewer or smaller repetitions", limit / 1024),
        ),
        other => {
            let reason = other.to_string().lines().last().unwrap_or_default().trim().to_owned();
            (reason.strip_prefix("error: ").unwrap_or(&reason).to_owned(), "a regular expression".to_owned())
        }
    }
}

/// Returns the sequences of plain characters in an expression: what a person would read in it as words.
fn literal_words(source: &str) -> Vec<String> {
    let body = source.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).map_or(source, |(body, _)| body);
    let mut words = vec![String::new()];
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => chars.next().filter(|escaped| !escaped.is_alphanumeric()),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => None,
            other => Some(other),
        };
        match (literal, words.last_mut()) {
            (Some(c), Some(word)) => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.trim().is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(source: &str, expected: &str) {
        let (found, wanted) = Pattern::parse(source).unwrap_err();
        assert!(format!("{found}; {wanted}").contains(expected), "{source}: {found}; {wanted}");
    }

    #[test]
    fn bad_expressions_say_what_was_expected() {
        check_refused("invoice", "between slashes");
        check_refused("//", "between slashes");
        check_refused("/a", "between slashes");
        check_refused("/a/x", "the flag 'x'");
        check_refused("/(a/", "unclosed group");
        check_refused(&format!("/{}/", "a".repeat(513)), "513 bytes");
        check_refused("/(((a{100}){100}){100})/", "grows too large");
        check_refused(r"/\w{200}/i", "grows too large");
    }

    #[test]
    fn a_long_list_of_words_in_many_scripts_fits() {
        let source = r"/\b(outage|down|störung|ausfall|panne|caída|недоступен|תקלה|障害|urgent|breach|leaked?)\b/i";
        let pattern = Pattern::parse(source).unwrap();
        assert!(pattern.is_match("Großer AUSFALL") && !pattern.is_match("sundown"));
    }

    fn place(text: &str, word: &str) -> [String; 2] {
        [format!("{text} {word}"), format!("{word} {text}")]
    }

    #[test]
    fn a_near_text_that_matches_and_one_that_does_not() {
        for (source, text) in [
            ("/invoice/i", "hello"),
            (r"/\b(outage|down)\b/i", "hello"),
            ("/^re:/i", "hello"),
            (r"/due\.today/", ""),
            (r"/last\s+chance/", "hello"),
        ] {
            let pattern = Pattern::parse(source).unwrap();
            let (with, _) = pattern.build_match(|word| place(text, word)).expect(source);
            assert!(pattern.is_match(&with), "{source}: {with}");
            assert!(!pattern.is_match(&pattern.remove_matches(&with).expect(source)), "{source}");
        }
        assert!(
            Pattern::parse(r"/\d{4}/").unwrap().build_match(|word| place("hello", word)).is_none(),
            "no words to make one from"
        );
        assert!(Pattern::parse("/x*/").unwrap().remove_matches("xx").is_none(), "matches everything");
    }

    #[test]
    fn matched_words_are_told_once() {
        let pattern = Pattern::parse("/in[a-z]+/i").unwrap();
        assert_eq!(pattern.matched_words("Invoice inside: Invoice"), ["Invoice", "inside"]);
    }
}
