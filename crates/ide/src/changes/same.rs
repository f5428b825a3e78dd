//! Whether a project has the same result after a rename, up to the name.
//!
//! Names of variables, values and templates are not part of the result, so that nothing may change but the keys of the
//! mappings that declare them. Names of actions, nodes and types are part of it: there the new name replaces the old
//! one, and hashes of content that includes it differ.

use purlin_compiler::VariantResult;
use purlin_model::{Manifest, Node, Resolved};
use purlin_syntax::Severity;
use purlin_value::names::kind;
use purlin_value::{Data, EcoString, Map, Value};
use std::collections::BTreeMap;

/// An old name and its replacement.
pub(crate) struct Renaming<'a> {
    /// The kind of the name.
    pub kind: &'static str,
    /// The old name.
    pub old: &'a str,
    /// The new name.
    pub new: &'a str,
}

/// A difference after a rename, in words.
pub(crate) type Difference = String;

/// Where the keys of mappings may have the new name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Same,
    Renamed,
}

/// Kinds of names that are not part of a project's result.
const INNER: &[&str] = &[kind::VARIABLE, kind::VALUE, kind::NAMED_TEMPLATE, kind::STEP, kind::INPUT, kind::TEMPLATE];

/// Compares all variants before and after.
pub(crate) fn compare(
    before: &[VariantResult],
    after: &[VariantResult],
    renaming: &Renaming<'_>,
) -> Result<(), Difference> {
    if before.len() != after.len() {
        return Err("the project would have other variants".into());
    }
    for (before, after) in before.iter().zip(after) {
        let told = |what: String| match before.variant.is_empty() {
            true => what,
            false => format!("{what} ({} `{}`)", before.noun, before.variant),
        };
        renaming.problems(before, after).map_err(told)?;
        match (&before.resolved, &after.resolved) {
            (Some(one), Some(other)) => renaming.resolved(one, other).map_err(told)?,
            (None, None) => {}
            _ => return Err(told("the project could not be resolved".into())),
        }
    }
    Ok(())
}

