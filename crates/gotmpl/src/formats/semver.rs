//! Semantic versions, parsed loosely (`v1`, `1.2`), and the ranges in charts.

use std::cmp::Ordering;
use std::fmt;

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major, minor and patch number.
    pub numbers: [u64; 3],
    /// The part after `-`.
    pub pre: String,
    /// The part after `+`.
    pub meta: String,
    /// As it was written.
    pub original: String,
}

impl Version {
    /// Reads a version; a leading `v` and missing numbers are allowed.
    pub fn parse(text: &str) -> Option<Self> {
        let body = text.strip_prefix('v').unwrap_or(text);
        let (core, meta) = body.split_once('+').map_or((body, ""), |(core, meta)| (core, meta));
        let (core, pre) = core.split_once('-').map_or((core, ""), |(core, pre)| (core, pre));
        if body.contains('+') && !is_suffix(meta)
            || core.len() < body.len() && body.as_bytes().get(core.len()) == Some(&b'-') && !is_suffix(pre)
        {
            return None;
        }
        let mut numbers = [0; 3];
        let parts: Vec<&str> = core.split('.').collect();
        if parts.len() > 3 {
            return None;
        }
        for (place, part) in numbers.iter_mut().zip(&parts) {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            *place = part.parse().ok()?;
        }
        Some(Self { numbers, pre: pre.to_owned(), meta: meta.to_owned(), original: text.to_owned() })
    }

    /// Reads a version with all three numbers and no `v`.
    pub fn parse_strict(text: &str) -> Option<Self> {
        let core = text.split(['-', '+']).next()?;
        let strict = core.split('.').count() == 3
            && core.split('.').all(|part| part == "0" || !part.starts_with('0'))
            && !text.starts_with('v');
        if strict { Self::parse(text) } else { None }
    }

    /// The order of versions; build metadata is ignored.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| compare_pre(&self.pre, &other.pre))
    }

    fn number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or(0)
    }
}

fn is_suffix(text: &str) -> bool {
    !text.is_empty()
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.meta.is_empty() {
            write!(f, "+{}", self.meta)?;
        }
        Ok(())
    }
}

fn compare_pre(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        _ => {}
    }
    let (mut x, mut y) = (a.split('.'), b.split('.'));
    loop {
        let order = match (x.next(), y.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(p), Some(q)) => match (p.parse::<u64>(), q.parse::<u64>()) {
                (Ok(p), Ok(q)) => p.cmp(&q),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                _ => p.cmp(q),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

#[derive(Debug)]
struct Constraint {
    op: Op,
    version: Version,
    /// A number was omitted or written as `x`.
    dirty: bool,
    minor_dirty: bool,
    patch_dirty: bool,
}

/// A range of versions: alternatives, each with constraints that must all hold.
#[derive(Debug)]
pub struct Range {
    alternatives: Vec<Vec<Constraint>>,
}

const OPS: &[(&str, Op)] = &[
    ("!=", Op::NotEqual),
    (">=", Op::GreaterEqual),
    ("=>", Op::GreaterEqual),
    ("<=", Op::LessEqual),
    ("=<", Op::LessEqual),
    ("~>", Op::Tilde),
    ("=", Op::Equal),
    (">", Op::Greater),
    ("<", Op::Less),
    ("~", Op::Tilde),
    ("^", Op::Caret),
];

impl Range {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, String> {
        let improper = || format!("improper constraint: {text}");
        let mut alternatives = Vec::new();
        for part in text.split("||") {
            let mut rest = part.trim();
            let mut constraints = Vec::new();
            while !rest.is_empty() {
                let (constraint, after) = read_constraint(rest).ok_or_else(improper)?;
                let after_space = after.trim_start();
                if let Some(upper) = after_space.strip_prefix("- ").filter(|_| after_space.len() < after.len()) {
                    // `1.2 - 1.4.5`
                    let (high, after) = read_constraint(upper.trim_start()).ok_or_else(improper)?;
                    constraints.push(Constraint { op: Op::GreaterEqual, ..constraint });
                    constraints.push(Constraint { op: Op::LessEqual, ..high });
                    rest = after.trim_start();
                } else {
                    constraints.push(constraint);
                    rest = after_space;
                }
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            if constraints.is_empty() {
                return Err(improper());
            }
            alternatives.push(constraints);
        }
        Ok(Self { alternatives })
    }

    /// Whether a version is in the range. A pre-release is only if a constraint names one.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|constraints| {
            let names_pre = constraints.iter().any(|constraint| !constraint.version.pre.is_empty());
            constraints.iter().all(|constraint| constraint.holds(version, names_pre))
        })
    }
}

