//! Whole Garden projects: variables, actions with their dependencies, versions and resolved specs, modules, outputs,
//! errors.
//!
//! The original executed actions whose outputs other actions needed. So does this suite, for actions of type `exec`, in
//! a copy of the project; their outputs are the input of the next resolution.

use crate::{Context, Report, Suite, Verdict};
use purlin_garden::json::{self, KeyOrder};
use purlin_garden::resolve::{Resolution, resolve};
use purlin_model::Request;
use purlin_syntax::Diagnostic;
use purlin_value::{Data, EcoString, Map, MemoryWorld, Session, Value};
use serde_json::{Map as JsonMap, Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The suite.
pub const SUITE: Suite = Suite { name: "garden-projects", run };

fn run(context: &Context) -> Report {
    let index = context.text("index.json").and_then(|text| serde_json::from_str::<Vec<Json>>(&text).ok());
    let cases = index.unwrap_or_default();
    context.run_cases(&cases, |case| text(case, "id").to_owned(), |case| judge(context, case))
}

fn text<'c>(case: &'c Json, key: &str) -> &'c str {
    case.get(key).and_then(Json::as_str).unwrap_or("")
}

fn judge(context: &Context, case: &Json) -> Verdict {
    let id = text(case, "id");
    let folder = context.folder.join(text(case, "dir"));
    let variant = id.split_once("--").map_or(String::new(), |(_, variant)| format!("--{variant}"));
    let expected = std::fs::read_to_string(folder.join(format!("expected{variant}.json"))).ok();
    let Some(expected) = expected.and_then(|text| serde_json::from_str::<Json>(&text).ok()) else {
        return Verdict::Failed("the recorded answer cannot be read".into());
    };
    let answer = answer(case, &folder.join("files"), &expected);
    let differences = differences(&expected, &answer);
    let ours = summary(&differences, &answer);
    context.judge(id, differences.is_empty(), &ours, || differences.join("\n"))
}

/// The text that a stated deviation is compared with: our differences, and our problems.
fn summary(differences: &[String], answer: &Answer) -> String {
    let ours: Vec<&str> = differences.iter().map(|line| line.split(" instead of ").next().unwrap_or(line)).collect();
    let mut text = ours.join("; ");
    if !answer.problems.is_empty() && !text.contains("problems: ") {
        text = format!("{text} | {}", answer.problems.join(" | "));
    }
    text
}

/// A writable copy for actions; each case has its own.
fn copy_project(files: &Path, id: &str) -> std::io::Result<PathBuf> {
    let target = std::env::temp_dir().join(format!("purlin-garden-{}-{id}", std::process::id()));
    let _ = std::fs::remove_dir_all(&target);
    for (path, bytes) in read_folder(files, "")? {
        let file = target.join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, bytes)?;
    }
    Ok(target)
}

/// All files of a folder with their relative paths.
fn read_folder(folder: &Path, prefix: &str) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files.extend(read_folder(&entry.path(), &format!("{name}/"))?);
        } else {
            files.push((name, std::fs::read(entry.path())?));
        }
    }
    Ok(files)
}

/// Our answer.
struct Answer {
    data: Json,
    problems: Vec<String>,
}

/// The project in memory, so that its folder is the same on every machine.
fn world(files: &Path) -> MemoryWorld {
    // The environment of the recordings.
    let variables = [("USER", "root"), ("TEST_VARIABLE", "banana"), ("MODULE_A_TEST_ENV_VAR", "foo")];
    let world = variables.iter().fold(MemoryWorld::new(), |world, (name, value)| world.variable(name, value));
    let files = read_folder(files, "").unwrap_or_default();
    let kept = files.into_iter().filter(|(path, bytes)| !is_absolute_link(path, bytes));
    kept.fold(world, |world, (path, bytes)| world.bytes(&path, &bytes))
}

/// The recordings store links as plain files that contain their target. Git hashes a link by its target, so the result
/// is the same; a link to an absolute path is left out by Garden, and here.
fn is_absolute_link(path: &str, bytes: &[u8]) -> bool {
    path.ends_with("/symlink.txt") && bytes.starts_with(b"/")
}

