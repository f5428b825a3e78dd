//! Makes paths in a configuration absolute.
//!
//! Works on text only and does not access the disk.

use purlin_value::path;
use std::borrow::Cow;

/// A path as seen from a folder. Empty and absolute paths and addresses (`https://…`) stay as they are.
pub fn absolute<'t>(base: &str, text: Cow<'t, str>) -> Cow<'t, str> {
    if text.is_empty() || text.starts_with('/') || is_address(&text) {
        return text;
    }
    Cow::Owned(path::join(base, &text))
}

/// Whether a text is an address rather than a path.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_absolute_paths_stay() {
        for (text, expected) in [
            ("k8s/*.yaml", "/b/k8s/*.yaml"),
            ("./x/../y", "/b/y"),
            ("..", "/"),
            ("/x/../y", "/x/../y"),
            ("", ""),
            ("https://x/y", "https://x/y"),
            ("{{.X}}/y", "/b/{{.X}}/y"),
        ] {
            assert_eq!(absolute("/b", Cow::Borrowed(text)), expected);
        }
    }
}
