//! Pods: run once, followed, explained.

pub(crate) mod explain;
pub mod logs;
pub mod pod;
