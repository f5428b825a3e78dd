//! Faults planted by editing text in repositories that mix dialects: a misspelt key anywhere, a mistake in production
//! only, unused declarations, values that are always overridden. Plain `check` must find each, and nothing in the
//! repository before the edit. `PURLIN_PLANTED_MIXED=N` generates this many repositories.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::survey_declared;
use purlin_model::Request;
use purlin_suite::edits::Dice;
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeMap;
use std::sync::Arc;

type Files = BTreeMap<String, String>;

/// Repositories in every run.
const FEW: u64 = 12;

/// Faults that are found, in percent of all.
const FOUND: usize = 95;

/// Names of a repository, all different.
struct Names {
    dice: Dice,
    number: usize,
}

impl Names {
    fn next(&mut self) -> String {
        const WORDS: &[&str] = &["harbour", "meadow", "copper", "lantern", "willow", "granite", "ember", "saffron"];
        self.number += 1;
        format!("{}{}", self.dice.one(WORDS), self.number)
    }
}

/// A repository without a fault. Lines with `@dead`, `@production` or `@everywhere` mark where faults go, and are not
/// part of it.
fn repository(names: &mut Names) -> Files {
    let mut files = Files::new();
    let environments = 2 + names.dice.roll(3);
    garden(names, environments, &mut files);
    chart(names, "charts/store", environments, &mut files);
    if names.dice.roll(2) == 0 {
        skaffold(names, &mut files);
    }
    if names.dice.roll(2) == 0 {
        service(names, &mut files);
    }
    if names.dice.roll(2) == 0 {
        kustomization(names, &mut files);
    }
    files
}

fn garden(names: &mut Names, environments: usize, files: &mut Files) {
    let (size, host, other) = (names.next(), names.next(), names.next());
    let mut text =
        String::from("apiVersion: garden.io/v2\nkind: Project\nname: shop\ndefaultEnvironment: e0\nenvironments:\n");
    for number in 0..environments {
        let name = if number + 1 == environments { "production".to_owned() } else { format!("e{number}") };
        text.push_str(&format!("  - name: {name}\n    variables:\n      {size}: {number}\n"));
        text.push_str(&format!("      {host}: host{number} @everywhere {host}\n"));
        if name == "production" {
            text.push_str(&format!("      {other}: ${{environment.nothing}} @production nothing\n"));
        }
    }
    text.push_str(&format!("variables:\n  {host}: h\n  {other}: o\n  @dead\nproviders:\n  - name: exec\n"));
    files.insert("project.garden.yml".to_owned(), text);
    for number in 0..1 + names.dice.roll(3) {
        let kind = names.dice.one(&["Run", "Test"]);
        let build = names.next();
        let text = format!(
            "kind: Build\ntype: exec\nname: {build}\ninclude: []\nspec:\n  command: [echo, built]\n---\nkind: {kind}\ntype: exec\n\
             name: job{number}\ndependencies: [build.{build}]\ninclude: []\ntimeout: 60\nspec:\n  command: [echo, \
             \"${{var.{size}}} ${{var.{host}}}\"]\n  env:\n    OTHER: ${{var.{other}}}\n"
        );
        files.insert(format!("jobs/{number}/garden.yml"), text);
    }
}

