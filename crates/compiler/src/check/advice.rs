//! Adds a hint to every error without one: advice by kind of problem and by rule. Also narrows the location of a
//! problem to its name, if it covers the mapping around it. Messages are not parsed, and rules are not known here.
//!
//! A hint of the code that found the problem is more specific and never replaced.

use crate::entry::entry_at;
use crate::once::suggestion;
use purlin_syntax::what::listed;
use purlin_syntax::{About, Diagnostic, Node, Sources, Span, Style, What};

/// Maximum number of problems that are narrowed; longer reports are not read.
const MOST_NARROWED: usize = 500;

/// Points at the names in messages, where they are written once inside the shown location.
pub fn narrow(found: &mut [Diagnostic], sources: &Sources) {
    for diagnostic in found.iter_mut().take(MOST_NARROWED) {
        narrow_one(diagnostic, sources);
        point_at_key(diagnostic, sources);
    }
}

fn narrow_one(diagnostic: &mut Diagnostic, sources: &Sources) {
    let Some(span) = diagnostic.span else { return };
    if diagnostic.rule.about != About::Name {
        diagnostic.span = unknown_in(diagnostic, span, sources).or(Some(span));
        return;
    }
    let names: Vec<&str> = diagnostic.what().names().collect();
    let found = sources.with_tree(span.file, |tree| {
        let mut scalars = Vec::new();
        tree.roots().for_each(|root| collect(root, span, &mut scalars));
        names.iter().find_map(|name| {
            let mut same = scalars.iter().filter(|(text, _)| is_same(text, name));
            same.next().filter(|_| same.next().is_none()).map(|(_, place)| *place)
        })
    });
    if let Some(found) = found.flatten().or_else(|| unknown_in(diagnostic, span, sources)) {
        diagnostic.span = Some(found);
    }
}

/// Location of a message's unknown name, if it is written exactly once in the given text, as a part of an expression.
fn unknown_in(diagnostic: &Diagnostic, span: Span, sources: &Sources) -> Option<Span> {
    let (_, name) = diagnostic.what().undeclared()?;
    let source = sources.get(span.file)?;
    let text = source.text().get(span.start as usize..span.end as usize)?;
    if text.trim_matches(['"', '\'']) == name {
        return None;
    }
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let last = name.rsplit(if name.contains('/') { '/' } else { '.' }).next()?;
    // The suggestion of a hint replaces the shown text.
    let has_dots = suggestion(diagnostic).is_none_or(|meant| meant.contains('.'));
    let names = if has_dots { [name, last] } else { [last, name] };
    names.into_iter().filter(|name| !name.is_empty()).find_map(|name| {
        let is_whole = |at: &usize| {
            let (before, behind) = (text.get(..*at), text.get(*at + name.len()..));
            !is_part(before.and_then(|text| text.chars().next_back()))
                && !is_part(behind.and_then(|text| text.chars().next()))
        };
        let mut places = text.match_indices(name).map(|(at, _)| at).filter(is_whole);
        let at = places.next().filter(|_| places.next().is_none())?;
        let start = span.start + u32::try_from(at).ok()?;
        Some(Span { start, end: start + u32::try_from(name.len()).ok()?, ..span })
    })
}

/// A key that is not declared is wrong itself, not its value.
fn point_at_key(diagnostic: &mut Diagnostic, sources: &Sources) {
    let named = diagnostic.what().name().filter(|_| diagnostic.what().is_of_one());
    let Some((span, name)) = diagnostic.span.zip(named) else { return };
    if let Some(entry) = entry_at(span, sources).filter(|entry| entry.name == name) {
        diagnostic.span = Some(entry.key);
    }
}

/// Whether a string is a name, as it is or as a path.
fn is_same(text: &str, name: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    text == name || (!text.is_empty() && plain(text) == plain(name))
}

/// The scalars inside a place, in order.
fn collect(root: Node<'_>, place: Span, found: &mut Vec<(String, Span)>) {
    // A mapping may have many entries, and nearly all are elsewhere.
    let touches = |node: &Node<'_>| {
        let span = node.span();
        place.start < span.end && span.start < place.end && !node.is_alias()
    };
    let mut todo: Vec<Node<'_>> = Some(root).into_iter().filter(touches).collect();
    while let Some(node) = todo.pop() {
        let span = node.span();
        if node.is_scalar() && place.start <= span.start && span.end <= place.end && span != place {
            found.push((node.text().to_owned(), span));
        }
        let before = todo.len();
        todo.extend(node.items().filter(touches));
        todo.extend(node.entries().flat_map(|entry| [entry.key, entry.value]).filter(touches));
        todo.get_mut(before..).unwrap_or_default().reverse();
    }
}

