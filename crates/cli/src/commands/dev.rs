//! `purlin dev`: runs actions, watches the files that were read for them, and runs the actions that a change affects.

use super::Context;
use super::run::{Order, Place, choose_builder, clusters, conclude, detected, open, opening, reporter, usual_jobs};
use crate::args::AnswerFormat;
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::run_args::DevFlags;
use crate::watch::Watch;
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::due::{Due, Memory};
use purlin_run::engine::{Options, Project, Run};
use purlin_run::follow::Follow;
use purlin_run::local::persistent::Started;
use purlin_run::open::{Forest, Opening, Past, Purpose, Room};
use purlin_run::report::Look;
use purlin_run::select::{Wanted, select_ids};
use purlin_run::stop::Level;
use purlin_run::store::Store;
use purlin_value::{Session, path};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &DevFlags) -> Result<Exit, Exit> {
    choose_builder(cx.invocation, flags.builder.as_deref());
    let mut watch = Watch::new().map_err(|error| cx.io(&format!("could not watch files: {error}")))?;
    let mut dev = Dev::default();
    let mut changed = Vec::new();
    let mut is_first = true;
    loop {
        if let Err(Exit::Usage) = dev.round(cx, flags, &mut watch, &changed) {
            dev.leave_nothing(cx.invocation);
            return Err(Exit::Usage);
        }
        if std::mem::replace(&mut is_first, false) {
            let _ = writeln!(cx.invocation.stderr, "watching {} files; Ctrl-C ends", watch.len());
        } else {
            let _ = writeln!(cx.invocation.stderr, "watching");
        }
        let look = Look { colour: cx.style.colour, ..Look::default() };
        match watch.wait(&mut || dev.goes_on(cx.invocation, look)) {
            Some(paths) => changed = paths,
            None => break,
        }
    }
    let signal = dev.place.as_ref().and_then(|place| place.stop.signal());
    dev.leave_nothing(cx.invocation);
    // Ctrl-C is the normal end; any other signal is reported.
    Ok(signal.filter(|signal| *signal != INTERRUPT).map_or(Exit::Ok, |signal| Exit::Other(128 + signal)))
}

/// The number of the signal that Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// State that is kept between rounds.
#[derive(Default)]
struct Dev {
    place: Option<Place>,
    memory: Memory,
    /// The processes that ran before this command; they are not ours to end.
    before: BTreeSet<String>,
    /// The resolution of the last round.
    kept: Option<Kept>,
    /// The position up to which output of running processes was shown.
    follow: Follow,
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
    fn goes_on(&mut self, invocation: &mut Invocation<'_>, look: Look) -> bool {
        let Some(place) = &self.place else { return true };
        // The stream hides secrets.
        for (id, line) in self.follow.look(&place.store) {
            let name = id.split('@').next().unwrap_or(&id);
            let _ = writeln!(invocation.stderr, "{}", look.output(name, &line));
        }
        place.stop.level() == Level::Going
    }

    /// Resolves, announces the affected actions, and runs them.
    fn round(
        &mut self,
        cx: &mut Context<'_, '_>,
        flags: &DevFlags,
        watch: &mut Watch,
        changed: &[PathBuf],
    ) -> Result<(), Exit> {
        let opening = opening(cx, Purpose::Dev, false, clusters(cx, &flags.target, &flags.cluster, false));
        let kept = self.kept.take();
        let kept = kept.filter(|kept| !kept.session.origins.has_outgrown(kept.origins));
        if let Some(Kept { session, request, past, origins }) = kept {
            let names: Option<Vec<String>> = changed.iter().map(|path| name_in(&session, path)).collect();
            if let Some(names) = names {
                let session = session.continued(&names).twin();
                let followed = past.follow((&session, &request), &opening, &names).map(|project| {
                    cx.invocation.veil.hide(project.secrets());
                    self.carry_out(cx, flags, watch, changed, (&session, project, &opening))
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
                Ok(project) => self.carry_out(cx, flags, watch, changed, (&session, project, &opening))?,
                Err(exit) => {
                    watch.add(&session);
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
        watch: &mut Watch,
        changed: &[PathBuf],
        (session, project, opening): (&Session, Box<dyn Project + '_>, &Opening),
    ) -> Result<Option<Past>, Exit> {
        let style = cx.style;
        if session.sink.has_errors() {
            watch.add(session);
            return Err(cx.report(session));
        }
        let chosen = select_ids(project.nodes(), &flags.nodes).map_err(|message| cx.usage(&message))?;
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
        announce(cx.invocation, project.as_ref(), &due, changed);
        watch.add(session);
        if session.sink.has_errors() {
            return Err(cx.report(session));
        }
        if due.nodes.is_empty() {
            return Ok(project.into_past(true));
        }
        let order = Order {
            kind: Kind::Run,
            wanted: Wanted::default(),
            options: Options {
                jobs: flags.jobs.unwrap_or_else(usual_jobs),
                settled: due.settled.clone(),
                ..Options::default()
            },
            output: AnswerFormat::Text,
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
        watch.add(session);
        summary.failed_mut().for_each(|failure| project.locate(failure));
        self.memory.note(project.as_ref(), &due, &summary);
        let past = project.into_past(!session.sink.has_errors());
        conclude(cx.invocation, session, &summary, style);
        Ok(past)
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
fn announce(invocation: &mut Invocation<'_>, project: &dyn Project, due: &Due, changed: &[PathBuf]) {
    let names: Vec<&str> = due.nodes.iter().filter_map(|node| Some(project.nodes().get(*node)?.id.as_str())).collect();
    let root = project.root();
    let files: Vec<String> =
        changed.iter().map(|path| path.strip_prefix(&root).unwrap_or(path).display().to_string()).collect();
    let what = match (files.as_slice(), names.as_slice()) {
        ([], []) => "everything is done".to_owned(),
        ([], names) => format!("to do: {}", names.join(", ")),
        (files, []) => format!("changed: {}; no action is affected", files.join(", ")),
        (files, names) => format!("changed: {}; affected: {}", files.join(", "), names.join(", ")),
    };
    let _ = writeln!(invocation.stderr, "{what}");
}

/// The Deploys with running processes.
fn running(project: &dyn Project, store: &Store) -> BTreeSet<String> {
    let ids = (0..project.nodes().len()).map(|node| project.subject(node));
    ids.filter(|id| Started::read(&store.deploy_note(id)).is_some_and(|started| started.is_alive())).collect()
}
