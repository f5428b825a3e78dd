//! Functions that make text.

use super::{Call, files};
use crate::error::{Error, Kind, Result, missing, type_error, value_error};
use crate::eval::Ctx;
use crate::eval::path::place;
use crate::jinja::{self, Delimiters};
use crate::limits::MAX_STRING;
use crate::python;
use crate::val::{Data, Val};
use purlin_jinja::evaluation::piece;
use purlin_syntax::what;

/// `concat`
pub fn concat(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let separator = match call.raw("sep") {
        None => "",
        Some(raw) => match raw.as_str() {
            Some(text) => text,
            None => return type_error(format!("`sep` must be a string, not {}", raw.kind())),
        },
    };
    match value.as_list() {
        Some(items) => joined(ctx, items, separator).map(|text| text.taint_if(value.is_tainted())),
        None => Ok(value),
    }
}

fn joined(ctx: &Ctx<'_, '_>, items: &[Val], separator: &str) -> Result<Val> {
    let mut out = String::new();
    let mut tainted = false;
    let mut pieces = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        tainted |= item.tainted_within();
        let start = out.len();
        out.push_str(&ctx.text(item)?);
        if item.origin.is_known() {
            pieces.push(piece(start, out.len(), item.origin));
        }
        if out.len() > MAX_STRING {
            return crate::jinja::arithmetic::too_long();
        }
    }
    let value = Val::str(out).taint_if(tainted);
    if pieces.is_empty() {
        return Ok(value);
    }
    Ok(value.from_origin(ctx.engine.session.origins.derived("concat", None, pieces)))
}

/// `join`: a list and a delimiter, or strings alone.
pub fn join(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let Some(parts) = value.as_list() else {
        return type_error(format!("`join` needs a list, not {}", value.kind()));
    };
    let (items, delimiter) = match parts {
        [first, rest @ ..] if first.as_list().is_some() => {
            (first.as_list().unwrap_or(&[]), rest.first().map(|delimiter| ctx.text(delimiter)).transpose()?)
        }
        _ => (parts, call.named(ctx, "sep")?.map(|delimiter| ctx.text(&delimiter)).transpose()?),
    };
    joined(ctx, items, delimiter.as_deref().unwrap_or("")).map(|text| text.taint_if(value.is_tainted()))
}

/// `token`
pub fn token(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let Some([text, separator, index, ..]) = value.as_list() else {
        return type_error("`token` needs a string, a separator and an index");
    };
    let (Some(source), Some(separator), Data::Int(index)) = (text.as_str(), separator.as_str(), &index.data) else {
        return type_error("`token` needs a string, a separator and an index");
    };
    if separator.is_empty() {
        return value_error("the separator of `token` is empty");
    }
    let parts: Vec<&str> = source.split(separator).collect();
    match place(*index, parts.len()).and_then(|at| parts.get(at)) {
        Some(part) => Ok(Val::str(*part).taint_if(value.tainted_within())),
        None => value_error(format!("`token` has {} parts and none at {index}", parts.len())),
    }
}

/// `template`
pub fn template(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let source = match call.arg.get("path") {
        Some(raw) => {
            let path = ctx.text(&call.evaluated(ctx, raw)?)?;
            let path = files::from_source(ctx, &path);
            match files::read_optional(ctx, &path)? {
                Some(bytes) => Val::bytes(&bytes),
                None => return Err(Error::new(Kind::Io, what::unknown("template", path))),
            }
        }
        // Text is rendered below, not before.
        None if call.arg.as_str().is_some() => call.arg.clone(),
        None => call.value(ctx)?,
    };
    let Some(text) = source.as_str() else {
        return type_error(format!("a template must be a string, not {}", source.kind()));
    };
    let mut marks = Delimiters::default();
    let mut own = false;
    if let Some(overrides) = call.named(ctx, "overrides")? {
        for (name, value) in overrides.as_map().into_iter().flatten() {
            let name = name.as_str().unwrap_or("");
            own = true;
            if !marks.set(name, &ctx.text(value)?) {
                return missing(format!("`{name}` is not a setting of a template"));
            }
        }
    }
    let marked = jinja::is_template(text) || text.contains("{#") || text.starts_with("#jinja2:");
    let rendered = match (own, marked) {
        (true, _) => jinja::render_marked(ctx, text, marks)?,
        (false, true) => jinja::render(ctx, text)?,
        (false, false) => Val::str(text.trim()),
    };
    Ok(rendered.taint_if(source.is_tainted()))
}

/// `urljoin`
pub fn urljoin(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let mut parts: Vec<Val> = match value.as_list() {
        Some(parts) => parts.to_vec(),
        None => vec![value.clone()],
    };
    for name in ["host", "port", "path", "query", "fragment"] {
        parts.extend(call.named(ctx, name)?);
    }
    if parts.len() < 2 {
        return type_error("`urljoin` needs a scheme and a host");
    }
    let tainted = parts.iter().any(Val::tainted_within);
    let part = |at: usize| -> Result<String> {
        match parts.get(at) {
            Some(part) if python::truthy(part) => Ok(ctx.text(part)?.to_string()),
            _ => Ok(String::new()),
        }
    };
    let (scheme, host, path) = (part(0)?, part(1)?, part(3)?);
    let (query, fragment) = (part(4)?, part(5)?);
    let port = match part(2)?.as_str() {
        "" => None,
        text => match python::parse_int(text) {
            Some(port) => Some(port),
            None if tainted => return value_error("the port is not a number"),
            None => return value_error(format!("`{text}` is not a port")),
        },
    };
    let default = matches!((scheme.as_str(), port), ("http", Some(80)) | ("https", Some(443)));
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(&scheme);
        out.push(':');
    }
    if !host.is_empty() {
        out.push_str("//");
        out.push_str(&host);
        if let Some(port) = port.filter(|_| !default) {
            out.push_str(&format!(":{port}"));
        }
        if !path.is_empty() && !path.starts_with('/') {
            out.push('/');
        }
    }
    out.push_str(&jinja::percent_encode(&path, "/"));
    if !query.is_empty() {
        out.push('?');
        out.push_str(&jinja::percent_encode(&query, " ").replace(' ', "+"));
    }
    if !fragment.is_empty() {
        out.push('#');
        out.push_str(&jinja::percent_encode(&fragment, "/"));
    }
    if out.is_empty() {
        return Ok(Val::null());
    }
    Ok(Val::str(out).taint_if(tainted))
}
