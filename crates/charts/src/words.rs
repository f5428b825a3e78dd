//! Go's and Helm's texts in the words of people who write charts, each with what to do about it.
//!
//! The texts stay as they are where a personality prints them; here they are read and said again.

use purlin_gotmpl::funcs::LISTS;
use purlin_syntax::{Hint, Message, suggest, what};

/// What is wrong, in other words.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// What is wrong.
    pub message: Message,
    /// What to do.
    pub hint: Hint,
    /// The part of the expression or line that is wrong, as it is written.
    pub part: Option<String>,
}

fn words(message: impl Into<Message>, hint: impl Into<Hint>, part: Option<&str>) -> Option<Words> {
    Some(Words { message: message.into(), hint: hint.into(), part: part.map(str::to_owned) })
}

/// The text between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = text.get(text.find(start)? + start.len()..)?;
    rest.get(..rest.find(end)?)
}

/// A template that failed while it was rendered. `node` is the expression, `function` the one that was called,
/// `defined` the names of all named templates.
pub fn failed<'n>(
    text: &str,
    node: &str,
    function: Option<&str>,
    defined: impl Iterator<Item = &'n str>,
) -> Option<Words> {
    if let Some(name) = between(text, "no template \"", "\"") {
        let hint = suggest::did_you_mean(name, defined)
            .unwrap_or_else(|| format!("define it with `{{{{ define \"{name}\" }}}}`, or correct the name").into());
        return words(format!("unknown named template `{name}`"), hint, Some(&format!("\"{name}\"")));
    }
    if let Some(rest) = text.strip_prefix("can't evaluate field ") {
        let (field, of) = rest.split_once(" in type ")?;
        return no_field(node, field, of);
    }
    if let Some(rest) = text.strip_prefix("wrong type for value; expected ") {
        let (wanted, found) = rest.split_once("; got ")?;
        // A mapping of anything has nothing there.
        if found == "interface {}" {
            let hint = "set it in `values.yaml`, or give a fallback with `default`";
            return words(format!("expected {}, found a value that is not set", noun(wanted)), hint, None);
        }
        let hint = conversion(wanted).unwrap_or("test its type with `kindIs` first");
        return words(format!("expected {}, found {}", noun(wanted), noun(found)), hint, None);
    }
    if let Some(wanted) = text.strip_prefix("invalid value; expected ") {
        let hint = "set it in `values.yaml`, or give a fallback with `default`";
        return words(format!("expected {}, found a value that is not set", noun(wanted)), hint, None);
    }
    if let Some(rest) = text.strip_prefix("wrong number of args for ") {
        let (name, counts) = rest.split_once(": want ")?;
        let (wanted, found) = counts.split_once(" got ")?;
        let noun = if wanted == "1" || wanted == "at least 1" { "argument" } else { "arguments" };
        let hint =
            format!("what comes before `|` is the last argument; `{name}` is described in the function reference");
        return words(format!("`{name}` expects {wanted} {noun}, found {found}"), hint, Some(name));
    }
    if text.ends_with("integer divide by zero") {
        return words("division by zero", "check that the divisor is not 0", None);
    }
    if let Some(why) = text.strip_prefix("cannot parse template ").and_then(|rest| rest.rsplit_once(": ")) {
        let message = format!("the string that `tpl` is given is not a valid template: {}", why.1);
        return words(message, "correct the string; it is a template itself", None);
    }
    if text == "missing argument for comparison" {
        let name = function.unwrap_or("eq");
        let hint = format!("write `{name} A B`, or `A | {name} B`");
        return words(format!("`{name}` compares two values, found one"), hint, Some(name));
    }
    if text.starts_with("incompatible types for comparison") {
        let hint = "convert one of them, for example with `int` or `toString`";
        return words("values of different types cannot be compared", hint, None);
    }
    if let Some(what) = text.strip_prefix("range can't iterate over ") {
        let hint = "loop over a list, a mapping or an integer";
        return words(format!("`range` expects a list or a mapping, found `{what}`"), hint, None);
    }
    if let Some(what) = text.strip_prefix("can't give argument to non-function ") {
        let between = ["and", "or", "eq", "ne", "lt", "le", "gt", "ge", "not"];
        let operator = node.split_whitespace().skip(1).find(|word| between.contains(word));
        let hint = match operator {
            Some(name) => format!("functions come before their arguments: write `{name} A B` instead of `A {name} B`"),
            None => {
                "a function comes first: `function argument …`; each argument is in parentheses of its own".to_owned()
            }
        };
        return words(format!("`{what}` is not a function, so it takes no arguments"), hint, operator);
    }
    if let Some(method) = text.strip_suffix(" is not a method but has arguments") {
        return no_method(node, method);
    }
    if let Some(said) = unset_argument(text, node, function) {
        return Some(said);
    }
    if let Some(said) = unfitting(text, function) {
        return Some(said);
    }
    if text.starts_with("nil pointer evaluating ") {
        if let Some(said) = misspelt_root(node) {
            return Some(said);
        }
        let field = text.rsplit_once('.').map_or("", |(_, field)| field);
        let message = format!("what `{field}` is read from is not set, so `{node}` cannot be read");
        return words(message, "set it in `values.yaml`, or test for it with `if` or `default`", None);
    }
    None
}

