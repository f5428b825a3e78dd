//! Deploys of Skaffold configurations: rendered manifests, with the built images, go to a cluster; hooks on this
//! machine run before and after it.

use super::SkaffoldProject;
use crate::action::{Action, Command, Kind};
use crate::cluster::{ClusterDeploy, Clusters, Place, digest, objects};
use crate::event::Cause;
use crate::forwards::{Port, services_of};
use purlin_cluster::{Deployment, Object};
use purlin_model::Engines;
use purlin_skaffold::item::View;
use purlin_skaffold::walk::Config;
use purlin_skaffold::{helm, render, template, unrendered};
use purlin_syntax::Sink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Default deadline for a deploy to become healthy.
const USUAL_DEADLINE: Duration = Duration::from_secs(600);

/// Inputs of a deploy apart from the configurations.
#[derive(Clone, Debug, Default)]
pub struct Deploying {
    /// Its name.
    pub name: String,
    /// Renderers of charts and kustomizations.
    pub engines: Engines,
    /// The user's cluster options.
    pub clusters: Arc<Clusters>,
    /// The cluster, unless a configuration names one.
    pub place: Place,
    /// `--namespace`
    pub namespace: Option<String>,
    /// Whether that namespace is created if it does not exist, with these labels and annotations.
    pub new_namespace: Option<serde_json::Value>,
    /// `--label`
    pub labels: Vec<(String, String)>,
    /// `--status-check`
    pub wait: Option<bool>,
    /// Whether a failure is only one once the deadline has passed.
    pub tolerant: bool,
    /// Which ports are forwarded, if not all.
    pub forwards: Option<Forwards>,
}

/// Which ports are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwards {
    /// Those that configurations name, and those of Services.
    All,
    /// Those that configurations name.
    User,
    /// Those of Services.
    Services,
}

/// Hooks before or after a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

impl When {
    pub(super) fn key(self) -> &'static str {
        match self {
            When::Before => "before",
            When::After => "after",
        }
    }
}

impl SkaffoldProject<'_, '_> {
    /// Hooks of all deployers, in the order they are written.
    pub(super) fn deploy_hooks(&self, when: When) -> Vec<(usize, View<'_, '_>)> {
        let mut found = Vec::new();
        for (index, config) in self.configs.iter().enumerate() {
            for deployer in ["kubectl", "helm"] {
                let hooks = config.item.view().at(&["deploy", deployer, "hooks", when.key()]);
                found.extend(hooks.into_iter().flat_map(View::items).map(|hook| (index, hook)));
            }
        }
        found
    }

    /// The hooks before or after the deploy, run in sequence by one command.
    pub(super) fn hook_action(&self, node: usize, when: When) -> Result<Action, Cause> {
        let mut env = self.hook_env();
        env.push(("SKAFFOLD_KUBE_CONTEXT".to_owned(), self.context_name()));
        env.push(("SKAFFOLD_NAMESPACES".to_owned(), self.deploying.namespace.clone().unwrap_or_default()));
        let mut commands = Vec::new();
        for (config, item) in self.deploy_hooks(when) {
            let Some(hook) = item.get("host") else {
                return Err(Cause::Other("hooks in containers are not supported; use `host`".to_owned()));
            };
            commands.extend(self.hook(config, hook, &env));
        }
        // One shell runs them in turn, each in its own folder, and stops at the first failure.
        let line: Vec<String> = commands.iter().map(in_folder).collect();
        let own = self.nodes.get(node);
        let command = Command { words: vec![line.join(" && ")], shell: true, folder: self.settings.here.clone(), env };
        let id = own.map(|node| node.id.clone()).unwrap_or_default();
        let command = (!line.is_empty()).then_some(command);
        Ok(Action { command, ..Action::new(id, Kind::Run, "", own.and_then(|node| node.span)) })
    }

    /// The deploy, resolved after images are built.
    pub(super) fn deploy_action(&self, node: usize) -> Result<Action, Cause> {
        for config in self.configs {
            refuse(config)?;
        }
        let builds = self.built_or_given();
        let namespace = self.namespace();
        let settings = render::Settings {
            setters: Default::default(),
            images: builds.iter().cloned().collect(),
            builds,
            labels: self.deploying.labels.clone(),
            namespace: self.deploying.namespace.clone(),
            release_namespace: self.deploying.namespace.clone(),
            places_releases: true,
        };
        let render = || render::render(self.session, self.configs, &settings, self.deploying.engines);
        let (manifests, is_sound) = self.session.sink.succeeds(render);
        if !is_sound {
            return Err(Cause::Unresolved);
        }
        let version = digest(&manifests);
        let (once, objects) = objects(&manifests)?;
        let said = |key: &str| self.configs.iter().find_map(|config| config.item.view().at(&["deploy", key]));
        let deadline = said("statusCheckDeadlineSeconds").and_then(View::int).and_then(|text| u64::try_from(text).ok());
        let deployment = Deployment {
            name: self.deploying.name.clone(),
            namespace,
            new_namespace: self.deploying.new_namespace.clone(),
            more_namespaces: self.created_namespaces(),
            version: version.clone(),
            objects,
            once,
            hooks: self.configs.iter().any(|config| !helm::releases(config).is_empty()),
            timeout: deadline.filter(|seconds| *seconds > 0).map_or(USUAL_DEADLINE, Duration::from_secs),
            tolerant: self.deploying.tolerant
                || said("tolerateFailuresUntilDeadline").and_then(View::bool) == Some(true),
            wait: self.deploying.wait.or_else(|| said("statusCheck")?.bool()).unwrap_or(true),
            ..Deployment::default()
        };
        let context = said("kubeContext").map(|context| context.text().into_owned());
        let usual = self.deploying.place.clone();
        let place = Place { context: context.filter(|context| !context.is_empty()).or(usual.context), ..usual };
        let own = self.nodes.get(node);
        let id = own.map(|node| node.id.clone()).unwrap_or_default();
        let ports = self.forwarded(&deployment.objects);
        let work = Arc::new(ClusterDeploy::new(self.deploying.clusters.clone(), place, deployment).forwarding(ports));
        self.deploys.borrow_mut().insert(node, work.clone());
        let action = Action::new(id, Kind::Deploy, version, own.and_then(|node| node.span));
        Ok(Action { work: Some(work), ..action })
    }

