//! What Unfurl accepts without a word and is seldom meant: requirements that no type declares, artifacts without a file.

use super::places::Places;
use super::service::Service;
use crate::jinja;
use crate::rules;
use purlin_syntax::{Diagnostic, suggest};
use purlin_tosca::entity::Entity;
use purlin_tosca::model::Model;
use purlin_tosca::read::Role;
use purlin_tosca::topology::{Artifact, Node};
use purlin_value::{Session, path};

/// The requirement that makes a node live on another, whether or not its type declares it.
const HOST: &str = "host";

/// Artifacts of this type are images, which are no files of the project.
const IMAGE: &str = "tosca.artifacts.Deployment.Image";

/// Warns about both. `service` has no errors.
pub(super) fn report(session: &Session, service: &Service) {
    for node in service.topology.nodes.values() {
        requirements(session, &service.model, &service.places, node);
        for artifact in node.artifacts.values() {
            missing_file(session, &service.model, &service.places, artifact);
        }
    }
}

fn requirements(session: &Session, model: &Model, places: &Places, node: &Node) {
    let Some(complete) = model.complete(node.node_type).filter(|_| !node.partial) else { return };
    for assignment in node.template.list("requirements") {
        let name = assignment.name.as_str();
        if name == HOST || complete.named("requirements", name).is_some() {
            continue;
        }
        let owner = model.name(node.node_type);
        let message = format!("the type `{owner}` of `{}` declares no requirement `{name}`", node.template.name);
        let known = complete.entries("requirements").map(|(name, _)| name.as_str());
        let hint = match suggest::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare `{name}` under `requirements` of `{owner}`, or remove it"),
        };
        session.sink.push(Diagnostic::at(&rules::UNDECLARED, places.span(assignment.at), message).hint(hint));
    }
}

/// A file is sought beside the file that names it, as the original seeks it once an operation needs it.
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

/// Whether an artifact's file is to be found in the project: not an image, not an address, nothing of a repository.
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
