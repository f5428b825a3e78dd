//! The way to a cluster: credentials, requests and their transport, kinds, errors.

pub mod client;
pub(crate) mod discovery;
pub(crate) mod error;
pub(crate) mod exec;
pub mod foreign;
pub(crate) mod hidden;
pub mod kubeconfig;
#[cfg(feature = "net")]
pub(crate) mod net;
pub(crate) mod path;
pub mod wire;
