//! `purlin garden build|deploy|test|run|publish|cleanup`: run what Garden's commands of these names run.

use super::logs::Shown;
use super::{Flags, Format, failed, open, succeeded};
use crate::args::AnswerFormat;
use crate::commands::logs::{Reading, Said};
use crate::commands::provider_scripts::run_first;
use crate::commands::run::{Order, at_ids, carry_out, garden_project, usual_jobs};
use crate::commands::stay::stay;
use crate::commands::take_down;
use crate::invocation::{Exit, Invocation};
use crate::report::{Style, report};
use purlin_garden::scripts::scripts;
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::{Options, Project as _};
use purlin_run::event::{End, Summary};
use purlin_run::garden::{GardenProject, plain_value};
use purlin_run::past::Removal;
use purlin_run::select::Wanted;
use purlin_value::{Map, Session, Value};
use std::sync::Arc;

/// Garden exits with 1 for every failure.
const FAILED: Exit = Exit::Other(1);

/// Names separated by spaces or commas, as in Garden; commas between braces are part of a pattern.
pub(super) fn split_names(names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        let (mut start, mut depth) = (0, 0_usize);
        for (at, c) in name.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    found.push(name.get(start..at).unwrap_or(""));
                    start = at + 1;
                }
                _ => {}
            }
        }
        found.push(name.get(start..).unwrap_or(""));
    }
    found.into_iter().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// `publish`: builds images, and pushes them under their published names.
pub(super) fn publish(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    names: &[&str],
) -> Result<Exit, Exit> {
    carry(invocation, flags, format, (Kind::Build, true), names)
}

pub(super) fn run(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    kind: Kind,
    names: &[&str],
) -> Result<Exit, Exit> {
    carry(invocation, flags, format, (kind, false), names)
}

