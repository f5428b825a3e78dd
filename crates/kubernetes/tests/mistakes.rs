//! Breaks valid objects, one line at a time, and expects the finding at that line.
//!
//! Every mistake is one that a cluster rejects; unbroken objects must have no findings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_kubernetes::table::{Shape, TypeId, table};
use purlin_kubernetes::{Object, Terms, judge, judge_incomplete};
use purlin_syntax::{Diagnostic, Flavor, Severity};
use purlin_value::{MemoryWorld, MergeKeys, Session, Value, value_of};
use std::collections::BTreeMap;
use std::sync::Arc;

const OBJECTS: &str = include_str!("objects.yaml");

/// The findings of a text of objects: lines, from 1, and messages.
fn findings(text: &str) -> Vec<(usize, Diagnostic)> {
    let session = Session::new(Arc::new(MemoryWorld::default()));
    let source = session.sources.insert("objects.yaml", text);
    let tree = session.parse_yaml(source, Flavor::GoObjects);
    let values: Vec<Value> = tree.roots().map(|root| value_of(root, MergeKeys::Apply)).collect();
    let objects: Vec<Object<'_>> = values.iter().filter_map(Object::of).collect();
    let mut found = judge_incomplete(&session, values.iter());
    found.extend(judge(&session, &objects, Terms::default()));
    let line = |found: &Diagnostic| {
        let span = found.span.expect("a finding has a place");
        text.get(..span.start as usize).map_or(0, |before| before.matches('\n').count() + 1)
    };
    found.into_iter().map(|found| (line(&found), found)).collect()
}

#[test]
fn valid_objects_are_left_alone() {
    let found: Vec<String> = findings(OBJECTS)
        .into_iter()
        .filter(|(_, found)| !found.message.contains("deprecated"))
        .map(|(line, found)| format!("{line}: {}", found.message))
        .collect();
    assert_eq!(found, [""; 0]);
    let kinds = OBJECTS.lines().filter(|line| line.starts_with("kind: ")).count();
    assert!(kinds >= 60, "{kinds} objects");
}

/// A way to break a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    /// A letter of a key is missing.
    Key,
    /// A key begins with a capital.
    Case,
    /// A string for a number or a boolean.
    Word,
    /// A number for a string.
    Number,
    /// A value outside the enumeration.
    Choice,
    /// An unknown unit of a quantity.
    Unit,
    /// A list for a mapping or scalar, a scalar for a list.
    Form,
    /// Capitals in a name.
    Name,
    /// A removed version.
    Version,
    /// A port that is too large.
    Port,
}

const BREAKS: [Break; 10] = [
    Break::Key,
    Break::Case,
    Break::Word,
    Break::Number,
    Break::Choice,
    Break::Unit,
    Break::Form,
    Break::Name,
    Break::Version,
    Break::Port,
];

/// The shape of the value at each line of the objects that has a key of a built-in type.
fn shapes() -> BTreeMap<usize, (&'static str, Shape)> {
    let session = Session::new(Arc::new(MemoryWorld::default()));
    let source = session.sources.insert("objects.yaml", OBJECTS);
    let tree = session.parse_yaml(source, Flavor::GoObjects);
    let mut found = BTreeMap::new();
    for root in tree.roots() {
        let text = |key: &str| root.get(key).map(|node| node.text().to_owned()).unwrap_or_default();
        if let Some(kind) = table().kind(&text("apiVersion"), &text("kind")) {
            walk(root, kind.of, &mut found);
        }
    }
    found
}

fn walk(node: purlin_syntax::Node<'_>, of: TypeId, found: &mut BTreeMap<usize, (&'static str, Shape)>) {
    let of = table().get(of).expect("a type");
    for entry in node.entries() {
        let Some(field) = of.field(entry.name()) else { continue };
        let start = entry.key.span().start as usize;
        let line = OBJECTS.get(..start).map_or(0, |before| before.matches('\n').count() + 1);
        found.insert(line, (of.short(), field.shape.clone()));
        match (&field.shape, inner(&field.shape)) {
            (Shape::List(..), Some(id)) => entry.value.items().for_each(|item| walk(item, id, found)),
            (Shape::Type(id), _) => walk(entry.value, *id, found),
            _ => {}
        }
    }
}

