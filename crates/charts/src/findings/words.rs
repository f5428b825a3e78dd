//! Failures of templates, manifests and values in the words of chart authors, each with advice.
//!
//! Go's and Helm's words for the same are made where a personality prints them; they are not read here.

use purlin_gotmpl::funcs::LISTS;
use purlin_gotmpl::{Cause, Fault, Misread};
use purlin_syntax::{Hint, Message, What, suggest, what};

use crate::values::Warning;

/// The problem, reworded.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// The problem.
    pub message: Message,
    /// Advice.
    pub hint: Hint,
    /// The part of the expression or line that is wrong, as it is written.
    pub part: Option<String>,
}

fn words(message: impl Into<Message>, hint: impl Into<Hint>, part: Option<&str>) -> Option<Words> {
    Some(Words { message: message.into(), hint: hint.into(), part: part.map(str::to_owned) })
}

const SET_IT: &str = "set it in `values.yaml`, or give a fallback with `default`";
const TEST_IT: &str = "test its type with `kindIs` first";

/// A template that failed while it was rendered. `node` is the expression, `function` the called function, `defined`
/// the names of all named templates.
pub fn failed<'n>(
    fault: &Fault,
    node: &str,
    function: Option<&str>,
    defined: impl Iterator<Item = &'n str>,
) -> Option<Words> {
    let cause = match fault {
        Fault::Cause(cause) => &**cause,
        Fault::TplParse(_, error) => {
            let message = format!("the string that `tpl` is given is not a valid template: {}", error.message);
            return words(message, "correct the string; it is a template itself", None);
        }
        _ => return None,
    };
    match cause {
        Cause::NoTemplate(name) => {
            let name = name.text();
            let hint = suggest::did_you_mean(&name, defined)
                .unwrap_or_else(|| format!("define it with `{{{{ define \"{name}\" }}}}`, or correct the name").into());
            words(what::unknown("named template", &name), hint, Some(&format!("\"{name}\"")))
        }
        Cause::NoField { field, of } => no_field(node, field, of),
        // An unspecific mapping has no value there.
        Cause::WrongType { wanted, found: None } | Cause::NoValue { wanted } => {
            let message =
                Message::new(What::Unset).words(format!("expected {}, found a value that is not set", noun(wanted)));
            words(message, SET_IT, None)
        }
        Cause::WrongType { wanted, found: Some(found) } => {
            words(what::expected(noun(wanted), noun(found)), conversion(wanted).unwrap_or(TEST_IT), None)
        }
        Cause::Arguments { function, wanted, is_least, found } => {
            let noun = if *wanted == 1 { "argument" } else { "arguments" };
            let least = if *is_least { "at least " } else { "" };
            let hint = format!(
                "what comes before `|` is the last argument; `{function}` is described in the function reference"
            );
            words(format!("`{function}` expects {least}{wanted} {noun}, found {found}"), hint, Some(function))
        }
        Cause::DivisionByZero => words("division by zero", "check that the divisor is not 0", None),
        Cause::NothingToCompare => {
            let name = function.unwrap_or("eq");
            let hint = format!("write `{name} A B`, or `A | {name} B`");
            words(format!("`{name}` compares two values, found one"), hint, Some(name))
        }
        Cause::Incompatible(..) => {
            let hint = "convert one of them, for example with `int` or `toString`";
            words("values of different types cannot be compared", hint, None)
        }
        Cause::NotIterable(value) => {
            let hint = "loop over a list, a mapping or an integer";
            words(format!("`range` expects a list or a mapping, found `{value}`"), hint, None)
        }
        Cause::NotAFunction(what) => not_a_function(node, what),
        Cause::NotAMethod(method) => no_method(node, method),
        Cause::NilPointer { field } => match misspelt_root(node) {
            Some(said) => Some(said),
            None => {
                let message = format!("what `{field}` is read from is not set, so `{node}` cannot be read");
                words(message, "set it in `values.yaml`, or test for it with `if` or `default`", None)
            }
        },
        Cause::Unset(_) | Cause::Conversion { found: None, .. } => unset_argument(false, node, function),
        Cause::UnsetKey(_) => unset_argument(true, node, function),
        cause => unfitting(cause, function),
    }
}

