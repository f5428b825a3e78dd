//! Origin of a value, piece by piece.
//!
//! Reads the table of origins written by resolution itself; no rule is implemented twice here.

use crate::inputs::inputs;
use purlin_syntax::Span;
use purlin_value::{Data, Origin, OriginKind, Piece, Session, Value};

/// A place in a file, in terms for the user. Unlike a span it is independent of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path, as messages show it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The last line it reaches to.
    pub last_line: u32,
}

impl Place {
    /// The place of a span.
    pub fn of(session: &Session, span: Span) -> Option<Place> {
        let source = session.sources.get(span.file)?;
        let (start, end) = (source.position(span.start), source.position(span.end));
        let file = session.sources.shown(source.path());
        Some(Place { file, line: start.line, column: start.column, last_line: end.line })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An origin, in terms for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `file`, `default`, `flag`, `env`, `computed` or `parent`.
    pub kind: &'static str,
    /// Its location.
    pub place: Option<Place>,
    /// Which default, flag, variable or parent.
    pub detail: String,
}

/// A step a value went through on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step (`template`, `join()`, `deep merge`).
    pub text: String,
    /// Its location.
    pub place: Option<Place>,
}

/// A condition that decided on a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// The condition as written, and its result.
    pub text: String,
    /// Its location.
    pub place: Option<Place>,
    /// Its inputs.
    pub inputs: Vec<Cause>,
}

/// One part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyPiece {
    /// The part's text; `None` for a secret.
    pub text: Option<String>,
    /// Its bytes in the whole text.
    pub range: (u32, u32),
    /// Its origin.
    pub cause: Cause,
    /// Its steps, the last one first.
    pub through: Vec<Step>,
    /// The conditions that decided on it, the innermost first.
    pub because: Vec<Because>,
    /// Overridden values, the strongest first.
    pub overrode: Vec<Cause>,
}

/// Origin of a value.
#[derive(Clone, Debug)]
pub struct Why {
    /// The value.
    pub value: Value,
    /// Its parts, in order.
    pub pieces: Vec<WhyPiece>,
    /// The conditions that decided on the enclosing collections, the innermost first.
    pub because: Vec<Because>,
}

/// A guard against absurd tables; real chains are short.
pub(crate) const STEPS: usize = 200;
const PIECES: usize = 1_000;

/// The origin of a value.
pub fn why(session: &Session, value: &Value) -> Why {
    let text = scalar_text(value);
    let whole = Range { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX), is_opaque: false };
    let mut walk = Walk { session, text: &text, secret: value.is_tainted_deep(), pieces: Vec::new() };
    walk.origin(value.origin, whole, Trail::default());
    let because = shared_conditions(&mut walk.pieces);
    Why { value: value.clone(), pieces: walk.pieces, because }
}

/// Conditions on every piece are conditions on the whole, and are listed once.
fn shared_conditions(pieces: &mut [WhyPiece]) -> Vec<Because> {
    let [first, rest @ ..] = pieces else { return Vec::new() };
    if rest.is_empty() {
        return Vec::new();
    }
    let shared = |condition: &Because| rest.iter().all(|piece| piece.because.contains(condition));
    let mut because: Vec<Because> = first.because.iter().filter(|condition| shared(condition)).cloned().collect();
    because.dedup();
    pieces.iter_mut().for_each(|piece| piece.because.retain(|condition| !because.contains(condition)));
    because
}

/// The origin of the value at a path; `None` if it does not exist.
pub fn why_at(session: &Session, whole: &Value, path: &str) -> Option<Why> {
    let mut chain = whole.chain(path)?;
    let value = chain.pop()?;
    let mut found = why(session, &value);
    for around in chain.iter().rev() {
        for condition in deciding(session, around.origin).into_iter().map(|origin| because(session, origin)) {
            // A condition on the value itself and on a collection around it is listed once.
            let is_told = |piece: &WhyPiece| piece.because.contains(&condition);
            let told = !found.pieces.is_empty() && found.pieces.iter().all(is_told);
            if !told && !found.because.contains(&condition) {
                found.because.push(condition);
            }
        }
    }
    Some(found)
}

/// The steps to a piece so far.
#[derive(Clone, Default)]
struct Trail {
    through: Vec<Step>,
    because: Vec<Because>,
    overrode: Vec<Cause>,
}