fn inner(shape: &Shape) -> Option<TypeId> {
    match shape {
        Shape::Type(id) => Some(*id),
        Shape::List(item, _) => inner(item),
        _ => None,
    }
}

/// A line with a mistake in it, if the kind of mistake applies to it.
fn broken(line: &str, of: &str, shape: &Shape, how: Break) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let (key, value) = (key.to_owned(), value.trim().trim_matches('"'));
    let name = key.trim_start_matches([' ', '-']);
    let is_scalar = !value.is_empty();
    let with = |value: &str| Some(format!("{key}: {value}"));
    match (how, shape) {
        // Without a letter, a short name could be another key.
        (Break::Key, _) if name.len() > 3 && name != "kind" && name != "apiVersion" => {
            Some(format!("{}{}", line.get(..line.find(':')? - 1)?, line.get(line.find(':')?..)?))
        }
        (Break::Case, _) => {
            let start = line.len() - line.trim_start_matches([' ', '-']).len();
            let (before, rest) = line.split_at_checked(start)?;
            let first = rest.chars().next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase();
            Some(format!("{before}{first}{}", rest.get(1..)?))
        }
        (Break::Word, Shape::Integer { .. } | Shape::Boolean | Shape::Number) => with("two"),
        (Break::Number, Shape::Text(_)) if is_scalar && name != "kind" && name != "apiVersion" => with("5"),
        (Break::Choice, Shape::Text(Some(_))) if is_scalar => with("Nonesuch"),
        (Break::Unit, Shape::Quantity) => with("1Gigs"),
        (Break::Form, Shape::Text(_) | Shape::Boolean | Shape::Integer { .. })
            if is_scalar && name != "kind" && name != "apiVersion" =>
        {
            with("[1]")
        }
        (Break::Name, Shape::Text(_)) if of == "ObjectMeta" && name == "name" => with("Not_A name/x"),
        (Break::Version, Shape::Text(_)) if name == "apiVersion" => with("v1beta7"),
        (Break::Port, Shape::Integer { .. }) if matches!(name, "containerPort" | "port" | "nodePort" | "number") => {
            with("70000")
        }
        _ => None,
    }
}

#[test]
fn every_mistake_is_found_where_it_is() {
    let lines: Vec<&str> = OBJECTS.lines().collect();
    let (mut all, mut missed, mut kinds) = (0, Vec::new(), BTreeMap::<Break, usize>::new());
    for (line, (of, shape)) in shapes() {
        for how in BREAKS {
            let Some(wrong) = broken(lines[line - 1], of, &shape, how) else { continue };
            // Each document by itself: the others do not affect its findings.
            let is_end = |at: &usize| lines[*at] == "---";
            let first = (0..line).rev().find(is_end).map_or(0, |at| at + 1);
            let last = (line..lines.len()).find(is_end).unwrap_or(lines.len());
            let mut text: Vec<&str> = lines[first..last].to_vec();
            text[line - 1 - first] = &wrong;
            let found = findings(&(text.join("\n") + "\n"));
            let is_found = found.iter().any(|(at, found)| *at + first == line && found.severity == Severity::Error);
            all += 1;
            *kinds.entry(how).or_default() += 1;
            if !is_found {
                let found: Vec<String> =
                    found.iter().take(2).map(|(line, found)| format!("{line}: {}", found.message)).collect();
                missed.push(format!("{line} {how:?} `{}`: {found:?}", wrong.trim()));
            }
        }
    }
    assert!(all >= 300 && kinds.len() == BREAKS.len(), "{all} mistakes of {kinds:?}");
    let share = missed.len() as f64 / f64::from(all);
    assert!(share <= 0.03, "{} of {all} missed:\n{}", missed.len(), missed.join("\n"));
    println!("{} of {all} mistakes found", all - i32::try_from(missed.len()).unwrap());
}
