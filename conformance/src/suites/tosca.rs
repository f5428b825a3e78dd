//! The `tosca` suite: verdicts, problems and Clouts of Puccini, and the OASIS community suite's expected results.
//!
//! Three counts are printed separately; the suite's total counts verdicts. For TOSCA 2.0 the reference is the community
//! suite and the standard, since the recorded tool reads a draft of it. Files in 2.0 without either reference are tried
//! too: each refused one has its reason in `drafts/tosca.toml`, and fails if it is refused for another one.

use crate::deviations::Deviations;
use crate::{Context, Report, Suite, Verdict};
use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_syntax::Node;
use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};
use purlin_tosca::clout;
use purlin_tosca::compile::{Compiled, Settings, Substitution, compile, is_invalid};
use purlin_tosca::locate::{Location, locate};
use purlin_tosca::quirks::Quirks;
use purlin_tosca::read::Role;
use purlin_value::Session;
use purlin_value::world::Moment;
use serde_json::Value as Json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The suite.
pub const SUITE: Suite = Suite { name: "tosca", run };

/// One line of the manifest.
struct Case {
    id: String,
    json: Json,
}

impl Case {
    fn text(&self, key: &str) -> &str {
        self.json.get(key).and_then(Json::as_str).unwrap_or("")
    }

    fn flag(&self, key: &str) -> bool {
        self.json.get(key).and_then(Json::as_bool).unwrap_or(false)
    }

    /// Why a case cannot be judged here, if so.
    fn skip(&self) -> Option<&'static str> {
        let version = self.text("version");
        if self.flag("network") && self.text("suite_expected").is_empty() {
            return Some("needs the network");
        }
        if version.starts_with("cloudify_dsl") || self.text("path").contains("/cloudify/") {
            return Some("Cloudify");
        }
        if version.chars().next().is_some_and(|c| c.is_ascii_digit()) && version.contains('-') {
            return Some("HOT");
        }
        if self.text("path").contains("/javascript/") {
            return Some("JavaScript");
        }
        None
    }

    /// The verdict to compare with: the community suite's, otherwise the recorded one if it counts.
    fn expected(&self) -> Option<bool> {
        match self.text("suite_expected") {
            "valid" => return Some(true),
            "invalid" => return Some(false),
            _ => {}
        }
        if self.text("version") == "tosca_2_0" {
            return None;
        }
        Some(self.text("outcome") == "valid")
    }
}

/// Runs the suite.
pub fn run(context: &Context) -> Report {
    let cases: Vec<Case> = context
        .json_lines("manifest.jsonl")
        .into_iter()
        .filter_map(|json| Some(Case { id: json.get("id")?.as_str()?.to_owned(), json }))
        .collect();
    let counts = Counts { reasons: Deviations::load_from("drafts", SUITE.name), ..Counts::default() };
    let mut report = context.run_cases(&cases, |case| case.id.clone(), |case| judge(context, case, &counts));
    report.notes = counts.lines();
    report
}

/// The counts printed in addition to the verdicts.
#[derive(Default)]
struct Counts {
    community: Tally,
    problems: Tally,
    clouts: Tally,
    /// Authored templates with a single defect: nothing else is reported.
    single: Tally,
    /// Files in TOSCA 2.0 without a reference: whether we accept them.
    drafts: Tally,
    /// The reasons for refused files.
    reasons: Deviations,
}

/// The number of agreements, and the cases that do not agree.
#[derive(Default)]
struct Tally {
    agree: AtomicUsize,
    differ: Mutex<Vec<String>>,
}

impl Tally {
    fn count(&self, id: &str, difference: Option<String>) {
        match difference {
            None => {
                self.agree.fetch_add(1, Ordering::Relaxed);
            }
            Some(why) => self.differ.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{id}: {why}")),
        }
    }

    fn line(&self, name: &str) -> String {
        let agree = self.agree.load(Ordering::Relaxed);
        let differ = self.differ.lock().unwrap_or_else(PoisonError::into_inner).len();
        format!("{name}: {agree} of {}", agree + differ)
    }
}

