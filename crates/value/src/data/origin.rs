//! Origins of values: four bytes per value, and one append-only table for everything but plain nodes.
//!
//! A node of a file is its own origin and costs nothing. Evaluation adds an entry only for derived or chosen values.
//! `why`, traces, causes of differences and hovers all read this table.

use ecow::EcoString;
use purlin_syntax::{Node, Sources, Span};
use std::sync::{Arc, PoisonError, RwLock};

/// The origin of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin(u32);

const DERIVED: u32 = 1 << 31;

/// Whether origins are recorded. Always, except in a build for measuring their cost: with `PURLIN_WITHOUT_ORIGINS`
/// set at compile time, `why` knows nothing.
pub const NOTED: bool = option_env!("PURLIN_WITHOUT_ORIGINS").is_none();

impl Origin {
    /// Unknown.
    pub const NONE: Origin = Origin(u32::MAX);

    /// Of a null that means absence: a condition without an else. See [`crate::Value::absent`].
    pub(crate) const ABSENT: Origin = Origin(u32::MAX - 1);

    /// The origin of a node's value.
    pub fn node(node: Node<'_>) -> Origin {
        let number = node.number();
        if number < DERIVED { Origin(number) } else { Origin::NONE }
    }

    /// The origin as a number, for engines that keep values of their own.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The origin of a number made by [`Origin::to_bits`].
    pub fn from_bits(bits: u32) -> Origin {
        Origin(bits)
    }

    /// Whether it is known.
    pub fn is_known(self) -> bool {
        self != Origin::NONE && self != Origin::ABSENT
    }

    /// Whether it is anything but a plain node of a file.
    pub fn is_derived(self) -> bool {
        self.is_known() && self.0 >= DERIVED
    }
}

/// A part of a text and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// First byte in the resulting text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Its origin.
    pub origin: Origin,
}

impl Piece {
    /// An input without a range of its own in the text: it applies to all of it.
    pub fn whole(origin: Origin) -> Self {
        Piece { start: 0, end: 0, origin }
    }
}

/// An origin in full.
#[derive(Clone, Debug, PartialEq)]
pub enum OriginKind {
    /// Unknown.
    Unknown,
    /// A location in a file.
    File(Span),
    /// A default: of a table, of a parent type, of the tool.
    Default {
        /// The default, in a user's words.
        detail: EcoString,
        /// Its location, if it is in a file.
        span: Option<Span>,
    },
    /// A flag of the command line.
    Flag(EcoString),
    /// An environment variable.
    Env(EcoString),
    /// Something else that differs between runs of the same project: the machine, the clock, the command, the state of
    /// the repository. In a user's words.
    Outside(EcoString),
    /// Inherited from a parent (a type, a base, a template).
    Parent {
        /// The parent, in a user's words.
        detail: EcoString,
        /// The origin of the parent's value.
        from: Origin,
    },
    /// Computed from other values.
    Derived {
        /// The computing step (`template`, `join()`, `include "web.labels"`).
        step: EcoString,
        /// Location of the expression.
        span: Option<Span>,
        /// The inputs. Pieces of a concatenated text have their ranges; other inputs have the range 0..0.
        pieces: Vec<Piece>,
    },
    /// One of several candidates.
    Chosen {
        /// The origin of the winner.
        winner: Origin,
        /// The rule that chose (`merge patch`, `environment over project`).
        rule: &'static str,
        /// The origins of the others, in descending precedence.
        overrode: Vec<Origin>,
    },
    /// Taken because of a condition: a branch, or the content of a loop or a condition.
    Selected {
        /// The origin of the taken value.
        taken: Origin,
        /// The condition: the step that computed it, and its inputs.
        because: Origin,
    },
}

impl OriginKind {
    /// The origins that a value was made from, without conditions and overridden values.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = Origin> + '_ {
        let (pieces, one): (&[Piece], Option<Origin>) = match self {
            OriginKind::Derived { pieces, .. } => (pieces, None),
            OriginKind::Chosen { winner, .. } => (&[], Some(*winner)),
            OriginKind::Parent { from, .. } => (&[], Some(*from)),
            OriginKind::Selected { taken, .. } => (&[], Some(*taken)),
            _ => (&[], None),
        };
        pieces.iter().map(|piece| piece.origin).chain(one)
    }
}

/// A set of known origins: one bit each, since their numbers are close together.
#[derive(Clone, Default, Debug)]
pub struct OriginSet {
    nodes: Vec<u64>,
    derived: Vec<u64>,
}

