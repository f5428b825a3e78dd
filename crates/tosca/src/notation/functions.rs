//! The list of functions: name, parameters, editions, kind of result, one sentence.
//!
//! Reading uses it to distinguish calls from data, checking to count arguments and compare result types. The
//! computation is in `evaluate`; a host may put its own implementations in front of those (see `host`).

use crate::edition::{Edition, Standard, V1_0, V1_2, V1_3, V2_0};
use purlin_value::function::{Parameter, many, one, optional, some};

/// The type of a function's result before it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// A boolean.
    Bool,
    /// A text.
    Text,
    /// An integer.
    Int,
    /// A number.
    Number,
    /// A list.
    List,
    /// Depends on the arguments.
    Any,
}

/// The signature of a function: its editions and its result. The computation is in `evaluate`.
#[derive(Clone, Copy, Debug)]
pub struct Calling {
    /// The first edition that has it.
    pub since: Edition,
    /// The last edition that has it.
    pub until: Edition,
    /// The result.
    pub gives: Gives,
}

impl Calling {
    /// Whether an edition has the function.
    pub fn is_in(&self, edition: Edition) -> bool {
        self.since <= edition && edition.standard() <= self.until
    }
}

/// One function; its name is without `$`.
pub type Function = purlin_value::function::Function<Calling>;

const fn row(
    since: Edition,
    until: Edition,
    name: &'static str,
    parameters: &'static [Parameter],
    gives: Gives,
    summary: &'static str,
) -> Function {
    Function::new(name, parameters, summary, Calling { since, until, gives })
}

/// A function of all editions.
const fn old(name: &'static str, parameters: &'static [Parameter], gives: Gives, summary: &'static str) -> Function {
    row(V1_0, V2_0, name, parameters, gives, summary)
}

/// A function introduced in TOSCA 2.0.
const fn new(name: &'static str, parameters: &'static [Parameter], gives: Gives, summary: &'static str) -> Function {
    row(V2_0, V2_0, name, parameters, gives, summary)
}

const ENTITY: Parameter = one("entity", "name or path");
const BOTH: &[Parameter] = &[one("a", "any"), one("b", "any")];
const NUMBERS: &[Parameter] = &[one("a", "number"), one("b", "number")];
const STRINGS: &[Parameter] = &[one("value", "string or list"), one("part", "string or list")];
const OPERATION: &[Parameter] =
    &[one("entity", "name"), one("interface", "name"), one("operation", "name"), some("output", "name or index")];

