//! The Skaffold dialect.
