//! Resolves a project again after files with only actions have changed: parts that the change does not concern are
//! kept.
//!
//! An action is evaluated again if it is written in such a file, if it depends on one that is, if its source is, or if
//! it had problems, which must be reported again. Uncertain cases are left to a whole resolution: the result always
//! equals that of a whole resolution.

use crate::action::{Action, preprocess};
use crate::config::{ConfigKind, check_file, read_file};
use crate::dialect::{Met, Share, assemble};
use crate::draft::Draft;
use crate::entities::spec_type;
use crate::files::FileTree;
use crate::graph::{Actions, Graph, Needed, build_graph};
use crate::ground::{Ground, Standing};
use crate::live::{Owners, bind_actions, source_key, source_owners};
use crate::phases::Phases;
use crate::project::Project;
use crate::render::Config;
use crate::resolve::{Making, Resolution, keep, resolve};
use crate::types::report_types;
use crate::variants::Shared;
use crate::versions::SourceKey;
use ecow::EcoString;
use purlin_model::{Declared, Kept, Request, Resolved, Resumable, Resuming};
use purlin_syntax::{Diagnostic, FileId, Span};
use purlin_value::{FastMap, FastSet, Session, path};
use std::sync::{Arc, PoisonError};

/// How projects are resolved again.
pub(crate) const RESUMING: Resuming = Resuming { start, again };

/// State kept of a resolution.
struct Memory {
    standing: Standing,
    project: Project,
    phases: Phases,
    making: Making,
    files: Arc<FileTree>,
    workflows: Vec<Config>,
    commands: Vec<Config>,
    declared: Vec<Declared>,
    graph: Arc<Graph>,
    owners: Arc<Owners>,
    resolved: Resolved,
    shares: FastMap<EcoString, Share>,
    /// Locations of projects inside actions, by action.
    taken: FastMap<EcoString, Vec<String>>,
    /// Actions with problems, and those whose evaluation met them.
    unsound: FastSet<EcoString>,
    /// Number of origins made by a whole resolution.
    origins: usize,
}

fn start(session: &Session, request: &Request) -> Resumable {
    let before = session.origins.len();
    let Some(resolution) = resolve(session, request) else { return Resumable { resolved: None, kept: None } };
    let (resolved, met) = assemble(&resolution, &|_| None, true);
    let made = session.origins.len() - before;
    let memory = Memory::of(resolution, &resolved, met, FastMap::default(), made);
    resumable(resolved, memory)
}

fn again(session: &Session, request: &Request, kept: Kept, changed: &[String]) -> Option<Resumable> {
    let memory = *kept.downcast::<Memory>().ok()?;
    if session.origins.has_outgrown(memory.origins) || session.meter.is_half_used() {
        return None;
    }
    let (resolved, memory) = memory.resume(session, request, changed)?;
    // A limit that is reached is one of all runs together; alone, this one may keep within it.
    (!session.meter.is_half_used()).then(|| resumable(resolved, memory))
}

fn resumable(resolved: Resolved, memory: Option<Memory>) -> Resumable {
    Resumable { resolved: Some(resolved), kept: memory.map(|memory| Box::new(memory) as Kept) }
}

