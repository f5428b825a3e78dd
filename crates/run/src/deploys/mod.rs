//! Kubernetes as work of actions: objects, pods, the choice of the cluster.

pub mod cluster;
pub mod objects;
pub(crate) mod pod;
