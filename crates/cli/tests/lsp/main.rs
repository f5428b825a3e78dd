//! The language server over standard input and output: answers in every dialect, and thousands of random edits.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod neovim;
mod projects;

use client::Client;
use projects::Size;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const SMALL: Size = Size { actions: 6, charts: 2, nodes: 4 };

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn labels(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

/// Line and column of the first occurrence of a text in a file, plus an offset into it.
fn find(client: &Client, file: &str, text: &str, into: usize) -> (usize, usize) {
    let whole = std::fs::read_to_string(client.root.join(file)).unwrap();
    let at = whole.find(text).unwrap_or_else(|| panic!("no `{text}` in {file}")) + into;
    let line = whole[..at].matches('\n').count();
    (line, at - whole[..at].rfind('\n').map_or(0, |start| start + 1))
}

fn ask(client: &mut Client, method: &str, file: &str, text: &str, into: usize) -> Value {
    let (line, column) = find(client, file, text, into);
    client.ask(&format!("textDocument/{method}"), file, line, column)
}

fn hover(client: &mut Client, file: &str, text: &str, into: usize) -> String {
    ask(client, "hover", file, text, into)["contents"]["value"].as_str().unwrap_or("").to_owned()
}

/// A text of ASCII with the edits that an action makes in a file.
fn applied(client: &Client, action: &Value, file: &str, text: &str) -> String {
    let offset = |point: &Value| {
        let line = usize::try_from(point["line"].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + usize::try_from(point["character"].as_u64().unwrap()).unwrap()
    };
    let edits = action["edit"]["changes"][client.uri(file)].as_array().unwrap_or_else(|| panic!("{action}"));
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
            (start, end, edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_unstable();
    let mut text = text.to_owned();
    edits.into_iter().rev().for_each(|(start, end, new)| text.replace_range(start..end, new));
    text
}

/// The actions offered for a range.
fn actions(client: &mut Client, file: &str, range: &Value) -> Value {
    let params = json!({"textDocument": {"uri": client.uri(file)}, "range": range, "context": {"diagnostics": []}});
    client.request("textDocument/codeAction", params)
}

fn opened(name: &str) -> Client {
    let root = folder(name);
    projects::write(&root, &SMALL);
    let mut client = Client::start(&root, json!({}));
    client.settle();
    client
}

#[test]
fn sound_projects_have_no_problems() {
    let client = opened("lsp-sound");
    let wrong: Vec<_> = client.diagnostics.iter().filter(|(_, list)| !list.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(client.stop());
}

#[test]
fn garden() {
    let mut client = opened("lsp-garden");
    let (file, project) = ("garden/part0/garden.yml", "garden/project.garden.yml");
    client.open(file);
    let text = std::fs::read_to_string(client.root.join(file)).unwrap();
    let wrong = text.replacen("var.host", "var.hots", 1);
    client.change(file, &wrong);
    client.settle();
    let found = &client.diagnostics[file];
    assert!(found.iter().any(|one| one["code"] == "garden-unknown-key"), "{found:?}");
    // The text has one mistake, and its hint contains the correction.
    let range = found[0]["range"].clone();
    let offered = actions(&mut client, file, &range);
    assert_eq!(offered[0]["title"], "change to `host`", "{offered}");
    assert_eq!(applied(&client, &offered[0], file, &wrong), text);
    // A text that was changed since is not changed by earlier results.
    client.change(file, &format!("# a longer line\n{wrong}"));
    let stale = actions(&mut client, file, &range);
    assert!(stale.as_array().unwrap().iter().all(|one| one["title"] != "change to `host`"), "{stale}");
    // Several uses of one unknown name are one problem, and all of them can be changed at once.
    let wrong = text.replacen("var.host", "var.hots", 3);
    client.change(file, &wrong);
    client.settle();
    let found = client.diagnostics[file].clone();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["relatedInformation"].as_array().map(Vec::len), Some(2), "{found:?}");
    for range in [&found[0]["range"], &found[0]["relatedInformation"][1]["location"]["range"]] {
        let offered = actions(&mut client, file, range);
        assert_eq!(offered[0]["title"], "change to `host`", "{offered}");
        assert_eq!(offered[1]["title"], "change to `host` in 3 places", "{offered}");
        let one = applied(&client, &offered[0], file, &wrong);
        assert_eq!(
            (one.matches("var.hots").count(), one.matches("var.host}").count()),
            (2, text.matches("var.host}").count() - 2)
        );
        assert_eq!(applied(&client, &offered[1], file, &wrong), text);
    }
    client.change(file, &text);
    client.settle();
    assert!(client.diagnostics[file].is_empty());
    assert!(hover(&mut client, file, "type: exec", 1).contains("What does the work"));
    let value = hover(&mut client, file, "${var.host}", 7);
    assert!(value.contains("example.com") && value.contains("project.garden.yml"), "{value}");
    let place = ask(&mut client, "definition", file, "${var.host}", 7);
    assert!(place[0]["uri"].as_str().unwrap().ends_with(project), "{place}");
    let proposals = labels(&ask(&mut client, "completion", file, "${var.host}", 6));
    assert!(proposals.contains(&"host".to_owned()) && proposals.contains(&"level".to_owned()), "{proposals:?}");
    let keys = labels(&ask(&mut client, "completion", file, "command:", 0));
    assert!(keys.contains(&"env".to_owned()), "{keys:?}");
    let names = labels(&ask(&mut client, "completion", file, "[build.build-0]", 1));
    assert!(names.is_empty() || names.contains(&"build.build-1".to_owned()), "{names:?}");
    let (line, column) = find(&client, project, "host: example.com", 1);
    let params = json!({
        "textDocument": {"uri": client.uri(project)},
        "position": {"line": line, "character": column},
        "newName": "domain",
    });
    let edit = client.request("textDocument/rename", params);
    let changed: usize = edit["changes"].as_object().unwrap().values().map(|list| list.as_array().unwrap().len()).sum();
    assert_eq!(changed, 1 + SMALL.actions, "{edit}");
    let symbols = client.request("workspace/symbol", json!({"query": "build-3"}));
    assert_eq!(symbols.as_array().unwrap().len(), 1, "{symbols}");
    let tokens = client.request("textDocument/semanticTokens/full", json!({"textDocument": {"uri": client.uri(file)}}));
    assert_eq!(tokens["data"].as_array().unwrap().len(), SMALL.actions * 2 * 5);
    assert!(client.stop());
}

#[test]
fn charts() {
    let mut client = opened("lsp-charts");
    let (template, values) = ("charts/chart0/templates/deployment.yaml", "charts/chart0/values.yaml");
    client.open(template);
    let place = ask(&mut client, "definition", template, ".Values.image.tag", 15);
    assert!(place[0]["uri"].as_str().unwrap().ends_with(values), "{place}");
    let place = ask(&mut client, "definition", template, "app.name", 2);
    assert!(place[0]["uri"].as_str().unwrap().ends_with("_helpers.tpl"), "{place}");
    let proposals = labels(&ask(&mut client, "completion", template, ".Values.image.tag", 14));
    assert_eq!(proposals, ["repository", "tag"]);
    assert!(hover(&mut client, template, "replicas: {{", 2).contains("How many pods run"));
    assert!(hover(&mut client, template, "image: \"{{", 2).contains("with a tag or digest"));
    let keys = labels(&ask(&mut client, "completion", template, "containers:", 0));
    assert!(keys.contains(&"initContainers".to_owned()), "{keys:?}");
    let help = ask(&mut client, "signatureHelp", template, "include \"app.name\"", 10);
    assert!(help["signatures"][0]["label"].as_str().unwrap().starts_with("include"), "{help}");
    assert!(hover(&mut client, values, "replicas", 2).contains("How many pods"));
    let uses = ask(&mut client, "references", values, "repository", 2);
    assert_eq!(uses.as_array().unwrap().len(), 2, "{uses}");
    let uri = client.uri(template);
    let manifest = client.request("purlin/manifest", json!({"textDocument": {"uri": uri}}));
    assert!(manifest.as_str().unwrap_or("").contains("nginx:1.27"), "{manifest}");
    client.change(template, "{{ .Values.image.tag \n");
    client.settle();
    assert!(client.diagnostics[template].iter().any(|one| one["code"] == "chart-template-syntax"));
    assert!(client.stop());
}

#[test]
fn skaffold_and_tosca() {
    let mut client = opened("lsp-others");
    let skaffold = "skaffold/skaffold.yaml";
    assert!(hover(&mut client, skaffold, "artifacts", 2).contains("artifacts"));
    let keys = labels(&ask(&mut client, "completion", skaffold, "tagPolicy", 0));
    assert!(keys.contains(&"artifacts".to_owned()), "{keys:?}");
    let images = labels(&ask(&mut client, "completion", skaffold, "image: base", 7));
    assert!(images.contains(&"base".to_owned()), "{images:?}");
    let place = ask(&mut client, "definition", skaffold, "image: base", 8);
    assert_eq!(place[0]["range"]["start"]["line"], 9, "{place}");
    let uri = client.uri(skaffold);
    let formatted = client.request("textDocument/formatting", json!({"textDocument": {"uri": uri}, "options": {}}));
    assert_eq!(formatted, json!([]), "it is formatted already");
    let text = std::fs::read_to_string(client.root.join(skaffold)).unwrap();
    client.open(skaffold);
    client.change(skaffold, &text.replace("  name: shop", "     name: shop"));
    let formatted = client.request("textDocument/formatting", json!({"textDocument": {"uri": uri}, "options": {}}));
    assert_eq!(formatted[0]["newText"], text.as_str(), "{formatted}");
    client.change(skaffold, &text);
    let service = "tosca/service.yaml";
    let place = ask(&mut client, "definition", service, "type: app.Server", 8);
    assert_eq!(place[0]["range"]["start"]["line"], 2, "{place}");
    let types = labels(&ask(&mut client, "completion", service, "type: app.Server", 6));
    assert!(types.contains(&"app.Server".to_owned()), "{types:?}");
    let properties = labels(&ask(&mut client, "completion", service, "port: { get_input", 0));
    assert_eq!(properties.first().map(String::as_str), Some("port"), "{properties:?}");
    let (line, column) = find(&client, service, "node-1:", 1);
    let params = json!({
        "textDocument": {"uri": client.uri(service)},
        "position": {"line": line, "character": column},
        "newName": "first",
    });
    let edit = client.request("textDocument/rename", params);
    let edits = edit["changes"].as_object().unwrap().values().next().unwrap().as_array().unwrap().len();
    assert_eq!(edits, 2, "{edit}");
    let uri = client.uri("ensemble/ensemble.yaml");
    let symbols = client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    assert!(symbols.to_string().contains("\"web\""), "{symbols}");
    assert!(client.stop());
}

/// The effect of a correction in each dialect: the text with a mistake, the location of the mistake, and the text
/// without it.
#[test]
fn corrections_change_the_word_that_is_wrong() {
    let cases = [
        // The name of the node is the beginning of the property's name.
        (
            "tosca/app.yaml",
            "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  App:\n    derived_from: tosca.nodes.Root\n    properties:\n      app_port: { type: integer }\ntopology_template:\n  node_templates:\n    app:\n      type: App\n      properties:\n        app_WRONG: 1\n",
            "prt",
            "port",
        ),
        (
            "skaffold/skaffold.yaml",
            "apiVersion: skaffold/v4beta14\nkind: Config\nbuild:\n  artiWRONG:\n    - image: web\n",
            "fcats",
            "facts",
        ),
        ("chart/values.yaml", "replicaCount: 1\n", "", ""),
        (
            "chart/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { count: \"{{ .Values.replicaWRONG }}\" }\n",
            "Conut",
            "Count",
        ),
    ];
    let root = folder("lsp-corrections");
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".git/HEAD", "ref: refs/heads/main\n");
    write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n");
    for (file, text, wrong, _) in &cases {
        write(file, &text.replace("WRONG", wrong));
    }
    let mut client = Client::start(&root, json!({}));
    client.settle();
    for (file, text, wrong, right) in cases.iter().filter(|(_, _, wrong, _)| !wrong.is_empty()) {
        client.open(file);
        client.settle();
        let found = client.diagnostics[*file].clone();
        assert_eq!(found.len(), 1, "{file}: {found:?}");
        let offered = actions(&mut client, file, &found[0]["range"]);
        let mended = applied(&client, &offered[0], file, &text.replace("WRONG", wrong));
        assert_eq!(mended, text.replace("WRONG", right), "{file}: {offered}");
        client.change(file, &mended);
        client.settle();
        assert!(client.diagnostics[*file].is_empty(), "{file}: {:?}", client.diagnostics[*file]);
    }
    assert!(client.stop());
}

/// Messages about an action of a small Garden project with further files.
fn found_with(name: &str, files: &[(&str, &str)]) -> (Client, BTreeSet<(String, u64, u64, String)>) {
    let root = folder(name);
    let project = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: dev\n  - name: prod\n    \
                   variables: {only: one}\nproviders:\n  - name: exec\n";
    let action = "kind: Run\ntype: exec\nname: x\nspec:\n  command: [echo, \"${var.only}\"]\n";
    let own = [(".git/HEAD", "ref: refs/heads/main\n"), ("project.garden.yml", project), ("x.garden.yml", action)];
    for (file, text) in own.iter().chain(files) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut client = Client::start(&root, json!({}));
    client.settle();
    let ours = told(&client);
    assert_eq!(ours, checked(&client.root), "{name}");
    (client, ours)
}

#[test]
fn settings_and_comments_count() {
    assert_eq!(found_with("lsp-plain", &[]).1.len(), 1);
    assert!(found_with("lsp-off", &[("purlin.toml", "[rules]\ngarden-unknown-key = \"off\"\n")]).1.is_empty());
    assert!(found_with("lsp-environment", &[("purlin.toml", "environment = \"prod\"\n")]).1.is_empty());
    assert!(found_with("lsp-ignored", &[("purlin.toml", "[[ignore]]\npath = \"x.garden.yml\"\n")]).1.is_empty());
    let quiet =
        "kind: Run\ntype: exec\nname: y\nspec:\n  # purlin: ignore[garden-unknown-key]\n  command: [\"${var.only}\"]\n";
    assert_eq!(found_with("lsp-comment", &[("y.garden.yml", quiet)]).1.len(), 1);
    // Changes of the settings take effect at once, and so do mistakes in them.
    let (mut client, _) = found_with("lsp-live", &[("purlin.toml", "\n")]);
    client.open("purlin.toml");
    client.change("purlin.toml", "environment = \"prod\"\n");
    client.settle();
    assert!(told(&client).is_empty(), "{:?}", told(&client));
    client.change("purlin.toml", "enviroment = \"prod\"\n");
    client.settle();
    let rules: Vec<String> = told(&client).into_iter().map(|(_, _, _, rule)| rule).collect();
    assert_eq!(rules, ["settings", "garden-unknown-key"]);
    assert!(client.stop());
}

#[test]
fn charts_inside_other_projects_are_judged_there() {
    let chart = [
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        (
            "web/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ required \"a name\" .Values.name }}\n",
        ),
    ];
    let project = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: dev}]\nproviders:\n  - name: exec\n  - \
                   name: local-kubernetes\nvariables: {only: one}\n";
    let action = "kind: Deploy\ntype: helm\nname: web\nspec:\n  chart: {path: ./web}\n  values: {name: shop}\n";
    let mut files = vec![("project.garden.yml", project), ("deploy.garden.yml", action)];
    files.extend(chart);
    let (client, found) = found_with("lsp-inner", &files);
    assert!(found.is_empty(), "{found:?}");
    assert!(client.stop());
}

