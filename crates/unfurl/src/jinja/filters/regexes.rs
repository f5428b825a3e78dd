//! Filters with regular expressions. The engine is linear where the pattern allows it and bounded where it does not.

use super::{Renderer, Values, flag, text_arg, text_of};
use crate::error::{Result, limit, limit_of, type_error, value_error};
use crate::jinja::arithmetic::too_long;
use crate::limits::MAX_STRING;
use crate::val::Val;
use fancy_regex::{Captures, CompileError, Regex, RegexBuilder};
use purlin_value::rules::LIMIT_REGEX;

type R<'a, 'c, 'e, 'w> = &'a mut Renderer<'c, 'e, 'w>;

/// Largest compiled form of a pattern, in bytes.
const COMPILED: usize = 1 << 20;
/// Steps back a pattern with look-around may take.
const STEPS_BACK: usize = 1_000_000;

/// How a pattern is read.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Without regard to case.
    pub ignore_case: bool,
    /// `^` and `$` at every line.
    pub multiline: bool,
}

/// Compiles a pattern.
pub fn compile(pattern: &str, options: Options) -> Result<Regex> {
    let mut flags = String::new();
    if options.ignore_case {
        flags.push('i');
    }
    if options.multiline {
        flags.push('m');
    }
    let pattern = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    let built = RegexBuilder::new(&pattern)
        .backtrack_limit(STEPS_BACK)
        .delegate_size_limit(COMPILED)
        .delegate_dfa_size_limit(COMPILED)
        .build();
    match built {
        Ok(regex) => Ok(regex),
        Err(error) if is_too_large(&error) => {
            limit_of(&LIMIT_REGEX, format!("a pattern needs more than {COMPILED} bytes when compiled"))
        }
        Err(error) => value_error(format!("the pattern cannot be read: {error}")),
    }
}

/// Whether a pattern cannot be compiled because of its size.
fn is_too_large(error: &fancy_regex::Error) -> bool {
    let fancy_regex::Error::CompileError(CompileError::InnerError(inner)) = error else { return false };
    inner.size_limit().is_some()
}

/// Whether a pattern matches, at the start only if `anchored`.
pub fn matches(pattern: &str, text: &str, options: Options, anchored: bool) -> Result<bool> {
    let pattern = if anchored { format!("\\A(?:{pattern})") } else { pattern.to_owned() };
    match compile(&pattern, options)?.is_match(text) {
        Ok(found) => Ok(found),
        Err(_) => too_hard(),
    }
}

fn too_hard<T>() -> Result<T> {
    limit(format!("the pattern takes more than {STEPS_BACK} steps back"))
}

fn options(args: &Values) -> Options {
    Options {
        ignore_case: flag(args, usize::MAX, "ignorecase", false),
        multiline: flag(args, usize::MAX, "multiline", false),
    }
}

pub fn replace(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let pattern = text_arg(render, args, 0, "pattern")?.unwrap_or_default();
    let replacement = text_arg(render, args, 1, "replacement")?.unwrap_or_default();
    let regex = compile(&pattern, options(args))?;
    let mut out = String::new();
    let mut from = 0;
    for found in regex.captures_iter(&text) {
        let Ok(found) = found else {
            return too_hard();
        };
        let Some(whole) = found.get(0) else { continue };
        out.push_str(text.get(from..whole.start()).unwrap_or(""));
        expand(&replacement, &found, &mut out);
        from = whole.end();
        if out.len() > MAX_STRING {
            return too_long();
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    Ok(Val::str(out))
}

/// Python's replacement templates: `\1`, `\g<1>`, `\g<name>`, `\n`.
fn expand(replacement: &str, found: &Captures<'_>, out: &mut String) {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at + 1..).unwrap_or("");
        if let Some((name, after)) = rest.strip_prefix("g<").and_then(|inner| inner.split_once('>')) {
            let group = match name.parse::<usize>() {
                Ok(index) => found.get(index),
                Err(_) => found.name(name),
            };
            out.push_str(group.map_or("", |group| group.as_str()));
            rest = after;
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (index, after) = rest.split_at(digits.min(2));
            let group = index.parse().ok().and_then(|index| found.get(index));
            out.push_str(group.map_or("", |group| group.as_str()));
            rest = after;
            continue;
        }
        let mut chars = rest.chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

pub fn search(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let Some(pattern) = text_arg(render, args, 0, "regex")? else {
        return type_error("`regex_search` needs a pattern");
    };
    let regex = compile(&pattern, options(args))?;
    let Ok(found) = regex.captures(&text) else {
        return too_hard();
    };
    let Some(found) = found else {
        return Ok(Val::null());
    };
    let groups = args.positional.get(1..).unwrap_or(&[]);
    if groups.is_empty() {
        return Ok(found.get(0).map_or_else(Val::null, |whole| Val::str(whole.as_str())));
    }
    let mut out = Vec::new();
    for group in groups {
        let name = text_of(render, group)?;
        let name = name.trim_start_matches('\\');
        let name = name.strip_prefix("g<").and_then(|name| name.strip_suffix('>')).unwrap_or(name);
        let group = match name.parse::<usize>() {
            Ok(index) => found.get(index),
            Err(_) => found.name(name),
        };
        out.push(group.map_or_else(Val::null, |group| Val::str(group.as_str())));
    }
    Ok(Val::list(out))
}

pub fn findall(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let Some(pattern) = text_arg(render, args, 0, "regex")? else {
        return type_error("`regex_findall` needs a pattern");
    };
    let options =
        Options { multiline: flag(args, 1, "multiline", false), ignore_case: flag(args, 2, "ignorecase", false) };
    let regex = compile(&pattern, options)?;
    let mut out = Vec::new();
    for found in regex.captures_iter(&text) {
        let Ok(found) = found else {
            return too_hard();
        };
        let group = |index: usize| Val::str(found.get(index).map_or("", |group| group.as_str()));
        out.push(match found.len() {
            1 => group(0),
            2 => group(1),
            count => Val::list((1..count).map(group).collect()),
        });
    }
    Ok(Val::list(out))
}

pub fn escape(render: R<'_, '_, '_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let mut out = String::new();
    for c in text.chars() {
        if "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(Val::str(out))
}
