//! Modules: resolved with those they depend on first, then converted to actions.

mod container;
mod convert;
mod generate;
mod kubernetes;
mod overlap;
mod version;

use crate::action::Origin;
use crate::bind::Env;
use crate::config::{ActionKind, ConfigKind};
use crate::draft::Draft;
use crate::files::FileTree;
use crate::graph::report_dependency_cycle;
use crate::ground::{Ground, fill};
use crate::inner::CLUSTER_PROVIDERS;
use crate::phases::{Phases, Stage, env_at};
use crate::project::Project;
use crate::references::{Reference, Step, references};
use crate::remote::{self, Checkout, Namer};
use crate::render::Config;
use crate::resolve::Resolution;
use crate::rules;
use crate::scan::{declared_twice, texts};
use crate::vars::{Presence, VarFile, VarScope, VarSource, read_varfile};
use ecow::EcoString;
use purlin_graph::Digraph;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span, suggest};
use purlin_value::{Data, FastIndex, FastSet, Map, MapLayer, Origin as ValueOrigin, Value, path};
use std::sync::Arc;

/// Keys of every module, whatever its type.
pub const COMMON_KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "type",
    "name",
    "description",
    "disabled",
    "local",
    "include",
    "exclude",
    "repositoryUrl",
    "allowPublish",
    "generateFiles",
    "variables",
    "varfile",
    "build",
    "path",
];

/// A module that another is built from.
#[derive(Clone, Debug)]
pub struct BuildDependency {
    /// The module.
    pub name: EcoString,
    /// The copied paths: source and target, each with its location.
    pub copy: Vec<(Value, Value)>,
    /// Where it is written.
    pub span: Option<Span>,
    /// Whether the module lists it; otherwise one of its services takes its source from there.
    pub listed: bool,
}

/// A module, resolved.
#[derive(Debug)]
pub struct Module {
    /// Its kind and location; its folder is that of its repository if it names one.
    pub config: Config,
    /// The repository that its files come from.
    pub checkout: Option<Checkout>,
    /// Its configuration, evaluated as far as possible.
    pub fields: Draft,
    /// Whether it is disabled.
    pub disabled: bool,
    /// Build dependencies.
    pub dependencies: Vec<BuildDependency>,
    /// The modules that its configuration mentions or lists as build dependencies.
    pub needs: Vec<EcoString>,
    /// Its version.
    pub version: EcoString,
    /// What others may read from it: the names of images, of releases.
    pub outputs: Value,
    /// Its choice of files.
    pub files: (Option<Vec<String>>, Vec<String>),
}

impl Module {
    /// Its name.
    pub fn name(&self) -> &EcoString {
        &self.config.name
    }

    /// Its name, as a value with its location.
    pub fn name_value(&self) -> Value {
        Value::str(self.name().clone()).with_origin(self.origin_of("name"))
    }

    /// Whether it is disabled, as a value with its location.
    pub fn disabled_value(&self) -> Value {
        Value::from(self.disabled).with_origin(self.origin_of("disabled"))
    }

    /// The origin of a field with a plain value.
    pub fn origin_of(&self, key: &str) -> ValueOrigin {
        origin_in(&self.fields, key)
    }

    /// A field, if set.
    pub fn field(&self, key: &str) -> Option<Draft> {
        self.fields.get(key).filter(|draft| !draft.is_null())
    }

    /// A field as text.
    pub fn text(&self, key: &str) -> Option<EcoString> {
        self.field(key)?.as_value()?.as_str().map(EcoString::from)
    }

    /// The items under a key.
    pub fn items(&self, key: &str) -> Vec<Draft> {
        self.field(key).map(|draft| draft.items()).unwrap_or_default()
    }

    /// The names of the items under a key.
    pub fn names(&self, key: &str) -> Vec<EcoString> {
        self.items(key).iter().filter_map(item_name).collect()
    }

    /// The hash of its files, and which they are.
    pub fn source(&self, resolution: &Resolution<'_>) -> (EcoString, Arc<[String]>) {
        let found = version::source(&resolution.ground, resolution.live.files(), self);
        (found.hash.clone(), found.files.clone())
    }

    /// Its variables, evaluated.
    pub fn variables(&self) -> Option<Draft> {
        self.field("variables")
    }
}

/// The origin of the value under a key.
pub(crate) fn origin_in(draft: &Draft, key: &str) -> ValueOrigin {
    draft.get(key).and_then(|draft| draft.as_value().map(|value| value.origin)).unwrap_or(ValueOrigin::NONE)
}

