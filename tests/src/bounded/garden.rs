//! Garden: template strings, helper functions and structural operators.

use super::{Ends, Input, crowded};

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables:\n";

/// Variables, and a provider of Deploys.
const KUBERNETES: &str =
    "  a: 1\nproviders: [{name: kubernetes, context: c, deploymentRegistry: {hostname: h, namespace: n}}]\n";

fn project(class: &str, variables: &str, ends: Ends) -> Input {
    Input::new(format!("garden/{class}"), "resolve", ends).file("project.garden.yml", format!("{PROJECT}{variables}"))
}

/// Variables that each contain the previous one twice.
fn doubling(levels: usize, shape: fn(&str) -> String) -> String {
    let mut text = "  a0: [1]\n  b0: [1]\n".to_owned();
    for level in 1..=levels {
        for name in ["a", "b"] {
            let before = format!("${{var.{name}{}}}", level - 1);
            text.push_str(&format!("  {name}{level}: {}\n", shape(&before)));
        }
    }
    text
}

fn list(before: &str) -> String {
    format!("[\"{before}\", \"{before}\"]")
}

fn map(before: &str) -> String {
    format!("{{x: \"{before}\", y: \"{before}\"}}")
}

fn concatenated(before: &str) -> String {
    format!("[{{$concat: \"{before}\"}}, {{$concat: \"{before}\"}}]")
}

/// A text that is repeatedly computed from the previous one.
fn grown(start: &str, expression: &str, rounds: usize) -> String {
    let mut text = format!("  t0: {start}\n");
    for round in 1..=rounds {
        let expression = expression.replace("IT", &format!("var.t{}", round - 1));
        text.push_str(&format!("  t{round}: \"{expression}\"\n"));
    }
    text
}

