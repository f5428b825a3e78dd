//! After any rename, projects have the same result up to the name, in all environments; and renaming back restores the
//! files, so that no occurrence was missed and no other text was changed.
//!
//! `PURLIN_RENAMES` is the number of renames; a few by default. `PURLIN_SEED` changes the draws.

#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, reason = "a test says what it expects")]

use purlin_compiler::{Named, search};
use purlin_ide::{Buffers, Desk, Ide, Workspace, apply, place_of};
use purlin_model::{Request, Resolved};
use purlin_suite::edits::Dice;
use purlin_suite::projects::{Files, folder, projects};
use purlin_syntax::Limits;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session, World};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ENVIRONMENTS: [&str; 2] = ["dev", "prod"];
const NAMES: [&str; 4] = ["port", "host", "level", "tag"];

/// Random numbers that differ between tests, and with `PURLIN_SEED`.
fn dice_of(test: u64) -> Dice {
    let seed: u64 = std::env::var("PURLIN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Dice(test + seed * 1_000)
}

fn pick<'n>(dice: &mut Dice, names: &[&'n str]) -> &'n str {
    dice.one(names)
}

/// A mapping of variables; some refer to others, some contain mappings.
fn variables(dice: &mut Dice, indent: &str, seen: &[&str]) -> String {
    let mut text = String::new();
    for name in NAMES {
        match dice.roll(5) {
            0 | 1 => text += &format!("{indent}{name}: \"{}\"\n", dice.roll(100)),
            2 if !seen.is_empty() => text += &format!("{indent}{name}-of: \"x-${{var.{}}}\"\n", pick(dice, seen)),
            _ => {}
        }
    }
    text += &format!("{indent}db: {{host: \"{}\", port: \"{}\"}}\n", dice.roll(9), dice.roll(9));
    text
}

/// A Garden project with equal names at every level, and two charts with equal values.
fn generated(dice: &mut Dice) -> Files {
    let mut files = Files::new();
    let mut project = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: dev\n".to_owned();
    if dice.roll(2) == 0 {
        project += "    variables:\n";
        project += &variables(dice, "      ", &NAMES);
    }
    project += "  - name: prod\n    varfile: prod.yml\nvariables:\n";
    project += &NAMES.map(|name| format!("  {name}: \"{name}-0\"\n")).concat();
    project += "  db: {host: \"h\", port: \"p\", user: \"u\"}\n";
    files.insert("prod.yml".into(), variables(dice, "", &NAMES));
    let kinds = ["Build", "Run", "Test"];
    let actions = ["api", "web", "port"];
    for (kind, name) in kinds.iter().flat_map(|kind| actions.map(|name| (kind, name))) {
        project += &format!("---\nkind: {kind}\ntype: exec\nname: {name}\n");
        let own = dice.roll(2) == 0;
        if own {
            project += "variables:\n";
            project += &variables(dice, "  ", &[]);
        }
        if *kind == "Run" && dice.roll(2) == 0 {
            project += &format!("dependencies: [build.{}]\n", pick(dice, &actions));
        }
        let mut words = vec!["echo".to_owned()];
        for _ in 0..3 {
            let name = pick(dice, &NAMES);
            words.push(match dice.roll(6) {
                0 => format!("\"${{var['{name}']}}\""),
                1 => format!("\"${{false ? var.{name} : 'no'}}\""),
                2 => "\"${var.db.host}\"".to_owned(),
                3 if *kind == "Test" => format!("\"${{actions.run.{}.var.{name}}}\"", pick(dice, &actions)),
                _ => format!("\"a ${{var.{name}}} b\""),
            });
        }
        project += &format!("spec: {{command: [{}]}}\n", words.join(", "));
    }
    project += "---\nkind: Workflow\nname: all\nsteps:\n  - name: api\n    command: [build, api]\n";
    project += "  - script: echo ${steps.api.outputs}\n";
    for chart in ["one", "two"] {
        project += &format!("---\nkind: Deploy\ntype: helm\nname: {chart}\nspec:\n  chart: {{path: {chart}}}\n");
        project += &format!("  values: {{{}: \"${{var.{}}}\"}}\n", pick(dice, &NAMES), pick(dice, &NAMES));
        let mut add = |name: &str, text: String| drop(files.insert(format!("{chart}/{name}"), text));
        add("Chart.yaml", format!("apiVersion: v2\nname: {chart}\nversion: 1.0.0\n"));
        let values = NAMES.map(|name| format!("{name}: \"{name}\"\n")).concat();
        add("values.yaml", format!("{values}db: {{host: h, port: p}}\nsub: {{tag: s}}\n"));
        let read = |dice: &mut Dice| match dice.roll(4) {
            0 => format!("{{{{ index .Values \"{}\" | quote }}}}", pick(dice, &NAMES)),
            1 => format!("{{{{ with .Values.db }}}}{{{{ .{} | quote }}}}{{{{ end }}}}", pick(dice, &["host", "port"])),
            2 => format!("{{{{ include \"show\" (dict \"v\" .Values.db \"x\" .Values.{}) }}}}", pick(dice, &NAMES)),
            _ => format!("{{{{ default 1 $.Values.{} | quote }}}}", pick(dice, &NAMES)),
        };
        let lines: String = (0..4).map(|at| format!("  k{at}: {}\n", read(dice))).collect();
        let hidden = format!("{{{{ if .Values.none }}}}\n  n: {}\n{{{{ end }}}}\n", read(dice));
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n";
        add("templates/cm.yaml", format!("{head}{lines}{hidden}"));
        add("templates/_h.tpl", "{{ define \"show\" }}{{ printf \"%s-%s\" .v.host .x | quote }}{{ end }}\n".into());
        add("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n".into());
        add("charts/sub/values.yaml", "tag: t\nport: p\n".into());
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: ";
        add("charts/sub/templates/cm.yaml", format!("{head}{{t: {{{{ .Values.tag }}}}, p: {{{{ .Values.port }}}}}}\n"));
    }
    files.insert("garden.yml".into(), project);
    files
}

