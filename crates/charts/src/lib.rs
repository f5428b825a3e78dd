//! Helm charts and Metachart charts: loading, values, rendering, manifests.

mod findings;
pub mod rendering;
pub mod input;
pub mod source;
mod dialect;
pub mod inner;
pub mod lint;
pub mod metachart;
mod names;
pub mod packed;
pub mod release;
mod rules;
pub mod show;
pub mod trial;

use findings::{checks, report, unread, unset, unused, words};
pub use rendering::{capabilities, context, edition, engine, guessable, manifest, template};
use rendering::{trace};
pub use input::{dependencies, given, strvals};
use input::{schema, schema_file, values};
pub use source::{archive, chart, json, json_schema, load, repository, yaml};
use source::{ci, entities, files, ignore, metadata, nearby};
pub use dialect::{DIALECT, resolve_chart};
pub use entities::SCHEMA;