/// All inputs of Garden.
pub fn inputs() -> Vec<Input> {
    let mut all = Vec::new();
    // A long text or list that is read repeatedly.
    for expression in [
        "var.s contains 'zz'",
        "var.l == var.l",
        "var.l != var.l",
        "isEmpty(var.l)",
        "isEmpty(var.s)",
        "var.l contains 5",
        "base64Decode(var.s)",
        "base64Encode(var.s)",
        "var.s == var.u",
        "var.l ? 1 : 2",
        "var.l && 1",
        "var.l || 1",
        "var.l[5]",
        "slice(var.s, 1, 3)",
        "slice(var.l, 1, 3)",
        "split(var.s, 'b')",
        "replace(var.s, 'b', 'c')",
        "upper(var.s)",
        "lower(var.s)",
        "trim(var.s)",
        "sha256(var.s)",
        "kebabCase(var.s)",
        "string(var.l)",
        "jsonEncode(var.l)",
        "yamlEncode(var.l)",
        "indent(var.s, 2)",
        "typeof var.l",
        "!var.l",
        "concat(var.l, var.l)[0]",
    ] {
        let name: String = expression.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let text = "join(range(1, 900000), 'aaaaaaaaaa')";
        let looped = format!(
            "{{$concat: {{$forEach: '${{range(1, 1000000)}}', $return: \"${{string(isEmpty([{expression}]))}}\"}}}}"
        );
        let variables =
            format!("  s: \"${{{text}}}\"\n  u: \"${{{text}}}\"\n  l: \"${{range(1, 100000)}}\"\n  x: [{looped}]\n");
        all.push(project(&format!("long/{name}"), &variables, Ends::Answered));
    }
    for (name, shape) in [("list", list as fn(&str) -> String), ("map", map), ("concat", concatenated)] {
        for levels in [25, 60] {
            let variables = doubling(levels, shape);
            all.push(project(&format!("doubling/{name}-{levels}"), &variables, Ends::Limit));
            let uses = [
                ("equal", format!("${{var.a{levels} == var.b{levels}}}")),
                ("json", format!("${{jsonEncode(var.a{levels})}}")),
                ("yaml", format!("${{yamlEncode(var.a{levels})}}")),
                ("string", format!("${{string(var.a{levels})}}")),
                ("text", format!("x${{var.a{levels}}}")),
                ("plus", format!("${{var.a{levels} + var.b{levels}}}")),
                ("contains", format!("${{var.a{levels} contains 7}}")),
                ("join", format!("${{join(var.a{levels}, ',')}}")),
                ("empty", format!("${{isEmpty(var.a{levels})}}")),
            ];
            for (used, expression) in uses {
                let action = format!("kind: Run\ntype: exec\nname: r\nspec: {{command: [\"{expression}\"]}}\n");
                let input = project(&format!("doubling/{name}-{levels}-{used}"), &variables, Ends::Limit);
                all.push(input.file("a.garden.yml", action));
            }
        }
    }
    let mut nested = "${item.value}".to_owned();
    for _ in 0..8 {
        nested = format!("{{$forEach: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], $return: {nested}}}");
    }
    all.push(project("loops/for-each", &format!("  a: {nested}\n"), Ends::Limit));
    let flat = "{$forEach: \"${range(1, 1000)}\", $return: {$concat: {$forEach: \"${range(1, 1000)}\", $return: {$concat: \"${range(1, 1000)}\"}}}}";
    all.push(project("loops/for-each-concat", &format!("  a: {flat}\n"), Ends::Limit));
    // Aliases in the result of each round.
    let body =
        "{a: &a [x, x], b: &b [*a, *a, *a, *a], c: &c [*b, *b, *b, *b], d: &d [*c, *c, *c, *c], e: [*d, *d, *d, *d]}";
    let each = format!("  a: {{$forEach: \"${{range(1, 900000)}}\", $return: {body}}}\n");
    all.push(project("loops/for-each-aliases", &each, Ends::Limit));
    // As many unknown names as known ones, each similar to a known one.
    let names: String = (0..100_000).map(|at| format!("  name{at}: ${{var.name{at}x}}\n")).collect();
    all.push(project("names/unknown", &names, Ends::Answered));
    // As many names of missing files as there are files.
    for (name, action) in [
        ("sources", "---\nkind: Build\ntype: exec\nname: b#\nsource: {path: s#}\nspec: {command: [a]}\n"),
        ("dockerfiles", "---\nkind: Build\ntype: container\nname: b#\nspec: {dockerfile: d#}\n"),
        ("manifests", "---\nkind: Deploy\ntype: kubernetes\nname: b#\nspec: {manifestFiles: ['m#*.yaml']}\n"),
        ("includes", "---\nkind: Run\ntype: exec\nname: b#\ninclude: ['i#*']\nspec: {command: [a]}\n"),
    ] {
        let actions: String = (0..3_000).map(|at| action.replace('#', &at.to_string())).collect();
        let input = project(&format!("names/{name}"), KUBERNETES, Ends::Answered).file("a.garden.yml", &*actions);
        all.push(crowded(input));
        let input = project(&format!("names/{name}-checked"), KUBERNETES, Ends::Answered).file("a.garden.yml", actions);
        all.push(crowded(Input { args: vec!["check".to_owned()], ..input }));
    }
    let blank = format!("{PROJECT}  a: 1\n{}", "\n".repeat(15_000_000));
    all.push(
        Input::new("garden/fmt/blank", "fmt --check project.garden.yml", Ends::Answered)
            .file("project.garden.yml", blank),
    );
    let lines = format!("{PROJECT}  a: x\n{}", "   x\n".repeat(3_000_000));
    all.push(
        Input::new("garden/fmt/lines", "fmt --check project.garden.yml", Ends::Answered)
            .file("project.garden.yml", lines),
    );
    let texts = [
        ("join-indent", "${join(range(1,1000000), indent('x', 16000000))}", "x", 1),
        ("replace", "${replace(IT, 'x', IT)}", &"x".repeat(5_000), 8),
        ("double", "${IT}${IT}", "xxxxxxxx", 60),
        ("plus", "${IT + IT}", "xxxxxxxx", 60),
        ("concat", "${concat(IT, IT)}", "xxxxxxxx", 60),
        ("json", "${jsonEncode(IT)}", "'\"\\\\'", 60),
        ("yaml", "${yamlEncode([IT, IT])}", "x", 60),
        ("base64", "${base64Encode(IT)}", &"x".repeat(1_000), 60),
        ("upper-many", "${upper(IT)}", &"x".repeat(1_000_000), 200),
        ("split", "${split(IT, '')}", &"x".repeat(5_000_000), 1),
        ("split-many", "${join(split(IT, 'x'), 'xyxyxy')}", &"x".repeat(50_000), 12),
        ("indent", "${indent(IT, 1000000)}", "x", 40),
        ("range", "${range(1, 100000000)}", "x", 1),
        ("ranges", "${[range(1, 900000), range(1, 900000), IT]}", "x", 100),
        ("decode", "${yamlDecode('[' + jsonEncode(IT) + ',' + jsonEncode(IT) + ']')}", "x", 40),
    ];
    for (name, expression, start, rounds) in texts {
        let ends = if name == "upper-many" || name == "split" { Ends::Answered } else { Ends::Limit };
        all.push(project(&format!("text/{name}"), &grown(start, expression, rounds), ends));
    }
    // Many secret texts, and problems that could show each.
    let wrong: String = (0..60).map(|at| format!("  w{at}: \"${{nothing{at}}}\"\n")).collect();
    let secrets = "  s: {$forEach: '${range(1, 100000)}', $return: '${secrets.A}-${item.value}'}\n  j: \"${jsonEncode(var.s)}\"\n";
    let imports = "importVariables: [{from: file, path: s.env, format: dotenv}]\n";
    let project_file = PROJECT.replace("variables:\n", &format!("{imports}variables:\n"));
    all.push(
        Input::new("garden/secrets/many", "resolve", Ends::Answered)
            .file("project.garden.yml", format!("{project_file}{secrets}{wrong}"))
            .file("s.env", "A=hunter2hunter2\n"),
    );
    // A pattern that scans the whole text for every match.
    let excluded = "kind: Run\ntype: exec\nname: r\nversion: {excludeValues: ['[^b]*b|a']}\nspec: {command: [\"${join(range(1, 99999), 'aaa')}\"]}\n";
    all.push(project("regex/excluded", "  a: 1\n", Ends::Answered).file("a.garden.yml", excluded));
    let many: String = (0..300).map(|at| format!("  s{at}: \"${{indent('x', 16000000)}}\"\n")).collect();
    all.push(project("text/many-large", &many, Ends::Limit));
    let many: String = (0..300).map(|at| format!("  s{at}: \"${{var.one + '{at}'}}\"\n")).collect();
    let many = format!("  one: \"${{indent('x', 16000000)}}\"\n{many}");
    all.push(project("text/many-large-made", &many, Ends::Limit));
    let chain: String = (1..20_000).map(|at| format!("  c{at}: \"${{var.c{}}}\"\n", at - 1)).collect();
    all.push(project("chain/variables", &format!("  c0: x\n{chain}  last: \"${{var.c19999}}\"\n"), Ends::Answered));
    let parens = format!("  a: \"${{{}1{}}}\"\n", "(".repeat(50_000), ")".repeat(50_000));
    all.push(project("deep/expression", &parens, Ends::Limit));
    let actions: String = (0..15_000)
        .map(|at| format!("---\nkind: Run\ntype: exec\nname: r{at}\nspec: {{command: [\"${{project.name}}\"]}}\n"))
        .collect();
    let input = Input::new("garden/fuel/actions", "check --limit fuel=1", Ends::Limit);
    all.push(input.file("project.garden.yml", PROJECT.replace("variables:\n", "")).file("a.garden.yml", actions));
    all
}
