//! Manifests: releases and files, rendered and changed as they are deployed.

pub mod helm;
pub(crate) mod objects;
pub(crate) mod releases;
pub mod render;
pub(crate) mod transform;
pub mod unapplied;
pub mod unrendered;
