//! Filters with regular expressions. The evaluation is linear where the pattern allows it and bounded where it does not.

use super::{Renderer, Values, flag, text_arg, text_of};
use crate::arithmetic::too_long;
use crate::error::{Result, limit, limit_of, type_error, value_error};
use crate::evaluation::{Evaluation, exceeded};
use crate::limits::MAX_STRING;
use crate::val::Val;
use fancy_regex::{Captures, CompileError, Regex, RegexBuilder};
use purlin_value::pattern::{Refused, Work, compile as charged};
use purlin_value::rules::LIMIT_REGEX;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

type R<'a, 'c> = &'a mut Renderer<'c>;

/// Most steps back of a pattern with look-around in one search, plus a number of them for every byte of the text.
const STEPS_BACK: usize = 10_000;
const STEPS_BACK_PER_BYTE: usize = 16;
/// Bytes visited in one search: such a pattern may go through all of the text between steps back.
const BYTES_LOOKED_AT: usize = 200_000_000;
/// Visited bytes per step of evaluation.
const LOOKED_AT_PER_STEP: usize = 256;

/// A search that may take steps back is first tried with this limit, then with larger ones: a search with few steps
/// back is charged for few.
const FIRST_STEPS_BACK: usize = 64;
const MORE_STEPS_BACK: usize = 8;
/// Most bytes visited for each byte of a pattern with unbounded repetitions of an empty match.
const BYTES_PER_PART: usize = 8;

/// How a pattern is read.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Without regard to case.
    pub ignore_case: bool,
    /// `^` and `$` at every line.
    pub multiline: bool,
}

/// A compiled pattern. Every search is charged before it is made.
pub struct Pattern<'e, 'w> {
    regex: Regex,
    work: Work,
    evaluation: &'e Evaluation<'w>,
    text: String,
    /// The steps back of one search, if it takes any.
    back: usize,
    /// The bytes visited between two steps back, if that is not the whole text.
    near: Option<usize>,
    /// The same pattern with fewer steps back, for patterns that take some.
    tries: RefCell<Vec<(usize, Rc<Regex>)>>,
    bytes: Cell<u64>,
}

impl Drop for Pattern<'_, '_> {
    fn drop(&mut self) {
        self.evaluation.session.meter.release(self.bytes.get());
    }
}

/// Compiles a pattern to search in a text of some bytes.
pub fn compile<'e, 'w>(
    evaluation: &'e Evaluation<'w>,
    pattern: &str,
    options: Options,
    length: usize,
) -> Result<Pattern<'e, 'w>> {
    let mut flags = String::new();
    if options.ignore_case {
        flags.push('i');
    }
    if options.multiline {
        flags.push('m');
    }
    let pattern = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    let near = (!pattern.contains(['*', '+', '{'])).then_some(pattern.len() * BYTES_PER_PART);
    let far = near.unwrap_or(length).clamp(1, length.max(1));
    let back = (STEPS_BACK + length.saturating_mul(STEPS_BACK_PER_BYTE)).min(BYTES_LOOKED_AT / far);
    evaluation.spend(pattern.len())?;
    let (regex, bytes) = build(evaluation, &pattern, back)?;
    let (work, bytes) = (Work::of(&pattern, bytes), Cell::new(bytes));
    Ok(Pattern { regex, work, evaluation, text: pattern, back, near, tries: RefCell::default(), bytes })
}

