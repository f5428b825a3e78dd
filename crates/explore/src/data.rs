//! The project as data: its nodes and edges, its problems, its files, and a comparison of two sides.

use crate::project::{Project, Side};
use purlin_compiler::picture::colours::{HUES, Hue, hue, shade};
use purlin_compiler::picture::folders;
use purlin_compiler::{cause_text, diff, differences_value};
use purlin_model::Node;
use purlin_value::emit::REDACTED;
use purlin_value::{EcoString, Map, Value};
use std::collections::HashMap;

/// A mapping with these entries.
pub(crate) fn map(entries: Vec<(&str, Value)>) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
}

pub(crate) fn text(text: &str) -> Value {
    Value::str(EcoString::from(text))
}

pub(crate) fn number(n: usize) -> Value {
    Value::from(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The first data of the page. Variants are named as on the command line.
pub(crate) fn project(project: &Project, side: &Side, version: u64) -> Value {
    let environments =
        project.sides.iter().map(|side| map(vec![("name", text(&side.name)), ("broken", Value::from(side.is_broken))]));
    let missing = project.missing.iter().map(|name| map(vec![("name", text(name)), ("broken", Value::from(true))]));
    let option = match project.noun {
        "environment" => "-e",
        "profile" => "-p",
        _ => "--values",
    };
    let counts = map(vec![("errors", number(project.counts.0)), ("warnings", number(project.counts.1))]);
    map(vec![
        ("version", Value::from(i64::try_from(version).unwrap_or(0))),
        ("path", text(&project.path)),
        ("project", Value::str(side.resolved.project.clone())),
        ("dialect", text(project.dialect)),
        ("noun", text(project.noun)),
        ("option", text(option)),
        ("environment", text(&side.name)),
        ("environments", Value::list(environments.collect())),
        ("missing", Value::list(missing.collect())),
        ("counts", counts),
        ("hues", Value::list(HUES.iter().map(hue_value).collect())),
        ("nodes", nodes(side)),
        ("edges", edges(side)),
    ])
}

fn hue_value(hue: &Hue) -> Value {
    let list = |colours: &[&'static str; 5]| Value::list(colours.iter().map(|colour| text(colour)).collect());
    map(vec![("dialect", text(hue.dialect)), ("light", list(&hue.light)), ("dark", list(&hue.dark))])
}

fn nodes(side: &Side) -> Value {
    let (folders, marks) = (folders(&side.session, &side.resolved), side.marks());
    let one = |node: &Node| {
        let place = side.place(node.source);
        let mut entries = vec![
            ("id", Value::str(node.id.clone())),
            ("kind", Value::str(node.kind.clone())),
            ("type", Value::str(node.type_name.clone())),
            ("dialect", text(node.dialect)),
            ("hue", number(hue(Some(node.dialect)))),
            ("shade", number(shade(&node.kind))),
        ];
        entries.extend(folders.get(&node.id).map(|folder| ("folder", text(folder))));
        entries.extend(
            place.iter().flat_map(|place| [("file", text(&place.file)), ("line", Value::from(i64::from(place.line)))]),
        );
        entries.extend(node.disabled.then(|| ("disabled", Value::from(true))));
        entries.extend(marks.of(&node.id).is_broken.then(|| ("broken", Value::from(true))));
        map(entries)
    };
    Value::list(side.resolved.nodes.iter().map(one).collect())
}

/// Each edge as the indices of its nodes, with the data that flows along it.
fn edges(side: &Side) -> Value {
    let nodes = &side.resolved.nodes;
    let places: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let mut found = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        for how in &node.dependencies {
            let Some(&to) = places.get(how.node.as_str()) else { continue };
            let names = how.names.iter().cloned().map(Value::str).collect();
            let relationship = Value::str(how.relationship.clone());
            let ends = [number(from), number(to), Value::from(how.is_runtime)];
            found.push(Value::list(ends.into_iter().chain([Value::list(names), relationship]).collect()));
        }
    }
    Value::list(found)
}

/// Problems, as the command line prints them in JSON.
pub(crate) fn problems(project: &Project) -> String {
    format!("{{\"problems\":[{}]}}", project.problems.join(","))
}

/// The lines of a file that was read, without secrets. `None` for other files.
pub(crate) fn file(project: &Project, path: &str) -> Option<Value> {
    for side in &project.sides {
        let sources = &side.session.sources;
        let known = sources.all().into_iter().filter(|source| sources.shown(source.path()) == path);
        let Some(source) = known.into_iter().next() else { continue };
        let mut written = String::new();
        let mut hidden = sources.hidden(source.id());
        hidden.sort_unstable_by_key(|span| span.start);
        let mut at = 0;
        for span in hidden {
            let (start, end) = (span.start as usize, span.end as usize);
            if end > at {
                written.push_str(source.text().get(at..start.max(at)).unwrap_or_default());
                // Line numbers are kept.
                let lines = source.text().get(start.max(at)..end).map_or(0, |held| held.matches('\n').count());
                written.push_str(REDACTED);
                written.push_str(&"\n".repeat(lines));
                at = end;
            }
        }
        written.push_str(source.text().get(at..).unwrap_or_default());
        let written = (project.mask)(&written);
        let lines = written.lines().map(text).collect();
        return Some(map(vec![("file", text(path)), ("lines", Value::list(lines))]));
    }
    None
}

/// Compares two sides; each difference with its cause in words.
pub(crate) fn compared(before: &Side, after: &Side, names: (&str, &str)) -> Value {
    let found = diff((&before.session, &before.resolved), (&after.session, &after.resolved));
    let causes = found.iter().map(|difference| text(&cause_text(difference))).collect();
    let differences = differences_value(&found, &[], &[]).get("differences").cloned().unwrap_or_default();
    map(vec![
        ("from", text(names.0)),
        ("to", text(names.1)),
        ("differences", differences),
        ("causes", Value::list(causes)),
    ])
}
