//! The manifest of an ensemble and the project around it: the files and their contents.

use crate::ensemble::blueprints;
use crate::ensemble::directives::{self, Directives, Loaded};
use crate::ensemble::files::Files;
use crate::ensemble::library;
use crate::ensemble::merge::Merger;
use crate::ensemble::merged_tree;
use crate::ensemble::project::{self, PROJECT_FILE, Projects};
use crate::ensemble::python_template;
use crate::ensemble::read::Reader;
use crate::ensemble::repositories::{Place, Repositories};
use crate::ensemble::shape;
use crate::eval::Settings;
use crate::rules;
use crate::val::{MapKey, Val, ValMap};
use crate::vault::Secret;
use ecow::EcoString;
use purlin_model::Glance;
use purlin_model::project::Request;
use purlin_syntax::suggest::is_slip;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Head, Node, Span, Tree};
use purlin_tosca::load::Given;
use purlin_value::world::FileKind;
use purlin_value::{Origin, Session, path};
use std::sync::Arc;

/// Names an ensemble's file may have, looked for in this order.
pub(crate) const ENSEMBLE_FILES: &[&str] =
    &["ensemble.yaml", "ensemble.yml", "ensemble/ensemble.yaml", "manifest.yaml"];

/// The sources of an ensemble, before they are interpreted.
pub struct Manifest {
    /// The ensemble's file.
    pub path: String,
    /// Its folder.
    pub folder: String,
    /// The whole manifest, with directives applied and vault data opened.
    pub document: Val,
    /// Whether it is a service template without an ensemble, and so without inputs.
    pub alone: bool,
    /// Whether a job creates its instances.
    pub deploys: bool,
    /// The service template as TOSCA reads it.
    pub service: Option<Given>,
    /// The service template after merge directives; none if it has none.
    pub merged_service: Option<Val>,
    /// Whether a part of the service template could not be read, so that its declarations are not known.
    pub unread: bool,
    /// The location of the service template.
    pub service_span: Option<Span>,
    /// The environment that applies: the project's and the ensemble's own.
    pub environment: Val,
    /// Name of the requested environment.
    pub environment_name: EcoString,
    /// The trees that were read.
    pub trees: Vec<Arc<Tree>>,
    /// The settings of evaluation.
    pub settings: Settings,
}

/// The ensemble's file for a path, if there is one.
pub fn find(session: &Session, target: &str) -> Option<String> {
    let stat = session.world.stat(target).ok()?;
    let says_so = |file: &str| {
        let file = Glance::named(session, file);
        is_ensemble(file.head()) || is_template(&file)
    };
    if stat.kind == FileKind::File {
        if path::file_name(target) == PROJECT_FILE {
            return project_default(session, target);
        }
        return says_so(target).then(|| target.to_owned());
    }
    let own = path::join(target, "ensemble.yaml");
    if says_so(&own) {
        return Some(own);
    }
    let files = [PROJECT_FILE, ".unfurl/unfurl.yaml"].map(|name| path::join(target, name));
    if let Some(file) = files.iter().find(|file| session.world.exists(file))
        && let Some(ensemble) = project_default(session, file)
    {
        return Some(ensemble);
    }
    let candidates = ENSEMBLE_FILES.iter().map(|name| path::join(target, name));
    candidates.into_iter().find(|file| says_so(file))
}

/// Whether a file is an ensemble by its keys.
pub(crate) fn is_ensemble(head: &Head) -> bool {
    head.get("apiVersion").is_some_and(|version| version.contains("unfurl"))
        // A misspelt one is reported when the file is read.
        && head.get("kind").is_some_and(|kind| {
            kind.contains("Ensemble") || kind.contains("Manifest") || is_slip(kind, "Ensemble")
        })
}

/// The file that ensembles of a project include, and that a project without an ensemble has.
const TEMPLATE_FILE: &str = "ensemble-template.yaml";

/// Whether a file is the template of a project's ensembles: part of an ensemble, and checked by itself like one.
pub(crate) fn is_template(file: &Glance<'_>) -> bool {
    if file.name() != TEMPLATE_FILE {
        return false;
    }
    let head = file.head();
    let is_ours = head.get("apiVersion").is_some_and(|version| version.contains("unfurl"));
    is_ours && head.get("kind").is_none() && head.get("spec").is_some()
}

