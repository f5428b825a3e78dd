//! Filters on text.

use super::wrap::Wrap;
use super::{Renderer, Values, flag, int_arg, text_arg, text_of};
use crate::arithmetic::too_long;
use crate::error::{Result, type_error};
use crate::format;
use crate::limits::MAX_STRING;
use crate::python;
use crate::val::{Data, Val};

type R<'a, 'c> = &'a mut Renderer<'c>;

pub fn upper(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(text_of(render, &input)?.to_uppercase()))
}

pub fn lower(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(text_of(render, &input)?.to_lowercase()))
}

pub fn capitalize(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(capitalized(&text_of(render, &input)?)))
}

/// First letter upper case, the rest lower case.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars.as_str().to_lowercase().chars()).collect(),
        None => String::new(),
    }
}

pub fn title(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(titled(&text_of(render, &input)?)))
}

/// Each word capitalised.
pub fn titled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut start = true;
    for c in text.chars() {
        if start {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        start = c.is_whitespace() || matches!(c, '-' | '(' | '{' | '[' | '<');
    }
    out
}

pub fn trim(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    Ok(match text_arg(render, args, 0, "chars")? {
        Some(chars) => Val::str(text.trim_matches(|c| chars.contains(c))),
        None => Val::str(text.trim()),
    })
}

pub fn string(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(text_of(render, &input)?))
}

pub fn same(_: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(input)
}

pub fn pprint(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(python::repr(&input, render.ctx.host.instances())))
}

pub fn type_debug(_: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(python::type_name(&input)))
}

pub fn center(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let width = usize::try_from(int_arg(args, 0, "width")?.unwrap_or(80)).unwrap_or(0);
    if width > MAX_STRING {
        return too_long();
    }
    let missing = width.saturating_sub(text.chars().count());
    let left = missing / 2 + (missing & width & 1);
    Ok(Val::str(format!("{}{text}{}", " ".repeat(left), " ".repeat(missing - left))))
}

pub fn escape(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(escaped(&text_of(render, &input)?)))
}

/// A text escaped for HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}

pub fn striptags(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    Ok(Val::str(out.split_whitespace().collect::<Vec<_>>().join(" ")))
}

pub fn xmlattr(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(entries) = input.as_map() else {
        return type_error(format!("`xmlattr` needs a map, not {}", input.kind()));
    };
    let mut out = String::new();
    for (key, value) in entries {
        if matches!(value.data, Data::Null | Data::Undefined(_)) {
            continue;
        }
        let name = text_of(render, &key.to_val())?;
        if name.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '>' | '=')) {
            return type_error(format!("`{name}` cannot be the name of an attribute"));
        }
        out.push_str(&format!(" {name}=\"{}\"", escaped(&text_of(render, value)?)));
    }
    let out = if flag(args, 0, "autospace", true) { out.as_str() } else { out.trim_start() };
    Ok(Val::str(out))
}

pub fn format(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let operand = if args.named.is_empty() {
        let mut values = Vec::new();
        for value in &args.positional {
            values.push(render.whole(value.clone())?);
        }
        Val::tuple(values)
    } else {
        Val::record(args.named.iter().map(|(name, value)| (name.as_str(), value.clone())))
    };
    format::percent(&text, &operand).map(Val::str)
}

pub fn indent(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let by = match args.get(0, "width").map(|width| &width.data) {
        Some(Data::Str(text)) => text.to_string(),
        _ => " ".repeat(usize::try_from(int_arg(args, 0, "width")?.unwrap_or(4)).unwrap_or(0).min(MAX_STRING)),
    };
    let (first, blank) = (flag(args, 1, "first", false), flag(args, 2, "blank", false));
    if text.lines().count().saturating_mul(by.len()) + text.len() > MAX_STRING {
        return too_long();
    }
    let mut out = String::new();
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if (at > 0 || first) && (blank || !line.is_empty()) {
            out.push_str(&by);
        }
        out.push_str(line);
    }
    Ok(Val::str(out))
}

pub fn replace(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let (Some(old), Some(new)) = (text_arg(render, args, 0, "old")?, text_arg(render, args, 1, "new")?) else {
        return type_error("`replace` needs what to replace and by what");
    };
    let count = int_arg(args, 2, "count")?;
    let times = text.matches(old.as_str()).count();
    if text.len() + times.saturating_mul(new.len()) > MAX_STRING {
        return too_long();
    }
    Ok(Val::str(match count.and_then(|count| usize::try_from(count).ok()) {
        Some(count) => text.replacen(old.as_str(), &new, count),
        None => text.replace(old.as_str(), &new),
    }))
}

