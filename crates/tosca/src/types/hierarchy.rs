//! Phase 3, hierarchies: which type derives from which, without cycles, and "is it one of those?" in two comparisons.
//!
//! Every type gets an interval; a type is derived from another if its interval is within the other's.

use crate::entities;
use crate::names::{DeclId, Names};
use crate::problem::Problems;
use crate::rules;
use ecow::EcoString;
use purlin_graph::Digraph;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;
use std::collections::{HashMap, HashSet};

/// The slot of a type's further parents.
pub(crate) const MIXINS: &str = "mixins";

/// The hierarchies of all kinds of types.
#[derive(Debug, Default)]
pub struct Hierarchy {
    parents: Vec<Option<DeclId>>,
    spans: Vec<(u32, u32)>,
    broken: Vec<bool>,
    /// Further parents, of the few types that have any.
    mixins: HashMap<DeclId, Vec<DeclId>>,
    /// Ranks of types, with parents of all sorts first; empty unless some have further parents.
    places: HashMap<DeclId, usize>,
    /// Whether a type or one of its first parents has further parents.
    mixed: Vec<bool>,
    /// Types in an order with parents before their children.
    pub order: Vec<DeclId>,
}

impl Hierarchy {
    /// The type that a type derives from.
    pub fn parent(&self, id: DeclId) -> Option<DeclId> {
        self.parents.get(id.index()).copied().flatten()
    }

    /// Whether a type is another one or derives from it.
    pub fn is_a(&self, id: DeclId, ancestor: DeclId) -> bool {
        let (Some(own), Some(outer)) = (self.spans.get(id.index()), self.spans.get(ancestor.index())) else {
            return false;
        };
        id == ancestor || (outer.0 < own.0 && own.1 < outer.1) || self.is_mixed_in(id, ancestor)
    }

    /// Whether a type has another one among its further parents, or theirs.
    fn is_mixed_in(&self, id: DeclId, ancestor: DeclId) -> bool {
        if !self.mixed.get(id.index()).copied().unwrap_or(false) {
            return false;
        }
        let mut seen = HashSet::new();
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            if id == ancestor {
                return true;
            }
            if seen.insert(id) {
                next.extend(self.parent(id));
                next.extend_from_slice(self.mixins(id));
            }
        }
        false
    }

    /// The parents of a type after its first.
    pub fn mixins(&self, id: DeclId) -> &[DeclId] {
        self.mixins.get(&id).map_or(&[], |mixins| mixins.as_slice())
    }

    /// Whether a type cannot be completed because of a cycle or a missing parent.
    pub fn is_broken(&self, id: DeclId) -> bool {
        self.broken.get(id.index()).copied().unwrap_or(true)
    }

    /// The further parents from which a type inherits. They may form a cycle, which is cut where it is met first.
    pub fn sources(&self, id: DeclId) -> impl Iterator<Item = DeclId> {
        let place = |id: DeclId| self.places.get(&id).copied();
        self.mixins(id).iter().copied().filter(move |mixin| place(*mixin) < place(id))
    }

    /// Removes a type's parent, because it closes a cycle.
    fn cut(&mut self, id: DeclId) {
        if let (Some(parent), Some(broken)) = (self.parents.get_mut(id.index()), self.broken.get_mut(id.index())) {
            *parent = None;
            *broken = true;
        }
    }

    /// A type and its ancestors, nearest first.
    pub fn lineage(&self, id: DeclId) -> impl Iterator<Item = DeclId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }
}

/// Places every type.
pub fn place(names: &Names, problems: &mut Problems) -> Hierarchy {
    let count = names.decls.len();
    let mut hierarchy = Hierarchy {
        parents: vec![None; count],
        spans: vec![(0, 0); count],
        broken: vec![false; count],
        mixins: HashMap::new(),
        places: HashMap::new(),
        mixed: vec![false; count],
        order: Vec::with_capacity(count),
    };
    for (index, decl) in names.decls.iter().enumerate() {
        let Some(parent) = decl.entity.text("derived_from") else { continue };
        let found = names.find(parent.span.file, decl.kind, &parent.text);
        let further = decl.entity.texts(MIXINS).iter();
        let mixins: Vec<DeclId> =
            further.filter_map(|name| names.find(name.span.file, decl.kind, &name.text)).collect();
        if !mixins.is_empty() {
            hierarchy.mixins.insert(DeclId(u32::try_from(index).unwrap_or(u32::MAX)), mixins);
        }
        if let Some(slot) = hierarchy.parents.get_mut(index) {
            *slot = found;
        }
        if found.is_none()
            && let Some(broken) = hierarchy.broken.get_mut(index)
        {
            *broken = true; // the unknown name is reported with all others
        }
    }
    label(&mut hierarchy);
    if hierarchy.order.len() < count {
        cut_rings(names, &mut hierarchy, problems);
    }
    if !hierarchy.mixins.is_empty() {
        hierarchy.places = places(&hierarchy);
    }
    for id in hierarchy.order.clone() {
        let inherited = hierarchy.parent(id).and_then(|parent| hierarchy.mixed.get(parent.index()).copied());
        let own = hierarchy.mixins.contains_key(&id);
        if let Some(mixed) = hierarchy.mixed.get_mut(id.index()) {
            *mixed = own || inherited.unwrap_or(false);
        }
    }
    hierarchy
}