impl Memory {
    /// The state of a resolution worth keeping; `None` if the effects of a change could not be determined.
    fn of(
        resolution: Resolution<'_>,
        resolved: &Resolved,
        met: Met,
        mut taken: FastMap<EcoString, Vec<String>>,
        origins: usize,
    ) -> Option<Memory> {
        let Resolution { ground, project, phases, modules, live, workflows, commands, declared, mut making, .. } =
            resolution;
        let graph = live.graph().clone();
        let is_simple = modules.is_empty() && !ground.misses_source() && ground.request.nodes.is_empty();
        let is_known = is_simple && !making.has_duplicates && !met.has_others;
        if !is_known || !graph.actions.values().all(|action| has_only_own(action)) {
            return None;
        }
        making.problems.extend(met.variables);
        if making.problems.iter().any(|problem| problem.span.is_none()) {
            return None;
        }
        let mut unsound = FastSet::default();
        for (key, problems) in &met.problems {
            unsound.insert(key.clone());
            for problem in problems {
                unsound.insert(owner(&graph, key, problem)?);
            }
        }
        for (key, path) in live.taken_in() {
            taken.entry(key).or_default().push(path);
        }
        let (files, owners) = (live.shared_files().clone(), live.owners().clone());
        // The cells of bound actions go with them.
        drop(live);
        let standing = ground.released_but(phases.actions());
        let (resolved, shares) = (resolved.clone(), met.shares);
        Some(Memory {
            standing,
            project,
            phases,
            making,
            files,
            workflows,
            commands,
            declared,
            graph,
            owners,
            resolved,
            shares,
            taken,
            unsound,
            origins,
        })
    }

    /// Resolves the parts affected by a change of some files again.
    fn resume(
        mut self,
        session: &Session,
        request: &Request,
        changed: &[String],
    ) -> Option<(Resolved, Option<Memory>)> {
        let ground = Ground::resumed(session, request, std::mem::take(&mut self.standing));
        self.making.read_again(&ground, &self.project, &self.phases, changed)?;
        let actions = self.making.actions_again(&ground, self.graph.actions.len())?;
        report_types(&ground, &self.making.providers, &actions);
        let graph = Arc::new(build_graph(&ground, actions));
        let owners = Arc::new(source_owners(&graph));
        let before = (&*self.graph, &*self.owners);
        let source = outdated_source(&ground, before, (&graph, &owners), changed);
        let mut concerned = self.concerned(&graph, &source, changed);
        concerned.extend(self.unsound.iter().filter(|key| graph.actions.contains_key(*key)).cloned());
        concerned.extend(graph.actions.values().filter(|a| !a.varfiles.is_empty()).map(|a| a.key.clone()));
        let needed = self.needed(&graph, &concerned);
        let phases = self.phases.renewed(&ground);
        let is_wanted = |key: &EcoString| needed.as_ref().is_none_or(|needed| needed.contains(key));
        let live = bind_actions(&ground, &self.project, &phases, graph, owners, self.files, is_wanted, None);
        let resolution = Resolution {
            ground,
            project: self.project,
            phases,
            modules: Vec::new(),
            live,
            workflows: self.workflows,
            commands: self.commands,
            declared: self.declared,
            making: self.making,
            shared: Shared::default(),
        };
        let (known, shares) = (&self.resolved, &self.shares);
        let recall = |key: &str| (!concerned.contains(key)).then(|| Some((known, shares.get(key)?))).flatten();
        let (mut resolved, mut met) = assemble(&resolution, &recall, true);
        self.taken.retain(|key, _| !concerned.contains(key) && resolution.graph().actions.contains_key(key));
        let asked_again: FastSet<EcoString> = resolution.live.taken_in().into_iter().map(|(key, _)| key).collect();
        self.taken.retain(|key, _| !asked_again.contains(key));
        resolved.inner.extend(self.taken.values().flatten().cloned());
        // Problems of kept actions are reported as before; the variables are forced already.
        met.variables.clear();
        let memory = Memory::of(resolution, &resolved, met, self.taken, self.origins);
        Some((resolved, memory))
    }

    /// The actions affected by a change: changed ones, and their dependents.
    fn concerned(&self, graph: &Graph, source: &FastSet<SourceKey>, changed: &[String]) -> FastSet<EcoString> {
        let is_same = |action: &Arc<Action>| {
            let before = self.graph.actions.get(&action.key);
            before.is_some_and(|before| Arc::ptr_eq(before, action))
                && self.graph.needs(&action.key) == graph.needs(&action.key)
                && self.graph.cyclic.contains(&action.key) == graph.cyclic.contains(&action.key)
                && (source.is_empty() || !source.contains(&source_key(action)))
                && !self.reads(action, changed)
        };
        let changed = graph.actions.values().filter(|action| !is_same(action)).map(|action| &action.key);
        let gone = self.graph.actions.keys().filter(|key| !graph.actions.contains_key(*key));
        let mut spread = Spread::default();
        for graph in [graph, &self.graph] {
            for (key, needs) in &graph.needs {
                let Some(action) = graph.actions.get(key) else { continue };
                needs.iter().for_each(|need| spread.add(action, need));
            }
        }
        spread.from(changed.chain(gone))
    }

