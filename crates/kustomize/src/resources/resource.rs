//! A resource during a build, with its earlier identities.

use crate::edit::{map, set, take, text, visit};
use crate::identity::{Gvk, Id, NO_NAMESPACE};
use crate::names::scalar_text;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::{Data, Value};
use std::collections::HashSet;

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its content.
    pub value: Value,
    /// The file it is from.
    pub source: EcoString,
    /// Its earlier identities, oldest first.
    pub before: Vec<Id>,
    /// Prefixes its name got, oldest first.
    pub prefixes: Vec<EcoString>,
    /// Suffixes its name got, oldest first.
    pub suffixes: Vec<EcoString>,
    /// Variables that read it.
    pub vars: Vec<EcoString>,
    /// Its origin, if noted.
    pub origin: Option<String>,
    /// Its changes, if noted.
    pub changes: Vec<String>,
    /// Whether it was generated.
    pub generated: bool,
    /// Whether its name gets a digest of its content.
    pub hashed: bool,
    /// The location of its name, if names are noted.
    pub named_at: Option<Span>,
}

impl Resource {
    /// A resource as it was read.
    pub fn new(value: Value, source: EcoString) -> Self {
        Resource {
            value,
            source,
            before: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            vars: Vec::new(),
            origin: None,
            changes: Vec::new(),
            generated: false,
            hashed: false,
            named_at: None,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        text(&self.value, &["kind"])
    }

    /// Its API group; empty for the core.
    pub fn group(&self) -> &str {
        text(&self.value, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group)
    }

    /// Its API version without the group.
    pub fn version(&self) -> &str {
        let whole = text(&self.value, &["apiVersion"]);
        whole.split_once('/').map_or(whole, |(_, version)| version)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        text(&self.value, &["metadata", "name"])
    }

    /// Its namespace; empty if it has none.
    pub fn namespace(&self) -> &str {
        text(&self.value, &["metadata", "namespace"])
    }

    /// Its group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::of(text(&self.value, &["apiVersion"]), self.kind())
    }

    /// Its current identity.
    pub fn id(&self) -> Id {
        let namespace = match self.namespace() {
            _ if self.gvk().is_cluster_wide() => NO_NAMESPACE,
            "" => "default",
            namespace => namespace,
        };
        Id { kind: self.kind().into(), name: self.name().into(), namespace: namespace.into() }
    }

    /// Its first identity.
    pub fn first_id(&self) -> Id {
        self.before.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Its group and version with the kind it had at first.
    pub fn first_gvk(&self) -> Gvk {
        Gvk { kind: self.first_id().kind, ..self.gvk() }
    }

    /// Its earlier identities and the current one.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        self.before.iter().cloned().chain([self.id()])
    }

    /// Whether it has or had the identity of another.
    pub fn answers_to(&self, gvk: &Gvk, id: &Id) -> bool {
        // Most differ in their name.
        if self.name() != id.name && !self.before.iter().any(|known| known.name == id.name) {
            return false;
        }
        let own = self.gvk();
        own.group == gvk.group && own.version == gvk.version && self.ids().any(|known| known == *id)
    }

    /// Records its identity before a change.
    pub fn remember(&mut self) {
        let now = self.id();
        self.before.push(now);
    }

    /// Whether the original keeps notes about it, which it does in annotations.
    pub fn has_notes(&self) -> bool {
        self.generated
            || self.origin.is_some()
            || !self.before.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
    }

    /// A part of its metadata.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.value.get("metadata").and_then(|metadata| metadata.get(key))
    }

    /// Sets a part of its metadata as another resource has it, or takes it away.
    pub fn set_metadata_like(&mut self, key: &str, other: Option<&Value>) {
        visit(&mut self.value, &["metadata"], other.is_some(), &mut |metadata| match other {
            Some(value) => set(metadata, key, value.clone()),
            None => {
                take(metadata, key);
            }
        });
    }

    /// Removes empty annotations: the original keeps notes among them, and removes them after the build.
    pub fn drop_empty_annotations(&mut self) {
        let written = self.value.get("metadata").and_then(|metadata| metadata.get("annotations"));
        let is_empty = |value: &Value| value.is_null() || value.as_map().is_some_and(|map| map.is_empty());
        if written.is_some_and(is_empty) {
            visit(&mut self.value, &["metadata"], false, &mut |metadata| {
                take(metadata, "annotations");
            });
        }
    }

    /// Converts its annotations to strings: the original reads all of them as such, to keep its notes among them.
    pub fn write_annotations_as_strings(&mut self) {
        let is_plain = |value: &Value| value.as_str().is_none() && (value.is_null() || scalar_text(value).is_some());
        if !self.metadata("annotations").and_then(Value::as_map).is_some_and(|map| map.values().any(is_plain)) {
            return;
        }
        visit(&mut self.value, &["metadata", "annotations"], false, &mut |annotations| {
            for value in map(annotations).values_mut().filter(|value| is_plain(value)) {
                let text = scalar_text(value).unwrap_or_default();
                value.data = Data::Str(text);
            }
        });
    }

    /// Adds empty annotations if missing, as long as the resource is being changed.
    pub fn have_annotations(&mut self) {
        visit(&mut self.value, &["metadata", "annotations"], true, &mut |annotations| {
            map(annotations);
        });
    }
}

/// A resource that is called as one before it.
pub fn duplicate(resources: &[Resource]) -> Option<&Resource> {
    let mut known = HashSet::with_capacity(resources.len());
    resources.iter().find(|resource| {
        let gvk = resource.gvk();
        !known.insert((gvk.group, gvk.version, resource.id()))
    })
}
