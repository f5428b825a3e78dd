//! Charts: Go templates with every function of the list, named templates, `tpl`, values with aliases, schemas.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};
use purlin_gotmpl::func::{Func, Ty};

const START: &str =
    "{{- $s := \"xy\" }}{{ $l := list 1 \"a\" }}{{ $d := dict \"k\" 1 }}{{ $n := 3 }}{{ $a := .Values.v0 -}}\n";

const ROWS: &[(&str, &[&str])] = &[
    (
        "statement",
        &[
            "x: {{ <s> }}\n",
            "{{ $s = <s> }}",
            "{{ $l = <l> }}",
            "{{ $d = <d> }}",
            "{{ $n = <n> }}",
            "{{ $a = <a> }}",
            "{{ range until <n> }}<statement><statement>{{ end }}",
            "{{ range $i, $e := <l> }}{{ $l = append $l $e }}<statement>{{ end }}",
            "{{ range <d> }}{{ . }}<statement>{{ end }}",
            "{{ if <a> }}<statement>{{ else }}<statement>{{ end }}",
            "{{ with <a> }}<statement>{{ end }}",
            "- {{ <a> }}\n",
            "{{ $_ := set $d <s> <a> }}",
            "{{ include \"t<lower>\" $ }}",
            "{{ template \"t<lower>\" $ }}",
            "{{ tpl <s> $ }}",
            "{{ $l = list $l $l }}",
            "{{ $d = dict \"x\" $d \"y\" $d }}",
            "{{ $s = print $s $s }}",
        ],
    ),
    (
        "s",
        &[
            "\"<text>\"",
            "$s",
            "($s | toString)",
            "(repeat <n> <s>)",
            "(cat <s> <a>)",
            "(print <s> <s>)",
            "(printf \"%v %s %q %d %x %10.3f %#v %T\" <a> <s> <a> <n> <s> 1.5 <a> <a>)",
            "(printf \"%*d\" <n> <n>)",
            "(toJson <a>)",
            "(toYaml <a>)",
            "(toPrettyJson <a>)",
            "(toToml <d>)",
            "(join <s> <l>)",
            "(replace <s> <s> <s>)",
            "(indent <n> <s>)",
            "(nindent <n> <s>)",
            "(b64enc <s>)",
            "(b32enc <s>)",
            "(quote <a> <a>)",
            "(upper <s>)",
            "(snakecase <s>)",
            "(wrapWith <n> <s> <s>)",
            "(regexReplaceAll \"<pattern>\" <s> <s>)",
            "(sha512sum <s>)",
            "(html <s>)",
            "(urlquery <s>)",
            "(trunc <n> <s>)",
            "(date <s> now)",
            "(randAlphaNum <n>)",
            "(shuffle <s>)",
            "(include \"t<lower>\" $)",
            "(tpl <s> $)",
        ],
    ),
    (
        "l",
        &[
            "$l",
            "(list <a> <a>)",
            "(append <l> <a>)",
            "(prepend <l> <a>)",
            "(concat <l> <l>)",
            "(until <n>)",
            "(untilStep 0 <n> <n>)",
            "(splitList <s> <s>)",
            "(reverse <l>)",
            "(uniq <l>)",
            "(compact <l>)",
            "(without <l> <a>)",
            "(sortAlpha <l>)",
            "(chunk <n> <l>)",
            "(regexFindAll \"<pattern>\" <s> -1)",
            "(regexSplit \"<pattern>\" <s> -1)",
            "(keys <d>)",
            "(values <d>)",
            "(rest <l>)",
            "(fromJsonArray (toJson <l>))",
            "(fromYamlArray (toYaml <l>))",
        ],
    ),
    (
        "d",
        &[
            "$d",
            "(dict <s> <a> \"k\" <a>)",
            "(set $d <s> <a>)",
            "(merge (dict) <d> <d>)",
            "(mergeOverwrite (dict) <d> <d>)",
            "(mustMerge (deepCopy <d>) <d>)",
            "(deepCopy <d>)",
            "(pick <d> \"k\" <s>)",
            "(omit <d> <s>)",
            "(fromYaml (toYaml <d>))",
            "(fromJson (toJson <d>))",
            "(fromYaml <s>)",
            "(split <s> <s>)",
        ],
    ),
    (
        "a",
        &[
            "$a",
            "<s>",
            "<l>",
            "<d>",
            "<n>",
            "$n",
            ".",
            "$.Values",
            "$.Values.v<lower>",
            "(index <l> <n>)",
            "(get <d> <s>)",
            "(ternary <a> <a> (deepEqual <a> <a>))",
            "(default <a> <a>)",
            "(eq <s> <s>)",
            "(has <a> <l>)",
            "(semverCompare <s> \"1.2.3\")",
            "<call>",
            "<call>",
        ],
    ),
    (
        "pattern",
        &[
            "a",
            "(x+)+y",
            ".",
            "",
            "[a-z]{500}",
            "(a|b|ab)*c",
            "(\\\\pL{1,30}){1,30}",
            "x",
            "\\\\w+",
            "(?i)X",
            "(.*)(.*)(.*)z",
        ],
    ),
    (
        "schema",
        &[
            "{}",
            "{\"type\": \"object\"}",
            "{\"properties\": {\"v0\": <schema>, \"v1\": <schema>}}",
            "{\"anyOf\": [<schema>, <schema>]}",
            "{\"oneOf\": [<schema>, <schema>]}",
            "{\"allOf\": [<schema>, <schema>]}",
            "{\"not\": <schema>}",
            "{\"$ref\": \"#/definitions/a\"}",
            "{\"$ref\": \"#\"}",
            "{\"pattern\": \"<pattern>\"}",
            "{\"items\": <schema>}",
            "{\"uniqueItems\": true}",
            "{\"enum\": [1, \"a\", [1], {\"k\": 1}]}",
            "{\"patternProperties\": {\"<pattern>\": <schema>}}",
        ],
    ),
];

