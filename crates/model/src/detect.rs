//! Finds the project for a path: asks dialects about files, and parses nothing.
//!
//! A dialect judges one file at a time; the consequences for folders are decided here, for all dialects alike.

use crate::dialect::{Dialect, Role, Sign};
use crate::glance::Glance;
use crate::project::Request;
use purlin_value::world::{Entry, FileKind};
use purlin_value::{Session, path};

/// A file that a dialect recognises.
#[derive(Clone, Copy)]
pub struct Judged {
    /// The dialect it belongs to.
    pub dialect: &'static Dialect,
    /// The dialect's sign.
    pub sign: Sign,
}

/// The project for a path.
pub enum Detection {
    /// A project: its file, relative to the world's root, and its dialect.
    Project(String, &'static Dialect),
    /// Several files of one folder are candidates.
    Several(Vec<String>),
    /// A file of a dialect that belongs to a project, but no project was found.
    Stray(&'static Dialect),
    /// Nothing known.
    Nothing,
}

/// The dialect of a file: the one with the highest strength.
pub fn judge(glance: &Glance<'_>, dialects: &[&'static Dialect]) -> Option<Judged> {
    let mut best: Option<Judged> = None;
    for dialect in dialects {
        let Some(sign) = (dialect.recognise)(glance) else { continue };
        if best.is_none_or(|known| sign.strength > known.sign.strength) {
            best = Some(Judged { dialect, sign });
        }
    }
    best
}

/// The project for a request. Projects that yield count only where there is no other.
pub fn detect(session: &Session, request: &Request, dialects: &[&'static Dialect]) -> Detection {
    let (yielding, first): (Vec<&'static Dialect>, Vec<&'static Dialect>) =
        dialects.iter().copied().partition(|dialect| dialect.yields);
    match detect_among(session, request, &first) {
        Detection::Nothing if !yielding.is_empty() => detect_among(session, request, &yielding),
        found => found,
    }
}

fn detect_among(session: &Session, request: &Request, dialects: &[&'static Dialect]) -> Detection {
    let start = if request.path.is_empty() { "." } else { request.path.as_str() };
    let is_folder = |path: &str| session.world.stat(path).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if let Some(named) = &request.file {
        return named_file(session, &named_path(session, start, named), dialects);
    }
    if !is_folder(start) {
        return named_file(session, start, dialects);
    }
    let start = path::normalize(start);
    match in_folder(session, &start, dialects) {
        Detection::Nothing => above(session, &start, dialects)
            .map_or(Detection::Nothing, |(file, dialect)| Detection::Project(file, dialect)),
        found => found,
    }
}

/// Resolves a file name given beside a path: in the project's folder, or in the working directory.
fn named_path(session: &Session, start: &str, named: &str) -> String {
    let folder = match session.world.stat(start) {
        Ok(stat) if stat.kind == FileKind::Folder => start,
        _ => path::parent(start),
    };
    let places = [path::join(folder, named), path::join(session.world.here(), named)];
    let [first, second] = places;
    if !session.world.exists(&first) && session.world.exists(&second) { second } else { first }
}

fn named_file(session: &Session, file: &str, dialects: &[&'static Dialect]) -> Detection {
    let glance = Glance::named(session, file);
    let Some(Judged { dialect, sign }) = judge(&glance, dialects) else { return Detection::Nothing };
    if sign.role != Role::Member {
        return Detection::Project(file.to_owned(), dialect);
    }
    let folder = path::parent(file);
    let here = project_in(session, folder, dialect);
    match here.or_else(|| above(session, folder, &[dialect]).map(|(file, _)| file)) {
        Some(file) => Detection::Project(file, dialect),
        None => Detection::Stray(dialect),
    }
}

/// The project of one dialect in a folder.
fn project_in(session: &Session, folder: &str, dialect: &'static Dialect) -> Option<String> {
    let entries = session.world.list(folder).unwrap_or_default();
    usual(session, folder, &entries, &[dialect]).map(|(file, _)| file)
}

/// The project of a folder: by the usual names first, otherwise by the content of other files.
fn in_folder(session: &Session, folder: &str, dialects: &[&'static Dialect]) -> Detection {
    let entries = session.world.list(folder).unwrap_or_default();
    if let Some((file, judged)) = usual(session, folder, &entries, dialects) {
        return Detection::Project(file, judged.dialect);
    }
    let mut best: Vec<(String, Judged)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind != FileKind::Folder) {
        let full = path::join(folder, &entry.name);
        let judged = judge(&Glance::found(session, &full), dialects);
        let Some(judged) = judged.filter(|judged| judged.sign.role == Role::Project) else { continue };
        let strength = |best: &[(String, Judged)]| best.first().map_or(0, |(_, known)| known.sign.strength);
        if judged.sign.strength > strength(&best) {
            best.clear();
        }
        if judged.sign.strength >= strength(&best) {
            best.push((full, judged));
        }
    }
    match best.as_slice() {
        [] => Detection::Nothing,
        [(file, judged)] => Detection::Project(file.clone(), judged.dialect),
        several => Detection::Several(several.iter().map(|(file, _)| file.clone()).collect()),
    }
}

/// The strongest project among the files of a folder with usual names.
fn usual(
    session: &Session,
    folder: &str,
    entries: &[Entry],
    dialects: &[&'static Dialect],
) -> Option<(String, Judged)> {
    let mut best: Option<(String, Judged)> = None;
    let mut consider = |full: String, dialect: &'static Dialect| {
        let Some(sign) = (dialect.recognise)(&Glance::found(session, &full)) else { return };
        let is_project = matches!(sign.role, Role::Project | Role::Pointer);
        if is_project && best.as_ref().is_none_or(|(_, known)| sign.strength > known.sign.strength) {
            best = Some((full, Judged { dialect, sign }));
        }
    };
    for dialect in dialects {
        for entry in entries.iter().filter(|entry| entry.kind != FileKind::Folder && (dialect.is_usual)(&entry.name)) {
            consider(path::join(folder, &entry.name), dialect);
        }
        for inside in dialect.inside {
            let top = inside.split('/').next().unwrap_or(inside);
            if entries.iter().any(|entry| entry.name == top) {
                consider(path::join(folder, inside), dialect);
            }
        }
    }
    best
}

/// The nearest project above a folder, of those dialects whose projects reach into subfolders.
pub fn above(session: &Session, folder: &str, dialects: &[&'static Dialect]) -> Option<(String, &'static Dialect)> {
    let reaching: Vec<&'static Dialect> = dialects.iter().copied().filter(|dialect| dialect.reaches_below).collect();
    let mut folder = folder;
    while !reaching.is_empty() && !matches!(folder, "." | "/") && !folder.starts_with("..") {
        folder = path::parent(folder);
        let entries = session.world.list(folder).unwrap_or_default();
        if let Some((file, judged)) = usual(session, folder, &entries, &reaching) {
            return Some((file, judged.dialect));
        }
    }
    None
}

impl Dialect {
    /// The file of a request in this dialect: the one from detection, or else a search for one.
    pub fn file_of(&'static self, session: &Session, request: &Request) -> Option<String> {
        if let Some(found) = &request.found {
            return Some(found.clone());
        }
        match detect(session, request, &[self]) {
            Detection::Project(file, _) => Some(file),
            _ => None,
        }
    }
}
