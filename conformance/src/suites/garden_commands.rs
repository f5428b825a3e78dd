//! `garden-commands`: `<project>/case.json` with lists of arguments, `files/`, and `expected/<n>.garden.json` per
//! command.
//!
//! Each project is copied to a separate folder, a git repository with one commit, and its commands are run there in
//! order through `purlin garden`, with the permissions that the original implies. A command is a case. Answers are
//! compared value by value, without parts that differ between runs: times, unique ids, temporary folders. For commands
//! that run actions the results are compared. A refusal agrees if we refuse too and name what the original names.

use super::garden_projects::{compare, names_in};
use crate::scratch::{Scratch, commit_all, copy_folder, fill_in, set_up};
use crate::{Context, Ran, Report, Suite, Verdict, in_parallel, purlin};
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};

/// The suite.
pub const SUITE: Suite = Suite { name: "garden-commands", run };

/// Commands that run actions; their results are compared.
const RUNNING: &[&str] = &["build", "deploy", "run", "test"];

/// Keys whose values differ between runs; `cached` means that a provider was asked within the hour.
const VOLATILE: &[&str] = &["uid", "startedAt", "completedAt", "stack", "duration", "cached"];

/// Words in files whose versions depend on the project's folder.
const OF_THE_FOLDER: &[&str] = &["<SCRATCH>", "buildPath", "sourcePath", "projectPath", ".path"];

/// Keys of versions.
const VERSIONS: &[&str] = &["version", "configVersion", "sourceVersion", "versionString", "dependencyVersions"];

struct Project {
    name: String,
    folder: PathBuf,
    json: Json,
}

fn run(context: &Context) -> Report {
    let projects = projects(&context.folder);
    let one = |index: usize| projects.get(index).map(|project| judge_project(context, project)).unwrap_or_default();
    let verdicts = in_parallel(context.threads, projects.len(), one);
    Report { cases: verdicts.into_iter().flatten().collect(), notes: Vec::new() }
}

fn projects(folder: &Path) -> Vec<Project> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let project = |folder: PathBuf| {
        let text = std::fs::read_to_string(folder.join("case.json")).ok()?;
        let json = serde_json::from_str(&text).ok()?;
        Some(Project { name: folder.file_name()?.to_string_lossy().into_owned(), folder, json })
    };
    folders.into_iter().filter_map(project).collect()
}

fn texts(value: &Json) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

impl Project {
    fn commands(&self) -> Vec<Vec<String>> {
        self.json["commands"].as_array().into_iter().flatten().map(texts).collect()
    }

    /// Whether versions depend on the project's folder, which differs on each machine.
    fn counts_folder(&self) -> bool {
        counts_folder(&self.folder.join("files"))
    }

    /// The lines of `setup`: one text, a list, or none.
    fn setup(&self) -> Vec<String> {
        self.json["setup"].as_str().map_or_else(|| texts(&self.json["setup"]), |line| vec![line.to_owned()])
    }
}

fn counts_folder(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mentions = |path: PathBuf| match path.is_dir() {
        true => counts_folder(&path),
        false => std::fs::read_to_string(&path).is_ok_and(|text| OF_THE_FOLDER.iter().any(|word| text.contains(word))),
    };
    entries.into_iter().any(mentions)
}

