//! `purlin garden workflow`, and the surface on which the steps of workflows and custom commands run.

use super::{Flags, Format, failed, open, succeeded, usage};
use crate::commands::run::{Place, garden_project};
use crate::invocation::{Exit, Invocation};
use crate::project::Setup;
use crate::report::{Style, report};
use purlin_model::Request;
use purlin_run::engine::Project;
use purlin_run::garden::workflow::{Steps, Surface};
use purlin_syntax::suggest;
use purlin_value::{Map, Session, Value};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Where steps show their lines, and how they run commands of this tool.
pub(crate) struct Console<'c, 'io> {
    pub invocation: &'c mut Invocation<'io>,
    /// The project's folder.
    root: PathBuf,
    /// Arguments that commands inherit: the environment, the variables.
    pub inherited: Vec<String>,
    /// The user's options that commands inherit, such as permissions.
    pub given: Option<Setup>,
}

impl<'c, 'io> Console<'c, 'io> {
    pub(crate) fn new(invocation: &'c mut Invocation<'io>, root: &Path, request: &Request) -> Self {
        let mut inherited = vec!["--root".to_owned(), root.to_string_lossy().into_owned()];
        if let Some(environment) = &request.environment {
            inherited.extend(["--env".to_owned(), environment.clone()]);
        }
        for (key, value) in &request.vars {
            inherited.extend(["--var".to_owned(), format!("{key}=\"{}\"", value.replace('"', "\\\""))]);
        }
        let given = invocation.given.clone();
        Console { invocation, root: root.to_owned(), inherited, given }
    }
}

impl Surface for Console<'_, '_> {
    fn say(&mut self, line: &str) {
        let _ = writeln!(self.invocation.stderr, "{line}");
    }

    fn hide(&mut self, secrets: &[String]) {
        self.invocation.veil.hide(secrets);
    }

    fn command(&mut self, words: Vec<String>, env: &[(String, String)]) -> (Json, i32) {
        let mut stdout = Vec::new();
        let mut args = words;
        args.extend(self.inherited.iter().cloned());
        args.extend(["--output".to_owned(), "json".to_owned()]);
        // Variables of a workflow are for its templates and commands; they must not choose a cluster or a cache.
        let mut project_env = self.invocation.project_env.clone();
        project_env.extend(env.iter().cloned());
        let exit = super::run(
            &mut Invocation {
                args: Vec::new(),
                cwd: self.root.clone(),
                env: self.invocation.env.clone(),
                project_env,
                stdin: None,
                stdout: &mut stdout,
                stderr: &mut *self.invocation.stderr,
                terminal: false,
                given: self.given.clone(),
                last: self.invocation.last,
                veil: self.invocation.veil.clone(),
            },
            &args,
        );
        let exit = exit.unwrap_or_else(|exit| exit);
        let answer: Json = serde_json::from_str(&String::from_utf8_lossy(&stdout)).unwrap_or_default();
        (answer.get("result").cloned().unwrap_or_default(), exit.code())
    }
}

/// `purlin garden workflow NAME`.
pub(super) fn workflow(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    name: &str,
) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let Some(project) = garden_project(invocation, &session, &request) else {
        return Err(report(invocation, &session, Style::default()));
    };
    if session.sink.has_errors() {
        return Err(report(invocation, &session, Style::default()));
    }
    let place = Place::new(invocation, &project.root())?;
    let done = {
        let mut console = Console::new(invocation, &project.root(), &request);
        project.run_workflow(name, (&place.executor, &place.stop), &mut console)
    };
    match done {
        Some(steps) => Ok(conclude(invocation, &session, &place, steps, format)),
        None => Err(usage(invocation, &unknown(name, &project.workflows()))),
    }
}

/// The message for an unknown workflow.
pub(crate) fn unknown(name: &str, names: &[String]) -> String {
    let hint = suggest::did_you_mean(name, names.iter().map(String::as_str));
    format!("unknown workflow `{name}`{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default())
}

/// Prints the results of steps, and decides the exit code.
pub(super) fn conclude(
    invocation: &mut Invocation<'_>,
    session: &Session,
    place: &Place,
    steps: Steps,
    format: Format,
) -> Exit {
    let Steps { results, problems } = steps;
    report(invocation, session, Style::default());
    let text = match (format, problems.is_empty()) {
        (Format::Plain, _) => String::new(),
        (_, true) => succeeded(&Value::map(Map::from_iter([("steps".into(), Value::map(results))])), format),
        (_, false) => failed(&problems, format),
    };
    let _ = write!(invocation.stdout, "{text}");
    match (place.stop.signal(), problems.is_empty()) {
        (Some(signal), _) => Exit::Other(128 + signal),
        (None, true) => Exit::Ok,
        (None, false) => Exit::Other(1),
    }
}
