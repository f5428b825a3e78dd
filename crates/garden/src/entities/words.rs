//! What texts, numbers and names of the tables may look like, beyond their shape.
//!
//! A word is a shape of this dialect: the tables name it, the check of what is written and the check of what was
//! evaluated both ask [`problem`].

use purlin_model::schema::{Shape, Special};

/// A scalar as it is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    /// Text.
    Text(&'a str),
    /// True or false.
    Bool,
    /// A number.
    Number(f64),
}

const fn word(number: u16, label: &'static str, outline: Shape) -> Special {
    Special { number, label, outline }
}

const NAME_NUMBER: u16 = 1;
const LABEL_NUMBER: u16 = 2;
const FILES_NUMBER: u16 = 3;
const SUB_PATH_NUMBER: u16 = 4;
const PATH_NUMBER: u16 = 5;
const FILE_NAME_NUMBER: u16 = 6;
const TEXT_NUMBER: u16 = 7;
const BOOL_NUMBER: u16 = 8;
const INTEGER_NUMBER: u16 = 9;
const NUMBER_NUMBER: u16 = 10;
const COUNT_NUMBER: u16 = 11;
const MODE_NUMBER: u16 = 12;
const REPOSITORY_NUMBER: u16 = 13;
const ENVIRONMENT_NUMBER: u16 = 14;
const LIMIT_NUMBER: u16 = 15;

/// A name that a user gives.
pub(crate) const NAME: Shape = Shape::Special(&word(NAME_NUMBER, "a name", Shape::Text));
/// A name that may also begin with a digit or with `garden`.
pub(crate) const LABEL: Shape = Shape::Special(&word(LABEL_NUMBER, "a name", Shape::Text));
/// A path or pattern below a folder.
pub(crate) const FILES: Shape = Shape::Special(&word(FILES_NUMBER, "a path or pattern", Shape::Text));
/// A path below a folder.
pub(crate) const SUB_PATH: Shape = Shape::Special(&word(SUB_PATH_NUMBER, "a path", Shape::Text));
/// A path.
pub(crate) const PATH: Shape = Shape::Special(&word(PATH_NUMBER, "a path", Shape::Text));
/// The name of a file.
pub(crate) const FILE_NAME: Shape = Shape::Special(&word(FILE_NAME_NUMBER, "a file name", Shape::Text));
/// Text that says something.
pub(crate) const TEXT: Shape = Shape::Special(&word(TEXT_NUMBER, "a string", Shape::Text));
/// True or false, possibly as text.
pub(crate) const BOOL: Shape = Shape::Special(&word(BOOL_NUMBER, "true or false", Shape::Scalar));
/// An integer, possibly as text.
pub(crate) const INTEGER: Shape = Shape::Special(&word(INTEGER_NUMBER, "an integer", Shape::Scalar));
/// A number, possibly as text.
pub(crate) const NUMBER: Shape = Shape::Special(&word(NUMBER_NUMBER, "a number", Shape::Scalar));
/// A number, or null for none.
pub(crate) const LIMIT: Shape = Shape::Special(&word(LIMIT_NUMBER, "a number or null", Shape::Scalar));
/// An integer from 1 on.
pub(crate) const COUNT: Shape = Shape::Special(&word(COUNT_NUMBER, "an integer of at least 1", Shape::Scalar));
/// Permissions of a file.
pub(crate) const MODE: Shape = Shape::Special(&word(MODE_NUMBER, "permissions from 0 to 0o777", Shape::Scalar));
/// The address of a repository, with a revision.
pub(crate) const REPOSITORY: Shape = Shape::Special(&word(REPOSITORY_NUMBER, "a repository address", Shape::Text));
/// Environment variables by name.
pub(crate) const ENVIRONMENT: Shape =
    Shape::Special(&word(ENVIRONMENT_NUMBER, "a mapping of environment variables", Shape::MapOf(&Shape::Any)));

/// What a command and its arguments are: strings, which may be empty.
pub(crate) const TEXTS: Shape = Shape::ListOf(&Shape::Text);
/// Paths or patterns below a folder.
pub(crate) const FILE_LIST: Shape = Shape::ListOf(&FILES);
/// Anything by name.
pub(crate) const OPEN_MAP: Shape = Shape::MapOf(&Shape::Any);
/// Strings by name.
pub(crate) const TEXT_MAP: Shape = Shape::MapOf(&Shape::Text);

/// What is wrong with a scalar: what is expected, and a hint where one helps.
pub(crate) struct Problem {
    /// As the end of "expected …".
    pub expected: &'static str,
    /// What to do.
    pub hint: Option<&'static str>,
}

const fn expected(expected: &'static str) -> Option<Problem> {
    Some(Problem { expected, hint: None })
}

const NAME_HINT: &str = "use lower-case letters, digits and single dashes, begin with a letter and not with `garden`, \
                         and stay within 63 characters";
const LABEL_HINT: &str =
    "use lower-case letters, digits and dashes, no dash at either end, and stay within 63 characters";
const BELOW_HINT: &str = "paths begin at the folder of this configuration and cannot lead out of it";

