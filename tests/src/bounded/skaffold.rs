//! Skaffold: modules, profiles, patches and template fields.

use super::{Ends, Input, crowded};

const CONFIG: &str = "apiVersion: skaffold/v4beta14\nkind: Config\n";

fn config(class: &str, text: &str, ends: Ends) -> Input {
    Input::new(format!("skaffold/{class}"), "resolve", ends).file("skaffold.yaml", format!("{CONFIG}{text}"))
}

/// Many names of missing files, each on a separate line.
fn each(line: &str) -> String {
    (0..5_000).map(|at| line.replace('#', &at.to_string())).collect()
}

/// All inputs of Skaffold.
pub fn inputs() -> Vec<Input> {
    let profiles: String = (0..20_000)
        .map(|at| {
            format!("- {{name: p{at}, activation: [{{env: 'A=.*'}}], build: {{artifacts: [{{image: a{at}}}]}}}}\n")
        })
        .collect();
    let patches: String =
        (0..20_000).map(|_| "  - {op: add, path: /build/artifacts/0, value: {image: b}}\n".to_owned()).collect();
    let requires: String = (0..60)
        .map(|at| {
            format!(
                "---\n{CONFIG}metadata: {{name: m{at}}}\nrequires:\n- {{configs: [m{0}]}}\n- {{configs: [m{0}]}}\n",
                at + 1
            )
        })
        .collect();
    let copies: String = (0..60).map(|at| format!("  - {{op: copy, from: /build, path: /build/k{at}}}\n")).collect();
    // The copied list is elsewhere in the file, once.
    let list = vec!["{b: 1}"; 3_000].join(", ");
    let overrides = "/manifests/helm/releases/0/overrides";
    let aliases: String = (0..12)
        .map(|at| format!("  - {{op: add, path: {overrides}/a{at}, value: *v}}\n"))
        .chain((0..12).map(|at| format!("  - {{op: copy, from: {overrides}, path: {overrides}/k{at}}}\n")))
        .collect();
    let template = "{{ range (until 1000000) }}{{ . }}{{ end }}";
    let printf = "{{ printf \"%999999999d\" 1 }}";
    let tagger = |text: &str| {
        format!("build:\n  tagPolicy: {{envTemplate: {{template: '{text}'}}}}\n  artifacts: [{{image: a}}]\n")
    };
    let artifacts: String = (0..50_000).map(|at| format!("  - {{image: a{at}}}\n")).collect();
    let chain: String =
        (0..20_000).map(|at| format!("  - {{image: a{at}, requires: [{{image: a{}}}]}}\n", at + 1)).collect();
    let patched: String = (0..3_000)
        .map(|at| {
            format!(
                "- name: p{at}\n  activation: [{{env: 'A=!b'}}]\n  patches: [{{op: add, path: /build/artifacts/-, value: {{image: i{at}}}}}]\n"
            )
        })
        .collect();
    vec![
        config("profiles/patched", &format!("build: {{artifacts: [{{image: a}}]}}\nprofiles:\n{patched}"), Ends::Limit),
        config(
            "profiles/many",
            &format!("build: {{artifacts: [{{image: a}}]}}\nprofiles:\n{profiles}"),
            Ends::Answered,
        ),
        config(
            "patches/many",
            &format!(
                "build: {{artifacts: [{{image: a}}]}}\nprofiles:\n- name: p\n  activation: [{{env: 'A=!b'}}]\n  patches:\n{patches}"
            ),
            Ends::Answered,
        ),
        config(
            "modules/fan",
            &format!(
                "metadata: {{name: top}}\nrequires:\n- {{configs: [m0]}}\n{requires}---\n{CONFIG}metadata: {{name: m60}}\n"
            ),
            Ends::Answered,
        ),
        config(
            "patches/copies-of-aliases",
            &format!(
                "manifests: {{helm: {{releases: [{{name: r, chartPath: c, overrides: {{a: b}}}}]}}}}\nprofiles:\n- name: p\n  activation: [{{env: 'A=!b'}}]\n  patches:\n  - {{op: add, path: {overrides}/v, value: &v [{list}]}}\n{aliases}"
            ),
            Ends::Limit,
        ),
        config(
            "patches/copies",
            &format!(
                "build: {{artifacts: [{{image: a}}]}}\nprofiles:\n- name: p\n  activation: [{{env: 'A=!b'}}]\n  patches:\n{copies}"
            ),
            Ends::Limit,
        ),
        config("templates/range", &tagger(template), Ends::Answered),
        config("templates/printf", &tagger(printf), Ends::Answered),
        crowded(config(
            "names/contexts",
            &format!("build:\n  artifacts:\n{}", each("  - {image: a#, context: c#}\n")),
            Ends::Answered,
        )),
        crowded(config(
            "names/dockerfiles",
            &format!("build:\n  artifacts:\n{}", each("  - {image: a#, docker: {dockerfile: d#}}\n")),
            Ends::Answered,
        )),
        crowded(config(
            "names/patterns",
            &format!("manifests:\n  rawYaml:\n{}", each("  - 'm#*.yaml'\n")),
            Ends::Answered,
        )),
        crowded(config(
            "names/kustomizations",
            &format!("manifests:\n  kustomize:\n    paths:\n{}", each("    - k#\n")),
            Ends::Answered,
        )),
        config("artifacts/many", &format!("build:\n  artifacts:\n{artifacts}"), Ends::Answered),
        config("artifacts/chain", &format!("build:\n  artifacts:\n{chain}  - {{image: a20000}}\n"), Ends::Answered),
    ]
}
