//! The dialect for the native commands: recognises projects and resolves them into nodes.
//!
//! Modules and their artifacts become nodes; a document with `modules:` also gets the configuration merged from them.
//! It must not know how commands print.

use crate::again::Shelf;
use crate::artifacts::{self, Artifact};
use crate::defaults::{self, Surround};
use crate::emit::{Finish, Out, section_without};
use crate::entities::artifact::{ARTIFACT, builders};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::forest::Forest;
use crate::item::{Item, View};
use crate::load::{Format, Loader};
use crate::merge::{Part, merge};
use crate::names::Writer;
use crate::profile::activation::Surroundings;
use crate::remote::Sync;
use crate::render::{self, Settings};
use crate::rules::{PATCH, RULES};
use crate::validate::{Scope, Tags, suspicious, unused_images, validate};
use crate::value::ValueOut;
use crate::walk::{Bases, Config, Walk, Wanted};
use crate::{keys, unrendered};
use ecow::EcoString;
use purlin_model::{
    Answer, Dependency, Dialect, Engines, Glance, Manifest, Node, Question, Request, Resolved, Role, Sign, Usual,
    Variant, Variants,
};
use purlin_syntax::suggest::nearest;
use purlin_syntax::{DocumentHead, Flavor};
use purlin_value::{FastMap, Origin, Session, Value, path};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// The Skaffold dialect.
pub const DIALECT: Dialect = Dialect {
    name: "skaffold",
    summary: "Skaffold configurations: modules, profiles, patches, artifact dependencies.",
    noun: "skaffold",
    has_name: false,
    unit: "node",
    recognise,
    is_usual,
    usual: &[Usual { name: "skaffold.yaml", version: Some(crate::editions::LATEST_NAME), kind: Some("Config") }],
    inside: &[],
    reaches_below: false,
    yields: false,
    composes: true,
    is_listed: true,
    renders: true,
    resolve,
    together: None,
    prepare: None,
    apart: None,
    resuming: None,
    variants: Variants {
        noun: "profile",
        list: variants,
        is_chosen: |request| !request.profiles.is_empty(),
        in_company: &[&PATCH],
        resolve: Some(resolve_all),
    },
    eval,
    rules: RULES,
};

/// The ids of modules by number of the document.
type Places<'a> = HashMap<usize, &'a EcoString>;

const NAMES: &[&str] = &["skaffold.yaml", "skaffold.yml"];

/// Whether Skaffold finds a file of this name without an option.
pub(crate) fn is_usual(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Prefix of the versions in Skaffold's own files.
const API: &str = "skaffold/";

/// Keys that a configuration has at its root, in some version.
const ROOTS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "requires",
    "build",
    "test",
    "manifests",
    "deploy",
    "portForward",
    "resourceSelector",
    "verify",
    "customActions",
    "profiles",
    "modules",
];

/// A file with a usual name is recognised unless all of its keys are foreign; any other must declare itself.
fn recognise(file: &Glance<'_>) -> Option<Sign> {
    if NAMES.contains(&file.name()) {
        let is_ours = file.is_named() || file.whole().has_any(ROOTS) || {
            let mut keys = file.head().documents().iter().flat_map(DocumentHead::keys).peekable();
            // A file without keys is broken, and so is one with a misspelt key of ours.
            keys.peek().is_none() || keys.any(|key| nearest(key, ROOTS.iter().copied()).is_some())
        };
        return is_ours.then_some(Sign::new(Role::Project, 50).shared());
    }
    let says_so = |page: &DocumentHead| page.get("apiVersion").is_some_and(|version| version.starts_with(API));
    file.head().documents().iter().any(says_so).then_some(Sign::new(Role::Project, 46).shared())
}

/// Everything a native command may want of a project.
pub(crate) struct Work<'r> {
    pub(crate) session: &'r Session,
    pub(crate) request: &'r Request,
    pub(crate) file: String,
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let file = DIALECT.file_of(session, request)?;
    Work { session, request, file }.configs(|work, loaded| work.resolved(loaded))
}

