//! Targets of the lowest layers: readers, writers, merging, the lock file, paths.

use super::{Target, about, kind_of, plain};
use purlin_syntax::write::{Emit, GoStyle, GoYamlWriter, JsonLayout, YamlWriter};
use purlin_syntax::{FileId, Flavor, Limits, Node, Source, Tree, json, print, sources, yaml};
use purlin_value::emit::{to_json, to_yaml};
use purlin_value::lock::Lock;
use purlin_value::{MemoryWorld, MergeKeys, Secrets, Session, Value, emit, merge_patch, path, value_of};
use std::collections::BTreeSet;
use std::sync::Arc;

const YAML_WORDS: &[&str] = &[
    "a",
    "b",
    "key",
    "&a",
    "*a",
    "&b",
    "*b",
    "<<",
    "<<: *a",
    "- ",
    ": ",
    "? ",
    "!!str",
    "!!int",
    "!!binary",
    "!!set",
    "!t",
    "!<tag:x>",
    "|",
    "|-",
    "|+2",
    ">",
    ">-",
    "---",
    "...",
    "%YAML 1.2",
    "%TAG ! !x",
    "#",
    "null",
    "~",
    "true",
    "yes",
    "off",
    "\"\\x41\\u0041\\U00000041\"",
    "\"\\\n\"",
    "'it''s'",
    "[a, b]",
    "{a: b}",
    "{a, b}",
    "[a: b]",
    "\n  ",
    "\n- ",
    "\n",
    "  ",
    "\"",
    "'",
    "@",
    "`",
    "=",
    "2021-04-16",
    "0o17",
    "0x1f",
    ".inf",
    ".NaN",
    "1_000",
    "\\",
    "\\/",
];

const YAML_SEEDS: &[&str] = &[
    "a: 1\nb:\n  - x\n  - {y: z}\n",
    "a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n",
    "%YAML 1.2\n---\n!!map {? [complex, key] : value}\n...\n---\n- |\n  text\n   more\n- >-\n  folded\n\n  text\n",
    "\"quoted \\u00e9 \\x41\\\n  end\": 'it''s'\n? |\n  block key\n: - one\n  - two # comment\n",
    "- 010\n- 0x1F\n- 1e3\n- .inf\n- 2021-04-16\n- 12:30:45\n- yes\n- ~\n- 99999999999999999999\n",
];

/// Reading YAML, in all flavours, and all operations on a tree.
pub(super) const YAML: Target = Target {
    name: "yaml",
    summary: "read YAML, look at every node, turn it into values, print its problems",
    run: |input| {
        let outcomes = [Flavor::Core, Flavor::Go, Flavor::Python].map(|flavor| {
            let tree = yaml::parse(source(input), flavor, &Limits::default());
            let kind = look(&tree);
            for root in tree.roots() {
                let value = value_of(root, MergeKeys::Apply);
                let mut writer = YamlWriter::with_limit(4 << 20);
                emit(&value, Secrets::Hide, &mut writer);
                let _ = writer.finish();
            }
            kind
        });
        kind_of(outcomes)
    },
    seeds: YAML_SEEDS,
    words: YAML_WORDS,
    suite: &[""],
};

/// Reading JSON.
pub(super) const JSON: Target = Target {
    name: "json",
    summary: "read JSON, look at every node, print its problems",
    run: |input| {
        let tree = json::parse(source(input), &Limits::default());
        let outcome = look(&tree);
        if let Some(root) = tree.root()
            && tree.is_sound()
        {
            let value = value_of(root, MergeKeys::Keep);
            let text = to_json(&value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
            let again = json::parse(source(text.as_bytes()), &Limits::default());
            assert!(again.is_sound(), "what is written as JSON cannot be read: {text}");
        }
        outcome
    },
    seeds: &[
        "{\"a\": [1, 2.5, -3e4, true, false, null], \"b\": \"\\u0041\\n\\ud83d\\ude00\"}",
        "[[], {}, \"\", 0, -0, 1E+2, 123456789012345678901234567890]",
        "{a: 1, 'b': 2, // c\n \"c\": [1,],}",
    ],
    words: &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "\\ud800",
        "\\udc00",
        "null",
        "true",
        "false",
        "NaN",
        "//",
        "/*",
        "*/",
        "#",
        "'",
        "-",
        "e",
        "E+",
        "0",
        "1",
        "\"a\": ",
        "\"a\": {",
        "\\n",
        "undefined",
    ],
    suite: &[],
};