impl OriginSet {
    /// Adds an origin. Returns whether it is known and new.
    pub fn insert(&mut self, origin: Origin) -> bool {
        if !origin.is_known() {
            return false;
        }
        let words = if origin.is_derived() { &mut self.derived } else { &mut self.nodes };
        let (at, bit) = OriginSet::place(origin);
        if at >= words.len() {
            words.resize(at + 1, 0);
        }
        let Some(word) = words.get_mut(at) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether it contains an origin.
    pub fn contains(&self, origin: Origin) -> bool {
        let words = if origin.is_derived() { &self.derived } else { &self.nodes };
        let (at, bit) = OriginSet::place(origin);
        words.get(at).is_some_and(|word| word & bit != 0)
    }

    fn place(origin: Origin) -> (usize, u64) {
        let number = origin.0 & !DERIVED;
        ((number / u64::BITS) as usize, 1 << (number % u64::BITS))
    }
}

/// The table of all origins except nodes. A copy refers to the same table: engines with values of their own hold one.
#[derive(Clone, Default, Debug)]
pub struct Origins {
    table: Arc<RwLock<Table>>,
}

/// Entries in portions of one size, so that growing a long table never copies it.
#[derive(Default, Debug)]
struct Table {
    portions: Vec<Vec<OriginKind>>,
    len: usize,
}

const PORTION: usize = 256;

/// Maximum number of choices around a value that are recorded for its parts.
const MOST_CHOICES: usize = 32;

/// Growth factor, relative to one resolution, at which a table is discarded.
const MOST_GROWTH: usize = 4;

/// Lower bound for that comparison: smaller tables take too little memory to matter.
const FEW_ORIGINS: usize = 100_000;

impl Table {
    fn push(&mut self, kind: OriginKind) {
        if self.len.is_multiple_of(PORTION) {
            // Most runs derive few values, so the first portion starts small.
            self.portions.push(if self.len == 0 { Vec::new() } else { Vec::with_capacity(PORTION) });
        }
        if let Some(portion) = self.portions.last_mut() {
            portion.push(kind);
            self.len += 1;
        }
    }

    fn get(&self, index: usize) -> Option<&OriginKind> {
        self.portions.get(index / PORTION)?.get(index % PORTION)
    }
}

impl Origins {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an origin.
    pub fn push(&self, kind: OriginKind) -> Origin {
        if !NOTED {
            return Origin::NONE;
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let index = u32::try_from(table.len).unwrap_or(u32::MAX);
        if index >= DERIVED - 2 {
            return Origin::NONE;
        }
        table.push(kind);
        Origin(DERIVED | index)
    }

    /// A location in a file that is not a node of its own.
    pub fn file(&self, span: Span) -> Origin {
        self.push(OriginKind::File(span))
    }

    /// A location in a file that is not registered yet; set with [`Origins::settle`].
    pub fn reserve(&self) -> Origin {
        self.push(OriginKind::Unknown)
    }

    /// Sets the location of a reserved origin.
    pub fn settle(&self, reserved: Origin, span: Span) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let index = (reserved.0 & !DERIVED) as usize;
        let entry = table.portions.get_mut(index / PORTION).and_then(|portion| portion.get_mut(index % PORTION));
        if let Some(entry) = entry.filter(|entry| reserved.is_derived() && **entry == OriginKind::Unknown) {
            *entry = OriginKind::File(span);
        }
    }

    /// A default.
    pub fn fallback(&self, detail: impl Into<EcoString>, span: Option<Span>) -> Origin {
        self.push(OriginKind::Default { detail: detail.into(), span })
    }

    /// A flag of the command line.
    pub fn flag(&self, text: impl Into<EcoString>) -> Origin {
        self.push(OriginKind::Flag(text.into()))
    }

    /// An environment variable.
    pub fn env(&self, name: impl Into<EcoString>) -> Origin {
        self.push(OriginKind::Env(name.into()))
    }

    /// Something else that differs between runs of the same project.
    pub fn outside(&self, name: impl Into<EcoString>) -> Origin {
        self.push(OriginKind::Outside(name.into()))
    }

    /// A computed value. Keeps the origin of a single input that passed through unchanged.
    pub fn derived(&self, step: impl Into<EcoString>, span: Option<Span>, pieces: Vec<Piece>) -> Origin {
        self.push(OriginKind::Derived { step: step.into(), span, pieces })
    }

    /// A winner among several; the winner's own origin if no overridden origin is known.
    pub fn chosen(&self, winner: Origin, rule: &'static str, overrode: Vec<Origin>) -> Origin {
        if !overrode.iter().any(|origin| origin.is_known()) {
            return winner;
        }
        self.push(OriginKind::Chosen { winner, rule, overrode })
    }

