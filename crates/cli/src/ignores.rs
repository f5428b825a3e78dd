//! Comments that suppress a problem: `# purlin: ignore[rule, …]` on the line of the problem or alone on the line above.
//!
//! Only problems of the configuration can be suppressed. A comment that matches nothing is reported, because it would
//! hide the next problem.

use purlin_compiler::rules;
use purlin_syntax::{Diagnostic, FileId, IGNORE_MARK, RuleClass, Source, Sources, Span, Tree, suggest};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One comment.
struct Comment {
    line: u32,
    /// Whether its line contains nothing else, so that it applies to the next one.
    is_alone: bool,
    /// The rules; all if empty.
    rules: Vec<String>,
    span: Span,
    is_used: bool,
}

/// Removes suppressed problems. If all examined files are given, comments without effect are reported.
pub(crate) fn apply(found: &mut Vec<Diagnostic>, sources: &Sources, all: Option<&[FileId]>) {
    let mut files: HashMap<FileId, Vec<Comment>> = HashMap::new();
    let everything = all.is_some();
    let ids: Vec<FileId> = match all {
        Some(all) => all.to_vec(),
        None => found.iter().filter_map(|diagnostic| Some(diagnostic.span?.file)).collect(),
    };
    let mut paths: Vec<String> = Vec::new();
    // A file is scanned once, however many problems it has.
    let mut seen = HashSet::new();
    for id in ids.into_iter().filter(|id| seen.insert(*id)) {
        let Some(source) = sources.get(id) else { continue };
        let mut comments = comments(&source);
        if comments.is_empty() {
            continue;
        }
        // The contents of a string are data, even if they look like a comment.
        sources.with_tree(id, |tree| comments.retain(|comment| !tree.is_sound() || is_written(tree, comment.span)));
        if !comments.is_empty() {
            files.insert(id, comments);
            paths.push(source.path().to_owned());
        }
    }
    if files.is_empty() {
        return;
    }
    found.retain(|diagnostic| !is_quiet(diagnostic, sources, &mut files));
    if everything {
        // Errors elsewhere may have kept a rule from being checked.
        let is_sound = !found.iter().any(Diagnostic::is_error);
        let wrong: HashSet<(FileId, u32)> = found.iter().filter_map(|problem| line_of(problem, sources)).collect();
        let is_judged = |id: FileId, comment: &Comment| {
            is_sound || wrong.contains(&(id, comment.line)) || wrong.contains(&(id, comment.line + 1))
        };
        found.extend(unused(&files, sources, is_judged));
    }
}

/// The line of a problem.
fn line_of(problem: &Diagnostic, sources: &Sources) -> Option<(FileId, u32)> {
    let span = problem.span?;
    Some((span.file, sources.get(span.file)?.position(span.start).line))
}

/// Whether a mark is in a comment of the file.
fn is_written(tree: &Tree, mark: Span) -> bool {
    tree.comments().iter().any(|comment| comment.span.start <= mark.start && mark.end <= comment.span.end)
}

fn comments(source: &Arc<Source>) -> Vec<Comment> {
    let text = source.text();
    let mut out = Vec::new();
    for (at, _) in text.match_indices(IGNORE_MARK) {
        let start = source.line_start(u32::try_from(at).unwrap_or(0)) as usize;
        let before = text.get(start..at).unwrap_or("");
        let Some(mark) = before.rfind('#').or_else(|| before.rfind("/*")) else { continue };
        let rest = text.get(at + IGNORE_MARK.len()..).unwrap_or("").lines().next().unwrap_or("");
        let list = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(list, _)| list);
        let length = IGNORE_MARK.len() + list.map_or(0, |list| list.len() + 2);
        let rules = list.into_iter().flat_map(|list| list.split(',')).map(|rule| rule.trim().to_owned());
        out.push(Comment {
            line: source.position(u32::try_from(at).unwrap_or(0)).line,
            is_alone: before.get(..mark).is_some_and(|before| before.trim_matches([' ', '\t', '{', '-']).is_empty()),
            rules: rules.filter(|rule| !rule.is_empty()).collect(),
            span: source.span(start + mark, at + length),
            is_used: false,
        });
    }
    out
}

fn is_quiet(diagnostic: &Diagnostic, sources: &Sources, files: &mut HashMap<FileId, Vec<Comment>>) -> bool {
    let Some(span) = diagnostic.span.filter(|_| diagnostic.rule.class == RuleClass::Invalid) else { return false };
    // A file may have been registered twice; its comments are the same.
    let Some(source) = sources.get(span.file) else { return false };
    let line = source.position(span.start).line;
    let mut quiet = false;
    for (id, comments) in files.iter_mut() {
        if *id != span.file && sources.get(*id).is_none_or(|other| other.path() != source.path()) {
            continue;
        }
        for comment in comments {
            let here = comment.line == line || (comment.is_alone && comment.line + 1 == line);
            let names = comment.rules.is_empty() || comment.rules.iter().any(|rule| rule == diagnostic.rule.name);
            if here && names {
                comment.is_used = true;
                quiet = true;
            }
        }
    }
    quiet
}

fn unused(
    files: &HashMap<FileId, Vec<Comment>>,
    sources: &Sources,
    is_judged: impl Fn(FileId, &Comment) -> bool,
) -> Vec<Diagnostic> {
    let known = purlin_compiler::all_rules();
    let mut out = Vec::new();
    let mut seen = HashSet::new();
    let mut ids: Vec<&FileId> = files.keys().collect();
    ids.sort();
    for id in ids {
        let path = sources.get(*id).map(|source| source.path().to_owned()).unwrap_or_default();
        for comment in files.get(id).into_iter().flatten().filter(|comment| !comment.is_used) {
            if !seen.insert((path.clone(), comment.line)) {
                continue;
            }
            let wrong = comment.rules.iter().find(|name| !known.iter().any(|rule| rule.name == name.as_str()));
            let (message, hint) = match wrong {
                Some(name) => {
                    let near = suggest::did_you_mean(name, known.iter().map(|rule| rule.name));
                    let hint = near.unwrap_or_else(|| "`purlin explain` lists all rules".into());
                    (format!("unknown rule `{name}` in a comment"), hint)
                }
                None if !is_judged(*id, comment) => continue,
                None => ("this `ignore` matches no problem".to_owned(), "remove it".into()),
            };
            out.push(Diagnostic::at(&rules::UNUSED_IGNORE, comment.span, message).hint(hint));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn comments_hold_for_their_line_or_the_next() {
        let sources = Sources::new();
        let text =
            "a: 1 # purlin: ignore[unknown-node]\n# purlin: ignore\nb: 2\nc: 3 # purlin: ignore[unknown-field]\n";
        let source = sources.insert("a.yaml", text);
        let at = |line: &str| {
            let start = text.find(line).unwrap();
            Diagnostic::at(&rules::UNKNOWN_NODE, source.span(start, start + 1), line)
        };
        let mut found = vec![at("a: 1"), at("b: 2"), at("c: 3")];
        apply(&mut found, &sources, Some(&[source.id()]));
        let left: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(left, ["c: 3", "this `ignore` matches no problem"]);
    }
}
