//! Bad input ends in an error within the limits, and a secret is never shown.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_syntax::Limits;
use purlin_unfurl::convert;
use purlin_unfurl::error::{Kind, Result};
use purlin_unfurl::eval::frame::{Mode, Variable};
use purlin_unfurl::eval::trace::Trace;
use purlin_unfurl::eval::{Engine, Settings};
use purlin_unfurl::tree::{Attribute, Node, NodeKind, Tree};
use purlin_unfurl::val::Val;
use purlin_value::{MemoryWorld, Secrets, Session, emit};
use std::sync::Arc;

/// A run with less fuel than usual, so that endless evaluation stops soon.
fn session() -> Session {
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    Session::with_limits(Arc::new(MemoryWorld::new().file("a.txt", "text").file("page.j2", "<{{ v }}>")), limits, 1)
}

/// A tree of a root and some hosted instances.
fn tree(session: &Session, attributes: &str) -> Tree {
    let mut root = Node::new("root", NodeKind::Node);
    let written =
        convert::from_yaml(session, attributes, purlin_syntax::Flavor::Core).unwrap().pop().unwrap_or_default();
    for (name, value) in written.as_map().into_iter().flatten() {
        root.attributes.insert(name.as_str().unwrap().into(), Attribute::new(value.clone()));
    }
    let mut tree = Tree::new(root);
    for number in 0..60 {
        let mut node = Node::new(format!("n{number}"), NodeKind::Node);
        node.parent = Some(tree.root());
        tree.add(node);
    }
    tree
}

fn evaluate(attributes: &str, expression: &str) -> Result<Val> {
    let session = session();
    let tree = tree(&session, attributes);
    let engine = Engine::new(&tree, &session, Settings::default());
    let mut documents = convert::from_yaml(&session, expression, purlin_syntax::Flavor::Core).unwrap();
    engine.context(tree.root()).map_value(&documents.pop().unwrap())
}

#[track_caller]
fn fails(expression: &str, kind: Kind) {
    let error = evaluate("{}", expression).expect_err(expression);
    assert_eq!(error.kind, kind, "{expression}: {}", error.message);
}

#[test]
fn syntax_errors_have_a_place() {
    let error = evaluate("{}", "{eval: 'a::b[c'}").unwrap_err();
    assert_eq!((error.kind, error.at.unwrap().start), (Kind::Syntax, 4));
    for bad in ["{eval: 'a]'}", "{eval: ''}", "'{{ a'", "'{% if %}'", "'{{ ( }}'", "'{% for %}'"] {
        fails(bad, Kind::Syntax);
    }
}

#[test]
fn loops_end() {
    let nested = "{eval: '.descendents', foreach: {eval: '::root::.descendents', foreach: {eval: '::root::.descendents', \
                  foreach: {eval: '::root::.descendents', foreach: {eval: '::root::.descendents', foreach: .name}}}}}";
    fails(nested, Kind::Limit);
    fails("'{% for a in range(1000000) %}{% for b in range(1000000) %}x{% endfor %}{% endfor %}'", Kind::Limit);
    fails("'{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'", Kind::Limit);
    fails("{eval: $a, vars: {a: {eval: $b}, b: {eval: $a}}}", Kind::Cycle);
}

#[test]
fn strings_and_lists_do_not_grow_without_end() {
    for huge in [
        "\"{{ 'x' * 1000000000 }}\"",
        "\"{{ [0] * 1000000000 }}\"",
        "\"{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}\"",
        "\"{{ 'x' | center(1000000000) }}\"",
        "\"{{ '%1000000000d' | format(1) }}\"",
        "\"{{ 'a'.ljust(1000000000) }}\"",
        "\"{{ range(1000000000) }}\"",
        "\"{{ ('x' * 1000000) | replace('x', 'x' * 1000) }}\"",
        "\"{{ 9999999999 ** 99 }}\"",
        "\"{{ range(1000) | product(range(1000), range(1000)) | list }}\"",
        "{eval: {lookup: {sequence: 'start=1 end=1000000000'}}}",
    ] {
        fails(huge, Kind::Limit);
    }
}

/// The value of a template as YAML.
fn text_of(template: &str) -> String {
    let session = session();
    let tree = tree(&session, "{}");
    let value = evaluate("{}", &format!("{{eval: {{template: \"{template}\"}}}}")).expect(template);
    emit::to_yaml(&convert::to_value(&value, &tree), Secrets::Hide).unwrap().trim_end().to_owned()
}

