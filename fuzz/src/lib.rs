//! Feeds mutated inputs to every reader.
//!
//! A [`targets::Target`] is a function of bytes that must not panic, overflow its stack or run forever. A worker
//! process mutates inputs and calls it on a thread with the stack that the program uses; a supervisor starts workers,
//! notices when one dies, and keeps the input that caused it. See README.md.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

pub mod arguments;
pub mod corpus;
pub mod findings;
pub mod mutate;
pub mod programs;
pub mod random;
pub mod shrink;
pub mod supervise;
pub mod targets;
pub mod worker;
