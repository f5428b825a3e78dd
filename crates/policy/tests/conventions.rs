//! Conftest's conventions, the counts of its summary, causes, and bounds by steps.

use purlin_policy::{
    Body, Counts, File, Found, Input, Level, Line, Over, Policy, Question, Step, StopKind, answer, read_answer,
};
use serde_json::{Value as Json, json};

fn lines(policies: Vec<Policy>, inputs: &[Json], steps: u64) -> Vec<Line> {
    let input = |value: &Json| Input { over: Over::Object, value: value.clone(), file: "conf/a.yaml".to_owned() };
    let question =
        Question { steps, environment: "production".to_owned(), policies, inputs: inputs.iter().map(input).collect() };
    let mut out = Vec::new();
    answer(&serde_json::to_string(&question).unwrap_or_default(), &mut out).unwrap_or_default();
    read_answer(&String::from_utf8_lossy(&out))
}

fn rego(texts: &[&str], data: Vec<Json>, namespaces: &[&str]) -> Policy {
    let file = |(index, text): (usize, &&str)| File { path: format!("p{index}.rego"), text: (*text).to_owned() };
    let files = texts.iter().enumerate().map(file).collect();
    let namespaces = namespaces.iter().map(|name| (*name).to_owned()).collect();
    Policy { over: Over::Object, body: Body::Rego { files, data, namespaces } }
}

fn cel(when: Option<&str>, assert: &str, message: Option<&str>) -> Policy {
    let text = |text: &str| text.to_owned();
    Policy {
        over: Over::Object,
        body: Body::Cel { when: when.map(text), assert: text(assert), message: message.map(text) },
    }
}

fn found(lines: &[Line]) -> Vec<&Found> {
    lines.iter().filter_map(|line| if let Line::Found(found) = line { Some(found) } else { None }).collect()
}

fn counts(lines: &[Line]) -> Option<Counts> {
    lines.iter().find_map(|line| if let Line::Counted { counts, .. } = line { Some(*counts) } else { None })
}

fn stop(lines: &[Line]) -> Option<(StopKind, String)> {
    let stop = |line: &Line| if let Line::Stopped { stop, .. } = line { Some(stop.clone()) } else { None };
    lines.iter().find_map(stop).map(|stop| (stop.kind, stop.message))
}

const STEPS: u64 = 100_000;

fn said(policy: Policy, input: &Json) -> Vec<String> {
    let lines = lines(vec![policy], std::slice::from_ref(input), STEPS);
    let mut all: Vec<String> = found(&lines).iter().map(|found| found.verdict.message.clone()).collect();
    all.extend(stop(&lines).map(|(_, message)| format!("stopped: {message}")));
    all
}

#[test]
fn rules_by_name_and_level() {
    let text = r#"package main
deny contains "a"
deny_x contains {"msg": "b", "path": ["spec", "list", 0]}
violation_y_z := ["c"]
warn contains "d"
warning contains "no level"
deny_ contains "no suffix"
deny_q if false
"#;
    let lines = lines(vec![rego(&[text], Vec::new(), &["main"])], &[json!({ "spec": { "list": [1] } })], STEPS);
    let told: Vec<(String, Level)> =
        found(&lines).iter().map(|found| (found.verdict.message.clone(), found.verdict.level)).collect();
    let expected = [("a", Level::Error), ("b", Level::Error), ("c", Level::Error), ("d", Level::Warning)];
    assert_eq!(told, expected.map(|(text, level)| (text.to_owned(), level)));
    assert_eq!(counts(&lines), Some(Counts { passed: 1, warnings: 1, failures: 3, exceptions: 0 }));
    let path = found(&lines).get(1).and_then(|found| found.causes.first().cloned());
    assert_eq!(path, Some(vec![Step::Key("spec".into()), Step::Key("list".into()), Step::Item(0)]));
}

#[test]
fn packages_data_files_exceptions_and_the_older_syntax() {
    let old = "package old\ndeny[msg] { input.port != data.ports.allowed[_]; msg := sprintf(\"%d\", [input.port]) }";
    let data = vec![json!({ "ports": { "allowed": [443] } })];
    assert_eq!(said(rego(&[old], data.clone(), &["old"]), &json!({ "port": 80 })), ["80"]);
    assert_eq!(said(rego(&[old], data.clone(), &["main"]), &json!({ "port": 80 })), [""; 0]);
    assert_eq!(said(rego(&[old], data, &["*"]), &json!({ "port": 80 })), ["80"]);
    let own = "package main\ndeny contains msg if msg := sprintf(\"%s %s %s\", [data.conftest.file.name, data.conftest.file.dir, data.purlin.environment])";
    assert_eq!(said(rego(&[own], Vec::new(), &["main"]), &json!({})), ["a.yaml conf production"]);
    let excepted = "package main\ndeny_root contains \"root\"\nexception contains [\"root\"] if input.may";
    assert_eq!(said(rego(&[excepted], Vec::new(), &["main"]), &json!({ "may": true })), [""; 0]);
    assert_eq!(said(rego(&[excepted], Vec::new(), &["main"]), &json!({ "may": false })), ["root"]);
}