struct Walk<'a> {
    session: &'a Session,
    text: &'a str,
    secret: bool,
    pieces: Vec<WhyPiece>,
}

/// The part of the text that an origin covers.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub start: u32,
    pub end: u32,
    /// Whether it passed a function without recorded parts: parts of its inputs are not those of its result.
    pub is_opaque: bool,
}

/// The end of the text that pieces cover.
pub fn end_of(pieces: &[Piece]) -> u32 {
    pieces.iter().map(|piece| piece.end).max().unwrap_or(0)
}

impl Range {
    /// The parts of this one that several pieces cover.
    pub fn parts(self, pieces: Vec<Piece>) -> Vec<(Origin, Range)> {
        let last = end_of(&pieces);
        self.parts_of(pieces, last)
    }

    /// The same for some of the pieces of a text that ends at `last`.
    pub fn parts_of(self, pieces: Vec<Piece>, last: u32) -> Vec<(Origin, Range)> {
        // If the lengths are equal, the input was passed through unchanged.
        let fits = !self.is_opaque || last == self.end - self.start;
        let part = |piece: Piece| {
            let whole = piece.start == 0 && piece.end == 0;
            let range = match whole || !fits {
                // Inputs of an opaque function have no position in the text: they cover all of it.
                true => Range { is_opaque: true, ..self },
                false => Range { start: self.start + piece.start, end: self.start + piece.end, is_opaque: false },
            };
            (piece.origin, range)
        };
        pieces.into_iter().map(part).collect()
    }
}

impl Walk<'_> {
    fn origin(&mut self, origin: Origin, range: Range, mut trail: Trail) {
        if self.pieces.len() >= PIECES {
            return;
        }
        let mut origin = origin;
        while trail.through.len() + trail.because.len() < STEPS {
            match self.session.origins.get(origin, &self.session.sources) {
                OriginKind::Chosen { winner, rule, overrode: lost } => {
                    trail.overrode.extend(lost.iter().filter_map(|&origin| cause(self.session, origin)));
                    trail.through.push(Step { text: rule.to_owned(), place: None });
                    origin = winner;
                }
                OriginKind::Selected { taken, because: condition } => {
                    let all = conditions(self.session, condition).into_iter();
                    trail.because.extend(all.map(|origin| because(self.session, origin)));
                    origin = taken;
                }
                OriginKind::Parent { detail, from } => {
                    trail.through.push(Step { text: format!("inherited from {detail}"), place: None });
                    if self.session.origins.get(from, &self.session.sources) == OriginKind::Unknown {
                        break;
                    }
                    origin = from;
                }
                OriginKind::Derived { step, span, pieces } => {
                    let place = span.and_then(|span| Place::of(self.session, span));
                    // An input that is neither known nor a part of the text has no information.
                    let says = |piece: &Piece| piece.origin.is_known() || piece.start < piece.end;
                    let known: Vec<_> = pieces.into_iter().filter(says).collect();
                    if known.is_empty() {
                        break;
                    }
                    // A template records its parts, and its owner the location: one step.
                    match trail.through.last_mut().filter(|last| last.text == step.as_str()) {
                        Some(last) if last.place.is_none() => last.place = place,
                        Some(_) if place.is_none() => {}
                        _ => trail.through.push(Step { text: step.to_string(), place }),
                    }
                    for (origin, part) in range.parts(known) {
                        self.origin(origin, part, trail.clone());
                    }
                    return;
                }
                _ => break,
            }
        }
        let nothing = Cause { kind: "computed", place: None, detail: String::new() };
        let cause = cause(self.session, origin).unwrap_or(nothing);
        let text = self.text.get(range.start as usize..range.end as usize).unwrap_or(self.text);
        let text = (!self.secret).then(|| text.to_owned());
        let Trail { through, because, overrode } = trail;
        self.pieces.push(WhyPiece { text, range: (range.start, range.end), cause, through, because, overrode });
    }
}

/// The conditions that decided on a value, whatever its source: those of all choices it went through unchanged.
pub(crate) fn deciding(session: &Session, origin: Origin) -> Vec<Origin> {
    // A chain is as long as the layers that were merged; the bound only guards against a loop.
    session.origins.deciding(origin, STEPS).into_iter().flat_map(|because| conditions(session, because)).collect()
}

