//! The recorded service templates, charts and Skaffold configurations again, each as an action of a Garden project: the
//! inner result must be the same as without the action.
//!
//! Nothing is compared with the original here; the suites do that. Both answers are ours.

use crate::{Report, Verdict};
use purlin_compiler::{compile, detect};
use purlin_model::{Detection, Request, Resolved};
use purlin_syntax::Diagnostic;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Files = BTreeMap<String, Vec<u8>>;

/// The folder for recorded projects; the Garden project is around it.
const INSIDE: &str = "inside";

/// Larger folders are skipped with a note.
const MOST_BYTES: usize = 4 << 20;

/// One recorded project.
struct Case {
    id: String,
    folder: PathBuf,
    /// The file or folder of the project, below the folder.
    project: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Service,
    Chart,
    Skaffold,
}

/// Compares every n-th project of each kind with itself as an action.
pub fn run(data: &Path, every: usize, filter: Option<&str>) -> Vec<(&'static str, Report)> {
    let groups =
        [("wrapped services", services(data)), ("wrapped charts", charts(data)), ("wrapped skaffold", skaffold(data))];
    let judged = |(name, cases): (&'static str, Vec<Case>)| {
        let wanted = cases.into_iter().filter(|case| filter.is_none_or(|text| case.id.contains(text)));
        let cases: Vec<Case> = wanted.step_by(every.max(1)).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let one = |at: usize| cases.get(at).map(|case| (case.id.clone(), judge(case)));
        let verdicts = crate::in_parallel(threads, cases.len(), one);
        (name, Report { cases: verdicts.into_iter().flatten().collect(), notes: Vec::new() })
    };
    groups.into_iter().map(judged).collect()
}

fn services(data: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(data.join("tosca/manifest.jsonl")).unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let Ok(case) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let (Some(id), Some(path)) = (case["id"].as_str(), case["path"].as_str()) else { continue };
        // Runs with quirks or inputs have options that actions do not have.
        let is_plain = case["quirks"].as_array().is_none_or(Vec::is_empty) && case["inputs"].as_object().is_none();
        let Some((source, project)) = path.strip_prefix("src/").and_then(|path| path.split_once('/')) else { continue };
        if is_plain && path.ends_with(".yaml") {
            let (id, folder) = (id.to_owned(), data.join("tosca/src").join(source));
            found.push(Case { id, folder, project: project.to_owned(), kind: Kind::Service });
        }
    }
    found
}

fn charts(data: &Path) -> Vec<Case> {
    let mut found = Vec::new();
    for folder in folders(&data.join("charts")) {
        let id = format!("charts/{}", name(&folder));
        found.push(Case { id, folder: folder.join("chart"), project: String::new(), kind: Kind::Chart });
    }
    for owner in folders(&data.join("real-charts")) {
        for folder in folders(&owner.join("charts")) {
            let id = format!("{}/{}", name(&owner), name(&folder));
            found.push(Case { id, folder, project: String::new(), kind: Kind::Chart });
        }
    }
    found.retain(|case| case.folder.join("Chart.yaml").is_file());
    found
}

fn skaffold(data: &Path) -> Vec<Case> {
    let mut found = Vec::new();
    for group in folders(&data.join("skaffold")) {
        for folder in folders(&group) {
            let inner = ["files", "input", "project", "."].iter().map(|inner| folder.join(inner));
            let Some(place) = inner.into_iter().find(|place| place.join("skaffold.yaml").is_file()) else { continue };
            let id = format!("{}/{}", name(&group), name(&folder));
            found.push(Case { id, folder: place, project: "skaffold.yaml".to_owned(), kind: Kind::Skaffold });
        }
    }
    found
}

fn name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn read(folder: &Path, prefix: &str, files: &mut Files) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &name, files);
        } else if let Ok(bytes) = std::fs::read(entry.path()) {
            files.insert(name, bytes);
        }
    }
}

impl Case {
    /// The project's path in the world.
    fn path(&self) -> String {
        if self.project.is_empty() { INSIDE.to_owned() } else { format!("{INSIDE}/{}", self.project) }
    }

    /// The Garden project around it.
    fn garden(&self) -> String {
        let (kind, spec) = match self.kind {
            Kind::Service => ("Deploy\ntype: tosca", format!("template: {:?}", self.path())),
            Kind::Chart => {
                ("Deploy\ntype: chart", format!("chart: {:?}, release: it, namespace: default", self.path()))
            }
            Kind::Skaffold => ("Build\ntype: skaffold", format!("config: {:?}", self.path())),
        };
        format!(
            "apiVersion: garden.io/v2\nkind: Project\nname: around\nenvironments: [{{name: dev}}]\nscan: {{include: [garden.yml]}}\n---\nkind: {kind}\nname: it\nspec: {{{spec}}}\n"
        )
    }

