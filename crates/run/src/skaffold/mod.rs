//! Skaffold configurations for the engine: artifacts that are built in the order of their requirements, and tests of
//! their images.

mod artifact;
mod content;
mod deploy;
pub mod tag;
mod test;

use crate::action::{Action, Command, Kind};
use crate::cluster::ClusterDeploy;
use crate::engine::{Need, Node, Project};
use crate::event::{Cause, Failure};
use crate::outputs::Outputs;
use crate::since::Content;
use crate::tool::Tools;
use purlin_host::native;
use purlin_skaffold::artifacts::{self, Artifact};
use purlin_skaffold::image;
use purlin_skaffold::input_digest::Inputs;
use purlin_skaffold::item::View;
use purlin_skaffold::keys::{self, Contents};
use purlin_skaffold::render::from_file;
use purlin_skaffold::unapplied::{self, Purpose};
use purlin_skaffold::walk::Config;
use purlin_syntax::Span;
use purlin_value::{Session, path};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use deploy::When;
pub use deploy::{Deploying, Forwards, deploy_name};

/// Options of a run apart from its configurations.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// The folder that results are kept in.
    pub root: PathBuf,
    /// The folder that commands without one of their own run in.
    pub here: PathBuf,
    /// The registry for images.
    pub default_repo: Option<String>,
    /// The tag of all images, overriding their policies.
    pub tag: Option<String>,
    /// Whether images are pushed, overriding configurations.
    pub push: Option<bool>,
    /// Whether images are pushed by default.
    pub push_by_default: bool,
    /// The platforms of all images.
    pub platforms: Vec<String>,
    /// Registries that are reached without TLS.
    pub insecure: Vec<String>,
    /// Images that were built before: name, and the image to use.
    pub built: Vec<(String, String)>,
    /// The run mode, as passed to Dockerfiles.
    pub mode: &'static str,
}

/// The mode of a run in which images are built again and again.
pub const DEV: &str = "dev";

/// Length of the mark of contents in a tag.
const MARK: usize = 12;

/// One test of an image.
struct Case<'p, 'f> {
    config: usize,
    image: String,
    /// The test case it belongs to.
    case: View<'p, 'f>,
    kind: CaseKind<'p, 'f>,
}

enum CaseKind<'p, 'f> {
    Custom(View<'p, 'f>),
    Structure,
}

enum Role {
    Build(usize),
    Test(usize),
    Hooks(When),
    Deploy,
}

/// Configurations whose artifacts can be built.
pub struct SkaffoldProject<'p, 'f> {
    session: &'p Session,
    configs: &'p [Config<'f>],
    artifacts: Vec<Artifact<'p, 'f>>,
    cases: Vec<Case<'p, 'f>>,
    roles: Vec<Role>,
    nodes: Vec<Node>,
    settings: Settings,
    deploying: Deploying,
    /// The image of each artifact with its tag, by index.
    tags: Vec<String>,
    /// The contents of each artifact, by image.
    keys: Contents,
    /// The version of each artifact in results, by index, once computed.
    versions: RefCell<HashMap<usize, String>>,
    tools: Tools,
    /// Built images, by artifact.
    built: RefCell<HashMap<String, String>>,
    /// Prepared deploys to clusters, by node.
    deploys: RefCell<HashMap<usize, Arc<ClusterDeploy>>>,
}

