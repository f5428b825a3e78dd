//! `purlin garden`: `get …` and `validate` with Garden's own arguments, printing what Garden would print.
//!
//! Nothing is ever run for an answer: where Garden would execute an action to learn its outputs, the value is shown as
//! pending.

use super::Personality;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use purlin_garden::action::Action;
use purlin_garden::draft::Draft;
use purlin_garden::ground::KnownOutputs;
use purlin_garden::resolve::{Resolution, resolve};
use purlin_model::Request;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{Secrets, to_json, to_yaml};
use purlin_value::{EcoString, Map, Session, Value};

/// The personality.
pub(super) const GARDEN: Personality = Personality { name: "garden", summary: "Garden's get and validate.", run };

/// What the arguments say.
#[derive(Default, Debug)]
struct Flags {
    words: Vec<String>,
    root: Option<String>,
    environment: Option<String>,
    vars: Vec<(String, String)>,
    output: Option<String>,
    detail: bool,
    kind: Option<String>,
    sort: String,
    exclude_disabled: bool,
    resolve: Vec<String>,
}

/// How the answer is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Json,
    Yaml,
}

/// Runs `purlin garden ARGS`.
fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Exit {
    let flags = match Flags::read(args) {
        Ok(flags) => flags,
        Err(message) => return usage(invocation, &message),
    };
    let format = match flags.output.as_deref() {
        None => Format::Plain,
        Some("json") => Format::Json,
        Some("yaml") => Format::Yaml,
        Some(other) => return usage(invocation, &format!("`--output {other}`: there are json and yaml")),
    };
    let words: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    let answer: fn(&Session, &Resolution<'_>, &Flags) -> Value = match words.as_slice() {
        ["get", "actions", ..] => actions,
        ["get", "graph"] => graph,
        ["get", "config"] => config,
        ["get", "outputs"] => |_, resolution, _| resolution.outputs(),
        ["get", "variables", ..] => |_, resolution, _| resolution.variables(),
        ["get", "workflows", ..] => workflows,
        ["get", "modules", ..] => modules,
        ["validate"] => validated,
        ["get", other, ..] => return usage(invocation, &format!("there is no `get {other}` here")),
        ["version"] => {
            let _ = writeln!(invocation.stdout, "purlin {}", env!("CARGO_PKG_VERSION"));
            return Exit::Ok;
        }
        _ => {
            return usage(
                invocation,
                "name a command: get actions|graph|config|outputs|variables|workflows|modules, or validate",
            );
        }
    };
    work(invocation, &flags, format, answer)
}

fn usage(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "error: {message}");
    Exit::Usage
}

impl Flags {
    fn read(args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags { sort: "name".to_owned(), ..Flags::default() };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(name) = arg.strip_prefix('-').filter(|name| !name.is_empty()) else {
                flags.words.push(arg.clone());
                continue;
            };
            let (name, given) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let name = name.trim_start_matches('-');
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`--{name}` needs a value"));
            match name {
                "root" => flags.root = Some(value()?),
                "e" | "env" => flags.environment = Some(value()?),
                "o" | "output" => flags.output = Some(value()?),
                "var" => {
                    for pair in split_unquoted(&value()?) {
                        flags.vars.push(variable(pair)?);
                    }
                }
                "kind" => flags.kind = Some(value()?),
                "sort" => flags.sort = value()?,
                "resolve" => flags.resolve.push(value()?),
                "detail" => flags.detail = true,
                "exclude-disabled" => flags.exclude_disabled = true,
                "l" | "log-level" | "logger-type" => {
                    value()?;
                }
                "silent" | "s" | "force-refresh" | "yes" | "y" | "offline" | "include-state" | "show-timestamps" => {}
                other => return Err(format!("there is no flag `--{other}`")),
            }
        }
        Ok(flags)
    }
}

/// Splits at commas that are not between double quotes.
fn split_unquoted(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(text.get(start..at).unwrap_or(""));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or(""));
    parts
}

/// A variable as a line of a `.env` file, which is how Garden reads it: quotes around the value are not part of it.
fn variable(pair: &str) -> Result<(String, String), String> {
    let (key, text) = pair.split_once('=').ok_or_else(|| format!("`--var {pair}`: expected NAME=VALUE"))?;
    let line = format!("NAME={text}");
    let read = purlin_garden::dotenv::parse(&line).into_iter().next();
    Ok((key.trim().to_owned(), read.map_or_else(|| text.to_owned(), |variable| variable.value)))
}