fn answer(case: &Json, files: &Path, expected: &Json) -> Answer {
    let vars = case.get("vars").and_then(Json::as_array).cloned().unwrap_or_default();
    let pairs = vars.iter().filter_map(|var| var.as_str()?.split_once('='));
    let mut request = Request {
        path: ".".to_owned(),
        environment: case.get("environment").and_then(Json::as_str).map(str::to_owned),
        vars: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        ..Request::default()
    };
    // Every round only adds outputs of further actions, so this ends.
    for _ in 0..20 {
        let session = Session::new(Arc::new(world(files)));
        let resolution = resolve(&session, &request);
        let (data, waiting) = match &resolution {
            Some(resolution) => described(&session, resolution, expected),
            None => (json!({}), Vec::new()),
        };
        let runnable = resolution.as_ref().filter(|_| !waiting.is_empty());
        let given = runnable.map(|resolution| execute_all(resolution, &waiting, files, text(case, "id")));
        let given: Vec<_> = given.into_iter().flatten().filter(|(key, _)| !is_known(&request, key)).collect();
        if given.is_empty() {
            let problems = session.sink.take().into_iter().filter(Diagnostic::is_error);
            let shown = |problem: Diagnostic| located(&session, &problem);
            return Answer { data, problems: problems.map(shown).collect() };
        }
        drop(resolution);
        request.known.extend(given);
    }
    Answer { data: json!({}), problems: vec!["no end of running actions".to_owned()] }
}

fn is_known(request: &Request, key: &str) -> bool {
    request.known.iter().any(|(known, _)| known == key)
}

/// Runs actions in a copy of the project.
fn execute_all(resolution: &Resolution<'_>, keys: &[String], files: &Path, id: &str) -> Vec<(EcoString, Value)> {
    let Ok(copy) = copy_project(files, id) else { return Vec::new() };
    let given = keys.iter().filter_map(|key| Some((key.into(), execute(resolution, key, &copy)?))).collect();
    // A copy that cannot be removed is left to the system's cleanup.
    let _ = std::fs::remove_dir_all(&copy);
    given
}

fn located(session: &Session, problem: &Diagnostic) -> String {
    let place = problem.span.and_then(|span| {
        let source = session.sources.get(span.file)?;
        Some(format!("{}:{}: ", source.path(), source.position(span.start).line))
    });
    format!("{}{}", place.unwrap_or_default(), problem.message)
}

/// Runs an action the way `exec` does.
fn execute(resolution: &Resolution<'_>, key: &str, project: &Path) -> Option<Value> {
    let action = resolution.graph().actions.get(key)?;
    let spec = resolution.action(key)?.spec;
    let words = spec.get("command").and_then(Value::as_list)?;
    let words: Vec<String> = words.iter().map(|word| purlin_garden::expr::text_of(word).to_string()).collect();
    // The type of the original's own test projects returns its command instead of running it.
    if action.type_name == "test" {
        return Some(Value::map(Map::from_iter([("log".into(), Value::str(words.join(" ")))])));
    }
    let shell = spec.get("shell").and_then(Value::as_bool).unwrap_or(false);
    let mut command = match (shell, words.split_first()) {
        (true, _) => {
            let mut command = std::process::Command::new("/bin/sh");
            command.arg("-c").arg(words.join(" "));
            command
        }
        (false, Some((program, arguments))) => {
            let mut command = std::process::Command::new(program);
            command.args(arguments);
            command
        }
        (false, None) => return None,
    };
    let folder = project.join(&action.source_folder);
    let output = command.current_dir(folder).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let log = format!("{stdout}\n{stderr}").trim().to_owned();
    Some(Value::map(Map::from_iter([
        ("log".into(), Value::str(log)),
        ("stdout".into(), Value::str(stdout)),
        ("stderr".into(), Value::str(stderr)),
    ])))
}

