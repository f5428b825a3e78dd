//! Notes names of ensembles for editors and renames: the service template's through TOSCA's tables, with the
//! references of queries and templates in it; inputs and instances of the ensemble; environments of the project.
//!
//! Only the source is read; nothing is evaluated.

use crate::ensemble::project::PROJECT_FILE;
use crate::ensemble::{Ensemble, manifest};
use crate::jinja;
use crate::query::{self, Key, Start as QueryStart};
use ecow::EcoString;
use purlin_syntax::{Flavor, Node, Sources, Span};
use purlin_tosca::marks::{self, Reference, Start};
use purlin_value::names::{kind, unquoted, written};
use purlin_value::{NameId, Session, Value, path};

/// Notes the names of an ensemble. `given` are inputs that another project has written.
pub(crate) fn note(session: &Session, ensemble: &Ensemble, given: &Value) {
    if !session.names.is_on() {
        return;
    }
    let sources = &session.sources;
    let read = |node: Node<'_>| references(node, sources);
    let root = ensemble.manifest.trees.first().and_then(|tree| tree.root());
    let template = root.and_then(manifest::template_node);
    marks::note(session, &ensemble.service.model, template, given, Some(&read));
    for service in &ensemble.nested {
        marks::note(session, &service.model, None, &Value::null(), Some(&read));
    }
    let service = template.and_then(|template| template.get("topology_template"));
    if let (Some(root), Some(service)) = (root, service) {
        Writer { session }.ensemble(root, service);
    }
    Writer { session }.environments(&ensemble.manifest.path);
}

struct Writer<'s> {
    session: &'s Session,
}

impl Writer<'_> {
    fn uses(&self, of: &'static str, declared: Node<'_>, at: Node<'_>) {
        let (id, name) = (NameId::Place(written(declared)), declared.eco_text());
        self.session.names.uses(id, of, name, written(at));
    }

    /// Values of inputs, and templates of instances.
    fn ensemble(&self, root: Node<'_>, service: Node<'_>) {
        let declared = |section: &str, name: Node<'_>| {
            let entry = service.get(section).into_iter().flat_map(Node::entries).find(|e| e.key.text() == name.text());
            entry.map(|entry| entry.key)
        };
        for part in [root.get("spec"), root.get("status")].into_iter().flatten() {
            for entry in part.get("inputs").into_iter().flat_map(Node::entries) {
                let input = declared("inputs", entry.key);
                input.into_iter().for_each(|input| self.uses(kind::INPUT, input, entry.key));
            }
            let mut open: Vec<Node<'_>> = part.get("instances").into_iter().collect();
            while let Some(instances) = open.pop() {
                for entry in instances.entries() {
                    let name = entry.value.get("template").unwrap_or(entry.key);
                    let template = declared("node_templates", name);
                    template.into_iter().for_each(|template| self.uses("node template", template, name));
                    open.extend(entry.value.get("instances"));
                }
            }
        }
    }

    /// The environments of the project around an ensemble, and where they are chosen.
    fn environments(&self, ensemble: &str) {
        let mut folder = path::parent(ensemble);
        loop {
            let file = path::join(folder, PROJECT_FILE);
            if self.session.has_read(&file)
                && let Ok(tree) = self.session.read_yaml(&file, Flavor::Core)
                && let Some(root) = tree.root()
            {
                self.project(root);
            }
            if folder == "." || folder == "/" || folder.is_empty() {
                return;
            }
            folder = path::parent(folder);
        }
    }

    fn project(&self, root: Node<'_>) {
        let declared: Vec<Node<'_>> =
            root.get("environments").into_iter().flat_map(Node::entries).map(|entry| entry.key).collect();
        for entry in root.get("environments").into_iter().flat_map(Node::entries) {
            // The section shared by all environments is not one itself.
            if entry.key.text() != "defaults" {
                let (id, at) = (NameId::Place(written(entry.key)), written(entry.key));
                let whole = entry.value.span();
                self.session.names.declare(id, kind::ENVIRONMENT, entry.key.eco_text(), at, whole);
            }
        }
        let ensembles = root.get("ensembles").into_iter().flat_map(Node::items);
        let chosen =
            ensembles.chain([root]).filter_map(|of| of.get("environment").or_else(|| of.get("default_environment")));
        for name in chosen {
            let found = declared.iter().find(|key| key.text() == name.text());
            found.into_iter().for_each(|key| self.uses(kind::ENVIRONMENT, *key, name));
        }
    }
}

/// The references of a value: a query under `eval` or `ref`, or a template.
fn references(node: Node<'_>, sources: &Sources) -> Vec<Reference> {
    if node.is_map() {
        let query = node.get("eval").or_else(|| node.get("ref")).filter(|query| query.is_scalar());
        let nested = node.get("eval").and_then(|eval| eval.get("ref")).filter(|query| query.is_scalar());
        let mut found = query.or(nested).map(|query| of_query(query, sources)).unwrap_or_default();
        // Tests evaluate the strings that they are given.
        let tests = node.get("eval").into_iter().flat_map(|eval| TESTS.iter().filter_map(move |key| eval.get(key)));
        let strings = tests.flat_map(|test| test.items().chain([test])).filter(|string| string.is_scalar());
        found.extend(strings.flat_map(|string| of_query(string, sources)));
        return found;
    }
    if node.is_scalar() && jinja::is_template(node.text()) {
        return of_template(node, sources);
    }
    Vec::new()
}

