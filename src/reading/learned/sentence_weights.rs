//! One walk over a sentence's words, each looked up once for every question: does the sentence ask, and what is the mail.

use super::{
    signal::{HashedWord, Signal, SignalKey, tokenise_and_hash},
    weights::{SENTENCE_HEADS, SentenceLogits, SignalWeights, value_for_head, weight_table},
};
use crate::plain_text::word_hash::hash_word;

/// The words of a sentence with what is known of them, and what they say together about asking.
#[derive(Debug, Clone)]
pub(in crate::reading) struct SentenceWeights {
    words: Vec<WeightedWord>,
    /// The sums of the weights of words, pairs and threes, per head of a sentence.
    pub(in crate::reading) sums: SentenceLogits,
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
    let mut walk =
        SentenceWeights { words: Vec::with_capacity(plain.len() / SHORT_WORD), sums: SentenceLogits::default() };
    let (mut before, mut last) = (None, hash_word("^"));
    for term in tokenise_and_hash(plain) {
        let this = term.hash;
        let alone = table.row_by_key(SignalKey::WORD.with_hash(this).finish());
        let paired = table.row_by_key(SignalKey::PAIR.with_hash(last).with_hash(this).finish());
        walk.add(alone);
        walk.add(paired);
        walk.add(find_three_words(before, last, this));
        walk.words.push(WeightedWord { word: term, word_weights: alone, pair_weights: paired });
        (before, last) = (Some(last), this);
    }
    let end = hash_word("$");
    walk.add(table.row_by_key(SignalKey::PAIR.with_hash(last).with_hash(end).finish()));
    walk.add(find_three_words(before, last, end));
    walk
}

fn find_three_words(before: Option<u64>, last: u64, this: u64) -> Option<&'static SignalWeights> {
    weight_table().row_by_key(SignalKey::THREE.with_hash(before?).with_hash(last).with_hash(this).finish())
}

impl SentenceWeights {
    fn add(&mut self, row: Option<&'static SignalWeights>) {
        let Some(row) = row else { return };
        for (sum, head) in self.sums.iter_mut().zip(SENTENCE_HEADS) {
            *sum += value_for_head(&row.weights, head);
        }
    }

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
    use crate::reading::{
        learned::{Head, emit_sentence_signals},
        sentence::text::split_sentences,
    };

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
            assert!((walk.sums[0] - asks).abs() < 1e-9, "{text}: {:?} {asks}", walk.sums);
            assert_eq!(
                walk.weighted_signals(&sentence.normalised).map(|(signal, _)| signal).collect::<Vec<_>>(),
                known,
                "{text}"
            );
        }
    }
}