fn carry(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    (kind, push): (Kind, bool),
    names: &[&str],
) -> Result<Exit, Exit> {
    let mut names = split_names(names);
    names.extend(flags.names.iter().cloned());
    if kind == Kind::Run && names.is_empty() {
        return Err(super::usage(invocation, "name the Run actions to run; `*` means all of them"));
    }
    let (session, mut request) = open(invocation, flags)?;
    // A plan runs nothing.
    if !flags.plan {
        run_first(invocation, &scripts(&session, &request), &session, &mut request)?;
    }
    let mut order = Order {
        remote: None,
        kind,
        wanted: Wanted {
            names,
            skipped: flags.skip.clone(),
            with_dependants: flags.with_dependants,
            // Garden runs a disabled Run if it is forced.
            with_disabled: kind == Kind::Run && flags.force,
        },
        options: Options {
            jobs: usual_jobs(),
            force: flags.force,
            force_builds: flags.force_build,
            fail_fast: false,
            skip_dependencies: flags.skip_dependencies,
            ..Options::default()
        },
        output: AnswerFormat::Text,
        timings: None,
        push,
        clusters: clusters(invocation),
        dry_run: flags.plan,
        since: None,
    };
    let tag = published_tag(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.pushing(push).tagged(tag).on(order.clusters.clone());
    let (project, found) = project.holding_back(session.sink.take());
    session.sink.extend(found);
    if session.sink.has_errors() {
        project.let_go();
        return Err(report(invocation, &session, Style::default()));
    }
    if leave_out_disabled(invocation, &project, &mut order) {
        project.let_go();
        return Ok(invocation.print(&nothing_done(kind, format)));
    }
    let (exit, summary, requested) = carry_out(invocation, &session, &project, &order, Style::default())?;
    let result = graph_results(&summary, &requested);
    let text = match (format, summary.is_good()) {
        (Format::Plain, _) => String::new(),
        (_, true) => succeeded(&result, format),
        (_, false) => {
            let problem = |(id, end, _): &(String, End, _)| match end {
                End::Failed(failure) => Some(format!("{id} failed: {}", failure.cause)),
                _ => None,
            };
            failed(&summary.ends.iter().filter_map(problem).collect::<Vec<_>>(), format)
        }
    };
    if !flags.plan {
        let _ = write!(invocation.stdout, "{text}");
    }
    match exit {
        Exit::Ok if flags.forward || flags.logs => after(invocation, flags, &project, &at_ids(&project, &requested)),
        Exit::Ok | Exit::Other(_) => Ok(exit),
        _ => Err(FAILED),
    }
}

/// Leaves out Deploys and Runs that are named though they are disabled, with a warning for each, as Garden does. Returns
/// whether nothing is left to do.
fn leave_out_disabled(invocation: &mut Invocation<'_>, project: &GardenProject<'_>, order: &mut Order) -> bool {
    if !matches!(order.kind, Kind::Deploy | Kind::Run) || order.wanted.with_disabled || order.wanted.names.is_empty() {
        return false;
    }
    let prefix = format!("{}.", order.kind.name());
    let is_off = |name: &String| {
        let id = if name.starts_with(&prefix) { name.clone() } else { format!("{prefix}{name}") };
        project.nodes().iter().any(|node| node.disabled && node.id == id)
    };
    let (off, on): (Vec<String>, Vec<String>) = order.wanted.names.drain(..).partition(is_off);
    for name in &off {
        let id = format!("{prefix}{}", name.trim_start_matches(&prefix));
        let _ = writeln!(invocation.stderr, "warning: `{id}` is disabled here, so nothing is done for it");
        if order.kind == Kind::Run {
            let _ = writeln!(invocation.stderr, " = hint: add `--force` to run it all the same");
        }
    }
    order.wanted.names = on;
    order.wanted.names.is_empty()
}

/// The answer of a command that has nothing to do. Garden calls only Deploys of this kind aborted.
fn nothing_done(kind: Kind, format: Format) -> String {
    if format == Format::Plain {
        return String::new();
    }
    let results = ["build", "builds", "deploy", "deployments", "test", "tests", "run", "tasks", "graphResults"];
    let mut answer =
        Map::from_iter([("aborted".into(), Value::from(kind == Kind::Deploy)), ("success".into(), Value::from(true))]);
    answer.extend(results.map(|key| (key.into(), Value::map(Map::new()))));
    succeeded(&Value::map(answer), format)
}

/// The value of `publish --tag`.
fn published_tag(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Option<String>, Exit> {
    match flags.tags.last().filter(|tag| tag.contains("${")) {
        Some(tag) => Err(super::usage(invocation, &format!("`--tag {tag}`: templates in tags are not supported"))),
        None => Ok(flags.tags.last().cloned()),
    }
}

/// Forwards ports and follows logs after a deploy.
fn after(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    project: &GardenProject<'_>,
    nodes: &[usize],
) -> Result<Exit, Exit> {
    let look = Shown::of(flags);
    let shown = |id: &str, said: &Said| look.line(id, said);
    let reading = Reading::following(&shown);
    stay(invocation, project, nodes, (flags.forward, flags.logs.then_some(&reading)))
}

/// Clusters as Garden finds them: the providers name the context, the environment provides the rest.
pub(super) fn clusters(invocation: &Invocation<'_>) -> Arc<Clusters> {
    let allow_exec = invocation.given.as_ref().is_some_and(|given| given.permissions.exec);
    let trust = invocation.trusts_project();
    Arc::new(Clusters { env: invocation.env.clone(), allow_exec, trust, ..Clusters::default() })
}

/// The result in the shape that Garden prints, and that later steps of a workflow see.
fn graph_results(summary: &Summary, requested: &[String]) -> Value {
    let entry = |(id, end, _): &(String, End, _)| {
        let (kind, name) = id.split_once('.').unwrap_or(("", id));
        let mut map = Map::from_iter([
            ("type".into(), Value::str(kind)),
            ("name".into(), Value::str(name)),
            ("key".into(), Value::str(id.as_str())),
            ("aborted".into(), Value::from(matches!(end, End::Aborted(_) | End::NotStarted))),
            ("success".into(), Value::from(end.is_good())),
            ("state".into(), Value::str(if end.is_good() { "ready" } else { "failed" })),
        ]);
        if let Some(result) = summary.results.get(id) {
            let output = |(name, json): (&String, &_)| {
                (name.as_str().into(), plain_value(json).tainted_if(result.secret.contains(name)))
            };
            map.insert("version".into(), Value::str(result.version.get(..12).unwrap_or(&result.version)));
            map.insert("outputs".into(), Value::map(result.outputs.iter().map(output).collect()));
        }
        if let End::Failed(failure) = end {
            let message = Value::str(failure.cause.to_string());
            map.insert("error".into(), Value::map(Map::from_iter([("message".into(), message)])));
        }
        (id.as_str().into(), Value::map(map))
    };
    let ends = summary.ends.iter().filter(|(id, _, _)| requested.contains(id));
    Value::map(Map::from_iter([
        ("aborted".into(), Value::from(summary.signal.is_some())),
        ("success".into(), Value::from(summary.is_good())),
        ("graphResults".into(), Value::map(ends.map(entry).collect())),
    ]))
}

pub(super) fn cleanup(invocation: &mut Invocation<'_>, flags: &Flags, names: &[&str]) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let names = split_names(names).iter().map(|name| format!("deploy.{name}")).collect();
    let wanted = Removal { names, force: flags.force, with_dependants: flags.with_dependants };
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    take_down(invocation, &session, &project, &wanted, Style::default())
}

/// The project. Its problems are reported.
pub(super) fn garden<'s>(
    invocation: &mut Invocation<'_>,
    session: &'s Session,
    request: &'s Request,
) -> Result<GardenProject<'s>, Exit> {
    garden_project(invocation, session, request).ok_or_else(|| {
        let exit = report(invocation, session, Style::default());
        if_any(invocation, exit)
    })
}

/// Without a result and without a problem, no project was found.
fn if_any(invocation: &mut Invocation<'_>, exit: Exit) -> Exit {
    if matches!(exit, Exit::Ok) { super::no_project(invocation) } else { exit }
}
