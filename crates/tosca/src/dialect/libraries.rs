//! Libraries of types that are checked together: those of one repository import each other, so that checking each
//! alone would check all others again.

use super::{name_of, settings, version_of};
use crate::check;
use crate::edition::{self, Edition};
use crate::library;
use crate::load::Files;
use crate::model;
use crate::problem::Problems;
use crate::profile;
use crate::quirks::{self, Quirks};
use purlin_model::{Request, Together};
use purlin_syntax::Head;
use purlin_value::{EcoString, Session};
use std::collections::HashMap;

/// Bytes of a file that are searched for its edition. In TOSCA 2.0 it is in the first line.
const BEGINNING: usize = 4096;

/// Checks libraries of TOSCA 2.0. In earlier editions the meaning of a name in a library can depend on the root file.
pub(super) fn check(session: &Session, request: &Request, paths: &[&str]) -> Vec<Together> {
    let mut together = vec![Together::Alone; paths.len()];
    let mut problems = Problems::new();
    let options = settings(session, request, &mut problems).options;
    if paths.len() < 2 || depends_on_root(&options.quirks, edition::V2_0) {
        return together;
    }
    let ours: Vec<&str> = paths.iter().copied().filter(|path| takes(session, path)).collect();
    if ours.is_empty() {
        return together;
    }
    let model = model::build_libraries(session, &ours, &options, &mut problems);
    check::check(&model, &mut problems);
    library::collect(&model, &mut problems);
    problems.report(session);
    let mut listed = listed(session, &model.files, &ours, &problems);
    for (path, slot) in paths.iter().zip(&mut together) {
        if let Some(found) = listed.remove(*path) {
            *slot = found;
        }
    }
    together
}

/// Whether a file is written in TOSCA 2.0; if so, its text is read as well, while its bytes are loaded.
fn takes(session: &Session, path: &str) -> bool {
    let Ok(bytes) = session.load_bytes(path) else { return false };
    let head = Head::scan(bytes.get(..BEGINNING).unwrap_or(&bytes));
    let version = version_of(&head).and_then(profile::version);
    version.is_some_and(|version| version.edition == edition::V2_0) && session.load_text(path, path).is_ok()
}

/// Whether files may use names of the root file, or replace declarations of others.
fn depends_on_root(quirks: &Quirks, edition: Edition) -> bool {
    [quirks::NAMESPACE_FLAT, quirks::NORMATIVE_REPLACE].iter().any(|quirk| quirks.allow(quirk, edition))
}

/// The result for each library: one reached from an earlier one is taken in; the others count the errors of their
/// imports not counted before.
fn listed<'p>(session: &Session, files: &Files, paths: &[&'p str], problems: &Problems) -> HashMap<&'p str, Together> {
    let mut errors: HashMap<String, usize> = HashMap::new();
    for problem in problems.list().iter().filter(|problem| problem.diagnostic.is_error()) {
        if let Some(source) = problem.diagnostic.span.and_then(|span| session.sources.get(span.file)) {
            *errors.entry(source.path().to_owned()).or_default() += 1;
        }
    }
    let by_path: HashMap<&str, usize> =
        files.list.iter().enumerate().map(|(index, file)| (file.path.as_str(), index)).collect();
    let mut reached = vec![false; files.list.len()];
    let mut out = HashMap::new();
    for path in paths {
        let Some(start) = by_path.get(path).copied() else {
            // The file could not be read.
            out.insert(*path, Together::Checked(name_of(None, path), errors.remove(*path).unwrap_or(0)));
            continue;
        };
        if reached.get(start).copied().unwrap_or(true) {
            out.insert(*path, Together::TakenIn);
            continue;
        }
        let mut count = 0;
        let mut waiting = vec![start];
        while let Some(index) = waiting.pop() {
            let (Some(seen), Some(file)) = (reached.get_mut(index), files.list.get(index)) else { continue };
            if !std::mem::replace(seen, true) {
                count += errors.remove(file.path.as_str()).unwrap_or(0);
                waiting.extend(file.imports.iter().map(|import| import.file));
            }
        }
        let name: EcoString = name_of(files.list.get(start).map(|file| file.entity.as_ref()), path);
        out.insert(*path, Together::Checked(name, count));
    }
    out
}
