//! `purlin dev`: runs actions of any project, watches the files that were read for them, and runs the actions that a change affects.

mod asked;

use super::Context;
use super::run::{Order, Place, choose_builder, clusters, conclude, detected, open, opening, reporter, usual_jobs};
use super::stay;
use crate::args::AnswerFormat;
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::run_args::DevFlags;
use crate::watch::Watch;
use asked::{Asked, HELP};
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::due::{Due, Memory};
use purlin_run::engine::{Options, Project, Run, accompanying, reachable};
use purlin_run::follow::Follow;
use purlin_run::forwards::Forwards;
use purlin_run::local::persistent::Started;
use purlin_run::open::{Forest, Opening, Past, Purpose, Room};
use purlin_run::report::Look;
use purlin_run::select::{Wanted, select_ids};
use purlin_run::stop::Level;
use purlin_run::store::Store;
use purlin_run::tails::Tails;
use purlin_value::{Session, path};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::SystemTime;

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &DevFlags) -> Result<Exit, Exit> {
    choose_builder(cx.invocation, flags.builder.as_deref());
    let mut watch = Watch::new().map_err(|error| cx.io(&format!("could not watch files: {error}")))?;
    let is_for_people = flags.output == AnswerFormat::Text;
    let is_interactive = is_for_people && cx.invocation.terminal && cx.invocation.last;
    let lines = is_interactive.then(asked::listen).flatten();
    let mut dev = Dev { lines, ..Dev::default() };
    let mut cause = Cause::default();
    let mut is_first = true;
    loop {
        // A mistake in a file is waited for; a wrong command line, or a folder without a project, is not.
        if let Err(exit) = dev.round(cx, flags, &mut watch, &cause)
            && is_first
            && (exit == Exit::Usage || watch.len() == 0)
        {
            dev.leave_nothing(cx.invocation);
            return Err(exit);
        }
        if !cause.again.is_empty() {
            // What uses the outputs of an action that ran again may be affected.
            cause = Cause::default();
            continue;
        }
        if !dev.goes_on(cx.invocation, flags.output, Look::default()) {
            break;
        }
        dev.tell_watching(cx.invocation, flags.output, watch.len(), std::mem::replace(&mut is_first, false));
        match dev.wait(cx, flags, &mut watch) {
            Some(next) => cause = next,
            None => break,
        }
    }
    let signal = dev.place.as_ref().and_then(|place| place.stop.signal());
    dev.leave_nothing(cx.invocation);
    // Ctrl-C is the normal end; any other signal is reported.
    Ok(signal.filter(|signal| *signal != INTERRUPT).map_or(Exit::Ok, |signal| Exit::Other(128 + signal)))
}

/// Why a round begins; without a cause it is the first one, or follows one that was asked for.
#[derive(Default)]
struct Cause {
    changed: Vec<PathBuf>,
    /// Ids or names of actions to run although they are done; `*` means all.
    again: Vec<String>,
}

/// The number of the signal that Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// State that is kept between rounds.
#[derive(Default)]
struct Dev {
    /// What a person types.
    lines: Option<Receiver<Asked>>,
    place: Option<Place>,
    memory: Memory,
    /// The processes that ran before this command; they are not ours to end.
    before: BTreeSet<String>,
    /// The resolution of the last round.
    kept: Option<Kept>,
    /// The position up to which output of running processes was shown.
    follow: Follow,
    /// The forwarded ports.
    forwards: Forwards,
    /// The logs of containers that are followed.
    tails: Tails,
}

/// What a round leaves for the next one.
struct Kept {
    session: Session,
    request: Request,
    past: Past,
    /// Number of origins after the first of these rounds.
    origins: usize,
}

