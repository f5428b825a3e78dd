//! Warnings about declarations that Unfurl silently accepts though they are seldom intended: undeclared requirements,
//! artifacts without a file, undeclared and unused inputs; and an early check for one that it rejects late: nodes that
//! are their own host.

use crate::ensemble::Ensemble;
use crate::ensemble::build::required_connections;
use crate::ensemble::manifest::Manifest;
use crate::ensemble::places::Places;
use crate::ensemble::service::Service;
use crate::jinja;
use crate::rules;
use crate::val::Val;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span, suggest};
use purlin_tosca::entity::Entity;
use purlin_tosca::model::Model;
use purlin_tosca::problem::Problems;
use purlin_tosca::read::Role;
use purlin_tosca::resolve::Resolution;
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::topology::{Artifact, Node, Requirement, Topology};
use purlin_value::{Session, path};
use std::collections::HashSet;

/// The requirement that gives a node its host, whether or not its type declares it.
pub(crate) const HOST: &str = "host";

/// The relationship of a node to its host.
pub(crate) const HOSTED_ON: &str = "tosca.relationships.HostedOn";

/// Artifacts of this type are images, not files of the project.
const IMAGE: &str = "tosca.artifacts.Deployment.Image";

/// Warns about both. `service` has no errors.
pub(in crate::ensemble) fn report(session: &Session, service: &Service) {
    for node in service.topology.nodes.values() {
        requirements(session, &service.model, &service.places, node);
        for artifact in node.artifacts.values() {
            missing_file(session, &service.model, &service.places, artifact);
        }
    }
}

/// Warns about nodes that are not made because no connection has a type that their interfaces require.
pub(crate) fn unconnected(session: &Session, ensemble: &Ensemble) {
    let tree = &ensemble.tree;
    let made: HashSet<&EcoString> =
        tree.ids().filter(|id| tree.topology_index(*id) == 0).map(|id| &tree.node(id).template).collect();
    let service = &ensemble.service;
    for (name, node) in &service.topology.nodes {
        let Some(wanted) = required_connections(&service.model, node).next().filter(|_| !made.contains(name)) else {
            continue;
        };
        let message = format!("`{name}` is left out: its interfaces require a connection of type `{}`", wanted.text);
        let diagnostic = Diagnostic::at(&tosca_rules::UNRESOLVED, service.places.span(node.template.at), message);
        session.sink.push(diagnostic.warning().hint("add one under `connections` of the environment"));
    }
}

/// Refuses repositories whose address is not a URL, such as a plain path.
pub(in crate::ensemble) fn refuse_addresses(model: &Model, problems: &mut Problems) {
    let own = model.files.list.iter().filter(|file| !file.path.starts_with("purlin:"));
    for (name, repository) in own.flat_map(|file| file.entity.entries("repositories")) {
        let Some(url) = repository.text("url").filter(|url| !is_address(&url.text)) else { continue };
        let message = format!("the `url` of the repository `{name}` is not a URL: `{}`", url.text);
        let hint = match url.text.starts_with(['.', '/']) || !url.text.contains('.') {
            true => format!("write `file:{}`", url.text),
            false => format!("write `https://{}`", url.text),
        };
        problems.push(Diagnostic::at(&tosca_rules::MALFORMED, url.span, message).hint(hint));
    }
}