pub fn split(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let separator = text_arg(render, args, 0, "sep")?;
    let most = int_arg(args, 1, "maxsplit")?.and_then(|n| usize::try_from(n).ok());
    render.ctx.evaluation.afford_list(most_parts(&text, separator.as_deref()))?;
    Ok(Val::list(split_text(&text, separator.as_deref(), most).into_iter().map(Val::str).collect()))
}

/// How many parts a text has at most when it is split.
pub fn most_parts(text: &str, separator: Option<&str>) -> usize {
    match separator.filter(|separator| !separator.is_empty()) {
        Some(separator) => text.matches(separator).count() + 1,
        None => text.split_whitespace().count(),
    }
}

/// `str.split`: at blanks, or at a separator.
pub fn split_text(text: &str, separator: Option<&str>, most: Option<usize>) -> Vec<String> {
    let limit = most.map_or(usize::MAX, |most| most.saturating_add(1));
    match separator.filter(|separator| !separator.is_empty()) {
        Some(separator) => text.splitn(limit, separator).map(str::to_owned).collect(),
        None if most.is_none() => text.split_whitespace().map(str::to_owned).collect(),
        None => {
            let mut parts = Vec::new();
            let mut rest = text.trim_start();
            while !rest.is_empty() {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                if parts.len() + 1 == limit {
                    parts.push(rest.to_owned());
                    break;
                }
                parts.push(rest.get(..end).unwrap_or("").to_owned());
                rest = rest.get(end..).unwrap_or("").trim_start();
            }
            parts
        }
    }
}

pub fn truncate(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let length = usize::try_from(int_arg(args, 0, "length")?.unwrap_or(255)).unwrap_or(0);
    let kill = flag(args, 1, "killwords", false);
    let end = text_arg(render, args, 2, "end")?.unwrap_or_else(|| "...".into());
    let leeway = usize::try_from(int_arg(args, 3, "leeway")?.unwrap_or(5)).unwrap_or(0);
    if text.chars().count() <= length + leeway {
        return Ok(Val::str(text));
    }
    let kept: String = text.chars().take(length.saturating_sub(end.chars().count())).collect();
    let kept = if kill { kept.as_str() } else { kept.rsplit_once(' ').map_or(kept.as_str(), |(kept, _)| kept) };
    Ok(Val::str(format!("{kept}{end}")))
}

pub fn wordcount(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    Ok(Val::len(text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).count()))
}

pub fn wordwrap(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let width = usize::try_from(int_arg(args, 0, "width")?.unwrap_or(79)).unwrap_or(1).max(1);
    let split_words = flag(args, 1, "break_long_words", true);
    let mark = text_arg(render, args, 2, "wrapstring")?.unwrap_or_else(|| "\n".into());
    let at_hyphens = flag(args, 3, "break_on_hyphens", true);
    let wrap = Wrap { width, split_words, at_hyphens };
    let lines: Vec<String> = text.lines().map(|paragraph| wrap.lines(paragraph).join(&mark)).collect();
    let out = lines.join(&mark);
    if out.len() > MAX_STRING { too_long() } else { Ok(Val::str(out)) }
}

pub fn quote(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = if input.is_null() { "".into() } else { text_of(render, &input)? };
    Ok(Val::str(shell_quote(&text)))
}

/// A text as one word of a shell.
pub fn shell_quote(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !text.is_empty() && text.chars().all(safe) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

pub fn comment(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let style = text_arg(render, args, 0, "style")?.unwrap_or_else(|| "plain".into());
    let (start, mark, end) = match style.as_str() {
        "plain" => ("", "# ", ""),
        "erlang" => ("", "% ", ""),
        "c" => ("", "// ", ""),
        "cblock" => ("/*", " * ", " */"),
        "xml" => ("<!--", " - ", "-->"),
        _ => return type_error(format!("unknown comment style `{style}`")),
    };
    let mark = text_arg(render, args, 1, "decoration")?.unwrap_or_else(|| mark.into());
    let mut lines: Vec<String> = Vec::new();
    if !start.is_empty() {
        lines.push(start.to_owned());
    }
    lines.push(mark.trim_end().to_owned());
    let count = text.split('\n').count();
    lines.extend(text.split('\n').enumerate().map(|(at, line)| match line {
        "" if at + 1 < count => mark.trim_end().to_owned(),
        _ => format!("{mark}{line}"),
    }));
    lines.push(mark.trim_end().to_owned());
    if !end.is_empty() {
        lines.push(end.to_owned());
    }
    Ok(Val::str(lines.join("\n")))
}
