//! Outputs of actions that have run are input of the next resolution.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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

#[test]
fn outputs_of_a_run_are_new_input() {
    let session = Session::new(Arc::new(MemoryWorld::new().file("garden.yml", PROJECT)));
    let request = Request::of(".");
    let before = resolve(&session, &request).unwrap();
    assert!(before.action("run.last").unwrap().spec.any(Value::is_pending));
    let given = Value::map([("log".into(), Value::from("done"))].into_iter().collect());
    let known = vec![("run.first".into(), given)];
    let request = Request { known, ..Request::of(".") };
    let after = resolve(&session, &request).unwrap();
    assert_eq!(after.action("run.last").unwrap().spec.at("command.1"), Some(Value::from("done")));
}
