//! `purlin build`, `deploy`, `test`, `run` and `cleanup`: from arguments to a run of the engine.

use super::Context;
use super::objects::OBJECTS;
use crate::args::{AnswerFormat, Target};
use crate::invocation::{Exit, Invocation};
use crate::paint::{Answer, painted};
use crate::report::Style;
use crate::run_args::{CleanupFlags, ClusterFlags, RunFlags};
use crate::traced::Traced;
use purlin_compiler::{ENGINES, detect, loose_objects, rules};
use purlin_garden::resolve::resolve;
use purlin_model::{Detection, Request};
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::{Node, Options, Project, Run, reachable};
use purlin_run::event::{Cause, Failure, Reporter, Summary};
use purlin_run::executor::Local;
use purlin_run::garden::GardenProject;
use purlin_run::local::process::Surroundings;
use purlin_run::past::Removal;
use purlin_run::plan;
use purlin_run::report::{JsonLines, Live, Look, Plain, Several, Trace};
use purlin_run::select::{Wanted, select};
use purlin_run::since::{Since, affected};
use purlin_run::stop::{Signals, Stop};
use purlin_run::store::{FOLDER, Key, Store};
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use std::collections::HashMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of a run, and of its display.
pub(crate) struct Order {
    pub kind: Kind,
    pub wanted: Wanted,
    pub options: Options,
    pub output: AnswerFormat,
    pub timings: Option<PathBuf>,
    /// Whether built images are pushed.
    pub push: bool,
    pub clusters: Arc<Clusters>,
    /// Whether to only show the actions that would run.
    pub dry_run: bool,
    /// The differences from an earlier state, if only affected actions are run.
    pub since: Option<Since>,
}

pub(super) fn run(cx: &mut Context<'_, '_>, kind: Kind, flags: &RunFlags) -> Result<Exit, Exit> {
    if kind == Kind::Run && flags.nodes.is_empty() {
        return Err(cx.usage("name the Run actions to run; `*` means all of them"));
    }
    choose_builder(cx.invocation, flags.builder.as_deref());
    let (session, mut request, dialect) = detected(cx, kind.name(), &flags.path, &flags.target)?;
    let order = Order {
        kind,
        wanted: Wanted {
            names: flags.nodes.clone(),
            skipped: flags.skip.clone(),
            with_dependants: flags.with_dependants,
            ..Wanted::default()
        },
        options: Options {
            jobs: flags.jobs.unwrap_or_else(usual_jobs),
            force: flags.force,
            fail_fast: flags.fail_fast,
            skip_dependencies: flags.skip_dependencies,
            ..Options::default()
        },
        output: flags.output,
        timings: flags.timings.as_ref().map(|file| cx.invocation.cwd.join(file)),
        push: flags.push,
        clusters: clusters(cx, &flags.target, &flags.cluster, flags.force_conflicts),
        dry_run: flags.dry_run,
        since: None,
    };
    let since = flags.since.as_deref().map(|revision| super::since::since(cx, &flags.path, &flags.target, revision));
    let order = Order { since: since.transpose()?, ..order };
    let style = cx.style;
    if dialect == "skaffold" {
        return super::skaffold::run(cx, &session, &request, &order);
    }
    if let Some(found) = super::service::project(cx, &session, &request, dialect) {
        return super::service::deploy(cx, &session, found, &order);
    }
    if let Some(found) = super::objects::project(cx, &session, &request, dialect, order.clusters.clone()) {
        return super::objects::deploy(cx, &session, found?, &order);
    }
    only_garden(cx, kind.name(), dialect)?;
    // A plan runs nothing; outputs of scripts stay pending in it.
    if !order.dry_run {
        super::provider_scripts::run_first(cx.invocation, &session, &mut request)?;
    }
    let (exit, _, _) = carry_out(cx.invocation, &session, &request, &order, style)?;
    Ok(exit)
}

/// The builder named by an option is used by all child processes.
pub(crate) fn choose_builder(invocation: &mut Invocation<'_>, tool: Option<&str>) {
    if let Some(tool) = tool {
        invocation.env.insert(purlin_run::image::builder::CHOICE.to_owned(), tool.to_owned());
    }
}

/// The number of processors plus two: some actions wait for a disk or a network.
pub(crate) fn usual_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from) + 2
}

/// The user's cluster options.
pub(super) fn clusters(cx: &Context<'_, '_>, target: &Target, flags: &ClusterFlags, force: bool) -> Arc<Clusters> {
    Arc::new(Clusters {
        env: cx.invocation.env.clone(),
        kubeconfig: flags.kubeconfig.as_ref().map(|file| cx.invocation.cwd.join(file)),
        context: target.kube_context.clone(),
        allow_exec: cx.global.allow_exec,
        trust: cx.is_trusted,
        force_conflicts: force,
        ..Clusters::default()
    })
}

