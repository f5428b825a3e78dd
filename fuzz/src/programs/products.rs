//! Programs whose cost is a product: many of one thing, each with many of another. Every text is short, and its result
//! is not: templates and their uses, types and their nodes, fully connected peers, long lists in many messages.
//!
//! The counts are drawn, so that each factor is sometimes the large one.

use super::Files;
use super::grammar::Choices;
use std::fmt::Write;

/// Possible counts.
const COUNTS: &[usize] = &[1, 2, 5, 12, 30, 80, 200, 500, 1_200, 3_000];

/// Approximate maximum length of a file.
const LONGEST: usize = 200 << 10;

/// Draws counts and the shape of a program.
struct Draw<'c, 'b> {
    choices: &'c mut Choices<'b>,
}

impl Draw<'_, '_> {
    fn count(&mut self) -> usize {
        COUNTS.get(self.choices.below(COUNTS.len())).copied().unwrap_or(1)
    }

    fn shape(&mut self, count: usize) -> usize {
        self.choices.below(count)
    }
}

/// A text for each number, until the maximum length is reached.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for number in 0..count {
        out.push_str(&text(number));
        if out.len() > LONGEST {
            break;
        }
    }
    out
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    format!("[{}]", each(count, |number| format!("{}, ", item(number))).trim_end_matches(", "))
}

fn file(name: impl Into<String>, text: impl Into<String>) -> (String, String) {
    (name.into(), text.into())
}

const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\n";

/// Garden projects.
pub fn garden(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b, c) = (draw.count(), draw.count(), draw.count());
    let run = |number: usize, more: &str| {
        format!("---\nkind: Run\ntype: exec\nname: a{number}\ninclude: []\n{more}spec: {{command: [echo]}}\n")
    };
    let text = match draw.shape(7) {
        0 => {
            let configs = each(a, |at| {
                format!(
                    "  - {{kind: Run, type: exec, name: \"${{parent.name}}-{at}\", spec: {{command: [\"${{inputs.x}}\"]}}}}\n"
                )
            });
            let template = format!("---\nkind: ConfigTemplate\nname: t\ninputsSchemaPath: s.json\nconfigs:\n{configs}");
            let renders =
                each(b, |at| format!("---\nkind: RenderTemplate\nname: r{at}\ntemplate: t\ninputs: {{x: y}}\n"));
            let schema = file("s.json", "{\"type\": \"object\", \"properties\": {\"x\": {\"type\": \"string\"}}}");
            return vec![schema, file("garden.yml", format!("{GARDEN}{template}{renders}"))];
        }
        1 => {
            let all = each(b, |at| format!("  v{at}: \"${{join(var.l, 'x')}}\"\n"));
            format!("{GARDEN}variables:\n  l: {}\n{all}", list(a, |at| format!("item{at}")))
        }
        2 => {
            let environments = list(a, |at| format!("{{name: e{at}}}"));
            let variables = each(b, |at| format!("  v{at}: \"${{environment.name}}\"\n"));
            let head = GARDEN.replace("[{name: dev}]", &environments);
            format!("{head}variables:\n  x: 1\n{variables}{}", each(c.min(40), |at| run(at, "")))
        }
        3 => {
            let needs = |number: usize| format!("dependencies: {}\n", list(number.min(b), |at| format!("run.a{at}")));
            format!("{GARDEN}{}", each(a, |number| run(number, &needs(number))))
        }
        4 => {
            let mut files = vec![file("garden.yml", format!("{GARDEN}{}", run(0, "").replace("include: []\n", "")))];
            files.push(file(".gardenignore", each(a, |at| format!("**/x{at}*y\n"))));
            files.extend((0..b).map(|at| file(format!("src/d{}/f{at}", at % 17), "x")));
            return files;
        }
        5 => {
            // Each name is unknown, and compared with all known ones.
            let wrong = each(b, |at| run(a + at, &format!("dependencies: [run.b{at}]\n")));
            format!("{GARDEN}{}{wrong}", each(a, |at| run(at, "")))
        }
        _ => {
            let files = each(a, |at| format!("{{sourcePath: s{at}, targetPath: t{at}}}, "));
            let build = |at: usize| {
                format!("---\nkind: Build\ntype: exec\nname: b{at}\ncopyFrom: [{{build: b0, sourcePath: x}}]\n")
            };
            format!("{GARDEN}variables: {{x: [{files}]}}\n{}", each(b, build))
        }
    };
    vec![file("garden.yml", text)]
}

