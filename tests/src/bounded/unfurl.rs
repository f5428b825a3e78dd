//! Unfurl: queries, functions and Jinja2 templates.

use super::{Ends, Input};

const ENSEMBLE: &str = "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    node_types:\n      Open: {derived_from: tosca.nodes.Root, metadata: {additionalProperties: true}}\n    topology_template:\n      node_templates:\n        n:\n          type: Open\n          properties:\n";

fn ensemble(class: &str, properties: &str, ends: Ends) -> Input {
    let lines: String = properties.lines().map(|line| format!("            {line}\n")).collect();
    Input::new(format!("unfurl/{class}"), "resolve", ends).file("ensemble.yaml", format!("{ENSEMBLE}{lines}"))
}

fn evaluated(class: &str, expression: &str, ends: Ends) -> Input {
    Input::new(format!("unfurl/{class}"), "eval", ends)
        .argument(expression)
        .file("ensemble.yaml", format!("{ENSEMBLE}            a: 1\n"))
}

fn doubling(levels: usize, shape: fn(&str) -> String) -> String {
    let mut text = "a0: [1]\nb0: [1]\n".to_owned();
    for level in 1..=levels {
        for name in ["a", "b"] {
            text.push_str(&format!("{name}{level}: {}\n", shape(&format!("{name}{}", level - 1))));
        }
    }
    text
}

fn list(before: &str) -> String {
    format!("[{{eval: \".::{before}\"}}, {{eval: \".::{before}\"}}]")
}

fn map(before: &str) -> String {
    format!("{{x: {{eval: \".::{before}\"}}, y: {{eval: \".::{before}\"}}}}")
}

fn jinja(before: &str) -> String {
    format!("\"{{{{ [SELF.{before}, SELF.{before}] }}}}\"")
}

