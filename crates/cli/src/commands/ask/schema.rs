//! `purlin schema`: the JSON Schema of a format, or of one chart's values.

use crate::args::{SchemaFormat, Target};
use crate::commands::Context;
use crate::invocation::Exit;
use purlin_compiler::{SCHEMA_NAMES, SchemaOf};
use purlin_syntax::Flavor;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::world::FileKind;
use purlin_value::{EcoString, Map, Secrets, Value, path};
use std::path::Path;

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    name: Option<&str>,
    folder: Option<&Path>,
    output: SchemaFormat,
) -> Result<Exit, Exit> {
    let Some(name) = name else {
        let list: String = SCHEMA_NAMES.iter().map(|(name, text)| format!("{name:<14} {text}\n")).collect();
        return Ok(cx.print(&list, None));
    };
    let of = SchemaOf::named(name).map_err(|message| cx.usage(&message))?;
    if output == SchemaFormat::Markdown && !of.needs_path() {
        return Err(cx.usage("only `schema chart-values` has a page; `docs/reference` has those of the formats"));
    }
    let (schema, chart) = match (of.needs_path(), folder) {
        (true, folder) => of_chart(cx, of, folder.unwrap_or(Path::new(".")))?,
        (false, None) => (of.schema(), String::new()),
        (false, Some(_)) => return Err(cx.usage(&format!("`schema {name}` takes no path"))),
    };
    if output == SchemaFormat::Markdown {
        return Ok(cx.print(&purlin_charts::value_page::markdown(&chart, &schema), None));
    }
    let schema = identified(schema, name);
    let text = to_json(&schema, Secrets::Hide, JsonLayout::Pretty).unwrap_or_default();
    Ok(cx.print(&format!("{text}\n"), None))
}

/// The schema with its identity: a release publishes it under an address of its own.
fn identified(schema: Value, name: &str) -> Value {
    let Some(members) = schema.as_map() else { return schema };
    let identity = ("$id".into(), Value::str(format!("urn:purlin:formats:{name}")));
    let (first, rest): (Vec<_>, Vec<_>) = members.iter().partition(|(key, _)| *key == "$schema");
    let own = |(key, value): (&EcoString, &Value)| (key.clone(), value.clone());
    Value::map(first.into_iter().map(own).chain([identity]).chain(rest.into_iter().map(own)).collect::<Map>())
}

/// The schema of a chart's values, and the chart's name.
fn of_chart(cx: &mut Context<'_, '_>, of: SchemaOf, folder: &Path) -> Result<(Value, String), Exit> {
    let (session, request) = cx.open(folder, &Target::default(), &[])?;
    let is_folder = session.world.stat(&request.path).is_ok_and(|stat| stat.kind == FileKind::Folder);
    let folder = if is_folder { request.path.as_str() } else { path::parent(&request.path) };
    if !session.world.exists(&path::join(folder, "Chart.yaml")) {
        return Err(cx.usage("`schema chart-values` takes the folder of a chart; there is no `Chart.yaml` in it"));
    }
    let tree = session.read_yaml(&path::join(folder, "Chart.yaml"), Flavor::Go).ok();
    let root = tree.as_ref().and_then(|tree| tree.root());
    let name = root.and_then(|root| root.get("name")).map(|name| name.text().to_owned()).unwrap_or_default();
    match of.schema_at(&session, folder) {
        Ok(schema) if !session.sink.has_errors() => Ok((schema, name)),
        Ok(_) => Err(cx.report(&session)),
        Err(diagnostic) => {
            session.sink.push(diagnostic);
            Err(cx.report(&session))
        }
    }
}
