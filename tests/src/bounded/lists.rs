//! Long lists: many entries of one kind in every dialect, each naming another or a type of its own.
//!
//! Only the length is hostile, so that code which searches one list for every entry of another becomes visible.

use super::{Ends, Input};

/// Length of each list.
const LENGTH: usize = 6_000;

const SKAFFOLD: &str = "apiVersion: skaffold/v4beta14\nkind: Config\n";
const GARDEN: &str =
    "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nproviders: [{name: exec}]\n";
const TOSCA: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
const TOPOLOGY: &str = "topology_template:\n  node_templates:\n";
const ENSEMBLE: &str = "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n  service_template:\n    topology_template:\n      node_templates:\n";
const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

const OBJECT: &str = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#}\n";

/// Repeats a line: `#` becomes the index, `%` the previous index; the part in `<…>` is omitted at index 0.
fn lines(line: &str) -> String {
    (0..LENGTH).map(|at| numbered(line, at)).collect()
}

fn numbered(line: &str, at: usize) -> String {
    let (before, rest) = line.split_once('<').unwrap_or((line, ""));
    let (chained, after) = rest.split_once('>').unwrap_or_default();
    let chained = if at == 0 { "" } else { chained };
    let line = format!("{before}{chained}{after}");
    line.replace('#', &at.to_string()).replace('%', &at.saturating_sub(1).to_string())
}

fn input(name: &str, file: &str, text: String) -> Input {
    Input::new(name, "check", Ends::Answered).file(file, text)
}

fn garden(case: &str, configs: &str) -> Input {
    let name = format!("garden/lists/{case}");
    input(&name, "project.garden.yml", GARDEN.to_owned()).file("garden.yml", lines(configs))
}

fn tosca(case: &str, before: &str, nodes: &str, after: &str) -> Input {
    let types = if before.is_empty() { String::new() } else { format!("node_types:\n{}", lines(before)) };
    let text = format!("{TOSCA}{types}{TOPOLOGY}{}{}", lines(nodes), lines(after));
    input(&format!("tosca/lists/{case}"), "service.yaml", text)
}

/// All inputs.
pub fn inputs() -> Vec<Input> {
    [skaffold_inputs(), garden_inputs(), tosca_inputs(), kustomize_inputs(), other_inputs()].concat()
}

fn skaffold_inputs() -> Vec<Input> {
    let required = |case: &str, entry: &str, more: &str| {
        let text = format!("{SKAFFOLD}requires:\n- path: b\n  activeProfiles:\n{}{more}", lines(entry));
        input(&format!("skaffold/lists/{case}"), "skaffold.yaml", text)
            .file("b/skaffold.yaml", format!("{SKAFFOLD}profiles:\n{}", lines("- {name: p#}\n")))
    };
    let conditions = format!("profiles:\n{}", lines("- {name: q#, activation: [{env: 'A=.*'}]}\n"));
    vec![
        required("profiles-required", "  - {name: p#}\n", ""),
        required("profiles-activated", "  - {name: p#, activatedBy: [q#]}\n", &conditions),
        input(
            "skaffold/lists/chain",
            "skaffold.yaml",
            lines(&format!("---\n{SKAFFOLD}metadata: {{name: m#}}\n<requires: [{{configs: [m%]}}]>\n")),
        ),
        input(
            "skaffold/lists/tests",
            "skaffold.yaml",
            format!(
                "{SKAFFOLD}build:\n  artifacts:\n{}test:\n{}",
                lines("  - {image: i#}\n"),
                lines("- {image: i#, custom: [{command: x}]}\n")
            ),
        ),
    ]
}

fn garden_inputs() -> Vec<Input> {
    vec![
        garden("modules", "---\nkind: Module\nname: m#\ntype: exec\ntasks: [{name: t#, command: [a]}]\n"),
        garden("module-chain", "---\nkind: Module\nname: m#\ntype: exec\n<build: {dependencies: [m%]}>\n"),
        garden("actions", "---\nkind: Run\nname: r#\ntype: exec\n<dependencies: [run.r%]>\nspec: {command: [a]}\n"),
        garden(
            "outputs",
            "---\nkind: Run\nname: r#\ntype: exec\nspec: {command: [a<, '${actions.run.r%.version}'>]}\n",
        ),
        garden(
            "templates",
            "---\nkind: ConfigTemplate\nname: t#\nconfigs: [{kind: Run, name: 'r-${parent.name}', type: exec, spec: {command: [a]}}]\n---\nkind: RenderTemplate\nname: x#\ntemplate: t%\n",
        ),
        garden("problems", "---\nkind: Run\nname: r#\ntype: exec\nspec: {command: [a], env: {$merge: '${var.big}'}}\n")
            .file("project.garden.yml", format!("{GARDEN}variables:\n  big:\n{}", lines("    k#: 1\n"))),
        garden("varfiles", "---\nkind: Run\nname: r#\ntype: exec\nvarfiles: [v.env]\nspec: {command: [a]}\n")
            .file("v.env", lines("K#=1\n")),
        garden("workflows", "---\nkind: Workflow\nname: w#\nsteps: [{command: [deploy]}]\n"),
    ]
}

