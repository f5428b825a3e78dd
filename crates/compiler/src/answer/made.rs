//! Derivation of a value, top down: each step with its source line and its value there.
//!
//! Reads the table of origins, as `why.rs` does, and keeps its shape: inputs of a step are below it, overridden values
//! are beside the overriding one. Values of steps are those found in the result itself, or literals in files; nothing
//! is computed again.

use crate::why::{Because, Cause, Place, Range, STEPS, because, cause, conditions, end_of, scalar_text};
use purlin_syntax::print::shown_line;
use purlin_syntax::{FileId, Span};
use purlin_value::{Origin, OriginKind, Piece, Session, Value};

/// One step in the making of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The value at this step; `None` for a secret, a collection, and values known only to the evaluator.
    pub value: Option<String>,
    /// Its origin.
    pub cause: Cause,
    /// The expression that computed it, as written; `None` for literals.
    pub expression: Option<String>,
    /// The line of its start; `None` for a secret.
    pub line: Option<String>,
    /// Its inputs, without literals of the expression itself.
    pub inputs: Vec<Made>,
    /// Number of unlisted inputs.
    pub more_inputs: usize,
    /// Overridden values, the strongest first.
    pub overrode: Vec<Made>,
    /// The conditions that decided on it, the innermost first.
    pub because: Vec<Because>,
}

/// Deepest step that is shown.
const DEPTH: usize = 12;
/// Inputs of one step that are shown.
const INPUTS: usize = 12;
/// Steps that are shown in all.
const ALL: usize = 60;
/// The longest value or expression that is quoted, in characters.
const QUOTED: usize = 60;

/// The derivation of a value.
pub fn made(session: &Session, value: &Value) -> Made {
    let text = scalar_text(value);
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut making = Making { session, text: &text, is_secret: value.is_tainted_deep(), left: ALL };
    let whole = Range { start: 0, end, is_opaque: text.is_empty() && value.as_str().is_none() };
    making.step(value.origin, whole, DEPTH)
}

struct Making<'a> {
    session: &'a Session,
    text: &'a str,
    is_secret: bool,
    /// Steps that may still be made.
    left: usize,
}

