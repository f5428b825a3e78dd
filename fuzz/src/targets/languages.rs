//! Targets of the languages inside values: expressions, templates, flags.

use super::{Target, about, kind_of, plain};
use purlin_charts::strvals::{Typing, parse_into};
use purlin_gotmpl::{Limits, Machine, Outside, Set, json};
use purlin_syntax::Flavor;
use purlin_syntax::write::JsonLayout;
use purlin_unfurl::eval::{Ctx, Engine, Settings, form};
use purlin_unfurl::tree::{Attribute, Node, NodeKind, Tree};
use purlin_unfurl::val::Val;
use purlin_unfurl::{convert, jinja};
use purlin_value::emit::to_json;
use purlin_value::{Map, MemoryWorld, Origin, Secrets, Session, Value};
use std::sync::Arc;

const CONTEXT: &str = r#"{"a": 1, "b": "text", "c": [1, "two", {"d": null}], "m": {"k": {"x": true}}, "s": "${b}-${a}",
 "loop": "${loop}", "big": 9007199254740993, "f": 1.5, "e": "", "n": null, "var": {"x": "${a + 1}"}}"#;

/// Garden's template strings and operators, against a fixed context.
pub(super) const GARDEN_EXPRESSION: Target = Target {
    name: "garden-expression",
    summary: "evaluate Garden template strings",
    run: |input| {
        let text = String::from_utf8_lossy(input);
        let session = Session::new(Arc::new(MemoryWorld::new()));
        let template = session.parse_yaml(session.sources.insert("template", text.as_ref()), Flavor::Core);
        let context = session.parse_yaml(session.sources.insert("context", CONTEXT), Flavor::Core);
        let options =
            purlin_garden::EvaluateOptions { lazy_context: input.len().is_multiple_of(2), ..Default::default() };
        let value = purlin_garden::evaluate(&session, &template, &context, options);
        outcome(&session, &value)
    },
    seeds: &[
        "\"${a + 1} ${b} ${c[1]} ${m.k.x ? 'yes' : \\\"no\\\"}\"",
        "x: ${join(c, ',')}\ny: ${if a == 1}one${else}other${endif}\nz: {$merge: \"${m}\", k: {y: 2}}\n",
        "- $forEach: ${c}\n  $filter: ${item.key > 0}\n  $return: ${item.value}\n- $concat: ${c}\n- $if: ${!f}\n  $then: 1\n",
        "${jsonEncode(m)} ${base64Encode(b)} ${replace(b, 't', 'T')} ${slice(b, 0, 2)} ${n || 'd'} ${missing?} ${s}",
        "${[1, a, 'x', [b]]} ${a && !(f < 2) || b != 'x'} ${-1 * (2 % 3)} $${escaped} ${uuidv4()} ${formatDateUtc('2021-01-01', 'yyyy')}",
    ],
    words: &[
        "${",
        "}",
        "$${",
        "a",
        "b",
        "c",
        "m.k",
        "s",
        "loop",
        "?",
        " ? ",
        " : ",
        " && ",
        " || ",
        " == ",
        " != ",
        " <= ",
        " + ",
        " - ",
        " * ",
        " / ",
        " % ",
        "!",
        "typeof ",
        " contains ",
        "[0]",
        "['k']",
        ".x",
        "(",
        ")",
        ",",
        "'",
        "\\\"",
        "null",
        "true",
        "if ",
        "else",
        "endif",
        "join(",
        "split(",
        "concat(",
        "merge(",
        "jsonDecode(",
        "yamlDecode(",
        "yamlEncode(",
        "indent(",
        "replace(",
        "slice(",
        "string(",
        "isEmpty(",
        "lower(",
        "trim(",
        "sha256(",
        "cidrsubnet(",
        "$merge",
        "$concat",
        "$forEach",
        "$filter",
        "$return",
        "$if",
        "$then",
        "$else",
        "item.value",
        "item.key",
    ],
    suite: &[],
};

