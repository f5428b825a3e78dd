//! Converts modules to actions: a Build for the module, a Deploy for each service, a Run for each task, a Test for each
//! test. What differs from type to type is a hook in [`TYPES`].

use super::container::{builds_something, container_actions};
use super::kubernetes::{helm_actions, kubernetes_actions};
use super::{COMMON_KEYS, Converted, Module, item_name, origin_in};
use crate::action::Origin as MadeFrom;
use crate::config::{ActionKind, ConfigKind};
use crate::draft::Draft;
use crate::ground::Ground;
use crate::outputs::{in_registry, mapped, untagged};
use crate::render::Config;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span, suggest};
use purlin_value::{FastIndex, FastSet, Map, Origin, Origins, Session, Value};
use std::sync::Arc;

/// Converts a module of a type to actions.
type Convert = fn(&Names<'_>, &Module) -> Vec<(ActionKind, Config)>;

/// The types with a conversion of their own; all others are converted like `exec`.
const TYPES: &[(&str, Convert)] = &[
    ("exec", plain_actions),
    ("test", plain_actions),
    ("container", container_actions),
    ("jib-container", container_actions),
    ("kubernetes", kubernetes_actions),
    ("terraform", stack_actions),
    ("pulumi", stack_actions),
    ("helm", helm_actions),
];

/// Which names are services, tasks and modules, for turning dependencies into references.
pub(super) struct Names<'g> {
    ground: &'g Ground<'g>,
    services: FastIndex<EcoString, Taken>,
    tasks: FastIndex<EcoString, Taken>,
    /// Modules by name, for base modules.
    pub modules: FastIndex<EcoString, Arc<Module>>,
    /// Modules that others copy files from.
    sources: FastSet<EcoString>,
    /// Deploy and Run actions that are written as such, by key.
    actions: FastSet<EcoString>,
}

/// The module that has a name.
struct Taken {
    module: EcoString,
    span: Option<Span>,
    disabled: bool,
}

/// The name of an action, with its location.
pub(super) struct Label {
    name: EcoString,
    span: Option<Span>,
    disabled: bool,
}

impl Label {
    /// The name of the module itself.
    pub(super) fn of_module(module: &Module) -> Self {
        Label { name: module.name().clone(), span: module.config.span, disabled: module.disabled }
    }
}

/// Converts all modules.
///
/// `written` are the keys of the Deploy and Run actions that services, tasks and tests may depend on.
pub fn convert(ground: &Ground<'_>, modules: &[Arc<Module>], written: FastSet<EcoString>) -> Vec<Converted> {
    let names = collect_names(ground, modules, written);
    let mut actions = Vec::new();
    for module in modules {
        let known = TYPES.iter().find(|(name, _)| *name == module.config.type_name);
        let hook = known.map_or(plain_actions as Convert, |(_, hook)| *hook);
        let origin = Arc::new(MadeFrom {
            module: module.name().clone(),
            variables: module.variables(),
            varfile: module.text("varfile"),
            version: module.version.clone(),
            files: Some(module.files.clone()),
        });
        for (kind, config) in hook(&names, module) {
            actions.push(Converted { kind, config, origin: origin.clone() });
        }
    }
    actions
}

/// Services and tasks share one space of names. Two services, or two tasks, of one name are two actions of one name,
/// which are reported as such.
fn collect_names<'g>(ground: &'g Ground<'g>, modules: &[Arc<Module>], actions: FastSet<EcoString>) -> Names<'g> {
    let mut names = Names {
        ground,
        services: FastIndex::default(),
        tasks: FastIndex::default(),
        modules: modules.iter().map(|module| (module.name().clone(), module.clone())).collect(),
        sources: modules.iter().flat_map(|module| copied(module).map(|d| d.name.clone())).collect(),
        actions,
    };
    for module in modules {
        if matches!(module.config.type_name.as_str(), "kubernetes" | "helm" | "terraform" | "pulumi") {
            names.take(module, ActionKind::Deploy, Label::of_module(module));
        }
        for (key, kind) in [("services", ActionKind::Deploy), ("tasks", ActionKind::Run)] {
            for item in module.items(key) {
                if let Some(label) = names.label(module, &item, kind) {
                    names.take(module, kind, label);
                }
            }
        }
    }
    names
}