/// The resolution in the form of the recorded answers, and the actions whose outputs it needs.
fn described(session: &Session, resolution: &Resolution<'_>, expected: &Json) -> (Json, Vec<String>) {
    let root = session.world.root().to_owned();
    let mut waiting = Vec::new();
    let mut shown = |value: &Value| {
        wanted_tasks(value, &mut waiting);
        plain(value, &root)
    };
    let mut actions = JsonMap::new();
    for (key, action) in &resolution.graph().actions {
        let found = resolution.action(key);
        let mut config: Map = action.fields.clone();
        config.insert("variables".into(), action.variables().map_or_else(|| Value::map(Map::new()), |d| d.written()));
        config.insert("spec".into(), action.spec().written());
        let version = resolution.live.written_version(session, key);
        let dependencies = resolution.needs(key).iter().map(|need| {
            json!({"kind": need.kind.name(), "name": need.name.as_str(), "explicit": need.explicit,
                   "needsStaticOutputs": need.needs_static, "needsExecutedOutputs": need.needs_executed})
        });
        let resolved = found.map(|found| {
            // The recordings contain values known without running; outputs of actions run by this suite are left out.
            let ran = resolution.ground.outputs.get(key.as_str()).and_then(Value::as_map);
            let outputs = found.outputs.as_map().cloned().unwrap_or_default().into_entries().into_iter();
            let outputs: Map = outputs.filter(|(key, _)| !ran.is_some_and(|ran| ran.contains_key(key))).collect();
            json!({"spec": shown(&found.spec), "variables": shown(&resolution.action_variables(key)), "outputs": shown(&Value::map(outputs))})
        });
        actions.insert(key.to_string(), json!({
            "kind": action.kind.name(), "type": action.type_name.as_str(), "name": action.name.as_str(),
            "disabled": action.disabled,
            "module": action.module.as_ref().map(|module| module.module.as_str()),
            "dependencies": dependencies.collect::<Vec<_>>(),
            "config": shown(&Value::map(config)),
            "basePath": format!("<PROJECT>/{}", action.config.folder).trim_end_matches("/.").to_owned(),
            "version": version.map(|v| json!({
                "configVersion": v.config.as_str(), "sourceVersion": v.source.as_str(),
                "versionString": v.string.as_str(), "versionStringFull": v.full.as_str(),
                "dependencyVersions": v.dependencies.iter().map(|(k, v)| (k.to_string(), json!(v.as_str()))).collect::<JsonMap<_, _>>(),
                "files": *v.files,
            })),
            "resolved": resolved,
        }));
    }
    let modules: Vec<Json> = resolution.modules.iter().map(|module| {
        let copies = |dependency: &purlin_garden::modules::BuildDependency| -> Vec<Json> {
            dependency.copy.iter().map(|(s, t)| json!({"source": s.as_str(), "target": t.as_str()})).collect()
        };
        let texts = |key: &str| module.names(key).iter().map(|name| name.to_string()).collect::<Vec<_>>();
        json!({
            "name": module.name().as_str(), "type": module.config.type_name.as_str(), "version": module.version.as_str(),
            "disabled": module.disabled,
            "buildDependencies": module.dependencies.iter().map(|d| json!({"name": d.name.as_str(), "copy": copies(d)})).collect::<Vec<_>>(),
            "services": texts("services"), "tasks": texts("tasks"), "tests": texts("tests"),
            "variables": module.variables().map_or(json!({}), |draft| plain(&draft.written(), &root)),
        })
    }).collect();
    let workflows = resolution.workflows.iter().map(|workflow| {
        let mut map = workflow.body.written().as_map().cloned().unwrap_or_default();
        map.insert("name".into(), Value::str(workflow.name.clone()));
        plain(&Value::map(map), &root)
    });
    let workflows: Vec<Json> = workflows.collect();
    let mut data = json!({
        "projectName": resolution.project.name.as_str(),
        "environmentName": resolution.project.environment.as_str(),
        "namespace": resolution.project.namespace.as_str(),
        "variables": shown(&resolution.variables()),
        "actions": actions, "modules": modules, "workflows": workflows,
    });
    if expected.get("outputs").is_some() || expected.get("outputsError").is_some() {
        let outputs = resolution.outputs();
        let list: Vec<Json> = outputs
            .as_map()
            .map(|map| map.iter().map(|(name, value)| json!({"name": name.as_str(), "value": shown(value)})).collect())
            .unwrap_or_default();
        if let Some(map) = data.as_object_mut() {
            map.insert("outputs".to_owned(), json!(list));
        }
    }
    (data, waiting)
}

