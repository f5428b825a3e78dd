//! `skaffold`: `<group>/<case>/case.json` with arguments, environment and setup; the answer beside it.
//!
//! Each case is copied to a folder of its own and run there through `purlin skaffold`, with the permissions the
//! original takes for granted. YAML and JSON answers are compared document by document. A refusal agrees if we
//! refuse too and name everything the original names.

use crate::{Context, Ran, Report, Suite, Verdict, purlin_reading};
use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use purlin_value::emit::to_json;
use purlin_value::{MergeKeys, Secrets, Value, value_of};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The suite.
pub const SUITE: Suite = Suite { name: "skaffold", run };

struct Case {
    id: String,
    folder: PathBuf,
    json: Json,
}

fn run(context: &Context) -> Report {
    let cases = cases(&context.folder);
    context.run_cases(&cases, |case| case.id.clone(), |case| judge(context, case))
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut found = Vec::new();
    for group in folders(folder) {
        for case in folders(&group) {
            let text = std::fs::read_to_string(case.join("case.json")).unwrap_or_default();
            let Ok(json) = serde_json::from_str::<Json>(&text) else { continue };
            let id = json.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
            found.push(Case { id, folder: case, json });
        }
    }
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

impl Case {
    fn text(&self, key: &str) -> &str {
        self.json.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    fn list(&self, key: &str) -> Vec<String> {
        let items = self.json.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        items.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    fn fails(&self) -> bool {
        self.text("expected") == "error"
    }
}

/// A copy of a case that can be written to, removed when it is no longer needed.
struct Scratch {
    parent: PathBuf,
    case: PathBuf,
}

impl Scratch {
    fn of(case: &Case) -> std::io::Result<Scratch> {
        let name = case.id.replace(['/', '@'], "-");
        let parent = std::env::temp_dir().join(format!("purlin-skaffold-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&parent);
        std::fs::create_dir_all(&parent)?;
        let parent = parent.canonicalize()?;
        let copy = parent.join(case.folder.file_name().unwrap_or_default());
        copy_folder(&case.folder, &copy)?;
        Ok(Scratch { parent, case: copy })
    }

    fn place(&self, text: &str) -> String {
        let (case, parent) = (self.case.to_string_lossy(), self.parent.to_string_lossy());
        text.replace("${CASE_PARENT}", &parent).replace("${CASE}", &case)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.parent);
    }
}

/// Copies what the user would have; recorded answers stay behind.
fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            std::fs::write(&target, std::fs::read(&source)?)?;
        }
    }
    Ok(())
}

fn judge(context: &Context, case: &Case) -> Verdict {
    let scratch = match Scratch::of(case) {
        Ok(scratch) => scratch,
        Err(error) => return Verdict::Failed(format!("cannot copy the case: {error}")),
    };
    let ran = execute(case, &scratch);
    let ours = answer(case, &scratch, &ran);
    let ours = ours.replace(&*scratch.parent.join("home").to_string_lossy(), "${HOME}");
    let ours = ours.replace(&*scratch.case.to_string_lossy(), "${CASE}");
    let ours = ours.replace(&*scratch.parent.to_string_lossy(), "${CASE_PARENT}");
    let (agrees, theirs) = compare(case, &ran, &ours);
    context.judge(&case.id, agrees, headline(&ours), || difference(&theirs, &ours))
}

fn execute(case: &Case, scratch: &Scratch) -> Ran {
    let cwd = scratch.case.join(case.text("cwd"));
    let path = std::env::var("PATH").unwrap_or_default();
    let home = scratch.parent.join("home").to_string_lossy().into_owned();
    let base = [("PATH", path), ("HOME", home), ("TZ", "UTC".into()), ("KUBECONFIG", "/nonexistent".into())];
    let mut env: Vec<(String, String)> = base.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let own = case.json.get("env").and_then(Json::as_object).cloned().unwrap_or_default();
    for (name, value) in own {
        env.retain(|(known, _)| *known != name);
        env.push((name, scratch.place(value.as_str().unwrap_or_default())));
    }
    for line in case.list("setup") {
        let identity = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        let mut command = Command::new("sh");
        command.arg("-c").arg(&line).current_dir(&scratch.case);
        identity.iter().for_each(|name| {
            command.env(name, "case@example.com");
        });
        let _ = command.output();
    }
    let mut args = vec!["skaffold".to_owned()];
    args.extend(case.list("args").iter().map(|arg| scratch.place(arg)));
    // What the original takes for granted.
    let parent = scratch.parent.to_string_lossy().into_owned();
    args.extend(["--allow-path".to_owned(), parent, "--allow-exec".to_owned()]);
    args.extend(["--allow-net".to_owned(), "git.example.com".to_owned()]);
    let stdin = case.text("stdin");
    let input = if stdin.is_empty() { Vec::new() } else { std::fs::read(scratch.case.join(stdin)).unwrap_or_default() };
    purlin_reading(&args, &cwd, &env, &input)
}

/// Our answer in canonical form: JSON lines, one per document; or `error:` and what we said.
fn answer(case: &Case, scratch: &Scratch, ran: &Ran) -> String {
    let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.code != 0 {
        return format!("error: {}", said(ran, &stdout));
    }
    let outfile = case.text("outfile");
    let text = match outfile {
        "" => stdout,
        file => std::fs::read_to_string(scratch.case.join(file)).unwrap_or_default(),
    };
    canonical(&text, case.text("format"))
}

/// A stated answer names the problem, not the lines around it.
fn headline(ours: &str) -> &str {
    match ours.strip_prefix("error: ") {
        Some(said) => said.split(" --> ").next().unwrap_or(said),
        None => ours,
    }
}

fn said(ran: &Ran, stdout: &str) -> String {
    let both = format!("{}\n{stdout}", ran.stderr);
    both.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The documents of a text as lines of JSON with sorted keys.
fn canonical(text: &str, format: &str) -> String {
    if format == "text" {
        return text.trim().to_owned();
    }
    let source = Arc::new(Source::new(FileId(0), "answer", text));
    let tree = yaml::parse(source, Flavor::CoreGo, &Limits::default());
    if !tree.is_sound() {
        return format!("unreadable: {text}");
    }
    let documents = tree.roots().filter(|root| !root.is_null()).map(|root| {
        let value = sorted(&value_of(root, MergeKeys::Apply));
        to_json(&value, Secrets::Reveal, purlin_syntax::write::JsonLayout::Compact).unwrap_or_default()
    });
    documents.collect::<Vec<_>>().join("\n")
}

fn sorted(value: &Value) -> Value {
    if let Some(map) = value.as_map() {
        let mut entries: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        return Value::map(entries.into_iter().collect());
    }
    match value.as_list() {
        Some(items) => Value::list(items.iter().map(sorted).collect()),
        None => value.clone(),
    }
}

fn compare(case: &Case, ran: &Ran, ours: &str) -> (bool, String) {
    if case.fails() {
        let theirs = case.text("error");
        let missing: Vec<String> = names(theirs).into_iter().filter(|name| !mentions(ours, name)).collect();
        let shown = format!("error: {theirs}\n  names we do not mention: {missing:?}");
        return (ran.code != 0 && missing.is_empty(), shown);
    }
    let recorded = std::fs::read_to_string(case.folder.join(case.text("expected"))).unwrap_or_default();
    let theirs = canonical(&recorded, case.text("format"));
    (theirs == ours, theirs)
}

/// What a message of the original is about: whatever stands in quotes, and the words its fixed phrases lead to.
fn names(message: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['"', '\'', '`'] {
        let parts: Vec<&str> = message.split(quote).collect();
        // Texts in quotes are the odd parts; what looks like prose between two apostrophes is none.
        found.extend(parts.iter().skip(1).step_by(2).filter(|part| !part.contains(' ')).map(|part| (*part).to_owned()));
    }
    const PHRASES: &[(&str, &str)] = &[
        ("field ", " not found"),
        ("required value not set: ", ""),
        ("element in set ", " can be set"),
        ("selection [", "]"),
        ("invalid path: ", ""),
        ("duplicate release name ", ""),
        ("non-existent release ", ""),
    ];
    for (before, after) in PHRASES {
        let Some((_, rest)) = message.split_once(before) else { continue };
        let word = if after.is_empty() { Some(rest) } else { rest.split_once(after).map(|(word, _)| word) };
        // Several names stand beside each other, each in quotes of its own.
        let line = word.and_then(|word| word.lines().next()).unwrap_or_default();
        found.extend(line.trim().trim_matches('"').split("\" \"").map(str::to_owned));
    }
    // Patterns and addresses for further reading name nothing.
    found.retain(|name| !name.is_empty() && !name.starts_with('^') && name != "[/usr/local/bin/git");
    found
}

fn mentions(ours: &str, name: &str) -> bool {
    // Paths below the case are shown as the user would write them.
    let inside = |place: &str| ours.contains(&format!("`{place}")) || ours.contains(&format!("--> {place}:"));
    ours.contains(name) || name.strip_prefix("${CASE}/").is_some_and(inside)
}

fn difference(theirs: &str, ours: &str) -> String {
    let first = theirs.lines().zip(ours.lines()).find(|(a, b)| a != b);
    match first {
        Some((theirs, ours)) => format!("\n    theirs: {theirs}\n    ours:   {ours}"),
        None => format!("\n    theirs: {theirs}\n    ours:   {ours}"),
    }
}
