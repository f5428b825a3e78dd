//! `purlin unfurl`: plan, status and validate with that tool's own arguments, as far as nothing must be executed.

use super::Personality;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use purlin_model::dialect::Question;
use purlin_model::project::Request;
use purlin_syntax::write::JsonLayout;
use purlin_unfurl::ensemble::build::Instances;
use purlin_unfurl::ensemble::{self, Ensemble};
use purlin_unfurl::eval::status::effective;
use purlin_unfurl::tree::{NodeId, NodeKind, Status};
use purlin_unfurl::{DIALECT, check};
use purlin_value::{Secrets, Session, emit};

/// The personality.
#[rustfmt::skip]
pub(super) const UNFURL: Personality = Personality {
    name: "unfurl",
    summary: "Answers as Unfurl does, as far as nothing must be executed.",
    commands: &[
        ("plan [ENSEMBLE]", "operations that a deployment would run"),
        ("status [ENSEMBLE]", "instances with their status"),
        ("validate [ENSEMBLE]", "check the ensemble"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("--use-environment NAME", "environment"),
        ("--var NAME VALUE", "set an input"),
        ("--query EXPRESSION", "evaluate and print an expression"),
        ("--trace", "print every step of an expression"),
        ("--output text|json", "format of the answers to queries"),
    ],
    refused: &[
        "check", "clone", "cloudmap", "commit", "deploy", "discover", "export", "git", "git-status", "home", "init", "run",
        "runtime", "serve", "stop", "teardown", "undeploy",
    ],
    run,
};

/// What the arguments say.
#[derive(Default, Debug)]
struct Flags {
    path: Option<String>,
    environment: Option<String>,
    queries: Vec<String>,
    vars: Vec<(String, String)>,
    trace: bool,
    json: bool,
}

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Exit {
    let mut words = args.iter();
    // Flags of the tool itself stand before the command.
    let command = loop {
        match words.next() {
            None => return super::unknown(invocation, &UNFURL, ""),
            Some(word) if word.starts_with('-') => continue,
            Some(word) => break word.as_str(),
        }
    };
    let flags = match Flags::read(words.as_slice()) {
        Ok(flags) => flags,
        Err(message) => return usage(invocation, &message),
    };
    match command {
        "plan" | "status" | "validate" => work(invocation, command, &flags),
        "version" => {
            let _ = writeln!(invocation.stdout, "purlin {}", env!("CARGO_PKG_VERSION"));
            Exit::Ok
        }
        other => super::unknown(invocation, &UNFURL, other),
    }
}

fn usage(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "error: {message}");
    Exit::Usage
}

impl Flags {
    fn read(args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(name) = arg.strip_prefix("--") else {
                if arg.starts_with('-') {
                    continue;
                }
                if flags.path.replace(arg.clone()).is_some() {
                    return Err("only one ensemble can be named".to_owned());
                }
                continue;
            };
            let (name, given) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`--{name}` needs a value"));
            match name {
                "query" => flags.queries.push(value()?),
                "trace" => flags.trace = true,
                "use-environment" => flags.environment = Some(value()?),
                "output" => flags.json = value()? == "json",
                "var" => {
                    let text = value()?;
                    let (name, text) = match text.split_once('=') {
                        Some((name, text)) => (name.to_owned(), text.to_owned()),
                        None => (text, value()?),
                    };
                    flags.vars.push((name, text));
                }
                "dryrun" | "jobexitcode" | "skip-save" | "verbose" | "quiet" | "force" | "required" => {}
                other => return Err(format!("unknown option `--{other}`; `purlin help unfurl` lists them")),
            }
        }
        Ok(flags)
    }
}

fn work(invocation: &mut Invocation<'_>, command: &str, flags: &Flags) -> Exit {
    let path = flags.path.as_deref().unwrap_or(".");
    let (session, path) = match open_session(invocation, &Setup::of(path)) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let mut request = Request::of(&path);
    request.environment = flags.environment.clone();
    request.inputs = flags.vars.clone();
    // What is stored is what there is; a plan also has what would be made.
    let which = if command == "status" { Instances::Stored } else { Instances::Planned };
    let Some(ensemble) = ensemble::open_with(&session, &request, which) else {
        let exit = report(invocation, &session, Style::given(invocation));
        if exit == Exit::Ok {
            let _ = writeln!(invocation.stderr, "error: could not find an ensemble at `{path}`");
            return Exit::Invalid;
        }
        return exit;
    };
    if which == Instances::Planned {
        let _ = check::check(&session, &ensemble);
    }
    let text = match command {
        "status" => status(&ensemble),
        "plan" => plan(&ensemble),
        _ => String::new(),
    };
    let _ = invocation.stdout.write_all(text.as_bytes());
    for query in &flags.queries {
        ask(invocation, &session, &request, flags, query);
    }
    report(invocation, &session, Style::given(invocation))
}

/// The tree of instances, each with its status and state.
fn status(ensemble: &Ensemble) -> String {
    let tree = &ensemble.tree;
    let mut out = String::new();
    let mut todo: Vec<(NodeId, usize)> = vec![(tree.root(), 0)];
    while let Some((id, depth)) = todo.pop() {
        let node = tree.node(id);
        let class = if node.kind == NodeKind::Root { "TopologyInstance" } else { "NodeInstance" };
        let mut line = format!("{}{class}('{}') {}", "    ".repeat(depth), node.name, effective(tree, id).name());
        if let Some(state) = node.state {
            line.push_str(&format!(" {}", state.name()));
        }
        out.push_str(&line);
        out.push('\n');
        todo.extend(node.children.iter().rev().map(|child| (*child, depth + 1)));
    }
    out
}

/// Operations that a deployment would run, in order.
fn plan(ensemble: &Ensemble) -> String {
    let tree = &ensemble.tree;
    let mut lines = Vec::new();
    for (name, id) in tree.named() {
        let node = tree.node(id);
        let done = effective(tree, id) == Status::Ok || !node.has_operations;
        let Some(template) = ensemble.service.topology.nodes.get(&node.template).filter(|_| !done) else { continue };
        let mut operations = Vec::new();
        for step in ["create", "configure", "start"] {
            let found = template.interfaces.values().filter_map(|interface| interface.operations.get(step));
            operations.extend(found.filter(|operation| operation.implemented).map(|_| format!("    {step}")));
        }
        if !operations.is_empty() {
            lines.push(format!("  Node \"{name}\" ({}): add", node.type_name()));
            lines.extend(operations);
        }
    }
    if lines.is_empty() {
        return "Plan for deploy: nothing to do\n".to_owned();
    }
    format!("Plan for deploy:\n{}\n", lines.join("\n"))
}

fn ask(invocation: &mut Invocation<'_>, session: &Session, request: &Request, flags: &Flags, query: &str) {
    let question = Question { expression: query.to_owned(), on: None, trace: flags.trace };
    let Some(answer) = (DIALECT.eval)(session, request, &question) else { return };
    for line in &answer.trace {
        let _ = writeln!(invocation.stderr, "{line}");
    }
    let text = if flags.json {
        emit::to_json(&answer.value, Secrets::Hide, JsonLayout::Pretty).map(|text| text + "\n")
    } else {
        emit::to_yaml(&answer.value, Secrets::Hide).map(|text| format!("query: {query}\n{text}"))
    };
    let _ = invocation.stdout.write_all(text.unwrap_or_default().as_bytes());
}