impl<'p, 'f> SkaffoldProject<'p, 'f> {
    /// A project in which nothing was built yet. Files that cannot be read, and tags that cannot be computed, are
    /// reported.
    pub fn new(session: &'p Session, configs: &'p [Config<'f>], settings: Settings) -> Self {
        configs.iter().for_each(|config| unapplied::report(config, Purpose::Build, &session.sink));
        Self::keyed(session, configs, settings, None)
    }

    /// The same if the contents of artifacts are known.
    pub fn keyed(session: &'p Session, configs: &'p [Config<'f>], settings: Settings, keys: Option<Contents>) -> Self {
        let artifacts = artifacts::collect(configs);
        let find = || {
            let found = keys::keys(session.world.as_ref(), configs, &artifacts);
            found.unwrap_or_else(|(file, error)| {
                session.report_world(&error, &file, None);
                Contents::new()
            })
        };
        let keys = keys.unwrap_or_else(find);
        let built = settings.built.iter().cloned().collect();
        let cases = cases(configs);
        let mut project = SkaffoldProject {
            session,
            configs,
            artifacts,
            cases,
            roles: Vec::new(),
            nodes: Vec::new(),
            settings,
            deploying: Deploying::default(),
            tags: Vec::new(),
            keys,
            versions: RefCell::default(),
            tools: Tools::default(),
            built: RefCell::new(built),
            deploys: RefCell::default(),
        };
        project.tags = (0..project.artifacts.len()).map(|at| project.tagged(at)).collect();
        project.add_nodes();
        project
    }

    fn add_nodes(&mut self) {
        let places: HashMap<&str, usize> =
            self.artifacts.iter().enumerate().rev().map(|(at, artifact)| (artifact.image.as_str(), at)).collect();
        let need = |image: &str| {
            let node = *places.get(image)?;
            Some(Need { node, is_runtime: true, is_explicit: true })
        };
        for (at, artifact) in self.artifacts.iter().enumerate() {
            let is_known = self.settings.built.iter().any(|(image, _)| *image == artifact.image);
            self.nodes.push(Node {
                id: format!("build.{}", artifact.image),
                kind: Kind::Build,
                disabled: is_known,
                needs: artifact.requires.iter().filter_map(|needed| need(&needed.image)).collect(),
                span: artifact.span(),
            });
            self.roles.push(Role::Build(at));
        }
        let mut last: HashMap<&str, (usize, usize)> = HashMap::new();
        for (at, case) in self.cases.iter().enumerate() {
            let (number, before) = last.get(case.image.as_str()).map_or((1, None), |(n, node)| (n + 1, Some(*node)));
            let is_built = self.settings.built.iter().any(|(image, _)| *image == case.image);
            let image = if is_built { None } else { need(&case.image) };
            // Tests of one image run one after the other, in the order they are written.
            let earlier = before.map(|node| Need { node, is_runtime: false, is_explicit: true });
            let own = self.nodes.len();
            let suffix = if number == 1 { String::new() } else { format!(".{number}") };
            self.nodes.push(Node {
                id: format!("test.{}{suffix}", case.image),
                kind: Kind::Test,
                disabled: false,
                needs: image.into_iter().chain(earlier).collect(),
                span: case.case.span(),
            });
            self.roles.push(Role::Test(at));
            last.insert(case.image.as_str(), (number, own));
        }
    }

    /// The same, with a node that deploys everything, and its hooks. To take it down, no image is needed.
    pub fn deploying(mut self, deploying: Deploying, takes_down: bool) -> Self {
        if !takes_down {
            let configs = self.configs.iter();
            configs.for_each(|config| unapplied::report(config, Purpose::Deploy, &self.session.sink));
        }
        let id = format!("deploy.{}", deploying.name);
        self.deploying = deploying;
        let span = self.configs.first().map(|config| config.span);
        let need = |node: usize, is_runtime: bool| Need { node, is_runtime, is_explicit: true };
        let builds = self.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Build && !node.disabled);
        let mut needs: Vec<Need> = builds.filter(|_| !takes_down).map(|(node, _)| need(node, true)).collect();
        let [before, after] =
            [When::Before, When::After].map(|when| !takes_down && !self.deploy_hooks(when).is_empty());
        if before {
            let node = self.add(
                Role::Hooks(When::Before),
                Node {
                    id: format!("run.{}.before", self.deploying.name),
                    kind: Kind::Run,
                    disabled: false,
                    needs: needs.clone(),
                    span,
                },
            );
            needs.push(need(node, false));
        }
        let own = self.add(Role::Deploy, Node { id, kind: Kind::Deploy, disabled: false, needs, span });
        if after {
            let needs = vec![need(own, false)];
            self.add(
                Role::Hooks(When::After),
                Node {
                    id: format!("run.{}.after", self.deploying.name),
                    kind: Kind::Run,
                    disabled: false,
                    needs,
                    span,
                },
            );
        }
        self
    }

    fn add(&mut self, role: Role, node: Node) -> usize {
        self.nodes.push(node);
        self.roles.push(role);
        self.nodes.len() - 1
    }

    /// Images that were built or given: name, and the image to use.
    fn built_or_given(&self) -> Vec<(String, String)> {
        let mut all = self.built();
        for given in &self.settings.built {
            if !all.iter().any(|(image, _)| *image == given.0) {
                all.push(given.clone());
            }
        }
        all
    }

    /// The contents of artifacts, by image.
    pub fn keys(&self) -> &Contents {
        &self.keys
    }

    /// The folder that results are kept in.
    pub fn root(&self) -> &std::path::Path {
        &self.settings.root
    }

    /// Images in build order, each with its full name.
    pub fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.artifacts.iter().map(|artifact| artifact.image.as_str()).zip(self.tags.iter().map(String::as_str))
    }