fn world(files: &Files) -> Arc<dyn World> {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        world = world.file(path, text);
    }
    Arc::new(world)
}

fn opened(files: &Files) -> Ide {
    let buffers = Arc::new(Buffers::default());
    let desk = Arc::new(Desk::new(world(files), buffers.clone()));
    let mut workspace = Workspace::new(desk.clone(), ".", Limits::default());
    let ide = Ide::new(desk, buffers.clone(), Limits::default());
    if let Some(picture) = workspace.refresh(&[], &buffers, &|| false) {
        ide.show(picture);
    }
    ide
}

/// The result of each action in each environment.
fn results(files: &Files, environments: [&str; 2]) -> Vec<String> {
    let session = Session::new(world(files));
    let claims = search(&session, &Request::default(), &[".".to_owned()]).claims;
    let mut all = Vec::new();
    for environment in environments {
        let request = Request { environment: Some(environment.to_owned()), ..Request::default() };
        let claim = claims.iter().find(|claim| claim.dialect().name == "garden").expect("a project");
        let own = session.sibling();
        let resolved: Resolved = claim.resolve(&own, &request).expect("a result");
        let json = |value| to_json(value, Secrets::Hide, JsonLayout::Compact).expect("json");
        for node in &resolved.nodes {
            let commands = node.resolved.get("spec").and_then(|spec| spec.get("command")).map(json);
            all.push(format!("{environment} {} {commands:?}", node.id));
        }
        all.extend(resolved.manifests.iter().map(|manifest| format!("{environment} {}", json(&manifest.value))));
    }
    all.sort();
    all
}

fn applied(files: &Files, edits: &[purlin_ide::Edit]) -> Files {
    let text = |(path, text): (&String, &String)| (path.clone(), apply(edits, path, text));
    files.iter().map(text).collect()
}

