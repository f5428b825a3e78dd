//! Faults are planted in small projects of all dialects, and plain `check` must find them: unused declarations, values
//! that are always overridden, errors in one variant only, and misspelt names. The same projects without a fault have
//! no findings. `PURLIN_PLANTED` sets the number of draws per kind.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::survey_declared;
use purlin_model::Request;
use purlin_suite::edits::Dice;
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeMap;
use std::sync::Arc;

type Files = BTreeMap<String, String>;

/// A word that is not the name of anything else.
fn word(dice: &mut Dice) -> String {
    const SYLLABLES: &[&str] = &["ba", "ko", "mi", "tu", "re", "zo", "fal", "gim", "nup", "sor"];
    (0..4).map(|_| dice.one(SYLLABLES)).collect()
}

fn files(all: &[(&str, String)]) -> Files {
    all.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect()
}

/// A project with a fault, if one is planted, and the word that must occur in the message or line of a finding.
struct Case {
    files: Files,
    word: String,
}

/// A kind of fault in a dialect: a name, and a generator. Without the fault the project has no findings.
type Plant = fn(&mut Dice, bool) -> Case;

/// `text` if a fault is planted.
fn when(is_planted: bool, text: String) -> String {
    if is_planted { text } else { String::new() }
}

fn garden(project: &str, action: &str, word: String) -> Case {
    let head = "apiVersion: garden.io/v2\nkind: Project\nname: shop\n";
    let files = files(&[
        ("project.garden.yml", format!("{head}{project}")),
        ("a.garden.yml", format!("kind: Run\ntype: exec\nname: a\nspec:\n  command: [echo{action}]\n")),
    ]);
    Case { files, word }
}

fn garden_unused_variable(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead) = (word(dice), word(dice));
    let planted = when(is_planted, format!("  {dead}: 1\n"));
    let project = format!("environments: [{{name: dev}}, {{name: prod}}]\nvariables:\n  {used}: two\n{planted}");
    garden(&project, &format!(", \"${{var.{used}}}\""), dead)
}

fn garden_overridden(dice: &mut Dice, is_planted: bool) -> Case {
    let name = word(dice);
    let planted = when(is_planted, format!("variables: {{{name}: one}}\n"));
    let each = format!("variables: {{{name}: two}}");
    let other = format!("variables: {{{name}: three}}");
    let project = format!("environments:\n  - name: dev\n    {each}\n  - name: prod\n    {other}\n{planted}");
    garden(&project, &format!(", \"${{var.{name}}}\""), name)
}

fn garden_production_only(dice: &mut Dice, is_planted: bool) -> Case {
    let name = word(dice);
    let value = if is_planted { "\"${no.such}\"" } else { "two" };
    let project = format!(
        "defaultEnvironment: dev\nenvironments:\n  - name: dev\n    variables: {{{name}: one}}\n  - name: prod\n    variables: {{{name}: {value}}}\n"
    );
    garden(&project, &format!(", \"${{var.{name}}}\""), if is_planted { "no".to_owned() } else { name })
}

fn garden_misspelt(_: &mut Dice, is_planted: bool) -> Case {
    let key = if is_planted { "dependncies" } else { "dependencies" };
    let mut case = garden("environments: [{name: dev}]\n", "", key.to_owned());
    case.files.get_mut("a.garden.yml").unwrap().push_str(&format!("{key}: []\n"));
    case
}

const DEPLOYMENT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n";

fn chart(values: &str, template: &str, more: &[(&str, String)], word: String) -> Case {
    let mut all = files(&[
        ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("values.yaml", values.to_owned()),
        ("templates/config.yaml", format!("{DEPLOYMENT}{template}")),
    ]);
    all.extend(files(more));
    Case { files: all, word }
}

fn chart_unused(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead, outer) = (word(dice), word(dice), word(dice));
    let planted = when(is_planted, format!("  {dead}: {{inner: 1}}\n"));
    let values = format!("{outer}:\n  {used}: 1\n{planted}");
    let read = match dice.roll(3) {
        0 => format!("  a: {{{{ .Values.{outer}.{used} | quote }}}}\n"),
        1 => format!("  {{{{- with .Values.{outer} }}}}\n  a: {{{{ .{used} | quote }}}}\n  {{{{- end }}}}\n"),
        _ => format!("  {{{{- $x := dict \"v\" .Values.{outer} }}}}\n  a: {{{{ $x.v.{used} | quote }}}}\n"),
    };
    chart(&values, &read, &[], dead)
}

fn chart_unused_in_file(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead) = (word(dice), word(dice));
    let planted = when(is_planted, format!("{dead}: 1\n"));
    let production = format!("{used}: 2\n{planted}");
    let read = format!("  a: {{{{ .Values.{used} | quote }}}}\n");
    chart(&format!("{used}: 1\n"), &read, &[("values-production.yaml", production)], dead)
}