/// A value without versions, at the top or in texts.
fn without_versions(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !VERSIONS.contains(&key.as_str()) || map[*key].is_object());
            Json::Object(kept.map(|(key, value)| (key.clone(), without_versions(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(without_versions).collect()),
        Json::String(text) => Json::String(without_version_texts(text)),
        other => other.clone(),
    }
}

/// A text without `v-` and the ten digits after it.
fn without_version_texts(text: &str) -> String {
    let mut parts = text.split("v-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str("v-");
        out.push_str(if digits == 10 { part.get(10..).unwrap_or_default() } else { part });
    }
    out
}

/// The copy of a project and the folder next to it.
struct Copy {
    scratch: Scratch,
    project: PathBuf,
}

impl Copy {
    fn of(project: &Project) -> std::io::Result<Copy> {
        let scratch = Scratch::new("garden-commands", &project.name)?;
        let copy = Copy { project: scratch.folder.join("project"), scratch };
        copy_folder(&project.folder.join("files"), &copy.project)?;
        fill_in(&copy.project, &|text| copy.place(text))?;
        for line in project.setup() {
            set_up(&copy.place(&line), &copy.project);
        }
        if project.json["git"].as_bool().unwrap_or(true) {
            commit_all(&copy.project);
        }
        Ok(copy)
    }

    fn place(&self, text: &str) -> String {
        let (project, scratch) = (self.project.to_string_lossy(), self.scratch.folder.to_string_lossy());
        text.replace("<PROJECT>", &project).replace("<SCRATCH>", &scratch)
    }

    fn unplace(&self, text: &str) -> String {
        let (project, scratch) = (self.project.to_string_lossy(), self.scratch.folder.to_string_lossy());
        text.replace(&*project, "<PROJECT>").replace(&*scratch, "<SCRATCH>")
    }
}

fn judge_project(context: &Context, project: &Project) -> Vec<(String, Verdict)> {
    let commands = project.commands();
    let ids: Vec<String> = (0..commands.len()).map(|at| format!("{}/{at}", project.name)).collect();
    if !ids.iter().any(|id| context.wants(id)) {
        return Vec::new();
    }
    let copy = match Copy::of(project) {
        Ok(copy) => copy,
        Err(error) => {
            let why = format!("could not copy the project: {error}");
            return ids.into_iter().map(|id| (id, Verdict::Failed(why.clone()))).collect();
        }
    };
    let mut verdicts = Vec::new();
    for (at, (id, args)) in ids.into_iter().zip(&commands).enumerate() {
        let verdict = judge(context, project, &copy, &id, at, args);
        if context.wants(&id) {
            verdicts.push((id, verdict));
        }
    }
    verdicts
}

fn judge(context: &Context, project: &Project, copy: &Copy, id: &str, at: usize, args: &[String]) -> Verdict {
    if args.starts_with(&["get".to_owned(), "variables".to_owned()]) {
        return Verdict::Skipped("asks Garden Cloud".to_owned());
    }
    let recorded = std::fs::read_to_string(project.folder.join(format!("expected/{at}.garden.json")));
    let Some(expected) = recorded.ok().and_then(|text| serde_json::from_str::<Json>(&text).ok()) else {
        return Verdict::Failed("the recorded answer could not be read".to_owned());
    };
    let ran = execute(project, copy, args);
    let said = copy.unplace(&format!("{}{}", ran.stderr, String::from_utf8_lossy(&ran.stdout)));
    let has_failed = expected["code"].as_i64() != Some(0);
    let shown = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let ours = match (has_failed, ran.code != 0) {
        (true, false) => {
            found.push(format!("accepted, instead of {}", message(&expected)));
            "accepted".to_owned()
        }
        (false, true) => {
            found.push(format!("refused: {shown}"));
            format!("refused: {}", headline(&said))
        }
        (true, true) => {
            let names = causes(&message(&expected));
            found.extend(
                names
                    .iter()
                    .filter(|name| !said.contains(name.as_str()))
                    .map(|name| format!("`{name}` is not named in {shown:?}, instead of {:?}", message(&expected))),
            );
            format!("refused: {}", headline(&said))
        }
        (false, false) => {
            let (theirs, ours) = (recorded_value(&expected, args), our_value(copy, &ran, args));
            let known = |value: Json| if project.counts_folder() { without_versions(&value) } else { value };
            compare("", &known(theirs), &known(ours), &mut found);
            found.join("\n")
        }
    };
    context.judge(id, found.is_empty(), &ours, || format!("\n    {}", found.join("\n    ")))
}

fn execute(project: &Project, copy: &Copy, args: &[String]) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = copy.scratch.folder.join("home").to_string_lossy().into_owned();
    let quiet = ["GARDEN_DISABLE_ANALYTICS", "GARDEN_DISABLE_VERSION_CHECK"].map(|name| (name, "true".to_owned()));
    let base = [("PATH", path), ("HOME", home), ("TZ", "UTC".to_owned()), ("USER", "root".to_owned())];
    let mut env: Vec<(String, String)> =
        base.into_iter().chain(quiet).map(|(name, value)| (name.to_owned(), value)).collect();
    for (name, value) in project.json["env"].as_object().into_iter().flatten() {
        env.retain(|(known, _)| known != name);
        env.push((name.clone(), copy.place(value.as_str().unwrap_or_default())));
    }
    // Permissions that the original implies.
    let mut all = vec!["--allow-exec".to_owned(), "--allow-path".to_owned()];
    all.push(copy.scratch.folder.to_string_lossy().into_owned());
    all.push("garden".to_owned());
    all.extend(args.iter().map(|arg| copy.place(arg)));
    all.extend(["--output", "json"].map(str::to_owned));
    purlin(&all, &copy.project, &env)
}

