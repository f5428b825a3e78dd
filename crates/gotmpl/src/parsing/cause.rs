//! Why a template failed, as data, for failures that are distinguished. Go's words are derived from it, and other
//! wordings too.

use std::borrow::Cow;
use std::fmt::{self, Display};

use crate::error::Fault;
use crate::quote::quote;
use crate::value::Str;

/// The name of a Go type.
pub type TypeName = Cow<'static, str>;

/// Why a statement or a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A missing template, requested by `include` or the host.
    NoTemplate(Str),
    /// A field of a value without fields.
    NoField {
        /// The field.
        field: String,
        /// The type of the value.
        of: TypeName,
    },
    /// An argument of another type.
    WrongType {
        /// The type of the parameter.
        wanted: &'static str,
        /// The type of the argument; `None` for an entry of a mapping that is not set.
        found: Option<TypeName>,
    },
    /// An argument that is not set.
    NoValue {
        /// The type of the parameter.
        wanted: &'static str,
    },
    /// Too few or too many arguments.
    Arguments {
        /// The function.
        function: &'static str,
        /// Required number of arguments.
        wanted: usize,
        /// Whether more are allowed.
        is_least: bool,
        /// Actual number of arguments.
        found: usize,
    },
    /// An integer divided by 0.
    DivisionByZero,
    /// A comparison with a single operand.
    NothingToCompare,
    /// A comparison of values of different types.
    Incompatible(TypeName, TypeName),
    /// A comparison of collections, in Go's words.
    Incomparable(Cow<'static, str>),
    /// A loop over a value without elements; the printed value.
    NotIterable(String),
    /// Arguments after something that takes none.
    NotAFunction(String),
    /// Arguments after a key of a mapping.
    NotAMethod(String),
    /// A field of a value that is not set.
    NilPointer {
        /// The field.
        field: String,
    },
    /// A function whose first argument is not set, in Go's words.
    Unset(&'static str),
    /// A function whose key or index is not set, in Go's words.
    UnsetKey(&'static str),
    /// A value of another type than the one a function asserts.
    Conversion {
        /// The type of the value; `None` if it is not set.
        found: Option<TypeName>,
        /// The asserted type.
        wanted: &'static str,
    },
    /// The length of a value without one.
    NoLength(TypeName),
    /// An element of a value without elements.
    NoElements(TypeName),
    /// An index beyond the end of a list.
    OutOfRange(i128),
    /// An index that is not an integer.
    NotAnIndex(TypeName),
    /// A key that is not a string.
    NotAKey(TypeName),
    /// Templates that include each other too often.
    TooManyIncludes(String),
}

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTemplate(name) => {
                write!(f, "no template {} associated with template \"gotpl\"", quote(name.bytes()))
            }
            Self::NoField { field, of } => write!(f, "can't evaluate field {field} in type {of}"),
            Self::WrongType { wanted, found } => {
                let found = found.as_deref().unwrap_or("interface {}");
                write!(f, "wrong type for value; expected {wanted}; got {found}")
            }
            Self::NoValue { wanted } => write!(f, "invalid value; expected {wanted}"),
            Self::Arguments { function, wanted, is_least, found } => {
                let least = if *is_least { "at least " } else { "" };
                write!(f, "wrong number of args for {function}: want {least}{wanted} got {found}")
            }
            Self::DivisionByZero => f.write_str("runtime error: integer divide by zero"),
            Self::NothingToCompare => f.write_str("missing argument for comparison"),
            Self::Incompatible(a, b) => write!(f, "incompatible types for comparison: {a} and {b}"),
            Self::Incomparable(words) => f.write_str(words),
            Self::NotIterable(value) => write!(f, "range can't iterate over {value}"),
            Self::NotAFunction(what) => write!(f, "can't give argument to non-function {what}"),
            Self::NotAMethod(name) => write!(f, "{name} is not a method but has arguments"),
            Self::NilPointer { field } => write!(f, "nil pointer evaluating interface {{}}.{field}"),
            Self::Unset(words) | Self::UnsetKey(words) => f.write_str(words),
            Self::Conversion { found, wanted } => {
                let found = found.as_deref().unwrap_or("nil");
                write!(f, "interface conversion: interface {{}} is {found}, not {wanted}")
            }
            Self::NoLength(of) => write!(f, "len of type {of}"),
            Self::NoElements(of) => write!(f, "can't index item of type {of}"),
            Self::OutOfRange(at) => write!(f, "index out of range: {at}"),
            Self::NotAnIndex(of) => write!(f, "cannot index slice/array with type {of}"),
            Self::NotAKey(of) => write!(f, "value has type {of}; should be string"),
            Self::TooManyIncludes(name) => {
                write!(f, "rendering template has a nested reference name: {name}: unable to execute template")
            }
        }
    }
}

impl From<Cause> for Fault {
    fn from(cause: Cause) -> Self {
        Self::Cause(Box::new(cause))
    }
}

/// Why a template cannot be parsed, as data.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Misread {
    /// A problem that only Go's words describe.
    #[default]
    Other,
    /// A function that does not exist.
    UnknownFunction(String),
    /// An undefined variable.
    UnknownVariable(String),
    /// The end of the file inside a block.
    OpenBlock,
    /// An `end` without a block.
    LoneEnd,
    /// An `else` without an `if`.
    LoneElse,
    /// A comment that is not closed.
    OpenComment,
    /// An action that is not closed.
    OpenAction,
    /// A parenthesis that is not closed.
    OpenParenthesis,
    /// A string or character that is not closed.
    OpenQuote,
    /// A keyword, or a pair of parentheses, without a value.
    NoValue(String),
    /// An unexpected token, as written; long ones are cut.
    Unexpected(String),
}
