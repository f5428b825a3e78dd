//! The Skaffold dialect.

pub mod write;
pub mod deploy;
pub mod build;
pub mod configure;
pub mod source;
pub mod dialect;
pub mod entities;
pub mod inner;
mod names;
pub mod profile;
pub mod rules;
pub mod template;
mod upgrade;
pub mod validate;
mod value;
pub mod walk;

pub use write::{edit, emit, fix, inspect, json_schema};
use write::{rewrite};
pub use deploy::{helm, render, unapplied, unrendered};
use deploy::{objects, releases, transform};
pub use build::{artifacts, image, input_digest, keys, tag};
use build::{dockerfile, glob};
pub use configure::{environment, setters};
use configure::{check, defaults, merge, modules, paths};
pub use source::{editions, forest, item, load, remote, requires, view};
pub use dialect::DIALECT;