/// What a template finds at its top.
const ROOTS: &[&str] = &["Values", "Chart", "Release", "Files", "Capabilities", "Template", "Subcharts"];

/// `.values.image` for `.Values.image`.
fn misspelt_root(node: &str) -> Option<Words> {
    let first = node.strip_prefix("$.").or_else(|| node.strip_prefix('.'))?.split('.').next()?;
    let near = suggest::nearest(first, ROOTS.iter().copied()).filter(|_| !ROOTS.contains(&first))?;
    words(format!("`.{first}` is not defined"), Hint::meant(format!(".{first}"), format!(".{near}")), Some(first))
}

/// What Helm logs about values that are not used.
pub fn warning(text: &str) -> Words {
    let said = (|| {
        if let Some(name) = between(text, "skipped value for ", ": Not a table") {
            let name = name.split_once('.').map_or(name, |(_, name)| name);
            let hint = format!("write one value for `{name}`, or make it a mapping in `values.yaml`");
            return words(
                format!("the values below `{name}` are not used: in `values.yaml` it is not a mapping"),
                hint,
                None,
            );
        }
        if let Some(rest) = text.strip_prefix("cannot overwrite table with non table for ") {
            let name = rest.split(" (").next().unwrap_or(rest);
            let hint = format!("write the values below `{name}:`");
            return words(format!("the value of `{name}` is not used: in `values.yaml` it is a mapping"), hint, None);
        }
        if let Some(name) = between(text, "destination for ", " is a table") {
            let hint = format!("write the values below `{name}:`");
            return words(format!("the value of `{name}` is not used: in `values.yaml` it is a mapping"), hint, None);
        }
        None
    })();
    let hint = "give the value the form that it has in the chart's `values.yaml`";
    said.unwrap_or_else(|| Words { message: text.to_owned().into(), hint: hint.into(), part: None })
}

/// What a template reads of an object that Helm hands in and that is not there; `None` for anything else.
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

/// A document whose head is not that of a manifest, from Go's message about it.
pub fn unfit_manifest(message: &str) -> Option<Words> {
    let rest = message.split_once("json: cannot unmarshal ")?.1;
    let (found, into) = rest.split_once(" into Go ")?;
    let found = match found {
        "array" => "a list",
        "object" => "a mapping",
        "bool" => "a boolean",
        "string" => "a string",
        found if found.starts_with("number") => "a number",
        found => found,
    };
    if into.starts_with("value of type ") {
        let message = format!("this renders to {found}, expected a manifest");
        let hint = "a manifest is a mapping with `apiVersion` and `kind`; files that only define templates have names that start with `_`";
        return words(message, hint, None);
    }
    let field = into.strip_prefix("struct field ")?.split(" of type ").next()?;
    let field = field.trim_start_matches("SimpleHead.").trim_start_matches('.');
    let (wanted, hint) = match field {
        "metadata" => ("a mapping", "write `name:` and the other keys below `metadata:`"),
        "metadata.annotations" if found == "a list" || (found == "a string" && into.contains("map[")) => {
            ("a mapping of strings", "write `name: \"value\"` lines below `annotations:`")
        }
        "metadata.annotations" => ("strings", "put the value in quotes, for example with `quote`"),
        _ => ("a string", "put it in quotes, for example with `quote`"),
    };
    words(format!("`{field}` of a manifest: expected {wanted}, found {found}"), hint, None)
}

