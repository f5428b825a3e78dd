//! Garden's template strings: a template, a context, and the value or error of the original.

use crate::{Context, Report, Suite, Verdict};
use purlin_garden::{EvaluateOptions, evaluate, json};
use purlin_syntax::{Flavor, Tree};
use purlin_value::{Data, MemoryWorld, Session, Value};
use serde_json::Value as Json;
use std::sync::Arc;

/// The suite.
pub const SUITE: Suite = Suite { name: "garden-templates", run };

fn run(context: &Context) -> Report {
    let cases = context.json_lines("cases.jsonl");
    context.run_cases(&cases, |case| text(case, "id").to_owned(), |case| judge(context, case))
}

fn text<'c>(case: &'c Json, key: &str) -> &'c str {
    case.get(key).and_then(Json::as_str).unwrap_or("")
}

/// Our answer.
enum Answer {
    Value(Value),
    Error(String),
}

fn judge(context: &Context, case: &Json) -> Verdict {
    let answer = answer(case);
    let ours = match &answer {
        Answer::Value(value) => shown(value),
        Answer::Error(message) => format!("error: {message}"),
    };
    let wanted = wanted(case);
    context.judge(text(case, "id"), agrees(case, &answer), &ours, || {
        format!("{}\n  wanted: {wanted}\n  ours:   {ours}", case.get("template").unwrap_or(&Json::Null))
    })
}

fn answer(case: &Json) -> Answer {
    let session = Session::new(Arc::new(MemoryWorld::new()));
    let tree = |key: &str| -> Arc<Tree> {
        let written = case.get(key).unwrap_or(&Json::Null).to_string();
        session.parse_yaml(session.sources.insert(key, written), Flavor::Core)
    };
    let (template, data) = (tree("template"), tree("context"));
    let option = |key: &str| case.get("opts").and_then(|o| o.get(key)).and_then(Json::as_bool).unwrap_or(false);
    let options = EvaluateOptions {
        lazy_context: case.get("contextTemplated").and_then(Json::as_bool).unwrap_or(false),
        keep_escapes: option("keepEscapingInTemplateStrings"),
    };
    let value = evaluate(&session, &template, &data, options);
    let problems: Vec<String> = session.sink.take().into_iter().filter(|d| d.is_error()).map(|d| d.message).collect();
    if problems.is_empty() { Answer::Value(value) } else { Answer::Error(problems.join("; ")) }
}

fn shown(value: &Value) -> String {
    match &value.data {
        _ if value.is_absent() => "undefined".into(),
        Data::Float(number) if !number.is_finite() => purlin_garden::number::to_text(*number).to_string(),
        _ => json::write(value, json::KeyOrder::Sorted),
    }
}

fn wanted(case: &Json) -> String {
    match (case.get("error"), case.get("expect")) {
        (Some(error), _) => format!("error: {}", error.as_str().unwrap_or("")),
        (_, Some(value)) => value.to_string(),
        _ => "undefined".into(),
    }
}

fn agrees(case: &Json, answer: &Answer) -> bool {
    match (case.get("error").and_then(Json::as_str), answer) {
        (Some(error), Answer::Error(message)) => names_in(error).iter().all(|name| message.contains(name.as_str())),
        (None, Answer::Value(value)) if case.get("expectUndefined").is_some() => value.is_absent(),
        (None, Answer::Value(value)) => {
            // Numbers that JSON cannot represent are recorded as printed.
            let special = matches!(&value.data, Data::Float(number) if !number.is_finite());
            if special {
                return text(case, "expectInspect") == shown(value);
            }
            let ours: Option<Json> = serde_json::from_str(&json::write(value, json::KeyOrder::Written)).ok();
            ours.is_some_and(|ours| same(&ours, case.get("expect").unwrap_or(&Json::Null)))
        }
        _ => false,
    }
}

/// Equal values; numbers by their value.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The key, function, argument or operator in an error of the original.
fn names_in(error: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut after = |marker: &str, ends: &[char]| {
        for (at, _) in error.match_indices(marker) {
            let rest = error.get(at + marker.len()..).unwrap_or("");
            let name = rest.split(ends).next().unwrap_or("").trim_end_matches('.');
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
    };
    after("Could not find key ", &[' ', '\n']);
    after("look up key ", &[' ']);
    after("helper function '", &['\'']);
    after("argument '", &['\'']);
    after("Error from helper function ", &[':']);
    after("Value of ", &[' ']);
    after("Missing $", &[' ']);
    let words: Vec<&str> = error.split_whitespace().collect();
    for pair in words.windows(2) {
        if pair.get(1).is_some_and(|word| *word == "helper") && pair.first() != Some(&"from") {
            names.extend(pair.first().filter(|word| !matches!(**word, "find" | "available")).map(|w| (*w).to_owned()));
        }
    }
    names
}