/// The name of a service, task or test.
pub(crate) fn item_name(item: &Draft) -> Option<EcoString> {
    item.get("name")?.as_value()?.as_str().map(EcoString::from)
}

/// An action made from a module.
pub struct Converted {
    /// Its kind.
    pub kind: ActionKind,
    /// Its configuration.
    pub config: Config,
    /// Its origin.
    pub origin: Arc<Origin>,
}

/// All modules, resolved.
pub struct Modules {
    /// The modules, dependencies first.
    pub modules: Vec<Arc<Module>>,
    /// The actions they make.
    pub actions: Vec<Converted>,
}

/// Resolves all modules and converts them.
pub(crate) fn resolve_modules(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    configs: &[Config],
    files: &FileTree,
) -> Modules {
    let written: FastSet<EcoString> = configs.iter().filter_map(runtime_key).collect();
    let configs: Vec<&Config> = configs.iter().filter(|config| config.kind == ConfigKind::Module).collect();
    if configs.is_empty() {
        fill(phases.modules(), Value::map(Map::from_iter([("modules".into(), Value::map(Map::new()))])));
        return Modules { modules: Vec::new(), actions: Vec::new() };
    }
    report_duplicate_modules(ground, &configs);
    let mut drafts: FastIndex<EcoString, Pending> = FastIndex::default();
    for config in configs {
        let pending = Pending::new(ground, project, phases, config);
        drafts.entry(config.name.clone()).or_insert(pending);
    }
    let order = order(ground, &drafts);
    let mut known = Map::new();
    let mut modules: FastIndex<EcoString, Arc<Module>> = FastIndex::default();
    // Modules as seen by others: one that is not resolved yet is part of a cycle, missing, or the module itself, which
    // was reported. The map is shared with the modules that are evaluated, not copied for each.
    let mut visible: Arc<Map> = Arc::new(drafts.keys().map(|name| (name.clone(), Value::poison())).collect());
    // References of a module may be computed from another module, so that they are known only when that is resolved:
    // then their targets come first.
    for name in order {
        let mut open = vec![name];
        while let Some(name) = open.last().cloned() {
            let discovered = match drafts.get(&name) {
                Some(pending) if !known.contains_key(&name) => pending.discover(ground, project, phases, &known),
                _ => {
                    open.pop();
                    continue;
                }
            };
            if let Some(pending) = drafts.get_mut(&name) {
                pending.needs.extend(discovered);
            }
            if let Some(next) = next_needed(ground, &drafts, &name, &open, &known) {
                open.push(next);
                continue;
            }
            open.pop();
            let Some(pending) = drafts.get(&name) else { continue };
            for (missing, _) in pending.needs.iter().filter(|(need, _)| !drafts.contains_key(need)) {
                Arc::make_mut(&mut visible).insert(missing.clone(), Value::poison());
            }
            let all = Value::new(Data::Map(visible.clone()));
            let (module, value) = resolve_one(ground, project, phases, pending, all, &modules, files);
            Arc::make_mut(&mut visible).insert(name.clone(), value.clone());
            known.insert(name.clone(), value);
            modules.insert(name, Arc::new(module));
        }
    }
    fill(phases.modules(), Value::map(Map::from_iter([("modules".into(), Value::map(known))])));
    let modules: Vec<Arc<Module>> = modules.into_values().collect();
    overlap::report_overlaps(ground, &modules);
    let actions = convert::convert(ground, &modules, written);
    Modules { modules, actions }
}

/// The key of a Deploy or Run action.
fn runtime_key(config: &Config) -> Option<EcoString> {
    match config.kind {
        ConfigKind::Action(kind @ (ActionKind::Deploy | ActionKind::Run)) => {
            Some(ecow::eco_format!("{}.{}", kind.lower(), config.name))
        }
        _ => None,
    }
}

/// A module that is not resolved yet.
struct Pending {
    config: Config,
    /// Dependencies, with their locations.
    needs: Vec<(EcoString, Option<Span>)>,
    /// How many dependencies were known before any module was resolved.
    written: usize,
    /// Whether it refers to modules whose names are computed from others.
    computes: bool,
}

