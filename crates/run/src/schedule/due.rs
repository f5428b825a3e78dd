//! Selects the actions that a round of `dev` has to run: those whose version changed since they were done or tried, and
//! those that use their outputs.

use crate::action::Kind;
use crate::engine::{Project, reachable};
use crate::event::Summary;
use crate::past::{StateOf, statuses};
use crate::stop::Stop;
use crate::store::Store;
use std::collections::{BTreeSet, HashMap};

/// Attempted actions with their versions: a failed action is tried again only when it changes.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    tried: HashMap<String, String>,
}

impl Memory {
    /// Records the result of a round.
    pub fn note(&mut self, project: &dyn Project, due: &Due, summary: &Summary) {
        for node in &due.nodes {
            let Some(id) = project.nodes().get(*node).map(|node| node.id.clone()) else { continue };
            let version = summary.results.get(&id).map(|result| result.version.clone());
            match version.or_else(|| due.versions.get(node).cloned()) {
                Some(version) => self.tried.insert(id, version),
                None => self.tried.remove(&id),
            };
        }
    }
}

/// Actions to run, and actions that stay as they are.
#[derive(Clone, Debug, Default)]
pub struct Due {
    /// Actions to run, in the order of the project.
    pub nodes: Vec<usize>,
    /// Requested or required actions that stay as they are.
    pub settled: BTreeSet<usize>,
    versions: HashMap<usize, String>,
}

impl Due {
    /// The same with further actions that run although they are done.
    pub fn with(mut self, more: &[usize]) -> Due {
        for index in more {
            self.settled.remove(index);
            if !self.nodes.contains(index) {
                self.nodes.push(*index);
            }
        }
        self.nodes.sort_unstable();
        self
    }

    /// Checks selected actions and their dependencies. Runs nothing; afterwards outputs of finished actions are known.
    pub fn find(project: &dyn Project, store: &Store, stop: &Stop, chosen: &[usize], memory: &Memory) -> Due {
        let nodes = project.nodes();
        let found = statuses(project, store, stop);
        let lost: BTreeSet<String> = found
            .iter()
            .filter(|status| status.state == StateOf::Done && !status.has_outputs)
            .map(|status| status.id.clone())
            .collect();
        let seen: BTreeSet<String> =
            found.iter().filter(|status| status.is_seen).map(|status| status.id.clone()).collect();
        let known: HashMap<String, (StateOf, Option<String>)> =
            found.into_iter().map(|status| (status.id, (status.state, status.version))).collect();
        let reached = reachable(nodes, chosen);
        let mut due = Due::default();
        let mut is_due = vec![false; nodes.len()];
        for &index in &reached {
            let Some(node) = nodes.get(index) else { continue };
            let Some((state, version)) = known.get(&node.id) else { continue };
            let is_tried = version.as_ref().is_some_and(|version| memory.tried.get(&node.id) == Some(version));
            // A Deploy whose effect cannot be seen is done when it was tried at this version in this session.
            let is_done = match state {
                StateOf::Done => node.kind != Kind::Deploy || is_tried || seen.contains(&node.id),
                StateOf::Running => true,
                StateOf::Disabled => node.kind != Kind::Build,
                StateOf::NeverRun | StateOf::Outdated(_) | StateOf::Failed(_) => is_tried,
                StateOf::Waits(_) => true,
                // Resolving it again reports the reason.
                StateOf::Unknown(_) => false,
            };
            if let Some(slot) = is_due.get_mut(index) {
                *slot = !is_done && project.accompanies(index).is_none();
            }
            due.versions.extend(version.clone().map(|version| (index, version)));
        }
        let unfinished = |index: usize| {
            let state = nodes.get(index).and_then(|node| known.get(&node.id)).map(|(state, _)| state);
            matches!(state, Some(StateOf::NeverRun | StateOf::Outdated(_) | StateOf::Failed(_)))
        };
        let waits = |index: usize| {
            let state = nodes.get(index).and_then(|node| known.get(&node.id)).map(|(state, _)| state);
            matches!(state, Some(StateOf::Waits(_)))
        };
        // Outputs that were not kept are known only after another run.
        for &index in reached.iter().filter(|index| waits(**index)) {
            for need in nodes.get(index).map_or(&[][..], |node| &node.needs).iter().filter(|need| need.is_runtime) {
                let is_lost = nodes.get(need.node).is_some_and(|node| lost.contains(&node.id));
                if let Some(slot) = is_due.get_mut(need.node).filter(|_| is_lost) {
                    *slot = true;
                }
            }
        }
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &index in &reached {
            for need in nodes.get(index).map_or(&[][..], |node| &node.needs) {
                needed_by.get_mut(need.node).into_iter().for_each(|list| list.push(index));
            }
        }
        let mut open: Vec<usize> = reached.iter().copied().filter(|index| is_due.get(*index) == Some(&true)).collect();
        while let Some(next) = open.pop() {
            // Actions that use outputs of a running action are resolved and run after it; a required action that failed
            // before is tried again.
            let after = needed_by.get(next).into_iter().flatten().copied().filter(|index| waits(*index));
            let needs = nodes.get(next).map_or(&[][..], |node| &node.needs);
            let before = needs.iter().map(|need| need.node);
            let before = before.filter(|index| unfinished(*index) && project.accompanies(*index).is_none());
            let along = reached.iter().copied().filter(|index| project.accompanies(*index) == Some(next));
            for index in after.chain(before).chain(along).collect::<Vec<_>>() {
                if let Some(slot) = is_due.get_mut(index).filter(|slot| !**slot) {
                    *slot = true;
                    open.push(index);
                }
            }
        }
        for index in reached {
            match is_due.get(index).copied().unwrap_or(false) {
                true => due.nodes.push(index),
                false => {
                    due.settled.insert(index);
                }
            }
        }
        due
    }
}
