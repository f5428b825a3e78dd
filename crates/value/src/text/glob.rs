//! Patterns for names and paths: `*`, `?`, `[a-z]`, `**` and braces, in the notations of common tools.
//!
//! Pure functions on texts. Paths are relative, with `/` between their parts. A notation is a set of flags for one
//! matcher. The matcher only ever backtracks to the last star of each kind, so its cost stays below the product of
//! both lengths.

/// Meaning of the special characters of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    /// The meaning of `{a,b}`.
    pub braces: Braces,
    /// Whether `\` escapes the next character.
    pub escapes: bool,
    /// Whether `?` and `[…]` are special.
    pub signs: bool,
    /// Whether `*`, `?` and `[…]` stop at a slash.
    pub stops_at_slash: bool,
    /// The meaning of `**`.
    pub double: Double,
    /// Characters that negate a class.
    pub negation: &'static [char],
    /// Whether an unclosed bracket makes the pattern invalid; otherwise it is literal.
    pub strict: bool,
}

/// Meaning of braces in a notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Braces {
    /// Literal.
    Plain,
    /// Several patterns, if there is a comma.
    Several,
    /// One or several patterns; unbalanced braces make the pattern invalid.
    Always,
}

/// Meaning of `**` in a notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Double {
    /// Like `*`.
    Star,
    /// As a whole part: any number of folders; at the end: everything in them.
    Folders,
    /// Anywhere: any text, including slashes.
    Anything,
}

impl Notation {
    /// Paths as in shells with `**` and braces: Garden, Skaffold.
    pub(crate) const PATHS: Notation = Notation {
        braces: Braces::Several,
        escapes: true,
        signs: true,
        stops_at_slash: true,
        double: Double::Folders,
        negation: &['!', '^'],
        strict: false,
    };
    /// Ignore files of git: the same without braces.
    pub const GIT: Notation = Notation { braces: Braces::Plain, ..Notation::PATHS };
    /// `filepath.Match` of Go.
    pub const GO: Notation =
        Notation { braces: Braces::Plain, double: Double::Star, negation: &['^'], strict: true, ..Notation::PATHS };
    /// `.Files.Glob` of charts.
    pub const CHART_FILES: Notation = Notation {
        braces: Braces::Always,
        double: Double::Anything,
        negation: &['!'],
        strict: true,
        ..Notation::PATHS
    };
    /// `fnmatch` of Python.
    pub const PYTHON: Notation = Notation {
        braces: Braces::Plain,
        escapes: false,
        stops_at_slash: false,
        double: Double::Star,
        negation: &['!'],
        ..Notation::PATHS
    };
    /// Names in which `*` matches any text.
    pub const NAMES: Notation = Notation { signs: false, ..Notation::PYTHON };
}

/// One pattern, braces expanded.
#[derive(Clone, Debug)]
pub struct Glob {
    alternatives: Vec<Alternative>,
    stops_at_slash: bool,
}

#[derive(Clone, Debug)]
struct Alternative {
    tokens: Vec<Token>,
    /// The pattern itself, if it has no special characters.
    plain: Option<String>,
}

#[derive(Clone, Debug)]
enum Token {
    Char(char),
    One,
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// Any text.
    Star,
    /// Any text, including slashes.
    Anything,
    /// Any number of folders, each with its slash.
    Folders,
    /// The rest, not empty.
    Rest,
}

/// Maximum number of patterns that braces may expand to.
const MAX_ALTERNATIVES: usize = 1_000;

impl Glob {
    /// A pattern for paths, [`Notation::PATHS`].
    pub fn new(pattern: &str) -> Self {
        Self::read(pattern, Notation::PATHS).unwrap_or(Glob { alternatives: Vec::new(), stops_at_slash: true })
    }

    /// A pattern in a notation; `None` if it is invalid.
    pub fn read(pattern: &str, notation: Notation) -> Option<Self> {
        let texts = match notation.braces {
            Braces::Plain => vec![pattern.to_owned()],
            Braces::Several => alternatives(pattern),
            Braces::Always => expanded(pattern, 1)?,
        };
        let alternatives = texts.iter().map(|text| Alternative::read(text, notation)).collect::<Option<_>>()?;
        Some(Glob { alternatives, stops_at_slash: notation.stops_at_slash })
    }

    /// Whether the whole path matches.
    pub fn matches(&self, path: &str) -> bool {
        self.alternatives.iter().any(|pattern| pattern.matches(path, self.stops_at_slash))
    }

