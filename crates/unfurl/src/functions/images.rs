//! Container images: their names in full.

use super::Call;
use crate::error::Result;
use crate::eval::Ctx;
use crate::external::{External, Kind};
use crate::val::Val;

/// `container_image`
pub fn container_image(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?.plain();
    match value.as_str() {
        Some(name) if !name.is_empty() => Ok(image(name).taint_if(value.is_tainted())),
        _ => Ok(Val::null()),
    }
}

/// A handle to an image.
pub fn image(name: &str) -> Val {
    let parts = purlin_value::image::parts(name);
    let mut full = parts.name.to_ascii_lowercase();
    match (parts.tag, parts.digest) {
        (_, Some(digest)) => full.push_str(&format!("@{digest}")),
        (Some(tag), None) => full.push_str(&format!(":{tag}")),
        (None, None) => {}
    }
    let value = Val::str(full);
    External { kind: Kind::Image, key: Val::str(name), value, select: Vec::new() }.into_val()
}

/// The registry of an address: its host, with the port.
pub fn registry(address: &str) -> &str {
    let rest = address.split_once("//").map_or(address, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}