#[test]
fn an_open_file_gets_its_diagnostics_even_if_there_are_none() {
    let mut client = opened("lsp-open");
    let file = "skaffold/skaffold.yaml";
    assert!(!client.diagnostics.contains_key(file));
    client.open(file);
    client.settle();
    assert_eq!(client.diagnostics.get(file), Some(&Vec::new()));
    assert!(client.stop());
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
}

const SNIPPETS: &[&str] = &[
    "a",
    ":",
    " ",
    "\n",
    "\n  ",
    "- ",
    "${var.",
    "}",
    "{{ .Values.",
    " }}",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "&x ",
    "*x",
    "#",
    "|",
    "\t",
    "kind: Run\n",
    "\n---\n",
    "name: x\n",
    "ü",
    "😀",
    "$",
    "type: container\n",
    "<<: ",
    "!x ",
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn edited(text: &str, dice: &mut Dice) -> String {
    let at = boundary(text, dice.roll(text.len() + 1));
    match dice.roll(3) {
        0 => {
            let end = boundary(text, (at + dice.roll(12)).min(text.len()));
            format!("{}{}", &text[..at], &text[end.max(at)..])
        }
        _ => format!("{}{}{}", &text[..at], SNIPPETS[dice.roll(SNIPPETS.len())], &text[at..]),
    }
}

/// The problems, as file, line, column, rule.
fn told(client: &Client) -> BTreeSet<(String, u64, u64, String)> {
    let mut all = BTreeSet::new();
    for (file, list) in &client.diagnostics {
        for one in list {
            let start = &one["range"]["start"];
            let number = |key: &str| start[key].as_u64().unwrap() + 1;
            all.insert((file.clone(), number("line"), number("character"), one["code"].as_str().unwrap().to_owned()));
        }
    }
    all
}

/// The same problems from a run of `check`.
fn checked(root: &Path) -> BTreeSet<(String, u64, u64, String)> {
    let run = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(["check", "--diagnostics", "json"])
        .current_dir(root)
        .env_clear()
        .output()
        .unwrap();
    let mut all = BTreeSet::new();
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        let one: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let start = &one["range"]["start"];
        let Some(file) = one["file"].as_str() else { continue };
        let number = |key: &str| start[key].as_u64().unwrap_or(1);
        all.insert((file.to_owned(), number("line"), number("column"), one["rule"].as_str().unwrap().to_owned()));
    }
    all
}

