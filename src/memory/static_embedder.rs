//! The embedder that is compiled in: one vector per word piece, and a text is their mean. English.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU32, Ordering},
};

use model2vec_rs::model::StaticModel;

use super::{
    index::VectorShape,
    traits::{Embedder, MemoryError, MemoryFuture, MemoryResult},
};
use crate::store::embedding::EmbedFn;

const MODEL: &[u8] = include_bytes!("../../assets/embedder/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("../../assets/embedder/tokenizer.json");
const CONFIG: &[u8] = include_bytes!("../../assets/embedder/config.json");
/// Another table is another embedder; its name holds the start of this.
const NAME: &str = "minilm-l6-static-192/40cedc76";
/// Its dimensions are sorted by what they tell: the last third holds 15 % of a vector.
const SHAPE: VectorShape = VectorShape { dimension: 192, binary_dimensions: 128 };

/// Looks without a text in between after which the table is put away: loading it again takes less time than a commit or
/// two on a slow disk, and keeping it twice the memory of an idle daemon.
const UNLOAD_AFTER: u32 = 1;

/// Loaded when it is needed. A cheap handle.
#[derive(Clone, Default)]
pub struct StaticEmbedder(Arc<StaticEmbedderState>);

#[derive(Default)]
struct StaticEmbedderState {
    model: RwLock<Option<StaticModel>>,
    unused: AtomicU32,
}

impl StaticEmbedder {
    /// Loads it now, so that nobody waits for it later. A model is a handle itself.
    pub fn load(&self) -> Option<StaticModel> {
        self.0.unused.store(0, Ordering::Relaxed);
        if let Some(model) = &*self.0.model.read().unwrap_or_else(PoisonError::into_inner) {
            return Some(model.clone());
        }
        let mut place = self.0.model.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            let loaded = StaticModel::from_bytes(TOKENIZER, MODEL, CONFIG, None);
            *place =
                loaded.inspect_err(|error| tracing::error!(%error, "the embedder compiled in cannot be read")).ok();
        }
        place.clone()
    }

    /// Looks whether it is still needed.
    pub(super) fn unload_if_idle(&self) {
        if self.0.unused.fetch_add(1, Ordering::Relaxed) == UNLOAD_AFTER {
            self.0.model.write().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// The vector of a text; none of one that says nothing in a language the table knows.
    pub fn embed_one(&self, text: &str) -> Option<Vec<f32>> {
        if !is_mostly_latin(text) {
            return None;
        }
        // Its length is 1 already, unless nothing in the text is known.
        Some(self.load()?.encode_single(text)).filter(|vector| vector.iter().any(|value| *value != 0.0))
    }

    /// For the store, so that documents and their vectors commit together.
    pub fn embed_fn(&self) -> EmbedFn {
        let table = self.clone();
        Arc::new(move |text| table.embed_one(text))
    }
}

/// Of another script the table knows single letters only, and by those all texts of the script are alike.
fn is_mostly_latin(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().any(|byte| byte.is_ascii_alphabetic());
    }
    let (mut latin, mut other) = (0_usize, 0_usize);
    for letter in text.chars().filter(|c| c.is_alphabetic()) {
        // Up to the end of Latin Extended-B.
        if letter <= '\u{24F}' { latin += 1 } else { other += 1 }
    }
    latin > other
}

impl Embedder for StaticEmbedder {
    fn name(&self) -> &str {
        NAME
    }

    fn shape(&self) -> VectorShape {
        SHAPE
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> MemoryFuture<'a, Vec<Option<Vec<f32>>>> {
        Box::pin(async move { self.embed_now(texts) })
    }
}

impl StaticEmbedder {
    fn embed_now(&self, texts: &[&str]) -> MemoryResult<Vec<Option<Vec<f32>>>> {
        if self.load().is_none() {
            let why = "its table cannot be read; this program is damaged, install it again".to_owned();
            return Err(MemoryError::Refused { what: "the embedder compiled in".into(), why });
        }
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &str, other: &str) -> f32 {
        let table = StaticEmbedder::default();
        let vector = |text| table.embed_one(text).unwrap();
        vector(one).iter().zip(vector(other)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn the_name_is_that_of_the_table() {
        let sums = include_str!("../../assets/embedder/SHA256SUMS");
        let sum = sums.lines().find_map(|line| line.strip_suffix("  model.safetensors")).unwrap();
        assert_eq!(crate::model::ids::sha256_hex(MODEL), sum);
        assert!(sum.starts_with(NAME.rsplit('/').next().unwrap()), "{NAME} is not {sum}");
        assert_eq!(StaticEmbedder::default().load().unwrap().dim(), SHAPE.dimension);
    }

    #[test]
    fn the_same_in_other_words_is_nearer_than_something_else() {
        let near = cosine("Please pay the attached invoice", "The bill needs to be settled");
        let far = cosine("Please pay the attached invoice", "Lunch with the team on Friday?");
        assert!(near > far + 0.2, "{near} {far}");
    }

    #[test]
    fn what_says_nothing_has_no_vector() {
        for text in ["", "  \n", "…!?", "12 34", "חשבונית מספר אחת", "Привет, как дела"] {
            assert_eq!(StaticEmbedder::default().embed_one(text), None, "{text}");
        }
        let length: f32 = StaticEmbedder::default().embed_one("lease").unwrap().iter().map(|v| v * v).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
}
