//! Products of two or three short lists: a few kilobytes whose combinations would take gigabytes or minutes. What is
//! combined is counted before it is made, or shared.

use super::{Ends, Input};

const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\n";

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

/// Texts for numbers from zero on.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(", ")
}

/// Values that are all wrong, of a list that is long: each problem names what was expected.
fn messages(count: usize) -> Input {
    let (allowed, wrong) = (each(count, |at| format!("v{at}")), each(count, |at| format!("z{at}")));
    let text = format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  N:\n    derived_from: tosca.nodes.Root\n    properties:\n      \
         a: {{type: list, entry_schema: {{type: string, constraints: [{{valid_values: [{allowed}]}}]}}}}\n\
         topology_template:\n  node_templates:\n    x: {{type: N, properties: {{a: [{wrong}]}}}}\n"
    );
    Input::new("tosca/product/messages", "check", Ends::Answered).file("service.yaml", text)
}

/// Patterns to ignore, each of which is tried on each name.
fn ignores(patterns: usize, files: usize) -> Input {
    let lines: String = (0..patterns).map(|at| format!("*a{at}*b*c\n")).collect();
    let action = "---\nkind: Run\ntype: exec\nname: r\nspec: {command: [x]}\n";
    let input = Input::new("garden/product/ignores", "check", Ends::Answered)
        .file("project.garden.yml", format!("{GARDEN}environments: [{{name: d}}]\n{action}"))
        .file(".gardenignore", lines);
    (0..files).fold(input, |input, at| input.file(&format!("file-with-a-longer-name-{at}.txt"), ""))
}

/// Actions each of which needs all before it.
fn dense(count: usize) -> Input {
    let mut text = format!("{GARDEN}environments: [{{name: d}}]\n");
    for at in 0..count {
        let needs = each(at, |to| format!("run.a{to}"));
        text.push_str(&format!(
            "---\nkind: Run\ntype: exec\nname: a{at}\ninclude: []\ndependencies: [{needs}]\nspec: {{command: [x]}}\n"
        ));
    }
    Input::new("garden/product/reduced-graph", "graph --reduce -o json", Ends::Fine).file("project.garden.yml", text)
}

/// Values of a chart inside, imported again and again.
fn imports(count: usize) -> Input {
    let imports = each(count, |at| format!("{{child: v, parent: p{at}}}"));
    let values = each(count, |at| format!("k{at}: v"));
    Input::new("charts/product/import-values", "render", Ends::Answered)
        .file("Chart.yaml", format!("{CHART}dependencies: [{{name: o, version: 1.0.0, import-values: [{imports}]}}]\n"))
        .file("charts/o/Chart.yaml", "apiVersion: v2\nname: o\nversion: 1.0.0\n")
        .file("charts/o/values.yaml", format!("v: {{{values}}}\n"))
        .file("templates/t.yaml", "a: 1\n")
}

/// Properties that show one another, deep and twice, and in the end many times.
fn shown(levels: usize, times: usize) -> Input {
    let types: String = (0..=levels).map(|at| format!("          p{at}: {{type: any, required: false}}\n")).collect();
    let mut values = "            p0: {}\n".to_owned();
    for at in 1..=levels {
        let count = if at == levels { times } else { 2 };
        let inner = format!("{{eval: '.::p{}'}}", at - 1);
        let deep = if at == levels { inner } else { (0..10).fold(inner, |inner, _| format!("{{a: {inner}}}")) };
        values.push_str(&format!("            p{at}: [{}]\n", each(count, |_| deep.clone())));
    }
    let text = format!(
        "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: \
         tosca_simple_unfurl_1_0_0\n    node_types:\n      N:\n        derived_from: tosca.nodes.Root\n        properties:\n{types}    \
         topology_template:\n      node_templates:\n        a:\n          type: N\n          properties:\n{values}"
    );
    Input::new(format!("unfurl/product/shown-{levels}"), "check", Ends::Answered).file("ensemble.yaml", text)
}

/// All products.
pub fn inputs() -> Vec<Input> {
    vec![messages(8_000), ignores(8_000, 250), dense(500), imports(3_500), shown(11, 80), shown(14, 12)]
}