    /// Whether an action may read one of some files: a project inside it reads those in its folder.
    fn reads(&self, action: &Action, changed: &[String]) -> bool {
        if spec_type(&action.type_name, action.kind).is_none_or(|known| known.inside.is_none()) {
            return false;
        }
        let taken = self.taken.get(&action.key).into_iter().flatten();
        let mut folders = taken.flat_map(|path| [path.as_str(), path::parent(path)]);
        let is_below = |folder: &str| changed.iter().any(|file| folder == "." || path::within(folder, file) != file);
        is_below(&action.source_folder) || folders.any(is_below)
    }

    /// The actions that must be bound to evaluate others; all actions if it is not set.
    fn needed(&self, graph: &Graph, concerned: &FastSet<EcoString>) -> Option<FastSet<EcoString>> {
        let has_varfiles = graph.actions.values().any(|action| !action.varfiles.is_empty());
        let reaches_all = !self.workflows.is_empty() || !self.commands.is_empty() || has_varfiles;
        if reaches_all || self.project.document.field("outputs").is_some() {
            return None;
        }
        let mut needed = FastSet::default();
        let mut open: Vec<EcoString> = concerned.iter().cloned().collect();
        while let Some(key) = open.pop() {
            open.extend(graph.needs(&key).iter().map(|need| need.key.clone()).filter(|key| !needed.contains(key)));
            needed.insert(key);
        }
        Some(needed)
    }
}

/// The choices of files whose hash is outdated, which are dropped.
pub(crate) fn outdated_source(
    ground: &Ground<'_>,
    before: (&Graph, &Owners),
    now: (&Graph, &Owners),
    changed: &[String],
) -> FastSet<SourceKey> {
    let mut outdated = FastSet::default();
    let mut sources = ground.sources.lock().unwrap_or_else(PoisonError::into_inner);
    sources.retain(|key, version| {
        let decides = |(graph, owners): (&Graph, &Owners)| graph.actions.get(owners.get(key)?).cloned();
        let is_same = decides(before).zip(decides(now)).is_some_and(|(before, now)| Arc::ptr_eq(&before, &now));
        let is_current = is_same && !version.files.iter().any(|file| changed.contains(file));
        if !is_current {
            outdated.insert(key.clone());
        }
        is_current
    });
    outdated
}

/// How a change spreads from actions to those that depend on them.
#[derive(Default)]
struct Spread<'g> {
    dependents: FastMap<&'g EcoString, Vec<(&'g Action, Use)>>,
}

/// The part of a dependency that an action uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Any values.
    Values,
    /// Its version, as part of the own version, which none of the own values shows.
    Version,
}

impl<'g> Spread<'g> {
    fn add(&mut self, action: &'g Action, need: &'g Needed) {
        let is_plain = spec_type(&action.type_name, action.kind)
            .is_some_and(|known| known.inside.is_none() && known.static_outputs.is_empty());
        let is_read = need.needs_static || need.needs_executed || !is_plain;
        let is_listed = action.links.get().is_some_and(|links| links.only_lists(&need.key));
        let of = if is_read || !is_listed { Use::Values } else { Use::Version };
        self.dependents.entry(&need.key).or_default().push((action, of));
    }