/// The default ensemble of a project: its only one, its declared default, or one at a usual place. Without an
/// ensemble, its template is used.
fn project_default(session: &Session, file: &str) -> Option<String> {
    let project = project::read(&Files::quiet(session), file, None)?;
    let ensembles = project.config.get("ensembles").and_then(Val::as_list).unwrap_or(&[]);
    let is_default = |entry: &&Val| entry.get("default").is_some_and(crate::python::truthy);
    let meant = match ensembles {
        [only] => Some(only),
        several => several.iter().find(is_default),
    };
    let named = meant.and_then(|entry| entry.get("file")).and_then(Val::as_str);
    let usual = ["ensemble/ensemble.yaml", "ensemble.yaml", TEMPLATE_FILE];
    let candidates = named.into_iter().chain(usual.into_iter().filter(|_| named.is_none()));
    let mut candidates = candidates.map(|name| path::join(&project.folder, name));
    candidates.find(|file| session.world.exists(file))
}

/// Reads an ensemble and the project around it. Problems go to the session's sink.
pub fn read(session: &Session, file: &str, request: &Request) -> Option<Manifest> {
    let files = Files::new(session);
    let folder = path::parent(file).to_owned();
    let tree = files.tree(file)?;
    let root = tree.root()?;
    let own = root.merged_entry("environment");
    let own = own.map(|own| Reader::new(None).read(own.value)).unwrap_or_default();
    let projects = Projects::around(&files, &folder, None);
    let environment_name = environment_name(session, &projects, file, request)?;
    let found = passwords(session, &project::environment(&projects.environments(), &own, &environment_name));
    let projects = Projects::around(&files, &folder, Some(&found));
    let environments = projects.environments();
    let mut repositories = Repositories::new(session, &folder, projects.folder());
    repositories.declare(&project::relabelled(
        &environments,
        &project::environment(&environments, &Val::null(), &environment_name),
        "repositories",
    ));
    let opened = Expanded::read(&files, root, Some(&found), &mut repositories);
    project::report(session, &opened.problems);
    project::report_vault(session, opened.vault);
    let alone = is_alone(root);
    let placed = |document: Val| if alone { in_spec(document) } else { with_service_template(document) };
    let document = placed(opened.document);
    projects.list.iter().for_each(|project| shape::project(session, &project.config));
    if !alone {
        shape::ensemble(session, &document, is_template(&Glance::named(session, file)));
    }
    repositories.declare_manifest(&document);
    let own = document.get("environment").cloned().unwrap_or_default();
    let environment = project::environment(&environments, &own, &environment_name);
    // The environment does not apply to a file of types, which may be one of its imports.
    let surroundings = if alone {
        ValMap::default()
    } else {
        let is_asked = request.environment.as_deref().is_some_and(|name| !name.is_empty());
        let is_named = is_asked || projects.default_environment(file).is_some();
        let is_defaults = is_named && environment_name == "defaults";
        let place = blueprints::Place { environments: &environments, environment: &environment, is_defaults };
        surroundings(&environments, &environment, blueprints::templates(session, &document, &place))
    };
    // Paths of a template merged over an included one are relative to that one.
    let start = opened.bottom.and_then(|bottom| files.folder_of(bottom)).filter(|start| !alone && *start != folder);
    let start = start.map_or_else(|| file.to_owned(), |start| path::join(&start, path::file_name(file)));
    let service = service_tree(session, &start, &tree, &document, surroundings, || {
        placed(Expanded::read(&files, root, None, &mut repositories).document)
    });
    for import in imported_repositories(&document) {
        repositories.get(&import);
    }
    let settings = settings(session, &folder, &projects, &repositories, &environment, found);
    Some(Manifest {
        path: file.to_owned(),
        folder,
        document,
        alone,
        deploys: false,
        service: service.given,
        merged_service: service.merged,
        unread: opened.problems.iter().any(|(problem, _)| matches!(problem, directives::Problem::Python(..))),
        service_span: service.span,
        environment,
        environment_name,
        trees: files.trees(),
        settings,
    })
}

