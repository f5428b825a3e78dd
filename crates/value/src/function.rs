//! How functions, filters and template helpers are listed: a name, parameters, a sentence and a Rust function.
//!
//! Each dialect keeps one list; calling, argument checks, suggestions, completion and the reference pages read it.

use crate::meter::Cost;

/// One parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes, in a user's words (`string`, `list of strings`, `any`).
    pub takes: &'static str,
    /// How often it may be given.
    pub count: Count,
}

/// How often a parameter may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// Any number of times; only the last parameter.
    Many,
}

/// A function of a dialect; `F` is the shape of the Rust function.
#[derive(Clone, Copy, Debug)]
pub struct Function<F: 'static> {
    /// The name it is called by.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// One sentence.
    pub summary: &'static str,
    /// An example that is run as a test: expression and result; empty if there is none.
    pub example: (&'static str, &'static str),
    /// What it costs, charged before it is called.
    pub cost: Cost,
    /// What it does.
    pub call: F,
}

/// A parameter that must be given.
pub const fn one(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::One }
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::Optional }
}

/// A parameter that may be repeated.
pub const fn many(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::Many }
}

impl<F> Function<F> {
    /// How it is called: `join(list, separator?)`.
    pub fn signature(&self) -> String {
        let show = |p: &Parameter| match p.count {
            Count::One => p.name.to_owned(),
            Count::Optional => format!("{}?", p.name),
            Count::Many => format!("{}…", p.name),
        };
        let parameters: Vec<String> = self.parameters.iter().map(show).collect();
        format!("{}({})", self.name, parameters.join(", "))
    }

    /// The least and, if there is one, the most number of arguments.
    pub fn arity(&self) -> (usize, Option<usize>) {
        let least = self.parameters.iter().filter(|p| p.count == Count::One).count();
        let open = self.parameters.iter().any(|p| p.count == Count::Many);
        (least, (!open).then_some(self.parameters.len()))
    }
}
