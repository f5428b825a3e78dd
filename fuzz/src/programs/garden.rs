//! Garden projects: variables that refer to each other, helper functions, structural operators, actions.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};

const HEAD: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables:\n";

const ROWS: &[(&str, &[&str])] = &[
    // A value of a variable.
    (
        "value",
        &[
            "1",
            "\"${<e>}\"",
            "\"${<ref>}${<ref>}\"",
            "[<value>, <value>]",
            "{x: <value>, y: <value>}",
            "[\"${<ref>}\", \"${<ref>}\"]",
            "{x: \"${<ref>}\", y: \"${<ref>}\"}",
            "{$forEach: \"${<l>}\", $return: <value>}",
            "{$forEach: \"${<l>}\", $filter: \"${<e>}\", $return: \"${item.value}\"}",
            "{$forEach: <value>, $return: \"${item.value}\"}",
            "[{$concat: \"${<l>}\"}, {$concat: <value>}]",
            "{$merge: \"${<ref>}\", z: <value>}",
            "{$merge: <value>, x: \"${<ref>}\"}",
            "{$if: \"${<e>}\", $then: <value>, $else: <value>}",
            "\"a ${if <e>}b ${<e>}${else}c${endif}\"",
            "<yaml>",
        ],
    ),
    (
        "ref",
        &[
            "var.v<lower>",
            "var.s<lower>",
            "var.l<lower>",
            "var.m<lower>",
            "var.m<lower>.x",
            "var.l<lower>[0]",
            "var.v<lower>?",
        ],
    ),
    (
        "list",
        &[
            "[1, 2]",
            "[\"${var.l<lower>}\", \"${var.l<lower>}\"]",
            "[{$concat: \"${var.l<lower>}\"}, {$concat: \"${var.l<lower>}\"}]",
            "\"${<l>}\"",
            "{$forEach: \"${<l>}\", $return: \"${item.value}\"}",
            "{$forEach: \"${<l>}\", $return: {$forEach: \"${<l>}\", $return: \"${item.value}\"}}",
            "{$forEach: \"${<l>}\", $filter: \"${item.key < <n>}\", $return: <value>}",
        ],
    ),
    (
        "map",
        &[
            "{x: 1}",
            "{x: \"${var.m<lower>}\", y: \"${var.m<lower>}\"}",
            "{$merge: \"${var.m<lower>}\", z: \"${<e>}\"}",
            "{$merge: {$merge: \"${var.m<lower>}\"}, x: <value>}",
            "{x: \"${<l>}\", y: \"${<s>}\"}",
        ],
    ),
    (
        "e",
        &[
            "var.v<lower>",
            "<s>",
            "<l>",
            "<n>",
            "<e> + <e>",
            "<e> == <e>",
            "<e> < <e>",
            "<e> && <e>",
            "<e> || <e>",
            "<e> ? <e> : <e>",
            "<e> contains <e>",
            "!<e>",
            "[<e>, <e>]",
            "(<e>)[<n>]",
            "<call>",
            "<n> * <n>",
            "<n> % <n>",
        ],
    ),
    (
        "s",
        &[
            "'<text>'",
            "var.s<lower>",
            "var.s<lower> + var.s<lower>",
            "string(var.v<lower>)",
            "jsonEncode(<e>)",
            "yamlEncode(<e>)",
            "<s> + <s>",
            "replace(<s>, '<text>', <s>)",
            "join(<l>, <s>)",
            "indent(<s>, <n>)",
            "base64Encode(<s>)",
            "upper(<s>)",
            "camelCase(<s>)",
            "slice(<s>, <n>, <n>)",
            "sha256(<s>)",
        ],
    ),
    (
        "l",
        &[
            "[1, 2]",
            "range(<n>, <n>)",
            "split(<s>, '<text>')",
            "concat(<l>, <l>)",
            "[<e>, <e>, <e>]",
            "jsonDecode(jsonEncode(<l>))",
            "yamlDecode(yamlEncode(<l>))",
            "slice(<l>, 0, <n>)",
            "var.l<lower>",
            "var.l<lower>",
        ],
    ),
    (
        "action",
        &[
            "kind: Run\ntype: exec\nname: a<level>\nspec: {command: [\"${<e>}\"]}\n",
            "kind: Build\ntype: exec\nname: a<level>\nspec: {command: [\"${actions.build.a<lower>.version}\", \"${<s>}\"]}\n",
            "kind: Run\ntype: exec\nname: a<level>\nvariables: {x: <value>}\nspec: {command: [\"${var.x}\"]}\n",
            "kind: Deploy\ntype: exec\nname: a<level>\ndependencies: [run.a<lower>]\nspec: {deployCommand: [\"${<e>}\"], env: {A: \"${<s>}\"}}\n",
        ],
    ),
];

/// A project.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    // Whatever helper is added is tried, too.
    grammar.add("call", ["isEmpty(<e>)".to_owned()]);
    for function in purlin_garden::functions::FUNCTIONS {
        let of = |takes: &str| match takes {
            "string" | "pattern" | "date" | "unit" => "<s>",
            "integer" | "number" => "<n>",
            takes if takes.contains("list") => "<l>",
            _ => "<e>",
        };
        let arguments: Vec<&str> = function.parameters.iter().map(|parameter| of(parameter.takes)).collect();
        grammar.add("call", [format!("{}({})", function.name, arguments.join(", "))]);
    }
    let mut text = HEAD.to_owned();
    text.push_str("  s0: xy\n  l0: [1, 2]\n  m0: {x: 1}\n  v0: 1\n");
    for level in 1..2 + choices.below(24) {
        let mut value = |production: &str| grammar.text(production, level, choices);
        let (text_of, list, map, any) = (value("\"${<s>}\""), value("<list>"), value("<map>"), value("<value>"));
        text.push_str(&format!("  s{level}: {text_of}\n  l{level}: {list}\n  m{level}: {map}\n  v{level}: {any}\n"));
    }
    for level in 0..choices.below(4) {
        text.push_str(&format!("---\n{}", grammar.text("<action>", level, choices)));
    }
    vec![("garden.yml".to_owned(), text)]
}
