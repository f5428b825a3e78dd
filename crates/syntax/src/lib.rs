//! Files, spans, the YAML tree, YAML and JSON writers, diagnostics and limits.
//!
//! The lowest layer: it knows text, and nothing of values, dialects or the outside world.

pub mod calendar;
pub mod credentials;
pub mod format;
pub mod limits;
mod plain;
pub mod print;
mod read;
mod report;
pub mod rules;
pub mod scalar;
pub mod source;
pub mod sources;
pub mod tree;
pub mod write;

use read::{build, merge, mistake, outdent, yaml_mistake};
pub use read::{head, json, json_text, yaml};
use report::hint;
pub use report::{diagnostic, suggest, what};

pub use build::Properties;
pub use diagnostic::{
    About, Diagnostic, Findings, IGNORE_MARK, Label, Loses, Relation, Rule, RuleClass, Severity, Sink,
};
pub use head::{DocumentHead, Head};
pub use hint::{Edit, Hint, Meant};
pub use limits::{Limit, Limits};
pub use merge::{MergeKeys, Merged};
#[doc(hidden)]
pub use plain::compare;
pub use scalar::{Flavor, Scalar};
pub use source::{FileId, Position, Source, Span};
pub use sources::{Mark, Moved, Sources};
pub use tree::{Kind, Node, Style, Tree};
pub use what::{Message, What};
pub use yaml_mistake::YamlMistake;
