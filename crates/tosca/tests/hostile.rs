//! Bad input ends in a diagnostic, never in a crash or a hang: cycles, YAML bombs and archives with false headers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_syntax::Limits;
use purlin_tosca::compile::{Compiled, Settings, compile};
use purlin_value::{MemoryWorld, Session};
use std::fmt::Write;
use std::sync::Arc;

fn run(world: MemoryWorld, path: &str) -> Compiled {
    let session = Session::new(Arc::new(world));
    compile(&session, path, &Settings::default())
}

fn check(text: &str) -> Vec<String> {
    rules(&run(MemoryWorld::new().file("a.yaml", text), "a.yaml"))
}

fn rules(compiled: &Compiled) -> Vec<String> {
    compiled.problems.list().iter().map(|problem| problem.diagnostic.rule.name.to_owned()).collect()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn rings_of_every_kind_of_type_are_reported_once() {
    let sections = ["node", "data", "capability", "relationship", "interface", "artifact", "policy", "group"]
        .map(|kind| format!("{kind}_types"));
    for section in sections {
        for version in ["tosca_simple_yaml_1_3", "tosca_2_0"] {
            let text = format!(
                "tosca_definitions_version: {version}\n{section}:\n  A: {{derived_from: B}}\n  B: {{derived_from: C}}\n  C: {{derived_from: A}}\n  D: {{derived_from: A}}\n"
            );
            assert_eq!(check(&text), ["tosca-type-loop", "tosca-incomplete-type"], "{section} {version}");
        }
    }
}

#[test]
fn a_type_that_is_its_own_parent_is_a_ring() {
    assert_eq!(
        check("tosca_definitions_version: tosca_2_0\ndata_types:\n  A: {derived_from: A}\n"),
        ["tosca-type-loop"]
    );
}

#[test]
fn values_that_refer_to_each_other_are_reported_with_the_whole_ring() {
    let text = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  A:
    derived_from: tosca.nodes.Root
    properties:
      p: {type: string}
      q: {type: string}
topology_template:
  node_templates:
    a:
      type: A
      properties:
        p: {get_property: [SELF, q]}
        q: {concat: [x, {get_property: [SELF, p]}]}
";
    let compiled = run(MemoryWorld::new().file("a.yaml", text), "a.yaml");
    assert_eq!(rules(&compiled), ["tosca-function-loop"]);
    assert!(compiled.problems.list()[0].diagnostic.message.contains("`a.p` → `a.q` → `a.p`"));
}

#[test]
fn a_long_chain_of_references_is_followed_without_the_machine_stack() {
    let mut text = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  A: {derived_from: tosca.nodes.Root, properties: {p: {type: string}}}
topology_template:
  node_templates:
    n0: {type: A, properties: {p: x}}
"
    .to_owned();
    for index in (1..3_000).rev() {
        let _ = writeln!(text, "    n{index}: {{type: A, properties: {{p: {{get_property: [n{}, p]}}}}}}", index - 1);
    }
    let small_stack = move || assert_eq!(check(&text), Vec::<String>::new());
    std::thread::Builder::new().stack_size(1 << 20).spawn(small_stack).unwrap().join().unwrap();
}

/// A node whose properties refer to each other through names that must be computed.
fn computed_names(count: usize, last: &str) -> String {
    let mut text = "tosca_definitions_version: tosca_2_0\nnode_types:\n  N:\n    properties:\n".to_owned();
    for index in 0..count {
        let _ = writeln!(text, "      p{index}: {{ type: string }}");
    }
    text.push_str("service_template:\n  node_templates:\n    n:\n      type: N\n      properties:\n");
    for index in 0..count - 1 {
        let next = index + 1;
        let _ = writeln!(text, "        p{index}: {{ $get_property: [ SELF, {{ $concat: [ p, '{next}' ] }} ] }}");
    }
    let _ = writeln!(text, "        p{}: {last}", count - 1);
    text
}

#[test]
fn references_by_computed_names_end() {
    assert!(check(&computed_names(20, "end")).is_empty());
    assert_eq!(
        check(&computed_names(20, "{ $get_property: [ SELF, { $concat: [ p, '0' ] } ] }")),
        ["tosca-function-loop"]
    );
    assert!(check(&computed_names(3_000, "end")).iter().all(|rule| rule == "tosca-function"));
}

#[test]
fn references_in_clauses_are_followed_without_the_machine_stack() {
    let mut text = "tosca_definitions_version: tosca_2_0\nnode_types:\n  N:\n    properties:\n".to_owned();
    for index in 0..3_000 {
        let next = (index + 1) % 3_000;
        let clause = format!("{{ $equal: [ $value, {{ $get_property: [ SELF, p{next} ] }} ] }}");
        let _ =
            writeln!(text, "      p{index}: {{ type: string, default: {{ $concat: [ a ] }}, validation: {clause} }}");
    }
    text.push_str("service_template:\n  node_templates:\n    n: { type: N }\n");
    assert!(check(&text).is_empty(), "they are all the same, and none is computed from another");
}

#[test]
fn paths_that_lead_everywhere_end() {
    let hop = ", RELATIONSHIP, host, ALL, CAPABILITY, RELATIONSHIP, ALL, SOURCE".repeat(20);
    let text = format!(
        "\
tosca_definitions_version: tosca_2_0
capability_types: {{ Host: {{}} }}
node_types:
  M: {{ capabilities: {{ host: Host }} }}
  A: {{ properties: {{ p: {{ type: integer, default: 1 }} }}, requirements: [ host: {{ capability: Host }} ] }}
service_template:
  node_templates:
    m: {{ type: M, count: 20 }}
    a: {{ type: A, count: 20, requirements: [ host: {{ node: M, count: 20 }} ] }}
  outputs: {{ all: {{ value: {{ $get_property: [ a, ALL{hop}, p ] }} }} }}
"
    );
    assert_eq!(check(&text), ["tosca-function"]);
}

#[test]
fn a_long_chain_of_types_is_followed_and_dropped_without_the_machine_stack() {
    let mut text =
        "tosca_definitions_version: tosca_2_0\nnode_types:\n  T0: {properties: {p0: {type: string}}}\n".to_owned();
    for index in 1..10_000 {
        let _ =
            writeln!(text, "  T{index}: {{derived_from: T{}, properties: {{p{index}: {{type: string}}}}}}", index - 1);
    }
    let small_stack = move || assert_eq!(check(&text), Vec::<String>::new());
    std::thread::Builder::new().stack_size(1 << 20).spawn(small_stack).unwrap().join().unwrap();
}

#[test]
fn a_default_that_contains_itself_is_reported() {
    let text = "\
tosca_definitions_version: tosca_2_0
data_types:
  T:
    properties:
      left: {type: T, default: {}}
      right: {type: T, default: {}}
node_types:
  A: {properties: {t: {type: T, default: {}}}}
service_template:
  node_templates:
    a: {type: A}
";
    let found = check(text);
    assert!(!found.is_empty() && found.iter().all(|rule| rule == "tosca-function-loop"), "{found:?}");
}

#[test]
fn a_missing_version_and_broken_yaml_are_diagnostics() {
    assert_eq!(check("description: x\n"), ["tosca-version"]);
    assert_eq!(check(""), ["tosca-version"]);
    assert_eq!(check("[1, 2]\n"), ["tosca-wrong-shape"]);
    assert!(!check("a: [1\n").is_empty());
}

#[test]
fn import_rings_are_reported_once() {
    let head = "tosca_definitions_version: tosca_2_0\nimports:\n- ";
    let world = MemoryWorld::new()
        .file("a.yaml", &format!("{head}b.yaml\n"))
        .file("b.yaml", &format!("{head}c.yaml\n"))
        .file("c.yaml", &format!("{head}a.yaml\n"));
    assert_eq!(rules(&run(world, "a.yaml")), ["tosca-import-loop"]);
}

#[test]
fn names_along_every_path_of_imports_are_found_without_being_copied() {
    for version in ["tosca_simple_yaml_1_3", "tosca_2_0"] {
        let (key, prefix) = if version == "tosca_2_0" { ("url", "namespace") } else { ("file", "namespace_prefix") };
        let mut world = MemoryWorld::new();
        let count = 60; // along two imports each, the last file's name has 2^60 spellings in the first one
        for index in 0..count {
            let next = index + 1;
            let text = format!(
                "tosca_definitions_version: {version}\nimports:\n- {{{key}: f{next}.yaml, {prefix}: a}}\n- {{{key}: f{next}.yaml, {prefix}: b}}\n"
            );
            let types = format!("data_types:\n  T: {{derived_from: {}T}}\n", "a:b:".repeat((count - index) / 2));
            world = world.file(&format!("f{index}.yaml"), &(text + if index == 0 { &types } else { "" }));
        }
        let last = format!(
            "tosca_definitions_version: {version}\ndata_types:\n  T: {{properties: {{p: {{type: string}}}}}}\n"
        );
        let compiled = run(world.file(&format!("f{count}.yaml"), &last), "f0.yaml");
        assert_eq!(rules(&compiled), [""; 0], "{version}");
    }
}

#[test]
fn imports_cannot_leave_the_project() {
    let targets = [
        ("../../etc/passwd", "not-allowed"),
        ("/etc/passwd", "not-allowed"),
        ("file:///etc/passwd", "not-allowed"),
        ("gopher://x/y", "tosca-import"),
    ];
    for (target, rule) in targets {
        let text = format!("tosca_definitions_version: tosca_simple_yaml_1_3\nimports:\n- {target}\n");
        assert_eq!(check(&text), [rule], "{target}");
    }
}

const TEMPLATE: &[u8] = b"tosca_definitions_version: tosca_2_0\n";

/// One entry of a zip file under construction.
struct Entry<'a> {
    name: &'a str,
    data: &'a [u8],
    /// The size that the archive claims.
    size: u32,
    mode: u32,
    deflate: bool,
}

