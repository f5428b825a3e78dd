//! The `tosca` suite: verdicts, problems and Clouts of Puccini, and the OASIS community suite's expected results.
//!
//! Three counts are printed apart; the suite's total counts verdicts. For TOSCA 2.0 the reference is the community
//! suite and the standard, since the recorded tool reads a draft of it.

use crate::{Context, Report, Verdict};
use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_syntax::RuleClass;
use purlin_tosca::compile::{Compiled, Settings, compile};
use purlin_tosca::quirks::Quirks;
use purlin_value::Session;
use purlin_value::world::Moment;
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Arc;

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

    /// Why a case cannot be judged here, if it cannot.
    fn skip(&self) -> Option<&'static str> {
        let version = self.text("version");
        if self.flag("network") {
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

    /// The verdict to compare with: the community suite's, otherwise the recorded one where it counts.
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

/// The suite.
pub(super) const SUITE: crate::Suite = crate::Suite { name: "tosca", run };

/// Runs the suite.
pub fn run(context: &Context) -> Report {
    let cases: Vec<Case> = context
        .json_lines("manifest.jsonl")
        .into_iter()
        .filter_map(|json| Some(Case { id: json.get("id")?.as_str()?.to_owned(), json }))
        .collect();
    context.run_cases(&cases, |case| case.id.clone(), |case| judge(context, case))
}

fn judge(context: &Context, case: &Case) -> Verdict {
    if let Some(why) = case.skip() {
        return Verdict::Skipped(why.to_owned());
    }
    let Some(expected) = case.expected() else {
        return Verdict::Skipped("a draft of TOSCA 2.0 is no reference".to_owned());
    };
    let compiled = match answer(context, case) {
        Ok(compiled) => compiled,
        Err(why) => return Verdict::Failed(why),
    };
    let valid = !is_invalid(&compiled);
    let ours = if valid { "valid" } else { "invalid" };
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

/// Whether the configuration is invalid; that something was not allowed says nothing about it.
fn is_invalid(compiled: &Compiled) -> bool {
    compiled
        .problems
        .list()
        .iter()
        .any(|problem| problem.diagnostic.is_error() && problem.diagnostic.rule.class != RuleClass::Denied)
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
    let mut settings = Settings::default();
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
    let world = DiskWorld::new(DiskSettings {
        root: root.to_owned(),
        cwd: root.to_owned(),
        env: Default::default(),
        permissions: Permissions::default(),
        now: Moment(0),
        seed: 0,
        max_file: 1 << 26,
    })
    .map_err(|error| error.to_string())?;
    Ok(Session::new(Arc::new(world)))
}
