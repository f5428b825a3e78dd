//! Notes the names of resources for editors and renames: where each is declared, and which other places mean it.
//!
//! A resource is identified by the location of its name, which stays known when prefixes and patches change the name.
//! Must not know what is done with names.

use crate::resource::Resource;
use purlin_syntax::Span;
use purlin_value::names::{kind, unquoted};
use purlin_value::{Bound, NameId, Origin, Session, Value};

/// Notes where a resource gets its name. Names that are computed, as those of charts, are not the project's own.
pub fn declare(session: &Session, resource: &mut Resource) {
    if !session.names.is_on() || resource.named_at.is_some() {
        return;
    }
    let Some((name, origin)) = resource.metadata("name").and_then(|name| Some((name.as_str()?, name.origin))) else {
        return;
    };
    let Some(span) = in_file(session, origin).filter(|span| is_written(session, *span, name)) else { return };
    let whole = in_file(session, resource.value.origin).filter(|whole| whole.file == span.file).unwrap_or(span);
    session.names.declare(NameId::Place(span), kind::RESOURCE, name, span, whole);
    resource.named_at = Some(span);
}

/// Notes that a name means a resource.
pub fn uses(session: &Session, resource: &Resource, name: Option<&Value>) {
    let Some((text, origin)) = name.and_then(|name| Some((name.as_str()?, name.origin))) else { return };
    uses_at(session, resource.named_at, text, origin);
}

/// The same for the location of the resource's name.
pub fn uses_at(session: &Session, named_at: Option<Span>, text: &str, origin: Origin) {
    let Some(named_at) = named_at.filter(|_| session.names.is_on()) else { return };
    let Some(span) = in_file(session, origin) else { return };
    let id = NameId::Place(named_at);
    // A name with a prefix is not written as in the declaration.
    match is_written(session, span, text) && is_written(session, named_at, text) {
        true => session.names.uses(id, kind::RESOURCE, text, span),
        false => session.names.bound(id, kind::RESOURCE, text, span, Bound::Computed),
    }
}

/// Notes that a patch, which is a text in a kustomization, names a resource.
pub fn in_text(session: &Session, resource: &Resource, patch: Option<&Value>) {
    let span = patch.and_then(|patch| in_file(session, patch.origin));
    if let (Some(named_at), Some(span)) = (resource.named_at, span) {
        session.names.bound(NameId::Place(named_at), kind::RESOURCE, resource.name(), span, Bound::Text);
    }
}

/// The location of a value, if it is in a file and not in a text that another file contains.
fn in_file(session: &Session, origin: Origin) -> Option<Span> {
    let span = session.origins.span(origin, &session.sources)?;
    let source = session.sources.get(span.file)?;
    session.world.exists(source.path()).then(|| unquoted(span, &session.sources))
}

/// Whether a location holds exactly this text.
fn is_written(session: &Session, span: Span, text: &str) -> bool {
    let source = session.sources.get(span.file);
    source.is_some_and(|source| source.text().get(span.start as usize..span.end as usize) == Some(text))
}