#[test]
fn what_python_does_not_compare_is_not_sorted() {
    let mixed = "[9,4,'a','a',3,7,'a',9,'a',3,5,0,8,6,6,8,'a',8,5,'a',4,6]";
    let nested = "[[9],[4],['a'],[3],[7],['a'],[9],['a'],[3],[5],[0],[8],[6],[6],['a'],[8],[5],['a'],[4],[6],[1],[2]]";
    for list in [mixed, nested] {
        for template in [
            format!("{{{{ {list} | sort }}}}"),
            format!("{{% set l = {list} %}}{{% do l.sort() %}}{{{{ l }}}}"),
            format!(
                "{{% set d = {{}} %}}{{% for v in {list} %}}{{% do d.update({{loop.index: v}}) %}}{{% endfor %}}{{{{ d | dictsort(by='value') }}}}"
            ),
        ] {
            let error = evaluate("{}", &format!("{{eval: {{template: \"{template}\"}}}}")).expect_err(&template);
            assert_eq!(error.kind, Kind::Type, "{template}: {}", error.message);
            assert!(
                error.message.contains("'str' and 'int'") || error.message.contains("'int' and 'str'"),
                "{error:?}"
            );
        }
    }
}

#[test]
fn an_order_that_is_not_total_is_sorted_without_panic() {
    // A fraction equals both integers next to it, which differ; NaN equals nothing.
    for odd in ["9007199254740992.0", "('nan' | float)"] {
        let triple = format!("[9007199254740993, {odd}, 9007199254740992]");
        let template = format!("{{{{ ({triple} * 20 + {triple} | reverse | list * 3) | sort | length }}}}");
        assert_eq!(text_of(&template), "69");
    }
    assert_eq!(
        text_of("{{ [[2, 'b'], [1, 'x'], [2, 'a']] | sort(attribute='0', reverse=true) | map('last') | join }}"),
        "bax"
    );
}

#[test]
fn changing_a_list_costs_what_it_copies() {
    // In place: each costs a step, however long the list is.
    let grown = "{% set l = [] %}{% for i in range(20000) %}{% do l.append(i) %}{% endfor %}{{ l | length }}";
    assert_eq!(text_of(grown), "20000");
    // Held twice, or moved as a whole: each costs as many steps as there are items.
    let many = "{% set l = range(2000) | list %}{% set d = {} %}{% for i in l %}{% do d.update({i: i}) %}{% endfor %}{% for i in range(2000) %}STEP{% endfor %}";
    for step in [
        "{% set held = l %}{% do l.append(i) %}",
        "{% set held = d %}{% do d.update({'a': i}) %}",
        "{% do l.insert(0, i) %}",
        "{% do l.reverse() %}",
        "{% do [].extend(l) %}",
        "{% do {}.update(d) %}",
    ] {
        fails(&format!("{{eval: {{template: \"{}\"}}}}", many.replace("STEP", step)), Kind::Limit);
    }
}

#[test]
fn a_changed_list_is_no_other_list() {
    assert_eq!(text_of("{% set a = [1] %}{% set b = a %}{% do a.append(2) %}x {{ a }} {{ b }}"), "x [1, 2] [1]");
    assert_eq!(text_of("{% set a = [1] %}{% do a.append(a) %}x {{ a }}"), "x [1, [1]]");
    assert_eq!(text_of("{% set a = [1, 2] %}{% do a.append(a.pop(0)) %}x {{ a }}"), "x [2, 1]");
}

#[test]
fn what_is_called_is_evaluated_once() {
    let start = "{% set l = [] %}{% macro m(x) %}m{% endmacro %}";
    let by_entry = "{% set d = {'append': m} %}{{ d.append(l.append(1)) }} {{ l }}";
    assert_eq!(text_of(&format!("{start}{by_entry}")), "m [1]");
    let by_object = "{% set ns = namespace(pop=m) %}{{ (l.append(1) or ns).pop(2) }} {{ l }}";
    assert_eq!(text_of(&format!("{start}{by_object}")), "m [1]");
}

#[test]
fn a_very_long_word_is_wrapped() {
    assert_eq!(text_of("{{ ('ab ' ~ 'x' * 7 ~ ' y') | wordwrap(3, wrapstring='/') }}"), "ab /xxx/xxx/x y");
    assert_eq!(text_of("{{ ('x' * 200000) | wordwrap(1) | length }}"), "399999");
    // Wrapping is paid for by the byte, so a longer one is a matter of the limit on steps.
    fails("\"{{ ('x' * 10000000) | wordwrap(1) | length }}\"", Kind::Limit);
}

