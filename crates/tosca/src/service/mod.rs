//! A service as it is rendered: nodes from templates, inputs, operations, and what stays unused.

pub(crate) mod copy;
pub mod inner;
pub mod inputs;
pub(crate) mod multiply;
pub mod operate;
pub mod topology;
pub mod unused;
