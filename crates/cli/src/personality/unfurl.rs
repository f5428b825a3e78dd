//! `purlin unfurl` with Unfurl's own arguments. `plan`, `status` and `validate` execute nothing; jobs do.

mod flags;
mod jobs;

use super::{Personality, usage, version};
use crate::invocation::{Exit, Invocation};
use crate::report::{Style, report};
use crate::seed::SeedSource;
use flags::Flags;
use purlin_host::named;
use purlin_model::dialect::Question;
use purlin_model::project::Request;
use purlin_syntax::write::JsonLayout;
use purlin_unfurl::ensemble::build::Instances;
use purlin_unfurl::ensemble::{self, Ensemble};
use purlin_unfurl::eval::status::effective;
use purlin_unfurl::tree::{NodeId, NodeKind};
use purlin_unfurl::{DIALECT, check, convert, export};
use purlin_value::{Secrets, Session, emit};

/// The personality.
#[rustfmt::skip]
pub(super) const UNFURL: Personality = Personality {
    name: "unfurl",
    summary: "Answers as Unfurl does, and runs operations whose implementation is a command or a template.",
    commands: &[
        ("check [ENSEMBLE]", "run `check` operations and store the status they find"),
        ("deploy [ENSEMBLE]", "bring all instances up"),
        ("discover [ENSEMBLE]", "run `discover` operations"),
        ("export [ENSEMBLE]", "types, templates and instances as JSON for front ends"),
        ("plan [ENSEMBLE]", "operations that a deployment would run"),
        ("status [ENSEMBLE]", "instances with their status"),
        ("stop [ENSEMBLE]", "stop all instances"),
        ("undeploy [ENSEMBLE]", "take all instances down, dependents first"),
        ("validate [ENSEMBLE]", "check the ensemble"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("--use-environment NAME", "environment"),
        ("--var NAME VALUE", "set an input; `input_NAME` means the same"),
        ("--query EXPRESSION", "evaluate and print an expression"),
        ("--trace [LEVEL]", "print every step of an expression; level 0 prints none"),
        ("--output text|json|none", "format of summaries and of answers to queries"),
        ("-a, --approve", "run the plan; without it, the plan is printed (also $UNFURL_APPROVE)"),
        ("--dryrun", "run only operations that change nothing, and store nothing"),
        ("--force", "run operations whatever state their instances are in"),
        ("--instance NAME", "only operations of this instance; may be repeated"),
        ("--template NAME", "only instances of this template"),
        ("--check", "check new instances before they are made"),
        ("--prune", "delete instances that no template needs"),
        ("--destroyunmanaged", "delete instances that the ensemble did not make, too"),
        ("--skip-new", "make no instances of new templates"),
        ("--repair error|degraded|none", "which instances are repaired"),
        ("--change-detection skip|always|evaluate", "when instances are configured again"),
        ("--jobexitcode error|degraded|never", "exit with 64 if the job ends so, or worse"),
        ("--workflow NAME", "the workflow that is planned; `deploy` unless given"),
        ("--format blueprint|deployment", "what is exported; `deployment` unless given"),
        ("--file FILE", "write the export to a file"),
        ("--overwrite auto|always|never|older", "what to do if that file exists"),
    ],
    refused: &[
        "clone", "cloudmap", "commit", "git", "git-status", "home", "init", "run", "runtime", "serve",
    ],
    run,
};

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let (at, is_quiet) = flags::read_global(args).map_err(|message| usage(invocation, &message))?;
    let Some((command, rest)) = args.get(at..).and_then(<[String]>::split_first) else {
        return Err(super::unknown(invocation, &UNFURL, ""));
    };
    let command = command.as_str();
    if !flags::is_command(command) {
        return Err(super::unknown(invocation, &UNFURL, command));
    }
    let mut flags = Flags::read(command, rest).map_err(|message| usage(invocation, &message))?;
    flags.is_quiet |= is_quiet;
    match command {
        "status" | "validate" => work(invocation, command, &flags),
        "export" => export(invocation, &flags),
        "plan" => jobs::plan(invocation, &flags),
        "version" => Ok(version(invocation)),
        other => match jobs::workflow(other) {
            Some(workflow) => jobs::run(invocation, workflow, &flags),
            None => Err(super::unknown(invocation, &UNFURL, other)),
        },
    }
}

/// Opens the ensemble that the flags name, or reports why it cannot be opened.
fn open(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    which: Instances,
) -> Result<(Session, Request, Ensemble), Exit> {
    let (session, request) = jobs::open(invocation, flags, SeedSource::default())?;
    if let Some(ensemble) = ensemble::open_with(&session, &request, which) {
        return Ok((session, request, ensemble));
    }
    let exit = report(invocation, &session, Style::given(invocation));
    if exit != Exit::Ok {
        return Err(exit);
    }
    let path = flags.path.as_deref().unwrap_or(".");
    Err(invocation.refuse(&format!("could not find an ensemble at `{path}`"), Exit::Invalid))
}

fn work(invocation: &mut Invocation<'_>, command: &str, flags: &Flags) -> Result<Exit, Exit> {
    // Status shows the stored instances; a plan also includes those that would be created.
    let which = if command == "status" { Instances::Stored } else { Instances::Planned };
    let (session, request, ensemble) = open(invocation, flags, which)?;
    if which == Instances::Planned {
        let _ = check::check(&session, &ensemble);
    }
    let text = match command {
        "status" => status(&ensemble),
        _ => String::new(),
    };
    let _ = invocation.stdout.write_all(text.as_bytes());
    for query in &flags.queries {
        ask(invocation, &session, &request, flags, query);
    }
    Ok(report(invocation, &session, Style::given(invocation)))
}

/// Prints or writes an export. Incomplete ensembles are exported too, as far as they can be read.
fn export(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let (session, _, ensemble) = open(invocation, flags, Instances::Stored)?;
    let document = export::export(&session, &ensemble, flags.format.unwrap_or(export::Format::Deployment));
    let document = convert::to_value(&document, &ensemble.tree);
    let text = emit::to_json(&document, Secrets::Hide, JsonLayout::Pretty).unwrap_or_default() + "\n";
    match &flags.file {
        Some(file) => {
            let target = invocation.cwd.join(file);
            let keeps = flags.overwrite.as_deref() == Some("never") && named::exists(&target);
            if !keeps && let Err(error) = crate::border::write_atomically(&target, text.trim_end().as_bytes()) {
                return Err(invocation.refuse(&format!("could not write `{file}`: {error}"), Exit::Io));
            }
            if keeps {
                let _ = invocation.stdout.write_all(text.as_bytes());
            }
        }
        None => {
            let _ = invocation.stdout.write_all(text.as_bytes());
        }
    }
    Ok(report(invocation, &session, Style::given(invocation)))
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
