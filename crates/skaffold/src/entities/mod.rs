//! The schema as one table: every struct of every edition, one row per key.
//!
//! Reading, checking, overlaying, defaults, path rewriting, templates, writing and the JSON schema are all readers of
//! these rows. The row type is Skaffold's own because its columns (one-of set, path, template, written when empty)
//! have no counterpart in the shared vocabulary. The table must not know any phase.

pub mod artifact;
pub mod build;
pub mod config;
pub mod deploy;
pub mod hooks;
pub mod legacy;
pub mod run;

use crate::editions::{Edition, FOUNDING, V1ALPHA1};

/// What may be written under a key. `Opt…` and `Maybe` remember that a key was written even when its value is empty.
#[derive(Clone, Copy)]
pub enum Shape {
    /// A string; numbers and switches are taken as they are written.
    Text,
    /// A string that may be empty on purpose.
    OptText,
    /// A switch that is off unless set.
    Bool,
    /// A switch with a third state, "not set".
    OptBool,
    /// A whole number that is 0 unless set.
    Int,
    /// A whole number that may be 0 on purpose.
    OptInt,
    /// A port: a number or a name.
    Port,
    /// A list of strings.
    Texts,
    /// A map of strings.
    TextMap,
    /// A map of strings that may be null.
    OptTextMap,
    /// Nested values that are kept as one flat map of strings.
    Flat,
    /// Anything.
    Any,
    /// A section that is always there, perhaps empty.
    One(&'static Entity),
    /// A section whose presence means something, even empty.
    Maybe(&'static Entity),
    /// A list of sections.
    Many(&'static Entity),
    /// A list of sections that may be empty on purpose.
    OptMany(&'static Entity),
}

/// One row: everything that is known about one key.
#[derive(Clone, Copy)]
pub struct Field {
    /// The key as users write it.
    pub key: &'static str,
    /// What may stand under it.
    pub shape: Shape,
    /// Must be set in a valid configuration.
    pub required: bool,
    /// Name of the set of which at most one key may be used; empty for none.
    pub one_of: &'static str,
    /// Holds paths, which are taken relative to the file's directory.
    pub path: bool,
    /// Holds templates over environment variables.
    pub template: bool,
    /// Is written out even when empty.
    pub always: bool,
    /// Belongs to the founding design of modules, which the shipped tool refuses.
    pub founding: bool,
    /// What an absent key means; empty for nothing.
    pub default: &'static str,
    /// First edition with this row.
    pub since: Edition,
    /// First edition without this row.
    pub until: Edition,
    /// What the key is for, in one sentence.
    pub doc: &'static str,
}

/// A plain row; the builder methods below fill the rarer columns.
pub const fn field(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        key,
        shape,
        required: false,
        one_of: "",
        path: false,
        template: false,
        always: false,
        founding: false,
        default: "",
        since: V1ALPHA1,
        until: Edition::never(),
        doc,
    }
}

impl Field {
    /// Must be set in a valid configuration.
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
    /// At most one key of the set may be used.
    pub const fn one_of(mut self, set: &'static str) -> Self {
        self.one_of = set;
        self
    }
    /// Holds paths.
    pub const fn path(mut self) -> Self {
        self.path = true;
        self
    }
    /// Holds templates.
    pub const fn template(mut self) -> Self {
        self.template = true;
        self
    }
    /// Is written out even when empty.
    pub const fn always(mut self) -> Self {
        self.always = true;
        self
    }
    /// Belongs to the founding design.
    pub const fn founding(mut self) -> Self {
        self.founding = true;
        self.since = FOUNDING;
        self
    }
    /// What an absent key means.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = value;
        self
    }
    /// First edition with this row.
    pub const fn since(mut self, edition: Edition) -> Self {
        self.since = edition;
        self
    }
    /// First edition without this row.
    pub const fn until(mut self, edition: Edition) -> Self {
        self.until = edition;
        self
    }
    /// Whether the row belongs to an edition.
    pub fn is_in(&self, edition: Edition) -> bool {
        self.since <= edition && edition < self.until
    }
}

/// One struct of the format.
pub struct Entity {
    /// Its name, as messages of the original use it.
    pub name: &'static str,
    /// Its rows, in the order in which they are written out; shared rows are groups of their own.
    pub groups: &'static [&'static [Field]],
}

impl Entity {
    /// All rows of all editions.
    pub fn rows(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The rows of one edition, in writing order.
    pub fn fields(&self, edition: Edition) -> impl Iterator<Item = &'static Field> + use<> {
        self.rows().filter(move |row| row.is_in(edition))
    }

    /// The row of a key in one edition.
    pub fn field(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        self.rows().find(|row| row.key == key && row.is_in(edition))
    }
}

/// Objects of Kubernetes' own API, which are passed through as they are.
pub static KUBERNETES: Entity = Entity { name: "Kubernetes", groups: &[] };

impl Entity {
    /// Whether the contents are passed through unchecked.
    pub fn is_open(&self) -> bool {
        std::ptr::eq(self, &KUBERNETES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn reachable() -> Vec<&'static Entity> {
        let mut found: Vec<&'static Entity> = vec![&config::SKAFFOLD_CONFIG];
        let mut seen = HashSet::from(["SkaffoldConfig"]);
        let mut next = 0;
        while let Some(entity) = found.get(next).copied() {
            next += 1;
            for row in entity.rows() {
                if let Shape::One(e) | Shape::Maybe(e) | Shape::Many(e) | Shape::OptMany(e) = row.shape
                    && seen.insert(e.name)
                {
                    found.push(e);
                }
            }
        }
        found
    }

    #[test]
    fn keys_are_unique_in_every_edition() {
        for entity in reachable() {
            for edition in Edition::all() {
                let mut seen = HashSet::new();
                for row in entity.fields(edition) {
                    assert!(seen.insert(row.key), "{}.{} twice in {}", entity.name, row.key, edition.name());
                }
            }
        }
    }

    #[test]
    fn every_row_has_a_sentence() {
        for entity in reachable() {
            for row in entity.rows() {
                assert!(row.doc.ends_with('.') || row.doc.ends_with(')'), "{}.{}", entity.name, row.key);
            }
        }
    }

    #[test]
    fn the_newest_edition_has_every_published_field() {
        let rows: usize =
            reachable().iter().map(|e| e.fields(crate::editions::LATEST).filter(|f| !f.founding).count()).sum();
        // Shared groups are counted once per entity that embeds them, hence more than the 419 distinct fields.
        assert!(rows >= 419, "{rows}");
    }
}
