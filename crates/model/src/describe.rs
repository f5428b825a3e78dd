//! What the rows say to people: completions, hovers and the reference page.
//!
//! Everything here is read off the tables; there is nothing to keep in step with them.

use crate::check::{alternatives, before, describe_shape, with_article};
use crate::schema::{Edition, Entity, Field, Kind, Literal, Merge, Schema, Shape, Window, Written};
use std::fmt::Write;

/// A key that could be written somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The key, or the value.
    pub text: &'static str,
    /// What it takes.
    pub detail: String,
    /// What it means.
    pub doc: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it should no longer be used.
    pub deprecated: bool,
}

/// The keys of an entity in an edition, required ones first, then in the order of rows.
pub fn keys(schema: &Schema, kind: Kind, edition: Edition) -> Vec<Completion> {
    let Some(entity) = schema.entity(kind) else { return Vec::new() };
    let mut keys: Vec<Completion> = entity
        .fields(edition)
        .map(|field| Completion {
            text: field.key,
            detail: describe_shape(schema, &field.shape),
            doc: field.doc,
            required: field.required,
            deprecated: field.deprecated.is_some(),
        })
        .collect();
    keys.sort_by_key(|key| !key.required);
    keys
}

/// The words that can stand under a key, where the row lists them.
pub fn words(field: &Field) -> Vec<&'static str> {
    fn collect(shape: &Shape, into: &mut Vec<&'static str>) {
        match shape {
            Shape::Choice(words) => into.extend(*words),
            Shape::Bool => into.extend(["true", "false"]),
            Shape::Union(shapes) => shapes.iter().for_each(|shape| collect(shape, into)),
            Shape::ListOf(inner) | Shape::MapOf(inner) => collect(inner, into),
            _ => {}
        }
    }
    let mut words = Vec::new();
    collect(&field.shape, &mut words);
    words
}

/// What an editor shows for a key, in Markdown.
pub fn hover(schema: &Schema, kind: Kind, edition: Edition, key: &str) -> Option<String> {
    let entity = schema.entity(kind)?;
    let field = entity.field_or_alias(key, edition).or_else(|| entity.rest_in(edition))?;
    let mut text =
        format!("**{}** of {}: {}", field.key, with_article(entity.label), describe_shape(schema, &field.shape));
    let _ = write!(text, "\n\n{}", field.doc);
    let mut notes = notes(schema, field);
    if field.required {
        notes.insert(0, "Required.".to_owned());
    }
    if !notes.is_empty() {
        let _ = write!(text, "\n\n{}", notes.join(" "));
    }
    Some(text)
}

/// What the columns beside shape and sentence say.
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
    notes.extend(merge_text(field).map(str::to_owned));
    notes
}

fn window_text(schema: &Schema, window: Window) -> Option<String> {
    let since = (window.since > Edition(0)).then(|| schema.edition_name(window.since));
    let until = window.until.map(|until| before(schema, until));
    match (since, until) {
        (Some(since), Some(until)) if since == until => Some(format!("Only in {since}.")),
        (Some(since), Some(until)) => Some(format!("From {since} until {until}.")),
        (Some(since), None) => Some(format!("From {since} on.")),
        (None, Some(until)) => Some(format!("Until {until}.")),
        (None, None) => None,
    }
}

fn merge_text(field: &Field) -> Option<&'static str> {
    match field.merge {
        Merge::Own => None,
        Merge::Fallback => Some("Inherited unless written."),
        Merge::ByName if matches!(field.shape, Shape::One(_)) => Some("Merged with what is inherited."),
        Merge::ByName => Some("Merged by name with what is inherited."),
        Merge::Append => Some("Added to what is inherited."),
        Merge::Narrow => Some("Inherited; may only be narrowed."),
        Merge::Fixed => Some("Inherited; cannot be changed."),
        Merge::With(_) => Some("Inherited by a rule of its own."),
    }
}

/// A literal as it would be written in YAML's flow style.
pub fn literal_text(literal: &Literal) -> String {
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
        let _ = write!(page, "\nEditions, the oldest first: {}.\n", editions.join(", "));
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
            Written::List => "A list",
        };
        let window = window_text(schema, short.window).map(|text| format!(" {text}")).unwrap_or_default();
        let _ = write!(page, "\n{written} stands for its `{}`.{window}\n", short.key);
    }
    for group in entity.exactly_one {
        let members = entity.all_fields().filter(|field| field.one_of == Some(group)).map(|field| field.key);
        let _ = write!(page, "\nOne of {} must be there.\n", alternatives(members));
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
    let required = if field.required { " (required)" } else { "" };
    let mut meaning = vec![field.doc.to_owned()];
    meaning.extend(notes(schema, field));
    let takes = linked_shape(schema, &field.shape);
    let _ = writeln!(page, "| {key}{required} | {} | {} |", cell(&takes), cell(&meaning.join(" ")));
}

/// A shape in words, the kind of entity in it being a link to its section.
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

/// Text that may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn capitalised(label: &str) -> String {
    let mut chars = label.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
