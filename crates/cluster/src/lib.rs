//! Deploys objects to Kubernetes over its API: kubeconfig, server-side apply, inventory, waits, hooks.
//!
//! [`kubeconfig`] selects the cluster, [`client`] communicates with it, [`deploy`] is the only way to deploy charts,
//! manifests and kustomizations. Nothing here knows dialects, actions or arguments; a caller passes plain objects and
//! gets plain answers.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // Tests make the files that they read.

pub mod apply;
mod connect;
mod delete;
pub mod deploy;
pub mod diff;
mod hooks;
mod inventory;
mod object;
mod pods;
pub mod ready;
pub mod release;
pub mod secrets;
pub mod stand_in;
pub mod state;
pub mod stream;
mod wait;

#[cfg(feature = "net")]
use connect::net;
pub use connect::{client, foreign, kubeconfig, wire};
use connect::{discovery, error, exec, hidden, path};
use pods::explain;
pub use pods::{logs, pod};

pub use client::Client;
pub use deploy::{Deployment, deploy};
pub use error::ApiError;
pub use kubeconfig::{Access, Wanted};
pub use object::{Id, Object};
