//! TOSCA services: properties that refer to those before them, every function, constraints, requirements.
//!
//! Each level has a property of every kind, so that a reference finds what it expects: `s2` is a string, `l2` a list of
//! strings, `i2` an integer, `b2` a boolean, `n2` a list of lists, `d2` a mapping.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS};

const ROWS: &[(&str, &[&str])] = &[
    (
        "s",
        &[
            "{$get_property: [SELF, s<lower>]}",
            "'<text>'",
            "{$concat: [<s>, <s>]}",
            "{$concat: [<s>, <s>, <i>, <s>]}",
            "{$concat: [{$get_property: [SELF, s<last>]}, {$get_property: [SELF, s<last>]}]}",
            "{$join: [[{$get_property: [SELF, s<last>]}, <s>], {$get_property: [SELF, s<last>]}]}",
            "{$join: [{$get_property: [SELF, l<last>]}, {$get_property: [SELF, s<last>]}]}",
            "{$join: [[<s>, <s>], <s>]}",
            "{$join: [<l>, <s>]}",
            "{$token: [<s>, '<text>', 0]}",
            "{$get_input: in<lower>}",
            "{$get_property: [SELF, l<lower>, 0]}",
        ],
    ),
    (
        "l",
        &[
            "{$get_property: [SELF, l<lower>]}",
            "[<s>, <s>]",
            "{$concat: [<l>, <l>]}",
            "{$concat: [{$get_property: [SELF, l<last>]}, {$get_property: [SELF, l<last>]}]}",
            "[{$get_property: [SELF, s<last>]}, {$get_property: [SELF, s<last>]}]",
            "{$union: [<l>, <l>]}",
            "{$intersection: [<l>, <l>]}",
            "{$get_property: [SELF, n<lower>, 0]}",
        ],
    ),
    (
        "n",
        &[
            "{$get_property: [SELF, n<lower>]}",
            "[<l>, <l>]",
            "{$concat: [<n>, <n>]}",
            "{$concat: [{$get_property: [SELF, n<last>]}, {$get_property: [SELF, n<last>]}]}",
            "[{$get_property: [SELF, l<last>]}, {$get_property: [SELF, l<last>]}]",
            "{$union: [<n>, <n>]}",
        ],
    ),
    (
        "i",
        &[
            "{$get_property: [SELF, i<lower>]}",
            "<number>",
            "{$length: [<s>]}",
            "{$length: [<l>]}",
            "{$sum: [<i>, <i>]}",
            "{$product: [<i>, <i>]}",
            "{$difference: [<i>, <i>]}",
            "{$quotient: [<i>, 3]}",
            "{$remainder: [<i>, 7]}",
        ],
    ),
    (
        "b",
        &[
            "{$get_property: [SELF, b<lower>]}",
            "true",
            "{$equal: [<l>, <l>]}",
            "{$equal: [<n>, <n>]}",
            "{$matches: [<s>, '<pattern>']}",
            "{$contains: [<s>, <s>]}",
            "{$has_entry: [<l>, <s>]}",
            "{$has_all_entries: [<n>, <n>]}",
            "{$has_prefix: [<l>, <l>]}",
            "{$greater_than: [<i>, <i>]}",
            "{$and: [<b>, <b>]}",
            "{$not: [<b>]}",
        ],
    ),
    ("d", &["{$get_property: [SELF, d<lower>]}", "{a: <s>, b: <s>}", "{a: <s>, '<text>': <s>, c: <s>}"]),
    ("v", &["<s>", "<l>", "<n>", "<i>", "<b>", "<d>", "<call>"]),
    ("pattern", &["a", "(x+)+y", "((a{1,100}){1,100}){1,100}", "[a-z]{500}", "(.*)*z"]),
    (
        "validation",
        &["", ", validation: {$greater_than: [{$length: [$value]}, -1]}", ", validation: {$matches: [$value, '.*']}"],
    ),
    (
        "requirement",
        &[
            "[]",
            "[{r: t<lower>}]",
            "[{r: {node: N}}]",
            "[{r: {node: N, node_filter: {$equal: [{$get_property: [SELF, s0]}, x]}}}]",
            "[{r: t<lower>}, {r: t<level>}]",
        ],
    ),
];

/// The kinds of properties: letter, type, and a value without references.
const KINDS: &[(&str, &str, &str)] = &[
    ("s", "string", "xy"),
    ("l", "list, entry_schema: string", "[x, y]"),
    ("n", "list, entry_schema: {type: list, entry_schema: string}", "[[x], [y]]"),
    ("i", "integer", "3"),
    ("b", "boolean", "true"),
    ("d", "map, entry_schema: string", "{a: x}"),
];

/// A service.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for (symbol, all) in [("number", NUMBERS), ("text", TEXTS)] {
        grammar.add(symbol, all.iter().map(|&text| text.to_owned()));
    }
    // New functions are included automatically.
    grammar.add("call", ["{$length: [<s>]}".to_owned()]);
    for function in purlin_tosca::functions::FUNCTIONS {
        let (least, most) = function.arity();
        let count = most.unwrap_or(usize::MAX).min(least.max(2));
        let arguments = vec!["<v>"; count].join(", ");
        grammar.add("call", [format!("{{${}: [{arguments}]}}", function.name)]);
    }
    let (levels, nodes) = (1 + choices.below(24), 1 + choices.below(4));
    let mut text = "tosca_definitions_version: tosca_2_0\ncapability_types: {C: {}}\nnode_types:\n  N:\n    capabilities: {c: C}\n    requirements: [{r: {capability: C, node: N, count_range: [0, 5]}}]\n    properties:\n".to_owned();
    for level in 0..=levels {
        for (letter, kind, _) in KINDS {
            let validation = if *letter == "s" { grammar.text("<validation>", level, choices) } else { String::new() };
            text.push_str(&format!("      {letter}{level}: {{type: {kind}{validation}}}\n"));
        }
    }
    text.push_str("service_template:\n  inputs:\n");
    for level in 0..=levels {
        let value = grammar.text("'<text>'", level, choices);
        text.push_str(&format!("    in{level}: {{type: string, default: {value}}}\n"));
    }
    text.push_str("  node_templates:\n");
    for node in 0..nodes {
        let requirements = grammar.text("<requirement>", node, choices);
        text.push_str(&format!("    t{node}:\n      type: N\n      requirements: {requirements}\n      properties:\n"));
        for level in 0..=levels {
            for (letter, _, plain) in KINDS {
                let value = match level {
                    0 => (*plain).to_owned(),
                    _ => grammar.text(&format!("<{letter}>"), level, choices),
                };
                text.push_str(&format!("        {letter}{level}: {value}\n"));
            }
        }
    }
    text.push_str("  outputs:\n");
    for level in 0..1 + choices.below(3) {
        let value = grammar.text("<v>", levels, choices).replace("SELF", "t0");
        text.push_str(&format!("    o{level}: {{value: {value}}}\n"));
    }
    vec![("service.yaml".to_owned(), text)]
}
