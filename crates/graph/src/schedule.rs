//! Decides which task runs next and how tasks end; a plain state machine without knowledge of threads.
//!
//! A task is in exactly one state: ready, parked (its group is full), running, waiting for others, or ended. The cost
//! of every operation is proportional to what it touches, so that the whole is linear in tasks and edges, and no
//! operation recurses.

use crate::digraph::Digraph;
use crate::outcome::{Cycle, Ended, NAMED_ROOTS, Outcome, State};
use crate::task::{Deps, Step};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

/// The number of a task, in order of discovery. Never leaves this crate, since discovery depends on timing.
pub(crate) type TaskId = usize;

/// One task.
struct Slot<K, R, E> {
    key: K,
    group: Option<usize>,
    /// All of its dependencies so far, in order.
    needs: Vec<TaskId>,
    /// Index in `needs` where the current wait begins.
    fresh: usize,
    /// Number of these dependencies that have not ended.
    missing: usize,
    /// Its results so far; taken out while it runs.
    deps: Option<Deps<K, R>>,
    /// Tasks that wait for this one.
    waiters: Vec<TaskId>,
    /// The wait in which it was last requested, so that a duplicate request counts once.
    asked: u64,
    state: Option<State<K, R, E>>,
}

struct Group {
    limit: usize,
    running: usize,
    parked: VecDeque<TaskId>,
}

/// All tasks and their states.
pub(crate) struct Schedule<K, R, E> {
    slots: Vec<Slot<K, R, E>>,
    index: HashMap<K, TaskId, foldhash::fast::RandomState>,
    ready: VecDeque<TaskId>,
    running: usize,
    groups: Vec<Group>,
    task_limit: usize,
    exhausted: bool,
    stopped: bool,
    abandoned: bool,
    cycles: Vec<Arc<Cycle<K>>>,
    /// Number of waits so far.
    waits: u64,
}

impl<K, R, E> Schedule<K, R, E> {
    /// Starts no further tasks; running ones finish.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Releases all threads although tasks have not ended, because one of them panicked.
    pub(crate) fn give_up(&mut self) {
        self.stopped = true;
        self.abandoned = true;
    }

    /// Whether a task could be started, unless its group is full.
    pub(crate) fn has_ready(&self) -> bool {
        !self.stopped && !self.ready.is_empty()
    }

    /// Whether no task is running; called when [`Schedule::start`] has found nothing to start.
    pub(crate) fn is_quiet(&self) -> bool {
        self.abandoned || self.running == 0
    }
}