fn wanted_tasks(value: &Value, tasks: &mut Vec<String>) {
    value.any(|value| {
        if let Data::Pending(pending) = &value.data {
            PENDING.with_borrow_mut(|found| found.extend(pending.tasks.iter().map(|task| task.to_string())));
        }
        false
    });
    tasks.extend(PENDING.take());
}

std::thread_local! {
    static PENDING: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// A value as JSON, with the project's folder replaced as in the recordings.
fn plain(value: &Value, root: &str) -> Json {
    let text = json::write(value, KeyOrder::Written).replace(root, "<PROJECT>");
    serde_json::from_str(&text).unwrap_or(Json::Null)
}

/// All differences between the recorded answer and ours; none if they agree.
fn differences(expected: &Json, answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(error) = expected.get("error").and_then(Json::as_str) {
        compare_error("error", error, answer, &mut found);
        return found;
    }
    let mut excused = Vec::new();
    for key in ["projectName", "environmentName", "namespace", "variables"] {
        compare(key, expected.get(key).unwrap_or(&Json::Null), answer.data.get(key).unwrap_or(&Json::Null), &mut found);
    }
    compare_unordered("modules", expected, answer, &mut found);
    compare_unordered("workflows", expected, answer, &mut found);
    if expected.get("outputs").is_some() {
        compare("outputs", &expected["outputs"], &answer.data["outputs"], &mut found);
    }
    if let Some(error) = expected.get("outputsError").and_then(Json::as_str) {
        compare_error("outputs", error, answer, &mut found);
        excused.push("outputs");
    }
    compare_actions(expected, answer, &mut found, &mut excused);
    if excused.is_empty() && !answer.problems.is_empty() {
        found.push(format!("problems: {}", answer.problems.join("; ")));
    }
    found
}

fn compare_actions(expected: &Json, answer: &Answer, found: &mut Vec<String>, excused: &mut Vec<&str>) {
    let empty = JsonMap::new();
    let theirs = expected.get("actions").and_then(Json::as_object).unwrap_or(&empty);
    let ours = answer.data.get("actions").and_then(Json::as_object).unwrap_or(&empty);
    let keys = |map: &JsonMap<String, Json>| {
        let mut keys: Vec<String> = map.keys().cloned().collect();
        keys.sort();
        keys
    };
    if keys(theirs) != keys(ours) {
        found.push(format!("actions: {:?} instead of {:?}", keys(ours), keys(theirs)));
        return;
    }
    for (key, their) in theirs {
        let our = &ours[key];
        for field in ["kind", "type", "name", "disabled", "module", "config"] {
            compare(&format!("{key}.{field}"), &their[field], &our[field], found);
        }
        compare(&format!("{key}.basePath"), &their["internal"]["basePath"], &our["basePath"], found);
        compare_needs(key, their, our, found, excused);
        for (field, error) in [("version", "versionError"), ("resolved", "resolveError")] {
            match their.get(error).and_then(Json::as_str) {
                Some(error) => {
                    excused.push("actions");
                    compare_error(&format!("{key}.{field}"), error, answer, found);
                }
                None if their.get(field).is_some() => {
                    compare(&format!("{key}.{field}"), &their[field], &our[field], found)
                }
                None => {}
            }
        }
    }
}

/// Dependencies in any order. One on an action that does not exist is an error of ours, not an edge.
fn compare_needs(key: &str, their: &Json, our: &Json, found: &mut Vec<String>, excused: &mut Vec<&str>) {
    let sorted = |value: &Json| {
        let mut list: Vec<String> =
            value["dependencies"].as_array().into_iter().flatten().map(Json::to_string).collect();
        list.sort();
        list
    };
    if their.get("versionError").and_then(Json::as_str).is_some_and(|error| error.starts_with("Could not find")) {
        excused.push("dependencies");
        return;
    }
    let (theirs, ours) = (sorted(&canonical(their)), sorted(&canonical(our)));
    if theirs != ours {
        found.push(format!("{key}.dependencies: {ours:?} instead of {theirs:?}"));
    }
}

/// Sorts keys, so that texts can be compared.
fn canonical(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<(String, Json)> = map.iter().map(|(k, v)| (k.clone(), canonical(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

fn compare_unordered(key: &str, expected: &Json, answer: &Answer, found: &mut Vec<String>) {
    let sorted = |value: &Json| {
        let mut list: Vec<String> =
            value[key].as_array().into_iter().flatten().map(|item| canonical(item).to_string()).collect();
        list.sort();
        list
    };
    let (theirs, ours) = (sorted(expected), sorted(&answer.data));
    for (their, our) in theirs.iter().zip(&ours).filter(|(their, our)| their != our) {
        found.push(format!("{key}: {our} instead of {their}"));
    }
    if theirs.len() != ours.len() {
        found.push(format!("{key}: {} instead of {}", ours.len(), theirs.len()));
    }
}

pub(super) fn compare(place: &str, their: &Json, our: &Json, found: &mut Vec<String>) {
    match (their, our) {
        (Json::Object(a), Json::Object(b)) => {
            for (key, value) in a {
                compare(&format!("{place}.{key}"), value, b.get(key).unwrap_or(&Json::Null), found);
            }
            for key in b.keys().filter(|key| !a.contains_key(*key)) {
                found.push(format!("{place}.{key}: {} is too much", b[key]));
            }
        }
        (Json::Number(a), Json::Number(b)) if a.as_f64() == b.as_f64() => {}
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{place}: {b} instead of {a}")),
    }
}

/// An error of the original must be one of ours: with the same names, and on the same line if the original gives one.
fn compare_error(place: &str, error: &str, answer: &Answer, found: &mut Vec<String>) {
    let all = answer.problems.join("\n");
    if all.is_empty() {
        found.push(format!("{place}: no problem found, instead of {error:?}"));
        return;
    }
    for name in names_in(error) {
        if !all.contains(&name) {
            found.push(format!("{place}: `{name}` is not named in {all:?}, instead of {error:?}"));
        }
    }
    for line in error.lines() {
        let Some((file, number)) = line.trim().strip_prefix("<PROJECT>/").and_then(|rest| rest.rsplit_once(':')) else {
            continue;
        };
        if number.parse::<u32>().is_ok() && !all.contains(&format!("{file}:{number}: ")) {
            found.push(format!("{place}: {file}:{number} is not the place of {all:?}"));
        }
    }
}

/// The keys, actions, modules and environments in an error of the original.
pub(super) fn names_in(error: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut after = |marker: &str, ends: &[char]| {
        for (at, _) in error.match_indices(marker) {
            let rest = error.get(at + marker.len()..).unwrap_or("");
            let name = rest.split(ends).next().unwrap_or("").trim_end_matches(['.', ',']);
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
    };
    after("Could not find key ", &[' ', '\n']);
    after("references dependency ", &[' ', ',']);
    after("Unknown kind ", &[' ']);
    after("Could not find Run action ", &[' ', '\n']);
    after("Name ", &[' ']);
    after("Module ", &[' ']);
    after("the name '", &['\'']);
    after("service name '", &['\'']);
    after("task name '", &['\'']);
    after("Environment ", &[' ']);
    after("Config ", &[' ']);
    if let Some((_, ring)) = error.split_once("module configurations:\n\n") {
        names.extend(ring.split(" <- ").map(|name| name.trim().to_owned()));
    }
    names
}
