//! Work of the methods of strings, as Python does it.

use crate::arithmetic::too_long;
use crate::error::{Result, type_error};
use crate::limits::MAX_STRING;
use crate::methods::Called;
use crate::python;
use crate::val::Val;
use ecow::EcoString;

/// How many characters come before a byte.
pub fn chars_before(text: &str, at: usize) -> Val {
    Val::len(text.get(..at).map_or(0, |head| head.chars().count()))
}

/// Whether a text has characters, all of one kind.
pub fn is_all(text: &str, test: fn(char) -> bool) -> Val {
    Val::bool(!text.is_empty() && text.chars().all(test))
}

/// Whether a text has letters, and equals itself in one case.
pub fn is_cased(text: &str, cased: &str) -> Val {
    Val::bool(text.chars().any(char::is_alphabetic) && text == cased)
}

/// `join`
pub fn joined(called: &Called<'_, '_>, text: &str) -> Result<Val> {
    let Some(items) = called.args.positional.first() else {
        return type_error("`join` needs a list");
    };
    let mut texts = Vec::new();
    for item in called.render.iterate(items)? {
        match item.as_str() {
            Some(text) => texts.push(text.to_owned()),
            None => {
                let found = python::type_name(&item);
                return type_error(format!("sequence item: expected str instance, {found} found"));
            }
        }
    }
    if texts.iter().map(|item| item.len() + text.len()).sum::<usize>() > MAX_STRING {
        return too_long();
    }
    Ok(Val::str(texts.join(text)))
}

/// `replace`
pub fn replaced(called: &Called<'_, '_>, text: &str) -> Result<Val> {
    let (part, new) = (called.part(), called.text(1)?.unwrap_or_default());
    if text.len() + text.matches(part).count().saturating_mul(new.len()) > MAX_STRING {
        return too_long();
    }
    Ok(match called.count(2) {
        Some(count) => Val::str(text.replacen(part, &new, count)),
        None => Val::str(text.replace(part, &new)),
    })
}

/// `startswith` and `endswith`: one text, or any of a list.
pub fn touches(called: &Called<'_, '_>, test: impl Fn(&str) -> bool) -> Val {
    let candidates: Vec<EcoString> = match called.args.positional.first().and_then(Val::as_list) {
        Some(items) => items.iter().filter_map(Val::as_str).map(Into::into).collect(),
        None => called.needle.clone().into_iter().collect(),
    };
    Val::bool(candidates.iter().any(|part| test(part)))
}

/// The first letter of each run of letters in upper case, the others in lower case.
pub fn title_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within = false;
    for c in text.chars() {
        if within {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        within = c.is_alphabetic();
    }
    out
}

/// A text without blanks, or given characters, at its ends.
pub fn stripped<'t>(text: &'t str, chars: Option<&str>, start: bool, end: bool) -> &'t str {
    let drop = |c: char| match chars {
        Some(chars) => chars.contains(c),
        None => c.is_whitespace(),
    };
    let text = if start { text.trim_start_matches(drop) } else { text };
    if end { text.trim_end_matches(drop) } else { text }
}

/// The parts of a text, split from its end.
pub fn split_back(text: &str, separator: Option<&str>, most: Option<usize>) -> Vec<Val> {
    let limit = most.map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<Val> = match separator {
        Some(separator) if !separator.is_empty() => text.rsplitn(limit, separator).map(Val::str).collect(),
        _ => text.trim().rsplitn(limit, char::is_whitespace).filter(|p| !p.is_empty()).map(Val::str).collect(),
    };
    parts.reverse();
    parts
}

/// A letter in the other case.
pub fn swap_case(c: char) -> char {
    let other = if c.is_uppercase() { c.to_lowercase().next() } else { c.to_uppercase().next() };
    other.unwrap_or(c)
}

/// The lines of a text, with Python's line ends.
pub struct Lines<'t> {
    pub rest: &'t str,
    pub keeps_ends: bool,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let is_end = |c: char| matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let Some((at, end)) = self.rest.char_indices().find(|(_, c)| is_end(*c)) else {
            return Some(std::mem::take(&mut self.rest));
        };
        let is_pair = self.rest.get(at..).is_some_and(|rest| rest.starts_with("\r\n"));
        let after = at + if is_pair { 2 } else { end.len_utf8() };
        let line = self.rest.get(..if self.keeps_ends { after } else { at });
        self.rest = self.rest.get(after..).unwrap_or("");
        line
    }
}

/// A text with blanks up to the next stop in place of its tabs.
pub fn tabs_expanded(text: &str, stop: i64) -> Result<String> {
    let stop = usize::try_from(stop).unwrap_or(0);
    if text.matches('\t').count().saturating_mul(stop).saturating_add(text.len()) > MAX_STRING {
        return too_long();
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = if stop == 0 { 0 } else { stop - column % stop };
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    Ok(out)
}

/// A number with zeros before it.
pub fn zero_filled(text: &str, width: Option<i64>) -> Result<String> {
    let width = usize::try_from(width.unwrap_or(0)).unwrap_or(0);
    if width > MAX_STRING {
        return too_long();
    }
    let missing = width.saturating_sub(text.chars().count());
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.get(..1).unwrap_or(""), digits),
        None => ("", text),
    };
    Ok(format!("{sign}{}{digits}", "0".repeat(missing)))
}

/// A text in a line of some width.
pub fn justified(text: &str, how: &str, width: Option<i64>, fill: Option<&str>) -> Result<String> {
    let width = usize::try_from(width.unwrap_or(0)).unwrap_or(0);
    if width > MAX_STRING {
        return too_long();
    }
    let missing = width.saturating_sub(text.chars().count());
    let fill = fill.filter(|fill| fill.chars().count() == 1).unwrap_or(" ");
    Ok(match how {
        "ljust" => format!("{text}{}", fill.repeat(missing)),
        "rjust" => format!("{}{text}", fill.repeat(missing)),
        _ => {
            let left = missing / 2 + (missing & width & 1);
            format!("{}{text}{}", fill.repeat(left), fill.repeat(missing - left))
        }
    })
}
