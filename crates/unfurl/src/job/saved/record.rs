//! A job's record of an instance beside the tree: stored data, and values set since.

use crate::ensemble::nested::SAVED;
use crate::eval::show::REDACTED;
use crate::tree::{NodeId, NodeKind, Priority, Tree};
use crate::val::{Val, ValMap};
use ecow::{EcoString, eco_format};
use std::collections::HashMap;

/// The record of one instance.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Whether the ensemble had it before this job.
    pub stored: bool,
    /// The last change that was made to it.
    pub last_config_change: Option<EcoString>,
    /// The last observed change.
    pub last_state_change: Option<EcoString>,
    /// The change that created it, `false` if others did, or the party responsible for deleting it.
    pub created: Option<Val>,
    /// Whether it may not be deleted.
    pub protected: Option<Val>,
    /// The change that made it differ from its configuration.
    pub customized: Option<Val>,
    /// Its priority, if stored.
    pub priority: Option<Priority>,
    /// Attributes that operations have set or read.
    pub attributes: ValMap,
    /// Values of properties as they were read.
    pub properties: ValMap,
    /// The instance of another ensemble that it represents.
    pub imported: Option<Val>,
}

impl Record {
    /// The later one of its changes.
    pub(crate) fn last_change(&self) -> Option<&EcoString> {
        self.last_config_change.iter().chain(&self.last_state_change).max()
    }

    /// Whether it was created, as far as is known.
    pub(crate) fn is_created(&self) -> bool {
        self.created.as_ref().is_some_and(crate::python::truthy)
    }

    fn of(said: &Val) -> Record {
        let text = |key: &str| said.get(key).and_then(Val::as_str).map(EcoString::from);
        let values = |key: &str| said.get(key).and_then(Val::as_map).cloned().unwrap_or_default();
        let mut attributes = values("attributes");
        // Redacted values are computed again.
        attributes.retain(|_, value| value.as_str() != Some(REDACTED));
        Record {
            stored: true,
            last_config_change: text("lastConfigChange"),
            last_state_change: text("lastStateChange"),
            created: said.get("created").filter(|value| !value.is_null()).cloned(),
            protected: said.get("protected").filter(|value| !value.is_null()).cloned(),
            customized: said.get("customized").filter(|value| !value.is_null()).cloned(),
            priority: said.get("priority").and_then(Val::as_str).and_then(Priority::parse),
            attributes,
            properties: values("properties"),
            imported: said.get("imported").cloned(),
        }
    }
}

/// Records by instance.
#[derive(Debug, Default)]
pub struct Records(HashMap<NodeId, Record>);

impl Records {
    /// The stored records of the ensemble.
    pub fn read(tree: &Tree, document: &Val) -> Records {
        let mut out = HashMap::new();
        let all = document.get("status").and_then(|status| status.get("instances"));
        let mut open: Vec<(&Val, EcoString, usize)> = all.into_iter().map(|all| (all, EcoString::new(), 0)).collect();
        while let Some((instances, prefix, depth)) = open.pop() {
            for (name, said) in instances.as_map().into_iter().flatten() {
                let Some(name) = name.as_str() else { continue };
                let full = eco_format!("{prefix}{name}");
                let Some(id) = tree.by_name(&full) else { continue };
                out.insert(id, Record::of(said));
                for entry in said.get("requirements").and_then(Val::as_list).unwrap_or(&[]) {
                    for (name, said) in entry.as_map().into_iter().flatten() {
                        let mut own = tree.node(id).requirements.iter();
                        let found = own.find(|own| name.as_str() == Some(tree.node(**own).name.as_str()));
                        out.extend(found.map(|found| (*found, Record::of(said))));
                    }
                }
                if depth >= crate::limits::MAX_DEPTH {
                    continue;
                }
                open.extend(said.get("instances").map(|inner| (inner, prefix.clone(), depth + 1)));
                let within = said.get(SAVED).and_then(|saved| saved.get("instances"));
                open.extend(within.map(|inner| (inner, eco_format!("{full}:"), depth + 1)));
            }
        }
        // An instance that a user specifies exists before any job.
        let specified = document.get("spec").and_then(|spec| spec.get("instances")).and_then(Val::as_map);
        for (name, _) in specified.into_iter().flatten() {
            if let Some(id) = name.as_str().and_then(|name| tree.by_name(name)) {
                out.entry(id).or_insert_with(|| Record { stored: true, ..Record::default() });
            }
        }
        debug_assert!(
            out.keys()
                .all(|id| matches!(tree.node(*id).kind, NodeKind::Node | NodeKind::Relationship | NodeKind::Root))
        );
        Records(out)
    }

    /// The record of an instance; an empty one if unknown.
    pub fn of(&self, id: NodeId) -> Record {
        self.0.get(&id).cloned().unwrap_or_default()
    }

    /// The record of an instance, if something is known.
    pub fn get(&self, id: NodeId) -> Option<&Record> {
        self.0.get(&id)
    }

    /// The record of an instance, to be changed.
    pub fn edit(&mut self, id: NodeId) -> &mut Record {
        self.0.entry(id).or_default()
    }
}
