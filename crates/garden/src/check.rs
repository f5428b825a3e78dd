//! Checks what is written against the rows of the tables: unknown and missing keys, wrong shapes.
//!
//! Values that only evaluation brings are looked at in `shapes`.

use crate::config::{ActionKind, ConfigKind};
use crate::entities::{self, SCHEMA};
use crate::place::NodeRef;
use purlin_model::Reader;
use purlin_model::schema::{Edition, Kind};
use purlin_syntax::{Diagnostic, Node, Sink, Span};
use purlin_value::Session;

/// The row of a kind of configuration.
pub fn row(kind: ConfigKind) -> Kind {
    match kind {
        ConfigKind::Project => entities::PROJECT,
        ConfigKind::Action(ActionKind::Build) => entities::BUILD,
        ConfigKind::Action(ActionKind::Deploy) => entities::DEPLOY,
        ConfigKind::Action(ActionKind::Run) => entities::RUN,
        ConfigKind::Action(ActionKind::Test) => entities::TEST,
        ConfigKind::Module => entities::MODULE,
        ConfigKind::Workflow => entities::WORKFLOW,
        ConfigKind::Command => entities::COMMAND,
        ConfigKind::ConfigTemplate => entities::CONFIG_TEMPLATE,
        ConfigKind::RenderTemplate => entities::RENDER_TEMPLATE,
    }
}

/// Checks a configuration against its row, and the spec of a known type against its own.
pub fn check_config(session: &Session, config: &NodeRef, kind: ConfigKind) {
    check_but(session, config, kind, None);
}

/// The same for an action in a template, which may also say where its folder is.
pub fn check_in_template(session: &Session, config: &NodeRef, kind: ActionKind) {
    check_but(session, config, ConfigKind::Action(kind), Some("path"));
}

fn check_but(session: &Session, config: &NodeRef, kind: ConfigKind, known: Option<&str>) {
    let Some(node) = config.get() else { return };
    let heading = node.get("name").or_else(|| node.get("kind")).map(|value| value.span());
    let known = known.and_then(|key| node.entry(key)).map(|entry| entry.key.span());
    check_node(session, config, node, row(kind), heading, known);
    let ConfigKind::Action(kind) = kind else { return };
    let type_name = node.get("type").filter(|value| value.is_scalar()).map_or("", |value| value.text());
    if let Some(spec) = entities::spec_type(type_name, kind)
        && let Some(written) = node.entry("spec").filter(|entry| entry.value.is_map())
    {
        check_node(session, config, written.value, spec.row, Some(written.key.span()), None);
    }
}

/// Checks a mapping against a row. What it lacks is nowhere in it, so that is shown at its heading; what is said of a
/// key that the row need not know is dropped.
fn check_node(
    session: &Session,
    config: &NodeRef,
    node: Node<'_>,
    row: Kind,
    heading: Option<Span>,
    known: Option<Span>,
) {
    let sink = Sink::new();
    Reader { schema: &SCHEMA, edition: Edition(0), tree: config.tree(), sink: &sink }.read(node, row);
    // What was salvaged of a file that cannot be read is not blamed for what it lacks.
    let is_sound = config.tree().is_sound();
    let kept = sink.take().into_iter().filter(|problem| known.is_none() || problem.span != known);
    let kept = kept.filter(|problem| is_sound || !says_missing(problem));
    session.sink.extend(kept.map(|problem| at_heading(problem, node, heading)));
}

fn says_missing(problem: &Diagnostic) -> bool {
    problem.rule.name == purlin_model::rules::MISSING_KEY.name
}

fn at_heading(mut diagnostic: Diagnostic, node: Node<'_>, heading: Option<Span>) -> Diagnostic {
    if says_missing(&diagnostic) && diagnostic.span == Some(node.span()) {
        diagnostic.span = heading.or(diagnostic.span);
    }
    diagnostic
}