#[test]
fn a_rename_changes_nothing_but_the_name() {
    const NEW: &str = "zq7new";
    let count: usize = std::env::var("PURLIN_RENAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut dice = dice_of(7);
    let (mut made, mut refused): (usize, BTreeMap<String, usize>) = (0, BTreeMap::new());
    while made + refused.values().sum::<usize>() < count {
        let files = generated(&mut dice);
        let ide = opened(&files);
        let projects = ide.all_names();
        let declared: Vec<Named> = projects.table.all().iter().filter(|one| one.is_declaration()).cloned().collect();
        assert!(declared.len() > 20, "{} names", declared.len());
        let before = results(&files, ENVIRONMENTS);
        for _ in 0..8 {
            let named = declared[dice.roll(declared.len())].clone();
            let (kind, old, place) = (named.kind, named.text().to_owned(), place_of(&named));
            if matches!(kind, "provider" | "chart" | "project") {
                continue;
            }
            let renamed = match ide.rename_to(projects.clone(), named, NEW) {
                Ok(renamed) => renamed,
                Err(refusal) => {
                    *refused.entry(format!("{kind}: {}", refusal.message)).or_default() += 1;
                    continue;
                }
            };
            made += 1;
            let after = applied(&files, &renamed.edits);
            let shown = format!("{kind} `{old}` at {place:?}\n{}", files["garden.yml"]);
            let plain =
                |lines: Vec<String>| -> BTreeSet<String> { lines.iter().map(|line| line.replace(NEW, &old)).collect() };
            let is_renamed = |name: &str| kind == "environment" && name == old;
            let environments = ENVIRONMENTS.map(|name| if is_renamed(name) { NEW } else { name });
            assert_eq!(plain(results(&after, environments)), before.iter().cloned().collect(), "{shown}");
            let back = opened(&after);
            let first = renamed.edits.first().expect("an edit");
            let moved = back.names_on_line(&first.place.file, first.place.start.line);
            let moved = moved.iter().find(|place| place.start == first.place.start).unwrap_or(&first.place);
            let again = back.rename(&first.place.file, moved.bytes.0 as usize, &old);
            let again = again.unwrap_or_else(|refusal| panic!("back: {refusal:?}\n{shown}"));
            assert_eq!(applied(&after, &again.edits), files, "{shown}");
        }
    }
    let total: usize = refused.values().sum();
    println!("{made} renames, {total} refused: {refused:#?}");
    assert!(total * 10 <= made, "{made} renames, {total} refused: {refused:#?}");
}

const WORDS: [&str; 4] = ["app", "web", "port", "host"];

/// Configurations, profiles and images with equal names, in two files.
fn skaffold(dice: &mut Dice) -> Files {
    let mut files = Files::new();
    for (at, folder) in ["", "lib/"].iter().enumerate() {
        let mut text = String::new();
        for (number, name) in WORDS.iter().enumerate().filter(|(number, _)| number % 2 == at) {
            let image = format!("{name}{}", ["", "/x"][dice.roll(2)]);
            text += &format!("---\napiVersion: skaffold/v4beta11\nkind: Config\nmetadata: {{name: {name}}}\n");
            if at == 0 {
                let required = dice.one(&["port", "web"]);
                let profile = dice.one(&WORDS);
                text += &format!("requires:\n  - path: lib\n    configs: [{required}]\n");
                text += &format!("    activeProfiles: [{{name: {profile}, activatedBy: [{}]}}]\n", dice.one(&WORDS));
            }
            text += &format!(
                "build:\n  artifacts:\n    - image: {image}\n      context: .\n      docker: {{dockerfile: D}}\n"
            );
            if number == 2 {
                text += "      requires: [{image: \"other\", alias: BASE}]\n    - {image: 'other', docker: {dockerfile: D}}\n";
            }
            text += &format!("manifests: {{rawYaml: [{name}.yaml]}}\nprofiles:\n");
            for profile in WORDS {
                text += &format!("  - name: {profile}\n");
                match dice.roll(3) {
                    0 => text += &format!("    build: {{artifacts: [{{image: {profile}-p}}, {{image: {image}}}]}}\n"),
                    1 => text += "    build: {tagPolicy: {sha256: {}}}\n",
                    _ => text += "    patches: [{op: add, path: /build/local, value: {push: false}}]\n",
                }
            }
            let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n";
            files.insert(format!("{folder}{name}.yaml"), format!("{pod}    - {{name: c, image: \"{image}:v1\"}}\n"));
        }
        files.insert(format!("{folder}skaffold.yaml"), text);
        files.insert(format!("{folder}D"), "FROM scratch\n".into());
    }
    files
}

/// Types with equal names for everything, in a library with a prefix, and a service; in TOSCA 1.3 or 2.0.
fn tosca(dice: &mut Dice, is_2: bool) -> Files {
    let (call, version) = if is_2 { ("$", "tosca_2_0") } else { ("", "tosca_simple_yaml_1_3") };
    let service = if is_2 { "service_template" } else { "topology_template" };
    let version = format!("tosca_definitions_version: {version}\n");
    let [a, b, c, d] = WORDS;
    let value = |dice: &mut Dice| match dice.roll(3) {
        0 => format!("{{{call}get_property: [SELF, {c}]}}"),
        1 => format!("{{{call}get_property: [SELF, {d}, {}]}}", dice.one(&[a, b])),
        _ => "x".to_owned(),
    };
    let mut library = version.clone();
    library += &format!("data_types:\n  {a}:\n    properties:\n      {a}: {{type: string}}\n");
    library += &format!("      {b}: {{type: string, default: v, required: false}}\n");
    library += &format!("capability_types:\n  {a}:\n    properties:\n      {a}: {{type: string, default: cap}}\n");
    library += &format!("relationship_types:\n  {a}:\n    properties:\n      {b}: {{type: string, default: rel}}\n");
    library += &format!("interface_types:\n  {a}:\n    operations:\n      {a}: {{}}\n      {b}: {{}}\n");
    library += &format!("node_types:\n  {a}:\n    properties:\n      {c}: {{type: string, default: node}}\n");
    library += &format!("      {d}: {{type: {a}}}\n      {a}: {{type: string, default: {}}}\n", value(dice));
    library += &format!("    attributes:\n      {b}: {{type: string, default: {}}}\n", value(dice));
    library += &format!("    capabilities:\n      {a}: {{type: {a}}}\n      {b}: {a}\n");
    library += &format!("    interfaces:\n      {c}: {{type: {a}, operations: {{{a}: {{implementation: x.sh, ");
    library += &format!("inputs: {{{c}: {{type: string, default: {}}}}}}}}}}}\n", value(dice));
    library += &format!(
        "  {b}:\n    derived_from: {a}\n    properties:\n      {c}: {{type: string, default: {}}}\n",
        dice.roll(9)
    );
    let node = ["", &format!("node: {a}, ")][dice.roll(2)].to_owned();
    library += &format!("    requirements:\n      - {b}: {{capability: {a}, {node}relationship: {a}}}\n");
    library += "group_types:\n  web: {}\npolicy_types:\n  web: {}\n";
    let (import, prefix) = match (is_2, dice.roll(2) == 0) {
        (true, true) => ("imports: [{url: lib.yaml, namespace: app}]\n", "app:"),
        (true, false) => ("imports: [{url: lib.yaml}]\n", ""),
        (false, true) => ("imports: [{file: lib.yaml, namespace_prefix: app}]\n", "app:"),
        (false, false) => ("imports: [lib.yaml]\n", ""),
    };
    let mut text = version + import;
    text += &format!(
        "{service}:\n  inputs:\n    {a}: {{type: string, default: in}}\n    {c}: {{type: '{prefix}{a}', default: {{{a}: q}}}}\n"
    );
    text += "  node_templates:\n";
    for (number, name) in WORDS.iter().enumerate() {
        let of = if number % 2 == 0 { a } else { b };
        text += &format!("    {name}:\n      type: {prefix}{of}\n      properties:\n        {d}: {{{a}: ");
        text += &match dice.roll(3) {
            0 => format!("{{{call}get_input: {a}}}"),
            1 => format!("{{{call}get_input: [{c}, {a}]}}"),
            _ => "s".to_owned(),
        };
        text += "}\n";
        if dice.roll(2) == 0 {
            text += &format!("        {c}: {{{call}get_property: [{a}, {d}, {a}]}}\n");
        }
        if dice.roll(2) == 0 {
            text += &format!("      capabilities:\n        {a}: {{properties: {{{a}: z}}}}\n");
        }
        if of == b {
            let to = ["app".to_owned(), format!("{{node: app, capability: {}}}", dice.one(&[a, b]))];
            text += &format!("      requirements:\n        - {b}: {}\n", to[dice.roll(2)]);
            if dice.roll(2) == 0 {
                text += &format!(
                    "      attributes:\n        {b}: {}\n",
                    match is_2 {
                        true => format!("{{$get_property: [SELF, RELATIONSHIP, {b}, {b}]}}"),
                        false => format!("{{get_property: [SELF, {b}, {}]}}", dice.one(&[a, b])),
                    }
                );
            }
        }
        if dice.roll(3) == 0 {
            text += &format!("      interfaces:\n        {c}: {{operations: {{{a}: {{inputs: {{{c}: k}}}}}}}}\n");
        }
    }
    text += &format!("  groups:\n    {b}: {{type: '{prefix}web', members: [{a}, {d}]}}\n");
    text += &format!("  policies:\n    - {c}: {{type: '{prefix}web', targets: [{a}, {b}]}}\n");
    text += &format!(
        "  workflows:\n    {a}: {{steps: {{{a}: {{target: {a}, activities: [{{call_operation: {c}.{a}}}], on_success: [{b}]}}, "
    );
    text += &format!("{b}: {{target: {b}, activities: [{{call_operation: {c}.{b}}}]}}}}}}\n");
    text += &format!("  outputs:\n    {a}: {{value: {{{call}get_property: [{d}, {c}]}}}}\n");
    text += &format!("    {b}: {{value: {{{call}get_attribute: [{a}, {b}]}}}}\n");
    Files::from([("service.yaml".into(), text), ("lib.yaml".into(), library), ("x.sh".into(), String::new())])
}

/// An ensemble whose queries and templates refer to equal names.
fn unfurl(dice: &mut Dice) -> Files {
    let [a, b, c, _] = WORDS;
    let query = |dice: &mut Dice| match dice.roll(6) {
        0 => format!("{{eval: \"::{}::{c}\"}}", dice.one(&[a, b])),
        1 => format!("\"{{{{ '::{}::{c}' | eval }}}}\"", dice.one(&[a, b])),
        2 => format!("\"{{{{ SELF.{c} }}}}-x\""),
        3 => format!("{{eval: .::{c}}}"),
        4 => format!("{{get_input: {a}}}"),
        _ => "plain".to_owned(),
    };
    let mut text = "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n".to_owned();
    if dice.roll(2) == 0 {
        text += &format!("  inputs: {{{a}: given}}\n");
    }
    text += "  service_template:\n    tosca_definitions_version: unfurl/v1.0.0\n    node_types:\n";
    for of in [a, b] {
        text += &format!(
            "      {of}:\n        derived_from: tosca.nodes.Root\n        properties:\n          {c}: {{type: string, default: {of}}}\n"
        );
        text += &format!("          {a}: {{type: string, default: {}}}\n", query(dice));
        text += &format!("        attributes:\n          {b}: {{type: string, default: {}}}\n", query(dice));
        if of == b {
            text += &format!(
                "        requirements:\n          - {a}: {{node: {a}, relationship: tosca.relationships.DependsOn}}\n"
            );
        }
    }
    text += &format!(
        "    topology_template:\n      inputs:\n        {a}: {{type: string, default: v}}\n        {b}: {{type: string, default: w}}\n      node_templates:\n"
    );
    text += &format!("        {a}: {{type: {a}, properties: {{{a}: {}}}}}\n", query(dice));
    text += &format!(
        "        {b}:\n          type: {b}\n          properties: {{{a}: {}}}\n          requirements: [{{{a}: {a}}}]\n",
        query(dice)
    );
    text += &format!(
        "      outputs:\n        {a}: {{value: {{eval: \"::{b}::{a}\"}}}}\n        {b}: {{value: {{eval: \"::{b}::.targets::{a}::{c}\"}}}}\n"
    );
    let project = "apiVersion: unfurl/v1.0.0\nkind: Project\nenvironments:\n  app: {}\n  web: {variables: {X: y}}\nensembles:\n  - file: ensemble.yaml\n    environment: app\n";
    Files::from([("ensemble.yaml".into(), text), ("unfurl.yaml".into(), project.into())])
}

/// Resources of several kinds with equal names, and two overlays that refer to them.
fn kustomize(dice: &mut Dice) -> Files {
    let [a, b, c, _] = WORDS;
    let head = |version: &str, kind: &str, name: &str| {
        format!("---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let container = |dice: &mut Dice| {
        let mut text = format!("      - name: {a}\n        image: {a}:1\n        envFrom:\n");
        text += &format!("        - configMapRef: {{name: {}}}\n", dice.one(&[a, b]));
        text += &format!("        - secretRef: {{name: '{}'}}\n", dice.one(&[a, c]));
        text
    };
    let mut objects = String::new();
    for name in [a, b] {
        objects += &head("apps/v1", "Deployment", name);
        objects += &format!("spec:\n  replicas: 1\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n");
        objects += &format!("    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      serviceAccountName: {a}\n");
        objects += &format!("      containers:\n{}", container(dice));
    }
    objects += &(head("v1", "Service", a) + "spec: {ports: [{port: 80}]}\n");
    objects += &(head("v1", "ServiceAccount", a) + "automountServiceAccountToken: false\n");
    objects += &(head("rbac.authorization.k8s.io/v1", "Role", b) + "rules: []\n");
    objects += &head("rbac.authorization.k8s.io/v1", "RoleBinding", c);
    objects += &format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {b}}}\n");
    objects += &format!("subjects: [{{kind: ServiceAccount, name: {a}}}]\n");
    objects += &head("autoscaling/v2", "HorizontalPodAutoscaler", a);
    objects += &format!(
        "spec: {{maxReplicas: 3, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {}}}}}\n",
        dice.one(&[a, b])
    );
    let mut base = "resources: [objects.yaml]\nconfigMapGenerator:\n".to_owned();
    base += &format!("- {{name: {a}, literals: [X=1]}}\n- {{name: {b}, literals: [X=2]}}\n");
    base += &format!("secretGenerator:\n- {{name: {a}, literals: [X=3]}}\n- {{name: {c}, literals: [X=4]}}\n");
    let mut files = Files::from([("base/kustomization.yaml".into(), base), ("base/objects.yaml".into(), objects)]);
    for overlay in ["dev", "prod"] {
        let mut text = "resources: [../base]\n".to_owned();
        match dice.roll(3) {
            0 => text += &format!("namePrefix: {overlay}-\n"),
            1 => text += "nameSuffix: -x\nnamespace: shop\n",
            _ => {}
        }
        if dice.roll(2) == 0 {
            text += &format!("replicas: [{{name: {}, count: 4}}]\n", dice.one(&[a, b]));
        }
        if dice.roll(2) == 0 {
            text += &format!("configMapGenerator: [{{name: {a}, behavior: merge, literals: [Y=1]}}]\n");
        }
        if dice.roll(2) == 0 {
            text += &format!("replacements:\n- source: {{kind: Deployment, name: {b}, fieldPath: spec.replicas}}\n");
            text += &format!("  targets: [{{select: {{kind: Deployment, name: {a}}}, fieldPaths: [spec.replicas]}}]\n");
        }
        text += "patches:\n- path: patch.yaml\n";
        text += &format!("- target: {{kind: Deployment, name: {}}}\n  path: pause.yaml\n", dice.one(&[a, b]));
        let patch = head("apps/v1", "Deployment", dice.one(&[a, b])) + "spec: {revisionHistoryLimit: 2}\n";
        files.insert(format!("{overlay}/kustomization.yaml"), text);
        files.insert(format!("{overlay}/patch.yaml"), patch);
        files.insert(format!("{overlay}/pause.yaml"), "- {op: add, path: /spec/paused, value: true}\n".into());
    }
    files
}

