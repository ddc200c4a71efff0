//! HMAC with SHA-256 (RFC 2104).

use sha2::{Digest as _, Sha256};

/// The block size of SHA-256.
const BLOCK: usize = 64;

/// Returns the authentication code of the parts. Each part is preceded by its length, so that no two lists of parts have
/// the same bytes.
pub(super) fn authenticate(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut message = Vec::new();
    for part in parts {
        message.extend((part.len() as u64).to_be_bytes());
        message.extend(*part);
    }
    hmac_sha256(key, &message)
}

fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let shortened: [u8; 32] = Sha256::digest(key).into();
    let key = if key.len() > BLOCK { shortened.as_slice() } else { key };
    let pad = |byte: u8| -> Vec<u8> {
        let filled = key.iter().copied().chain(std::iter::repeat(0)).take(BLOCK);
        filled.map(|key| key ^ byte).collect()
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// Compares two codes in a time that says nothing about them.
pub(super) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    Sha256::digest(one) == Sha256::digest(other) && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::hex;

    #[test]
    fn codes_are_those_of_rfc_4231() {
        let long = [0xaa; 131];
        for (key, message, expected) in [
            (&[0x0b; 20][..], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &long,
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac_sha256(key, message)), expected);
        }
    }

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(authenticate(b"key", &[b"ab", b"c"]), authenticate(b"key", &[b"a", b"bc"]));
        assert!(is_equal(b"same", b"same") && !is_equal(b"same", b"sama"));
    }
}
