//! The content of a finding: data first, and the words made of it.
//!
//! Each finding names its subjects as data. Hints, deduplication and the shown location read the data; the words are
//! never parsed.

use crate::hint::Hint;
use crate::yaml_mistake::YamlMistake;
use std::borrow::Cow;
use std::fmt::{self, Display};

/// A problem as data.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub enum What {
    /// A problem that is described by its words alone.
    #[default]
    Other,
    /// A problem that is described by its words alone, with the names it concerns.
    About {
        /// The names, the wrong one first.
        names: Vec<String>,
    },
    /// An undeclared name.
    Unknown {
        /// The kind of thing that the name should refer to: `node type`.
        kind: String,
        /// The name.
        name: String,
        /// The thing that lacks the declaration, if it is one thing.
        of: Option<String>,
    },
    /// Something required that is missing.
    Missing {
        /// Its kind: `key`.
        kind: String,
        /// The missing names, one or several.
        names: Vec<String>,
        /// Whether one of the names is enough.
        one_of: bool,
    },
    /// A value of another shape than the expected one.
    Expected {
        /// The expected shape: `a list`.
        wanted: String,
        /// The actual shape, unless it does not matter.
        found: Option<String>,
    },
    /// A name that is declared twice.
    Duplicate {
        /// The kind of thing that has the name.
        kind: String,
        /// The name.
        name: String,
    },
    /// References that form a cycle.
    Cycle {
        /// The members of the cycle, in order.
        members: Vec<String>,
    },
    /// A wrong call of a function.
    Call {
        /// Its name.
        function: String,
    },
    /// An unset value, where it is unknown which one.
    Unset,
    /// A mistake in the notation of YAML.
    Yaml(YamlMistake),
    /// A name that is not allowed.
    NotAllowed {
        /// The kind of thing that has the name.
        kind: String,
        /// The name.
        name: String,
    },
}

/// Shared by all findings without data of their own.
pub(crate) static OTHER: What = What::Other;

impl What {
    /// The name that it concerns, if any.
    pub fn name(&self) -> Option<&str> {
        match self {
            What::Unknown { name, .. }
            | What::Duplicate { name, .. }
            | What::NotAllowed { name, .. }
            | What::Call { function: name } => Some(name),
            What::Missing { names, .. } | What::About { names } => names.first().map(String::as_str),
            What::Other | What::Unset | What::Yaml(_) | What::Expected { .. } | What::Cycle { .. } => None,
        }
    }

    /// All names that it concerns, the wrong one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let several: &[String] = match self {
            What::Missing { names, .. } | What::About { names } => names,
            _ => &[],
        };
        let first = self.name().filter(|_| several.is_empty());
        first.into_iter().chain(several.iter().map(String::as_str))
    }

    /// Whether an undeclared name belongs to one known thing: the type, the chart.
    pub fn is_of_one(&self) -> bool {
        matches!(self, What::Unknown { of: Some(_), .. })
    }

    /// Whether a predicate holds for the unknown or missing names: for one of several if one is enough, otherwise for
    /// all.
    pub fn is_about(&self, is_so: impl Fn(&str) -> bool) -> bool {
        match self {
            What::Missing { names, one_of: true, .. } => names.iter().any(|name| is_so(name)),
            What::Missing { names, .. } => !names.is_empty() && names.iter().all(|name| is_so(name)),
            _ => self.name().is_some_and(|name| !name.is_empty() && is_so(name)),
        }
    }

    /// An undeclared name that belongs to no particular thing.
    pub fn undeclared(&self) -> Option<(&str, &str)> {
        match self {
            What::Unknown { kind, name, of: None } => Some((kind, name)),
            _ => None,
        }
    }

    /// Its texts, for hiding secrets in them.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            What::Other | What::Unset | What::Yaml(_) => Vec::new(),
            What::Unknown { name, of, .. } => std::iter::once(name).chain(of).collect(),
            What::Missing { names, .. } | What::About { names } => names.iter_mut().collect(),
            What::Expected { wanted, found } => std::iter::once(wanted).chain(found).collect(),
            What::Duplicate { name, .. } | What::NotAllowed { name, .. } | What::Call { function: name } => vec![name],
            What::Cycle { members } => members.iter_mut().collect(),
        }
    }
}

