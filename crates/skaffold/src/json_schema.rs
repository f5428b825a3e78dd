//! The table as a JSON Schema, for editors and for `schema get`.

use crate::editions::Edition;
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::entities::{Entity, Field, Shape};
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};

/// The schema of one edition.
pub fn write(edition: Edition) -> String {
    let entities = reachable(edition);
    let mut writer = JsonWriter::new(JsonLayout::Pretty, JsonFlavor::Plain);
    writer.begin_map(4);
    text(&mut writer, "$schema", "http://json-schema.org/draft-07/schema#");
    text(&mut writer, "title", &edition.api_version());
    text(&mut writer, "$ref", "#/definitions/SkaffoldConfig");
    writer.key("definitions");
    writer.begin_map(entities.len());
    for entity in entities {
        writer.key(entity.name);
        definition(&mut writer, entity, edition);
    }
    writer.end_map();
    writer.end_map();
    let mut text = writer.finish().unwrap_or_default();
    text.push('\n');
    text
}

/// All entities an edition uses, in the order they are met.
fn reachable(edition: Edition) -> Vec<&'static Entity> {
    let mut found: Vec<&'static Entity> = vec![&SKAFFOLD_CONFIG];
    let mut next = 0;
    while let Some(entity) = found.get(next).copied() {
        next += 1;
        for row in entity.fields(edition).filter(|row| !row.founding) {
            if let Shape::One(e) | Shape::Maybe(e) | Shape::Many(e) | Shape::OptMany(e) = row.shape
                && !e.is_open()
                && !found.iter().any(|known| known.name == e.name)
            {
                found.push(e);
            }
        }
    }
    found
}

fn text(writer: &mut JsonWriter, key: &str, value: &str) {
    writer.key(key);
    writer.string(value);
}

fn definition(writer: &mut JsonWriter, entity: &'static Entity, edition: Edition) {
    let rows: Vec<&Field> = entity.fields(edition).filter(|row| !row.founding).collect();
    let required: Vec<&str> = rows.iter().filter(|row| row.required).map(|row| row.key).collect();
    writer.begin_map(3 + usize::from(!required.is_empty()));
    text(writer, "type", "object");
    writer.key("properties");
    writer.begin_map(rows.len());
    for row in rows {
        writer.key(row.key);
        property(writer, row);
    }
    writer.end_map();
    writer.key("additionalProperties");
    writer.bool(false);
    if !required.is_empty() {
        writer.key("required");
        writer.begin_list(required.len());
        required.iter().for_each(|key| writer.string(key));
        writer.end_list();
    }
    writer.end_map();
}

fn property(writer: &mut JsonWriter, row: &Field) {
    let extra = 1 + usize::from(!row.default.is_empty());
    let kind = match row.shape {
        Shape::Text | Shape::OptText => "string",
        Shape::Bool | Shape::OptBool => "boolean",
        Shape::Int | Shape::OptInt => "integer",
        Shape::Texts | Shape::Many(_) | Shape::OptMany(_) => "array",
        Shape::TextMap | Shape::OptTextMap | Shape::Flat => "object",
        Shape::One(entity) | Shape::Maybe(entity) if entity.is_open() => "object",
        Shape::One(_) | Shape::Maybe(_) | Shape::Any | Shape::Port => "",
    };
    let items = matches!(row.shape, Shape::Texts | Shape::Many(_) | Shape::OptMany(_));
    let reference = match row.shape {
        Shape::One(entity) | Shape::Maybe(entity) if !entity.is_open() => Some(entity),
        _ => None,
    };
    let len = extra + usize::from(!kind.is_empty()) + usize::from(items) + usize::from(reference.is_some());
    writer.begin_map(len);
    if !kind.is_empty() {
        text(writer, "type", kind);
    }
    if let Some(entity) = reference {
        text(writer, "$ref", &format!("#/definitions/{}", entity.name));
    }
    if items {
        writer.key("items");
        match row.shape {
            Shape::Many(entity) | Shape::OptMany(entity) if !entity.is_open() => {
                writer.begin_map(1);
                text(writer, "$ref", &format!("#/definitions/{}", entity.name));
            }
            Shape::Texts => {
                writer.begin_map(1);
                text(writer, "type", "string");
            }
            _ => writer.begin_map(0),
        }
        writer.end_map();
    }
    text(writer, "description", row.doc);
    if !row.default.is_empty() {
        text(writer, "default", row.default);
    }
    writer.end_map();
}
