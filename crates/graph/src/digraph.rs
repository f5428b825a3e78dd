//! Plain algorithms on graphs that are known in advance.
//!
//! An edge from `a` to `b` means that `a` depends on `b`. Everything is iterative, linear, and depends only on the
//! order of insertion or on the order of keys, never on hashing.

use crate::outcome::Cycle;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A graph whose nodes are numbered in the order of their insertion.
#[derive(Clone, Debug)]
pub struct Digraph<K> {
    keys: Vec<K>,
    index: HashMap<K, usize, foldhash::fast::RandomState>,
    needs: Vec<Vec<usize>>,
}

impl<K> Default for Digraph<K> {
    fn default() -> Self {
        Digraph { keys: Vec::new(), index: HashMap::default(), needs: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash + Ord> Digraph<K> {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a node, which is added if it is new.
    pub fn add(&mut self, key: K) -> usize {
        if let Some(&at) = self.index.get(&key) {
            return at;
        }
        let at = self.keys.len();
        self.index.insert(key.clone(), at);
        self.keys.push(key);
        self.needs.push(Vec::new());
        at
    }

    /// Adds a dependency of `from` on `to`; either is added if it is new. Repeating it changes nothing but memory.
    pub fn connect(&mut self, from: K, to: K) {
        let from = self.add(from);
        let to = self.add(to);
        self.needs[from].push(to);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The nodes in the order of their insertion.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The same nodes with every edge reversed, to find dependents.
    pub fn reversed(&self) -> Self {
        let mut needs = vec![Vec::new(); self.keys.len()];
        for (from, tos) in self.needs.iter().enumerate() {
            for &to in tos {
                needs[to].push(from);
            }
        }
        Digraph { keys: self.keys.clone(), index: self.index.clone(), needs }
    }

    /// Everything reachable from `roots`, themselves included, depth first: each node after its dependencies, which
    /// are visited in the order of their insertion. Cycles are entered at the first member found and cut there.
    pub fn depth_first<'a>(&'a self, roots: impl IntoIterator<Item = &'a K>) -> Vec<&'a K> {
        let mut seen = vec![false; self.len()];
        let mut order = Vec::new();
        for root in roots {
            let Some(&root) = self.index.get(root) else { continue };
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((at, next)) = path.last_mut() {
                match self.needs[*at].get(*next) {
                    Some(&to) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[to], true) {
                            path.push((to, 0));
                        }
                    }
                    None => {
                        order.push(&self.keys[*at]);
                        path.pop();
                    }
                }
            }
        }
        order
    }

    /// Everything reachable from `roots`, themselves included, in the order of insertion.
    pub fn reachable<'a>(&'a self, roots: impl IntoIterator<Item = &'a K>) -> Vec<&'a K> {
        let mut seen = vec![false; self.len()];
        let mut open: Vec<usize> = roots.into_iter().filter_map(|root| self.index.get(root).copied()).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(self.needs[at].iter().filter(|&&to| !seen[to]));
            }
        }
        self.keys.iter().zip(seen).filter_map(|(key, seen)| seen.then_some(key)).collect()
    }

    /// One shortest cycle for each component that has one, from its smallest key, sorted by that key.
    pub fn cycles(&self) -> Vec<Cycle<K>> {
        let mut component_of = vec![0; self.len()];
        let components = strong_components(&self.needs);
        for (number, component) in components.iter().enumerate() {
            for &at in component {
                component_of[at] = number;
            }
        }
        let mut cycles: Vec<Cycle<K>> =
            components.iter().filter_map(|component| self.way_round(component, &component_of)).collect();
        cycles.sort_by(|a, b| a.path.cmp(&b.path));
        cycles
    }

    /// A shortest path from the smallest node of a component back to itself.
    fn way_round(&self, component: &[usize], component_of: &[usize]) -> Option<Cycle<K>> {
        let &start = component.iter().min_by_key(|&&at| &self.keys[at])?;
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            let inside = |to: &&usize| component_of[**to] == component_of[start];
            let mut next: Vec<usize> = self.needs[at].iter().filter(inside).copied().collect();
            next.sort_by_key(|&to| &self.keys[to]);
            for to in next {
                if to == start {
                    let mut path: Vec<K> = Vec::new();
                    let mut back = Some(at);
                    while let Some(at) = back {
                        path.push(self.keys[at].clone());
                        back = came_from.get(&at).copied();
                    }
                    path.reverse();
                    let mut members: Vec<K> = component.iter().map(|&at| self.keys[at].clone()).collect();
                    members.sort();
                    return Some(Cycle { path, members });
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(to) {
                    entry.insert(at);
                    open.push_back(to);
                }
            }
        }
        None
    }
}

/// Tarjan's algorithm with an explicit stack instead of recursion.
fn strong_components(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; needs.len()];
    let mut lowest = vec![0; needs.len()];
    let mut on_stack = vec![false; needs.len()];
    let mut stack = Vec::new();
    let mut components = Vec::new();
    let mut count = 0;
    for root in 0..needs.len() {
        if number[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if number[at] == UNSEEN {
                number[at] = count;
                lowest[at] = count;
                count += 1;
                on_stack[at] = true;
                stack.push(at);
            }
            if let Some(&to) = needs[at].get(*next) {
                *next += 1;
                if number[to] == UNSEEN {
                    path.push((to, 0));
                } else if on_stack[to] {
                    lowest[at] = lowest[at].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                lowest[parent] = lowest[parent].min(lowest[at]);
            }
            if lowest[at] == number[at] {
                let begins = stack.iter().rposition(|&member| member == at).unwrap_or(0);
                let mut component = stack.split_off(begins);
                component.iter().for_each(|&member| on_stack[member] = false);
                component.sort_unstable();
                components.push(component);
            }
        }
    }
    components
}
