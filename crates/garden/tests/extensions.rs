//! An extension that adds to the graph: a scan before every image that is built.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_garden::augment::{Additions, added_action};
use purlin_garden::config::ActionKind;
use purlin_garden::draft::Draft;
use purlin_garden::graph::Graph;
use purlin_garden::resolve::resolve;
use purlin_model::Request;
use purlin_value::{MemoryWorld, Session, Value};
use std::sync::Arc;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
variables: {registry: r}
---
kind: Build
type: container
name: api
spec: {localId: \"${var.registry}/api\"}
---
kind: Build
type: exec
name: tools
---
kind: Run
type: exec
name: last
dependencies: [build.api]
spec: {command: [echo, \"${actions.run.first.outputs.log}\"]}
---
kind: Run
type: exec
name: first
spec: {command: [echo]}
";

/// A Test before each container Build.
fn scan_images(graph: &Graph) -> Additions {
    let mut additions = Additions::default();
    for build in graph.actions.values() {
        if build.kind != ActionKind::Build || build.type_name != "container" {
            continue;
        }
        let name = ecow::eco_format!("scan-{}", build.name);
        let command = Value::list(vec![Value::from("scan"), Value::str(build.name.clone())]);
        let spec = Draft::Map(vec![("command".into(), Draft::Value(command))]);
        additions.dependencies.push((build.key.clone(), ecow::eco_format!("test.{name}")));
        additions.actions.push(added_action(ActionKind::Test, "exec", name, build, spec));
    }
    additions
}

#[test]
fn a_scan_is_put_before_every_image() {
    let session = Session::new(Arc::new(MemoryWorld::new().file("garden.yml", PROJECT)));
    let request = Request::of(".");
    let resolution = resolve(&session, &request, &[scan_images]).unwrap();
    let needs = |key: &str| resolution.needs(key).iter().map(|need| need.key.to_string()).collect::<Vec<_>>();
    assert_eq!(needs("build.api"), ["test.scan-api"]);
    assert!(needs("build.tools").is_empty());
    let spec = resolution.action("test.scan-api").unwrap().spec;
    assert_eq!(spec.at("command.1"), Some(Value::from("api")));
    assert!(session.sink.take().is_empty());
}

#[test]
fn outputs_of_a_run_are_new_input() {
    let session = Session::new(Arc::new(MemoryWorld::new().file("garden.yml", PROJECT)));
    let request = Request::of(".");
    let before = resolve(&session, &request, &[]).unwrap();
    assert!(before.action("run.last").unwrap().spec.any(Value::is_pending));
    let given = Value::map([("log".into(), Value::from("done"))].into_iter().collect());
    let known = vec![("run.first".into(), given)];
    let request = Request { known, ..Request::of(".") };
    let after = resolve(&session, &request, &[]).unwrap();
    assert_eq!(after.action("run.last").unwrap().spec.at("command.1"), Some(Value::from("done")));
}
