//! Filters on paths. They work on text, except those that list files, which ask the world.

use super::{Renderer, Values, text_arg, text_of};
use crate::error::{Result, type_error};
use crate::val::Val;
use purlin_value::path;

type R<'a, 'c> = &'a mut Renderer<'c>;

pub fn basename(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    Ok(Val::str(text.rsplit('/').next().unwrap_or("")))
}

pub fn dirname(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let head = text.rfind('/').and_then(|at| text.get(..=at)).unwrap_or("");
    let trimmed = head.trim_end_matches('/');
    Ok(Val::str(if trimmed.is_empty() { head } else { trimmed }))
}

pub fn normpath(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(path::normalize(&text_of(render, &input)?)))
}

pub fn relpath(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let from = text_arg(render, args, 0, "start")?.unwrap_or_else(|| ".".into());
    let root = render.ctx.evaluation.session.world.root();
    let absolute = |text: &str| path::join(root, text);
    Ok(Val::str(path::relative(&absolute(&from), &absolute(&text))))
}

pub fn splitext(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let name_start = text.rfind('/').map_or(0, |at| at + 1);
    let name = text.get(name_start..).unwrap_or("");
    let dots = name.len() - name.trim_start_matches('.').len();
    let split = name.rfind('.').filter(|at| *at >= dots.max(1)).map_or(text.len(), |at| name_start + at);
    let (stem, suffix) = text.split_at(split);
    Ok(Val::tuple(vec![Val::str(stem), Val::str(suffix)]))
}

pub fn path_join(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut parts = match (input.as_list(), input.as_str()) {
        (Some(parts), _) => parts.to_vec(),
        (_, Some(_)) => vec![input.clone()],
        _ => return type_error(format!("`path_join` needs text or a list, not {}", input.kind())),
    };
    parts.extend(args.positional.iter().cloned());
    let mut out = String::new();
    for part in &parts {
        let Some(part) = part.as_str() else {
            return type_error(format!("`path_join` joins text, not {}", part.kind()));
        };
        if part.starts_with('/') {
            out.clear();
        } else if !out.is_empty() && !out.ends_with('/') {
            out.push('/');
        }
        out.push_str(part);
    }
    Ok(Val::str(out))
}

pub fn commonpath(_: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let Some(items) = input.as_list() else {
        return type_error(format!("`commonpath` needs a list of paths, not {}", input.kind()));
    };
    let mut common: Option<Vec<String>> = None;
    for item in items {
        let Some(text) = item.as_str() else {
            return type_error(format!("`commonpath` compares text, not {}", item.kind()));
        };
        let parts: Vec<String> = text.split('/').map(str::to_owned).collect();
        common = Some(match common {
            None => parts,
            Some(known) => known.into_iter().zip(parts).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
        });
    }
    Ok(Val::str(common.unwrap_or_default().join("/")))
}

pub fn expanduser(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let home = render.ctx.evaluation.session.world.env("HOME");
    Ok(match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => Val::str(format!("{home}{rest}")),
        _ => Val::str(text),
    })
}

pub fn expandvars(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at).unwrap_or(""));
        let after = rest.get(at + 1..).unwrap_or("");
        let (name, next) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, next)) => (name, next),
            None => {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        match render.ctx.evaluation.session.world.env(name) {
            Some(value) if !name.is_empty() => out.push_str(&value),
            _ => out.push_str(rest.get(at..rest.len() - next.len()).unwrap_or("")),
        }
        rest = next;
    }
    out.push_str(rest);
    Ok(Val::str(out))
}

pub fn fileglob(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let pattern = text_of(render, &input)?;
    let found = render.ctx.host.glob(&pattern)?;
    Ok(Val::list(found.into_iter().map(Val::str).collect()))
}

fn win_split(text: &str) -> (&str, &str) {
    let at = text.rfind(['\\', '/']).map_or(0, |at| at + 1);
    text.split_at(at)
}

pub fn win_basename(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    Ok(Val::str(win_split(&text).1))
}

pub fn win_dirname(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let head = win_split(&text).0;
    let trimmed = head.trim_end_matches(['\\', '/']);
    Ok(Val::str(if trimmed.is_empty() || trimmed.ends_with(':') { head } else { trimmed }))
}

pub fn win_splitdrive(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    if text.is_empty() {
        return type_error("`win_splitdrive` needs a path");
    }
    let (drive, rest) = match text.get(1..2) {
        Some(":") => text.split_at(2),
        _ => ("", text.as_str()),
    };
    Ok(Val::tuple(vec![Val::str(drive), Val::str(rest)]))
}
