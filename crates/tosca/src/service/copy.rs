//! `copy`: a template that starts from another one.
//!
//! Phase: read, once all templates of a section are read. Maps are merged key by key, everything else is replaced.

use crate::entity::{Content, Defs, Entity};
use crate::problem::Problems;
use crate::rules;
use crate::val::{self, Text, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;
use std::sync::Arc;

type Templates = IndexMap<EcoString, Arc<Entity>>;

/// Applies every `copy`; cycles are reported once, and the names of their members are returned.
pub fn apply(templates: Templates, problems: &mut Problems) -> (Templates, Vec<EcoString>) {
    if !templates.values().any(|entity| entity.slot("copy").is_some()) {
        return (templates, Vec::new());
    }
    let mut done: IndexMap<EcoString, Arc<Entity>> = IndexMap::new();
    let mut reported: Vec<EcoString> = Vec::new();
    for name in templates.keys() {
        // The chain of sources, from this template to the first that copies nothing.
        let mut chain = vec![name.clone()];
        while let Some(source) =
            chain.last().and_then(|last| templates.get(last)).and_then(|entity| entity.text("copy"))
        {
            if chain.contains(&source.text) {
                report_ring(&templates, &chain, &source.text, &mut reported, problems);
                break;
            }
            if !templates.contains_key(&source.text) || done.contains_key(&source.text) {
                chain.extend(done.contains_key(&source.text).then(|| source.text.clone()));
                break;
            }
            chain.push(source.text.clone());
        }
        let mut base: Option<Arc<Entity>> = None;
        for member in chain.iter().rev() {
            let Some(own) = done.get(member).or_else(|| templates.get(member)) else { continue };
            let made = match (&base, done.contains_key(member)) {
                (Some(base), false) => Arc::new(overlay(base, own)),
                _ => own.clone(),
            };
            done.insert(member.clone(), made.clone());
            base = Some(made);
        }
    }
    let all = templates.keys().filter_map(|name| Some((name.clone(), done.get(name)?.clone()))).collect();
    (all, reported)
}

fn report_ring(
    templates: &Templates,
    chain: &[EcoString],
    again: &EcoString,
    reported: &mut Vec<EcoString>,
    problems: &mut Problems,
) {
    let start = chain.iter().position(|name| name == again).unwrap_or(0);
    let ring = chain.get(start..).unwrap_or(&[]);
    if ring.iter().any(|name| reported.contains(name)) {
        return;
    }
    reported.extend(ring.iter().cloned());
    let Some(first) = ring.iter().filter_map(|name| templates.get(name)).min_by_key(|entity| entity.at) else { return };
    let path = ring.iter().chain(ring.first()).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ");
    problems.push(Diagnostic::at(
        &rules::COPY_LOOP,
        first.place("copy"),
        what::cycle([path]).under("circular `copy`: "),
    ));
}

fn overlay(base: &Entity, over: &Entity) -> Entity {
    let mut out = over.clone();
    for slot in &base.slots {
        match over.slot(slot.name) {
            None if slot.name != "copy" => out.slots.push(slot.clone()),
            None => {}
            Some(own) => {
                if let Some(merged) = overlay_content(&slot.content, &own.content) {
                    out.set(slot.name, own.at, merged);
                }
            }
        }
    }
    out
}

/// The merged content; none where the upper one is kept unchanged.
fn overlay_content(base: &Content, over: &Content) -> Option<Content> {
    match (base, over) {
        (Content::Values(below), Content::Values(above)) => {
            Some(Content::Values(Arc::new(overlay_values(below, above))))
        }
        (Content::Value(below), Content::Value(above)) => Some(Content::Value(val::overlay(below, above))),
        (Content::One(below), Content::One(above)) => Some(Content::One(Arc::new(overlay(below, above)))),
        (Content::Map(below), Content::Map(above)) => {
            let mut merged = below.flat().clone();
            for (name, own) in above.flat() {
                let entity = match below.get(name) {
                    Some(base) => Arc::new(overlay(base, own)),
                    None => own.clone(),
                };
                merged.insert(name.clone(), entity);
            }
            Some(Content::Map(Arc::new(Defs::new(merged))))
        }
        _ => None,
    }
}

fn overlay_values(below: &[(Text, Val)], above: &[(Text, Val)]) -> Vec<(Text, Val)> {
    let mut out = Vec::with_capacity(below.len() + above.len());
    for (name, value) in below {
        match above.iter().find(|(own, _)| own.text == name.text) {
            Some((own, over)) => out.push((own.clone(), val::overlay(value, over))),
            None => out.push((name.clone(), value.clone())),
        }
    }
    out.extend(above.iter().filter(|(own, _)| !below.iter().any(|(name, _)| name.text == own.text)).cloned());
    out
}
