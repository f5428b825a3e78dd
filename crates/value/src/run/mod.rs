//! One run: the session, its files, its world, what it costs.

pub mod archive;
pub(crate) mod common;
pub(crate) mod files;
pub mod lock;
pub mod meter;
pub(crate) mod recorded;
pub(crate) mod seed;
pub(crate) mod session;
pub mod stack;
pub mod tracked;
pub mod world;
