//! The Skaffold dialect.

mod again;
pub mod build;
pub mod configure;
pub mod deploy;
pub mod dialect;
pub mod entities;
pub mod inner;
mod names;
pub mod profile;
pub mod rules;
pub mod source;
pub mod template;
mod upgrade;
pub mod validate;
mod value;
pub mod walk;
pub mod write;

pub use build::{artifacts, image, input_digest, keys, tag};
use build::{dockerfile, glob};
use configure::{check, defaults, merge, modules, paths};
pub use configure::{environment, setters};
pub use deploy::{helm, render, unapplied, unrendered};
use deploy::{objects, releases, transform};
pub use dialect::DIALECT;
pub use source::{editions, forest, item, load, remote, requires, view};
use write::rewrite;
pub use write::{edit, emit, fix, inspect, json_schema};
