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
            "\"${<s>}${<s>}\"",
            "[<value>, <value>]",
            "{x: <value>, y: <value>}",
            "[\"${<ref>}\", \"${<ref>}\"]",
            "{x: \"${<ref>}\", y: \"${<ref>}\"}",
            "[\"${var.v<last>}\", \"${var.v<last>}\"]",
            "{x: \"${var.v<last>}\", y: [\"${var.v<last>}\"]}",
            "{$forEach: \"${<l>}\", $return: <value>}",
            "{$forEach: \"${<l>}\", $filter: \"${<b>}\", $return: \"${item.value}\"}",
            "{$forEach: <list>, $return: \"${item.value}\"}",
            "[{$concat: \"${<l>}\"}, {$concat: <list>}]",
            "<map>",
            "{$merge: <map>, x: \"${<ref>}\"}",
            "{$if: \"${<b>}\", $then: <value>, $else: <value>}",
            "\"a ${if <b>}b ${<e>}${else}c${endif}\"",
            "<yaml>",
        ],
    ),
    ("ref", &["var.v<lower>", "var.s<lower>", "var.l<lower>", "var.m<lower>", "var.m<lower>.x", "var.l<lower>[0]"]),
    (
        "list",
        &[
            "[1, 2]",
            "[\"${var.l<lower>}\", \"${var.l<lower>}\"]",
            "[\"${var.l<last>}\", \"${var.l<last>}\"]",
            "[{$concat: \"${var.l<lower>}\"}, {$concat: \"${var.l<lower>}\"}]",
            "[{$concat: \"${var.l<last>}\"}, {$concat: \"${var.l<last>}\"}]",
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
            "{x: \"${var.m<last>}\", y: \"${var.m<last>}\"}",
            "{$merge: \"${var.m<lower>}\", z: \"${<e>}\"}",
            "{$merge: {$merge: \"${var.m<lower>}\"}, x: <value>}",
            "{x: \"${<l>}\", y: \"${<s>}\"}",
        ],
    ),
    ("e", &["var.v<lower>", "<s>", "<l>", "<n>", "<b>", "<m>", "<b> ? <e> : <e>", "[<e>, <e>]", "<l>[0]", "<call>"]),
    (
        "b",
        &[
            "true",
            "<e> == <e>",
            "<n> < <n>",
            "<b> && <b>",
            "<b> || <b>",
            "!<b>",
            "(<s> contains '<some>')",
            "(<l> contains <n>)",
            "isEmpty(<l>)",
        ],
    ),
    ("m", &["var.m<lower>", "jsonDecode(jsonEncode(var.m<lower>))", "merge(<m>, <m>)"]),
    (
        "s",
        &[
            "'<some>'",
            "var.s<lower>",
            "var.s<lower> + var.s<lower>",
            "var.s<last> + var.s<last>",
            "string(var.s<lower>)",
            "jsonEncode(<e>)",
            "yamlEncode(<e>)",
            "<s> + <s>",
            "replace(<s>, '<some>', <s>)",
            "join(split(<s>, '<some>'), <s>)",
            "indent(<s>, <n>)",
            "base64Encode(<s>)",
            "upper(<s>)",
            "camelCase(<s>)",
            "slice(<s>, 0, <n>)",
            "sha256(<s>)",
        ],
    ),
    (
        "l",
        &[
            "[1, 2]",
            "range(<n>, <n>)",
            "split(<s>, '<some>')",
            "concat(<l>, <l>)",
            "concat(var.l<last>, var.l<last>)",
            "[<e>, <e>, <e>]",
            "jsonDecode(jsonEncode(<l>))",
            "yamlDecode(yamlEncode(<l>))",
            "slice(<l>, 0, <n>)",
            "var.l<lower>",
            "var.l<lower>",
        ],
    ),
    ("n", &["1", "0", "2", "3", "7", "10", "20", "60", "100", "1000", "70000", "1000000", "<n> * <n>", "<n> + <n>"]),
    (
        "some",
        &["x", "ab", "a,b,c", "é", "%", "k", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "[1, 2]", "a: 1"],
    ),
    (
        "action",
        &[
            "kind: Run\ntype: exec\nname: a<level>\nspec: {command: [\"${<s>}\"]}\n",
            "kind: Build\ntype: exec\nname: a<level>\nspec: {command: [\"${<s>}\"]}\n",
            "kind: Run\ntype: exec\nname: a<level>\nvariables: {x: <value>}\nspec: {command: [\"${jsonEncode(var.x)}\"]}\n",
            "kind: Deploy\ntype: exec\nname: a<level>\nspec: {deployCommand: [\"${<s>}\"], env: {A: \"${<s>}\"}}\n",
        ],
    ),
];

/// A project.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("text", TEXTS), ("number", NUMBERS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    // New helpers are included automatically.
    grammar.add("call", ["isEmpty(<e>)".to_owned()]);
    for function in purlin_garden::functions::FUNCTIONS {
        let of = |takes: &str| match takes {
            "string" | "pattern" | "date" | "unit" => "<s>",
            "integer" | "number" => "<number>",
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
