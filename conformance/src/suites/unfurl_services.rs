//! Whole Unfurl ensembles: inputs, outputs, instances with their attributes, queries.

use super::unfurl_expressions::{encode, same};
use crate::{Context, Report, Suite, Verdict, purlin};
use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_model::project::Request;
use purlin_syntax::Diagnostic;
use purlin_unfurl::ensemble::build::Instances;
use purlin_unfurl::ensemble::{self, Ensemble};
use purlin_unfurl::error::Result as Evaluated;
use purlin_unfurl::eval::path::as_one;
use purlin_unfurl::eval::status::{effective, target};
use purlin_unfurl::eval::{Engine, form};
use purlin_unfurl::job::Job;
use purlin_unfurl::job::options::Options;
use purlin_unfurl::tree::{NodeId, Tree};
use purlin_unfurl::val::{Data, Val};
use purlin_unfurl::{check, convert};
use purlin_value::Session;
use purlin_value::world::Moment;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The suite.
pub const SUITE: Suite = Suite { name: "unfurl-services", run };

fn run(context: &Context) -> Report {
    let mut cases: Vec<String> = std::fs::read_dir(&context.folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    cases.sort();
    context.run_cases(&cases, Clone::clone, |case| judge(context, case))
}

fn json_file(path: &Path) -> Option<Json> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

fn judge(context: &Context, case: &str) -> Verdict {
    let folder = context.folder.join(case);
    let Some(expected) = json_file(&folder.join("expected.json")) else {
        return Verdict::Skipped("there is no answer".to_owned());
    };
    let settings = json_file(&folder.join("case.json")).unwrap_or(Json::Null);
    let ran = expected.get("tasks").and_then(Json::as_array).is_some_and(|tasks| !tasks.is_empty());
    let ours = if ran { after_job(&folder, case, &settings) } else { answer(&folder, &settings) };
    let recorded: Vec<Json> =
        [Some(expected), json_file(&folder.join("expected.head.json"))].into_iter().flatten().collect();
    context.judge(case, agrees(&recorded, &ours), &ours.to_string(), || {
        let mut out = String::new();
        difference("", recorded.last().unwrap_or(&Json::Null), &ours, &mut out);
        out
    })
}

/// The compared parts of an answer.
const PARTS: &[&str] = &["inputs", "outputs", "instances", "queries"];

/// Parts that are compared as a whole after a job.
const PARTS_OF_JOBS: &[&str] = &["job", "tasks"];

/// Whether each input, output, instance and query agrees with one of the recorded versions.
fn agrees(recorded: &[Json], ours: &Json) -> bool {
    let failing = |version: &Json| version.get("error").is_some();
    if ours.get("error").is_some() {
        return recorded.iter().any(failing);
    }
    let versions: Vec<&Json> = recorded.iter().filter(|version| !failing(version)).collect();
    let job_agrees = |part: &str| match ours.get(part) {
        Some(ours) => versions.iter().any(|version| version.get(part) == Some(ours)),
        None => true,
    };
    !versions.is_empty()
        && PARTS.iter().all(|part| part_agrees(&versions, ours, part))
        && PARTS_OF_JOBS.iter().all(|part| job_agrees(part))
}

fn part_agrees(versions: &[&Json], ours: &Json, part: &str) -> bool {
    let parts: Vec<&Json> = versions.iter().filter_map(|version| version.get(part)).collect();
    match ours.get(part) {
        _ if parts.is_empty() => true,
        None => false,
        Some(Json::Array(items)) => items
            .iter()
            .enumerate()
            .all(|(at, item)| parts.iter().any(|part| part.get(at).is_some_and(|wanted| alike(wanted, item)))),
        Some(Json::Object(entries)) => {
            let complete = |part: &&Json| part.as_object().is_some_and(|part| part.len() == entries.len());
            parts.iter().any(complete)
                && entries
                    .iter()
                    .all(|(key, item)| parts.iter().any(|part| part.get(key).is_some_and(|wanted| alike(wanted, item))))
        }
        Some(_) => false,
    }
}

/// Equality in which an error agrees with any error.
fn alike(wanted: &Json, ours: &Json) -> bool {
    if wanted.get("$error").is_some() || wanted.get("error").is_some() {
        return ours.get("$error").is_some();
    }
    match (wanted, ours) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Json::Object(a), Json::Object(b)) if !a.contains_key("$portspec") => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        _ => same(wanted, ours),
    }
}