#[test]
fn long_and_deep_expressions_are_refused() {
    let long = format!("{{eval: '{}'}}", "a".repeat(300_000));
    fails(&long, Kind::Limit);
    let brackets = format!("{{eval: 'a{}'}}", "[a".repeat(5_000));
    fails(&brackets, Kind::Limit);
    for deep in [("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("{1:", "}")] {
        let text = format!("'{{{{ {}1{} }}}}'", deep.0.repeat(5_000), deep.1.repeat(5_000));
        assert!(evaluate("{}", &text).is_err(), "{deep:?}");
    }
    let blocks = format!("'{}x{}'", "{% if 1 %}".repeat(5_000), "{% endif %}".repeat(5_000));
    fails(&blocks, Kind::Limit);
}

#[test]
fn regular_expressions_are_bounded() {
    let text = format!("\"{{{{ '{}' is match('(a|aa)+(?=b)$') }}}}\"", "a".repeat(200));
    if let Err(error) = evaluate("{}", &text) {
        assert_eq!(error.kind, Kind::Limit, "{}", error.message);
    }
}

#[test]
fn references_in_a_circle_are_null_and_noticed() {
    let session = session();
    let tree = tree(&session, "{a: {eval: '.::b'}, b: {eval: '.::a'}, c: '{{ SELF.c }}'}");
    let engine = Engine::new(&tree, &session, Settings::default());
    for name in ["a", "b", "c"] {
        assert!(engine.attribute(tree.root(), name).unwrap().unwrap().is_null());
    }
    let notices = engine.notices.borrow();
    assert_eq!(notices[0].message, "these refer to each other, so they are null: `root::a`, `root::b`");
}

/// Attributes that each need the next, in three ways of asking.
fn chain(count: usize, end: &str) -> String {
    let link = |n: usize| match n % 3 {
        0 => format!("a{n}: {{eval: '.::a{}'}}", n + 1),
        1 => format!("a{n}: '{{{{ SELF.a{} }}}}'", n + 1),
        _ => format!("a{n}: {{eval: {{if: $true, then: {{concat: [{{eval: '.::a{}'}}]}}}}}}", n + 1),
    };
    let links: Vec<String> = (0..count).map(link).collect();
    format!("{}\na{count}: {end}\n", links.join("\n"))
}

/// Runs on a stack of the size that the command line gives to evaluation at least.
fn on_a_known_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn long_chains_of_references_work() {
    on_a_known_stack(|| {
        for count in [10, 120, 5_000] {
            let value = evaluate(&chain(count, "done"), "{eval: '.::a0'}").unwrap();
            assert_eq!(value.as_str(), Some("done"), "{count}");
        }
    });
}

#[test]
fn what_fails_at_the_end_of_a_chain_is_said_once() {
    on_a_known_stack(|| {
        let error = evaluate(&chain(3_000, "{eval: {token: [a, b, 5]}}"), "{eval: '.::a0'}").unwrap_err();
        assert_eq!((error.kind, error.through[0].as_str()), (Kind::Value, "`a3000` of `root`"));
    });
}

#[test]
fn a_long_circle_is_noticed_with_its_whole_path() {
    on_a_known_stack(|| {
        let session = session();
        let tree = tree(&session, &chain(999, "{eval: '.::a0'}"));
        let engine = Engine::new(&tree, &session, Settings::default());
        engine.attribute(tree.root(), "a0").unwrap();
        let notices = engine.notices.borrow();
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].message.matches("`root::a").count(), 1_000);
    });
}

#[test]
fn nothing_is_run_or_read_outside() {
    fails("{eval: {python: os.getcwd}}", Kind::Refused);
    fails("{eval: {lookup: {pipe: id}}}", Kind::Refused);
    fails("{eval: {lookup: {url: 'https://example.com'}}}", Kind::Refused);
    fails("{eval: {file: /etc/passwd}, select: contents}", Kind::Refused);
    fails("{eval: {lookup: {file: ../../etc/passwd}}}", Kind::Refused);
    fails("\"{% include '/etc/passwd' %}\"", Kind::Refused);
}

#[test]
fn computed_text_is_not_evaluated_again() {
    let value = evaluate("{t: '{{ 1 + 1 }}', q: {q: '{{ 1 + 1 }}'}}", "{eval: {concat: ['{', '{ 1 }}']}}").unwrap();
    assert_eq!(value.as_str(), Some("{{ 1 }}"));
    let value = evaluate("{}", "\"{{ '{' ~ '{ 1 }}' }}\"").unwrap();
    assert_eq!(value.as_str(), Some("{{ 1 }}"));
}

