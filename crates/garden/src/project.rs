//! The first phases: finding the project, its own fields, the environment, and the variables of both.

use crate::base::base_scope;
use crate::bind::{Binder, Env};
use crate::check::check_config;
use crate::config::{ConfigKind, Document, read_file};
use crate::dialect::DIALECT;
use crate::draft::Draft;
use crate::files::is_config_file;
use crate::ground::{Ground, fill};
use crate::imports::import_layer;
use crate::near_variables;
use crate::place::NodeRef;
use crate::rules;
use crate::vars::{Presence, VarFile, VarScope, VarSource, flag_map, known_names, read_varfile};
use ecow::EcoString;
use purlin_model::Request;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Node, suggest};
use purlin_value::{Data, Eval, FastMap, FastSet, Map, MapLayer, Origin, Scope, Session, Value, path};
use std::sync::Arc;

/// The folder of the project that a request means: the nearest at or above its path.
pub fn find_root(session: &Session, request: &Request) -> Option<String> {
    DIALECT.file_of(session, request).map(|file| path::parent(&file).to_owned())
}

fn config_files(session: &Session, folder: &str) -> Vec<String> {
    let entries = session.world.list(folder).unwrap_or_default();
    entries.iter().filter(|entry| is_config_file(&entry.name)).map(|entry| path::join(folder, &entry.name)).collect()
}

/// A project with its environment, as far as it is known before anything is scanned.
pub struct Project {
    /// Its name.
    pub name: EcoString,
    /// Its document.
    pub document: Document,
    /// The documents of all configuration files beside it, by file.
    pub nearby: Vec<(String, Vec<Document>)>,
    /// The environment's name.
    pub environment: EcoString,
    /// All environments.
    pub environments: Vec<EcoString>,
    /// The namespace.
    pub namespace: EcoString,
    /// Whether the environment is marked as production.
    pub production: bool,
    /// Base keys and secrets, without variables: the scope before the environment exists.
    pub early: Scope,
    /// Everything but variables: base keys, secrets, `environment`.
    pub scope: Scope,
    /// The variables of project and environment.
    pub vars: VarScope,
}

impl Project {
    /// The scope of everything that is read after the environment.
    pub fn full_scope(&self) -> Scope {
        self.vars.over(&self.scope)
    }

    /// The value of one of the project's fields in a scope, forced throughout; null if missing.
    pub fn field(&self, ground: &Ground<'_>, key: &str, scope: &Scope) -> Value {
        match self.document.field(key) {
            Some(node) => force(ground, &ground.env(scope.clone()), &node),
            None => Value::null(),
        }
    }
}

/// Binds a node and forces it throughout.
pub fn force(ground: &Ground<'_>, env: &Arc<Env>, node: &NodeRef) -> Value {
    let bound = Binder::new(env).bind(node);
    let mut eval = Eval::new(ground.session);
    let value = eval.force_deep(&bound);
    ground.note(&eval);
    value
}

