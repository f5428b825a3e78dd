//! The list of targets: a function of bytes each, with seeds and words of its language.

mod archives;
mod dialects;
mod languages;
mod programs;
mod remote;
mod text;

use std::hash::{DefaultHasher, Hash, Hasher};

/// A function that takes untrusted bytes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The tested function.
    pub summary: &'static str,
    /// Must not panic, overflow or run forever. Returns a number that is equal for inputs with the same kind of
    /// outcome.
    pub run: fn(&[u8]) -> u64,
    /// Initial inputs.
    pub seeds: &'static [&'static str],
    /// Words with a meaning.
    pub words: &'static [&'static str],
    /// Areas of the suite whose files are initial inputs.
    pub suite: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    text::YAML,
    text::JSON,
    text::WRITE,
    text::MERGE,
    text::LOCK,
    text::PATH,
    languages::GARDEN_EXPRESSION,
    languages::GO_TEMPLATE,
    languages::UNFURL_EXPRESSION,
    languages::JINJA,
    languages::STRVALS,
    archives::CSAR,
    archives::CHART_ARCHIVE,
    remote::MESSAGES,
    remote::TREE,
    dialects::GARDEN_PROJECT,
    dialects::SKAFFOLD_PROJECT,
    dialects::TOSCA_SERVICE,
    dialects::UNFURL_ENSEMBLE,
    dialects::CHART,
    programs::GARDEN,
    programs::SKAFFOLD,
    programs::TOSCA,
    programs::UNFURL,
    programs::CHARTS,
    programs::KUSTOMIZE,
];

/// The number for an outcome.
fn kind_of(outcome: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.hash(&mut hasher);
    hasher.finish()
}

/// Similar sizes are of the same kind.
fn about(size: usize) -> u32 {
    usize::BITS - size.leading_zeros()
}

/// A message without quotations from the input.
fn plain(message: &str) -> String {
    message.split('`').step_by(2).collect()
}
