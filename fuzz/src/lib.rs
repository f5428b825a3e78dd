//! Feeds mutated inputs to every reader.