fn tosca_inputs() -> Vec<Input> {
    let filter = "    c#: {type: tosca.nodes.Compute, capabilities: {host: {properties: {num_cpus: #}}}}\n    n#: {type: tosca.nodes.SoftwareComponent, requirements: [{host: {node: tosca.nodes.Compute, node_filter: {capabilities: [{host: {properties: [{num_cpus: {equal: #}}]}}]}}}]}\n";
    vec![
        tosca("filters", "", filter, ""),
        tosca(
            "members",
            "  t#: {<derived_from: t%, >properties: {p#: {type: string, default: x}}}\n",
            "    n#: {type: t5999}\n",
            "",
        ),
        tosca(
            "members-derived",
            "  t#: {<derived_from: t%, >properties: {p#: {type: string, default: x}}}\n",
            "    n#: {type: t#}\n",
            "",
        ),
        tosca(
            "capabilities",
            "  t#: {<derived_from: t%, >capabilities: {c#: tosca.capabilities.Node}}\n",
            "    n#: {type: t5999}\n",
            "",
        ),
        tosca(
            "unassigned",
            "  t#: {<derived_from: t%, >properties: {p#: {type: string}}}\n",
            "    n#: {type: t5999}\n",
            "",
        ),
        tosca("types", "  t#: {derived_from: tosca.nodes.Root}\n", "    n#: {type: t%}\n", ""),
        tosca("derived", "  t#: {<derived_from: t%>}\n", "    n#: {type: t#}\n", ""),
        tosca("required", "", "    n#: {type: tosca.nodes.Root<, requirements: [{dependency: n%}]>}\n", ""),
        tosca(
            "hosts",
            "",
            "    c#: {type: tosca.nodes.Compute}\n    n#: {type: tosca.nodes.SoftwareComponent, requirements: [{host: tosca.nodes.Compute}]}\n",
            "",
        ),
        input(
            "tosca/lists/groups",
            "service.yaml",
            format!(
                "{TOSCA}{TOPOLOGY}{}  groups:\n{}",
                lines("    n#: {type: tosca.nodes.Root}\n"),
                lines("    g#: {type: tosca.groups.Root, members: [n%]}\n")
            ),
        ),
    ]
}