fn chart(names: &mut Names, folder: &str, environments: usize, files: &mut Files) {
    let (group, port, level) = (names.next(), names.next(), names.next());
    let at = |name: &str| format!("{folder}/{name}");
    files.insert(at("Chart.yaml"), "apiVersion: v2\nname: store\nversion: 1.2.3\ndescription: A store\n".to_owned());
    files.insert(at("values.yaml"), format!("{group}:\n  {port}: 80\n  @dead\n{level}: info\n@dead\n"));
    for number in 0..environments {
        let name = if number == 0 { "production".to_owned() } else { format!("stage{number}") };
        // The others do not set the port, so that the chart's default is used.
        let mut text = if number == 0 { format!("{group}: {{{port}: 8000}}\n") } else { String::new() };
        text.push_str(&format!("{level}: level{number} @everywhere {level}\n@dead\n"));
        if name == "production" {
            text.push_str(&format!("{group}: {{{port}: many}} @production {port}\n"));
        }
        files.insert(at(&format!("values-{name}.yaml")), text);
    }
    let read = match names.dice.roll(3) {
        0 => format!("{{{{ .Values.{group}.{port} | int }}}}"),
        1 => format!("{{{{ with .Values.{group} }}}}{{{{ .{port} | int }}}}{{{{ end }}}}"),
        _ => format!("{{{{ include \"store.port\" (dict \"own\" .Values.{group}) }}}}"),
    };
    files.insert(
        at("templates/_helpers.tpl"),
        format!("{{{{ define \"store.port\" }}}}{{{{ .own.{port} | int }}}}{{{{ end }}}}\n{{{{ define \"store.name\" }}}}{{{{ include \"store.port\" (dict \"own\" .Values.{group}) }}}}{{{{ end }}}}\n"),
    );
    files.insert(
        at("templates/store.yaml"),
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: store\n  annotations:\n    level: {{{{ .Values.{level} | quote }}}}\n    \
             address: {{{{ include \"store.name\" . | quote }}}}\nspec:\n  selector:\n    app: store\n  ports:\n    - name: web\n      port: {read}\n\
             {{{{- if not (kindIs \"float64\" .Values.{group}.{port}) }}}}{{{{ fail \"{port} is no number\" }}}}{{{{ end }}}}\n"
        ),
    );
}

fn skaffold(names: &mut Names, files: &mut Files) {
    let value = names.next();
    files.insert(
        "delivery/skaffold.yaml".to_owned(),
        format!(
            "apiVersion: skaffold/v4beta11\nkind: Config\nmetadata:\n  name: delivery\nmanifests:\n  helm:\n    releases:\n      \
             - name: parcel\n        chartPath: chart\n        setValues:\n          {value}: two\n          @dead\nprofiles:\n  \
             - name: production\n    build:\n      tagPolicy:\n        sha256: {{}}\n"
        ),
    );
    let at = |name: &str| format!("delivery/chart/{name}");
    files.insert(at("Chart.yaml"), "apiVersion: v2\nname: parcel\nversion: 0.1.0\n".to_owned());
    files.insert(at("values.yaml"), format!("{value}: one\n"));
    files.insert(
        at("templates/parcel.yaml"),
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: parcel\ndata:\n  a: {{{{ .Values.{value} | quote }}}}\n"),
    );
}

fn service(names: &mut Names, files: &mut Files) {
    let (input, node) = (names.next(), names.next());
    files.insert(
        "network/service.yaml".to_owned(),
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  inputs:\n    {input}:\n      type: integer\n      \
             default: 2\n    @dead-input\n  node_templates:\n    {node}:\n      type: tosca.nodes.Compute\n      capabilities:\n        host:\n          \
             properties:\n            num_cpus: {{get_input: {input}}}\n  outputs:\n    cpus:\n      value: {{get_property: [{node}, host, num_cpus]}}\n"
        ),
    );
}

fn kustomization(names: &mut Names, files: &mut Files) {
    let name = names.next();
    files.insert(
        "overlay/kustomization.yaml".to_owned(),
        format!("resources:\n  - app.yaml\nnamePrefix: x-\nimages:\n  - name: {name}\n    newTag: \"2\"\n"),
    );
    files.insert(
        "overlay/app.yaml".to_owned(),
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: 2\n  selector:\n    matchLabels:\n      \
             app: {name}\n  template:\n    metadata:\n      labels:\n        app: {name}\n    spec:\n      containers:\n        \
             - name: {name}\n          image: {name}\n"
        ),
    );
}

/// Keys of the formats; all others are user-defined names.
const KEYS: &[&str] = &[
    "defaultEnvironment",
    "environments",
    "variables",
    "providers",
    "dependencies",
    "include",
    "timeout",
    "spec",
    "command",
    "description",
    "manifests",
    "releases",
    "chartPath",
    "setValues",
    "profiles",
    "tagPolicy",
    "topology_template",
    "inputs",
    "default",
    "node_templates",
    "capabilities",
    "properties",
    "num_cpus",
    "outputs",
    "resources",
    "namePrefix",
    "images",
    "newTag",
    "replicas",
    "selector",
    "matchLabels",
    "template",
    "containers",
    "image",
    "ports",
    "port",
];

/// The text of a file without the lines reserved for faults, except one of them.
fn without_marks(text: &str, kept: Option<usize>) -> String {
    let line = |(number, line): (usize, &str)| match (line.find('@'), kept == Some(number)) {
        (None, _) => Some(format!("{line}\n")),
        (Some(_), false) => None,
        (Some(at), true) => Some(format!("{}\n", line[..at].trim_end())),
    };
    text.lines().enumerate().filter_map(line).collect()
}

fn sound(files: &Files) -> Files {
    files.iter().map(|(name, text)| (name.clone(), without_marks(text, None))).collect()
}

/// A repository with one fault, and the word that its finding must contain.
struct Planted {
    what: &'static str,
    files: Files,
    word: String,
}

/// All faults that fit into a repository: one drawn for each kind and place.
fn faults(files: &Files, names: &mut Names) -> Vec<Planted> {
    let mut found = Vec::new();
    let sound = sound(files);
    for (name, text) in files {
        let with = |text: String| {
            let mut files = sound.clone();
            files.insert(name.clone(), text);
            files
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.contains("@dead")) {
            let word = names.next();
            let entry = if line.contains("input") {
                format!("{word}: {{type: integer, default: 1}}")
            } else {
                format!("{word}: 1")
            };
            let indent = &line[..line.len() - line.trim_start().len()];
            let lines = text
                .lines()
                .enumerate()
                .map(|(at, line)| if at == number { format!("{indent}{entry}@\n") } else { format!("{line}\n") });
            let text: String = lines.collect();
            found.push(Planted {
                what: "a value that nothing reads",
                files: with(without_marks(&text, Some(number))),
                word,
            });
        }
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.contains("@production")) {
            let word = line.rsplit(' ').next().unwrap().to_owned();
            // A planted line replaces the earlier line with the same key.
            let key = line.trim_start().split(':').next().unwrap();
            let lines = text.lines().enumerate().map(|(at, other)| {
                match other.starts_with(&format!("{key}:")) && at < number {
                    true => "# another value\n".to_owned(),
                    false => format!("{other}\n"),
                }
            });
            let text = without_marks(&lines.collect::<String>(), Some(number));
            found.push(Planted { what: "a mistake in production", files: with(text), word });
        }
        let keys: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.contains('@') && !name.ends_with(".tpl"))
            .filter_map(|(number, line)| {
                let key = line.trim_start_matches([' ', '-']).split(':').next()?;
                KEYS.contains(&key).then_some((number, key))
            })
            .collect();
        if let Some((number, key)) = keys.get(names.dice.roll(keys.len())) {
            let at = 1 + names.dice.roll(key.len() - 2);
            let wrong = match names.dice.roll(3) {
                0 => format!("{}{}", &key[..at], &key[at + 1..]),
                1 => format!("{}x{}", &key[..at], &key[at..]),
                _ => format!("{}{}{}{}", &key[..at], &key[at + 1..at + 2], &key[at..=at], &key[at + 2..]),
            };
            if wrong != **key && !KEYS.contains(&wrong.as_str()) {
                let lines = text.lines().enumerate().map(|(at, line)| {
                    if at == *number { line.replacen(key, &wrong, 1) + "\n" } else { format!("{line}\n") }
                });
                let text: String = lines.collect();
                found.push(Planted { what: "a misspelt key", files: with(without_marks(&text, None)), word: wrong });
            }
        }
    }
    found.extend(everywhere(files, &sound));
    found
}