/// A chart.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    // New functions are included automatically.
    grammar.add("call", ["(len <s>)".to_owned()]);
    let functions = purlin_gotmpl::funcs::LISTS.iter().flat_map(|(_, functions)| functions.iter());
    grammar.add("call", functions.filter(|function| function.name != "fail").map(call));
    let mut values = String::new();
    for level in 0..1 + choices.below(6) {
        values.push_str(&format!("v{level}: {}\n", grammar.text("<yaml>", level, choices)));
    }
    let mut files = vec![
        ("Chart.yaml".to_owned(), "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("values.yaml".to_owned(), values),
    ];
    let statements = |level: usize, choices: &mut Choices<'_>| -> String {
        (0..1 + choices.below(6)).map(|_| grammar.text("<statement>", level, choices)).collect()
    };
    let mut named = String::new();
    for level in 0..1 + choices.below(3) {
        // Every other one may call itself.
        let body = statements(level + choices.below(2), choices);
        named.push_str(&format!("{{{{- define \"t{level}\" }}}}{START}{body}{{{{ end }}}}\n"));
    }
    files.push(("templates/_named.tpl".to_owned(), named));
    for at in 0..1 + choices.below(3) {
        files.push((format!("templates/f{at}.yaml"), format!("{START}{}", statements(3, choices))));
    }
    if choices.below(4) == 1 {
        let schema = grammar.text("{\"allOf\": [<schema>], \"definitions\": {\"a\": <schema>}}", 0, choices);
        files.push(("values.schema.json".to_owned(), schema));
    }
    files
}

fn call(function: &Func) -> String {
    let symbol = |ty: &Ty| match ty {
        Ty::Str => " <s>",
        Ty::Int => " <n>",
        Ty::Float => " 1.5",
        Ty::Bool => " true",
        Ty::Map => " <d>",
        Ty::List => " <l>",
        Ty::Time => " now",
        Ty::Version => " (semver \"1.2.3\")",
        Ty::Certificate => " (genCA \"a\" 1)",
        Ty::Any | Ty::Value => " <a>",
    };
    let mut out = format!("({}", function.name);
    function.params.iter().chain(&function.rest).chain(&function.rest).for_each(|ty| out.push_str(symbol(ty)));
    out + ")"
}
