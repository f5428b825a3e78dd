//! Ansible-flavoured Jinja2 templates, evaluated on [`Val`](val::Val)s so that taint and instances survive.
//!
//! A template of one expression evaluates to that expression's value; text that reads as a Python literal becomes that
//! value. The result of a template is data: it is never rendered again. The phases, in order:
//!
//! | Phase | Module |
//! |---|---|
//! | text → tokens | [`lexer`] |
//! | tokens → statements and expressions | [`parser`], [`ast`] |
//! | statements → value | [`render`], with [`arithmetic`], [`methods`], [`tests`], [`filters`] |
//! | value → text | [`python`], [`format`], [`convert`] (JSON), [`yaml_text`] |
//!
//! Values are [`val`] ([`lazy`], [`handle`], [`instance`], [`object`], [`moment`] are what they may hold), what an
//! evaluation costs and has read is [`evaluation`], and everything outside the language is asked of [`host`]. Filters,
//! methods and tests are rows: documentation, completion and costs are read from them. This must not know what an
//! instance is, where variables come from, or read a file.

mod ast;
mod data;
pub mod error;
pub mod evaluation;
pub mod filters;
pub mod frame;
pub mod host;
mod lexer;
pub mod limits;
pub mod methods;
mod parser;
pub mod render;
mod template;
pub mod tests;
mod text;

pub use data::{arithmetic, handle, instance, lazy, moment, object, python, val};
pub use text::{codecs, convert, format, vault, yaml_text};
use text::{literal, time};

pub use evaluation::Evaluation;
pub use filters::{FILTERS, Filter, percent_encode, round_to, shell_quote};
pub use host::{Ctx, Host};
pub use instance::Instances;
pub use lexer::Delimiters;
pub use render::Values;
pub use template::{Template, is_template, operator, render, render_marked, unknown_filters};
pub use tests::TESTS;
