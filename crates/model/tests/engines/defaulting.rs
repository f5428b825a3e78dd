//! Entities become values, with the defaults of their rows.

use crate::dialect::{FIRST, SECOND, WORKSHOP, link, read};
use purlin_model::{Defaults, Values};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{Secrets, to_json};
use purlin_value::{OriginKind, Origins, Value};

fn json(value: &Value) -> String {
    to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap()
}

#[test]
fn defaults_follow_what_is_written() {
    let read = read(FIRST, "version: 1\ntools: {t: {type: drill, steps: [a]}}\nport_types: {p: }\n");
    let origins = Origins::new();
    let filled = Values { schema: &WORKSHOP, origins: &origins, defaults: Defaults::Fill };
    assert_eq!(
        json(&filled.entity(&read.file)),
        r#"{"version":1,"tools":{"t":{"type":"drill","steps":["a"],"tries":3}},"port_types":{"p":{"count":[0,"UNBOUNDED"]}}}"#
    );
    let plain = Values { defaults: Defaults::Leave, ..filled };
    assert_eq!(
        json(&plain.entity(&read.file)),
        r#"{"version":1,"tools":{"t":{"type":"drill","steps":["a"]}},"port_types":{"p":{}}}"#
    );
    let tool = read.file.member("tools", "t").unwrap();
    assert!(plain.get(tool, "tries").is_none());
    let tries = filled.get(tool, "tries").unwrap();
    match origins.get(tries.origin, &read.sources) {
        OriginKind::Default { detail, .. } => assert_eq!(detail, "`tries` of a tool unless it is written"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn notations_come_out_in_full_and_chains_in_order() {
    let text = "\
version: 2
port_types: {plug: }
tool_types:
  p: {file_ext: [a], rule: {x: 1}, ports: [{mains: plug}]}
  c: {extends: p, file_ext: [b], rule: 2, motor: {power: 1}}
tools: {t: {type: c, links: [{o: t}, {o: [x, y]}]}}
";
    let linked = link(SECOND, text);
    let all = linked.inherit(1);
    let origins = Origins::new();
    let values = Values { schema: &WORKSHOP, origins: &origins, defaults: Defaults::Leave };
    assert_eq!(
        json(&values.entity(all.get(linked.id("c")).unwrap())),
        r#"{"extends":"p","file_ext":["a","b"],"rule":[{"x":1},2],"motor":{"power":1},"ports":{"mains":{"type":"plug"}}}"#
    );
    assert_eq!(
        json(&values.entity(all.get(linked.id("t")).unwrap())),
        r#"{"type":"c","links":[{"o":{"to":"t"}},{"o":{"path":["x","y"]}}]}"#
    );
}
