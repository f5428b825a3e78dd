//! Selects the actions that a command names: by id, by name, by pattern, all of a kind.

use crate::action::Kind;
use crate::engine::Node;
use purlin_syntax::suggest;
use purlin_value::glob::Glob;
use std::collections::BTreeSet;

/// The user's selection.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Names, ids or patterns; all if empty.
    pub names: Vec<String>,
    /// The same for excluded actions.
    pub skipped: Vec<String>,
    /// Also their dependents.
    pub with_dependants: bool,
    /// Also disabled actions, if they are named.
    pub with_disabled: bool,
}

/// The selected actions of a kind, or an error message.
pub fn select(nodes: &[Node], kind: Kind, wanted: &Wanted) -> Result<Vec<usize>, String> {
    let of_kind = |node: &&(usize, &Node)| node.1.kind == kind;
    let all: Vec<(usize, &Node)> = nodes.iter().enumerate().collect();
    let candidates: Vec<(usize, &Node)> = all.iter().filter(of_kind).copied().collect();
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    if wanted.names.is_empty() {
        chosen.extend(candidates.iter().filter(|(_, node)| !node.disabled).map(|(index, _)| *index));
    }
    for name in &wanted.names {
        let found = matching(&candidates, kind, name)?;
        if let [index] = found.as_slice()
            && !is_pattern(name)
            && !wanted.with_disabled
            && nodes.get(*index).is_some_and(|node| node.disabled)
        {
            return Err(format!("`{}.{}` is disabled", kind.name(), bare(kind, name)));
        }
        let is_on = |index: &usize| wanted.with_disabled || nodes.get(*index).is_some_and(|node| !node.disabled);
        chosen.extend(found.into_iter().filter(is_on));
    }
    if wanted.with_dependants {
        chosen.extend(
            dependants(nodes, &chosen)
                .into_iter()
                .filter(|index| nodes.get(*index).is_some_and(|node| node.kind == kind && !node.disabled)),
        );
    }
    for name in &wanted.skipped {
        for index in matching(&candidates, kind, name)? {
            chosen.remove(&index);
        }
    }
    Ok(chosen.into_iter().collect())
}

/// The actions of any kind that ids, names or patterns select; without any, all except Runs. `Err` reports a wrong
/// name.
pub fn select_ids(nodes: &[Node], names: &[String]) -> Result<Vec<usize>, String> {
    let all = || nodes.iter().enumerate().filter(|(_, node)| !node.disabled);
    if names.is_empty() {
        return Ok(all().filter(|(_, node)| node.kind != Kind::Run).map(|(index, _)| index).collect());
    }
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for name in names {
        let glob = Glob::new(name);
        let is_meant = |node: &Node| {
            let own = bare(node.kind, &node.id);
            if is_pattern(name) { glob.matches(&node.id) || glob.matches(own) } else { node.id == *name || own == name }
        };
        let found: Vec<usize> = all().filter(|(_, node)| is_meant(node)).map(|(index, _)| index).collect();
        if found.is_empty() {
            return Err(no_action(name, nodes.iter().map(|node| node.id.as_str())));
        }
        chosen.extend(found);
    }
    Ok(chosen.into_iter().collect())
}

/// The names of actions as patterns, each of which matches some id. `Err` reports one that does not.
pub fn patterns<'n>(ids: impl Iterator<Item = &'n str> + Clone, names: &[String]) -> Result<Vec<Glob>, String> {
    let pattern = |name: &String| {
        let glob = Glob::new(name);
        match ids.clone().any(|id| glob.matches(id)) {
            true => Ok(glob),
            false => Err(no_action(name, ids.clone())),
        }
    };
    names.iter().map(pattern).collect()
}

/// The message for an unknown action, with a suggestion.
pub fn no_action<'n>(name: &str, ids: impl Iterator<Item = &'n str>) -> String {
    let hint = suggest::did_you_mean(name, ids).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("unknown action `{name}`{hint}")
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A name without the kind as a prefix.
fn bare(kind: Kind, name: &str) -> &str {
    name.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

fn matching(candidates: &[(usize, &Node)], kind: Kind, name: &str) -> Result<Vec<usize>, String> {
    let wanted = bare(kind, name);
    let glob = Glob::new(wanted);
    let is_meant = |node: &Node| {
        let own = bare(kind, &node.id);
        if is_pattern(wanted) { glob.matches(own) } else { own == wanted }
    };
    let found: Vec<usize> = candidates.iter().filter(|(_, node)| is_meant(node)).map(|(index, _)| *index).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = candidates.iter().map(|(_, node)| bare(kind, &node.id));
    let hint = suggest::did_you_mean(wanted, names).map(|hint| format!("; {hint}")).unwrap_or_default();
    Err(format!("unknown {} action `{wanted}`{hint}", kind.name()))
}

/// All direct and indirect dependents of some actions.
pub fn dependants(nodes: &[Node], of: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for need in &node.needs {
            if let Some(list) = needed_by.get_mut(need.node) {
                list.push(index);
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = of.iter().copied().collect();
    while let Some(next) = open.pop() {
        for &index in needed_by.get(next).map_or(&[][..], Vec::as_slice) {
            if found.insert(index) {
                open.push(index);
            }
        }
    }
    &found - of
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::engine::Need;

    fn nodes() -> Vec<Node> {
        let node = |id: &str, needs: &[usize], disabled: bool| Node {
            id: id.to_owned(),
            kind: Kind::of(id).unwrap(),
            disabled,
            needs: needs.iter().map(|node| Need { node: *node, is_runtime: false, is_explicit: true }).collect(),
            span: None,
        };
        vec![
            node("build.api", &[], false),
            node("deploy.db", &[], false),
            node("deploy.api", &[0, 1], false),
            node("deploy.web", &[2], false),
            node("deploy.old", &[], true),
        ]
    }

    fn asked(names: &[&str], skipped: &[&str], with_dependants: bool) -> Result<Vec<usize>, String> {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let (names, skipped) = (texts(names), texts(skipped));
        select(&nodes(), Kind::Deploy, &Wanted { names, skipped, with_dependants, ..Wanted::default() })
    }

    #[test]
    fn names_ids_patterns_and_what_depends_on_them() {
        assert_eq!(asked(&[], &[], false).unwrap(), [1, 2, 3]);
        assert_eq!(asked(&["deploy.db"], &[], false).unwrap(), [1]);
        assert_eq!(asked(&["*b"], &["web"], false).unwrap(), [1]);
        assert_eq!(asked(&["db"], &[], true).unwrap(), [1, 2, 3]);
        assert_eq!(asked(&["db"], &["web"], true).unwrap(), [1, 2]);
        assert_eq!(asked(&["o*"], &[], false).unwrap(), [] as [usize; 0]);
        assert!(asked(&["old"], &[], false).unwrap_err().contains("disabled"));
        assert!(asked(&["apy"], &[], false).unwrap_err().contains("did you mean"));
    }
}
