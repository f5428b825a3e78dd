//! Checks of rendered manifests: they are mappings, each object exists once, and they match the Kubernetes schema if it
//! is available.

use std::collections::HashMap;

use purlin_model::Node;
use purlin_model::validate::{Problem, Validator};
use purlin_syntax::{Diagnostic, Hint, Span, suggest};
use purlin_value::{Origin, Session, Value};

use crate::rules;
use crate::schema;

fn at(session: &Session, origin: Origin) -> Option<Span> {
    session.origins.span(origin, &session.sources)
}

/// Checks the documents of a chart; `files` are the available definitions of Kubernetes objects.
pub fn check(session: &Session, nodes: &[Node], files: &[Value]) {
    let mut seen: HashMap<(String, String, String, String), Origin> = HashMap::new();
    let definitions = definitions(files);
    // Pending values, and those that follow from broken ones, are not checked.
    for node in nodes.iter().filter(|node| !node.resolved.is_pending() && !node.resolved.is_poison()) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let metadata = node.resolved.get("metadata");
        let named = |key: &str| text(metadata.and_then(|metadata| metadata.get(key)));
        let (version, kind) = (text(node.resolved.get("apiVersion")), text(node.resolved.get("kind")));
        let name = named("name");
        if version.is_empty() || kind.is_empty() {
            let what = match (kind.as_str(), name.as_str()) {
                ("", "") => "this manifest".to_owned(),
                ("", name) => format!("the manifest of `{name}`"),
                (kind, "") => format!("this `{kind}`"),
                (kind, name) => format!("`{kind}/{name}`"),
            };
            let lacking = if kind.is_empty() { "kind" } else { "apiVersion" };
            report_headless(session, &node.resolved, &what, lacking);
            continue;
        }
        // Objects of a hook are removed before the next one: only objects that exist at the same time are duplicates.
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let hook = text(annotations.and_then(|annotations| annotations.get("helm.sh/hook")));
        let key = (version.clone(), kind.clone(), named("namespace"), format!("{name} {hook}"));
        if let Some(first) = seen.get(&key) {
            let message = format!("`{kind}/{name}` is rendered twice");
            let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, message);
            diagnostic.span = at(session, node.resolved.origin);
            if let Some(span) = at(session, *first) {
                diagnostic = diagnostic.label(span, "the first one");
            }
            session.sink.push(diagnostic.hint("only the last one would be kept in the cluster"));
        } else if !name.is_empty() {
            seen.insert(key, node.resolved.origin);
        }
        if let Some((schema, names)) = &definitions {
            let group = version.split_once('/').map_or(("", version.as_str()), |(group, version)| (group, version));
            if let Some(definition) = names.get(&(group.0.to_owned(), group.1.to_owned(), kind.clone())) {
                match schema.check_definition(definition, &node.resolved, &session.meter) {
                    Ok(problems) => problems.iter().for_each(|problem| report_problem(session, node, problem)),
                    Err(stopped) => {
                        let mut diagnostic = stopped.diagnostic();
                        diagnostic.span = at(session, node.resolved.origin);
                        session.sink.push(diagnostic);
                        return;
                    }
                }
            }
        }
    }
}

/// A manifest without a kind or a version; the key that was meant to be it is shown.
fn report_headless(session: &Session, manifest: &Value, what: &str, lacking: &str) {
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, format!("{what} has no `{lacking}`"));
    diagnostic.span = at(session, manifest.origin);
    let is_other = |key: &str| !["apiVersion", "kind", "metadata", "spec"].contains(&key);
    let mut keys = manifest.as_map().into_iter().flat_map(|map| map.iter());
    let meant = keys.find(|(key, _)| is_other(key) && suggest::is_slip(key, lacking));
    let hint = match meant {
        Some((key, value)) => {
            let span = at(session, value.origin);
            diagnostic.span = span.and_then(|span| session.sources.key_before(key, span)).or(span).or(diagnostic.span);
            Hint::meant(key.as_str(), lacking)
        }
        None => "every manifest names its `apiVersion` and `kind`".into(),
    };
    session.sink.push(diagnostic.hint(hint));
}

fn report_problem(session: &Session, node: &Node, problem: &Problem) {
    let field = problem.at.trim_start_matches('/').replace('/', ".");
    let place = if field.is_empty() { String::new() } else { format!(" at `{field}`") };
    let message = format!("`{}` does not fit the Kubernetes schema{place}: {}", node.id, schema::message(problem));
    let mut diagnostic = Diagnostic::nowhere(&rules::KUBERNETES, message);
    diagnostic.span = at(session, problem.value.origin);
    diagnostic = session.written_here(diagnostic, problem.value.origin);
    session.sink.push(diagnostic);
}

type Names = HashMap<(String, String, String), String>;

/// The definition of each group, version and kind.
fn definitions(files: &[Value]) -> Option<(Validator, Names)> {
    let schema = Validator::new(files.first()?.clone()).ok()?;
    let mut names = Names::new();
    for (name, definition) in schema.definitions() {
        for entry in definition.get("x-kubernetes-group-version-kind").and_then(Value::as_list).unwrap_or_default() {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            names.insert((text("group"), text("version"), text("kind")), name.to_owned());
        }
    }
    Some((schema, names))
}