    fn outer(&self) -> &'static str {
        if matches!(self.kind, Kind::Skaffold) { "build.it" } else { "deploy.it" }
    }
}

/// The result of a project: its nodes by id, or its errors.
type Answer = Result<BTreeMap<String, String>, BTreeSet<String>>;

/// Whether a path has the dialect of its case by itself: some have another dialect, or none.
fn is_meant(files: &Files, request: &Request, kind: Kind) -> bool {
    let dialect = match kind {
        Kind::Service => "tosca",
        Kind::Chart => "charts",
        Kind::Skaffold => "skaffold",
    };
    let found = detect(&session(files), request);
    matches!(found, Detection::Project(_, found) if found.name == dialect)
}

fn session(files: &Files) -> Session {
    let world = files.iter().fold(MemoryWorld::new(), |world, (path, bytes)| world.bytes(path, bytes));
    Session::new(Arc::new(world))
}

fn judge(case: &Case) -> Verdict {
    let mut files = Files::new();
    read(&case.folder, INSIDE, &mut files);
    if files.values().map(Vec::len).sum::<usize>() > MOST_BYTES {
        return Verdict::Skipped("the folder is too large".to_owned());
    }
    let mut request = Request::of(&case.path());
    request.namespace = matches!(case.kind, Kind::Chart).then(|| "default".to_owned());
    request.chart.release_name = matches!(case.kind, Kind::Chart).then(|| "it".to_owned());
    if !is_meant(&files, &request, case.kind) {
        return Verdict::Skipped("alone it is of another dialect, or of none".to_owned());
    }
    let alone = answer(&files, &request, "");
    files.insert("garden.yml".to_owned(), case.garden().into_bytes());
    let wrapped = answer(&files, &Request::of("garden.yml"), case.outer());
    match (alone, wrapped) {
        (Ok(alone), Ok(wrapped)) => same(&alone, &wrapped),
        (Err(_), Err(wrapped)) if wrapped.is_empty() => Verdict::Failed("fails without a word".to_owned()),
        (Err(alone), Err(wrapped)) => {
            let missing: Vec<&String> = alone.difference(&wrapped).collect();
            match missing.first() {
                None => Verdict::Passed,
                Some(first) => Verdict::Failed(format!("{} errors are not reported: {first}", missing.len())),
            }
        }
        (Ok(_), Err(wrapped)) => {
            Verdict::Failed(format!("fails only as an action: {}", wrapped.first().map_or("", String::as_str)))
        }
        (Err(alone), Ok(_)) => {
            Verdict::Failed(format!("fails only alone: {}", alone.first().map_or("", String::as_str)))
        }
    }
}

fn same(alone: &BTreeMap<String, String>, wrapped: &BTreeMap<String, String>) -> Verdict {
    for (id, text) in alone {
        match wrapped.get(id) {
            Some(other) if other == text => {}
            Some(other) => return Verdict::Failed(format!("`{id}`: {}", crate::report::first_difference(other, text))),
            None => return Verdict::Failed(format!("`{id}` is missing")),
        }
    }
    match wrapped.keys().find(|id| !alone.contains_key(*id)) {
        Some(more) => Verdict::Failed(format!("`{more}` is there only as an action's")),
        None => Verdict::Passed,
    }
}

fn answer(files: &Files, request: &Request, outer: &str) -> Answer {
    let session = session(files);
    let compiled = compile(&session, request);
    let errors: BTreeSet<String> =
        session.sink.take().into_iter().filter(Diagnostic::is_error).map(|error| told(&session, &error)).collect();
    match compiled {
        Some(compiled) if errors.is_empty() => Ok(nodes(&compiled.resolved, outer)),
        _ => Err(errors),
    }
}

/// A problem as rule and location, since an action may word it differently.
fn told(session: &Session, error: &Diagnostic) -> String {
    let place = error.span.and_then(|span| {
        let source = session.sources.get(span.file)?;
        let position = source.position(span.start);
        Some(format!("{}:{}:{}", source.path(), position.line, position.column))
    });
    format!("{} at {}", error.rule.name, place.unwrap_or_else(|| "the project".to_owned()))
}

fn nodes(resolved: &Resolved, outer: &str) -> BTreeMap<String, String> {
    let prefix = format!("{outer}/");
    let id = |node: &purlin_model::Node| match outer {
        "" => Some(node.id.to_string()),
        _ => node.id.strip_prefix(prefix.as_str()).map(str::to_owned),
    };
    let text = |node: &purlin_model::Node| {
        let json = |value| to_json(value, Secrets::Reveal, JsonLayout::Compact).unwrap_or_default();
        format!("{} {}\n{}\n{}", node.kind, node.type_name, json(&node.resolved), json(&node.outputs))
    };
    resolved.nodes.iter().filter_map(|node| Some((id(node)?, text(node)))).collect()
}
