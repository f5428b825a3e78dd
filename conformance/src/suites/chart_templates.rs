//! `chart-templates`: single templates rendered as a file of a small chart.

use crate::{Context, Report, Suite, Verdict};
use purlin_charts::capabilities::Capabilities;
use purlin_charts::chart::{Chart, ChartFile, Metadata};
use purlin_charts::context::Release;
use purlin_charts::engine::{Inputs, RenderError, compile, render};
use purlin_gotmpl::{Limits, Outside};
use purlin_value::{EcoString, Map, Value};
use serde_json::Value as Json;

/// The suite.
pub const SUITE: Suite = Suite { name: "chart-templates", run };

/// Runs the suite.
fn run(context: &Context) -> Report {
    let cases = context.json_lines("cases.jsonl");
    let id = |case: &Json| case["id"].as_str().unwrap_or_default().to_owned();
    context.run_cases(&cases, id, |case| judge(context, &id(case), case))
}

/// A JSON value as chart values represent it: every number is a float.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::null(),
        Json::Bool(truth) => Value::new(purlin_value::Data::Bool(*truth)),
        Json::Number(number) => Value::new(purlin_value::Data::Float(number.to_string().parse().unwrap_or(0.0))),
        Json::String(text) => Value::str(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value_of).collect()),
        Json::Object(entries) => Value::map(
            entries.iter().map(|(key, item)| (EcoString::from(key.as_str()), value_of(item))).collect::<Map>(),
        ),
    }
}

fn files(json: &Json, prefix: &str) -> Vec<ChartFile> {
    let entries = json.as_object().into_iter().flatten();
    let file = |(name, text): (&String, &Json)| {
        ChartFile::new(format!("{prefix}{name}"), text.as_str().unwrap_or_default().as_bytes().into())
    };
    entries.map(file).collect()
}

fn rendered(case: &Json) -> Result<Vec<u8>, RenderError> {
    let metadata = Metadata {
        name: "t".to_owned(),
        version: "1.2.3".to_owned(),
        app_version: "4.5.6".to_owned(),
        api_version: "v2".to_owned(),
        ..Metadata::default()
    };
    let text = case["template"].as_str().unwrap_or_default();
    let mut templates = files(&case["partials"], "templates/");
    templates.push(ChartFile::new("templates/t.txt", text.as_bytes().into()));
    let chart = Chart {
        metadata,
        values: Value::null(),
        merged: None,
        written: Vec::new(),
        schema: None,
        templates,
        files: files(&case["files"], ""),
        dependencies: Vec::new(),
        folder: String::new(),
    };
    let release = Release { name: "rel".to_owned(), namespace: "ns".to_owned(), ..Release::default() };
    let compiled = compile(&chart)?;
    let inputs = Inputs {
        chart: &chart,
        values: &value_of(&case["values"]),
        release: &release,
        capabilities: &Capabilities::default(),
        outside: &Outside { now: 1_600_000_000_000_000_000, seed: 1.into(), track: false, ..Outside::default() },
        limits: &Limits::default(),
        keep_going: false,
    };
    let out = render(&compiled, inputs)?;
    let wanted = out.files.into_iter().find(|(name, _)| name == "t/templates/t.txt");
    Ok(wanted.map(|(_, rope)| rope.bytes).unwrap_or_default())
}

fn judge(context: &Context, id: &str, case: &Json) -> Verdict {
    match (rendered(case), case["expect"].as_str()) {
        (Ok(ours), Some(theirs)) => {
            // A byte that is not UTF-8 cannot be in the recorded JSON; it was written as the byte's escape.
            let ours_text = String::from_utf8_lossy(&ours).into_owned();
            context
                .judge(id, ours_text == theirs, &ours_text, || format!("ours:   {ours_text:?}\n  theirs: {theirs:?}"))
        }
        (Ok(ours), None) => {
            let ours = String::from_utf8_lossy(&ours).into_owned();
            context.judge(id, false, &ours, || format!("no error but {ours:?}\n  theirs: {}", case["error"]))
        }
        (Err(error), Some(theirs)) => {
            let ours = error.helm_text();
            context.judge(id, false, &ours, || format!("error {ours}\n  theirs: {theirs:?}"))
        }
        (Err(error), None) => {
            let ours = error.helm_text();
            let theirs = case["error"].as_str().unwrap_or_default();
            context.judge(id, same_place(&ours, theirs), &ours, || format!("ours:   {ours}\n  theirs: {theirs}"))
        }
    }
}

/// Whether two errors concern the same thing: equal, or equal in all locations and in the quoted names.
pub fn same_place(ours: &str, theirs: &str) -> bool {
    ours == theirs || (places(ours) == places(theirs) && names(theirs).iter().all(|name| ours.contains(name.as_str())))
}

/// Every `file:line` or `file:line:column` in a text, in order.
pub fn places(text: &str) -> Vec<String> {
    let words = text.split([' ', '(', ')', '\n']);
    let is_place = |word: &str| {
        let word = word.trim_end_matches(':');
        let mut parts = word.rsplit(':');
        let last = parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        last && parts.next().is_some_and(|part| !part.is_empty())
    };
    words.filter(|word| is_place(word)).map(|word| word.trim_end_matches(':').to_owned()).collect()
}

/// The names in a message: functions being called, templates being executed, fields.
fn names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (mark, end) in [("error calling ", ':'), ("executing \"", '"'), ("field ", ' '), ("function \"", '"')] {
        for part in text.split(mark).skip(1) {
            found.extend(part.split(end).next().map(str::to_owned));
        }
    }
    found
}
