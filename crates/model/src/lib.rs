//! The entity-table vocabulary and the engines that read it; and the interface of a dialect.
//!
//! Knows values and trees, and no dialect.

pub mod detect;
pub mod dialect;
pub mod glance;
pub mod inner;
mod options;
mod order;
pub mod project;
pub mod rules;
mod tables;
pub mod validate;

use tables::guard;
pub use tables::{check, describe, json_schema, kinds, schema, walk};

pub use detect::{Detection, Judged};
pub use dialect::{
    Answer, CheckApart, CheckTogether, Dialect, Kept, Question, Resumable, Resuming, Role, Sign, Together, Usual,
    Variant, Variants,
};
pub use glance::Glance;
pub use guard::guard;
pub use inner::{Ask, Engine, Engines};
pub use json_schema::json_schema;
pub use options::{ChartOptions, SetSource, SkaffoldOptions, ToscaOptions};
pub use order::INSTALL_ORDER;
pub use project::{
    Declared, Dependency, Evaluator, Manifest, Node, OwnPolicy, Plugin, PolicyRules, Request, Resolved, SetFlag,
    SetKind,
};
pub use schema::{Edition, Entity, Field, Kind, Literal, Merge, Schema, Shape, entity, field};
pub use walk::{Instance, Place, Slot};
