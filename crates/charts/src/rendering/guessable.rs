//! Passwords and keys that templates draw from a public seed. They may be viewed, but not deployed; printing manifests
//! gives a warning.

use std::sync::{Arc, OnceLock};

use purlin_gotmpl::Guessable;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::Session;

use crate::chart::Chart;
use crate::report::source_of;
use crate::rules;
use crate::trace::template_path;

/// Takes the first such draw of a run.
pub(crate) fn noted(session: &Session) -> Arc<Guessable> {
    session.finding("guessable values", Guessable::default)
}

/// Key of the warning.
const WARNING: &str = "warning of guessable values";

/// The warning of the first such draw.
#[derive(Default)]
struct Warning(OnceLock<Diagnostic>);

/// Keeps the place of a draw that rendering this chart has noted.
pub(crate) fn keep(session: &Session, chart: &Chart) {
    let noted = noted(session);
    let Some(places) = noted.places() else { return };
    session.finding(WARNING, Warning::default).0.get_or_init(|| warning(session, chart, places));
}

fn warning(session: &Session, chart: &Chart, places: &[(String, u32)]) -> Diagnostic {
    let message = "random values come from a seed that is known to everyone, so passwords and keys can be guessed";
    let hint = "add `--seed random` if the output is deployed, or `--seed N` for values that can be repeated";
    let mut found = Diagnostic::nowhere(&rules::GUESSABLE, message).hint(hint);
    // A text that `tpl` renders is in no template; the call of `tpl` is.
    found.span = places.iter().find_map(|(name, offset)| word_at(session, chart, name, *offset));
    found
}

/// The function that is called at an offset of a template.
fn word_at(session: &Session, chart: &Chart, name: &str, offset: u32) -> Option<Span> {
    let source = source_of(session, &template_path(chart, name), text_of(chart, name)?);
    let rest = source.text().get(offset as usize..)?;
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    Some(Span::new(source.id(), offset, offset + u32::try_from(length).ok()?))
}

/// The text of a template, by its name.
fn text_of(chart: &Chart, name: &str) -> Option<String> {
    let inner = name.strip_prefix(chart.name())?.strip_prefix('/')?;
    let own = chart.templates.iter().find(|file| file.name == inner);
    let own = own.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    own.or_else(|| chart.dependencies.iter().find_map(|child| text_of(child, inner.strip_prefix("charts/")?)))
}

/// Warns of guessable passwords and keys in rendered documents.
pub fn report(session: &Session) {
    if let Some(found) = session.finding(WARNING, Warning::default).0.get() {
        session.sink.push(found.clone());
    }
}
