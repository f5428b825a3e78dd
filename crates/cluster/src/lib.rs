//! Deploys objects to Kubernetes over its API: kubeconfig, server-side apply, inventory, waits, hooks.
//!
//! [`kubeconfig`] selects the cluster, [`client`] communicates with it, [`deploy`] is the only way to deploy charts,
//! manifests and kustomizations. Nothing here knows dialects, actions or arguments; a caller passes plain objects and
//! gets plain answers.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // Tests make the files that they read.

pub mod apply;
pub mod client;
mod delete;
pub mod deploy;
pub mod diff;
mod discovery;
mod error;
mod exec;
mod explain;
pub mod foreign;
mod hidden;
mod hooks;
mod inventory;
pub mod kubeconfig;
pub mod logs;
#[cfg(feature = "net")]
mod net;
mod object;
mod path;
pub mod pod;
pub mod ready;
pub mod release;
pub mod secrets;
pub mod stand_in;
pub mod state;
pub mod stream;
mod wait;
pub mod wire;

pub use client::Client;
pub use deploy::{Deployment, deploy};
pub use error::ApiError;
pub use kubeconfig::{Access, Wanted};
pub use object::{Id, Object};
