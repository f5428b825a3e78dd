//! Executes actions: processes, persistent results, logs, progress.
//!
//! [`engine`] runs a graph of actions through the solver; what an action is, is plain data ([`action`]) that a project
//! makes just before it runs. [`open`] lists what can be run and opens it. [`request`] is the seam to where an action
//! runs, [`executor`] runs commands on this machine, [`store`] is where results are kept. Nothing here knows arguments or
//! clap; only [`garden`], [`skaffold`], [`ensemble`], [`service`] and their rows in [`open`] know a dialect.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // Tests make the files that they read.

pub mod action;
mod apart;
mod deploys;
pub mod elsewhere;
pub mod ensemble;
pub mod event;
pub mod executor;
pub mod garden;
pub mod image;
pub mod local;
pub mod open;
mod outputs;
pub mod past;
pub mod report;
pub mod request;
mod schedule;
pub mod service;
pub mod skaffold;
pub mod stop;
pub mod store;
mod streams;
mod tool;
pub mod touched;

use deploys::pod;
pub use deploys::{cluster, objects};
use schedule::perform;
pub use schedule::{due, engine, plan, select, since, work};
pub use streams::{capture, follow, forwards, mask, tails, terminal};
