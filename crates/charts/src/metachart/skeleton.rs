//! Output of `metachart init`: a chart without resources, and the helpers every Metachart chart has.

/// The helpers, as templates for Helm. Purlin renders such charts without them.
pub const LIBRARY: &str = include_str!("skeleton/_metachart.tpl");

/// The one template that renders everything.
pub const RESOURCES: &str = "{{- include \"metachart.renderAll\" $ }}\n";

/// The files of a new chart.
pub const FILES: &[(&str, &str)] = &[
    (".helmignore", include_str!("skeleton/helmignore")),
    ("Chart.yaml", "apiVersion: v2\nname: metachart\nversion: 0.0.1\nappVersion: none\n"),
    ("values.yaml", "context: {}\nfullnameOverride:\nsettings: {}\n"),
    ("config/resources.yaml", "resources: {}\n"),
    ("config/schema.yaml", include_str!("skeleton/schema.yaml")),
    (
        "config/values.schema.custom.json",
        "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"type\": \"object\",\n  \"definitions\": {}\n}\n",
    ),
    ("templates/_custom.tpl", "{{- /* Templates of your own */ -}}\n"),
    ("templates/_metachart.tpl", LIBRARY),
    ("templates/resources.yaml", RESOURCES),
];