impl Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Other => Ok(()),
            What::About { names } => f.write_str(&listed(names, "and")),
            What::Call { function } => write!(f, "invalid call of `{function}`"),
            What::Unset => f.write_str("a value is not set"),
            What::Yaml(mistake) => f.write_str(mistake.words()),
            What::Unknown { kind, name, of: None } => write!(f, "unknown {kind} `{name}`"),
            What::Unknown { kind, name, of: Some(of) } => write!(f, "{of} declares no {kind} `{name}`"),
            What::Missing { kind, names, one_of } => {
                let gap = if kind.is_empty() { "" } else { " " };
                write!(f, "missing {kind}{gap}{}", listed(names, if *one_of { "or" } else { "and" }))
            }
            What::Expected { wanted, found: None } => write!(f, "expected {wanted}"),
            What::Expected { wanted, found: Some(found) } => write!(f, "expected {wanted}, found {found}"),
            What::Duplicate { kind, name } => write!(f, "duplicate {kind} `{name}`"),
            What::Cycle { members } => f.write_str(&members.join(" → ")),
            What::NotAllowed { kind, name } => write!(f, "invalid {kind} `{name}`"),
        }
    }
}

/// Names in backticks, the last one after a conjunction.
pub fn listed(names: &[String], word: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The content of a finding, and its words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    text: String,
    what: Option<Box<What>>,
    hint: Option<Hint>,
}

impl Message {
    /// A finding in its usual words.
    pub fn new(what: What) -> Self {
        Message { text: what.to_string(), what: Some(Box::new(what)), hint: None }
    }

    /// Words alone, with a hint.
    pub fn advising(text: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Message { text: text.into(), what: None, hint: Some(hint.into()) }
    }

    /// The same in other words.
    pub fn words(self, text: impl Into<String>) -> Self {
        Message { text: text.into(), ..self }
    }

    /// The same, with a prefix to the words: `` `ports`:  ``.
    pub fn under(mut self, before: impl Display) -> Self {
        self.text.insert_str(0, &before.to_string());
        self
    }

    /// The same, with a suffix to the words: `` in `server` ``.
    pub fn and(mut self, behind: impl Display) -> Self {
        self.text.push_str(&behind.to_string());
        self
    }

    /// The same, with a name that it concerns before others.
    pub fn naming(mut self, name: Option<impl Into<String>>) -> Self {
        if let (Some(What::Missing { names, .. } | What::About { names }), Some(name)) =
            (self.what.as_deref_mut(), name)
        {
            names.insert(0, name.into());
        }
        self
    }

    /// The same, with a hint.
    pub fn hint(mut self, hint: Option<impl Into<Hint>>) -> Self {
        self.hint = hint.map(Into::into).or(self.hint);
        self
    }

    /// The problem as data.
    pub fn what(&self) -> &What {
        self.what.as_deref().unwrap_or(&OTHER)
    }

    /// Whether it is more than words.
    pub fn is_data(&self) -> bool {
        self.what.is_some() || self.hint.is_some()
    }

    pub(crate) fn into_parts(self) -> (String, Option<Box<What>>, Option<Hint>) {
        (self.text, self.what, self.hint)
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Message { text, what: None, hint: None }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.text
    }
}

/// An undeclared name: ``unknown node type `x` ``.
pub fn unknown(kind: impl Display, name: impl Display) -> Message {
    Message::new(What::Unknown { kind: kind.to_string(), name: name.to_string(), of: None })
}

/// A name that one thing does not declare: ``the type declares no property `x` ``.
pub fn undeclared(of: impl Display, kind: impl Display, name: impl Display) -> Message {
    Message::new(What::Unknown { kind: kind.to_string(), name: name.to_string(), of: Some(of.to_string()) })
}

/// A name that one thing does not have: `` `web` has no requirement `x` ``.
pub fn lacking(of: impl Display, kind: impl Display, name: impl Display) -> Message {
    let words = format!("{of} has no {kind} `{name}`");
    undeclared(of, kind, name).words(words)
}

