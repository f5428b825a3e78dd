//! Presents a problem to people: at the wrong value rather than at its key, with a hint.
//!
//! Reports of the original name the key, and so do the problems themselves; only printed ones are moved.

use crate::functions::FUNCTIONS;
use crate::rules;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Node, Relation, Rule, Sources, What};

/// Each problem is searched for in its file. More of them are not read, and their number must not decide how long it
/// takes.
pub const MOST_PRESENTED: usize = 500;

/// Rules about the value under a key; the key itself is right.
const ABOUT_VALUES: &[&Rule] = &[
    &rules::WRONG_TYPE,
    &rules::WRONG_SHAPE,
    &rules::CONSTRAINT,
    &rules::UNKNOWN_NAME,
    &rules::FUNCTION,
    &rules::FUNCTION_LOOP,
    &rules::VERSION,
    &rules::MALFORMED,
    &rules::UNDECLARED,
];

/// The diagnostic to print for a problem.
pub fn present(mut diagnostic: Diagnostic, sources: &Sources) -> Diagnostic {
    if ABOUT_VALUES.contains(&diagnostic.rule) {
        point_at_value(&mut diagnostic, sources);
    }
    if diagnostic.rule == &rules::WRONG_TYPE && is_mapping(diagnostic.what()) {
        take_for_call(&mut diagnostic, sources);
    }
    match diagnostic.hints.is_empty().then(|| hint(&diagnostic)).flatten() {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

fn is_mapping(what: &What) -> bool {
    matches!(what, What::Expected { found: Some(found), .. } if found == "a mapping")
}

/// A one-key mapping whose key resembles a function's name was probably meant to be a call of it.
fn take_for_call(diagnostic: &mut Diagnostic, sources: &Sources) {
    let Some(span) = diagnostic.span else { return };
    let found = sources.with_tree(span.file, |tree| {
        let (_, value) = tree.roots().find_map(|root| entry_at(root, span))?;
        let mut entries = value.entries();
        let key = entries.next().filter(|_| entries.next().is_none())?.key;
        let near = purlin_value::function::nearest(FUNCTIONS, key.text().trim_start_matches('$'))?;
        let mark = if key.text().starts_with('$') { "$" } else { "" };
        Some((key.text().to_owned(), key.span(), Hint::meant(key.text(), format!("{mark}{near}"))))
    });
    if let Some((name, place, hint)) = found.flatten() {
        diagnostic.says(what::unknown("function", &name));
        diagnostic.span = Some(place);
        diagnostic.hints = vec![hint];
    }
}

/// Moves the location from a key to its value, or to the exact name in it.
fn point_at_value(diagnostic: &mut Diagnostic, sources: &Sources) {
    let Some(span) = diagnostic.span else { return };
    let name = diagnostic.what().name().map(str::to_owned);
    let name = name.as_deref();
    let found = sources.with_tree(span.file, |tree| {
        let (key, value) = tree.roots().find_map(|root| entry_at(root, span))?;
        // A message about shapes names the key of the wrong value.
        let is_of_shape =
            [&rules::WRONG_SHAPE, &rules::WRONG_TYPE].iter().any(|rule| rule.name == diagnostic.rule.name);
        if is_of_shape && name == Some(key.text()) {
            return is_written(value).or(Some(key.span()));
        }
        // The undeclared name is the key.
        if name == Some(key.text()) {
            return Some(key.span());
        }
        if diagnostic.rule.name == rules::UNDECLARED.name {
            return None;
        }
        let exact = name.and_then(|name| scalar_named(value, name));
        is_written(exact.unwrap_or(value)).or(Some(key.span()))
    });
    if let Some(found) = found.flatten() {
        diagnostic.span = Some(found);
        diagnostic.labels.retain(|label| {
            !(label.relation == Relation::Around && label.span.start <= found.start && found.end <= label.span.end)
        });
    }
}

/// The location of a value, unless it is empty.
fn is_written(value: Node<'_>) -> Option<purlin_syntax::Span> {
    Some(value.span()).filter(|span| span.start < span.end)
}

/// The entry whose key or value is at a place.
fn entry_at(node: Node<'_>, target: purlin_syntax::Span) -> Option<(Node<'_>, Node<'_>)> {
    let mut node = node;
    loop {
        if node.is_list() {
            node = node.items().filter(|item| item.span().start <= target.start).last()?;
            continue;
        }
        let entry = node.entries().filter(|entry| entry.key.span().start <= target.start).last()?;
        if entry.key.span() == target || entry.value.span() == target {
            return Some((entry.key, entry.value));
        }
        node = entry.value;
        if node.is_scalar() || node.is_alias() {
            return None;
        }
    }
}

/// The scalar in a value, or the key of a mapping in it, that reads as a name.
fn scalar_named<'t>(value: Node<'t>, name: &str) -> Option<Node<'t>> {
    let mut todo = vec![value];
    while let Some(node) = todo.pop() {
        if node.is_alias() {
            continue;
        }
        if node.is_scalar() && node.text() == name {
            return Some(node);
        }
        let mut inner: Vec<Node<'t>> = node.items().collect();
        inner.extend(node.entries().flat_map(|entry| [entry.key, entry.value]));
        todo.extend(inner.into_iter().rev());
    }
    None
}

/// The hint, by rule and finding.
fn hint(diagnostic: &Diagnostic) -> Option<String> {
    let is = |rule: &Rule| diagnostic.rule == rule;
    Some(match diagnostic.what() {
        What::Missing { kind, names, .. } if is(&rules::UNASSIGNED) => match (kind.as_str(), names.first()?) {
            ("property", name) => format!("add `{name}:` under `properties`"),
            (_, name) => format!("assign `{name}`, or give it a default"),
        },
        What::Missing { names, .. } if is(&rules::MISSING_KEY) && names.len() == 1 => {
            format!("add `{}:`", names.first()?)
        }
        What::Call { .. } if is(&rules::FUNCTION) => "write a node and a name, for example `[SELF, port]`".to_owned(),
        What::Unknown { .. } if is(&rules::FUNCTION) => "correct the name, or declare it".to_owned(),
        What::Expected { wanted, found } if is(&rules::WRONG_TYPE) || is(&rules::WRONG_SHAPE) => {
            shape_hint(wanted, found.as_deref())?.to_owned()
        }
        _ if is(&rules::CONSTRAINT) => "change the value, or the constraint".to_owned(),
        _ if is(&rules::TYPE_LOOP) || is(&rules::FUNCTION_LOOP) => "remove one of these references".to_owned(),
        _ => return None,
    })
}

fn shape_hint(wanted: &str, found: Option<&str>) -> Option<&'static str> {
    Some(match (wanted, found) {
        ("a string", Some("a list" | "a mapping")) => "write one value",
        ("a string", _) => "put it in quotes",
        ("an integer", _) => "write a number, for example `1`",
        ("a float", _) => "write a number, for example `1.5`",
        ("a boolean", _) => "write `true` or `false`, without quotes",
        ("a list" | "a list of mappings with one key each", _) => "start each item with `- `",
        ("a mapping", _) => "write keys and values below it",
        _ => return None,
    })
}
