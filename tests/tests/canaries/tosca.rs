//! Service templates: `metadata: {sensitive: true}` on definitions of properties, attributes, parameters and inputs, on
//! data types and their parts, inherited or not; the tag `!sensitive`; and inputs on the command line or in a file.

use crate::project::Project;
use crate::random::Random;

const OLD_WRAPPERS: &[&str] = &[
    "{concat: [a-, @]}",
    "{concat: [@, b]}",
    "{join: [[@, c], '#']}",
    "{token: [@, '#', 0]}",
    "{concat: [{token: [@, '~', 0]}, z]}",
];

const NEW_WRAPPERS: &[&str] = &[
    "{$concat: [a-, @]}",
    "{$concat: [@, b]}",
    "{$join: [[@, c], '#']}",
    "{$token: [@, '#', 0]}",
    "{$join: [{$concat: [[@], [d]]}, '-']}",
    "{$join: [{$union: [[@], [d]]}, '-']}",
    "{$join: [{$intersection: [[@, d], [@]]}, '-']}",
];

/// A service in one of two editions, with its prefix of function names and its keyword for templates.
struct Edition {
    version: &'static str,
    service: &'static str,
    dollar: &'static str,
    wrappers: &'static [&'static str],
}

const EDITIONS: &[Edition] = &[
    Edition { version: "tosca_simple_yaml_1_3", service: "topology_template", dollar: "", wrappers: OLD_WRAPPERS },
    Edition { version: "tosca_2_0", service: "service_template", dollar: "$", wrappers: NEW_WRAPPERS },
];

fn base(random: &mut Random, edition: &Edition, project: &mut Project) -> String {
    let mut secret = || {
        let canary = random.canary();
        project.canaries.push(canary.clone());
        canary
    };
    let (own, default, inherited, part, entry) = (secret(), secret(), secret(), secret(), secret());
    let (of_type, tagged, input, fixed, capability) = (secret(), secret(), secret(), secret(), secret());
    project.options = vec!["--input".into(), format!("given={}", secret())];
    let number = random.number();
    project.canaries.push(number.clone());
    let d = edition.dollar;
    format!(
        "tosca_definitions_version: {}
data_types:
  Login:
    properties:
      user: {{type: string, default: ann}}
      pass: {{type: string, metadata: {{sensitive: 'true'}}}}
  Hidden: {{derived_from: string, metadata: {{sensitive: 'true'}}}}
capability_types:
  Door: {{properties: {{code: {{type: string, metadata: {{sensitive: 'true'}}}}}}}}
node_types:
  Open: {{properties: {{{}}}}}
  Base:
    properties:
      own: {{type: string, metadata: {{sensitive: 'true'}}}}
      default: {{type: string, metadata: {{sensitive: 'true'}}, default: {default}}}
      inherited: {{type: string, metadata: {{sensitive: 'true'}}}}
      number: {{type: integer, metadata: {{sensitive: 'true'}}, default: {number}}}
    capabilities: {{door: {{type: Door}}}}
  Derived:
    derived_from: Base
    properties:
      inherited: {{type: string, description: said again}}
      login: {{type: Login}}
      hidden: {{type: Hidden}}
      entries: {{type: list, entry_schema: {{type: string, metadata: {{sensitive: 'true'}}}}}}
      tagged: {{type: string}}
{}:
  inputs:
    given: {{type: string, metadata: {{sensitive: 'true'}}}}
    preset: {{type: string, metadata: {{sensitive: 'true'}}, default: {input}}}
    fixed: {{type: string, default: !sensitive {fixed}}}
  outputs:
    given: {{value: {{{d}get_input: given}}}}
    own: {{value: {{{d}concat: [{{{d}get_property: [s, own]}}, '!']}}}}
  node_templates:
    s:
      type: Derived
      capabilities: {{door: {{properties: {{code: {capability}}}}}}}
      properties:
        own: {own}
        inherited: {inherited}
        login: {{pass: {part}}}
        hidden: {of_type}
        entries: [plain, {entry}]
        tagged: !sensitive {tagged}
",
        edition.version, "PROPERTIES", edition.service,
    )
}

