//! `.helmignore`: which files of a folder are no part of the chart.

/// The rules of one `.helmignore`, with the built-in one.
#[derive(Debug, Default)]
pub struct Ignore {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    pattern: String,
    /// Whether the pattern is a plain name.
    plain: bool,
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
        let pattern = rooted.unwrap_or(line).to_owned();
        let plain = !pattern.contains(['*', '?', '[', '\\']);
        Ok(Some(Self { pattern, plain, negated, only_folders, whole_path }))
    }

    fn matches(&self, path: &str, name: &str) -> bool {
        let named = if self.whole_path { path } else { name };
        if self.plain { self.pattern == named } else { glob_match(&self.pattern, named) }
    }
}

/// Go's `filepath.Match`: `*` and `?` stop at `/`, `[…]` with ranges and `^`.
///
/// Takes at most the product of both lengths: only the last star is ever tried again.
pub fn glob_match(mut pattern: &str, mut name: &str) -> bool {
    // The pattern behind the last star, and what of the name it has not been tried on.
    let mut star: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix('*') {
            star = Some((rest, name));
            pattern = rest;
            continue;
        }
        let mut rest = name.chars();
        let step = match rest.next() {
            Some(ch) => one(pattern, ch),
            None if pattern.is_empty() => return true,
            None => None,
        };
        if let Some(next) = step {
            pattern = next;
            name = rest.as_str();
            continue;
        }
        let Some((behind, from)) = star else { return false };
        let mut further = from.chars();
        match further.next() {
            None | Some('/') => return false,
            Some(_) => {
                star = Some((behind, further.as_str()));
                pattern = behind;
                name = further.as_str();
            }
        }
    }
}

/// Matches one character; gives the pattern behind its first element.
fn one(pattern: &str, ch: char) -> Option<&str> {
    let mut rest = pattern.chars();
    match rest.next()? {
        '?' => (ch != '/').then_some(rest.as_str()),
        '\\' => (rest.next() == Some(ch)).then_some(rest.as_str()),
        '[' => {
            let inside = rest.as_str();
            // The first character of a class belongs to it even if it is the closing bracket.
            let first = inside.chars().next()?.len_utf8();
            let close = first + inside.get(first..)?.find(']')?;
            let (body, behind) = (inside.get(..close)?, inside.get(close + 1..)?);
            let (negated, body) = body.strip_prefix('^').map_or((false, body), |body| (true, body));
            (in_class(body, ch) != negated && ch != '/').then_some(behind)
        }
        plain => (plain == ch).then_some(rest.as_str()),
    }
}

/// Whether a character is one of a class: single characters and ranges.
fn in_class(body: &str, ch: char) -> bool {
    let mut rest = body;
    while let Some(low) = rest.chars().next() {
        rest = rest.get(low.len_utf8()..).unwrap_or_default();
        let high = rest.strip_prefix('-').and_then(|behind| Some((behind, behind.chars().next()?)));
        let Some((behind, high)) = high else {
            if low == ch {
                return true;
            }
            continue;
        };
        if (low..=high).contains(&ch) {
            return true;
        }
        rest = behind.get(high.len_utf8()..).unwrap_or_default();
    }
    false
}
