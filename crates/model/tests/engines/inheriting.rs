//! Every merge rule, and the contract that goes with it.

use crate::dialect::{FIRST, Linked, SECOND, link};
use purlin_model::{Content, Edition, EntityId, Instance};
use purlin_value::{MergeKeys, OriginKind, Origins};
use std::sync::Arc;

/// An entity with all it holds, on one line.
fn show(instance: &Instance) -> String {
    let slots: Vec<String> = instance
        .slots
        .iter()
        .map(|slot| {
            let from = slot.inherited.as_ref().map(|from| format!("<{from}>")).unwrap_or_default();
            let contents: Vec<String> = slot.content.generations().into_iter().map(show_content).collect();
            format!("{}{from}: {}", slot.field.key, contents.join(" + "))
        })
        .collect();
    format!("{{{}}}", slots.join(", "))
}

fn show_content(content: &Content) -> String {
    let text = |node: &purlin_model::NodeRef| {
        let node = node.node().unwrap();
        node.tree().source().slice(node.span()).to_owned()
    };
    match content {
        Content::Value(node) => text(node),
        Content::Values(nodes) => format!("{:?}", nodes.iter().map(text).collect::<Vec<_>>()),
        Content::One(instance) => show(instance),
        Content::List(list) => list.iter().map(|one| show(one)).collect::<Vec<_>>().join(" "),
        Content::Map(map) => {
            let named = map.iter().map(|named| format!("{}={}", named.name, show(&named.instance)));
            named.collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    }
}

fn inherited(edition: Edition, text: &str, name: &str) -> (String, Vec<String>) {
    let linked = link(edition, text);
    let shown: Vec<String> =
        [1, 2, 8].map(|threads| show(linked.inherit(threads).get(linked.id(name)).unwrap())).into();
    assert!(shown.iter().all(|one| *one == shown[0]));
    (shown[0].clone(), linked.read.problems())
}

fn check(edition: Edition, text: &str, expected: &str) {
    assert_eq!(inherited(edition, text, "c"), (expected.to_owned(), Vec::new()));
}

fn violation(edition: Edition, text: &str, expected: &str) {
    assert_eq!(inherited(edition, text, "c").1, [expected]);
}

#[test]
fn own_is_not_inherited_and_fallback_is() {
    check(
        FIRST,
        "version: 1\ntool_types: {p: {description: x, weight: 2, colour: red}, c: {extends: p}}\n",
        "{extends: p, colour<tool type `p`>: red}",
    );
    check(
        FIRST,
        "version: 1\ntool_types: {p: {colour: red}, c: {extends: p, colour: blue}}\n",
        "{extends: p, colour: blue}",
    );
    check(
        FIRST,
        "version: 1\ntool_types: {g: {colour: red}, p: {extends: g}, c: {extends: p}}\n",
        "{extends: p, colour<tool type `g`>: red}",
    );
}

#[test]
fn by_name_merges_deeply_and_keeps_places() {
    let text = "\
version: 1
tool_types:
  p: {parts: {a: {material: wood, size: 1}, b: {material: iron}}}
  c: {extends: p, parts: {z: {material: gold}, a: {size: 2}}}
";
    check(
        FIRST,
        text,
        "{extends: p, parts: a={size: 2, material<tool type `p`>: wood} b={material: iron} z={material: gold}}",
    );
}

#[test]
fn by_name_merges_sequences_and_single_entities() {
    let text = "\
version: 2
port_types: {plug: }
tool_types:
  p: {ports: [{x: plug}, {y: plug}], motor: {power: 3, gears: {low: {material: brass}}}}
  c: {extends: p, ports: [{y: {count: [1, 1]}}, {z: plug}], motor: {gears: {high: {material: steel}}}}
";
    check(
        SECOND,
        text,
        "{extends: p, ports: x={type: plug} y={count: [1, 1], type<tool type `p`>: plug} z={type: plug}, \
        motor: {gears: low={material: brass} high={material: steel}, power<tool type `p`>: 3}}",
    );
}

#[test]
fn append_puts_the_parents_first() {
    let text = "\
version: 2
tool_types:
  g: {file_ext: [a], limits: [{most: 1}], rule: {x: 1}}
  p: {extends: g, file_ext: [b, c]}
  c: {extends: p, file_ext: [d], limits: [{least: 0}], rule: {y: 2}}
";
    check(
        SECOND,
        text,
        "{extends: p, file_ext: [\"a\"] + [\"b\", \"c\"] + [\"d\"], limits: {most: 1} + {least: 0}, rule: {x: 1} + {y: 2}}",
    );
    let linked = link(SECOND, text);
    let all = linked.inherit(1);
    let c = all.get(linked.id("c")).unwrap();
    assert_eq!(c.values("file_ext").iter().map(|node| node.text()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(c.list("limits").len(), 2);
}

#[test]
fn narrow_lists() {
    let types = "port_types: {any: , plug: {extends: any}, hose: {extends: any}}\n";
    check(
        SECOND,
        &format!("version: 2\n{types}tool_types: {{p: {{fits: [any]}}, c: {{extends: p, fits: [plug]}}}}\n"),
        "{extends: p, fits: [\"plug\"]}",
    );
    check(
        SECOND,
        &format!("version: 2\n{types}tool_types: {{p: {{fits: [any]}}, c: {{extends: p}}}}\n"),
        "{extends: p, fits<tool type `p`>: [\"any\"]}",
    );
    violation(
        SECOND,
        &format!("version: 2\n{types}tool_types: {{p: {{fits: [plug]}}, c: {{extends: p, fits: [plug, any]}}}}\n"),
        "3:49 inherited-contract: `fits` of tool type `c` breaks what it inherits from tool type `p`: `any` is not among `plug` [3:18 inherited from here]",
    );
}

#[test]
fn narrow_ranges_truth_and_types() {
    let text = |p: &str, c: &str| {
        format!("version: 1\nport_types: {{any: , plug: {{extends: any}}, p: {p}, c: {{extends: p{c}}}}}\n")
    };
    check(FIRST, &text("{count: [1, 5]}", ", count: [2, 5]"), "{extends: p, count: [2, 5]}");
    check(FIRST, &text("{count: [1, UNBOUNDED]}", ", count: [2, 5]"), "{extends: p, count: [2, 5]}");
    violation(
        FIRST,
        &text("{count: [1, 5]}", ", count: [1, UNBOUNDED]"),
        "2:79 inherited-contract: `count` of port type `c` breaks what it inherits from port type `p`: the range is not within [1, 5] [2:47 inherited from here]",
    );
    violation(
        FIRST,
        &text("{parts: {a: {material: x, needed: true}}}", ", parts: {a: {needed: false}}"),
        "2:117 inherited-contract: `needed` of part `a` breaks what it inherits from port type `p`: `true` cannot become `false` again [2:72 inherited from here]",
    );
    let tools = "version: 1\nport_types: {any: , plug: {extends: any}}\ntool_types: {p: {ports: [{a: plug}]}, c: {extends: p, ports: [{a: any}]}}\n";
    violation(
        FIRST,
        tools,
        "3:67 inherited-contract: `type` of port `a` breaks what it inherits from tool type `p`: `any` is not derived from `plug` [3:30 inherited from here]",
    );
}

#[test]
fn fixed_stays_and_rules_of_their_own_are_asked() {
    check(
        FIRST,
        "version: 1\ntool_types: {p: {serial: x, slogan: Drill}, c: {extends: p, serial: x, slogan: Drill more}}\n",
        "{extends: p, serial: x, slogan: Drill more}",
    );
    violation(
        FIRST,
        "version: 1\ntool_types: {p: {serial: x}, c: {extends: p, serial: y}}\n",
        "2:46 inherited-contract: `serial` of tool type `c` breaks what it inherits from tool type `p`: `serial` cannot be changed once it is given [2:18 inherited from here]",
    );
    violation(
        FIRST,
        "version: 1\ntool_types: {p: {slogan: Drill}, c: {extends: p, slogan: Saw}}\n",
        "2:50 inherited-contract: `slogan` of tool type `c` breaks what it inherits from tool type `p`: a slogan begins as its parent's does [2:18 inherited from here]",
    );
}

#[test]
fn definitions_inherit_from_the_type_they_name() {
    let text = "\
version: 1
port_types:
  plug: {count: [0, 4], parts: {pin: {material: iron}, case: {material: tin}}}
  flat: {extends: plug, parts: {pin: {size: 1}}}
tool_types:
  p: {ports: [{mains: {type: plug, parts: {case: {size: 9}}}}]}
  c: {extends: p, ports: [{mains: {type: flat}}]}
";
    check(
        FIRST,
        text,
        "{extends: p, ports: mains={type: flat, \
        parts<tool type `p`>: pin={material: iron, size<port type `flat`>: 1} case={size: 9, material<port type `plug`>: tin}, \
        count<port type `plug`>: [0, 4]}}",
    );
}

#[test]
fn what_nobody_supplies_is_missed_after_inheriting() {
    let text = "version: 1\ntool_types: {p: {parts: {a: {material: x}, b: {size: 1}}}, c: {extends: p, parts: {a: {size: 2}, d: {size: 3}}}}\n";
    assert_eq!(
        inherited(FIRST, text, "c").1,
        [
            "2:44 missing-key: part `b` needs `material` (what it is made of)",
            "2:98 missing-key: part `d` needs `material` (what it is made of)",
        ]
    );
}

#[test]
fn circles_are_reported_once_and_whole() {
    let text = "\
version: 1
tool_types: {a: {extends: b}, b: {extends: d}, c: {extends: a, parts: {x: }}, d: {extends: a}, me: {extends: me}, ok: {colour: red}, fine: {extends: ok}}
";
    let linked = link(FIRST, text);
    let all = linked.inherit(2);
    assert_eq!(
        linked.read.problems(),
        [
            "2:14 parent-cycle: these extend each other in a circle: `a` → `b` → `d` → `a` (let one of them extend something else, or nothing) [2:31 `b` is part of the circle] [2:79 `d` is part of the circle]",
            "2:96 parent-cycle: tool type `me` extends itself (let one of them extend something else, or nothing)",
        ]
    );
    assert!(all.get(linked.id("a")).unwrap().is_broken);
    assert!(all.get(linked.id("c")).unwrap().is_broken);
    assert_eq!(all.get(linked.id("fine")).unwrap().text("colour"), Some("red"));
}

#[test]
fn an_unknown_parent_causes_no_second_message() {
    let text =
        "version: 1\ntool_types: {a: {extends: zzz, parts: {x: {size: 1}}}, b: {extends: a, parts: {y: {size: 2}}}}\n";
    let linked = link(FIRST, text);
    let all = linked.inherit(1);
    assert_eq!(linked.read.problems(), ["2:27 unknown-name: there is no tool type `zzz`"]);
    assert!(all.get(linked.id("b")).unwrap().is_broken);
}

#[test]
fn what_is_inherited_is_shared() {
    let text = "version: 1\ntool_types: {p: {parts: {a: {material: x}}, motor: {power: 1}}, c: {extends: p, parts: {b: {material: y}}}}\n";
    let linked = link(FIRST, text);
    let all = linked.inherit(1);
    let (p, c) = (all.get(linked.id("p")).unwrap(), all.get(linked.id("c")).unwrap());
    assert!(Arc::ptr_eq(p.member("parts", "a").unwrap(), c.member("parts", "a").unwrap()));
    assert!(Arc::ptr_eq(p.one("motor").unwrap(), c.one("motor").unwrap()));
    assert!(Arc::ptr_eq(p, linked.registry.get(linked.id("p")).unwrap()));
}

#[test]
fn origins_say_where_a_value_was_inherited_from() {
    let linked = link(FIRST, "version: 1\ntool_types: {p: {colour: red}, c: {extends: p}}\n");
    let all = linked.inherit(1);
    let origins = Origins::new();
    let slot = all.get(linked.id("c")).unwrap().slot("colour").unwrap();
    let value = slot.value(MergeKeys::Apply, &origins).unwrap();
    match origins.get(value.origin, &linked.read.sources) {
        OriginKind::Parent { detail, .. } => assert_eq!(detail, "tool type `p`"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_hierarchy_knows_who_extends_whom() {
    let linked = link(
        FIRST,
        "version: 1\ntool_types: {a: , b: {extends: a}, c: {extends: b}, d: {extends: a}, r: {extends: s}, s: {extends: r}}\n",
    );
    let hierarchy = linked.inherit(1).hierarchy;
    let is_a = |one: &str, other: &str| hierarchy.is_a(linked.id(one), linked.id(other));
    assert!(is_a("c", "a") && is_a("c", "b") && is_a("c", "c") && is_a("d", "a"));
    assert!(!is_a("a", "c") && !is_a("d", "b") && !is_a("b", "d") && !is_a("r", "s") && is_a("r", "r"));
    assert_eq!(
        hierarchy.lineage(linked.id("c")).collect::<Vec<EntityId>>(),
        ["c", "b", "a"].map(|name| linked.id(name))
    );
    assert_eq!(hierarchy.lineage(linked.id("r")).count(), 1);
}

/// A line of types, each adding a part, an extension and a refinement of one part.
fn line_of(types: usize) -> Linked {
    let mut text = "version: 1\ntool_types:\n  t0: {parts: {shared: {material: x}}, file_ext: [e0]}\n".to_owned();
    for at in 1..types {
        let parent = at - 1;
        text += &format!(
            "  t{at}: {{extends: t{parent}, parts: {{p{at}: {{material: m}}, shared: {{size: {at}}}}}, file_ext: [e{at}]}}\n"
        );
    }
    link(FIRST, &text)
}

#[test]
fn a_long_line_is_inherited_and_dropped_on_a_small_stack() {
    let work = || {
        let linked = line_of(3_000);
        let all = linked.inherit(2);
        assert_eq!(linked.read.problems(), Vec::<String>::new());
        let last = all.get(linked.id("t2999")).unwrap();
        assert_eq!(last.map("parts").count(), 3_000);
        assert_eq!(last.values("file_ext").len(), 3_000);
        assert_eq!(last.member("parts", "shared").unwrap().int("size"), Some(2_999));
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}