impl Renaming<'_> {
    fn is_inner(&self) -> bool {
        INNER.contains(&self.kind)
    }

    /// Reports new problems.
    fn problems(&self, before: &VariantResult, after: &VariantResult) -> Result<(), Difference> {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        before.problems.iter().for_each(|problem| *known.entry(problem.rule.name).or_default() += 1);
        for problem in &after.problems {
            match known.get_mut(problem.rule.name).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => {
                    let severity = if problem.severity == Severity::Error { "an error" } else { "a warning" };
                    return Err(format!("it would cause {severity}: {}", problem.message));
                }
            }
        }
        Ok(())
    }

    fn resolved(&self, before: &Resolved, after: &Resolved) -> Result<(), Difference> {
        self.text(&before.project, &after.project, "the project's name")?;
        self.text(&before.environment, &after.environment, "the environment")?;
        let declares = if self.is_inner() { Keys::Renamed } else { Keys::Same };
        self.value(&before.variables, &after.variables, declares, &mut vec!["variables".into()])?;
        self.value(&before.outputs, &after.outputs, Keys::Same, &mut vec!["outputs".into()])?;
        if before.nodes.len() != after.nodes.len() {
            return Err(format!(
                "the project would have {} nodes instead of {}",
                after.nodes.len(),
                before.nodes.len()
            ));
        }
        self.nodes(before, after)?;
        if before.manifests.len() != after.manifests.len() {
            let (now, then) = (after.manifests.len(), before.manifests.len());
            return Err(format!("{now} objects would be rendered instead of {then}"));
        }
        for (one, other) in self.in_order(&before.manifests).into_iter().zip(self.in_order(&after.manifests)) {
            let text = |text: &Option<EcoString>| text.clone().unwrap_or_default();
            self.value(&one.value, &other.value, Keys::Same, &mut vec![one.node.to_string()])?;
            self.text(&text(&one.text), &text(&other.text), &one.node)?;
        }
        Ok(())
    }

    /// Objects in an order that does not depend on the name.
    fn in_order<'m>(&self, manifests: &'m [Manifest]) -> Vec<&'m Manifest> {
        let mut ordered: Vec<&Manifest> = manifests.iter().collect();
        if !self.is_inner() {
            ordered.sort_by_cached_key(|manifest| self.plain(&manifest.node));
        }
        ordered
    }

    fn nodes(&self, before: &Resolved, after: &Resolved) -> Result<(), Difference> {
        // The order may depend on names.
        let sorted = |resolved: &'_ Resolved| -> BTreeMap<String, usize> {
            resolved.nodes.iter().enumerate().map(|(at, node)| (self.plain(&node.id), at)).collect()
        };
        let (one, other) = (sorted(before), sorted(after));
        for (id, at) in &one {
            let node = other.get(id).and_then(|at| after.nodes.get(*at));
            let (Some(before), Some(after)) = (before.nodes.get(*at), node) else {
                return Err(format!("`{id}` would be missing"));
            };
            self.node(before, after)?;
        }
        Ok(())
    }

    fn node(&self, before: &Node, after: &Node) -> Result<(), Difference> {
        let id = before.id.as_str();
        self.text(&before.type_name, &after.type_name, &format!("the type of `{id}`"))?;
        if before.disabled != after.disabled {
            return Err(format!("`{id}` would be switched {}", if after.disabled { "off" } else { "on" }));
        }
        let needs = |node: &Node| {
            let mut needs: Vec<String> = node.dependencies.iter().map(|one| self.plain(&one.node)).collect();
            needs.sort();
            needs
        };
        if needs(before) != needs(after) {
            return Err(format!("`{id}` would have other dependencies"));
        }
        // Objects rendered by a chart contain no names of values; the configuration that sets them does.
        let keys = match self.kind {
            kind::VALUE if before.inside.is_none() && before.dialect != "charts" => Keys::Renamed,
            _ => Keys::Same,
        };
        self.value(&before.resolved, &after.resolved, keys, &mut vec![id.to_owned()])?;
        self.value(&before.outputs, &after.outputs, Keys::Same, &mut vec![id.to_owned(), "outputs".into()])
    }

    /// Depth is bounded by the resolution.
    fn value(&self, before: &Value, after: &Value, keys: Keys, path: &mut Vec<String>) -> Result<(), Difference> {
        let is_same = match (&before.data, &after.data) {
            (Data::Map(one), Data::Map(other)) => return self.map(one, other, keys, path),
            (Data::List(one), Data::List(other)) => {
                if one.len() != other.len() {
                    return Err(format!("`{}` would have {} items instead of {}", shown(path), other.len(), one.len()));
                }
                for (index, (one, other)) in one.iter().zip(other.iter()).enumerate() {
                    path.push(index.to_string());
                    self.value(one, other, keys, path)?;
                    path.pop();
                }
                return Ok(());
            }
            (Data::Str(one), Data::Str(other)) => self.plain(one) == self.plain(other),
            // A pending value is represented by its expression.
            (Data::Pending(one), Data::Pending(other)) => one.tasks.len() == other.tasks.len(),
            (Data::Lazy(_), Data::Lazy(_)) => true,
            _ => before == after,
        };
        if is_same {
            return Ok(());
        }
        let quoted = |value: &Value| match &value.data {
            Data::Str(text) if text.len() <= 60 && !text.contains('\n') => Some(format!("`{text}`")),
            Data::Null => Some("`null`".to_owned()),
            Data::Bool(_) | Data::Int(_) | Data::Float(_) => purlin_value::emit::to_json(
                value,
                purlin_value::Secrets::Hide,
                purlin_syntax::write::JsonLayout::Compact,
            )
            .ok()
            .map(|text| format!("`{text}`")),
            _ => None,
        };
        let is_secret = before.is_tainted() || after.is_tainted();
        match (quoted(before), quoted(after)) {
            (Some(one), Some(other)) if !is_secret => {
                Err(format!("`{}` would be {other} instead of {one}", shown(path)))
            }
            _ => Err(format!("`{}` would change", shown(path))),
        }
    }

    fn map(&self, before: &Map, after: &Map, keys: Keys, path: &mut Vec<String>) -> Result<(), Difference> {
        let inner = |key: &str| match self.kind {
            kind::VARIABLE if key == "variables" => Keys::Renamed,
            kind::INPUT if key == "inputs" || key == "variables" => Keys::Renamed,
            _ => keys,
        };
        for (key, value) in before.iter() {
            path.push(key.to_string());
            let same = after.get(key);
            let renamed = (keys == Keys::Renamed && key == self.old).then(|| after.get(self.new)).flatten();
            let other = match self.is_inner() {
                true => same.into_iter().chain(renamed).collect::<Vec<_>>(),
                false => {
                    let wanted = self.plain(key);
                    let alike = || after.iter().find(|(key, _)| self.plain(key) == wanted).map(|(_, value)| value);
                    same.or_else(alike).into_iter().collect()
                }
            };
            let Some((last, first)) = other.split_last() else {
                return Err(format!("`{}` would be missing", shown(path)));
            };
            // A name may stay in one scope and change in another; one of the two entries must match.
            let depth = path.len();
            let is_first = first.iter().any(|other| self.value(value, other, inner(key), path).is_ok());
            path.truncate(depth);
            if !is_first {
                self.value(value, last, inner(key), path)?;
            }
            path.pop();
        }
        let is_known = |key: &str| match self.is_inner() {
            true => {
                let is_new = keys == Keys::Renamed && key == self.new && before.contains_key(self.old);
                before.contains_key(key) || is_new
            }
            false => before.len() == after.len() || before.keys().any(|known| self.plain(known) == self.plain(key)),
        };
        match after.keys().find(|key| !is_known(key)) {
            Some(key) => Err(format!("`{}` would have a new key `{key}`", shown(path))),
            None => Ok(()),
        }
    }

    fn text(&self, before: &str, after: &str, what: &str) -> Result<(), Difference> {
        if self.plain(before) == self.plain(after) { Ok(()) } else { Err(format!("{what} would change")) }
    }

    /// A text without the parts that a rename may change: versions, and the name itself if it is part of the result.
    fn plain(&self, text: &str) -> String {
        if self.is_inner() {
            return without_hashes(text, "v-");
        }
        // One name may contain the other.
        let (longer, shorter) =
            if self.old.len() < self.new.len() { (self.new, self.old) } else { (self.old, self.new) };
        without_hashes(&text.replace(longer, NAME).replace(shorter, NAME), "")
    }
}

