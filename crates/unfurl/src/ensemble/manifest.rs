//! The manifest of an ensemble and the project around it: which files there are, what they say.

use super::directives::{self, Directives};
use super::read::Reader;
use crate::eval::Settings;
use crate::rules;
use crate::val::{MapKey, Val, ValMap};
use crate::vault::Secret;
use ecow::EcoString;
use purlin_model::project::Request;
use purlin_syntax::{Diagnostic, Flavor, Span, Tree};
use purlin_value::world::FileKind;
use purlin_value::{Session, path};
use std::sync::Arc;

/// Names an ensemble's file may have, looked for in this order.
const ENSEMBLE_FILES: &[&str] = &["ensemble.yaml", "ensemble.yml", "ensemble/ensemble.yaml", "manifest.yaml"];
/// The project's file.
const PROJECT_FILE: &str = "unfurl.yaml";

/// What was read of an ensemble, before anything is made of it.
pub struct Manifest {
    /// The ensemble's file.
    pub path: String,
    /// Its folder.
    pub folder: String,
    /// The whole manifest, directives carried out, vault data opened.
    pub document: Val,
    /// The service template as TOSCA text: path and text.
    pub service: Option<(String, Arc<str>)>,
    /// The service template as merge directives put it together; none if there are none.
    pub merged_service: Option<Val>,
    /// Whether a part of the service template could not be read, so that what it declares is not known.
    pub unread: bool,
    /// Where the service template is written.
    pub service_span: Option<Span>,
    /// The environment that applies: the project's and the ensemble's own.
    pub environment: Val,
    /// Name of the environment that was asked for.
    pub environment_name: EcoString,
    /// The trees that were read.
    pub trees: Vec<Arc<Tree>>,
    /// What evaluation needs of all this.
    pub settings: Settings,
}

/// The ensemble's file a path means, if there is one.
pub fn find(session: &Session, target: &str) -> Option<String> {
    let stat = session.world.stat(target).ok()?;
    if stat.kind == FileKind::File {
        return is_ensemble(session, target).then(|| target.to_owned());
    }
    if let Some(file) = project_default(session, target) {
        return Some(file);
    }
    let candidates = ENSEMBLE_FILES.iter().map(|name| path::join(target, name));
    candidates.into_iter().find(|file| is_ensemble(session, file))
}

/// Whether a file says that it is an ensemble; it is not parsed for that.
fn is_ensemble(session: &Session, file: &str) -> bool {
    let Ok(bytes) = session.world.read(file) else {
        return false;
    };
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or(&[]);
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.iter().any(|line| line.starts_with("apiVersion:") && line.contains("unfurl"))
        && lines.iter().any(|line| line.starts_with("kind:") && line.contains("Ensemble"))
}

/// The ensemble a project names as its default, or its only one.
fn project_default(session: &Session, folder: &str) -> Option<String> {
    let tree = session.read_yaml(&path::join(folder, PROJECT_FILE), Flavor::Core).ok()?;
    let ensembles: Vec<_> = tree.root()?.get("ensembles")?.items().collect();
    let default = ensembles.iter().find(|entry| entry.get("default").is_some_and(|flag| flag.text() == "true"));
    let file = default.or(ensembles.first())?.get("file")?.text();
    let file = path::join(folder, file);
    session.world.exists(&file).then_some(file)
}

/// The nearest project at or above a folder.
fn project_of(session: &Session, folder: &str) -> Option<String> {
    let mut folder = folder.to_owned();
    loop {
        let file = path::join(&folder, PROJECT_FILE);
        if session.world.exists(&file) {
            return Some(file);
        }
        if folder == "." || folder.is_empty() || folder == "/" {
            return None;
        }
        folder = path::parent(&folder).to_owned();
    }
}

