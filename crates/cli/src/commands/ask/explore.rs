//! `purlin explore`: serves the project as a page, and resolves it again when its files change.

use crate::args::Target;
use crate::commands::Context;
use crate::commands::resolve::open_to_compare;
use crate::invocation::Exit;
use crate::report::{Style, findings, settle};
use crate::watch::Watch;
use purlin_compiler::{DIALECTS, compile, detect, survey_declared, variants};
use purlin_explore::{Answers, Desk, Project, Side, Source};
use purlin_host::serve::{Server, open_browser};
use purlin_model::{Detection, Request, Variant};
use purlin_run::mask::Mask;
use purlin_syntax::{Diagnostic, Severity, Span, print};
use purlin_value::Session;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum delay until a change of a file is noticed.
const LOOK_UP: Duration = Duration::from_millis(25);

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    (port, opens): (Option<u16>, bool),
) -> Result<Exit, Exit> {
    let mut live = Live::of(cx, path, target)?;
    live.watch = Watch::new().ok();
    let Some(project) = live.resolve().filter(|project| !project.sides.is_empty()) else {
        return Err(live.refuse());
    };
    let mut answers = Answers::of(project);
    let server = Server::open(port).map_err(|error| {
        let port = port.map_or_else(|| "a port".to_owned(), |port| format!("port {port}"));
        live.cx.io(&format!("could not listen on {port} of 127.0.0.1: {error}"))
    })?;
    let address = server.address();
    let desk = Desk::new();
    server.start(desk.answer());
    let _ = writeln!(live.cx.invocation.stdout, "{address}");
    let _ = live.cx.invocation.stdout.flush();
    let is_opened = opens && open_browser(&address);
    let hint = if is_opened { "opened in your browser" } else { "open this address in a browser" };
    let _ = writeln!(live.cx.invocation.stderr, "{hint}; Ctrl-C ends");
    loop {
        desk.serve(LOOK_UP, |asked| answers.answer(asked, &mut live));
        let is_changed = live.watch.as_ref().is_some_and(|watch| !watch.poll().is_empty());
        if let Some(project) = is_changed.then(|| live.resolve()).flatten() {
            answers.replace(project);
            desk.tell(answers.version());
        }
    }
}

/// A project on disk.
pub(in crate::commands) struct Live<'c, 'i, 'io> {
    cx: &'c mut Context<'i, 'io>,
    path: PathBuf,
    /// The requested target, without the variant.
    target: Target,
    /// The variant that is shown first.
    chosen: Option<String>,
    watch: Option<Watch>,
}

impl<'c, 'i, 'io> Live<'c, 'i, 'io> {
    /// A project by its path; the variant selected by the options is shown first.
    pub(in crate::commands) fn of(cx: &'c mut Context<'i, 'io>, path: &Path, target: &Target) -> Result<Self, Exit> {
        let named = target.env.clone().or_else(|| (!target.profile.is_empty()).then(|| target.profile.join(",")));
        let chosen = match named {
            Some(name) => Some(name),
            None => usual(cx, path, target)?,
        };
        let target = Target { env: None, profile: Vec::new(), ..target.clone() };
        Ok(Live { cx, path: path.to_owned(), target, chosen, watch: None })
    }

    /// Reports why there is nothing to show.
    pub(in crate::commands) fn refuse(&mut self) -> Exit {
        let found = self.cx.open(&self.path, &self.target, &[]);
        match found {
            Ok((session, request)) => {
                compile(&session, &request);
                crate::commands::check::worse(Exit::Invalid, self.cx.report(&session))
            }
            Err(exit) => exit,
        }
    }

    /// The problems of a check, one JSON object each, and the numbers of errors and warnings.
    fn problems(&mut self) -> (Vec<String>, (usize, usize)) {
        let Ok((session, mut request)) = self.cx.open_any(&self.path, &self.target, &[]) else {
            return Default::default();
        };
        request.chart.ci_values = true;
        request.chart.is_rehearsal = true;
        let path = request.path.clone();
        survey_declared(&session, &request, &[path]);
        // Warnings suppressed in a terminal are shown on the page.
        let style = Style { quiet: false, ..self.cx.style };
        settle(&session, &self.cx.settings, style, false);
        let found = findings(&session, style);
        let count = |severity: Severity| found.iter().filter(|problem| problem.severity == severity).count();
        let counts = (count(Severity::Error), count(Severity::Warning));
        let lines = print::json_lines(&found, &*session.sources).lines().map(str::to_owned).collect();
        if let Some(watch) = &mut self.watch {
            watch.add(&session);
        }
        (lines, counts)
    }
}

/// The default environment.
fn usual(cx: &mut Context<'_, '_>, path: &Path, target: &Target) -> Result<Option<String>, Exit> {
    let (session, request) = open_to_compare(cx, path, target)?;
    // No node has to be resolved for it.
    let request = Request { nodes: vec![String::new()], manifests: false, ..request };
    let compiled = compile(&session, &request);
    session.sink.take();
    let environment = compiled.map(|compiled| compiled.resolved.environment);
    Ok(environment.and_then(|name| name.rsplit('.').next().map(str::to_owned)))
}

impl Source for Live<'_, '_, '_> {
    fn resolve(&mut self) -> Option<Project> {
        let (session, request) = open_to_compare(self.cx, &self.path, &self.target).ok()?;
        let Detection::Project(_, dialect) = detect(&session, &request) else { return None };
        let (sides, missing) = each(&session, request);
        if let Some(watch) = &mut self.watch {
            watch.add(&session);
            sides.iter().for_each(|side| watch.add(&side.session));
        }
        let mask = Mask::new(sides.iter().flat_map(Side::secrets));
        let (problems, counts) = self.problems();
        let chosen = self.chosen.as_ref().and_then(|name| sides.iter().position(|side| side.name == *name));
        let noun = DIALECTS.iter().find(|known| known.name == dialect.name).map_or("", |known| known.variants.noun);
        Some(Project {
            path: self.path.display().to_string(),
            dialect: dialect.name,
            noun,
            chosen: chosen.unwrap_or(0),
            sides,
            missing,
            problems,
            counts,
            mask: Box::new(move |text| if mask.is_empty() { text.to_owned() } else { mask.text(text) }),
        })
    }

    fn at_revision(&mut self, revision: &str) -> Result<Vec<Side>, String> {
        let target = Target { rev: Some(revision.to_owned()), ..self.target.clone() };
        let failed = || format!("`{revision}` could not be read; the terminal says why");
        let (session, request) = open_to_compare(self.cx, &self.path, &target).map_err(|_| failed())?;
        Ok(each(&session, request).0)
    }
}

/// A project in all its variants, as far as each can be resolved, and the names of those that cannot be resolved at
/// all.
fn each(session: &Session, request: Request) -> (Vec<Side>, Vec<String>) {
    let mut all = variants(session, &request);
    if all.is_empty() {
        all.push(Variant { name: "".into(), request });
    }
    let (mut sides, mut missing) = (Vec::new(), Vec::new());
    for variant in all {
        let (name, own) = (variant.name.to_string(), session.sibling());
        let compiled = compile(&own, &variant.request);
        let found = own.sink.take();
        let wrong: Vec<&Diagnostic> = found.iter().filter(|problem| problem.is_error()).collect();
        let errors: Vec<Span> = wrong.iter().filter_map(|problem| problem.span).collect();
        let is_broken = !wrong.is_empty();
        match compiled {
            Some(compiled) => {
                sides.push(Side::new(name, own, compiled.resolved, errors, is_broken));
            }
            None => missing.push(name),
        }
    }
    (sides, missing)
}