/// Compiles a pattern with a limit on steps back, and the bytes charged for it.
fn build(evaluation: &Evaluation<'_>, pattern: &str, back: usize) -> Result<(Regex, u64)> {
    let build = |most: usize| {
        let mut builder = RegexBuilder::new(pattern);
        let builder = builder.backtrack_limit(back).delegate_size_limit(most);
        match builder.delegate_dfa_size_limit(most.max(LEAST_REMEMBERED)).build() {
            Ok(regex) => Ok(Some(regex)),
            Err(error) if is_too_large(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let most = evaluation.session.limits.regex_bytes;
    match charged(&evaluation.session.meter, most, build) {
        Ok(built) => Ok(built),
        Err(Refused::Exceeded(over)) => exceeded(over),
        Err(Refused::TooLarge) => {
            limit_of(&LIMIT_REGEX, format!("a pattern needs more than {most} bytes when compiled"))
        }
        Err(Refused::Invalid(error)) => value_error(format!("the pattern cannot be read: {error}")),
    }
}

impl Pattern<'_, '_> {
    /// The first match.
    pub fn first<'t>(&self, text: &'t str) -> Result<Option<Captures<'t>>> {
        if !self.work.is_regular() {
            return self.from(text, 0);
        }
        self.pay(self.work.first(text.len()))?;
        self.regex.captures(text).or_else(|_| self.too_hard())
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        if !self.work.is_regular() {
            return self.from(text, 0).map(|found| found.is_some());
        }
        self.pay(self.work.first(text.len()))?;
        self.regex.is_match(text).or_else(|_| self.too_hard())
    }

    /// Does something with every match.
    fn each(&self, text: &str, mut work: impl FnMut(Captures<'_>) -> Result<()>) -> Result<()> {
        if !self.work.is_regular() {
            return self.each_with_steps_back(text, work);
        }
        self.pay(self.work.first(text.len()))?;
        for found in self.regex.captures_iter(text) {
            let Ok(found) = found else { return self.too_hard() };
            let left = text.len() - found.get(0).map_or(0, |whole| whole.end());
            work(found)?;
            self.pay(self.work.another(left))?;
        }
        Ok(())
    }

    fn each_with_steps_back(&self, text: &str, mut work: impl FnMut(Captures<'_>) -> Result<()>) -> Result<()> {
        let (mut at, mut last) = (0, None);
        while let Some(found) = self.from(text, at)? {
            let Some((start, end)) = found.get(0).map(|whole| (whole.start(), whole.end())) else { break };
            // An empty match right behind another match does not count.
            let is_new = start < end || last != Some(end);
            let rest = text.get(end..).unwrap_or_default();
            at = end + if start < end { 0 } else { rest.chars().next().map_or(1, char::len_utf8) };
            last = Some(end);
            if is_new {
                work(found)?;
            }
            if at > text.len() {
                break;
            }
        }
        Ok(())
    }

    /// The first match from a place on, for a pattern that may take steps back.
    fn from<'t>(&self, text: &'t str, at: usize) -> Result<Option<Captures<'t>>> {
        let left = text.len().saturating_sub(at);
        let far = self.near.map_or(left, |near| near.min(left));
        let pay = |back: usize| self.pay((back.saturating_add(back.saturating_mul(far) / LOOKED_AT_PER_STEP)) as u64);
        let mut back = FIRST_STEPS_BACK;
        while back < self.back {
            pay(back)?;
            if let Ok(found) = self.with_steps_back(back)?.captures_from_pos(text, at) {
                return Ok(found);
            }
            back = back.saturating_mul(MORE_STEPS_BACK);
        }
        pay(self.back)?;
        self.regex.captures_from_pos(text, at).or_else(|_| self.too_hard())
    }

    /// The pattern with fewer steps back, compiled on first use.
    fn with_steps_back(&self, back: usize) -> Result<Rc<Regex>> {
        if let Some((_, regex)) = self.tries.borrow().iter().find(|(steps, _)| *steps == back) {
            return Ok(regex.clone());
        }
        let (regex, bytes) = build(self.evaluation, &self.text, back)?;
        self.bytes.set(self.bytes.get() + bytes);
        let regex = Rc::new(regex);
        self.tries.borrow_mut().push((back, regex.clone()));
        Ok(regex)
    }

    fn pay(&self, steps: u64) -> Result<()> {
        self.evaluation.spend(usize::try_from(steps).unwrap_or(usize::MAX))
    }

    fn too_hard<T>(&self) -> Result<T> {
        limit(format!("the pattern takes more than {} steps back", self.back))
    }
}

/// The least memory of a search in bytes, however small the pattern is.
const LEAST_REMEMBERED: usize = 32 << 10;

/// Whether a pattern cannot be compiled because of its size.
fn is_too_large(error: &fancy_regex::Error) -> bool {
    let fancy_regex::Error::CompileError(CompileError::InnerError(inner)) = error else { return false };
    inner.size_limit().is_some()
}

/// Whether a pattern matches, at the start only if `anchored`.
pub fn matches(
    evaluation: &Evaluation<'_>,
    pattern: &str,
    text: &str,
    options: Options,
    anchored: bool,
) -> Result<bool> {
    let pattern = if anchored { format!("\\A(?:{pattern})") } else { pattern.to_owned() };
    compile(evaluation, &pattern, options, text.len())?.is_match(text)
}

fn options(args: &Values) -> Options {
    Options {
        ignore_case: flag(args, usize::MAX, "ignorecase", false),
        multiline: flag(args, usize::MAX, "multiline", false),
    }
}

pub(super) fn replace(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let pattern = text_arg(render, args, 0, "pattern")?.unwrap_or_default();
    let replacement = text_arg(render, args, 1, "replacement")?.unwrap_or_default();
    let pattern = compile(render.ctx.evaluation, &pattern, options(args), text.len())?;
    let mut out = String::new();
    let mut from = 0;
    pattern.each(&text, |found| {
        let Some(whole) = found.get(0) else { return Ok(()) };
        out.push_str(text.get(from..whole.start()).unwrap_or(""));
        expand(&replacement, &found, &mut out);
        from = whole.end();
        if out.len() > MAX_STRING { too_long() } else { Ok(()) }
    })?;
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

pub(super) fn search(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let Some(pattern) = text_arg(render, args, 0, "regex")? else {
        return type_error("`regex_search` needs a pattern");
    };
    let pattern = compile(render.ctx.evaluation, &pattern, options(args), text.len())?;
    let Some(found) = pattern.first(&text)? else {
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

pub(super) fn findall(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let Some(pattern) = text_arg(render, args, 0, "regex")? else {
        return type_error("`regex_findall` needs a pattern");
    };
    let options =
        Options { multiline: flag(args, 1, "multiline", false), ignore_case: flag(args, 2, "ignorecase", false) };
    let pattern = compile(render.ctx.evaluation, &pattern, options, text.len())?;
    let mut out = Vec::new();
    pattern.each(&text, |found| {
        let group = |index: usize| Val::str(found.get(index).map_or("", |group| group.as_str()));
        out.push(match found.len() {
            1 => group(0),
            2 => group(1),
            count => Val::list((1..count).map(group).collect()),
        });
        render.ctx.evaluation.charge(found.len(), found.len() * 2 * size_of::<Val>())
    })?;
    Ok(Val::list(out))
}

pub(super) fn escape(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
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