/// A session on a Garden project.
pub(super) fn open(
    cx: &mut Context<'_, '_>,
    command: &str,
    path: &Path,
    target: &Target,
) -> Result<(Session, Request), Exit> {
    let (session, request, dialect) = detected(cx, command, path, target)?;
    only_garden(cx, command, dialect)?;
    Ok((session, request))
}

pub(super) fn only_garden(cx: &mut Context<'_, '_>, command: &str, dialect: &str) -> Result<(), Exit> {
    match dialect {
        "garden" => Ok(()),
        other => Err(cx.usage(&format!("`purlin {command}` does not support {other} projects yet"))),
    }
}

/// A session on a project, and its dialect.
pub(super) fn detected(
    cx: &mut Context<'_, '_>,
    command: &str,
    path: &Path,
    target: &Target,
) -> Result<(Session, Request, &'static str), Exit> {
    // The target cluster does not affect the configuration, except for Skaffold, whose profiles depend on it.
    let without = Target { kube_context: None, ..target.clone() };
    let (session, mut request) = cx.open(path, &without, &[])?;
    command.clone_into(&mut request.command);
    request.engines = ENGINES;
    request.chart.include_crds = true;
    let detection = detect(&session, &request);
    if let Some(found) = loose_objects(&session, &request, &detection) {
        request.found = Some(found);
        return Ok((session, request, OBJECTS));
    }
    match detection {
        Detection::Project(file, dialect) => {
            request.found = Some(file);
            if dialect.name == "skaffold" {
                request.skaffold.kube_context.clone_from(&target.kube_context);
            }
            Ok((session, request, dialect.name))
        }
        // The dialect reports the problem of the path.
        _ => {
            purlin_compiler::compile(&session, &request);
            Err(cx.report(&session))
        }
    }
}

/// A project to be run. From here on all output hides its secrets.
pub(crate) fn garden_project<'s>(
    invocation: &Invocation<'_>,
    session: &'s Session,
    request: &'s Request,
) -> Option<GardenProject<'s>> {
    let project = GardenProject::new(resolve(session, request, &[])?, Key::of_user(&invocation.env));
    invocation.veil.hide(project.secrets());
    Some(project)
}

/// Runs actions and reports how they ended. Also returns the ids of the requested ones; the others ran as dependencies.
pub(crate) fn carry_out(
    invocation: &mut Invocation<'_>,
    session: &Session,
    request: &Request,
    order: &Order,
    style: Style,
) -> Result<(Exit, Summary, Vec<String>), Exit> {
    let Some(project) = garden_project(invocation, session, request).map(|found| found.pushing(order.push)) else {
        return Err(crate::report::report(invocation, session, style));
    };
    let project = project.on(order.clusters.clone());
    if session.sink.has_errors() {
        return Err(crate::report::report(invocation, session, style));
    }
    let requested = select(project.nodes(), order.kind, &order.wanted);
    let requested = requested.map_err(|message| invocation.refuse(&message, Exit::Usage))?;
    check_first(invocation, session, request, &project, &requested, style)?;
    let locate = |summary: &mut Summary| project.locate(summary);
    let named = requested.iter().filter_map(|index| Some(project.nodes().get(*index)?.id.clone())).collect();
    let (exit, summary) = execute(invocation, session, &project, &project.root(), &requested, order, &locate, style)?;
    Ok((exit, summary, named))
}