impl Dev {
    /// Shows new output of running processes. Returns whether to continue watching.
    fn goes_on(&mut self, invocation: &mut Invocation<'_>, output: AnswerFormat, look: Look) -> bool {
        let Some(place) = &self.place else { return true };
        stay::show(invocation, &self.forwards);
        for (id, came) in self.tails.lines() {
            let (stream, text) = match &came {
                Ok(line) => ("stdout", format!("{} | {}", line.container, line.text)),
                Err(cause) => ("stderr", format!("could not read its logs: {cause}")),
            };
            let _ = match output {
                AnswerFormat::Text => writeln!(invocation.stderr, "{}", look.output(&id, &text)),
                AnswerFormat::Json => {
                    let event = json!({ "event": "output", "id": id, "stream": stream, "text": text });
                    writeln!(invocation.stdout, "{event}")
                }
            };
        }
        // The stream hides secrets.
        for (id, line) in self.follow.look(&place.store) {
            let name = id.split('@').next().unwrap_or(&id);
            let _ = match output {
                AnswerFormat::Text => writeln!(invocation.stderr, "{}", look.output(name, &line)),
                AnswerFormat::Json => {
                    let event = json!({ "event": "output", "id": name, "stream": "stdout", "text": line });
                    writeln!(invocation.stdout, "{event}")
                }
            };
        }
        place.stop.level() == Level::Going
    }

    fn tell_watching(&self, invocation: &mut Invocation<'_>, output: AnswerFormat, files: usize, is_first: bool) {
        let keys = if self.lines.is_some() { format!("; {HELP}") } else { String::new() };
        let _ = match output {
            AnswerFormat::Json => writeln!(invocation.stdout, "{}", json!({ "event": "watching", "files": files })),
            AnswerFormat::Text if is_first => {
                writeln!(invocation.stderr, "watching {files} files; Ctrl-C ends{keys}")
            }
            AnswerFormat::Text => writeln!(invocation.stderr, "watching"),
        };
        let _ = invocation.stdout.flush();
    }

    /// Waits for the cause of the next round. `None` if there is no further one.
    fn wait(&mut self, cx: &mut Context<'_, '_>, flags: &DevFlags, watch: &mut Watch) -> Option<Cause> {
        let look = Look { colour: cx.style.colour, ..Look::default() };
        let mut asked = None;
        loop {
            let changed = watch.wait(&mut || {
                asked = self.lines.as_ref().and_then(|lines| lines.try_recv().ok());
                asked.is_none() && self.goes_on(cx.invocation, flags.output, look)
            });
            if let Some(changed) = changed {
                return Some(Cause { changed, ..Cause::default() });
            }
            match asked.take()? {
                Asked::All => return Some(Cause { again: vec!["*".to_owned()], ..Cause::default() }),
                Asked::Again(name) => return Some(Cause { again: vec![name], ..Cause::default() }),
                Asked::Stop(name) => self.stop_one(cx.invocation, &name),
                Asked::Help => {
                    let _ = writeln!(cx.invocation.stderr, "{HELP}");
                }
                Asked::Quit => return None,
            }
        }
    }

    /// Ends the process of one action. It is started again when a change affects it, or when that is asked for.
    fn stop_one(&self, invocation: &mut Invocation<'_>, name: &str) {
        let Some(place) = &self.place else { return };
        let is_meant = |id: &str| {
            let own = id.split('@').next().unwrap_or(id);
            own == name || own.split_once('.').is_some_and(|(_, own)| own == name)
        };
        let running = |id: &String| Started::read(&place.store.deploy_note(id)).filter(Started::is_alive);
        match place.store.ids().iter().filter(|id| is_meant(id)).find_map(|id| Some((id.clone(), running(id)?))) {
            Some((id, started)) => {
                started.end();
                place.store.deploy_note(&id).remove();
                let _ = writeln!(invocation.stderr, "{}: ended", id.split('@').next().unwrap_or(&id));
            }
            None => {
                let _ = writeln!(invocation.stderr, "no process of `{name}` is running");
            }
        }
    }

