//! From a request to a resolved project: find the dialect, let it resolve.

use crate::dialects::DIALECTS;
use crate::inner::ENGINES;
use crate::rules;
use crate::survey::find;
use purlin_model::{Answer, Detection, Dialect, Question, Request, Resolved};
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use purlin_value::path;
use purlin_value::world::FileKind;

/// A project and the dialect that resolved it.
pub struct Compiled {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// What it made of the project.
    pub resolved: Resolved,
}

/// What the path of a request means.
pub fn detect(session: &Session, request: &Request) -> Detection {
    match purlin_model::detect::detect(session, request, DIALECTS) {
        Detection::Nothing => purlin_model::detect::detect(session, request, &[&purlin_kustomize::DIALECT]),
        found => found,
    }
}

/// Resolves a project. Problems are in the session's sink; `None` if there is nothing to show.
pub fn compile(session: &Session, request: &Request) -> Option<Compiled> {
    let (dialect, request) = detect_or_report(session, request)?;
    let request = Request { engines: ENGINES, ..request };
    let resolved = (dialect.resolve)(session, &request)?;
    Some(Compiled { dialect, resolved })
}

/// Evaluates an expression of the project's own dialect.
pub fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let (dialect, request) = detect_or_report(session, request)?;
    let request = Request { engines: ENGINES, ..request };
    (dialect.eval)(session, &request, question)
}

/// The dialect, and the request with what detection found.
fn detect_or_report(session: &Session, request: &Request) -> Option<(&'static Dialect, Request)> {
    match detect(session, request) {
        Detection::Project(file, dialect) => Some((dialect, Request { found: Some(file), ..request.clone() })),
        other => {
            session.sink.push(nothing_found(session, request, &other));
            None
        }
    }
}

/// Says that a path is no project, and what could be meant.
pub(crate) fn nothing_found(session: &Session, request: &Request, detection: &Detection) -> Diagnostic {
    let named = request.file.as_deref().unwrap_or(&request.path);
    let is_folder = session.world.stat(named).is_ok_and(|stat| stat.kind == FileKind::Folder);
    let (message, hint) = match detection {
        Detection::Several(files) => {
            let message = format!("{} contains {} projects", place(session, named), files.len());
            (message, format!("name one of them: {}", listed(session, files)))
        }
        Detection::Stray(dialect) => {
            let message = format!(
                "`{}` belongs to a {} project, and there is none at or above it",
                here(session, named),
                dialect.noun
            );
            (message, "name the project's folder".to_owned())
        }
        _ if !is_folder => {
            let message = format!("`{}` is not a configuration file that Purlin knows", here(session, named));
            (message, KNOWN.to_owned())
        }
        _ => {
            let in_order = [DIALECTS, &[&purlin_kustomize::DIALECT]].into_iter();
            let found = in_order.map(|dialects| find(session, named, dialects).claims);
            let found = found.into_iter().find(|claims| !claims.is_empty()).unwrap_or_default();
            let below: Vec<String> = found.into_iter().map(|claim| claim.shown_path()).collect();
            let hint = match below.len() {
                0 => KNOWN.to_owned(),
                1 => format!("there is a project below it: {}", listed(session, &below)),
                count => format!("there are {count} projects below it; name one: {}", listed(session, &below)),
            };
            (format!("there is no configuration in {} that Purlin knows", place(session, named)), hint)
        }
    };
    Diagnostic::nowhere(&rules::NOTHING_FOUND, message).hint(hint)
}

/// What is looked for, in one line.
const KNOWN: &str = "it looks for `garden.yml`, `skaffold.yaml`, `Chart.yaml`, `ensemble.yaml`, TOSCA service templates, CSARs and kustomizations";

/// How many paths a hint lists.
const MOST_LISTED: usize = 3;

fn listed(session: &Session, paths: &[String]) -> String {
    let mut shown: Vec<String> =
        paths.iter().take(MOST_LISTED).map(|path| format!("`{}`", here(session, path))).collect();
    if paths.len() > MOST_LISTED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn place(session: &Session, folder: &str) -> String {
    match here(session, folder).as_str() {
        "." => "this folder".to_owned(),
        path => format!("`{path}`"),
    }
}

/// A path as seen from where the user stands.
pub(crate) fn here(session: &Session, full: &str) -> String {
    let (here, full) = (session.world.here(), path::normalize(full));
    let shown = session.sources.shown(&full);
    if shown != full || here == "." {
        return shown;
    }
    match full.strip_prefix(here) {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => full,
    }
}