fn leaves(edition: &Edition) -> Vec<String> {
    let d = edition.dollar;
    let mut out: Vec<String> =
        ["given", "preset", "fixed"].iter().map(|name| format!("{{{d}get_input: {name}}}")).collect();
    for path in ["own", "default", "inherited", "hidden", "tagged", "number", "login, pass", "entries, 1"] {
        out.push(format!("{{{d}get_property: [s, {path}]}}"));
    }
    let door = if edition.dollar.is_empty() { "s, door, code" } else { "s, CAPABILITY, door, code" };
    out.push(format!("{{{d}get_property: [{door}]}}"));
    out
}

pub fn sound(random: &mut Random) -> Project {
    let mut project = Project::default();
    let edition = random.pick(EDITIONS);
    let head = base(random, edition, &mut project);
    let leaves = leaves(edition);
    let mut declared = Vec::new();
    let mut assigned = String::from("    a:\n      type: Open\n      properties:\n");
    for at in 0..24 {
        let leaf = random.pick(&leaves).clone();
        let value = if at == 0 { leaf } else { random.wrapped(&leaf, edition.wrappers) };
        declared.push(format!("p{at}: {{type: string}}"));
        assigned += &format!("        p{at}: {value}\n");
        if at % 4 == 0 {
            project.fields.push(("a".into(), format!("properties.p{at}")));
        }
    }
    project.fields.push(("s".into(), "properties.inherited".into()));
    project.file("service.yaml", head.replace("PROPERTIES", &declared.join(", ")) + &assigned);
    for (node, leaf) in [("s", "own"), ("s", "inherited"), ("a", "p3")] {
        let expression = format!("{{{}get_property: [{node}, {leaf}]}}", edition.dollar);
        project.expressions.push((None, expression));
    }
    project.values = 24 + 14;
    project
}

/// Values that violate a constraint or a type, and calls that cannot be evaluated.
pub fn broken(random: &mut Random) -> Project {
    let mut project = Project::default();
    let edition = random.pick(EDITIONS);
    let head = base(random, edition, &mut project);
    let old = edition.dollar.is_empty();
    let clauses: &[&str] = if old {
        &[
            "constraints: [{max_length: 3}]",
            "constraints: [{length: 3}]",
            "constraints: [{pattern: 'x+'}]",
            "constraints: [{equal: abc}]",
            "constraints: [{valid_values: [a, b]}]",
            "constraints: [{greater_than: zzzz}]",
            "constraints: [{in_range: [zzza, zzzz]}]",
        ]
    } else {
        &[
            "validation: {$equal: [$value, abc]}",
            "validation: {$matches: [$value, 'x+']}",
            "validation: {$valid_values: [$value, [a, b]]}",
            "validation: {$greater_than: [$value, zzzz]}",
            "validation: {$less_than: [{$length: [$value]}, 3]}",
            "validation: {$has_prefix: [$value, zz]}",
            "validation: {$less_than: [$value, 3]}",
        ]
    };
    let types = ["integer", "boolean", "float", "version", "timestamp", "range", "list, entry_schema: string", "Login"];
    let leaves = leaves(edition);
    let mut declared = Vec::new();
    let mut assigned = String::from("    a:\n      type: Open\n      properties:\n");
    let mut add = |definition: String, value: String| {
        let at = declared.len();
        declared.push(format!("p{at}: {{{definition}, metadata: {{sensitive: 'true'}}}}"));
        assigned += &format!("        p{at}: {value}\n");
    };
    for clause in clauses {
        let literal = random.canary();
        project.canaries.push(literal.clone());
        add(format!("type: string, {clause}"), literal);
        add(format!("type: string, {clause}"), random.pick(&leaves).clone());
    }
    for name in types {
        let literal = random.canary();
        project.canaries.push(literal.clone());
        add(format!("type: {name}"), literal);
        add(format!("type: {name}"), random.pick(&leaves).clone());
    }
    let d = edition.dollar;
    for wrong in
        ["get_property: [@, x]", "get_property: [s, @]", "get_input: @", "token: [@, '-', 9]", "token: [a, '-', @]"]
    {
        let leaf = random.pick(&leaves).clone();
        add("type: string".into(), format!("{{{d}{}}}", wrong.replace('@', &leaf)));
    }
    project.values = declared.len();
    project.file("service.yaml", head.replace("PROPERTIES", &declared.join(", ")) + &assigned);
    project.broken = true;
    project
}