/// A value that all environments, or all values files, override.
fn everywhere(files: &Files, sound: &Files) -> Vec<Planted> {
    let marked = |text: &str| text.lines().find_map(|line| Some(line.split_once("@everywhere ")?.1.to_owned()));
    let words: std::collections::BTreeSet<String> = files.values().filter_map(|text| marked(text)).collect();
    let planted = |word: String| {
        let mut all = sound.clone();
        for (name, text) in files {
            let is_it = |line: &str| line.contains(&format!("@everywhere {word}"));
            let lines = text.lines().filter_map(|line| match line.find('@') {
                None => Some(format!("{line}\n")),
                Some(at) if is_it(line) => Some(format!("{}\n", line[..at].trim_end())),
                Some(_) => None,
            });
            all.insert(name.clone(), lines.collect());
        }
        Planted { what: "a value that is overridden everywhere", files: all, word }
    };
    words.into_iter().map(planted).collect()
}

fn findings(files: &Files) -> (Vec<Diagnostic>, Session) {
    let world = files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.file(path, text));
    let session = Session::new(Arc::new(world));
    let mut request = Request { path: ".".to_owned(), ..Request::default() };
    request.chart.ci_values = true;
    request.chart.is_rehearsal = true;
    survey_declared(&session, &request, &[".".to_owned()]);
    let found = session.sink.take();
    (found, session)
}

/// Whether a finding concerns a word: its message contains it, or a line that it points at.
fn is_about(found: &Diagnostic, session: &Session, word: &str) -> bool {
    let spans = found.span.into_iter().chain(found.labels.iter().map(|label| label.span));
    let mut lines = spans.filter_map(|span| {
        let source = session.sources.get(span.file)?;
        source.line(source.position(span.start).line).map(str::to_owned)
    });
    found.message.contains(word) || lines.any(|line| line.contains(word))
}

#[test]
fn faults_in_mixed_repositories_are_found_and_nothing_else() {
    let rounds = std::env::var("PURLIN_PLANTED_MIXED").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let (mut counts, mut missed, mut alarms) = (BTreeMap::<&str, [usize; 2]>::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut names = Names { dice: Dice(round * 31 + 5), number: 0 };
        let files = repository(&mut names);
        let sound = sound(&files);
        for found in findings(&sound).0 {
            alarms.push(format!("round {round}: {} {}", found.rule.name, found.message));
        }
        for Planted { what, files, word } in faults(&files, &mut names) {
            let (found, session) = findings(&files);
            let count = counts.entry(what).or_default();
            count[0] += 1;
            if found.iter().any(|found| is_about(found, &session, &word)) {
                count[1] += 1;
                continue;
            }
            let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
            let place =
                files.iter().find_map(|(name, text)| Some((name, text.lines().find(|line| line.contains(&word))?)));
            missed.push(format!("round {round}: {what} `{word}` at {place:?} is not found, only {told:?}"));
        }
    }
    let (all, found) = counts.values().fold((0, 0), |(all, found), count| (all + count[0], found + count[1]));
    println!("{found} of {all} are found, {} false alarms: {counts:?}", alarms.len());
    assert!(counts.len() == 4 && all > 0, "{counts:?}");
    assert!(alarms.is_empty(), "{} false alarms:\n{}", alarms.len(), alarms.join("\n"));
    assert!(found * 100 >= all * FOUND, "{} of {all} are missed:\n{}", missed.len(), missed.join("\n"));
    missed.iter().for_each(|missed| println!("{missed}"));
}