/// Values of a subchart that are not a mapping.
pub fn subchart(message: &str) -> Option<Words> {
    let (name, found) = message.strip_prefix("type mismatch on ")?.split_once(": ")?;
    let found = between(found, "%!t(", "=").map_or("a boolean", noun);
    let message = format!("`{name}` in the values is a subchart's: expected a mapping, found {found}");
    words(message, format!("write the values of the subchart below `{name}:`"), None)
}

/// What Go says of a function that is given nothing.
const UNSET: &[&str] = &[
    "reflect: call of reflect.Value.Type on zero Value",
    "index of untyped nil",
    "index of nil pointer",
    "call of nil",
    "cannot index slice/array with nil",
    "value is nil; should be of type string",
];

/// A function whose argument is not set.
fn unset_argument(text: &str, node: &str, function: Option<&str>) -> Option<Words> {
    let is_unset = UNSET.contains(&text) || text.starts_with("interface conversion: interface {} is nil, not ");
    if !is_unset {
        return None;
    }
    let name = function.or_else(|| node.split_whitespace().next()).unwrap_or("this function");
    // A key that is not set is among the later arguments.
    let is_key = text.contains("with nil") || text.starts_with("value is nil");
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
    words(message, "set it in `values.yaml`, or give a fallback with `default`", path.or(Some(name)))
}

