//! Every problem is reported once, at its location, in the user's words.

use crate::dialect::{FIRST, SECOND, read};
use purlin_model::Edition;

fn check(edition: Edition, text: &str, expected: &[&str]) {
    assert_eq!(read(edition, text).problems(), expected);
}

#[test]
fn unknown_keys_get_the_nearest_name() {
    check(
        FIRST,
        "version: 1\ntools: {t: {tipe: drill, type: drill, steps: []}}\n",
        &["2:13 unknown-key: unknown key `tipe` in a tool (did you mean `type`?)"],
    );
    check(
        FIRST,
        "version: 1\ntools: {t: {zzzzz: drill, type: drill, steps: []}}\n",
        &["2:13 unknown-key: unknown key `zzzzz` in a tool (known keys: `type`, `steps`, `links`, `on` or `tries`)"],
    );
}

#[test]
fn keys_of_other_editions_say_so() {
    check(
        FIRST,
        "version: 1\ntool_types: {t: {fits: []}}\n",
        &["2:18 unknown-key: unknown key `fits` in a tool type (workshop 2 has it)"],
    );
    check(
        SECOND,
        "version: 2\ntool_types: {t: {fitting: []}}\n",
        &["2:18 unknown-key: unknown key `fitting` in a tool type (workshop 1 has it)"],
    );
}

#[test]
fn required_keys_are_missed() {
    check(
        FIRST,
        "tools: {t: {steps: []}}\n",
        &[
            "1:1 missing-key: missing key `version` in a workshop file (add `version:`, edition of the language)",
            "1:9 missing-key: missing key `type` in tool `t` (add `type:`, its type)",
        ],
    );
}

#[test]
fn shapes_are_checked_and_reading_goes_on() {
    let text = "\
version: [1]
tools:
  t: {type: 5, steps: [a, 1, [b]], on: maybe, tries: 1.5, links: [x, {a: b, c: d}]}
  u: [1]
labels: {a: {}}
tool_types: {x: {price: cheap}, y: []}
";
    check(
        FIRST,
        text,
        &[
            "1:10 wrong-shape: `version` of a workshop file: expected a single value, found a list",
            "3:13 wrong-shape: `type` of a tool: expected the name of a tool type, found an integer",
            "3:27 wrong-shape: `steps` of a tool: expected a string, found an integer (put it in quotes: `\"1\"`)",
            "3:30 wrong-shape: `steps` of a tool: expected a string, found a list",
            "3:40 wrong-shape: `on` of a tool: expected a boolean, found a string (write `true` or `false`, without quotes)",
            "3:54 wrong-shape: `tries` of a tool: expected an integer, found a number (write a number, without quotes)",
            "3:67 wrong-shape: `links` of a tool: expected items with one key each, found a string (indent what belongs to the name below it)",
            "3:70 wrong-shape: `links` of a tool: expected items with one key each, found several keys (indent what belongs to the name below it)",
            "4:6 wrong-shape: tool: expected a mapping, found a list (write keys and values, for example `type: …`)",
            "5:13 wrong-shape: `labels` of a workshop file: expected a string, found a mapping",
            "6:18 deprecated-key: `price` of a tool type should no longer be used (say it in `notes`)",
            "6:25 wrong-shape: `price` of a tool type: expected a number, found a string (write a number, without quotes)",
            "6:36 wrong-shape: tool type: expected a mapping, found a list (write keys and values, for example `extends: …`)",
        ],
    );
}

#[test]
fn ranges_have_two_bounds() {
    check(
        FIRST,
        "version: 1\nport_types: {a: {count: [1, UNBOUNDED]}, b: {count: [1]}, c: {count: [1, x]}}\n",
        &[
            "2:53 wrong-shape: `count` of a port type: expected a lower and an upper bound such as [0, UNBOUNDED], found a list",
            "2:70 wrong-shape: `count` of a port type: expected a lower and an upper bound such as [0, UNBOUNDED], found a list",
        ],
    );
}

#[test]
fn exclusive_keys_exclude_each_other_and_one_is_needed() {
    check(
        FIRST,
        "version: 1\ntool_types: {t: {limits: [{most: 1, least: 0}, {}, {least: 2}]}}\n",
        &[
            "2:37 exclusive-keys: `most` and `least` of a limit exclude each other (keep one of them) [2:28 `most` is here]",
            "2:48 missing-key: a limit needs one of `most` or `least`",
        ],
    );
}

#[test]
fn words_are_on_the_list() {
    check(
        FIRST,
        "version: 1\ntool_types: {t: {colour: gren}, u: {colour: mauve}}\n",
        &[
            "2:26 unknown-choice: `colour` of a tool type cannot be `gren` (did you mean `green`?)",
            "2:45 unknown-choice: `colour` of a tool type cannot be `mauve` (it can be `red`, `green` or `blue`)",
        ],
    );
}

#[test]
fn old_names_are_accepted_with_a_warning() {
    check(
        FIRST,
        "version: 1\ntool_types: {t: {color: red}, u: {color: red, colour: blue}}\n",
        &[
            "2:18 deprecated-key: `color` is the old name of `colour` (write `colour` instead)",
            "2:35 deprecated-key: `color` is the old name of `colour` (write `colour` instead)",
            "2:47 exclusive-keys: `colour` and `color` are the same key (keep one of them) [2:35 the other one is here]",
        ],
    );
}

#[test]
fn names_are_scalars() {
    check(
        FIRST,
        "version: 1\ntools: {[a, b]: {type: x}}\n",
        &["2:9 wrong-shape: a name in `tools` of a workshop file: expected a string, found a list"],
    );
}

#[test]
fn rules_of_rows_are_asked() {
    check(
        FIRST,
        "version: 1\ntool_types: {t: {weight: 3}}\ntools: {u: {type: t}}\n",
        &["2:18 odd-weight: `weight` of a tool type is odd", "3:12 idle-tool: this tool does nothing"],
    );
}