/// The original's message, without its stack traces and help text.
fn message(expected: &Json) -> String {
    let messages = |list: &Json| {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(|error| error["message"].as_str()).collect::<Vec<_>>().join("\n")
    };
    match &expected["output"] {
        Json::String(text) => text.lines().next().unwrap_or_default().to_owned(),
        output => messages(&output["errors"]),
    }
}

/// The first problem we report.
fn headline(said: &str) -> String {
    let line = said.lines().find(|line| line.starts_with("error"));
    line.map_or_else(|| said.lines().next().unwrap_or_default().to_owned(), str::to_owned)
}

/// The names in an error of the original: those that `garden-projects` looks for, and those after these phrases.
fn causes(message: &str) -> Vec<String> {
    let mut names = names_in(message);
    // A name in quotes, or with text after it, is shortened to the name.
    for name in &mut names {
        let first = name.split([' ', '\n', ':']).next().unwrap_or_default();
        *name = first.trim_matches('\'').to_owned();
    }
    const PHRASES: &[(&str, &str)] = &[
        ("The default environment '", "'"),
        ("key \"", "\" is not allowed"),
        ("Could not find workflow(s): ", ". "),
        ("with value \"", "\" fails"),
        ("Could not find varfile at path '", "'"),
        ("Could not find build dependency ", ","),
        ("does not specify environment ", " "),
        ("environment specified (", ")"),
        ("node was:\"Run.", "\""),
        ("Run action ", " is declared"),
    ];
    for (before, after) in PHRASES {
        let found = message.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        names.extend(found.map(|(name, _)| name.to_owned()));
    }
    if let Some((path, _)) = message.split_once(" is required at path") {
        let key = path.rsplit(char::is_whitespace).next().unwrap_or(path);
        let last = key.rsplit(['.', '[']).next().unwrap_or(key);
        names.push(last.trim_matches(']').to_owned());
    }
    names
}

fn recorded_value(expected: &Json, args: &[String]) -> Json {
    let result = match expected.get("output") {
        Some(output) => output["result"].clone(),
        None => expected.clone(),
    };
    reduced(&result, args)
}

fn our_value(copy: &Copy, ran: &Ran, args: &[String]) -> Json {
    let text = copy.unplace(&String::from_utf8_lossy(&ran.stdout));
    match serde_json::from_str::<Json>(&text) {
        Ok(answer) => reduced(&answer["result"], args),
        Err(error) => Json::String(format!("unreadable: {error}: {text}")),
    }
}

/// The compared part of an answer.
fn reduced(result: &Json, args: &[String]) -> Json {
    if !args.first().is_some_and(|command| RUNNING.contains(&command.as_str())) {
        return stable(result);
    }
    let entry = |(key, result): (&String, &Json)| {
        // Shortened recordings have the version at the top.
        let version = [&result["result"]["version"], &result["version"]].into_iter().find(|found| !found.is_null());
        let kept = Map::from_iter([
            ("success".to_owned(), result["success"].clone()),
            ("aborted".to_owned(), result["aborted"].clone()),
            ("outputs".to_owned(), stable(&result["outputs"])),
            ("version".to_owned(), version.cloned().unwrap_or_default()),
        ]);
        (key.clone(), Json::Object(kept))
    };
    Json::Object(result["graphResults"].as_object().into_iter().flatten().map(entry).collect())
}

/// A value without parts that differ between runs.
fn stable(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
            Json::Object(kept.map(|(key, value)| (key.clone(), stable(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(stable).collect()),
        Json::String(text) => Json::String(without_temporary(&without_source_hash(text))),
        other => other.clone(),
    }
}

/// A path in the folder of remote sources without the hash of its address, which contains the case's folder.
fn without_source_hash(text: &str) -> String {
    let Some((before, rest)) = text.split_once("/.garden/sources/") else { return text.to_owned() };
    let Some((name, behind)) = rest.split_once("--") else { return text.to_owned() };
    let tail = behind.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    format!("{before}/.garden/sources/{name}--HASH{tail}")
}

/// A text without the names of temporary folders that commands see.
fn without_temporary(text: &str) -> String {
    let Some((before, _)) = text.split_once("GARDEN_ACTION_") else { return text.to_owned() };
    // One of these names is from Garden's documentation, but not set by Garden itself.
    let kept = text.lines().filter(|line| !line.contains("_OUTPUTS_PATH=") && !line.contains("_OUTPUTS_JSON_PATH="));
    if before.is_empty() || before.ends_with('\n') { kept.collect::<Vec<_>>().join("\n") } else { text.to_owned() }
}