impl Pending {
    fn new(ground: &Ground<'_>, project: &Project, phases: &Phases, config: &Config) -> Self {
        let unknown = Value::pending("modules", "modules");
        let (env, _) = module_env(ground, project, phases, config, unknown);
        let mut needs = Vec::new();
        let written = config.body.get("build").and_then(|build| build.get("dependencies"));
        if let Some(list) = written.map(|draft| draft.settle(ground.session, &env)) {
            needs.extend(list.items().iter().filter_map(|item| dependency(ground, item)).map(|d| (d.name, d.span)));
        }
        for source in service_sources(&config.type_name, &config.body) {
            if let Some(source) = source.settle(ground.session, &env).as_value().cloned() {
                needs.extend(source.as_str().map(|name| (EcoString::from(name), ground.span_of(&source))));
            }
        }
        if config.type_name == "helm" {
            let settled =
                |key: &str| config.body.get(key).map(|draft| (key.into(), draft.settle(ground.session, &env)));
            let pods = Draft::Map(["tasks", "tests"].into_iter().filter_map(settled).collect());
            needs.extend(pod_sources(ground, &pods).into_iter().map(|d| (d.name, d.span)));
        }
        let base = config
            .body
            .get("base")
            .filter(|_| config.type_name == "helm")
            .map(|draft| draft.settle(ground.session, &env));
        needs.extend(base.iter().filter_map(|draft| base_dependency(ground, draft)).map(|d| (d.name, d.span)));
        let mut computes = false;
        for reference in mentioned(ground, &env, config) {
            let Some(name) = reference.name(1) else {
                computes |= reference.path.get(1) == Some(&Step::Unknown);
                continue;
            };
            if *name == config.name {
                let message = format!("module `{name}` cannot refer to itself");
                ground.report(&rules::SELF_REFERENCE, reference.span, message);
            } else {
                needs.push((name.clone(), reference.span));
            }
        }
        Pending { config: config.clone(), written: needs.len(), needs, computes }
    }

    /// The modules it turns out to mention now that others are resolved.
    fn discover(
        &self,
        ground: &Ground<'_>,
        project: &Project,
        phases: &Phases,
        known: &Map,
    ) -> Vec<(EcoString, Option<Span>)> {
        if !self.computes {
            return Vec::new();
        }
        let mut visible = known.clone();
        visible.insert(crate::expr::REST.into(), Value::pending("modules", "modules"));
        let (env, _) = module_env(ground, project, phases, &self.config, Value::map(visible));
        let found = mentioned(ground, &env, &self.config).into_iter();
        let found = found.filter_map(|reference| Some((reference.name(1)?.clone(), reference.span)));
        let is_new = |(name, _): &(EcoString, Option<Span>)| !self.needs.iter().any(|(need, _)| need == name);
        found.filter(is_new).collect()
    }
}

/// References of a module to others, in its configuration and in the inputs given by a template's use.
fn mentioned(ground: &Ground<'_>, env: &Arc<Env>, config: &Config) -> Vec<Reference> {
    let inputs = config.rendered.iter().flat_map(|rendered| rendered.inputs.iter().map(|(_, draft)| draft));
    let drafts: Vec<&Draft> = std::iter::once(&config.body).chain(inputs).collect();
    references(ground, env, &["modules"], &drafts)
}

/// The next module that must be resolved before another; one that leads back is reported.
fn next_needed(
    ground: &Ground<'_>,
    drafts: &FastIndex<EcoString, Pending>,
    name: &EcoString,
    open: &[EcoString],
    known: &Map,
) -> Option<EcoString> {
    let pending = drafts.get(name)?;
    for (index, (need, span)) in pending.needs.iter().enumerate() {
        let discovered = index >= pending.written;
        match drafts.contains_key(need) {
            true if known.contains_key(need) => {}
            true => match open.iter().position(|other| other == need) {
                None => return Some(need.clone()),
                Some(start) => report_discovered_cycle(ground, open.get(start..).unwrap_or(&[]), drafts),
            },
            false if discovered => report_missing_module(ground, drafts, name, need, *span),
            false => {}
        }
    }
    None
}

/// Reports a cycle, unless all of it is written: those were reported before.
fn report_discovered_cycle(ground: &Ground<'_>, path: &[EcoString], drafts: &FastIndex<EcoString, Pending>) {
    let next = path.iter().cycle().skip(1);
    let is_discovered = |(from, to): (&EcoString, &EcoString)| {
        let pending = drafts.get(from)?;
        pending.needs.iter().position(|(need, _)| need == to).map(|index| index >= pending.written)
    };
    if path.iter().zip(next).any(|edge| is_discovered(edge) == Some(true)) {
        report_cycle(ground, path, drafts);
    }
}

