//! Custom commands: `purlin garden NAME ARGS`, if a `Command` of the project has that name.

use super::steps::{Console, conclude};
use super::{Flags, Format, GARDEN, failed, open, usage};
use crate::commands::run::{Place, garden_project};
use crate::invocation::{Exit, Invocation};
use crate::personality;
use crate::report::{Style, report};
use purlin_garden::workflows::Script;
use purlin_run::garden::workflow::{Stage, list, texts};
use purlin_run::local::process::Stream;
use purlin_syntax::suggest;
use purlin_value::{Map, Value};

/// Garden's own commands.
const OWN: &[&str] = &[
    "get",
    "validate",
    "version",
    "build",
    "deploy",
    "test",
    "run",
    "workflow",
    "run-workflow",
    "dev",
    "up",
    "publish",
    "options",
    "cleanup",
    "delete",
    "del",
    "logs",
    "exec",
    "plan",
    "create",
    "set",
    "sync",
    "help",
];

/// Options before a command that are followed by a value.
const WITH_VALUE: &[&str] = &["--root", "--env", "-e", "--output", "-o", "--var", "--log-level", "-l", "--logger-type"];

/// The index of a custom command's name among the arguments.
pub(super) fn command_place(args: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if !arg.starts_with('-') {
            return (!OWN.contains(&arg.as_str())).then_some(at);
        }
        at += if WITH_VALUE.contains(&arg.as_str()) { 2 } else { 1 };
    }
    None
}

pub(super) fn run(invocation: &mut Invocation<'_>, args: &[String], at: usize) -> Result<Exit, Exit> {
    let (before, rest) = args.split_at(at);
    let Some((name, rest)) = rest.split_first() else { return Err(usage(invocation, "name a command")) };
    let (own, mut global) = split_global(rest);
    global.splice(0..0, before.iter().cloned());
    let flags = Flags::read(&global).map_err(|message| usage(invocation, &message))?;
    let flags = Flags { words: vec![name.clone()], ..flags };
    let format = Format::of(&flags).map_err(|message| usage(invocation, &message))?;
    let (session, request) = open(invocation, &flags)?;
    let project = garden_project(invocation, &session, &request);
    if session.sink.has_errors() {
        return Err(report(invocation, &session, Style::default()));
    }
    // Without a project there are only Garden's own commands, and this is not one of them.
    let Some(project) = project else { return Err(personality::unknown(invocation, &GARDEN, name)) };
    let commands = &project.resolution().commands;
    let Some(command) = commands.iter().find(|command| command.name == name.as_str()) else {
        let hint = suggest::did_you_mean(name, commands.iter().map(|command| command.name.as_str()));
        return Err(match hint {
            Some(hint) => usage(invocation, &format!("unknown command `{name}` for `garden`; {hint}")),
            None => personality::unknown(invocation, &GARDEN, name),
        });
    };
    let declared = |key: &str| {
        let items = command.body.get(key).map(|draft| draft.items()).unwrap_or_default();
        items.iter().filter_map(|item| Declared::read(&item.written())).collect::<Vec<_>>()
    };
    let typed = typed(&own, &declared("args"), &declared("opts")).map_err(|message| usage(invocation, &message))?;
    let Some(script) = Script::command(project.resolution(), name, &typed) else {
        return Err(usage(invocation, "name a command"));
    };
    let place = Place::new(invocation, &project.root())?;
    let stage = Stage::new(&project, &place.executor, &place.stop);
    if !script.step_names().is_empty() {
        let mut console = Console::new(invocation, &project.root(), &request);
        let steps = stage.run(&script, &mut console);
        return Ok(conclude(invocation, &session, &place, steps, format));
    }
    let exec = script.field("exec");
    let tool = script.field("gardenCommand");
    let is_unknown = |value: &Value| value.any(|part| part.is_poison() || part.is_pending());
    if session.sink.has_errors() || [&exec, &tool].into_iter().flatten().any(is_unknown) {
        let exit = report(invocation, &session, Style::default());
        let message = format!("command `{name}` could not be resolved");
        invocation.refuse(&message, exit);
        let _ = write!(invocation.stdout, "{}", failed(&[message], format));
        return Err(if exit == Exit::Ok { Exit::Other(1) } else { exit });
    }
    if let Some(exec) = exec {
        // The program is the whole command: its output is the output of the command.
        let given = {
            let (stdout, stderr) = (&mut invocation.stdout, &mut invocation.stderr);
            stage.program(list(exec.get("command")), texts(exec.get("env")), &mut |stream, line| {
                let _ = match stream {
                    Stream::Out => writeln!(stdout, "{line}"),
                    Stream::Err => writeln!(stderr, "{line}"),
                };
            })
        };
        if let Some(problem) = given.problem {
            let code = given.outputs.get("exitCode").and_then(Value::as_int).and_then(|code| i32::try_from(code).ok());
            let exit = Exit::Other(code.unwrap_or(1));
            return Err(invocation.refuse(&format!("command `{name}` failed: {problem}"), exit));
        }
    }
    match tool {
        Some(tool) => {
            let mut args = list(Some(&tool));
            let console = Console::new(invocation, &project.root(), &request);
            args.extend(console.inherited);
            super::run(invocation, &args)
        }
        None => Ok(Exit::Ok),
    }
}

