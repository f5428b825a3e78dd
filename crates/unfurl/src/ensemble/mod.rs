//! Ensembles: reading them, building the tree of instances, resolving it.

pub mod build;
pub mod directives;
pub mod manifest;
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
use manifest::Manifest;
use purlin_model::project::Request;
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use service::Service;
use std::rc::Rc;

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
    let target = request.file.as_deref().unwrap_or(&request.path);
    let file = manifest::find(session, target)?;
    let manifest = manifest::read(session, &file, request)?;
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
