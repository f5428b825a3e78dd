//! The project as a page: data, answers to what the page asks, static reports, PNG.
//!
//! Reads what the compiler hands out and makes JSON of it, as `docs/schemas` says; the page under `page/` shows that. Layout
//! is the compiler's. It must not know dialects, arguments, disks or how a project is opened: whoever serves it hands in a
//! [`Source`].

mod answer;
mod assets;
mod data;
mod desk;
mod graph;
mod node;
mod png;
mod project;
mod report;

pub use answer::Answers;
pub use desk::Desk;
pub use png::png;
pub use project::{Project, Side, Source};
pub use report::{Report, report, single};