/// Separates Garden's own options from the arguments of a command. Everything after `--` belongs to the command.
fn split_global(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut own, mut global) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let name = arg.split('=').next().unwrap_or(arg);
        if arg == "--" {
            own.push(arg.clone());
            own.extend(rest.by_ref().cloned());
        } else if WITH_VALUE.contains(&name) {
            global.push(arg.clone());
            if !arg.contains('=') {
                global.extend(rest.next().cloned());
            }
        } else {
            own.push(arg.clone());
        }
    }
    (own, global)
}

/// A declared argument or option.
#[derive(Debug)]
struct Declared {
    name: String,
    kind: String,
    required: bool,
}

impl Declared {
    fn read(written: &Value) -> Option<Self> {
        Some(Declared {
            name: written.get("name")?.as_str()?.to_owned(),
            kind: written.get("type").and_then(Value::as_str).unwrap_or("string").to_owned(),
            required: written.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// A text converted to the declared type.
    fn value(&self, what: &str, text: &str) -> Result<Value, String> {
        let wrong = || format!("{what} `{}`: expected {}, found `{text}`", self.name, self.kind);
        match self.kind.as_str() {
            "integer" => text.parse::<i64>().map(Value::from).map_err(|_| wrong()),
            "boolean" => text.parse::<bool>().map(Value::from).map_err(|_| wrong()),
            _ => Ok(Value::str(text)),
        }
    }
}

/// The typed arguments, as templates see them: `args` with `$all`, `$rest` and `--`, and `opts`.
fn typed(given: &[String], args: &[Declared], opts: &[Declared]) -> Result<Map, String> {
    let texts = |list: &[String]| Value::list(list.iter().map(|text| Value::str(text.as_str())).collect());
    let end = given.iter().position(|arg| arg == "--").unwrap_or(given.len());
    let (front, behind) = (given.get(..end).unwrap_or_default(), given.get(end + 1..).unwrap_or_default());
    let (mut named, mut plain, mut unknown) = (Map::new(), Vec::new(), Vec::new());
    let mut rest = front.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.strip_prefix("--") else {
            plain.push(arg.clone());
            continue;
        };
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        let Some(option) = opts.iter().find(|option| option.name == name) else {
            unknown.push(arg.clone());
            continue;
        };
        let value = match (value, option.kind.as_str()) {
            (Some(value), _) => value,
            (None, "boolean") => "true".to_owned(),
            (None, _) => rest.next().cloned().ok_or_else(|| format!("option `--{name}` needs a value"))?,
        };
        named.insert(name.into(), option.value("option", &value)?);
    }
    let mut positional = Map::new();
    for (declared, text) in args.iter().zip(&plain) {
        positional.insert(declared.name.as_str().into(), declared.value("argument", text)?);
    }
    for declared in args.iter().filter(|declared| !positional.contains_key(declared.name.as_str())).collect::<Vec<_>>()
    {
        if declared.required {
            return Err(format!("missing argument `{}`", declared.name));
        }
        positional.insert(declared.name.as_str().into(), Value::null());
    }
    for declared in opts.iter().filter(|declared| !named.contains_key(declared.name.as_str())).collect::<Vec<_>>() {
        if declared.required {
            return Err(format!("missing option `--{}`", declared.name));
        }
        named.insert(declared.name.as_str().into(), Value::null());
    }
    let left: Vec<String> = plain.iter().skip(args.len()).cloned().chain(unknown).collect();
    positional.insert("$all".into(), texts(given));
    positional.insert("$rest".into(), texts(&left));
    positional.insert("--".into(), texts(behind));
    Ok(Map::from_iter([("args".into(), Value::map(positional)), ("opts".into(), Value::map(named))]))
}