fn chart_template(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead) = (word(dice), word(dice));
    let planted = when(is_planted, format!("{{{{ define \"{dead}\" }}}}x{{{{ end }}}}\n"));
    let helpers = format!("{{{{ define \"{used}\" }}}}x{{{{ end }}}}\n{planted}");
    chart("{}\n", &format!("  a: {{{{ include \"{used}\" . }}}}\n"), &[("templates/_helpers.tpl", helpers)], dead)
}

fn chart_overridden(dice: &mut Dice, is_planted: bool) -> Case {
    let (name, other) = (word(dice), word(dice));
    let values = format!("{other}: 1\n{}", when(is_planted, format!("{name}: 1\n")));
    let read = format!("  a: {{{{ .Values.{name} | quote }}}}\n  b: {{{{ .Values.{other} | quote }}}}\n");
    let each = |value: u8| format!("{name}: {value}\n");
    chart(&values, &read, &[("values-dev.yaml", each(2)), ("values-prod.yaml", each(3))], name)
}

fn chart_production_only(dice: &mut Dice, is_planted: bool) -> Case {
    let name = word(dice);
    let value = if is_planted { "many" } else { "3" };
    let read = format!(
        "  a: {{{{ .Values.{name} | quote }}}}\n  {{{{- if kindIs \"string\" .Values.{name} }}}}{{{{ fail \"{name} is no number\" }}}}{{{{ end }}}}\n"
    );
    chart(&format!("{name}: 1\n"), &read, &[("values-production.yaml", format!("{name}: {value}\n"))], name)
}

fn chart_misspelt(dice: &mut Dice, is_planted: bool) -> Case {
    let name = format!("{}Count", word(dice));
    let given = if is_planted { name.replace("Count", "Cuont") } else { name.clone() };
    let read = format!("  a: {{{{ .Values.{name} | quote }}}}\n");
    chart(&format!("{name}: 1\n"), &read, &[("values-production.yaml", format!("{given}: 2\n"))], given)
}

fn skaffold(release: &str, profile: &str, word: String) -> Case {
    let text = format!(
        "apiVersion: skaffold/v4beta11\nkind: Config\nmetadata: {{name: shop}}\nmanifests:\n  helm:\n    releases:\n      - name: web\n        chartPath: chart\n        setValues: {{{release}}}\nprofiles:\n  - name: production\n{profile}"
    );
    let all = files(&[
        ("skaffold.yaml", text),
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("chart/values.yaml", "replicas: 1\n".to_owned()),
        (
            "chart/templates/config.yaml",
            format!(
                "{DEPLOYMENT}  a: {{{{ .Values.replicas | quote }}}}\n{{{{- if kindIs \"string\" .Values.replicas }}}}{{{{ fail \"replicas is no number\" }}}}{{{{ end }}}}\n"
            ),
        ),
    ]);
    Case { files: all, word }
}

const PROFILE: &str = "    build: {tagPolicy: {sha256: {}}}\n";

fn skaffold_unused(dice: &mut Dice, is_planted: bool) -> Case {
    let dead = word(dice);
    let planted = when(is_planted, format!(", {dead}: 2"));
    skaffold(&format!("replicas: 2{planted}"), PROFILE, dead)
}

fn skaffold_production_only(_: &mut Dice, is_planted: bool) -> Case {
    let value = if is_planted { "many" } else { "3" };
    let profile = format!(
        "    patches: [{{op: replace, path: /manifests/helm/releases/0/setValues, value: {{replicas: {value}}}}}]\n"
    );
    skaffold("replicas: 2", &profile, "replicas".to_owned())
}

fn skaffold_misspelt(_: &mut Dice, is_planted: bool) -> Case {
    let key = if is_planted { "artifcats" } else { "artifacts" };
    skaffold("replicas: 2", &format!("    build: {{{key}: []}}\n"), key.to_owned())
}

fn tosca(inputs: &str, node: &str, word: String) -> Case {
    let text = format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  inputs:\n{inputs}  node_templates:\n    web:\n      type: tosca.nodes.Compute\n{node}"
    );
    Case { files: files(&[("service.yaml", text)]), word }
}

fn tosca_unused(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead) = (word(dice), word(dice));
    let planted = when(is_planted, format!("    {dead}: {{type: string, default: x}}\n"));
    let inputs = format!("    {used}: {{type: integer, default: 1}}\n{planted}");
    let node = format!("      capabilities: {{host: {{properties: {{num_cpus: {{get_input: {used}}}}}}}}}\n");
    tosca(&inputs, &node, dead)
}

fn tosca_misspelt(dice: &mut Dice, is_planted: bool) -> Case {
    let used = word(dice);
    let key = if is_planted { "capabilites" } else { "capabilities" };
    let node = format!("      {key}: {{host: {{properties: {{num_cpus: {{get_input: {used}}}}}}}}}\n");
    tosca(&format!("    {used}: {{type: integer, default: 1}}\n"), &node, key.to_owned())
}

