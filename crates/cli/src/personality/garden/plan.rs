//! `purlin garden plan`: what would run, and why; nothing runs.

use super::execute::{clusters, garden};
use super::{Flags, Format, open, usage};
use crate::commands::run::{Place, usual_jobs};
use crate::invocation::{Exit, Invocation};
use crate::report::{Style, report};
use purlin_run::engine::{Options, Project};
use purlin_run::plan::{plan, to_json, to_text};
use purlin_run::select::select_ids;

/// Prints the plan of actions by their keys; without any, of all.
pub(super) fn run(invocation: &mut Invocation<'_>, flags: &Flags, format: Format, keys: &[&str]) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    if session.sink.has_errors() {
        return Err(report(invocation, &session, Style::default()));
    }
    let keys: Vec<String> = match keys {
        [] => vec!["*".to_owned()],
        keys => keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    let chosen = select_ids(project.nodes(), &keys).map_err(|message| usage(invocation, &message))?;
    let skipped = match flags.skip.as_slice() {
        [] => Vec::new(),
        names => select_ids(project.nodes(), names).map_err(|message| usage(invocation, &message))?,
    };
    let chosen: Vec<usize> = chosen.into_iter().filter(|at| !skipped.contains(at)).collect();
    let place = Place::new(invocation, &project.root())?;
    let options = Options { jobs: usual_jobs(), force: flags.force, ..Options::default() };
    let mut steps = plan(&project, &place.store, &place.stop, (&chosen, None), &options);
    let ids: Vec<&str> =
        skipped.iter().filter_map(|at| project.nodes().get(*at)).map(|node| node.id.as_str()).collect();
    steps.retain(|step| !ids.contains(&step.id.as_str()));
    let text = match format {
        Format::Plain => to_text(&steps),
        Format::Json | Format::Yaml => to_json(&steps),
    };
    let exit = report(invocation, &session, Style::default());
    let text = invocation.veil.text(&text).into_owned();
    match exit {
        Exit::Ok => Ok(invocation.print(&text)),
        exit => Err(exit),
    }
}