/// Written text is read back equal.
pub(super) const WRITE: Target = Target {
    name: "write",
    summary: "write what was read as YAML, JSON and Go's YAML, and read it again",
    run: |input| {
        let tree = yaml::parse(source(input), Flavor::Core, &Limits::default());
        let outcome = look(&tree);
        let Some(root) = tree.root().filter(|_| tree.is_sound()) else { return outcome };
        let value = value_of(root, MergeKeys::Apply);
        for style in [GoStyle::Kubernetes, GoStyle::Pretty] {
            let mut writer = GoYamlWriter::with_limit(style, 4 << 20);
            emit(&value, Secrets::Hide, &mut writer);
            let _ = (writer.stopped(), writer.finish());
        }
        let text = to_yaml(&value, Secrets::Hide).unwrap_or_default();
        let again = yaml::parse(source(text.as_bytes()), Flavor::Core, &LARGE);
        assert!(again.is_sound(), "what is written as YAML cannot be read: {:?}\n{text}", again.diagnostics());
        let read = again.root().map(|root| value_of(root, MergeKeys::Keep)).unwrap_or_default();
        assert!(read == value || has_odd_float(&value), "what is written as YAML is read otherwise:\n{text}");
        let twice = to_yaml(&read, Secrets::Hide).unwrap_or_default();
        assert!(twice == text, "what is written twice differs:\n{text}\n{twice}");
        outcome
    },
    seeds: YAML_SEEDS,
    words: YAML_WORDS,
    suite: &[""],
};

/// Merge patches of all pairs of documents.
pub(super) const MERGE: Target = Target {
    name: "merge",
    summary: "merge the documents of a file",
    run: |input| {
        let tree = yaml::parse(source(input), Flavor::Core, &Limits::default());
        let values: Vec<Value> = tree.roots().take(4).map(|root| value_of(root, MergeKeys::Apply)).collect();
        let session = Session::new(Arc::new(MemoryWorld::new()));
        let mut sizes = Vec::new();
        for pair in values.windows(2) {
            let [base, over] = pair else { continue };
            let merged = merge_patch(base, over, &session);
            let mut writer = YamlWriter::with_limit(4 << 20);
            emit(&merged, Secrets::Hide, &mut writer);
            sizes.push(writer.finish().map_or(0, |text| about(text.len())));
        }
        kind_of((about(tree.len()), sizes))
    },
    seeds: &[
        "a: {b: 1, c: [1, 2]}\n---\na: {b: null, c: [3]}\n",
        "x: [{name: a, v: 1}, {name: b}]\n---\nx: [{name: b, v: 2}, {v: 3}]\n---\nx: null\n",
        "a: &a {b: *c}\n---\n- 1\n---\nb: 2\n",
    ],
    words: YAML_WORDS,
    suite: &[],
};

/// The lock file.
pub(super) const LOCK: Target = Target {
    name: "lock",
    summary: "read `purlin.lock`, write it, read it again",
    run: |input| match Lock::read(&String::from_utf8_lossy(input)) {
        Err(message) => kind_of(message.split_once(": ").map(|(_, message)| plain(message))),
        Ok(lock) => {
            let text = lock.write();
            assert!(Lock::read(&text).as_ref() == Ok(&lock), "the lock is read otherwise:\n{text}");
            kind_of(about(lock.len()))
        }
    },
    seeds: &[
        "version: 1\nentries:\n  - address: https://a.example/x.git\n    revision: main\n    commit: 0123456789012345678901234567890123456789\n    hash: sha256:0123456789012345678901234567890123456789012345678901234567890123\n",
        "version: 1\nentries:\n  - {address: x, hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000'}\n",
    ],
    words: &[
        "version", "entries", "address", "revision", "commit", "hash", "sha256:", "&a", "*a", "<<: *a", "null", "~",
    ],
    suite: &[],
};

