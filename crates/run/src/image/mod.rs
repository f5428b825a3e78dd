//! Container images: the inputs of a build, as plain data, and the tools that build them. Knows no dialect.

pub mod build;
pub mod builder;
pub mod name;

use crate::action::Command;
use crate::outputs::Outputs;
use std::path::PathBuf;

/// An image that an action builds.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The folder with its sources.
    pub context: PathBuf,
    /// Its Dockerfile.
    pub dockerfile: PathBuf,
    /// Its names, each with a tag.
    pub tags: Vec<String>,
    /// The stage to stop at.
    pub target: Option<String>,
    /// Build arguments; one without a value takes it from the environment.
    pub args: Vec<(String, Option<String>)>,
    /// Images whose layers are reused.
    pub cache_from: Vec<String>,
    /// Secrets that single instructions may read.
    pub secrets: Vec<Secret>,
    /// SSH agents or keys that single instructions may use.
    pub ssh: Vec<String>,
    /// The platforms it is built for; the builder's own if empty.
    pub platforms: Vec<String>,
    /// The network of its instructions.
    pub network: Option<String>,
    /// Further entries of the hosts file, `HOST:IP`.
    pub hosts: Vec<String>,
    /// Use no layer of an earlier build.
    pub no_cache: bool,
    /// Look for a newer base image.
    pub pull: bool,
    /// Join the new layers into one.
    pub squash: bool,
    /// Further options of the builder, as the user wrote them.
    pub flags: Vec<String>,
    /// The names that are pushed.
    pub push: Vec<String>,
    /// Registries that are reached without TLS.
    pub insecure: Vec<String>,
    /// A command that builds it, and pushes it if requested, instead of a builder.
    pub command: Option<Command>,
    /// Commands before it is built.
    pub before: Vec<Command>,
    /// Commands after it was built.
    pub after: Vec<Command>,
    /// Whether it is also named by its content: an output `tag` with its digest, or with its id if it is not pushed.
    pub is_pinned: bool,
    /// Outputs known before it is built.
    pub outputs: Outputs,
}

/// A secret of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The name that instructions use.
    pub id: String,
    /// Its value.
    pub value: SecretValue,
}

/// The source of a secret's value. It never becomes an argument of a command, which every user of the machine can see.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretValue {
    /// The value itself; the builder gets it as a file.
    Text(String),
    /// In a file.
    File(PathBuf),
    /// In an environment variable.
    Variable(String),
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SecretValue::Text(_) => f.write_str("Text(…)"),
            SecretValue::File(path) => f.debug_tuple("File").field(path).finish(),
            SecretValue::Variable(name) => f.debug_tuple("Variable").field(name).finish(),
        }
    }
}
