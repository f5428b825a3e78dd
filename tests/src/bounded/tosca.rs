//! TOSCA: functions, inherited values, constraints.

use super::{Ends, Input};

fn service(class: &str, outputs: &str, ends: Ends) -> Input {
    let text = format!(
        "tosca_definitions_version: tosca_2_0\nservice_template:\n  inputs:\n    long: {{type: string, default: {}}}\n  node_templates: {{}}\n  outputs:\n{outputs}",
        "x".repeat(10_000)
    );
    Input::new(format!("tosca/{class}"), "resolve", ends).file("service.yaml", text)
}

/// A node whose properties each use the previous one.
fn properties(class: &str, first: &str, kind: &str, shape: &str, levels: usize, ends: Ends) -> Input {
    let mut types = String::new();
    let mut values = String::new();
    for level in 0..=levels {
        let kind = if level == 0 && kind == "string" { "string" } else { kind };
        types.push_str(&format!(
            "      p{level}: {{type: {kind}{}}}\n",
            if kind == "list" { format!(", entry_schema: {}", nested_list(level)) } else { String::new() }
        ));
        let value = if level == 0 {
            first.to_owned()
        } else {
            shape.replace("IT", &format!("{{$get_property: [SELF, p{}]}}", level - 1))
        };
        values.push_str(&format!("        p{level}: {value}\n"));
    }
    let text = format!(
        "tosca_definitions_version: tosca_2_0\nnode_types:\n  N:\n    properties:\n{types}service_template:\n  node_templates:\n    n:\n      type: N\n      properties:\n{values}"
    );
    Input::new(format!("tosca/{class}"), "resolve", ends).file("service.yaml", text)
}

/// The type of the items of a list with this nesting; TOSCA has no type for any value.
fn nested_list(levels: usize) -> String {
    (0..levels).fold("{type: integer}".to_owned(), |inner, _| format!("{{type: list, entry_schema: {inner}}}"))
}

/// Data types that each have two parts of the previous one, with defaults.
fn nested_defaults(levels: usize) -> Input {
    let mut text = "tosca_definitions_version: tosca_simple_yaml_1_3\ndata_types:\n".to_owned();
    text.push_str("  D0: {properties: {x: {type: string, default: a}}}\n");
    for level in 1..=levels {
        let part = format!("{{type: D{}, default: {{}}}}", level - 1);
        text.push_str(&format!("  D{level}: {{properties: {{a: {part}, b: {part}}}}}\n"));
    }
    let property = format!("{{type: D{levels}, default: {{}}}}");
    text.push_str(&format!("node_types:\n  N: {{derived_from: tosca.nodes.Root, properties: {{p: {property}}}}}\n"));
    text.push_str("topology_template: {node_templates: {a: {type: N}}}\n");
    Input::new(format!("tosca/doubling/defaults-{levels}"), "check", Ends::Limit).file("service.yaml", text)
}

/// All inputs of TOSCA.
pub fn inputs() -> Vec<Input> {
    let mut all = vec![
        nested_defaults(19),
        nested_defaults(60),
        properties("doubling/list", "[1]", "list", "[IT, IT]", 60, Ends::Limit),
        properties("doubling/concat", "x", "string", "{$concat: [IT, IT]}", 60, Ends::Limit),
        properties("doubling/join", "x", "string", "{$join: [[IT, IT], IT]}", 60, Ends::Limit),
        properties("doubling/union", "[1]", "list", "{$concat: [IT, IT]}", 60, Ends::Limit),
        properties("chain/properties", "x", "string", "IT", 3_000, Ends::Answered),
    ];
    let list = format!("list, entry_schema: {}", nested_list(60));
    for (used, kind, expression) in [
        ("equal", "boolean", "{$equal: [IT, IT]}"),
        ("length", "integer", "{$length: [IT]}"),
        ("union", &list, "{$union: [IT, IT]}"),
        ("intersection", &list, "{$intersection: [IT, IT]}"),
        ("contains", "boolean", "{$contains: [IT, IT]}"),
        ("index", "boolean", "{$has_entry: [IT, IT]}"),
    ] {
        let mut input = properties(&format!("doubling/list-{used}"), "[1]", "list", "[IT, IT]", 60, Ends::Limit);
        let last = expression.replace("IT", "{$get_property: [SELF, p60]}");
        for (_, content) in &mut input.files {
            let text = String::from_utf8_lossy(content);
            let declared =
                text.replacen("service_template:", &format!("      used: {{type: {kind}}}\nservice_template:"), 1);
            *content = format!("{declared}        used: {last}\n").into_bytes();
        }
        all.push(input);
    }
    let outputs = |value: &str, count: usize| -> String {
        (0..count).map(|at| format!("    o{at}: {{value: {value}}}\n")).collect()
    };
    let long = "{$get_input: long}, ".repeat(1_000);
    all.push(service("text/concat", &outputs(&format!("{{$concat: [{long}]}}"), 20), Ends::Limit));
    all.push(service("text/join", &outputs(&format!("{{$join: [[{long}], {{$get_input: long}}]}}"), 10), Ends::Limit));
    let many = "1, ".repeat(1_000);
    all.push(service("text/token", &outputs(&format!("{{$token: [{{$concat: [{long}]}}, x, 0]}}"), 20), Ends::Limit));
    all.push(service("lists/union", &outputs(&format!("{{$union: [[{many}], [{many}]]}}"), 500), Ends::Answered));
    let constraint = "tosca_definitions_version: tosca_2_0\nservice_template:\n  inputs:\n    a: {type: string, default: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, validation: {$matches: [$value, '((a{1,100}){1,100}){1,100}']}}\n  node_templates: {}\n";
    all.push(Input::new("tosca/regex/pattern", "check", Ends::Answered).file("service.yaml", constraint));
    let patterns: String = (100..160)
        .map(|at| {
            format!("    a{at}: {{type: string, default: a, validation: {{$matches: [$value, '\\pL{{{at}}}']}}}}\n")
        })
        .collect();
    let patterns = format!(
        "tosca_definitions_version: tosca_2_0\nservice_template:\n  inputs:\n{patterns}  node_templates: {{}}\n"
    );
    all.push(Input::new("tosca/regex/many", "check", Ends::Answered).file("service.yaml", patterns));
    let nodes = "tosca_definitions_version: tosca_2_0\nnode_types:\n  N: {}\nservice_template:\n  node_templates:\n    n: {type: N, count: 1000000000}\n";
    all.push(Input::new("tosca/count/nodes", "resolve", Ends::Answered).file("service.yaml", nodes));
    all
}