/// Whether a file is a service template rather than an ensemble that has one.
fn is_alone(root: Node<'_>) -> bool {
    root.get("tosca_definitions_version").is_some() && root.get("spec").is_none()
}

/// The service template in a file: the whole of it, or a part of an ensemble.
pub(crate) fn template_node(root: Node<'_>) -> Option<Node<'_>> {
    if is_alone(root) { Some(root) } else { root.get("spec").and_then(template_in) }
}

/// An older name of `service_template`.
const OLDER_NAME: &str = "tosca";

/// The part of a file that is its service template.
fn template_in(spec: Node<'_>) -> Option<Node<'_>> {
    spec.get("service_template").or_else(|| spec.get(OLDER_NAME))
}

/// An ensemble with the current key of its service template.
fn with_service_template(document: Val) -> Val {
    let spec = document.get("spec").and_then(Val::as_map);
    let Some(spec) = spec.filter(|spec| !spec.contains_key(&MapKey::from("service_template"))) else {
        return document;
    };
    let Some(template) = spec.get(&MapKey::from(OLDER_NAME)) else { return document };
    let mut renamed = spec.clone();
    renamed.insert(MapKey::from("service_template"), template.clone());
    renamed.shift_remove(&MapKey::from(OLDER_NAME));
    let mut entries = document.as_map().cloned().unwrap_or_default();
    if let Some(spec) = entries.get_mut(&MapKey::from("spec")) {
        *spec = spec.clone().with(Val::map(renamed).data);
    }
    document.with(Val::map(entries).data)
}

/// A service template as part of an ensemble.
fn in_spec(template: Val) -> Val {
    let origin = template.origin;
    let spec = Val::record([("service_template", template)]).from_origin(origin);
    Val::record([("spec", spec)]).from_origin(origin)
}

/// The requested environment, or the default of the project; none if it does not exist.
fn environment_name(session: &Session, projects: &Projects, file: &str, request: &Request) -> Option<EcoString> {
    let environments = projects.environments();
    let Some(asked) = request.environment.as_deref().filter(|name| !name.is_empty()) else {
        let said = projects.default_environment(file);
        if let Some(said) = &said {
            let name = said.as_str().unwrap_or_default();
            if name != "defaults" && environments.get(&MapKey::from(name)).is_none() {
                let message = format!("the environment `{name}` is not declared under `environments`");
                let mut diagnostic = Diagnostic::nowhere(&rules::ENVIRONMENT, message);
                diagnostic.span = session.origins.span(said.origin, &session.sources);
                session.sink.push(diagnostic);
            }
        }
        return Some(said.as_ref().and_then(Val::as_str).unwrap_or("defaults").into());
    };
    if asked != "defaults" && environments.get(&MapKey::from(asked)).is_none() {
        let names = environments.keys().filter_map(MapKey::as_str);
        let hint = purlin_syntax::suggest::did_you_mean(asked, names);
        let message = what::unknown("environment", asked).words(format!("no environment is named `{asked}`"));
        session.sink.push(Diagnostic::nowhere(&rules::MANIFEST, message).maybe_hint(hint));
        return None;
    }
    Some(asked.into())
}

/// Names of the repositories that a service template imports from.
fn imported_repositories(document: &Val) -> Vec<EcoString> {
    let template = document.get("spec").and_then(|spec| spec.get("service_template"));
    let imports = template.and_then(|template| template.get("imports")).and_then(Val::as_list).unwrap_or(&[]);
    let names = imports.iter().filter_map(|import| import.get("repository").and_then(Val::as_str));
    names.map(EcoString::from).collect()
}

/// A manifest with its directives applied.
struct Expanded {
    document: Val,
    problems: project::Problems,
    vault: Vec<(Span, crate::vault::Problem)>,
    /// The location of the lowest layer of the service template.
    bottom: Option<Origin>,
}

impl Expanded {
    /// Reads a document with its includes, with vault data opened if there are passwords.
    fn read(
        files: &Files<'_>,
        root: Node<'_>,
        secrets: Option<&[Secret]>,
        repositories: &mut Repositories<'_>,
    ) -> Expanded {
        let mut reader = Reader::new(secrets);
        let written = reader.read(root);
        let anchors = std::mem::take(&mut reader.anchors);
        let mut load = |argument: &Val, document: &Val| {
            repositories.declare_manifest(document);
            include(files, &mut reader, repositories, argument)
        };
        let mut directives = Directives::new(&written, anchors, &mut load);
        let document = directives.expand();
        let problems = std::mem::take(&mut directives.problems);
        let template = document.get("spec").and_then(|spec| spec.get("service_template"));
        let bottom = template.map(|template| directives.bottom(template));
        Expanded { document, problems, vault: reader.problems, bottom }
    }
}

/// The value of an `+include`.
fn include(files: &Files<'_>, reader: &mut Reader<'_>, repositories: &mut Repositories<'_>, argument: &Val) -> Loaded {
    let Some(name) = argument.as_str().or_else(|| argument.get("file").and_then(Val::as_str)) else {
        return Loaded::Missing(Some("it has no `file`".to_owned()));
    };
    let (name, pointer) = name.split_once('#').unwrap_or((name, ""));
    let folder = match argument.get("repository") {
        None => files.folder_of(argument.origin).unwrap_or_default(),
        Some(repository) => {
            let inline = repository.get("name").and_then(Val::as_str).unwrap_or_else(|| path::file_name(name));
            if let Some(url) = repository.get("url") {
                let entry = (MapKey::from(inline), Val::record([("url", url.clone())]));
                repositories.declare(&[entry].into_iter().collect());
            }
            let repository = repository.as_str().unwrap_or(inline);
            if let Some(text) = library::text(name).filter(|_| repository == "unfurl") {
                return found(reader, &files.text(&format!("purlin:/unfurl/{name}"), text), pointer);
            }
            match repositories.get(repository) {
                Some(Place::Folder(folder)) => folder,
                Some(Place::Elsewhere(why)) => return Loaded::Missing(Some(why)),
                Some(Place::Remote(..)) | None => return Loaded::NoRepository(repository.to_owned()),
            }
        }
    };
    let file = path::join(&folder, name);
    if !files.session.world.exists(&file) {
        return Loaded::Missing(None);
    }
    if name.ends_with(".py") {
        return match python_template::read(files.session, &file) {
            Ok(text) => found(reader, &files.text(&format!("{file}.yaml"), &text), pointer),
            Err(why) => Loaded::Python(why),
        };
    }
    match files.tree(&file) {
        Some(tree) => found(reader, &tree, pointer),
        None => Loaded::Skipped,
    }
}

/// A file that was read, or the part of it that a pointer names.
fn found(reader: &mut Reader<'_>, tree: &Tree, pointer: &str) -> Loaded {
    let value = tree.root().map(|root| reader.read(root)).unwrap_or_default();
    let parts = pointer.split('/').filter(|part| !part.is_empty());
    match directives::follow(&value, parts) {
        Some(part) => Loaded::Found(part.clone(), std::mem::take(&mut reader.anchors)),
        None => Loaded::Missing(Some(format!("it has nothing under `{pointer}`"))),
    }
}

/// The service template as TOSCA reads it.
#[derive(Default)]
struct ServiceTree {
    given: Option<Given>,
    span: Option<Span>,
    merged: Option<Val>,
}

/// The service template as a TOSCA file of its own. Without directives it is a part of the ensemble's tree. Additions
/// of the environment override the template.
fn service_tree(
    session: &Session,
    file: &str,
    tree: &Arc<Tree>,
    document: &Val,
    surroundings: ValMap,
    written: impl FnOnce() -> Val,
) -> ServiceTree {
    // A `spec` without a service template is an ensemble without nodes.
    let empty = || Val::map(ValMap::default());
    let part = |value: &Val| {
        let spec = value.get("spec")?;
        spec.get("service_template").cloned().or_else(|| spec.as_map().map(|_| empty()))
    };
    let is_misspelt = tree.root().and_then(|root| root.get("spec")?.is_map().then(|| root.get("spec"))?);
    let is_misspelt = is_misspelt.is_some_and(|spec| {
        template_in(spec).is_none() && crate::ensemble::misspelt(spec, "service_template").is_some()
    });
    if is_misspelt || part(document).is_none() {
        return ServiceTree::default();
    }
    let node = match tree.root() {
        Some(root) if is_alone(root) => Some(root),
        root => root.and_then(|root| root.get("spec")).and_then(template_in),
    };
    let span = node.map(|node| node.span()).or_else(|| tree.root().map(|root| root.span()));
    let found = ServiceTree { span, ..ServiceTree::default() };
    let given = |tree: Arc<Tree>, root: u32| Some(Given { path: file.to_owned(), tree, root });
    let inline = inline_templates(document);
    let own = node.filter(|node| surroundings.is_empty() && inline.is_empty() && !directives::touch(tree, *node));
    if let Some(own) = own {
        return ServiceTree { given: given(tree.clone(), own.target().index()), ..found };
    }
    // TOSCA reads vault data in its encrypted form.
    let Some(mut value) = part(&written()) else {
        return found;
    };
    if !surroundings.is_empty() {
        let mut merger = Merger { replaced: &["relationship_templates", "node_templates"], ..Merger::default() };
        let merged = merger.merge(value.as_map().unwrap_or(&ValMap::default()), &surroundings);
        value = value.with(Val::map(merged).data);
    }
    if !inline.is_empty() {
        let templates = Val::record([("node_templates", Val::map(inline))]);
        let more = [(MapKey::from("topology_template"), templates)].into_iter().collect();
        let merged = Merger::default().merge(value.as_map().unwrap_or(&ValMap::default()), &more);
        value = value.with(Val::map(merged).data);
    }
    match merged_tree::tree(session, file, &value) {
        Some(tree) => ServiceTree { given: given(tree, 0), merged: Some(value), ..found },
        None => {
            let mut diagnostic = Diagnostic::nowhere(&rules::LIMIT, "the merged service template is too large");
            diagnostic.span = span;
            session.sink.push(diagnostic);
            found
        }
    }
}

/// The node that represents a service template: `substitution_mappings.node`, or `root.node`.
pub(crate) fn standing_node(document: &Val) -> Option<&str> {
    let topology = ["spec", "service_template", "topology_template"];
    let topology = topology.iter().try_fold(document, |value, key| value.get(key))?;
    topology.get("substitution_mappings").or_else(|| topology.get("root"))?.get("node")?.as_str()
}

/// Keys of an instance that belong to its template.
const OF_TEMPLATES: &[&str] =
    &["type", "properties", "attributes", "requirements", "capabilities", "interfaces", "artifacts"];

/// Templates in instances of `spec`: node templates with the instances' names. An instance with a type is its own
/// template, unless there is one of its name.
fn inline_templates(document: &Val) -> ValMap {
    let spec = document.get("spec");
    let section = |name: &str| spec.and_then(|spec| spec.get(name));
    let topology = section("service_template").and_then(|service| service.get("topology_template"));
    let known = topology.and_then(|topology| topology.get("node_templates")).and_then(Val::as_map);
    let mut out = ValMap::default();
    for (name, instance) in section("instances").and_then(Val::as_map).into_iter().flatten() {
        let template = match instance.get("template") {
            Some(template) => template.get("type").is_some().then(|| template.clone()),
            None if known.is_some_and(|known| known.contains_key(name)) => None,
            None => instance.get("type").is_some().then(|| own_template(instance)),
        };
        if let (Some(template), true) = (template, name.as_str().is_some()) {
            out.insert(name.clone(), template);
        }
    }
    out
}

/// The data of an instance in the form of a node template.
fn own_template(instance: &Val) -> Val {
    let said = OF_TEMPLATES.iter().filter_map(|key| Some((*key, instance.get(key)?.clone())));
    let mut template = Val::record(said);
    template.origin = instance.origin;
    template
}

/// The additions of an environment to a service template: its connections as templates of relationships, the node
/// templates of its deployment blueprint, and its imports. An import with a prefix is only added for connections with
/// types of that prefix. Paths are relative to the ensemble.
fn surroundings(environments: &ValMap, environment: &Val, templates: ValMap) -> ValMap {
    let connections = project::relabelled(environments, environment, "connections");
    let types: Vec<&str> =
        connections.values().filter_map(|connection| connection.get("type").and_then(Val::as_str)).collect();
    let is_used = |import: &&Val| match import.get("namespace_prefix").and_then(Val::as_str) {
        Some(prefix) => types.iter().any(|name| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))),
        None => true,
    };
    let imports = environment.get("imports").and_then(Val::as_list).unwrap_or(&[]);
    let imports: Vec<Val> = imports.iter().filter(is_used).cloned().collect();
    let mut out = ValMap::default();
    if !imports.is_empty() {
        out.insert(MapKey::from("imports"), Val::list(imports));
    }
    let sections = [("relationship_templates", connected(&connections)), ("node_templates", templates)];
    let sections: Vec<_> = sections.into_iter().filter(|(_, templates)| !templates.is_empty()).collect();
    if !sections.is_empty() {
        let sections = sections.into_iter().map(|(name, templates)| (name, Val::map(templates)));
        out.insert(MapKey::from("topology_template"), Val::record(sections));
    }
    out
}

