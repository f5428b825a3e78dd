//! The result of each phase as plain data, for inspection.

mod service;

use crate::clout::Out;
use crate::compile::Compiled;
use crate::entities;
use crate::entity::{Content, Entity};
use crate::names::DeclId;
use ecow::{EcoString, eco_format};
use purlin_model::Kind;

/// The result of a phase; the fifth is the rendered service.
pub fn phase(compiled: &Compiled, phase: u8) -> Out {
    match phase {
        1 => read(compiled),
        2 => names(compiled),
        3 => hierarchies(compiled),
        4 => types(compiled),
        _ => service::service(compiled),
    }
}

fn read(compiled: &Compiled) -> Out {
    let files = compiled.model.files.list.iter();
    Out::Map(files.map(|file| (file.path.clone(), entity(&file.entity, 0))).collect())
}

fn entity(entity_: &Entity, depth: u32) -> Out {
    if depth > 100 {
        return Out::Null;
    }
    Out::Map(entity_.slots.iter().map(|slot| (EcoString::from(slot.name), content(&slot.content, depth))).collect())
}

fn content(content_: &Content, depth: u32) -> Out {
    match content_ {
        Content::Text(text) => Out::Str(text.text.clone()),
        Content::Bool(value) => Out::Bool(*value),
        Content::Int(value) => Out::Int(*value),
        Content::Texts(texts) => Out::List(texts.iter().map(|text| Out::Str(text.text.clone())).collect()),
        Content::Value(value) => Out::from(value),
        Content::Values(values) => {
            Out::Map(values.iter().map(|(name, value)| (name.text.clone(), Out::from(value))).collect())
        }
        Content::Range(range) => Out::Str(eco_format!("{range}")),
        Content::One(inner) => entity(inner, depth + 1),
        Content::Map(defs) => {
            Out::Map(defs.flat().iter().map(|(name, inner)| (name.clone(), entity(inner, depth + 1))).collect())
        }
        Content::List(list) => Out::List(list.iter().map(|inner| entity(inner, depth + 1)).collect()),
        Content::Clauses(clauses) => Out::List(clauses.iter().map(Out::from).collect()),
    }
}

/// Libraries that import each other with prefixes have too many names to print.
const MOST_NAMES: usize = 50_000;

fn names(compiled: &Compiled) -> Out {
    let model = &compiled.model;
    let Some(root) = model.files.root() else { return Out::Null };
    let section = |kind: &Kind| {
        let visible = model.names.visible(root.id, *kind, MOST_NAMES).into_iter();
        let names = visible.filter_map(|name| {
            let id = model.names.find(root.id, *kind, &name)?;
            Some((name, Out::Str(model.canonical(id))))
        });
        (EcoString::from(entities::label(*kind)), Out::Map(names.collect()))
    };
    Out::Map(entities::TYPES.iter().map(section).collect())
}

fn hierarchies(compiled: &Compiled) -> Out {
    let model = &compiled.model;
    let section = |kind: &Kind| {
        let of_kind = |id: &&DeclId| model.names.decl(**id).is_some_and(|decl| decl.kind == *kind);
        let line = |id: &DeclId| {
            let lineage: Vec<EcoString> = model.hierarchy.lineage(*id).skip(1).map(|id| model.name(id)).collect();
            (model.name(*id), Out::Str(lineage.join(" → ").into()))
        };
        let lines = model.hierarchy.order.iter().filter(of_kind).map(line).collect();
        (EcoString::from(entities::label(*kind)), Out::Map(lines))
    };
    Out::Map(entities::TYPES.iter().map(section).collect())
}

fn types(compiled: &Compiled) -> Out {
    let model = &compiled.model;
    let section = |kind: &Kind| {
        let ids =
            model.hierarchy.order.iter().filter(|id| model.names.decl(**id).is_some_and(|decl| decl.kind == *kind));
        let complete = ids.filter_map(|id| Some((model.name(*id), entity(model.complete(*id)?, 0))));
        (EcoString::from(entities::label(*kind)), Out::Map(complete.collect()))
    };
    Out::Map(entities::TYPES.iter().map(section).collect())
}