/// Go templates with Sprig's and Helm's functions.
pub(super) const GO_TEMPLATE: Target = Target {
    name: "go-template",
    summary: "parse and execute a Go template",
    run: |input| {
        let mut set = Set::new();
        if let Err(error) = set.add("t", input.to_vec()) {
            return kind_of(plain(&error.go_text().replace('"', "`")));
        }
        let set = Arc::new(set);
        let outside = Outside {
            now: 1_600_000_000_000_000_000,
            seed: 1.into(),
            track: input.len().is_multiple_of(2),
            ..Outside::default()
        };
        // Little fuel: endurance is not tested here.
        let limits = Limits { fuel: 200_000, output: 4 << 20, text: 1 << 20, ..Limits::default() };
        let mut machine = Machine::new(set.namespace(), &outside, &limits);
        let Ok(data) = json::parse(&mut machine.heap, DATA.as_bytes()) else { return 0 };
        match machine.execute(&"t".into(), data) {
            Ok(rope) => kind_of((about(rope.bytes.len()), about(machine.spent() as usize))),
            Err(error) => kind_of(plain(&error.go_text().replace(['"', '<', '>'], "`"))),
        }
    },
    seeds: &[
        "{{ .Values.a }} {{- if and .Values.b (eq 1 1) }}x{{ else if .Values.n }}y{{ else }}z{{ end -}}",
        "{{ range $i, $e := .Values.c }}{{ $i }}={{ $e | toJson }}{{ if eq $i 1 }}{{ continue }}{{ end }}{{ else }}none{{ end }}",
        "{{ define \"n\" }}[{{ . }}]{{ end }}{{ template \"n\" .Values.b }}{{ include \"n\" 1 | nindent 2 | quote }}{{ tpl \"{{ .Values.b }}\" . }}",
        "{{ with $x := dict \"k\" (list 1 2.5 \"s\") }}{{ $x.k | toYaml }}{{ set $x \"y\" 1 | len }}{{ end }}{{/* c */}}{{ printf \"%05.2f %v %q %-5s|\" 3.14159 .Values \"q\" \"s\" }}",
        "{{ .Values.m.k | default \"d\" | upper | trunc 3 | b64enc | sha256sum | regexReplaceAll \"[a-f]+\" \"x\" | splitList \"1\" | join \",\" }}",
        "{{ block \"b\" . }}{{ break }}{{ end }}{{ semverCompare \">=1.2.0 <2\" \"1.5.0-rc1\" }}{{ date \"2006-01-02\" now }}{{ fromYaml \"a: [1\" }}",
    ],
    words: &[
        "{{",
        "}}",
        "{{-",
        "-}}",
        "{{/*",
        "*/}}",
        "if",
        "else",
        "end",
        "range",
        "with",
        "define",
        "template",
        "block",
        "break",
        "continue",
        "$",
        "$x",
        ":=",
        "=",
        "|",
        ".",
        ".Values",
        ".Values.a",
        "(",
        ")",
        "nil",
        "true",
        "'a'",
        "`raw`",
        "0x1F",
        "1e3",
        "1i",
        "and",
        "or",
        "not",
        "eq",
        "ne",
        "lt",
        "len",
        "index",
        "slice",
        "printf",
        "print",
        "html",
        "js",
        "urlquery",
        "call",
        "include \"n\"",
        "tpl",
        "required",
        "fail",
        "lookup",
        "toYaml",
        "fromYaml",
        "toJson",
        "fromJson",
        "toToml",
        "default",
        "dict",
        "list",
        "set",
        "unset",
        "merge",
        "mergeOverwrite",
        "deepCopy",
        "pluck",
        "dig",
        "omit",
        "until",
        "untilStep",
        "seq",
        "add",
        "div",
        "mod",
        "round",
        "max",
        "repeat",
        "substr",
        "trunc",
        "abbrev",
        "wrap",
        "nindent",
        "indent",
        "regexMatch",
        "regexFindAll",
        "regexReplaceAll",
        "semver",
        "semverCompare",
        "date",
        "dateModify",
        "toDate",
        "ago",
        "duration",
        "b64dec",
        "b32dec",
        "sha256sum",
        "derivePassword",
        "genCA",
        "randAlphaNum",
        "shuffle",
        "uuidv4",
        "splitn",
        "camelcase",
        "snakecase",
        "kebabcase",
        "plural",
        "cat",
        "replace",
        "untitle",
        "initials",
        "atoi",
        "int64",
        "float64",
        "toString",
        "kindOf",
        "typeOf",
        "deepEqual",
        "ternary",
        "coalesce",
        "all",
        "any",
        "empty",
        "sortAlpha",
        "reverse",
        "uniq",
        "without",
        "has",
        "chunk",
        "first",
        "rest",
        "last",
        "initial",
        "append",
        "concat",
    ],
    suite: &[],
};

const DATA: &str = r#"{"Values": {"a": 1, "b": "text", "c": [1, 2.5, "x", null, {"y": true}], "m": {"k": "v"}, "n": null},
 "Release": {"Name": "rel", "Namespace": "ns"}, "Chart": {"Name": "c", "Version": "1.2.3"}}"#;