/// Runs actions of a project of any dialect, and reports how they ended. Results are kept below `root`; `locate` adds
/// source locations to failures.
#[allow(clippy::too_many_arguments)]
pub(crate) fn execute(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &dyn Project,
    root: &Path,
    requested: &[usize],
    order: &Order,
    locate: &dyn Fn(&mut Summary),
    style: Style,
) -> Result<(Exit, Summary), Exit> {
    let affected = order.since.as_ref().map(|since| (since.revision.as_str(), affected(project, since)));
    let narrowed: Vec<usize> = match &affected {
        Some((_, reasons)) => requested.iter().copied().filter(|index| reasons.contains_key(index)).collect(),
        None => requested.to_vec(),
    };
    let requested = narrowed.as_slice();
    if let Some((revision, reasons)) = affected.as_ref().filter(|_| !style.quiet && !order.dry_run) {
        tell_affected(invocation, project, requested, (revision, reasons));
    }
    let surroundings = Place::new(invocation, root)?;
    if order.dry_run {
        let affected = affected.as_ref().map(|(revision, reasons)| (*revision, reasons));
        let steps = plan::plan(project, &surroundings.store, &surroundings.stop, (requested, affected), &order.options);
        return Ok((show_plan(invocation, session, &steps, order, style), Summary::default()));
    }
    let mut trace = order.timings.clone().map(Trace::new);
    let mut traced = Traced::of(invocation, order.kind.name());
    let mut summary = {
        let mut reporter = reporter(invocation, order, style, trace.as_mut());
        reporter.0.extend(traced.as_mut().map(Traced::reporter));
        let run = Run {
            project,
            store: &surroundings.store,
            executor: &surroundings.executor,
            stop: &surroundings.stop,
            options: &order.options,
        };
        run.run(requested, &mut reporter)
    };
    if let Some(error) = trace.as_ref().and_then(Trace::error) {
        let _ = writeln!(invocation.stderr, "warning: could not write the timings: {error}");
    }
    if let Some(traced) = traced {
        traced.send(invocation);
    }
    locate(&mut summary);
    let exit = conclude(invocation, session, &summary, style);
    Ok((exit, summary))
}

/// Reports the actions that are run because of changes.
fn tell_affected(
    invocation: &mut Invocation<'_>,
    project: &dyn Project,
    requested: &[usize],
    (revision, reasons): (&str, &HashMap<usize, String>),
) {
    let mut text = String::new();
    for index in requested {
        let (Some(node), Some(why)) = (project.nodes().get(*index), reasons.get(index)) else { continue };
        text.push_str(&format!("{}: changed since {revision}: {why}\n", node.id));
    }
    if text.is_empty() {
        text = format!("no action is affected by changes since {revision}\n");
    }
    let _ = invocation.stderr.write_all(invocation.veil.text(&text).as_bytes());
}

/// Prints the plan with reasons.
fn show_plan(
    invocation: &mut Invocation<'_>,
    session: &Session,
    steps: &[plan::Step],
    order: &Order,
    style: Style,
) -> Exit {
    let text = match order.output {
        AnswerFormat::Json => plan::to_json(steps),
        AnswerFormat::Text if style.colour_answers => painted(&plan::to_text(steps), Answer::Actions),
        AnswerFormat::Text => plan::to_text(steps),
    };
    let written = invocation.stdout.write_all(invocation.veil.text(&text).as_bytes());
    let exit = crate::report::report(invocation, session, style);
    if written.is_err() { Exit::Io } else { exit }
}

/// Resources of a run apart from its project.
pub(crate) struct Place {
    pub store: Store,
    pub executor: Local,
    pub stop: Arc<Stop>,
    _signals: Option<Signals>,
}

impl Place {
    pub(crate) fn new(invocation: &mut Invocation<'_>, root: &Path) -> Result<Self, Exit> {
        let (state, is_own, env) = (root.join(FOLDER), invocation.last, invocation.env.clone());
        let mut failed =
            |what: &str, error: std::io::Error| invocation.refuse(&format!("could not {what}: {error}"), Exit::Io);
        let read = format!("read the results of earlier runs in `{}`", state.display());
        let store = Store::open(root, &Key::of_user(&env)).map_err(|error| failed(&read, error))?;
        let warning = store.warning();
        let stop = Arc::new(Stop::new().map_err(|error| failed("make a pipe", error))?);
        // Signals and a guard belong to a process of our own; inside another run they are left alone.
        let signals = match is_own {
            true => Some(Signals::listen(&stop).map_err(|error| failed("listen for signals", error))?),
            false => None,
        };
        let program = if is_own { std::env::current_exe().ok() } else { None };
        let executor = Local::new(Surroundings { env: invocation.command_env() }, program);
        if let Some(warning) = warning {
            let _ = writeln!(invocation.stderr, "warning: {warning}");
        }
        Ok(Place { store, executor, stop, _signals: signals })
    }
}

/// If actions refer to outputs, the whole project is checked first, so that a mistake is not found only after an hour
/// of work. This uses a separate resolution, because pending values stay pending in it.
fn check_first(
    invocation: &mut Invocation<'_>,
    session: &Session,
    request: &Request,
    project: &GardenProject<'_>,
    requested: &[usize],
    style: Style,
) -> Result<(), Exit> {
    let reached = reachable(project.nodes(), requested);
    let reached: Vec<&Node> = reached.iter().filter_map(|node| project.nodes().get(*node)).collect();
    if !reached.iter().flat_map(|node| &node.needs).any(|need| need.is_runtime) {
        return Ok(());
    }
    let sibling = session.sibling();
    if let Some(resolution) = resolve(&sibling, request, &[]) {
        for node in reached {
            resolution.action(&node.id);
        }
    }
    match sibling.sink.has_errors() {
        true => Err(crate::report::report(invocation, &sibling, style)),
        false => Ok(()),
    }
}

