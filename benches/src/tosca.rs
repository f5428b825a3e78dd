//! A TOSCA service of many nodes: types with properties, inputs, functions, and requirements that are matched.

use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Host:
    derived_from: tosca.nodes.Root
    properties:
      size: {type: integer, default: 4, constraints: [{in_range: [1, 64]}]}
      zone: {type: string}
    capabilities:
      host: {type: tosca.capabilities.Compute}
  App:
    derived_from: tosca.nodes.Root
    properties:
      port: {type: integer}
      url: {type: string}
    requirements:
      - host: {capability: tosca.capabilities.Compute, node: Host, relationship: tosca.relationships.HostedOn}
topology_template:
  inputs:
    domain: {type: string, default: example.org}
  node_templates:
";

/// Writes a service of about `count` nodes: pairs of an application and its host.
pub(crate) fn write(folder: &Path, count: usize) -> std::io::Result<()> {
    let mut text = HEAD.to_owned();
    for number in 0..count / 2 {
        let _ = write!(
            text,
            "    host-{number}:
      type: Host
      properties: {{size: {size}, zone: zone-{zone}}}
    app-{number}:
      type: App
      properties:
        port: {port}
        url: {{concat: [\"https://app-{number}.\", {{get_input: domain}}, \":\", {{get_property: [SELF, port]}}]}}
      requirements:
        - host: host-{number}
",
            size = number % 64 + 1,
            zone = number % 3,
            port = 8_000 + number % 1_000,
        );
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("service.yaml"), text)
}
