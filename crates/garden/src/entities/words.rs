//! Constraints on the strings, numbers and names of the tables, beyond their shape.
//!
//! A word is a shape of this dialect: the tables name it; the checks of written and of evaluated values both ask
//! [`problem`].

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
const CPU_LIMIT_NUMBER: u16 = 15;
const MEMORY_LIMIT_NUMBER: u16 = 16;
const STRING_ENVIRONMENT_NUMBER: u16 = 17;
const PLAIN_ENVIRONMENT_NUMBER: u16 = 18;
const ABSOLUTE_NUMBER: u16 = 19;
const ABSOLUTE_FILES_NUMBER: u16 = 20;
const REAL_BOOL_NUMBER: u16 = 21;
const REAL_NUMBER_NUMBER: u16 = 22;
const SECONDS_NUMBER: u16 = 23;
const KUSTOMIZE_VERSION_NUMBER: u16 = 24;
const CPU_MAXIMUM_NUMBER: u16 = 25;
const MEMORY_MAXIMUM_NUMBER: u16 = 26;
const HOST_NUMBER: u16 = 27;
const ADDRESS_NUMBER: u16 = 28;
const RELATIVE_ADDRESS_NUMBER: u16 = 29;
const ARGUMENTS_NUMBER: u16 = 30;
const LOCAL_FILES_NUMBER: u16 = 31;
const LOCAL_PATH_NUMBER: u16 = 32;
const KUSTOMIZATION_NUMBER: u16 = 33;
const OWN_PATH_NUMBER: u16 = 34;

/// A name that a user gives.
pub(crate) const NAME: Shape = Shape::Special(&word(NAME_NUMBER, "a name", Shape::Text));
/// A name that may also begin with a digit or with `garden`.
pub(crate) const LABEL: Shape = Shape::Special(&word(LABEL_NUMBER, "a name", Shape::Text));
/// A path or pattern below a folder.
pub(crate) const FILES: Shape = Shape::Special(&word(FILES_NUMBER, "a path or pattern", Shape::Text));
/// A path below a folder.
pub(crate) const SUB_PATH: Shape = Shape::Special(&word(SUB_PATH_NUMBER, "a path", Shape::Text));
/// A path or pattern below a folder of this machine, which may have any characters.
pub(crate) const LOCAL_FILES: Shape = Shape::Special(&word(LOCAL_FILES_NUMBER, "a path or pattern", Shape::Text));
/// A path below a folder of this machine, which may have any characters.
pub(crate) const LOCAL_PATH: Shape = Shape::Special(&word(LOCAL_PATH_NUMBER, "a path", Shape::Text));
/// A path below a folder, or an address.
pub(crate) const KUSTOMIZATION: Shape =
    Shape::Special(&word(KUSTOMIZATION_NUMBER, "a path or an address", Shape::Text));
/// A path.
pub(crate) const PATH: Shape = Shape::Special(&word(PATH_NUMBER, "a path", Shape::Text));
/// A path in Purlin's own keys: Garden's rules for the characters of paths do not apply there.
pub(crate) const OWN_PATH: Shape = Shape::Special(&word(OWN_PATH_NUMBER, "a path", Shape::Text));
/// The name of a file.
pub(crate) const FILE_NAME: Shape = Shape::Special(&word(FILE_NAME_NUMBER, "a file name", Shape::Text));
/// A string that is not empty.
pub(crate) const TEXT: Shape = Shape::Special(&word(TEXT_NUMBER, "a string", Shape::Text));
/// The name of a host.
pub(crate) const HOST: Shape = Shape::Special(&word(HOST_NUMBER, "a host name", Shape::Text));
/// An address with its scheme.
pub(crate) const ADDRESS: Shape = Shape::Special(&word(ADDRESS_NUMBER, "an address", Shape::Text));
/// A path of an address.
pub(crate) const RELATIVE_ADDRESS: Shape =
    Shape::Special(&word(RELATIVE_ADDRESS_NUMBER, "the path of an address", Shape::Text));
