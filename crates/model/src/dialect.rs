//! What a dialect is to the rest of Purlin: a constant.

use crate::project::{Request, Resolved};
use purlin_syntax::Rule;
use purlin_value::{Session, Value};

/// How sure a dialect is that a folder or file is its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The file that says so, relative to the world's root.
    pub file: String,
    /// Higher wins where several dialects see something of theirs: a project file beats a part of one.
    pub strength: u8,
}

/// What `eval` was asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The expression in the dialect's own language.
    pub expression: String,
    /// The node or instance to evaluate it on.
    pub on: Option<String>,
    /// Whether each step is wanted.
    pub trace: bool,
}

/// What `eval` answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// The steps, one line each.
    pub trace: Vec<String>,
}

/// A dialect.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// One sentence on what it reads.
    pub summary: &'static str,
    /// Whether the request's path is one of its projects. Looks, and does not parse more than it must.
    pub detect: fn(&Session, &Request) -> Option<Recognised>,
    /// Reads and resolves everything. Problems go to the session's sink; what can be resolved is there all the same.
    /// `None` if there is nothing to show at all.
    pub resolve: fn(&Session, &Request) -> Option<Resolved>,
    /// Evaluates an expression against the project.
    pub eval: fn(&Session, &Request, &Question) -> Option<Answer>,
    /// Its rules.
    pub rules: &'static [&'static Rule],
}