/// The display of a run.
pub(super) fn reporter<'r>(
    invocation: &'r mut Invocation<'_>,
    order: &Order,
    style: Style,
    trace: Option<&'r mut Trace>,
) -> Several<'r> {
    // A fixed clock requests reproducible output.
    let times = !invocation.env.contains_key("SOURCE_DATE_EPOCH");
    let look = Look { colour: style.colour, times, quiet: style.quiet };
    let is_live = invocation.terminal && invocation.last && !invocation.env.contains_key("CI") && !look.quiet;
    let main: Box<dyn Reporter + 'r> = match order.output {
        AnswerFormat::Json => Box::new(JsonLines::new(invocation.stdout, look)),
        AnswerFormat::Text if is_live => {
            let veil = invocation.veil.clone();
            Box::new(Live::new(look, Box::new(move |text| veil.text(text).into_owned())))
        }
        AnswerFormat::Text => Box::new(Plain::new(invocation.stderr, look)),
    };
    let mut all: Vec<Box<dyn Reporter + 'r>> = vec![main];
    if let Some(trace) = trace {
        all.push(Box::new(trace));
    }
    Several(all)
}

/// Reports failures with their source locations, and decides the exit code.
pub(crate) fn conclude(invocation: &mut Invocation<'_>, session: &Session, summary: &Summary, style: Style) -> Exit {
    session.sink.extend(summary.failures().filter_map(problem));
    let reported = crate::report::report(invocation, session, style);
    match summary.signal {
        Some(signal) => Exit::Other(128 + signal),
        None if summary.is_good() => reported,
        None if summary.failures().any(|failure| failure.cause == Cause::Unresolved) => reported,
        None => Exit::Failed,
    }
}

/// A failure as a problem at the action's location. Failures that were already reported are left out.
fn problem(failure: &Failure) -> Option<Diagnostic> {
    if matches!(failure.cause, Cause::Unresolved | Cause::Stopped) {
        return None;
    }
    let message = format!("`{}` failed: {}", failure.id, failure.cause);
    let mut diagnostic = Diagnostic::nowhere(&rules::ACTION_FAILED, message);
    diagnostic.span = failure.span;
    Some(diagnostic.maybe_hint(failure.command.as_ref().map(|line| format!("the command was `{line}`"))))
}

/// Asks before something is taken down. Scripts use names or `--yes`.
fn confirm(cx: &mut Context<'_, '_>, names: &[String]) -> Result<(), Exit> {
    let is_person = cx.invocation.terminal && cx.invocation.last && std::io::stdin().is_terminal();
    if !is_person {
        return match names {
            [] => Err(cx.usage("`cleanup` without names takes down every Deploy: add `--yes`, or name them")),
            _ => Ok(()),
        };
    }
    let what = if names.is_empty() { "every Deploy".to_owned() } else { names.join(", ") };
    let _ = write!(cx.invocation.stderr, "take down {what}? [y/N] ");
    let _ = cx.invocation.stderr.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(cx.usage("nothing was taken down")),
    }
}

pub(super) fn cleanup(cx: &mut Context<'_, '_>, flags: &CleanupFlags) -> Result<Exit, Exit> {
    let (session, request, dialect) = detected(cx, "cleanup", &flags.path, &flags.target)?;
    if !flags.yes {
        confirm(cx, &flags.nodes)?;
    }
    let style = cx.style;
    let clusters = clusters(cx, &flags.target, &flags.cluster, false);
    let wanted = Removal { names: flags.nodes.clone(), force: flags.force, ..Removal::default() };
    if let Some(found) = super::service::project(cx, &session, &request, dialect) {
        let (project, root) = found;
        return super::status::take_down(cx.invocation, &session, &project, &root, &wanted, style);
    }
    if let Some(found) = super::objects::project(cx, &session, &request, dialect, clusters.clone()) {
        let (project, root) = found?;
        return super::status::take_down(cx.invocation, &session, &project, &root, &wanted, style);
    }
    if dialect == "skaffold" {
        return super::skaffold::deployed(cx, &session, &request, clusters, |cx, project| {
            super::status::take_down(cx.invocation, &session, project, project.root(), &wanted, style)
        });
    }
    only_garden(cx, "cleanup", dialect)?;
    super::status::clean(cx.invocation, &session, &request, &wanted, clusters, style)
}
