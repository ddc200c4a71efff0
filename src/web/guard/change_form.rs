//! The fields of a form that changes something.

/// The fields of a change, after its proofs were checked.
#[derive(Debug, Clone)]
pub(in crate::web) struct ChangeForm(Vec<(String, String)>);

impl ChangeForm {
    pub(super) fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// Returns the first field of this name; an empty text when there is none.
    pub(in crate::web) fn get(&self, name: &str) -> &str {
        self.get_all(name).next().unwrap_or_default()
    }

    /// Returns every field of this name.
    pub(in crate::web) fn get_all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the digest of what the person was shown. The nonce vouches for it.
    pub(in crate::web) fn seen(&self) -> &str {
        self.get("seen")
    }
}