impl Names<'_> {
    /// The session that the project is resolved in.
    pub fn session(&self) -> &Session {
        self.ground.session
    }

    /// The name of the action of a service, task or test; that of a test begins with its module.
    pub(super) fn label(&self, module: &Module, item: &Draft, kind: ActionKind) -> Option<Label> {
        let own = item_name(item)?;
        let name = if kind == ActionKind::Test { ecow::eco_format!("{}-{own}", module.name()) } else { own };
        let span = item.get("name").and_then(|draft| draft.span(self.ground.session));
        Some(Label { name, span: span.or(module.config.span), disabled: module.disabled || is_off(item) })
    }

    fn take(&mut self, module: &Module, kind: ActionKind, label: Label) {
        let (own, other, word, other_word) = match kind {
            ActionKind::Deploy => (&mut self.services, &self.tasks, "service", "task"),
            _ => (&mut self.tasks, &self.services, "task", "service"),
        };
        if let Some(first) = other.get(&label.name) {
            let message = format!(
                "the name `{}` is used for a {word} in module `{}` and for a {other_word} in module `{}`",
                label.name,
                module.name(),
                first.module
            );
            let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, message);
            if let Some(span) = first.span {
                diagnostic = diagnostic.label(span, "the first one");
            }
            self.ground.push(diagnostic.hint("give one of them another name"), label.span);
        }
        let taken = || Taken { module: module.name().clone(), span: label.span, disabled: label.disabled };
        own.entry(label.name).or_insert_with(taken);
    }

    fn report_unknown(&self, name: &str, item: &Draft) {
        let known = self.services.keys().chain(self.tasks.keys()).chain(self.actions.iter());
        let known = known.map(EcoString::as_str);
        let hint = suggest::did_you_mean(name, known);
        let message = what::unknown("service or task", name).and(" in `dependencies`");
        let diagnostic = Diagnostic::nowhere(&rules::MISSING_SERVICE, message).maybe_hint(hint);
        self.ground.push(diagnostic, item.span(self.ground.session));
    }

    /// A task or test that has no pod to run in makes no action, as in Garden, but not without a word.
    pub(super) fn report_no_resource(&self, module: &Module, item: &Draft) {
        let name = item_name(item).unwrap_or_default();
        let message =
            format!("`{name}` of module `{}` has no `resource` to run in, so it makes no action", module.name());
        let hint = "set `resource` here, or `serviceResource` on the module";
        let span = item.get("name").and_then(|draft| draft.span(self.ground.session)).or(module.config.span);
        self.ground.push(Diagnostic::nowhere(&rules::MISSING_SERVICE, message).warning().hint(hint), span);
    }

    /// The full path of a module's folder.
    pub(super) fn full_folder(&self, module: &Module) -> EcoString {
        self.ground.full_path(&module.config.folder)
    }

    /// Location of a dependency on another module.
    fn origin(&self, dependency: &super::BuildDependency) -> Origin {
        dependency.span.map_or(Origin::NONE, |span| self.ground.session.origins.file(span))
    }

    /// Dependencies of a service, task or test as references to actions. Disabled ones are left out: they do not run,
    /// so others do not wait for them.
    pub(super) fn references(&self, item: &Draft) -> Vec<Draft> {
        let items = item.get("dependencies").map(|draft| draft.items()).unwrap_or_default();
        let reference = |item: &Draft| {
            let value = item.as_value()?;
            let name = value.as_str()?;
            let taken = self.services.get(name).map(|taken| (ActionKind::Deploy, taken));
            let taken = taken.or_else(|| self.tasks.get(name).map(|taken| (ActionKind::Run, taken)));
            match (taken, self.action(name)) {
                (Some((_, taken)), _) if taken.disabled => None,
                (Some((kind, _)), _) => Some(reference_to(kind, name, value.origin)),
                (None, Some((kind, name))) => Some(reference_to(kind, name, value.origin)),
                (None, None) => {
                    self.report_unknown(name, item);
                    None
                }
            }
        };
        items.iter().filter_map(reference).collect()
    }

    /// The Deploy or Run action that a dependency names by its key.
    fn action<'n>(&self, key: &'n str) -> Option<(ActionKind, &'n str)> {
        let (kind, name) = key.split_once('.').filter(|_| self.actions.contains(key))?;
        Some((ActionKind::named(kind)?, name))
    }
}

/// A reference to an action that points to where its name is written.
fn reference_to(kind: ActionKind, name: &str, origin: Origin) -> Draft {
    let part = |text: &str| Value::str(text).with_origin(origin);
    let map = Map::from_iter([("kind".into(), part(kind.name())), ("name".into(), part(name))]);
    Draft::Value(Value::map(map).with_origin(origin))
}