/// Resolves a project with several choices of profiles. Files are read once, and what no profile changes is judged once.
fn resolve_all(variants: &[(Session, Request)], done: &mut dyn FnMut(Option<Resolved>)) {
    let forest = Forest::new();
    let shelf = (variants.len() > 1).then(Rc::<Shelf<'_>>::default);
    for (session, request) in variants {
        let resolved = DIALECT.file_of(session, request).and_then(|file| {
            let project = Work { session, request, file };
            project.configs_over(&forest, shelf.clone(), |work, loaded| work.resolved(loaded))
        });
        done(resolved);
    }
}

/// The file without any profile, and each of its profiles alone. Each includes the profiles it activates in required
/// configurations.
fn variants(session: &Session, request: &Request) -> Vec<Variant> {
    let Some(file) = DIALECT.file_of(session, request) else { return Vec::new() };
    let Ok(text) = session.load_text(&file, &file) else { return Vec::new() };
    let tree = session.load_tree(&text.source, Flavor::CoreGo);
    let mut found = vec![Variant { name: EcoString::new(), request: request.clone() }];
    let profiles = tree.roots().filter_map(|root| root.get("profiles")).flat_map(|list| list.items());
    for name in profiles.filter_map(|profile| profile.get("name")).map(|name| EcoString::from(name.text())) {
        if !name.is_empty() && !found.iter().any(|known| known.name == name) {
            let mut request = request.clone();
            request.profiles.push(name.to_string());
            found.push(Variant { name, request });
        }
    }
    found
}

fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let file = DIALECT.file_of(session, request)?;
    Work { session, request, file }.configs(|work, loaded| work.answer(loaded, question))
}

/// Resolves the configurations of a project, with their defaults, and passes them on. `None` if it has none.
pub fn with_configs<T>(session: &Session, request: &Request, work: impl FnOnce(&[Config<'_>]) -> T) -> Option<T> {
    let file = DIALECT.file_of(session, request)?;
    with_configs_of(session, request, &file, work)
}

/// The same for a file that is known.
pub fn with_configs_of<T>(
    session: &Session,
    request: &Request,
    file: &str,
    work: impl FnOnce(&[Config<'_>]) -> T,
) -> Option<T> {
    let project = Work { session, request, file: file.to_owned() };
    project.configs(|_, loaded| (!loaded.filled.is_empty()).then(|| work(loaded.filled)))
}

/// The configurations of a project with their defaults, for as long as the forest keeps their trees. `None` if it has
/// none.
pub fn configs_in<'f>(session: &'f Session, request: &'f Request, forest: &'f Forest) -> Option<Vec<Config<'f>>> {
    let file = DIALECT.file_of(session, request)?;
    let project = Work { session, request, file };
    let keep = |_: &Work<'_>, loaded: Loaded<'_, 'f>| (!loaded.filled.is_empty()).then(|| loaded.filled.to_vec());
    project.configs_in(forest, keep)
}

/// The configurations of a project.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'c, 'f> {
    /// As they are written, with profiles.
    pub(crate) raw: &'c [Config<'f>],
    /// With defaults.
    pub(crate) filled: &'c [Config<'f>],
    /// Whether no error was found so far.
    pub(crate) is_sound: bool,
}

impl<'r> Work<'r> {
    /// Resolves the configurations and hands them on: as written with profiles, and with defaults.
    pub(crate) fn configs<T>(&self, work: impl FnOnce(&Self, Loaded<'_, '_>) -> Option<T>) -> Option<T> {
        self.configs_in(&Forest::new(), work)
    }

