//! The interface of a dialect to the rest of Purlin: a constant.

use crate::glance::Glance;
use crate::project::{Request, Resolved};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Rule};
use purlin_value::{EcoString, Session, Value};
use std::any::Any;

/// The role of a file in its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A project of its own.
    Project,
    /// A project unless included by another one, such as a library of types. It does not make its folder a project.
    Part,
    /// It points to the project's file in its folder or below; its folder is one if there is no stronger sign.
    Pointer,
    /// It belongs to a project in its folder or above.
    Member,
    /// A project only if named by the user.
    Named,
}

/// A dialect's judgement of a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// The role of the file.
    pub role: Role,
    /// Higher wins where several files or dialects compete: the composing file beats the composed one.
    pub strength: u8,
    /// Whether a project may include this one, so that it is read and checked with the other.
    pub is_shared: bool,
}

impl Sign {
    /// A sign of a project that is never included in another one.
    pub const fn new(role: Role, strength: u8) -> Self {
        Sign { role, strength, is_shared: false }
    }

    /// The same for a project that may be included in another one.
    pub const fn shared(self) -> Self {
        Sign { is_shared: true, ..self }
    }
}

/// The input of `eval`.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The expression in the dialect's language.
    pub expression: String,
    /// The node or instance to evaluate it on.
    pub on: Option<String>,
    /// Whether a trace is wanted.
    pub trace: bool,
}

impl Question {
    /// Reports an unknown node in the question.
    pub fn unknown_node<'n>(&self, session: &Session, names: impl IntoIterator<Item = &'n str>) {
        let on = self.on.as_deref().unwrap_or_default();
        let diagnostic = Diagnostic::nowhere(&crate::rules::UNKNOWN_NODE, what::unknown("node", on));
        session.sink.push(diagnostic.maybe_hint(purlin_syntax::suggest::did_you_mean(on, names)));
    }
}

/// The result of `eval`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// The steps, one line each.
    pub trace: Vec<String>,
}

/// A way to resolve a project: an environment, a set of profiles, a file of values.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name for users; empty for the project without any.
    pub name: EcoString,
    /// The request that selects it.
    pub request: Request,
}

/// The ways to resolve projects of a dialect.
#[derive(Clone, Copy)]
pub struct Variants {
    /// The word for one of them: `environment`, `profile`.
    pub noun: &'static str,
    /// All variants declared by the project itself. It adds no duplicate problems: resolving reports them.
    pub list: fn(&Session, &Request) -> Vec<Variant>,
    /// Whether a request selects a variant, so that the others are not needed.
    pub is_chosen: fn(&Request) -> bool,
    /// Rules whose problems of a variant count only if the project by itself has them too, because a variant may be
    /// meant for use together with another one.
    pub in_company: &'static [&'static Rule],
    /// Resolves several together, where that costs less than one after the other. Each has a session of its own for
    /// its problems; all share one table of origins.
    pub resolve: Option<ResolveAll>,
}

/// Resolves a project in several variants; each is passed to the callback when done, in order.
pub type ResolveAll = fn(&[(Session, Request)], &mut dyn FnMut(Option<Resolved>));

impl Variants {
    /// For dialects whose projects have no variants.
    pub const NONE: Variants =
        Variants { noun: "environment", list: |_, _| Vec::new(), is_chosen: |_| true, in_company: &[], resolve: None };
}

/// Result for one of several libraries that were checked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Together {
    /// Not checked, because it cannot be checked with others.
    Alone,
    /// Checked with another one that includes it.
    TakenIn,
    /// Checked: its name, and the number of errors in it and in everything it includes.
    Checked(EcoString, usize),
}

/// Checks several libraries of one repository, which may use each other, in one go. Problems go to the session's
/// sink; the result has an entry for every path.
pub type CheckTogether = fn(&Session, &Request, &[&str]) -> Vec<Together>;
/// Checks files of a dialect that belong to no project, each by itself: what follows from the rest of a project is not
/// looked at. Problems go to the session's sink; the result is the number of configurations in the files.
pub type CheckApart = fn(&Session, &[&str]) -> usize;

/// A dialect's state of a resolved project, so that not everything must be resolved again.
pub type Kept = Box<dyn Any + Send>;

/// A project that may be resolved again.
pub struct Resumable {
    /// The result of [`Dialect::resolve`].
    pub resolved: Option<Resolved>,
    /// State for the next time, if any.
    pub kept: Option<Kept>,
}

/// How to resolve projects of a dialect repeatedly while their files change.
#[derive(Clone, Copy)]
pub struct Resuming {
    /// Resolves a project for the first time.
    pub start: fn(&Session, &Request) -> Resumable,
    /// Resolves the project again after the content of these files has changed, and nothing else that it depends on.
    /// The session continues the previous one, and the request is the same. `None` if all of it must be resolved.
    pub again: fn(&Session, &Request, Kept, &[String]) -> Option<Resumable>,
}

/// A file that a dialect looks for by name.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// Its name.
    pub name: &'static str,
    /// The `apiVersion` it must begin with, if any.
    pub version: Option<&'static str>,
    /// The `kind` next to it, if any.
    pub kind: Option<&'static str>,
}

/// A dialect.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// Its input, in one sentence.
    pub summary: &'static str,
    /// The word for one project of it.
    pub noun: &'static str,
    /// Whether its projects have a name.
    pub has_name: bool,
    /// The word for a node of a project.
    pub unit: &'static str,
    /// Whether a file belongs to it, by its name and its first lines.
    pub recognise: fn(&Glance<'_>) -> Option<Sign>,
    /// Whether a file name indicates a project.
    pub is_usual: fn(&str) -> bool,
    /// The usual names of its files, for users whose file has a similar name or begins wrongly.
    pub usual: &'static [Usual],
    /// Files below a folder that make the folder a project.
    pub inside: &'static [&'static str],
    /// Whether its projects include the folders below them.
    pub reaches_below: bool,
    /// Whether its projects are parts of those of other dialects: they count by themselves only where no other project
    /// has read them.
    pub yields: bool,
    /// Whether its projects take in projects that yield.
    pub composes: bool,
    /// Whether a project that another one takes in is listed all the same: users know it as a project.
    pub is_listed: bool,
    /// Whether it renders manifests; if so, an empty list is a result.
    pub renders: bool,
    /// Reads and resolves everything. Problems go to the session's sink; the result has everything that can be
    /// resolved. `None` if there is no result at all.
    pub resolve: fn(&Session, &Request) -> Option<Resolved>,
    /// Checks its libraries ([`Role::Part`]) together; if not set, each is resolved by itself.
    pub together: Option<CheckTogether>,
    /// Reads what projects have in common whichever files they consist of, before these files are checked, each in a
    /// branch of the session.
    pub prepare: Option<fn(&Session, files: &[&str])>,
    /// Checks files that belong to no project ([`Role::Member`]), such as a library of actions for other repositories.
    pub apart: Option<CheckApart>,
    /// Resolves its projects again, where that costs less than resolving all of them.
    pub resuming: Option<Resuming>,
    /// The variants of its projects.
    pub variants: Variants,
    /// Evaluates an expression against the project.
    pub eval: fn(&Session, &Request, &Question) -> Option<Answer>,
    /// Its rules.
    pub rules: &'static [&'static Rule],
}
