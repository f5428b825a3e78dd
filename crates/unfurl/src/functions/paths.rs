//! Named folders and full paths.

use super::{Call, files};
use crate::error::{Result, missing};
use crate::eval::Ctx;
use crate::external::{External, Kind};
use crate::python;
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::what;
use purlin_value::path;

/// Names of folders with their descriptions.
pub const LOCATIONS: &[(&str, &str)] = &[
    (".", "The ensemble's folder."),
    ("src", "The folder of the file the expression is written in."),
    ("artifacts", "The instance's artifacts, kept with the ensemble."),
    ("local", "The instance's local files, not kept."),
    ("secrets", "The instance's secret files, stored encrypted."),
    ("tmp", "A temporary folder of the instance."),
    ("tasks", "The instance's folder of the running job."),
    ("operation", "The instance's folder of the running operation."),
    ("workflow", "The instance's folder of the running workflow."),
    ("spec.src", "The folder of the file the template is written in."),
    ("spec.home", "The template's own folder."),
    ("spec.local", "The template's own local folder."),
    ("project", "The project's folder."),
    ("unfurl.home", "The home project's folder."),
];

/// The folder of a name for the current instance; none if it does not exist.
fn folder(ctx: &Ctx<'_, '_>, location: &str) -> Option<String> {
    let engine = ctx.engine;
    let base = files::base(ctx);
    let node = engine.tree.node(ctx.instance());
    let name = node.template.as_str();
    let spec = node.source_dir.as_str();
    let or_base = |dir: &EcoString| if dir.is_empty() { base.clone() } else { files::absolute(ctx, dir) };
    Some(match location {
        "" | "." | "ensemble" => base,
        "src" => or_base(&ctx.frame.dir),
        "artifacts" | "local" | "secrets" => path::join(&base, &format!("{location}/{name}")),
        "tasks" => path::join(&base, &format!("planned/tasks/{name}")),
        "operation" | "workflow" => path::join(&base, &format!("planned/tasks/{name}/{location}")),
        "tmp" => path::join(&base, &format!("{}/{name}", files::TEMPORARY)),
        "spec.src" => path::normalize(if spec.is_empty() { "." } else { spec }),
        "spec.home" => path::join(spec, &format!("spec/{name}")),
        "spec.local" => path::join(spec, &format!("spec/{name}/local")),
        "project" => or_base(&engine.settings.project_dir),
        "unfurl.home" => or_base(&engine.settings.home_dir),
        "ensemble.secrets" => path::join(&base, "secrets"),
        "project.secrets" => path::join(&or_base(&engine.settings.project_dir), "secrets"),
        other => {
            let name = other.strip_prefix("repository.").unwrap_or(other);
            let (_, dir) = engine.settings.repositories.iter().find(|(known, _)| known == name)?;
            files::absolute(ctx, dir)
        }
    })
}

/// The folder of a name, which must be there.
fn known_folder(ctx: &Ctx<'_, '_>, location: &str) -> Result<String> {
    match folder(ctx, location) {
        Some(folder) => Ok(folder),
        None => missing(what::unknown("folder or repository name", location)),
    }
}

fn handle(full: String) -> Val {
    let value = Val::str(full);
    External { kind: Kind::Path, key: value.clone(), value, select: Vec::new() }.into_val()
}

fn parts(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Vec<Val>> {
    let value = call.value(ctx)?;
    Ok(match &value.data {
        Data::List(items) => items.iter().map(|item| item.clone().plain()).collect(),
        _ => vec![value.plain()],
    })
}

/// `abspath`
pub fn abspath(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let parts = parts(ctx, call)?;
    let tainted = parts.iter().any(|part| part.is_tainted());
    let file = parts.first().map(|part| ctx.text(part)).transpose()?.unwrap_or_default();
    let folder = match parts.get(1).filter(|location| python::truthy(location)) {
        None => files::base(ctx),
        Some(location) => {
            let location = ctx.text(location)?;
            known_folder(ctx, &location)?
        }
    };
    if parts.get(2).is_some_and(python::truthy) {
        make(ctx, &folder)?;
    }
    Ok(handle(path::join(&folder, &file)).taint_if(tainted))
}

/// Makes a folder, if writing is allowed.
fn make(ctx: &Ctx<'_, '_>, folder: &str) -> Result<()> {
    ctx.engine.session.world.create_folder(folder).map_err(|error| files::refused(&error, folder))
}

/// `get_dir`
pub fn get_dir(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let parts = parts(ctx, call)?;
    let location = match parts.first() {
        Some(location) if python::truthy(location) => ctx.text(location)?,
        _ => EcoString::new(),
    };
    let folder = known_folder(ctx, &location)?;
    if parts.get(1).is_some_and(python::truthy) {
        make(ctx, &folder)?;
    }
    Ok(handle(folder))
}