/// Arguments of a value that is not a function: usually an operator of another language.
fn not_a_function(node: &str, what: &str) -> Option<Words> {
    let between = ["and", "or", "eq", "ne", "lt", "le", "gt", "ge", "not"];
    let operator = node.split_whitespace().skip(1).find(|word| between.contains(word));
    let hint = match operator {
        Some(name) => format!("functions come before their arguments: write `{name} A B` instead of `A {name} B`"),
        None => "a function comes first: `function argument …`; each argument is in parentheses of its own".to_owned(),
    };
    words(format!("`{what}` is not a function, so it takes no arguments"), hint, operator)
}

/// Fields of a template's root object.
const ROOTS: &[&str] = &["Values", "Chart", "Release", "Files", "Capabilities", "Template", "Subcharts"];

/// `.values.image` for `.Values.image`.
fn misspelt_root(node: &str) -> Option<Words> {
    let first = node.strip_prefix("$.").or_else(|| node.strip_prefix('.'))?.split('.').next()?;
    let near = suggest::nearest(first, ROOTS.iter().copied()).filter(|_| !ROOTS.contains(&first))?;
    words(format!("`.{first}` is not defined"), Hint::meant(format!(".{first}"), format!(".{near}")), Some(first))
}

/// Helm's log messages about unused values.
pub fn warning(warning: &Warning) -> Words {
    let (message, hint) = match warning {
        Warning::NotAMapping { within, key } => {
            let full = format!("{within}.{key}");
            let name = full.split_once('.').map_or(full.as_str(), |(_, name)| name);
            (
                format!("the values below `{name}` are not used: in `values.yaml` it is not a mapping"),
                format!("write one value for `{name}`, or make it a mapping in `values.yaml`"),
            )
        }
        Warning::NotOverMapping(name) | Warning::IsMapping(name) => (
            format!("the value of `{name}` is not used: in `values.yaml` it is a mapping"),
            format!("write the values below `{name}:`"),
        ),
        Warning::NoImport(chart) => (
            format!("`{chart}` has no mapping where `import-values` reads one"),
            "correct the names under `import-values`, or remove them".to_owned(),
        ),
        Warning::Globals(_) => {
            ("`global` is not used: it is not a mapping".to_owned(), "write the values below `global:`".to_owned())
        }
        Warning::Other(text) => {
            (text.clone(), "give the value the form that it has in the chart's `values.yaml`".to_owned())
        }
    };
    Words { message: message.into(), hint: hint.into(), part: None }
}

/// A missing field of a built-in object that a template reads; `None` for other paths.
pub fn built_in(path: &str) -> Option<String> {
    let mut names = path.trim_start_matches('$').trim_start_matches('.').split('.');
    Some(match names.next()? {
        "Release" => {
            "`.Release` has `Name`, `Namespace`, `Service`, `Revision`, `IsInstall` and `IsUpgrade`".to_owned()
        }
        "Capabilities" => "`.Capabilities` has `KubeVersion`, `APIVersions` and `HelmVersion`".to_owned(),
        "Template" => "`.Template` has `Name` and `BasePath`".to_owned(),
        _ => return None,
    })
}

/// A document with the wrong head for a manifest.
pub fn unfit_manifest(field: &str, found: &str, is_mapping: bool) -> Option<Words> {
    if field.is_empty() {
        let message = format!("this renders to {found}, expected a manifest");
        let hint = "a manifest is a mapping with `apiVersion` and `kind`; files that only define templates have names that start with `_`";
        return words(message, hint, None);
    }
    let (wanted, hint) = match (field, is_mapping) {
        ("metadata", _) => ("a mapping", "write `name:` and the other keys below `metadata:`"),
        (_, true) => ("a mapping of strings", "write `name: \"value\"` lines below `annotations:`"),
        ("metadata.annotations", _) => ("strings", "put the value in quotes, for example with `quote`"),
        _ => ("a string", "put it in quotes, for example with `quote`"),
    };
    words(format!("`{field}` of a manifest: expected {wanted}, found {found}"), hint, None)
}