impl Counts {
    fn lines(&self) -> Vec<String> {
        let mut out = vec![
            self.community.line("community suite verdicts"),
            self.problems.line("problems"),
            self.clouts.line("clouts"),
            self.single.line("single defects"),
            self.drafts.line("accepted without a reference"),
        ];
        if std::env::var_os("PURLIN_TOSCA_DETAILS").is_some() {
            for (name, tally) in [
                ("problem", &self.problems),
                ("clout", &self.clouts),
                ("single defect", &self.single),
                ("draft", &self.drafts),
            ] {
                let mut differ = tally.differ.lock().unwrap_or_else(PoisonError::into_inner).clone();
                differ.sort();
                out.extend(differ.into_iter().map(|line| format!("{name} differs in {line}")));
            }
        }
        out
    }
}

fn judge(context: &Context, case: &Case, counts: &Counts) -> Verdict {
    if let Some(why) = case.skip() {
        return Verdict::Skipped(why.to_owned());
    }
    let Some(expected) = case.expected() else {
        return tried(context, case, counts);
    };
    let compiled = match answer(context, case) {
        Ok(compiled) => compiled,
        Err(why) => return Verdict::Failed(why),
    };
    let valid = !is_invalid(&compiled.problems);
    let ours = if valid { "valid" } else { "invalid" };
    if !case.text("suite_expected").is_empty() {
        counts.community.count(&case.id, (valid != expected).then(String::new));
    } else if !valid && !expected {
        compare_problems(context, case, &compiled, counts);
    } else if valid && expected {
        compare_clout(context, case, &compiled, counts);
    }
    context.judge(&case.id, valid == expected, ours, || {
        let first = compiled.problems.list().iter().find(|problem| problem.diagnostic.is_error());
        let why = first
            .map(|problem| format!("{}: {}", place(&compiled, problem.diagnostic.span), problem.diagnostic.message));
        format!(
            "{ours}, expected {}; {}",
            if expected { "valid" } else { "invalid" },
            why.unwrap_or_else(|| case.text("first_message").to_owned())
        )
    })
}

/// Our verdict on a file without a reference, since the recorded tool reads a draft of TOSCA 2.0.
fn tried(context: &Context, case: &Case, counts: &Counts) -> Verdict {
    let (refused, message) = match answer(context, case) {
        Ok(compiled) => {
            let first = compiled.problems.list().iter().find(|problem| problem.diagnostic.is_error());
            let shown = first.map(|problem| {
                format!("{}: {}", place(&compiled, problem.diagnostic.span), problem.diagnostic.message)
            });
            (shown, first.map(|problem| problem.diagnostic.message.clone()))
        }
        Err(why) => (Some(why.clone()), Some(why)),
    };
    counts.drafts.count(&case.id, refused);
    match (message, counts.reasons.get(&case.id)) {
        (None, None) => Verdict::Skipped("no reference for TOSCA 2.0; accepted".to_owned()),
        (None, Some(_)) => Verdict::Failed("accepted, but `drafts/tosca.toml` says why it is refused".to_owned()),
        (Some(message), None) => {
            Verdict::Failed(format!("refused, without a reason in `drafts/tosca.toml`: {message}"))
        }
        (Some(message), Some(known)) if message != known.answer => {
            Verdict::Failed(format!("refused for another reason than `drafts/tosca.toml` says: {message}"))
        }
        (Some(_), Some(known)) => Verdict::Skipped(format!("no reference for TOSCA 2.0; refused: {}", known.reason)),
    }
}

/// Whether our Clout equals the recorded one; those without a vertex are skipped.
fn compare_clout(context: &Context, case: &Case, compiled: &Compiled, counts: &Counts) {
    let Some(theirs) = context.text(case.text("clout")).and_then(|text| serde_json::from_str::<Json>(&text).ok())
    else {
        return;
    };
    if theirs.get("vertexes").and_then(Json::as_object).is_none_or(serde_json::Map::is_empty) {
        return;
    }
    let options = clout::Options { form: clout::Form::Coerced, resolved: true };
    let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
    clout::write(compiled, options, &mut writer);
    let ours = writer.finish().ok().and_then(|text| serde_json::from_str::<Json>(&text).ok()).unwrap_or(Json::Null);
    counts.clouts.count(&case.id, difference(&canonical(ours), &canonical(theirs), "", &own_words(compiled)));
}

