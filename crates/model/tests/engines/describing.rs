//! The output of the same rows for editors, other tools and readers.

use crate::dialect::{FILE, FIRST, SECOND, TOOL, WORKSHOP, read};
use boon::{Compiler, SchemaIndex, Schemas};
use purlin_model::describe::reference;
use purlin_model::{Edition, json_schema};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{Secrets, to_json};
use purlin_value::{MergeKeys, Value, value_of};

fn json(value: &Value) -> serde_json::Value {
    serde_json::from_str(&to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap()).unwrap()
}

/// Compiling checks the schema against the schema of its draft.
fn compiled(edition: Edition) -> (Schemas, SchemaIndex) {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.add_resource("http://localhost/workshop.json", json(&json_schema(&WORKSHOP, FILE, edition))).unwrap();
    let index = compiler.compile("http://localhost/workshop.json", &mut schemas).unwrap();
    (schemas, index)
}

/// Documents and whether each edition accepts them.
const DOCUMENTS: &[(&str, bool, bool)] = &[
    ("version: 1", true, true),
    ("{}", false, false),
    ("{version: 1, extra: 2}", false, false),
    ("{version: [1]}", false, false),
    ("{version: 1, labels: {a: x}}", true, true),
    ("{version: 1, labels: {a: 1}}", false, false),
    ("{version: 1, tools: }", true, true),
    ("{version: 1, tools: {t: {type: x, links: [{a: b}, {a: {to: c}}]}}}", true, true),
    ("{version: 1, tools: {t: {type: x, links: {a: b}}}}", true, true),
    ("{version: 1, tools: {t: {type: x, links: [{a: [b]}]}}}", false, true),
    ("{version: 1, tools: {t: {type: x, links: [{a: b, c: d}]}}}", false, false),
    ("{version: 1, tools: {t: {type: x, links: [a]}}}", false, false),
    ("{version: 1, tools: {t: {type: 5}}}", false, false),
    ("{version: 1, tools: {t: {type: x, on: '${later}', tries: '${n}'}}}", true, true),
    ("{version: 1, tools: {t: {type: x, on: 'later'}}}", false, false),
    ("{version: 1, tools: {t: '${all}'}}", true, true),
    ("{version: 1, tools: {t: {type: x, tries: 1.5}}}", false, false),
    ("{version: 1, tools: {t: [a]}}", false, false),
    ("{version: 1, tool_types: {t: {colour: red}, u: {color: red}}}", true, true),
    ("{version: 1, tool_types: {t: {colour: mauve}}}", false, false),
    ("{version: 1, tool_types: {t: {fits: [a]}}}", false, true),
    ("{version: 1, tool_types: {t: {fitting: [a]}}}", true, false),
    ("{version: 1, tool_types: {t: {limits: [{most: 1}]}}}", true, true),
    ("{version: 1, tool_types: {t: {limits: [{most: 1, least: 1}]}}}", false, false),
    ("{version: 1, tool_types: {t: {limits: [{}]}}}", false, false),
    ("{version: 1, tool_types: {t: {motor: {power: 1, low: {material: x}}}}}", true, false),
    ("{version: 1, tool_types: {t: {motor: {gears: {low: {material: x}}}}}}", false, true),
    ("{version: 1, tool_types: {t: {parts: {p: {size: 1}, q: {size: x}, r: {size: {most: 1}}}}}}", true, true),
    ("{version: 1, tool_types: {t: {parts: {p: {size: [1]}}}}}", false, false),
    ("{version: 1, tool_types: {t: {ports: [{a: b}], notes: [1, {x: null}]}}}", true, true),
    ("{version: 1, port_types: {t: {count: [1, 2]}, u: {count: [0, UNBOUNDED]}}}", true, true),
    ("{version: 1, port_types: {t: {count: [1]}}}", false, false),
];

#[test]
fn the_json_schema_takes_what_the_walk_takes() {
    for (edition, at) in [(FIRST, 0), (SECOND, 1)] {
        let (schemas, index) = compiled(edition);
        for (text, first, second) in DOCUMENTS {
            let expected = [*first, *second][at];
            let read = read(edition, text);
            let problems: Vec<String> = read.problems();
            let errors =
                problems.iter().filter(|problem| !problem.contains("deprecated-key") && !problem.contains("idle-tool"));
            assert_eq!(errors.count() == 0, expected, "looking at {text}: {problems:?}");
            let document = json(&value_of(read.tree.root().unwrap(), MergeKeys::Apply));
            let verdict = schemas.validate(&document, index);
            assert_eq!(verdict.is_ok(), expected, "validating {text}: {verdict:?}");
        }
    }
}

#[test]
fn the_json_schema_describes() {
    let schema = json(&json_schema(&WORKSHOP, FILE, SECOND));
    let tool = &schema["$defs"]["Tool"]["anyOf"][0];
    assert_eq!(schema["title"], "workshop 2");
    assert_eq!(tool["properties"]["tries"]["default"], 3);
    assert_eq!(tool["properties"]["tries"]["description"], "How often to try.");
    assert_eq!(tool["required"], serde_json::json!(["type"]));
    assert_eq!(schema["$defs"]["ToolType"]["anyOf"][0]["properties"]["color"]["deprecated"], true);
    // Definitions that are unused in this edition are left out.
    let first = json(&json_schema(&WORKSHOP, TOOL, FIRST));
    let kinds: Vec<&String> = first["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["Expression", "Link", "Tool"]);
}

#[test]
fn the_reference_page_has_every_row() {
    let page = reference(&WORKSHOP, "Workshop files");
    for entity in WORKSHOP.entities {
        for field in entity.all_fields() {
            assert!(page.contains(&format!("| `{}`", field.key)), "{}", field.key);
        }
    }
    let port = page.split("\n## ").find(|section| section.starts_with("Port\n")).unwrap();
    assert_eq!(
        port,
        "Port\n\nSomething that can be plugged in.\n\nA single value stands for its `type`.\n\n\
         | Key | Takes | Meaning |\n|---|---|---|\n\
         | `type` (required) | the name of a [port type](#port-type) | Type of the port. Inherited; may only be narrowed. |\n\
         | `parts` | a mapping with a [part](#part) per name | Parts beside those of the type. Merged by name with what is inherited. |\n\
         | `count` | a lower and an upper bound such as [0, UNBOUNDED] | How many there may be. Inherited; may only be narrowed. |\n"
    );
    assert!(page.contains("Editions, the oldest first: `1`, `2`."));
    assert!(page.contains("One of `most` or `least` is required."));
    assert!(page.contains("A list stands for its `path`. From 2 on."));
    assert!(page.contains("| any other key | a mapping with a [part](#part) per name |"));
}
