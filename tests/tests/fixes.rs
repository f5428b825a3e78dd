//! A word is misspelt somewhere; if the problem says what was meant, correcting it takes that problem away and makes no
//! new one. Over the examples of the repository and small projects of all dialects; `PURLIN_EDITS` says how often.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::survey;
use purlin_ide::{Mended, mend};
use purlin_model::Request;
use purlin_suite::edits::{Dice, rounds};
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A project: its files by path.
type Files = BTreeMap<String, String>;

const GARDEN: &[(&str, &str)] = &[
    (
        "project.garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: local\n  - name: production\n    \
         variables: {replicas: 3}\nproviders:\n  - name: exec\n  - name: container\nvariables:\n  hostname: example.org\n  \
         replicas: 1\n",
    ),
    (
        "actions.garden.yml",
        "kind: Build\ntype: container\nname: backend\ninclude: []\nspec:\n  buildArgs: {HOST: \"${var.hostname}\"}\n---\n\
         kind: Run\ntype: exec\nname: migrate\ndependencies: [build.backend]\ninclude: []\nspec:\n  command: [echo, \
         \"${var.replicas}\", \"${actions.build.backend.version}\", \"${environment.name}\"]\n---\nkind: \
         Test\ntype: exec\nname: smoke\ndependencies: [run.migrate]\ninclude: []\nspec:\n  command: [echo, \
         \"${upper(var.hostname)}\", \"${project.name}\"]\n",
    ),
];

const SKAFFOLD: &[(&str, &str)] = &[
    (
        "skaffold.yaml",
        "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {name: shop}\nbuild:\n  artifacts:\n    - image: \
         backend\n      context: backend\n      requires: [{image: library}]\n    - image: library\n      context: \
         library\nmanifests:\n  rawYaml: [manifests/backend.yaml]\nprofiles:\n  - name: production\n    build: \
         {tagPolicy: {gitCommit: {}}}\n",
    ),
    ("backend/Dockerfile", "FROM scratch\n"),
    ("library/Dockerfile", "FROM scratch\n"),
    (
        "manifests/backend.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: backend}\nspec:\n  selector: {matchLabels: {app: \
         backend}}\n  template:\n    metadata: {labels: {app: backend}}\n    spec: {containers: [{name: backend, image: \
         backend}]}\n",
    ),
];

const TOSCA: &[(&str, &str)] = &[(
    "service.yaml",
    "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Server:\n    derived_from: \
     tosca.nodes.Root\n    properties:\n      server_port: {type: integer, default: 80}\n      hostname: {type: \
     string}\n    capabilities:\n      endpoint: {type: tosca.capabilities.Endpoint}\n  Client:\n    derived_from: \
     tosca.nodes.Root\n    properties:\n      timeout: {type: integer}\n    requirements:\n      - upstream: \
     {capability: tosca.capabilities.Endpoint, node: Server}\ntopology_template:\n  inputs:\n    domain: {type: string, \
     default: example.org}\n  node_templates:\n    server:\n      type: Server\n      properties:\n        server_port: \
     8080\n        hostname: {get_input: domain}\n    client:\n      type: Client\n      properties: {timeout: 30}\n      \
     requirements:\n        - upstream: server\n  outputs:\n    address: {value: {get_property: [server, \
     hostname]}}\n",
)];

const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: backend\nversion: 1.0.0\ndescription: A chart\n"),
    ("values.yaml", "replicaCount: 2\nimage:\n  repository: nginx\n  tag: stable\nservice:\n  port: 80\n"),
    (
        "templates/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  replicas: {{ \
         .Values.replicaCount }}\n  selector: {matchLabels: {app: backend}}\n  template:\n    metadata: {labels: {app: \
         backend}}\n    spec:\n      containers:\n        - name: backend\n          image: \"{{ .Values.image.repository \
         }}:{{ .Values.image.tag | default .Chart.AppVersion }}\"\n          ports: [{containerPort: {{ \
         .Values.service.port }}}]\n",
    ),
];

const ENSEMBLE: &[(&str, &str)] = &[(
    "ensemble.yaml",
    "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: \
     tosca_simple_unfurl_1_0_0\n    node_types:\n      Server:\n        derived_from: tosca.nodes.Root\n        \
     properties:\n          hostname: {type: string}\n          capacity: {type: integer, default: 3}\n    \
     topology_template:\n      inputs:\n        domain: {type: string, default: example.org}\n      node_templates:\n        \
     server:\n          type: Server\n          properties:\n            hostname: {get_input: domain}\n            \
     capacity: 5\n      outputs:\n        address: {value: {eval: \"::server::hostname\"}}\n",
)];

