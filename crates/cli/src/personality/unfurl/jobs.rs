//! `purlin unfurl deploy|undeploy|stop|check|discover|plan`: jobs as Unfurl runs them.

use super::ask;
use super::flags::Flags;
use crate::commands::run::{Place, conclude};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use crate::seed::SeedSource;
use purlin_model::project::Request;
use purlin_run::ensemble::Runner;
use purlin_run::event::{Event, Reporter, Summary};
use purlin_run::work::Doing;
use purlin_unfurl::job::Job;
use purlin_unfurl::job::options::{Options, Workflow};
use purlin_unfurl::tree::Status;
use purlin_value::Session;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Unfurl's exit code if a job ends with the given status, or could not be created.
const FAILED: Exit = Exit::Other(64);

/// The exit code if the user did not approve.
const DECLINED: Exit = Exit::Other(1);

/// The workflow that a command starts.
pub(super) fn workflow(command: &str) -> Option<Workflow> {
    let command = if command == "teardown" { "undeploy" } else { command };
    let all = [Workflow::Deploy, Workflow::Undeploy, Workflow::Stop, Workflow::Check, Workflow::Discover];
    all.into_iter().find(|workflow| workflow.name() == command)
}

/// Prints commands' output as it comes, nothing else.
struct Echo<'w> {
    out: &'w mut (dyn Write + Send),
    is_quiet: bool,
}

impl Reporter for Echo<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Line { text, .. } if !self.is_quiet => {
                let _ = writeln!(self.out, "{text}");
            }
            _ => {}
        }
    }

    fn finish(&mut self, _: &Summary) {}
}

/// Opens the project that the flags name.
pub(super) fn open(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    usual_seed: SeedSource,
) -> Result<(Session, Request), Exit> {
    let setup = Setup { usual_seed, ..Setup::of(flags.path.as_deref().unwrap_or(".")) };
    let (session, path) = open_session(invocation, &setup)?;
    let mut request = Request::of(&path);
    request.environment = flags.environment.clone();
    request.inputs = flags.vars.clone();
    Ok((session, request))
}

/// Plans a job and counts its operations; `None` if planning failed, which is reported.
fn planned<'s>(
    invocation: &mut Invocation<'_>,
    session: &'s Session,
    request: &Request,
    flags: &Flags,
    options: Options,
) -> Result<(Job<'s>, usize), Exit> {
    let style = Style::given(invocation);
    let Some(mut job) = Job::open(session, request, options) else {
        if report(invocation, session, style) == Exit::Ok {
            let path = flags.path.as_deref().unwrap_or(".");
            invocation.refuse(&format!("could not find an ensemble at `{path}`"), FAILED);
        }
        return Err(FAILED);
    };
    let can_run = job.plan();
    if !can_run || session.sink.has_errors() {
        // An operation that cannot be run here can still be planned.
        if job.options.plan_only && !can_run {
            job.sift();
            print_plan(invocation, flags, &job);
        }
        report(invocation, session, style);
        return Err(FAILED);
    }
    job.sift();
    if !job.rehearse() {
        report(invocation, session, style);
        return Err(FAILED);
    }
    let count = job.pending();
    Ok((job, count))
}

fn print_plan(invocation: &mut Invocation<'_>, flags: &Flags, job: &Job<'_>) {
    let text = if flags.json { job.plan_json() } else { job.plan_text() };
    let _ = invocation.stdout.write_all(text.as_bytes());
}

pub(super) fn plan(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags, SeedSource::Kept)?;
    let options = flags.options(flags.workflow.unwrap_or(Workflow::Deploy));
    let (job, _) = planned(invocation, &session, &request, flags, Options { plan_only: true, ..options })?;
    print_plan(invocation, flags, &job);
    for query in &flags.queries {
        ask(invocation, &session, &request, flags, query);
    }
    Ok(report(invocation, &session, Style::given(invocation)))
}

pub(super) fn run(invocation: &mut Invocation<'_>, workflow: Workflow, flags: &Flags) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags, SeedSource::Kept)?;
    let (mut job, count) = planned(invocation, &session, &request, flags, flags.options(workflow))?;
    let _ = write!(invocation.stderr, "{}", job.plan_text());
    let approved =
        |env: &std::collections::BTreeMap<String, String>| env.get("UNFURL_APPROVE").is_some_and(|on| !on.is_empty());
    let asks = !matches!(workflow, Workflow::Check) && !flags.is_approved && !approved(&invocation.env);
    if count > 0 && asks {
        let _ = writeln!(invocation.stderr, "add `--approve` to run this plan");
        return Err(DECLINED);
    }
    let took = match count {
        0 => 0.0,
        _ => carry_out(invocation, &session, &mut job, flags)?,
    };
    summarize(invocation, &mut job, flags, took);
    for query in &flags.queries {
        ask(invocation, &session, &request, flags, query);
    }
    let reached = match flags.exit_at {
        Some("degraded") => job.job_status() >= Status::Degraded,
        Some(_) => job.job_status() >= Status::Error,
        None => false,
    };
    if reached { Err(FAILED) } else { Ok(Exit::Ok) }
}

/// Runs a job and stores its results; returns the duration in seconds.
fn carry_out(
    invocation: &mut Invocation<'_>,
    session: &Session,
    job: &mut Job<'_>,
    flags: &Flags,
) -> Result<f64, Exit> {
    let root = PathBuf::from(session.world.root());
    let folder = root.join(&job.ensemble.manifest.folder);
    let place = Place::new(invocation, &folder)?;
    let summary = perform(invocation, job, &place, &root, flags);
    let style = Style::given(invocation);
    match summary {
        Ok(summary) => {
            if let exit @ Exit::Other(_) = conclude(invocation, session, &summary, style) {
                return Err(exit);
            }
            let times = !invocation.env.contains_key("SOURCE_DATE_EPOCH");
            Ok(if times { summary.took.as_secs_f64() } else { 0.0 })
        }
        Err(why) => {
            report(invocation, session, style);
            Err(invocation.refuse(&why, Exit::Io))
        }
    }
}

fn perform(
    invocation: &mut Invocation<'_>,
    job: &mut Job<'_>,
    place: &Place,
    root: &Path,
    flags: &Flags,
) -> Result<Summary, String> {
    let runner = Runner {
        store: &place.store,
        executor: &place.executor,
        doing: Doing::looking(&place.stop),
        root,
        is_saved: !flags.job.dry_run,
    };
    let _lock = runner.lock(&job.ensemble.manifest.path)?;
    // If programs read the summary, output of commands goes to standard error.
    let out: &mut (dyn Write + Send) = if flags.json { invocation.stderr } else { invocation.stdout };
    runner.run(job, &mut Echo { out, is_quiet: flags.is_quiet })
}

fn summarize(invocation: &mut Invocation<'_>, job: &mut Job<'_>, flags: &Flags, took: f64) {
    if flags.no_summary {
        return;
    }
    let text = match (flags.json, job.tasks.is_empty()) {
        (true, _) => job.json_summary(took),
        (false, true) => format!("Job {} completed: {}. No tasks ran.\n", job.id, job.job_status().name()),
        (false, false) => {
            let head = format!("Job {} completed in {took:.3}s: {}. {}:", job.id, job.job_status().name(), job.stats());
            format!("{head}\n{}", job.summary())
        }
    };
    let _ = invocation.stdout.write_all(text.as_bytes());
}