    /// The ports to forward: those that configurations name, and those of Services.
    fn forwarded(&self, objects: &[Object]) -> Result<Vec<Port>, Cause> {
        let mut found = match self.deploying.forwards {
            Some(Forwards::User) => Vec::new(),
            Some(Forwards::Services | Forwards::All) | None => services_of(objects),
        };
        if self.deploying.forwards == Some(Forwards::Services) {
            return Ok(found);
        }
        let env = self.session.world.env_all().into_iter().collect();
        for forward in
            self.configs.iter().flat_map(|config| config.item.view().get("portForward")).flat_map(View::items)
        {
            let text = |key: &str| {
                let written = forward.text_of(key);
                template::expand(&written, &env).map_err(|why| Cause::Other(format!("`portForward`: `{key}`: {why}")))
            };
            let (kind, name, namespace, address) =
                (text("resourceType")?, text("resourceName")?, text("namespace")?, text("address")?);
            if !matches!(address.as_str(), "" | "localhost" | "127.0.0.1") {
                let why = format!(
                    "`portForward`: the address `{address}` is not supported; ports are opened on loopback only"
                );
                return Err(Cause::Other(why));
            }
            let local = forward.get("localPort").and_then(View::int).and_then(|port| u16::try_from(port).ok());
            let port = Port::of(&kind, &name, &namespace, &forward.text_of("port"), local.filter(|port| *port > 0));
            let unknown = || Cause::Other(format!("`portForward`: ports of a `{kind}` cannot be forwarded"));
            let port = port.ok_or_else(unknown)?;
            // A port that is named may have another number here.
            found.retain(|known| known.shown() != port.shown());
            found.push(port);
        }
        Ok(found)
    }

    /// The deploy without hooks around it, which are not allowed.
    pub(crate) fn deploy_alone(&self) -> Result<Action, Cause> {
        if [When::Before, When::After].into_iter().any(|when| !self.deploy_hooks(when).is_empty()) {
            return Err(Cause::Other("hooks around its deploy are not supported in an action".to_owned()));
        }
        let node = self.nodes.iter().position(|node| node.kind == Kind::Deploy).ok_or(Cause::Unresolved)?;
        self.deploy_action(node)
    }

    fn context_name(&self) -> String {
        let said = self.configs.iter().find_map(|config| config.item.view().at(&["deploy", "kubeContext"]));
        let given = self.deploying.clusters.context.clone();
        given.or_else(|| said.map(|context| context.text().into_owned())).unwrap_or_default()
    }

    /// The namespace of objects that name none; empty means that of the context.
    fn namespace(&self) -> String {
        let said = |config: &Config<'_>| {
            config.item.view().at(&["deploy", "kubectl", "defaultNamespace"]).map(|text| text.text().into_owned())
        };
        let own = self.deploying.namespace.clone();
        own.or_else(|| self.configs.iter().find_map(said)).unwrap_or_default()
    }

    /// The namespaces that releases are configured to create.
    fn created_namespaces(&self) -> Vec<String> {
        let releases = self.configs.iter().flat_map(helm::releases);
        let creating = releases.filter(|release| release.get("createNamespace").and_then(View::bool) == Some(true));
        let env = self.session.world.env_all().into_iter().collect();
        let name = |release: View<'_, '_>| match &self.deploying.namespace {
            Some(namespace) => namespace.clone(),
            // A template that cannot be expanded was reported when the release was rendered.
            None => template::expand(&release.text_of("namespace"), &env).unwrap_or_default(),
        };
        let mut names: Vec<String> = creating.map(name).filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The name that identifies a deploy: the name of its configuration, or its folder.
pub fn deploy_name(root: &Path, configs: &[Config<'_>]) -> String {
    let named = configs.iter().rev().map(|config| config.name.as_str()).find(|name| !name.is_empty());
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned());
    named.map(str::to_owned).or(folder).unwrap_or_else(|| "skaffold".to_owned())
}

/// Reports unsupported deployers instead of leaving them out.
fn refuse(config: &Config<'_>) -> Result<(), Cause> {
    let deploy = config.item.view().get("deploy");
    for other in ["docker", "cloudrun", "kpt"] {
        if deploy.is_some_and(|deploy| deploy.get(other).is_some()) {
            return Err(Cause::Other(format!("deploying with `{other}` is not supported; use `kubectl` or `helm`")));
        }
    }
    let left_out = Sink::default();
    unrendered::report_functions(config, true, &left_out);
    unrendered::report(config, &left_out);
    match left_out.take().into_iter().next() {
        Some(problem) => Err(Cause::Other(format!("not everything can be deployed: {}", problem.message))),
        None => Ok(()),
    }
}

/// A command in its folder, as shell text.
fn in_folder(command: &Command) -> String {
    let folder = Command { words: vec![command.folder.to_string_lossy().into_owned()], ..command.clone() };
    format!("(cd {} && {})", folder.line(), command.line())
}