/// Something required that is missing: ``missing key `x` ``.
pub fn missing(kind: impl Display, name: impl Display) -> Message {
    Message::new(What::Missing { kind: kind.to_string(), names: vec![name.to_string()], one_of: false })
}

/// A key that is required: `` the artifact `a` needs the key `file` ``.
pub fn needed(of: impl Display, key: impl Display) -> Message {
    let words = format!("{of} needs the key `{key}`");
    missing("key", key).words(words)
}

/// Several required names, of which all or one are missing.
pub fn missing_names<N: Display>(kind: impl Display, names: impl IntoIterator<Item = N>, one_of: bool) -> Message {
    Message::new(What::Missing {
        kind: kind.to_string(),
        names: names.into_iter().map(|name| name.to_string()).collect(),
        one_of,
    })
}

/// A value of another shape: `expected a list, found a string`.
pub fn expected(wanted: impl Display, found: impl Display) -> Message {
    Message::new(What::Expected { wanted: wanted.to_string(), found: Some(found.to_string()) })
}

/// A value of another shape, where the actual one does not matter.
pub fn expected_only(wanted: impl Display) -> Message {
    Message::new(What::Expected { wanted: wanted.to_string(), found: None })
}

/// A value that must be something else: `` `x` must be a list ``.
pub fn must_be(subject: impl Display, wanted: impl Display) -> Message {
    let words = format!("{subject} must be {wanted}");
    expected_only(wanted).words(words)
}

/// A name that is declared twice: ``duplicate name `x` ``.
pub fn duplicate(kind: impl Display, name: impl Display) -> Message {
    Message::new(What::Duplicate { kind: kind.to_string(), name: name.to_string() })
}

/// A name that is not allowed: ``invalid name `x` ``.
pub fn not_allowed(kind: impl Display, name: impl Display) -> Message {
    Message::new(What::NotAllowed { kind: kind.to_string(), name: name.to_string() })
}

/// A problem that is described by its words alone, with the names it concerns; the wrong one first.
pub fn about<N: Display>(names: impl IntoIterator<Item = N>, text: impl Into<String>) -> Message {
    Message::new(What::About { names: names.into_iter().map(|name| name.to_string()).collect() }).words(text)
}

/// A wrong call of a function, in these words.
pub fn called(function: impl Display, text: impl Into<String>) -> Message {
    Message::new(What::Call { function: function.to_string() }).words(text)
}

/// References that form a cycle.
pub fn cycle<N: Display>(members: impl IntoIterator<Item = N>) -> Message {
    Message::new(What::Cycle { members: members.into_iter().map(|name| name.to_string()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_made_of_the_data() {
        let cases: [(Message, &str); 9] = [
            (unknown("node type", "a"), "unknown node type `a`"),
            (undeclared("the type", "input", "a"), "the type declares no input `a`"),
            (lacking("`web`", "port", "a").and(" here"), "`web` has no port `a` here"),
            (missing("key", "a").and(" in a port"), "missing key `a` in a port"),
            (missing("", "a"), "missing `a`"),
            (missing_names("", ["a", "b"], true), "missing `a` or `b`"),
            (expected("a list", "null").under("`x`: "), "`x`: expected a list, found null"),
            (duplicate("name", "a"), "duplicate name `a`"),
            (not_allowed("name", "a"), "invalid name `a`"),
        ];
        for (message, words) in cases {
            assert_eq!(message.to_string(), words);
        }
        assert_eq!(Message::from("`a` is wrong").what(), &What::Other);
    }

    #[test]
    fn one_of_several_names_is_enough_where_one_is_wanted() {
        let all = missing_names("", ["a", "b"], false);
        let one = missing_names("", ["a", "b"], true);
        assert!(one.what().is_about(|name| name == "b") && !all.what().is_about(|name| name == "b"));
        assert!(all.what().is_about(|name| name < "c") && !missing_names("", [""; 0], false).what().is_about(|_| true));
        assert_eq!(lacking("`web`", "port", "a").what().undeclared(), None);
        assert_eq!(unknown("port", "a").what().undeclared(), Some(("port", "a")));
    }
}
