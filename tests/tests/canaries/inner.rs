//! Projects within actions: a secret of a Garden project goes through a service, an ensemble, charts and their outputs,
//! and from each of them into the next.

use crate::project::Project;
use crate::random::Random;

/// Expressions in Garden that pass a secret on.
const HANDED: &[&str] =
    &["secrets.TOKEN", "upper(secrets.TOKEN)", "'x-' + secrets.TOKEN", "jsonEncode([secrets.TOKEN])", "var.header"];

/// Expressions in a service that use an input.
const SERVICE: &[&str] = &[
    "{get_input: key}",
    "{concat: [\"a-\", {get_input: key}]}",
    "{concat: [{get_input: key}, \":\", {get_property: [SELF, port]}]}",
    "{join: [[{get_input: key}, b], \"-\"]}",
];

/// Expressions in an ensemble that use an input.
const ENSEMBLE: &[&str] = &[
    "{get_input: key}",
    "\"{{ {'get_input': 'key'} | eval }}\"",
    "\"{{ {'get_input': 'key'} | eval | upper }}-{{ '.::name' | eval }}\"",
    "{eval: {concat: [pre, {get_input: key}]}}",
];

/// Expressions in a chart that use a value.
const CHART: &[&str] = &[
    "{{ .Values.key }}",
    "{{ .Values.key | quote }}",
    "{{ printf \"%s-x\" .Values.key | quote }}",
    "{{ .Values.key | b64enc }}",
    "{{ default \"none\" .Values.key | upper | quote }}",
    "{{ ternary .Values.key \"no\" (eq .Values.name \"web\") | quote }}",
    "{{ include \"it\" . | quote }}",
];

pub fn sound(random: &mut Random) -> Project {
    let (token, vault) = (random.canary(), random.canary());
    let mut project = Project::default();
    project.file(
        "project.garden.yml",
        "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
importVariables: [{from: file, path: secret.env, format: dotenv}]
variables: {header: \"Bearer ${secrets.TOKEN}\"}
outputs:
  - {name: service, value: \"${actions.deploy.service.outputs.key}\"}
  - {name: chart, value: \"${actions.deploy.web.outputs.manifests.Secret.it-web.stringData}\"}
",
    );
    project.file("secret.env", format!("TOKEN={token}\nOTHER={vault}\n"));
    let handed = format!("\"${{{}}}\"", random.pick(HANDED));
    project.file(
        "all.garden.yml",
        format!(
            "kind: Deploy
type: tosca
name: service
spec: {{template: service/service.yaml, inputs: {{key: {handed}}}}}
---
kind: Deploy
type: ensemble
name: ensemble
spec: {{ensemble: ensemble/ensemble.yaml, inputs: {{key: \"${{actions.deploy.service.outputs.key}}\"}}}}
---
kind: Deploy
type: chart
name: web
spec:
  chart: web
  release: it
  values: {{key: \"${{actions.deploy.ensemble.outputs.key}}\", other: \"${{secrets.OTHER}}\"}}
---
kind: Run
type: exec
name: show
spec:
  command:
    - echo
    - ${{actions.deploy.service.outputs.nodes.app.properties.key}}
    - \"x ${{actions.deploy.ensemble.outputs.key}}\"
    - ${{actions.deploy.web.outputs.manifests.Secret.it-web.stringData.k0}}
"
        ),
    );
    project.file(
        "service/service.yaml",
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  App:
    derived_from: tosca.nodes.Root
    properties:
      key: {{type: string}}
      port: {{type: integer, default: 80}}
topology_template:
  inputs: {{key: {{type: string}}}}
  node_templates:
    app: {{type: App, properties: {{key: {}}}}}
  outputs:
    key: {{value: {{get_property: [app, key]}}}}
",
            random.pick(SERVICE)
        ),
    );
    project.file(
        "ensemble/ensemble.yaml",
        format!(
            "apiVersion: unfurl/v1.0.0
kind: Ensemble
spec:
  service_template:
    tosca_definitions_version: tosca_simple_unfurl_1_0_0
    node_types:
      Gateway:
        derived_from: tosca.nodes.Root
        properties:
          key: {{type: string}}
          name: {{type: string, default: gate}}
    topology_template:
      inputs: {{key: {{type: string}}}}
      node_templates:
        gateway: {{type: Gateway, properties: {{key: {}}}}}
      outputs:
        key: {{value: {{eval: \"::gateway::key\"}}}}
",
            random.pick(ENSEMBLE)
        ),
    );
    project.file("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    project.file("web/values.yaml", "key: unset\nname: web\nother: unset\n");
    project.file("web/templates/_it.tpl", "{{- define \"it\" -}}it: {{ .Values.key }}{{- end -}}\n");
    let mut chart =
        String::from("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}-web\nstringData:\n");
    for at in 0..6 {
        chart += &format!("  k{at}: {}\n", random.pick(CHART));
        project.fields.push(("deploy.web/Secret/it-web".into(), format!("stringData.k{at}")));
    }
    chart += "  {{- if .Values.other }}\n  last: {{ .Values.other | quote }}\n  {{- end }}\n";
    project.file("web/templates/secret.yaml", chart);
    for (node, field) in [
        ("deploy.service", "spec.inputs.key"),
        ("deploy.service/app", "properties.key"),
        ("deploy.ensemble/gateway", "attributes.key"),
        ("deploy.web", "spec.values.key"),
        ("run.show", "spec.command.1"),
        ("run.show", "spec.command.3"),
    ] {
        project.fields.push((node.into(), field.into()));
    }
    for (node, expression) in [
        (Some("deploy.ensemble/gateway"), ".::key"),
        (Some("deploy.web/Secret/it-web"), "{{ .Values.key | upper }}"),
        (None, "${actions.deploy.web.outputs.manifests.Secret.it-web.stringData.k1}"),
    ] {
        project.expressions.push((node.map(str::to_owned), expression.to_owned()));
    }
    project.canaries = vec![token, vault];
    project.values = 14;
    project
}