    /// The texts of which one begins every path that is [covered](Glob::covers); empty where nothing is fixed.
    pub fn fixed_starts(&self) -> impl Iterator<Item = String> {
        let fixed = |token: &Token| if let Token::Char(c) = token { Some(*c) } else { None };
        self.alternatives.iter().map(move |pattern| pattern.tokens.iter().map_while(fixed).collect())
    }

    /// Whether the path matches, or is in a directory that the pattern names without any wildcard.
    pub fn covers(&self, path: &str) -> bool {
        let is_inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let covers = |pattern: &Alternative| {
            pattern.matches(path, self.stops_at_slash) || pattern.plain.as_deref().is_some_and(is_inside)
        };
        self.alternatives.iter().any(covers)
    }
}

impl Alternative {
    fn read(text: &str, notation: Notation) -> Option<Self> {
        let text = if notation.double == Double::Folders { text.trim_start_matches("./") } else { text };
        let tokens = tokens(text, notation)?;
        let plain = tokens.iter().map(|token| if let Token::Char(c) = token { Some(*c) } else { None }).collect();
        Some(Alternative { tokens, plain })
    }

    fn matches(&self, path: &str, stops_at_slash: bool) -> bool {
        match &self.plain {
            Some(plain) => plain == path,
            None => fits(&self.tokens, path, stops_at_slash),
        }
    }
}

/// The expansion of a pattern with braces. Braces without a comma or an end are literal.
pub fn alternatives(pattern: &str) -> Vec<String> {
    expanded(pattern, 2).unwrap_or_default()
}

/// The same for braces with at least `least` parts. With `least` of one, braces must be balanced: if they are not, or
/// if the expansion is too large, the result is `None`.
fn expanded(pattern: &str, least: usize) -> Option<Vec<String>> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        match split_braces(&pattern, least) {
            Some(parts) if done.len() + open.len() + parts.len() <= MAX_ALTERNATIVES => {
                open.extend(parts.into_iter().rev());
            }
            None if least > 1 || !is_unpaired(&pattern) => done.push(pattern),
            Some(_) if least > 1 => done.push(pattern),
            _ => return None,
        }
    }
    Some(done)
}

/// Whether an unescaped opening brace is left.
fn is_unpaired(pattern: &str) -> bool {
    pattern.replace("\\\\", "").replace("\\{", "").contains('{')
}

/// The alternatives of the first `{a,b}` of a pattern with at least `least` parts, expanded.
fn split_braces(pattern: &str, least: usize) -> Option<Vec<String>> {
    let (mut depth, mut marks, mut is_escaped) = (0u32, Vec::new(), false);
    for (at, c) in pattern.char_indices() {
        match c {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' => is_escaped = true,
            '{' => {
                depth += 1;
                if depth == 1 {
                    marks = vec![at];
                }
            }
            ',' if depth == 1 => marks.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 && marks.len() >= least {
                    marks.push(at);
                    return written_out(pattern, &marks);
                }
            }
            _ => {}
        }
    }
    None
}

/// The texts between the marks, each with the text around the braces.
fn written_out(pattern: &str, marks: &[usize]) -> Option<Vec<String>> {
    let before = pattern.get(..*marks.first()?)?;
    let after = pattern.get(marks.last()? + 1..)?;
    let inside = marks.iter().zip(marks.iter().skip(1)).filter_map(|(&from, &to)| pattern.get(from + 1..to));
    Some(inside.map(|inside| format!("{before}{inside}{after}")).collect())
}

fn tokens(text: &str, notation: Notation) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_part_start = matches!(out.last(), None | Some(Token::Char('/') | Token::Folders));
        rest = rest.get(c.len_utf8()..)?;
        let token = match c {
            '*' if rest.starts_with('*') && notation.double != Double::Star => {
                let behind = rest.get(1..)?;
                match (notation.double, behind.strip_prefix('/')) {
                    (Double::Anything, _) => {
                        rest = behind;
                        Token::Anything
                    }
                    (_, Some(behind)) if is_part_start => {
                        rest = behind;
                        Token::Folders
                    }
                    (_, None) if is_part_start && behind.is_empty() => {
                        rest = behind;
                        Token::Rest
                    }
                    _ => Token::Star,
                }
            }
            '*' => Token::Star,
            '?' if notation.signs => Token::One,
            '\\' if notation.escapes => match rest.chars().next() {
                Some(next) => {
                    rest = rest.get(next.len_utf8()..)?;
                    Token::Char(next)
                }
                None if notation.strict => return None,
                None => Token::Char('\\'),
            },
            '[' if notation.signs => match class(rest, notation) {
                Some((class, behind)) => {
                    rest = behind;
                    class
                }
                None if notation.strict => return None,
                None => Token::Char('['),
            },
            plain => Token::Char(plain),
        };
        out.push(token);
    }
    Some(out)
}

