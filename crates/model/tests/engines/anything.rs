//! The walk terminates on any input: no panic, no duplicate problems, deterministic.

use crate::dialect::{FIRST, SECOND, WORKSHOP, read};
use proptest::prelude::*;

fn scalar() -> impl Strategy<Value = String> {
    let words = ["a", "b", "c", "red", "5", "-1", "1.5", "true", "false", "~", "'${x}'", "UNBOUNDED", "2021-01-01"];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn key() -> impl Strategy<Value = String> {
    let rows = WORKSHOP.entities.iter().flat_map(|entity| entity.all_fields()).map(|field| field.key);
    let keys: Vec<&str> = rows.chain(["a", "b", "c", "color", "typ", "[x, y]"]).collect();
    prop::sample::select(keys).prop_map(str::to_owned)
}

/// Random flow-style input, valid or not.
fn anything() -> impl Strategy<Value = String> {
    scalar().prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map(key(), inner, 0..5).prop_map(mapping),
        ]
    })
}

fn mapping(entries: std::collections::BTreeMap<String, String>) -> String {
    let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", entries.join(", "))
}

/// Types that are mostly valid: they extend each other and have parts, ports and bounds.
fn types(kind: &'static str) -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let extends = prop::option::of(name()).prop_map(|parent| parent.map(|parent| format!("extends: {parent}")));
    let own = prop::collection::btree_map(key(), anything(), 0..4).prop_map(|mut own| {
        own.remove("extends");
        let own = mapping(own);
        own[1..own.len() - 1].to_owned()
    });
    let one = (extends, own).prop_map(|(extends, own)| {
        let parts: Vec<String> = extends.into_iter().chain((!own.is_empty()).then_some(own)).collect();
        format!("{{{}}}", parts.join(", "))
    });
    prop::collection::btree_map(name().prop_map(str::to_owned), one, 1..4)
        .prop_map(move |types| format!("{kind}: {}", mapping(types)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_ends(
        tools in anything(),
        tool_types in types("tool_types"),
        port_types in types("port_types"),
        second in any::<bool>(),
    ) {
        let edition = if second { SECOND } else { FIRST };
        let text = format!("version: 1\n{tool_types}\n{port_types}\ntools: {tools}\n");
        let problems = read(edition, &text).problems();
        prop_assert_eq!(&problems, &read(edition, &text).problems());
        for (at, problem) in problems.iter().enumerate() {
            prop_assert!(!problems[..at].contains(problem), "said twice: {}", problem);
        }
    }
}

#[test]
fn the_root_may_be_anything_too() {
    for text in ["[]", "5", "~", "{version: 1}", "text", "[{}]"] {
        assert!(read(FIRST, text).problems().len() <= 1, "{text}");
    }
}
