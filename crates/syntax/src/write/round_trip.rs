//! Round trips of random values: the text is read back as an equal value.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::sample::{Sample, drive};
use super::{GoStyle, GoYamlWriter, JsonFlavor, JsonLayout, JsonWriter, YamlWriter};
use crate::{FileId, Flavor, Kind, Limits, Node, Scalar, Source, Tree, json, yaml};
use proptest::prelude::*;
use std::sync::Arc;

/// Pieces that are significant to some reader.
const PIECES: &[&str] = &[
    "a",
    "yes",
    "NO",
    "~",
    "null",
    "true",
    "1",
    "0x1F",
    "0o7",
    "010",
    "1_0",
    "1e3",
    ".5",
    "1:30",
    "2021-04-16",
    "T10:00:00Z",
    ".inf",
    "<<",
    "=",
    "-",
    "- ",
    "---",
    "...",
    "? ",
    "?",
    ": ",
    ":",
    " #",
    "#",
    ",",
    "[",
    "]",
    "{",
    "}",
    "&x",
    "*x",
    "!x",
    "|",
    ">",
    "'",
    "\"",
    "\\",
    "%",
    "@",
    "`",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\0",
    "\u{7}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "é",
    "日",
    "😀",
    "word word word word word word",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn sample() -> impl Strategy<Value = Sample> {
    let leaf = prop_oneof![
        Just(Sample::Null),
        any::<bool>().prop_map(Sample::Bool),
        any::<i64>().prop_map(Sample::Int),
        any::<f64>().prop_filter("JSON has no such number", |f| f.is_finite()).prop_map(Sample::Float),
        "-?[1-9][0-9]{20,30}".prop_map(Sample::Number),
        text().prop_map(Sample::Str),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Sample::List),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(|map| Sample::Map(map.into_iter().collect())),
        ]
    })
}

fn read_yaml(text: &str, flavor: Flavor) -> Tree {
    yaml::parse(Arc::new(Source::new(FileId(0), "t.yaml", text)), flavor, &Limits::default())
}

fn read_json(text: &str) -> Tree {
    json::parse(Arc::new(Source::new(FileId(0), "t.json", text)), &Limits::default())
}

/// The required precision of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    Same,
    /// Go's libraries write `1.0` as `1` and large integers as floats.
    Equal,
}

fn assert_reads_back(tree: &Tree, sample: &Sample, numbers: Numbers) -> Result<(), TestCaseError> {
    prop_assert_eq!(tree.diagnostics(), &[], "{}", tree.source().text());
    prop_assert_eq!(tree.roots().len(), 1, "{}", tree.source().text());
    assert_same(tree.root().unwrap(), sample, numbers)
}

fn assert_same(node: Node<'_>, sample: &Sample, numbers: Numbers) -> Result<(), TestCaseError> {
    let text = node.tree().source().text();
    match sample {
        Sample::List(items) => {
            prop_assert_eq!(node.kind(), Kind::List, "{}", text);
            prop_assert_eq!(node.items().count(), items.len(), "{}", text);
            node.items().zip(items).try_for_each(|(node, item)| assert_same(node, item, numbers))
        }
        Sample::Map(entries) => {
            prop_assert_eq!(node.kind(), Kind::Map, "{}", text);
            prop_assert_eq!(node.entries().count(), entries.len(), "{}", text);
            node.entries().zip(entries).try_for_each(|(entry, (key, value))| {
                prop_assert_eq!(entry.key.as_str(), Some(key.as_str()), "{}", text);
                assert_same(entry.value, value, numbers)
            })
        }
        scalar => {
            prop_assert_eq!(node.kind(), Kind::Scalar, "{}", text);
            prop_assert!(same_scalar(node, scalar, numbers), "{:?} of {:?}: {}", node.scalar(), scalar, text);
            Ok(())
        }
    }
}

fn same_scalar(node: Node<'_>, sample: &Sample, numbers: Numbers) -> bool {
    let exactly = numbers == Numbers::Same;
    match (sample, node.scalar()) {
        (Sample::Null, Scalar::Null) => true,
        (Sample::Bool(a), Scalar::Bool(b)) => *a == b,
        (Sample::Int(a), Scalar::Int(b)) => *a == b,
        (Sample::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
        (Sample::Float(a), Scalar::Int(b)) => !exactly && *a == b as f64,
        (Sample::Float(a), Scalar::BigInt) => !exactly && node.text().parse() == Ok(*a),
        (Sample::Number(_), Scalar::Float(_)) => !exactly,
        (Sample::Number(a), Scalar::BigInt) => a == node.text(),
        (Sample::Str(a), Scalar::Str) => a == node.text(),
        _ => false,
    }
}

/// Whether Go's libraries print text that a YAML 1.2 reader interprets differently: they fold NEL and write the
/// separators as line breaks.
fn has_old_line_breaks(sample: &Sample) -> bool {
    let old = |text: &str| text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
    match sample {
        Sample::Str(text) => old(text),
        Sample::List(items) => items.iter().any(has_old_line_breaks),
        Sample::Map(entries) => entries.iter().any(|(key, value)| old(key) || has_old_line_breaks(value)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn our_yaml_is_read_back_by_every_flavour(sample in sample()) {
        let mut writer = YamlWriter::new();
        drive(&sample, &mut writer);
        let text = writer.finish().unwrap();
        for flavor in [Flavor::Core, Flavor::CoreGo, Flavor::Go, Flavor::Python] {
            assert_reads_back(&read_yaml(&text, flavor), &sample, Numbers::Same)?;
        }
    }

    #[test]
    fn documents_stay_apart(samples in prop::collection::vec(sample(), 2..4)) {
        let mut writer = YamlWriter::new();
        samples.iter().for_each(|sample| drive(sample, &mut writer));
        let tree = read_yaml(&writer.finish().unwrap(), Flavor::Core);
        prop_assert_eq!(tree.roots().len(), samples.len(), "{}", tree.source().text());
        for (root, sample) in tree.roots().zip(&samples) {
            assert_same(root, sample, Numbers::Same)?;
        }
    }

    #[test]
    fn gos_yaml_is_read_back(sample in sample()) {
        for style in [GoStyle::Kubernetes, GoStyle::Pretty] {
            let mut writer = GoYamlWriter::new(style);
            drive(&sample, &mut writer);
            let Ok(text) = writer.finish() else { continue };
            if !has_old_line_breaks(&sample) {
                assert_reads_back(&read_yaml(&text, Flavor::Go), &sample, Numbers::Equal)?;
            }
        }
    }

    #[test]
    fn json_is_read_back(sample in sample()) {
        for layout in [JsonLayout::Compact, JsonLayout::Pretty] {
            for flavor in [JsonFlavor::Plain, JsonFlavor::Go, JsonFlavor::GoRaw] {
                let mut writer = JsonWriter::new(layout, flavor);
                drive(&sample, &mut writer);
                let numbers = if flavor == JsonFlavor::Plain { Numbers::Same } else { Numbers::Equal };
                assert_reads_back(&read_json(&writer.finish().unwrap()), &sample, numbers)?;
            }
        }
    }

    #[test]
    fn the_json_reader_never_panics(text in prop_oneof![any::<String>(), text(), "[\\[\\]{},:\"'a-e0-9.\\\\/ \n-]*"]) {
        let tree = read_json(&text);
        prop_assert!(tree.roots().len() <= 1);
    }
}