/// A word that must not appear, and forms it could take.
const CANARY: &str = "Zq7canary9Xv";

/// Steps an expression may take with a value `V`.
const STEPS: &[&str] = &[
    "{concat: [a, V, b]}",
    "{eval: {token: [V, q, 0]}}",
    "{eval: {to_label: V}}",
    "{eval: {to_dns_label: [x, V]}}",
    "{eval: {urljoin: [http, V, 80, V]}}",
    "{eval: {if: {eq: [V, V]}, then: {q: yes}}}",
    "{eval: {eq: [V, other]}}",
    "{eval: {to_env: {A: V}}}",
    "{join: [[V, V], '-']}",
    "{eval: {template: '{{ v }}-x'}, vars: {v: V}}",
    "{eval: {template: '{{ v | upper }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | b64encode }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | length }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | list | reverse | join }}'}, vars: {v: V}}",
    "{eval: {template: '{{ [v, 1] | to_json }}'}, vars: {v: V}}",
    "{eval: {template: '{{ {v: 1} }}'}, vars: {v: V}}",
    "{eval: {template: '{% if v %}{{ v[:4] }}{% endif %}'}, vars: {v: V}}",
    "{eval: {template: '{% for c in v %}{{ c }}{% endfor %}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | md5 }}{{ v ~ 1 }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v is match(\"Zq\") }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | regex_replace(\"^(..)\", \"\\\\1-\") }}'}, vars: {v: V}}",
    "{eval: {template: '{% set x = v %}{{ x }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v + 1 }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | int }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v.split(\"7\") }}'}, vars: {v: V}}",
    "{eval: {template: '{{ \"%s!\" | format(v) }}'}, vars: {v: V}}",
    "{eval: {template: '{{ \"{}\".format(v) }}'}, vars: {v: V}}",
    "{eval: {file: out.txt, contents: V}, select: contents}",
    "{eval: {tempfile: V}, select: contents}",
    "{eval: {validate: [V, {type: integer}]}}",
    "{eval: $v, foreach: $item, vars: {v: [V]}}",
    "{eval: $v, foreach: {key: $item, value: $index}, vars: {v: [V, V]}}",
    "{eval: $v::0, vars: {v: V}}",
    "{eval: '.::list::[=$v]', vars: {v: V}}",
    "{eval: {scalar_value: V, unit: mb}}",
    "{eval: {portspec: V}}",
    "{eval: {container_image: V}}",
    "{eval: {abspath: V}}",
    "{eval: {add: [V, V]}}",
    "{get_env: [NOPE, V]}",
    "{eval: {lookup: {env: V}}}",
    "{eval: {lookup: {file: V}}}",
    "{eval: {python: V}}",
    "{eval: {file: V}, select: contents}",
    "{eval: {file: note.vault, contents: V, encoding: vault}, select: contents}",
    "{eval: {get_dir: V}}",
    "{eval: {get_artifact: [V, V]}}",
    "{eval: {template: {path: page.j2}}, vars: {v: V}}",
    "{eval: {template: '{% include v %}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | vault(\"pw\") | unvault(\"pw\") }}'}, vars: {v: V}}",
    "{eval: {template: '{% set l = [] %}{% set _ = l.append(v) %}{{ l }}'}, vars: {v: V}}",
    "{eval: {template: '{% set d = {} %}{% set _ = d.update({1: v}) %}{{ d }}'}, vars: {v: V}}",
    "{eval: {template: '{{ [v] | unique | map(\"upper\") | list }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | dict2items }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | human_readable }}{{ v | split(1) }}'}, vars: {v: V}}",
    "{eval: {template: '{{ (v, v) }} {{ v | zip(v) | list }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v is version(v) }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | password_hash }}'}, vars: {v: V}}",
];

