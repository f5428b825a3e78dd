//! What the user sees: problems, paths, colours, secrets hidden.

pub(crate) mod pager;
pub(crate) mod paint;
pub(crate) mod printable;
pub(crate) mod report;
pub(crate) mod rule_page;
pub(crate) mod traced;
pub(crate) mod veil;
pub(crate) mod viewpoint;
