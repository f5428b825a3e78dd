//! Who extends whom: a forest that answers "is this one of those?" at once.

use crate::link::EntityId;

/// The forest of parents. Entities whose parents go round in a circle stand outside of it.
#[derive(Debug)]
pub struct Hierarchy {
    parents: Vec<Option<EntityId>>,
    /// When each entity is entered and left on a walk through the forest; its descendants come in between.
    spans: Vec<Option<(u32, u32)>>,
}

impl Hierarchy {
    /// The forest in which each entity has the parent at its place.
    pub fn new(parents: Vec<Option<EntityId>>) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
        let mut open: Vec<Visit> = Vec::new();
        for (at, parent) in parents.iter().enumerate() {
            match parent.and_then(|parent| children.get_mut(parent.0 as usize)) {
                Some(siblings) => siblings.push(at),
                None => open.push(Visit::Enter(at)),
            }
        }
        let mut spans = vec![None; parents.len()];
        let mut clock = 0_u32;
        while let Some(visit) = open.pop() {
            match visit {
                Visit::Enter(at) => {
                    open.push(Visit::Leave(at, clock));
                    open.extend(children[at].iter().map(|&child| Visit::Enter(child)));
                }
                Visit::Leave(at, entered) => spans[at] = Some((entered, clock)),
            }
            clock = clock.saturating_add(1);
        }
        Hierarchy { parents, spans }
    }

    /// The parent of an entity.
    pub fn parent(&self, id: EntityId) -> Option<EntityId> {
        self.parents.get(id.0 as usize).copied().flatten()
    }

    /// The entity itself and its ancestors, the nearest first; each once, even in a circle.
    pub fn lineage(&self, id: EntityId) -> impl Iterator<Item = EntityId> {
        let in_forest = self.span(id).is_some();
        std::iter::successors(Some(id), move |&id| self.parent(id).filter(|_| in_forest))
    }

    /// Whether an entity is another one or extends it, at whatever distance.
    pub fn is_a(&self, id: EntityId, ancestor: EntityId) -> bool {
        if id == ancestor {
            return true;
        }
        match (self.span(id), self.span(ancestor)) {
            (Some((from, to)), Some((first, last))) => first <= from && to <= last,
            _ => false,
        }
    }

    fn span(&self, id: EntityId) -> Option<(u32, u32)> {
        self.spans.get(id.0 as usize).copied().flatten()
    }
}

enum Visit {
    Enter(usize),
    Leave(usize, u32),
}
