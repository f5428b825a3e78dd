//! `.helmignore`: which files of a folder are no part of the chart.

use purlin_value::glob::{Glob, Notation};

/// The rules of one `.helmignore`, with the built-in one.
#[derive(Debug, Default)]
pub struct Ignore {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// An invalid pattern matches nothing.
    glob: Option<Glob>,
    negated: bool,
    only_folders: bool,
    whole_path: bool,
}

impl Ignore {
    /// Reads the rules; the error is for an invalid pattern.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rules = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Dot files directly in templates/ are never part of a chart.
        for line in text.lines().chain(["templates/.?*"]) {
            if let Some(rule) = Rule::parse(line.trim())? {
                rules.push(rule);
            }
        }
        Ok(Self { rules })
    }

    /// Whether a path is ignored.
    pub fn ignores(&self, path: &str, is_folder: bool) -> bool {
        if path.is_empty() || path == "." || path == "./" {
            return false;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        for rule in &self.rules {
            let matched = rule.matches(path, name);
            // As in the original, a path that a negated rule does not name is left out at once.
            if rule.negated {
                if rule.only_folders && !is_folder {
                    return true;
                }
                if !matched {
                    return true;
                }
                continue;
            }
            if rule.only_folders && !is_folder {
                continue;
            }
            if matched {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.contains("**") {
            return Err("double-star (**) syntax is not supported".to_owned());
        }
        let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (only_folders, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let rooted = line.strip_prefix('/');
        let whole_path = rooted.is_some() || line.contains('/');
        let glob = Glob::read(rooted.unwrap_or(line), Notation::GO);
        Ok(Some(Self { glob, negated, only_folders, whole_path }))
    }

    fn matches(&self, path: &str, name: &str) -> bool {
        let named = if self.whole_path { path } else { name };
        self.glob.as_ref().is_some_and(|glob| glob.matches(named))
    }
}