/// Steps with a number or a boolean `V`.
const NUMBER_STEPS: &[&str] = &[
    "{concat: [V]}",
    "{eval: {add: [V, 1]}}",
    "{eval: {mul: [V, 1]}}",
    "{eval: {sub: [V, 0]}}",
    "{eval: {portspec: V}}",
    "{eval: {validate: [V, {type: string}]}}",
    "{eval: {if: {eq: [V, 918273645]}, then: V}}",
    "{eval: {or: [$nothing, V]}}",
    "{eval: $v, foreach: {key: $item, value: $item}, vars: {v: [V]}}",
    "{eval: {template: '{{ v }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v + 0 }}{{ -v }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | string | list | join }}'}, vars: {v: V}}",
    "{eval: {template: '{{ [v] | sum }}'}, vars: {v: V}}",
    "{eval: {template: '{{ \"%d\" % v }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | abs | round | int | float }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v | filesizeformat }}{{ v | to_json }}'}, vars: {v: V}}",
    "{eval: {template: '{{ v[0] }}{{ v.x }}'}, vars: {v: V}}",
];

#[test]
fn a_secret_number_is_never_shown() {
    for source in ["{eval: {sensitive: 918273645}}", "{eval: '.::number'}", "{eval: $number}", "'{{ SELF.number }}'"] {
        for step in NUMBER_STEPS {
            let shown = shown(&step.replace('V', source)).replace("918273645}}, then", "");
            for form in ["918273645", "918273646", "918.3 MB"] {
                let written = step.contains(form) || source.contains(form);
                assert!(written || !shown.contains(form), "`{form}` is shown by {step} of {source}:\n{shown}");
            }
        }
    }
}

#[test]
fn what_a_secret_decides_is_secret() {
    for expression in [
        "{eval: {eq: [{eval: '.::number'}, 918273645]}}",
        "{eval: {not: {eval: '.::number'}}}",
        "'{{ SELF.number > 5 }}'",
        "'{{ SELF.number is odd }}'",
        "'{{ SELF.number in [1] }}'",
        "'{% if SELF.number %}yes{% endif %}'",
        "'{{ SELF.number | bool }}'",
    ] {
        assert_eq!(shown(expression).lines().next(), Some("(secret)"), "{expression}");
    }
}

#[test]
fn a_secret_is_never_shown() {
    let sources = [
        format!("{{eval: {{sensitive: {CANARY}}}}}"),
        "{eval: '.::secret'}".to_owned(),
        "{eval: $secret}".to_owned(),
        "'{{ SELF.secret }}'".to_owned(),
        "{eval: {or: [$nothing, '.::secret']}}".to_owned(),
    ];
    let mut count = 0;
    for source in &sources {
        for step in STEPS {
            let expression = step.replace('V', source);
            for expression in [expression.clone(), STEPS[count % 9].replace('V', &expression)] {
                check_secret(&expression);
                count += 1;
            }
        }
    }
    assert!(count >= 200);
}

/// The output for an expression's result or error, and of its trace.
fn shown(expression: &str) -> String {
    let session = session();
    let attributes = format!("{{secret: {CANARY}, list: [a, {CANARY}], number: 918273645}}");
    let mut tree = tree(&session, &attributes);
    let root = tree.root();
    for name in ["secret", "number"] {
        tree.node_mut(root).unwrap().attributes.get_mut(name).unwrap().sensitive = true;
    }
    let settings = Settings { vault: vec![purlin_unfurl::vault::Secret::new("default", "pw")], ..Settings::default() };
    let engine = Engine::new(&tree, &session, settings);
    *engine.trace.borrow_mut() = Some(Trace::new());
    let variables = vec![
        Variable::ready("secret", Val::str(CANARY).taint()),
        Variable::ready("number", Val::int(918_273_645).taint()),
    ];
    let ctx = engine.context_with(tree.root(), variables, Mode::default());
    let mut documents = convert::from_yaml(&session, expression, purlin_syntax::Flavor::Core).unwrap();
    let mut shown = match ctx.map_value(&documents.pop().unwrap()) {
        Ok(value) => emit::to_yaml(&convert::to_value(&value, &tree), Secrets::Hide).unwrap(),
        Err(error) => format!("{} {:?} {:?}", error.message, error.hint, error.through),
    };
    shown.push_str(&engine.trace.borrow().as_ref().unwrap().lines().join("\n"));
    for diagnostic in session.sink.take() {
        shown.push_str(&diagnostic.message);
    }
    shown
}

fn check_secret(expression: &str) {
    // Text written in the expression itself is no secret to its author.
    let shown = shown(expression).replace(expression, "");
    let upper = CANARY.to_uppercase();
    let backwards: String = CANARY.chars().rev().collect();
    for form in [CANARY, &upper, &backwards, "WnE3Y2FuYXJ5OVh2", &CANARY.to_lowercase(), "Zq-7", "canary9"] {
        assert!(!shown.contains(form), "`{form}` is shown by {expression}:\n{shown}");
    }
}
