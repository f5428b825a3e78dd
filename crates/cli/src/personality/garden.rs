//! `purlin garden` with Garden's own arguments: `get …` and `validate` print what Garden would print, `build`,
//! `deploy`, `test`, `run`, `workflow`, `cleanup`, `logs` and custom commands run what Garden would run.
//!
//! `get` and `validate` run nothing but the `statusCommand`s of `get status`, if commands are allowed: where Garden would
//! execute an action to learn its outputs, the value is shown as pending.

mod answers;
mod create;
mod custom;
mod execute;
mod flags;
mod follow;
mod logs;
mod order;
mod plan;
mod results;
pub(super) mod steps;

use super::{Personality, usage, version};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use crate::seed::SeedSource;
use flags::{CLEANUP, DEPLOYS, Flags, NAMESPACES};
use purlin_garden::late::{self, Reach};
use purlin_garden::resolve::{Resolution, resolve};
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{Secrets, to_json, to_yaml};
use purlin_value::{Map, Session, Value};
use std::cell::Cell;

/// The personality.
#[rustfmt::skip]
pub(super) const GARDEN: Personality = Personality {
    name: "garden",
    summary: "Garden's commands; `get` and `validate` run nothing, the others run what the configuration says.",
    commands: &[
        ("get actions [NAME…]", "all actions"),
        ("get builds [NAME…]", "Build actions"),
        ("get deploys [NAME…]", "Deploy actions"),
        ("get runs [NAME…]", "Run actions"),
        ("get tests [NAME…]", "Test actions"),
        ("get modules [NAME…]", "modules"),
        ("get workflows [NAME…]", "workflows"),
        ("get config", "the whole configuration"),
        ("get graph", "the graph of actions"),
        ("get files [NAME…]", "files that each action includes"),
        ("get status", "the status of each action, by earlier results and by the cluster"),
        ("get outputs", "outputs of the project"),
        ("get variables", "variables of the environment"),
        ("validate", "check the configuration"),
        ("build [NAME…]", "run Build actions"),
        ("deploy [NAME…]", "run Deploy actions"),
        ("test [NAME…]", "run Test actions"),
        ("run [NAME…]", "run Run actions"),
        ("workflow NAME", "run the steps of a workflow"),
        ("dev", "run everything, and again what changes affect"),
        ("up [NAME…]", "bring Deploys up, and again what changes affect"),
        ("publish [NAME…]", "build images and push them under their published names"),
        ("get run-result NAME", "the last result of a Run"),
        ("get test-result NAME", "the last result of a Test"),
        ("options", "options that every command takes"),
        ("cleanup deploy [NAME…]", "take Deploys down"),
        ("cleanup namespace", "take all Deploys down"),
        ("logs [NAME…]", "the output of Deploys"),
        ("exec NAME -- COMMAND", "run a command in a container of a Deploy"),
        ("plan [KEY…]", "what would run, and why"),
        ("create project", "start a project in this folder"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("    --root DIR", "folder of the project"),
        ("-e, --env NAME", "environment"),
        ("    --var K=V,…", "set variables"),
        ("-o, --output json|yaml", "format of the answer"),
        ("    --detail", "get actions: all fields"),
        ("    --kind KIND", "get actions: only this kind"),
        ("    --sort name|kind|type", "get actions: order"),
        ("    --resolve full|partial", "get config: with or without the specs of actions; validate: names of actions"),
        ("    --exclude-disabled", "get config, get modules, get actions: leave out what is disabled"),
        ("    --include-state", "get actions: with their status"),
        ("    --only-deploys", "get status: only Deploy actions"),
        ("-f, --force", "run what is named even if it is done"),
        ("    --force-build", "run Builds that it depends on even if they are done"),
        ("    --with-dependants", "also run what depends on it"),
        ("    --skip NAME,…", "leave out actions"),
        ("    --skip-dependencies", "run no dependencies but Builds"),
        ("-t, --tail N", "logs: only the last lines"),
        ("    --hide-name", "logs: only the lines, without the name of the Deploy"),
        ("-f, --follow", "logs: print new lines as they come"),
        ("    --since DURATION", "logs: only lines of this time before now (`5s`, `2m`, `3h`)"),
        ("    --timestamps", "logs, deploy: with the time of each line"),
        ("    --tag container=NAME", "logs: only containers of this name or pattern"),
        ("    --show-tags", "logs: with the container of each line"),
        ("    --forward", "deploy: forward ports to this machine until Ctrl-C"),
        ("    --logs", "deploy: print logs until Ctrl-C"),
        ("    --plan", "deploy: print what would run, and run nothing"),
        ("    --target NAME", "exec: the container"),
        ("    --interactive BOOL", "exec: whether the command gets this terminal"),
        ("    --pending PATH", "an environment variable that may be unset (`local.env.NAME`)"),
    ],
    refused: &[
        "cloud", "community", "config", "diff", "link", "login", "logout", "plugins", "self-update",
        "serve", "set", "sync", "tools", "unlink", "update-remote", "util",
    ],
    run,
};

/// Unsupported objects of `get`: they need a cluster, a service or the results of runs.
const REFUSED_GETS: &[&str] = &["debug-info", "linked-repos", "remote-variables", "users", "variable-lists"];

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Json,
    Yaml,
}

