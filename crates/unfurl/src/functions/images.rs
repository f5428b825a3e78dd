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
    let (rest, digest) = name.split_once('@').map_or((name, None), |(rest, digest)| (rest, Some(digest)));
    // A colon after the last slash starts the tag; before it, a port.
    let slash = rest.rfind('/').map_or(0, |at| at + 1);
    let (repository, tag) = match rest.get(slash..).and_then(|last| last.find(':')) {
        Some(at) => (rest.get(..slash + at).unwrap_or(rest), rest.get(slash + at + 1..)),
        None => (rest, None),
    };
    let mut full = repository.to_ascii_lowercase();
    match (tag, digest) {
        (_, Some(digest)) => full.push_str(&format!("@{digest}")),
        (Some(tag), None) => full.push_str(&format!(":{tag}")),
        (None, None) => {}
    }
    let value = Val::str(full);
    External { kind: Kind::Image, key: Val::str(name), value, select: Vec::new() }.into_val()
}

/// The registry that an address leads to: its host, with the port.
pub fn registry(address: &str) -> &str {
    let rest = address.split_once("//").map_or(address, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}