/// By default, connections serve every requirement.
fn connected(connections: &ValMap) -> ValMap {
    let serving = |connection: &Val| {
        let mut entries = connection.as_map().cloned().unwrap_or_default();
        entries.entry(MapKey::from("default_for")).or_insert_with(|| Val::str("ANY"));
        connection.clone().with(Val::map(entries).data)
    };
    connections.iter().map(|(name, connection)| (name.clone(), serving(connection))).collect()
}

/// Passwords of vaults: from the environment's variables, from files they name, from the project's secrets.
fn passwords(session: &Session, environment: &Val) -> Vec<Secret> {
    let mut out: Vec<Secret> = Vec::new();
    for (variable, value) in session.world.env_table() {
        let Some(rest) = variable.strip_prefix("UNFURL_VAULT_") else { continue };
        session.world.env(&variable);
        if let Some(id) = rest.strip_suffix("_PASSWORD") {
            out.push(Secret::shared(session, id.to_ascii_lowercase(), &value));
        } else if let Some(id) = rest.strip_suffix("_PASSWORD_FILE")
            && let Ok(bytes) = session.load_bytes(&value)
        {
            out.push(Secret::shared(session, id.to_ascii_lowercase(), String::from_utf8_lossy(&bytes).trim_end()));
        }
    }
    let secrets = environment.get("secrets").and_then(|secrets| secrets.get("vault_secrets"));
    for (id, password) in secrets.and_then(Val::as_map).into_iter().flatten() {
        if let (Some(id), Some(password)) = (id.as_str(), password.as_str())
            && !out.iter().any(|known| known.id == id)
        {
            out.push(Secret::shared(session, id, password));
        }
    }
    // The unnamed vault encrypts before named ones.
    out.sort_by_key(|secret| secret.id != "default");
    out
}

