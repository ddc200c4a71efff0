//! A token, key or password: never printed, never serialised by accident.

/// Text that only [`Secret::reveal`] returns. It has no `Debug`, `Display` or `Serialize`, so that no log line can hold
/// it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for the one place that puts it on the wire or into its file.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}