/// Reports every cycle with its full path and removes its members' parents.
fn cut_rings(names: &Names, hierarchy: &mut Hierarchy, problems: &mut Problems) {
    let mut graph = Digraph::new();
    for (child, parent) in hierarchy.parents.iter().enumerate() {
        let child = DeclId(u32::try_from(child).unwrap_or(u32::MAX));
        parent.iter().for_each(|parent| graph.connect(child, *parent));
    }
    let mut incomplete = Vec::new();
    for cycle in graph.cycles() {
        report_ring(names, &cycle.path, problems);
        cycle.members.iter().for_each(|id| hierarchy.cut(*id));
        incomplete.extend_from_slice(&cycle.members);
    }
    label(hierarchy);
    let mut incomplete: HashSet<DeclId> = incomplete.into_iter().collect();
    for id in &hierarchy.order {
        if let Some(parent) = hierarchy.parent(*id).filter(|parent| incomplete.contains(parent)) {
            report_incomplete(names, *id, parent, problems);
            incomplete.insert(*id);
        }
    }
}

/// Reports a type whose parent is in a cycle, or derives from one that is.
fn report_incomplete(names: &Names, id: DeclId, parent: DeclId, problems: &mut Problems) {
    let (Some(decl), Some(parent)) = (names.decl(id), names.decl(parent)) else { return };
    let message = format!(
        "the {} `{}` derives from `{}`, which is incomplete",
        entities::label(decl.kind),
        decl.name,
        parent.name
    );
    let diagnostic = Diagnostic::at(&rules::INCOMPLETE, decl.entity.at, message);
    problems.push(diagnostic.label(parent.entity.at, "its own parent cannot be known"));
}

/// Ranks of types, with all parents first, as far as possible.
fn places(hierarchy: &Hierarchy) -> HashMap<DeclId, usize> {
    let mut graph = Digraph::new();
    for id in &hierarchy.order {
        graph.add(*id);
        for parent in hierarchy.parent(*id).into_iter().chain(hierarchy.mixins(*id).iter().rev().copied()) {
            graph.connect(*id, parent);
        }
    }
    let order = graph.depth_first(&hierarchy.order);
    order.into_iter().enumerate().map(|(place, id)| (*id, place)).collect()
}

/// Reports types that derive from each other.
pub(crate) fn report_ring(names: &Names, ring: &[DeclId], problems: &mut Problems) {
    let members: Vec<_> = ring.iter().filter_map(|id| names.decl(*id)).collect();
    let Some(first) = members.iter().position(|decl| members.iter().all(|other| decl.entity.at <= other.entity.at))
    else {
        return;
    };
    let turned: Vec<_> = members.iter().cycle().skip(first).take(members.len() + 1).collect();
    let path: Vec<EcoString> = turned.iter().map(|decl| ecow::eco_format!("`{}`", decl.name)).collect();
    let Some(start) = turned.first() else { return };
    let message = what::cycle(path).under(format!("circular derivation of {}s: ", entities::label(start.kind)));
    let mut diagnostic = Diagnostic::at(&rules::TYPE_LOOP, start.entity.at, message);
    for decl in members.iter().filter(|decl| decl.entity.at != start.entity.at) {
        diagnostic = diagnostic.label(decl.entity.place("derived_from"), "through here");
    }
    problems.push(diagnostic);
}

/// Numbers the forest, parents around their children; children of broken types are broken too.
fn label(hierarchy: &mut Hierarchy) {
    let count = hierarchy.parents.len();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut roots = Vec::new();
    for (index, parent) in hierarchy.parents.iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        match parent.and_then(|parent| children.get_mut(parent.index())) {
            Some(siblings) => siblings.push(index),
            None => roots.push(index),
        }
    }
    let mut clock = 0;
    hierarchy.order.clear();
    for root in roots {
        let mut stack = vec![(root, false)];
        while let Some((at, leaving)) = stack.pop() {
            clock += 1;
            let Some(span) = hierarchy.spans.get_mut(at as usize) else { continue };
            if leaving {
                span.1 = clock;
                continue;
            }
            span.0 = clock;
            hierarchy.order.push(DeclId(at));
            let inherited = hierarchy.parent(DeclId(at)).is_some_and(|parent| hierarchy.is_broken(parent));
            if let Some(broken) = hierarchy.broken.get_mut(at as usize) {
                *broken |= inherited;
            }
            stack.push((at, true));
            stack.extend(children.get(at as usize).into_iter().flatten().rev().map(|child| (*child, false)));
        }
    }
}
