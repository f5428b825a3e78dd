//! Files of manifests with templates. Garden evaluates the whole file as one text and parses the result as YAML 1.1, so
//! an expression can produce a list, a mapping or several lines.
//!
//! The text decides what the values are. The tree of the unevaluated file decides where they come from: it is
//! evaluated scalar by scalar, and each value of the text takes the origin of its counterpart. Knows no Kubernetes.

use crate::bind::{Binder, Env};
use crate::place::{NodeRef, Place};
use crate::templates::syntax_problem;
use ecow::EcoString;
use purlin_syntax::scalar::resolve_plain;
use purlin_syntax::{Flavor, Node, Scalar, Source, Span, Style, Tree};
use purlin_value::{Data, Eval, Map, MergeKeys, Origin, OriginKind, Piece, Session, Value, value_of};
use std::ops::Range;
use std::sync::Arc;

/// A file with templates, and their scope.
pub(super) struct ManifestText<'a> {
    pub file: &'a str,
    pub source: &'a Arc<Source>,
    pub env: &'a Arc<Env>,
}

/// The documents of a file that are not empty.
pub(super) fn documents_of(tree: &Arc<Tree>) -> impl Iterator<Item = Node<'_>> {
    tree.roots().filter(|root| !root.is_null())
}

impl ManifestText<'_> {
    /// The documents after evaluation. A file that fails is reported and has none.
    pub fn documents(&self, eval: &mut Eval<'_>) -> Vec<Value> {
        let Some(text) = self.evaluated(eval) else { return Vec::new() };
        let unevaluated = eval.session.load_tree(self.source, Flavor::Core11);
        if !unevaluated.is_sound() {
            return if text.is_pending() { vec![text] } else { self.parsed_with_origins(&text, eval) };
        }
        self.env.templates.read(&unevaluated, eval.session);
        if text.is_pending() {
            return documents_of(&unevaluated).map(|root| self.filled(&unevaluated, root, eval)).collect();
        }
        let parsed = self.parsed(&text, eval);
        // The text has been evaluated already, and its problems were reported then.
        let session = eval.session;
        let (by_scalar, again) = session.sink.apart(|| -> Vec<Value> {
            documents_of(&unevaluated).map(|root| self.filled(&unevaluated, root, eval)).collect()
        });
        drop(again);
        if by_scalar.len() != parsed.len() {
            return parsed.into_iter().map(|value| located(session, value, &text)).collect();
        }
        parsed.into_iter().zip(&by_scalar).map(|(text, scalars)| with_origins_of(text, scalars)).collect()
    }

    /// The text with its expressions replaced by their values; `None` if that failed.
    fn evaluated(&self, eval: &mut Eval<'_>) -> Option<Value> {
        let place = Place::Verbatim(self.source.span(0, self.source.text().len()));
        let template = match crate::expr::parse(self.source.text()) {
            Ok(template) => Arc::new(template),
            Err(problems) => {
                eval.session.sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
                return None;
            }
        };
        let bound = Binder::new(self.env).template(template, place);
        Some(eval.force(&bound)).filter(|value| !value.is_poison())
    }

    fn parsed(&self, text: &Value, eval: &Eval<'_>) -> Vec<Value> {
        let session = eval.session;
        let source = session.sources.insert(self.file, crate::expr::text_of(text).as_str());
        if text.is_tainted() {
            session.sources.hide(source.span(0, source.text().len()));
        }
        let tree = session.parse_yaml(source, Flavor::Core11);
        documents_of(&tree).map(|root| tainted_below(value_of(root, MergeKeys::Apply), text)).collect()
    }

    /// The documents of a file that is YAML only once it is evaluated.
    fn parsed_with_origins(&self, text: &Value, eval: &Eval<'_>) -> Vec<Value> {
        self.parsed(text, eval).into_iter().map(|value| located(eval.session, value, text)).collect()
    }

    /// A document whose scalars were evaluated one by one: the result of a plain scalar is resolved as YAML again, and a
    /// quoted one remains a string.
    fn filled(&self, tree: &Arc<Tree>, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let whole = NodeRef::new(tree, node);
        let target = node.target();
        if target.is_list() {
            let items: Vec<Value> = target.items().map(|item| self.filled(tree, item, eval)).collect();
            return value_of(node, MergeKeys::Apply).with(items.into());
        }
        if target.is_map() {
            let entries = crate::bind::entries(target);
            let entries: Map = entries.into_iter().map(|(key, item)| (key, self.filled(tree, item, eval))).collect();
            return value_of(node, MergeKeys::Apply).with(entries.into());
        }
        let bound = Binder::new(self.env).bind(&whole);
        let is_computed = matches!(bound.data, Data::Lazy(_));
        let value = eval.force_deep(&bound);
        if !is_computed || value.is_pending() || value.is_poison() {
            return value;
        }
        let text = crate::expr::text_of(&value);
        match target.style() {
            Style::Plain if value.as_str().is_some() => retyped(&value, &text),
            Style::Plain => value,
            _ => value.clone().with(Data::Str(text)),
        }
    }
}

