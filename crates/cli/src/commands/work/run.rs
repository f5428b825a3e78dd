//! `purlin build`, `deploy`, `test`, `run` and `cleanup`: from arguments to a run of the engine.

use crate::args::{AnswerFormat, Target};
use crate::commands::Context;
use crate::commands::logs::{Reading, Said};
use crate::commands::stay::stay;
use crate::invocation::{Exit, Invocation};
use crate::paint::{Answer, painted};
use crate::personality::{Console, unknown_workflow as unknown};
use crate::project::Setup;
use crate::report::Style;
use crate::run_args::{AfterFlags, CleanupFlags, ClusterFlags, RunFlags};
use crate::traced::Traced;
use purlin_compiler::rules;
use purlin_garden::resolve::resolve;
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::{Node, Options, Project, Run, accompanying};
use purlin_run::event::{Cause, Failure, Reporter, Summary};
use purlin_run::executor::Local;
use purlin_run::garden::GardenProject;
use purlin_run::local::process::Surroundings;
use purlin_run::open::{Forest, Opening, Purpose, Refused, Room, Runnable, find};
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
    /// A server that runs actions, or keeps their results.
    pub remote: Option<crate::remote::Wanted>,
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    kind: Kind,
    flags: &RunFlags,
    after: AfterFlags,
) -> Result<Exit, Exit> {
    if kind == Kind::Run && flags.nodes.is_empty() {
        return Err(cx.usage("name the Run actions to run; `*` means all of them"));
    }
    if after.logs && flags.output == AnswerFormat::Json {
        return Err(cx.usage("`--logs` prints lines of text; leave out `-o json`, or use `purlin dev --logs -o json`"));
    }
    choose_builder(cx.invocation, flags.builder.as_deref());
    let (session, mut request, row) = detected(cx, kind.name(), &flags.path, &flags.target)?;
    let remote = cx.remote(&flags.remote)?;
    let (jobs, local_jobs) = match &remote {
        Some(remote) => remote.jobs(flags.jobs, usual_jobs()),
        None => (flags.jobs.unwrap_or_else(usual_jobs), None),
    };
    let order = Order {
        remote,
        kind,
        wanted: Wanted {
            names: flags.nodes.clone(),
            skipped: flags.skip.clone(),
            with_dependants: flags.with_dependants,
            ..Wanted::default()
        },
        options: Options {
            jobs,
            local_jobs,
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
    let since =
        flags.since.as_deref().map(|revision| crate::commands::since::since(cx, &flags.path, &flags.target, revision));
    let order = Order { since: since.transpose()?, ..order };
    // A plan runs nothing; outputs of scripts stay pending in it.
    if !order.dry_run {
        let scripts = (row.scripts)(&session, &request);
        crate::commands::provider_scripts::run_first(cx.invocation, &scripts, &session, &mut request)?;
    }
    let workflows: Vec<&str> = flags.nodes.iter().filter_map(|name| name.strip_prefix("workflow.")).collect();
    let purpose = if workflows.is_empty() { Purpose::Run(kind) } else { Purpose::Steps };
    let opening = opening(cx, purpose, order.push, order.clusters.clone());
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    match workflows.as_slice() {
        [] => {
            let (exit, _, requested) = carry_out(cx.invocation, &session, project.as_ref(), &order, cx.style)?;
            if exit != Exit::Ok || !(after.forward || after.logs) {
                return Ok(exit);
            }
            let shown = |id: &str, said: &Said| format!("{id} {} | {}\n", said.container, said.text);
            let reading = Reading::following(&shown);
            let nodes = at_ids(project.as_ref(), &requested);
            stay(cx.invocation, project.as_ref(), &nodes, (after.forward, after.logs.then_some(&reading)))
        }
        [name] if kind == Kind::Run && flags.nodes.len() == 1 => {
            workflow(cx, (&session, &request), project.as_ref(), name, flags)
        }
        _ => Err(cx.usage("a workflow is run on its own: `purlin run workflow.NAME`")),
    }
}

/// The nodes of ids.
pub(crate) fn at_ids(project: &dyn Project, ids: &[String]) -> Vec<usize> {
    let is_meant = |(_, node): &(usize, &Node)| ids.contains(&node.id);
    project.nodes().iter().enumerate().filter(is_meant).map(|(at, _)| at).collect()
}

/// Runs the steps of a workflow, in the order that they are written.
fn workflow(
    cx: &mut Context<'_, '_>,
    (session, request): (&Session, &Request),
    project: &dyn Project,
    name: &str,
    flags: &RunFlags,
) -> Result<Exit, Exit> {
    let names = project.workflows();
    if !names.iter().any(|known| known == name) {
        return Err(cx.usage(&unknown(name, &names)));
    }
    if let Some(option) = without_effect(flags) {
        return Err(
            cx.usage(&format!("`--{option}` has no effect on workflows: give it to the commands of their steps"))
        );
    }
    let place = Place::new(cx.invocation, &project.root())?;
    let steps = {
        let mut given = Setup::from_flags(&flags.path, &cx.global).map_err(|message| cx.usage(&message))?;
        cx.apply_settings(&mut given);
        let mut console = Console::new(cx.invocation, &project.root(), request);
        console.given = Some(given);
        project.run_workflow(name, (&place.executor, &place.stop), &mut console)
    };
    let reported = cx.report(session);
    Ok(match (place.stop.signal(), steps) {
        (Some(signal), _) => Exit::Other(128 + signal),
        (None, Some(steps)) if steps.problems.is_empty() => Exit::Ok,
        (None, _) if reported != Exit::Ok => reported,
        (None, _) => Exit::Failed,
    })
}

/// An option about the run of actions, if one was given.
fn without_effect(flags: &RunFlags) -> Option<&'static str> {
    let given = [
        (flags.jobs.is_some(), "jobs"),
        (flags.force, "force"),
        (flags.dry_run, "dry-run"),
        (flags.since.is_some(), "since"),
        (flags.with_dependants, "with-dependants"),
        (!flags.skip.is_empty(), "skip"),
        (flags.skip_dependencies, "skip-dependencies"),
        (flags.fail_fast, "fail-fast"),
        (flags.keep_going, "keep-going"),
        (flags.push, "push"),
        (flags.force_conflicts, "force-conflicts"),
        (flags.timings.is_some(), "timings"),
        (flags.remote.remote.is_some(), "remote"),
        (flags.remote.remote_cache.is_some(), "remote-cache"),
        (flags.remote.no_remote, "no-remote"),
        (flags.remote.remote_only, "remote-only"),
        (flags.remote.remote_upload, "remote-upload"),
        (!flags.remote.remote_secrets.is_empty(), "remote-secrets"),
        (flags.output == AnswerFormat::Json, "output"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
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
pub(in crate::commands) fn clusters(
    cx: &Context<'_, '_>,
    target: &Target,
    flags: &ClusterFlags,
    force: bool,
) -> Arc<Clusters> {
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

/// The options about opening a project.
pub(in crate::commands) fn opening(
    cx: &Context<'_, '_>,
    purpose: Purpose,
    push: bool,
    clusters: Arc<Clusters>,
) -> Opening {
    Opening { purpose, push, clusters, env: cx.invocation.env.clone() }
}

/// A session on a project, and what it can be run as.
pub(in crate::commands) fn detected(
    cx: &mut Context<'_, '_>,
    command: &str,
    path: &Path,
    target: &Target,
) -> Result<(Session, Request, &'static Runnable), Exit> {
    // The target cluster does not affect the configuration, unless the row says so.
    let without = Target { kube_context: None, ..target.clone() };
    let (session, mut request) = cx.open(path, &without, &[])?;
    command.clone_into(&mut request.command);
    if let Some(row) = find(&session, &mut request, target.kube_context.as_deref()) {
        return Ok((session, request, row));
    }
    // The dialect reports the problem of the path.
    purlin_compiler::compile(&session, &request);
    match cx.report(&session) {
        Exit::Ok => Err(cx.usage(&format!("`purlin {command}` has nothing to do on this project"))),
        exit => Err(exit),
    }
}

/// Opens a project. From here on all output hides its secrets.
pub(in crate::commands) fn open<'p, 'f>(
    cx: &mut Context<'_, '_>,
    row: &Runnable,
    room: &'p Room<'f>,
    (session, request): (&'f Session, &'f Request),
    opening: &'p Opening,
) -> Result<Box<dyn Project + 'p>, Exit> {
    match row.open(room, (session, request), opening) {
        Ok(project) => {
            cx.invocation.veil.hide(project.secrets());
            Ok(project)
        }
        Err(Refused::Invalid) => Err(cx.report(session)),
        Err(Refused::Usage(message)) => Err(cx.usage(&message)),
    }
}

/// A Garden project, for commands of its personality. From here on all output hides its secrets.
pub(crate) fn garden_project<'s>(
    invocation: &Invocation<'_>,
    session: &'s Session,
    request: &'s Request,
) -> Option<GardenProject<'s>> {
    let project = GardenProject::new(resolve(session, request)?, Key::of_user(&invocation.env));
    invocation.veil.hide(project.secrets());
    Some(project)
}

/// Runs actions of a project and reports how they ended. Also returns the ids of the requested ones; the others ran as
/// dependencies.
pub(crate) fn carry_out(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &dyn Project,
    order: &Order,
    style: Style,
) -> Result<(Exit, Summary, Vec<String>), Exit> {
    let requested = select(project.nodes(), order.kind, &order.wanted);
    let workflows = project.workflows();
    let workflow = order.wanted.names.iter().find(|name| workflows.contains(name));
    let hint =
        workflow.map(|name| format!("; for the workflow, write `purlin run workflow.{name}`")).unwrap_or_default();
    let mut requested = requested.map_err(|message| invocation.refuse(&(message + &hint), Exit::Usage))?;
    let mistakes = project.check(&requested);
    if !mistakes.is_empty() {
        session.sink.take();
        session.sink.extend(mistakes);
        return Err(crate::report::report(invocation, session, style));
    }
    let named = requested.iter().filter_map(|index| Some(project.nodes().get(*index)?.id.clone())).collect();
    requested.extend(accompanying(project, &requested));
    let (exit, summary) = execute(invocation, session, project, &requested, order, style)?;
    Ok((exit, summary, named))
}

/// Runs some actions and reports how they ended.
fn execute(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &dyn Project,
    requested: &[usize],
    order: &Order,
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
    let surroundings = Place::with(invocation, &project.root(), order.remote.as_ref())?;
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
    summary.failed_mut().for_each(|failure| project.locate(failure));
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
    pub store: Arc<Store>,
    pub executor: Local,
    pub stop: Arc<Stop>,
    _signals: Option<Signals>,
}

impl Place {
    /// With this machine only.
    pub(crate) fn new(invocation: &mut Invocation<'_>, root: &Path) -> Result<Self, Exit> {
        Self::with(invocation, root, None)
    }

    /// With a server as well.
    pub(crate) fn with(
        invocation: &mut Invocation<'_>,
        root: &Path,
        remote: Option<&crate::remote::Wanted>,
    ) -> Result<Self, Exit> {
        let (state, is_own, env) = (root.join(FOLDER), invocation.last, invocation.env.clone());
        let mut failed =
            |what: &str, error: std::io::Error| invocation.refuse(&format!("could not {what}: {error}"), Exit::Io);
        let read = format!("read the results of earlier runs in `{}`", state.display());
        let store = Arc::new(Store::open(root, &Key::of_user(&env)).map_err(|error| failed(&read, error))?);
        let warning = store.warning();
        let stop = Arc::new(Stop::new().map_err(|error| failed("make a pipe", error))?);
        // Signals and a guard belong to a process of our own; inside another run they are left alone.
        let signals = match is_own {
            true => Some(Signals::listen(&stop).map_err(|error| failed("listen for signals", error))?),
            false => None,
        };
        let program = if is_own { std::env::current_exe().ok() } else { None };
        let elsewhere = remote.map(|remote| remote.place(&store, root)).transpose();
        let elsewhere = elsewhere.map_err(|message| invocation.refuse(&message, Exit::Usage))?;
        let executor = Local::new(Surroundings { env: invocation.command_env() }, program).with_elsewhere(elsewhere);
        if let Some(warning) = warning {
            let _ = writeln!(invocation.stderr, "warning: {warning}");
        }
        Ok(Place { store, executor, stop, _signals: signals })
    }
}

/// The display of a run.
pub(in crate::commands) fn reporter<'r>(
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

pub(in crate::commands) fn cleanup(cx: &mut Context<'_, '_>, flags: &CleanupFlags) -> Result<Exit, Exit> {
    let (session, request, row) = detected(cx, "cleanup", &flags.path, &flags.target)?;
    if !flags.yes {
        confirm(cx, &flags.nodes)?;
    }
    let clusters = clusters(cx, &flags.target, &flags.cluster, false);
    let wanted = Removal { names: flags.nodes.clone(), force: flags.force, ..Removal::default() };
    let opening = opening(cx, Purpose::Look, false, clusters);
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    crate::commands::status::take_down(cx.invocation, &session, project.as_ref(), &wanted, cx.style)
}
