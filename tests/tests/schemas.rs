//! Checks the program's machine-readable output against the schemas under `docs/schemas`.
//!
//! Schemas are open, because output may grow; here they are closed, so that undocumented output is an error. Inputs are
//! a small project of our own and every case folder of the suite.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_suite::{Ran, environment, run, top};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One compiled schema.
struct Schema {
    name: &'static str,
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

const NAMES: &[&str] = &["resolve", "why", "affects", "diff", "graph", "check", "diagnostic"];

/// Answers to single questions, most of them for editors: the schema, and the command that prints it.
const EDITOR: &[(&str, &[&str])] = &[
    ("inputs", &["why", "shop/api", "image", "--list-inputs"]),
    ("symbols", &["symbols"]),
    ("refs", &["refs", "api"]),
    ("complete", &["complete", "skaffold.yaml:6:3"]),
    ("hover", &["hover", "skaffold.yaml:6:3"]),
    ("definition", &["definition", "skaffold.yaml:7:15"]),
];

impl Schema {
    fn load(name: &'static str) -> Self {
        let path = top().join("docs/schemas").join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], format!("urn:purlin:answers:{name}"));
        close(&mut schema);
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        let id = format!("urn:purlin:answers:{name}");
        compiler.add_resource(&id, schema).unwrap();
        let index = compiler.compile(&id, &mut schemas).unwrap();
        Schema { name, schemas, index }
    }

    fn check(&self, text: &str, what: &str) -> Value {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        if let Err(error) = self.schemas.validate(&value, self.index) {
            panic!("{what} does not agree with docs/schemas/{}.json: {error:#}\n{text}", self.name);
        }
        value
    }
}

