//! Ansible's lookups, as far as they make sense in configuration.

use crate::error::{Error, Kind, Result, missing, type_error, value_error};
use crate::eval::Ctx;
use crate::eval::path::{as_one, is_list};
use crate::functions::{environment, files, random};
use crate::limits::MAX_ITEMS;
use crate::python;
use crate::val::{MapKey, Val};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_value::WorldError;
use purlin_value::rules::LIMIT_LIST;
use purlin_value::world::{Command, Remote};

/// Names of all lookups.
pub const LOOKUPS: &[&str] = &[
    "csvfile",
    "dict",
    "env",
    "file",
    "fileglob",
    "first_found",
    "indexed_items",
    "ini",
    "items",
    "lines",
    "list",
    "nested",
    "password",
    "pipe",
    "random_choice",
    "sequence",
    "subelements",
    "template",
    "together",
    "unfurl",
    "unvault",
    "url",
    "varnames",
    "vars",
];

/// The result of a template file is text, and ends with as many line breaks as the file.
fn ending_like(ctx: &Ctx<'_, '_>, template: &str, rendered: Val) -> Result<Val> {
    let breaks = |text: &str| text.len() - text.trim_end_matches('\n').len();
    let text = ctx.text(&rendered)?;
    let lacking = match rendered.as_list().is_some() || rendered.as_map().is_some() {
        true => 0,
        false => breaks(template).saturating_sub(breaks(&text)),
    };
    let whole = Val::str(format!("{text}{}", "\n".repeat(lacking)));
    Ok(whole.from_origin(rendered.origin).taint_if(rendered.is_tainted()))
}

/// The result of a lookup.
pub fn lookup(ctx: &Ctx<'_, '_>, plugin: &str, terms: Vec<Val>, named: &[(EcoString, Val)]) -> Result<Vec<Val>> {
    let option = |name: &str| named.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let plugin = plugin.strip_prefix("ansible.builtin.").unwrap_or(plugin);
    match plugin {
        "env" => each_text(ctx, &terms, |name| {
            let found = environment::of_process(ctx, name)?;
            Ok(vec![found.or_else(|| option("default").cloned()).unwrap_or_else(|| Val::str(""))])
        }),
        "file" => each_text(ctx, &terms, |name| {
            let contents = files::contents(ctx, name, None)?;
            let text = ctx.text(&contents)?;
            Ok(vec![Val::str(text.trim_end()).taint_if(contents.is_tainted())])
        }),
        "unvault" => each_text(ctx, &terms, |name| Ok(vec![files::contents(ctx, name, None)?])),
        "template" => each_text(ctx, &terms, |name| {
            let contents = files::contents(ctx, name, None)?;
            let template = ctx.text(&contents)?;
            let rendered = super::render(ctx, &template)?;
            Ok(vec![ending_like(ctx, &template, rendered)?.taint_if(contents.is_tainted())])
        }),
        "fileglob" => {
            each_text(ctx, &terms, |pattern| Ok(files::glob(ctx, pattern)?.into_iter().map(Val::str).collect()))
        }
        "first_found" => first_found(ctx, &terms, option("skip").is_some_and(python::truthy)),
        "lines" => each_text(ctx, &terms, |command| Ok(run(ctx, command)?.lines().map(Val::str).collect())),
        "pipe" => each_text(ctx, &terms, |command| Ok(vec![Val::str(run(ctx, command)?.trim_end())])),
        "url" => each_text(ctx, &terms, |address| url(ctx, address, option("split_lines").is_none_or(python::truthy))),
        "ini" => ini(ctx, &terms, named),
        "csvfile" => csvfile(ctx, &terms, named),
        "password" => each_text(ctx, &terms, |_| {
            let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
            let pick = |_| letters.chars().nth(usize::try_from(random::draw(ctx) % 62).unwrap_or(0));
            Ok(vec![Val::str((0..20).filter_map(pick).collect::<String>()).taint()])
        }),
        "vars" => each_text(ctx, &terms, |name| match ctx.variable(name)? {
            Some(value) => Ok(vec![value]),
            None => match option("default") {
                Some(default) => Ok(vec![default.clone()]),
                None => missing(format!("unknown variable `{name}`")),
            },
        }),
        "varnames" => each_text(ctx, &terms, |pattern| varnames(ctx, pattern)),
        "unfurl" => each_text(ctx, &terms, |query| Ok(vec![as_one(ctx.query(query)?)])),
        "sequence" => each_text(ctx, &terms, sequence),
        "dict" => dict(&terms),
        "indexed_items" => {
            let items = flat(&terms);
            Ok(items.into_iter().enumerate().map(|(at, item)| Val::list(vec![Val::len(at), item])).collect())
        }
        "items" => Ok(flat(&terms)),
        "list" => Ok(terms),
        "random_choice" => {
            let items = flat(&terms);
            let count = u64::try_from(items.len()).unwrap_or(0);
            let at = usize::try_from(random::draw(ctx).checked_rem(count).unwrap_or(0)).unwrap_or(0);
            Ok(items.into_iter().nth(at).into_iter().collect())
        }
        "nested" => nested(&terms),
        "together" => {
            let lists: Vec<&[Val]> = terms.iter().map(|term| term.as_list().unwrap_or(&[])).collect();
            let count = lists.iter().map(|list| list.len()).max().unwrap_or(0);
            let row = |at: usize| lists.iter().map(|list| list.get(at).cloned().unwrap_or_else(Val::null)).collect();
            Ok((0..count).map(|at| Val::list(row(at))).collect())
        }
        "subelements" => subelements(&terms),
        _ => {
            let error = Error::new(Kind::Missing, format!("unknown lookup `{plugin}`"));
            Err(match purlin_syntax::suggest::nearest(plugin, LOOKUPS.iter().copied()) {
                Some(near) => error.hint(Hint::meant(plugin, near)),
                None => error,
            })
        }
    }
}

