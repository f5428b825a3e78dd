//! A problem as a person wants to see it: at the value that is wrong rather than at its key, with something to do.
//!
//! Reports of the original name the key, and so do the problems themselves; only what is printed is moved.

use crate::functions::FUNCTIONS;
use crate::rules;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Node, Rule, Sources};

/// Each problem is looked for in its file. Nobody reads more of them than this, and their number must not decide how long
/// it takes.
pub const MOST_PRESENTED: usize = 500;

/// Rules about what stands under a key; the key itself is right.
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
    split_hint(&mut diagnostic);
    if ABOUT_VALUES.iter().any(|rule| rule.name == diagnostic.rule.name) {
        point_at_value(&mut diagnostic, sources);
    }
    if diagnostic.rule.name == rules::WRONG_TYPE.name && diagnostic.message.contains("found a mapping") {
        take_for_call(&mut diagnostic, sources);
    }
    match diagnostic.hints.is_empty().then(|| hint(&diagnostic)).flatten() {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// A suggestion at the end of a message is a hint.
fn split_hint(diagnostic: &mut Diagnostic) {
    if let Some((message, near)) = diagnostic.message.rsplit_once("; did you mean `")
        && near.ends_with("`?")
    {
        diagnostic.hints.push(format!("did you mean `{near}").into());
        diagnostic.message = message.to_owned();
    }
    if let Some((name, reason)) = diagnostic.message.split_once(" cannot be evaluated: ")
        && (reason.starts_with("unknown ") || reason.starts_with(name))
    {
        diagnostic.message = reason.to_owned();
    }
}

/// A mapping with one key that is nearly a function's name was meant to be a call of it.
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

/// Moves the place from a key to its value, or to the very name in it that the message is about.
fn point_at_value(diagnostic: &mut Diagnostic, sources: &Sources) {
    let Some(span) = diagnostic.span else { return };
    let name = named(&diagnostic.message);
    let found = sources.with_tree(span.file, |tree| {
        let (key, value) = tree.roots().find_map(|root| entry_at(root, span))?;
        // A message about shapes names the key that something wrong stands under.
        let is_of_shape =
            [&rules::WRONG_SHAPE, &rules::WRONG_TYPE].iter().any(|rule| rule.name == diagnostic.rule.name);
        if is_of_shape && name == Some(key.text()) {
            return Some(value.span()).filter(|span| span.start < span.end).or(Some(key.span()));
        }
        // What is undeclared is the key.
        if name == Some(key.text()) {
            return Some(key.span());
        }
        if diagnostic.rule.name == rules::UNDECLARED.name {
            return None;
        }
        let exact = name.and_then(|name| scalar_named(value, name));
        Some(exact.unwrap_or(value).span())
    });
    if let Some(found) = found.flatten() {
        diagnostic.span = Some(found);
        diagnostic.labels.retain(|label| {
            !(label.message == "this call" && label.span.start <= found.start && found.end <= label.span.end)
        });
    }
}

/// The last name in backticks before a hint, which is the one that is wrong in messages about names.
fn named(message: &str) -> Option<&str> {
    let mut parts = message.split('`').skip(1).step_by(2);
    // "unknown property `x` in `server`" is about `x`.
    if message.starts_with("unknown ") { parts.next() } else { parts.last() }
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

/// What to do, by the rule.
fn hint(diagnostic: &Diagnostic) -> Option<String> {
    let message = &diagnostic.message;
    let last = || message.split('`').skip(1).step_by(2).last().unwrap_or_default();
    let is = |rule: &Rule| rule.name == diagnostic.rule.name;
    Some(match () {
        () if is(&rules::UNASSIGNED) && message.contains("property") => format!("add `{}:` under `properties`", last()),
        () if is(&rules::UNASSIGNED) => format!("assign `{}`, or give it a default", last()),
        () if is(&rules::MISSING_KEY) => format!("add `{}:`", last()),
        () if is(&rules::TYPE_LOOP) || is(&rules::FUNCTION_LOOP) => "remove one of these references".to_owned(),
        () if is(&rules::IMPORT) && message.contains("does not exist") => {
            "correct the path; it is relative to this file".to_owned()
        }
        () if is(&rules::FUNCTION) && message.contains("needs at least two arguments") => {
            "write a node and a name, for example `[SELF, port]`".to_owned()
        }
        () if is(&rules::CONSTRAINT) => "change the value, or the constraint".to_owned(),
        () if is(&rules::FUNCTION) && message.starts_with("unknown ") => "correct the name, or declare it".to_owned(),
        () if is(&rules::WRONG_TYPE) || is(&rules::WRONG_SHAPE) => shape_hint(message)?.to_owned(),
        () => return None,
    })
}

fn shape_hint(message: &str) -> Option<&'static str> {
    const HINTS: &[(&str, &str)] = &[
        ("expected a string, found a list", "write one value"),
        ("expected a string, found a mapping", "write one value"),
        ("expected an integer", "write a number, for example `1`"),
        ("expected a float", "write a number, for example `1.5`"),
        ("expected a boolean", "write `true` or `false`, without quotes"),
        ("expected a string", "put it in quotes"),
        ("expected a list", "start each item with `- `"),
        ("expected a mapping", "write keys and values below it"),
    ];
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}
