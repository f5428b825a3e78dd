//! The list of functions: name, editions, number of arguments, kind of result, one sentence.
//!
//! Reading uses it to tell calls from data, checking to count arguments and compare result types. What a function
//! computes is in `eval`; a host may put its own implementations in front of those (see `host`).

use crate::edition::{Edition, Standard, V1_0, V1_2, V1_3, V2_0};

/// What is known about a function's result before it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// A truth value.
    Bool,
    /// A text.
    Text,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// A list.
    List,
    /// It depends on what it is applied to.
    Any,
}

/// One function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name, without `$`.
    pub name: &'static str,
    /// The first edition that has it.
    pub since: Edition,
    /// The last edition that has it.
    pub until: Edition,
    /// The fewest arguments.
    pub least: usize,
    /// The most arguments.
    pub most: usize,
    /// What it gives.
    pub gives: Gives,
    /// One sentence for people.
    pub doc: &'static str,
}

const MANY: usize = usize::MAX;

const fn old(name: &'static str, least: usize, most: usize, gives: Gives, doc: &'static str) -> Function {
    Function { name, since: V1_0, until: V2_0, least, most, gives, doc }
}

const fn new(name: &'static str, least: usize, most: usize, gives: Gives, doc: &'static str) -> Function {
    Function { name, since: V2_0, until: V2_0, least, most, gives, doc }
}

/// All functions of the standard.
pub const FUNCTIONS: &[Function] = &[
    old("concat", 1, MANY, Gives::Any, "Joins texts, or lists."),
    Function { since: V1_3, ..old("join", 1, 2, Gives::Text, "Joins texts with a separator.") },
    old("token", 3, 3, Gives::Text, "Cuts a text and gives one piece."),
    old("get_input", 1, MANY, Gives::Any, "The value of an input."),
    old("get_property", 2, MANY, Gives::Any, "The value of a property."),
    old("get_attribute", 2, MANY, Gives::Any, "The value of an attribute."),
    old("get_artifact", 2, 4, Gives::Text, "The location of an artifact."),
    Function { until: V1_3, ..old("get_operation_output", 4, MANY, Gives::Any, "The output of an operation.") },
    Function { until: V1_3, ..old("get_nodes_of_type", 1, 1, Gives::List, "The nodes of a type.") },
    new("value", 0, MANY, Gives::Any, "The value that is being validated."),
    new("node_index", 0, 0, Gives::Int, "Which of several nodes made from one template this is."),
    new("relationship_index", 0, 0, Gives::Int, "Which of several relationships of one requirement this is."),
    new("available_allocation", 2, MANY, Gives::Any, "How much of a capability is still free."),
    new("and", 1, MANY, Gives::Bool, "Whether all hold."),
    new("or", 1, MANY, Gives::Bool, "Whether any holds."),
    new("not", 1, 1, Gives::Bool, "Whether it does not hold."),
    new("xor", 2, 2, Gives::Bool, "Whether exactly one holds."),
    new("equal", 2, 2, Gives::Bool, "Whether two values are the same."),
    new("greater_than", 2, 2, Gives::Bool, "Whether the first is greater."),
    new("greater_or_equal", 2, 2, Gives::Bool, "Whether the first is not less."),
    new("less_than", 2, 2, Gives::Bool, "Whether the first is less."),
    new("less_or_equal", 2, 2, Gives::Bool, "Whether the first is not greater."),
    new("valid_values", 2, 2, Gives::Bool, "Whether the first is in a list."),
    new("matches", 2, 2, Gives::Bool, "Whether a text matches a pattern."),
    new("has_suffix", 2, 2, Gives::Bool, "Whether the first ends with the second."),
    new("has_prefix", 2, 2, Gives::Bool, "Whether the first begins with the second."),
    new("contains", 2, 2, Gives::Bool, "Whether the first contains the second."),
    new("has_entry", 2, 2, Gives::Bool, "Whether a list or map has an entry."),
    new("has_key", 2, 2, Gives::Bool, "Whether a map has a key."),
    new("has_all_entries", 2, 2, Gives::Bool, "Whether a list or map has all of some entries."),
    new("has_all_keys", 2, 2, Gives::Bool, "Whether a map has all of some keys."),
    new("has_any_entry", 2, 2, Gives::Bool, "Whether a list or map has any of some entries."),
    new("has_any_key", 2, 2, Gives::Bool, "Whether a map has any of some keys."),
    new("length", 1, 1, Gives::Int, "How long a text, list or map is."),
    new("union", 1, MANY, Gives::List, "What is in any of some lists."),
    new("intersection", 1, MANY, Gives::List, "What is in all of some lists."),
    new("sum", 1, MANY, Gives::Number, "All numbers added."),
    new("difference", 2, 2, Gives::Number, "The second subtracted from the first."),
    new("product", 1, MANY, Gives::Number, "All numbers multiplied."),
    new("quotient", 2, 2, Gives::Number, "The first divided by the second."),
    new("remainder", 2, 2, Gives::Number, "What is left after dividing the first by the second."),
    new("round", 1, 1, Gives::Int, "The nearest whole number."),
    new("floor", 1, 1, Gives::Int, "The next lower whole number."),
    new("ceil", 1, 1, Gives::Int, "The next higher whole number."),
];

/// The function of this name in an edition.
pub fn find(name: &str, edition: Edition) -> Option<&'static Function> {
    FUNCTIONS
        .iter()
        .find(|function| function.name == name && function.since <= edition && edition.standard() <= function.until)
}

/// Whether a one-key map with this key is a call (before TOSCA 2.0).
pub fn is_function(name: &str, edition: Edition) -> bool {
    // Most keys are no function; a look at the first byte spares the search.
    matches!(name.as_bytes().first(), Some(b'c' | b'j' | b't' | b'g')) && find(name, edition).is_some()
}

/// The constraint operators of TOSCA 1.x: name, how many arguments, and the edition that brought them.
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
