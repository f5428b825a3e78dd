//! JSON Schemas of TOSCA files for editors, made from the tables by the model's own code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use boon::{Compiler, SchemaIndex, Schemas};
use purlin_model::json_schema;
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Flavor, Limits, Sources, yaml};
use purlin_tosca::edition::{EXTENDED, Edition, V1_0, V1_1, V1_2, V1_3, V2_0};
use purlin_tosca::entities::{FILE, SCHEMA};
use purlin_tosca::profile::{self, NAMED, VERSIONS};
use purlin_value::emit::{Secrets, to_json};
use purlin_value::{MergeKeys, Value, value_of};

fn json(value: &Value) -> serde_json::Value {
    serde_json::from_str(&to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap()).unwrap()
}

fn document(text: &str) -> serde_json::Value {
    let sources = Sources::new();
    let tree = sources.add(yaml::parse(sources.insert("t.yaml", text), Flavor::Core, &Limits::default()));
    json(&value_of(tree.root().unwrap(), MergeKeys::Apply))
}

/// Compiling checks the schema against the schema of its draft.
fn compiled(edition: Edition) -> (Schemas, SchemaIndex) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("http://localhost/tosca.json", json(&json_schema(&SCHEMA, FILE, edition))).unwrap();
    let index = compiler.compile("http://localhost/tosca.json", &mut schemas).unwrap();
    (schemas, index)
}

#[test]
fn every_profile_fits_the_schema_of_its_edition() {
    let embedded = VERSIONS.iter().flat_map(|version| version.profile).chain(NAMED.iter().map(|(_, file)| file));
    let compiled: Vec<_> = ALL.iter().map(|edition| compiled(*edition)).collect();
    for file in embedded {
        let document = document(file.text);
        let edition = profile::version(document["tosca_definitions_version"].as_str().unwrap()).unwrap().edition;
        let (schemas, index) = &compiled[usize::from(edition.0)];
        if let Err(error) = schemas.validate(&document, *index) {
            panic!("{}: {error:#}", file.path);
        }
    }
}

const ALL: &[Edition] = &[V1_0, V1_1, V1_2, V1_3, EXTENDED, V2_0];

/// Contents of a file and the editions that take them.
const DOCUMENTS: &[(&str, &[Edition])] = &[
    ("{}", ALL),
    ("{nothing: 1}", &[]),
    ("{metadata: [a]}", &[]),
    ("{topology_template: {}}", &[V1_0, V1_1, V1_2, V1_3, EXTENDED]),
    ("{service_template: {node_templates: {}}}", &[V2_0]),
    ("{service_template: {}}", &[]),
    ("{namespace: a}", &[V1_2, V1_3, EXTENDED]),
    ("{types: {a: {}}}", &[EXTENDED]),
    ("{imports: [a.yaml]}", ALL),
    ("{imports: [{file: a.yaml, when: now}]}", &[EXTENDED]),
    ("{node_types: {a: {derived_from: b}}}", ALL),
    ("{node_types: {a: {derived_from: [b, c]}}}", &[EXTENDED]),
    ("{node_types: {a: {properties: {p: 1}}}}", &[V2_0]),
    ("{node_types: {a: {requirements: [{b: c}]}}}", ALL),
    ("{node_types: {a: {requirements: [b]}}}", &[]),
    ("{interface_types: {a: {start: {}}}}", &[V1_0, V1_1, V1_2, EXTENDED]),
    ("{interface_types: {a: {operations: {start: run.sh}}}}", &[V1_3, EXTENDED, V2_0]),
    ("{interface_types: {a: {operations: {start: [run.sh]}}}}", &[]),
    ("{data_types: {a: {units: {km: 1000}}}}", &[V2_0]),
    ("{data_types: {a: {units: {km: far}}}}", &[]),
];

#[test]
fn the_schema_follows_the_editions() {
    for edition in ALL {
        let (schemas, index) = compiled(*edition);
        for (text, editions) in DOCUMENTS {
            let mut document = document(text);
            document["tosca_definitions_version"] = "any".into();
            let verdict = schemas.validate(&document, index);
            assert_eq!(verdict.is_ok(), editions.contains(edition), "{text} in {}", SCHEMA.edition_name(*edition));
        }
    }
}