impl<K, R, E> Schedule<K, R, E>
where
    K: Clone + Eq + Hash + Ord,
{
    pub(crate) fn new(limits: &[usize], task_limit: usize) -> Self {
        let group = |limit: &usize| Group { limit: (*limit).max(1), running: 0, parked: VecDeque::new() };
        Schedule {
            slots: Vec::new(),
            index: HashMap::default(),
            ready: VecDeque::new(),
            running: 0,
            groups: limits.iter().map(group).collect(),
            task_limit,
            exhausted: false,
            stopped: false,
            abandoned: false,
            cycles: Vec::new(),
            waits: 0,
        }
    }

    /// Reserves capacity for this many more tasks.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        let tasks = tasks.min(self.task_limit);
        self.slots.reserve(tasks);
        self.index.reserve(tasks);
        self.ready.reserve(tasks);
    }

    /// The task of a key; a new one is ready to start. `None` if the limit of tasks is reached.
    pub(crate) fn intern(&mut self, key: K, group_of: impl Fn(&K) -> Option<usize>) -> Option<TaskId> {
        if let Some(&id) = self.index.get(&key) {
            return Some(id);
        }
        let id = self.slots.len();
        if id >= self.task_limit {
            self.exhausted = true;
            self.stopped = true;
            return None;
        }
        let group = group_of(&key).filter(|&group| group < self.groups.len());
        self.index.insert(key.clone(), id);
        self.slots.push(Slot {
            key,
            group,
            needs: Vec::new(),
            fresh: 0,
            missing: 0,
            deps: Some(Deps::new()),
            waiters: Vec::new(),
            asked: 0,
            state: None,
        });
        self.ready.push_back(id);
        Some(id)
    }

    /// Takes the next task whose group has room.
    pub(crate) fn start(&mut self) -> Option<(TaskId, K, Deps<K, R>)> {
        while !self.stopped {
            let id = self.ready.pop_front()?;
            if let Some(group) = self.slots[id].group.map(|group| &mut self.groups[group]) {
                if group.running >= group.limit {
                    group.parked.push_back(id);
                    continue;
                }
                group.running += 1;
            }
            self.running += 1;
            let slot = &mut self.slots[id];
            return Some((id, slot.key.clone(), slot.deps.take().unwrap_or_else(Deps::new)));
        }
        None
    }

    /// Takes the answer of a task that was started.
    pub(crate) fn settle(
        &mut self,
        id: TaskId,
        deps: Deps<K, R>,
        step: Step<K, R, E>,
        group_of: impl Fn(&K) -> Option<usize>,
    ) {
        self.running -= 1;
        if let Some(group) = self.slots[id].group.map(|group| &mut self.groups[group]) {
            group.running -= 1;
            // To the front: it has waited longer than the ready tasks.
            if let Some(parked) = group.parked.pop_front() {
                self.ready.push_front(parked);
            }
        }
        match step {
            Step::Done(result) => self.end(id, State::Done(Arc::new(result))),
            Step::Fail(error) => self.end(id, State::Failed(error)),
            Step::Needs(keys) => self.suspend(id, deps, keys, group_of),
        }
    }

    /// Makes a task wait for `keys`.
    fn suspend(&mut self, id: TaskId, deps: Deps<K, R>, keys: Vec<K>, group_of: impl Fn(&K) -> Option<usize>) {
        let fresh = self.slots[id].needs.len();
        self.waits += 1;
        for key in keys {
            if deps.has(&key) {
                continue;
            }
            let Some(need) = self.intern(key, &group_of) else { continue };
            if std::mem::replace(&mut self.slots[need].asked, self.waits) == self.waits {
                continue;
            }
            self.slots[id].needs.push(need);
            if self.slots[need].state.is_none() {
                self.slots[need].waiters.push(id);
                self.slots[id].missing += 1;
            }
        }
        let slot = &mut self.slots[id];
        slot.deps = Some(deps);
        slot.fresh = fresh;
        if slot.needs.len() == fresh && !self.stopped {
            self.end(id, State::Stalled);
        } else if self.slots[id].missing == 0
            && let Some(state) = self.resume(id)
        {
            self.end(id, state);
        }
    }

    /// Records a final state and passes it on to all waiting tasks.
    fn end(&mut self, id: TaskId, state: State<K, R, E>) {
        let mut ending = vec![(id, state)];
        while let Some((id, state)) = ending.pop() {
            let slot = &mut self.slots[id];
            slot.state = Some(state);
            slot.deps = None;
            for waiter in std::mem::take(&mut slot.waiters) {
                let slot = &mut self.slots[waiter];
                slot.missing -= 1;
                // Members of a cycle end before their dependencies.
                if slot.missing == 0
                    && slot.state.is_none()
                    && let Some(state) = self.resume(waiter)
                {
                    ending.push((waiter, state));
                }
            }
        }
    }

    /// Passes a task the results it waited for and makes it ready, or returns its final state instead.
    fn resume(&mut self, id: TaskId) -> Option<State<K, R, E>> {
        let mut deps = self.slots[id].deps.take().unwrap_or_else(Deps::new);
        let slot = &self.slots[id];
        let mut results = Vec::with_capacity(slot.needs.len() - slot.fresh);
        let mut broken = Vec::new();
        for need in slot.needs[slot.fresh..].iter().map(|&need| (need, &self.slots[need])) {
            match need {
                (_, Slot { key, state: Some(State::Done(result)), .. }) => {
                    results.push((key.clone(), Arc::clone(result)));
                }
                (need, _) => broken.push(need),
            }
        }
        if !broken.is_empty() {
            return Some(State::Aborted { roots: self.roots(&broken) });
        }
        deps.add(results);
        self.slots[id].deps = Some(deps);
        // To the front: the tasks it waited for are done.
        self.ready.push_front(id);
        None
    }

    /// The smallest keys of the failures that caused some tasks to have no result.
    fn roots(&self, broken: &[TaskId]) -> Arc<[K]> {
        if let &[only] = broken
            && let Some(State::Aborted { roots }) = &self.slots[only].state
        {
            return Arc::clone(roots);
        }
        let mut roots: BTreeSet<&K> = BTreeSet::new();
        for &id in broken {
            let slot = &self.slots[id];
            match &slot.state {
                Some(State::Aborted { roots: behind }) => roots.extend(behind.iter()),
                Some(State::Cyclic(cycle)) => roots.extend(cycle.path.first()),
                _ => roots.extend([&slot.key]),
            }
            while roots.len() > NAMED_ROOTS {
                roots.pop_last();
            }
        }
        roots.into_iter().cloned().collect()
    }

    /// Ends the remaining tasks when nothing runs and nothing can be started: they are in cycles, depend on them, or
    /// were stopped.
    pub(crate) fn close(&mut self) {
        if self.abandoned {
            return;
        }
        if self.stopped {
            for slot in self.slots.iter_mut().filter(|slot| slot.state.is_none()) {
                slot.state = Some(State::Cancelled);
            }
            return;
        }
        for cycle in self.find_cycles() {
            let cycle = Arc::new(cycle);
            self.cycles.push(Arc::clone(&cycle));
            let ids: Vec<TaskId> = cycle.members.iter().filter_map(|key| self.index.get(key).copied()).collect();
            // All members first: none of them is merely a dependent of the cycle.
            for &id in &ids {
                self.slots[id].state = Some(State::Cyclic(Arc::clone(&cycle)));
            }
            for &id in &ids {
                self.end(id, State::Cyclic(Arc::clone(&cycle)));
            }
        }
    }

    /// The cycles among waiting tasks. The set of waiting tasks at that point does not depend on timing, so neither
    /// do these.
    fn find_cycles(&self) -> Vec<Cycle<K>> {
        let mut waiting: Vec<&Slot<K, R, E>> = self.slots.iter().filter(|slot| slot.state.is_none()).collect();
        waiting.sort_by(|a, b| a.key.cmp(&b.key));
        let mut graph: Digraph<&K> = Digraph::new();
        for slot in &waiting {
            graph.add(&slot.key);
        }
        for slot in &waiting {
            for need in slot.needs[slot.fresh..].iter().map(|&need| &self.slots[need]) {
                if need.state.is_none() {
                    graph.connect(&slot.key, &need.key);
                }
            }
        }
        let owned = |keys: Vec<&K>| keys.into_iter().cloned().collect();
        let cycles = graph.cycles();
        cycles.into_iter().map(|cycle| Cycle { path: owned(cycle.path), members: owned(cycle.members) }).collect()
    }

    /// The final states of all tasks.
    pub(crate) fn into_outcome(self) -> Outcome<K, R, E> {
        let ended = self.slots.into_iter().map(|slot| Ended {
            key: slot.key,
            // Every task has ended after `close`; the fallback only keeps one from being lost.
            state: slot.state.unwrap_or(State::Cancelled),
            needs: slot.needs,
        });
        Outcome::new(ended.collect(), self.cycles, self.exhausted)
    }
}