fn work(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    answer: fn(&Session, &Resolution<'_>, &Flags) -> Value,
) -> Exit {
    let (session, path) = match open_session(invocation, &Setup::of(flags.root.as_deref().unwrap_or("."))) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let request = Request {
        path,
        environment: flags.environment.clone(),
        vars: flags.vars.clone(),
        extra: vec![("command".to_owned(), flags.words.join(" "))],
        ..Request::default()
    };
    let resolution = resolve(&session, &request, KnownOutputs::new(), &[]);
    let value = resolution.as_ref().map(|resolution| answer(&session, resolution, flags));
    if resolution.is_none() && !session.sink.has_errors() {
        let _ = writeln!(invocation.stderr, "error: not a project folder (no project configuration found)");
        return Exit::Invalid;
    }
    let found = session.sink.take();
    let problems: Vec<String> =
        found.iter().filter(|problem| problem.is_error()).map(|problem| problem.message.clone()).collect();
    session.sink.extend(found);
    let exit = report(invocation, &session, Style::default());
    let text = match (&value, problems.is_empty()) {
        (Some(value), true) => succeeded(value, format),
        _ => failed(&problems, format),
    };
    // Nothing partial is printed: the answer is there as a whole, or not at all.
    let _ = write!(invocation.stdout, "{text}");
    if problems.is_empty() {
        Exit::Ok
    } else if matches!(exit, Exit::Ok) {
        Exit::Invalid
    } else {
        exit
    }
}

fn written(value: &Value, format: Format) -> String {
    let text = match format {
        Format::Json => to_json(value, Secrets::Hide, JsonLayout::Pretty).map(|text| format!("{}\n", text.trim_end())),
        Format::Yaml | Format::Plain => to_yaml(value, Secrets::Hide),
    };
    text.unwrap_or_default()
}

fn succeeded(value: &Value, format: Format) -> String {
    if format == Format::Plain {
        return written(value, format);
    }
    let answer = Map::from_iter([("success".into(), Value::from(true)), ("result".into(), value.clone())]);
    written(&Value::map(answer), format)
}

fn failed(problems: &[String], format: Format) -> String {
    if format == Format::Plain {
        return String::new();
    }
    let error = |message: &String| {
        Value::map(Map::from_iter([
            ("type".into(), Value::str("configuration")),
            ("message".into(), Value::str(message.as_str())),
        ]))
    };
    let answer = Map::from_iter([
        ("success".into(), Value::from(false)),
        ("errors".into(), Value::list(problems.iter().map(error).collect())),
    ]);
    written(&Value::map(answer), format)
}

fn texts<'t>(items: impl Iterator<Item = &'t str>) -> Value {
    Value::list(items.map(Value::from).collect())
}

/// Names or globs that limit which actions are shown; all if there are none.
fn wanted(flags: &Flags, action: &Action) -> bool {
    let names: Vec<&String> = flags.words.iter().skip(2).collect();
    let named = names.is_empty()
        || names.iter().any(|name| {
            let glob = purlin_value::glob::Glob::new(name);
            glob.matches(&action.key) || glob.matches(&action.name)
        });
    let of_kind = flags.kind.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case(action.kind.name()));
    named && of_kind && !(flags.exclude_disabled && action.disabled)
}

fn actions(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let all = resolution.graph().actions.values().map(|action| &**action);
    let mut found: Vec<&Action> = all.filter(|action| wanted(flags, action)).collect();
    found.sort_by_key(|action| match flags.sort.as_str() {
        "kind" => (action.kind.name().to_owned(), action.name.clone()),
        "type" => (action.type_name.to_string(), action.name.clone()),
        _ => (action.name.to_string(), action.key.clone()),
    });
    let list = found.into_iter().map(|action| action_value(session, resolution, action, flags.detail));
    Value::map(Map::from_iter([("actions".into(), Value::list(list.collect()))]))
}

fn action_value(session: &Session, resolution: &Resolution<'_>, action: &Action, detail: bool) -> Value {
    let mut map = Map::from_iter([
        ("name".into(), Value::str(action.name.clone())),
        ("kind".into(), Value::str(action.kind.name())),
        ("type".into(), Value::str(action.type_name.clone())),
    ]);
    // Every spec is evaluated, so that a mistake in any of them is found.
    let _ = resolution.action(&action.key);
    if detail {
        let graph = resolution.graph();
        let needed_by = graph.needs.iter().filter(|(_, needs)| needs.iter().any(|need| need.key == action.key));
        map.insert("path".into(), Value::str(resolution.ground.full_path(&action.source_folder)));
        map.insert("disabled".into(), Value::from(action.disabled));
        map.insert("dependencies".into(), texts(resolution.needs(&action.key).iter().map(|need| need.key.as_str())));
        map.insert("dependents".into(), texts(needed_by.map(|(key, _)| key.as_str())));
        map.insert(
            "moduleName".into(),
            action.module.as_ref().map_or_else(Value::null, |m| Value::str(m.module.clone())),
        );
        for key in ["allowPublish", "publishId"] {
            map.extend(action.fields.get(key).map(|value| (EcoString::from(key), value.clone())));
        }
        if let Some(version) = resolution.live.resolved_version(session, &action.key) {
            let others = version.dependencies.iter().map(|(key, text)| (key.clone(), Value::str(text.clone())));
            let parts = Map::from_iter([
                ("configVersion".into(), Value::str(version.config.clone())),
                ("sourceVersion".into(), Value::str(version.source.clone())),
                ("versionString".into(), Value::str(version.string.clone())),
                ("dependencyVersions".into(), Value::map(others.collect())),
                ("files".into(), texts(version.files.iter().map(String::as_str))),
            ]);
            map.insert("version".into(), Value::map(parts));
        }
    }
    Value::map(map)
}

