//! Titles of tasks as people refer to them: the whole title, a part of it, or something close to it.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization as _;

use super::tokeniser::{is_trigram, tokenise};

/// A title is similar from this share of equal letters on. The specification says more than 60 %.
const LEAST_SIMILARITY: f64 = 0.6;
/// From this share of equal letters on, two words are taken for the same word with a typing mistake.
const LEAST_WORD_SIMILARITY: f64 = 0.75;
/// The longest part of a title that is compared letter by letter, which takes quadratic time.
const MOST_COMPARED_CHARS: usize = 120;
/// The shortest part of a word that stands for the word.
const SHORTEST_WORD_PART: usize = 3;

/// How a query names a title, the best first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TitleMatch {
    /// The titles are equal, apart from case and blanks.
    Exact,
    /// The title contains the query, or all of its words.
    Contains,
    /// The share of equal letters is more than 60 %.
    Similar(f64),
}

impl TitleMatch {
    /// Orders matches by how well they fit; the better one is greater.
    pub fn compare(self, other: Self) -> Ordering {
        let rank = |found: Self| match found {
            Self::Exact => 3.0,
            Self::Contains => 2.0,
            Self::Similar(share) => share,
        };
        rank(self).total_cmp(&rank(other))
    }

    /// Returns whether both fit equally well, apart from how similar they are.
    pub fn is_same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Returns the form in which titles are compared: lower case, single blanks, no blanks around.
pub fn title_key(title: &str) -> String {
    let lower: String = title.nfc().flat_map(char::to_lowercase).collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the folded words of a title, by which it is indexed. A Hebrew word is also there without its prefixes.
pub fn title_words(title: &str) -> Vec<String> {
    tokenise(title).split(' ').filter(|word| !word.is_empty() && !is_trigram(word)).map(str::to_owned).collect()
}

/// What a person says of a title, prepared for being compared with many titles.
#[derive(Debug)]
pub struct TitleQuery {
    key: String,
    /// Its words, each with the word that is left without a Hebrew prefix.
    words: Vec<(String, Option<String>)>,
}

impl TitleQuery {
    pub fn new(query: &str) -> Self {
        let key = title_key(query);
        let words = super::query_words(&key);
        let stems = words.iter().map(|word| without_prefix(word)).collect::<Vec<_>>();
        Self { words: words.into_iter().zip(stems).collect(), key }
    }

    /// Returns the form in which the query is compared.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns how the query names the title, which is in the form of [`title_key`]; none when it does not.
    pub fn match_title(&self, title: &str) -> Option<TitleMatch> {
        if self.key.is_empty() {
            return None;
        }
        if self.key == title {
            return Some(TitleMatch::Exact);
        }
        let there = title_words(title);
        if contains_at_word(title, &self.key) || self.has_all_words_in(&there) {
            return Some(TitleMatch::Contains);
        }
        let share = similarity_above(&self.key, title, LEAST_SIMILARITY);
        share.or_else(|| self.word_similarity(&there)).map(TitleMatch::Similar)
    }

    /// Returns whether every word of the query is one of these words, or the beginning of one.
    fn has_all_words_in(&self, there: &[String]) -> bool {
        let is_there = |word: &String| {
            let is_part = word.chars().count() >= SHORTEST_WORD_PART;
            there.iter().any(|known| known == word || (is_part && known.starts_with(word.as_str())))
        };
        let is_named = |(word, stem): &(String, Option<String>)| is_there(word) || stem.as_ref().is_some_and(is_there);
        !self.words.is_empty() && self.words.iter().all(is_named)
    }

    /// Returns the average similarity of the query's words to their nearest ones of these; none when one of them is near
    /// to no word.
    fn word_similarity(&self, there: &[String]) -> Option<f64> {
        let nearest = |(word, _): &(String, Option<String>)| {
            let shares = there.iter().filter_map(|known| similarity_above(word, known, LEAST_WORD_SIMILARITY));
            shares.max_by(f64::total_cmp)
        };
        let shares: Vec<f64> = self.words.iter().map(nearest).collect::<Option<_>>()?;
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}

/// Returns whether the title contains the query, from the beginning of a word on.
fn contains_at_word(title: &str, query: &str) -> bool {
    if query.chars().count() < 2 {
        return false;
    }
    title.match_indices(query).any(|(at, _)| {
        let before = title.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric())
    })
}

/// Returns a Hebrew word without the letter that is written together with it: "הדוח" is "the report".
fn without_prefix(word: &str) -> Option<String> {
    title_words(word).into_iter().nth(1)
}

/// Returns the share of letters that are equal, 1 less the edit distance by the length of the longer text, if it is more
/// than `least`. Texts whose lengths already say that it is not are not compared.
pub fn similarity_above(one: &str, other: &str, least: f64) -> Option<f64> {
    let letters = |text: &str| text.chars().take(MOST_COMPARED_CHARS).collect::<Vec<char>>();
    let (one, other) = (letters(one), letters(other));
    let (shortest, longest) = (one.len().min(other.len()) as f64, one.len().max(other.len()) as f64);
    if shortest <= least * longest {
        return None;
    }
    Some(1.0 - edit_distance(&one, &other) as f64 / longest).filter(|share| *share > least)
}

/// Returns how many letters must be added, removed or replaced (the Levenshtein distance).
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, left) in one.iter().enumerate() {
        let mut diagonal = row;
        let mut before = row + 1;
        if let Some(first) = costs.first_mut() {
            *first = before;
        }
        for (cost, right) in costs.iter_mut().skip(1).zip(other) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cost;
            before = replaced.min(before + 1).min(diagonal + 1);
            *cost = before;
        }
    }
    costs.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, title: &str) -> Option<TitleMatch> {
        TitleQuery::new(query).match_title(&title_key(title))
    }

    #[test]
    fn a_title_is_named_as_a_whole_in_part_or_nearly() {
        use TitleMatch::{Contains, Exact};
        for (query, title, expected) in [
            ("Buy  Groceries ", "buy groceries", Exact),
            ("groceries", "Buy groceries from store", Contains),
            ("report", "Finish Q4 Report", Contains),
            ("report", "Reporting day", Contains),
            ("store groceries", "Buy groceries from the store", Contains),
            ("הדוח", "לסיים את דוח הרבעון", Contains),
            ("קניות", "לעשות קניות", Contains),
            ("חלב", "קנה חלב", Contains),
        ] {
            assert_eq!(check(query, title), Some(expected), "{query} in {title}");
        }
        for (query, title) in
            [("finish reprt", "Finish Q4 report"), ("call mum", "Call mom"), ("dentst", "Call the dentist")]
        {
            assert!(matches!(check(query, title), Some(TitleMatch::Similar(_))), "{query} near {title}");
        }
        for (query, title) in
            [("groceries", "Call mom"), ("art", "Plan the party"), ("", "Call mom"), ("e", "Buy eggs")]
        {
            assert_eq!(check(query, title), None, "{query} in {title}");
        }
    }

    #[test]
    fn the_distance_counts_letters() {
        for (one, other, expected) in
            [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("חלב", "חלב", 0), ("ab", "ba", 2)]
        {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edit_distance(&letters(one), &letters(other)), expected, "{one} {other}");
        }
        assert!(similarity_above("groceries", "grocery", LEAST_SIMILARITY).is_some());
        assert!(similarity_above("groceries", "tax", LEAST_SIMILARITY).is_none());
    }

    #[test]
    fn a_better_match_is_greater() {
        let worse_first = [TitleMatch::Similar(0.7), TitleMatch::Similar(0.9), TitleMatch::Contains, TitleMatch::Exact];
        assert!(worse_first.is_sorted_by(|worse, better| worse.compare(*better) == Ordering::Less));
    }
}