/// Whether an address names a host or is a file's, or is what `git` takes for a host and a path.
fn is_address(url: &str) -> bool {
    match url.split_once("://") {
        Some((scheme, rest)) => scheme == "file" || (!scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/')),
        None => url.starts_with("file:") || url.split_once('@').is_some_and(|(_, rest)| rest.contains(':')),
    }
}

/// Warns about inputs that the service template does not declare and no expression reads. Those of an environment are
/// for all ensembles in it.
pub(in crate::ensemble) fn inputs(
    session: &Session,
    manifest: &Manifest,
    service: &Service,
    given: &IndexMap<EcoString, Val>,
) {
    let shared = manifest.environment.get("inputs");
    for (name, value) in given {
        // Invalid names of inputs are errors of their own.
        if name.contains(char::is_whitespace) {
            continue;
        }
        let of_environment = shared.and_then(|shared| shared.get(name)).is_some_and(|own| own.origin == value.origin);
        if of_environment || service.topology.inputs.contains_key(name) || is_read(manifest, service, name) {
            continue;
        }
        let known = service.topology.inputs.keys().map(EcoString::as_str);
        let hint = match suggest::nearest(name, known) {
            Some(near) => Hint::meant(name, near),
            None => format!("declare `{name}` under `inputs` of the service template, or remove it").into(),
        };
        let message = what::undeclared("the service template", "input", name);
        let template = service.model.service();
        let declared = template.filter(|template| template.slot("inputs").is_some());
        let place = declared.map(|template| service.places.span(template.place("inputs"))).or(manifest.service_span);
        let written = session.origins.span(value.origin, &session.sources);
        let key = session.origins.key_span(value.origin, name, &session.sources);
        let mut diagnostic = Diagnostic::nowhere(&rules::UNDECLARED, message).hint(hint);
        diagnostic.span = key.or(written).or(place);
        session.sink.push(diagnostic);
    }
}

/// Whether an expression names an input that need not be declared: `::root::inputs::x`, `get_input: [x, default]`.
fn is_read(manifest: &Manifest, service: &Service, name: &str) -> bool {
    let ways = [
        format!("inputs::{name}"),
        format!("inputs.{name}"),
        format!("inputs['{name}']"),
        format!("inputs[\"{name}\"]"),
        format!("get_input: [{name}"),
        format!("get_input: [\"{name}\""),
    ];
    let imported = service.model.files.list.iter().map(|file| &file.tree);
    let mut texts = manifest.trees.iter().chain(imported).map(|tree| tree.source().text());
    texts.any(|text| ways.iter().any(|way| text.contains(way)))
}

fn requirements(session: &Session, model: &Model, places: &Places, node: &Node) {
    let Some(complete) = model.complete(node.node_type).filter(|_| !node.partial) else { return };
    for assignment in node.template.list("requirements") {
        let name = assignment.name.as_str();
        if name == HOST || complete.named("requirements", name).is_some() {
            continue;
        }
        let owner = model.name(node.node_type);
        let message = what::undeclared(format!("the type `{owner}` of `{}`", node.template.name), "requirement", name);
        let known = complete.entries("requirements").map(|(name, _)| name.as_str());
        let hint = match suggest::nearest(name, known) {
            Some(near) => Hint::meant(name, near),
            None if model.names.decl(node.node_type).is_some_and(|decl| decl.normative) => {
                format!("use a type that declares `{name}`, or remove it").into()
            }
            None => format!("declare `{name}` under `requirements` of `{owner}`, or remove it").into(),
        };
        let span = places.span(assignment.at);
        let span = key_before(session, span, name).unwrap_or(span);
        session.sink.push(Diagnostic::at(&rules::UNDECLARED, span, message).hint(hint));
    }
}

/// The key of a value. TOSCA's reader keeps the value of a requirement, but the wrong part is the name.
fn key_before(session: &Session, value: Span, name: &str) -> Option<Span> {
    let source = session.sources.get(value.file)?;
    let before = source.text().get(..value.start as usize)?.trim_end().strip_suffix(':')?.trim_end();
    let before = before.strip_suffix(['"', '\'']).unwrap_or(before);
    let start = before.strip_suffix(name)?.len();
    Some(Span::new(value.file, u32::try_from(start).ok()?, u32::try_from(before.len()).ok()?))
}

/// A node hosted on itself, directly or indirectly, cannot be created.
pub(in crate::ensemble) fn refuse_circular_hosts(
    model: &Model,
    topology: &Topology,
    resolution: &Resolution,
    problems: &mut Problems,
) {
    let host = |at: usize| {
        let node = topology.nodes.get_index(at)?.1;
        let edges = resolution.edges.get(at)?;
        edges
            .iter()
            .find(|edge| node.requirements.get(edge.requirement).is_some_and(|requirement| hosts(model, requirement)))
    };
    // A chain of hosts is followed once.
    const NEW: u8 = 0;
    const ON_CHAIN: u8 = 1;
    const DONE: u8 = 2;
    let mut seen = vec![NEW; topology.nodes.len()];
    let mark = |seen: &mut Vec<u8>, at: usize, state: u8| {
        if let Some(slot) = seen.get_mut(at) {
            *slot = state;
        }
    };
    for start in 0..topology.nodes.len() {
        let mut chain = Vec::new();
        let mut at = start;
        while seen.get(at) == Some(&NEW) {
            mark(&mut seen, at, ON_CHAIN);
            chain.push(at);
            let Some(edge) = host(at) else { break };
            at = edge.target;
        }
        let is_circular = seen.get(at) == Some(&ON_CHAIN);
        if let (true, Some(edge)) = (is_circular, host(at)) {
            let ring = chain.iter().skip_while(|known| **known != at).chain([&at]);
            let name = |at: &usize| topology.nodes.get_index(*at).map_or("", |(name, _)| name.as_str());
            let names: Vec<&str> = ring.map(name).collect();
            let message = what::cycle(names).under("circular hosts: ");
            let place = topology.nodes.get_index(at).and_then(|(_, node)| node.requirements.get(edge.requirement));
            if let Some(requirement) = place {
                let hint = "let `host` name another node";
                problems.push(Diagnostic::at(&tosca_rules::UNRESOLVED, requirement.at, message).hint(hint));
            }
        }
        chain.into_iter().for_each(|at| mark(&mut seen, at, DONE));
    }
}

/// Whether a requirement makes its target the host of the node.
fn hosts(model: &Model, requirement: &Requirement) -> bool {
    let kind = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
    requirement.name == HOST
        || kind.is_some_and(|kind| model.hierarchy.lineage(kind).any(|id| model.name(id) == HOSTED_ON))
}

/// A file is searched beside the file that names it, as the original does once an operation uses it.
fn missing_file(session: &Session, model: &Model, places: &Places, artifact: &Artifact) {
    let entity = &artifact.entity;
    let Some(file) = entity.text("file").filter(|file| is_file_of_project(model, artifact, &file.text)) else {
        return;
    };
    let span = places.span(file.span);
    let Some(source) = session.sources.get(span.file) else { return };
    let found = path::join(path::parent(source.path()), &file.text);
    if !session.world.exists(&found) {
        let message = format!("the file `{}` of the artifact `{}` does not exist", file.text, entity.name);
        let hint = "create it, or correct the path; it is relative to this file";
        session.sink.push(Diagnostic::at(&rules::ARTIFACT, span, message).hint(hint));
    }
}

/// Whether an artifact's file must exist in the project: it is not an image or an address, and not in a repository.
fn is_file_of_project(model: &Model, artifact: &Artifact, file: &str) -> bool {
    let entity: &Entity = &artifact.entity;
    let mut types = artifact.artifact_type.into_iter().flat_map(|id| model.hierarchy.lineage(id));
    let is_built_in = entity.text("file").and_then(|file| model.files.of(file.span.file));
    let is_built_in =
        is_built_in.and_then(|at| model.files.list.get(at)).is_some_and(|file| file.role == Role::Profile);
    let (_, name) = file.rsplit_once('/').unwrap_or(("", file));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_named_like_a_file = !extension.is_empty()
        && extension.chars().all(char::is_alphanumeric)
        && extension.chars().any(char::is_alphabetic);
    is_named_like_a_file
        && !is_built_in
        && entity.slot("repository").is_none()
        && entity.slot("contents").is_none()
        && !file.starts_with(['/', '~', '$'])
        && !file.contains([':', '@'])
        && !jinja::is_template(file)
        && !types.any(|id| model.name(id) == IMAGE)
}