fn report_missing_module(
    ground: &Ground<'_>,
    drafts: &FastIndex<EcoString, Pending>,
    name: &str,
    need: &str,
    span: Option<Span>,
) {
    if ground.misses_source() {
        return;
    }
    let hint = suggest::did_you_mean(need, drafts.keys().map(EcoString::as_str));
    let message = what::unknown("module", need)
        .words(format!("module `{name}` depends on module `{need}`, which does not exist"));
    ground.push(Diagnostic::nowhere(&rules::MISSING_MODULE, message).maybe_hint(hint), span);
}

fn report_duplicate_modules(ground: &Ground<'_>, configs: &[&Config]) {
    let mut seen: FastIndex<&EcoString, &Config> = FastIndex::default();
    for config in configs {
        if let Some(first) = seen.get(&config.name) {
            let message = declared_twice("module", &config.name, [&first.file, &config.file]);
            let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, message);
            if let Some(span) = first.span {
                diagnostic = diagnostic.label(span, "the first one");
            }
            ground.push(diagnostic.hint("give one of them another name"), config.span);
        }
        seen.entry(&config.name).or_insert(config);
    }
}

/// Modules with those they need first; cycles are reported and broken.
fn order(ground: &Ground<'_>, drafts: &FastIndex<EcoString, Pending>) -> Vec<EcoString> {
    let mut graph: Digraph<EcoString> = Digraph::new();
    for name in drafts.keys() {
        graph.add(name.clone());
    }
    for (name, pending) in drafts {
        for (need, span) in &pending.needs {
            if drafts.contains_key(need) {
                graph.connect(name.clone(), need.clone());
            } else {
                report_missing_module(ground, drafts, name, need, *span);
            }
        }
    }
    for cycle in graph.cycles() {
        report_cycle(ground, &cycle.path, drafts);
    }
    graph.depth_first(drafts.keys()).into_iter().cloned().collect()
}

fn report_cycle(ground: &Ground<'_>, path: &[EcoString], drafts: &FastIndex<EcoString, Pending>) {
    report_dependency_cycle(ground, &rules::MODULE_CYCLE, "circular dependency between modules", path, |name, next| {
        drafts.get(name)?.needs.iter().find(|(need, _)| need == next)?.1
    });
}

/// The environment of a module's templates, and its variables.
fn module_env(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    config: &Config,
    modules: Value,
) -> (Arc<Env>, VarScope) {
    let mut base = phases.module_base();
    base = base.push(MapLayer::new("modules", Value::map(Map::from_iter([("modules".into(), modules)]))));
    if let Some(rendered) = &config.rendered {
        let inputs = env_at(ground, project.vars.over(&base), Stage::PreGraph);
        base = base.push(rendered.layer(ground, &inputs));
    }
    let this = Map::from_iter([
        ("name".into(), Value::str(config.name.clone())),
        ("path".into(), Value::str(ground.full_path(&config.folder))),
        ("buildPath".into(), Value::str(build_path(ground, &config.name))),
    ]);
    let base = base.push(MapLayer::new("this", Value::map(Map::from_iter([("this".into(), Value::map(this))]))));
    let mut vars = project.vars.below();
    if let Some(variables) = config.field("variables") {
        vars = vars.with(ground, &base, &VarSource::Draft(variables), true);
    }
    if let Some(Draft::Node(node)) = config.field("varfile") {
        let env = env_at(ground, vars.over(&base), Stage::PreGraph);
        let name = crate::project::force(ground, &env, &node);
        let source = name.as_str().and_then(|text| {
            let file = VarFile {
                name: text,
                presence: Presence::Required,
                place: node.span(),
                secret: name.is_tainted_deep(),
            };
            read_varfile(ground, &config.folder, &file)
        });
        if let Some(source) = source {
            vars = vars.with(ground, &base, &source, true);
        }
    }
    (env_at(ground, vars.over(&base), Stage::PreGraph), vars)
}

fn build_path(ground: &Ground<'_>, name: &str) -> EcoString {
    ground.full_path(&path::join(&ground.root, &format!(".garden/build/{name}")))
}

