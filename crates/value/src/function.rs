//! Tables of functions and filters: name, parameters, a summary, cost, and how to call it.
//!
//! Each language has one table; calls, argument checks, suggestions, completion and the reference pages use it.

use crate::meter::Cost;

/// One parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The accepted type, in a user's words (`string`, `list of strings`, `any`).
    pub takes: &'static str,
    /// Allowed number of occurrences.
    pub count: Count,
}

/// Allowed number of occurrences of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// Once or more; only the last parameter.
    Some,
    /// Any number of times; only the last parameter.
    Many,
}

/// A function of a language; `C` is the way to call it: the Rust function, and whatever else the language needs.
#[derive(Clone, Copy, Debug)]
pub struct Function<C: 'static> {
    /// The name it is called by.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// One sentence.
    pub summary: &'static str,
    /// An example that is run as a test: expression and result; empty if it has none.
    pub example: (&'static str, &'static str),
    /// Its cost, charged before the call.
    pub cost: Cost,
    /// How it is called.
    pub call: C,
}

/// A parameter that must be given.
pub const fn one(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::One }
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::Optional }
}

/// A parameter that must be given and may be repeated.
pub const fn some(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::Some }
}

/// A parameter that may be left out or repeated.
pub const fn many(name: &'static str, takes: &'static str) -> Parameter {
    Parameter { name, takes, count: Count::Many }
}

impl Parameter {
    /// Its notation in signatures: `separator?`, `value…`.
    pub fn shown(&self) -> String {
        match self.count {
            Count::One => self.name.to_owned(),
            Count::Optional => format!("{}?", self.name),
            Count::Some | Count::Many => format!("{}…", self.name),
        }
    }
}

impl<C> Function<C> {
    /// A function whose cost is the size of its arguments, without an example.
    pub const fn new(name: &'static str, parameters: &'static [Parameter], summary: &'static str, call: C) -> Self {
        Function { name, parameters, summary, example: ("", ""), cost: Cost::Deep, call }
    }

    /// Its parameters as signatures show them.
    pub fn shown_parameters(&self) -> Vec<String> {
        self.parameters.iter().map(Parameter::shown).collect()
    }

    /// Its signature: `join(list, separator?)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.shown_parameters().join(", "))
    }

    /// The minimum and, if bounded, the maximum number of arguments.
    pub fn arity(&self) -> (usize, Option<usize>) {
        let least = self.parameters.iter().filter(|p| matches!(p.count, Count::One | Count::Some)).count();
        let open = self.parameters.iter().any(|p| matches!(p.count, Count::Some | Count::Many));
        (least, (!open).then_some(self.parameters.len()))
    }
}

/// The function of a name.
pub fn find<C>(list: &'static [Function<C>], name: &str) -> Option<&'static Function<C>> {
    list.iter().find(|function| function.name == name)
}

/// The most similar name in a list, if one is close.
pub fn nearest<C>(list: &'static [Function<C>], name: &str) -> Option<&'static str> {
    purlin_syntax::suggest::nearest(name, list.iter().map(|function| function.name))
}

/// A list as a table in Markdown, for reference pages; `call` writes the call of a function.
pub fn table<C: 'static>(
    list: impl IntoIterator<Item = &'static Function<C>>,
    call: impl Fn(&Function<C>) -> String,
) -> String {
    let cell = |text: String| text.replace('|', "\\|");
    let row = |function: &Function<C>| format!("| `{}` | {} |\n", cell(call(function)), function.summary);
    let rows: String = list.into_iter().map(row).collect();
    format!("| Call | Does |\n|---|---|\n{rows}")
}
