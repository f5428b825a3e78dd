//! The resources of a build: gathered or generated, identified, selected, ordered.

pub(crate) mod generate;
pub(crate) mod helm;
pub(crate) mod identity;
pub(crate) mod index;
pub(crate) mod keyed;
pub(crate) mod notes;
pub(crate) mod order;
pub(crate) mod plugins;
pub(crate) mod resource;
pub(crate) mod select;
