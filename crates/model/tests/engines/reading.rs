//! Every notation is read as its long form.

use crate::dialect::{FIRST, SECOND, read};
use purlin_model::Edition;

fn check(edition: Edition, text: &str, expected: &[&str]) {
    assert_eq!(read(edition, text).problems(), expected);
}

#[test]
fn a_scalar_stands_for_a_key() {
    check(SECOND, "version: 2\ntool_types: {drill: {ports: [{mains: Plug}, {air: {type: Hose}}]}}\n", &[]);
    check(
        SECOND,
        "version: 2\ntool_types: {drill: {ports: [{mains: 5}]}}\n",
        &["2:38 wrong-shape: `type` of a port: expected the name of a port type, found an integer"],
    );
}

#[test]
fn a_list_stands_for_a_key_from_the_second_edition_on() {
    let text = "version: 2\ntools: {t: {type: drill, links: [{out: [a, b]}, {out: c}]}}\n";
    check(SECOND, text, &[]);
    check(
        SECOND,
        "version: 2\ntools: {t: {type: drill, links: [{out: [a, 5]}]}}\n",
        &["2:44 wrong-shape: `path` of a link: expected a string, found an integer (put it in quotes: `\"5\"`)"],
    );
    check(
        FIRST,
        text,
        &[
            "2:40 wrong-shape: link: expected a mapping or a `to` alone, found a list (write keys and values, for example `to: …`)",
        ],
    );
}

#[test]
fn a_sequence_may_be_a_mapping() {
    check(FIRST, "version: 1\ntool_types: {drill: {ports: {mains: Plug, air: Hose}}}\n", &[]);
    check(
        FIRST,
        "version: 1\ntool_types: {drill: {ports: {mains: {kind: Plug}}}}\n",
        &["2:38 unknown-key: unknown key `kind` in a port (known keys: `type`, `parts` or `count`)"],
    );
}

#[test]
fn keys_without_a_row_are_collected_where_the_edition_says_so() {
    let text = "version: 1\ntool_types: {drill: {motor: {power: 4, low: {material: brass}, high: {size: 1}}}}\n";
    check(FIRST, text, &[]);
    assert_eq!(read(SECOND, text).problems().len(), 2);
    let unknown = "2:71 unknown-key: unknown key `sizes` in a part (did you mean `size`?)";
    check(FIRST, &text.replace("size: 1", "sizes: 1"), &[unknown]);
}

#[test]
fn unions_take_what_fits() {
    check(
        SECOND,
        "version: 2\nport_types: {p: {parts: {a: {material: x, size: 3}, b: {material: x, size: big}, \
         c: {material: x, size: {most: 4}}, d: {material: x, size: [1]}, e: {material: x, size: {}}}}}\n",
        &[
            "2:140 wrong-shape: `size` of a part: expected an integer, or a string, or a limit, found a list",
            "2:169 missing-key: a limit needs one of `most` or `least`",
        ],
    );
}

#[test]
fn merge_keys_are_applied_and_what_is_written_wins() {
    let text = "\
version: 1
tool_types:
  base: &base {colour: red, weight: 3}
  more: &more {<<: *base, weight: 4}
  drill: {<<: [*more, *base], description: x, colour: blue}
  saw: {<<: *base, weight: 5}
";
    check(
        FIRST,
        text,
        &["3:29 odd-weight: `weight` of a tool type is odd", "6:20 odd-weight: `weight` of a tool type is odd"],
    );
}

#[test]
fn nothing_counts_as_absent() {
    check(FIRST, "version: 1\ntool_types: {drill: {colour: , notes: }, saw: }\ntools:\n", &[]);
    check(
        FIRST,
        "version:\n",
        &["1:1 missing-key: missing key `version` in a workshop file (add `version:`, edition of the language)"],
    );
}

#[test]
fn expressions_fit_everywhere() {
    let text = "version: ${v}\ntools: {t: {type: '${x}', on: '${y}', steps: ['${z}'], tries: '${n}'}, u: '${all}'}\n";
    check(FIRST, text, &[]);
}

#[test]
fn an_entity_that_is_an_expression_lacks_nothing() {
    let text = "version: 1\ntools: {t: {$if: x, $then: {}}}\ntool_types: {u: {motor: {$if: y}, colour: {$if: z}}}\n";
    check(FIRST, text, &[]);
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
