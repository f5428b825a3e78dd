//! The shape of a row in the function list, and the Go parameter types that arguments are checked against.

use std::fmt;

use crate::error::Fault;
use crate::machine::Machine;
use crate::value::{Data, Heap, ListType, MapType, Val};
use purlin_value::Cost;

/// The implementation of a function.
pub type Run = fn(&mut Machine<'_>, &[Val]) -> Result<Val, Fault>;

/// A function of the template language: one row of the list.
pub struct Func {
    /// Its name.
    pub name: &'static str,
    /// The types of its fixed parameters.
    pub params: &'static [Ty],
    /// The type of further parameters, if it is variadic.
    pub rest: Option<Ty>,
    /// Its usage and description, in one sentence.
    pub about: &'static str,
    /// The implementation; [`Machine::call`] charges for it.
    pub(crate) run: Run,
    /// How its arguments are evaluated.
    pub form: Form,
    /// The arguments it reads, so that it has to wait for those that are pending.
    pub looks: Looks,
    /// Whether it modifies its collections.
    pub changes: bool,
    /// Its cost, charged before the call. The default charges for everything in the arguments.
    pub cost: Cost,
    /// Whether the result depends on every byte of its arguments, including the text of templates.
    pub digests: bool,
}

impl Func {
    /// Its usage and its description: the two halves of its sentence.
    pub fn usage(&self) -> (&'static str, &'static str) {
        let parts = self.about.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
        parts.unwrap_or((self.name, self.about))
    }

    /// A function that copies text, or combines values, without reading them.
    pub(crate) const fn unseen(self) -> Func {
        Func { looks: Looks::Nowhere, ..self }
    }

    /// A function that reads its arguments from one index up to another, but not into collections.
    pub(crate) const fn looks(self, from: usize, to: usize) -> Func {
        Func { looks: Looks::At(from, to), ..self }
    }

    /// A function that reads all its arguments, but not into collections.
    pub(crate) const fn shallow(self) -> Func {
        self.looks(0, usize::MAX)
    }

    /// A function whose result depends on every byte of its arguments.
    pub(crate) const fn digests(self) -> Func {
        Func { digests: true, ..self }
    }

    /// A function that costs less than a full walk over its arguments, or charges itself.
    pub(crate) const fn costs(self, cost: Cost) -> Func {
        Func { cost, ..self }
    }

    /// A function that modifies its collections.
    pub(crate) const fn changes(self) -> Func {
        Func { changes: true, ..self }
    }
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How a function's arguments are evaluated, and the origin of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The result has one origin made from those of the arguments.
    Opaque,
    /// The result carries the pieces of its arguments; the function handles them.
    Pieces,
    /// `and`: stops at the first false argument.
    And,
    /// `or`: stops at the first true argument.
    Or,
}

/// The arguments that a function reads; it only passes on the others or stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// None: it copies text, or combines values.
    Nowhere,
    /// Those from the first index up to the second, but not into collections.
    At(usize, usize),
    /// All of them, to any depth.
    Everywhere,
}

/// A Go parameter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `interface {}`
    Any,
    /// `reflect.Value`: any value, including nil.
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

    /// Whether a value's content is accepted.
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