/// Values of a subchart that are not a mapping.
pub fn subchart(name: &str, found: &str) -> Words {
    let message = format!("`{name}` in the values is a subchart's: expected a mapping, found {found}");
    let hint = format!("write the values of the subchart below `{name}:`");
    Words { message: message.into(), hint: hint.into(), part: None }
}

/// A function whose argument, or whose key, is not set. A key is among the later arguments.
fn unset_argument(is_key: bool, node: &str, function: Option<&str>) -> Option<Words> {
    let name = function.or_else(|| node.split_whitespace().next()).unwrap_or("this function");
    let mut paths = node.split_whitespace().filter(|word| word.starts_with(['.', '$']));
    let path = if is_key { paths.next_back() } else { paths.next() }.map(|path| path.trim_end_matches([')', '}']));
    let keys = node.split_whitespace().filter(|word| word.starts_with(['"', '`'])).count();
    let message = match path {
        Some(path) if name == "index" && !is_key && keys > 1 => {
            format!("one of the keys that `index` looks up in `{path}` is not set").into()
        }
        Some(path) => what::missing("value", path.trim_start_matches('$'))
            .words(format!("`{path}` is not set, so `{name}` cannot be computed")),
        None => format!("what `{name}` is given is not set").into(),
    };
    words(message, SET_IT, path.or(Some(name)))
}

/// A function with an argument of the wrong type.
fn unfitting(cause: &Cause, function: Option<&str>) -> Option<Words> {
    match cause {
        Cause::NoLength(of) => {
            let message = format!("`len` expects a string, a list or a mapping, found {}", noun(of));
            words(message, "convert it with `toString`, or test its type with `kindIs` first", None)
        }
        Cause::NoElements(of) => {
            words(format!("`index` expects a list or a mapping, found {}", noun(of)), TEST_IT, None)
        }
        Cause::OutOfRange(at) => {
            words(format!("the list has no item {at}"), "items are counted from 0; test its length with `len`", None)
        }
        Cause::NotAnIndex(of) => {
            words(format!("items of a list have numbers, found {}", noun(of)), "convert it with `int`", None)
        }
        Cause::NotAKey(of) => {
            words(format!("keys of a mapping are strings, found {}", noun(of)), "convert it with `toString`", None)
        }
        Cause::Conversion { found: Some(found), wanted } => {
            let of = function.map(|name| format!("`{name}`: ")).unwrap_or_default();
            words(what::expected(noun(wanted), noun(found)).under(of), conversion(wanted).unwrap_or(TEST_IT), None)
        }
        Cause::Incomparable(_) => {
            let hint = "compare single values; `deepEqual` compares lists and mappings";
            words("lists and mappings cannot be compared here", hint, None)
        }
        _ => None,
    }
}

/// Objects that Helm hands in and that have fields or methods of their own, by Go's names.
const OF_HELM: &[(&str, &str)] = &[
    ("common.KubeVersion", "it has `Version`, `Major` and `Minor`"),
    ("chartutil.KubeVersion", "it has `Version`, `Major` and `Minor`"),
    ("version.BuildInfo", "it has `Version`, `GitCommit`, `GitTreeState` and `GoVersion`"),
    ("common.Capabilities", "it has `KubeVersion`, `APIVersions` and `HelmVersion`"),
    ("chartutil.Capabilities", "it has `KubeVersion`, `APIVersions` and `HelmVersion`"),
];