/// `a-z]` or `!a-z]`, and the rest after it. The first character belongs to the class even if it is the closing
/// bracket.
fn class(inside: &str, notation: Notation) -> Option<(Token, &str)> {
    let (is_negated, inside) = inside.strip_prefix(notation.negation).map_or((false, inside), |rest| (true, rest));
    let mut ranges = Vec::new();
    let mut rest = inside;
    loop {
        let low = rest.chars().next()?;
        if low == ']' && !ranges.is_empty() {
            return Some((Token::Class { is_negated, ranges }, rest.get(1..)?));
        }
        rest = rest.get(low.len_utf8()..)?;
        let high = rest.strip_prefix('-').and_then(|behind| behind.chars().next()).filter(|high| *high != ']');
        if let Some(high) = high {
            rest = rest.get(1 + high.len_utf8()..)?;
        }
        ranges.push((low, high.unwrap_or(low)));
    }
}

/// Where to continue when a later token does not match: the token after a star, and the text that the star has not
/// consumed.
#[derive(Clone, Copy)]
struct Retry<'t> {
    token: usize,
    text: &'t str,
    is_folders: bool,
}

impl<'t> Retry<'t> {
    /// The same star after consuming more of the text.
    fn further(self, stops_at: Option<char>) -> Option<Retry<'t>> {
        let next = self.text.chars().next().filter(|c| Some(*c) != stops_at)?;
        let taken = if self.is_folders { self.text.find('/')? + 1 } else { next.len_utf8() };
        Some(Retry { text: self.text.get(taken..)?, ..self })
    }
}

/// Whether tokens match a whole text.
fn fits(tokens: &[Token], mut text: &str, stops_at_slash: bool) -> bool {
    let slash = stops_at_slash.then_some('/');
    let (mut at, mut star, mut wide) = (0, None::<Retry<'_>>, None::<Retry<'_>>);
    loop {
        let here = Retry { token: at + 1, text, is_folders: matches!(tokens.get(at), Some(Token::Folders)) };
        let next = text.chars().next();
        match (tokens.get(at), next) {
            (None, None) => return true,
            (Some(Token::Star), _) => {
                star = Some(here);
                at += 1;
                continue;
            }
            (Some(Token::Anything | Token::Folders), _) => {
                (star, wide) = (None, Some(here));
                at += 1;
                continue;
            }
            (Some(Token::Rest), Some(_)) => return true,
            (Some(token), Some(c)) if token.takes(c, slash) => {
                text = text.get(c.len_utf8()..).unwrap_or("");
                at += 1;
                continue;
            }
            _ => {}
        }
        let again = star.and_then(|star| star.further(slash));
        let again = match again {
            Some(_) => {
                star = again;
                again
            }
            None => {
                (star, wide) = (None, wide.and_then(|wide| wide.further(None)));
                wide
            }
        };
        let Some(again) = again else { return false };
        (at, text) = (again.token, again.text);
    }
}