/// A Clout in comparable form: its history as a list of words, without the names of scriptlets and the descriptions of
/// normative types, and with edges in a fixed order.
fn canonical(mut clout: Json) -> Json {
    if let Some(Json::Object(puccini)) = clout.pointer_mut("/metadata/puccini") {
        puccini.remove("scriptlets");
    }
    if let Some(Json::Array(history)) = clout.pointer_mut("/metadata/history") {
        for step in history {
            if let Some(words) = step.get_mut("description").map(Json::take) {
                *step = words;
            }
        }
    }
    simplify(&mut clout);
    clout
}

fn simplify(json: &mut Json) {
    match json {
        Json::Object(entries) => {
            if let Some(Json::Object(types)) = entries.get_mut("types") {
                let normative = types.iter_mut().filter(|(name, _)| name.starts_with(NORMATIVE));
                normative.filter_map(|(_, entry)| entry.as_object_mut()).for_each(|entry| {
                    entry.remove("metadata");
                });
            }
            if entries.get("type").and_then(Json::as_str).is_some_and(|name| name.starts_with(NORMATIVE)) {
                entries.remove("typeMetadata");
            }
            if let Some(Json::Array(edges)) = entries.get_mut("edgesOut") {
                let is_relationship =
                    |edge: &Json| edge.pointer("/metadata/puccini/kind").and_then(Json::as_str) == Some("Relationship");
                edges.sort_by_key(|edge| if is_relationship(edge) { String::new() } else { sorted(edge) });
            }
            entries.values_mut().for_each(simplify);
        }
        Json::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// The prefix of normative types.
const NORMATIVE: &str = "tosca::";

/// The descriptions in the case itself; all others are those of normative types.
fn own_words(compiled: &Compiled) -> HashSet<String> {
    let mut out = HashSet::new();
    let files = compiled.model.files.list.iter().filter(|file| file.role != Role::Profile);
    let mut nodes: Vec<Node<'_>> = files.filter_map(|file| file.tree.root()).collect();
    while let Some(node) = nodes.pop() {
        for entry in node.entries() {
            if entry.name() == "description" {
                out.insert(entry.value.text().to_owned());
            }
            nodes.push(entry.value);
        }
        nodes.extend(node.items());
    }
    out
}

/// A text for sorting, independent of the order of keys.
fn sorted(json: &Json) -> String {
    match json {
        Json::Object(entries) => {
            let mut entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}:{}", sorted(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// The first difference between two Clouts.
fn difference(ours: &Json, theirs: &Json, path: &str, own: &HashSet<String>) -> Option<String> {
    if path.ends_with("/description") {
        let normative = |json: &Json| json.as_str().is_none_or(|text| !own.contains(text));
        if normative(ours) && normative(theirs) {
            return None;
        }
    }
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            for (key, value) in b {
                match a.get(key) {
                    Some(mine) => {
                        if let Some(found) = difference(mine, value, &format!("{path}/{key}"), own) {
                            return Some(found);
                        }
                    }
                    None if key == "description" && !value.as_str().is_some_and(|text| own.contains(text)) => {}
                    None => return Some(format!("{path}/{key} is missing (theirs {})", short(value))),
                }
            }
            a.keys()
                .find(|key| !b.contains_key(*key) && (*key != "description" || own.contains(&short(&a[*key]))))
                .map(|key| format!("{path}/{key} is too much (ours {})", short(&a[key])))
        }
        (Json::Array(a), Json::Array(b)) => {
            if a.len() != b.len() {
                return Some(format!(
                    "{path} has {} items, theirs {}: {} | {}",
                    a.len(),
                    b.len(),
                    short(ours),
                    short(theirs)
                ));
            }
            a.iter().zip(b).enumerate().find_map(|(index, (a, b))| difference(a, b, &format!("{path}/{index}"), own))
        }
        (Json::Number(a), Json::Number(b)) => (a.as_f64() != b.as_f64()).then(|| format!("{path}: {a} | {b}")),
        _ => (ours != theirs).then(|| format!("{path}: {} | {}", short(ours), short(theirs))),
    }
}

fn short(json: &Json) -> String {
    json.to_string().chars().take(150).collect()
}

/// Whether our first problem is at the original's location.
fn compare_problems(context: &Context, case: &Case, compiled: &Compiled, counts: &Counts) {
    let Some(theirs) =
        context.text(case.text("problems_path")).and_then(|text| serde_json::from_str::<Vec<Json>>(&text).ok())
    else {
        return;
    };
    let ours: Vec<Location> = compiled
        .problems
        .list()
        .iter()
        .filter(|problem| problem.diagnostic.is_error())
        .filter_map(|problem| locate(&compiled.model.files, problem))
        .collect();
    let difference = match ours.first() {
        // Problems without a location in a file, such as those of an archive, are compared by verdict alone.
        None => None,
        Some(first) => {
            let same = theirs.iter().any(|problem| same_place(first, problem));
            let shown: Vec<String> = theirs.iter().take(4).map(describe).collect();
            (!same).then(|| format!("ours {}:{} {} | theirs {}", first.file, first.row, first.path, shown.join(" ; ")))
        }
    };
    counts.problems.count(&case.id, difference);
    if case.text("source") == "own-bad" {
        let beside = ours.iter().find(|ours| !theirs.iter().any(|problem| same_place(ours, problem)));
        let many = ours.len() > theirs.len();
        let why = beside
            .map(|found| format!("{}:{} {} is reported beside", found.file, found.row, found.path))
            .or_else(|| many.then(|| format!("{} problems, theirs {}", ours.len(), theirs.len())));
        counts.single.count(&case.id, why);
    }
}

fn describe(problem: &Json) -> String {
    let text = |key: &str| problem.get(key).and_then(Json::as_str).unwrap_or("");
    let row = problem.get("row").and_then(Json::as_i64).unwrap_or(-1);
    format!("{}:{row} {} ({})", text("section"), their_path(problem), text("message"))
}

/// The path of a recorded problem; problems of evaluation have it in their message.
fn their_path(problem: &Json) -> &str {
    let text = |key: &str| problem.get(key).and_then(Json::as_str).unwrap_or("");
    let item = text("item");
    if !item.is_empty() {
        return item;
    }
    let message = text("message");
    match message.split_once(": ") {
        Some((path, rest)) if rest.starts_with("returned false") || rest.starts_with("call to ") => path,
        _ => "",
    }
}

fn same_place(ours: &Location, theirs: &Json) -> bool {
    let section = theirs.get("section").and_then(Json::as_str).unwrap_or("");
    let row = theirs.get("row").and_then(Json::as_i64).unwrap_or(-1);
    let file = section == "Resolution"
        || section.is_empty()
        || ours.file.ends_with(section)
        || section.ends_with(ours.file.trim_start_matches("src/"));
    let path = their_path(theirs);
    // Without a path the original points at the file as a whole.
    let place = path.is_empty() || (row < 0 || i64::from(ours.row) == row) && same_path(&ours.path, path);
    file && place
}

/// The original has two notations for paths of values that types add.
fn same_path(ours: &str, theirs: &str) -> bool {
    let plain = |path: &str| path.replace("[\"", ".").replace("\"]", "").replace(".operations.", ".");
    plain(ours) == plain(theirs)
}

fn place(compiled: &Compiled, span: Option<purlin_syntax::Span>) -> String {
    let Some(span) = span else { return "nowhere".to_owned() };
    let file = compiled.model.files.of(span.file).and_then(|index| compiled.model.files.list.get(index));
    file.map_or("?".to_owned(), |file| format!("{}:{}", file.path, file.tree.source().position(span.start).line))
}

/// Our answer to a case.
fn answer(context: &Context, case: &Case) -> Result<Compiled, String> {
    let session = session(&context.folder)?;
    let quirks: Vec<&str> = case
        .json
        .get("quirks")
        .and_then(Json::as_array)
        .map(|list| list.iter().filter_map(Json::as_str).collect())
        .unwrap_or_default();
    let mut settings = Settings { substitution: Substitution::Leave, ..Settings::default() };
    settings.options.quirks = Quirks::parse(quirks).0;
    let span = purlin_syntax::Span::new(purlin_syntax::FileId(u32::MAX), 0, 0);
    for (name, value) in case.json.get("inputs").and_then(Json::as_object).into_iter().flatten() {
        settings.inputs.insert(name.as_str().into(), value_of(value, span));
    }
    Ok(compile(&session, case.text("path"), &settings))
}

fn value_of(json: &Json, span: purlin_syntax::Span) -> purlin_tosca::val::Val {
    use purlin_tosca::val::{Data, Val};
    let data = match json {
        Json::Null => Data::Null,
        Json::Bool(value) => Data::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Data::Float(number.as_f64().unwrap_or(0.0)), Data::Int),
        Json::String(text) => Data::Str(text.as_str().into()),
        Json::Array(items) => Data::List(Arc::new(items.iter().map(|item| value_of(item, span)).collect())),
        Json::Object(entries) => Data::Map(Arc::new(
            entries.iter().map(|(key, value)| (Val::str(key.as_str(), span), value_of(value, span))).collect(),
        )),
    };
    Val::new(data, span)
}

fn session(root: &Path) -> Result<Session, String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let world = DiskWorld::new(DiskSettings {
        cwd: root.clone(),
        root,
        env: Default::default(),
        project_env: Default::default(),
        permissions: Permissions::default(),
        now: Moment(0),
        seed: purlin_cli::seed::SeedSource::default(),
        max_file: 1 << 26,
    });
    Ok(Session::new(Arc::new(world)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::{Json, SUITE};
    use crate::deviations::Deviations;
    use crate::{Verdict, run_suite};
    use purlin_tosca::edition;
    use purlin_tosca::entities::SCHEMA;

    /// Each file in TOSCA 2.0 that only we judge is accepted, or refused for the recorded reason; and no other file has
    /// a recorded reason.
    #[test]
    fn every_refused_draft_has_its_reason() {
        let reasons = Deviations::load_from("drafts", SUITE.name);
        assert!(!reasons.is_empty());
        let Some(folder) = crate::ratchet::data_folder().map(|data| data.join(SUITE.name)).filter(|path| path.is_dir())
        else {
            return;
        };
        let (_, report) = run_suite(&folder, None).unwrap();
        for id in reasons.ids() {
            let verdict = report.cases.iter().find(|(case, _)| case == id).map(|(_, verdict)| verdict);
            assert!(matches!(verdict, Some(Verdict::Skipped(_))), "{id}: {verdict:?}");
        }
        let failed: Vec<_> = report.cases.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Failed(_))).collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }

    /// Every key that the original reads in an entity must be in our table, in the same edition.
    #[test]
    fn the_entity_table_is_complete() {
        let Some(data) = crate::ratchet::data_folder() else { return };
        let Ok(text) = std::fs::read_to_string(data.join("../specs/tosca-entities.json")) else { return };
        let all: Json = serde_json::from_str(&text).unwrap();
        let label = |kind: &str| match kind {
            "service file" => "file".to_owned(),
            "capability" | "requirement" | "relationship" | "interface" | "operation" | "notification" => {
                format!("{kind} assignment")
            }
            "interface implementation" => "implementation".to_owned(),
            "trigger definition" => "trigger".to_owned(),
            "trigger definition condition" => "trigger condition".to_owned(),
            "workflow activity call operation" => "operation call".to_owned(),
            "workflow definition" => "workflow".to_owned(),
            "workflow step definition" => "workflow step".to_owned(),
            "workflow precondition definition" => "workflow precondition".to_owned(),
            other => other.to_owned(),
        };
        let mut missing = Vec::new();
        let versions = [("1.0", edition::V1_0), ("1.1", edition::V1_1), ("1.2", edition::V1_2), ("1.3", edition::V1_3)];
        for (version, edition) in versions {
            for entity in all["versions"][version].as_object().unwrap().values() {
                let Some(keys) = entity.get("keys").and_then(Json::as_array) else { continue };
                let label = label(entity["kind"].as_str().unwrap());
                let row = SCHEMA.entities.iter().find(|row| row.label == label);
                for key in keys.iter().filter_map(|key| key["key"].as_str()) {
                    // Schemas keep keys that definitions lost, and unnamed keys are open ones.
                    if key.starts_with('<') || key == "*" {
                        continue;
                    }
                    if row.is_none_or(|row| row.field(key, edition).is_none()) {
                        missing.push(format!("{version} {label}.{key}"));
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