/// A method that an object of Helm does not have.
fn no_method(node: &str, method: &str) -> Option<Words> {
    let object = node.split_once(&format!(".{method}"))?.0;
    let hint = match object.trim_start_matches('$') {
        ".Files" => "it has `Get`, `GetBytes`, `Glob`, `Lines`, `AsConfig` and `AsSecrets`".to_owned(),
        _ => format!("`{object}` is a mapping: call a function on it, such as `get {object} \"key\"`"),
    };
    words(format!("`{object}` has no method `{method}`"), hint, Some(method))
}

fn no_field(node: &str, field: &str, of: &str) -> Option<Words> {
    if let Some((_, hint)) = OF_HELM.iter().find(|(name, _)| of.trim_start_matches('*') == *name) {
        let object = node.split_once(&format!(".{field}")).map_or(node, |(object, _)| object);
        return words(format!("`{object}` has no field `{field}`"), *hint, Some(field));
    }
    let whole = node.split_once(&format!(".{field}")).map(|(before, _)| before).filter(|before| !before.is_empty());
    let message = match whole {
        Some(before) => format!("`{before}` is not a mapping, so it has no field `{field}`"),
        None => format!("unknown field `{field}` of {}", noun(of)),
    };
    let hint = match whole {
        Some(before) => format!("read `{before}` itself, or make it a mapping where it is set"),
        None => "`.Values`, `.Chart`, `.Release`, `.Files`, `.Capabilities` and `.Template` are there".to_owned(),
    };
    words(message, hint, Some(field))
}

/// A type of Go as people call it.
fn noun(go: &str) -> &str {
    match go {
        "string" => "a string",
        "bool" => "a boolean",
        "int" | "int64" | "uint64" | "uint" => "an integer",
        "float64" => "a number",
        "[]interface {}" | "[]string" | "[]any" => "a list",
        "map[string]interface {}" | "map[string]string" | "map[string]any" | "chartutil.Values" | "common.Values" => {
            "a mapping"
        }
        "interface {}" | "any" => "a single value",
        other if other.starts_with("map[") => "a mapping",
        other if other.starts_with("[]") => "a list",
        other => other,
    }
}

fn conversion(wanted: &str) -> Option<&'static str> {
    Some(match wanted {
        "string" => "convert it with `toString`",
        "int" | "int64" | "float64" => "convert it with `int` or `float64`",
        "bool" => "compare it, for example with `eq`",
        wanted if wanted.starts_with("map[") => "give it a mapping, for example with `dict`",
        wanted if wanted.starts_with("[]") => "give it a list, for example with `list`",
        _ => return None,
    })
}

/// A template that could not be read. `line` is the line that Go names, `text` the whole template.
pub fn unreadable(what: &Misread, line: &str, text: &str) -> Option<Words> {
    match what {
        Misread::UnknownFunction(name) => {
            let names = LISTS.iter().flat_map(|(_, list)| list.iter().map(|function| function.name));
            let hint = suggest::did_you_mean(name, names);
            let hint = hint.unwrap_or_else(|| "docs/reference/template-functions.md lists all functions".into());
            words(what::unknown("function", name), hint, Some(name))
        }
        Misread::UnknownVariable(name) => {
            let hint = format!("define it first: `{{{{ {name} := … }}}}`");
            words(format!("undefined variable `{name}`"), hint, Some(name))
        }
        Misread::OpenBlock => {
            let open = open_block(text)?;
            let message = format!("this `{open}` has no `{{{{ end }}}}`");
            words(message, "add `{{ end }}` where it stops", Some(open))
        }
        Misread::LoneEnd => {
            let hint = "remove it, or add the `if`, `range`, `with` or `define` that it closes";
            words("`{{ end }}` closes nothing", hint, Some("end"))
        }
        Misread::LoneElse => {
            words("`{{ else }}` without an `if`", "remove it, or add the `if` that it belongs to", Some("else"))
        }
        Misread::OpenParenthesis => words("this `(` is never closed", "add `)`", Some("(")),
        Misread::OpenComment => words("this comment is never closed", "close it with `*/}}`", Some("{{")),
        Misread::OpenAction => words("this `{{` is never closed", "add `}}` on the same line", Some("{{")),
        Misread::OpenQuote => {
            let quote = line.rfind(['"', '`', '\'']).and_then(|at| line.get(at..=at));
            words("this string is never closed", "add the closing quote", quote)
        }
        Misread::NoValue(what) => {
            words(format!("`{what}` has no value"), format!("write what `{what}` is about"), Some(what))
        }
        Misread::Unexpected(token) if token == "}" => {
            words("this `{{` is closed by a single `}`", "write `}}`", brace(line))
        }
        Misread::Unexpected(token) => {
            let is_operator = |(known, _): &&(&str, &str)| known.starts_with(token.as_str()) && line.contains(known);
            if let Some((operator, hint)) = OPERATORS.iter().find(is_operator) {
                let message = format!("`{operator}` is not an operator of templates");
                return words(message, format!("write `{hint}`"), Some(operator));
            }
            let hint = "compare with the template language: `{{ function argument | function }}`";
            words(format!("unexpected `{token}` in this action"), hint, Some(token))
        }
        Misread::Other => None,
    }
}

