//! Charts: Helm has no secrets of its own, so they come from a host that sets values: one value, one in a map, a map
//! that is secret as a whole, merged with the defaults of the chart and of a subchart.

use crate::needles::Needles;
use crate::random::Random;
use purlin_charts::resolve_chart;
use purlin_charts::template::Options;
use purlin_compiler::picture::{Manners, scene, svg};
use purlin_compiler::{GraphFormat, Page, Theme, View, draw, graph_value, made, resolved_value, show, why, why_value};
use purlin_syntax::print;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{to_json, to_yaml};
use purlin_value::{Map, MemoryWorld, Secrets, Session, Value};
use std::sync::Arc;

const WRAPPERS: &[&str] = &[
    "(@ | upper)",
    "(@ | lower)",
    "(@ | quote)",
    "(@ | squote)",
    "(@ | b64enc)",
    "(@ | b64enc | b64dec)",
    "(@ | b32enc)",
    "(@ | trunc 14)",
    "(@ | trim)",
    "(@ | title)",
    "(@ | initials | cat @)",
    "(@ | replace \"zz\" \"y\")",
    "(@ | nospace)",
    "(@ | repeat 2)",
    "(@ | indent 1 | trim)",
    "(@ | toString)",
    "(@ | default \"x\")",
    "(@ | toJson | fromJson | toString | default @)",
    "(printf \"%s-x\" @)",
    "(print @ \"!\")",
    "(list @ \"b\" | join \"-\")",
    "(dict \"k\" @ | toJson)",
    "(dict \"k\" (list @) | toYaml)",
    "(ternary @ \"n\" true)",
    "(coalesce @ \"x\")",
    "(cat \"a\" @)",
    "(regexReplaceAll \"^(.)\" @ \"x${1}\")",
    "(regexFind \"[A-Za-z0-9]+\" @)",
    "(splitList \"#\" @ | first)",
    "(get (dict \"a\" @) \"a\")",
    "(index (list @) 0)",
    "(tpl \"{{ . }}\" @)",
    "(tpl (print \"{{ \" (quote @) \" }}\") $)",
    "(tpl (print \"{{ $x := \" (quote @) \" }}{{ upper $x }}\") $)",
    "(tpl (print \"{{ if true }}\" @ \"{{ end }}\") $)",
    "(include \"echo\" @)",
    "(merge (dict \"a\" @) (dict \"b\" 1)).a",
    "(set (dict) @ 1 | keys | first)",
    "(urlquery @)",
    "(wrap 7 @)",
    "(snakecase @)",
    "(adler32sum @ | cat @)",
    "(substr 0 14 @)",
];

const LEAVES: &[&str] = &[
    ".Values.password",
    ".Values.login.pass",
    ".Values.login.nested.deep",
    ".Values.whole.one",
    ".Values.whole.two.three",
    "(keys .Values.whole | sortAlpha | last)",
    "(toYaml .Values.whole)",
    "(toJson .Values.login)",
    "(.Values | toString)",
];

const FAILING: &[&str] = &[
    "{{ fail @ }}",
    "{{ required @ \"\" }}",
    "{{ include @ . }}",
    "{{ index (dict) @ \"x\" }}",
    "{{ tpl (print \"{{ nothing \" @) . }}",
    "{{ fromJson @ | toString }} {{ fail (fromJson @).Error }}",
    "{{ @.x.y }}",
    "{{ add @ 1 }}{{ regexMatch (print \"(\" @) \"x\" }}",
    "{{ mustToDate \"2006\" @ }}",
    "{{ index .Values @ \"y\" }}",
    "{{ template @ }}",
    "{{ semver @ }}",
];

pub fn search() {
    let mut tried = 0;
    for round in 0..8 {
        tried += one(&mut Random::new(round + 100), false);
        tried += one(&mut Random::new(round + 200), true);
    }
    println!("charts: {tried} combinations");
    assert!(tried > 2_000, "{tried}");
}