/// A condition and those around it.
pub(crate) fn conditions(session: &Session, condition: Origin) -> Vec<Origin> {
    let mut found = Vec::new();
    let mut condition = condition;
    for _ in 0..STEPS {
        match session.origins.get(condition, &session.sources) {
            OriginKind::Selected { taken, because } => {
                found.push(taken);
                condition = because;
            }
            _ => break,
        }
    }
    found.push(condition);
    found
}

/// The longest condition that is quoted.
const QUOTED: usize = 60;

pub(crate) fn because(session: &Session, condition: Origin) -> Because {
    let (step, span) = match session.origins.get(condition, &session.sources) {
        OriginKind::Derived { step, span, .. } => (step.to_string(), span),
        _ => ("was decided".to_owned(), None),
    };
    let written = span.and_then(|span| {
        let source = session.sources.get(span.file)?;
        let text = source.text().get(span.start as usize..span.end as usize)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.chars().take(QUOTED).collect::<String>())
    });
    let text = match written {
        Some(written) => format!("`{written}` {step}"),
        None => step,
    };
    let place = span.and_then(|span| Place::of(session, span));
    let mut inputs = inputs(session, condition);
    // The condition itself, with its own literals, is listed already.
    let is_inside = |cause: &Cause| match (&cause.place, &place, span) {
        (Some(own), Some(whole), Some(span)) => {
            let columns = whole.column..=whole.column.saturating_add(span.end - span.start);
            own.file == whole.file && own.line == whole.line && columns.contains(&own.column)
        }
        _ => false,
    };
    inputs.retain(|cause| cause.kind != "computed" && !is_inside(cause));
    Because { text, place, inputs }
}

/// One step of an origin, in terms for the user.
pub(crate) fn cause(session: &Session, origin: Origin) -> Option<Cause> {
    let (kind, span, detail) = match session.origins.get(origin, &session.sources) {
        OriginKind::Unknown => return None,
        OriginKind::File(span) => ("file", Some(span), String::new()),
        OriginKind::Default { detail, span } => ("default", span, detail.to_string()),
        OriginKind::Flag(flag) => ("flag", None, flag.to_string()),
        OriginKind::Env(name) => ("env", None, name.to_string()),
        OriginKind::Outside(what) => ("outside", None, what.to_string()),
        OriginKind::Parent { detail, from } => {
            ("parent", session.origins.span(from, &session.sources), detail.to_string())
        }
        OriginKind::Derived { step, span, .. } => ("computed", span, step.to_string()),
        OriginKind::Chosen { winner, .. } => return cause(session, winner),
        OriginKind::Selected { taken, .. } => return cause(session, taken),
    };
    Some(Cause { kind, place: span.and_then(|span| Place::of(session, span)), detail })
}

/// The place and detail of a cause in one line: `values.yaml:3:8`, `flag --set image.tag`, `default …`.
pub fn origin_text(cause: &Cause) -> String {
    let detail = match cause.kind {
        // Some dialects describe a default themselves.
        "default" if cause.detail.starts_with("default ") => cause.detail.clone(),
        "default" => format!("default {}", cause.detail),
        "env" => format!("environment variable {}", cause.detail),
        "flag" => format!("flag {}", cause.detail),
        "outside" => cause.detail.clone(),
        "parent" => format!("inherited from {}", cause.detail),
        "computed" if !cause.detail.is_empty() => format!("computed by {}", cause.detail),
        "computed" if cause.place.is_none() => "computed".to_owned(),
        _ => String::new(),
    };
    match (&cause.place, detail.trim()) {
        (Some(place), "") => place.to_string(),
        (Some(place), detail) => format!("{place} ({detail})"),
        (None, detail) => detail.to_owned(),
    }
}

/// The text of a scalar, as it is shown; empty for collections.
pub(crate) fn scalar_text(value: &Value) -> String {
    match &value.data {
        Data::Str(text) => text.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::BigInt(text) => text.to_string(),
        Data::Float(value) => value.to_string(),
        Data::Null => "null".to_owned(),
        _ => String::new(),
    }
}
