//! The keys of handles to things outside the configuration: files, paths, images.

use crate::error::Result;
use crate::eval::Ctx;
use crate::eval::path;
use crate::functions::files;
use crate::val::Val;
pub use purlin_jinja::handle::{External, Kind};

/// The value that a key selects; none if the handle has no such key.
pub fn field(external: &External, ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
    let value = match (&external.kind, name) {
        (Kind::File { path, .. } | Kind::Temp { path, .. }, "path") => Some(Val::str(path.clone())),
        (Kind::File { path, encoding } | Kind::Temp { path, encoding }, "contents") => {
            Some(files::contents(ctx, path, encoding.as_deref())?)
        }
        (Kind::File { encoding, .. } | Kind::Temp { encoding, .. }, "encoding") => {
            Some(Val::str(encoding.clone().unwrap_or_else(|| "utf-8".into())))
        }
        (Kind::Path, "path") => Some(external.value.clone()),
        // Loaded data is searched.
        _ if !external.select.is_empty() => path::by_name(ctx, &external.value, name)?,
        _ => None,
    };
    Ok(value.map(|value| {
        let mut select = external.select.clone();
        select.push(name.into());
        let tainted = value.is_tainted();
        External { kind: external.kind.clone(), key: external.key.clone(), value, select }.into_val().taint_if(tainted)
    }))
}