fn each_text(ctx: &Ctx<'_, '_>, terms: &[Val], mut find: impl FnMut(&str) -> Result<Vec<Val>>) -> Result<Vec<Val>> {
    let mut out = Vec::new();
    for term in flat(terms) {
        let text = ctx.text(&term)?;
        out.extend(find(&text)?.into_iter().map(|found| found.taint_if(term.is_tainted())));
    }
    Ok(out)
}

fn flat(terms: &[Val]) -> Vec<Val> {
    let items = terms.iter().flat_map(|term| match term.as_list() {
        Some(items) => items.to_vec(),
        None => vec![term.clone()],
    });
    items.collect()
}

fn first_found(ctx: &Ctx<'_, '_>, terms: &[Val], skip: bool) -> Result<Vec<Val>> {
    for name in flat(terms) {
        let name = ctx.text(&name)?;
        if files::is(ctx, "exists", &name)? {
            return Ok(vec![Val::str(files::absolute(ctx, &name))]);
        }
    }
    if skip { Ok(Vec::new()) } else { Err(Error::new(Kind::Io, "none of the files exists")) }
}

/// Runs a command as a shell would read it; it requires the user's permission to run commands.
fn run(ctx: &Ctx<'_, '_>, command: &str) -> Result<String> {
    let world = &ctx.engine.session.world;
    let argv = vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()];
    let folder = ctx.engine.tree.base_dir.to_string();
    let folder = if folder.is_empty() { ".".to_owned() } else { folder };
    let request = Command { argv, env: world.env_all(), folder, stdin: Vec::new() };
    let output = world.run(&request).map_err(|error| match error {
        WorldError::Denied(hint) => {
            Error::new(Kind::Refused, "the lookup runs a command, which is not allowed").hint(hint)
        }
        _ => Error::new(Kind::Io, "the command cannot be run"),
    })?;
    if output.code != 0 {
        return value_error(format!("the command of the lookup failed with code {}", output.code));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn url(ctx: &Ctx<'_, '_>, address: &str, lines: bool) -> Result<Vec<Val>> {
    let world = &ctx.engine.session.world;
    let fetched = world.fetch(&Remote::File { address: address.to_owned() }).map_err(|error| match error {
        WorldError::Denied(hint) => {
            Error::new(Kind::Refused, format!("fetching `{address}` is not allowed")).hint(hint)
        }
        _ => Error::new(Kind::Io, format!("`{address}` cannot be fetched")),
    })?;
    let bytes = world.read(&fetched.path);
    let bytes = bytes.map_err(|_| Error::new(Kind::Io, format!("`{address}` cannot be read")))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if lines { Ok(text.lines().map(Val::str).collect()) } else { Ok(vec![Val::str(text)]) }
}

fn named_text(ctx: &Ctx<'_, '_>, named: &[(EcoString, Val)], name: &str, default: &str) -> Result<EcoString> {
    match named.iter().find(|(key, _)| key == name) {
        Some((_, value)) => ctx.text(value),
        None => Ok(default.into()),
    }
}

fn ini(ctx: &Ctx<'_, '_>, terms: &[Val], named: &[(EcoString, Val)]) -> Result<Vec<Val>> {
    let file = named_text(ctx, named, "file", "ansible.ini")?;
    let section = named_text(ctx, named, "section", "global")?;
    let default = named.iter().find(|(key, _)| key == "default").map(|(_, value)| value.clone());
    let contents = files::contents(ctx, &file, None)?;
    let text = ctx.text(&contents)?;
    each_text(ctx, terms, |key| {
        let mut inside = section == "global" || section.is_empty();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                inside = name == section;
            } else if let Some((name, value)) = line.split_once(['=', ':']).filter(|_| inside)
                && name.trim() == key
            {
                return Ok(vec![Val::str(value.trim()).taint_if(contents.is_tainted())]);
            }
        }
        Ok(default.clone().into_iter().collect())
    })
}