impl<'a> Entry<'a> {
    fn of(name: &'a str, data: &'a [u8]) -> Self {
        Entry { name, data, size: data.len() as u32, mode: 0o100_644, deflate: true }
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for entry in entries {
        let packed = if entry.deflate { deflated(entry.data) } else { entry.data.to_vec() };
        let method: u16 = if entry.deflate { 8 } else { 0 };
        let offset = out.len() as u32;
        let mut common = Vec::new();
        common.extend([20u16, 0, method, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        common.extend([crc32(entry.data), packed.len() as u32, entry.size].iter().flat_map(|word| word.to_le_bytes()));
        common.extend([entry.name.len() as u16, 0].iter().flat_map(|word| word.to_le_bytes()));
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(entry.name.as_bytes());
        out.extend(&packed);
        central.extend(b"PK\x01\x02\x14\x03");
        central.extend(&common);
        central.extend([0u16, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        central.extend((entry.mode << 16).to_le_bytes());
        central.extend(offset.to_le_bytes());
        central.extend(entry.name.as_bytes());
    }
    let (start, size, count) = (out.len() as u32, central.len() as u32, entries.len() as u16);
    out.extend(&central);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].iter().flat_map(|word| word.to_le_bytes()));
    out.extend([size, start].iter().flat_map(|word| word.to_le_bytes()));
    out.extend([0, 0]);
    out
}

fn archive(entries: &[Entry<'_>]) -> Vec<String> {
    rules(&run(MemoryWorld::new().bytes("a.csar", &zip(entries)), "a.csar"))
}

#[test]
fn a_sound_archive_is_read_from_memory() {
    assert_eq!(archive(&[Entry::of("a.yaml", TEMPLATE)]), Vec::<String>::new());
}

#[test]
fn a_folder_is_no_service_because_of_any_zip_in_it() {
    let finds = |entries: &[Entry<'_>]| {
        let session = Session::new(Arc::new(MemoryWorld::new().bytes("folder/a.zip", &zip(entries))));
        let request = purlin_model::Request { path: "folder".into(), ..Default::default() };
        purlin_tosca::DIALECT.file_of(&session, &request).is_some()
    };
    assert!(finds(&[Entry::of("a.yaml", TEMPLATE)]));
    assert!(finds(&[
        Entry::of(
            "TOSCA-Metadata/TOSCA.meta",
            b"TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nEntry-Definitions: a.yaml\nCreated-By: us\n"
        ),
        Entry::of("a.yaml", b"node_types: {}\n"),
    ]));
    assert!(!finds(&[Entry::of("manifest.yaml", b"name: something else\n")]));
}

#[test]
fn names_that_lead_out_of_an_archive_are_refused() {
    for name in ["../a.yaml", "x/../../a.yaml", "/a.yaml", "x\\a.yaml", "C:/a.yaml"] {
        assert_eq!(archive(&[Entry::of("ok.yaml", TEMPLATE), Entry::of(name, TEMPLATE)]), ["tosca-csar"], "{name}");
    }
}

#[test]
fn links_in_archives_are_refused() {
    let link = Entry { mode: 0o120_777, ..Entry::of("link.yaml", b"/etc/passwd") };
    assert_eq!(archive(&[Entry::of("ok.yaml", TEMPLATE), link]), ["tosca-csar"]);
}

#[test]
fn sizes_that_lie_are_noticed() {
    let small = Entry { size: 3, ..Entry::of("a.yaml", TEMPLATE) };
    let large = Entry { size: 500, ..Entry::of("a.yaml", TEMPLATE) };
    assert_eq!(archive(&[small]), ["tosca-csar"]);
    assert_eq!(archive(&[large]), ["tosca-csar"]);
}

#[test]
fn bombs_do_not_go_off() {
    let zeros = vec![b' '; 20 << 20];
    let found = archive(&[Entry::of("a.yaml", &zeros)]);
    assert_eq!(found, ["limit-archive"]);
    let hidden = Entry { size: 10, ..Entry::of("a.yaml", &zeros) };
    assert_eq!(archive(&[hidden]), ["tosca-csar"]);
}

#[test]
fn broken_archives_are_diagnostics() {
    for bytes in [&b""[..], b"PK", b"not a zip at all", &zip(&[Entry::of("a.yaml", TEMPLATE)])[..40]] {
        let world = MemoryWorld::new().bytes("a.csar", bytes).bytes("a.tar.gz", bytes).bytes("a.tar", bytes);
        let session = Session::new(Arc::new(world));
        for path in ["a.csar", "a.tar.gz"] {
            let compiled = compile(&session, path, &Settings::default());
            assert_eq!(rules(&compiled), ["tosca-csar"], "{path}");
        }
    }
}

#[test]
fn links_and_escapes_in_tar_files_are_refused() {
    for (name, kind) in [("../a.yaml", b'0'), ("a.yaml", b'2'), ("/a.yaml", b'0'), ("a.yaml", b'1')] {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", TEMPLATE.len()).as_bytes());
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut bytes = header.to_vec();
        bytes.extend(TEMPLATE);
        bytes.resize(2048, 0);
        assert_eq!(rules(&run(MemoryWorld::new().bytes("a.tar", &bytes), "a.tar")), ["tosca-csar"], "{name} {kind}");
    }
}

#[test]
fn deep_and_odd_values_do_not_hurt() {
    let deep =
        format!("tosca_definitions_version: tosca_2_0\nmetadata: {{a: {}{}}}\n", "[".repeat(5_000), "]".repeat(5_000));
    assert!(!check(&deep).is_empty());
    let nested = format!(
        "tosca_definitions_version: tosca_2_0\ndsl_definitions: {{a: {}1{}}}\n",
        "{b: ".repeat(300),
        "}".repeat(300)
    );
    assert_eq!(check(&nested), Vec::<String>::new());
}

/// A template for nodes of type `T{level}` with two nodes of the next type, which ask for substitution again.
fn doubling(level: usize) -> String {
    format!(
        "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  substitution_mappings: {{node_type: T{level}}}\n  node_templates:\n    a: {{type: T{0}, directives: [substitute]}}\n    b: {{type: T{0}, directives: [substitute]}}\n",
        level + 1
    )
}

#[test]
fn services_inside_services_do_not_multiply_without_end() {
    let mut types = "tosca_definitions_version: tosca_2_0\nnode_types:\n".to_owned();
    (0..=40).for_each(|level| writeln!(types, "  T{level}: {{}}").unwrap());
    let mut world = MemoryWorld::new().file("types.yaml", &types);
    for level in 1..40 {
        world = world.file(&format!("t{level}.yaml"), &doubling(level));
    }
    let root = "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  node_templates:\n    a: {type: T1, directives: [substitute]}\n";
    assert_eq!(rules(&run(world.file("a.yaml", root), "a.yaml")), ["tosca-substitution"]);
}

#[test]
fn templates_that_contain_each_other_are_refused() {
    let types = "tosca_definitions_version: tosca_2_0\nnode_types: {A: {}, B: {}}\n";
    let template = |outer: &str, inner: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  substitution_mappings: {{node_type: {outer}}}\n  node_templates:\n    n: {{type: {inner}, directives: [substitute]}}\n"
        )
    };
    let world = MemoryWorld::new()
        .file("types.yaml", types)
        .file("a.yaml", &template("A", "B"))
        .file("b.yaml", &template("B", "A"));
    assert_eq!(rules(&run(world, "a.yaml")), ["tosca-substitution"]);
}

/// A service with `sites` copies of a site and the hubs in `hub`, which require sites.
fn ties(hub: &str, sites: &str) -> String {
    format!(
        "\
tosca_definitions_version: tosca_2_0
capability_types: {{Host: {{}}}}
node_types:
  Site: {{capabilities: {{host: Host}}}}
  Hub: {{requirements: [{{site: {{capability: Host, count_range: [0, UNBOUNDED]}}}}]}}
service_template:
  inputs: {{many: {{type: integer, default: 60000}}}}
  node_templates:
    site: {{type: Site, count: {sites}}}
{hub}"
    )
}

fn hub(name: &str, count: &str) -> String {
    format!("    {name}: {{type: Hub, requirements: [{{site: {{node: site, count: {count}}}}}]}}\n")
}

#[test]
fn a_requirement_leads_to_as_many_nodes_as_its_count_says() {
    let text = ties(&hub("hub", "10500"), "10500");
    let compiled = run(MemoryWorld::new().file("a.yaml", &text), "a.yaml");
    assert_eq!(rules(&compiled), Vec::<String>::new());
    let place = compiled.topology.nodes.get_index_of("hub").unwrap();
    let edges = &compiled.resolution.edges[place];
    assert_eq!(edges.len(), 10_500);
    for edge in edges {
        assert_eq!(compiled.resolution.edge(place, edge.requirement), Some(edge));
    }
    let targets: std::collections::HashSet<usize> = edges.iter().map(|edge| edge.target).collect();
    assert_eq!(targets.len(), 10_500, "each leads elsewhere");
}

#[test]
fn a_requirement_that_asks_for_more_nodes_than_there_are_says_so_once() {
    let text = ties(&hub("hub", "16000"), "8000");
    let compiled = run(MemoryWorld::new().file("a.yaml", &text), "a.yaml");
    assert_eq!(rules(&compiled), ["tosca-unresolved"]);
    let labels = format!("{:?}", compiled.problems.list()[0].diagnostic);
    assert!(labels.contains("`site[0]` was considered, but another relationship of the same requirement"), "{labels}");
}

#[test]
fn counts_of_requirements_beyond_all_measure_are_refused() {
    assert_eq!(check(&ties(&hub("hub", "100001"), "2")), ["tosca-requirement-count"]);
    assert_eq!(check(&ties(&hub("hub", "9223372036854775807"), "2")), ["tosca-requirement-count"]);
}

#[test]
fn counts_that_multiply_beyond_all_measure_are_refused() {
    let hubs = |count: &str| (0..20).map(|at| hub(&format!("hub{at}"), count)).collect::<String>();
    assert_eq!(check(&ties(&hubs("60000"), "0")).first().unwrap(), "tosca-requirement-count", "as they are written");
    assert_eq!(check(&ties(&hubs("{$get_input: many}"), "0")).first().unwrap(), "tosca-requirement-count", "computed");
    let copies = hub("hub", "100").replace("type: Hub", "type: Hub, count: 60000");
    assert_eq!(check(&ties(&copies, "0")).first().unwrap(), "tosca-requirement-count", "of nodes and requirements");
}

#[test]
fn counts_beyond_all_measure_are_refused() {
    let service = |counts: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nnode_types: {{A: {{}}}}\nservice_template:\n  node_templates:\n{counts}"
        )
    };
    assert_eq!(check(&service("    a: {type: A, count: 9223372036854775807}\n")), ["tosca-requirement-count"]);
    let many: String = (0..10).map(|at| format!("    a{at}: {{type: A, count: 50000}}\n")).collect();
    assert_eq!(check(&service(&many)), ["tosca-requirement-count"]);
}