impl Making<'_> {
    fn step(&mut self, origin: Origin, range: Range, depth: usize) -> Made {
        self.left = self.left.saturating_sub(1);
        let (mut overrode, mut decided) = (Vec::new(), Vec::new());
        let mut origin = origin;
        for _ in 0..STEPS {
            match self.session.origins.get(origin, &self.session.sources) {
                OriginKind::Chosen { winner, overrode: lost, .. } => {
                    overrode.extend(lost.into_iter().filter(|lost| lost.is_known()));
                    origin = winner;
                }
                OriginKind::Selected { taken, because: condition } => {
                    let all = conditions(self.session, condition).into_iter();
                    decided.extend(all.map(|origin| because(self.session, origin)));
                    origin = taken;
                }
                OriginKind::Parent { from, .. } if from.is_known() => origin = from,
                OriginKind::Derived { span, pieces, .. } => match self.passes_on(span, &pieces) {
                    Some(next) => origin = next,
                    None => break,
                },
                _ => break,
            }
        }
        let mut made = self.written(origin, range);
        if let OriginKind::Derived { span, pieces, .. } = self.session.origins.get(origin, &self.session.sources) {
            // A plain reference is replaced by its target, whatever evaluated it.
            let is_reference = made.expression.as_deref().is_some_and(is_reference);
            let range = if is_reference && self.is_all(range) { Range { is_opaque: false, ..range } } else { range };
            (made.inputs, made.more_inputs) = self.inputs(span, pieces, range, is_reference, depth);
        }
        overrode.dedup();
        overrode.retain(|_| self.left > 0);
        let opaque = Range { is_opaque: true, ..range };
        made.overrode = overrode.into_iter().take(INPUTS).map(|lost| self.lost(lost, opaque)).collect();
        made.because = decided;
        made
    }

    /// A step without information: it has no location, or its input is computed at the same location.
    fn passes_on(&self, span: Option<Span>, pieces: &[Piece]) -> Option<Origin> {
        let [only] = pieces else { return None };
        if !only.origin.is_known() {
            return None;
        }
        let Some(span) = span else { return Some(only.origin) };
        let inner = match self.session.origins.get(only.origin, &self.session.sources) {
            OriginKind::Derived { span, .. } => span,
            _ => None,
        };
        inner.filter(|inner| self.line(*inner) == self.line(span)).map(|_| only.origin)
    }

    fn line(&self, span: Span) -> Option<(FileId, u32)> {
        Some((span.file, self.session.sources.get(span.file)?.position(span.start).line))
    }

    /// Whether an origin is a literal with another text: a name that was assembled from it.
    fn says_other(&self, origin: Origin) -> bool {
        match self.session.origins.get(self.behind(origin), &self.session.sources) {
            OriginKind::File(span) => self.literal(span).is_some_and(|literal| literal != quoted(self.text)),
            _ => false,
        }
    }

    /// The result of a choice.
    fn behind(&self, origin: Origin) -> Origin {
        let mut origin = origin;
        for _ in 0..STEPS {
            match self.session.origins.get(origin, &self.session.sources) {
                OriginKind::Chosen { winner, .. } => origin = winner,
                OriginKind::Selected { taken, .. } => origin = taken,
                OriginKind::Parent { from, .. } if from.is_known() => origin = from,
                _ => break,
            }
        }
        origin
    }

    /// Whether a range covers the whole text.
    fn is_all(&self, range: Range) -> bool {
        range.start == 0 && range.end as usize == self.text.len() && !self.text.is_empty()
    }

    fn inputs(
        &mut self,
        whole: Option<Span>,
        pieces: Vec<Piece>,
        range: Range,
        is_reference: bool,
        depth: usize,
    ) -> (Vec<Made>, usize) {
        let is_inside = |span: Span| whole.is_some_and(|whole| whole.contains(span));
        // Literals of the expression are a part of its text, too.
        let last = end_of(&pieces);
        let mut seen = Vec::new();
        let known = pieces.into_iter().filter(|piece| {
            let is_literal = match self.session.origins.get(piece.origin, &self.session.sources) {
                OriginKind::File(span) => is_inside(span),
                OriginKind::Unknown => true,
                _ => false,
            };
            let is_new = !seen.contains(&piece.origin);
            seen.push(piece.origin);
            !is_literal && is_new
        });
        let known: Vec<Piece> = known.collect();
        let parts = match known.as_slice() {
            [only] if is_reference && self.is_all(range) && !self.says_other(only.origin) => {
                vec![(only.origin, range)]
            }
            _ => range.parts_of(known, last),
        };
        let count = parts.len();
        let most = if depth == 0 { 0 } else { INPUTS.min(self.left) };
        let shown: Vec<Made> =
            parts.into_iter().take(most).map(|(origin, part)| self.step(origin, part, depth - 1)).collect();
        let more = count - shown.len();
        (shown, more)
    }

    /// An overridden value: its location and text.
    fn lost(&mut self, origin: Origin, range: Range) -> Made {
        self.left = self.left.saturating_sub(1);
        self.written(self.behind(origin), range)
    }

    /// A step without inputs.
    fn written(&self, origin: Origin, range: Range) -> Made {
        let kind = self.session.origins.get(origin, &self.session.sources);
        let nothing = Cause { kind: "computed", place: None, detail: String::new() };
        let cause = cause(self.session, origin).unwrap_or(nothing);
        let span = match kind {
            OriginKind::File(span) => Some(span),
            OriginKind::Default { span, .. } | OriginKind::Derived { span, .. } => span,
            _ => None,
        };
        let is_computed = matches!(kind, OriginKind::Derived { .. });
        let part = (!range.is_opaque).then(|| self.text.get(range.start as usize..range.end as usize)).flatten();
        let is_file = matches!(kind, OriginKind::File(_));
        let literal = || span.filter(|_| is_file).and_then(|span| self.literal(span));
        let value = part.map(quoted).or_else(literal).filter(|_| !self.is_secret);
        let expression = span.filter(|_| is_computed && !self.is_secret).and_then(|span| self.expression(span));
        let says_more = |expression: &String| value.as_ref().is_none_or(|value| !expression.contains(value));
        let expression = expression.filter(says_more);
        let line = span.filter(|_| !self.is_secret).and_then(|span| shown_line(span, &*self.session.sources));
        let line = line.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
        let (inputs, overrode, because) = (Vec::new(), Vec::new(), Vec::new());
        Made { value, cause, expression, line, inputs, more_inputs: 0, overrode, because }
    }

    /// An expression as written. If it begins inside an action of a template, the end of the action is left out.
    fn expression(&self, span: Span) -> Option<String> {
        let text = self.written_at(span)?;
        if text.contains("{{") {
            return Some(text);
        }
        let inner = text.split("}}").next().unwrap_or_default().trim_end_matches([' ', '-']);
        (!inner.is_empty()).then(|| inner.to_owned())
    }

    /// The value of a scalar in a file, without its quotes; `None` for collections and for text of templates.
    fn literal(&self, span: Span) -> Option<String> {
        let text = self.written_at(span)?;
        if text.starts_with(['{', '[', '|', '>', '&', '*'])
            || text.contains("{{")
            || text.contains("}}")
            || text.contains(": ")
        {
            return None;
        }
        let bare = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        Some(bare.unwrap_or(&text).to_owned())
    }

    /// The text of a span on one line, unless some of it is a secret.
    fn written_at(&self, span: Span) -> Option<String> {
        let sources = &self.session.sources;
        let overlaps = |hidden: &Span| hidden.start < span.end && span.start < hidden.end;
        if sources.hidden(span.file).iter().any(overlaps) {
            return None;
        }
        let source = sources.get(span.file)?;
        let text = source.text().get(span.start as usize..span.end as usize)?.trim();
        (!text.is_empty() && !text.contains('\n')).then(|| quoted(text))
    }
}

/// Whether an expression is only a reference to a value: `var.replicas`, `.Values.image.tag`, `$.Values.x`.
fn is_reference(expression: &str) -> bool {
    let inner = expression.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or(expression);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let name = inner.strip_prefix('$').unwrap_or(inner);
    name.contains('.') && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// A text short enough for one line.
fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_whole = line.len() == text.len() && text.chars().count() <= QUOTED;
    if is_whole { text.to_owned() } else { line.chars().take(QUOTED - 1).chain(['…']).collect() }
}

/// Short location of a step: `garden.yml:33`.
pub fn place_text(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}
