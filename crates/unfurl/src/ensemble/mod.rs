//! Ensembles: reading them, building the tree of instances, resolving it.

pub mod build;
pub mod directives;
mod library;
pub mod manifest;
pub mod places;
pub mod read;
pub mod report;
pub mod service;
pub mod validate;

use crate::error::Result;
use crate::eval::{Ctx, Engine};
use crate::functions::topology::input;
use crate::rules;
use crate::tree::Tree;
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use manifest::Manifest;
use purlin_model::project::Request;
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use service::Service;
use std::collections::HashMap;
use std::rc::Rc;

/// How deep ensembles may refer to each other.
const MOST_EXTERNAL: usize = 8;

/// An ensemble, ready to be evaluated.
pub struct Ensemble {
    /// What was read.
    pub manifest: Manifest,
    /// Its service, rendered.
    pub service: Rc<Service>,
    /// Its instances.
    pub tree: Tree,
}

/// Opens the ensemble a request means. Problems go to the session's sink; none if there is nothing to evaluate.
pub fn open(session: &Session, request: &Request) -> Option<Ensemble> {
    open_at(session, request, 0)
}

fn open_at(session: &Session, request: &Request, depth: usize) -> Option<Ensemble> {
    let target = request.file.as_deref().unwrap_or(&request.path);
    let file = manifest::find(session, target)?;
    let mut manifest = manifest::read(session, &file, request)?;
    manifest.settings.externals = externals(session, &manifest, depth);
    if manifest.service.is_none() {
        let message = "the ensemble has no `spec.service_template`";
        let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message);
        diagnostic.span = manifest.trees.first().and_then(|tree| tree.root()).map(|root| root.span());
        session.sink.push(diagnostic);
        return None;
    }
    let given: Vec<(String, String)> = request.inputs.iter().chain(&request.vars).cloned().collect();
    let inputs = service::inputs(&manifest, &given, session);
    let service = Rc::new(service::compile(session, &manifest, &inputs)?);
    if service.broken {
        return None;
    }
    refuse_substitution(session, &service);
    let tree = build::build(session, &manifest, &service);
    Some(Ensemble { manifest, service, tree })
}

/// What other ensembles show, by the names the environment gives them: their inputs and outputs, or the attributes of one
/// of their instances.
fn externals(session: &Session, manifest: &Manifest, depth: usize) -> HashMap<EcoString, Val> {
    let mut out = HashMap::new();
    for (name, entry) in manifest.environment.get("external").and_then(Val::as_map).into_iter().flatten() {
        let file = entry.get("manifest").and_then(|manifest| manifest.get("file")).or_else(|| entry.get("file"));
        let (Some(name), Some(file)) = (name.as_str(), file.and_then(Val::as_str)) else { continue };
        let problem = |message: String| {
            let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message);
            diagnostic.span = session.origins.span(entry.origin, &session.sources);
            session.sink.push(diagnostic);
        };
        if depth >= MOST_EXTERNAL {
            problem(format!("ensembles refer to each other more than {MOST_EXTERNAL} deep"));
            continue;
        }
        let path = purlin_value::path::join(&manifest.folder, file);
        match open_at(session, &Request::of(&path), depth + 1) {
            Some(other) => {
                let instance = entry.get("instance").and_then(Val::as_str).unwrap_or("root");
                out.insert(name.into(), shown(session, &other, instance));
            }
            None => problem(format!("`{name}` names the ensemble `{file}`, which cannot be opened")),
        }
    }
    out
}

/// What an ensemble shows to others.
fn shown(session: &Session, ensemble: &Ensemble, instance: &str) -> Val {
    let engine = ensemble.engine(session);
    let tree = &ensemble.tree;
    let plain = |value: Result<Val>| match value.and_then(|value| engine.force(value)) {
        Ok(value) => crate::convert::from_value(&crate::convert::to_value(&value.plain(), tree)),
        Err(error) => {
            session.sink.push(report::diagnostic(session, &error));
            Val::null()
        }
    };
    if let Some(id) = tree.by_name(instance).filter(|id| *id != tree.root()) {
        return plain(engine.all_attributes(id));
    }
    let root = engine.context(tree.root());
    let inputs = tree
        .inputs
        .keys()
        .map(|name| (MapKey::Str(name.clone()), plain(input(&root, name).map(Option::unwrap_or_default))));
    let outputs = tree
        .outputs
        .iter()
        .map(|(name, output)| (MapKey::Str(name.clone()), plain(crate::dialect::output_value(&engine, output))));
    Val::record([("inputs", Val::map(inputs.collect())), ("outputs", Val::map(outputs.collect()))])
}

/// A node that another topology stands for is not evaluated here.
fn refuse_substitution(session: &Session, service: &Service) {
    for (name, node) in &service.topology.nodes {
        for directive in node.template.texts("directives") {
            if directive.text == "substitute" {
                let message = format!("`{name}` is to be substituted by another topology, which is not supported");
                session.sink.push(Diagnostic::at(&rules::SUBSTITUTION, directive.span, message));
            }
        }
    }
}

impl Ensemble {
    /// An evaluator of its expressions.
    pub fn engine<'e>(&'e self, session: &'e Session) -> Engine<'e> {
        Engine::new(&self.tree, session, self.manifest.settings.clone())
    }
}

/// What `ROOT` and `TOPOLOGY` are in a template: the topology's inputs, and the node it stands for.
pub fn root_value(ctx: &Ctx<'_, '_>) -> Result<Val> {
    let tree = ctx.engine.tree;
    let mut inputs = ValMap::default();
    for name in tree.inputs.keys() {
        if let Some(value) = input(ctx, name)? {
            inputs.insert(MapKey::Str(name.clone()), value);
        }
    }
    let app = tree.substitution_node.map_or_else(Val::null, |id| Data::Attributes(id).into());
    Ok(Val::record([("inputs", Val::map(inputs)), ("app", app)]))
}