/// Reads an ensemble and the project around it. Problems go to the session's sink.
pub fn read(session: &Session, file: &str, request: &Request) -> Option<Manifest> {
    let tree = match session.read_yaml(file, Flavor::Core) {
        Ok(tree) => tree,
        Err(diagnostic) => {
            session.sink.push(diagnostic);
            return None;
        }
    };
    let folder = path::parent(file).to_owned();
    let mut trees = vec![tree.clone()];
    let project = project_of(session, &folder);
    let project_value = project.as_ref().and_then(|file| {
        let tree = session.read_yaml(file, Flavor::Core).ok()?;
        trees.push(tree.clone());
        let value = Reader { secrets: None, problems: Vec::new() }.read(tree.root()?);
        Some((value, tree))
    });
    let root = tree.root()?;
    let plain = Reader { secrets: None, problems: Vec::new() }.read(root);
    let environment_name: EcoString = request.environment.as_deref().unwrap_or("defaults").into();
    let found = passwords(session, project_value.as_ref().map(|(value, _)| value), &plain, &environment_name);
    let mut reader = Reader { secrets: Some(&found), problems: Vec::new() };
    let opened = reader.read(root);
    let project_value = project_value.and_then(|(_, tree)| Some(reader.read(tree.root()?)));
    for (span, problem) in reader.problems {
        session.sink.push(Diagnostic::at(&rules::VAULT, span, problem.message()));
    }
    let (document, directives) = expand(session, &folder, &opened, &opened);
    report(session, &directives);
    let environment = environment(project_value.as_ref(), &document, &environment_name);
    let ServiceText { text: service, span: service_span, merged: merged_service } =
        service_text(session, file, &folder, &tree, &plain);
    let settings = settings(session, &folder, project.as_deref(), &environment, found);
    Some(Manifest {
        path: file.to_owned(),
        folder,
        document,
        service,
        merged_service,
        unread: directives.iter().any(|(problem, _)| matches!(problem, directives::Problem::Python(_))),
        service_span,
        environment,
        environment_name,
        trees,
        settings,
    })
}

/// What went wrong with directives, and where.
type Problems = Vec<(directives::Problem, purlin_value::Origin)>;

/// A part of a document with its directives carried out, if there were any; what they name is looked for in the whole
/// document.
fn expand(session: &Session, folder: &str, document: &Val, part: &Val) -> (Val, Problems) {
    let (expanded, problems, _) = expand_part(session, folder, document, part);
    (expanded, problems)
}

fn expand_part(session: &Session, folder: &str, document: &Val, part: &Val) -> (Val, Problems, bool) {
    let load = |name: &str| -> Option<Val> {
        let (file, pointer) = name.split_once('#').unwrap_or((name, ""));
        let tree = session.read_yaml(&path::join(folder, file), Flavor::Core).ok()?;
        let value = Reader { secrets: None, problems: Vec::new() }.read(tree.root()?);
        directives::follow(&value, pointer).cloned()
    };
    let mut directives = Directives::new(document, &load);
    let expanded = directives.expand(part);
    (expanded, std::mem::take(&mut directives.problems), directives.used)
}

fn report(session: &Session, problems: &Problems) {
    for (problem, origin) in problems {
        let message = match problem {
            directives::Problem::NoFile(name) => format!("`+include` names `{name}`, which does not exist"),
            directives::Problem::Python(name) => {
                format!("`{name}` is written in Python, which is not run to see what it declares")
            }
            directives::Problem::NoTarget(name) => format!("there is nothing to merge under `{name}`"),
            directives::Problem::TooDeep => "merge directives lead into each other".to_owned(),
        };
        let mut diagnostic = Diagnostic::nowhere(&rules::DIRECTIVE, message);
        diagnostic.span = session.origins.span(*origin, &session.sources);
        if matches!(problem, directives::Problem::Python(_)) {
            diagnostic = diagnostic.hint("write it as YAML (`unfurl export` does) and include that");
        }
        session.sink.push(diagnostic);
    }
}

/// The service template as TOSCA reads it.
#[derive(Default)]
struct ServiceText {
    text: Option<(String, Arc<str>)>,
    span: Option<Span>,
    merged: Option<Val>,
}

/// The service template as a TOSCA file of its own. Without directives it keeps its places in the ensemble's file:
/// everything around it becomes blanks.
fn service_text(session: &Session, file: &str, folder: &str, tree: &Tree, plain: &Val) -> ServiceText {
    let Some(node) = tree.root().and_then(|root| root.get("spec")).and_then(|spec| spec.get("service_template")) else {
        return ServiceText::default();
    };
    let span = node.span();
    let found = ServiceText { span: Some(span), ..ServiceText::default() };
    let Some(raw) = plain.get("spec").and_then(|spec| spec.get("service_template")) else {
        return found;
    };
    let (value, _, used) = expand_part(session, folder, plain, raw);
    if !used {
        let text = blanked(tree.source().text(), span).into();
        return ServiceText { text: Some((file.to_owned(), text)), ..found };
    }
    let nobody = crate::tree::Tree::new(crate::tree::Node::new("", crate::tree::NodeKind::Root));
    let shown = crate::convert::to_value(&value, &nobody);
    match purlin_value::emit::to_yaml(&shown, purlin_value::Secrets::Reveal) {
        Ok(text) => ServiceText { text: Some((file.to_owned(), text.into())), merged: Some(value), ..found },
        Err(_) => found,
    }
}