/// True or false, possibly as text.
pub(crate) const BOOL: Shape = Shape::Special(&word(BOOL_NUMBER, "true or false", Shape::Scalar));
/// An integer, possibly as text.
pub(crate) const INTEGER: Shape = Shape::Special(&word(INTEGER_NUMBER, "an integer", Shape::Scalar));
/// A number, possibly as text.
pub(crate) const NUMBER: Shape = Shape::Special(&word(NUMBER_NUMBER, "a number", Shape::Scalar));
/// Processor time in thousandths, or null for no limit.
pub(crate) const CPU_LIMIT: Shape = Shape::Special(&word(CPU_LIMIT_NUMBER, CPU_LIMIT_LABEL, Shape::Scalar));
/// Memory in megabytes, or null for no limit.
pub(crate) const MEMORY_LIMIT: Shape = Shape::Special(&word(MEMORY_LIMIT_NUMBER, MEMORY_LIMIT_LABEL, Shape::Scalar));
/// Processor time in thousandths.
pub(crate) const CPU_MAXIMUM: Shape = Shape::Special(&word(CPU_MAXIMUM_NUMBER, CPU_LABEL, Shape::Scalar));
/// Memory in megabytes.
pub(crate) const MEMORY_MAXIMUM: Shape = Shape::Special(&word(MEMORY_MAXIMUM_NUMBER, MEMORY_LABEL, Shape::Scalar));
/// True or false; a string does not do.
pub(crate) const REAL_BOOL: Shape = Shape::Special(&word(REAL_BOOL_NUMBER, "true or false", Shape::Scalar));
/// A number; a string does not do.
pub(crate) const REAL_NUMBER: Shape = Shape::Special(&word(REAL_NUMBER_NUMBER, "a number", Shape::Scalar));
/// A number from 1 on.
pub(crate) const SECONDS: Shape = Shape::Special(&word(SECONDS_NUMBER, "a number of at least 1", Shape::Scalar));
/// A version of kustomize that Garden has.
pub(crate) const KUSTOMIZE_VERSION: Shape = Shape::Special(&word(KUSTOMIZE_VERSION_NUMBER, "4 or 5", Shape::Scalar));
/// An integer from 1 on.
pub(crate) const COUNT: Shape = Shape::Special(&word(COUNT_NUMBER, "an integer of at least 1", Shape::Scalar));
/// Permissions of a file.
pub(crate) const MODE: Shape = Shape::Special(&word(MODE_NUMBER, "permissions from 0 to 0o777", Shape::Scalar));
/// The address of a repository, with a revision.
pub(crate) const REPOSITORY: Shape = Shape::Special(&word(REPOSITORY_NUMBER, "a repository address", Shape::Text));
/// An absolute path in a container, but not its root.
pub(crate) const ABSOLUTE: Shape = Shape::Special(&word(ABSOLUTE_NUMBER, "an absolute path", Shape::Text));
/// An absolute path or pattern in a container.
pub(crate) const ABSOLUTE_FILES: Shape =
    Shape::Special(&word(ABSOLUTE_FILES_NUMBER, "an absolute path or pattern", Shape::Text));
/// Environment variables by name, which may refer to secrets of a cluster.
pub(crate) const ENVIRONMENT: Shape =
    Shape::Special(&word(ENVIRONMENT_NUMBER, "a mapping of environment variables", Shape::MapOf(&Shape::Any)));

/// Environment variables by name, each a string.
pub(crate) const STRING_ENVIRONMENT: Shape = Shape::Special(&word(
    STRING_ENVIRONMENT_NUMBER,
    "a mapping of environment variables, each a string",
    Shape::MapOf(&Shape::Any),
));
/// Environment variables by name, each a string, number or boolean.
pub(crate) const PLAIN_ENVIRONMENT: Shape =
    Shape::Special(&word(PLAIN_ENVIRONMENT_NUMBER, "a mapping of environment variables", Shape::MapOf(&Shape::Any)));

/// Arguments of a build by name, each a string, number or boolean.
pub(crate) const ARGUMENTS: Shape =
    Shape::Special(&word(ARGUMENTS_NUMBER, "a mapping of build arguments", Shape::MapOf(&Shape::Any)));

/// Commands and their arguments: strings, which may be empty.
pub(crate) const TEXTS: Shape = Shape::ListOf(&Shape::Text);
/// Strings that are not empty.
pub(crate) const FULL_TEXTS: Shape = Shape::ListOf(&TEXT);
/// Paths or patterns below a folder.
pub(crate) const FILE_LIST: Shape = Shape::ListOf(&FILES);
/// Anything by name.
pub(crate) const OPEN_MAP: Shape = Shape::MapOf(&Shape::Any);
/// Strings by name.
pub(crate) const TEXT_MAP: Shape = Shape::MapOf(&TEXT);

/// The least processor time that can be a limit, in thousandths.
const LEAST_CPU: f64 = 10.0;
/// The least memory that can be a limit, in megabytes.
const LEAST_MEMORY: f64 = 64.0;
const CPU_LABEL: &str = "a number of at least 10";
const CPU_LIMIT_LABEL: &str = "a number of at least 10, or null";
const MEMORY_LABEL: &str = "a number of at least 64";
const MEMORY_LIMIT_LABEL: &str = "a number of at least 64, or null";

