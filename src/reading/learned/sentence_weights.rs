//! One walk over a sentence's words, each looked up once for every question: does the sentence ask, and what is the mail.

use super::{
    signal::{HashedWord, Signal, SignalKey, tokenise_and_hash},
    weights::{Head, SignalWeights, value_for_head, weight_table},
};
use crate::reading::lexicon::bloom::hash_word;

/// The words of a sentence with what is known of them, and what they say together about asking.
#[derive(Debug, Clone)]
pub(in crate::reading) struct SentenceWeights {
    words: Vec<WeightedWord>,
    /// The sum of the weights for [`Head::Asks`], of words, pairs and threes.
    pub(in crate::reading) request_sum: f64,
}

#[derive(Debug, Clone, Copy)]
struct WeightedWord {
    word: HashedWord,
    word_weights: Option<&'static SignalWeights>,
    /// With the word before it.
    pair_weights: Option<&'static SignalWeights>,
}

/// With the space after it. Most texts have longer ones, so room for these is room enough.
const SHORT_WORD: usize = 5;

pub(in crate::reading) fn weigh_sentence(plain: &str) -> SentenceWeights {
    let table = weight_table();
    let weight = |row: Option<&'static SignalWeights>| row.map_or(0.0, |row| value_for_head(&row.weights, Head::Asks));
    let mut walk = SentenceWeights { words: Vec::with_capacity(plain.len() / SHORT_WORD), request_sum: 0.0 };
    let (mut before, mut last) = (None, hash_word("^"));
    for term in tokenise_and_hash(plain) {
        let this = term.hash;
        let alone = table.row_by_key(SignalKey::WORD.with_hash(this).finish());
        let paired = table.row_by_key(SignalKey::PAIR.with_hash(last).with_hash(this).finish());
        walk.request_sum += weight(alone) + weight(paired) + weigh_three_words(before, last, this);
        walk.words.push(WeightedWord { word: term, word_weights: alone, pair_weights: paired });
        (before, last) = (Some(last), this);
    }
    let end = hash_word("$");
    walk.request_sum += weight(table.row_by_key(SignalKey::PAIR.with_hash(last).with_hash(end).finish()))
        + weigh_three_words(before, last, end);
    walk
}

fn weigh_three_words(before: Option<u64>, last: u64, this: u64) -> f64 {
    let row = before.and_then(|before| {
        weight_table().row_by_key(SignalKey::THREE.with_hash(before).with_hash(last).with_hash(this).finish())
    });
    row.map_or(0.0, |row| value_for_head(&row.weights, Head::Asks))
}

impl SentenceWeights {
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// The words and pairs that have weights. `plain` is what was walked.
    pub(super) fn weighted_signals<'a>(
        &self,
        plain: &'a str,
    ) -> impl Iterator<Item = (Signal<'a>, &'static SignalWeights)> {
        let mut last = "^";
        self.words.iter().flat_map(move |word| {
            let text = word.word.text(plain);
            let pair = Signal::Pair(last, text);
            last = text;
            [word.word_weights.map(|row| (Signal::Word(text), row)), word.pair_weights.map(|row| (pair, row))]
                .into_iter()
                .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{learned::emit_sentence_signals, sentence::text::split_sentences};

    /// A walk sees what a sentence's signals are, no more and no less.
    #[test]
    fn says_what_its_signals_say() {
        for text in ["Could you please send me 20 reports by 5pm?", "'Now'! don't pay $5", "תוכלי לשלוח לי?", "ok"]
        {
            let sentence = split_sentences(text).remove(0);
            let (mut asks, mut known) = (0.0, Vec::new());
            emit_sentence_signals(&sentence, |signal| {
                asks += weight_table().weight(&signal, Head::Asks);
                let ends = matches!(signal, Signal::Three(..) | Signal::Pair(_, "$"));
                if !ends && weight_table().row(&signal).is_some() {
                    known.push(signal);
                }
            });
            let walk = weigh_sentence(&sentence.normalised);
            assert!((walk.request_sum - asks).abs() < 1e-9, "{text}: {} {asks}", walk.request_sum);
            assert_eq!(
                walk.weighted_signals(&sentence.normalised).map(|(signal, _)| signal).collect::<Vec<_>>(),
                known,
                "{text}"
            );
        }
    }
}