fn one(random: &mut Random, failing: bool) -> usize {
    let canaries: Vec<String> = (0..7).map(|_| random.canary()).collect();
    let secret = |at: usize| Value::from(canaries[at].as_str()).tainted_if(true);
    let open = |at: usize| Value::from(canaries[at].as_str());
    let map =
        |entries: Vec<(&str, Value)>| Value::map(entries.into_iter().map(|(k, v)| (k.into(), v)).collect::<Map>());
    let whole = vec![("one", open(3)), ("two", map(vec![("three", open(4))])), (canaries[5].as_str(), Value::from(1))];
    let given = map(vec![
        ("password", secret(0)),
        ("login", map(vec![("pass", secret(1)), ("nested", map(vec![("deep", open(2))]).tainted_if(true))])),
        ("whole", map(whole).tainted_if(true)),
        ("inner", map(vec![("key", secret(6))])),
    ]);
    let mut files = Vec::new();
    let mut count = 0;
    let helpers = "{{ define \"echo\" }}{{ . }}{{ end }}";
    if failing {
        let leaf = *random.pick(LEAVES);
        let text = random.pick(FAILING).replace('@', leaf);
        files.push((
            "a.yaml".to_owned(),
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  k: {text}\n"),
        ));
        count += 1;
    } else {
        for file in 0..4 {
            let mut text = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: c{file}}}\nstringData:\n");
            for at in 0..10 {
                let leaf = *random.pick(LEAVES);
                let value = random.wrapped(leaf, WRAPPERS);
                text += &format!("  k{at}: {{{{ {value} | toString | quote }}}}\n");
                count += 1;
            }
            text += "  {{ .Values.password | quote }}: key\n";
            files.push((format!("{file}.yaml"), text));
        }
    }
    let mut world = MemoryWorld::new()
        .file(
            "web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: inner, version: 1.0.0}]\n",
        )
        .file(
            "web/values.yaml",
            "login: {user: app, nested: {more: 1}}\nwhole: {two: {four: 4}, five: 5}\ninner: {key: none, k: 2}\n",
        )
        .file("web/templates/_h.tpl", helpers)
        .file("web/charts/inner/Chart.yaml", "apiVersion: v2\nname: inner\nversion: 1.0.0\n")
        .file("web/charts/inner/values.yaml", "key: default\nmap: {a: 1}\n")
        .file(
            "web/charts/inner/templates/i.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: i}\ndata: {k: {{ .Values.key | b64enc }}}\n",
        );
    // The user's values are below the host's in the same maps, so that maps are merged.
    world = world.file("user.yaml", "whole: {six: 6, two: {seven: 7}}\nlogin: {nested: {eight: 8}}\n");
    for (name, text) in &files {
        world = world.file(&format!("web/templates/{name}"), text);
    }
    let session = Session::new(Arc::new(world));
    let values = vec![("user.yaml".into(), "user.yaml".into())];
    let options = Options { given, values, track: true, ..Options::default() };
    let resolved = resolve_chart(&session, "web", &options);
    let diagnostics = session.sink.take();
    let mut texts = vec![
        print::human(&diagnostics, &session.sources, print::Colors::Off),
        print::json_lines(&diagnostics, &session.sources),
        print::github(&diagnostics, &session.sources),
    ];
    if let Some(resolved) = &resolved {
        assert!(failing || !resolved.nodes.is_empty(), "{}", texts[0]);
        let value = resolved_value(&session, resolved);
        texts.push(to_yaml(&value, Secrets::Hide).unwrap());
        texts.push(to_json(&value, Secrets::Hide, JsonLayout::Pretty).unwrap());
        let shown = show(resolved, &View::default()).unwrap();
        texts.push(to_json(&graph_value(&shown), Secrets::Hide, JsonLayout::Compact).unwrap());
        for format in [GraphFormat::Text, GraphFormat::Dot, GraphFormat::Mermaid] {
            texts.push(draw(&shown, format));
        }
        texts.push(svg(&scene(&shown, &Manners::default()), Theme::Auto, Page::Own));
        for manifest in &resolved.manifests {
            texts.push(to_yaml(&manifest.value, Secrets::Hide).unwrap());
        }
        for node in &resolved.nodes {
            for (field, leaf) in node.resolved.leaves() {
                let why = why_value(&node.id, &field, &why(&session, leaf), (&made(&session, leaf), &|_| None), &[]);
                texts.push(to_json(&why, Secrets::Hide, JsonLayout::Compact).unwrap());
            }
        }
        if !failing {
            let shown = to_yaml(&value, Secrets::Reveal).unwrap();
            assert!(Needles::of(&canaries).find(&shown).is_some(), "{shown}");
        }
    }
    let needles = Needles::of(&canaries);
    for text in &texts {
        if let Some((line, trace)) = needles.find(text) {
            panic!(
                "a chart shows `{trace}`:\n    {line}\nmade by\n{}",
                files.iter().map(|(_, text)| text.as_str()).collect::<String>()
            );
        }
    }
    count * texts.len()
}
