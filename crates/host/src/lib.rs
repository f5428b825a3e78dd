//! The one way to the machine: files below opened folders, the disk `World`, fetching, the user's own secret.
//!
//! Everything that a project names is opened below a folder that was opened before, so that no link leads out of it.
//! Knows nothing of commands, dialects and actions.

#![allow(clippy::disallowed_methods)] // This is where the outside is touched.

pub mod border;
pub mod bounded;
pub mod disk;
pub mod evaluator;
pub mod fetch;
pub mod folder;
pub mod named;
pub mod native;
mod network;
pub mod process;
mod program;
pub mod secret;
pub mod seed;
pub mod telemetry;

pub use network::{connection, loopback, serve};
