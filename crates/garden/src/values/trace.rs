//! The steps that led to a value, for `eval --trace`: what computed it, and from what. Never the values themselves,
//! which may be secret.

use purlin_value::{Origin, OriginKind, Session};

/// Steps that are shown, at most.
const MOST_STEPS: usize = 200;

/// The steps behind an origin, each with its place, with its inputs indented below.
pub fn trace(session: &Session, origin: Origin) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = vec![(origin, 0)];
    while let Some((origin, depth)) = open.pop() {
        if lines.len() >= MOST_STEPS {
            lines.push("…".to_owned());
            break;
        }
        let kind = session.origins.get(origin, &session.sources);
        let Some(what) = described(session, &kind) else { continue };
        lines.push(format!("{}{what}", "  ".repeat(depth)));
        open.extend(inputs(&kind).into_iter().rev().map(|input| (input, depth + 1)));
    }
    lines
}

fn described(session: &Session, kind: &OriginKind) -> Option<String> {
    let at = |span: purlin_syntax::Span| {
        let source = session.sources.get(span.file)?;
        let position = source.position(span.start);
        Some(format!("{}:{}:{}", session.sources.shown(source.path()), position.line, position.column))
    };
    let placed = |what: &str, span: Option<purlin_syntax::Span>| match span.and_then(at) {
        Some(place) => format!("{what} at {place}"),
        None => what.to_owned(),
    };
    match kind {
        OriginKind::Unknown => None,
        OriginKind::File(span) => Some(format!("written at {}", at(*span)?)),
        OriginKind::Default { detail, span } => Some(placed(detail, *span)),
        OriginKind::Flag(text) => Some(format!("flag {text}")),
        OriginKind::Env(name) => Some(format!("environment variable {name}")),
        OriginKind::Outside(what) => Some(what.to_string()),
        OriginKind::Parent { detail, .. } => Some(format!("inherited from {detail}")),
        OriginKind::Derived { step, span, .. } => Some(placed(step, *span)),
        OriginKind::Chosen { rule, .. } => Some((*rule).to_owned()),
        OriginKind::Selected { .. } => Some("taken because of a condition".to_owned()),
    }
}

fn inputs(kind: &OriginKind) -> Vec<Origin> {
    match kind {
        OriginKind::Selected { taken, because } => vec![*because, *taken],
        other => other.inputs().collect(),
    }
}
