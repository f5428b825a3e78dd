//! Packages of a built binary: archives, `.deb`, `.rpm`, Python wheels, npm packages, formulas, checksums and a bill of materials.
//!
//! Packing is a function of the binary and the repository: the same input gives the same bytes, in any folder, at any time.
//! It builds nothing and sends nothing.

#![allow(clippy::disallowed_methods)] // A tool of the repository: it reads and writes files and runs the binary it packs.

pub mod contents;
pub mod lists;
pub mod packages;
pub mod packed;
pub mod target;
