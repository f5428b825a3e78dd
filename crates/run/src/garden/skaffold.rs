//! Actions of type `skaffold`. Every artifact of a Build is a separate node, so that images are built in order, and one
//! at a time where they require each other; the Build itself collects them. A Deploy uses the images of the Builds it
//! depends on.

use super::{GardenProject, kubernetes};
use crate::action::{Action, Kind};
use crate::engine::{Need, Node};
use crate::event::Cause;
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::skaffold::{Deploying, Settings, SkaffoldProject};
use crate::work::{Doing, Trouble, Work};
use purlin_garden::action::Action as GardenAction;
use purlin_garden::config::ActionKind;
use purlin_garden::resolve::Resolution;
use purlin_garden::versions::Version;
use purlin_model::Request;
use purlin_skaffold::artifacts;
use purlin_skaffold::dialect::with_configs_of;
use purlin_skaffold::keys::Contents;
use purlin_skaffold::walk::Config;
use purlin_value::{Value, path};
use serde_json::Value as Json;
use std::sync::Arc;

/// The name of the type.
pub(super) const TYPE: &str = "skaffold";

/// An artifact of a Build.
pub(super) struct Part {
    /// The Build.
    owner: usize,
    /// Its index among the artifacts.
    at: usize,
    /// Its image.
    image: String,
}

/// State of the artifacts of one Build.
#[derive(Default)]
pub(super) struct Known {
    /// The contents of each, by image.
    keys: Option<Contents>,
    /// Built images: name, and the image to use.
    built: Vec<(String, String)>,
}

/// Adds a node for every artifact of every Build. Parts of a configuration that depend on outputs of other actions
/// cannot be known here.
pub(super) fn add_parts(resolution: &Resolution<'_>, nodes: &mut Vec<Node>) -> Vec<Part> {
    let session = resolution.ground.session;
    let mut parts = Vec::new();
    for (owner, action) in resolution.graph().actions.values().enumerate() {
        let is_known = nodes.get(owner).is_some_and(|node| !node.needs.iter().any(|need| need.is_runtime));
        if action.type_name != TYPE || action.kind != ActionKind::Build || action.disabled || !is_known {
            continue;
        }
        let Some((file, request)) = resolution.inner_request(&action.key) else { continue };
        let needs = nodes.get(owner).map(|node| node.needs.clone()).unwrap_or_default();
        let first = nodes.len();
        with_configs_of(session, &request, &file, |configs| {
            let all = artifacts::collect(configs);
            for (at, artifact) in all.iter().enumerate() {
                let required = artifact.requires.iter().filter_map(|needed| {
                    let node = first + all.iter().position(|other| other.image == needed.image)?;
                    Some(Need { node, is_runtime: true, is_explicit: true })
                });
                nodes.push(Node {
                    id: format!("{}/{}", action.key, artifact.image),
                    kind: Kind::Build,
                    disabled: false,
                    needs: needs.iter().copied().chain(required).collect(),
                    span: artifact.span(),
                });
                parts.push(Part { owner, at, image: artifact.image.clone() });
            }
        });
        let added = (first..nodes.len()).map(|node| Need { node, is_runtime: true, is_explicit: true });
        let added: Vec<Need> = added.collect();
        if let Some(node) = nodes.get_mut(owner) {
            node.needs.extend(added);
        }
    }
    parts
}

