//! The page, which is part of the program: a document, a style, and modules. There is no build step; a report contains
//! the same modules in one script, since browsers load no modules from disk.

/// The document as the server sends it.
const INDEX: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/page.css");

/// The modules, each after those that it imports.
const MODULES: &[(&str, &str)] = &[
    ("dom.js", include_str!("../page/dom.js")),
    ("source.js", include_str!("../page/source.js")),
    ("state.js", include_str!("../page/state.js")),
    ("canvas.js", include_str!("../page/canvas.js")),
    ("graph.js", include_str!("../page/graph.js")),
    ("why.js", include_str!("../page/why.js")),
    ("node.js", include_str!("../page/node.js")),
    ("compare.js", include_str!("../page/compare.js")),
    ("problems.js", include_str!("../page/problems.js")),
    ("main.js", include_str!("../page/main.js")),
];

const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";

/// A part of the page by its path: its media type and its text.
pub(crate) fn page(path: &str) -> Option<(&'static str, &'static str)> {
    match path {
        "/" => Some(("text/html; charset=utf-8", INDEX)),
        "/page/page.css" => Some(("text/css; charset=utf-8", STYLE)),
        path => {
            let name = path.strip_prefix("/page/")?;
            MODULES.iter().find(|(known, _)| *known == name).map(|(_, text)| (SCRIPT_TYPE, *text))
        }
    }
}

/// The style.
pub(crate) fn style() -> &'static str {
    STYLE
}

/// All modules as one script: imports are removed, since everything is in one scope.
pub(crate) fn script() -> String {
    let mut out = String::from("\"use strict\";\n");
    for (_, text) in MODULES {
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            out.push_str(line.strip_prefix("export ").unwrap_or(line));
            out.push('\n');
        }
    }
    out
}

/// The document with other elements in the place of style and script.
pub(crate) fn document(style: &str, script: &str) -> String {
    INDEX
        .replace("<link rel=\"stylesheet\" href=\"/page/page.css\">", style)
        .replace("<script type=\"module\" src=\"/page/main.js\"></script>", script)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn modules_can_be_one_script() {
        let mut known: HashSet<&str> = HashSet::new();
        for (name, text) in MODULES {
            for line in text.lines() {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                for word in ["function ", "const ", "let ", "class "] {
                    if let Some(rest) = line.strip_prefix(word) {
                        let declared = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                        assert!(
                            declared.is_empty() || known.insert(declared),
                            "{name}: `{declared}` is declared twice"
                        );
                    }
                }
                if line.starts_with("import ") {
                    let from = line.rsplit('\'').nth(1).unwrap().trim_start_matches("./");
                    assert!(line.ends_with("';"), "{name}: an import is one line");
                    let own = MODULES.iter().position(|(known, _)| known == name).unwrap();
                    let other = MODULES.iter().position(|(known, _)| *known == from).unwrap();
                    assert!(other < own, "{name} is before {from}, which it imports");
                }
            }
        }
    }

    #[test]
    fn the_document_runs_nothing_of_its_own() {
        assert!(document("A", "B").contains('A') && !document("A", "B").contains("/page/"));
        for forbidden in ["style=", "onclick", "javascript:", "<script>"] {
            assert!(!INDEX.contains(forbidden), "{forbidden}");
        }
        for (name, text) in MODULES {
            for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
            {
                assert!(!text.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
