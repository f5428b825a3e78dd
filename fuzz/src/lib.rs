//! Feeds mutated inputs to every reader.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.
