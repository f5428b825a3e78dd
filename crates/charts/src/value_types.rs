//! The types of a chart's values, from how its templates use them.
//!
//! Every use allows some types; a value has those that all its uses allow. A use that takes anything says nothing. Knows
//! only what the walk through templates notes, no files.

use std::collections::BTreeSet;

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Types(u8);

const STRING: Types = Types(1);
const NUMBER: Types = Types(2);
const BOOLEAN: Types = Types(4);
const ARRAY: Types = Types(8);
const OBJECT: Types = Types(16);
const ALL: Types = Types(31);
const SCALAR: Types = Types(7);

/// The names of JSON Schema, in the order in which they are written.
const NAMES: [(&str, Types); 5] =
    [("string", STRING), ("number", NUMBER), ("boolean", BOOLEAN), ("array", ARRAY), ("object", OBJECT)];

impl Types {
    fn both(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    /// The names of the types in the set.
    pub fn names(self) -> Vec<&'static str> {
        NAMES.iter().filter(|(_, one)| self.both(*one) == *one).map(|(name, _)| *name).collect()
    }
}

/// A use of a value in a template.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Use {
    /// It is part of the output.
    Printed,
    /// It decides a condition.
    Tested,
    /// Its items are gone through.
    Ranged,
    /// It is compared with a constant.
    Compared(Constant),
    /// It is an argument of a function, by its number.
    Given(&'static str, usize),
}

/// The kind of a constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Constant {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
}

/// Functions that take one kind of argument at a position: the last one, unless a number is given.
const TAKERS: &[(Types, Option<usize>, &[&str])] = &[
    (
        STRING,
        None,
        &[
            "upper",
            "lower",
            "title",
            "untitle",
            "trim",
            "trimAll",
            "trimSuffix",
            "trimPrefix",
            "nospace",
            "trunc",
            "abbrev",
            "replace",
            "indent",
            "nindent",
            "contains",
            "hasPrefix",
            "hasSuffix",
            "split",
            "splitList",
            "splitn",
            "b64enc",
            "b64dec",
            "b32enc",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "adler32sum",
            "snakecase",
            "camelcase",
            "kebabcase",
            "fromYaml",
            "fromJson",
            "fromYamlArray",
            "fromJsonArray",
            "regexMatch",
            "semverCompare",
            "semver",
            "bcrypt",
        ],
    ),
    (STRING, Some(0), &["tpl"]),
    (STRING, Some(1), &["regexReplaceAll", "regexReplaceAllLiteral", "regexFind", "htpasswd"]),
    (ARRAY, None, &["uniq", "sortAlpha", "rest", "initial", "mustUniq", "mustRest", "mustInitial", "has", "mustHas"]),
    (ARRAY, Some(0), &["without", "append", "prepend", "mustAppend", "mustPrepend", "slice", "mustSlice"]),
    (OBJECT, Some(0), &["hasKey", "get", "pick", "omit", "set", "unset"]),
    (OBJECT, None, &["keys", "values", "dig"]),
    (SCALAR, None, &["quote", "squote", "int", "int64", "float64", "toString", "atoi", "cat"]),
];

/// The types that a use allows. `count` of a function's arguments is not known here: the last is `usize::MAX`.
fn allowed(of: Use) -> Types {
    match of {
        Use::Printed => SCALAR,
        Use::Tested => ALL,
        Use::Ranged => Types(ARRAY.0 | OBJECT.0),
        Use::Compared(Constant::Text) => STRING,
        Use::Compared(Constant::Number) => NUMBER,
        Use::Compared(Constant::Truth) => BOOLEAN,
        Use::Given(name, position) => {
            let is_it = |(_, at, names): &&(Types, Option<usize>, &[&str])| {
                names.contains(&name) && at.unwrap_or(usize::MAX) == position
            };
            TAKERS.iter().find(is_it).map_or(ALL, |(types, ..)| *types)
        }
    }
}

/// The types of a value with these uses; `None` if they say nothing, or contradict each other.
pub(crate) fn types(uses: &BTreeSet<Use>, is_boolean: bool) -> Option<Types> {
    let all = uses.iter().fold(ALL, |types, of| types.both(allowed(*of)));
    // A value that is only tested and is `true` or `false` by default.
    let only_tested = is_boolean && !uses.is_empty() && uses.iter().all(|of| matches!(of, Use::Tested));
    let all = if only_tested { BOOLEAN } else { all };
    (all != ALL && all.0 != 0).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(uses: &[Use]) -> Option<Vec<&'static str>> {
        types(&uses.iter().copied().collect(), false).map(Types::names)
    }

    #[test]
    fn a_value_has_the_types_that_all_its_uses_allow() {
        assert_eq!(names(&[Use::Printed]), Some(vec!["string", "number", "boolean"]));
        assert_eq!(names(&[Use::Printed, Use::Given("upper", usize::MAX)]), Some(vec!["string"]));
        assert_eq!(names(&[Use::Ranged, Use::Given("hasKey", 0)]), Some(vec!["object"]));
        assert_eq!(names(&[Use::Tested, Use::Given("toYaml", usize::MAX)]), None);
        assert_eq!(names(&[Use::Ranged, Use::Printed]), None, "contradictions say nothing");
        assert_eq!(types(&[Use::Tested].into(), true).map(Types::names), Some(vec!["boolean"]));
    }
}