/// Operators of other languages, and the functions that templates have instead; the longer ones first.
const OPERATORS: &[(&str, &str)] = &[
    ("==", "eq A B"),
    ("!=", "ne A B"),
    ("&&", "and A B"),
    ("||", "or A B"),
    (">=", "ge A B"),
    ("<=", "le A B"),
    (">", "gt A B"),
    ("<", "lt A B"),
    ("+", "add A B"),
    ("*", "mul A B"),
    ("/", "div A B"),
    ("!", "not A"),
];

/// The single brace that ends an action.
fn brace(line: &str) -> Option<&str> {
    let start = line.find("{{")?;
    let end = line.get(start..)?.find('}')? + start;
    line.get(end..=end)
}

/// The keyword of the last block that is still open.
fn open_block(text: &str) -> Option<&str> {
    let mut open: Vec<&str> = Vec::new();
    for action in text.split("{{").skip(1) {
        let inner = action.split("}}").next().unwrap_or("").trim_start_matches('-').trim();
        match inner.split([' ', '\n', '-']).next().unwrap_or("") {
            keyword @ ("if" | "range" | "with" | "define" | "block") => open.push(keyword),
            "end" => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_said_in_plain_words() {
        let none = || std::iter::empty();
        let said =
            |cause: Cause, node: &str| failed(&cause.into(), node, None, none()).map(|words| words.message.to_string());
        assert_eq!(
            said(Cause::WrongType { wanted: "string", found: Some("int64".into()) }, "upper").as_deref(),
            Some("expected a string, found an integer")
        );
        assert_eq!(
            said(Cause::Unset("call of nil"), "len .Values.a").as_deref(),
            Some("`.Values.a` is not set, so `len` cannot be computed")
        );
        let conversion = Cause::Conversion { found: Some("string".into()), wanted: "map[string]interface {}" };
        assert_eq!(said(conversion, "get").as_deref(), Some("expected a mapping, found a string"));
        assert_eq!(
            said(Cause::NoField { field: "name".into(), of: "interface {}".into() }, ".Values.image.tag.name")
                .as_deref(),
            Some("`.Values.image.tag` is not a mapping, so it has no field `name`")
        );
        let missing = Cause::NoTemplate("a.lables".into());
        let near = failed(&missing.into(), "", None, ["a.labels"].into_iter());
        assert_eq!(near.map(|words| words.hint).as_deref(), Some("did you mean `a.labels`?"));
    }

    #[test]
    fn blocks_that_are_open_are_found() {
        assert_eq!(open_block("{{- if .a }}{{ range .b }}{{ end }}"), Some("if"));
        assert_eq!(open_block("{{ with .a }}{{ end }}"), None);
    }
}