/// Measures instead of testing: `PURLIN_LATENCY=EDITS` prints how long a large workspace takes. Build with `--release`.
#[test]
fn latency_of_a_large_workspace() {
    let Some(count) = std::env::var("PURLIN_LATENCY").ok().and_then(|text| text.parse::<usize>().ok()) else {
        purlin_skipped::skipped("editor latency");
        return;
    };
    let root = folder("lsp-latency");
    projects::write(&root, &Size { actions: 1_000, charts: 100, nodes: 1_000 });
    let begun = std::time::Instant::now();
    let mut client = Client::start(&root, json!({}));
    client.settle();
    println!("start to first diagnostics: {:?}", begun.elapsed());
    let files =
        ["garden/part300/garden.yml", "charts/chart7/values.yaml", "tosca/service.yaml", "skaffold/skaffold.yaml"];
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(root.join(file)).unwrap()).collect();
    files.iter().for_each(|file| client.open(file));
    client.settle();
    let memory = |client: &Client| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap_or_default();
        status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("").to_owned()
    };
    println!("memory before: {}", memory(&client));
    for (file, text) in files.iter().zip(&texts) {
        let (mut edits, mut completions) = (Vec::new(), Vec::new());
        for round in 0..count {
            // A comment that grows and shrinks, as during typing.
            let begun = std::time::Instant::now();
            client.change(file, &format!("{text}# {}\n", "x".repeat(round % 40)));
            client.settle();
            edits.push(begun.elapsed());
            let begun = std::time::Instant::now();
            client.ask("textDocument/completion", file, 3, 2);
            completions.push(begun.elapsed());
        }
        edits.sort();
        completions.sort();
        let at = |times: &[std::time::Duration], part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
        println!(
            "{file}: edit to diagnostics p50 {:?} p99 {:?}; completion p50 {:?} p99 {:?}",
            at(&edits, 50),
            at(&edits, 99),
            at(&completions, 50),
            at(&completions, 99)
        );
    }
    println!("memory after {} edits: {}", count * files.len(), memory(&client));
    assert!(client.stop());
}

