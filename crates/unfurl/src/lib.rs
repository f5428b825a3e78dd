//! The Unfurl dialect.
