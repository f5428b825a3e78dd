//! Variables on the command line that are unknown in the project.
//!
//! Dialects let `--var` set any name, because an action may declare or read it. A name that no file of the project
//! mentions as a variable has no effect, so it is a mistake in spelling.

use purlin_model::Resolved;
use purlin_syntax::{FileId, Source, suggest};
use purlin_value::{Read, Session};
use std::sync::Arc;

/// Reports variables on the command line that the project does not declare or read.
#[derive(Default)]
pub(crate) struct Unknown {
    /// Unknown variables, which have no effect.
    pub variables: Vec<String>,
    /// Parts of unknown variables: they are added to the variable's value.
    pub parts: Vec<String>,
}

/// Checks variables that were set (`NAME=VALUE`). `more` is further text that may read them.
pub(crate) fn undeclared(session: &Session, resolved: Option<&Resolved>, set: &[String], more: &str) -> Unknown {
    let mut unknown = Unknown::default();
    if set.is_empty() {
        return unknown;
    }
    let sources = sources(session);
    for text in set {
        // `a.b` and `a[0]` set a part of `a`.
        let whole = text.split_once('=').map_or(text.as_str(), |(name, _)| name);
        let first = whole.split(['.', '[']).next().unwrap_or(whole);
        let is_known = |name: &str| mentions(more, name) || sources.iter().any(|s| mentions(s.text(), name));
        if is_known(whole) {
            continue;
        }
        if is_known(first) {
            let unknown_part = parts(whole).skip(1).find(|part| !is_known(part));
            if let Some(part) = unknown_part {
                let near = suggest::did_you_mean(part, sources.iter().flat_map(|source| keys(source.text())));
                let hint = near.unwrap_or_else(|| "no file of the project declares or reads it".into());
                unknown.parts.push(format!("`--var {whole}` adds the unknown key `{part}` to `{first}`; {hint}"));
            }
            continue;
        }
        let declared = resolved.and_then(|resolved| resolved.variables.as_map());
        let declared = declared.into_iter().flat_map(|map| map.keys()).map(|key| key.as_str());
        let keys = sources.iter().filter(|_| resolved.is_none()).flat_map(|source| keys(source.text()));
        let near = suggest::did_you_mean(first, declared.chain(keys).filter(|key| *key != first));
        let hint = near.unwrap_or_else(|| "no file of the project declares or reads it".into());
        unknown.variables.push(format!("unknown variable `{whole}`; {hint}"));
    }
    unknown
}

/// Reports paths of `--pending` (`PATH[=WHAT]`) that nothing in the project refers to.
pub(crate) fn unreferenced(session: &Session, pending: &[String]) -> Vec<String> {
    if pending.is_empty() {
        return Vec::new();
    }
    // Templates of charts are read as bytes, and archives as a whole; the contents of archives are not searched.
    let read = session.reads().into_iter().filter_map(|read| match read {
        Read::File(path) => session.load_bytes(&path).ok(),
        _ => None,
    });
    let texts: Vec<String> = read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let message = |text: &String| {
        let path = text.split_once('=').map_or(text.as_str(), |(path, _)| path);
        let is_known = |part: &&str| texts.iter().any(|text| mentions(text, part));
        let part = parts(path).find(|part| !ROOTS.contains(part) && !is_known(part))?;
        let near = suggest::did_you_mean(part, texts.iter().flat_map(|text| keys(text)));
        let hint = near.unwrap_or_else(|| "no file of the project mentions it".into());
        Some(format!("`--pending {path}`: unknown `{part}`; {hint}"))
    };
    pending.iter().filter_map(message).collect()
}

/// First parts of paths that need not be mentioned in any file.
const ROOTS: &[&str] = &["local", "env", "*", "Values"];

/// The names in a path; numbers are list indices.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let is_name = |part: &&str| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit());
    path.split(['.', '[', ']', '"', '\'']).filter(is_name)
}

fn sources(session: &Session) -> Vec<Arc<Source>> {
    (0..session.sources.len()).filter_map(|at| session.sources.get(FileId(u32::try_from(at).ok()?))).collect()
}

/// Words before colons that look like names.
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