#[test]
fn random_edits_end_where_check_does() {
    let count: usize = std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut client = opened("lsp-random");
    let files = [
        "garden/part0/garden.yml",
        "garden/project.garden.yml",
        "charts/chart0/templates/deployment.yaml",
        "charts/chart0/values.yaml",
        "skaffold/skaffold.yaml",
        "tosca/service.yaml",
        "ensemble/ensemble.yaml",
    ];
    let mut texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(client.root.join(file)).unwrap()).collect();
    let sound = texts.clone();
    files.iter().for_each(|file| client.open(file));
    let mut dice = Dice(7);
    for round in 0..count {
        let which = dice.roll(files.len());
        texts[which] = match dice.roll(20) {
            // Undo everything.
            0 => sound[which].clone(),
            _ => edited(&texts[which], &mut dice),
        };
        client.change(files[which], &texts[which]);
        match dice.roll(12) {
            0 => {
                let uri = client.uri(files[which]);
                let (line, character) = (dice.roll(30), dice.roll(30));
                for method in ["completion", "hover", "definition", "references", "signatureHelp"] {
                    let at = json!({"line": line, "character": character});
                    let _ = client.try_request(
                        &format!("textDocument/{method}"),
                        json!({"textDocument": {"uri": uri}, "position": at}),
                    );
                }
                for method in ["documentSymbol", "semanticTokens/full", "codeLens", "inlayHint"] {
                    let _ =
                        client.try_request(&format!("textDocument/{method}"), json!({"textDocument": {"uri": uri}}));
                }
            }
            1 => client.settle(),
            // A file appears and disappears.
            2 => {
                let name = format!("garden/extra{}.garden.yml", round % 3);
                let path = client.root.join(&name);
                let kind = if path.exists() {
                    std::fs::remove_file(&path).map(|()| 3)
                } else {
                    std::fs::write(&path, "kind: Run\n").map(|()| 1)
                };
                let change = json!({"uri": client.uri(&name), "type": kind.unwrap()});
                client.notify("workspace/didChangeWatchedFiles", json!({"changes": [change]}));
            }
            _ => {}
        }
    }
    for (file, text) in files.iter().zip(&texts) {
        std::fs::write(client.root.join(file), text).unwrap();
    }
    client.settle();
    // Columns of the protocol are UTF-16, those of `check` characters; on ASCII lines both agree.
    let (ours, cold) = (told(&client), checked(&client.root));
    let places = |all: &BTreeSet<(String, u64, u64, String)>| -> BTreeSet<(String, u64, String)> {
        all.iter().map(|(file, line, _, rule)| (file.clone(), *line, rule.clone())).collect()
    };
    assert_eq!(places(&ours), places(&cold));
    let memory = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap_or_default();
    let peak = memory.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("");
    println!("{count} edits, {peak}");
    assert!(client.stop());
}