/// Paths as text.
pub(super) const PATH: Target = Target {
    name: "path",
    summary: "normalise, join and relate paths",
    run: |input| {
        let text = String::from_utf8_lossy(input);
        let (one, other) = text.split_once('\n').unwrap_or((&text, ".."));
        let normal = path::normalize(one);
        assert!(path::normalize(&normal) == normal, "{one:?} is normalised to {normal:?}, which is not normal");
        let joined = path::join(one, other);
        assert!(path::normalize(&joined) == joined, "{one:?} and {other:?} are joined to {joined:?}");
        let way = path::relative(one, other);
        let _ = (path::parent(one), path::file_name(one), path::is_absolute(&joined));
        if !path::escapes(one) && !path::is_absolute(one) && !path::escapes(other) && !path::is_absolute(other) {
            let back = path::normalize(&format!("{normal}/{way}"));
            assert!(back == path::normalize(other), "from {one:?} to {other:?} leads to {back:?}");
        }
        kind_of((path::escapes(one), path::is_absolute(one), about(normal.len()), about(way.len())))
    },
    seeds: &["a/../b\nc/./d", "/a//b/\n../..", "C:\\x\n.", "a\n\\\\server\\x"],
    words: &["..", ".", "/", "//", "\\", "C:", "a", "\0", "\n", "../", "/.."],
    suite: &[],
};

/// Escapes make a text longer; text that was accepted once must not fail because of its size.
const LARGE: Limits = Limits {
    depth: 1_000,
    nodes: u64::MAX,
    alias_floor: u64::MAX,
    alias_bytes_floor: u64::MAX,
    file_bytes: 1 << 30,
    total_bytes: 1 << 30,
    archive_bytes: 0,
    archive_entry_bytes: 0,
    archive_entries: 0,
    archive_ratio: 0,
    include_depth: 0,
    tpl_depth: 0,
    fuel: 0,
    memory_floor: 0,
    output_bytes: 0,
    list_items: 0,
    string_bytes: 0,
    regex_bytes: 0,
    problems: 0,
    diagnostics: 0,
    diagnostics_per_file: 0,
    variants: u64::MAX,
};

fn source(input: &[u8]) -> Arc<Source> {
    let (text, _) = sources::decode(input);
    Arc::new(Source::new(FileId(0), "input", text))
}

/// Visits everything in a tree and prints its problems; the assertions hold for any input.
fn look(tree: &Tree) -> u64 {
    let source = tree.source();
    let (mut nodes, mut deepest) = (0usize, 0usize);
    let mut stack: Vec<(Node<'_>, usize)> = tree.roots().map(|root| (root, 0)).collect();
    let mut kinds = BTreeSet::new();
    while let Some((node, depth)) = stack.pop() {
        nodes += 1;
        deepest = deepest.max(depth);
        let span = node.span();
        assert!(span.start <= span.end && span.end as usize <= source.text().len(), "a span outside the file");
        let _ = (source.slice(span).len(), node.tag(), node.anchor());
        kinds.insert(format!("{:?} {:?}", node.kind(), node.style()));
        if node.is_alias() {
            continue;
        }
        if node.is_scalar() {
            let _ = (node.scalar(), node.text().len(), node.eco_text().len(), node.as_bool(), node.as_int());
        }
        stack.extend(node.items().map(|item| (item, depth + 1)));
        stack.extend(node.entries().flat_map(|entry| [(entry.key, depth + 1), (entry.value, depth + 1)]));
    }
    let found = tree.diagnostics();
    let few = found.get(..found.len().min(20)).unwrap_or(&[]);
    let files: &[Arc<Source>] = std::slice::from_ref(source);
    let _ = (print::human(few, files, print::Colors::Off).len(), print::json_lines(few, files).len());
    let rules: BTreeSet<&str> = found.iter().map(|problem| problem.rule.name).collect();
    let messages: BTreeSet<String> = few.iter().map(|problem| plain(&problem.message)).collect();
    kind_of((about(nodes), about(deepest), kinds, rules, messages, about(tree.comments().len())))
}

/// Not a number is not equal to itself.
fn has_odd_float(value: &Value) -> bool {
    value.any(|value| matches!(value.data, purlin_value::Data::Float(number) if number.is_nan()))
}
