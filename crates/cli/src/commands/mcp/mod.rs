//! `purlin mcp`: answers an assistant over standard input and output, by the Model Context Protocol.
//!
//! Every tool is a read-only command, run in this process with the permissions that the server was started with. The
//! client is not the user: it may name only paths below the folder where the server was started, it cannot grant
//! permissions, and it sees no secrets. Nothing here knows how a command computes its answer.

mod lines;
mod protocol;
mod tools;

use super::Context;
use crate::args::{self, DiagnosticFormat, Global, When};
use crate::invocation::{Exit, Invocation};
use clap::Parser;
use lines::Line;
use protocol::{Answer, Message, Refusal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use tools::Tool;

/// Maximum length of an answer to a client. More would only fill the assistant's context.
const LONGEST_ANSWER: usize = 1 << 20;

pub(super) fn run(cx: &mut Context<'_, '_>) -> Result<Exit, Exit> {
    let mut input: Box<dyn BufRead> = match cx.invocation.stdin.take() {
        Some(input) => Box::new(BufReader::new(input)),
        None => Box::new(std::io::stdin().lock()),
    };
    loop {
        let line = match lines::next(&mut input) {
            Ok(Line::Text(line)) => line,
            Ok(Line::TooLong) => {
                send(cx, &Refusal::invalid("the message is too long").to_json(&Value::Null))?;
                continue;
            }
            Ok(Line::End) => return Ok(Exit::Ok),
            Err(error) => return Err(cx.io(&format!("cannot read what the client sends: {error}"))),
        };
        if let Some(answer) = protocol::answer(&line, &mut |message| handle(cx, message)) {
            send(cx, &answer)?;
        }
    }
}

fn send(cx: &mut Context<'_, '_>, message: &Value) -> Result<(), Exit> {
    let out = &mut cx.invocation.stdout;
    match writeln!(out, "{message}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) => Err(cx.io(&format!("cannot answer: {error}"))),
    }
}

/// The answer to one request.
fn handle(cx: &mut Context<'_, '_>, message: &Message) -> Answer {
    match message.method.as_str() {
        "initialize" => Ok(protocol::introduction(&message.params)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools::described() })),
        "tools/call" => call(cx, &message.params),
        "resources/list" => Ok(json!({ "resources": tools::schemas() })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [] })),
        "resources/read" => read(&message.params),
        method => Err(Refusal::unknown_method(method)),
    }
}

fn read(params: &Value) -> Answer {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
    let text = tools::schema(uri).ok_or_else(|| Refusal::unknown_resource(uri))?;
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": "application/schema+json", "text": text }] }))
}

/// Runs a tool. Problems of the project are part of its answer; an invalid call is an error.
fn call(cx: &mut Context<'_, '_>, params: &Value) -> Answer {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let tool = tools::find(name).ok_or_else(|| Refusal::invalid(&format!("unknown tool `{name}`")))?;
    let empty = json!({});
    let given = params.get("arguments").filter(|given| !given.is_null()).unwrap_or(&empty);
    let given = given.as_object().ok_or_else(|| Refusal::invalid("`arguments` is not an object"))?;
    let start = cx.invocation.cwd.clone();
    match tool.words(given, &start, &cx.global.allow_path) {
        Ok(words) => Ok(run_tool(cx, tool, words)),
        Err(why) => Ok(mistake(&why)),
    }
}

/// Runs the command of a tool in this process.
fn run_tool(cx: &mut Context<'_, '_>, tool: &Tool, words: Vec<String>) -> Value {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = match args::Cli::try_parse_from(std::iter::once("purlin".to_owned()).chain(words)) {
        Ok(cli) => {
            let mut inner = Invocation {
                args: Vec::new(),
                cwd: cx.invocation.cwd.clone(),
                env: cx.invocation.env.clone(),
                project_env: cx.invocation.project_env.clone(),
                stdin: Some(&mut std::io::empty()),
                stdout: &mut out,
                stderr: &mut err,
                terminal: false,
                given: None,
                last: false,
                veil: cx.invocation.veil.clone(),
            };
            super::run(&mut inner, args::Cli { global: for_programs(&cx.global), ..cli })
        }
        // The words come from a table, so only a value can be invalid.
        Err(error) => return mistake(&error.render().to_string()),
    };
    answered(tool, exit, &out, &err)
}

/// The server's own options, adapted for JSON answers.
fn for_programs(global: &Global) -> Global {
    Global {
        chdir: None,
        color: When::Never,
        diagnostics: DiagnosticFormat::Json,
        quiet: false,
        verbose: false,
        ..global.clone()
    }
}

/// The result of a tool: the command's answer, its findings, and its exit code.
fn answered(tool: &Tool, exit: Exit, out: &[u8], err: &[u8]) -> Value {
    let (out, err) = (String::from_utf8_lossy(out), String::from_utf8_lossy(err));
    let (findings, notes) = findings(&err);
    let answer = match tool.is_json {
        true => serde_json::from_str(&out).unwrap_or(Value::Null),
        false if out.is_empty() => Value::Null,
        false => Value::from(&*out),
    };
    let is_error = exit != Exit::Ok && answer.is_null();
    let mut whole = json!({ "exitCode": exit.code(), "answer": answer, "findings": findings });
    if !notes.is_empty() {
        whole["notes"] = notes.into();
    }
    let text = whole.to_string();
    if text.len() > LONGEST_ANSWER {
        return mistake(&format!(
            "the answer has {} bytes, more than the {LONGEST_ANSWER} that are sent; {}",
            text.len(),
            tool.narrower
        ));
    }
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": whole, "isError": is_error })
}

/// The findings among the lines of a command's standard error, and its other lines.
fn findings(err: &str) -> (Vec<Value>, Vec<&str>) {
    let mut notes = Vec::new();
    let mut findings = Vec::new();
    for line in err.lines().filter(|line| !line.is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(finding) if finding.is_object() => findings.push(finding),
            _ => notes.push(line),
        }
    }
    (findings, notes)
}

/// A failed call, for the assistant to correct.
fn mistake(why: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": why }], "isError": true })
}
