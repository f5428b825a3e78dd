//! A Metachart chart has the same output, with the same origins, for any number of threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::sync::Arc;

use purlin_charts::resolve_chart;
use purlin_charts::template::Options;
use purlin_syntax::Limits;
use purlin_value::{Data, Map, MemoryWorld, Session, Value};

const COUNT: usize = 900;

fn world() -> MemoryWorld {
    let mut values = "context: {color: blue}\nconfigmaps:\n".to_owned();
    for at in 0..COUNT {
        let _ = writeln!(values, "  c{at}:");
        let _ = writeln!(values, "    metadata: {{checksums: {{secrets: \"*\"}}}}");
        let _ =
            writeln!(values, "    data: {{a: \"{{{{ .Values.context.color }}}}-{at}\", b: \"{{{{ randAlpha 5 }}}}\"}}");
    }
    values.push_str("secrets:\n  s: {data: {a: \"{{ include \\\"name\\\" . }}\"}}\n");
    let kinds =
        "resources:\n  configmaps: {apiVersion: v1, kind: ConfigMap}\n  secrets: {apiVersion: v1, kind: Secret}\n";
    MemoryWorld::new()
        .file("shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
        .file("shop/config/resources.yaml", kinds)
        .file("shop/templates/_h.tpl", "{{ define \"name\" }}{{ .Release.Name }}!{{ end }}")
        .file("shop/values.yaml", &values)
}

/// Every leaf with its location.
fn lines(threads: usize, limits: Limits) -> Result<Vec<String>, Vec<String>> {
    let session = Session::with_limits(Arc::new(world()), limits, threads);
    let options = Options { track: true, ..Options::default() };
    let resolved = resolve_chart(&session, "shop", &options);
    let problems: Vec<String> = session.sink.take().iter().map(|problem| problem.rule.name.to_owned()).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let resolved = resolved.expect("a chart");
    let mut lines = Vec::new();
    for node in &resolved.nodes {
        for path in ["metadata.name", "metadata.annotations.checksum-secrets", "data.a", "data.b"] {
            let Some(value) = node.resolved.at(path) else { continue };
            let text = value.as_str().unwrap_or_default();
            let place = place(&session, &value);
            lines.push(format!("{} {path} {text} {place}", node.id));
        }
    }
    Ok(lines)
}

fn place(session: &Session, value: &Value) -> String {
    let Some(span) = session.origins.span(value.origin, &session.sources) else { return String::new() };
    format!("{span:?}")
}

#[test]
fn threads_change_nothing() {
    let one = lines(1, Limits::default()).unwrap();
    let four = lines(4, Limits::default()).unwrap();
    assert!(one.len() > 3 * COUNT);
    assert_eq!(one, four);
}

/// Messages for a chart with these resources, and the pending value of its last one.
fn said(threads: usize, values: &str, pending: &[&str]) -> (Vec<String>, Option<String>) {
    let world = MemoryWorld::new()
        .file("shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
        .file("shop/config/resources.yaml", "resources:\n  configmaps: {apiVersion: v1, kind: ConfigMap}\n")
        .file("shop/values.yaml", values);
    let session = Session::with_limits(Arc::new(world), Limits::default(), threads);
    let context = pending.iter().map(|name| ((*name).into(), Value::pending("deploy.db", *name))).collect();
    let given = Value::map(Map::from_iter([("context".into(), Value::map(context))]));
    let options = Options { given, track: true, ..Options::default() };
    let resolved = resolve_chart(&session, "shop", &options).expect("a chart");
    let problems = session.sink.take().iter().map(|problem| problem.message.to_string()).collect();
    let waits = resolved.nodes.last().and_then(|node| match &node.resolved.data {
        Data::Pending(pending) => Some(pending.what.to_string()),
        _ => None,
    });
    (problems, waits)
}

/// Values with many resources, two of which are different.
fn many(first: (usize, &str), second: (usize, &str)) -> String {
    let mut values = "configmaps:\n".to_owned();
    for at in 0..COUNT {
        let text = [first, second].iter().find(|(special, _)| *special == at).map_or("x", |(_, text)| text);
        let _ = writeln!(values, "  c{at:03}: {{data: {{a: '{text}'}}}}");
    }
    values
}

#[test]
fn the_first_error_is_told() {
    let values = many((101, "{{ fail \"bad101\" }}"), (300, "{{ fail \"bad300\" }}"));
    let (one, _) = said(1, &values, &[]);
    assert!(one.len() == 1 && one[0].contains("bad101"), "{one:?}");
    for threads in [2, 3, 4] {
        assert_eq!(said(threads, &values, &[]).0, one, "{threads}");
    }
}

#[test]
fn the_first_change_that_is_not_known_is_told() {
    let change =
        |name: &str| format!("{{{{ if .Values.context.{name} }}}}{{{{ $_ := set .Values \"z\" 1 }}}}{{{{ end }}}}");
    let values = many((101, &change("early")), (300, &change("late")));
    for threads in [1, 2, 3, 4] {
        let (problems, waits) = said(threads, &values, &["early", "late"]);
        assert_eq!((problems, waits.as_deref()), (Vec::new(), Some("early")), "{threads}");
    }
}

#[test]
fn fuel_is_counted_once_for_each_resource() {
    let enough = |fuel: u64, threads: usize| lines(threads, Limits { fuel, ..Limits::default() }).is_ok();
    for fuel in [1_000, 30_000, 60_000, 70_000, 80_000, 100_000, 1_000_000] {
        assert_eq!(enough(fuel, 1), enough(fuel, 4), "{fuel}");
    }
    assert!(!enough(1_000, 4) && enough(1_000_000, 1));
}