const TOSCA: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

/// TOSCA services.
pub fn tosca(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b, c) = (draw.count(), draw.count(), draw.count());
    let templates = |type_name: &str, more: &str| each(c, |at| format!("    t{at}: {{type: {type_name}{more}}}\n"));
    let properties = |count: usize| each(count, |at| format!("      p{at}: {{type: string, default: xyz}}\n"));
    let text = match draw.shape(6) {
        0 => {
            let capabilities = each(a, |at| format!("      c{at}: C\n"));
            format!(
                "capability_types:\n  C:\n    properties:\n{}node_types:\n  N:\n    capabilities:\n{capabilities}\
                 topology_template:\n  node_templates:\n{}",
                properties(b),
                templates("N", "")
            )
        }
        1 => {
            let operations = each(b, |at| format!("      o{at}: {{}}\n"));
            let interfaces = each(a, |at| format!("      i{at}: {{type: I}}\n"));
            format!(
                "interface_types:\n  I:\n    operations:\n{operations}node_types:\n  N:\n    interfaces:\n{interfaces}\
                 topology_template:\n  node_templates:\n{}",
                templates("N", "")
            )
        }
        2 => {
            // Every problem lists the allowed values.
            let values = list(a, |at| format!("value{at}"));
            let wrong = each(b, |at| format!("p{at}: wrong, "));
            let declared = each(b, |at| format!("      p{at}: {{type: T}}\n"));
            format!(
                "data_types:\n  T: {{derived_from: string, constraints: [{{valid_values: {values}}}]}}\nnode_types:\n  N:\n    \
                 properties:\n{declared}topology_template:\n  node_templates:\n{}",
                templates("N", &format!(", properties: {{{wrong}}}"))
            )
        }
        3 => {
            let needs = list(b.min(30), |at| format!("{{r{at}: {{node: N}}}}"));
            let requirements = list(b.min(30), |at| format!("{{r{at}: {{capability: C, node: N}}}}"));
            format!(
                "capability_types: {{C: {{}}}}\nnode_types:\n  N:\n    capabilities: {{c: C}}\n    requirements: {requirements}\n\
                 topology_template:\n  node_templates:\n{}",
                templates("N", &format!(", requirements: {needs}"))
            )
        }
        4 => {
            let chain = each(a, |at| {
                let parent = if at == 0 { "tosca.nodes.Root".to_owned() } else { format!("N{}", at - 1) };
                format!("  N{at}: {{derived_from: {parent}, properties: {{q{at}: {{type: string, default: x}}}}}}\n")
            });
            let last = format!("N{}", a - 1);
            format!("node_types:\n{chain}topology_template:\n  node_templates:\n{}", templates(&last, ""))
        }
        _ => {
            let members = list(c, |at| format!("t{at}"));
            let groups = each(a, |at| format!("    g{at}: {{type: tosca.groups.Root, members: {members}}}\n"));
            format!("topology_template:\n  groups:\n{groups}  node_templates:\n{}", templates("tosca.nodes.Root", ""))
        }
    };
    vec![file("service.yaml", format!("{TOSCA}{text}"))]
}