/// A function whose argument is of a kind that it does not know.
fn unfitting(text: &str, function: Option<&str>) -> Option<Words> {
    if let Some(found) = text.strip_prefix("len of type ") {
        let message = format!("`len` expects a string, a list or a mapping, found {}", noun(found));
        return words(message, "convert it with `toString`, or test its type with `kindIs` first", None);
    }
    if let Some(found) = text.strip_prefix("can't index item of type ") {
        let message = format!("`index` expects a list or a mapping, found {}", noun(found));
        return words(message, "test its type with `kindIs` first", None);
    }
    if let Some(at) = text.strip_prefix("index out of range: ") {
        return words(
            format!("the list has no item {at}"),
            "items are counted from 0; test its length with `len`",
            None,
        );
    }
    if let Some(found) = text.strip_prefix("cannot index slice/array with type ") {
        return words(format!("items of a list have numbers, found {}", noun(found)), "convert it with `int`", None);
    }
    if let Some(rest) = text.strip_prefix("value has type ") {
        let found = rest.split(';').next().unwrap_or(rest);
        return words(
            format!("keys of a mapping are strings, found {}", noun(found)),
            "convert it with `toString`",
            None,
        );
    }
    if let Some(rest) = text.strip_prefix("interface conversion: interface {} is ") {
        let (found, wanted) = rest.split_once(", not ")?;
        let hint = conversion(wanted).unwrap_or("test its type with `kindIs` first");
        let of = function.map(|name| format!("`{name}`: ")).unwrap_or_default();
        return words(format!("{of}expected {}, found {}", noun(wanted), noun(found)), hint, None);
    }
    if text.starts_with("non-comparable type") || text == "invalid type for comparison" {
        let hint = "compare single values; `deepEqual` compares lists and mappings";
        return words("lists and mappings cannot be compared here", hint, None);
    }
    None
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
        Some(before) => format!("read `{before}` itself, or make it a mapping in `values.yaml`"),
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
pub fn unreadable(message: &str, line: &str, text: &str) -> Option<Words> {
    if let Some(name) = between(message, "function \"", "\" not defined") {
        let names = LISTS.iter().flat_map(|(_, list)| list.iter().map(|function| function.name));
        let hint = suggest::did_you_mean(name, names);
        let hint = hint.unwrap_or_else(|| "docs/reference/template-functions.md lists all functions".into());
        return words(format!("unknown function `{name}`"), hint, Some(name));
    }
    if let Some(name) = between(message, "undefined variable \"", "\"") {
        let hint = format!("define it first: `{{{{ {name} := … }}}}`");
        return words(format!("undefined variable `{name}`"), hint, Some(name));
    }
    if message == "unexpected EOF" {
        let open = open_block(text)?;
        let message = format!("this `{open}` has no `{{{{ end }}}}`");
        return words(message, "add `{{ end }}` where it stops", Some(open));
    }
    if message.starts_with("unexpected {{end}}") {
        let hint = "remove it, or add the `if`, `range`, `with` or `define` that it closes";
        return words("`{{ end }}` closes nothing", hint, Some("end"));
    }
    if message.starts_with("unexpected {{else}}") {
        return words("`{{ else }}` without an `if`", "remove it, or add the `if` that it belongs to", Some("else"));
    }
    if message.starts_with("unexpected \"}\"") {
        return words("this `{{` is closed by a single `}`", "write `}}`", brace(line));
    }
    if message.contains("unclosed left paren") {
        return words("this `(` is never closed", "add `)`", Some("("));
    }
    if message.contains("comment") && (message.contains("unclosed") || message.contains("closing delimiter")) {
        return words("this comment is never closed", "close it with `*/}}`", Some("{{"));
    }
    if message.contains("unclosed action") || message.contains("unclosed left") {
        return words("this `{{` is never closed", "add `}}` on the same line", Some("{{"));
    }
    if message.starts_with("unterminated ") {
        let quote = line.rfind(['"', '`', '\'']).and_then(|at| line.get(at..=at));
        return words("this string is never closed", "add the closing quote", quote);
    }
    if let Some(what) = message.strip_prefix("missing value for ") {
        return words(format!("`{what}` has no value"), format!("write what `{what}` is about"), Some(what));
    }
    if let Some(rest) = message.strip_prefix("unexpected ") {
        let token = between(rest, "\"", "\"").or_else(|| between(rest, "<", ">")).unwrap_or(rest);
        if let Some((operator, hint)) =
            OPERATORS.iter().find(|(known, _)| known.starts_with(token) && line.contains(known))
        {
            let message = format!("`{operator}` is not an operator of templates");
            return words(message, format!("write `{hint}`"), Some(operator));
        }
        let hint = "compare with the template language: `{{ function argument | function }}`";
        return words(format!("unexpected `{token}` in this action"), hint, Some(token));
    }
    None
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
    fn go_is_said_in_plain_words() {
        let none = || std::iter::empty();
        let said = |text: &str, node: &str| failed(text, node, None, none()).map(|words| words.message.to_string());
        assert_eq!(
            said("wrong type for value; expected string; got int64", "upper").as_deref(),
            Some("expected a string, found an integer")
        );
        assert_eq!(
            said("reflect: call of reflect.Value.Type on zero Value", "len .Values.a").as_deref(),
            Some("`.Values.a` is not set, so `len` cannot be computed")
        );
        assert_eq!(
            said("interface conversion: interface {} is string, not map[string]interface {}", "get").as_deref(),
            Some("expected a mapping, found a string")
        );
        assert_eq!(
            said("can't evaluate field name in type interface {}", ".Values.image.tag.name").as_deref(),
            Some("`.Values.image.tag` is not a mapping, so it has no field `name`")
        );
        let near =
            failed(": no template \"a.lables\" associated with template \"gotpl\"", "", None, ["a.labels"].into_iter());
        assert_eq!(near.map(|words| words.hint).as_deref(), Some("did you mean `a.labels`?"));
    }

    #[test]
    fn blocks_that_are_open_are_found() {
        assert_eq!(open_block("{{- if .a }}{{ range .b }}{{ end }}"), Some("if"));
        assert_eq!(open_block("{{ with .a }}{{ end }}"), None);
    }
}
