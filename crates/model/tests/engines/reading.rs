//! Every notation arrives in one form.

use crate::dialect::{FIRST, SECOND, read};
use purlin_model::{Content, Instance};
use purlin_value::{MergeKeys, Origins, Value};

fn names(instance: &Instance, key: &str) -> Vec<String> {
    instance.map(key).iter().map(|named| named.name.to_string()).collect()
}

#[test]
fn a_scalar_stands_for_a_key() {
    let read = read(SECOND, "version: 2\ntool_types: {drill: {ports: [{mains: Plug}, {air: {type: Hose}}]}}\n");
    let drill = read.file.member("tool_types", "drill").unwrap();
    assert_eq!(names(drill, "ports"), ["mains", "air"]);
    assert_eq!(drill.member("ports", "mains").unwrap().text("type"), Some("Plug"));
    assert_eq!(drill.member("ports", "air").unwrap().text("type"), Some("Hose"));
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn a_list_stands_for_a_key_from_the_second_edition_on() {
    let text = "version: 2\ntools: {t: {type: drill, links: [{out: [a, b]}, {out: c}]}}\n";
    let second = read(SECOND, text);
    let tool = second.file.member("tools", "t").unwrap();
    let links = tool.map("links");
    assert_eq!(names(tool, "links"), ["out", "out"]);
    let path: Vec<_> = links[0].instance.values("path").iter().map(|node| node.text()).collect();
    assert_eq!(path, ["a", "b"]);
    assert_eq!(links[1].instance.text("to"), Some("c"));
    assert_eq!(second.problems(), Vec::<String>::new());
    assert_eq!(
        read(FIRST, text).problems(),
        [
            "2:40 wrong-shape: link: expected a mapping or a `to` alone, found a list (write keys and values, for example `to: …`)"
        ]
    );
}

#[test]
fn a_sequence_may_be_a_mapping() {
    let read = read(FIRST, "version: 1\ntool_types: {drill: {ports: {mains: Plug, air: Hose}}}\n");
    assert_eq!(names(read.file.member("tool_types", "drill").unwrap(), "ports"), ["mains", "air"]);
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn keys_without_a_row_are_collected_where_the_edition_says_so() {
    let text =
        "version: 1\ntool_types: {drill: {motor: {power: 4, low: {material: brass}, high: {material: steel}}}}\n";
    let first = read(FIRST, text);
    let motor = first.file.member("tool_types", "drill").unwrap().one("motor").unwrap().clone();
    assert_eq!(names(&motor, "gears"), ["low", "high"]);
    assert_eq!(motor.int("power"), Some(4));
    assert_eq!(first.problems(), Vec::<String>::new());
    assert_eq!(read(SECOND, text).problems().len(), 2);
}

#[test]
fn unions_take_what_fits() {
    let text = "version: 2\nport_types: {p: {parts: {a: {material: x, size: 3}, b: {material: x, size: big}, \
                c: {material: x, size: {most: 4}}, d: {material: x, size: [1]}}}}\n";
    let read = read(SECOND, text);
    let parts = read.file.member("port_types", "p").unwrap();
    let size = |name: &str| parts.member("parts", name).unwrap().slot("size").unwrap().content.clone();
    assert!(matches!(size("a"), Content::Value(node) if node.text() == "3"));
    assert!(matches!(size("b"), Content::Value(node) if node.text() == "big"));
    assert!(matches!(size("c"), Content::One(limit) if limit.int("most") == Some(4)));
    assert!(matches!(size("d"), Content::Broken));
    assert_eq!(
        read.problems(),
        ["2:140 wrong-shape: `size` of a part: expected an integer, or a string, or a limit, found a list"]
    );
}

#[test]
fn merge_keys_are_applied_and_what_is_written_wins() {
    let text = "\
version: 1
tool_types:
  base: &base {colour: red, weight: 2}
  more: &more {<<: *base, weight: 4}
  drill: {<<: [*more, *base], description: x, colour: blue}
";
    let read = read(FIRST, text);
    let drill = read.file.member("tool_types", "drill").unwrap();
    assert_eq!((drill.text("colour"), drill.int("weight")), (Some("blue"), Some(4)));
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn nothing_counts_as_absent_except_where_anything_goes() {
    let read = read(FIRST, "version: 1\ntool_types: {drill: {colour: , notes: }, saw: }\ntools:\n");
    let drill = read.file.member("tool_types", "drill").unwrap();
    assert!(!drill.has("colour") && drill.has("notes"));
    assert!(!read.file.has("tools"));
    assert!(read.file.member("tool_types", "saw").unwrap().slots.is_empty());
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn expressions_fit_everywhere() {
    let text = "version: ${v}\ntools: {t: {type: '${x}', on: '${y}', steps: ['${z}'], tries: '${n}'}, u: '${all}'}\n";
    let read = read(FIRST, text);
    let tool = read.file.member("tools", "t").unwrap();
    assert_eq!((tool.text("on"), tool.bool("on")), (Some("${y}"), None));
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn an_entity_that_is_an_expression_says_nothing() {
    let text = "version: 1\ntools: {t: {$if: x, $then: {}}}\ntool_types: {u: {motor: {$if: y}, colour: {$if: z}}}\n";
    let read = read(FIRST, text);
    assert!(read.file.member("tools", "t").unwrap().is_broken);
    assert!(read.file.member("tool_types", "u").unwrap().node("motor").is_some());
    assert_eq!(read.problems(), Vec::<String>::new());
}

#[test]
fn values_are_made_from_nodes_with_their_origin() {
    let read = read(FIRST, "version: 1\ntool_types: {drill: {notes: {a: [1, {b: c}]}}}\n");
    let slot = read.file.member("tool_types", "drill").unwrap().slot("notes").unwrap().clone();
    let origins = Origins::new();
    let value = slot.value(MergeKeys::Apply).unwrap();
    assert_eq!(value.get("a").and_then(Value::as_list).map(<[Value]>::len), Some(2));
    assert_eq!(origins.span(value.origin, &read.sources), slot.node().map(|node| node.span()));
    assert!(origins.is_empty());
}

#[test]
fn simple_mappings_are_read_as_entries() {
    let read = read(FIRST, "version: 1\nlabels: {a: x, b: y}\n");
    let entries = read.file.entries("labels");
    let pairs: Vec<_> = entries.iter().map(|(key, value)| (key.text(), value.text())).collect();
    assert_eq!(pairs, [("a", "x"), ("b", "y")]);
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| {
        let part = format!("{}{{material: x}}{}", "{material: x, inside: ".repeat(depth), "}".repeat(depth));
        format!("version: 1\ntool_types: {{t: {{parts: {{p: {part}}}}}}}\n")
    };
    let work = move || {
        assert_eq!(read(FIRST, &deep(90)).problems(), Vec::<String>::new());
        let problems = read(FIRST, &deep(400)).problems();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].ends_with("limit-depth: entities are nested more than 100 deep"));
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}