/// Kustomizations with as many resources as entries: code that checks every resource for every entry becomes visible.
fn kustomize_inputs() -> Vec<Input> {
    let input = |case: &str, text: String, resources: &str| {
        input(&format!("kustomize/lists/{case}"), "kustomization.yaml", format!("resources: [a.yaml]\n{text}"))
            .file("a.yaml", lines(resources))
    };
    let all = |case: &str, key: &str, entry: &str| input(case, format!("{key}:\n{}", lines(entry)), OBJECT);
    let deployment = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a#}\nspec: {}\n";
    let same_name = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n#}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n#}\nspec: {containers: [{name: a, image: b, envFrom: [{configMapRef: {name: a}}]}]}\n";
    let other_kinds = "---\napiVersion: x/v1\nkind: K#\nmetadata: {name: a}\nref: a\n";
    let configured = |case: &str, more: &str, text: String, resources: &str| {
        input(case, format!("configurations: [c.yaml]\n{more}"), resources).file("c.yaml", text)
    };
    let patched = "patches: [{path: p.yaml, target: {kind: ConfigMap}}]\n".to_owned();
    let merged = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{}", lines("  k#: x\n"));
    let types = |entry: &str| {
        format!(
            "x.T: {{Schema: {{properties: {{kind: {{}}, apiVersion: {{}}, metadata: {{}}, a: {{$ref: d5999}}}}}}}}\n{}",
            lines(entry)
        )
    };
    let defined = |case: &str, entry: &str| input(case, "crds: [c.yaml]\n".to_owned(), "").file("c.yaml", types(entry));
    vec![
        all("patches", "patches", "- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a#}, data: {x: y}}'\n"),
        all("targets", "patches", "- {target: {name: a#}, patch: '[{op: add, path: /data, value: {}}]'}\n"),
        all("patterns", "patches", "- {target: {name: 'a#.*'}, patch: '[{op: add, path: /data, value: {}}]'}\n"),
        all("generators", "configMapGenerator", "- {name: g#, literals: [a=b]}\n"),
        all("generators-merged", "configMapGenerator", "- {name: a#, behavior: merge, literals: [a=b]}\n"),
        all("generators-joined", "configMapGenerator", "- {name: a1, behavior: merge, literals: [a#=b]}\n"),
        all("images", "images", "- {name: b#, newTag: '1'}\n"),
        all("image-patterns", "images", "- {name: 'b+#', newTag: '1'}\n"),
        all("labels", "commonLabels", "  l#: x\n"),
        all("variables", "vars", "- {name: V#, objref: {kind: ConfigMap, name: a#, apiVersion: v1}}\n"),
        all(
            "replacements",
            "replacements",
            "- {source: {kind: ConfigMap, name: a#}, targets: [{select: {name: a#}, fieldPaths: [data.x], options: {create: true}}]}\n",
        ),
        input("replicas", format!("replicas:\n{}", lines("- {name: a#, count: 2}\n")), deployment),
        input("same-name", "namePrefix: x-\n".to_owned(), same_name),
        input("operations", patched.clone(), OBJECT).file(
            "p.yaml",
            format!("- {{op: add, path: /data, value: {{}}}}\n{}", lines("- {op: add, path: /data/k#, value: x}\n")),
        ),
        input("merges", patched, OBJECT).file("p.yaml", merged),
        configured(
            "references",
            "namePrefix: x-\n",
            format!("nameReference:\n{}", lines("- {kind: K#, fieldSpecs: [{kind: K%, path: ref}]}\n")),
            other_kinds,
        ),
        configured(
            "fields",
            "commonLabels: {a: b}\n",
            format!("commonLabels:\n{}", lines("- {kind: K#, path: a/b, create: true}\n")),
            OBJECT,
        ),
        defined("definitions-chain", "d#: {Schema: {properties: {a: {$ref: d%}}}}\n"),
        defined("definitions-fan", "d#: {Schema: {properties: {a: {$ref: d%}, b: {$ref: d%}}}}\n"),
    ]
}

fn other_inputs() -> Vec<Input> {
    let ensemble = |case: &str, nodes: &str| {
        input(&format!("unfurl/lists/{case}"), "ensemble.yaml", format!("{ENSEMBLE}{}", lines(nodes)))
    };
    let globals = input("charts/lists/globals", "Chart.yaml", CHART.to_owned())
        .file("values.yaml", format!("global:\n{}", lines("  g#: 1\n")));
    vec![
        ensemble("chain", "        n#: {type: tosca.nodes.Root, properties: {b: 1<, a: {eval: '::n%::b'}>}}\n"),
        input(
            "unfurl/lists/members",
            "ensemble.yaml",
            format!(
                "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n  service_template:\n    node_types:\n{}    topology_template:\n      node_templates:\n{}",
                lines("      t#: {<derived_from: t%, >properties: {p#: {type: string, default: x}}}\n"),
                lines("        n#: {type: t5999}\n")
            ),
        ),
        ensemble("nodes", "        n#: {type: tosca.nodes.Root<, requirements: [{dependency: n%}]>}\n"),
        input("charts/lists/values", "Chart.yaml", CHART.to_owned()).file("values.yaml", lines("v#: 1\n")).file(
            "templates/a.yaml",
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{}",
                lines("  k#: '{{ .Values.v% }}'\n")
            ),
        ),
        input("charts/lists/defines", "Chart.yaml", CHART.to_owned())
            .file("templates/_h.tpl", lines("{{ define \"d#\" }}x{{ end }}\n"))
            .file(
                "templates/a.yaml",
                format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{}",
                    lines("  k#: '{{ include \"d%\" . }}'\n")
                ),
            ),
        (0..1_000).fold(globals, |input, at| {
            input.file(&format!("charts/s{at}/Chart.yaml"), CHART.replace("name: c", &format!("name: s{at}")))
        }),
        input("charts/lists/documents", "Chart.yaml", CHART.to_owned()).file("templates/a.yaml", lines(OBJECT)),
    ]
}
