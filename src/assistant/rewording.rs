//! Whether a reply in other words still says the same, as far as code can tell.

use super::{ChatLanguage, ReplyText};

/// A reworded reply may be this many times as long as the original, and a few characters more.
const MOST_TIMES_AS_LONG: usize = 2;
const FEW_CHARS: usize = 40;

/// Returns whether a reworded reply keeps every number, title, quotation, list item and question, the language and the
/// number of lines, and holds no marker. In doubt it does not.
pub fn is_faithful(original: &ReplyText, language: ChatLanguage, reworded: &str) -> bool {
    let text = original.plain();
    let titles: Vec<&str> = original.titles().collect();
    let counts_agree = |part: &str| text.matches(part).count() == reworded.matches(part).count();
    let most = text.chars().count() * MOST_TIMES_AS_LONG + FEW_CHARS;
    !reworded.contains("[[")
        && !reworded.trim().is_empty()
        && reworded.chars().count() <= most
        && titles.iter().all(|title| counts_agree(title))
        && numbers(text) == numbers(reworded)
        && quotations(text) == quotations(reworded)
        && list_items(text) == list_items(reworded)
        && text.lines().count() == reworded.lines().count()
        && counts_agree("?")
        && negations(text) == negations(reworded)
        && language_without(text, &titles, language) == language_without(reworded, &titles, language)
}

/// Returns the numbers in a text, in their order.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}

/// Returns what stands in quotation marks or backticks, sorted.
fn quotations(text: &str) -> Vec<String> {
    let mut found: Vec<String> = super::phrase::quoted(text).into_iter().map(|(_, inside)| inside.to_owned()).collect();
    found.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
    found.sort();
    found
}

/// Returns the lines that are items of a list.
fn list_items(text: &str) -> Vec<&str> {
    let is_item = |line: &&str| {
        let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with('•') || (after.len() < line.len() && after.starts_with(". "))
    };
    text.lines().filter(is_item).collect()
}

/// Returns how many words say no, so that no "couldn't" becomes a "could".
fn negations(text: &str) -> usize {
    let lower = text.to_lowercase().replace('’', "'");
    super::phrase::words(&lower)
        .filter(|word| {
            word.ends_with("n't")
                || ["no", "not", "nothing", "never", "cannot", "none", "לא", "אין", "אל", "דבר"].contains(word)
        })
        .count()
}

/// Returns the language of a text without its titles, which may be in another one.
fn language_without(text: &str, titles: &[&str], before: ChatLanguage) -> ChatLanguage {
    let rest = titles.iter().fold(text.to_owned(), |text, title| text.replace(title, ""));
    ChatLanguage::detect(&rest, before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assistant::reply::{ReplySentence, Value};

    #[test]
    fn only_a_reply_that_says_the_same_is_used() {
        let english = ChatLanguage::English;
        let original = ReplySentence("no_task_number").say(english, &[("number", Value::Text("99".into()))]);
        for (reworded, expected) in [
            ("Hmm, I didn't find task 99. Shall I show you your current tasks?", true),
            ("I couldn't find task 98. Would you like to see your current tasks?", false),
            ("I found task 99. Would you like to see your current tasks?", false),
            ("I couldn't find task 99.", false),
            ("I couldn't find task 99. Would you like to see them? Or add one?", false),
            ("לא מצאתי את משימה 99. להציג את המשימות?", false),
            ("I couldn't find task 99. Show tasks? [[STATE:DELETE:ASK_CONFIRMATION]]", false),
            ("", false),
        ] {
            assert_eq!(is_faithful(&original, english, reworded), expected, "{reworded}");
        }
        let created = ReplySentence("created").say(english, &[("title", Value::Title("קנה חלב"))]);
        assert!(is_faithful(&created, english, "Done, 'קנה חלב' is on your list now."));
        assert!(!is_faithful(&created, english, "Done, 'buy milk' is on your list now."));
    }
}