impl GardenProject<'_> {
    /// The artifact of a node; `None` if it is an action.
    pub(super) fn part(&self, node: usize) -> Option<&Part> {
        self.parts.get(node.checked_sub(self.resolution.graph().actions.len())?)
    }

    /// The resolved action of an artifact.
    pub(super) fn part_action(&self, node: usize, part: &Part) -> Result<Action, Cause> {
        let owner = self.nodes.get(part.owner).map(|node| node.id.as_str()).unwrap_or_default();
        let action = self.resolution.graph().actions.get(owner).ok_or(Cause::Unresolved)?;
        let version = self.resolution.live.resolved_version(self.session(), owner).ok_or(Cause::Unresolved)?;
        let id = self.nodes.get(node).map(|node| node.id.clone()).unwrap_or_default();
        self.in_configs(action, |project, configs| {
            let (keys, built) = {
                let mut known = project.known.borrow_mut();
                let known = known.entry(part.owner).or_default();
                (known.keys.clone(), known.built.clone())
            };
            let settings = project.settings(action, &version, built);
            let inner = SkaffoldProject::keyed(project.session(), configs, settings, keys);
            project.known.borrow_mut().entry(part.owner).or_default().keys = Some(inner.keys().clone());
            inner.build_action(part.at).map(|action| Action { subject: id.clone(), id, ..action })
        })
    }

    /// Records a built artifact.
    pub(super) fn learn_part(&self, part: &Part, outputs: &Outputs) {
        let Some(tag) = outputs.get("tag").and_then(Json::as_str) else { return };
        let mut known = self.known.borrow_mut();
        let built = &mut known.entry(part.owner).or_default().built;
        built.retain(|(image, _)| *image != part.image);
        built.push((part.image.clone(), tag.to_owned()));
    }

    fn in_configs<T>(
        &self,
        action: &GardenAction,
        work: impl FnOnce(&Self, &[Config<'_>]) -> Result<T, Cause>,
    ) -> Result<T, Cause> {
        let (file, request): (String, Request) = self.resolution.inner_request(&action.key).ok_or(Cause::Unresolved)?;
        let done = with_configs_of(self.session(), &request, &file, |configs| work(self, configs));
        done.unwrap_or(Err(Cause::Unresolved))
    }

    /// Images have the version of the Build as their tag, and go to the registry that Deploys use.
    fn settings(&self, action: &GardenAction, version: &Version, built: Vec<(String, String)>) -> Settings {
        let file = self.resolution.inner_request(&action.key).map(|(file, _)| file).unwrap_or_default();
        let registry = self.resolution.deployment_registry(&action.key);
        let text = |key: &str| {
            let value = registry.as_ref()?.get(key)?;
            Some(super::text(value)).filter(|text| !text.is_empty() && !value.is_null())
        };
        let host = text("hostname").map(|host| text("port").map_or(host.clone(), |port| format!("{host}:{port}")));
        let host = host.map(|host| text("namespace").map_or(host.clone(), |space| format!("{host}/{space}")));
        let is_insecure = registry.as_ref().and_then(|registry| registry.get("insecure")?.as_bool()).unwrap_or(false);
        Settings {
            env: self.session().world.env_all().into_iter().collect(),
            root: self.root(),
            here: self.full(path::parent(&file)),
            push: self.push.then_some(true),
            push_by_default: host.is_some(),
            insecure: host
                .iter()
                .filter(|_| is_insecure)
                .map(|host| host.split('/').next().unwrap_or(host).to_owned())
                .collect(),
            default_repo: host,
            tag: Some(version.string.to_string()),
            built,
            mode: "build",
            ..Settings::default()
        }
    }
}

/// The resolved action of this type.
pub(super) fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    match action.kind {
        ActionKind::Build => gather(project, action, version),
        _ => deploy(project, action, spec, version),
    }
}

fn node_of(project: &GardenProject<'_>, action: &GardenAction) -> Option<usize> {
    project.nodes.iter().position(|node| node.id == action.key.as_str())
}

fn gather(project: &GardenProject<'_>, action: &GardenAction, version: &Version) -> Result<Action, Cause> {
    let node = node_of(project, action).ok_or(Cause::Unresolved)?;
    if !project.parts.iter().any(|part| part.owner == node) {
        let why = "it has no artifacts, or its spec refers to outputs of other actions, which is not supported";
        return Err(Cause::Other(why.to_owned()));
    }
    let built = project.known.borrow().get(&node).map(|known| known.built.clone()).unwrap_or_default();
    let outputs = built.into_iter().map(|(image, tag)| (image, Json::from(tag))).collect();
    Ok(Action { work: Some(Arc::new(Gathered(outputs))), ..project.blank(action, version, &[]) })
}

fn deploy(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    let node = node_of(project, action).ok_or(Cause::Unresolved)?;
    let needs = project.nodes.get(node).map_or(&[][..], |node| &node.needs);
    let known = project.known.borrow();
    let built: Vec<(String, String)> =
        needs.iter().filter_map(|need| known.get(&need.node)).flat_map(|known| known.built.clone()).collect();
    drop(known);
    let target = kubernetes::target(&project.resolution, action, spec)?;
    project.in_configs(action, |project, configs| {
        let settings = project.settings(action, version, built);
        let deploying = Deploying {
            name: kubernetes::deploy_name(&project.resolution, action),
            engines: project.resolution.ground.request.engines,
            clusters: project.clusters.clone(),
            place: target.place,
            namespace: Some(target.namespace),
            new_namespace: Some(target.metadata),
            ..Deploying::default()
        };
        let inner = SkaffoldProject::keyed(project.session(), configs, settings, Some(Contents::new()));
        let done = inner.deploying(deploying, false).deploy_alone()?;
        let Action { id, subject, key, version, span, .. } = project.blank(action, version, &[]);
        Ok(Action { id, subject, key, version, span, ..done })
    })
}

/// Built images, for actions that refer to them.
#[derive(Debug)]
struct Gathered(Outputs);

impl Work for Gathered {
    fn is_done(&self, _doing: Doing<'_>) -> Result<Option<Outputs>, Trouble> {
        Ok(Some(self.0.clone()))
    }

    fn perform(&self, _doing: Doing<'_>) -> Result<Outputs, Trouble> {
        Ok(self.0.clone())
    }

    fn undo(&self, _doing: Doing<'_>) -> Result<bool, Trouble> {
        Ok(false)
    }

    fn state(&self, _doing: Doing<'_>) -> StateOf {
        StateOf::Done
    }

    fn leaves_nothing(&self, _doing: Doing<'_>) -> bool {
        true
    }
}
