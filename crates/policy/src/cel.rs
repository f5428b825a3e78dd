//! Assertions in CEL: one expression that must be true, with a message whose expressions are in braces.

use crate::Evaluate;
use crate::question::{Level, Name, Over, Step, Stop, StopKind, Verdict};
use crate::text::mentions;
use cel::objects::Key;
use cel::{Context, Program, Value};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;

/// A part of a message.
enum Part {
    Text(String),
    Value(Program),
}

/// An assertion that is ready for evaluation.
pub(crate) struct Assertion {
    over: Over,
    when: Option<Program>,
    assert: Program,
    source: String,
    message: Vec<Part>,
    environment: String,
}

impl Assertion {
    pub(crate) fn load(
        over: Over,
        (when, assert, message): (Option<&str>, &str, Option<&str>),
        environment: &str,
    ) -> Result<Self, Stop> {
        Ok(Assertion {
            over,
            when: when.map(program).transpose()?,
            assert: program(assert)?,
            source: assert.to_owned(),
            message: parts(message.unwrap_or_default())?,
            environment: environment.to_owned(),
        })
    }

    fn said(&self, context: &Context<'_, '_>) -> String {
        if self.message.is_empty() {
            return format!("expected `{}`", self.source);
        }
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(program) => program.execute(context).map_or_else(|_| "?".to_owned(), |value| shown(&value)),
        };
        self.message.iter().map(part).collect()
    }
}

impl Evaluate for Assertion {
    fn mentions(&self, _: &Verdict) -> Vec<Vec<Step>> {
        match self.over {
            // The input has the files beside the objects.
            Over::Objects => Vec::new(),
            _ => mentions(&self.source, self.over.name()),
        }
    }

    fn evaluate(&mut self, input: &Json, _: &str) -> Result<Vec<Verdict>, Stop> {
        let mut context = Context::default();
        context.add_variable_from_value(self.over.name(), subject(self.over, input));
        context.add_variable_from_value("environment", self.environment.as_str());
        if let Some(when) = &self.when {
            // An object without the value that is asked for is not concerned.
            match when.execute(&context) {
                Ok(Value::Bool(true)) => {}
                Ok(Value::Bool(false)) | Err(cel::ExecutionError::NoSuchKey(_)) => return Ok(Vec::new()),
                Ok(other) => return Err(failed(format!("`when` must be true or false, found `{}`", shown(&other)))),
                Err(error) => return Err(failed(error.to_string())),
            }
        }
        let message = match self.assert.execute(&context) {
            Ok(Value::Bool(true)) => return Ok(Vec::new()),
            Ok(Value::Bool(false)) => self.said(&context),
            Ok(other) => return Err(failed(format!("`assert` must be true or false, found `{}`", shown(&other)))),
            Err(cel::ExecutionError::NoSuchKey(key)) => format!("{}: missing `{key}`", self.said(&context)),
            Err(error) => return Err(failed(error.to_string())),
        };
        let name = Name { namespace: String::new(), rule: String::new() };
        Ok(vec![Verdict { name, level: Level::Error, message, path: None }])
    }
}

/// The value of the variable. Objects are a list of themselves, without the files that Rego gets beside them.
fn subject(over: Over, input: &Json) -> Value {
    match (over, input) {
        (Over::Objects, Json::Array(items)) => {
            let contents = items.iter().filter_map(|item| item.get("contents")).map(value);
            Value::List(Arc::new(contents.collect()))
        }
        _ => value(input),
    }
}

fn failed(message: String) -> Stop {
    Stop { kind: StopKind::Failed, message, at: None }
}

fn program(text: &str) -> Result<Program, Stop> {
    Program::compile(text).map_err(|errors| {
        let first = errors.errors.first();
        let said = first.map(|error| error.msg.as_str()).unwrap_or("it cannot be read");
        // The parser adds a list of all tokens that are possible.
        let reason = said.split(" expecting ").next().unwrap_or(said);
        let column = first.map_or(0, |error| error.pos.1);
        Stop { kind: StopKind::Invalid, message: format!("`{text}`, column {column}: {reason}"), at: None }
    })
}

/// The parts of a message; `{{` is a brace.
fn parts(text: &str) -> Result<Vec<Part>, Stop> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        if let Some(after) = after.strip_prefix('{') {
            found.push(Part::Text(format!("{before}{{")));
            rest = after;
            continue;
        }
        let Some((inside, after)) = after.split_once('}') else { break };
        found.push(Part::Text(before.to_owned()));
        found.push(Part::Value(program(inside)?));
        rest = after;
    }
    if !rest.is_empty() {
        found.push(Part::Text(rest.to_owned()));
    }
    Ok(found)
}

/// A value for people.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        _ => "a mapping".to_owned(),
    }
}

/// Integers are signed, as CEL's own literals are.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(value).collect())),
        Json::Object(map) => {
            let entries = map.iter().map(|(key, item)| (Key::from(key.clone()), value(item)));
            Value::from(entries.collect::<HashMap<Key, Value>>())
        }
    }
}