impl Format {
    /// The format that `--output` names.
    fn of(flags: &Flags) -> Result<Self, String> {
        match flags.output.as_deref() {
            None => Ok(Format::Plain),
            Some("json") => Ok(Format::Json),
            Some("yaml") => Ok(Format::Yaml),
            Some(other) => Err(format!("`--output {other}`: expected json or yaml")),
        }
    }
}

/// Runs `purlin garden ARGS`.
fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    if let Some(at) = custom::command_place(args) {
        return custom::run(invocation, args, at);
    }
    if matches!(args, [only] if only == "--version" || only == "-V") {
        return Ok(version(invocation));
    }
    let flags = Flags::read(args).map_err(|message| usage(invocation, &message))?;
    let format = Format::of(&flags).map_err(|message| usage(invocation, &message))?;
    let words: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    let answer: fn(&Session, &Resolution<'_>, &Flags) -> Value = match words.as_slice() {
        ["get", "actions" | "action", ..] => answers::actions,
        ["get", "builds" | "build", ..] => answers::builds,
        ["get", "deploys" | "deploy", ..] => answers::deploys,
        ["get", "runs" | "run", ..] => answers::runs,
        ["get", "tests" | "test", ..] => answers::tests,
        ["get", "files", ..] => answers::files,
        ["get", "status"] => {
            let clusters = execute::clusters(invocation);
            let asked = results::asked(invocation, &flags)?;
            let told = asked.as_deref().unwrap_or_default();
            let unasked = Cell::new(None);
            let answer = |session: &Session, resolution: &Resolution<'_>, flags: &Flags| {
                if asked.is_none() {
                    unasked.set(answers::with_status_command(resolution));
                }
                answers::status(session, resolution, flags, &clusters, told)
            };
            let exit = work(invocation, &flags, format, &answer);
            if let Some(id) = unasked.take() {
                let _ = writeln!(
                    invocation.stderr,
                    "note: the `statusCommand` of `{id}` was not run; add `--allow-exec` before `garden`"
                );
            }
            return exit;
        }
        ["get", "graph"] => answers::graph,
        ["get", "config"] => answers::config,
        ["get", "outputs"] => |_, resolution, _| resolution.outputs(),
        ["get", "variables", ..] => |_, resolution, _| resolution.variables(),
        ["get", "workflows" | "workflow", ..] => answers::workflows,
        ["get", "modules" | "module", ..] => answers::modules,
        ["validate"] => answers::validated,
        ["build", names @ ..] => return execute::run(invocation, &flags, format, Kind::Build, names),
        ["deploy", names @ ..] => return execute::run(invocation, &flags, format, Kind::Deploy, names),
        // The names of these commands before Garden had actions.
        ["test", names @ ..] | ["run", "test", names @ ..] => {
            return execute::run(invocation, &flags, format, Kind::Test, names);
        }
        ["workflow" | "run-workflow", name] | ["run", "workflow", name] => {
            return steps::workflow(invocation, &flags, format, name);
        }
        ["run", "task", names @ ..] | ["run", names @ ..] => {
            return execute::run(invocation, &flags, format, Kind::Run, names);
        }
        [group, what, names @ ..] if CLEANUP.contains(group) && DEPLOYS.contains(what) => {
            return execute::cleanup(invocation, &flags, names);
        }
        [group, what] if CLEANUP.contains(group) && NAMESPACES.contains(what) => {
            return execute::cleanup(invocation, &flags, &[]);
        }
        ["dev"] => return Ok(follow::run(invocation, &flags, &[])),
        ["up", names @ ..] => return Ok(follow::run(invocation, &flags, &follow::deploys(names))),
        ["publish", names @ ..] => return execute::publish(invocation, &flags, format, names),
        ["get", "run-result", name] => return results::run(invocation, &flags, format, Kind::Run, name),
        ["get", "test-result", name] => return results::run(invocation, &flags, format, Kind::Test, name),
        ["options"] => return Ok(invocation.print(&super::help(&GARDEN))),
        ["logs", names @ ..] => return logs::logs(invocation, &flags, names),
        ["exec", words @ ..] => return logs::exec(invocation, &flags, words),
        ["plan", names @ ..] => return plan::run(invocation, &flags, format, names),
        ["create", "project"] => return create::project(invocation, &flags),
        ["get", other, ..] if REFUSED_GETS.contains(other) => {
            return Err(super::unsupported(invocation, &GARDEN, &format!("get {other}")));
        }
        ["get", other, ..] => return Err(super::unknown(invocation, &GARDEN, &format!("get {other}"))),
        [group @ ("cleanup" | "create"), "remote-variables"] => {
            return Err(super::unsupported(invocation, &GARDEN, &format!("{group} remote-variables")));
        }
        ["version"] => return Ok(version(invocation)),
        [other, ..] => return Err(super::unknown(invocation, &GARDEN, other)),
        [] => return Err(super::unknown(invocation, &GARDEN, "")),
    };
    work(invocation, &flags, format, &answer)
}