/// What is wrong with a scalar of a word; nothing if it fits.
pub(crate) fn problem(word: &Special, given: Given<'_>) -> Option<Problem> {
    match (word.number, given) {
        (BOOL_NUMBER, Given::Bool) => None,
        (BOOL_NUMBER, Given::Text(text)) if as_bool(text).is_some() => None,
        (BOOL_NUMBER, _) => expected("true or false"),
        (INTEGER_NUMBER | NUMBER_NUMBER | LIMIT_NUMBER | COUNT_NUMBER | MODE_NUMBER, _) => {
            number_problem(word.number, given)
        }
        (_, Given::Text(text)) => text_problem(word.number, text),
        // Anything else that is not text was refused by the outline.
        _ => None,
    }
}

fn number_problem(number: u16, given: Given<'_>) -> Option<Problem> {
    let value = match given {
        Given::Number(value) => Some(value),
        Given::Text(text) => as_number(text),
        Given::Bool => None,
    };
    let whole = value.filter(|value| value.fract() == 0.0);
    match number {
        NUMBER_NUMBER | LIMIT_NUMBER if value.is_none() => expected("a number"),
        INTEGER_NUMBER if whole.is_none() => expected("an integer"),
        COUNT_NUMBER if whole.is_none_or(|value| value < 1.0) => expected("an integer of at least 1"),
        MODE_NUMBER if value.is_none_or(|value| !(0.0..=511.0).contains(&value)) => {
            expected("permissions from 0 to 0o777")
        }
        _ => None,
    }
}

fn text_problem(number: u16, text: &str) -> Option<Problem> {
    let with = |expected, hint| Some(Problem { expected, hint: Some(hint) });
    match number {
        NAME_NUMBER if !is_name(text) => with("a valid name", NAME_HINT),
        LABEL_NUMBER if !is_label(text) => with("a valid name", LABEL_HINT),
        TEXT_NUMBER | FILES_NUMBER | SUB_PATH_NUMBER | PATH_NUMBER | FILE_NAME_NUMBER if text.is_empty() => {
            expected("a string that is not empty")
        }
        FILES_NUMBER | SUB_PATH_NUMBER if leads_out(text) => with("a path below this folder", BELOW_HINT),
        SUB_PATH_NUMBER | PATH_NUMBER if text.contains(['*', '?']) => expected("a path without wildcards"),
        FILE_NAME_NUMBER if text.contains('/') => expected("a file name without slashes"),
        REPOSITORY_NUMBER => repository_problem(text),
        _ => None,
    }
}

/// An address without a revision. What is no address at all is for whoever fetches it to say.
fn repository_problem(text: &str) -> Option<Problem> {
    let is_git = ["git:", "ssh:", "http:", "https:"].iter().any(|scheme| text.contains(scheme))
        || text.split_once('@').is_some_and(|(_, rest)| rest.contains(':'));
    let hint = "add a branch or tag after `#`, for example `#main`";
    (is_git && !text.contains('#')).then_some(Problem { expected: "an address with a revision", hint: Some(hint) })
}

/// Whether a text is a name that a user may give.
pub(crate) fn is_name(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.starts_with("garden")
        && parts.all(is_part)
}

/// What is wrong with a name that a user gives.
pub(crate) fn name_problem(name: &str) -> Option<Problem> {
    text_problem(NAME_NUMBER, name)
}

fn is_label(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_known)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text can name an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(is_known)
        && !name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("garden"))
}

fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|step| step == "..")
}

/// A boolean that is written as text.
pub(crate) fn as_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// A number that is written as text.
pub(crate) fn as_number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Whether a word stands for environment variables by name.
pub(crate) fn is_environment(word: &Special) -> bool {
    word.number == ENVIRONMENT_NUMBER
}

/// Whether a word stands for a boolean.
pub(crate) fn is_bool(word: &Special) -> bool {
    word.number == BOOL_NUMBER
}

/// Whether a word stands for a number.
pub(crate) fn is_number(word: &Special) -> bool {
    matches!(word.number, INTEGER_NUMBER | NUMBER_NUMBER | LIMIT_NUMBER | COUNT_NUMBER | MODE_NUMBER)
}

/// Whether null is a value of a word.
pub(crate) fn takes_null(word: &Special) -> bool {
    word.number == LIMIT_NUMBER
}

/// Whether a word stands for a name.
pub(crate) fn is_naming(word: &Special) -> bool {
    matches!(word.number, NAME_NUMBER | LABEL_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_original() {
        for name in ["a", "web-1", "a0", "shop-api-2"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(64);
        for name in ["", "A", "1a", "a--b", "a-", "-a", "a_b", "garden", "garden-web", "gardening", long.as_str()] {
            assert!(!is_name(name), "{name}");
        }
        assert!(is_label("1a") && is_label("garden-x") && is_label("a--b"));
        assert!(!is_label("12") && !is_label("a-") && !is_label(""));
        assert!(is_variable("A.b_1") && is_variable("_x"));
        assert!(!is_variable("GARDEN_X") && !is_variable("gardenia") && !is_variable("1x") && !is_variable("a-b"));
    }
}
