//! Variables on the command line that nothing in the project knows.
//!
//! Dialects let `--var` set any name, because an action may declare or read it. A name that no file of the project
//! mentions as a variable has no effect, so it is a mistake in spelling.

use purlin_model::Resolved;
use purlin_syntax::{FileId, Source, suggest};
use purlin_value::Session;
use std::sync::Arc;

/// What is wrong with variables that were set (`NAME=VALUE`). `more` is further text that may read them.
pub(crate) fn undeclared(session: &Session, resolved: Option<&Resolved>, set: &[String], more: &str) -> Vec<String> {
    if set.is_empty() {
        return Vec::new();
    }
    let sources: Vec<Arc<Source>> =
        (0..session.sources.len()).filter_map(|at| session.sources.get(FileId(u32::try_from(at).ok()?))).collect();
    let mut messages = Vec::new();
    for text in set {
        // `a.b` and `a[0]` set a part of `a`.
        let whole = text.split_once('=').map_or(text.as_str(), |(name, _)| name);
        let first = whole.split(['.', '[']).next().unwrap_or(whole);
        let in_text = |text: &str| mentions(text, whole) || mentions(text, first);
        if in_text(more) || sources.iter().any(|source| in_text(source.text())) {
            continue;
        }
        let declared = resolved.and_then(|resolved| resolved.variables.as_map());
        let declared = declared.into_iter().flat_map(|map| map.keys()).map(|key| key.as_str());
        let keys = sources.iter().filter(|_| resolved.is_none()).flat_map(|source| keys(source.text()));
        let near = suggest::did_you_mean(first, declared.chain(keys).filter(|key| *key != first));
        let hint = near.unwrap_or_else(|| "no file of the project declares or reads it".to_owned());
        messages.push(format!("unknown variable `{whole}`; {hint}"));
    }
    messages
}

/// The words before colons, as far as they look like names.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let before = |(at, _)| text.get(..at).unwrap_or("").trim_end_matches(['"', '\'', ' ']);
    let word = move |before: &'_ str| before.len() - before.trim_end_matches(is_word).len();
    text.match_indices(':').map(before).filter_map(move |before| before.get(before.len() - word(before)..))
}

/// Whether a text declares a variable (`name:`, `name=`) or reads it (`var.name`, `var["name"]`, `get_input: name`).
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or("");
        let after = text.get(at + name.len()..).unwrap_or("");
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        let after = after.trim_start_matches(['"', '\'']).trim_start_matches([' ', '\t']);
        let declares = after.starts_with(':') || after.starts_with('=') && !after.starts_with("==");
        let before = before.trim_end_matches(['"', '\'', '[', '?', ' ']);
        let reads = [".", "var", "variables", "get_input:", "::"].iter().any(|end| before.ends_with(end));
        declares || reads
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn declarations_and_uses_count_and_other_words_do_not() {
        for text in ["replicas: 2", "{replicas: 2}", "\"replicas\" : 2", "replicas=2", "${var.replicas}"] {
            assert!(mentions(text, "replicas"), "{text}");
        }
        for text in ["var[\"replicas\"]", "get_input: replicas", "variables.replicas", "${var.replicas == 2}"] {
            assert!(mentions(text, "replicas"), "{text}");
        }
        for text in ["minReplicas: 2", "replicas-max: 2", "how many replicas there are", "# replicas == 2"] {
            assert!(!mentions(text, "replicas"), "{text}");
        }
    }
}