/// Garden's message outside a project.
fn no_project(invocation: &mut Invocation<'_>) -> Exit {
    invocation.refuse("not a project folder (no project configuration found)", Exit::Invalid)
}

/// A session on the project, and the request of the arguments.
fn open(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<(Session, Request), Exit> {
    let mut setup = Setup::of(flags.root.as_deref().unwrap_or("."));
    if !matches!(flags.words.first().map(String::as_str), Some("get" | "validate")) {
        setup.usual_seed = SeedSource::Kept;
    }
    let (session, path) = open_session(invocation, &setup)?;
    let mut request = Request {
        path,
        environment: flags.environment.clone(),
        vars: flags.vars.clone(),
        command: flags.command_name(),
        pending: flags.pending.clone(),
        engines: purlin_compiler::ENGINES,
        ..Request::default()
    };
    // Deployments include CRDs; answers show what Garden shows.
    request.chart.include_crds = flags.words.first().is_none_or(|word| word != "get");
    Ok((session, request))
}

/// How far Garden goes for a command that resolves no spec; `None` for commands that resolve specs.
fn early(resolution: &Resolution<'_>, flags: &Flags) -> Option<Reach> {
    let words: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["validate"] if flags.resolve.is_empty() => Some(Reach::Workflows),
        ["get", "graph"] | ["get", "files" | "modules" | "module", ..] => Some(Reach::Graph),
        ["get", "workflows" | "workflow", ..] => Some(Reach::Configurations),
        ["get", "config"] if flags.resolve.iter().any(|how| how == "partial") => Some(Reach::Configurations),
        ["get", "outputs"] if !resolution.outputs_need_actions() => Some(Reach::Configurations),
        _ => None,
    }
}

fn work(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    answer: &dyn Fn(&Session, &Resolution<'_>, &Flags) -> Value,
) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let resolution = resolve(&session, &request);
    if let Some(resolution) = &resolution {
        // Every command of Garden evaluates the variables of project and environment.
        resolution.variables();
    }
    let value = resolution.as_ref().map(|resolution| answer(&session, resolution, flags));
    if let Some((resolution, reach)) = resolution.as_ref().and_then(|found| Some((found, early(found, flags)?))) {
        let mut found = session.sink.take();
        late::spare(resolution, &mut found, reach);
        session.sink.extend(found);
    }
    if resolution.is_none() && !session.sink.has_errors() {
        return Err(no_project(invocation));
    }
    let found = session.sink.take();
    let problems: Vec<String> =
        found.iter().filter(|problem| problem.is_error()).map(|problem| problem.message.clone()).collect();
    session.sink.extend(found);
    let exit = report(invocation, &session, Style::given(invocation));
    let text = match (&value, problems.is_empty()) {
        (Some(value), true) => succeeded(value, format),
        _ => failed(&problems, format),
    };
    // Partial output is never printed: the answer is complete, or absent.
    let _ = write!(invocation.stdout, "{text}");
    match exit {
        _ if problems.is_empty() => Ok(Exit::Ok),
        Exit::Ok => Err(Exit::Invalid),
        exit => Err(exit),
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
        return if value.is_null() { String::new() } else { written(value, format) };
    }
    let mut answer = Map::from_iter([("success".into(), Value::from(true))]);
    if !value.is_null() {
        answer.insert("result".into(), value.clone());
    }
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
