//! Products of two or three short lists: a few kilobytes whose combinations would take gigabytes or minutes.
//! Combinations are counted before they are made, or shared.

use super::{Ends, Input};

const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\n";

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

/// Texts for numbers from zero on.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(", ")
}

/// Invalid values for a long list: each problem names the allowed ones.
fn messages(count: usize) -> Input {
    let (allowed, wrong) = (each(count, |at| format!("v{at}")), each(count, |at| format!("z{at}")));
    let text = format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  N:\n    derived_from: tosca.nodes.Root\n    properties:\n      \
         a: {{type: list, entry_schema: {{type: string, constraints: [{{valid_values: [{allowed}]}}]}}}}\n\
         topology_template:\n  node_templates:\n    x: {{type: N, properties: {{a: [{wrong}]}}}}\n"
    );
    Input::new("tosca/product/messages", "check", Ends::Answered).file("service.yaml", text)
}

/// Ignore patterns, each of which is tried on each name.
fn ignores(patterns: usize, files: usize) -> Input {
    let lines: String = (0..patterns).map(|at| format!("*a{at}*b*c\n")).collect();
    let action = "---\nkind: Run\ntype: exec\nname: r\nspec: {command: [x]}\n";
    let input = Input::new("garden/product/ignores", "check", Ends::Answered)
        .file("project.garden.yml", format!("{GARDEN}environments: [{{name: d}}]\n{action}"))
        .file(".gardenignore", lines);
    (0..files).fold(input, |input, at| input.file(&format!("file-with-a-longer-name-{at}.txt"), ""))
}

/// Actions that each depend on all before them.
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

/// Values of a subchart, imported repeatedly.
fn imports(count: usize) -> Input {
    let imports = each(count, |at| format!("{{child: v, parent: p{at}}}"));
    let values = each(count, |at| format!("k{at}: v"));
    Input::new("charts/product/import-values", "render", Ends::Answered)
        .file("Chart.yaml", format!("{CHART}dependencies: [{{name: o, version: 1.0.0, import-values: [{imports}]}}]\n"))
        .file("charts/o/Chart.yaml", "apiVersion: v2\nname: o\nversion: 1.0.0\n")
        .file("charts/o/values.yaml", format!("v: {{{values}}}\n"))
        .file("templates/t.yaml", "a: 1\n")
}

/// Properties that refer to one another, nested and twice, and finally many times.
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

/// Environments, each of which reads the list of all.
fn environments(count: usize, actions: usize) -> Input {
    let names = each(count, |at| format!("{{name: e{at}, variables: {{v{at}x: 1}}}}"));
    let mut text = format!("{GARDEN}environments: [{names}]\nvariables: {{a: 1}}\n");
    for at in 0..actions {
        text.push_str(&format!("---\nkind: Run\ntype: exec\nname: r{at}\ninclude: []\nspec: {{command: [x]}}\n"));
    }
    Input::new("garden/product/environments", "check --all-envs", Ends::Answered).file("project.garden.yml", text)
}

/// Configurations of a template, created for each use of it.
fn renders(uses: usize, configs: usize, values: usize) -> Input {
    let body = each(values, |at| format!("k{at}: v"));
    let mut text = format!("{GARDEN}environments: [{{name: d}}]\n---\nkind: ConfigTemplate\nname: t\nconfigs:\n");
    for at in 0..configs {
        text.push_str(&format!(
            "- {{kind: Run, type: exec, name: \"${{parent.name}}-{at}\", include: [], spec: {{command: [x], env: {{{body}}}}}}}\n"
        ));
    }
    for at in 0..uses {
        text.push_str(&format!("---\nkind: RenderTemplate\ntemplate: t\nname: u{at}\n"));
    }
    let name = format!("garden/product/renders-{configs}");
    Input::new(name, "resolve", Ends::Answered).file("project.garden.yml", text)
}

const TOSCA: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

fn nodes(count: usize, more: &str) -> String {
    let templates = each(count, |at| format!("n{at}: {{type: N{more}}}"));
    format!("topology_template:\n  node_templates: {{{templates}}}\n")
}

/// Templates, capabilities of their type, and properties of these.
fn capabilities(templates: usize, capabilities: usize, properties: usize) -> Input {
    let properties = each(properties, |at| format!("p{at}: {{type: string, default: x}}"));
    let capabilities = each(capabilities, |at| format!("c{at}: C"));
    let text = format!(
        "{TOSCA}capability_types:\n  C: {{properties: {{{properties}}}}}\nnode_types:\n  N: {{capabilities: {{{capabilities}}}}}\n{}",
        nodes(templates, "")
    );
    Input::new("tosca/product/capabilities", "check service.yaml", Ends::Limit).file("service.yaml", text)
}

/// Templates, interfaces of their type, operations and inputs of these.
fn interfaces(templates: usize, interfaces: usize, operations: usize) -> Input {
    let inputs = each(operations, |at| format!("q{at}: {{type: string, default: x}}"));
    let operations = each(operations, |at| format!("o{at}: {{description: x}}"));
    let interfaces = each(interfaces, |at| format!("i{at}: {{type: I}}"));
    let text = format!(
        "{TOSCA}interface_types:\n  I: {{inputs: {{{inputs}}}, operations: {{{operations}}}}}\nnode_types:\n  N: {{interfaces: {{{interfaces}}}}}\n{}",
        nodes(templates, "")
    );
    Input::new("tosca/product/interfaces", "resolve service.yaml", Ends::Limit).file("service.yaml", text)
}

/// Templates, requirements of their type, and properties of the resulting relationships.
fn relationships(templates: usize, requirements: usize, properties: usize) -> Input {
    let properties = each(properties, |at| format!("p{at}: {{type: string, default: x}}"));
    let definitions = each(requirements, |at| {
        format!("{{r{at}: {{capability: tosca.capabilities.Node, node: N, relationship: R}}}}")
    });
    let assigned = each(requirements, |at| format!("{{r{at}: n0}}"));
    let text = format!(
        "{TOSCA}relationship_types:\n  R: {{derived_from: tosca.relationships.DependsOn, properties: {{{properties}}}}}\n\
         node_types:\n  N: {{derived_from: tosca.nodes.Root, requirements: [{definitions}]}}\n{}",
        nodes(templates, &format!(", requirements: [{assigned}]"))
    );
    Input::new("tosca/product/relationships", "resolve service.yaml", Ends::Limit).file("service.yaml", text)
}

/// Policies and the properties of their type.
fn policies(count: usize, properties: usize) -> Input {
    let properties = each(properties, |at| format!("p{at}: {{type: string, default: x}}"));
    let policies = each(count, |at| format!("{{p{at}: {{type: P}}}}"));
    let text = format!(
        "{TOSCA}policy_types:\n  P: {{derived_from: tosca.policies.Root, properties: {{{properties}}}}}\n\
         topology_template:\n  policies: [{policies}]\n"
    );
    Input::new("tosca/product/policies", "resolve service.yaml", Ends::Limit).file("service.yaml", text)
}

/// All products.
pub fn inputs() -> Vec<Input> {
    vec![
        messages(8_000),
        ignores(8_000, 250),
        dense(500),
        imports(3_500),
        shown(11, 80),
        shown(14, 12),
        environments(2_000, 20),
        renders(3_000, 300, 20),
        renders(2_000, 1, 5_000),
        capabilities(800, 100, 100),
        interfaces(300, 60, 60),
        relationships(150, 50, 300),
        policies(4_000, 1_000),
    ]
}
