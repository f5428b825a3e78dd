//! The Garden dialect.
