//! Reference tables made from the lists of the dialect, for the documentation.

use crate::functions::FUNCTIONS;
use crate::phases::KEYS;

/// All helper functions as a Markdown table.
pub fn functions_table() -> String {
    let mut table = String::from("| Function | Does | Example |\n|---|---|---|\n");
    for function in FUNCTIONS {
        let (call, result) = function.example;
        let example = if call.is_empty() { String::new() } else { format!("`{call}` → `{}`", result.trim_end()) };
        table.push_str(&format!("| `{}` | {} | {example} |\n", function.signature(), function.summary));
    }
    table
}

/// All keys of templates, and from when on they exist, as a Markdown table.
pub fn keys_table() -> String {
    let mut table = String::from("| Key | Exists | Holds |\n|---|---|---|\n");
    for key in KEYS {
        let phase = if key.phase.is_empty() { "always" } else { key.phase };
        table.push_str(&format!("| `{}` | {phase} | {} |\n", key.name, key.doc));
    }
    table
}
