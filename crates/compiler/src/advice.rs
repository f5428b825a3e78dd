//! A hint for every error that comes without one: what to do, by what it says and by its rule. And the very name that a
//! message is about, where whoever found the problem knows only the mapping around it. The rules say themselves what
//! they are about and what to do; this file knows none of them.
//!
//! A hint of the place that found the problem says more and is never replaced.

use crate::entry::entry_at;
use crate::once::suggestion;
use purlin_syntax::{About, Diagnostic, Node, Rule, Sources, Span};

/// So many problems are narrowed; nobody reads more.
const MOST_NARROWED: usize = 500;

/// Points at the names that messages are about, where they are written once inside the place that is shown.
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
    // What something does not have is wrong, not what lacks it.
    let (before, after) = diagnostic.message.split_once(" has no ").unwrap_or(("", &diagnostic.message));
    let names: Vec<&str> = [after, before].iter().flat_map(|words| words.split('`').skip(1).step_by(2)).collect();
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

/// Where the unknown name of a message is, if it is written once in the text of a place, as a part of an expression.
fn unknown_in(diagnostic: &Diagnostic, span: Span, sources: &Sources) -> Option<Span> {
    let name = diagnostic.message.split_once("unknown ").and_then(|(_, rest)| rest.split('`').nth(1))?;
    let source = sources.get(span.file)?;
    let text = source.text().get(span.start as usize..span.end as usize)?;
    if text.trim_matches(['"', '\'']) == name {
        return None;
    }
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let last = name.rsplit(if name.contains('/') { '/' } else { '.' }).next()?;
    // What a hint proposes takes the place of what is shown.
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
    let named = diagnostic.message.split_once(" declares no ").and_then(|(_, rest)| rest.split('`').nth(1));
    let Some((span, name)) = diagnostic.span.zip(named) else { return };
    if let Some(entry) = entry_at(span, sources).filter(|entry| entry.name == name) {
        diagnostic.span = Some(entry.key);
    }
}

/// Whether a text is a name, as it is or as a path.
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
pub fn advise(diagnostic: &mut Diagnostic) {
    if diagnostic.is_error() && diagnostic.hints.is_empty() {
        let (rule, message) = (diagnostic.rule, diagnostic.message.as_str());
        // The mistake in an expression is not always the token that was expected next.
        let hint = match rule.name.ends_with("-syntax") {
            true => after(message, "missing `").map(|name| format!("add `{name}`")).or_else(|| by_rule(rule, message)),
            false => by_words(message).or_else(|| by_rule(rule, message)),
        };
        diagnostic.hints.extend(hint.map(Into::into));
    }
}

/// The first name in backticks after some words.
fn after<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let (_, rest) = message.split_once(words)?;
    rest.split_once('`').map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// What a message says itself.
fn by_words(message: &str) -> Option<String> {
    if message.contains("`: expected a string, found a ") || message.contains(": expected a string, found a number") {
        return Some("put the value in quotes, or write one string".to_owned());
    }
    if message.starts_with("circular ") || message.contains(": circular ") {
        return Some("remove one of these references".to_owned());
    }
    if message.starts_with("duplicate name `")
        || message.contains("is declared twice")
        || message.contains("is defined twice")
    {
        return Some("rename or remove one of them".to_owned());
    }
    if let Some(name) = after(message, "missing key `") {
        return Some(format!("add `{name}:`"));
    }
    if let Some(name) = after(message, "missing `") {
        return Some(format!("add `{name}`"));
    }
    if let Some(name) = after(message, "argument `").filter(|_| message.ends_with(" is missing")) {
        return Some(format!("add the argument `{name}`"));
    }
    if let Some(name) = message.split_once("` is missing next to `").and_then(|(before, _)| before.rsplit_once('`')) {
        return Some(format!("add `{}:` next to it", name.1));
    }
    if let Some(name) = message.strip_suffix("` is missing").and_then(|rest| rest.rsplit_once('`')) {
        return Some(format!("add `{}`", name.1));
    }
    if let Some((_, rest)) = message.split_once(" needs one of ") {
        return Some(format!("add {rest}"));
    }
    let wanted = message.split_once(" must be ").or_else(|| message.split_once(": expected "));
    let wanted = wanted.map(|(_, rest)| rest).or_else(|| message.strip_prefix("expected "))?;
    // What is in backticks is written as it is.
    let is_outside = |at: &usize| wanted.get(..*at).is_some_and(|before| before.matches('`').count() % 2 == 0);
    let first = |mark: &&str| wanted.match_indices(*mark).map(|(at, _)| at).find(is_outside);
    let end = [", ", "; ", ": ", " at position"].iter().filter_map(first).min();
    let wanted = wanted.get(..end.unwrap_or(wanted.len()))?;
    // Only what can be written can be told to be written.
    let is_thing = ["a ", "an ", "`"].iter().any(|start| wanted.starts_with(start));
    is_thing.then(|| format!("write {wanted}"))
}

/// What the rule says about messages of its kind.
fn by_rule(rule: &Rule, message: &str) -> Option<String> {
    let special = rule.advice_for.iter().find(|(words, _)| message.contains(words));
    special.map(|(_, hint)| *hint).or(rule.advice).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule::error("yaml-alias", "For tests.")
        .advice_for(&[("itself", "remove the alias")])
        .advice("define the anchor earlier in the same document");

    #[test]
    fn a_hint_is_added_and_never_replaced() {
        let mut bare = Diagnostic::nowhere(&RULE, "undefined anchor `&a`");
        advise(&mut bare);
        assert_eq!(bare.hints, ["define the anchor earlier in the same document"]);
        let mut own = Diagnostic::nowhere(&RULE, "undefined anchor `&a`").hint("did you mean `&b`?");
        advise(&mut own);
        assert_eq!(own.hints, ["did you mean `&b`?"]);
        let mut warning = Diagnostic::nowhere(&RULE, "undefined anchor `&a`").warning();
        advise(&mut warning);
        assert!(warning.hints.is_empty());
    }

    #[test]
    fn the_words_of_a_message_choose_the_advice_of_its_rule() {
        let mut own = Diagnostic::nowhere(&RULE, "`&a` holds itself");
        advise(&mut own);
        assert_eq!(own.hints, ["remove the alias"]);
    }

    #[test]
    fn messages_say_what_is_missing() {
        let hint = |message: &str| by_words(message).unwrap_or_default();
        assert_eq!(hint("missing key `name` in a port"), "add `name:`");
        assert_eq!(hint("missing `${endif}` after this `${if …}`"), "add `${endif}`");
        assert_eq!(hint("argument `separator` of `join` is missing"), "add the argument `separator`");
        assert_eq!(hint("`$then` is missing next to `$if`"), "add `$then:` next to it");
        assert_eq!(hint("input `port` is missing"), "add `port`");
        assert_eq!(hint("a step needs one of `command` or `script`"), "add `command` or `script`");
        assert_eq!(hint("the value of `$merge` must be a map, not a string"), "write a map");
    }
}
