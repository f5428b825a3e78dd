//! Resolves a project again after files have changed and actions have run, for commands that watch it.
//!
//! The next resolution offers the full interface of a resolution. Actions that a change does not reach keep their
//! fields, their references, and all values that do not depend on outputs of runs or on the time; hashes of unchanged
//! files are kept too. Uncertain cases are left to a whole resolution.

use crate::action::Action;
use crate::files::FileTree;
use crate::graph::{Graph, build_graph};
use crate::ground::{Ground, Standing};
use crate::live::{Known, LiveSet, bind_actions, source_key, source_owners};
use crate::phases::Phases;
use crate::project::Project;
use crate::render::Config;
use crate::resolve::{Making, Resolution, begin, resolve_begun};
use crate::resume::outdated_source;
use crate::types::report_types;
use crate::variants::Shared;
use crate::varying::Varying;
use ecow::EcoString;
use purlin_model::{Declared, Request};
use purlin_value::{FastMap, FastSet, Session};
use std::sync::Arc;

/// State of a resolution kept for the next one.
pub struct Past {
    standing: Standing,
    project: Project,
    phases: Phases,
    making: Making,
    workflows: Vec<Config>,
    commands: Vec<Config>,
    declared: Vec<Declared>,
    live: Arc<LiveSet>,
}

/// Resolves the project of a request so that it can be resolved again.
pub fn resolve_first<'s>(session: &'s Session, request: &'s Request) -> Option<Resolution<'s>> {
    begin(session, request, Varying::over_time()).map(|begun| resolve_begun(begun, None))
}

impl Past {
    /// What the next resolution can reuse of one that may have led to errors since. None for projects with modules,
    /// which are evaluated in several steps, and with errors, which have to be reported again.
    pub fn of(resolution: Resolution<'_>, is_sound: bool) -> Option<Past> {
        let Resolution { ground, project, phases, modules, live, workflows, commands, declared, making, .. } =
            resolution;
        let is_simple =
            modules.is_empty() && !making.has_duplicates && making.is_graph_sound && !ground.misses_source();
        // A plugin may answer differently next time.
        let is_steady = is_sound && !ground.varying.is_of_its_time() && ground.request.plugins.is_empty();
        if !is_simple || !is_steady || live.graph().actions.values().any(|action| keeps_state(action)) {
            return None;
        }
        let standing = ground.released_but(phases.actions());
        Some(Past { standing, project, phases, making, workflows, commands, declared, live })
    }

    /// Resolves the project again after only the content of these files has changed, in a session that continues the
    /// one before. `None` if all of it must be resolved.
    pub fn follow<'s>(self, session: &'s Session, request: &'s Request, changed: &[String]) -> Option<Resolution<'s>> {
        let (configs, others): (Vec<String>, Vec<String>) =
            changed.iter().cloned().partition(|file| self.making.parts.contains_key(file.as_str()));
        let may_be_read = changed.iter().any(|file| self.live.may_read(file));
        if may_be_read || !others.iter().all(|file| is_source(session, self.live.files(), file)) {
            return None;
        }
        let Past { standing, project, phases, mut making, workflows, commands, declared, live } = self;
        let mut ground = Ground::resumed(session, request, standing);
        ground.varying = Arc::new(Varying::over_time());
        making.read_again(&ground, &project, &phases, &configs)?;
        let actions = making.actions_again(&ground, live.graph().actions.len())?;
        report_types(&ground, &making.providers, &actions);
        let before = session.sink.pushed();
        let graph = Arc::new(build_graph(&ground, actions));
        making.is_graph_sound = session.sink.pushed() == before;
        let owners = Arc::new(source_owners(&graph));
        let source = outdated_source(&ground, (live.graph(), live.owners()), (&graph, &owners), changed);
        let is_changed = |action: &Arc<Action>| {
            let known = live.graph().actions.get(&action.key);
            !known.is_some_and(|known| Arc::ptr_eq(known, action) && !known.varies() && known.varfiles.is_empty())
                || live.graph().needs(&action.key) != graph.needs(&action.key)
                || source.contains(&source_key(action))
        };
        let changed = graph.actions.values().filter(|action| is_changed(action)).map(|action| &action.key);
        let reached = reached(&graph, changed.collect());
        let same: FastSet<EcoString> = graph.actions.keys().filter(|key| !reached.contains(*key)).cloned().collect();
        let phases = phases.renewed(&ground);
        let files = live.shared_files().clone();
        let known = Known { live: &live, same: &same };
        let live = bind_actions(&ground, &project, &phases, graph, owners, files, |_| true, Some(&known));
        let (modules, shared) = (Vec::new(), Shared::default());
        Some(Resolution { ground, project, phases, modules, live, workflows, commands, declared, making, shared })
    }
}

/// Whether running an action changes files that resolution reads: instances and their attributes are stored.
fn keeps_state(action: &Action) -> bool {
    matches!(action.type_name.as_str(), "tosca" | "ensemble")
}

/// Whether a file is only source: its content is hashed, and no value was read from it.
fn is_source(session: &Session, files: &FileTree, file: &str) -> bool {
    let is_known = files.all().binary_search_by(|known| known.path.as_str().cmp(file)).is_ok();
    is_known && !session.has_read(file) && session.world.exists(file)
}

/// Some actions and all that depend on them.
fn reached<'g>(graph: &'g Graph, mut open: Vec<&'g EcoString>) -> FastSet<&'g EcoString> {
    let mut dependents: FastMap<&EcoString, Vec<&'g EcoString>> = FastMap::default();
    for (key, needs) in &graph.needs {
        needs.iter().for_each(|need| dependents.entry(&need.key).or_default().push(key));
    }
    let mut reached = FastSet::default();
    while let Some(key) = open.pop() {
        if reached.insert(key) {
            open.extend(dependents.get(key).into_iter().flatten());
        }
    }
    reached
}