/// The problem with a scalar: the expectation, and a hint where one helps.
pub(crate) struct Problem {
    /// As the end of "expected …".
    pub expected: &'static str,
    /// Advice.
    pub hint: Option<&'static str>,
}

const fn expected(expected: &'static str) -> Option<Problem> {
    Some(Problem { expected, hint: None })
}

const NAME_HINT: &str = "use lower-case letters, digits and single dashes, begin with a letter and not with `garden`, \
                         and stay within 63 characters";
const LABEL_HINT: &str =
    "use lower-case letters, digits and dashes, no dash at either end, and stay within 63 characters";
const PLAIN_HINT: &str = "rename it, or use a pattern such as `*`; Garden takes neither `{a,b}` nor `[ab]`";
const BELOW_HINT: &str = "paths begin at the folder of this configuration and cannot lead out of it";

/// The problem of a scalar with a word; `None` if it fits.
pub(crate) fn problem(word: &Special, given: Given<'_>) -> Option<Problem> {
    match (word.number, given) {
        (BOOL_NUMBER, Given::Bool) => None,
        (BOOL_NUMBER, Given::Text(text)) if as_bool(text).is_some() => None,
        (BOOL_NUMBER, _) => expected("true or false"),
        (REAL_BOOL_NUMBER, Given::Bool) | (REAL_NUMBER_NUMBER, Given::Number(_)) => None,
        (REAL_BOOL_NUMBER, _) => real("true or false", matches!(given, Given::Text(text) if as_bool(text).is_some())),
        (REAL_NUMBER_NUMBER, _) => real("a number", matches!(given, Given::Text(text) if as_number(text).is_some())),
        _ if is_number(word) => number_problem(word.number, given),
        (_, Given::Text(text)) => text_problem(word.number, text),
        // Anything else that is not text was refused by the outline.
        _ => None,
    }
}

/// A quoted value where `exec` actions, unlike other actions, do not convert strings.
fn real(expected: &'static str, is_quoted: bool) -> Option<Problem> {
    let hint = is_quoted.then_some("`exec` actions take no strings here: remove the quotes");
    Some(Problem { expected, hint })
}

/// Why the value of an environment variable is refused. Each kind of mapping allows other values.
pub(crate) fn variable_problem(word: &Special, value: Variable) -> Option<Problem> {
    match (word.number, value) {
        (_, Variable::Text) => None,
        (ENVIRONMENT_NUMBER | PLAIN_ENVIRONMENT_NUMBER | ARGUMENTS_NUMBER, Variable::Plain) => None,
        (STRING_ENVIRONMENT_NUMBER, Variable::Plain) => {
            let hint = "put it in quotes: environment variables of `exec` actions are strings";
            Some(Problem { expected: "a string", hint: Some(hint) })
        }
        (STRING_ENVIRONMENT_NUMBER, _) => expected("a string"),
        (ENVIRONMENT_NUMBER, Variable::Secret) => None,
        (ENVIRONMENT_NUMBER, _) => {
            let hint = "a secret of the cluster is `secretRef: {name: …, key: …}`";
            Some(Problem { expected: "a string, number, boolean or `secretRef`", hint: Some(hint) })
        }
        _ => expected("a string, number or boolean"),
    }
}

/// The value of an environment variable, as far as it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A string.
    Text,
    /// A number, boolean or null.
    Plain,
    /// A reference to a secret.
    Secret,
    /// Any other collection.
    Collection,
}

