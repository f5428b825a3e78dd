//! Unfurl ensembles: queries, functions and Jinja templates with every filter of the list.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};

const HEAD: &str = "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    node_types:\n      Open: {derived_from: tosca.nodes.Root, metadata: {additionalProperties: true}}\n    topology_template:\n      node_templates:\n";

const ROWS: &[(&str, &[&str])] = &[
    (
        "value",
        &[
            "1",
            "'<text>'",
            "{eval: '<query>'}",
            "{eval: {<function>: <value>}}",
            "[<value>, <value>]",
            "{x: <value>, y: <value>}",
            "[{eval: '.::p<lower>'}, {eval: '.::p<lower>'}]",
            "{x: {eval: '.::p<lower>'}, y: {eval: '.::p<lower>'}}",
            "{eval: <value>, foreach: <value>}",
            "{eval: <value>, select: '<query>', vars: {a: <value>}}",
            "{eval: {if: <value>, then: <value>, else: <value>}}",
            "{concat: [<value>, <value>]}",
            "{join: [[<value>, <value>], '<text>']}",
            "{token: [<value>, '<text>', <n>]}",
            "{eval: {template: \"<jinja>\"}}",
            "\"<jinja>\"",
            "\"<jinja>\"",
            "<yaml>",
        ],
    ),
    (
        "query",
        &[
            ".::p<lower>",
            "::n<lower>::p<lower>",
            ".::p<lower>::<n>",
            ".::.all::*::p<lower>",
            "::*::p<lower>",
            ".::p<lower>[x=1]",
            ".::p<lower>::*::x",
            "$a::x",
            "::root::.descendants::p<lower>",
            ".::p<lower>[::*[x]]?::y",
        ],
    ),
    (
        "jinja",
        &[
            "{{ SELF.p<lower> }}",
            "{{ <e> }}",
            "a{{ <e> }}b{{ <e> }}",
            "{% for i in <l> %}{{ <e> }}{% endfor %}",
            "{% for i in <l> %}{% for j in <l> %}{{ i }}{% endfor %}{% endfor %}",
            "{% set n = namespace(s=<e>) %}{% for i in range(<n>) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
            "{% set n = namespace(s=[<e>]) %}{% for i in range(<n>) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ <e> }}{{ n.s }}",
            "{% set l = [] %}{% for i in range(<n>) %}{% do l.append(<e>) %}{% endfor %}{{ l }}",
            "{% if <e> %}{{ <e> }}{% else %}{{ <e> }}{% endif %}",
            "{% macro f(x) %}{{ x }}{{ f(x) }}{% endmacro %}{{ f(<e>) }}",
            "{% set x = <e> %}{{ x }}{{ x }}",
        ],
    ),
    (
        "e",
        &[
            "SELF.p<lower>",
            "<s>",
            "<l>",
            "<n>",
            "<e> ~ <e>",
            "<e> + <e>",
            "<s> * <n>",
            "<l> * <n>",
            "<n> ** <n>",
            "<e> == <e>",
            "<e> < <e>",
            "<e> in <e>",
            "<e> if <e> else <e>",
            "[<e>, <e>]",
            "{'x': <e>, 'y': <e>}",
            "(<e>)[<n>]",
            "(<e>)[<n>:<n>]",
            "(<e>) | <filter>",
            "(<l>) | <filter>",
            "(<s>) | <filter>",
            "(<e>) | <filter>(<e>)",
            "(<e>) | <filter>(<n>, <s>)",
            "(<e>) is <test>",
            "(<s>).<method>(<s>)",
        ],
    ),
    (
        "s",
        &[
            "'<text>'",
            "('<text>' * <n>)",
            "(<e> | string)",
            "(<e> | to_json)",
            "(<s> ~ <s>)",
            "('%s%s' | format(<e>, <e>))",
        ],
    ),
    ("l", &["[1, 2]", "range(<n>)", "[<e>, <e>]", "(<s>.split(<s>))", "(<e> | list)", "(<l> + <l>)", "SELF.p<lower>"]),
    ("method", &["upper", "split", "replace", "ljust", "center", "join", "format", "strip", "count", "startswith"]),
];

/// An ensemble.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    // New functions and filters are included automatically.
    grammar.add("function", purlin_unfurl::functions::FUNCTIONS.iter().map(|function| function.name.to_owned()));
    grammar.add("filter", purlin_unfurl::jinja::all_filters().map(|filter| filter.name.to_owned()));
    grammar.add("test", purlin_unfurl::jinja::TESTS.iter().map(|test| test.name.to_owned()));
    let mut text = HEAD.to_owned();
    for node in 0..1 + choices.below(3) {
        text.push_str(&format!("        n{node}:\n          type: Open\n          properties:\n"));
        for level in 0..1 + choices.below(12) {
            text.push_str(&format!("            p{level}: {}\n", grammar.text("<value>", level, choices)));
        }
    }
    vec![("ensemble.yaml".to_owned(), text)]
}