fn read_constraint(text: &str) -> Option<(Constraint, &str)> {
    let (op, body) = match OPS.iter().find(|(name, _)| text.starts_with(name)) {
        Some((name, op)) => (*op, text.get(name.len()..)?.trim_start()),
        None => (Op::Equal, text),
    };
    let end = body.find([' ', ',', '\t']).unwrap_or(body.len());
    let (token, rest) = body.split_at(end);
    let token = token.strip_prefix('v').unwrap_or(token);
    let core_end = token.find(['-', '+']).unwrap_or(token.len());
    let (core, suffix) = token.split_at(core_end);
    let parts: Vec<&str> = core.split('.').collect();
    if parts.len() > 3 || core.is_empty() {
        return None;
    }
    let is_x = |part: Option<&&str>| part.is_none_or(|part| matches!(*part, "x" | "X" | "*"));
    let at = |index: usize| parts.get(index).copied().unwrap_or("0");
    let (numbers, dirty, minor_dirty, patch_dirty) = if is_x(parts.first()) {
        ("0.0.0".to_owned(), true, false, false)
    } else if is_x(parts.get(1)) {
        (format!("{}.0.0", at(0)), true, true, false)
    } else if is_x(parts.get(2)) {
        (format!("{}.{}.0", at(0), at(1)), true, false, true)
    } else {
        (core.to_owned(), false, false, false)
    };
    let version = Version::parse(&format!("{numbers}{suffix}"))?;
    Some((Constraint { op, version, dirty, minor_dirty, patch_dirty }, rest))
}

impl Constraint {
    fn holds(&self, v: &Version, names_pre: bool) -> bool {
        let con = &self.version;
        if !v.pre.is_empty() && con.pre.is_empty() && !names_pre {
            return false;
        }
        let order = v.compare(con);
        let (major, minor, patch) = (v.number(0), v.number(1), v.number(2));
        let (con_major, con_minor, con_patch) = (con.number(0), con.number(1), con.number(2));
        match self.op {
            Op::Equal if self.dirty => self.tilde(v),
            Op::Equal => order == Ordering::Equal,
            Op::NotEqual if self.dirty => {
                major != con_major
                    || minor != con_minor && !self.minor_dirty
                    || !self.minor_dirty && patch != con_patch && !self.patch_dirty
                    || self.patch_dirty && (!v.pre.is_empty() || !con.pre.is_empty()) && v.pre != con.pre
            }
            Op::NotEqual => order != Ordering::Equal,
            Op::Greater if !self.minor_dirty && !self.patch_dirty => order == Ordering::Greater,
            Op::Greater => major > con_major || major == con_major && self.patch_dirty && minor > con_minor,
            Op::Less => order == Ordering::Less,
            Op::GreaterEqual => order != Ordering::Less,
            Op::LessEqual if !self.dirty => order != Ordering::Greater,
            Op::LessEqual => major < con_major || major == con_major && (minor <= con_minor || self.minor_dirty),
            Op::Tilde => self.tilde(v),
            Op::Caret => {
                if order == Ordering::Less {
                    return false;
                }
                if con_major > 0 || self.minor_dirty {
                    return major == con_major;
                }
                if major > con_major {
                    return false;
                }
                if con_minor > 0 || self.patch_dirty {
                    return minor == con_minor;
                }
                minor <= con_minor && patch == con_patch
            }
        }
    }

    fn tilde(&self, v: &Version) -> bool {
        let con = &self.version;
        if v.compare(con) == Ordering::Less {
            return false;
        }
        if con.numbers == [0; 3] && !self.minor_dirty && !self.patch_dirty {
            return true;
        }
        v.number(0) == con.number(0) && (v.number(1) == con.number(1) || self.minor_dirty)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn stars_behind_operators_are_read_as_the_original_does() {
        const CASES: &[(&str, &[&str])] = &[
            ("^*", &["0.0.0"]),
            ("~*", &["0.0.0", "0.0.1", "0.1.0", "1.2.3"]),
            (">*", &["0.0.1", "0.1.0", "1.2.3"]),
            ("<*", &[]),
            ("!=*", &["0.0.1", "0.1.0", "1.2.3"]),
            ("^0", &["0.0.0", "0.0.1", "0.1.0"]),
        ];
        for (range, inside) in CASES {
            for version in ["0.0.0", "0.0.1", "0.1.0", "1.2.3"] {
                let constraint = Range::parse(range).unwrap();
                let holds = constraint.contains(&Version::parse(version).unwrap());
                assert_eq!(holds, inside.contains(&version), "{range} {version}");
            }
        }
    }
}
