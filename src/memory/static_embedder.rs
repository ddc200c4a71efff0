//! The embedder that is compiled in: a table with one vector per token (model2vec). The vector of a text is the mean of
//! its tokens' vectors. It knows English only.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU32, Ordering},
};

use model2vec_rs::model::StaticModel;

use super::{
    index::VectorShape,
    traits::{Embedder, MemoryError, MemoryFuture, MemoryResult},
};
use crate::document::EmbedFn;

const MODEL: &[u8] = include_bytes!("../../assets/embedder/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("../../assets/embedder/tokenizer.json");
const CONFIG: &[u8] = include_bytes!("../../assets/embedder/config.json");
/// The name of the embedder. It contains the start of the table's SHA-256: another table is another embedder.
const NAME: &str = "minilm-l6-static-192/40cedc76";
/// The dimensions are sorted by variance. The last third contributes 15 % of a vector, so the binary code leaves it
/// out.
const SHAPE: VectorShape = VectorShape { dimension: 192, binary_dimensions: 128 };

/// The table is freed by the second call of `unload_if_idle` in a row without a text in between. Loading it again takes
/// no longer than two commits on a slow disk; keeping it would double the memory of an idle daemon.
const UNLOAD_AFTER: u32 = 1;

/// The embedder that is compiled in. Cheap to clone; its table is loaded when it is first needed.
#[derive(Clone, Default)]
pub struct StaticEmbedder(Arc<StaticEmbedderState>);

/// The table, shared by all clones.
#[derive(Default)]
struct StaticEmbedderState {
    model: RwLock<Option<StaticModel>>,
    /// How often `unload_if_idle` was called since the last text.
    unused: AtomicU32,
}

impl StaticEmbedder {
    /// Returns the table, loading it if necessary; none when the program file is damaged. The model is a cheap handle
    /// too.
    pub fn load(&self) -> Option<StaticModel> {
        self.0.unused.store(0, Ordering::Relaxed);
        if let Some(model) = &*self.0.model.read().unwrap_or_else(PoisonError::into_inner) {
            return Some(model.clone());
        }
        let mut slot = self.0.model.write().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let loaded = StaticModel::from_bytes(TOKENIZER, MODEL, CONFIG, None);
            *slot = loaded.inspect_err(|error| tracing::error!(%error, "the embedder compiled in cannot be read")).ok();
        }
        slot.clone()
    }

    /// Frees the table if no text was embedded for a while.
    pub(super) fn unload_if_idle(&self) {
        if self.0.unused.fetch_add(1, Ordering::Relaxed) == UNLOAD_AFTER {
            self.0.model.write().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// Returns the vector of a text, or none for a text without a word that the table knows.
    pub fn embed_one(&self, text: &str) -> Option<Vec<f32>> {
        if !is_mostly_latin(text) {
            return None;
        }
        // The model normalises to length 1, unless it knows no token of the text.
        Some(self.load()?.encode_single(text)).filter(|vector| vector.iter().any(|value| *value != 0.0))
    }

    /// Returns a function for the store's writer, which commits documents together with their vectors.
    pub fn embed_fn(&self) -> EmbedFn {
        let embedder = self.clone();
        Arc::new(move |text| embedder.embed_one(text))
    }
}

/// Returns whether most letters of a text are Latin. Of other scripts the table knows only single letters, which would
/// make all texts of one script look alike.
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
    /// Embeds texts on the calling thread. An unreadable table is an error rather than a lack of vectors.
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
        let embedder = StaticEmbedder::default();
        let vector = |text| embedder.embed_one(text).unwrap();
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
