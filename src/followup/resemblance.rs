//! How much two texts are about the same, by the words and numbers that they share.

use crate::model::{ExtractedTask, RelatedTask};

/// Returns the words that say what a text is about, without the small ones of its language.
pub(super) type ContentWords = fn(&str) -> Vec<String>;

/// A shorter word is not looked for inside a longer one.
const SHORTEST_COMPOUND_PART: usize = 6;
/// A number with fewer digits stands in many mails.
const SHORTEST_NUMBER: usize = 3;

/// What a text is about.
pub(super) struct Topic {
    words: Vec<String>,
}

impl Topic {
    pub(super) fn new(texts: &[&str], content_words: ContentWords) -> Self {
        Self { words: content_words(&texts.join(" \n ")) }
    }

    /// Returns the topic of a task: what it asks for, and the sentence it came from.
    pub(super) fn of_task(task: &RelatedTask, content_words: ContentWords) -> Self {
        Self::new(&[&task.objective, &task.evidence], content_words).without(&task.sender, content_words)
    }

    /// Returns the topic of a task with the subject of its mail.
    pub(super) fn of_task_and_subject(task: &RelatedTask, content_words: ContentWords) -> Self {
        Self::new(&[&task.objective, &task.evidence, &task.subject], content_words).without(&task.sender, content_words)
    }

    /// Returns the topic of a planned task. The name of its person says nothing about the matter.
    pub(super) fn of_planned(planned: &ExtractedTask, content_words: ContentWords) -> Self {
        let topic = Self::new(&[&planned.objective, &planned.evidence], content_words);
        topic.without(planned.person.as_deref().unwrap_or_default(), content_words)
    }

    /// Leaves out the words of a name or an address.
    fn without(mut self, name: &str, content_words: ContentWords) -> Self {
        let parts = content_words(&name.replace(['@', '.', '-', '_'], " "));
        self.words.retain(|word| !parts.contains(word));
        self
    }

    /// Returns how many words both have. A word inside a compound of the other counts.
    pub(super) fn shared_with(&self, other: &Self) -> usize {
        self.words.iter().filter(|word| other.words.iter().any(|known| is_same_word(word, known))).count()
    }

    /// Returns whether both name the same number, such as a sum or an order. A year is none.
    pub(super) fn shares_number_with(&self, other: &Self) -> bool {
        let mut numbers = self.words.iter().filter(|word| is_telling_number(word));
        numbers.any(|number| other.words.contains(number))
    }

    /// Returns whether both name numbers, and none is the same.
    pub(super) fn differs_in_numbers_from(&self, other: &Self) -> bool {
        let has_number = |topic: &Self| topic.words.iter().any(|word| is_telling_number(word));
        has_number(self) && has_number(other) && !self.shares_number_with(other)
    }

    /// Returns whether both share at least two words, and these are half of what the shorter one says.
    pub(super) fn resembles(&self, other: &Self) -> bool {
        let shared = self.shared_with(other);
        shared >= 2 && shared * 2 >= self.words.len().min(other.words.len())
    }
}

fn is_same_word(a: &str, b: &str) -> bool {
    let is_part = |part: &str, whole: &str| part.chars().count() >= SHORTEST_COMPOUND_PART && whole.contains(part);
    a == b || is_part(a, b) || is_part(b, a)
}

fn is_telling_number(word: &str) -> bool {
    let is_number = word.len() >= SHORTEST_NUMBER && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !(word.len() == 4 && (word.starts_with("19") || word.starts_with("20")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(text: &str) -> Topic {
        Topic::new(&[text], |text| text.to_lowercase().split(' ').map(str::to_owned).collect())
    }

    #[test]
    fn texts_about_the_same_share_words_or_numbers() {
        assert!(topic("form fee split").resembles(&topic("return form with fee split")));
        assert!(!topic("form today").resembles(&topic("form with the fee split")));
        assert!(topic("think 214 60").shares_number_with(&topic("transfer 214 60 tyres")));
        assert!(!topic("in 2026").shares_number_with(&topic("since 2026")));
        assert!(topic("order 4711").differs_in_numbers_from(&topic("order 4712")));
        assert!(!topic("order").differs_in_numbers_from(&topic("order 4712")));
        assert_eq!(topic("bescheinigung").shared_with(&topic("spendenbescheinigung")), 1);
        assert_eq!(topic("tee").shared_with(&topic("teekanne")), 0);
    }
}
