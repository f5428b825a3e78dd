//! A host gives a chart its values: pending ones become holes, secret ones stay secret, in the chart and in what is
//! made from them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use purlin_charts::resolve_chart;
use purlin_charts::template::Options;
use purlin_model::Resolved;
use purlin_value::emit::{Secrets, to_yaml};
use purlin_value::{Data, Eval, Lazy, Map, MemoryWorld, Session, Thunk, Value};

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

const HELPERS: &str = "{{ define \"dsn\" }}{{ .Values.user }}:{{ .Values.password }}@{{ .Values.url }}{{ end }}";

const TEMPLATE: &str = r#"apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  url: {{ .Values.url }}
  port: {{ .Values.ports | first }}
  user: {{ .Values.user }}
  password: {{ .Values.password | quote }}
  shouted: {{ .Values.password | upper }}
  encoded: {{ .Values.password | b64enc }}
  digest: {{ toYaml .Values | sha256sum }}
  dsn: {{ include "dsn" . }}
  token: {{ .Values.token }}
  mixed: {{- toYaml (list (include "dsn" .) (printf "%s-x" .Values.user)) | nindent 4 }}
"#;

fn resolved() -> Resolved {
    let world = MemoryWorld::new()
        .file("web/Chart.yaml", CHART)
        .file("web/values.yaml", "url: http://localhost\nuser: app\n")
        .file("web/templates/_h.tpl", HELPERS)
        .file("web/templates/a.yaml", TEMPLATE);
    let session = Session::new(Arc::new(world));
    let given = Map::from_iter([
        ("url".into(), Value::pending("deploy.db", "actions.deploy.db.outputs.url")),
        ("ports".into(), Value::list(vec![Value::pending("deploy.lb", "actions.deploy.lb.outputs.port")])),
        ("password".into(), Value::from("hunter2").tainted_if(true)),
        ("token".into(), Value::pending("run.login", "actions.run.login.outputs.log").tainted_if(true)),
    ]);
    let options = Options { given: Value::map(given), track: true, ..Options::default() };
    let resolved = resolve_chart(&session, "web", &options).expect("a chart");
    assert!(session.sink.take().is_empty());
    resolved
}

fn field(resolved: &Resolved, path: &str) -> Value {
    resolved.nodes[0].resolved.at(path).unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn pending_values_are_pending_with_their_tasks() {
    let resolved = resolved();
    let tasks = |path: &str| match &field(&resolved, path).data {
        Data::Pending(pending) => pending.tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(tasks("data.url"), "deploy.db");
    assert_eq!(tasks("data.port"), "deploy.lb");
    assert_eq!(tasks("data.dsn"), "deploy.db");
    let mut all: Vec<String> = tasks("data.digest").split(' ').map(str::to_owned).collect();
    all.sort();
    assert_eq!(all, ["deploy.db", "deploy.lb", "run.login"]);
    assert_eq!(field(&resolved, "data.user").as_str(), Some("app"));
}

#[test]
fn lazy_and_broken_values_are_not_null() {
    let world = MemoryWorld::new()
        .file("web/Chart.yaml", CHART)
        .file("web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {lazy: {{ .Values.lazy | upper }}, broken: {{ .Values.broken.part | quote }}, made: {{ printf \"%s!\" .Values.broken }}}\n");
    let session = Session::new(Arc::new(world));
    let given = Map::from_iter([("lazy".into(), Lazy::value(Later)), ("broken".into(), Value::poison())]);
    let options = Options { given: Value::map(given), track: true, ..Options::default() };
    let resolved = resolve_chart(&session, "web", &options).expect("a chart");
    assert!(session.sink.take().is_empty());
    assert_eq!(field(&resolved, "data.lazy").as_str(), Some("LATER"));
    assert!(field(&resolved, "data.broken").is_poison());
    assert!(field(&resolved, "data.made").is_poison());
}

/// A string that is computed on demand.
struct Later;

impl Thunk for Later {
    fn evaluate(&self, _: &mut Eval<'_>) -> Value {
        Value::str("later")
    }

    fn span(&self) -> Option<purlin_syntax::Span> {
        None
    }

    fn name(&self) -> String {
        "later".to_owned()
    }
}

#[test]
fn secrets_stay_secret() {
    let resolved = resolved();
    for path in ["data.password", "data.shouted", "data.encoded", "data.dsn", "data.token", "data.mixed.0"] {
        assert!(field(&resolved, path).is_tainted(), "{path}");
    }
    for path in ["data.url", "data.user", "data.port", "data.mixed.1"] {
        assert!(!field(&resolved, path).is_tainted(), "{path}");
    }
    let shown = to_yaml(&resolved.nodes[0].resolved, Secrets::Hide).unwrap();
    assert!(!shown.to_lowercase().contains("hunter2"), "{shown}");
    assert!(shown.contains("(pending: actions.deploy.db.outputs.url)"), "{shown}");
    assert!(shown.contains("token: (secret)"));
}