/// Reads the project in the ground's folder.
pub fn read_project(ground: &Ground<'_>) -> Option<Project> {
    let mut nearby = Vec::new();
    let mut trees = Vec::new();
    for file in config_files(ground.session, &ground.root) {
        let documents = read_file(ground.session, &ground.templates, &file, &mut trees);
        nearby.push((file, documents));
    }
    ground.keep_trees(trees);
    let projects: Vec<&Document> =
        nearby.iter().flat_map(|(_, docs)| docs).filter(|doc| doc.kind == ConfigKind::Project).collect();
    let document = match projects.as_slice() {
        [] => return None,
        [one] => (*one).clone(),
        [first, others @ ..] => {
            report_several(ground, first, others);
            return None;
        }
    };
    if !check_document(ground, &document) {
        return None;
    }
    let name = EcoString::from(document.plain("name").unwrap_or_default());
    let base = base_scope(ground, &document);
    let environments = environment_nodes(&document);
    let names: Vec<EcoString> = environments.iter().map(|(name, _)| name.clone()).collect();
    report_environments(ground, &document, &environments);
    let (environment, namespace_flag) = select_environment(ground, &document, &base, &names)?;
    let project_scope = base.push_shared(import_layer(ground, &document, &base));
    let flags = has_flags(ground.request).then(|| ground.cell());
    let vars = project_variables(ground, &document, &project_scope, VarScope::default());
    // Variables set on the command line are not visible to the project's own variables, as in Garden.
    let vars = vars.flagged(flags.clone());
    let node = environments.iter().find(|(name, _)| *name == environment).map(|(_, node)| node.clone());
    let env_scope = vars.over(&project_scope);
    let namespace = namespace(ground, node.as_ref(), &env_scope, namespace_flag, &environment);
    let environment_layer = Map::from_iter([(
        "environment".into(),
        Value::map(Map::from_iter([
            ("name".into(), environment_name(ground, &document, node.as_ref(), &environment)),
            ("fullName".into(), Value::str(ecow::eco_format!("{namespace}.{environment}"))),
            ("namespace".into(), Value::str(namespace.clone())),
        ])),
    )]);
    let scope = project_scope.push(MapLayer::new("environment", Value::map(environment_layer)));
    let vars = environment_variables(ground, node.as_ref(), &env_scope, &scope, vars, &environment);
    if let Some(flags) = flags {
        fill(&flags, flag_map(ground, &known_names(&vars)));
    }
    let early = project_scope;
    let written = node.as_ref().and_then(|node| Some(node.other(node.get()?.get("production")?)));
    let is_true = |node: NodeRef| force(ground, &ground.env(vars.over(&scope)), &node).as_bool() == Some(true);
    let production = written.is_some_and(is_true);
    Some(Project {
        name,
        document,
        nearby,
        environment,
        environments: names,
        namespace,
        production,
        early,
        scope,
        vars,
    })
}

fn has_flags(request: &Request) -> bool {
    !request.vars.is_empty()
}

fn report_several(ground: &Ground<'_>, first: &Document, others: &[&Document]) {
    let mut files: Vec<&str> = vec![&first.file];
    for document in others {
        if !files.contains(&document.file.as_str()) {
            files.push(&document.file);
        }
    }
    let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    let message = match files.as_slice() {
        [file] => format!("there is more than one project in {file}"),
        files => format!("there is more than one project in one folder: {}", files.join(" and ")),
    };
    let mut diagnostic = Diagnostic::nowhere(&rules::PROJECT, message).hint("keep one of them");
    if let Some(span) = first.span() {
        diagnostic = diagnostic.label(span, "the first one");
    }
    ground.push(diagnostic, others.first().and_then(|doc| doc.span()));
}

/// The version of the format that is read.
const CURRENT: &str = "garden.io/v2";
/// Versions of the format that differ so much that a project in one of them is not read any further, as with Garden:
/// all other problems would follow from that. With the version of Garden that reads them.
const OLDER: [(&str, &str); 2] = [("garden.io/v0", "0.12"), ("garden.io/v1", "0.13")];

/// Checks a document against its row: unknown and missing keys, wrong shapes. False if it is of an older version.
fn check_document(ground: &Ground<'_>, document: &Document) -> bool {
    let Some(field) = document.field("apiVersion") else {
        let message = "this project has no `apiVersion`, so Garden takes it for a project of Garden 0.12";
        let hint = format!("add `apiVersion: {CURRENT}`; docs/tour/garden.md lists what else changed since");
        ground.push(Diagnostic::nowhere(&rules::PROJECT, message).hint(hint), document.span());
        return false;
    };
    let version = field.get().map(|node| node.text().to_owned()).unwrap_or_default();
    if let Some((_, garden)) = OLDER.iter().find(|(older, _)| *older == version) {
        let message = format!("`{version}` is the format of Garden {garden}, and only `{CURRENT}` is read");
        let hint = format!("write `apiVersion: {CURRENT}`; docs/tour/garden.md lists what else changed since");
        ground.push(Diagnostic::nowhere(&rules::PROJECT, message).hint(hint), field.span());
        return false;
    }
    check_config(&ground.session.sink, &document.node, ConfigKind::Project);
    if version != CURRENT {
        let message = what::unknown("`apiVersion`", version);
        let hint = format!("write `apiVersion: {CURRENT}`");
        ground.push(Diagnostic::nowhere(&rules::PROJECT, message).hint(hint), field.span());
    }
    true
}