fn ensemble_unused(dice: &mut Dice, is_planted: bool) -> Case {
    let (used, dead) = (word(dice), word(dice));
    let planted = when(is_planted, format!("        {dead}: {{type: string, default: x}}\n"));
    let text = format!(
        "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    topology_template:\n      inputs:\n        {used}: {{type: string, default: y}}\n{planted}      node_templates:\n        web: {{type: tosca.nodes.Root}}\n      outputs:\n        out: {{value: {{get_input: {used}}}}}\n"
    );
    Case { files: files(&[("ensemble.yaml", text)]), word: dead }
}

fn kustomization(text: &str, word: String) -> Case {
    let object = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: web}]}\n";
    Case {
        files: files(&[
            ("kustomization.yaml", format!("resources: [app.yaml]\n{text}")),
            ("app.yaml", object.to_owned()),
        ]),
        word,
    }
}

fn kustomize_image(dice: &mut Dice, is_planted: bool) -> Case {
    let dead = word(dice);
    let planted = when(is_planted, format!("  - {{name: {dead}, newTag: \"2\"}}\n"));
    kustomization(&format!("images:\n  - {{name: web, newTag: \"2\"}}\n{planted}"), dead)
}

fn kustomize_patch(dice: &mut Dice, is_planted: bool) -> Case {
    let dead = word(dice);
    let name = if is_planted { dead.as_str() } else { "web" };
    let patch = "'[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": 2}]'";
    kustomization(&format!("patches:\n  - target: {{kind: Deployment, name: {name}}}\n    patch: {patch}\n"), dead)
}

const PLANTS: &[(&str, Plant)] = &[
    ("a variable of Garden that nothing uses", garden_unused_variable),
    ("a variable of Garden that is overridden everywhere", garden_overridden),
    ("a mistake in one environment", garden_production_only),
    ("a misspelt key of an action", garden_misspelt),
    ("a value that no template reads", chart_unused),
    ("a value of a values file that no template reads", chart_unused_in_file),
    ("a named template that nothing includes", chart_template),
    ("a value that all values files override", chart_overridden),
    ("a value that breaks the chart in production", chart_production_only),
    ("a misspelt value", chart_misspelt),
    ("a value of a release that no template reads", skaffold_unused),
    ("a value that breaks a release in one profile", skaffold_production_only),
    ("a misspelt key of a profile", skaffold_misspelt),
    ("an input that nothing uses", tosca_unused),
    ("a misspelt key of a node template", tosca_misspelt),
    ("an input of an ensemble that nothing uses", ensemble_unused),
    ("an image that no resource has", kustomize_image),
    ("a patch for nothing", kustomize_patch),
];

fn findings(files: &Files) -> (Vec<Diagnostic>, Session) {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        world = world.file(path, text);
    }
    let session = Session::new(Arc::new(world));
    let mut request = Request { path: ".".to_owned(), ..Request::default() };
    request.chart.ci_values = true;
    request.chart.is_rehearsal = true;
    survey_declared(&session, &request, &[".".to_owned()]);
    let found = session.sink.take();
    (found, session)
}

/// Whether a finding concerns a word: its message contains it, or it is underlined.
fn is_about(found: &Diagnostic, session: &Session, word: &str) -> bool {
    let line = found.span.and_then(|span| {
        let source = session.sources.get(span.file)?;
        let text = source.text();
        let start = text.get(..span.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
        Some(text.get(start..)?.lines().next()?.to_owned())
    });
    found.message.contains(word) || line.is_some_and(|line| line.contains(word))
}

#[test]
fn planted_faults_are_found_and_nothing_else() {
    let each = std::env::var("PURLIN_PLANTED").ok().and_then(|text| text.parse().ok()).unwrap_or(12_u64);
    let (mut planted, mut missed, mut alarms) = (0, Vec::new(), Vec::new());
    for (what, plant) in PLANTS {
        for round in 0..each {
            let seed = round * 7 + 1;
            let sound = plant(&mut Dice(seed), false);
            for found in findings(&sound.files).0 {
                alarms.push(format!("{what}: {} {}\n{:?}", found.rule.name, found.message, sound.files));
            }
            let case = plant(&mut Dice(seed), true);
            let (found, session) = findings(&case.files);
            planted += 1;
            if !found.iter().any(|found| is_about(found, &session, &case.word)) {
                let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
                missed.push(format!("{what}: `{}` is not found, only {told:?}", case.word));
            }
        }
    }
    assert!(planted >= 200, "{planted}");
    assert!(alarms.is_empty(), "{} false alarms:\n{}", alarms.len(), alarms.join("\n"));
    assert!(missed.is_empty(), "{} of {planted} are missed:\n{}", missed.len(), missed.join("\n"));
}
