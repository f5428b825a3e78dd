//! The revisions of releases: their records, kept in the cluster.

pub(crate) mod listed;
pub mod record;
pub(crate) mod store;
pub(crate) mod time;
