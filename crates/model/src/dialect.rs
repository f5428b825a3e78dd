//! What a dialect is to the rest of Purlin: a constant.

use crate::glance::Glance;
use crate::project::{Request, Resolved};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Rule};
use purlin_value::{EcoString, Session, Value};
use std::any::Any;

/// What a file is to its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A project of its own.
    Project,
    /// A project unless another one takes it in, such as a library of types. It does not make its folder a project.
    Part,
    /// It says which file in its folder or below is the project; its folder is one if nothing stronger is there.
    Pointer,
    /// It belongs to a project in its folder or above.
    Member,
    /// A project only if the user names it.
    Named,
}

/// What a dialect says of a file that is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// What the file is.
    pub role: Role,
    /// Higher wins where several files or dialects compete: what composes others beats what it composes.
    pub strength: u8,
    /// Whether a project may take in this one, so that it is read and checked with the other.
    pub is_shared: bool,
}

impl Sign {
    /// A sign of something that is never taken in by another project.
    pub const fn new(role: Role, strength: u8) -> Self {
        Sign { role, strength, is_shared: false }
    }

    /// The same for what another project may take in.
    pub const fn shared(self) -> Self {
        Sign { is_shared: true, ..self }
    }
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

impl Question {
    /// Reports an unknown node in the question.
    pub fn unknown_node<'n>(&self, session: &Session, names: impl IntoIterator<Item = &'n str>) {
        let on = self.on.as_deref().unwrap_or_default();
        let diagnostic = Diagnostic::nowhere(&crate::rules::UNKNOWN_NODE, what::unknown("node", on));
        session.sink.push(diagnostic.maybe_hint(purlin_syntax::suggest::did_you_mean(on, names)));
    }
}

/// What `eval` answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// The steps, one line each.
    pub trace: Vec<String>,
}

/// One way to resolve a project: an environment, a set of profiles, a file of values.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What a user calls it; empty for the project as it is without any.
    pub name: EcoString,
    /// What is asked for to get it.
    pub request: Request,
}

/// The ways in which the projects of a dialect can be resolved.
#[derive(Clone, Copy)]
pub struct Variants {
    /// What one is called: `environment`, `profile`.
    pub noun: &'static str,
    /// All that the project itself declares. Whoever asks reports nothing twice: problems are those of resolving.
    pub list: fn(&Session, &Request) -> Vec<Variant>,
    /// Whether a request names the variant to resolve, so that the others are not asked for.
    pub is_chosen: fn(&Request) -> bool,
    /// Rules whose problems of a variant count only if the project by itself has them too, because a variant may be
    /// meant for use with another one.
    pub in_company: &'static [&'static Rule],
    /// How several are resolved together, where that takes less than one after the other. Each has a session of its own
    /// for its problems; all share one table of origins.
    pub resolve: Option<ResolveAll>,
}

/// Resolves a project in several variants; each is handed over as it is done, in their order.
pub type ResolveAll = fn(&[(Session, Request)], &mut dyn FnMut(Option<Resolved>));

impl Variants {
    /// Projects that come in one form only.
    pub const NONE: Variants =
        Variants { noun: "environment", list: |_, _| Vec::new(), is_chosen: |_| true, in_company: &[], resolve: None };
}

/// What became of one of several libraries that were checked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Together {
    /// It cannot be checked with others, so it was not.
    Alone,
    /// It was checked with another one that takes it in.
    TakenIn,
    /// It was checked: what it is called, and how many errors it and what it takes in have.
    Checked(EcoString, usize),
}

/// Checks several libraries of one repository, which may use each other, in one go. Problems go to the session's sink;
/// the answer has an entry for every path.
pub type CheckTogether = fn(&Session, &Request, &[&str]) -> Vec<Together>;
/// What a dialect keeps of a project that it has resolved, so that it need not resolve everything again.
pub type Kept = Box<dyn Any + Send>;

/// A project that may be resolved again.
pub struct Resumable {
    /// What [`Dialect::resolve`] gives.
    pub resolved: Option<Resolved>,
    /// What helps the next time, if anything does.
    pub kept: Option<Kept>,
}

/// How projects of a dialect are resolved again and again while their files change.
#[derive(Clone, Copy)]
pub struct Resuming {
    /// Resolves a project for the first time.
    pub start: fn(&Session, &Request) -> Resumable,
    /// Resolves the project again after the content of these files has changed, and nothing else that it has read. The
    /// session continues the one before, and the request is the same. `None` if all of it must be resolved.
    pub again: fn(&Session, &Request, Kept, &[String]) -> Option<Resumable>,
}

/// A file that a dialect looks for by name.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// Its name.
    pub name: &'static str,
    /// The `apiVersion` it begins with, if it must.
    pub version: Option<&'static str>,
    /// The `kind` next to it, if there must be one.
    pub kind: Option<&'static str>,
}

/// A dialect.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// One sentence on what it reads.
    pub summary: &'static str,
    /// What one project of it is called.
    pub noun: &'static str,
    /// Whether a project says what it is called.
    pub has_name: bool,
    /// What a node of a project is called.
    pub unit: &'static str,
    /// Whether a file is its own, by its name and its first lines.
    pub recognise: fn(&Glance<'_>) -> Option<Sign>,
    /// Whether a file's name tells that a project may be here.
    pub is_usual: fn(&str) -> bool,
    /// What its files are usually called, for users whose file has nearly that name or begins wrongly.
    pub usual: &'static [Usual],
    /// Files below a folder that make the folder a project.
    pub inside: &'static [&'static str],
    /// Whether its projects reach into the folders below them.
    pub reaches_below: bool,
    /// Whether it has manifests; if so, none at all is a result.
    pub renders: bool,
    /// Reads and resolves everything. Problems go to the session's sink; what can be resolved is there all the same.
    /// `None` if there is nothing to show at all.
    pub resolve: fn(&Session, &Request) -> Option<Resolved>,
    /// How its libraries ([`Role::Part`]) are checked together; if it is not there, each is resolved by itself.
    pub together: Option<CheckTogether>,
    /// How its projects are resolved again, where that takes less than resolving all of them.
    pub resuming: Option<Resuming>,
    /// How its projects vary.
    pub variants: Variants,
    /// Evaluates an expression against the project.
    pub eval: fn(&Session, &Request, &Question) -> Option<Answer>,
    /// Its rules.
    pub rules: &'static [&'static Rule],
}