const KUSTOMIZATION: &[(&str, &str)] = &[
    (
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [service.yaml]\nnamePrefix: \
         shop-\nnamespace: production\nconfigMapGenerator:\n  - name: settings\n    literals: [level=info]\n",
    ),
    ("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: backend}\nspec: {ports: [{port: 80}]}\n"),
];

fn small(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// A folder of the repository's examples.
fn example(name: &str) -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    let (mut files, mut folders) = (Files::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if let Ok(text) = std::fs::read_to_string(&entry) {
                files.insert(entry.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text);
            }
        }
    }
    files
}

fn projects() -> Vec<(&'static str, Files)> {
    vec![
        ("garden", small(GARDEN)),
        ("skaffold", small(SKAFFOLD)),
        ("tosca", small(TOSCA)),
        ("chart", small(CHART)),
        ("unfurl", small(ENSEMBLE)),
        ("kustomize", small(KUSTOMIZATION)),
        ("shop", example("shop")),
        ("storefront", example("storefront")),
        ("modules", example("modules")),
    ]
}

fn opened(files: &Files) -> Session {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        world = world.file(path, text);
    }
    Session::new(Arc::new(world))
}

fn request() -> Request {
    Request { path: ".".to_owned(), ..Request::default() }
}

fn checked(files: &Files) -> (Session, Vec<Diagnostic>) {
    let session = opened(files);
    survey(&session, &request(), &[".".to_owned()]);
    let found = session.sink.since(0);
    (session, found)
}

/// How often each problem was found.
fn counts(found: &[Diagnostic]) -> BTreeMap<(&'static str, String), usize> {
    let mut counts = BTreeMap::new();
    for problem in found {
        *counts.entry((problem.rule.name, problem.message.clone())).or_insert(0) += 1;
    }
    counts
}

/// A text with one of its words misspelt.
fn misspelt(dice: &mut Dice, text: &str) -> Option<String> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_ascii_alphabetic() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend((at - from >= 5).then_some((from, at)));
                start = None;
            }
            _ => {}
        }
    }
    let (from, to) = *words.get(dice.roll(words.len()))?;
    let word: Vec<char> = text.get(from..to)?.chars().collect();
    let at = 1 + dice.roll(word.len() - 2);
    let mut wrong = word.clone();
    match dice.roll(3) {
        0 => wrong.swap(at, at + 1),
        1 => drop(wrong.remove(at)),
        _ => wrong.insert(at, word[at]),
    }
    let wrong: String = wrong.into_iter().collect();
    (wrong != text[from..to]).then(|| format!("{}{wrong}{}", &text[..from], &text[to..]))
}

#[test]
fn a_correction_takes_its_problem_away_and_makes_no_other() {
    let projects = projects();
    let mut dice = Dice(7);
    let (mut draws, mut corrected, mut refused, mut restored) = (0, BTreeMap::new(), 0, 0);
    let wanted = rounds(120);
    let clean: Vec<_> = projects.iter().map(|(_, files)| counts(&checked(files).1)).collect();
    while draws < wanted {
        let number = draws % projects.len();
        draws += 1;
        let (name, files) = &projects[number];
        let paths: Vec<&String> = files.keys().filter(|path| path.ends_with("yaml") || path.ends_with("yml")).collect();
        let path = paths[dice.roll(paths.len())];
        let Some(text) = misspelt(&mut dice, &files[path]) else { continue };
        let mut broken = files.clone();
        broken.insert(path.clone(), text.clone());
        let (_, found) = checked(&broken);
        let Mended { session, files: mended, refused: kept } = mend(&opened(&broken), &request());
        refused += kept.len();
        let context = || format!("draw {draws} in {path} of {name}:\n{text}\n{kept:?}");
        let (before, after) = (counts(&found), counts(&session.sink.since(0)));
        for (problem, count) in &after {
            assert!(before.get(problem).is_some_and(|known| known >= count), "new: {problem:?}, {}", context());
        }
        let applied: usize = mended.values().map(|file| file.count).sum();
        let (sum_before, sum_after): (usize, usize) = (before.values().sum(), after.values().sum());
        if applied == 0 {
            assert!(mended.is_empty() && sum_before == sum_after, "{}", context());
            continue;
        }
        assert!(sum_after < sum_before, "nothing is gone, {}", context());
        *corrected.entry(*name).or_insert(0) += 1;
        // What was misspelt by one word is as it was, or is written like another word that is right there too.
        restored += usize::from(after == clean[number]);
    }
    let total: usize = corrected.values().sum();
    eprintln!("{draws} draws, {total} corrected {corrected:?}, {restored} as before, {refused} refused");
    assert!(total * 10 >= draws, "too few mistakes can be corrected: {total} of {draws}");
    assert!(restored * 10 >= total * 9, "{restored} of {total} are as before");
    assert!(corrected.len() + 1 >= projects.len() || draws < 100, "{corrected:?}");
}