fn csvfile(ctx: &Ctx<'_, '_>, terms: &[Val], named: &[(EcoString, Val)]) -> Result<Vec<Val>> {
    let file = named_text(ctx, named, "file", "ansible.csv")?;
    let delimiter = named_text(ctx, named, "delimiter", "TAB")?;
    let delimiter = if matches!(delimiter.as_str(), "TAB" | "\\t" | "\t") { "\t" } else { delimiter.as_str() };
    let column: usize = named_text(ctx, named, "col", "1")?.parse().unwrap_or(1);
    let contents = files::contents(ctx, &file, None)?;
    let text = ctx.text(&contents)?;
    each_text(ctx, terms, |key| {
        for line in text.lines() {
            let fields: Vec<&str> = line.split(delimiter).map(|field| field.trim_matches('"')).collect();
            if fields.first() == Some(&key) {
                return Ok(fields.get(column).map(|field| Val::str(*field)).into_iter().collect());
            }
        }
        Ok(Vec::new())
    })
}

fn varnames(ctx: &Ctx<'_, '_>, pattern: &str) -> Result<Vec<Val>> {
    let mut out = Vec::new();
    let mut layer = ctx.frame.scope.as_ref();
    while let Some(scope) = layer {
        for variable in &scope.variables {
            if purlin_jinja::filters::regexes_matches(ctx.engine, pattern, &variable.name, &Default::default(), false)?
            {
                out.push(Val::str(variable.name.clone()));
            }
        }
        layer = scope.parent.as_ref();
    }
    Ok(out)
}

