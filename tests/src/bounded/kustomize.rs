//! Kustomizations, which Skaffold's `render` builds: bases upon bases, patches that copy.

use super::{Ends, Input};

const SKAFFOLD: &str =
    "apiVersion: skaffold/v4beta14\nkind: Config\nmanifests: {kustomize: {paths: [k]}}\ndeploy: {kubectl: {}}\n";
const HEAD: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

fn kustomization(class: &str, text: &str, spec: &str, ends: Ends) -> Input {
    let resource = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {spec}\n");
    Input::new(format!("kustomize/{class}"), "render", ends)
        .file("skaffold.yaml", SKAFFOLD)
        .file("k/kustomization.yaml", format!("{HEAD}resources: [r.yaml]\n{text}"))
        .file("k/r.yaml", resource)
}

/// A JSON patch of deployments.
fn patch(operations: &str) -> String {
    format!("patches:\n- target: {{kind: Deployment}}\n  patch: |-\n    [{operations}]\n")
}

/// All inputs of kustomizations.
pub fn inputs() -> Vec<Input> {
    let copy = |at: usize| format!("{{\"op\": \"copy\", \"from\": \"/spec\", \"path\": \"/spec/y{at}\"}}");
    let copies = (0..60).map(copy).collect::<Vec<_>>().join(", ");
    let tested = format!("{copies}, {{\"op\": \"test\", \"path\": \"/spec\", \"value\": {{}}}}");
    let scalar = |at: usize| format!("{{\"op\": \"copy\", \"from\": \"/spec/k0\", \"path\": \"/spec/z{at}\"}}");
    let scalars = (0..20_000).map(scalar).collect::<Vec<_>>().join(", ");
    let keys = format!("{{{}}}", (0..20_000).map(|at| format!("k{at}: 1")).collect::<Vec<_>>().join(", "));
    let inserts = vec!["{\"op\": \"add\", \"path\": \"/spec/l/0\", \"value\": 1}"; 50_000].join(", ");
    let labels: String = (0..2_000).map(|at| format!("- {{pairs: {{l{at}: x}}, includeSelectors: true}}\n")).collect();
    let literals: String = (0..100_000).map(|at| format!("'k{at}=v', ")).collect();
    let regex = "patches:\n- {target: {name: '((a{1,100}){1,100}){1,100}'}, patch: '[]'}\n";
    let mut chain = kustomization("bases/chain", "", "{}", Ends::Answered);
    for level in 1..60 {
        let text = format!(
            "{HEAD}namePrefix: a\nresources: [../{}]\n",
            if level == 1 { "k".to_owned() } else { format!("k{}", level - 1) }
        );
        chain = chain.file(&format!("k{level}/kustomization.yaml"), text);
    }
    chain = chain.file("skaffold.yaml", SKAFFOLD.replace("[k]", "[k59]"));
    let component = HEAD.replace("v1beta1", "v1alpha1").replace("Kustomization", "Component");
    let components =
        (0..25).fold(kustomization("components/fan", "components: [../c0]\n", "{}", Ends::Limit), |input, level| {
            let text = format!("{component}components: [../c{0}, ../c{0}]\n", level + 1);
            input.file(&format!("c{level}/kustomization.yaml"), text)
        });
    let components = components.file("c25/kustomization.yaml", format!("{component}nameSuffix: x\n"));
    let wide: String = (100..160).map(|at| format!("- {{target: {{name: '\\pL{{{at}}}'}}, patch: '[]'}}\n")).collect();
    let fan = (0..25).fold(kustomization("bases/fan", "", "{}", Ends::Answered), |input, level| {
        let below = if level == 0 { "k".to_owned() } else { format!("f{}", level - 1) };
        let text = |prefix: &str| format!("{HEAD}namePrefix: {prefix}\nresources: [../{below}]\n");
        let both = format!("{HEAD}resources: [../a{level}, ../b{level}]\n");
        input
            .file(&format!("a{level}/kustomization.yaml"), text("a"))
            .file(&format!("b{level}/kustomization.yaml"), text("b"))
            .file(&format!("f{level}/kustomization.yaml"), both)
    });
    let fan = fan.file("skaffold.yaml", SKAFFOLD.replace("[k]", "[f24]"));
    vec![
        kustomization("patches/copies", &patch(&copies), "{x: 1}", Ends::Limit),
        kustomization("patches/copies-tested", &patch(&tested), "{x: 1}", Ends::Limit),
        kustomization("patches/copies-many", &patch(&scalars), &keys, Ends::Limit),
        kustomization("patches/inserts", &patch(&inserts), "{l: []}", Ends::Limit),
        kustomization("labels/many", &format!("labels:\n{labels}"), "{template: {}}", Ends::Answered),
        kustomization(
            "generators/many",
            &format!("configMapGenerator: [{{name: c, literals: [{literals}]}}]\n"),
            "{}",
            Ends::Answered,
        ),
        kustomization("regex/pattern", regex, "{}", Ends::Answered),
        kustomization("regex/many", &format!("patches:\n{wide}"), "{}", Ends::Answered),
        components,
        chain,
        Input { ends: Ends::Limit, ..fan },
    ]
}
