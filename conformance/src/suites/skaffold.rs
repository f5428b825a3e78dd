//! `skaffold`, `skaffold-commands`: `<group>/<case>/case.json` with arguments, environment, setup and the answer.
//!
//! Each case is copied to a separate folder and run there through `purlin skaffold`, with the permissions that the
//! original implies. YAML and JSON answers are compared document by document. A refusal agrees if we refuse too and
//! name everything the original names.

use crate::scratch::{Scratch, commit_all, copy_folder, fill_in, set_up};
use crate::{Context, Ran, Report, Suite, Verdict, in_parallel, purlin_reading};
use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use purlin_value::emit::to_json;
use purlin_value::{MergeKeys, Secrets, Value, value_of};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How configuration is read.
pub const SUITE: Suite = Suite { name: "skaffold", run };

/// All commands, one folder each.
pub const COMMANDS: Suite = Suite { name: "skaffold-commands", run: run_commands };

struct Case {
    id: String,
    folder: PathBuf,
    json: Json,
}

fn run(context: &Context) -> Report {
    let cases = cases(&context.folder);
    context.run_cases(
        &cases,
        |case| case.id.clone(),
        |case| match Copy::of(case) {
            Ok(copy) => judge(context, case, &copy),
            Err(error) => Verdict::Failed(format!("could not copy the case: {error}")),
        },
    )
}

/// Commands of one set-up (`NAME-0`, `NAME-1`, …) were recorded one after the other in the same folder: files written
/// by one are visible to the next.
fn run_commands(context: &Context) -> Report {
    let mut set_ups: BTreeMap<String, Vec<(usize, Case)>> = BTreeMap::new();
    for case in cases(&context.folder) {
        let name = case.id.rsplit('/').next().unwrap_or_default();
        let (name, number) = name.rsplit_once('-').unwrap_or((name, ""));
        set_ups.entry(name.to_owned()).or_default().push((number.parse().unwrap_or(0), case));
    }
    let mut set_ups: Vec<Vec<(usize, Case)>> = set_ups.into_values().collect();
    set_ups.iter_mut().for_each(|commands| commands.sort_by_key(|(number, _)| *number));
    let one = |index: usize| set_ups.get(index).map(|commands| judge_all(context, commands)).unwrap_or_default();
    let mut verdicts: Vec<_> = in_parallel(context.threads, set_ups.len(), one).into_iter().flatten().collect();
    verdicts.sort_by(|(a, _), (b, _)| a.cmp(b));
    Report { cases: verdicts, notes: Vec::new() }
}