/// `start=1 end=3 stride=1 format=x%02d`, or `1-3/2:x%02d`.
fn sequence(text: &str) -> Result<Vec<Val>> {
    let (mut start, mut end, mut count, mut stride) = (1i64, None, None, None);
    let mut format = "%d".to_owned();
    let number = |text: &str| {
        python::parse_int(text).ok_or_else(|| Error::new(Kind::Value, format!("`{text}` is not a number")))
    };
    if text.contains('=') {
        for pair in text.split_whitespace() {
            let Some((name, value)) = pair.split_once('=') else { continue };
            match name {
                "start" => start = number(value)?,
                "end" => end = Some(number(value)?),
                "count" => count = Some(number(value)?),
                "stride" => stride = Some(number(value)?),
                "format" => format = value.to_owned(),
                _ => return value_error(format!("`sequence` has no option `{name}`")),
            }
        }
    } else {
        let (range, pattern) = text.split_once(':').map_or((text, None), |(range, pattern)| (range, Some(pattern)));
        let (range, step) = range.split_once('/').map_or((range, None), |(range, step)| (range, Some(step)));
        stride = step.map(number).transpose()?;
        format = pattern.unwrap_or("%d").to_owned();
        match range.split_once('-') {
            Some((first, last)) => {
                start = number(first)?;
                end = Some(number(last)?);
            }
            None => end = Some(number(range)?),
        }
    }
    let stride = stride.unwrap_or(if end.is_some_and(|end| end < start) { -1 } else { 1 });
    let end = match (end, count) {
        (Some(end), _) => end,
        (None, Some(count)) => start + (count - 1).saturating_mul(stride),
        (None, None) => return value_error("`sequence` needs `end` or `count`"),
    };
    if stride == 0 {
        return Ok(Vec::new());
    }
    if ((end - start) / stride).unsigned_abs() as usize > MAX_ITEMS {
        return crate::error::limit_of(&LIMIT_LIST, format!("a sequence has more than {MAX_ITEMS} items"));
    }
    let mut out = Vec::new();
    let mut at = start;
    while (stride > 0 && at <= end) || (stride < 0 && at >= end) {
        out.push(Val::str(purlin_jinja::format::percent(&format, &Val::int(at))?));
        at = at.saturating_add(stride);
    }
    Ok(out)
}

fn dict(terms: &[Val]) -> Result<Vec<Val>> {
    let mut out = Vec::new();
    for term in terms {
        let Some(entries) = term.as_map() else {
            return type_error(format!("`dict` needs a map, not {}", term.kind()));
        };
        out.extend(entries.iter().map(|(key, value)| Val::record([("key", key.to_val()), ("value", value.clone())])));
    }
    Ok(out)
}

fn nested(terms: &[Val]) -> Result<Vec<Val>> {
    let mut rows: Vec<Vec<Val>> = vec![Vec::new()];
    for term in terms {
        let items = match is_list(term) {
            true => term.as_list().unwrap_or(&[]).to_vec(),
            false => vec![term.clone()],
        };
        if rows.len().saturating_mul(items.len()) > MAX_ITEMS {
            return crate::error::limit_of(&LIMIT_LIST, format!("a list has more than {MAX_ITEMS} items"));
        }
        let longer = |row: &Vec<Val>| {
            let row = row.clone();
            items.iter().map(move |item| row.iter().cloned().chain([item.clone()]).collect()).collect::<Vec<Vec<Val>>>()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Ok(rows.into_iter().map(Val::list).collect())
}

fn subelements(terms: &[Val]) -> Result<Vec<Val>> {
    let [items, key, ..] = terms else {
        return type_error("`subelements` needs a list and a key");
    };
    let key = key.as_str().unwrap_or("");
    let mut out = Vec::new();
    for item in items.as_list().unwrap_or(&[]) {
        let Some(inner) = item.get(key).and_then(Val::as_list) else {
            return missing(format!("an item has no list `{key}`"));
        };
        let mut rest = item.as_map().cloned().unwrap_or_default();
        rest.shift_remove(&MapKey::Str(key.into()));
        let rest = Val::map(rest);
        out.extend(inner.iter().map(|sub| Val::list(vec![rest.clone(), sub.clone()])));
    }
    Ok(out)
}
