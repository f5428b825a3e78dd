//! Inputs too large for a page of the suite: each is generated and refused with a rule that names its limit.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_suite::{Ran, environment, run};
use std::path::PathBuf;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-large-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn purlin(&self, words: &[&str]) -> Ran {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        run(&words, &self.0, &environment(""))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One byte more than an expression may have.
fn too_many_digits() -> String {
    "1".repeat(purlin_syntax::limits::EXPRESSION_BYTES + 1)
}

#[test]
fn a_long_garden_expression_is_a_limit() {
    let project = format!(
        "apiVersion: garden.io/v2\nkind: Project\nname: demo\nenvironments: [{{name: local}}]\n\
         variables:\n  all: \"x ${{join(['{}'], '')}}\"\n",
        too_many_digits()
    );
    let folder = Folder::new("garden", &[("garden.yml", &project)]);
    let ran = folder.purlin(&["resolve"]);
    assert!(ran.stderr.contains("error[limit-expression-size]: the expression is longer than 262144 bytes"));
    assert!(ran.stderr.contains(" --> garden.yml:6:11\n"), "{}", ran.stderr.chars().take(300).collect::<String>());
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 3));
}

#[test]
fn a_long_chart_expression_is_refused_where_it_starts() {
    let template = format!("a: 1\nb: {{{{ print \"a\" {} }}}}\n", "\"x\" ".repeat(100_000));
    let chart = "apiVersion: v2\nname: demo\nversion: 1.0.0\n";
    let folder = Folder::new("chart", &[("Chart.yaml", chart), ("templates/a.yaml", &template)]);
    let ran = folder.purlin(&["render"]);
    assert!(
        ran.stderr.contains("action is longer than 262144 bytes"),
        "{}",
        ran.stderr.chars().take(300).collect::<String>()
    );
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 1));
}