fn number_problem(number: u16, given: Given<'_>) -> Option<Problem> {
    let value = match given {
        Given::Number(value) => Some(value),
        Given::Text(text) => as_number(text),
        Given::Bool => None,
    };
    let whole = value.filter(|value| value.fract() == 0.0);
    match number {
        NUMBER_NUMBER if value.is_none() => expected("a number"),
        CPU_LIMIT_NUMBER if value.is_none_or(|value| value < LEAST_CPU) => expected(CPU_LIMIT_LABEL),
        MEMORY_LIMIT_NUMBER if value.is_none_or(|value| value < LEAST_MEMORY) => expected(MEMORY_LIMIT_LABEL),
        CPU_MAXIMUM_NUMBER if value.is_none_or(|value| value < LEAST_CPU) => expected(CPU_LABEL),
        MEMORY_MAXIMUM_NUMBER if value.is_none_or(|value| value < LEAST_MEMORY) => expected(MEMORY_LABEL),
        SECONDS_NUMBER if value.is_none_or(|value| value < 1.0) => expected("a number of at least 1"),
        KUSTOMIZE_VERSION_NUMBER if value != Some(4.0) && value != Some(5.0) => expected("4 or 5"),
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
        KUSTOMIZATION_NUMBER if is_address(text) => None,
        KUSTOMIZATION_NUMBER => text_problem(SUB_PATH_NUMBER, text),
        NAME_NUMBER if !is_name(text) => with("a valid name", NAME_HINT),
        LABEL_NUMBER if !is_label(text) => with("a valid name", LABEL_HINT),
        TEXT_NUMBER | HOST_NUMBER | ADDRESS_NUMBER | OWN_PATH_NUMBER if text.is_empty() => {
            expected("a string that is not empty")
        }
        _ if text.is_empty() && is_path(number) => expected("a string that is not empty"),
        _ if is_path(number) && !is_plain_path(text) => {
            with("a path without spaces, brackets or other special characters", PLAIN_HINT)
        }
        HOST_NUMBER if !is_host(text) => expected("a host name"),
        ADDRESS_NUMBER if !is_address(text) => with("an address", "begin with a scheme, for example `https://`"),
        ABSOLUTE_NUMBER | ABSOLUTE_FILES_NUMBER if !text.starts_with('/') => {
            with("an absolute path", "paths in containers begin with `/`")
        }
        ABSOLUTE_NUMBER if text == "/" => {
            with("a path below the root", "name a folder of the container, for example `/app`")
        }
        FILES_NUMBER | SUB_PATH_NUMBER | LOCAL_FILES_NUMBER | LOCAL_PATH_NUMBER if leads_out(text) => {
            with("a path below this folder", BELOW_HINT)
        }
        SUB_PATH_NUMBER | PATH_NUMBER | ABSOLUTE_NUMBER | LOCAL_PATH_NUMBER if text.contains(['*', '?']) => {
            expected("a path without wildcards")
        }
        FILE_NAME_NUMBER if text.contains('/') => expected("a file name without slashes"),
        REPOSITORY_NUMBER => repository_problem(text),
        _ => None,
    }
}

/// An address without a revision. Unusable addresses are reported when they are fetched.
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

/// The problem with a name that a user gives.
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

/// Whether a word is a path of any kind.
fn is_path(number: u16) -> bool {
    matches!(
        number,
        FILES_NUMBER
            | SUB_PATH_NUMBER
            | PATH_NUMBER
            | FILE_NAME_NUMBER
            | ABSOLUTE_NUMBER
            | ABSOLUTE_FILES_NUMBER
            | RELATIVE_ADDRESS_NUMBER
    )
}

/// Whether a path is one to Garden, which takes paths for relative addresses.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"{}[]\\^|\"<>`".contains(&byte);
    let first = path.split('/').next().unwrap_or_default();
    path.bytes().all(is_plain) && !first.contains(':')
}

fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_part = |part: &str| part.bytes().all(is_known) && !part.starts_with('-') && !part.ends_with('-');
    // Addresses of version 6 have colons.
    name.split('.').all(is_part) || name.parse::<std::net::Ipv6Addr>().is_ok()
}

fn is_address(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(is_known)
        && text.bytes().all(|byte| byte.is_ascii_graphic())
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

/// Whether an entry of variables can have a name.
pub(crate) fn is_variable_of(word: &Special, name: &str) -> bool {
    word.number == ARGUMENTS_NUMBER || is_variable(name)
}

/// Whether a word denotes variables by name, with scalar values.
pub(crate) fn is_environment(word: &Special) -> bool {
    matches!(word.number, ENVIRONMENT_NUMBER | STRING_ENVIRONMENT_NUMBER | PLAIN_ENVIRONMENT_NUMBER | ARGUMENTS_NUMBER)
}

/// Whether a word denotes a boolean.
pub(crate) fn is_bool(word: &Special) -> bool {
    word.number == BOOL_NUMBER
}

/// Whether a word denotes a number.
pub(crate) fn is_number(word: &Special) -> bool {
    matches!(
        word.number,
        INTEGER_NUMBER
            | NUMBER_NUMBER
            | COUNT_NUMBER
            | MODE_NUMBER
            | CPU_LIMIT_NUMBER
            | MEMORY_LIMIT_NUMBER
            | CPU_MAXIMUM_NUMBER
            | MEMORY_MAXIMUM_NUMBER
            | SECONDS_NUMBER
            | KUSTOMIZE_VERSION_NUMBER
    )
}

/// Whether null is a value of a word.
pub(crate) fn takes_null(word: &Special) -> bool {
    matches!(word.number, CPU_LIMIT_NUMBER | MEMORY_LIMIT_NUMBER)
}

/// Whether a word denotes a name.
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