/// A text with everything but a span turned into blanks; line breaks stay.
fn blanked(text: &str, span: Span) -> String {
    let (start, mut end) = (span.start as usize, span.end as usize);
    // A key at the very end that has nothing written under it keeps its colon.
    let rest = text.get(end..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    if rest.get(blanks..).is_some_and(|rest| rest.starts_with(':')) {
        end += blanks + 1;
    }
    // The first line of a block is indented like the others only if what stands before it is kept as blanks.
    let blank = |part: &str| -> String {
        part.chars().flat_map(|c| if c == '\n' { vec!['\n'] } else { vec![' '; c.len_utf8()] }).collect()
    };
    let before = text.get(..start).unwrap_or("");
    let inside = text.get(start..end).unwrap_or("");
    let after = text.get(end..).unwrap_or("");
    format!("{}{inside}{}", blank(before), blank(after))
}

/// The environment: the project's defaults, the named one over them, the ensemble's own over both.
fn environment(project: Option<&Val>, document: &Val, name: &str) -> Val {
    let mut out = ValMap::default();
    let environments = project.and_then(|project| project.get("environments"));
    let layers = [
        environments.and_then(|all| all.get("defaults")),
        environments.and_then(|all| all.get(name)).filter(|_| name != "defaults"),
        document.get("environment"),
    ];
    for layer in layers.into_iter().flatten() {
        for (key, value) in layer.as_map().into_iter().flatten() {
            let merged = match (out.get(key).and_then(Val::as_map), value.as_map()) {
                (Some(below), Some(above)) => {
                    let mut merged = below.clone();
                    merged.extend(above.iter().map(|(key, value)| (key.clone(), value.clone())));
                    value.clone().with(Val::map(merged).data)
                }
                _ => value.clone(),
            };
            out.insert(key.clone(), merged);
        }
    }
    Val::map(out)
}

/// Passwords of vaults: from the environment's variables, from files they name, from the project's secrets.
fn passwords(session: &Session, project: Option<&Val>, document: &Val, name: &str) -> Vec<Secret> {
    let mut out: Vec<Secret> = Vec::new();
    for (variable, value) in session.world.env_all() {
        let Some(rest) = variable.strip_prefix("UNFURL_VAULT_") else { continue };
        if let Some(id) = rest.strip_suffix("_PASSWORD") {
            out.push(Secret::new(id.to_ascii_lowercase(), &value));
        } else if let Some(id) = rest.strip_suffix("_PASSWORD_FILE")
            && let Ok(bytes) = session.world.read(&value)
        {
            out.push(Secret::new(id.to_ascii_lowercase(), String::from_utf8_lossy(&bytes).trim_end()));
        }
    }
    let environment = environment(project, document, name);
    let secrets = environment.get("secrets").and_then(|secrets| secrets.get("vault_secrets"));
    for (id, password) in secrets.and_then(Val::as_map).into_iter().flatten() {
        if let (Some(id), Some(password)) = (id.as_str(), password.as_str())
            && !out.iter().any(|known| known.id == id)
        {
            out.push(Secret::new(id, password));
        }
    }
    // The unnamed vault encrypts before named ones.
    out.sort_by_key(|secret| secret.id != "default");
    out
}

fn settings(session: &Session, folder: &str, project: Option<&str>, environment: &Val, vault: Vec<Secret>) -> Settings {
    let section = |name: &str| environment.get(name).and_then(Val::as_map).cloned();
    let absolute = |folder: &str| -> EcoString { path::join(session.world.root(), folder).into() };
    let project_dir = project.map_or(folder, path::parent);
    let mut repositories: Vec<(EcoString, EcoString)> = vec![("self".into(), absolute(folder))];
    for (name, repository) in section("repositories").into_iter().flatten() {
        let url = repository.get("url").and_then(Val::as_str).unwrap_or("");
        if let (Some(name), Some(local)) = (name.as_str(), url.strip_prefix("file:")) {
            repositories.push((name.into(), absolute(&path::join(project_dir, local))));
        }
    }
    repositories.push(("unfurl".into(), absolute(".purlin/unfurl")));
    let variables = section("variables").into_iter().flatten();
    Settings {
        project_dir: absolute(project_dir),
        home_dir: session.world.env("UNFURL_HOME").unwrap_or_default().into(),
        repositories,
        locals: project.map(|_| section("locals").unwrap_or_default()),
        secrets: project.map(|_| {
            let mut secrets = section("secrets").unwrap_or_default();
            secrets.shift_remove(&MapKey::from("vault_secrets"));
            secrets
        }),
        externals: Default::default(),
        variables: variables.filter_map(|(name, value)| Some((name.as_str()?.into(), value))).collect(),
        vault,
        metadata: Vec::new(),
    }
}