/// The environments by name, as they are written.
fn environment_nodes(document: &Document) -> Vec<(EcoString, NodeRef)> {
    let Some(list) = document.field("environments") else { return Vec::new() };
    let Some(view) = list.get() else { return Vec::new() };
    let named = |item: purlin_syntax::Node<'_>| Some((EcoString::from(item.get("name")?.text()), list.other(item)));
    view.items().filter_map(named).collect()
}

/// The names of all environments that a project declares. Reports nothing.
pub fn environment_names(session: &Session, request: &Request) -> Vec<EcoString> {
    let named = |root: Node<'_>| {
        let mut known: FastSet<EcoString> = FastSet::default();
        let list = root.get("environments").into_iter().flat_map(|list| list.items());
        let names = list.filter_map(|item| item.get("name")).map(|name| EcoString::from(name.text()));
        names.filter(|name| !name.is_empty() && known.insert(name.clone())).collect()
    };
    with_project(session, request, named).unwrap_or_default()
}

/// The default environment that a project names, whether or not it declares it. Reports nothing. A template gives
/// `None`: its result is not known here.
pub(crate) fn default_environment(session: &Session, request: &Request) -> Option<EcoString> {
    let named = |root: Node<'_>| Some(EcoString::from(root.get("defaultEnvironment")?.text()));
    with_project(session, request, named).flatten().filter(|name| !name.is_empty() && !name.contains("${"))
}

/// Calls a function with the document of the project.
fn with_project<T>(session: &Session, request: &Request, look: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let file = DIALECT.file_of(session, request)?;
    let text = session.load_text(&file, &file).ok()?;
    let tree = session.load_tree(&text.source, Flavor::Core);
    let is_project = |root: &Node<'_>| root.get("kind").is_some_and(|kind| kind.text() == "Project");
    tree.roots().find(is_project).map(look)
}

/// Problems with the list of environments, whichever of them is resolved.
struct Listed(Vec<Diagnostic>);

fn report_environments(ground: &Ground<'_>, document: &Document, environments: &[(EcoString, NodeRef)]) {
    let find = || {
        let mut problems = listing_problems(document, environments);
        problems.extend(near_variables::problems(document, environments));
        Listed(problems)
    };
    let found = ground.session.in_common(&document.file, find);
    ground.session.sink.extend(found.0.iter().cloned());
}

/// Problems of a list of environments that is empty, or names one twice.
fn listing_problems(document: &Document, environments: &[(EcoString, NodeRef)]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let is_empty = |list: NodeRef| list.get().is_some_and(|node| node.is_list() && node.items().next().is_none());
    if document.field("environments").is_some_and(is_empty) {
        let place = document.node.get().and_then(|node| node.entry("environments")).map(|entry| entry.key.span());
        let mut diagnostic = Diagnostic::nowhere(&rules::ENVIRONMENT, "a project needs at least one environment");
        diagnostic.span = place;
        problems.push(diagnostic.hint("for example `environments: [{name: dev}]`"));
    }
    let place = |node: &NodeRef| node.get().and_then(|node| node.get("name")).map(|name| name.span());
    let mut known: FastMap<&EcoString, &NodeRef> = FastMap::default();
    for (name, node) in environments {
        let first = *known.entry(name).or_insert(node);
        if std::ptr::eq(first, node) {
            continue;
        }
        let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, what::duplicate("environment", name));
        diagnostic.span = place(node);
        if let Some(span) = place(first) {
            diagnostic = diagnostic.label(span, "the first one");
        }
        // Garden takes the first one.
        problems.push(diagnostic.warning().hint("remove one of them; the first one is used"));
    }
    problems
}

