//! Helm charts and Metachart charts: loading, values, rendering, manifests.

mod again;
mod dialect;
mod findings;
pub mod inner;
pub mod input;
pub mod lint;
pub mod metachart;
mod names;
pub mod packed;
pub mod release;
pub mod rendering;
mod rules;
pub mod show;
pub mod source;
pub mod trial;
pub mod value_page;
mod value_types;

pub use dialect::{DIALECT, resolve_chart};
pub use entities::SCHEMA;
use findings::{checks, report, unread, unset, unused, words};
pub use input::{dependencies, given, strvals};
use input::{schema, schema_file, values};
use rendering::trace;
pub use rendering::{capabilities, context, edition, engine, guessable, manifest, template};
pub use source::{archive, chart, json, json_schema, load, repository, yaml};
use source::{ci, entities, files, ignore, metadata, nearby};
