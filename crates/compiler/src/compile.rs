//! From a request to a resolved project: find the dialect, let it resolve.

use crate::dialects::DIALECTS;
use crate::inner::ENGINES;
use crate::judged::judged_at;
use crate::rules;
use crate::survey::{Claim, find};
use purlin_model::{Answer, Detection, Dialect, Question, Request, Resolved, Usual};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::Session;
use purlin_value::path;
use purlin_value::world::FileKind;

/// A project and the dialect that resolved it.
pub struct Compiled {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The resolved project.
    pub resolved: Resolved,
}

/// Detects the project of a request's path.
pub fn detect(session: &Session, request: &Request) -> Detection {
    purlin_model::detect::detect(session, request, DIALECTS)
}

/// Resolves a project. Problems are in the session's sink; `None` if there is no result.
pub fn compile(session: &Session, request: &Request) -> Option<Compiled> {
    let (dialect, request) = detect_or_report(session, request)?;
    let request = Request { engines: ENGINES, ..request };
    let resolved = (dialect.resolve)(session, &request)?;
    Some(Compiled { dialect, resolved })
}

/// Resolves a project and judges its Kubernetes objects, as a check of this one variant does.
pub fn compile_and_judge(session: &Session, request: &Request) -> Option<Compiled> {
    let (dialect, request) = detect_or_report(session, request)?;
    let request = Request { engines: ENGINES, manifests: true, ..request };
    let (resolved, is_sound) = session.sink.succeeds(|| (dialect.resolve)(session, &request));
    let resolved = resolved?;
    let file = request.found.clone().unwrap_or_default();
    session.sink.extend(judged_at(session, &request, (dialect.name, &file), &resolved, !is_sound));
    Some(Compiled { dialect, resolved })
}

/// Evaluates an expression of the project's own dialect.
pub fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let (dialect, request) = detect_or_report(session, request)?;
    let request = Request { engines: ENGINES, ..request };
    (dialect.eval)(session, &request, question)
}

/// The dialect, and the request with the results of detection.
fn detect_or_report(session: &Session, request: &Request) -> Option<(&'static Dialect, Request)> {
    match detect(session, request) {
        Detection::Project(file, dialect) => Some((dialect, Request { found: Some(file), ..request.clone() })),
        other => {
            session.sink.push(nothing_found(session, request, &other));
            None
        }
    }
}

/// The message that a file belongs to a project that is not there.
fn stray(session: &Session, file: &str, dialect: &Dialect) -> (String, String) {
    let (file, noun) = (here(session, file), dialect.noun);
    let message = format!("`{file}` belongs to a {noun} project, and there is none at or above it");
    (message, "name the project's folder".to_owned())
}

/// The message that a path is not a project, with suggestions.
pub(crate) fn nothing_found(session: &Session, request: &Request, detection: &Detection) -> Diagnostic {
    let named = request.file.as_deref().unwrap_or(&request.path);
    let is_folder = session.world.stat(named).is_ok_and(|stat| stat.kind == FileKind::Folder);
    let (message, hint) = match detection {
        Detection::Several(files) => {
            let message = format!("{} contains {} projects", place(session, named), files.len());
            (message, format!("name one of them: {}", listed(session, files)))
        }
        Detection::Stray(dialect) => stray(session, named, dialect),
        _ if !is_folder => {
            let message = format!("`{}` is not a configuration file that Purlin knows", here(session, named));
            (message, values_hint(session, request).unwrap_or_else(|| KNOWN.to_owned()))
        }
        _ => {
            let found = find(session, request, named);
            let below: Vec<String> = found.projects().iter().map(Claim::shown_path).collect();
            if let Some((file, dialect)) = found.members.first().filter(|_| below.is_empty()) {
                let (message, hint) = stray(session, file, dialect);
                return Diagnostic::nowhere(&rules::NOTHING_FOUND, message).hint(hint);
            }
            if let Some(near) = below.is_empty().then(|| near_miss(session, named)).flatten() {
                return near;
            }
            let hint = match below.len() {
                0 => KNOWN.to_owned(),
                1 => format!("there is a project below it: {}", listed(session, &below)),
                count => format!("there are {count} projects below it; name one: {}", listed(session, &below)),
            };
            (format!("no configuration found in {}", place(session, named)), hint)
        }
    };
    Diagnostic::nowhere(&rules::NOTHING_FOUND, message).hint(hint)
}