/// All inputs of Unfurl.
pub fn inputs() -> Vec<Input> {
    let mut all = Vec::new();
    let uses = [
        ("equal", "{{ SELF.a60 == SELF.b60 }}"),
        ("less", "{{ SELF.a60 < SELF.b60 }}"),
        ("json", "{{ SELF.a60 | to_json }}"),
        ("yaml", "{{ SELF.a60 | to_nice_yaml }}"),
        ("string", "{{ SELF.a60 | string }}"),
        ("text", "x{{ SELF.a60 }}"),
        ("sort", "{{ [SELF.a60, SELF.b60] | sort }}"),
        ("unique", "{{ [SELF.a60, SELF.b60] | unique | length }}"),
        ("in", "{{ SELF.a60 in [SELF.b60] }}"),
        ("flatten", "{{ SELF.a60 | flatten | length }}"),
        ("hash", "{{ SELF.a60 | string | hash }}"),
        ("pprint", "{{ SELF.a60 | pprint }}"),
        ("set", "{{ [SELF.a60] | union([SELF.b60]) | length }}"),
    ];
    for (name, shape) in [("list", list as fn(&str) -> String), ("map", map), ("jinja", jinja)] {
        let properties = doubling(60, shape);
        all.push(ensemble(&format!("doubling/{name}"), &properties, Ends::Limit));
        for (used, expression) in uses {
            let properties = format!("{properties}used: \"{expression}\"\n");
            all.push(ensemble(&format!("doubling/{name}-{used}"), &properties, Ends::Limit));
        }
    }
    // A long text or list that is read repeatedly.
    for call in [
        "s.count('b')",
        "s.find('b')",
        "s.rfind('b')",
        "s[5:10]",
        "s[::2]",
        "s.istitle()",
        "s.isidentifier()",
        "s.islower()",
        "s.isupper()",
        "s.isprintable()",
        "s.title()",
        "s.swapcase()",
        "s.capitalize()",
        "s.upper()",
        "s.strip('b')",
        "s.split('b')",
        "s.rsplit()",
        "s.splitlines()",
        "s.partition('b')",
        "s.replace('b', 'c')",
        "s.expandtabs()",
        "s.encode()",
        "s.format()",
        "s.zfill(3)",
        "s.isalnum()",
        "s.casefold()",
        "s is search('b')",
        "s is match('b')",
        "s is lower",
        "s is upper",
        "s is contains('b')",
        "'b' in s",
        "s == s ~ ''",
        "s | length",
        "s | hash",
        "s | reverse",
        "s | trim",
        "s | wordcount",
        "s | title",
    ] {
        let name: String = call.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let loops = "{% for i in range(1000000) %}{% set x = CALL %}{% endfor %}".replace("CALL", call);
        let text = format!("p: \"{{% set s = 'a' * 4000000 %}}{loops}\"\n");
        all.push(ensemble(&format!("long/text-{name}"), &text, Ends::Limit));
    }
    for call in [
        "l.index(99999)",
        "l.count(5)",
        "l[5:10]",
        "l | first",
        "l | last",
        "l | length",
        "5 in l",
        "l == m",
        "l | sum",
        "l | max",
        "l | sort",
        "l | unique",
        "l | groupby('x')",
        "l | map('string') | list",
        "l is subset(m)",
        "l | join",
        "l | random",
        "l | batch(3) | list",
        "l | select('odd') | list",
    ] {
        let name: String = call.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let loops = "{% for i in range(1000000) %}{% set x = CALL %}{% endfor %}".replace("CALL", call);
        let lists = "{% set l = range(100000) | list %}{% set m = range(100000) | list %}";
        all.push(ensemble(&format!("long/list-{name}"), &format!("p: \"{lists}{loops}\"\n"), Ends::Answered));
    }
    for (name, call) in [
        ("splitlines", "('\\n' * 16000000).splitlines() | length"),
        ("split", "('b' * 16000000).split('b') | length"),
        ("zfill", "'a'.zfill(999999999)"),
        ("tabs", "('\\t' * 1000000).expandtabs(999999)"),
        ("rounds", "'x' | password_hash('sha512', rounds=999999999)"),
        ("groups", "range(0, 999999) | groupby('x') | list | length"),
    ] {
        all.push(ensemble(&format!("large/{name}"), &format!("p: \"{{{{ {call} }}}}\"\n"), Ends::Answered));
    }
    // Patterns that scan the whole text for every match, or backtrack repeatedly.
    for (name, call) in [
        ("far", "('a' * 300000) | regex_findall('[^b]*b|a') | length"),
        ("far-replace", "('a' * 300000) | regex_replace('a([^b]*b)?', '') | length"),
        ("ahead", "('a' * 300000) | regex_search('(?=[^b]*b)a')"),
        ("ahead-all", "('a' * 30000) | regex_findall('a(?![^b]*b)') | length"),
        ("back", "('a' * 40) | regex_search('(a+)+\\\\1b')"),
        ("label", "('-' * 1000000) | to_label(max=999999999, replace='y' * 1000000) | length"),
    ] {
        all.push(ensemble(&format!("regex/{name}"), &format!("p: \"{{{{ {call} }}}}\"\n"), Ends::Limit));
    }
    let few = "('a' * 3000) | regex_findall('a(?![^b]*b)') | length";
    all.push(ensemble("regex/ahead-few", &format!("p: \"{{{{ {few} }}}}\"\n"), Ends::Fine));
    let loops = "{% for i in range(1000000) %}{% set x = ('ab' * 9) | regex_search('(?=(a|b)*c)a') %}{% endfor %}";
    all.push(ensemble("regex/ahead-loop", &format!("p: \"{loops}\"\n"), Ends::Limit));
    // A collection that contains itself, twice.
    for (used, expression) in uses {
        let expression = expression.replace("a60", "a").replace("b60", "b");
        let ring = |name: &str| format!("{name}: [{{eval: '.::{name}'}}, {{eval: '.::{name}'}}]\n");
        let properties = format!("{}{}used: \"{expression}\"\n", ring("a"), ring("b"));
        all.push(ensemble(&format!("ring/{used}"), &properties, Ends::Answered));
    }
    let functions = [
        ("concat", "{concat: [{eval: '.::IT'}, {eval: '.::IT'}]}", 60),
        ("join", "{join: [[{eval: '.::IT'}, {eval: '.::IT'}], '-']}", 60),
        ("token", "{concat: [{token: [{eval: '.::IT'}, '-', 0]}, {eval: '.::IT'}, {eval: '.::IT'}]}", 60),
        ("template", "{eval: {template: '{{ SELF.IT }}{{ SELF.IT }}'}}", 60),
        ("jinja-plus", "'{{ SELF.IT ~ SELF.IT }}'", 60),
        ("jinja-json", "'{{ SELF.IT | to_json | to_json | to_json }}'", 60),
        ("jinja-b64", "'{{ SELF.IT | b64encode | b64encode | b64encode }}'", 60),
        ("jinja-indent", "'{{ SELF.IT | indent(100000, true) }}'", 2_000),
        ("jinja-replace", "'{{ SELF.IT | replace(\"x\", \"xxxxxxxx\") }}'", 60),
        ("jinja-regex", "'{{ SELF.IT | regex_replace(\"x\", \"xxxxxxxx\") }}'", 60),
        ("jinja-join", "'{{ [SELF.IT, SELF.IT] | join(SELF.IT) }}'", 60),
        ("jinja-center", "'{{ SELF.IT | center(10000000) }}'", 60),
        ("jinja-format", "'{{ \"%s%s\" | format(SELF.IT, SELF.IT) }}'", 60),
        ("jinja-list", "'{{ SELF.IT | list | string }}'", 60),
        ("jinja-urlencode", "'{{ (\"%\" ~ SELF.IT) | urlencode | urlencode | urlencode }}'", 2_000),
        ("jinja-wordwrap", "'{{ (SELF.IT ~ \" \" ~ SELF.IT) | wordwrap(1) }}'", 60),
    ];
    for (name, expression, rounds) in functions {
        let mut properties = "t0: xxxxxxxx\n".to_owned();
        for round in 1..=rounds {
            let value = expression.replace("IT", &format!("t{}", round - 1));
            properties.push_str(&format!("t{round}: {value}\n"));
        }
        all.push(ensemble(&format!("text/{name}"), &properties, Ends::Limit));
    }
    let loops = [
        ("nested", "{% for a in range(1000000) %}{% for b in range(1000000) %}x{% endfor %}{% endfor %}"),
        ("grown", "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}"),
        (
            "list-grown",
            "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s | length }}",
        ),
        (
            "list-doubled",
            "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
        ),
        (
            "list-deep",
            "{% set n = namespace(s=[1]) %}{% for i in range(1000000) %}{% set n.s = [n.s] %}{% endfor %}{{ n.s | length }}",
        ),
        (
            "appended",
            "{% set l = [] %}{% for i in range(100000) %}{% do l.append('x' * 1000000) %}{% endfor %}{{ l | length }}",
        ),
        ("itself", "{% set l = [] %}{% do l.append(l) %}{{ l }}"),
        ("printed", "{% for i in range(1000000) %}{{ 'x' * 1000000 }}{% endfor %}"),
        ("macro", "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}"),
        ("hash", "{% for i in range(1000000) %}{% set x = ('x' * 1000000) | hash('sha512') %}{% endfor %}"),
        (
            "password",
            "{% for i in range(1000000) %}{% set x = 'x' | password_hash('sha512', rounds=999999) %}{% endfor %}",
        ),
        ("sorted", "{% for i in range(1000000) %}{% set x = range(100000) | sort %}{% endfor %}"),
        ("regex", "{{ 'a' | regex_search('((a{1,100}){1,100}){1,100}') }}"),
        ("permutations-long", "{{ ('x' * 1000000) | permutations(2) | length }}"),
        ("multiplied", "{% for i in range(1000000) %}{% set x = (range(10) | list) * 99999 %}{% endfor %}"),
        (
            "look-behind",
            "{% for i in range(1000000) %}{% set x = ('x' * 100000) | regex_replace('(?<=y)x', 'z') %}{% endfor %}",
        ),
        (
            "look-far",
            "{% for i in range(1000000) %}{% set x = ('x' * 5000) | regex_replace('x(?=.*y)', 'z') %}{% endfor %}",
        ),
        ("permutations", "{{ range(100) | permutations | length }}"),
        ("product", "{{ range(1000) | product(range(1000), range(1000)) | length }}"),
        ("combinations", "{{ range(100) | combinations(50) | length }}"),
        ("batch", "{{ range(1000) | batch(100000000, 'x') | list | length }}"),
        ("slice", "{{ range(10) | slice(100000000, 'x') | list | length }}"),
        ("power", "{{ 10 ** 10000000 }}"),
        ("powers", "{{ 9 ** 9 ** 9 ** 9 ** 9 }}"),
        ("shift", "{{ 2 ** 100000000 }}"),
        ("ljust", "{% for i in range(1000000) %}{% set x = 'x'.ljust(10000000) %}{% endfor %}"),
        ("splitted", "{% for i in range(1000000) %}{% set x = ('x,' * 500000).split(',') %}{% endfor %}"),
        ("format", "{{ '%999999999d' | format(1) }}"),
        ("zip", "{{ range(1000000) | zip(range(1000000), range(1000000)) | list | length }}"),
        ("groupby", "{% for i in range(1000000) %}{% set x = range(100000) | map('string') | list %}{% endfor %}"),
        (
            "tojson",
            "{% set n = namespace(s='x') %}{% for i in range(100) %}{% set n.s = [n.s, n.s] | to_json %}{% endfor %}",
        ),
        (
            "from-yaml",
            "{% set n = namespace(s='x') %}{% for i in range(100) %}{% set n.s = [n.s | from_yaml, n.s | from_yaml] | to_yaml %}{% endfor %}",
        ),
        (
            "combine",
            "{% set n = namespace(s={'a': 1}) %}{% for i in range(60) %}{% set n.s = {'x': n.s, 'y': n.s} %}{% endfor %}{{ n.s | combine(n.s, recursive=true) | length }}",
        ),
    ];
    for (name, expression) in loops {
        let ends = if ["permutations", "product", "combinations", "password", "zip", "itself", "batch"].contains(&name)
        {
            Ends::Answered
        } else {
            Ends::Limit
        };
        all.push(evaluated(&format!("loops/{name}"), expression, ends));
    }
    // As arguments they would be longer than the system allows.
    let query = |text: &str| format!("q: {{eval: '{text}'}}\n");
    all.push(ensemble("query/long", &query(&"::a".repeat(85_000)), Ends::Answered));
    all.push(ensemble("query/brackets", &query(&format!(".::a{}", "[a]".repeat(80_000))), Ends::Answered));
    let nested = format!(".{}{}", "[a".repeat(80_000), "]".repeat(80_000));
    all.push(ensemble("query/nested", &query(&nested), Ends::Answered));
    let each = "{eval: {foreach: 1}}";
    let nested = (0..12).fold(each.to_owned(), |inner, _| format!("{{eval: {{to_label: {inner}}}, foreach: {inner}}}"));
    all.push(ensemble("query/for-each", &format!("q: {nested}\n"), Ends::Answered));
    let chain: String = (1..3_000).map(|at| format!("c{at}: {{eval: \".::c{}\"}}\n", at - 1)).collect();
    all.push(ensemble("chain/attributes", &format!("c0: 1\n{chain}"), Ends::Answered));
    all
}
