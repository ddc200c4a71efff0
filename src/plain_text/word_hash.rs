//! Words told apart by a hash each, which is made while the text is cut into words.
//!
//! Sets of words and of hashes are those of `hashbrown`. Bloom filters in front of them gained nothing any more (`cargo bench
//! --bench path`, reading alone: 142 us a mail with filters, 120 us without; CPU per mail in all: no difference above the
//! noise of 3 %).

/// Bytes of one sort in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashedToken {
    pub start: usize,
    pub end: usize,
    /// Made of its letters; two words seldom share one.
    pub hash: u64,
}

impl HashedToken {
    /// The number of two words in a row.
    #[inline]
    pub fn hash_with(&self, next: &HashedToken) -> u64 {
        self.hash.rotate_left(29) ^ next.hash
    }
}

/// Runs of ASCII letters and digits.
#[inline]
pub fn tokenise_ascii(plain: &str) -> impl Iterator<Item = HashedToken> {
    tokenise_by(plain, |byte| byte.is_ascii_alphanumeric())
}

/// Runs of bytes of one sort.
#[inline]
pub fn tokenise_by(plain: &str, is_part: impl Fn(&u8) -> bool) -> impl Iterator<Item = HashedToken> {
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
pub fn hash_word(word: &str) -> u64 {
    word.bytes().fold(0, extend_hash)
}

#[inline]
pub fn extend_hash(hash: u64, byte: u8) -> u64 {
    hash.rotate_left(7) ^ u64::from(byte)
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
}
