//! The entity-table vocabulary and the engines that read it.