/// Gives an error a hint if it has none.
pub fn advise(diagnostic: &mut Diagnostic, sources: &Sources) {
    if diagnostic.is_error() && diagnostic.hints.is_empty() {
        let is_syntax = diagnostic.rule.name.ends_with("-syntax");
        // The mistake in an expression is not always the token that was expected next.
        let own = match diagnostic.what() {
            What::Expected { .. } if is_syntax => None,
            what => by_what(what, || is_quoted(diagnostic, sources)),
        };
        diagnostic.hints.extend(own.or_else(|| diagnostic.rule.advice.map(Into::into)).map(Into::into));
    }
}

/// Whether the shown value is in quotes, or a part of one that is: an expression in a string.
fn is_quoted(diagnostic: &Diagnostic, sources: &Sources) -> bool {
    let Some(span) = diagnostic.span else { return false };
    let style = sources.with_tree(span.file, |tree| tree.roots().find_map(|root| style_around(root, span)));
    matches!(style.flatten(), Some(Style::Single | Style::Double))
}

/// The style of the scalar that a place is in.
fn style_around(root: Node<'_>, place: Span) -> Option<Style> {
    let holds = |node: &Node<'_>| {
        let span = node.span();
        span.start <= place.start && place.end <= span.end && !node.is_alias()
    };
    let mut node = Some(root).filter(holds)?;
    while !node.is_scalar() {
        let parts = node.items().chain(node.entries().flat_map(|entry| [entry.key, entry.value]));
        node = parts.filter(holds).last()?;
    }
    Some(node.style())
}

/// Advice by kind of problem.
fn by_what(what: &What, is_quoted: impl FnOnce() -> bool) -> Option<String> {
    match what {
        What::Expected { wanted, found: Some(_) } if wanted == "a string" => Some(match is_quoted() {
            true => "write one string, without an expression that gives something else".to_owned(),
            false => "put the value in quotes, or write one string".to_owned(),
        }),
        // "write" only fits descriptions of values.
        What::Expected { wanted, .. } if ["a ", "an ", "`"].iter().any(|start| wanted.starts_with(start)) => {
            Some(format!("write {wanted}"))
        }
        What::Cycle { .. } => Some("remove one of these references".to_owned()),
        What::Duplicate { .. } => Some("rename or remove one of them".to_owned()),
        What::Missing { kind, names, one_of } => match (kind.as_str(), names.as_slice()) {
            ("key", [name]) => Some(format!("add `{name}:`")),
            ("argument", [name]) => Some(format!("add the argument `{name}`")),
            ("requirement" | "value", _) | (_, []) => None,
            (_, names) => Some(format!("add {}", listed(names, if *one_of { "or" } else { "and" }))),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::{Hint, Message, Rule, what};

    const RULE: Rule = Rule::error("yaml-alias", "For tests.").advice("define the anchor earlier in the same document");

    fn advised(mut diagnostic: Diagnostic) -> Vec<Hint> {
        advise(&mut diagnostic, &Sources::default());
        diagnostic.hints
    }

    #[test]
    fn a_hint_is_added_and_never_replaced() {
        let bare = Diagnostic::nowhere(&RULE, "undefined anchor `&a`");
        assert_eq!(advised(bare.clone()), ["define the anchor earlier in the same document"]);
        assert_eq!(advised(bare.clone().hint("did you mean `&b`?")), ["did you mean `&b`?"]);
        assert!(advised(bare.warning()).is_empty());
    }

    #[test]
    fn what_is_wrong_says_what_to_do() {
        let hint =
            |message: Message| advised(Diagnostic::nowhere(&RULE, message)).pop().map(String::from).unwrap_or_default();
        assert_eq!(hint(what::missing("key", "name").and(" in a port")), "add `name:`");
        assert_eq!(hint(what::missing("", "${endif}")), "add `${endif}`");
        assert_eq!(hint(what::missing("argument", "separator")), "add the argument `separator`");
        assert_eq!(hint(what::missing_names("key", ["command", "script"], true)), "add `command` or `script`");
        assert_eq!(hint(what::must_be("the value of `$merge`", "a map")), "write a map");
        assert_eq!(hint(what::expected("a string", "a number")), "put the value in quotes, or write one string");
        // The text of a message has no effect.
        assert_eq!(hint("missing key `name`".into()), "define the anchor earlier in the same document");
    }
}