/// The results of all variants of all projects, leaf by leaf, without hashes.
fn leaves(ide: &Ide) -> Vec<String> {
    let mut all = Vec::new();
    for (number, result) in ide.all_names().results.iter().enumerate() {
        let Some(resolved) = &result.resolved else { continue };
        let mut open: Vec<(String, purlin_value::Value)> = vec![
            (format!("{number} variables"), resolved.variables.clone()),
            (format!("{number} outputs"), resolved.outputs.clone()),
        ];
        for node in &resolved.nodes {
            let needs: Vec<&str> = node.dependencies.iter().map(|need| need.node.as_str()).collect();
            all.push(format!("{number} {} {} {} {needs:?}", node.id, node.type_name, node.disabled));
            open.push((format!("{number} {}", node.id), node.resolved.clone()));
            open.push((format!("{number} {} outputs", node.id), node.outputs.clone()));
        }
        open.extend(resolved.manifests.iter().map(|manifest| (format!("{number} manifest"), manifest.value.clone())));
        while let Some((path, value)) = open.pop() {
            if let Some(map) = value.as_map() {
                open.extend(map.iter().map(|(key, value)| (format!("{path} {key}"), value.clone())));
            } else if let Some(list) = value.as_list() {
                open.extend(list.iter().map(|value| (format!("{path} -"), value.clone())));
            } else if value.as_str().is_some() || !value.is_pending() {
                let text = to_json(&value, Secrets::Hide, JsonLayout::Compact).expect("json");
                all.push(format!("{path} = {text}"));
            }
        }
    }
    all
}