/// Nodes with those they need first, and who needs whom.
fn graph(_: &Session, resolution: &Resolution<'_>, _: &Flags) -> Value {
    let graph = resolution.graph();
    let mut order = purlin_graph::Digraph::new();
    for key in graph.actions.keys() {
        order.add(key.clone());
    }
    for (key, needs) in &graph.needs {
        needs.iter().for_each(|need| order.connect(key.clone(), need.key.clone()));
    }
    let node = |key: &EcoString| {
        let action = graph.actions.get(key)?;
        Some(Value::map(Map::from_iter([
            ("name".into(), Value::str(action.name.clone())),
            ("kind".into(), Value::str(action.kind.name())),
            ("key".into(), Value::str(action.name.clone())),
            ("disabled".into(), Value::from(action.disabled)),
            ("type".into(), Value::str(action.type_name.clone())),
        ])))
    };
    let nodes = order.depth_first(graph.actions.keys()).into_iter().filter_map(node);
    let mut relationships = Vec::new();
    for (key, needs) in &graph.needs {
        for need in needs {
            let (Some(from), Some(to)) = (node(key), node(&need.key)) else { continue };
            relationships.push(Value::map(Map::from_iter([("dependant".into(), from), ("dependency".into(), to)])));
        }
    }
    let nodes = Value::list(nodes.collect());
    Value::map(Map::from_iter([("nodes".into(), nodes), ("relationships".into(), Value::list(relationships))]))
}

fn config(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let project = &resolution.project;
    let mut by_kind = Map::new();
    for action in resolution.graph().actions.values().filter(|action| !(flags.exclude_disabled && action.disabled)) {
        let mut map = action.fields.clone();
        if let Some(found) = resolution.action(&action.key) {
            map.insert("spec".into(), found.spec);
        }
        map.insert("variables".into(), resolution.own_variables(&action.key));
        let entry = by_kind.entry(action.kind.name().into()).or_insert_with(|| Value::map(Map::new()));
        let mut actions = entry.as_map().cloned().unwrap_or_default();
        actions.insert(action.name.clone(), Value::map(map));
        *entry = Value::map(actions);
    }
    Value::map(Map::from_iter([
        ("projectName".into(), Value::str(project.name.clone())),
        ("projectRoot".into(), Value::str(resolution.ground.full_path(&resolution.ground.root))),
        ("environmentName".into(), Value::str(project.environment.clone())),
        ("allEnvironmentNames".into(), texts(project.environments.iter().map(EcoString::as_str))),
        ("namespace".into(), Value::str(project.namespace.clone())),
        ("variables".into(), resolution.variables()),
        ("actionConfigs".into(), Value::map(by_kind)),
        ("moduleConfigs".into(), module_list(resolution)),
        ("workflowConfigs".into(), workflow_list(resolution)),
    ]))
}

fn workflow_list(resolution: &Resolution<'_>) -> Value {
    Value::list(resolution.workflows.iter().map(|workflow| workflow.body.written()).collect())
}

fn workflows(_: &Session, resolution: &Resolution<'_>, _: &Flags) -> Value {
    let listed = resolution.workflows.iter().map(|workflow| {
        let description = workflow.field("description").map_or_else(Value::null, |draft: Draft| draft.written());
        Value::map(Map::from_iter([
            ("name".into(), Value::str(workflow.name.clone())),
            ("description".into(), description),
        ]))
    });
    Value::map(Map::from_iter([("workflows".into(), Value::list(listed.collect()))]))
}

fn module_list(resolution: &Resolution<'_>) -> Value {
    let listed = resolution.modules.iter().map(|module| {
        Value::map(Map::from_iter([
            ("name".into(), Value::str(module.name().clone())),
            ("type".into(), Value::str(module.config.type_name.clone())),
            ("version".into(), Value::str(module.version.clone())),
            ("disabled".into(), Value::from(module.disabled)),
            ("services".into(), texts(module.names("services").iter().map(EcoString::as_str))),
            ("tasks".into(), texts(module.names("tasks").iter().map(EcoString::as_str))),
            ("tests".into(), texts(module.names("tests").iter().map(EcoString::as_str))),
        ]))
    });
    Value::list(listed.collect())
}

fn modules(_: &Session, resolution: &Resolution<'_>, _: &Flags) -> Value {
    Value::map(Map::from_iter([("modules".into(), module_list(resolution))]))
}

/// Unlike the original's, this evaluates everything that can be known.
fn validated(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let all = flags.resolve.is_empty() || flags.resolve.iter().any(|key| key == "*");
    for key in resolution.graph().actions.keys() {
        if all || flags.resolve.iter().any(|wanted| wanted == key) {
            let _ = resolution.action(key);
        }
    }
    let _ = resolution.variables();
    let _ = resolution.outputs();
    Value::map(Map::new())
}
