//! The entity-table vocabulary and the engines that read it; and what a dialect is.
//!
//! Knows values and trees, and no dialect.

pub mod check;
mod contract;
pub mod defaults;
pub mod describe;
pub mod dialect;
mod guard;
mod handle;
mod hierarchy;
pub mod inherit;
pub mod instance;
mod json_schema;
pub mod link;
pub mod named;
pub mod project;
pub mod read;
pub mod rules;
pub mod schema;

pub use defaults::{Defaults, Values};
pub use dialect::{Answer, Dialect, Question, Recognised};
pub use guard::guard;
pub use handle::NodeRef;
pub use hierarchy::Hierarchy;
pub use inherit::{Inheritance, Inherited};
pub use instance::{Content, Instance, Slot};
pub use json_schema::json_schema;
pub use link::{EntityId, Found, Links, Namespace, Registry};
pub use named::{Named, NamedMap};
pub use project::{Dependency, Manifest, Node, Request, Resolved, SetFlag, SetKind};
pub use read::{Place, Reader};
pub use schema::{Edition, Entity, Field, Kind, Literal, Merge, Schema, Shape, entity, field};
