//! TOSCA services: properties that refer to each other, functions of both notations, constraints, requirements.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};

const ROWS: &[(&str, &[&str])] = &[
    (
        "s",
        &[
            "x",
            "'<text>'",
            "<get>",
            "{$concat: [<s>, <s>]}",
            "{$join: [[<s>, <s>], <s>]}",
            "{$token: [<s>, '<text>', <n>]}",
        ],
    ),
    (
        "get",
        &[
            "{$get_property: [SELF, p<lower>]}",
            "{$get_property: [n<lower>, p<lower>]}",
            "{$get_attribute: [SELF, p<lower>]}",
            "{$get_input: i<lower>}",
        ],
    ),
    (
        "l",
        &[
            "[x]",
            "[<s>, <s>]",
            "[<get>, <get>]",
            "{$concat: [<l>, <l>]}",
            "{$union: [<l>, <l>]}",
            "{$intersection: [<l>, <l>]}",
            "<get>",
        ],
    ),
    (
        "i",
        &[
            "1",
            "<n>",
            "{$length: [<s>]}",
            "{$sum: [<i>, <i>]}",
            "{$product: [<i>, <i>]}",
            "{$quotient: [<i>, <i>]}",
            "{$remainder: [<i>, <i>]}",
            "<get>",
        ],
    ),
    (
        "b",
        &[
            "true",
            "{$equal: [<v>, <v>]}",
            "{$matches: [<s>, '<pattern>']}",
            "{$contains: [<s>, <s>]}",
            "{$has_entry: [<l>, <v>]}",
            "{$and: [<b>, <b>]}",
            "{$not: [<b>]}",
            "<get>",
        ],
    ),
    ("v", &["1", "<s>", "<l>", "<i>", "<b>", "<call>", "[<v>, <v>]", "{a: <v>, b: <v>}", "<yaml>"]),
    ("pattern", &["a", "(x+)+y", "((a{1,100}){1,100}){1,100}", "[a-z]{500}", "(.*)*z"]),
    (
        "type",
        &[
            "{type: string}",
            "{type: integer}",
            "{type: list, entry_schema: string}",
            "{type: list, entry_schema: {type: list, entry_schema: string}}",
            "{type: map, entry_schema: string}",
            "{type: boolean}",
            "{type: string, default: <s>}",
            "{type: string, validation: <b>}",
            "{type: integer, validation: {$in_range: [$value, [1, <n>]]}}",
            "{type: D}",
        ],
    ),
    (
        "value",
        &["<s>", "<i>", "<l>", "<l>", "{a: <s>, b: <s>}", "<b>", "<s>", "<s>", "<i>", "{p0: <v>, p1: <v>}", "<v>"],
    ),
    (
        "requirement",
        &[
            "[]",
            "[{r: n<lower>}]",
            "[{r: {node: N}}]",
            "[{r: {node: N, node_filter: <b>}}]",
            "[{r: n<lower>}, {r: n<level>}]",
        ],
    ),
];

/// A service.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    grammar.add("call", ["{$length: [<s>]}".to_owned()]);
    for function in purlin_tosca::functions::FUNCTIONS {
        let count = function.most.min(function.least.max(2));
        let arguments = vec!["<v>"; count].join(", ");
        grammar.add("call", [format!("{{${}: [{arguments}]}}", function.name)]);
    }
    let (properties, nodes) = (1 + choices.below(12), 1 + choices.below(5));
    let mut text = "tosca_definitions_version: tosca_2_0\ncapability_types: {C: {}}\ndata_types:\n  D: {properties: {p0: {type: string, required: false}, p1: {type: D, required: false}}}\nnode_types:\n  N:\n    capabilities: {c: C}\n    requirements: [{r: {capability: C, node: N, count_range: [0, 5]}}]\n    properties:\n".to_owned();
    for level in 0..properties {
        text.push_str(&format!("      p{level}: {}\n", grammar.text("<type>", level, choices)));
    }
    text.push_str("service_template:\n  inputs:\n");
    for level in 0..properties {
        text.push_str(&format!("    i{level}: {{type: string, default: {}}}\n", grammar.text("<s>", level, choices)));
    }
    text.push_str("  node_templates:\n");
    for node in 0..nodes {
        let requirements = grammar.text("<requirement>", node, choices);
        text.push_str(&format!("    n{node}:\n      type: N\n      requirements: {requirements}\n      properties:\n"));
        for level in 0..properties {
            text.push_str(&format!("        p{level}: {}\n", grammar.text("<value>", level, choices)));
        }
    }
    text.push_str("  outputs:\n");
    for level in 0..1 + choices.below(3) {
        text.push_str(&format!("    o{level}: {{value: {}}}\n", grammar.text("<v>", properties, choices)));
    }
    vec![("service.yaml".to_owned(), text)]
}