/// A run with limits that are soon reached, on a stack of the size that is promised.
fn limited(text: &str, limits: Limits) -> Vec<String> {
    let text = text.to_owned();
    let run = move || {
        let world = MemoryWorld::new().file("a.yaml", &text);
        let session = Session::with_limits(Arc::new(world), limits, 1);
        rules(&compile(&session, "a.yaml", &Settings::default()))
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

/// Nodes each of which is computed from the one before.
fn growing(version: &str, data_type: &str, first: &str, next: &str, count: usize) -> String {
    let is_2 = version == "tosca_2_0";
    let service = if is_2 { "service_template" } else { "topology_template" };
    let root = if is_2 { "" } else { "derived_from: tosca.nodes.Root, " };
    let types = if is_2 {
        "data_types: {T: {properties: {a: {type: T, required: false}, b: {type: T, required: false}}}}\n"
    } else {
        ""
    };
    let mut text = format!(
        "tosca_definitions_version: {version}\n{types}node_types:\n  N: {{{root}properties: {{p: {data_type}}}}}\n{service}:\n  node_templates:\n    n0: {{type: N, properties: {{p: {first}}}}}\n"
    );
    for index in 1..count {
        let dollar = if is_2 { "$" } else { "" };
        let before = format!("{{{dollar}get_property: [n{}, p]}}", index - 1);
        let _ = writeln!(text, "    n{index}: {{type: N, properties: {{p: {}}}}}", next.replace("BEFORE", &before));
    }
    text
}

#[test]
fn texts_that_double_are_stopped() {
    let limits = Limits { string_bytes: 10_000, ..Limits::default() };
    for (version, next) in [
        ("tosca_2_0", "{$concat: [BEFORE, BEFORE]}"),
        ("tosca_2_0", "{$join: [[BEFORE, BEFORE], '-']}"),
        ("tosca_simple_yaml_1_3", "{concat: [BEFORE, BEFORE]}"),
        ("tosca_simple_yaml_1_3", "{join: [[BEFORE, BEFORE], '-']}"),
    ] {
        let text = growing(version, "{type: string}", "aaaaaaaa", next, 60);
        assert_eq!(limited(&text, limits.clone()), ["limit-string-size"], "{version} {next}");
    }
}

#[test]
fn lists_that_double_are_stopped() {
    let limits = Limits { list_items: 10_000, ..Limits::default() };
    for (version, next) in
        [("tosca_2_0", "{$concat: [BEFORE, BEFORE]}"), ("tosca_simple_yaml_1_3", "{concat: [BEFORE, BEFORE]}")]
    {
        let text = growing(version, "{type: list, entry_schema: {type: string}}", "[a, b]", next, 60);
        assert_eq!(limited(&text, limits.clone()), ["limit-list-items"], "{version}");
    }
}

#[test]
fn what_is_copied_again_and_again_is_stopped() {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let next = "{$token: [{$concat: [BEFORE, BEFORE]}, '-', 0]}";
    let text = growing("tosca_2_0", "{type: string}", &"a".repeat(1_000), next, 60);
    assert_eq!(limited(&text, limits.clone()), ["limit-fuel"]);
    let union = "{$union: [BEFORE, BEFORE]}";
    let many: String = (0..1_000).map(|item| format!("i{item}, ")).collect();
    let text = growing("tosca_2_0", "{type: list, entry_schema: {type: string}}", &format!("[{many}]"), union, 60);
    assert_eq!(limited(&text, limits), ["limit-fuel"]);
}

#[test]
fn a_list_is_searched_in_another_in_one_pass() {
    let service = |all: &str, wanted: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nservice_template:\n  node_templates: {{}}\n  outputs: {{o: {{value: {{$contains: [[{all}], [{wanted}]]}}}}}}\n"
        )
    };
    let same = |count: usize| "a, ".repeat(count);
    let text = service(&same(20_000), &format!("{}b", same(10_000)));
    assert_eq!(limited(&text, Limits { fuel: 100_000, ..Limits::default() }), Vec::<String>::new());
    assert_eq!(limited(&text, Limits { fuel: 10_000, ..Limits::default() }), ["limit-fuel"]);
}

