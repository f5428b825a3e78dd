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

pub mod arithmetic;
mod ast;
pub mod codecs;
pub mod convert;
pub mod error;
pub mod evaluation;
pub mod filters;
pub mod format;
pub mod frame;
pub mod handle;
pub mod host;
pub mod instance;
pub mod lazy;
mod lexer;
pub mod limits;
mod literal;
pub mod methods;
pub mod moment;
pub mod object;
mod parser;
pub mod python;
pub mod render;
mod template;
pub mod tests;
mod time;
pub mod val;
pub mod vault;
pub mod yaml_text;

pub use evaluation::Evaluation;
pub use filters::{FILTERS, Filter, percent_encode, round_to, shell_quote};
pub use host::{Ctx, Host};
pub use instance::Instances;
pub use lexer::Delimiters;
pub use render::Values;
pub use template::{Template, is_template, operator, render, render_marked, unknown_filters};
pub use tests::TESTS;
