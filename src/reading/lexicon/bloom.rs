//! Words told apart by a number each, and sets of them that say no at once.

use std::borrow::Cow;

/// Bytes of one sort in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reading) struct HashedToken {
    pub(in crate::reading) start: usize,
    pub(in crate::reading) end: usize,
    /// Made of its letters; two words seldom share one.
    pub(in crate::reading) hash: u64,
}

impl HashedToken {
    /// The number of two words in a row.
    #[inline]
    pub(super) fn hash_with(&self, next: &HashedToken) -> u64 {
        self.hash.rotate_left(29) ^ next.hash
    }
}

/// Runs of ASCII letters and digits.
#[inline]
pub(super) fn tokenise_ascii(plain: &str) -> impl Iterator<Item = HashedToken> {
    tokenise_by(plain, |byte| byte.is_ascii_alphanumeric())
}

/// Runs of bytes of one sort.
#[inline]
pub(in crate::reading) fn tokenise_by(plain: &str, is_part: impl Fn(&u8) -> bool) -> impl Iterator<Item = HashedToken> {
    let bytes = plain.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while !is_part(bytes.get(at)?) {
            at += 1;
        }
        let (start, mut key) = (at, 0_u64);
        while let Some(byte) = bytes.get(at).filter(|byte| is_part(byte)) {
            key = extend_hash(key, *byte);
            at += 1;
        }
        Some(HashedToken { start, end: at, hash: key })
    })
}

/// The number of a word, whatever it is made of.
#[inline]
pub(in crate::reading) fn hash_word(word: &str) -> u64 {
    word.bytes().fold(0, extend_hash)
}

#[inline]
pub(in crate::reading) fn extend_hash(hash: u64, byte: u8) -> u64 {
    hash.rotate_left(7) ^ u64::from(byte)
}

/// A set that may hold more than was put in, and never less: eight bits a place.
pub(in crate::reading) struct BloomFilter<const PLACES: usize>([u8; PLACES]);

impl<const PLACES: usize> Default for BloomFilter<PLACES> {
    fn default() -> Self {
        Self([0; PLACES])
    }
}

impl<const PLACES: usize> BloomFilter<PLACES> {
    pub(in crate::reading) fn insert(&mut self, key: u64) {
        let (place, bit) = Self::bit_position(key);
        if let Some(slot) = self.0.get_mut(place) {
            *slot |= bit;
        }
    }

    #[inline]
    pub(in crate::reading) fn may_contain(&self, key: u64) -> bool {
        let (place, bit) = Self::bit_position(key);
        self.0.get(place).is_some_and(|slot| slot & bit != 0)
    }

    const SHIFT: u32 = {
        assert!(PLACES.is_power_of_two());
        u64::BITS - 3 - PLACES.trailing_zeros()
    };

    /// By the upper bits of the product, on which every letter has a say.
    #[inline]
    fn bit_position(key: u64) -> (usize, u8) {
        let mixed = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> Self::SHIFT) as usize;
        (mixed >> 3, 1 << (mixed & 7))
    }
}

/// A list of words that most of what is asked for is not on.
#[derive(Default)]
pub(in crate::reading) struct WordSet<const PLACES: usize> {
    filter: BloomFilter<PLACES>,
    sorted: Vec<Cow<'static, str>>,
}

impl<const PLACES: usize> WordSet<PLACES> {
    pub(in crate::reading) fn from_words(words: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> Self {
        let mut sorted: Vec<_> = words.into_iter().map(Into::into).collect();
        sorted.sort_unstable();
        let mut filter = BloomFilter::default();
        sorted.iter().for_each(|word| filter.insert(hash_word(word)));
        Self { filter, sorted }
    }

    #[inline]
    pub(in crate::reading) fn may_contain(&self, key: u64) -> bool {
        self.filter.may_contain(key)
    }

    #[inline]
    pub(in crate::reading) fn contains(&self, word: &str) -> bool {
        self.may_contain(hash_word(word)) && self.sorted.binary_search_by(|known| known.as_ref().cmp(word)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_numbers() {
        let text = "don't pay 5pm, דנה";
        let found: Vec<_> = tokenise_ascii(text).map(|run| text.get(run.start..run.end).unwrap()).collect();
        assert_eq!(found, ["don", "t", "pay", "5pm"]);
        assert!(tokenise_ascii(text).all(|run| run.hash == hash_word(text.get(run.start..run.end).unwrap())));
        assert!(tokenise_ascii("").next().is_none());
    }

    #[test]
    fn holds_all_that_was_put_in_and_little_else() {
        let words: Vec<String> = (0..400).map(|nth| format!("word{nth}")).collect();
        let (put, others) = words.split_at(100);
        let mut filter = BloomFilter::<256>::default();
        put.iter().for_each(|word| filter.insert(hash_word(word)));
        assert!(put.iter().all(|word| filter.may_contain(hash_word(word))));
        let taken = others.iter().filter(|word| filter.may_contain(hash_word(word))).count();
        assert!(taken < others.len() / 8, "{taken} of {}", others.len());
    }

    #[test]
    fn a_list_holds_its_words_in_whatever_order() {
        let words = WordSet::<64>::from_words(["pay", "call", "שלום"]);
        assert!(["call", "pay", "שלום"].iter().all(|word| words.contains(word)));
        assert!(!["", "cal", "calls", "Pay"].iter().any(|word| words.contains(word)));
    }
}
