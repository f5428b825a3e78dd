//! `.helmignore`: which files of a folder are no part of the chart.

/// The rules of one `.helmignore`, with the built-in one.
#[derive(Debug, Default)]
pub struct Ignore {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    pattern: Vec<char>,
    negated: bool,
    only_folders: bool,
    whole_path: bool,
}

impl Ignore {
    /// Reads the rules; the message is for a pattern that cannot be read.
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

    /// Whether a path is left out.
    pub fn ignores(&self, path: &str, is_folder: bool) -> bool {
        if path.is_empty() || path == "." || path == "./" {
            return false;
        }
        for rule in &self.rules {
            let matched = rule.matches(path);
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
        let pattern: Vec<char> = rooted.unwrap_or(line).chars().collect();
        Ok(Some(Self { pattern, negated, only_folders, whole_path }))
    }

    fn matches(&self, path: &str) -> bool {
        let name = if self.whole_path { path } else { path.rsplit('/').next().unwrap_or(path) };
        let name: Vec<char> = name.chars().collect();
        glob(&self.pattern, &name)
    }
}

/// Go's `filepath.Match`: `*` and `?` stop at `/`, `[…]` with ranges and `^`.
pub fn glob_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    glob(&pattern, &name)
}

/// Takes at most the product of both lengths: only the last star is ever tried again.
fn glob(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some(_) if n < name.len() => one(pattern, p, name.get(n).copied().unwrap_or('/')),
            None if n == name.len() => return true,
            _ => None,
        };
        if let Some(next) = step {
            p = next;
            n += 1;
            continue;
        }
        match star {
            Some((at, from)) if from < name.len() && name.get(from) != Some(&'/') => {
                star = Some((at, from + 1));
                p = at + 1;
                n = from + 1;
            }
            _ => return false,
        }
    }
}

/// Matches one character; gives the place behind the pattern's element.
fn one(pattern: &[char], at: usize, ch: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => (ch != '/').then_some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&ch)).then_some(at + 2),
        '[' => {
            let close = at + 2 + pattern.get(at + 2..)?.iter().position(|c| *c == ']')?;
            let negated = pattern.get(at + 1) == Some(&'^');
            let body = pattern.get(at + 1 + usize::from(negated)..close)?;
            let mut found = false;
            let mut i = 0;
            while let Some(low) = body.get(i) {
                if let (Some('-'), Some(high)) = (body.get(i + 1), body.get(i + 2)) {
                    found |= (*low..=*high).contains(&ch);
                    i += 3;
                } else {
                    found |= *low == ch;
                    i += 1;
                }
            }
            (found != negated && ch != '/').then_some(close + 1)
        }
        plain => (*plain == ch).then_some(at + 1),
    }
}