fn dependency(ground: &Ground<'_>, item: &Draft) -> Option<BuildDependency> {
    let span = item.span(ground.session);
    if let Some(value) = item.as_value()
        && let Some(name) = value.as_str()
    {
        return Some(BuildDependency { name: name.into(), copy: Vec::new(), span, listed: true });
    }
    let name = item_name(item)?;
    let text = |draft: &Draft, key: &str| draft.get(key)?.as_value().filter(|value| value.as_str().is_some()).cloned();
    let copies = item.get("copy").map(|draft| draft.items()).unwrap_or_default();
    let copy = copies.iter().filter_map(|copy| {
        let source = text(copy, "source")?;
        let target =
            text(copy, "target").filter(|target| target.as_str() != Some("")).unwrap_or_else(|| source.clone());
        Some((source, target))
    });
    Some(BuildDependency { name, copy: copy.collect(), span, listed: true })
}

/// The default files of a module, if its type has a rule for them.
fn implied_files(ground: &Ground<'_>, module: &Module) -> Option<Vec<String>> {
    match module.config.type_name.as_str() {
        "container" => container::dockerfile_includes(ground, module),
        "kubernetes" => Some(module.field("files").map(|files| texts(&files.written())).unwrap_or_default()),
        "helm" => Some(kubernetes::chart_files(ground, module)),
        _ => None,
    }
}

/// The module that a chart is based on: its files are copied.
fn base_dependency(ground: &Ground<'_>, base: &Draft) -> Option<BuildDependency> {
    let name = base.as_value()?.as_str()?;
    let copy = vec![(Value::str("*"), Value::str("."))];
    Some(BuildDependency { name: name.into(), copy, span: base.span(ground.session), listed: true })
}

/// The modules that the images of a chart's tasks and tests come from.
fn pod_sources(ground: &Ground<'_>, fields: &Draft) -> Vec<BuildDependency> {
    let items = ["tasks", "tests"].iter().filter_map(|key| fields.get(key)).flat_map(|list| list.items());
    let sources = items.filter_map(|item| item.get("resource")?.get("containerModule"));
    let dependency = |source: Draft| {
        let name = source.as_value()?.as_str()?.into();
        Some(BuildDependency { name, copy: Vec::new(), span: source.span(ground.session), listed: true })
    };
    sources.filter_map(dependency).collect()
}

/// The modules that the images of a module's services come from.
fn service_sources(type_name: &str, fields: &Draft) -> Vec<Draft> {
    if matches!(type_name, "helm" | "kubernetes") {
        return fields
            .get("serviceResource")
            .and_then(|resource| resource.get("containerModule"))
            .into_iter()
            .collect();
    }
    let services = fields.get("services").map(|list| list.items()).unwrap_or_default();
    services.iter().filter_map(|service| service.get("sourceModuleName")).collect()
}

/// Dependencies that count in a module's version: those listed and mentioned, but not the sources of its services.
fn counted_needs(pending: &Pending, dependencies: &[BuildDependency]) -> Vec<EcoString> {
    let from_services: Vec<&EcoString> = dependencies.iter().filter(|d| !d.listed).map(|d| &d.name).collect();
    // Those mentioned by templates as well count anyway.
    let mentions = |name: &EcoString| pending.needs.iter().filter(|(other, _)| other == name).count();
    let counts = |name: &&EcoString| !from_services.contains(name) || mentions(name) > 1;
    let needs = pending.needs.iter().map(|(name, _)| name).filter(counts);
    let mut counted: Vec<EcoString> = needs.cloned().collect();
    counted.sort();
    counted.dedup();
    counted
}

/// Whether a module's image is built: a Dockerfile is named, or is among its files.
fn has_dockerfile(ground: &Ground<'_>, files: &FileTree, module: &Module) -> bool {
    let is_named = |value: &Value| value.as_bool() != Some(false) && !value.is_null();
    let named = module.field("dockerfile").is_some_and(|draft| draft.as_value().is_none_or(is_named));
    if named || module.config.type_name != "container" {
        return true;
    }
    let implied = purlin_value::path::join(&module.config.folder, "Dockerfile");
    version::source(ground, files, module).files.contains(&implied)
}

/// The registry that images of modules are pushed to, if a provider names one.
fn deployment_registry(ground: &Ground<'_>, phases: &Phases) -> Option<Value> {
    let layer = phases.providers().get()?;
    let mut eval = purlin_value::Eval::new(ground.session);
    if ground.varying.has_providers() {
        eval.vary();
        ground.note(&eval);
    }
    let config = |name: &&str| layer.get("providers")?.get(name)?.get("config").cloned();
    let config = CLUSTER_PROVIDERS.iter().find_map(config)?;
    let registry = eval.force_deep(&config).get("deploymentRegistry").cloned();
    ground.note(&eval);
    registry.filter(|registry| registry.get("hostname").is_some())
}