/// Allows only the documented members.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);
            if map.contains_key("properties") && map.get("type") == Some(&Value::from("object")) {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn purlin(folder: &Path, words: &[&str]) -> Ran {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    run(&words, folder, &environment(""))
}

/// Runs all commands on a folder and checks each answer; counts them by kind.
fn examine(folder: &Path, counts: &mut [usize]) {
    let [resolve, why, affects, diff, graph, check, diagnostic] =
        [0, 1, 2, 3, 4, 5, 6].map(|at| Schema::load(NAMES[at]));
    let shown = folder.display().to_string();
    let checked = purlin(folder, &["check", "-o", "json", "--diagnostics", "json"]);
    check.check(&checked.stdout, &shown);
    counts[5] += 1;
    for line in checked.stderr.lines() {
        diagnostic.check(line, &shown);
        counts[6] += 1;
    }
    let resolved = purlin(folder, &["resolve", "-o", "json"]);
    if resolved.stdout.is_empty() {
        return;
    }
    let resolved = resolve.check(&resolved.stdout, &shown);
    counts[0] += 1;
    graph.check(&purlin(folder, &["graph", "-o", "json"]).stdout, &shown);
    counts[4] += 1;
    for (id, node) in resolved["nodes"].as_object().unwrap().iter().take(3) {
        let field = first_leaf(&node["resolved"]);
        let answer = purlin(folder, &["why", id, &field, "-o", "json"]);
        if !answer.stdout.is_empty() {
            why.check(&answer.stdout, &format!("{shown} why {id} {field}"));
            counts[1] += 1;
        }
        if let (Some(file), Some(line)) = (node["source"]["file"].as_str(), node["source"]["line"].as_u64()) {
            let answer = purlin(folder, &["why", "--file", &format!("{file}:{line}"), "-o", "json"]);
            if !answer.stdout.is_empty() {
                affects.check(&answer.stdout, &format!("{shown} why --file {file}:{line}"));
                counts[2] += 1;
            }
        }
    }
    // Each dialect refuses options that it does not use.
    for other in [["--to-profile", "other"], ["--to-var", "x=y"]] {
        let differences = purlin(folder, &["diff", other[0], other[1], "-o", "json"]);
        if !differences.stdout.is_empty() {
            diff.check(&differences.stdout, &shown);
            counts[3] += 1;
        }
    }
}

/// The path of the first scalar whose keys need no quotes.
fn first_leaf(value: &Value) -> String {
    let mut path = Vec::new();
    let mut at = value;
    loop {
        let next = match at {
            Value::Object(map) => map.iter().next().map(|(key, value)| (key.clone(), value)),
            Value::Array(list) => list.first().map(|value| ("0".to_owned(), value)),
            _ => None,
        };
        let Some((key, value)) = next.filter(|(key, _)| !key.contains('.')) else { return path.join(".") };
        path.push(key);
        at = value;
    }
}

#[test]
fn a_small_project_answers_as_told() {
    let folder = std::env::temp_dir().join(format!("purlin-schemas-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("skaffold.yaml"), SAMPLE).unwrap();
    let mut counts = [0; 7];
    examine(&folder, &mut counts);
    for (name, words) in EDITOR {
        let answer = purlin(&folder, &[*words, &["-o", "json"]].concat()).stdout;
        let told = Schema::load(name).check(&answer, name);
        let is_empty =
            told.as_object().unwrap().values().all(|value| value == &serde_json::json!([]) || value.is_null());
        assert!(!is_empty, "nothing was printed that docs/schemas/{name}.json tells of");
    }
    std::fs::write(folder.join("skaffold.yaml"), format!("{SAMPLE}wrong: 1\nwrong: 2\n")).unwrap();
    let broken = purlin(&folder, &["check", "--diagnostics", "json"]);
    let diagnostic = Schema::load("diagnostic");
    for line in broken.stdout.lines() {
        diagnostic.check(line, "a broken file");
        counts[6] += 1;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    for (name, count) in NAMES.iter().zip(counts) {
        assert!(count > 0, "nothing was printed that docs/schemas/{name}.json tells of");
    }
}

const SAMPLE: &str = "\
apiVersion: skaffold/v4beta6
kind: Config
metadata:
  name: shop
build:
  artifacts:
    - image: api
profiles:
  - name: other
    build:
      artifacts:
        - image: web
";

#[test]
fn all_cases_answer_as_told() {
    let mut folders: Vec<PathBuf> = vec![top().join("tests/suite")];
    let mut counts = [0; 7];
    while let Some(folder) = folders.pop() {
        if folder.join("expect").is_dir() {
            examine(&folder, &mut counts);
            continue;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
}

#[test]
fn every_schema_is_used() {
    for entry in std::fs::read_dir(top().join("docs/schemas")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let names = NAMES.iter().copied().chain(EDITOR.iter().map(|(name, _)| *name));
        let names = names.chain(EXPLORER.iter().map(|(name, ..)| *name));
        let known = name == "README.md" || names.map(|known| format!("{known}.json")).any(|known| known == name);
        assert!(known, "docs/schemas/{name} is not tested here");
    }
}

/// Requests of the page of `purlin explore`: the schema of the answer, its path, and its parameters.
type Question = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const EXPLORER: &[Question] = &[
    ("explore-project", "project", &[("env", "prod")]),
    ("explore-picture", "picture", &[]),
    ("explore-picture", "picture", &[("group", "kind"), ("open", ""), ("compare", "env:prod")]),
    ("explore-node", "node", &[("id", "build.api")]),
    ("explore-node", "node", &[("id", "variables")]),
    ("explore-compare", "compare", &[("from", "env:dev"), ("to", "env:prod")]),
    ("explore-file", "file", &[("path", "garden.yml")]),
    ("why", "why", &[("id", "build.api"), ("field", "spec.command.1")]),
    ("affects", "affects", &[("file", "garden.yml"), ("line", "4")]),
];

/// The data for the page of `purlin explore`, for a project with two environments and a secret.
#[test]
fn the_explorer_answers_as_told() {
    use purlin_explore::{Answers, Project, Side, Source};
    use purlin_host::serve::Asked;
    use purlin_model::Request;
    use purlin_value::{MemoryWorld, Session};
    struct Nothing;
    impl Source for Nothing {
        fn resolve(&mut self) -> Option<Project> {
            None
        }
        fn at_revision(&mut self, _revision: &str) -> Result<Vec<Side>, String> {
            Ok(Vec::new())
        }
    }
    const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\n\
         environments: [{name: dev, variables: {n: 1}}, {name: prod, variables: {n: 2}}]\nproviders: [{name: exec}]\n---\n\
         kind: Build\ntype: exec\nname: api\nspec: {command: [make, '${var.n}', \"${local.env.TOKEN || ''}\"]}\n---\n\
         kind: Run\ntype: exec\nname: go\ndisabled: true\nspec: {command: ['${actions.build.api.outputs.log}']}\n";
    let side = |name: &str| {
        let world = MemoryWorld::new().file("garden.yml", GARDEN);
        let session = Session::new(std::sync::Arc::new(world));
        let request = Request { environment: Some(name.to_owned()), ..Request::of(".") };
        let compiled = purlin_compiler::compile(&session, &request).unwrap();
        Side::new(name.to_owned(), session, compiled.resolved, Vec::new(), false)
    };
    let project = Project {
        path: ".".to_owned(),
        dialect: "garden",
        noun: "environment",
        chosen: 0,
        sides: vec![side("dev"), side("prod")],
        missing: Vec::new(),
        problems: Vec::new(),
        counts: (0, 0),
        mask: Box::new(str::to_owned),
    };
    let mut answers = Answers::of(project);
    for (schema, path, query) in EXPLORER {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let served = answers.answer(&Asked { path: format!("/data/{path}"), query }, &mut Nothing);
        let text = String::from_utf8(served.body.to_vec()).unwrap();
        assert_eq!(served.status, 200, "{path}: {text}");
        Schema::load(schema).check(&text, path);
    }
}
