//! `purlin logs`: the last output of an action.

use super::Context;
use super::run::open;
use crate::invocation::Exit;
use crate::run_args::LogsFlags;
use purlin_garden::resolve::resolve;
use purlin_run::engine::Project;
use purlin_run::garden::GardenProject;
use purlin_run::mask::Mask;
use purlin_run::store::Store;
use purlin_syntax::suggest;

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &LogsFlags) -> Result<Exit, Exit> {
    let (session, request) = open(cx, "logs", &flags.path, &flags.target)?;
    let Some(project) = resolve(&session, &request, &[]).map(GardenProject::new) else {
        return Err(cx.report(&session));
    };
    let ids = project.nodes().iter().map(|node| node.id.as_str());
    let Some(id) = ids.clone().find(|id| *id == flags.node) else {
        let hint = suggest::did_you_mean(&flags.node, ids).map(|hint| format!("; {hint}")).unwrap_or_default();
        return Err(cx.usage(&format!("there is no action `{}`{hint}", flags.node)));
    };
    let store = match Store::open(&project.root()) {
        Ok(store) => store,
        Err(error) => {
            let _ = writeln!(cx.invocation.stderr, "error: could not read the results of earlier runs: {error}");
            return Err(Exit::Io);
        }
    };
    let text = match std::fs::read(store.log(id)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) if store.last(id).is_some() => String::new(),
        Err(_) => {
            let _ = writeln!(cx.invocation.stderr, "error: `{id}` has not run yet");
            return Err(Exit::Failed);
        }
    };
    // A process that keeps running writes its output itself, unmasked.
    let text = Mask::new(project.secrets().iter().map(String::as_str)).text(&text);
    let lines: Vec<&str> = text.lines().collect();
    let first = flags.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let shown: String = lines.iter().skip(first).map(|line| format!("{line}\n")).collect();
    Ok(cx.print(&shown, None))
}