/// A line without parts derived from a name: hashes and versions.
fn masked(line: &str, new: &str, old: &str) -> String {
    let mut plain = String::new();
    let mut run = String::new();
    for c in line.replace(new, old).chars().chain(['\n']) {
        if c.is_ascii_hexdigit() {
            run.push(c);
            continue;
        }
        plain += if run.len() >= 10 { "#" } else { &run };
        run.clear();
        plain.push(c);
    }
    plain
}

/// Renames symbols of a project, each to a new name and back; counts the made and refused ones by kind.
#[derive(Default)]
struct Tally {
    made: BTreeMap<String, usize>,
    refused: BTreeMap<String, usize>,
}

impl Tally {
    fn try_names(&mut self, files: &Files, dice: &mut Dice, draws: usize, context: &str) {
        const NEW: &str = "zq7new";
        let ide = opened(files);
        let all = ide.all_names();
        let declared: Vec<Named> = all.table.all().iter().filter(|one| one.is_declaration()).cloned().collect();
        let sorted = |lines: Vec<String>, old: &str| -> Vec<String> {
            let mut lines: Vec<String> = lines.iter().map(|line| masked(line, NEW, old)).collect();
            lines.sort();
            lines
        };
        if declared.is_empty() {
            return;
        }
        let before = leaves(&ide);
        for _ in 0..draws {
            let named = declared[dice.roll(declared.len())].clone();
            let (kind, old, place) = (named.kind, named.text().to_owned(), place_of(&named));
            if matches!(kind, "provider" | "chart") {
                continue;
            }
            let renamed = match ide.rename_to(all.clone(), named, NEW) {
                Ok(renamed) => renamed,
                Err(refusal) => {
                    if std::env::var("PURLIN_REFUSED").is_ok() {
                        println!("{context} {}:{} {kind} {old}: {}", place.file, place.start.line + 1, refusal.shown());
                    }
                    *self.refused.entry(format!("{context} {kind}")).or_default() += 1;
                    continue;
                }
            };
            *self.made.entry(format!("{context} {kind}")).or_default() += 1;
            let after = applied(files, &renamed.edits);
            let shown = format!("{context}: {kind} `{old}` at {place:?}\n{:#?}", renamed.edits);
            let back = opened(&after);
            assert_eq!(sorted(leaves(&back), &old), sorted(before.clone(), &old), "{shown}");
            let first = renamed.edits.first().expect("an edit");
            let again = back.rename(&first.place.file, first.place.bytes.0 as usize, &old);
            let again = again.unwrap_or_else(|refusal| panic!("back: {refusal:?}\n{shown}"));
            assert_eq!(applied(&after, &again.edits), *files, "{shown}");
        }
    }
}

