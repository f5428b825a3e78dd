//! Where a value comes from, piece by piece.
//!
//! Reads the table of origins that resolution itself wrote; there is no second implementation of any rule here.

use purlin_syntax::Span;
use purlin_value::{Data, Origin, OriginKind, Session, Value};

/// A place in a file, as a user would be told. Unlike a span it means something without the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path.
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
        Some(Place { file: source.path().to_owned(), line: start.line, column: start.column, last_line: end.line })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where something comes from, as a user would be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `file`, `default`, `flag`, `env`, `computed` or `parent`.
    pub kind: &'static str,
    /// Where it is written.
    pub place: Option<Place>,
    /// Which default, flag, variable or parent.
    pub detail: String,
}

/// A step a value went through on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happened (`template`, `join()`, `deep merge`).
    pub text: String,
    /// Where it is written.
    pub place: Option<Place>,
}

/// One part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyPiece {
    /// The part's text; `None` for a secret.
    pub text: Option<String>,
    /// Its bytes in the whole text.
    pub range: (u32, u32),
    /// Where it comes from.
    pub cause: Cause,
    /// What it went through, the last step first.
    pub through: Vec<Step>,
    /// What it overrode, the strongest first.
    pub overrode: Vec<Cause>,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub struct Why {
    /// The value.
    pub value: Value,
    /// Its parts, in order.
    pub pieces: Vec<WhyPiece>,
}

/// A guard against absurd tables; real chains are short.
const STEPS: usize = 200;
const PIECES: usize = 1_000;

/// Where a value comes from.
pub fn why(session: &Session, value: &Value) -> Why {
    let text = scalar_text(value);
    let whole = (0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    let mut walk = Walk { session, text: &text, secret: value.is_tainted_deep(), pieces: Vec::new() };
    walk.origin(value.origin, whole, Vec::new(), Vec::new());
    Why { value: value.clone(), pieces: walk.pieces }
}

struct Walk<'a> {
    session: &'a Session,
    text: &'a str,
    secret: bool,
    pieces: Vec<WhyPiece>,
}

impl Walk<'_> {
    fn origin(&mut self, origin: Origin, range: (u32, u32), mut through: Vec<Step>, mut overrode: Vec<Cause>) {
        if self.pieces.len() >= PIECES {
            return;
        }
        let mut origin = origin;
        while through.len() < STEPS {
            match self.session.origins.get(origin, &self.session.sources) {
                OriginKind::Chosen { winner, rule, overrode: lost } => {
                    overrode.extend(lost.iter().filter_map(|&origin| cause(self.session, origin)));
                    through.push(Step { text: rule.to_owned(), place: None });
                    origin = winner;
                }
                OriginKind::Parent { detail, from } => {
                    through.push(Step { text: format!("inherited from {detail}"), place: None });
                    if self.session.origins.get(from, &self.session.sources) == OriginKind::Unknown {
                        break;
                    }
                    origin = from;
                }
                OriginKind::Derived { step, span, pieces } => {
                    let place = span.and_then(|span| Place::of(self.session, span));
                    through.push(Step { text: step.to_string(), place });
                    if pieces.is_empty() {
                        break;
                    }
                    for piece in pieces {
                        // Inputs of an opaque function have no place in the text: they stand for all of it.
                        let part = if piece.start == 0 && piece.end == 0 {
                            range
                        } else {
                            (range.0 + piece.start, range.0 + piece.end)
                        };
                        self.origin(piece.origin, part, through.clone(), overrode.clone());
                    }
                    return;
                }
                _ => break,
            }
        }
        let cause =
            cause(self.session, origin).unwrap_or(Cause { kind: "computed", place: None, detail: String::new() });
        let text = self.text.get(range.0 as usize..range.1 as usize).unwrap_or(self.text);
        let text = (!self.secret).then(|| text.to_owned());
        self.pieces.push(WhyPiece { text, range, cause, through, overrode });
    }
}

/// Where an origin leads in one step, as a user would be told.
pub(crate) fn cause(session: &Session, origin: Origin) -> Option<Cause> {
    let (kind, span, detail) = match session.origins.get(origin, &session.sources) {
        OriginKind::Unknown => return None,
        OriginKind::File(span) => ("file", Some(span), String::new()),
        OriginKind::Default { detail, span } => ("default", span, detail.to_string()),
        OriginKind::Flag(flag) => ("flag", None, flag.to_string()),
        OriginKind::Env(name) => ("env", None, name.to_string()),
        OriginKind::Parent { detail, from } => {
            ("parent", session.origins.span(from, &session.sources), detail.to_string())
        }
        OriginKind::Derived { step, span, .. } => ("computed", span, step.to_string()),
        OriginKind::Chosen { winner, .. } => return cause(session, winner),
    };
    Some(Cause { kind, place: span.and_then(|span| Place::of(session, span)), detail })
}

/// The place and detail of a cause in one line: `values.yaml:3:8`, `flag --set image.tag`, `default …`.
pub fn origin_text(cause: &Cause) -> String {
    let detail = match cause.kind {
        "default" => format!("default {}", cause.detail),
        "env" => format!("environment variable {}", cause.detail),
        "flag" => format!("flag {}", cause.detail),
        "parent" => format!("inherited from {}", cause.detail),
        "computed" if !cause.detail.is_empty() => format!("computed by {}", cause.detail),
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