fn settings(
    session: &Session,
    folder: &str,
    projects: &Projects,
    repositories: &Repositories<'_>,
    environment: &Val,
    vault: Vec<Secret>,
) -> Settings {
    let section = |name: &str| environment.get(name).and_then(Val::as_map).cloned();
    let absolute = |folder: &str| -> EcoString { path::join(session.world.root(), folder).into() };
    let mut known: Vec<(EcoString, EcoString)> =
        repositories.folders().map(|(name, folder)| (name.clone(), absolute(folder))).collect();
    known.push(("unfurl".into(), absolute(".purlin/unfurl")));
    let mut secrets = section("secrets").unwrap_or_default();
    secrets.shift_remove(&MapKey::from("vault_secrets"));
    Settings {
        project_dir: absolute(projects.folder().unwrap_or(folder)),
        home_dir: session.world.env("UNFURL_HOME").unwrap_or_default().into(),
        repositories: known,
        addresses: repositories.addresses().map(|(name, url)| (name.clone(), url.clone())).collect(),
        locals: Some(section("locals").unwrap_or_default()),
        secrets: Some(secrets),
        externals: Default::default(),
        variables: section("variables")
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.as_str()?.into(), value)))
            .collect(),
        vault,
        metadata: Vec::new(),
    }
}
