//! Reference tables made from the lists of the dialect, for the documentation.

use crate::functions::FUNCTIONS;
use crate::phases::{KEYS, PHASES};

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

/// Which keys exist in which phase, as a page.
pub fn phases_page() -> String {
    let mut page = String::from(
        "# Which template keys exist when\n\nGarden resolves a project in phases; each sees what came before it. This page is made from the tables of \
         the dialect.\n\n",
    );
    let always: Vec<String> =
        KEYS.iter().filter(|key| key.phase.is_empty()).map(|key| format!("`{}`", key.name)).collect();
    page.push_str(&format!(
        "These exist everywhere: {}. `item` exists inside `$forEach`.\n\n| Phase | Further keys |\n|---|---|\n",
        always.join(", ")
    ));
    for phase in PHASES {
        let keys: Vec<String> = phase.keys.iter().map(|key| format!("`{key}`")).collect();
        page.push_str(&format!("| {} | {} |\n", phase.what, keys.join(", ")));
    }
    page.push_str("\n## What they hold\n\n");
    page.push_str(&keys_table());
    page
}

/// All keys of templates, and from when on they exist, as a Markdown table.
pub fn keys_table() -> String {
    let mut table = String::from("| Key | Exists | Holds |\n|---|---|---|\n");
    for key in KEYS {
        let phase = if key.phase.is_empty() { "always" } else { key.phase };
        table.push_str(&format!("| `{}` | {phase} | {} |\n", key.name, key.sentence()));
    }
    table
}