#[test]
fn what_cannot_be_used_is_told() {
    let broken = "package main\ndeny contains msg if {\n  msg := \n}";
    assert!(said(rego(&[broken], Vec::new(), &["main"]), &json!({})).concat().starts_with("stopped: "));
    let no_message = "package main\ndeny[msg] if { msg := \"x\" }";
    assert!(said(rego(&[no_message], Vec::new(), &["main"]), &json!({})).concat().contains("needs `contains"));
    let no_text = "package main\ndeny contains {\"message\": \"x\"}";
    assert!(said(rego(&[no_text], Vec::new(), &["main"]), &json!({})).concat().contains("no `msg`"));
    for outside in
        ["http.send({\"method\": \"get\", \"url\": \"u\"})", "opa.runtime()", "time.now_ns()", "rand.intn(\"a\", 9)"]
    {
        let text = format!("package main\ndeny contains \"x\" if {outside}");
        assert!(said(rego(&[&text], Vec::new(), &["main"]), &json!({})).concat().starts_with("stopped: "), "{outside}");
    }
}

#[test]
fn endless_rules_end_at_the_same_step() {
    let text = "package main\ndeny contains \"x\" if { some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a == b + 90000 }";
    let policy = || rego(&[text], Vec::new(), &["main"]);
    let one = lines(vec![policy()], &[json!({})], 10_000);
    assert_eq!(stop(&one).map(|(kind, _)| kind), Some(StopKind::Steps));
    // Another policy is evaluated all the same.
    let two = lines(vec![policy(), cel(None, "false", Some("no"))], &[json!({})], 10_000);
    assert_eq!(found(&two).len(), 1);
}

#[test]
fn a_verdict_points_at_the_value_that_it_depends_on() {
    let text = r#"package main
deny contains msg if {
	input.kind == "Deployment"
	some container in input.spec.containers
	endswith(container.image, ":latest")
	msg := sprintf("%s: %s", [input.metadata.name, container.name])
}"#;
    let object = json!({
        "kind": "Deployment", "metadata": { "name": "web" },
        "spec": { "replicas": 1, "containers": [{ "name": "a", "image": "x:1" }, { "name": "b", "image": "y:latest" }] },
    });
    let lines = lines(vec![rego(&[text], Vec::new(), &["main"])], &[object], STEPS);
    let causes: Vec<&[Step]> =
        found(&lines).iter().filter_map(|found| Some(found.causes.first()?.as_slice())).collect();
    let key = |name: &str| Step::Key(name.to_owned());
    assert_eq!(causes, [[key("spec"), key("containers"), Step::Item(1), key("image")].as_slice()]);
}

#[test]
fn assertions_in_cel() {
    let object = json!({ "kind": "Deployment", "spec": { "replicas": 1, "names": ["a", "b"] } });
    assert_eq!(said(cel(None, "object.spec.replicas >= 1", None), &object), [""; 0]);
    assert_eq!(said(cel(None, "object.spec.replicas >= 2", None), &object), ["expected `object.spec.replicas >= 2`"]);
    let message = Some("{object.spec.replicas} of {{2} in {environment}: {object.spec.names}");
    assert_eq!(said(cel(None, "object.spec.replicas >= 2", message), &object), ["1 of {2} in production: [a, b]"]);
    assert_eq!(said(cel(Some("object.kind == 'Service'"), "false", None), &object), [""; 0]);
    assert_eq!(said(cel(Some("object.metadata.name == 'a'"), "false", None), &object), [""; 0]);
    assert_eq!(said(cel(None, "object.metadata.name == 'a'", Some("name")), &object), ["name: missing `metadata`"]);
    assert!(said(cel(None, "object.spec.replicas >=", None), &object).concat().starts_with("stopped: "));
    assert!(said(cel(None, "object.spec.replicas + 1", None), &object).concat().contains("must be true or false"));
}

#[test]
fn a_missing_value_is_found_where_it_belongs() {
    let text = "package main\ndeny contains \"root\" if { input.kind == \"Pod\"; not input.spec.securityContext.runAsNonRoot }";
    let object = json!({ "kind": "Pod", "metadata": { "name": "a" }, "spec": { "containers": [] } });
    let lines = lines(vec![rego(&[text], Vec::new(), &["main"])], &[object], STEPS);
    let causes: Vec<&[Step]> =
        found(&lines).iter().filter_map(|found| Some(found.causes.first()?.as_slice())).collect();
    assert_eq!(causes, [[Step::Key("spec".to_owned())].as_slice()]);
}