/// A value of the evaluated text with the origins of the parts of the text that it was parsed from.
fn located(session: &Session, value: Value, text: &Value) -> Value {
    let data = match &value.data {
        Data::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), located(session, value.clone(), text)));
            Data::from(entries.collect::<Map>())
        }
        Data::List(items) => {
            let items = items.iter().map(|item| located(session, item.clone(), text));
            Data::from(items.collect::<Vec<Value>>())
        }
        other => other.clone(),
    };
    let Some(span) = session.origins.span(value.origin, &session.sources) else { return value.with(data) };
    let length = crate::expr::text_of(text).len();
    let origin = origin_of_part(session, text.origin, length, span.start as usize..span.end as usize);
    value.with(data).with_origin(origin)
}

/// The origin of some bytes of a text with an origin: a text that was put together knows the origins of its pieces.
fn origin_of_part(session: &Session, origin: Origin, length: usize, part: Range<usize>) -> Origin {
    let (mut origin, mut length, mut part) = (origin, length, part);
    loop {
        match session.origins.get(origin, &session.sources) {
            OriginKind::Derived { step, span, pieces } => {
                let overlaps = |piece: &&Piece| (piece.start as usize) < part.end && part.start < piece.end as usize;
                let found: Vec<&Piece> = pieces.iter().filter(overlaps).collect();
                let [one] = found.as_slice() else {
                    let shifted = found.into_iter().map(|piece| clipped(piece, &part)).collect();
                    return session.origins.derived(step, span, shifted);
                };
                let start = one.start as usize;
                part = part.start.saturating_sub(start)..part.end.min(one.end as usize).saturating_sub(start);
                (origin, length) = (one.origin, (one.end as usize).saturating_sub(start));
            }
            OriginKind::File(span) if (span.end - span.start) as usize == length => {
                let at = |offset: usize| span.start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX));
                return session.origins.file(Span::new(span.file, at(part.start), at(part.end)));
            }
            _ => return origin,
        }
    }
}

/// A piece of a text as a piece of a part of that text.
fn clipped(piece: &Piece, part: &Range<usize>) -> Piece {
    let shift = |at: u32| {
        let at = (at as usize).clamp(part.start, part.end) - part.start;
        u32::try_from(at).unwrap_or(u32::MAX)
    };
    Piece { start: shift(piece.start), end: shift(piece.end), origin: piece.origin }
}

/// A value of the evaluated text with the origins of the values that were evaluated one by one. A part that the text has
/// and they lack comes from what they have in its place.
fn with_origins_of(text: Value, scalars: &Value) -> Value {
    if text == *scalars && !scalars.is_collection() {
        return scalars.clone();
    }
    match (&text.data, &scalars.data) {
        (Data::Map(entries), Data::Map(others)) => {
            let graft = |value: &Value, other: Option<&Value>| match other {
                Some(other) => with_origins_of(value.clone(), other),
                None => value.clone(),
            };
            let entries = entries.iter().map(|(key, value)| (key.clone(), graft(value, others.get(key))));
            scalars.clone().with(Data::from(entries.collect::<Map>()))
        }
        (Data::List(items), Data::List(others)) if items.len() == others.len() => {
            let items = items.iter().zip(others.iter()).map(|(item, other)| with_origins_of(item.clone(), other));
            scalars.clone().with(Data::from(items.collect::<Vec<Value>>()))
        }
        _ => all_from(text, scalars),
    }
}

/// A value of which every part comes from one scalar.
fn all_from(text: Value, scalar: &Value) -> Value {
    let data = match &text.data {
        Data::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), all_from(value.clone(), scalar)));
            Data::from(entries.collect::<Map>())
        }
        Data::List(items) => {
            let items = items.iter().map(|item| all_from(item.clone(), scalar));
            Data::from(items.collect::<Vec<Value>>())
        }
        _ => return text.with_origin(scalar.origin),
    };
    text.with(data).with_origin(scalar.origin)
}

/// All parts of a value with the taint of the text that they were parsed from.
fn tainted_below(value: Value, text: &Value) -> Value {
    let data = match &value.data {
        Data::Map(entries) if text.is_tainted() => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), tainted_below(value.clone(), text)));
            Data::from(entries.collect::<Map>())
        }
        Data::List(items) if text.is_tainted() => {
            let items = items.iter().map(|item| tainted_below(item.clone(), text));
            Data::from(items.collect::<Vec<Value>>())
        }
        _ => return value.tainted_by(text.taint()),
    };
    value.with(data)
}

/// The value of a text resolved as a plain scalar, with its origin unchanged.
fn retyped(value: &Value, text: &EcoString) -> Value {
    let data = match resolve_plain(text, Flavor::Core11) {
        Scalar::Null => Data::Null,
        Scalar::Bool(value) => Data::Bool(value),
        Scalar::Int(value) => Data::Int(value),
        Scalar::Float(value) => Data::Float(value),
        Scalar::BigInt => Data::BigInt(text.clone()),
        Scalar::Str | Scalar::Timestamp => return value.clone(),
    };
    value.clone().with(data)
}