impl Token {
    /// Whether it matches one character.
    fn takes(&self, c: char, slash: Option<char>) -> bool {
        match self {
            Token::Char(wanted) => *wanted == c,
            Token::One => Some(c) != slash,
            Token::Class { is_negated, ranges } => {
                let is_in = ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                is_in != *is_negated && Some(c) != slash
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn whole_paths() {
        for (pattern, path, expect) in [
            ("*.yml", "a.yml", true),
            ("*.yml", "b/a.yml", false),
            ("**/*.yml", "a.yml", true),
            ("**/*.yml", "b/c/a.yml", true),
            ("a/**/b/**/c", "a/b/x/b/y/c", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "axb", false),
            ("src/**/*", "src/a/b", true),
            ("src/**", "src", false),
            ("src/**", "src/a/b", true),
            ("**", "a", true),
            ("a**b", "axxb", true),
            ("a**b", "ax/xb", false),
            ("{a,b}/[x-z]?", "b/y1", true),
            ("{a,b}/[!x-z]?", "b/y1", false),
            ("{a,b/{c,d}}", "b/d", true),
            ("{a}", "{a}", true),
            ("\\{a,b}", "{a,b}", true),
            ("a*b*c", "axxbyyc", true),
            ("?.yml", "ä.yml", true),
            ("[ä-ö].yml", "ä.yml", true),
            ("[", "[", true),
            ("[]a]", "]", true),
            ("./a", "a", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), expect, "{pattern} {path}");
        }
        assert!(Glob::new("dir").covers("dir/sub/file"));
        assert!(!Glob::new("dir").covers("directory"));
        assert!(!Glob::new("*").covers("dir/sub/file"));
    }

    #[test]
    fn notations_differ() {
        let verdict = |pattern, text, notation| Glob::read(pattern, notation).map(|glob| glob.matches(text));
        for (pattern, text, notation, expect) in [
            ("a**", "a/b", Notation::GO, Some(false)),
            ("[", "[", Notation::GO, None),
            ("[!a]", "b", Notation::GO, Some(false)),
            ("[^a]", "b", Notation::GO, Some(true)),
            ("[^a]", "/", Notation::GO, Some(false)),
            ("a\\*", "a*", Notation::GO, Some(true)),
            ("{a,b}", "{a,b}", Notation::GO, Some(true)),
            ("conf**", "conf/a/b", Notation::CHART_FILES, Some(true)),
            ("conf/*", "conf/a/b", Notation::CHART_FILES, Some(false)),
            ("*.{a,b}", "x.b", Notation::CHART_FILES, Some(true)),
            ("{a}", "a", Notation::CHART_FILES, Some(true)),
            ("{a,{b,c}d}", "cd", Notation::CHART_FILES, Some(true)),
            ("{a", "{a", Notation::CHART_FILES, None),
            ("\\{a", "{a", Notation::CHART_FILES, Some(true)),
            ("a*", "a/b", Notation::PYTHON, Some(true)),
            ("[!a]", "b", Notation::PYTHON, Some(true)),
            ("\\*", "\\x", Notation::PYTHON, Some(true)),
            ("a?", "ab", Notation::NAMES, Some(false)),
            ("*Compute", "tosca.nodes.Compute", Notation::NAMES, Some(true)),
            ("a*c*e", "abcde", Notation::NAMES, Some(true)),
            ("a*d", "abc", Notation::NAMES, Some(false)),
            ("{a,b}", "a", Notation::GIT, Some(false)),
        ] {
            assert_eq!(verdict(pattern, text, notation), expect, "{pattern} {text} {notation:?}");
        }
    }

    /// A matcher that tries everything, slow and simple, for comparison.
    fn tried(tokens: &[Token], text: &[char]) -> bool {
        let Some((first, rest)) = tokens.split_first() else { return text.is_empty() };
        let mut ends = 0..=text.len();
        match first {
            Token::Star => ends.any(|end| !text[..end].contains(&'/') && tried(rest, &text[end..])),
            Token::Anything => ends.any(|end| tried(rest, &text[end..])),
            Token::Folders => {
                ends.any(|end| (end == 0 || text.get(end - 1) == Some(&'/')) && tried(rest, &text[end..]))
            }
            Token::Rest => !text.is_empty(),
            token => text.first().is_some_and(|c| token.takes(*c, Some('/'))) && tried(rest, &text[1..]),
        }
    }

    #[test]
    fn going_back_to_the_last_star_is_enough() {
        let (mut seed, mut fitting) = (7u64, 0);
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..60_000 {
            let pattern: String =
                (0..next(9)).map(|_| ["a", "b", "/", "*", "?", "**/", "**", "[ab]"][next(8) as usize]).collect();
            let text: String = (0..next(9)).map(|_| ["a", "b", "/", "ab"][next(4) as usize]).collect();
            for notation in [Notation::PATHS, Notation::CHART_FILES] {
                let tokens = tokens(&pattern, notation).unwrap();
                let letters: Vec<char> = text.chars().collect();
                let expect = tried(&tokens, &letters);
                fitting += usize::from(expect);
                assert_eq!(fits(&tokens, &text, true), expect, "{pattern} {text} {tokens:?}");
            }
        }
        assert!(fitting > 1_000, "{fitting}");
    }
}
