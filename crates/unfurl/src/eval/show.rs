//! Values for people: short forms for traces and messages, with secrets redacted.

use super::engine::Ctx;
use crate::val::{Data, Val};

pub use crate::val::REDACTED;

/// A value in a few words.
pub(crate) fn brief(ctx: &Ctx<'_, '_>, value: &Val) -> String {
    if value.is_tainted() {
        return REDACTED.to_owned();
    }
    match &value.data {
        Data::Str(text) => format!("{:?}", shorten(text)),
        Data::List(items) => format!("a list of {}", items.len()),
        Data::Map(entries) => format!("a map of {}", entries.len()),
        Data::Lazy(lazy) => format!("{} of {}", lazy.kind(), lazy.len()),
        Data::Node(id) => format!("instance `{}`", ctx.engine.tree.node(*id).name),
        Data::External(external) => brief(ctx, &external.value),
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Status(_) | Data::State(_) => {
            crate::python::repr(value, ctx.engine.tree)
        }
        _ => value.kind().to_owned(),
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// An expression as written, shortened; source text is not secret.
pub fn source(raw: &Val) -> String {
    match &raw.data {
        Data::Str(text) => shorten(text),
        Data::Map(entries) => {
            let keys: Vec<&str> = entries.keys().filter_map(|key| key.as_str()).collect();
            keys.join(", ")
        }
        _ => raw.kind().to_owned(),
    }
}
