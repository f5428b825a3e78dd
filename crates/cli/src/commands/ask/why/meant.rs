//! The value that the words of `purlin why` name: a node and a field, each exact or by its end. Knows nothing of
//! printing.

use crate::commands::resolve::{MOST_CANDIDATES, unknown_node};
use purlin_compiler::rules::{UNKNOWN_FIELD, UNKNOWN_NODE};
use purlin_compiler::wholes;
use purlin_model::{Node, Resolved};
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::Value;

/// A value that was named.
pub(super) struct Meant<'r> {
    /// The id of the node, or `variables` and the like.
    pub name: &'r str,
    /// The whole node.
    pub root: Value,
    /// The path of the value below it; empty for the whole.
    pub field: String,
}

/// The value that the words name. A name stands for the nodes that end in it, a field for the paths that end in it:
/// what is exact comes first, and what names several values names none.
pub(super) fn meant<'r>(resolved: &'r Resolved, name: &str, field: Option<&str>) -> Result<Meant<'r>, Box<Diagnostic>> {
    let Some(field) = field else {
        return whole_or_one_word(resolved, name).ok_or_else(|| Box::new(unknown(resolved, name)));
    };
    let exact = whole(resolved, name);
    let nodes = match exact {
        Some(exact) => vec![exact],
        None => ending_in(resolved, name).into_iter().map(|node| (node.id.as_str(), node.whole())).collect(),
    };
    let with_field: Vec<&(&str, Value)> = nodes.iter().filter(|(_, value)| value.at(field).is_some()).collect();
    match (nodes.as_slice(), with_field.as_slice()) {
        ([], _) => Err(Box::new(unknown_node(resolved, name))),
        (_, [(name, root)]) => Ok(Meant { name, root: root.clone(), field: field.to_owned() }),
        (_, []) => by_end(resolved, &nodes, name, field),
        (_, several) => Err(Box::new(several_nodes(several, name, field))),
    }
}

/// The value whose path ends in a field that none of the nodes has at its top.
fn by_end<'r>(
    resolved: &Resolved,
    nodes: &[(&'r str, Value)],
    name: &str,
    field: &str,
) -> Result<Meant<'r>, Box<Diagnostic>> {
    let in_node = |(id, root): &(&'r str, Value)| -> Vec<(&'r str, String)> {
        paths_ending_in(root, field).into_iter().map(|path| (*id, path)).collect()
    };
    let pairs: Vec<(&str, String)> = nodes.iter().flat_map(in_node).collect();
    match (pairs.as_slice(), nodes) {
        ([(id, path)], _) => {
            let root = nodes.iter().find(|(known, _)| known == id).map(|(_, root)| root.clone());
            root.map(|root| Meant { name: id, root, field: path.clone() })
                .ok_or_else(|| Box::new(unknown_node(resolved, name)))
        }
        ([], [(id, root)]) => Err(Box::new(unknown_field(root, id, field))),
        ([], _) => Err(Box::new(unknown_node(resolved, name))),
        (several, _) => {
            let message = format!("`{field}` is ambiguous: {} fields of `{name}` end in it", several.len());
            let shown: Vec<String> =
                several.iter().take(MOST_CANDIDATES).map(|(id, path)| format!("`{id} {path}`")).collect();
            let more = if several.len() > MOST_CANDIDATES { ", …" } else { "" };
            let hint = format!("name one of {}{more}", shown.join(", "));
            Err(Box::new(Diagnostic::nowhere(&UNKNOWN_FIELD, message).hint(hint)))
        }
    }
}

/// The node of a name without a field. Both may also be written as one word.
fn whole_or_one_word<'r>(resolved: &'r Resolved, name: &str) -> Option<Meant<'r>> {
    let by_end = || match ending_in(resolved, name).as_slice() {
        [one] => Some((one.id.as_str(), one.whole())),
        _ => None,
    };
    if let Some((name, root)) = whole(resolved, name).or_else(by_end) {
        return Some(Meant { name, root, field: String::new() });
    }
    // `why` and `diff` print a space between the two.
    let mut cuts = name.rmatch_indices(['.', ' ']).map(|(at, _)| (name.get(..at), name.get(at + 1..)));
    cuts.find_map(|(node, field)| {
        let (name, root) = whole(resolved, node?)?;
        Some(Meant { name, root, field: field?.to_owned() })
    })
}

/// The target of an exact name: a node, or the variables or outputs of the project.
pub(super) fn whole<'r>(resolved: &'r Resolved, name: &str) -> Option<(&'r str, Value)> {
    let node = resolved.nodes.iter().find(|node| node.id == name).map(|node| (node.id.as_str(), node.whole()));
    node.or_else(|| wholes(resolved).find(|(known, _)| *known == name))
}