/// Charts.
pub fn charts(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b) = (draw.count(), draw.count());
    let chart = |name: &str, more: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n{more}");
    let keys = |count: usize| each(count, |at| format!("k{at}: value\n"));
    match draw.shape(5) {
        0 => {
            let imports = list(a, |at| format!("{{child: data, parent: at{at}}}"));
            let needs = format!("dependencies: [{{name: sub, version: 1.0.0, import-values: {imports}}}]\n");
            let data = format!("data:\n{}", each(b, |at| format!("  k{at}: value\n")));
            vec![
                file("Chart.yaml", chart("web", &needs)),
                file("values.yaml", "{}\n"),
                file("charts/sub/Chart.yaml", chart("sub", "")),
                file("charts/sub/values.yaml", data),
            ]
        }
        1 => {
            let body = each(b, |at| format!("k{at}: {{{{ .Values.k{at} }}}}\n"));
            let calls = each(a, |_| "{{ include \"t\" . }}\n".to_owned());
            vec![
                file("Chart.yaml", chart("web", "")),
                file("values.yaml", keys(b)),
                file("templates/_t.tpl", format!("{{{{ define \"t\" }}}}{body}{{{{ end }}}}")),
                file("templates/a.yaml", calls),
            ]
        }
        2 => {
            let subs = a.min(200);
            let mut files = vec![
                file("Chart.yaml", chart("web", "")),
                file("values.yaml", format!("global:\n{}", each(b, |at| format!("  k{at}: value\n")))),
            ];
            for at in 0..subs {
                files.push(file(format!("charts/s{at}/Chart.yaml"), chart(&format!("s{at}"), "")));
                files.push(file(format!("charts/s{at}/templates/a.yaml"), "a: {{ .Values.global | toJson }}\n"));
            }
            files
        }
        3 => {
            let right = list(a, |at| format!("\"right{at}\""));
            let all = each(b, |at| format!("\"k{at}\": {{\"enum\": {right}}}, ").chars().take(2_000).collect());
            let schema = match a * b > 20_000 {
                true => format!("{{\"additionalProperties\": {{\"enum\": {right}}}}}"),
                false => format!("{{\"properties\": {{{}}}}}", all.trim_end_matches(", ")),
            };
            vec![
                file("Chart.yaml", chart("web", "")),
                file("values.yaml", keys(b)),
                file("values.schema.json", schema),
                file("templates/a.yaml", "a: 1\n"),
            ]
        }
        _ => {
            let body = format!("{{{{ range until {a} }}}}{{{{ range until {b} }}}}x: y\n{{{{ end }}}}{{{{ end }}}}");
            vec![file("Chart.yaml", chart("web", "")), file("values.yaml", ""), file("templates/a.yaml", body)]
        }
    }
}

/// Unfurl ensembles.
pub fn unfurl(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b, c) = (draw.count(), draw.count(), draw.count());
    let head = "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    node_types:\n      Open: {derived_from: tosca.nodes.Root, metadata: {additionalProperties: true}}\n    topology_template:\n      node_templates:\n";
    let node = |at: usize, properties: &str| {
        format!("        n{at}:\n          type: Open\n          properties:\n{properties}")
    };
    let property = |name: String, value: String| format!("            {name}: {value}\n");
    let nodes = match draw.shape(4) {
        0 => {
            // Each refers to the previous one several times; the size of the last is exponential.
            let mut all = property("p0".to_owned(), list(b.min(500), |at| format!("x{at}")));
            for level in 1..a.min(40) {
                let value = list(c.min(12), |_| format!("{{eval: '.::p{}'}}", level - 1));
                all.push_str(&property(format!("p{level}"), value));
            }
            node(0, &all)
        }
        1 => {
            let all = each(b.min(300), |at| property(format!("p{at}"), "{eval: '::*::q'}".to_owned()));
            each(a, |at| match at {
                0 => node(0, &all),
                _ => node(at, &property("q".to_owned(), "x".to_owned())),
            })
        }
        2 => {
            let items = property("l".to_owned(), list(a, |at| format!("i{at}")));
            let loops = each(b.min(300), |at| {
                property(
                    format!("p{at}"),
                    "\"{% for i in SELF.l %}{{ i }}{{ SELF.l | length }}{% endfor %}\"".to_owned(),
                )
            });
            node(0, &(items + &loops))
        }
        _ => {
            let items = property("l".to_owned(), list(a, |at| format!("i{at}")));
            let pairs = property("p".to_owned(), "{eval: '.::l', foreach: {eval: '.::l'}}".to_owned());
            each(b.min(50), |at| node(at, &format!("{items}{pairs}")))
        }
    };
    vec![file("ensemble.yaml", format!("{head}{nodes}"))]
}

