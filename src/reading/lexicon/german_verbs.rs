//! The forms of German verbs: "schick", "schicken Sie" and "schicke ich" are all "schicken".
//!
//! Owns the grammar of single words. The verbs and the particles that are taken off them stand in `german.txt`.

use std::collections::HashMap;

use crate::reading::sentence::text::normalise;

/// Verbs by the forms in which they stand in orders and promises, all in plain letters.
#[derive(Default)]
pub(in crate::reading) struct GermanVerbs {
    /// Orders to one or several people one calls "du", as "schick", "schicke", "schickt".
    orders: HashMap<String, &'static str>,
    /// As they stand in the file, with umlauts.
    infinitives: HashMap<String, &'static str>,
    /// The longest first, so that "zurück" is not taken for "zu".
    particles: Vec<(String, &'static str)>,
}

impl GermanVerbs {
    /// Each verb is an infinitive, with an irregular order behind a stroke: "geben/gib".
    pub(super) fn new(
        verbs: impl Iterator<Item = &'static str>,
        particles: impl Iterator<Item = &'static str>,
    ) -> Self {
        let mut built = Self::default();
        for entry in verbs {
            let (infinitive, irregular) = entry.split_once('/').unwrap_or((entry, ""));
            let plain = normalise(infinitive);
            let stem = plain.strip_suffix("en").or_else(|| plain.strip_suffix('n')).unwrap_or(&plain).to_owned();
            let ending =
                if stem.ends_with(['t', 'd']) || stem.ends_with("chn") || stem.ends_with("ffn") { "et" } else { "t" };
            for form in [format!("{stem}e"), format!("{stem}{ending}"), stem] {
                built.orders.entry(form).or_insert(infinitive);
            }
            if !irregular.is_empty() {
                built.orders.insert(normalise(irregular), infinitive);
            }
            built.infinitives.insert(plain, infinitive);
        }
        built.particles = particles.map(|particle| (normalise(particle), particle)).collect();
        built.particles.sort_by_key(|(plain, _)| std::cmp::Reverse(plain.len()));
        built
    }

    /// Every form that is known, in plain letters.
    pub(in crate::reading) fn forms(&self) -> impl Iterator<Item = &str> {
        self.orders.keys().chain(self.infinitives.keys()).map(String::as_str)
    }

    /// Whether a plain word is an order to someone one calls "du".
    pub(super) fn is_order(&self, word: &str) -> bool {
        self.orders.contains_key(word)
    }

    /// The infinitive of an order or of what one does oneself ("ich schicke").
    pub(in crate::reading) fn infinitive_of(&self, word: &str) -> Option<&'static str> {
        self.orders.get(word).or_else(|| self.infinitives.get(word)).copied()
    }

    /// Whether a plain word is an infinitive, with or without its particle.
    pub(in crate::reading) fn is_infinitive(&self, word: &str) -> bool {
        let base = |word: &str| self.infinitives.contains_key(word);
        base(word) || self.particles.iter().any(|(particle, _)| word.strip_prefix(particle.as_str()).is_some_and(base))
    }

    /// The particle that a plain word is, as it is written.
    pub(in crate::reading) fn particle(&self, word: &str) -> Option<&'static str> {
        self.particles.iter().find(|(particle, _)| particle == word).map(|(_, written)| *written)
    }

    /// "abzuholen" is "abholen": where the "zu" stands in a plain word.
    pub(in crate::reading) fn find_infix(&self, word: &str) -> Option<usize> {
        self.particles.iter().find_map(|(particle, _)| {
            let base = word.strip_prefix(particle.as_str())?.strip_prefix("zu")?;
            self.infinitives.contains_key(base).then_some(particle.len())
        })
    }

    /// "mitbringst" is "mitbringen", "schickst" is "schicken".
    pub(in crate::reading) fn infinitive_of_second_person(&self, word: &str) -> Option<String> {
        let bare = |word: &str| {
            let stem = word.strip_suffix("st")?;
            let infinitive = self.infinitive_of(stem).or_else(|| self.infinitive_of(stem.strip_suffix('e')?))?;
            Some(infinitive)
        };
        if let Some(infinitive) = bare(word) {
            return Some(infinitive.to_owned());
        }
        self.particles.iter().find_map(|(particle, written)| {
            let infinitive = bare(word.strip_prefix(particle.as_str())?)?;
            Some(format!("{written}{infinitive}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::reading::{language::Language, lexicon::Lexicon};

    #[test]
    fn forms_and_their_infinitives() {
        let verbs = Lexicon::of(Language::German).german_verbs();
        for (form, infinitive) in [
            ("schick", Some("schicken")),
            ("schicke", Some("schicken")),
            ("schickt", Some("schicken")),
            ("gib", Some("geben")),
            ("gebt", Some("geben")),
            ("ueberweise", Some("überweisen")),
            ("antworte", Some("antworten")),
            ("erinnere", Some("erinnern")),
            ("schicken", Some("schicken")),
            ("haus", None),
        ] {
            assert_eq!(verbs.infinitive_of(form), infinitive, "{form}");
        }
        assert!(verbs.is_infinitive("zurueckschicken") && !verbs.is_infinitive("schick"));
        assert_eq!(verbs.find_infix("abzuholen"), Some(2));
        assert_eq!(verbs.infinitive_of_second_person("mitbringst").as_deref(), Some("mitbringen"));
        assert_eq!(verbs.particle("zurueck"), Some("zurück"));
    }
}