    /// The runtime of an image's artifact; empty if it names none.
    pub fn runtime(&self, image: &str) -> String {
        let artifact = self.artifacts.iter().find(|artifact| artifact.image == image);
        artifact.map(|artifact| artifact.view.text_of("runtimeType").into_owned()).unwrap_or_default()
    }

    /// Images that were built so far, in the order of the configurations.
    pub fn built(&self) -> Vec<(String, String)> {
        let built = self.built.borrow();
        let image = |artifact: &Artifact<'_, '_>| Some((artifact.image.clone(), built.get(&artifact.image)?.clone()));
        self.artifacts.iter().filter_map(image).collect()
    }

    /// The version of an artifact in results: all its inputs, and its destination.
    pub fn version(&self, at: usize) -> String {
        let known = self.versions.borrow().get(&at).cloned();
        known.unwrap_or_else(|| {
            let version = self.find_version(at);
            self.versions.borrow_mut().insert(at, version.clone());
            version
        })
    }

    fn find_version(&self, at: usize) -> String {
        let Some(artifact) = self.artifacts.get(at) else { return String::new() };
        let key = self.keys.get(&artifact.image).map(|content| content.key.clone()).unwrap_or_default();
        let tag = self.tags.get(at).map(String::as_str).unwrap_or_default();
        let name = purlin_value::image::parts(tag).name.to_owned();
        let pushes = if self.pushes(artifact.config) { "push" } else { "" };
        let parts = [key, name, pushes.to_owned(), self.platforms(at).join(",")];
        let mut digest = Sha256::new();
        for part in parts.into_iter().chain(self.insecure(artifact)).chain(self.given(artifact, tag)) {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        crate::store::hex(&digest.finalize())
    }

    /// Registries of an artifact that are reached without TLS.
    fn insecure(&self, artifact: &Artifact<'_, '_>) -> Vec<String> {
        let build = self.config(artifact.config).and_then(|config| config.item.view().get("build"));
        let said = build.into_iter().flat_map(|build| build.get("insecureRegistries")).flat_map(View::items);
        self.settings.insecure.iter().cloned().chain(said.map(|item| item.text().into_owned())).collect()
    }

    fn config(&self, at: usize) -> Option<&'p Config<'f>> {
        self.configs.get(at)
    }

    /// The full path of a file of a configuration.
    fn full(&self, config: usize, text: &str) -> PathBuf {
        let Some(config) = self.config(config) else { return PathBuf::from(text) };
        native::system_path(&path::join(self.session.world.root(), &from_file(config, text)))
    }

    fn context(&self, config: usize, section: View<'_, '_>) -> PathBuf {
        let text = section.text_of("context");
        self.full(config, if text.is_empty() { "." } else { &text })
    }

    /// Whether a configuration's images are pushed: by option, by configuration, or by default.
    fn pushes(&self, config: usize) -> bool {
        let said = self.config(config).and_then(|config| config.item.view().at(&["build", "local", "push"])?.bool());
        self.settings.push.or(said).unwrap_or(self.settings.push_by_default)
    }

    fn platforms(&self, at: usize) -> Vec<String> {
        if !self.settings.platforms.is_empty() {
            return self.settings.platforms.clone();
        }
        let Some(artifact) = self.artifacts.get(at) else { return Vec::new() };
        let texts = |list: Option<View<'_, '_>>| -> Vec<String> {
            list.into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect()
        };
        let own = texts(artifact.view.get("platforms"));
        let build = self.config(artifact.config).and_then(|config| config.item.view().at(&["build", "platforms"]));
        if own.is_empty() { texts(build) } else { own }
    }

    /// The name of an artifact's image with its tag. If no tag can be computed, it is `latest`, with a warning.
    fn tagged(&self, at: usize) -> String {
        let Some(artifact) = self.artifacts.get(at) else { return String::new() };
        let registry = self.settings.default_repo.as_deref().filter(|registry| !registry.is_empty());
        let name =
            registry.map_or_else(|| artifact.image.clone(), |registry| image::in_registry(&artifact.image, registry));
        let tag = match &self.settings.tag {
            Some(tag) => Ok(tag.clone()),
            None => self.tag(at),
        };
        let tag = tag.unwrap_or_else(|why| {
            let span = artifact.span().or_else(|| self.config(artifact.config).map(|config| config.span));
            let message = format!("could not make a tag for `{}`, so `latest` is used: {why}", artifact.image);
            let mut warning =
                purlin_syntax::Diagnostic::nowhere(&purlin_skaffold::rules::NOT_RENDERED, message).warning();
            warning.span = span;
            self.session.sink.push(warning);
            "latest".to_owned()
        });
        match (tag.is_empty(), self.content_mark(&artifact.image)) {
            (true, _) => name,
            (false, Some(mark)) => format!("{name}:{tag}-{mark}"),
            (false, None) => format!("{name}:{tag}"),
        }
    }

    /// While a project is worked on, tags differ when contents do: otherwise a cluster would keep the first image.
    fn content_mark(&self, image: &str) -> Option<&str> {
        if self.settings.mode != DEV || self.settings.tag.is_some() {
            return None;
        }
        self.keys.get(image)?.key.get(..MARK)
    }

    fn tag(&self, at: usize) -> Result<String, String> {
        let Some(artifact) = self.artifacts.get(at) else { return Ok(String::new()) };
        let policy = self.config(artifact.config).and_then(|config| config.item.view().at(&["build", "tagPolicy"]));
        let (world, artifacts) = (self.session.world.as_ref(), self.artifacts.as_slice());
        let input_digest = || {
            let inputs = Inputs { world, configs: self.configs, artifacts };
            inputs.digest(at).map_err(|(file, _)| format!("could not read `{file}`"))
        };
        let tagger = tag::Tagger {
            env: &self.settings.env,
            image: &artifact.image,
            folder: self.context(artifact.config, artifact.view),
            input_digest: &input_digest,
            now: self.session.world.now().0,
            checkout: self
                .config(artifact.config)
                .filter(|config| config.is_remote)
                .and_then(|config| purlin_skaffold::remote::checkout_of(self.session, config.file.source.path())),
        };
        tagger.tag(policy)
    }

    /// Whether an earlier run built an image, according to its journal.
    pub fn is_known(&self, at: usize, store: &crate::store::Store) -> bool {
        let id = self.nodes.get(at).map(|node| node.id.as_str()).unwrap_or_default();
        store.find(id, &self.version(at)).is_some()
    }

    /// Whether the images of an artifact are pushed.
    pub fn is_pushed(&self, at: usize) -> bool {
        self.artifacts.get(at).is_some_and(|artifact| self.pushes(artifact.config))
    }

    /// The number of artifacts built at once: the maximum of all configurations, one by default.
    pub fn concurrency(&self) -> usize {
        let said = |config: &Config<'_>| config.item.view().at(&["build", "local", "concurrency"])?.int();
        match self.configs.iter().filter_map(said).min() {
            None => 1,
            Some(0) => self.artifacts.len().max(1),
            Some(count) => usize::try_from(count).unwrap_or(1).max(1),
        }
    }

    /// A hook on this machine; `None` if it is for another system.
    fn hook(&self, config: usize, hook: View<'_, '_>, env: &[(String, String)]) -> Option<Command> {
        let systems: Vec<String> =
            hook.get("os").into_iter().flat_map(View::items).map(|os| os.text().into_owned()).collect();
        let own = std::env::consts::OS.replace("macos", "darwin");
        if !systems.is_empty() && !systems.contains(&own) {
            return None;
        }
        let words: Vec<String> =
            hook.get("command").into_iter().flat_map(View::items).map(|word| word.text().into_owned()).collect();
        let dir = hook.text_of("dir");
        let folder = if dir.is_empty() { self.settings.here.clone() } else { self.full(config, &dir) };
        Some(Command { words, shell: false, folder, env: env.to_vec() })
    }

    /// Environment variables of every hook.
    fn hook_env(&self) -> Vec<(String, String)> {
        let mut env = vec![("SKAFFOLD_WORK_DIR".to_owned(), self.settings.here.to_string_lossy().into_owned())];
        env.extend(self.settings.default_repo.iter().map(|repo| ("SKAFFOLD_DEFAULT_REPO".to_owned(), repo.clone())));
        env
    }
}

/// Whether a context is a cluster on this machine, which uses images without a registry.
pub fn is_local_cluster(context: &str) -> bool {
    matches!(context, "minikube" | "docker-desktop" | "docker-for-desktop")
        || context.starts_with("kind-")
        || context.ends_with("@kind")
        || context.starts_with("k3d-")
}

fn cases<'p, 'f>(configs: &'p [Config<'f>]) -> Vec<Case<'p, 'f>> {
    let mut found = Vec::new();
    for (config, owner) in configs.iter().enumerate() {
        for case in owner.item.view().get("test").into_iter().flat_map(View::items) {
            let image = case.text_of("image").into_owned();
            if case.get("structureTests").is_some_and(|tests| tests.items().next().is_some()) {
                found.push(Case { config, image: image.clone(), case, kind: CaseKind::Structure });
            }
            for test in case.get("custom").into_iter().flat_map(View::items) {
                found.push(Case { config, image: image.clone(), case, kind: CaseKind::Custom(test) });
            }
        }
    }
    found
}

