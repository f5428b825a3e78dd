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
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(["check", "web.yaml", "--policy", "policy", "--diagnostics", "github"]).current_dir(&self.0);
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

#[test]
fn hostile_policies_end() {
    // 16 bytes, sixteen times as long with each line: 4 GiB.
    let double = |to: char, from: char| {
        let all = vec![from.to_string(); 16].join(",");
        format!("{to} := concat(\"\", [{all}])")
    };
    let lines: Vec<String> = "abcdefg".chars().zip("bcdefgh".chars()).map(|(from, to)| double(to, from)).collect();
    let large = format!("a := \"xxxxxxxxxxxxxxxx\"\n{}\ndeny contains \"x\" if count(h) > 3", lines.join("\n"));
    let deep = "f(x) := f(x + 1)\ndeny contains \"x\" if f(1) == 2".to_owned();
    let long = "deny contains \"x\" if { some a in numbers.range(1, 90000); some b in numbers.range(1, 90000); a == b + 900000 }";
    let lists =
        "deny contains \"x\" if count([1 | some a in numbers.range(1, 9000); some b in numbers.range(1, 9000)]) == 3";
    for (name, policy) in [("large", large), ("deep", deep), ("long", long.to_owned()), ("lists", lists.to_owned())] {
        let (code, said) = Project::new(name, &policy).check();
        assert!(code == Some(3) && said.contains("title=limit-policy::"), "{name}: {code:?} {said}");
    }
}
