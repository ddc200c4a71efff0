//! Attention: every token of a text looks at all of its tokens.

use super::{
    asset::EncoderSizes,
    elementwise::{KEYS, dot_with_keys, softmax},
};

/// How many values of a head are summed up at once; the width of a head is a multiple of it.
pub(super) const HEAD_LANES: usize = 16;

/// What attention keeps from one step to the next.
#[derive(Default)]
pub(super) struct Attention {
    /// The keys of a head, of each sixteen tokens one value after the other.
    keys: Vec<[f32; KEYS]>,
    scores: Vec<[f32; KEYS]>,
}

impl Attention {
    /// Replaces `mixed` by, for every token and head, the mean of all tokens' values, weighted by how well their keys
    /// fit its query. `projected` has the queries, keys and values of each token, one after the other.
    #[inline(always)]
    pub(super) fn attend(&mut self, projected: &[f32], mixed: &mut Vec<f32>, sizes: &EncoderSizes) {
        mixed.resize(projected.len() / 3, 0.0);
        for head in 0..sizes.heads {
            self.attend_head(projected, mixed, head, sizes);
        }
    }

    #[inline(always)]
    fn attend_head(&mut self, projected: &[f32], mixed: &mut [f32], head: usize, sizes: &EncoderSizes) {
        let (width, head_width) = (sizes.width, sizes.width / sizes.heads);
        let tokens = projected.len() / (3 * width);
        let scale = 1.0 / (head_width as f32).sqrt();
        let part = |kind: usize| {
            let start = kind * width + head * head_width;
            projected.chunks_exact(3 * width).map(move |token| token.get(start..start + head_width).unwrap_or_default())
        };
        self.load_keys(part(1), tokens, head_width);
        let outputs =
            mixed.chunks_exact_mut(width).filter_map(|row| row.get_mut(head * head_width..)?.get_mut(..head_width));
        for (query, output) in part(0).zip(outputs) {
            for (scores, keys) in self.scores.iter_mut().zip(self.keys.chunks_exact(head_width)) {
                *scores = dot_with_keys(query, keys).map(|score| score * scale);
            }
            let scores = self.scores.as_flattened_mut().get_mut(..tokens).unwrap_or_default();
            softmax(scores);
            for (at, output) in output.as_chunks_mut::<HEAD_LANES>().0.iter_mut().enumerate() {
                let mut sums = [0.0; HEAD_LANES];
                for (share, value) in scores.iter().zip(part(2)) {
                    let Some(values) = value.as_chunks::<HEAD_LANES>().0.get(at) else { continue };
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += share * value;
                    }
                }
                *output = sums;
            }
        }
    }

    /// Lays out the keys of a head so that a query meets sixteen at once.
    #[inline(always)]
    fn load_keys<'a>(&mut self, keys: impl Iterator<Item = &'a [f32]>, tokens: usize, head_width: usize) {
        let groups = tokens.div_ceil(KEYS);
        // Places behind the last token keep what was there; their scores are not looked at.
        self.keys.resize(groups * head_width, [0.0; KEYS]);
        self.scores.resize(groups, [0.0; KEYS]);
        for (token, key) in keys.enumerate() {
            let group = self.keys.chunks_exact_mut(head_width).nth(token / KEYS).unwrap_or_default();
            for (values, value) in group.iter_mut().zip(key) {
                if let Some(place) = values.get_mut(token % KEYS) {
                    *place = *value;
                }
            }
        }
    }
}