/// Puts the configuration of an action together.
pub(super) fn action(
    module: &Module,
    type_name: &str,
    kind: ActionKind,
    label: Label,
    fields: Vec<(&str, Draft)>,
    spec: Vec<(&str, Draft)>,
) -> (ActionKind, Config) {
    let named = |entries: Vec<(&str, Draft)>| {
        entries.into_iter().map(|(key, draft)| (EcoString::from(key), draft)).collect::<Vec<_>>()
    };
    let mut body = named(fields);
    body.push(("variables".into(), module.variables().unwrap_or_else(Draft::empty_map)));
    body.push(("spec".into(), Draft::Map(named(spec))));
    if let Some(url) = module.field("repositoryUrl") {
        body.push(("source".into(), Draft::Map(named(vec![("repository", Draft::Map(named(vec![("url", url)])))]))));
    }
    let config = Config {
        kind: ConfigKind::Action(kind),
        type_name: type_name.into(),
        name: label.name,
        body: Draft::Map(body),
        file: module.config.file.clone(),
        folder: module.config.folder.clone(),
        span: label.span,
        named: module.config.named,
        rendered: module.config.rendered.clone(),
        varies: module.config.varies,
    };
    (kind, config)
}

fn value(value: impl Into<Value>) -> Draft {
    Draft::Value(value.into())
}

fn list_of(draft: Option<Draft>) -> Draft {
    draft.unwrap_or_else(|| Draft::List(Vec::new()))
}

/// The Build of a module.
pub(super) fn build_action(
    names: &Names<'_>,
    module: &Module,
    type_name: &str,
    spec: Vec<(&str, Draft)>,
) -> (ActionKind, Config) {
    // A module that does not exist was reported at its reference.
    let known = module.dependencies.iter().filter(|dependency| names.modules.contains_key(&dependency.name));
    let copies = known.flat_map(|dependency| {
        dependency.copy.iter().map(|(source, target)| {
            Draft::Map(vec![
                (
                    "build".into(),
                    Draft::Value(Value::str(dependency.name.clone()).with_origin(names.origin(dependency))),
                ),
                ("sourcePath".into(), Draft::Value(source.clone())),
                ("targetPath".into(), Draft::Value(target.clone())),
            ])
        })
    });
    let timeout = module.field("build").and_then(|build| build.get("timeout")).unwrap_or_else(|| value(600));
    let mut fields = vec![
        ("copyFrom", Draft::List(copies.collect())),
        ("disabled", value(module.disabled_value())),
        ("dependencies", Draft::List(build_references(names, module))),
        ("timeout", timeout),
        ("buildAtSource", module.field("local").unwrap_or_else(|| value(false))),
    ];
    fields.extend(module.field("allowPublish").map(|draft| ("allowPublish", draft)));
    action(module, type_name, ActionKind::Build, Label::of_module(module), fields, spec)
}

/// The Builds that a module's own Build needs.
///
/// A module that does not exist was reported; one without a build has no Build to depend on.
pub(super) fn build_references(names: &Names<'_>, module: &Module) -> Vec<Draft> {
    let reference = |dependency: &super::BuildDependency| {
        reference_to(ActionKind::Build, &dependency.name, names.origin(dependency))
    };
    let builds = |name: &EcoString| names.modules.get(name).is_some_and(|other| names.makes_build(other));
    module.dependencies.iter().filter(|dependency| builds(&dependency.name)).map(reference).collect()
}

/// The Build of another module, if it makes one.
pub(super) fn build_reference(names: &Names<'_>, name: &str) -> Option<Draft> {
    let other = names.modules.get(name).filter(|other| names.makes_build(other))?;
    Some(reference_to(ActionKind::Build, other.name(), other.origin_of("name")))
}

/// The modules that a module copies files from.
pub(super) fn copied(module: &Module) -> impl Iterator<Item = &super::BuildDependency> {
    module.dependencies.iter().filter(|dependency| !dependency.copy.is_empty())
}

impl Names<'_> {
    /// Whether a module produces a Build.
    pub(super) fn makes_build(&self, module: &Module) -> bool {
        match module.config.type_name.as_str() {
            "jib-container" => true,
            "container" => {
                module.field("image").is_none() || module.field("dockerfile").is_some() || builds_something(module)
            }
            // A chart is worked on in the folder of a Build, so there always is one.
            "helm" => true,
            "kubernetes" => copied(module).next().is_some() || self.sources.contains(module.name()),
            _ => true,
        }
    }
}