fn judge_all(context: &Context, commands: &[(usize, Case)]) -> Vec<(String, Verdict)> {
    let Some((_, first)) = commands.first().filter(|_| commands.iter().any(|(_, case)| context.wants(&case.id))) else {
        return Vec::new();
    };
    let copy = Copy::of(first).inspect(|copy| commit_all(&copy.case));
    let verdict = |case: &Case| match &copy {
        Ok(copy) => judge(context, case, copy),
        Err(error) => Verdict::Failed(format!("could not copy the case: {error}")),
    };
    let all = commands.iter().map(|(_, case)| (case.id.clone(), verdict(case)));
    all.filter(|(id, _)| context.wants(id)).collect()
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

/// A writable copy of a case, in a separate folder.
struct Copy {
    parent: Scratch,
    case: PathBuf,
}

impl Copy {
    /// Copies the user's files; recorded answers are left out.
    fn of(case: &Case) -> std::io::Result<Copy> {
        let parent = Scratch::new("skaffold", &case.id)?;
        let copy = parent.folder.join(case.folder.file_name().unwrap_or_default());
        copy_folder(&case.folder, &copy)?;
        for file in ["case.json", "stderr.txt", case.text("expected")] {
            let _ = std::fs::remove_file(copy.join(file));
        }
        let copy = Copy { parent, case: copy };
        fill_in(&copy.case, &|text| text.replace("<SCRATCH>", &copy.parent.folder.to_string_lossy()))?;
        Ok(copy)
    }

    fn place(&self, text: &str) -> String {
        let (case, parent) = (self.case.to_string_lossy(), self.parent.folder.to_string_lossy());
        text.replace("${CASE_PARENT}", &parent).replace("${CASE}", &case).replace("<SCRATCH>", &parent)
    }
}

fn judge(context: &Context, case: &Case, scratch: &Copy) -> Verdict {
    let ran = execute(case, scratch);
    let ours = answer(case, scratch, &ran);
    let ours = ours.replace(&*scratch.parent.folder.join("home").to_string_lossy(), "${HOME}");
    let ours = without_cache_name(&ours);
    let ours = ours.replace(&*scratch.case.to_string_lossy(), "${CASE}");
    let ours = ours.replace(&*scratch.parent.folder.to_string_lossy(), "${CASE_PARENT}");
    let (agrees, theirs) = compare(case, &ran, &ours);
    context.judge(&case.id, agrees, headline(&ours), || difference(&theirs, &ours))
}

fn execute(case: &Case, scratch: &Copy) -> Ran {
    let cwd = scratch.case.join(case.text("cwd"));
    let path = std::env::var("PATH").unwrap_or_default();
    let home = scratch.parent.folder.join("home").to_string_lossy().into_owned();
    let base = [("PATH", path), ("HOME", home), ("TZ", "UTC".into()), ("KUBECONFIG", "/nonexistent".into())];
    let mut env: Vec<(String, String)> = base.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let own = case.json.get("env").and_then(Json::as_object).cloned().unwrap_or_default();
    for (name, value) in own {
        env.retain(|(known, _)| *known != name);
        env.push((name, scratch.place(value.as_str().unwrap_or_default())));
    }
    for line in case.list("setup") {
        set_up(&scratch.place(&line), &scratch.case);
    }
    let mut args = vec!["skaffold".to_owned()];
    args.extend(case.list("args").iter().map(|arg| scratch.place(arg)));
    // Permissions that the original implies.
    let parent = scratch.parent.folder.to_string_lossy().into_owned();
    args.extend(["--allow-path".to_owned(), parent, "--allow-exec".to_owned()]);
    args.extend(["--allow-net".to_owned(), "git.example.com".to_owned()]);
    let stdin = case.text("stdin");
    let input = if stdin.is_empty() { Vec::new() } else { std::fs::read(scratch.case.join(stdin)).unwrap_or_default() };
    purlin_reading(&args, &cwd, &env, &input)
}

/// Our answer in canonical form: JSON lines, one per document; or `error:` and our message.
fn answer(case: &Case, scratch: &Copy, ran: &Ran) -> String {
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

/// A stated answer contains the problem, not the lines around it.
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

/// A text without the folders of fetched repositories: their names are hashes of addresses that contain the case's
/// folder.
fn without_cache_name(text: &str) -> String {
    let mut parts = text.split("/.skaffold/remote-cache/");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.find(['/', '"', '`']).unwrap_or(part.len());
        kept.push_str("/.skaffold/remote-cache/NAME");
        kept.push_str(part.get(name..).unwrap_or_default());
    }
    kept
}

fn compare(case: &Case, ran: &Ran, ours: &str) -> (bool, String) {
    if case.fails() {
        let theirs = &plain_message(case.text("error"));
        let missing: Vec<String> = names(theirs).into_iter().filter(|name| !mentions(ours, name)).collect();
        let shown = format!("error: {theirs}\n  names we do not mention: {missing:?}");
        return (ran.code != 0 && missing.is_empty(), shown);
    }
    let recorded = std::fs::read_to_string(case.folder.join(case.text("expected"))).unwrap_or_default();
    let theirs = without_cache_name(&canonical(&recorded, case.text("format")));
    // Each program has its own wording of help pages.
    let is_help =
        case.text("command") == "options" || case.list("args").iter().any(|arg| arg == "--help" || arg == "-h");
    (theirs == ours || (is_help && ran.code == 0 && !ran.stdout.is_empty()), theirs)
}

/// A message of the original without its JSON, without the location of the problem (we point at it), and without the
/// advice after it.
fn plain_message(message: &str) -> String {
    let json = serde_json::from_str::<Json>(message).ok();
    let text = json.as_ref().and_then(|json| json["errorMessage"].as_str()).unwrap_or(message);
    let mut kept = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once("source: ") {
            kept.push_str(before);
            rest =
                behind.split_once(" column ").and_then(|(_, tail)| tail.split_once(": ")).map_or("", |(_, tail)| tail);
        }
        kept.push_str(rest);
        kept.push('\n');
    }
    let advice = [" Check that ", " There's an issue with ", " Modify the ", " defined in file "];
    let end = advice.iter().filter_map(|words| kept.find(words)).min().unwrap_or(kept.len());
    let context = kept.get(..end).unwrap_or(&kept);
    // Advice follows the message, a file is in the middle of it.
    let behind = kept.split_once(": applying profile ").map(|(_, tail)| format!("applying profile {tail}"));
    let behind =
        behind.map(|tail| tail.split(" There's an issue").next().unwrap_or_default().trim_end_matches('.').to_owned());
    behind.unwrap_or_else(|| context.to_owned())
}

/// The names in a message of the original: quoted texts, and the words after its fixed phrases.
fn names(message: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['"', '\'', '`'] {
        let parts: Vec<&str> = message.split(quote).collect();
        // Quoted texts are the odd parts; prose between two apostrophes does not count.
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
        // Several names are next to each other, each in separate quotes.
        let line = word.and_then(|word| word.lines().next()).unwrap_or_default();
        found.extend(line.trim().trim_matches('"').split("\" \"").map(str::to_owned));
    }
    // Patterns and addresses for further reading are not names.
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