    /// Resolves, announces the affected actions, and runs them.
    fn round(
        &mut self,
        cx: &mut Context<'_, '_>,
        flags: &DevFlags,
        watch: &mut Watch,
        cause: &Cause,
    ) -> Result<(), Exit> {
        let begun = SystemTime::now();
        let opening = opening(cx, Purpose::Dev, false, clusters(cx, &flags.target, &flags.cluster, false));
        let kept = self.kept.take();
        let kept = kept.filter(|kept| !kept.session.origins.has_outgrown(kept.origins));
        if let Some(Kept { session, request, past, origins }) = kept {
            let names: Option<Vec<String>> = cause.changed.iter().map(|path| name_in(&session, path)).collect();
            if let Some(names) = names {
                let session = session.continued(&names).twin();
                let followed = past.follow((&session, &request), &opening, &names).map(|project| {
                    cx.invocation.veil.hide(project.secrets());
                    self.carry_out(cx, flags, (&mut *watch, begun), cause, (&session, project, &opening))
                });
                if let Some(past) = followed {
                    self.kept = past?.map(|past| Kept { session, request, past, origins });
                    return Ok(());
                }
            }
        }
        let (session, request, row) = detected(cx, "dev", &flags.path, &flags.target)?;
        let past = {
            let forest = Forest::new();
            let room = Room::new(&forest);
            match open(cx, row, &room, (&session, &request), &opening) {
                Ok(project) => self.carry_out(cx, flags, (&mut *watch, begun), cause, (&session, project, &opening))?,
                Err(exit) => {
                    watch.add_since(&session, Some(begun));
                    return Err(exit);
                }
            }
        };
        let origins = session.origins.len();
        self.kept = past.map(|past| Kept { session, request, past, origins });
        Ok(())
    }

