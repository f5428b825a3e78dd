//! The shape of a row in the function list, and the Go parameter types that arguments are checked against.

use std::fmt;

use crate::error::Fault;
use crate::machine::Machine;
use crate::value::{Data, Heap, ListType, MapType, Val};
use purlin_value::Cost;

/// What a function does when called.
pub type Run = fn(&mut Machine<'_>, &[Val]) -> Result<Val, Fault>;

/// A function of the template language: one row of the list.
pub struct Func {
    /// Its name.
    pub name: &'static str,
    /// The types of its fixed parameters.
    pub params: &'static [Ty],
    /// The type of further parameters, if it takes any number.
    pub rest: Option<Ty>,
    /// How it is called and what it does, in one sentence.
    pub about: &'static str,
    /// What it does; [`Machine::call`] charges for it.
    pub(crate) run: Run,
    /// How it is evaluated.
    pub form: Form,
    /// Which arguments it looks at, so that it has to wait for what is not known yet.
    pub looks: Looks,
    /// Whether it changes the collections it is given.
    pub changes: bool,
    /// What it costs, charged before it is called. Who says nothing pays for everything in the arguments.
    pub cost: Cost,
    /// Whether every byte of its arguments decides on the result, the text of templates too.
    pub digests: bool,
}

impl Func {
    /// How it is called, and what it does: the two halves of its sentence.
    pub fn usage(&self) -> (&'static str, &'static str) {
        let parts = self.about.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
        parts.unwrap_or((self.name, self.about))
    }

    /// A function that copies text, or puts values together, without a look at them.
    pub(crate) const fn unseen(self) -> Func {
        Func { looks: Looks::Nowhere, ..self }
    }

    /// A function that looks at its arguments from one number up to another, but not into collections.
    pub(crate) const fn looks(self, from: usize, to: usize) -> Func {
        Func { looks: Looks::At(from, to), ..self }
    }

    /// A function that looks at all its arguments, but not into collections.
    pub(crate) const fn shallow(self) -> Func {
        self.looks(0, usize::MAX)
    }

    /// A function whose result changes with every byte of its arguments.
    pub(crate) const fn digests(self) -> Func {
        Func { digests: true, ..self }
    }

    /// A function that costs less than going through everything it is given, or charges itself.
    pub(crate) const fn costs(self, cost: Cost) -> Func {
        Func { cost, ..self }
    }

    /// A function that changes the collections it is given.
    pub(crate) const fn changes(self) -> Func {
        Func { changes: true, ..self }
    }
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How a function's arguments are evaluated and what happens to the origin of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The result has one origin made from those of the arguments.
    Opaque,
    /// The result carries the pieces of its arguments; the function sees to it.
    Pieces,
    /// `and`: stops at the first false argument.
    And,
    /// `or`: stops at the first true argument.
    Or,
}

/// Which arguments a function looks at; into the others it puts or passes them on unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// At none: it copies text, or puts values together.
    Nowhere,
    /// At those from the first number up to the second, but not into collections.
    At(usize, usize),
    /// At everything, as deep as it goes.
    Everywhere,
}

/// A Go parameter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `interface {}`
    Any,
    /// `reflect.Value`: any value, nil too.
    Value,
    /// `string`
    Str,
    /// `int`
    Int,
    /// `float64`
    Float,
    /// `bool`
    Bool,
    /// `map[string]interface {}`
    Map,
    /// `[]interface {}`
    List,
    /// `time.Time`
    Time,
    /// `*semver.Version`
    Version,
    /// A certificate with its key.
    Certificate,
}

impl Ty {
    /// The name Go prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Value => "reflect.Value",
            Self::Str => "string",
            Self::Int => "int",
            Self::Float => "float64",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Time => "time.Time",
            Self::Version => "*semver.Version",
            Self::Certificate => "sprig.certificate",
        }
    }

    /// Whether nil may be passed.
    pub(crate) fn can_be_nil(self) -> bool {
        matches!(self, Self::Any | Self::Value | Self::Map | Self::List | Self::Version)
    }

    /// Whether a value's content may be passed.
    pub fn accepts(self, heap: &Heap, value: &Val) -> bool {
        match (self, &value.data) {
            (Self::Any | Self::Value, _) => true,
            (Self::Str, Data::Str(_))
            | (Self::Int, Data::Int(_))
            | (Self::Float, Data::Float(_))
            | (Self::Bool, Data::Bool(_)) => true,
            (Self::Map, Data::Map(map)) => matches!(map.kind, MapType::Any | MapType::Values),
            (Self::List, Data::List(list)) => heap.get_list(*list).kind == ListType::Any,
            (Self::Time | Self::Version | Self::Certificate, Data::Object(object)) => object.type_name() == self.name(),
            _ => false,
        }
    }
}