/// All functions of the standard.
pub const FUNCTIONS: &[Function] = &[
    old("concat", &[some("value", "string or list")], Gives::Any, "Joins texts, or lists."),
    row(
        V1_3,
        V2_0,
        "join",
        &[one("strings", "list of strings"), optional("delimiter", "string")],
        Gives::Text,
        "Joins texts with a separator.",
    ),
    old(
        "token",
        &[one("string", "string"), one("delimiters", "string"), one("index", "integer")],
        Gives::Text,
        "Cuts a text and gives one piece.",
    ),
    old("get_input", &[one("input", "name"), many("key", "name or index")], Gives::Any, "The value of an input."),
    old("get_property", &[ENTITY, some("property", "name or index")], Gives::Any, "The value of a property."),
    old("get_attribute", &[ENTITY, some("attribute", "name or index")], Gives::Any, "The value of an attribute."),
    old(
        "get_artifact",
        &[ENTITY, one("artifact", "name"), optional("location", "path"), optional("remove", "boolean")],
        Gives::Text,
        "The location of an artifact.",
    ),
    row(V1_0, V1_3, "get_operation_output", OPERATION, Gives::Any, "The output of an operation."),
    row(V1_0, V1_3, "get_nodes_of_type", &[one("type", "node type")], Gives::List, "The nodes of a type."),
    new("value", &[many("key", "name or index")], Gives::Any, "The value that is being validated."),
    new("node_index", &[], Gives::Int, "Which of several nodes made from one template this is."),
    new("relationship_index", &[], Gives::Int, "Which of several relationships of one requirement this is."),
    new(
        "available_allocation",
        &[ENTITY, some("property", "name")],
        Gives::Any,
        "How much of a capability is still free.",
    ),
    new("and", &[some("test", "boolean")], Gives::Bool, "Whether all hold."),
    new("or", &[some("test", "boolean")], Gives::Bool, "Whether any holds."),
    new("not", &[one("test", "boolean")], Gives::Bool, "Whether it does not hold."),
    new("xor", &[one("a", "boolean"), one("b", "boolean")], Gives::Bool, "Whether exactly one holds."),
    new("equal", BOTH, Gives::Bool, "Whether two values are the same."),
    new("greater_than", BOTH, Gives::Bool, "Whether the first is greater."),
    new("greater_or_equal", BOTH, Gives::Bool, "Whether the first is not less."),
    new("less_than", BOTH, Gives::Bool, "Whether the first is less."),
    new("less_or_equal", BOTH, Gives::Bool, "Whether the first is not greater."),
    new("valid_values", &[one("value", "any"), one("values", "list")], Gives::Bool, "Whether the first is in a list."),
    new(
        "matches",
        &[one("string", "string"), one("pattern", "regular expression")],
        Gives::Bool,
        "Whether a text matches a pattern.",
    ),
    new("has_suffix", STRINGS, Gives::Bool, "Whether the first ends with the second."),
    new("has_prefix", STRINGS, Gives::Bool, "Whether the first begins with the second."),
    new("contains", STRINGS, Gives::Bool, "Whether the first contains the second."),
    new(
        "has_entry",
        &[one("value", "list or map"), one("entry", "any")],
        Gives::Bool,
        "Whether a list or map has an entry.",
    ),
    new("has_key", &[one("map", "map"), one("key", "any")], Gives::Bool, "Whether a map has a key."),
    new(
        "has_all_entries",
        &[one("value", "list or map"), one("entries", "list")],
        Gives::Bool,
        "Whether a list or map has all of some entries.",
    ),
    new("has_all_keys", &[one("map", "map"), one("keys", "list")], Gives::Bool, "Whether a map has all of some keys."),
    new(
        "has_any_entry",
        &[one("value", "list or map"), one("entries", "list")],
        Gives::Bool,
        "Whether a list or map has any of some entries.",
    ),
    new("has_any_key", &[one("map", "map"), one("keys", "list")], Gives::Bool, "Whether a map has any of some keys."),
    new("length", &[one("value", "string, list or map")], Gives::Int, "How long a text, list or map is."),
    new("union", &[some("list", "list")], Gives::List, "What is in any of some lists."),
    new("intersection", &[some("list", "list")], Gives::List, "What is in all of some lists."),
    new("sum", &[some("number", "number")], Gives::Number, "All numbers added."),
    new("difference", NUMBERS, Gives::Number, "The second subtracted from the first."),
    new("product", &[some("number", "number")], Gives::Number, "All numbers multiplied."),
    new("quotient", NUMBERS, Gives::Number, "The first divided by the second."),
    new("remainder", NUMBERS, Gives::Number, "What is left after dividing the first by the second."),
    new("round", &[one("number", "number")], Gives::Int, "The nearest integer."),
    new("floor", &[one("number", "number")], Gives::Int, "The next lower integer."),
    new("ceil", &[one("number", "number")], Gives::Int, "The next higher integer."),
];

/// The function of this name in an edition.
pub fn find(name: &str, edition: Edition) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name && function.call.is_in(edition))
}

/// Whether a one-key map with this key is a call (before TOSCA 2.0).
pub fn is_function(name: &str, edition: Edition) -> bool {
    // Most keys are not functions; checking the first byte avoids the search.
    matches!(name.as_bytes().first(), Some(b'c' | b'j' | b't' | b'g')) && find(name, edition).is_some()
}

/// The constraint operators of TOSCA 1.x: name, number of arguments, and first edition.
pub const CONSTRAINTS: &[(&str, Edition)] = &[
    ("equal", V1_0),
    ("greater_than", V1_0),
    ("greater_or_equal", V1_0),
    ("less_than", V1_0),
    ("less_or_equal", V1_0),
    ("in_range", V1_0),
    ("valid_values", V1_0),
    ("length", V1_0),
    ("min_length", V1_0),
    ("max_length", V1_0),
    ("pattern", V1_0),
    ("schema", V1_2),
];
