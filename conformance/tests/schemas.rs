//! Compares the JSON Schemas with `check`, over all recorded projects: files that `check` accepts are valid in the
//! schema, and most files that `check` refuses because of their shape are invalid there too.
//!
//! Of large suites only a sample of folders is checked; `PURLIN_SCHEMAS=all` checks all.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::{SchemaOf, schema_of, survey};
use purlin_conformance::ratchet;
use purlin_model::Request;
use purlin_model::validate::Validator;
use purlin_syntax::{FileId, Flavor};
use purlin_value::{MergeKeys, Meter, Session, value_of};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Rules about the shape of files.
const SHAPE: &[&str] = &[
    "unknown-key",
    "missing-key",
    "wrong-shape",
    "unknown-choice",
    "garden-config-kind",
    "skaffold-unknown-key",
    "skaffold-type",
    "skaffold-required",
    "tosca-unknown-key",
    "tosca-missing-key",
    "tosca-wrong-shape",
];

#[derive(Default, Debug, Clone, Copy)]
struct Count {
    valid: usize,
    accepted: usize,
    invalid: usize,
    refused: usize,
}

/// Folders that are checked as a whole: those at a depth below the suite's.
fn folders(suite: &Path, depth: usize) -> Vec<PathBuf> {
    let mut level = vec![suite.to_owned()];
    for _ in 0..depth {
        let below = |folder: &PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
        level = level.iter().flat_map(below).filter(|path| path.is_dir()).collect();
        level.sort();
    }
    level
}

/// The session of a folder after checking everything below it, and the files with an error; true for errors about
/// shape.
fn checked(folder: &Path) -> Option<(Session, HashMap<FileId, bool>)> {
    let (session, path) = purlin_conformance::open(folder)?;
    survey(&session, &Request::of(&path), std::slice::from_ref(&path));
    let mut files: HashMap<FileId, bool> = HashMap::new();
    for problem in session.sink.take().into_iter().filter(|problem| problem.is_error()) {
        let Some(span) = problem.span else { continue };
        *files.entry(span.file).or_default() |= SHAPE.contains(&problem.rule.name);
    }
    Some((session, files))
}

struct Judge {
    validators: HashMap<SchemaOf, Validator>,
    counts: BTreeMap<&'static str, Count>,
    surprises: Vec<String>,
}

impl Judge {
    fn look(&mut self, suite: &'static str, session: &Session, wrong: &HashMap<FileId, bool>) {
        let count = u32::try_from(session.sources.len()).unwrap();
        for source in (0..count).filter_map(|id| session.sources.get(FileId(id))) {
            let tree = purlin_syntax::yaml::parse(source.clone(), Flavor::Core, &session.limits);
            if !tree.is_sound() {
                continue;
            }
            let documents: Vec<_> =
                tree.roots().filter_map(|root| Some((schema_of(source.path(), root)?, root))).collect();
            if documents.is_empty() {
                continue;
            }
            let problems: Vec<String> = documents
                .iter()
                .flat_map(|(of, root)| {
                    let validator = self.validators.entry(*of).or_insert_with(|| Validator::new(of.schema()).unwrap());
                    validator
                        .check(&value_of(*root, MergeKeys::Apply), &Meter::new(&session.limits))
                        .unwrap_or_default()
                })
                .map(|problem| {
                    format!(
                        "{} {:?} {:?}",
                        problem.at,
                        problem.fault,
                        problem.causes.first().map(|c| (&c.at, &c.fault))
                    )
                })
                .collect();
            let count = self.counts.entry(suite).or_default();
            match wrong.get(&source.id()) {
                None => {
                    count.valid += 1;
                    count.accepted += usize::from(problems.is_empty());
                    if let Some(first) = problems.first() {
                        self.surprises.push(format!("{suite}: {} refused: {first:.300}", source.path()));
                    }
                }
                Some(true) => {
                    count.invalid += 1;
                    count.refused += usize::from(!problems.is_empty());
                    if problems.is_empty() {
                        self.surprises.push(format!("{suite}: {} accepted", source.path()));
                    }
                }
                Some(false) => {}
            }
        }
    }
}

#[test]
fn schemas_agree_with_check() {
    let Some(data) = ratchet::data_folder() else {
        purlin_skipped::skipped("recorded data");
        return;
    };
    let all = std::env::var("PURLIN_SCHEMAS").is_ok_and(|value| value == "all");
    let suites: &[(&'static str, usize, usize)] = &[
        ("garden-projects/projects", 1, 2),
        ("skaffold", 2, 4),
        ("tosca/src", 1, 3),
        ("unfurl-services", 1, 2),
        ("charts", 1, 2),
    ];
    let mut judge = Judge { validators: HashMap::new(), counts: BTreeMap::new(), surprises: Vec::new() };
    for (suite, depth, step) in suites {
        let step = if all { 1 } else { *step };
        for folder in folders(&data.join(suite), *depth).iter().step_by(step) {
            if let Some((session, wrong)) = checked(folder) {
                judge.look(suite, &session, &wrong);
            }
        }
    }
    let mut total = Count::default();
    for (suite, count) in &judge.counts {
        println!("{suite}: {count:?}");
        total.valid += count.valid;
        total.accepted += count.accepted;
        total.invalid += count.invalid;
        total.refused += count.refused;
    }
    for surprise in judge.surprises.iter().take(120) {
        println!("{surprise}");
    }
    assert!(total.valid > 100 && total.accepted * 100 >= total.valid * 99, "{total:?}");
    assert!(total.refused * 100 >= total.invalid * 60, "{total:?}");
}