#[test]
fn values_that_contain_others_twice_are_stopped() {
    let limits = Limits { list_items: 10_000, ..Limits::default() };
    let text = growing("tosca_2_0", "{type: T}", "{}", "{a: BEFORE, b: BEFORE}", 60);
    assert_eq!(limited(&text, limits.clone()).first().unwrap(), "limit-list-items", "of a type");
    let text = growing("tosca_2_0", "{type: list, entry_schema: {type: list}}", "[]", "[BEFORE, BEFORE]", 60);
    assert_eq!(limited(&text, limits).first().unwrap(), "limit-list-items", "of lists");
}

#[test]
fn values_in_arguments_are_not_looked_through_without_end() {
    let limits = Limits { list_items: 1_000, ..Limits::default() };
    let many = |call: &str| {
        let input = "i, ".repeat(500);
        let again = "{$get_input: many}, ".repeat(500);
        format!(
            "\
tosca_definitions_version: tosca_2_0
service_template:
  inputs: {{many: {{type: list, entry_schema: {{type: string}}, default: [{input}]}}}}
  node_templates: {{}}
  outputs: {{o: {{value: {}}}}}
",
            call.replace("MANY", &format!("[{again}]"))
        )
    };
    for call in [
        "{$equal: [MANY, MANY]}",
        "{$concat: [MANY, MANY]}",
        "{$union: [MANY, MANY]}",
        "{$has_entry: [MANY, a]}",
        "{$has_prefix: [MANY, MANY]}",
        "{$contains: [MANY, MANY]}",
        "{$join: [MANY, a]}",
    ] {
        assert_eq!(limited(&many(call), limits.clone()), ["limit-list-items"], "{call}");
    }
}

