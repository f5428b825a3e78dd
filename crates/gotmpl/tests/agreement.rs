//! Templates and the output of Go's engine with Sprig's and Helm's functions, one line each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use purlin_gotmpl::{Limits, Machine, Outside, Set};

/// The output of a template, or the text of the error.
fn render(template: &str) -> String {
    let mut set = Set::new();
    if let Err(error) = set.add("t", template) {
        return error.go_text();
    }
    let set = Arc::new(set);
    let (outside, limits) = (
        Outside { now: 1_600_000_000_000_000_000, seed: 1.into(), track: false, ..Outside::default() },
        Limits::default(),
    );
    let mut machine = Machine::new(set.namespace(), &outside, &limits);
    let data = machine.heap.any_map(BTreeMap::new());
    match machine.execute(&"t".into(), data) {
        Ok(rope) => String::from_utf8_lossy(&rope.bytes).into_owned(),
        Err(error) => error.go_text(),
    }
}

fn check(table: &[(&str, &str)]) {
    for (template, expected) in table {
        assert_eq!(render(template), *expected, "{template}");
    }
}

#[test]
fn words() {
    check(&[
        (
            r#"{{ snakecase "a1b22c333" }} {{ snakecase "Bld4Floor3rd" }} {{ snakecase "HTTP20xOK" }}"#,
            "a_1b22c333 bld4_floor_3rd http_20x_ok",
        ),
        (r#"{{ kebabcase "a=b" }} {{ kebabcase "x.yZ" }} {{ kebabcase "__a  b_" }}"#, "a-=-b x.y-z --a--b-"),
        (r#"{{ camelcase "foo___bar" }} {{ camelcase "foo- bar" }} {{ camelcase "-a-" }}"#, "Foo__Bar Foo-Bar -A-"),
        (r#"{{ initials "héllo ✓x" }} {{ nospace "a b" }}"#, "hâ ab"),
        (r#"{{ abbrev 7 "  '_.日" }}|{{ wrapWith 5 "" "/a/b/../c.txt" }}"#, "  '_...|/a/b/\n../c.\ntxt"),
    ]);
}

#[test]
fn numbers_and_durations() {
    check(&[
        (r#"{{ sub (mustToDuration "90s") 1000 }} {{ int (mustToDuration "90s") }}"#, "-1000 0"),
        (r#"{{ durationRound "-5m" }} {{ duration (int64 100000000000) }}"#, "5m 2157299h53m51.45224192s"),
        (r#"{{ range index "\x03" 0 }}{{ . }}{{ end }}"#, "012"),
        (
            r#"{{ toJson 1i }}{{ mustToJson 1i }}"#,
            "template: t:1:18: executing \"t\" at <mustToJson 1i>: error calling mustToJson: json: unsupported type: complex128",
        ),
        ("{{ chunk -2 (list 1 2) }}", "[]"),
        (
            "{{ chunk -1 (list 1 2 3) }}",
            "template: t:1:3: executing \"t\" at <chunk -1 (list 1 2 3)>: error calling chunk: runtime error: makeslice: len out of range",
        ),
    ]);
}

#[test]
fn dates() {
    check(&[
        (r#"{{ dateInZone "2006-01-02 15:04 MST -0700" 0 "America/New_York" }}"#, "1969-12-31 19:00 EST -0500"),
        (r#"{{ htmlDateInZone (toDate "2006-01-02" "2020-02-03") "America/New_York" }}"#, "2020-02-02"),
        (r#"{{ toDate "2006-01-02T15:04:05Z07:00" "2020-02-03T04:05:06+02:00" }}"#, "2020-02-03 04:05:06 +0200 +0200"),
        (r#"{{ toDate "2006-01-02 15:04:05.000" "2020-02-03 04:05:06.123" }}"#, "2020-02-03 04:05:06.123 +0000 UTC"),
        (
            r#"{{ $d := toDate "2006-01-02" "2020-01-31" }}{{ $d.Month }} {{ $d.Weekday }} {{ $d.AddDate 0 1 0 }}"#,
            "January Friday 2020-03-02 00:00:00 +0000 UTC",
        ),
        (r#"{{ ((toDate "2006" "2020").Sub (toDate "2006" "2019")).Hours }}"#, "8760"),
    ]);
}

#[test]
fn dictionaries() {
    check(&[
        (
            r#"{{ merge nil (dict "a" 1) }} {{ mergeOverwrite nil (dict "a" nil) }} {{ unset nil "a" }}"#,
            "map[a:1] map[a:<nil>] map[]",
        ),
        (
            r#"{{ dig "a" 1 "d" (dict) }}"#,
            "template: t:1:3: executing \"t\" at <dig \"a\" 1 \"d\" (dict)>: error calling dig: interface conversion: interface {} is int, not string",
        ),
        (
            r#"{{ eq (list 1) (dict "a" 1) }}"#,
            "template: t:1:3: executing \"t\" at <eq (list 1) (dict \"a\" 1)>: error calling eq: non-comparable types [%!s(int=1)]: []interface {}, map[string]interface {}: map[a:1]",
        ),
        (r#"{{ eq (semver "1.2.3") (semver "1.2.3") }} {{ toJson (semver "v1.2") }}"#, "false \"1.2.0\""),
    ]);
}

#[test]
fn encodings() {
    check(&[
        (
            r#"{{ b64dec "str" }} {{ b64dec "YWJjZ" }} {{ b32dec "YWJ" }}"#,
            "illegal base64 data at input byte 0 illegal base64 data at input byte 4 illegal base32 data at input byte 0",
        ),
        (
            r#"{{ toToml true }} {{ toToml 1e6 }} {{ toToml (dict "f" 3.0 "g" 1e8) }}"#,
            "true 1e+06 f = 3.0\ng = 1e+08\n",
        ),
        (r#"{{ toToml (dict "l" (list 1 (dict "a" (dict) "b" 2))) }}"#, "l = [1, {b = 2, a = {}}]\n"),
        (
            r#"{{ fromToml "a = 1979-05-27" }} {{ fromToml "[b]\nc = x" }}"#,
            "map[a:1979-05-27 00:00:00 +0000 date-local] map[Error:toml: line 2 (last key \"b.c\"): expected value but found \"x\" instead]",
        ),
        (
            r#"{{ fromToml "a" }} {{ fromToml "a = \"u" }} {{ fromToml "a = [1" }}"#,
            "map[Error:toml: line 1: unexpected EOF; expected key separator '='] map[Error:toml: line 1 (last key \"a\"): unexpected EOF; expected '\"'] map[Error:toml: line 1 (last key \"a\"): expected a comma (',') or array terminator (']'), but got end of file]",
        ),
        (
            r#"{{ toYamlPretty (dict "t" (toDate "2006" "2020") "d" (mustToDuration "90s")) }}"#,
            "d: 1m30s\nt: 2020-01-01T00:00:00Z",
        ),
        (
            r#"{{ fromYamlArray "" | toJson }}{{ fromYaml "a: [1" }}{{ fromYaml "\ta: 1" }}"#,
            "[]map[Error:error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']']map[Error:error converting YAML to JSON: yaml: found character that cannot start any token]",
        ),
        (
            r#"{{ fromYaml "a: *x" }}{{ fromYaml "a: \"x\nb: 1" }}{{ fromYaml "a: 1\n- b" }}"#,
            "map[Error:error converting YAML to JSON: yaml: unknown anchor 'x' referenced]map[Error:error converting YAML to JSON: yaml: line 2: found unexpected end of stream]map[Error:error converting YAML to JSON: yaml: line 1: did not find expected key]",
        ),
        (r#"{{ fromJson "\"\\q\"" }}"#, r"map[Error:invalid escape sequence `\q` in string]"),
    ]);
}

#[test]
fn patterns() {
    check(&[
        (r#"{{ regexSplit "" "hé✓" -1 }} {{ regexReplaceAllLiteral "x*" "hé" "-" }}"#, "[h é ✓] -h-é-"),
        (r#"{{ regexMatch "a**" "a" }}{{ regexFindAll "x*" "é" -1 | toJson }}"#, "false[\"\",\"\"]"),
    ]);
}

#[test]
fn toml_headings() {
    check(&[
        (
            r#"{{ fromToml "[t]\n[t]" }} {{ fromToml "[t]\na=1\n[t.a]" }}"#,
            "map[Error:toml: line 2: Key 't' has already been defined.] map[Error:toml: line 3 (last key \"t\"): Key 't.a' has already been defined.]",
        ),
        (
            r#"{{ typeOf (fromToml "a = [{b=1}]").a }} {{ typeOf (fromToml "[[a]]").a }}"#,
            "[]interface {} []map[string]interface {}",
        ),
    ]);
}

#[test]
fn addresses() {
    check(&[
        (
            r#"{{ urlParse "http://h/%zz" }}"#,
            "template: t:1:3: executing \"t\" at <urlParse \"http://h/%zz\">: error calling urlParse: unable to parse url: parse \"http://h/%zz\": invalid URL escape \"%zz\"",
        ),
        (
            r#"{{ (urlParse "http://u:p:q@h/").userinfo }} {{ urlJoin (dict "host" "é") }} {{ urlJoin (dict "path" "a:b") }}"#,
            "u:p%3Aq //%C3%A9 ./a:b",
        ),
    ]);
}

#[test]
fn a_block_that_does_not_end_is_reported_at_its_head() {
    check(&[("{{ block \"b\" . }}\n\n{{ else }}", "template: t:1: unexpected {{else}} in block clause")]);
}