/// Charts take values with `-f` in Helm; here that option names a configuration file.
fn values_hint(session: &Session, request: &Request) -> Option<String> {
    let file = request.file.as_deref()?;
    let project = Request { file: None, ..request.clone() };
    let Detection::Project(_, dialect) = detect(session, &project) else { return None };
    let takes_values = dialect.variants.noun == "values file";
    takes_values.then(|| format!("to give values to the {}, use `--values {}`", dialect.noun, here(session, file)))
}

/// The files that Purlin looks for by name.
fn usual() -> impl Iterator<Item = &'static Usual> {
    DIALECTS.iter().flat_map(|dialect| dialect.usual)
}

/// A file of a folder that was meant to be a configuration: its name is nearly right, or its beginning is wrong.
fn near_miss(session: &Session, folder: &str) -> Option<Diagnostic> {
    let names: Vec<String> = session.world.list(folder).ok()?.into_iter().map(|entry| entry.name).collect();
    let begun = |name: &String| usual().find(|usual| usual.name == name && usual.version.is_some());
    if let Some(usual) = names.iter().find_map(begun) {
        return wrong_beginning(session, folder, usual);
    }
    let is_right = |name: &str| DIALECTS.iter().any(|dialect| (dialect.is_usual)(name));
    let near = |name: &String| {
        let usual = suggest::nearest(name, usual().map(|usual| usual.name)).filter(|_| !is_right(name))?;
        Some(format!("rename `{name}` to `{usual}`, if that is what it is"))
    };
    let hint = names.iter().find_map(near)?;
    let message = format!("no configuration found in {}", place(session, folder));
    Some(Diagnostic::nowhere(&rules::NOTHING_FOUND, message).hint(hint))
}

/// Problems of `apiVersion` and `kind` in a file that no dialect recognised.
fn wrong_beginning(session: &Session, folder: &str, usual: &Usual) -> Option<Diagnostic> {
    let (name, version) = (usual.name, usual.version?);
    let file = path::join(folder, name);
    let source = session.load_text(&file, &file).ok()?.source;
    let value_of = |key: &str| {
        let mut start = 0;
        for line in source.text().split_inclusive('\n') {
            if let Some(value) = line.strip_prefix(key) {
                let skipped = key.len() + value.len() - value.trim_start().len();
                return Some((value.trim().to_owned(), source.span(start + skipped, start + line.trim_end().len())));
            }
            start += line.len();
        }
        None
    };
    let first = source.text().lines().next().map_or(0, str::len);
    let wrong_kind =
        || usual.kind.and_then(|kind| value_of("kind:").filter(|(written, _)| written != kind).zip(Some(kind)));
    let (span, message, hint) = match value_of("apiVersion:") {
        Some((written, span)) => match wrong_kind() {
            Some(((written, span), kind)) => {
                (span, what::unknown("kind", written).and(format!(" in `{name}`")), format!("write `kind: {kind}`"))
            }
            None => {
                let message = what::unknown("`apiVersion`", written).and(format!(" in `{name}`"));
                (span, message, format!("write `apiVersion: {version}`"))
            }
        },
        None => (
            source.span(0, first),
            format!("`{name}` has no `apiVersion`").into(),
            format!("add `apiVersion: {version}`"),
        ),
    };
    Some(Diagnostic::at(&rules::NOTHING_FOUND, span, message).hint(hint))
}

/// The recognised files, in one line.
const KNOWN: &str = "it looks for `garden.yml`, `skaffold.yaml`, `Chart.yaml`, `ensemble.yaml`, TOSCA service templates, CSARs and kustomizations";

/// Maximum number of paths in a hint.
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

/// A path relative to the user's working folder.
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
