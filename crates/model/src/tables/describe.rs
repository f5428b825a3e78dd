//! The rows as documentation: the reference page. Completion and hovers read the JSON Schemas of the same rows.
//!
//! Everything here is derived from the tables; nothing must be kept in step with them.

use crate::check::{alternatives, describe_shape};
use crate::schema::{Edition, Entity, Field, Literal, Merge, Schema, Shape, Window, Written};
use std::fmt::Write;

/// The text of the columns beside shape and description.
fn notes(schema: &Schema, field: &Field) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(literal) = &field.default {
        notes.push(format!("Default: `{}`.", literal_text(literal)));
    }
    if let Some(group) = field.one_of {
        notes.push(format!("Only one key of the group “{group}” may be there."));
    }
    if !field.aliases.is_empty() {
        notes.push(format!("Formerly {}.", alternatives(field.aliases.iter().copied())));
    }
    if let Some(advice) = field.deprecated {
        notes.push(format!("No longer to be used: {advice}."));
    }
    notes.extend(window_text(schema, field.window));
    if let Some(edition) = field.required.and_then(|window| window.except) {
        notes.push(format!("Not required in {}.", schema.edition_name(edition)));
    }
    if field.is_loose {
        notes.push("It may also name something else.".to_owned());
    }
    if field.is_path {
        notes.push("Relative to the folder of the file.".to_owned());
    }
    if field.is_template {
        notes.push("May hold templates.".to_owned());
    }
    if field.is_extension {
        notes.push("Not in the original tool.".to_owned());
    }
    notes.extend(merge_text(field).map(str::to_owned));
    notes
}

/// The editions of a row, unless all; those that only add to another one are named where they differ.
fn window_text(schema: &Schema, window: Window) -> Option<String> {
    let steps: Vec<Edition> = schema.steps().collect();
    let having: Vec<Edition> = steps.iter().copied().filter(|edition| window.has(*edition)).collect();
    let since = having.first().filter(|first| Some(*first) != steps.first()).map(|first| schema.edition_name(*first));
    let until = having.last().filter(|last| Some(*last) != steps.last()).map(|last| schema.edition_name(*last));
    let mut said: Vec<String> = match (since, until) {
        (Some(since), Some(until)) if since == until => vec![format!("Only in {since}.")],
        (Some(since), Some(until)) => vec![format!("From {since} until {until}.")],
        (Some(since), None) => vec![format!("From {since} on.")],
        (None, Some(until)) => vec![format!("Until {until}.")],
        (None, None) => Vec::new(),
    };
    for variant in schema.variants {
        let base = steps.iter().rev().find(|step| *step < variant).is_some_and(|base| window.has(*base));
        let name = schema.edition_name(*variant);
        match (base, window.has(*variant)) {
            (false, true) if having.is_empty() => said.push(format!("Only in {name}.")),
            (false, true) => said.push(format!("Also in {name}.")),
            (true, false) => said.push(format!("Not in {name}.")),
            _ => {}
        }
    }
    (!said.is_empty()).then(|| said.join(" "))
}

fn merge_text(field: &Field) -> Option<&'static str> {
    match field.merge {
        Merge::Own => None,
        Merge::Fallback => Some("Inherited unless written."),
        Merge::ByName if matches!(field.shape, Shape::One(_)) => Some("Merged with what is inherited."),
        Merge::ByName => Some("Merged by name with what is inherited."),
        Merge::Replace => Some("Added by name to what is inherited; the same name replaces."),
        Merge::Append => Some("Added to what is inherited."),
        Merge::Narrow => Some("Inherited; may only be narrowed."),
        Merge::Fixed => Some("Inherited; cannot be changed."),
    }
}

/// A literal in YAML's flow style.
pub(crate) fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => value.to_string(),
        Literal::Text(text) => (*text).to_owned(),
        Literal::List(items) => {
            let items: Vec<String> = items.iter().map(literal_text).collect();
            format!("[{}]", items.join(", "))
        }
        Literal::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}: {}", literal_text(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// The reference page of a dialect, in Markdown: one section for each kind of entity, one line for each key.
pub fn reference(schema: &Schema, title: &str) -> String {
    let mut page = format!("# {title}\n");
    if schema.editions.len() > 1 {
        let editions: Vec<String> = schema.editions.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(page, "\nEditions, the oldest first: {}.", editions.join(", "));
        for variant in schema.variants {
            let base = schema.steps().rev().find(|step| step < variant).map(|base| schema.edition_name(base));
            let name = schema.edition_name(*variant);
            let _ = write!(page, " `{name}` is `{}` with additions.", base.unwrap_or_default());
        }
        page.push('\n');
    }
    for entity in schema.entities {
        section(schema, entity, &mut page);
    }
    page
}

fn section(schema: &Schema, entity: &Entity, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n{}\n", capitalised(entity.label), entity.doc);
    for short in entity.short {
        let written = match short.written {
            Written::Scalar => "A single value",
            Written::Text => "Text",
            Written::List => "A list",
        };
        let mut keys: Vec<&str> =
            entity.all_fields().filter(|field| field.slot == short.slot).map(|field| field.key).collect();
        keys.dedup();
        let window = window_text(schema, short.window).map(|text| format!(" {text}")).unwrap_or_default();
        let _ = write!(page, "\n{written} stands for its {}.{window}\n", alternatives(keys));
    }
    for group in entity.exactly_one {
        let members = entity.all_fields().filter(|field| field.one_of == Some(group)).map(|field| field.key);
        let _ = write!(page, "\nOne of {} is required.\n", alternatives(members));
    }
    page.push_str("\n| Key | Takes | Meaning |\n|---|---|---|\n");
    for field in entity.all_fields() {
        row(schema, &format!("`{}`", field.key), field, page);
    }
    if let Some(rest) = &entity.rest {
        row(schema, "any other key", rest, page);
    }
}

fn row(schema: &Schema, key: &str, field: &Field, page: &mut String) {
    let required = if field.required.is_some() { " (required)" } else { "" };
    let mut meaning = vec![field.doc.to_owned()];
    meaning.extend(notes(schema, field));
    let takes = linked_shape(schema, &field.shape);
    let _ = writeln!(page, "| {key}{required} | {} | {} |", cell(&takes), cell(&meaning.join(" ")));
}

/// A shape in words, its kind of entity linked to the section.
fn linked_shape(schema: &Schema, shape: &Shape) -> String {
    let text = describe_shape(schema, shape);
    let held = match shape {
        Shape::One(kind) | Shape::List(kind) | Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) => {
            kind
        }
        Shape::Reference([kind]) | Shape::Names([kind]) => kind,
        _ => return text,
    };
    let label = schema.label(*held);
    match text.rfind(label) {
        Some(at) => format!(
            "{}[{label}](#{}){}",
            &text[..at],
            label.to_lowercase().replace(' ', "-"),
            &text[at + label.len()..]
        ),
        None => text,
    }
}

/// Escaped text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn capitalised(label: &str) -> String {
    let mut chars = label.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
