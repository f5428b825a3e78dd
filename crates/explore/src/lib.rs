//! The project as a page: data, answers to requests of the page, static reports, PNG.
//!
//! Turns results of the compiler into JSON, as described in `docs/schemas`; the page under `page/` shows it. Layout is
//! the compiler's. It must not know dialects, arguments, disks or how a project is opened: the caller provides a
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
