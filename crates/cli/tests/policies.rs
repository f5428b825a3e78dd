//! Policies with the program itself, whose allocator differs from that of tests: the evaluator has enough memory for
//! usual policies, and hostile ones end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::process::Command;

/// A folder with an object and a policy; removed at the end.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, policy: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-policies-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("policy")).unwrap();
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\ndata: { a: b }\n";
        std::fs::write(folder.join("web.yaml"), object).unwrap();
        std::fs::write(folder.join("policy/deny.rego"), format!("package main\n{policy}\n")).unwrap();
        Project(folder)
    }

    fn check(&self) -> (Option<i32>, String) {
        self.run(&["--policy", "policy"])
    }

    /// The same with policies of the settings, each with one key.
    fn settings(&self, policies: &[(&str, &str)]) -> (Option<i32>, String) {
        let policy = |(key, value): &(&str, &str)| format!("[[policy]]\n{key} = '{value}'\n");
        std::fs::write(self.0.join("purlin.toml"), policies.iter().map(policy).collect::<String>()).unwrap();
        self.run(&[])
    }

    fn run(&self, more: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(["check", "web.yaml", "--diagnostics", "github"]).args(more).current_dir(&self.0);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_policy_is_evaluated() {
    let project = Project::new("plain", "deny contains msg if msg := sprintf(\"%s\", [input.data.a])");
    let (code, said) = project.check();
    assert!(code == Some(1) && said.contains("title=policy::") && said.contains("line=4"), "{code:?} {said}");
}

/// 16 bytes, sixteen times as long with each line: 4 GiB.
fn doubling() -> String {
    let longer = |to: char, from: char| {
        let all = vec![from.to_string(); 16].join(",");
        format!("{to} := concat(\"\", [{all}])")
    };
    let lines: Vec<String> = "abcdefg".chars().zip("bcdefgh".chars()).map(|(from, to)| longer(to, from)).collect();
    format!("a := \"xxxxxxxxxxxxxxxx\"\n{}\ndeny contains \"x\" if count(h) > 3", lines.join("\n"))
}

/// Policies that would take all time or memory, by what they do.
fn hostile() -> Vec<(&'static str, String)> {
    let deny = |condition: &str| format!("deny contains \"x\" if {condition}");
    let nested = |open: &str, close: &str| format!("deny contains {}1{}", open.repeat(20_000), close.repeat(20_000));
    let many = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
    let chain: Vec<String> = "abcdefgh".chars().map(|name| format!("some {name} in {many}")).collect();
    let replaced = format!("count(replace(\"{}\", \"x\", \"{}\")) == 3", "x".repeat(60_000), "y".repeat(60_000));
    vec![
        ("large", doubling()),
        ("deep", format!("f(x) := f(x + 1)\n{}", deny("f(1) == 2"))),
        ("pair", format!("f(x) := g(x + 1)\ng(x) := f(x + 1)\n{}", deny("f(1) == 2"))),
        ("long", deny("{ some a in numbers.range(1, 90000); some b in numbers.range(1, 90000); a == b + 900000 }")),
        ("lists", deny("count([1 | some a in numbers.range(1, 9000); some b in numbers.range(1, 9000)]) == 3")),
        ("sets", deny("count({[a, b] | some a in numbers.range(1, 9000); some b in numbers.range(1, 9000)}) == 3")),
        ("range", deny("count(numbers.range(1, 1000000000000)) == 3")),
        ("steps", deny("count(numbers.range_step(1, 1000000000000, 1)) == 3")),
        ("exponential", deny(&format!("{{ {}; a + h == 0 }}", chain.join("; ")))),
        ("width", deny("count(sprintf(\"%1000000000d\", [1])) == 3")),
        ("replace", deny(&replaced)),
        ("nested lists", nested("[", "]")),
        ("nested parentheses", nested("(", ")")),
        ("nested comprehensions", nested("[1 | ", "]")),
    ]
}

/// Whether a run ended with a limit, or with a policy that cannot be used.
fn is_ended(code: Option<i32>, said: &str) -> bool {
    let is_limit = code == Some(3) && said.contains("title=limit-policy::");
    is_limit || code == Some(1) && said.contains("title=policy-file::")
}

#[test]
fn hostile_policies_end() {
    for (name, policy) in hostile() {
        let (code, said) = Project::new(name, &policy).check();
        assert!(is_ended(code, &said), "{name}: {code:?} {said}");
    }
}

#[test]
fn hostile_assertions_end() {
    let many: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let many = format!("[{}]", many.join(","));
    let loops: String = (0..8).map(|level| format!("{many}.all(v{level}, ")).collect();
    let sixteen = |name: &str| vec![name; 16].join(" + ");
    let grown = |start: &str| {
        (0..8).fold(start.to_owned(), |text, level| {
            let name = format!("v{level}");
            format!("[{text}].map({name}, {})[0]", sixteen(&name))
        })
    };
    let cases = [
        ("loops", format!("{loops}1 == 1{}", ")".repeat(8))),
        ("strings", format!("size({}) == 1", grown("object.data.a"))),
        ("lists", format!("size({}) == 1", grown("[1, 2]"))),
        ("parentheses", format!("{}1{} == 2", "(".repeat(20_000), ")".repeat(20_000))),
        ("nested lists", format!("{}1{} == 2", "[".repeat(20_000), "]".repeat(20_000))),
        ("conditions", format!("{}false", "true ? true : ".repeat(20_000))),
        ("sums", format!("{}1 == 0", "1 + ".repeat(100_000))),
    ];
    for (name, assert) in cases {
        let (code, said) = Project::new(&format!("cel-{name}"), "").settings(&[("assert", &assert)]);
        assert!(is_ended(code, &said), "{name}: {code:?} {said}");
    }
}

#[test]
fn policies_after_a_hostile_one_are_evaluated() {
    let project = Project::new("after", &doubling());
    let (_, said) = project.settings(&[("path", "policy"), ("assert", "object.data.a == \"c\"")]);
    assert!(said.contains("title=limit-policy::") && said.contains("title=policy::"), "{said}");
}