/// Reports a namespace that is invalid in a cluster. Returns whether it is valid.
fn is_sound_namespace(ground: &Ground<'_>, namespace: &str, wanted: &str) -> bool {
    let is_sound = crate::entities::words::is_name(namespace);
    if !is_sound {
        let message = format!("invalid namespace `{namespace}` in the environment `{wanted}`");
        let hint = "use lower-case letters, digits and single dashes, and begin with a letter";
        ground.push(Diagnostic::nowhere(&rules::ENVIRONMENT, message).hint(hint), None);
    }
    is_sound
}

/// The default environment must exist, also where another one is used. Returns it if it does not.
fn report_default(ground: &Ground<'_>, default: &NodeRef, base: &Scope, names: &[EcoString]) -> Option<EcoString> {
    let Data::Str(text) = force(ground, &ground.env(base.clone()), default).data else { return None };
    let name = text.rsplit_once('.').map_or(text.as_str(), |(_, name)| name);
    if names.is_empty() || names.iter().any(|known| known == name) {
        return None;
    }
    let message = format!("the default environment `{text}` does not exist");
    let hint = suggest::did_you_mean(name, names.iter().map(EcoString::as_str));
    ground.push(Diagnostic::nowhere(&rules::ENVIRONMENT, message).maybe_hint(hint), default.span());
    Some(text)
}

/// The environment to use, and the namespace if the user named one.
fn select_environment(
    ground: &Ground<'_>,
    document: &Document,
    base: &Scope,
    names: &[EcoString],
) -> Option<(EcoString, Option<EcoString>)> {
    let default = document.field("defaultEnvironment").filter(|node| node.get().is_some_and(|n| !n.text().is_empty()));
    let reported = match (&ground.request.environment, &default) {
        (Some(_), Some(default)) => report_default(ground, default, base, names),
        _ => None,
    };
    let listed = || document.node.get()?.entry("environments").map(|entry| entry.key.span());
    let place = match (&ground.request.environment, &default) {
        (None, Some(node)) => node.span(),
        _ => listed().or_else(|| document.span()),
    };
    let wanted = match (&ground.request.environment, default) {
        (Some(flag), _) => EcoString::from(flag.as_str()),
        (None, Some(node)) => match force(ground, &ground.env(base.clone()), &node).data {
            Data::Str(text) => text,
            _ => return None,
        },
        (None, None) => names.first().cloned()?,
    };
    let (namespace, name) = match wanted.rsplit_once('.') {
        Some((namespace, name)) => (Some(EcoString::from(namespace)), EcoString::from(name)),
        None => (ground.request.namespace.as_deref().map(EcoString::from), wanted.clone()),
    };
    if names.contains(&name) {
        let is_sound = namespace.as_ref().is_none_or(|namespace| is_sound_namespace(ground, namespace, &wanted));
        return is_sound.then_some((name, namespace));
    }
    // If none could be read, that was reported.
    if names.is_empty() || reported.as_ref() == Some(&wanted) {
        return None;
    }
    let lacking = what::lacking("this project", "environment", &name);
    let message = match ground.request.environment {
        None => lacking.words(format!("the default environment `{wanted}` does not exist")),
        Some(_) => lacking,
    };
    let all = || {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        Some(format!("it has {}", names.join(", ")).into())
    };
    let hint = suggest::did_you_mean(&name, names.iter().map(EcoString::as_str)).or_else(all);
    ground.push(Diagnostic::nowhere(&rules::ENVIRONMENT, message).maybe_hint(hint), place);
    None
}