/// Folders with recorded projects, one below each; named by `PURLIN_PROJECTS`.
fn recorded() -> Vec<(String, Files)> {
    let Ok(root) = std::env::var("PURLIN_PROJECTS") else { return Vec::new() };
    let mut found: Vec<_> = std::fs::read_dir(&root).expect("a folder").flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
        .iter()
        .map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), folder(path)))
        .collect()
}

#[test]
fn names_of_all_dialects_can_be_renamed() {
    let count: usize = std::env::var("PURLIN_RENAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let only = std::env::var("PURLIN_ONLY").unwrap_or_default();
    let mut dice = dice_of(11);
    let mut tally = Tally::default();
    let known = projects();
    let recorded = recorded();
    let mut round = 0;
    while tally.made.values().chain(tally.refused.values()).sum::<usize>() < count && round < count * 4 {
        round += 1;
        let (context, files) = match round % 8 {
            0 => ("skaffold", skaffold(&mut dice)),
            1 => ("tosca 1.3", tosca(&mut dice, false)),
            2 => ("tosca 2.0", tosca(&mut dice, true)),
            6 => ("unfurl law", unfurl(&mut dice)),
            7 => ("kustomize", kustomize(&mut dice)),
            3 if !recorded.is_empty() => {
                let (name, files) = &recorded[dice.roll(recorded.len())];
                (name.as_str(), files.clone())
            }
            _ => {
                let (name, files) = &known[dice.roll(known.len())];
                (*name, files.clone())
            }
        };
        if context.contains(&only) {
            tally.try_names(&files, &mut dice, 4, context);
        }
    }
    let (made, refused): (usize, usize) = (tally.made.values().sum(), tally.refused.values().sum());
    println!("{made} renames {:#?}, {refused} refused {:#?}", tally.made, tally.refused);
    assert!(refused * 20 <= made + refused || made < 500, "{made} renames, {refused} refused: {:#?}", tally.refused);
}