    /// The actions whose values are affected by a change of some actions.
    fn from(&self, changed: impl Iterator<Item = &'g EcoString>) -> FastSet<EcoString> {
        let mut open: Vec<(&EcoString, Use)> = changed.map(|key| (key, Use::Values)).collect();
        let (mut values, mut versions) = (FastSet::default(), FastSet::default());
        while let Some((key, what)) = open.pop() {
            let is_new = match what {
                Use::Values => values.insert(key.clone()),
                Use::Version => !values.contains(key) && versions.insert(key),
            };
            if is_new {
                open.extend(self.dependents.get(key).into_iter().flatten().map(|(action, of)| (&action.key, *of)));
            }
        }
        values
    }
}

impl Making {
    /// All actions, with the problems that were found when they were made. `None` if two of them have the same name.
    pub(crate) fn actions_again(&self, ground: &Ground<'_>, about: usize) -> Option<Actions> {
        let sink = &ground.session.sink;
        sink.extend(self.problems.iter().cloned());
        let mut actions = Actions::with_capacity_and_hasher(about, Default::default());
        for action in self.parts.values().flat_map(|part| &part.actions) {
            sink.extend(action.problems.iter().cloned());
            sink.extend(action.links.get().into_iter().flat_map(|links| links.problems.iter().cloned()));
            if keep(ground, &mut actions, action.clone()) {
                return None;
            }
        }
        Some(actions)
    }

    /// Reads changed files again and makes their actions. `None` if one of them holds more than actions.
    pub(crate) fn read_again(
        &mut self,
        ground: &Ground<'_>,
        project: &Project,
        phases: &Phases,
        changed: &[String],
    ) -> Option<()> {
        for file in changed {
            let part = self.parts.get_mut(file.as_str()).filter(|part| part.is_plain)?;
            let text = ground.session.load_text(file, file).ok()?.source.id();
            if part.text == Some(text) {
                continue;
            }
            if let Some(before) = part.text.replace(text) {
                ground.drop_tree(before);
                self.problems.retain(|problem| !is_in(problem, before));
            }
            let (found, mut trees) = (ground.session.sink.len(), Vec::new());
            let documents = read_file(ground.session, &ground.templates, file, &mut trees);
            ground.keep_trees(trees);
            if documents.iter().any(|document| !matches!(document.kind, ConfigKind::Action(_))) {
                return None;
            }
            check_file(ground.session, &documents);
            self.problems.extend(ground.session.sink.since(found));
            let action = |config: Config| match config.kind {
                ConfigKind::Action(kind) => Some(preprocess(ground, project, phases, kind, config, None)),
                _ => None,
            };
            part.actions = documents.iter().filter_map(Config::written).filter_map(action).collect();
        }
        Some(())
    }
}

fn is_in(problem: &Diagnostic, file: FileId) -> bool {
    problem.span.is_some_and(|span| span.file == file)
}

/// Whether the problems and references of an action before its evaluation are all its own.
fn has_only_own(action: &Action) -> bool {
    let Some(links) = action.links.get().filter(|links| links.are_definite()) else { return false };
    action.problems.iter().chain(&links.problems).all(|problem| problem.span.is_some_and(|span| has(action, span)))
}

/// Whether a place is in the document of an action.
fn has(action: &Action, place: Span) -> bool {
    let Draft::Node(node) = &action.config.body else { return false };
    let own = node.span();
    own.is_some_and(|own| own.file == place.file && own.start <= place.start && place.end <= own.end)
}

/// The action that a problem belongs to which was met while another was evaluated: that one, or a dependency of it.
/// `None` for other problems, which would not be met again.
fn owner(graph: &Graph, key: &EcoString, problem: &Diagnostic) -> Option<EcoString> {
    let mut places = problem.span.into_iter().chain(problem.trace.iter().map(|step| step.span));
    let (mut open, mut seen) = (vec![key.clone()], FastSet::default());
    let places: Vec<Span> = places.by_ref().collect();
    while let Some(key) = open.pop() {
        let action = graph.actions.get(&key)?;
        if places.iter().any(|place| has(action, *place)) {
            return Some(key);
        }
        if seen.insert(key.clone()) {
            open.extend(graph.needs(&key).iter().map(|need| need.key.clone()));
        }
    }
    None
}
