//! Names for places: `node_types["A"].properties["p"].default`, as reports of problems use them.
//!
//! Walks a file's tree beside the table, from the root to the location. Only done for problems that are printed.

use crate::edition::Edition;
use crate::entities::{self, shapes};
use crate::load::Files;
use crate::problem::Problem;
use crate::val::merged_entries;
use ecow::EcoString;
use purlin_model::schema::{Kind, Shape};
use purlin_syntax::{Node, Span};
use std::fmt::Write;

/// Where a problem is: file, line, column and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's path.
    pub file: EcoString,
    /// Line, from 1.
    pub row: u32,
    /// Column, from 1.
    pub column: u32,
    /// The path in the file, or empty.
    pub path: String,
}

/// The state of the walk at a node.
#[derive(Clone, Copy)]
enum At {
    Entity(Kind),
    Field(Shape),
    Value,
    /// A map whose keys are joined with dots, such as an activity.
    Dotted,
}

/// The location of a problem, if it is in a file.
pub fn locate(files: &Files, problem: &Problem) -> Option<Location> {
    let span = problem.diagnostic.span?;
    let file = files.list.get(files.of(span.file)?)?;
    let position = file.tree.source().position(span.start);
    let mut path = path_of(files, span)?;
    path.push_str(&problem.beyond);
    Some(Location { file: file.path.clone(), row: position.line, column: position.column, path })
}

/// The path of a place in its file.
pub(crate) fn path_of(files: &Files, span: Span) -> Option<String> {
    let file = files.list.get(files.of(span.file)?)?;
    let mut path = String::new();
    if let Some(root) = file.tree.root()
        && span != root.span()
    {
        walk(root, At::Entity(entities::FILE), file.edition, span, &mut path, 0);
    }
    Some(path)
}

fn walk(node: Node<'_>, at: At, edition: Edition, target: Span, path: &mut String, depth: u32) {
    if depth > 500 || node.is_alias() {
        return;
    }
    if node.is_map() {
        walk_map(node, at, edition, target, path, depth);
    } else if node.is_list() {
        walk_list(node, at, edition, target, path, depth);
    }
}

fn walk_map(node: Node<'_>, at: At, edition: Edition, target: Span, path: &mut String, depth: u32) {
    let entries: Vec<_> = node.entries().filter(|entry| entry.key.span().start <= target.start).collect();
    let Some(entry) = entries.last() else { return };
    let name = entry.name();
    let next = match at {
        At::Entity(kind) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            entity_field(kind, name, edition)
        }
        At::Dotted => {
            let _ = write!(path, ".{name}");
            if name == "inputs" { At::Value } else { At::Dotted }
        }
        At::Field(shape) => {
            let _ = write!(path, "[\"{name}\"]");
            match shape {
                Shape::Map(kind) => At::Entity(kind),
                shape if shape == shapes::PARAMETERS => At::Entity(entities::PARAMETER_DEFINITION),
                _ => At::Value,
            }
        }
        At::Value => {
            let _ = write!(path, "[\"{name}\"]");
            At::Value
        }
    };
    if entry.key.span() != target {
        let next = if let At::Field(Shape::One(kind)) = next { At::Entity(kind) } else { next };
        walk(entry.value, next, edition, target, path, depth + 1);
    }
}

fn entity_field(kind: Kind, name: &str, edition: Edition) -> At {
    let row = entities::row(kind);
    match row.field(name, edition).map(|field| field.shape) {
        Some(shape) => At::Field(shape),
        // Before TOSCA 1.3 operations are written directly in their interface.
        None => match row.rest.map(|rest| rest.shape) {
            Some(Shape::Map(kind)) => At::Entity(kind),
            _ => At::Value,
        },
    }
}

fn walk_list(node: Node<'_>, at: At, edition: Edition, target: Span, path: &mut String, depth: u32) {
    let items: Vec<_> = node.items().enumerate().filter(|(_, item)| item.span().start <= target.start).collect();
    let Some((index, item)) = items.last().copied() else { return };
    let sequenced = match at {
        At::Field(Shape::Sequence(kind) | Shape::Repeating(kind)) => Some(kind),
        _ => None,
    };
    let _ = if sequenced.is_some() { write!(path, "{{{index}}}") } else { write!(path, "[{index}]") };
    if item.span() == target {
        return;
    }
    match (sequenced, at) {
        (Some(kind), _) => {
            // The name of a sequenced entry is not part of the path.
            if let Some(entry) = merged_entries(item).first()
                && entry.key.span() != target
                && entry.value.span() != target
            {
                walk(entry.value, At::Entity(kind), edition, target, path, depth + 1);
            }
        }
        (None, At::Field(Shape::List(kind))) => walk(item, At::Entity(kind), edition, target, path, depth + 1),
        (None, At::Field(shape)) if shape == shapes::ACTIVITIES => {
            walk(item, At::Dotted, edition, target, path, depth + 1)
        }
        (None, _) => walk(item, At::Value, edition, target, path, depth + 1),
    }
}
