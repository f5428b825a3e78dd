//! Texts that must never be shown: tokens, passwords, keys.

/// A text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Hidden(text.into())
    }

    /// The text, only to be sent to the server it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(purlin_value::emit::REDACTED)
    }
}
