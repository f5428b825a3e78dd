//! The façade: the list of dialects, the phase pipeline, why and diff.
