//! Hostile YAML, independent of dialects: aliases, keys, nesting and large numbers of entries, in a file of each
//! dialect.

use super::{Ends, Input};

/// The file of a dialect that contains a piece of YAML, and the command that reads it.
struct Host {
    name: &'static str,
    path: &'static str,
    /// The text before and after the piece, which is the value of a key.
    before: &'static str,
    after: &'static str,
    others: &'static [(&'static str, &'static str)],
}

const HOSTS: &[Host] = &[
    Host {
        name: "garden",
        path: "project.garden.yml",
        before: "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables:\n  a: ",
        after: "\n",
        others: &[],
    },
    Host {
        name: "charts",
        path: "values.yaml",
        before: "a: ",
        after: "\n",
        others: &[
            ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("templates/a.yaml", "a: {{ .Values.a | kindOf }}\n"),
        ],
    },
    Host {
        name: "unfurl",
        path: "ensemble.yaml",
        before: "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    node_types:\n      Open: {derived_from: tosca.nodes.Root, metadata: {additionalProperties: true}}\n    topology_template:\n      node_templates:\n        n:\n          type: Open\n          properties:\n            a: ",
        after: "\n",
        others: &[],
    },
    Host {
        name: "tosca",
        path: "service.yaml",
        before: "tosca_definitions_version: tosca_2_0\nmetadata:\n  a: ",
        after: "\nservice_template: {node_templates: {}}\n",
        others: &[],
    },
    Host {
        name: "kustomize",
        path: "k/r.yaml",
        before: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ",
        after: "\n",
        others: &[
            (
                "skaffold.yaml",
                "apiVersion: skaffold/v4beta14\nkind: Config\nmanifests: {kustomize: {paths: [k]}}\ndeploy: {kubectl: {}}\n",
            ),
            ("k/kustomization.yaml", "resources: [r.yaml]\n"),
        ],
    },
    Host {
        name: "skaffold",
        path: "skaffold.yaml",
        before: "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata:\n  name: a\n  annotations: ",
        after: "\n",
        others: &[],
    },
];

/// Pieces of YAML by class. Each is one flow collection, so that it is valid anywhere.
fn pieces() -> Vec<(&'static str, String, Ends)> {
    let nine = |last: &str| {
        let mut text = format!("{{x0: &x0 [{last}]");
        for level in 1..=9 {
            let part = format!("*x{}, ", level - 1).repeat(9);
            text.push_str(&format!(", x{level}: &x{level} [{part}]"));
        }
        text + "}"
    };
    let long = "s".repeat(30_000);
    let squared = format!("{{s: &s {long}, t: &t [{}], u: [{}]}}", "*s, ".repeat(300), "*t, ".repeat(300));
    let merged = {
        let mut text = "{x0: &x0 {k: v}".to_owned();
        for level in 1..=60 {
            text.push_str(&format!(", x{level}: &x{level} {{<<: [*x{0}, *x{0}], k{level}: *x{0}}}", level - 1));
        }
        text + "}"
    };
    let same = "{".to_owned() + &"k: v, ".repeat(1_000_000) + "}";
    let different: String = (0..500_000).map(|at| format!("k{at}: v, ")).collect();
    vec![
        ("alias-nodes", nine("1"), Ends::Limit),
        ("alias-text", nine(&"t".repeat(1_000)), Ends::Limit),
        ("alias-bytes", squared, Ends::Limit),
        ("alias-merge", merged, Ends::Answered),
        ("aliases-many", format!("{{s: &s x, t: [{}]}}", "*s,".repeat(4_000_000)), Ends::Answered),
        ("keys-same", same, Ends::Answered),
        ("keys-many", format!("{{{different}}}"), Ends::Answered),
        ("items-many", format!("[{}]", "{},".repeat(5_000_000)), Ends::Answered),
        ("deep-lists", "[".repeat(100_000) + &"]".repeat(100_000), Ends::Limit),
        ("deep-maps", "{a: ".repeat(100_000) + "b" + &"}".repeat(100_000), Ends::Limit),
        ("text-long", format!("\"{}\"", "x".repeat(15_000_000)), Ends::Answered),
        ("file-long", format!("\"{}\"", "x".repeat(17_000_000)), Ends::Limit),
    ]
}

/// Every piece in every host.
pub fn inputs() -> Vec<Input> {
    let pieces = pieces();
    let mut all = Vec::new();
    for host in HOSTS {
        for (class, piece, ends) in &pieces {
            let content = format!("{}{piece}{}", host.before, host.after);
            let command = if host.name == "kustomize" { "render" } else { "check" };
            let mut input = Input::new(format!("{}/yaml/{class}", host.name), command, *ends);
            input = input.file(host.path, content);
            input.files.extend(host.others.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())));
            all.push(input);
        }
    }
    all
}
