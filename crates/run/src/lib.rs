//! Executes actions: processes, persistent results, logs, progress.
//!
//! [`engine`] runs a graph of actions through the solver; what an action is, is plain data ([`action`]) that a project
//! makes just before it runs. [`open`] lists what can be run and opens it. [`request`] is the seam to where an action
//! runs, [`executor`] runs commands on this machine, [`store`] is where results are kept. Nothing here knows arguments or
//! clap; only [`garden`], [`skaffold`], [`ensemble`], [`service`] and their rows in [`open`] know a dialect.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // Tests make the files that they read.

pub mod action;
mod apart;
pub mod capture;
pub mod cluster;
pub mod due;
pub mod elsewhere;
pub mod engine;
pub mod ensemble;
pub mod event;
pub mod executor;
pub mod follow;
pub mod forwards;
pub mod garden;
pub mod image;
pub mod local;
pub mod mask;
pub mod objects;
pub mod open;
mod outputs;
pub mod past;
mod perform;
pub mod plan;
mod pod;
pub mod report;
pub mod request;
pub mod select;
pub mod service;
pub mod since;
pub mod skaffold;
pub mod stop;
pub mod store;
pub mod tails;
pub mod terminal;
mod tool;
pub mod touched;
pub mod work;