/// Placeholder for both names.
const NAME: &str = "\u{1}";

/// Minimum length of a hash.
const HASH: usize = 10;

/// A text with a placeholder for every hash after a mark.
fn without_hashes(text: &str, mark: &str) -> String {
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = rest.strip_prefix(mark).unwrap_or("");
        let length = behind.bytes().take_while(is_hex).count();
        let has_digit = behind.bytes().take(length).any(|byte| byte.is_ascii_digit());
        if length >= HASH && has_digit {
            plain.push_str(mark);
            plain.push('#');
            rest = behind.get(length..).unwrap_or("");
        } else {
            plain.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or("");
        }
    }
    plain
}

fn shown(path: &[String]) -> String {
    path.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_do_not_count() {
        assert_eq!(without_hashes("api:v-0123456789 and v-12", "v-"), "api:v-# and v-12");
        assert_eq!(without_hashes("abcdefabcdef", ""), "abcdefabcdef");
    }

    #[test]
    fn names_of_actions_are_part_of_the_result() {
        let renaming = Renaming { kind: kind::ACTION, old: "api", new: "web" };
        assert_eq!(renaming.plain("registry/web:1"), renaming.plain("registry/api:1"));
        let part = Renaming { kind: kind::ACTION, old: "api-2", new: "p" };
        assert_eq!(part.plain("x/api-2"), part.plain("x/p"));
        let inner = Renaming { kind: kind::VARIABLE, ..renaming };
        assert_eq!(inner.plain("web"), "web");
    }
}