    fn configs_in<'f, T>(&self, forest: &'f Forest, work: impl FnOnce(&Self, Loaded<'_, 'f>) -> Option<T>) -> Option<T>
    where
        'r: 'f,
    {
        self.configs_over(forest, None, work)
    }

    fn configs_over<'f, T>(
        &self,
        forest: &'f Forest,
        shelf: Option<Rc<Shelf<'f>>>,
        work: impl FnOnce(&Self, Loaded<'_, 'f>) -> Option<T>,
    ) -> Option<T>
    where
        'r: 'f,
    {
        let session = self.session;
        let wanted = self.wanted();
        let loader = Loader::new(session, forest, Format::Native, None).over(shelf);
        let world = session.world.clone();
        let context = self.request.skaffold.kube_context.as_deref().unwrap_or_default();
        let around = Surroundings::new(self.request.command(), context, Box::new(move |name| world.env(name)));
        let (raw, is_loaded) = session.sink.succeeds(|| Walk::new(&loader, &wanted, &around).run());
        if session.names.is_on() {
            Writer::new(session, &wanted.file).files(&loader.files());
        }
        let (filled, is_filled) = session.sink.succeeds(|| self.filled(&raw, &wanted));
        work(self, Loaded { raw: &raw, filled: &filled, is_sound: is_loaded && is_filled })
    }

    fn wanted(&self) -> Wanted {
        let world = &self.session.world;
        Wanted {
            file: path::join(world.root(), &self.file),
            profiles: self.request.profiles.clone(),
            profiles_from: self.request.skaffold.profiles_from.clone(),
            modules: self.request.modules.clone(),
            auto_activation: self.request.skaffold.auto_activation,
            propagate: self.request.skaffold.propagate_profiles,
            defaults: false,
            bases: Bases::Project,
            context_given: self.request.skaffold.kube_context.is_some(),
            namespace: self.request.namespace.clone().unwrap_or_default(),
            home: world.env("HOME").unwrap_or_default(),
            sync: Sync::Missing,
            format: Format::Native,
        }
    }

    fn filled<'f>(&self, raw: &[Config<'f>], wanted: &Wanted) -> Vec<Config<'f>> {
        let sink = &self.session.sink;
        let fill = |config: &Config<'f>| {
            let mut config = config.clone();
            let known = config.file.known.as_deref();
            let (namespace, home) = (&wanted.namespace, &wanted.home);
            let around = Surround { namespace, home, sink, fallback: config.span, known };
            defaults::fill(&mut config.item, &around).then_some(config)
        };
        raw.iter().filter_map(fill).collect()
    }

    pub(crate) fn resolved(&self, loaded: Loaded<'_, '_>) -> Option<Resolved> {
        let Loaded { raw, filled, is_sound } = loaded;
        let session = self.session;
        let world = session.world.as_ref();
        let is_valid = is_sound && validate(session, filled, Scope::Project, Tags::Made);
        let is_sound = is_valid && session.sink.succeeds(|| suspicious(session, filled)).1;
        let root = path::parent(&self.file);
        let folder = path::join(world.root(), root);
        let mut resolved = Resolved::new(path::file_name(&folder));
        let ids: Vec<EcoString> = filled.iter().map(|config| self.id(config)).collect();
        let places = filled.iter().zip(&ids).map(|(config, id)| (config.number(), id)).collect();
        for (config, id) in filled.iter().zip(&ids) {
            resolved.nodes.push(self.module(config, id, &places));
        }
        resolved.nodes.extend(self.artifacts(filled, &ids));
        if is_sound {
            if raw.iter().any(|config| uses_founding_design(config)) {
                let whole = self.merged(raw);
                resolved.outputs = Value::map([(EcoString::from("configuration"), whole)].into_iter().collect());
            }
            let settings = Settings { namespace: self.request.namespace.clone(), ..Settings::default() };
            let settings = Settings { release_namespace: settings.namespace.clone(), ..settings };
            // Charts and kustomizations are projects of their own; only `render` needs their manifests here.
            let renders = self.request.manifests;
            let is_wanted = renders || session.names.is_on();
            let engines = if is_wanted { self.request.engines } else { Engines::default() };
            resolved.manifests = render::render(session, filled, &settings, engines);
            if !renders && self.request.chart.is_rehearsal {
                render::rehearse(session, filled, &settings, self.request.engines);
            }
            if session.names.is_on() {
                let file = path::join(world.root(), &self.file);
                Writer::new(session, &file).result(filled, &resolved.manifests, self.request);
            }
            if !renders {
                unused_images(session, filled, &resolved.manifests);
            }
            Manifest::tell_apart(&mut resolved.manifests);
            if renders {
                let objects = resolved.manifests.iter().filter_map(|manifest| manifest.object("skaffold"));
                resolved.nodes.extend(objects.collect::<Vec<_>>());
                filled.iter().for_each(|config| unrendered::report(config, &session.sink));
            }
            filled.iter().for_each(|config| unrendered::report_functions(config, renders, &session.sink));
        }
        (!filled.is_empty() || !is_sound).then_some(resolved)
    }

    /// The name of a module's node: its own, or its file and place.
    fn id(&self, config: &Config<'_>) -> EcoString {
        if !config.name.is_empty() {
            return config.name.clone();
        }
        let root = self.session.world.root();
        let inside = config.file.path.strip_prefix(root).unwrap_or(&config.file.path).trim_start_matches('/');
        let documents = config.file.documents.iter().filter(|document| document.owner.is_none()).count();
        if documents == 1 { inside.into() } else { format!("{inside}#{}", config.index).into() }
    }

    fn module(&self, config: &Config<'_>, id: &EcoString, places: &Places<'_>) -> Node {
        let mut node = Node::new(id.clone(), "module", DIALECT.name);
        node.source = Some(config.span);
        node.resolved = self.value(config);
        let mut seen: HashSet<&EcoString> = HashSet::from([id]);
        for other in config.requires.iter().filter_map(|place| places.get(place)) {
            if seen.insert(other) {
                node.dependencies.push(dependency(other, None, true));
            }
        }
        if !config.profiles.is_empty() {
            let document = config.file.documents.get(config.index);
            let defined = document.and_then(|document| document.item.view().get("profiles"));
            let written = defined.into_iter().flat_map(View::items).filter_map(|profile| profile.get("name"));
            let by_name: HashMap<_, View<'_, '_>> = written.map(|own| (own.text(), own)).collect();
            let named = |name: &EcoString| {
                let own = by_name.get(name.as_str());
                own.map_or_else(|| Value::str(name.clone()), |own| ValueOut::of(self.session, *own))
            };
            let names = config.profiles.iter().map(named).collect();
            node.outputs = Value::map([(EcoString::from("profiles"), Value::list(names))].into_iter().collect());
        }
        node
    }

    fn value(&self, config: &Config<'_>) -> Value {
        let mut out = ValueOut::new(self.session).of_config(config);
        let finish = Finish { base: config.base.as_deref(), ..Finish::default() };
        section_without(config.item.view(), &SKAFFOLD_CONFIG, &["requires", "profiles", "modules"], &finish, &mut out);
        out.done.unwrap_or_else(Value::null)
    }

    fn artifacts(&self, configs: &[Config<'_>], ids: &[EcoString]) -> Vec<Node> {
        let all = artifacts::collect(configs);
        let by_image: FastMap<&str, &Artifact<'_, '_>> =
            all.iter().rev().map(|artifact| (artifact.image.as_str(), artifact)).collect();
        let id = |artifact: &Artifact<'_, '_>| -> EcoString {
            let owner = ids.get(artifact.config).map_or("", EcoString::as_str);
            format!("{owner}/{}", artifact.image).into()
        };
        // What surrounds an artifact is the same for all of a configuration.
        let named = |config: &Config<'_>| {
            let owner = config.item.view().at(&["metadata", "name"]);
            owner.map_or(Origin::NONE, |name| ValueOut::of(self.session, name).origin)
        };
        let names: Vec<Origin> = configs.iter().map(named).collect();
        let node = |artifact: &Artifact<'_, '_>| {
            let mut node = Node::new(id(artifact), "artifact", DIALECT.name);
            let builder = builders().find(|row| artifact.view.get(row.key).is_some());
            node.type_name = builder.map(|row| row.key).unwrap_or_default().into();
            node.source = artifact.span();
            // The name of an artifact begins with that of its configuration.
            node.named = names.get(artifact.config).copied().unwrap_or(Origin::NONE);
            let build = configs.get(artifact.config).and_then(|config| config.item.view().get("build"));
            let list = build.and_then(|build| build.get("artifacts"));
            let around: Vec<View<'_, '_>> = build.into_iter().chain(list).collect();
            let mut out = ValueOut::inside(self.session, &around);
            let config = configs.get(artifact.config);
            out = config.into_iter().fold(out, ValueOut::of_config);
            let finish = Finish { base: config.and_then(|config| config.base.as_deref()), ..Finish::default() };
            if !out.recall(artifact.view, ARTIFACT.kind) {
                section_without(artifact.view, &ARTIFACT, &[], &finish, &mut out);
                out.remember(artifact.view, ARTIFACT.kind);
            }
            node.resolved = out.done.unwrap_or_else(Value::null);
            for needed in &artifact.requires {
                if let Some(other) = by_image.get(needed.image.as_str()) {
                    node.dependencies.push(dependency(&id(other), needed.span, true));
                }
            }
            node
        };
        all.iter().map(node).collect()
    }

    /// The configuration merged from all modules.
    fn merged(&self, raw: &[Config<'_>]) -> Value {
        let sink = &self.session.sink;
        let items: Vec<Item<'_>> = raw.iter().map(with_contexts).collect();
        let part = |(config, item): (&Config<'_>, _)| Part { name: self.id(config), item, span: config.span };
        // The document the user named is the parent of the modules it names.
        let is_parent = |config: &Config<'_>| !config.is_dependency && !config.is_inline;
        let mut parents = raw.iter().filter(|config| is_parent(config));
        let single = parents.next().is_some() && parents.next().is_none();
        let all = || raw.iter().zip(&items);
        let modules: Vec<Part<'_, '_>> = all().filter(|(config, _)| !(single && is_parent(config))).map(part).collect();
        let parent = all().find(|(config, _)| single && is_parent(config)).map(part);
        let mut whole = merge(&modules, parent.as_ref(), sink);
        if let Some(first) = raw.first() {
            let around = Surround { namespace: "", home: "", sink, fallback: first.span, known: None };
            defaults::fill(&mut whole, &around);
        }
        let mut out = ValueOut::new(self.session);
        let finish = Finish::default();
        section_without(whole.view(), &SKAFFOLD_CONFIG, &["requires", "profiles", "modules"], &finish, &mut out);
        out.done.unwrap_or_else(Value::null)
    }

    pub(crate) fn answer(&self, loaded: Loaded<'_, '_>, question: &Question) -> Option<Answer> {
        let Loaded { raw, filled, .. } = loaded;
        let text = question.expression.trim();
        let all = artifacts::collect(filled);
        let (word, argument) = text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim()));
        let names = |list: Vec<String>| Value::list(list.into_iter().map(Value::from).collect());
        let artifact = match &question.on {
            Some(_) => self.asked_on(loaded, &all, question)?,
            None => None,
        };
        if text.contains("{{") {
            return self.template(text, artifact);
        }
        let value = match word {
            "order" => {
                let order = artifacts::order(&all);
                names(order.into_iter().filter_map(|at| all.get(at)).map(|artifact| artifact.image.clone()).collect())
            }
            "merged" => self.merged(raw),
            "modules" => names(filled.iter().map(|config| self.id(config).to_string()).collect()),
            "profiles" => {
                let Some(config) = filled.iter().find(|config| self.id(config) == argument) else {
                    let ids: Vec<EcoString> = filled.iter().map(|config| self.id(config)).collect();
                    let on = Question { on: Some(argument.to_owned()), ..Question::default() };
                    on.unknown_node(self.session, ids.iter().map(EcoString::as_str));
                    return None;
                };
                names(config.profiles.iter().map(EcoString::to_string).collect())
            }
            "key" => match keys::key(self.session.world.as_ref(), filled, &all, argument) {
                Ok(Some(key)) => Value::from(key),
                Ok(None) => {
                    let on = Question { on: Some(argument.to_owned()), ..Question::default() };
                    on.unknown_node(self.session, all.iter().map(|artifact| artifact.image.as_str()));
                    return None;
                }
                Err((file, error)) => {
                    self.session.report_world(&error, &file, None);
                    return None;
                }
            },
            _ => {
                let message = format!("`{text}` is not a query that Skaffold projects answer");
                let hint =
                    "ask `modules`, `merged`, `order`, `profiles MODULE`, `key IMAGE` or a template, `{{.NAME}}`";
                let source = self.session.sources.insert("expression", question.expression.as_str());
                let span = source.span(0, question.expression.len());
                let diagnostic = purlin_syntax::Diagnostic::at(&crate::rules::VALUE, span, message);
                self.session.sink.push(diagnostic.hint(hint));
                return None;
            }
        };
        Some(Answer { value, trace: Vec::new() })
    }

    /// The image of the artifact that a question concerns; inner `None` for another node, outer `None` if there is no
    /// such node.
    fn asked_on(
        &self,
        loaded: Loaded<'_, '_>,
        all: &[Artifact<'_, '_>],
        question: &Question,
    ) -> Option<Option<String>> {
        let filled = loaded.filled;
        let on = question.on.as_deref().unwrap_or_default();
        let ids: Vec<EcoString> = filled.iter().map(|config| self.id(config)).collect();
        let artifacts = self.artifacts(filled, &ids);
        if let Some(at) = artifacts.iter().position(|node| node.id == on) {
            return Some(all.get(at).map(|artifact| artifact.image.clone()));
        }
        if ids.iter().any(|id| id == on) {
            return Some(None);
        }
        let objects = self.resolved(loaded).map(|resolved| resolved.manifests).unwrap_or_default();
        if objects.iter().any(|manifest| manifest.node == on) {
            return Some(None);
        }
        let nodes = artifacts.iter().map(|node| node.id.as_str());
        let names =
            ids.iter().map(EcoString::as_str).chain(nodes).chain(objects.iter().map(|found| found.node.as_str()));
        question.unknown_node(self.session, names);
        None
    }

    /// A template as tag policies have it: over environment variables and, on an artifact, its image.
    fn template(&self, text: &str, image: Option<String>) -> Option<Answer> {
        let mut names: BTreeMap<String, String> = self.session.world.env_table().into_iter().collect();
        names.extend(image.map(|image| ("IMAGE_NAME".to_owned(), image)));
        match crate::template::expand(text, &names) {
            Ok(expanded) => {
                let value = Value::from(expanded).tainted_if(crate::template::reads_secret(text, &names));
                Some(Answer { value, trace: Vec::new() })
            }
            Err(why) => {
                let source = self.session.sources.insert("expression", text);
                let span = source.span(0, text.len());
                self.session.sink.push(purlin_syntax::Diagnostic::at(&crate::rules::VALUE, span, why));
                None
            }
        }
    }
}

fn dependency(id: &EcoString, span: Option<purlin_syntax::Span>, runtime: bool) -> Dependency {
    let (names, relationship) = (Vec::new(), EcoString::new());
    Dependency { node: id.clone(), is_static: false, is_runtime: runtime, is_explicit: true, span, names, relationship }
}

fn uses_founding_design(config: &Config<'_>) -> bool {
    let modules = config.file.documents.get(config.index).is_some_and(|document| !document.modules.is_empty());
    config.is_inline || modules
}

/// A configuration ready to be merged with others: items without `context` are in the folder of its own file.
fn with_contexts<'f>(config: &Config<'f>) -> Item<'f> {
    let mut config = config.clone();
    defaults::contexts(&mut config.item);
    config.placed()
}
