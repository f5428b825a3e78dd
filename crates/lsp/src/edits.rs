//! Applies an editor's changes to a text.

use purlin_ide::offset_utf16;
use serde_json::Value;

/// A text after changes; a change without a range is the whole text.
pub(crate) fn apply(text: &str, changes: &Value) -> String {
    let mut text = text.to_owned();
    for change in changes.as_array().into_iter().flatten() {
        let new = change["text"].as_str().unwrap_or("");
        match change.get("range") {
            Some(range) => {
                let start = offset(&text, &range["start"]);
                let end = offset(&text, &range["end"]).max(start);
                text.replace_range(start..end, new);
            }
            None => text = new.to_owned(),
        }
    }
    text
}

/// The byte offset of a position of the protocol.
pub(crate) fn offset(text: &str, position: &Value) -> usize {
    let number = |key: &str| u32::try_from(position[key].as_u64().unwrap_or(0)).unwrap_or(u32::MAX);
    offset_utf16(text, number("line"), number("character"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranges_count_utf16() {
        let change =
            json!([{"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 5}}, "text": "x"}]);
        assert_eq!(apply("a: 😀b\n", &change), "a: xb\n");
        assert_eq!(apply("old", &json!([{"text": "new"}])), "new");
        let beyond =
            json!([{"range": {"start": {"line": 9, "character": 3}, "end": {"line": 9, "character": 5}}, "text": "x"}]);
        assert_eq!(apply("a\n", &beyond), "a\nx");
    }
}
