//! Files, spans, the YAML tree, YAML and JSON writers, diagnostics and limits.
//!
//! The lowest layer: it knows text, and nothing of values, dialects or the outside world.

pub mod diagnostic;
pub mod source;

pub use diagnostic::{Diagnostic, Label, Rule, RuleClass, Severity, Sink};
pub use source::{FileId, Position, Source, Span};
