//! `chart-set`: texts of the `--set` family, with the resulting values and number types.

use crate::{Context, Report, Suite, Verdict};
use purlin_charts::json;
use purlin_charts::strvals::{Typing, parse_into};
use purlin_value::{Data, Map, Origin, Value};
use serde_json::Value as Json;

/// The suite.
pub const SUITE: Suite = Suite { name: "chart-set", run };

/// Runs the suite.
fn run(context: &Context) -> Report {
    let cases = context.json_lines("cases.jsonl");
    let id = |case: &Json| case["id"].as_str().unwrap_or_default().to_owned();
    context.run_cases(&cases, id, |case| judge(context, &id(case), case))
}

fn answer(case: &Json) -> Result<Map, String> {
    let mut map = Map::new();
    if case["base"].is_object() {
        let base = json::parse(case["base"].to_string().as_bytes(), Origin::NONE)?;
        map = base.as_map().cloned().unwrap_or_default();
    }
    let no_file = |path: &str| Err(format!("no file {path}"));
    for text in case["sets"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        match case["mode"].as_str().unwrap_or_default() {
            "set-string" | "string" => parse_into(text, &mut map, &Typing::Text, &|_| Origin::NONE)?,
            "set-json" | "json" => parse_into(text, &mut map, &Typing::Json, &|_| Origin::NONE)?,
            "set-file" | "file" => parse_into(text, &mut map, &Typing::File(&no_file), &|_| Origin::NONE)?,
            "set-literal" | "literal" => parse_into(text, &mut map, &Typing::Literal, &|_| Origin::NONE)?,
            _ => parse_into(text, &mut map, &Typing::Typed, &|_| Origin::NONE)?,
        }
    }
    Ok(map)
}

fn plain(value: &Value) -> Json {
    match &value.data {
        Data::Bool(truth) => Json::Bool(*truth),
        Data::Int(number) => Json::from(*number),
        Data::Float(number) => {
            let text = purlin_syntax::write::go_yaml::go_json_float(*number);
            serde_json::from_str(&text).unwrap_or(Json::Null)
        }
        Data::Str(text) => Json::String(text.to_string()),
        Data::List(items) => Json::Array(items.iter().map(plain).collect()),
        Data::Map(map) => Json::Object(map.iter().map(|(key, item)| (key.to_string(), plain(item))).collect()),
        _ => Json::Null,
    }
}

fn types(value: &Value) -> Json {
    let name = match &value.data {
        Data::Null => "<nil>",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int64",
        Data::Float(_) => "float64",
        Data::List(items) => return Json::Array(items.iter().map(types).collect()),
        Data::Map(map) => return Json::Object(map.iter().map(|(key, item)| (key.to_string(), types(item))).collect()),
        _ => "string",
    };
    Json::String(name.to_owned())
}

fn judge(context: &Context, id: &str, case: &Json) -> Verdict {
    match answer(case) {
        Ok(map) => {
            let value = Value::map(map);
            let (ours, kinds) = (plain(&value), types(&value));
            let agrees = case.get("error").is_none() && ours == case["value"] && kinds == case["types"];
            context.judge(id, agrees, &ours.to_string(), || format!("ours:   {ours} {kinds}\n  theirs: {case}"))
        }
        Err(message) => {
            let theirs = case["error"].as_str().unwrap_or_default();
            let agrees = !theirs.is_empty() && message.contains(theirs.split(": ").next().unwrap_or_default());
            context.judge(id, agrees, &message, || format!("ours:   {message}\n  theirs: {case}"))
        }
    }
}
