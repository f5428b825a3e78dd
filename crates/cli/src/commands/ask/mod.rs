//! Commands that answer: values, origins, names, differences, pictures. They change nothing.

pub(crate) mod diff;
pub(crate) mod diff_cluster;
pub(crate) mod editor;
pub(crate) mod environment;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod graph;
pub(crate) mod names;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod why;
