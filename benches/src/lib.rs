//! Generates large inputs and measures.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.