#[test]
fn values_inside_values_are_stopped_before_they_are_too_deep() {
    for first in ["[BEFORE]", "{$concat: [[BEFORE], []]}"] {
        let text = growing("tosca_2_0", "{type: list, entry_schema: {type: list}}", "[]", first, 1_100);
        assert_eq!(limited(&text, Limits::default()).first().unwrap(), "limit-depth", "{first}");
    }
}

/// One node with `relationships` relationships to itself, and a property computed along them.
fn itself(relationships: usize, path: &str) -> String {
    let requirements = "r: a".to_owned() + &"}, {r: a".repeat(relationships - 1);
    format!(
        "\
tosca_definitions_version: tosca_2_0
capability_types: {{C: {{}}}}
node_types:
  N:
    properties:
      v: {{type: string, default: x}}
      p: {{type: list, entry_schema: {{type: string}}}}
    capabilities: {{c: C}}
    requirements: [r: {{capability: C, count_range: [0, UNBOUNDED]}}]
service_template:
  node_templates:
    a:
      type: N
      properties: {{p: {{$get_property: [{path}]}}}}
      requirements: [{{{requirements}}}]
"
    )
}

#[test]
fn paths_take_steps_for_every_place() {
    let hop = ", RELATIONSHIP, r, ALL, TARGET";
    let text = itself(30, &format!("SELF{}, v", hop.repeat(2)));
    assert_eq!(limited(&text, Limits::default()), Vec::<String>::new());
    assert_eq!(limited(&text, Limits { fuel: 2_000, ..Limits::default() }), ["limit-fuel"]);
    assert_eq!(limited(&text, Limits { list_items: 800, ..Limits::default() }), ["limit-list-items"]);
    let back_and_forth = ", RELATIONSHIP, r, 0, TARGET".repeat(2_000);
    let text = itself(1, &format!("SELF, RELATIONSHIP, r, ALL, TARGET{back_and_forth}, v"));
    assert_eq!(limited(&text, Limits { fuel: 5_000, ..Limits::default() }), ["limit-fuel"]);
}