/// Reports environments, listed by name in a provider or an action, that the project does not have.
pub(crate) fn report_unknown_names(ground: &Ground<'_>, project: &Project, list: Node<'_>) {
    if project.environments.is_empty() {
        return;
    }
    for item in list.items().filter(|item| !crate::entities::is_expression(*item)) {
        let Some(name) = item.as_str().filter(|name| !project.environments.iter().any(|known| known == name)) else {
            continue;
        };
        let message = what::lacking("this project", "environment", name).and(", so nothing is used there");
        let known = project.environments.iter().map(EcoString::as_str);
        let hint = suggest::did_you_mean(name, known.clone()).unwrap_or_else(|| {
            format!("it has {}", known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")).into()
        });
        ground.session.sink.push(Diagnostic::at(&rules::ENVIRONMENT, item.span(), message).warning().hint(hint));
    }
}

/// The environment's name: written in the environment, chosen by the request.
fn environment_name(ground: &Ground<'_>, document: &Document, node: Option<&NodeRef>, name: &EcoString) -> Value {
    let origins = &ground.session.origins;
    let written = node.and_then(|node| node.get()?.get("name")).map_or(Origin::NONE, Origin::node);
    let asked = match ground.request.environment {
        Some(_) => origins.flag("--env"),
        None => {
            document.field("defaultEnvironment").and_then(|node| node.get().map(Origin::node)).unwrap_or(Origin::NONE)
        }
    };
    let origin = origins.selected(written, "the environment was chosen", None, [asked]);
    Value::str(name.clone()).with_origin(origin)
}

fn project_variables(ground: &Ground<'_>, document: &Document, scope: &Scope, vars: VarScope) -> VarScope {
    let mut vars = vars;
    if let Some(node) = document.field("variables").filter(|node| node.get().is_some_and(|n| !n.is_null())) {
        vars = vars.with(ground, scope, &VarSource::Draft(Draft::Node(node)), false);
    }
    match own_varfile(ground, document.field("varfile"), scope, "garden.env") {
        Some(source) => vars.with(ground, scope, &source, false),
        None => vars,
    }
}

/// The varfile that a project or environment names, or the default one.
fn own_varfile(ground: &Ground<'_>, field: Option<NodeRef>, scope: &Scope, usual: &str) -> Option<VarSource> {
    let Some(node) = field else {
        let file = VarFile { name: usual, presence: Presence::Optional, place: None, secret: false };
        return read_varfile(ground, &ground.root, &file);
    };
    let value = force(ground, &ground.env(scope.clone()), &node);
    let name = value.as_str()?;
    let file = VarFile { name, presence: Presence::Required, place: node.span(), secret: value.is_tainted_deep() };
    read_varfile(ground, &ground.root, &file)
}

fn environment_variables(
    ground: &Ground<'_>,
    node: Option<&NodeRef>,
    fields_scope: &Scope,
    scope: &Scope,
    vars: VarScope,
    environment: &str,
) -> VarScope {
    let mut vars = vars.beside();
    let field = |key: &str| {
        let node = node?;
        let value = node.get()?.get(key).filter(|value| !value.is_null())?;
        Some(node.other(value))
    };
    if let Some(variables) = field("variables") {
        vars = vars.with(ground, scope, &VarSource::Draft(Draft::Node(variables)), false);
    }
    let usual = format!("garden.{environment}.env");
    let own = own_varfile(ground, field("varfile"), fields_scope, &usual);
    let flagged = ground.request.var_files.iter().filter_map(|name| {
        let file = VarFile { name, presence: Presence::Required, place: None, secret: false };
        read_varfile(ground, ".", &file)
    });
    let sources: Vec<VarSource> = own.into_iter().chain(flagged).collect();
    sources.iter().fold(vars, |vars, source| vars.with(ground, scope, source, false))
}

fn namespace(
    ground: &Ground<'_>,
    node: Option<&NodeRef>,
    scope: &Scope,
    flag: Option<EcoString>,
    environment: &str,
) -> EcoString {
    if let Some(namespace) = flag {
        return namespace;
    }
    let written = node.and_then(|node| Some(node.other(node.get()?.get("defaultNamespace")?)));
    let Some(written) = written else { return "default".into() };
    match force(ground, &ground.env(scope.clone()), &written).data {
        Data::Str(text) => text,
        Data::Null => {
            let message = format!("environment `{environment}` has no default namespace, and none was named");
            let hint = format!("set `defaultNamespace`, or name one: `--env some-namespace.{environment}`");
            ground.push(Diagnostic::nowhere(&rules::ENVIRONMENT, message).hint(hint), written.span());
            EcoString::new()
        }
        _ => EcoString::new(),
    }
}