    /// Whether an origin is a choice that overrode another one.
    pub fn has_overridden(&self, winner: Origin, loser: Origin) -> bool {
        if !winner.is_derived() {
            return false;
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let found = table.get((winner.0 & !DERIVED) as usize);
        matches!(found, Some(OriginKind::Chosen { overrode, .. }) if overrode.contains(&loser))
    }

    /// A value taken because of a condition. `step` describes the condition and its outcome.
    pub fn selected(
        &self,
        taken: Origin,
        step: impl Into<EcoString>,
        span: Option<Span>,
        inputs: impl IntoIterator<Item = Origin>,
    ) -> Origin {
        let pieces: Vec<Piece> = inputs.into_iter().filter(|origin| origin.is_known()).map(Piece::whole).collect();
        if span.is_none() && pieces.is_empty() {
            return taken;
        }
        let because = self.derived(step, span, pieces);
        self.push(OriginKind::Selected { taken, because })
    }

    /// The origin of a part of a collection, which is present because of the collection's conditions: a branch, a
    /// filter, a merge.
    pub fn taken_from(&self, taken: Origin, around: Origin) -> Origin {
        self.deciding(around, MOST_CHOICES)
            .into_iter()
            .fold(taken, |taken, because| self.push(OriginKind::Selected { taken, because }))
    }

    /// The conditions of all choices that a value passed through unchanged, the last `most` of them.
    pub fn deciding(&self, origin: Origin, most: usize) -> Vec<Origin> {
        let mut found = Vec::new();
        let mut origin = origin;
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..most {
            if !origin.is_derived() {
                break;
            }
            origin = match table.get((origin.0 & !DERIVED) as usize) {
                Some(OriginKind::Selected { taken, because }) => {
                    found.push(*because);
                    *taken
                }
                Some(OriginKind::Chosen { winner, .. }) => *winner,
                Some(OriginKind::Parent { from, .. }) => *from,
                Some(OriginKind::Derived { pieces, .. }) => match pieces.as_slice() {
                    [one] => one.origin,
                    _ => break,
                },
                _ => break,
            };
        }
        found
    }

    /// An origin in full.
    pub fn get(&self, origin: Origin, sources: &Sources) -> OriginKind {
        self.look(origin, sources, OriginKind::clone)
    }

    /// Reads an origin in full, without a copy. The callback must not access the table otherwise.
    pub fn look<T>(&self, origin: Origin, sources: &Sources, see: impl FnOnce(&OriginKind) -> T) -> T {
        if !origin.is_known() {
            return see(&OriginKind::Unknown);
        }
        if origin.0 < DERIVED {
            return see(&sources.node_span(origin.0).map_or(OriginKind::Unknown, OriginKind::File));
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        see(table.get((origin.0 & !DERIVED) as usize).unwrap_or(&OriginKind::Unknown))
    }

    /// Whether the append-only table is so much larger than after one resolution that the next one should start with
    /// a new table.
    pub fn has_outgrown(&self, one_resolution: usize) -> bool {
        self.len() > MOST_GROWTH * one_resolution.max(FEW_ORIGINS)
    }

    /// The best location to show a user: the span of the origin, or of the value it was chosen or inherited from.
    pub fn span(&self, origin: Origin, sources: &Sources) -> Option<Span> {
        let mut origin = origin;
        // A chain of choices is as long as the merged layers; the bound only guards against a cycle.
        for _ in 0..10_000 {
            let next = self.look(origin, sources, |kind| match kind {
                OriginKind::File(span) => Err(Some(*span)),
                OriginKind::Default { span, .. } => Err(*span),
                OriginKind::Derived { span: Some(span), .. } => Err(Some(*span)),
                OriginKind::Derived { span: None, pieces, .. } => pieces.first().map(|piece| piece.origin).ok_or(None),
                OriginKind::Chosen { winner, .. } => Ok(*winner),
                OriginKind::Selected { taken, .. } => Ok(*taken),
                OriginKind::Parent { from, .. } => Ok(*from),
                OriginKind::Flag(_) | OriginKind::Env(_) | OriginKind::Outside(_) | OriginKind::Unknown => Err(None),
            });
            match next {
                Ok(next) => origin = next,
                Err(span) => return span,
            }
        }
        None
    }

    /// The location that wrote a value, however far from its use: the target of an expression, the layer of a merge.
    /// For a value with several inputs, the expression that made it.
    pub fn written(&self, origin: Origin, sources: &Sources) -> Option<Span> {
        let (mut origin, mut found) = (origin, None);
        // A chain is as long as the references and layers that lead to a value; the bound only guards against a
        // cycle.
        for _ in 0..10_000 {
            let (span, next) = self.look(origin, sources, |kind| match kind {
                OriginKind::File(span) => (Some(*span), None),
                OriginKind::Default { span, .. } => (*span, None),
                OriginKind::Derived { span, pieces, .. } => match pieces.as_slice() {
                    [one] => (*span, Some(one.origin)),
                    _ => (*span, None),
                },
                OriginKind::Chosen { winner, .. } => (None, Some(*winner)),
                OriginKind::Selected { taken, .. } => (None, Some(*taken)),
                OriginKind::Parent { from, .. } => (None, Some(*from)),
                OriginKind::Flag(_) | OriginKind::Env(_) | OriginKind::Outside(_) | OriginKind::Unknown => (None, None),
            });
            found = span.or(found);
            match next {
                Some(next) => origin = next,
                None => break,
            }
        }
        found
    }

    /// Location of a field's key, if it is right before the value or the expression that made it, across choices and
    /// inheritance.
    pub fn key_place(&self, value: Origin, key: &str, sources: &Sources) -> Option<Span> {
        let mut origin = value;
        for _ in 0..MOST_CHOICES {
            if !origin.is_derived() {
                return self.key_span(origin, key, sources);
            }
            let next = self.look(origin, sources, |kind| match kind {
                OriginKind::Selected { taken, .. } => Ok(*taken),
                OriginKind::Chosen { winner, .. } => Ok(*winner),
                OriginKind::Parent { from, .. } => Ok(*from),
                OriginKind::Derived { span: Some(span), .. } | OriginKind::File(span) => Err(Some(*span)),
                _ => Err(None),
            });
            match next {
                Ok(next) => origin = next,
                Err(place) => {
                    let place = place?;
                    let source = sources.get(place.file)?;
                    let written = source.text().get(place.start as usize..place.end as usize)?;
                    let is_key = unquoted(written) == key;
                    return if is_key { Some(place) } else { sources.key_before(key, place) };
                }
            }
        }
        None
    }

    /// Location of the key of a value, if the value is a plain node right after it.
    pub fn key_span(&self, value: Origin, key: &str, sources: &Sources) -> Option<Span> {
        if !value.is_known() || value.is_derived() {
            return None;
        }
        let span = sources.node_span(value.0.checked_sub(1)?)?;
        let source = sources.get(span.file)?;
        let text = source.text().get(span.start as usize..span.end as usize)?;
        (unquoted(text) == key).then_some(span)
    }

    /// The origin of a value's key: the node right before it, the text that both were read from, or the node before
    /// the expression that made the value. If several files have the key, or none has it beside the value, the value
    /// is only the reason why the key exists.
    pub fn of_key(&self, value: Origin, key: &str, sources: &Sources) -> Origin {
        let mut origin = value;
        let mut because = Vec::new();
        for _ in 0..MOST_CHOICES {
            if let Some(node) = Self::key_node(origin, key, sources) {
                let selected = |taken, because| self.push(OriginKind::Selected { taken, because });
                return because.into_iter().rev().fold(node, selected);
            }
            let next = self.look(origin, sources, |kind| match kind {
                OriginKind::Selected { taken, because } => Ok((*taken, Some(*because))),
                OriginKind::Parent { from, .. } => Ok((*from, None)),
                OriginKind::Derived { span, .. } => Err(*span),
                _ => Err(None),
            });
            match next {
                Ok((taken, decided)) => {
                    origin = taken;
                    because.extend(decided);
                }
                Err(Some(expression)) => match sources.key_before(key, expression) {
                    Some(span) => return self.file(span),
                    None => break,
                },
                Err(None) => break,
            }
        }
        self.selected(Origin::NONE, "key of a mapping", None, [value])
    }

    /// The node of the key of a value that is a plain node, or the value itself if it is a text that contains the
    /// key.
    fn key_node(value: Origin, key: &str, sources: &Sources) -> Option<Origin> {
        if !value.is_known() || value.is_derived() {
            return None;
        }
        let says = |number: u32, fits: &dyn Fn(&str) -> bool| {
            let span = sources.node_span(number)?;
            let source = sources.get(span.file)?;
            source.text().get(span.start as usize..span.end as usize).is_some_and(fits).then_some(Origin(number))
        };
        let before = value.0.checked_sub(1).and_then(|number| says(number, &|text| unquoted(text) == key));
        before.or_else(|| says(value.0, &|text| text.contains(key)))
    }

    /// Visits every entry of the table, in order of creation.
    pub fn each(&self, mut see: impl FnMut(Origin, &OriginKind)) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        for (index, kind) in table.portions.iter().flatten().enumerate() {
            see(Origin(DERIVED | u32::try_from(index).unwrap_or(u32::MAX)), kind);
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table.read().unwrap_or_else(PoisonError::into_inner).len
    }

    /// Whether no value was derived or chosen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A key as it is written, without quotes.
fn unquoted(key: &str) -> &str {
    key.trim_matches(['"', '\''])
}
