//! What is shown of a graph, and as text.

pub(crate) mod graph;
pub(crate) mod shown;