fn is_off(item: &Draft) -> bool {
    item.get("disabled").and_then(|draft| draft.as_value().and_then(Value::as_bool)).unwrap_or(false)
}

/// Relation of a service, task or test to its module's Build. The notation counts in versions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// Its module makes no Build.
    None,
    /// By `build` alone: dependencies of the Build are left to the Build.
    Key,
    /// By a dependency after those of the module and its own.
    Dependency,
    /// By both.
    KeyAndDependency,
}

/// Fields of every service, task and test: whether it is disabled, its dependencies, its timeout.
pub(super) fn runtime_fields(
    names: &Names<'_>,
    module: &Module,
    item: &Draft,
    tie: Tie,
    timeout: i64,
) -> Vec<(&'static str, Draft)> {
    let disabled = match !module.disabled && is_off(item) {
        true => Value::from(true).with_origin(origin_in(item, "disabled")),
        false => module.disabled_value(),
    };
    let mut fields = vec![("disabled", Draft::Value(disabled))];
    fields.extend(item.get("description").filter(|draft| !draft.is_null()).map(|draft| ("description", draft)));
    if matches!(tie, Tie::Key | Tie::KeyAndDependency) {
        fields.push(("build", Draft::Value(module.name_value())));
    }
    let mut dependencies = if tie == Tie::Key { Vec::new() } else { build_references(names, module) };
    dependencies.extend(names.references(item));
    if matches!(tie, Tie::Dependency | Tie::KeyAndDependency) {
        dependencies.push(reference_to(ActionKind::Build, module.name(), module.origin_of("name")));
    }
    fields.push(("dependencies", Draft::List(dependencies)));
    fields.push(("timeout", item.get("timeout").filter(|d| !d.is_null()).unwrap_or_else(|| value(timeout))));
    fields
}

/// The module's environment variables under the item's own.
pub(super) fn environment(module: &Module, item: &Draft) -> Draft {
    let own = item.get("env").filter(|draft| !draft.is_null()).map(|draft| draft.entries()).unwrap_or_default();
    let shared = module.field("env").map(|draft| draft.entries()).unwrap_or_default();
    let kept = shared.into_iter().filter(|(key, _)| !own.iter().any(|(other, _)| other == key));
    Draft::Map(kept.chain(own.iter().cloned()).collect())
}

/// `exec`, and every type that is not known better.
fn plain_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let type_name = module.config.type_name.as_str();
    let build = module.field("build").unwrap_or_else(Draft::empty_map);
    let mut spec = vec![
        ("shell", value(true)),
        ("command", list_of(build.get("command"))),
        ("statusCommand", list_of(build.get("statusCommand"))),
    ];
    if type_name == "exec" {
        spec.push(("env", module.field("env").unwrap_or_else(Draft::empty_map)));
    }
    let mut actions = vec![build_action(names, module, type_name, spec)];
    let patience = if type_name == "exec" { 600 } else { 300 };
    for service in module.items("services") {
        let Some(label) = names.label(module, &service, ActionKind::Deploy) else { continue };
        let fields = runtime_fields(names, module, &service, Tie::Key, patience);
        actions.push(action(module, type_name, ActionKind::Deploy, label, fields, service_spec(module, &service)));
    }
    for (key, kind) in [("tasks", ActionKind::Run), ("tests", ActionKind::Test)] {
        for item in module.items(key) {
            let Some(label) = names.label(module, &item, kind) else { continue };
            let mut spec = vec![("shell", value(true)), ("command", list_of(item.get("command")))];
            spec.extend(item.get("statusCommand").map(|draft| ("statusCommand", draft)));
            spec.push(("artifacts", list_of(item.get("artifacts"))));
            spec.push(("env", environment(module, &item)));
            actions.push(action(
                module,
                type_name,
                kind,
                label,
                runtime_fields(names, module, &item, Tie::Key, 600),
                spec,
            ));
        }
    }
    actions
}

