//! Projects of every dialect to edit, written to a folder.

use std::fmt::Write;
use std::path::Path;

/// Sizes of the projects.
pub struct Size {
    pub actions: usize,
    pub charts: usize,
    pub nodes: usize,
}

fn put(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folders can be made");
    std::fs::write(path, text).expect("files can be written");
}

/// Writes a Garden project, charts, a Skaffold configuration, a TOSCA service and an ensemble below a folder.
pub fn write(root: &Path, size: &Size) {
    put(root, ".git/HEAD", "ref: refs/heads/main\n");
    garden(root, size.actions);
    for number in 0..size.charts {
        chart(root, number);
    }
    put(
        root,
        "skaffold/skaffold.yaml",
        "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata:\n  name: shop\nbuild:\n  artifacts:\n    - image: web\n      \
         requires:\n        - image: base\n    - image: base\nprofiles:\n  - name: dev\n    build:\n      tagPolicy:\n        \
         gitCommit: {}\n",
    );
    tosca(root, size.nodes);
    put(
        root,
        "ensemble/ensemble.yaml",
        "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n  service_template:\n    topology_template:\n      inputs:\n        \
         port:\n          type: integer\n          default: 80\n      node_templates:\n        web:\n          type: tosca:Root\n          \
         metadata:\n            about: \"{{ 'x' | upper }}\"\n",
    );
}

fn garden(root: &Path, actions: usize) {
    put(
        root,
        "garden/project.garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: dev\n    variables:\n      level: debug\n  - \
         name: prod\nproviders:\n  - name: exec\nvariables:\n  host: example.com\n  level: info\n",
    );
    // One file per hundred actions, a typical split.
    for start in (0..actions).step_by(100) {
        let mut text = String::new();
        for number in start..actions.min(start + 100) {
            let _ = write!(
                text,
                "---\nkind: Build\ntype: exec\nname: build-{number}\nspec:\n  command: [echo, \"${{var.host}}\"]\n"
            );
            if number > 0 {
                let _ = writeln!(text, "dependencies: [build.build-{}]", number - 1);
            }
        }
        put(root, &format!("garden/part{start}/garden.yml"), text.trim_start_matches("---\n"));
    }
}

fn chart(root: &Path, number: usize) {
    let folder = format!("charts/chart{number}");
    put(root, &format!("{folder}/Chart.yaml"), &format!("apiVersion: v2\nname: chart{number}\nversion: 1.0.0\n"));
    put(
        root,
        &format!("{folder}/values.yaml"),
        "# How many pods there are.\nreplicas: 1\nimage:\n  repository: nginx\n  tag: \"1.27\"\n",
    );
    put(root, &format!("{folder}/templates/_helpers.tpl"), "{{- define \"app.name\" -}}{{ .Chart.Name }}{{- end -}}\n");
    put(
        root,
        &format!("{folder}/templates/deployment.yaml"),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include \"app.name\" . }}\nspec:\n  replicas: {{ .Values.replicas \
         }}\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n        - name: web\n          image: \"{{ .Values.image.repository }}:{{ \
         .Values.image.tag }}\"\n",
    );
}

fn tosca(root: &Path, nodes: usize) {
    let mut text = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  app.Server:\n    derived_from: tosca.nodes.Root\n    \
         properties:\n      port:\n        type: integer\n        description: Where it listens.\ntopology_template:\n  inputs:\n    \
         port:\n      type: integer\n      default: 80\n  node_templates:\n",
    );
    for number in 0..nodes {
        let _ = write!(
            text,
            "    node-{number}:\n      type: app.Server\n      properties:\n        port: {{ get_input: port }}\n"
        );
        if number > 0 {
            let _ = write!(text, "      requirements:\n        - dependency: node-{}\n", number - 1);
        }
    }
    put(root, "tosca/service.yaml", &text);
}