/// The nodes whose ids end in a name: `Deployment/web`, `web`.
fn ending_in<'r>(resolved: &'r Resolved, name: &str) -> Vec<&'r Node> {
    let ends = |node: &&Node| node.id.strip_suffix(name).is_some_and(|above| above.ends_with(['.', '/']));
    resolved.nodes.iter().filter(ends).collect()
}

/// Reports an unknown node. If nodes have a field of that name, offers them.
fn unknown(resolved: &Resolved, name: &str) -> Diagnostic {
    let at = |value: &Value| value.at(name).map(|_| name.to_owned()).or_else(|| first_ending_in(value, name));
    let with: Vec<(&str, String)> = wholes(resolved).filter_map(|(id, value)| Some((id, at(&value)?))).collect();
    if with.is_empty() || resolved.nodes.iter().any(|node| node.id.rsplit(['.', '/']).next() == Some(name)) {
        return unknown_node(resolved, name);
    }
    let shown: Vec<String> = with.iter().take(MOST_CANDIDATES).map(|(id, path)| format!("`{id} {path}`")).collect();
    let more = if with.len() > MOST_CANDIDATES { ", …" } else { "" };
    let message = format!("`{name}` is a field; name its node too");
    let hint = format!("it is in {}{more}", shown.join(", "));
    Diagnostic::nowhere(&UNKNOWN_NODE, message).hint(hint)
}

/// Several nodes whose ids end in a name have the field: only these are offered.
fn several_nodes(several: &[&(&str, Value)], name: &str, field: &str) -> Diagnostic {
    let shown: Vec<String> = several.iter().take(MOST_CANDIDATES).map(|(id, _)| format!("`{id}`")).collect();
    let more = if several.len() > MOST_CANDIDATES { ", …" } else { "" };
    let message = format!("`{name}` is ambiguous: {} nodes of that name have a field `{field}`", several.len());
    let hint = format!("name one of {}{more}", shown.join(", "));
    Diagnostic::nowhere(&UNKNOWN_NODE, message).hint(hint)
}

pub(super) fn unknown_field(value: &Value, node: &str, field: &str) -> Diagnostic {
    let message = format!("`{node}` has no field `{field}`");
    // The longest existing part of the path decides where to look for suggestions.
    let cuts =
        field.rmatch_indices('.').map(|(at, _)| (field.get(..at).unwrap_or(""), field.get(at + 1..).unwrap_or("")));
    let deepest = cuts.filter_map(|(above, last)| Some((value.at(above)?, last))).next();
    let (known, rest) = deepest.unwrap_or((value.clone(), field.split('.').next().unwrap_or("")));
    let open = Some(&known).filter(|known| !known.is_tainted()).and_then(Value::as_map);
    let names: Vec<&str> = open.map(|map| map.keys().map(|key| key.as_str()).collect()).unwrap_or_default();
    // `properties` in one dialect are `attributes` in another: the rest of the path may be elsewhere.
    let elsewhere = || {
        let (_, rest) = field.split_once('.')?;
        first_ending_in(value, rest).map(|path| format!("did you mean `{path}`?"))
    };
    let near = || suggest::did_you_mean(rest, names.iter().copied()).map(String::from);
    let similar = near().or_else(elsewhere);
    let hint = similar.or_else(|| {
        let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
        (!shown.is_empty()).then(|| format!("there are {}", shown.join(", ")))
    });
    Diagnostic::nowhere(&UNKNOWN_FIELD, message).maybe_hint(hint)
}

/// The paths in a value that end in a field, in the order of the value.
fn paths_ending_in(value: &Value, field: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in value.leaves() {
        let path = cut_behind(&path, field);
        // The leaves of one collection follow each other.
        if let Some(path) = path.filter(|path| paths.last().is_none_or(|last| last != path)) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// The first path in a value that ends in a field.
fn first_ending_in(value: &Value, field: &str) -> Option<String> {
    value.leaves().find_map(|(path, _)| cut_behind(&path, field).map(str::to_owned))
}

/// The path up to its first part that is the field; `None` without one.
fn cut_behind<'p>(path: &'p str, field: &str) -> Option<&'p str> {
    let wanted = format!(".{field}");
    let is_whole = |end: &usize| path.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let end = path.match_indices(&wanted).map(|(at, _)| at + wanted.len()).find(is_whole)?;
    path.get(..end)
}