/// A module's configuration with the folder of its repository, if it names one.
fn in_repository(ground: &Ground<'_>, config: &Config, fields: &Draft) -> (Config, Option<Checkout>) {
    let mut config = config.clone();
    let url = fields.get("repositoryUrl").and_then(|draft| draft.as_value().cloned());
    let checkout = match url.filter(|url| url.as_str().is_some()) {
        Some(url) => remote::fetch(ground, &url, Namer::Module(&config.name)),
        None => return (config.clone(), ground.source_of(&config.folder)),
    };
    if let Some(checkout) = &checkout {
        config.folder = checkout.folder.as_str().into();
    }
    (config, checkout)
}

fn resolve_one(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    pending: &Pending,
    modules: Value,
    done: &FastIndex<EcoString, Arc<Module>>,
    files: &FileTree,
) -> (Module, Value) {
    let config = &pending.config;
    let (env, vars) = module_env(ground, project, phases, config, modules.clone());
    let fields = config.body.settle(ground.session, &env);
    let listed = fields.get("build").and_then(|build| build.get("dependencies"));
    let items = listed.map(|list| list.items()).unwrap_or_default();
    let mut dependencies: Vec<BuildDependency> = items.iter().filter_map(|item| dependency(ground, item)).collect();
    let base = fields.get("base").filter(|_| config.type_name == "helm");
    dependencies.extend(base.and_then(|draft| base_dependency(ground, &draft)));
    if config.type_name == "helm" {
        dependencies.extend(pod_sources(ground, &fields));
    }
    for source in service_sources(&config.type_name, &fields) {
        let source = source.as_value().cloned();
        if let Some(name) = source.as_ref().and_then(Value::as_str) {
            let span = source.as_ref().and_then(|value| ground.span_of(value));
            // One that is listed too is included twice, as in Garden; one that is not does not count in versions.
            let listed = dependencies.iter().any(|known| known.name == name);
            dependencies.push(BuildDependency { name: name.into(), copy: Vec::new(), span, listed });
        }
    }
    let value_texts =
        |key: &str| fields.get(key).and_then(|draft| draft.as_value().cloned().or_else(|| Some(draft.written())));
    let include = value_texts("include").filter(|value| value.as_list().is_some()).map(|value| texts(&value));
    let exclude = value_texts("exclude").map(|value| texts(&value)).unwrap_or_default();
    let disabled = fields.get("disabled").and_then(|d| d.as_value().and_then(Value::as_bool)).unwrap_or(false);
    let (config, checkout) = in_repository(ground, config, &fields);
    let mut module = Module {
        config: config.clone(),
        checkout,
        disabled,
        needs: counted_needs(pending, &dependencies),
        dependencies,
        version: EcoString::new(),
        outputs: Value::map(Map::new()),
        files: (include, exclude),
        fields,
    };
    if let Some(rendered) = &config.rendered {
        // Inputs see the same scope as the module, except its own variables; values that only actions provide are
        // pending.
        let base = phases.module_base();
        let modules = Map::from_iter([("modules".into(), modules)]);
        let scope = project.vars.over(&base.push(MapLayer::new("modules", Value::map(modules))));
        let inputs = rendered.inputs_value(ground, &env_at(ground, scope, Stage::PreGraph));
        let forced = purlin_value::Eval::new(ground.session).force_deep(&inputs);
        rendered.check(ground, &forced);
    }
    if module.files.0.is_none() && module.files.1.is_empty() {
        module.files.0 = implied_files(ground, &module);
    }
    module.version = version::module_version(ground, files, &module, done);
    generate::generate_files(ground, &env, &module);
    let built = has_dockerfile(ground, files, &module);
    module.outputs =
        convert::module_outputs(&ground.session.origins, &module, built, || deployment_registry(ground, phases));
    let value = Value::map(Map::from_iter([
        ("name".into(), Value::str(config.name.clone())),
        ("path".into(), Value::str(ground.full_path(&config.folder))),
        ("buildPath".into(), Value::str(build_path(ground, &config.name))),
        ("outputs".into(), module.outputs.clone()),
        ("var".into(), vars.merged()),
        ("version".into(), Value::str(module.version.clone())),
    ]));
    (module, value)
}
