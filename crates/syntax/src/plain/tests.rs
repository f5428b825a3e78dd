//! The plain reader beside the full one: they must build the same tree, node by node.

#![allow(clippy::panic)]

use super::compare::{Comparison, compare};
use super::*;
use crate::source::FileId;

/// Whether the plain reader took the text; it must then agree with the full one.
fn agrees(text: &str, flavor: Flavor) -> bool {
    let source = Arc::new(Source::new(FileId(0), "t.yaml", text));
    match compare(&source, flavor, &Limits::default()) {
        Comparison::Left(_) => false,
        Comparison::Same => true,
        Comparison::Different(parts) => panic!("{parts}on {text:?}"),
    }
}

#[test]
fn plain_texts_are_taken_and_read_alike() {
    let texts = [
        "a: 1\n",
        "# c\na: 1 # d\nb:\n  c: 'x'\n  d: \"y\"\n",
        "a:\n- 1\n- b: 2\n  c: 3\n-\nd:\n  - - 1\n    - 2\n  - {x: 1, y: [a, \"b\", 'c'], z: {}}\n",
        "a: |\n  one\n\n   two\n\nb: |-\n  x\nc: |+\n  y\nd: 1\n",
        "---\na: 1\n---\n---\n- b\n",
        "a: |\n  foo",
        "- a\n- b:\n    c: d\n  # note\n  e:\n\n\nf: 1\n",
        "just text\n",
        "\"quoted\": 'v' # c\n",
        "url: http://x.y/z#frag\ntime: 10:30\nneg: -1\ndash: -x\n",
        "a: b\na: c\n",
        "x:\n    value\n",
        "é: ü\n",
        "a: >\n  x\n  y\n\n  z\nb: >-\n  one\n  two\n",
        "a: 'it''s'\nb: \"q\\\"\\n\\\\\"\n",
        "",
        "# only\n",
        "a: one\n  two\n\n  three # c\nb: x\n   - y\n",
        "a: 'one\n  it''s\n\n  two' # c\nb: \"x\\n\n   y \\\" z\"\n",
        "base: &base\n  a: 1\nmore:\n  <<: *base\n  b: &b two\n  c: *b\n  d: !t &c [x]\n  e: !!str 1\n",
        "a: [\n  x, # c\n  {y: z,\n    \"q\":1},\n\n  ]\n",
        "a: :x\nb: ?y\nc: ::z\n",
        "list: &l\n  - &i\n    a: 1\n  - *i\n  - &j x\n",
    ];
    for text in texts {
        for flavor in [Flavor::Core, Flavor::Go] {
            let taken = agrees(text, flavor);
            assert!(taken || text.contains("\nf: 1"), "not taken: {text:?}");
        }
    }
}

#[test]
fn what_is_not_plain_is_left() {
    for text in [
        "a: &x\n",
        "&x a: 1\n",
        "a: &x\n- 1\n",
        "a: !<t> 1\n",
        "a: *x\n",
        "a: &x [*x]\n",
        "? a\n",
        "a: b\n  c: d\n",
        "a: \"b \\\n  c\"\n",
        "a: [1,\n2]\n",
        "a: [b\n c]\n",
        "a: \"x\\x41\"\n",
        "\ta: 1\n",
        "a: b: c\n",
        "%YAML 1.2\n---\na\n",
        "...\n",
    ] {
        assert!(!agrees(text, Flavor::Core), "{text:?}");
    }
}

/// Texts from pieces of YAML, most of them odd. `PURLIN_ROUNDS` asks for more than the usual number.
#[test]
#[allow(clippy::disallowed_methods)]
fn random_texts_are_read_alike() {
    const PIECES: &[&str] = &[
        "a",
        "b",
        "key",
        "x y",
        ": ",
        ":",
        "- ",
        "-",
        "\n",
        "\n",
        "\n",
        "  ",
        "    ",
        " ",
        "# c",
        " # d",
        "'q'",
        "\"r\"",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ",",
        "|",
        "|-",
        "|+",
        ">",
        "---",
        "---\n",
        "...",
        "1",
        "-1",
        "~",
        "&",
        "&a ",
        "&a\n",
        "!t ",
        "!!str ",
        "b: &b\n",
        "<<: *a\n",
        " *b\n",
        "k: [\n",
        " ]\n",
        "k: 'l\n",
        "  m'\n",
        "k: \"l \n",
        "  m\"\n",
        "k: n\n",
        "  o\n",
        "\n\n",
        "*a",
        "!t",
        "?",
        "? ",
        "%",
        "@",
        "\\",
        "é",
        "\u{2028}",
        "#",
        "\t",
        "\r\n",
        "a: b\n",
        "- a\n",
        "  c: d\n",
        "e:\n",
        "  - f\n",
        "k: |\n  t\n",
        "k: >\n  t\n",
        "  u\n",
        "''",
        "\\n",
        "\"x\\\"y\"",
    ];
    let rounds = std::env::var("PURLIN_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60_000);
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or(0)
    };
    let mut taken = 0;
    for round in 0..rounds {
        let length = 1 + next(18);
        let text: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        let flavor = [Flavor::Core, Flavor::Go, Flavor::Python][round % 3];
        taken += usize::from(agrees(&text, flavor));
    }
    assert!(taken > rounds / 20, "only {taken} of {rounds} were plain");
}
