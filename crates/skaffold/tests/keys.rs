//! The key of an artifact changes with its own inputs and those of its requirements, and with nothing else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_model::{Question, Request};
use purlin_skaffold::DIALECT;
use purlin_value::{MemoryWorld, Session};
use std::sync::Arc;

const IMAGES: [&str; 5] = ["base", "tools", "api", "web", "docs"];

/// `api` and `web` are built from `base` (in another module), `api` also from `tools`; `docs` has no dependencies.
fn project() -> Vec<(&'static str, String)> {
    let root = "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {name: app}\nrequires: [{path: lib}]\nbuild:\n  artifacts:\n  - {image: api, context: api, requires: [{image: base, alias: BASE}, {image: tools, alias: TOOLS}]}\n  - {image: web, context: web, requires: [{image: base, alias: BASE}]}\n  - {image: docs, context: docs}\n";
    let lib = "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {name: lib}\nbuild:\n  artifacts:\n  - {image: base, context: base}\n  - {image: tools, context: tools, requires: [{image: base, alias: BASE}]}\n";
    vec![
        ("skaffold.yaml", root.to_owned()),
        ("lib/skaffold.yaml", lib.to_owned()),
        ("lib/base/main.c", "base".to_owned()),
        ("lib/tools/main.c", "tools".to_owned()),
        ("api/main.c", "api".to_owned()),
        ("web/main.c", "web".to_owned()),
        ("docs/index.html", "docs".to_owned()),
    ]
}

fn keys(files: &[(&str, String)]) -> Vec<String> {
    let world = files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.file(path, text));
    let session = Session::new(Arc::new(world));
    let key = |image: &&str| {
        let question = Question { expression: format!("key {image}"), ..Question::default() };
        let answer = (DIALECT.eval)(&session, &Request::of("."), &question).expect("the artifact has a key");
        answer.value.as_str().expect("a text").to_owned()
    };
    IMAGES.iter().map(key).collect()
}

/// The images whose keys differ after one file is changed.
fn changed_by(path: &str, change: impl Fn(&str) -> String) -> Vec<&'static str> {
    let before = project();
    let mut after = before.clone();
    let file = after.iter_mut().find(|(known, _)| *known == path).expect("the file is there");
    file.1 = change(&file.1);
    let pairs = keys(&before).into_iter().zip(keys(&after));
    IMAGES.into_iter().zip(pairs).filter(|(_, (old, new))| old != new).map(|(image, _)| image).collect()
}

#[test]
fn a_change_reaches_exactly_its_dependants() {
    let edited = |text: &str| format!("{text} edited");
    assert_eq!(changed_by("lib/base/main.c", edited), ["base", "tools", "api", "web"]);
    assert_eq!(changed_by("lib/tools/main.c", edited), ["tools", "api"]);
    assert_eq!(changed_by("api/main.c", edited), ["api"]);
    assert_eq!(changed_by("docs/index.html", edited), ["docs"]);
}

#[test]
fn settings_count_and_comments_do_not() {
    assert_eq!(changed_by("skaffold.yaml", |text| format!("# a comment\n{text}")), [""; 0]);
    let target = |text: &str| text.replace("context: base", "context: base, docker: {target: small}");
    assert_eq!(changed_by("lib/skaffold.yaml", target), ["base", "tools", "api", "web"]);
    let port = |text: &str| format!("{text}portForward: [{{resourceType: pod, resourceName: web, port: 80}}]\n");
    assert_eq!(changed_by("skaffold.yaml", port), [""; 0]);
}
