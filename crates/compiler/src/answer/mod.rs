//! Answers about resolved projects: origins, dependents, differences, names, and their machine-readable forms.

pub(crate) mod affects;
pub(crate) mod diff;
pub(crate) mod entry;
pub(crate) mod inputs;
pub(crate) mod made;
pub(crate) mod matching;
pub(crate) mod names;
pub(crate) mod output;
pub(crate) mod why;