#[test]
fn services_inside_others_share_the_steps_of_the_run() {
    let values: String = (0..100).map(|at| format!("    o{at}: {{value: {{$concat: [a, b]}}}}\n")).collect();
    let template = format!(
        "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  substitution_mappings: {{node_type: T}}\n  node_templates: {{}}\n  outputs:\n{values}"
    );
    let nodes = |count: usize| {
        let nodes: String =
            (0..count).map(|at| format!("    n{at}: {{type: T, directives: [substitute]}}\n")).collect();
        let root = format!(
            "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  node_templates:\n{nodes}"
        );
        let world = MemoryWorld::new()
            .file("types.yaml", "tosca_definitions_version: tosca_2_0\nnode_types: {T: {}}\n")
            .file("t.yaml", &template)
            .file("a.yaml", &root);
        let limits = Limits { fuel: 20_000, ..Limits::default() };
        rules(&compile(&Session::with_limits(Arc::new(world), limits, 1), "a.yaml", &Settings::default()))
    };
    assert_eq!(nodes(2), Vec::<String>::new());
    assert!(nodes(100).iter().any(|rule| rule == "limit-fuel"), "{:?}", nodes(100));
}

#[test]
fn constraints_take_steps_for_what_they_compare() {
    let words = |from: usize| (from..from + 300).map(|at| format!("w{at}, ")).collect::<String>();
    let text = format!(
        "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    all:
      type: list
      entry_schema: {{type: string, constraints: [valid_values: [{}]]}}
      default: [{}]
",
        words(0),
        words(0)
    );
    assert_eq!(limited(&text, Limits::default()), Vec::<String>::new());
    assert_eq!(limited(&text, Limits { fuel: 10_000, ..Limits::default() }), ["limit-fuel"]);
}