impl Project for SkaffoldProject<'_, '_> {
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn root(&self) -> PathBuf {
        self.settings.root.clone()
    }

    /// Hooks around the deploy are part of it.
    fn accompanies(&self, node: usize) -> Option<usize> {
        matches!(self.roles.get(node), Some(Role::Hooks(_)))
            .then(|| self.roles.iter().position(|role| matches!(role, Role::Deploy)))?
    }

    fn cluster_deploy(&self, node: usize) -> Option<Arc<ClusterDeploy>> {
        self.deploys.borrow().get(&node).cloned()
    }

    fn prepare(&self, node: usize) -> Result<Action, Failure> {
        let action = match self.roles.get(node) {
            Some(Role::Build(at)) => self.build_action(*at),
            Some(Role::Test(at)) => self.test_action(node, *at),
            Some(Role::Hooks(when)) => self.hook_action(node, *when),
            Some(Role::Deploy) => self.deploy_action(node),
            None => Err(Cause::Unresolved),
        };
        action.map_err(|cause| {
            let own = self.nodes.get(node);
            let (id, span): (String, Option<Span>) =
                own.map_or_else(Default::default, |node| (node.id.clone(), node.span));
            Failure { id, cause, command: None, tail: Vec::new(), span }
        })
    }

    fn content(&self, node: usize) -> Content {
        let Some(Role::Build(at)) = self.roles.get(node) else { return Content::default() };
        let read = |artifact: &Artifact<'_, '_>| {
            let (settings, files) =
                purlin_skaffold::keys::content(self.session.world.as_ref(), self.config(artifact.config)?, artifact);
            Some(Content { files, settings })
        };
        self.artifacts.get(*at).and_then(read).unwrap_or_default()
    }

    fn takes_all(&self, node: usize) -> bool {
        !matches!(self.roles.get(node), Some(Role::Build(_)))
    }

    fn learn(&self, node: usize, outputs: &Outputs, _secret: &[String]) {
        if let Some(Role::Build(at)) = self.roles.get(node)
            && let Some(artifact) = self.artifacts.get(*at)
            && let Some(tag) = outputs.get("tag").and_then(Json::as_str)
        {
            self.built.borrow_mut().insert(artifact.image.clone(), tag.to_owned());
        }
    }
}
