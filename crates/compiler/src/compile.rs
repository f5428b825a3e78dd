//! From a request to a resolved project: find the dialect, let it resolve.

use crate::dialects::DIALECTS;
use crate::rules;
use purlin_model::{Answer, Dialect, Question, Request, Resolved};
use purlin_syntax::Diagnostic;
use purlin_value::Session;

/// A project and the dialect that resolved it.
pub struct Compiled {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// What it made of the project.
    pub resolved: Resolved,
}

/// The dialect that a path belongs to: the one that recognises it best.
pub fn detect(session: &Session, request: &Request) -> Option<&'static Dialect> {
    let mut best: Option<(u8, &'static Dialect)> = None;
    for dialect in DIALECTS {
        let Some(found) = (dialect.detect)(session, request) else { continue };
        if best.is_none_or(|(strength, _)| found.strength > strength) {
            best = Some((found.strength, dialect));
        }
    }
    best.map(|(_, dialect)| dialect)
}

/// Resolves a project. Problems are in the session's sink; `None` if there is nothing to show.
pub fn compile(session: &Session, request: &Request) -> Option<Compiled> {
    let dialect = detect_or_report(session, request)?;
    let resolved = (dialect.resolve)(session, request)?;
    Some(Compiled { dialect, resolved })
}

/// Evaluates an expression of the project's own dialect.
pub fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let dialect = detect_or_report(session, request)?;
    (dialect.eval)(session, request, question)
}

fn detect_or_report(session: &Session, request: &Request) -> Option<&'static Dialect> {
    let found = detect(session, request);
    if found.is_none() {
        let place = if request.path == "." { "this folder".to_owned() } else { format!("`{}`", request.path) };
        let message = format!("there is no configuration in {place} that Purlin knows");
        let hint = "it looks for `garden.yml`, `skaffold.yaml`, `Chart.yaml`, `ensemble.yaml`, TOSCA service templates and CSARs";
        session.sink.push(Diagnostic::nowhere(&rules::NOTHING_FOUND, message).hint(hint));
    }
    found
}