fn difference(path: &str, wanted: &Json, ours: &Json, out: &mut String) {
    if alike(wanted, ours) {
        return;
    }
    match (wanted, ours) {
        (Json::Object(a), Json::Object(b)) if !a.keys().any(|key| key.starts_with('$')) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys.into_iter().filter(|key| !matches!(key.as_str(), "outputs_saved")) {
                let (a, b) = (a.get(key), b.get(key));
                difference(&format!("{path}.{key}"), a.unwrap_or(&Json::Null), b.unwrap_or(&json!("(nothing)")), out);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                difference(&format!("{path}[{at}]"), a, b, out);
            }
        }
        _ => out.push_str(&format!("\n  {path}\n    wanted: {wanted}\n    ours:   {ours}")),
    }
}

fn session_of(folder: &Path, settings: &Json) -> Option<Session> {
    let mut env: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in settings.get("env").and_then(Json::as_object).into_iter().flatten() {
        env.insert(name.clone(), value.as_str().unwrap_or("").to_owned());
    }
    let root = folder.canonicalize().ok()?;
    let world = DiskWorld::new(DiskSettings {
        cwd: root.clone(),
        root,
        project_env: env.clone(),
        env,
        permissions: Permissions::default(),
        now: Moment(1_700_000_000_000_000_000),
        seed: purlin_cli::seed::SeedSource::default(),
        max_file: 1 << 24,
    });
    Some(Session::new(Arc::new(world)))
}

fn answer(folder: &Path, settings: &Json) -> Json {
    let Some(session) = session_of(folder, settings) else {
        return json!({"error": "there is no such folder"});
    };
    // Without a job only stored instances exist.
    let stored = settings.get("job") == Some(&Json::Bool(false));
    let which = if stored { Instances::Stored } else { Instances::Planned };
    let ensemble = ensemble::open_with(&session, &Request::of("."), which);
    let refused = ensemble.as_ref().is_some_and(|ensemble| !check::findings(&session, ensemble).refusals.is_empty());
    let problems: Vec<Diagnostic> =
        session.sink.take().into_iter().filter(|problem| fatal(&session, problem)).collect();
    let message = || problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ");
    match ensemble {
        Some(ensemble) if problems.is_empty() && !refused => {
            let base = session.world.root().to_owned();
            let shown = replaced(shown(&session, &ensemble, settings), &base);
            if stored { shown } else { unless_output_fails(shown) }
        }
        _ => json!({"error": message()}),
    }
}

/// A job evaluates the outputs last, and fails if one of them cannot be evaluated.
fn unless_output_fails(shown: Json) -> Json {
    let outputs = shown.get("outputs").and_then(Json::as_object);
    let failing = outputs.and_then(|outputs| outputs.values().find_map(|output| output.get("$error")));
    failing.map(|error| json!({"error": error})).unwrap_or(shown)
}

/// The answer after a job has really run, in a copy of the folder: its report, and the stored instances. A dry run
/// stores nothing; its effect on the states of instances is in its report.
fn after_job(folder: &Path, case: &str, settings: &Json) -> Json {
    let is_dry = settings.get("job").is_none_or(|job| job.get("dryrun") == Some(&Json::Bool(true)));
    let copy = std::env::temp_dir().join(format!("purlin-unfurl-job-{}-{case}", std::process::id()));
    let answered = copied(folder, &copy).map(|()| {
        let dry = if is_dry { dry_job(&copy, settings) } else { None };
        dry.unwrap_or_else(|| job_in(&copy, is_dry, settings))
    });
    let _ = std::fs::remove_dir_all(&copy);
    answered.unwrap_or_else(|error| json!({"error": error.to_string()}))
}

fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A dry run with the resulting instances; `None` if commands are to be run.
fn dry_job(folder: &Path, settings: &Json) -> Option<Json> {
    let session = session_of(folder, settings)?;
    let options = Options { dry_run: true, ..Options::default() };
    let mut job = Job::open(&session, &Request::of("."), options)?;
    if !job.plan() || session.sink.has_errors() {
        return None;
    }
    job.sift();
    if !job.rehearse() || job.next_command().is_some() {
        return None;
    }
    job.drop_skipped();
    let report: Json = serde_json::from_str(&job.json_summary(0.0)).ok()?;
    session.sink.take();
    if !check::findings(&session, &job.ensemble).refusals.is_empty() {
        return None;
    }
    let ours = unless_output_fails(replaced(shown(&session, &job.ensemble, settings), session.world.root()));
    if ours.get("error").is_some() {
        return Some(ours);
    }
    Some(with_report(ours, &report))
}

fn job_in(folder: &Path, is_dry: bool, settings: &Json) -> Json {
    let dry = if is_dry { Some("--dryrun") } else { None };
    let args = ["unfurl", "deploy", "--approve", "--output", "json"].into_iter().chain(dry).chain(["."]);
    let env = [("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())];
    let ran = purlin(&args.map(str::to_owned).collect::<Vec<_>>(), folder, &env);
    let Ok(report) = serde_json::from_slice::<Json>(&ran.stdout) else {
        return json!({"error": ran.stderr});
    };
    let mut settings = settings.as_object().cloned().unwrap_or_default();
    if !is_dry {
        settings.insert("job".to_owned(), Json::Bool(false));
    }
    let mut ours = answer(folder, &Json::Object(settings));
    let tasks = report.get("tasks").and_then(Json::as_array).cloned().unwrap_or_default();
    for task in tasks.iter().filter(|_| is_dry) {
        let target = task.get("nestedName").or_else(|| task.get("target")).and_then(Json::as_str).unwrap_or_default();
        if let Some(instance) = ours.pointer_mut(&format!("/instances/{target}")) {
            instance["state"] = task.get("targetState").cloned().unwrap_or(Json::Null);
            instance["status"] = task.get("targetStatus").cloned().unwrap_or(Json::Null);
        }
    }
    with_report(ours, &report)
}

/// An answer with a job's report.
fn with_report(mut ours: Json, report: &Json) -> Json {
    let picked = |from: &Json, keys: &[&str]| -> Json {
        keys.iter().map(|key| ((*key).to_owned(), from.get(*key).cloned().unwrap_or(Json::Null))).collect()
    };
    let tasks = report.get("tasks").and_then(Json::as_array).cloned().unwrap_or_default();
    let of_task = ["changed", "operation", "priority", "reason", "status", "target"];
    ours["tasks"] = tasks.iter().map(|task| picked(task, &of_task)).collect();
    let of_job = ["changed", "error", "ok", "skipped", "status", "total", "unknown"];
    ours["job"] = picked(report.get("job").unwrap_or(&Json::Null), &of_job);
    ours
}

/// Problems of single expressions appear in their values; static errors are refused.
fn fatal(session: &Session, problem: &Diagnostic) -> bool {
    let own = ["unfurl-unknown", "unfurl-wrong-type", "unfurl-invalid-property"].contains(&problem.rule.name);
    let of_template = problem.message.contains("property") && !problem.message.contains("must be of type");
    let plain = problem.rule.name == "unfurl-invalid-property" && is_plain(session, problem);
    let input = problem.message.starts_with("unknown input");
    problem.is_error() && (!own || of_template || plain || input)
}

/// Whether a problem concerns a scalar that is neither an expression nor a template.
fn is_plain(session: &Session, problem: &Diagnostic) -> bool {
    let text = problem.span.and_then(|span| Some(session.sources.get(span.file)?.slice(span).to_owned()));
    text.is_some_and(|text| !text.contains('{') && !text.contains(':'))
}

fn replaced(json: Json, base: &str) -> Json {
    match json {
        Json::String(text) => Json::String(text.replace(base, "<BASE>")),
        Json::Array(items) => items.into_iter().map(|item| replaced(item, base)).collect(),
        Json::Object(entries) => {
            Json::Object(entries.into_iter().map(|(key, item)| (key, replaced(item, base))).collect())
        }
        other => other,
    }
}

fn shown(session: &Session, ensemble: &Ensemble, settings: &Json) -> Json {
    let engine = ensemble.engine(session);
    let tree = &ensemble.tree;
    let inputs = attributes(&engine, tree, tree.inputs());
    let instances: Map<String, Json> =
        tree.named().skip(1).map(|(name, id)| (name.to_string(), instance(&engine, tree, id))).collect();
    let outputs = attributes(&engine, tree, tree.outputs());
    let queries: Vec<Json> = settings
        .get("queries")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .map(|query| ask(&engine, session, query))
        .collect();
    let mut out = json!({"inputs": inputs, "instances": instances, "outputs": outputs});
    if !queries.is_empty() {
        out["queries"] = Json::Array(queries);
    }
    out
}

fn value(engine: &Engine<'_>, result: Evaluated<Val>) -> Json {
    match result.and_then(|value| engine.force(value)) {
        Ok(value) => encode(&value, engine.tree),
        Err(error) => json!({"$error": error.message}),
    }
}

fn attributes(engine: &Engine<'_>, tree: &Tree, id: NodeId) -> Json {
    let names = tree.node(id).attributes.keys();
    let shown = names.map(|name| {
        let found = engine.attribute(id, name).map(Option::unwrap_or_default);
        (name.to_string(), value(engine, found))
    });
    Json::Object(shown.collect())
}

fn instance(engine: &Engine<'_>, tree: &Tree, id: NodeId) -> Json {
    let node = tree.node(id);
    let name_of = |id: NodeId| tree.node(id).name.as_str();
    let capabilities: Map<String, Json> = node
        .capabilities
        .iter()
        .filter(|id| !tree.node(**id).attributes.is_empty())
        .map(|id| (name_of(*id).to_owned(), attributes(engine, tree, *id)))
        .collect();
    let mut out = json!({
        "attributes": attributes(engine, tree, id),
        "capabilities": capabilities,
        "parent": node.parent.map(name_of),
        "state": node.state.map(|state| state.name()),
        "status": effective(tree, id).name(),
        "template": node.template.as_str(),
        "type": node.type_name(),
    });
    if !node.requirements.is_empty() {
        let requirements = node.requirements.iter().map(|relationship| {
            json!({
                "attributes": attributes(engine, tree, *relationship),
                "name": name_of(*relationship),
                "target": target(tree, *relationship).map(name_of),
                "type": tree.node(*relationship).type_name(),
            })
        });
        out["requirements"] = requirements.collect();
    }
    if let Some((_, imported)) = node.fields.iter().find(|(name, _)| *name == "imported") {
        out["imported"] = encode(imported, tree);
    }
    if !node.artifacts.is_empty() {
        let artifacts: Map<String, Json> =
            node.artifacts.iter().map(|id| (name_of(*id).to_owned(), attributes(engine, tree, *id))).collect();
        out["artifacts"] = Json::Object(artifacts);
    }
    out
}

fn ask(engine: &Engine<'_>, session: &Session, query: &Json) -> Json {
    let current = query.get("current").and_then(Json::as_str).unwrap_or(".");
    let expr = query.get("expr").cloned().unwrap_or(Json::Null);
    let root = engine.context(engine.tree.root());
    let found = match as_one(root.query(current).unwrap_or_default()).data {
        Data::Node(id) => {
            let ctx = engine.context(id);
            let raw = match &expr {
                Json::String(text) => Val::str(text.as_str()),
                other => convert::from_yaml(session, &other.to_string(), purlin_syntax::Flavor::Core)
                    .ok()
                    .and_then(|mut all| all.pop())
                    .unwrap_or_default(),
            };
            value(engine, form::expression(&ctx, &raw).map(as_one))
        }
        _ => json!({"$error": "the current instance is not there"}),
    };
    match found.get("$error") {
        Some(error) => json!({"current": current, "$error": error, "expr": expr}),
        None => json!({"current": current, "expect": found, "expr": expr}),
    }
}
