//! One mistake gives one message: takes away what only follows from another problem. It works on what rules say they are
//! about and on the texts of the files; it knows no dialect.

use purlin_syntax::rules::YAML_SYNTAX;
use purlin_syntax::{About, Diagnostic, Node, Sources, Span};
use std::collections::HashSet;

/// The most problems that are compared with each other; nobody reads more.
const MOST_COMPARED: usize = 500;

/// The texts behind the places where reading stopped, each with the line it stopped in.
fn unread(found: &[Diagnostic], sources: &Sources) -> Vec<String> {
    let stops = found.iter().filter(|problem| problem.rule.name == YAML_SYNTAX.name);
    let rest = |problem: &Diagnostic| {
        let span = problem.span?;
        let source = sources.get(span.file)?;
        let text = source.text();
        // The mistake may be a line before the place where it shows.
        let start = source.line_start(span.start) as usize;
        let start = text.get(..start.saturating_sub(1))?.rfind('\n').unwrap_or(0);
        text.get(start..).map(str::to_owned)
    };
    stops.filter_map(rest).collect()
}

/// Whether what a message is about is written in a part that was not read.
fn names_unread(message: &str, unread: &[String]) -> bool {
    let about = ["unknown ", " named "].iter().find_map(|mark| message.split_once(mark));
    let Some(name) = about.map_or(message, |(_, rest)| rest).split('`').nth(1) else { return false };
    let name = name.rsplit('.').next().unwrap_or(name);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && unread.iter().any(|text| text.split(|c: char| !is_part(c)).any(|word| word == name))
}

/// One mistake gives one message: a file that several readers took in is reported once, and what is missing from a file
/// that could not be read completely may well be in the part that was not read.
pub fn once(found: &mut Vec<Diagnostic>, sources: &Sources) {
    let place = |diagnostic: &Diagnostic| {
        let span = diagnostic.span?;
        Some((sources.get(span.file)?.path().to_owned(), span.start, span.end))
    };
    let mut seen = HashSet::new();
    found.retain(|problem| {
        let place = place(problem);
        place.is_none() || seen.insert((problem.rule.name, place, problem.message.clone()))
    });
    let are_few = found.len() <= MOST_COMPARED;
    if are_few {
        misspelt(found, sources);
    }
    let broken: HashSet<String> = found
        .iter()
        .filter(|problem| problem.rule.name == YAML_SYNTAX.name)
        .filter_map(|problem| place(problem).map(|(path, ..)| path))
        .collect();
    if !broken.is_empty() {
        let unread = if are_few { unread(found, sources) } else { Vec::new() };
        let follows = |problem: &Diagnostic| {
            let is_here = || place(problem).is_some_and(|(path, ..)| broken.contains(&path));
            (problem.rule.about == About::Missing && is_here())
                || (problem.rule.about == About::Name && names_unread(&problem.message, &unread))
        };
        found.retain(|problem| !follows(problem));
    }
}

/// A required key that is misspelt is unknown, not missing as well.
fn misspelt(found: &mut Vec<Diagnostic>, sources: &Sources) {
    let meant = |problem: &Diagnostic| {
        let span = problem.span.filter(|_| problem.message.starts_with("unknown key `"))?;
        let key = problem.hints.iter().find_map(|hint| hint.strip_prefix("did you mean `")?.strip_suffix("`?"))?;
        let around = sources.with_tree(span.file, |tree| tree.roots().find_map(|root| mapping_of(root, span)));
        around.flatten().map(|(above, mapping)| (format!("`{key}`"), above, mapping))
    };
    let unknown: Vec<(String, Option<Span>, Span)> = found.iter().filter_map(meant).collect();
    if !unknown.is_empty() {
        let follows = |problem: &Diagnostic| {
            let Some(span) = problem.span.filter(|_| problem.rule.about == About::Missing) else { return false };
            unknown.iter().any(|(key, above, mapping)| {
                let is_inside = span.file == mapping.file && mapping.start <= span.start && span.end <= mapping.end;
                problem.message.contains(key.as_str()) && (Some(span) == *above || is_inside)
            })
        };
        found.retain(|problem| !follows(problem));
    }
}

/// The mapping that has a key, and the key above it.
fn mapping_of(root: Node<'_>, key: Span) -> Option<(Option<Span>, Span)> {
    let (mut node, mut above) = (root, None);
    loop {
        let covers = |node: &Node<'_>| node.span().start <= key.start && key.end <= node.span().end;
        if let Some(item) = node.items().find(covers) {
            node = item;
            continue;
        }
        if node.entries().any(|entry| entry.key.span() == key) {
            return Some((above, node.span()));
        }
        let entry = node.entries().find(|entry| !entry.value.is_alias() && covers(&entry.value))?;
        (node, above) = (entry.value, Some(entry.key.span()));
    }
}
