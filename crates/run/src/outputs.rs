//! Outputs of an action for those that refer to it: its printed output, and the files in its output folder.

use purlin_host::named;
use serde_json::Value as Json;
use std::io::Read;
use std::path::Path;

/// Outputs by name; only plain values.
pub type Outputs = serde_json::Map<String, Json>;

/// The file in the folder of outputs that contains several at once.
pub const JSON_FILE: &str = ".outputs.json";

/// Names reserved by the engine.
const RESERVED: [&str; 3] = ["log", "stdout", "stderr"];

/// An output is kept in memory and passed to others; a larger one is a mistake.
pub const LONGEST: u64 = 4 << 20;

/// Reads the outputs of a command. The second part lists outputs that were left out, with the reasons.
pub fn read(folder: &Path) -> Result<(Outputs, Vec<String>), String> {
    let entries = named::list(folder).map_err(|error| format!("could not read the outputs folder: {error}"))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    of(names, &mut |name| read_text(&folder.join(name)).ok())
}

/// A text, or why it cannot be an output; none if it is not a file.
pub type Text = Option<Result<String, &'static str>>;

/// The outputs of files with these names, sorted.
pub fn of(names: Vec<String>, read: &mut dyn FnMut(&str) -> Text) -> Result<(Outputs, Vec<String>), String> {
    let mut outputs = Outputs::new();
    let mut skipped = Vec::new();
    if names.iter().any(|name| name == JSON_FILE)
        && let Some(text) = read(JSON_FILE)
    {
        let text = text.map_err(|why| format!("the outputs file `{JSON_FILE}` {why}"))?;
        let parsed = serde_json::from_str(&text);
        let Ok(Json::Object(map)) = parsed else {
            return Err(format!("the outputs file `{JSON_FILE}` is not a JSON object"));
        };
        for (key, value) in map {
            match refused(&key) {
                Some(why) => skipped.push(format!("output `{key}` {why}")),
                None if value.is_object() || value.is_array() => {
                    skipped.push(format!("output `{key}` is not a string, number, boolean or null"));
                }
                None => {
                    outputs.insert(key, value);
                }
            }
        }
    }
    for name in names.into_iter().filter(|name| !name.starts_with('.')) {
        if let Some(why) = refused(&name) {
            skipped.push(format!("output `{name}` {why}"));
            continue;
        }
        match read(&name) {
            Some(Ok(mut text)) => {
                // One trailing newline belongs to the shell, not to the value.
                if text.ends_with(['\n', '\r']) {
                    text.pop();
                }
                outputs.insert(name, Json::String(text));
            }
            Some(Err(why)) => skipped.push(format!("output `{name}` {why}")),
            None => skipped.push(format!("output `{name}` is not a file")),
        }
    }
    Ok((outputs, skipped))
}

/// Why a name is not allowed for an output.
fn refused(name: &str) -> Option<&'static str> {
    if RESERVED.contains(&name) {
        return Some("has a reserved name");
    }
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    let rest = chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (!first || !rest).then_some("does not have a valid name (letters, digits, `_` and `-`)")
}

/// The text of a regular file; the inner error is why it cannot be an output.
fn read_text(path: &Path) -> std::io::Result<Result<String, &'static str>> {
    let mut bytes = Vec::new();
    named::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(text_of(bytes))
}

/// Bytes as the text of an output.
pub fn text_of(bytes: Vec<u8>) -> Result<String, &'static str> {
    if bytes.len() as u64 > LONGEST {
        return Err("is larger than 4 MiB");
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("purlin-outputs-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn files_override_the_json_file_and_lose_one_newline() {
        let folder = folder("override");
        std::fs::write(folder.join(JSON_FILE), r#"{"a": 1, "b": {"c": 2}, "log": "x", "ok": true}"#).unwrap();
        std::fs::write(folder.join("a"), "two\n\n").unwrap();
        std::fs::write(folder.join("9x"), "no").unwrap();
        std::fs::create_dir(folder.join("dir")).unwrap();
        let (outputs, skipped) = read(&folder).unwrap();
        assert_eq!(serde_json::to_string(&outputs).unwrap(), r#"{"a":"two\n","ok":true}"#);
        assert_eq!(skipped.len(), 4, "{skipped:?}");
    }

    #[test]
    fn a_broken_json_file_is_an_error() {
        let folder = folder("broken");
        std::fs::write(folder.join(JSON_FILE), "[1]").unwrap();
        assert!(read(&folder).is_err());
    }
}