/// A stack: one Deploy of the module's type with everything that is not the module's own.
fn stack_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let type_name = module.config.type_name.as_str();
    let mut actions = Vec::new();
    let has_build = copied(module).next().is_some();
    if has_build {
        actions.push(build_action(names, module, "exec", Vec::new()));
    }
    let entries = module.fields.entries().into_iter();
    // Keys common to all modules stay with the module, except variables, which stacks have too.
    let stays = |key: &str| key == "dependencies" || (key != "variables" && COMMON_KEYS.contains(&key));
    let spec = entries.filter(|(key, draft)| !stays(key.as_str()) && !draft.is_null());
    let spec = spec.filter(|(key, _)| type_name == "terraform" || key != "variables").collect();
    let tie = if has_build { Tie::KeyAndDependency } else { Tie::None };
    let fields = runtime_fields(names, module, &module.fields, tie, 600);
    let (kind, mut config) =
        action(module, type_name, ActionKind::Deploy, Label::of_module(module), fields, Vec::new());
    if let Draft::Map(body) = &mut config.body {
        body.retain(|(key, _)| key != "spec");
        body.push(("spec".into(), Draft::Map(spec)));
    }
    actions.push((kind, config));
    actions
}

/// A condition that conversions write for services with a sync mode.
const IN_SYNC_MODE: &str = "${this.mode == 'sync'}";

fn service_spec(module: &Module, service: &Draft) -> Vec<(&'static str, Draft)> {
    let given = |key: &str| service.get(key).filter(|draft| !draft.is_null());
    let sync = given("syncMode").or_else(|| given("devMode"));
    let mut spec = vec![("shell", value(true))];
    match &sync {
        Some(sync) => {
            let choice = |then: Option<Draft>, otherwise: Option<Draft>| {
                then.map(|then| Draft::Choice(IN_SYNC_MODE.into(), Box::new(then), otherwise.map(Box::new)))
            };
            let deploy = choice(sync.get("command"), given("deployCommand")).or_else(|| given("deployCommand"));
            let status = choice(sync.get("statusCommand"), given("statusCommand")).or_else(|| given("statusCommand"));
            spec.push(("persistent", Draft::Template(IN_SYNC_MODE.into())));
            spec.extend(deploy.map(|draft| ("deployCommand", draft)));
            spec.extend(status.map(|draft| ("statusCommand", draft)));
            spec.push(("statusTimeout", sync.get("timeout").unwrap_or_else(|| value(10))));
        }
        None => {
            spec.push(("persistent", value(false)));
            spec.extend(given("deployCommand").map(|draft| ("deployCommand", draft)));
            spec.extend(given("statusCommand").map(|draft| ("statusCommand", draft)));
            spec.push(("statusTimeout", value(10)));
        }
    }
    spec.extend(given("cleanupCommand").map(|draft| ("cleanupCommand", draft)));
    spec.push(("env", environment(module, service)));
    spec
}

/// The contents of `modules.NAME.outputs`; `built` is whether a container module builds its image.
pub fn module_outputs(
    origins: &Origins,
    module: &Module,
    built: bool,
    registry: impl FnOnce() -> Option<Value>,
) -> Value {
    let mut map = Map::new();
    if module.config.type_name == "helm" {
        map.insert("release-name".into(), own_or_name(module, "releaseName"));
    }
    if matches!(module.config.type_name.as_str(), "container" | "jib-container") {
        let image = own_or_name(module, "image");
        let local = mapped(origins, &image, |name| untagged(name).into());
        let deployed = match registry() {
            // Its name is made of all parts of the registry.
            Some(registry) => {
                mapped(origins, &local, |name| in_registry(&registry, name)).tainted_if(registry.is_tainted_deep())
            }
            None => local.clone(),
        };
        let tagged = |name: &Value| mapped(origins, name, |name| ecow::eco_format!("{name}:{}", module.version));
        // An image that is not built is used as it is named.
        let id = |name: &Value| if built { tagged(name) } else { image.clone() };
        map.insert("local-image-id".into(), id(&local));
        map.insert("deployment-image-id".into(), id(&deployed));
        map.insert("local-image-name".into(), local);
        map.insert("deployment-image-name".into(), deployed);
        map.insert("deployment-image-tag".into(), Value::str(module.version.clone()));
    }
    Value::map(map)
}

/// A name given in a module, or else its own name.
fn own_or_name(module: &Module, key: &str) -> Value {
    let field = module.field(key);
    let given = field.as_ref().and_then(|draft| draft.as_value()).filter(|value| value.as_str().is_some());
    given.map_or_else(
        || module.name_value(),
        |value| {
            let text = Value::str(value.as_str().unwrap_or_default()).with_origin(value.origin);
            text.tainted_by(value.taint())
        },
    )
}