    /// Runs the actions that a change affects. Returns state that speeds up the next resolution.
    fn carry_out(
        &mut self,
        cx: &mut Context<'_, '_>,
        flags: &DevFlags,
        (watch, begun): (&mut Watch, SystemTime),
        cause: &Cause,
        (session, project, opening): (&Session, Box<dyn Project + '_>, &Opening),
    ) -> Result<Option<Past>, Exit> {
        let style = cx.style;
        if session.sink.has_errors() {
            watch.add_since(session, Some(begun));
            return Err(cx.report(session));
        }
        let mut chosen = select_ids(project.nodes(), &flags.nodes).map_err(|message| cx.usage(&message))?;
        chosen.extend(accompanying(project.as_ref(), &reachable(project.nodes(), &chosen)));
        if self.place.is_none() {
            let place = Place::new(cx.invocation, &project.root())?;
            self.before = running(project.as_ref(), &place.store);
            self.follow = Follow::from_now(&place.store);
            self.place = Some(place);
        }
        let Some(place) = &self.place else { return Ok(None) };
        // Other processes may have run something since.
        let _ = place.store.refresh();
        let due = Due::find(project.as_ref(), &place.store, &place.stop, &chosen, &self.memory);
        let due = match cause.again.as_slice() {
            [] => due,
            [all] if all == "*" => due.with(&chosen),
            names => due.with(&select_ids(project.nodes(), names).map_err(|message| cx.usage(&message))?),
        };
        announce(cx.invocation, project.as_ref(), &due, &cause.changed, flags.output);
        watch.add_since(session, Some(begun));
        if session.sink.has_errors() {
            return Err(cx.report(session));
        }
        if due.nodes.is_empty() {
            self.accompany(cx, flags, project.as_ref(), &chosen);
            return Ok(project.into_past(true));
        }
        let order = Order {
            remote: None,
            kind: Kind::Run,
            wanted: Wanted::default(),
            options: Options {
                jobs: flags.jobs.unwrap_or_else(usual_jobs),
                settled: due.settled.clone(),
                force: !cause.again.is_empty(),
                ..Options::default()
            },
            output: flags.output,
            timings: None,
            push: false,
            clusters: opening.clusters.clone(),
            dry_run: false,
            since: None,
        };
        let mut summary = {
            let mut reporter = reporter(cx.invocation, &order, style, None);
            let run = Run {
                project: project.as_ref(),
                store: &place.store,
                executor: &place.executor,
                stop: &place.stop,
                options: &order.options,
            };
            run.run(&due.nodes, &mut reporter)
        };
        self.follow.meet(&place.store);
        // Adds files of actions that were resolved only now.
        watch.add_since(session, Some(begun));
        summary.failed_mut().for_each(|failure| project.locate(failure));
        let failed: BTreeSet<&str> =
            summary.ends.iter().filter(|(_, end, _)| !end.is_good()).map(|(id, ..)| id.as_str()).collect();
        chosen.retain(|at| project.nodes().get(*at).is_some_and(|node| !failed.contains(node.id.as_str())));
        self.accompany(cx, flags, project.as_ref(), &chosen);
        self.memory.note(project.as_ref(), &due, &summary);
        let past = project.into_past(!session.sink.has_errors());
        conclude(cx.invocation, session, &summary, style);
        Ok(past)
    }

    /// Forwards the ports of deploys and follows their logs, as they are asked for. A port that cannot be forwarded is
    /// reported; the round goes on.
    fn accompany(&mut self, cx: &mut Context<'_, '_>, flags: &DevFlags, project: &dyn Project, nodes: &[usize]) {
        if flags.forward {
            let _ = stay::forward(cx.invocation, project, nodes, &mut self.forwards);
        }
        if flags.logs {
            stay::tail(cx.invocation, project, nodes, &mut self.tails);
        }
    }

    /// Ends the processes that this command has started.
    fn leave_nothing(&self, invocation: &mut Invocation<'_>) {
        let Some(place) = &self.place else { return };
        for id in place.store.ids().iter().filter(|id| !self.before.contains(*id)) {
            let note = place.store.deploy_note(id);
            if let Some(started) = Started::read(&note).filter(Started::is_alive) {
                started.end();
                note.remove();
                let name = id.split('@').next().unwrap_or(id);
                let _ = writeln!(invocation.stderr, "{name}: ended");
            }
        }
    }
}

/// The path of a file in the world of a session; `None` outside of it.
fn name_in(session: &Session, file: &Path) -> Option<String> {
    let full = native::world_text(file);
    let inside = full.strip_prefix(session.world.root())?.strip_prefix('/')?;
    Some(path::normalize(inside))
}

/// Announces changed files and affected actions before anything runs.
fn announce(
    invocation: &mut Invocation<'_>,
    project: &dyn Project,
    due: &Due,
    changed: &[PathBuf],
    output: AnswerFormat,
) {
    let names: Vec<&str> = due.nodes.iter().filter_map(|node| Some(project.nodes().get(*node)?.id.as_str())).collect();
    let root = project.root();
    let shown = |path: &PathBuf| match path.strip_prefix(&root).unwrap_or(path) {
        own if own.as_os_str().is_empty() => ".".to_owned(),
        below => below.display().to_string(),
    };
    let files: Vec<String> = changed.iter().map(shown).collect();
    let what = match (files.as_slice(), names.as_slice()) {
        ([], []) => "everything is done".to_owned(),
        ([], names) => format!("to do: {}", names.join(", ")),
        (files, []) => format!("changed: {}; no action is affected", files.join(", ")),
        (files, names) => format!("changed: {}; affected: {}", files.join(", "), names.join(", ")),
    };
    let _ = match output {
        AnswerFormat::Text => writeln!(invocation.stderr, "{what}"),
        AnswerFormat::Json => {
            let event = json!({ "event": "affected", "files": files, "actions": names });
            writeln!(invocation.stdout, "{event}")
        }
    };
}

/// The Deploys with running processes.
fn running(project: &dyn Project, store: &Store) -> BTreeSet<String> {
    let ids = (0..project.nodes().len()).map(|node| project.subject(node));
    ids.filter(|id| Started::read(&store.deploy_note(id)).is_some_and(|started| started.is_alive())).collect()
}