/// Two instances below the root, whose attributes refer to each other and to themselves.
fn instances() -> Tree {
    const ATTRIBUTES: [(&str, &str); 2] = [
        (
            "a",
            r#"{"p": "x", "l": [1, 2, {"k": "v"}], "m": {"k": {"x": 1}}, "e": {"eval": "::b::q"}, "i": {"eval": "i"}}"#,
        ),
        ("b", r#"{"q": "{{ SELF.r }}-{{ '::a::p' | eval }}", "r": 5, "c": {"concat": ["x", {"eval": ".name"}]}}"#),
    ];
    let mut tree = Tree::new(Node::new("root", NodeKind::Root));
    for (name, attributes) in ATTRIBUTES {
        let mut node = Node::new(name, NodeKind::Node);
        node.parent = Some(tree.root());
        let entries = convert::from_json(attributes).ok();
        for (key, value) in entries.iter().filter_map(|value| value.as_map()).flat_map(|map| map.iter()) {
            node.attributes.insert(convert::key_text(key), Attribute::new(value.clone()));
        }
        let id = tree.add(node);
        let root = tree.root();
        if let Some(root) = tree.node_mut(root) {
            root.children.push(id);
        }
    }
    tree
}

/// Queries the instance `a` and returns the kind of the answer.
fn ask(text: &str, asked: fn(&Ctx<'_, '_>, &str) -> purlin_unfurl::error::Result<Vec<Val>>) -> u64 {
    let (tree, session) = (instances(), Session::new(Arc::new(MemoryWorld::new().variable("X", "y"))));
    let engine = Engine::new(&tree, &session, Settings::default());
    let on = tree.by_name("a").unwrap_or_else(|| tree.root());
    let ctx = engine.context(on);
    let forced = asked(&ctx, text).and_then(|values| values.into_iter().map(|value| engine.force(value)).collect());
    match forced {
        Ok(values) => {
            let values: Vec<Val> = values;
            let told = values.iter().take(3).map(|value| {
                let value = convert::to_value(&value.clone().plain(), &tree);
                let text = to_json(&value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
                (value.kind_name(), about(text.len()))
            });
            kind_of((about(values.len()), told.collect::<Vec<_>>()))
        }
        Err(error) => kind_of(plain(&error.message.replace(['\'', '"'], "`"))),
    }
}

/// Unfurl's queries and `eval` expressions, on an instance of a small ensemble.
pub(super) const UNFURL_EXPRESSION: Target = Target {
    name: "unfurl-expression",
    summary: "evaluate Unfurl queries, `eval` mappings and Jinja2 strings",
    run: |input| {
        let text = String::from_utf8_lossy(input);
        if text.starts_with(['{', '-', '"']) {
            return ask(&text, |ctx, text| {
                let values = convert::from_yaml(ctx.engine.session, text, Flavor::Python)?;
                let first = values.first().cloned().unwrap_or_default();
                form::expression(ctx, &first)
            });
        }
        ask(&text, |ctx, text| ctx.query(text))
    },
    seeds: &[
        "::a::p",
        "::a::l[0]",
        "::*::[.type=tosca.nodes.Root]::p?",
        ".targets::dependency::q",
        "$inputs::x[a=b][!c]",
        "{eval: '::a::m::k', select: x, foreach: {key: $key, value: $item}, vars: {v: 1}}",
        "{eval: {if: $v, then: 1, else: {concat: [a, {eval: '::b::r'}]}}, vars: {v: true}}",
        "{{ '::a::p' | eval }}",
        "{get_property: [a, p]}",
    ],
    words: &[
        "::",
        "::*",
        "a",
        "b",
        "p",
        "l",
        "m",
        "k",
        "[",
        "]",
        "=",
        "!=",
        "!",
        "?",
        "*",
        ".",
        "..",
        ".self",
        ".root",
        ".parents",
        ".ancestors",
        ".targets",
        ".sources",
        ".configured_by",
        ".instances",
        ".all",
        ".type",
        ".name",
        "$",
        "$v",
        "SELF",
        "HOST",
        "0",
        "-1",
        "eval:",
        "q:",
        "ref:",
        "if:",
        "then:",
        "else:",
        "vars:",
        "select:",
        "foreach:",
        "trace:",
        "concat:",
        "token:",
        "and:",
        "or:",
        "not:",
        "eq:",
        "template:",
        "file:",
        "get_env:",
        "get_attribute:",
        "get_input:",
        "sensitive:",
        "validate:",
        "{{",
        "}}",
        "'",
        "\"",
        "\\",
    ],
    suite: &[],
};

/// Jinja2 templates as Unfurl and Ansible understand them.
pub(super) const JINJA: Target = Target {
    name: "jinja",
    summary: "render Jinja2 templates in an ensemble",
    run: |input| ask(&String::from_utf8_lossy(input), |ctx, text| Ok(vec![jinja::render(ctx, text)?])),
    seeds: &[
        "{{ SELF.p | upper }}{% for x in [1, 2, 3] if x > 1 %}{{ loop.index }}{{ x ~ '-' }}{% else %}none{% endfor %}",
        "{% set x = {'a': [1, (2, 3)]} %}{{ x.a[1][0] + 2 ** 3 // 2 % 5 }}{% if x is defined and not x.b %}y{% elif 1 %}z{% endif %}",
        "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ caller() if caller }}{% endmacro %}{{ m(1, b='x') }}{% call m(1) %}c{% endcall %}",
        "{{ 'a,b' .split(',') | map('upper') | list | join('-') }}{# c #}{% raw %}{{ x }}{% endraw %}{{ \"%s %05.2f\" | format('a', 1.5) }}",
        "{{ range(10) | select('odd') | batch(2) | list | to_json }}{{ {'a': 1} | combine({'b': 2}, recursive=True) | dict2items }}",
        "{% filter upper %}x{% endfilter %}{{ 'x' is match('[a-z]+') }}{{ 'abc'[::-1] }}{{ '{} {x}'.format(1, x=2) }}{{ lookup('env', 'X') }}",
    ],
    words: &[
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "{%-",
        "-%}",
        "for ",
        " in ",
        "endfor",
        "if ",
        "elif ",
        "else",
        "endif",
        "set ",
        "endset",
        "macro ",
        "endmacro",
        "call ",
        "filter ",
        "raw",
        "endraw",
        "block",
        "include",
        "import",
        "with",
        "do ",
        " is ",
        " is not ",
        "defined",
        "none",
        "True",
        "False",
        " and ",
        " or ",
        "not ",
        "|",
        "|default(",
        "|map(",
        "|select(",
        "|selectattr(",
        "|groupby(",
        "|sort",
        "|unique",
        "|join(",
        "|replace(",
        "|regex_replace(",
        "|regex_search(",
        "|int",
        "|float",
        "|round(",
        "|tojson",
        "|from_json",
        "|to_yaml",
        "|from_yaml",
        "|combine(",
        "|dict2items",
        "|items2dict",
        "|b64encode",
        "|b64decode",
        "|hash(",
        "|password_hash",
        "|ipaddr",
        "|truncate(",
        "|wordwrap(",
        "|indent(",
        "|center(",
        "|format(",
        "|slice(",
        "|batch(",
        "|random",
        "|shuffle",
        "|zip(",
        "|product(",
        "|flatten",
        "|eval",
        "|strftime",
        "range(",
        "dict(",
        "namespace(",
        "cycler(",
        "joiner(",
        "lipsum(",
        "loop.index",
        "loop.previtem",
        "caller()",
        "self",
        "SELF",
        "~",
        "**",
        "//",
        "[::-1]",
        "[0]",
        ".x",
        "(1,)",
        "[]",
        "{}",
        "'a'",
        "\"b\"",
        "lookup(",
        "query(",
    ],
    suite: &[],
};

/// The `--set` family.
pub(super) const STRVALS: Target = Target {
    name: "strvals",
    summary: "apply `--set` flags to values",
    run: |input| {
        let text = String::from_utf8_lossy(input);
        let mut sizes = Vec::new();
        for typing in [Typing::Typed, Typing::Text, Typing::Json, Typing::File(&|name| Ok(name.to_owned()))] {
            // Every line is a flag; later ones change what earlier ones made.
            let mut map = Map::new();
            for line in text.lines().take(20) {
                let result = parse_into(line, &mut map, &typing, &|_| Origin::from_bits(0));
                sizes.push(result.map_or_else(|why| why.helm_text.len() as u32, |()| 0));
            }
            let text = to_json(&Value::map(map), Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
            sizes.push(about(text.len()));
        }
        let mut map = Map::new();
        sizes.push(u32::from(parse_into(&text, &mut map, &Typing::Literal, &|_| Origin::from_bits(0)).is_ok()));
        kind_of(sizes)
    },
    seeds: &[
        "a.b.c=1,d=true,e=null,f=\"x\"",
        "a[0].b=x,a[1]=y,a[2][1]=z\na={1,2,three}\na=null",
        "a\\.b=c\\,d,e={},f=0123,g=99999999999999999999",
        "j={\"a\": [1, 2]},k=[1],l=\"x\"",
    ],
    words: &[
        "a", ".", "[0]", "[65536]", "[-1]", "=", ",", "{", "}", "\\", "null", "true", "\"", "[", "]", "=={", "\n", "1",
    ],
    suite: &[],
};

/// The kind of a value and of the problems on the way to it.
fn outcome(session: &Session, value: &Value) -> u64 {
    let text = to_json(value, Secrets::Hide, JsonLayout::Compact).map_or(0, |text| about(text.len()));
    let found = session.sink.take();
    let messages: Vec<String> = found.iter().take(3).map(|problem| plain(&problem.message)).collect();
    kind_of((value.kind_name(), text, messages))
}
