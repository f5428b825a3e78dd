//! The extensions of a host such as `unfurl` to the notation of values.
//!
//! The host's calls and template strings are kept as calls: this crate never looks into them, so that static checks
//! skip what only the host can know. The host evaluates them and hands the results back to be checked. A host's
//! extensions of TOSCA 1.3 are in the table, as the extended edition.

use crate::profile::Embedded;
use purlin_syntax::Diagnostic;
use purlin_value::Session;

/// The name under which template strings are kept as calls.
pub const TEMPLATE: &str = "template string";

/// The extensions of a host.
#[derive(Debug)]
pub struct Host {
    /// Whether a map with this key and this number of keys is a call of the host.
    pub is_call: fn(&str, usize) -> bool,
    /// Whether a text is a template.
    pub is_template: fn(&str) -> bool,
    /// Interfaces that every type has without declaring them, with their types; without a type, any operation may be
    /// written there.
    pub interfaces: &'static [(&'static str, Option<&'static str>)],
    /// Repositories that come with the host.
    pub repositories: &'static [Repository],
    /// The YAML equivalent of a Python file, or why it is not known.
    pub python: fn(&Session, &str) -> Result<String, Box<Diagnostic>>,
}

/// A repository that is part of the program.
#[derive(Debug)]
pub struct Repository {
    /// The name that imports use.
    pub name: &'static str,
    /// Its files, by their paths within it.
    pub files: &'static [(&'static str, Embedded)],
}

impl Host {
    /// The interface of this name that every type has, and its type.
    pub fn interface(&self, name: &str) -> Option<Option<&'static str>> {
        self.interfaces.iter().find(|(known, _)| *known == name).map(|(_, interface_type)| *interface_type)
    }

    /// A repository by name.
    pub fn repository(&self, name: &str) -> Option<&'static Repository> {
        self.repositories.iter().find(|repository| repository.name == name)
    }
}