#[test]
fn looking_for_nodes_takes_steps() {
    let outputs: String =
        (0..100).map(|at| format!("    o{at}: {{value: {{get_nodes_of_type: tosca.nodes.Root}}}}\n")).collect();
    let nodes: String = (0..100).map(|at| format!("    n{at}: {{type: tosca.nodes.Root}}\n")).collect();
    let text = format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n{nodes}  outputs:\n{outputs}"
    );
    assert_eq!(limited(&text, Limits::default()), Vec::<String>::new());
    assert_eq!(limited(&text, Limits { fuel: 5_000, ..Limits::default() }), ["limit-fuel"]);
}

#[test]
fn long_texts_and_large_keys_take_steps() {
    let long = "a".repeat(10_000);
    let outputs = |value: &str| {
        let outputs: String = (0..50).map(|at| format!("    o{at}: {{value: {value}}}\n")).collect();
        format!(
            "\
tosca_definitions_version: tosca_2_0
service_template:
  inputs:
    long: {{type: string, default: {long}}}
    many: {{type: list, entry_schema: {{type: string}}, default: [{}]}}
    map: {{type: map, key_schema: {{type: list, entry_schema: {{type: string}}}}, entry_schema: {{type: string}}, default: {{[a]: b}}}}
  node_templates: {{}}
  outputs:
{outputs}",
            "i, ".repeat(1_000)
        )
    };
    let many = "{$get_input: many}, ".repeat(20);
    for value in [
        "{$length: {$get_input: long}}".to_owned(),
        "{$token: [a, {$get_input: long}, 0]}".to_owned(),
        format!("{{$get_input: [map, [{many}]]}}"),
    ] {
        let found = limited(&outputs(&value), Limits { fuel: 20_000, ..Limits::default() });
        assert_eq!(found.last().unwrap(), "limit-fuel", "{value}");
    }
}