/// Functions whose arguments are expressions.
const TESTS: &[&str] = &["or", "and", "not", "if", "then", "else", "eq"];

fn slice(span: Span, sources: &Sources) -> Option<EcoString> {
    let source = sources.get(span.file)?;
    source.text().get(span.start as usize..span.end as usize).map(EcoString::from)
}

fn of_query(node: Node<'_>, sources: &Sources) -> Vec<Reference> {
    let span = unquoted(node.span(), sources);
    let text = node.text();
    // Escapes and folded lines move what follows.
    let is_plain = slice(span, sources).is_some_and(|written| written == text);
    if !is_plain || jinja::is_template(text) {
        return if is_plain { of_template(node, sources) } else { Vec::new() };
    }
    in_query(text, span).into_iter().collect()
}

/// The words of a query, as far as each names one thing.
fn in_query(text: &str, at: Span) -> Option<Reference> {
    let query = query::parse(text).ok()?;
    let start = match query.start {
        QueryStart::All => Start::All,
        QueryStart::Current | QueryStart::Ancestors => Start::Own,
        QueryStart::Variable(_) => return None,
    };
    let mut words = Vec::new();
    for segment in &query.segments {
        let word = match &segment.key {
            Key::Name(name) | Key::Special(_, name) => name.clone(),
            _ => break,
        };
        let begin = at.start + segment.at.start;
        let length = u32::try_from(word.len()).unwrap_or(0);
        let is_here = text.get(segment.at.start as usize..).is_some_and(|rest| rest.starts_with(word.as_str()));
        if !is_here {
            break;
        }
        words.push((word, Span::new(at.file, begin, begin + length)));
    }
    Some(Reference { start, words })
}

/// Words that templates begin lookups with.
const ROOTS: &[(&str, Start)] = &[
    ("SELF", Start::Own),
    ("SOURCE", Start::Source),
    ("TARGET", Start::Target),
    ("NODES", Start::All),
    ("INPUTS", Start::Inputs),
    ("inputs", Start::Inputs),
];

/// Lookups such as `SELF.port` and queries in quotes, in the text as it is written.
fn of_template(node: Node<'_>, sources: &Sources) -> Vec<Reference> {
    let span = node.span();
    let Some(text) = slice(span, sources) else { return Vec::new() };
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let place = |from: usize, to: usize| {
        let offset = |at: usize| span.start + u32::try_from(at).unwrap_or(0);
        Span::new(span.file, offset(from), offset(to))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins = !is_word(at.wrapping_sub(1)) && bytes.get(at.wrapping_sub(1)) != Some(&b'.');
        let root = ROOTS
            .iter()
            .filter(|_| begins)
            .find(|(root, _)| text.get(at..).is_some_and(|rest| rest.starts_with(root)) && !is_word(at + root.len()));
        if let Some((root, start)) = root {
            let (words, end) = lookups(&text, at + root.len(), &place);
            found.extend((!words.is_empty()).then_some(Reference { start: *start, words }));
            at = end.max(at + 1);
            continue;
        }
        let is_quote = matches!(bytes.get(at), Some(b'\'' | b'"'));
        let end = text
            .get(at + 1..)
            .filter(|_| is_quote)
            .and_then(|rest| Some(at + 1 + rest.find(char::from(*bytes.get(at)?))?));
        let is_evaluated = |end: usize| {
            let rest = text.get(end + 1..).unwrap_or("").trim_start();
            rest.strip_prefix('|').is_some_and(|rest| rest.trim_start().starts_with("eval"))
        };
        if let Some(end) = end.filter(|end| is_evaluated(*end)) {
            let inner = text.get(at + 1..end).unwrap_or("");
            found.extend(in_query(inner, place(at + 1, end)));
            at = end;
        }
        at += 1;
    }
    found
}

/// `.name` and `['name']`, any number of them; the words, and where they end.
fn lookups(text: &str, from: usize, place: &dyn Fn(usize, usize) -> Span) -> (Vec<(EcoString, Span)>, usize) {
    let mut words = Vec::new();
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or("");
        let quoted = ["['", "[\""].iter().any(|open| rest.starts_with(open));
        let skip = if quoted { 2 } else { usize::from(rest.starts_with('.')) };
        let name = rest.get(skip..).filter(|_| skip > 0).unwrap_or("");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || quoted && matches!(c, '-' | '.');
        let length = name.find(|c: char| !is_name(c)).unwrap_or(name.len());
        let is_call = name.get(length..).is_some_and(|rest| rest.starts_with('('));
        if length == 0 || is_call {
            return (words, at);
        }
        let begin = at + skip;
        words.push((name.get(..length).unwrap_or("").into(), place(begin, begin + length)));
        at = begin + length + if quoted { 2 } else { 0 };
    }
}
