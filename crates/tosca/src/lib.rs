//! The TOSCA dialect: 1.0 to 1.3 and 2.0.
//!
//! Phases, each a module, each with a result of its own type:
//!
//! | phase | module | gives |
//! |---|---|---|
//! | 1 read | [`load`], [`read`], [`archive`] | [`load::Files`] of [`entity::Entity`] |
//! | 2 names | [`names`], `namespace`, [`link`] | [`names::Names`] |
//! | 3 hierarchies | [`hierarchy`] | [`hierarchy::Hierarchy`], "is it one of those?" in two comparisons |
//! | 4 inheritance | [`inherit`], [`check`] | [`inherit::Types`], complete in themselves, sharing what they inherit |
//! | 5 rendering | [`render`] | [`topology::Topology`], typed, values unevaluated |
//! | 6 resolution | [`resolve`] | [`resolve::Resolution`], which capability meets which requirement |
//! | 7 evaluation | [`evaluate`] | values, coerced and validated |
//!
//! # For hosts
//!
//! A dialect built on this one (such as Unfurl) goes as far as phase 5 or 6 and evaluates by itself:
//!
//! 1. [`model::build`] with [`load::Options`]: further version keywords (`versions`) and a [`host::Host`] that tells
//!    which maps and strings are the host's expressions. These become [`val::Data::Call`] and are skipped by all
//!    static checks.
//! 2. [`render::render`] gives the [`topology::Topology`]: nodes, capabilities, requirements, relationships, interfaces,
//!    with every value as a [`topology::Prop`]: the unevaluated [`val::Val`] (span and origin at every level), its
//!    definition, its declared data type and how it was given.
//! 3. [`resolve::resolve`] matches requirements with capabilities; node filters are the only thing it must evaluate.
//! 4. After evaluating a value, [`values::Checker::value`] says whether the result has the declared type and fills in
//!    the defaults of its parts.

pub mod archive;
mod assign;
pub mod clout;
pub mod compile;
mod dialect;
pub mod dump;
pub mod entities;
pub mod entity;
pub mod evaluate;
mod folder;
pub mod load;
mod lookup;
pub mod marks;
pub mod model;
mod notation;
pub mod read;
pub mod render;
mod report;
pub mod resolve;
pub mod rules;
mod service;
pub mod special;
mod substitute;
mod types;
pub mod val;

pub use assign::{clause, validate, values};
use assign::{coerce, finish, format, scalar};
pub use lookup::names;
use lookup::{link, namespace};
pub use notation::{edition, functions, host, profile, python_text, quirks, scripts};
use notation::{extended, signatures};
pub use report::{locate, present, problem};
use service::{copy, multiply};
pub use service::{inner, inputs, operate, topology, unused};
pub use types::library;
use types::{check, hierarchy, inherit};

pub use dialect::DIALECT;

pub(crate) use purlin_syntax::suggest;