/// Skaffold modules.
pub fn skaffold(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b, c) = (draw.count(), draw.count(), draw.count());
    let head = "apiVersion: skaffold/v4beta13\nkind: Config\n";
    let artifacts = each(b, |at| format!("  - {{image: i{at}}}\n"));
    match draw.shape(4) {
        0 => {
            let profiles = each(a, |at| format!("- {{name: p{at}, build: {{artifacts: [{{image: q{at}}}]}}}}\n"));
            vec![file("skaffold.yaml", format!("{head}build:\n  artifacts:\n{artifacts}profiles:\n{profiles}"))]
        }
        1 => {
            let patches = each(c, |at| format!("  - {{op: add, path: /build/artifacts/0, value: {{image: n{at}}}}}\n"));
            let text = format!(
                "{head}build:\n  artifacts:\n{artifacts}profiles:\n- name: p\n  activation: [{{command: dev}}]\n  patches:\n{patches}"
            );
            vec![file("skaffold.yaml", text)]
        }
        2 => {
            // Modules that each require all later ones.
            let modules = a.min(120);
            let requires = |from: usize| list(modules - from, |at| format!("{{path: m{}.yaml}}", from + at));
            let module = |name: &str, from: usize| {
                format!(
                    "{head}metadata: {{name: {name}}}\nrequires: {}\nbuild:\n  artifacts:\n  - {{image: {name}}}\n",
                    requires(from)
                )
            };
            let mut files = vec![file("skaffold.yaml", module("top", 0))];
            files.extend((0..modules).map(|at| file(format!("m{at}.yaml"), module(&format!("m{at}"), at + 1))));
            files
        }
        _ => {
            let patterns = list(a, |at| format!("k/d*/x{at}*"));
            let mut files = vec![file("skaffold.yaml", format!("{head}manifests: {{rawYaml: {patterns}}}\n"))];
            files.extend((0..b).map(|at| file(format!("k/d{}/f{at}.yaml", at % 23), "kind: A\n")));
            files
        }
    }
}

/// Kustomizations.
pub fn kustomize(choices: &mut Choices<'_>) -> Files {
    let mut draw = Draw { choices };
    let (a, b, c) = (draw.count(), draw.count(), draw.count());
    let object =
        |at: usize| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{at}}}\ndata: {{k: v}}\n");
    let objects = file("r.yaml", each(a, object));
    match draw.shape(4) {
        0 => {
            let patch = "{target: {kind: ConfigMap}, patch: '[{op: add, path: /data/x, value: y}]'}";
            vec![
                objects,
                file(
                    "kustomization.yaml",
                    format!("resources: [r.yaml]\npatches: {}\n", list(b, |_| patch.to_owned())),
                ),
            ]
        }
        1 => {
            let fields = list(c.min(100), |at| format!("data.f{at}"));
            let one = format!(
                "{{source: {{kind: ConfigMap, name: m0, fieldPath: data.k}}, targets: [{{select: {{kind: ConfigMap}}, fieldPaths: {fields}, options: {{create: true}}}}]}}"
            );
            vec![
                objects,
                file(
                    "kustomization.yaml",
                    format!("resources: [r.yaml]\nreplacements: {}\n", list(b, |_| one.clone())),
                ),
            ]
        }
        2 => {
            let labels = list(b, |at| format!("{{pairs: {{l{at}: x}}, includeSelectors: true}}"));
            vec![objects, file("kustomization.yaml", format!("resources: [r.yaml]\nlabels: {labels}\n"))]
        }
        _ => {
            // Layers, each based on the previous one.
            let layers = b.min(60);
            let mut files =
                vec![file("l0/r.yaml", each(a, object)), file("l0/kustomization.yaml", "resources: [r.yaml]\n")];
            for at in 1..=layers {
                let mut text = String::new();
                let _ =
                    writeln!(text, "resources: [../l{}]\nnamePrefix: p{at}-\ncommonAnnotations: {{a{at}: x}}", at - 1);
                files.push(file(format!("l{at}/kustomization.yaml"), text));
            }
            files.push(file("kustomization.yaml", format!("resources: [l{layers}]\n")));
            files
        }
    }
}
