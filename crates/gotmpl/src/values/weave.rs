//! Builds a text from parts of another one, keeping their pieces if they are recorded.

use crate::error::Fault;
use crate::machine::Machine;
use crate::rope::{Piece, Rope, slice};
use crate::taint::holds_taint;
use crate::value::{Data, Str, Val};

/// A text made from parts of a source text and the function's own bytes.
pub struct Weave {
    rope: Rope,
    source: Str,
    piece: Piece,
    tainted_as_whole: bool,
    track: bool,
}

impl Weave {
    /// Starts a text with this value as its source.
    pub fn new(m: &Machine<'_>, value: &Val) -> Self {
        let source = match &value.data {
            Data::Str(text) | Data::Bytes(text) => text.clone(),
            _ => Str::new(crate::print::sprint(&m.heap, value)),
        };
        let tainted = value.is_tainted() || m.outside.track && holds_taint(&m.heap, std::slice::from_ref(value));
        let piece = Piece { end: 0, origin: value.origin, site: m.site, call: m.current_call(), tainted };
        let (track, tainted_as_whole) = (m.outside.track, value.is_tainted_as_whole());
        Self { rope: Rope::default(), source, piece, tainted_as_whole, track }
    }

    /// The source text.
    pub fn source(&self) -> Str {
        self.source.clone()
    }

    /// Appends bytes of the function's own.
    pub fn own(&mut self, bytes: &[u8]) {
        if self.track {
            let piece = self.rope.pieces.last().map_or(self.piece, |last| Piece { tainted: false, ..*last });
            self.rope.push(bytes, piece);
        } else {
            self.rope.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends the text of another value; one from the template itself counts as the function's own.
    pub fn other(&mut self, value: &Val) {
        let text = value.as_str().map(Str::bytes).unwrap_or_default();
        match value.as_str().and_then(Str::pieces).filter(|_| self.track) {
            Some(pieces) => self.rope.push_pieces(text, pieces, value.is_tainted_as_whole()),
            None if self.track && (value.origin != 0 || value.is_tainted()) => {
                self.rope.push(text, Piece { origin: value.origin, tainted: value.is_tainted(), ..self.piece });
            }
            None => self.own(text),
        }
    }

    /// Appends bytes made from the source as a whole.
    pub fn made(&mut self, bytes: &[u8]) {
        if self.track {
            let first =
                self.source.pieces().and_then(|pieces| pieces.iter().find(|p| p.origin != 0).or(pieces.first()));
            let tainted = self.source.pieces().is_some_and(|pieces| pieces.iter().any(|p| p.tainted));
            let base = first.copied().unwrap_or(self.piece);
            self.rope.push(bytes, Piece { tainted: tainted || self.piece.tainted, ..base });
        } else {
            self.rope.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends a range of the source.
    pub fn part(&mut self, from: usize, to: usize) {
        let source = self.source.clone();
        let bytes = source.bytes().get(from..to).unwrap_or_default();
        if !self.track {
            self.rope.bytes.extend_from_slice(bytes);
        } else if let Some(pieces) = source.pieces() {
            self.rope.push_pieces(bytes, &slice(pieces, from, to), self.tainted_as_whole);
        } else {
            self.rope.push(bytes, self.piece);
        }
    }

    /// The finished text.
    pub fn finish(self, m: &Machine<'_>) -> Result<Val, Fault> {
        if self.rope.pieces.len() <= 1 {
            let text = m.limited(self.rope.bytes)?;
            let (origin, tainted) = match self.rope.pieces.first() {
                Some(piece) => (piece.origin, piece.tainted),
                None => (self.piece.origin, self.piece.tainted),
            };
            return Ok(text.at(origin).taint(tainted));
        }
        m.limited_rope(self.rope)
    }
}

/// A part of a value's text.
pub fn part(m: &Machine<'_>, value: &Val, from: usize, to: usize) -> Result<Val, Fault> {
    if let Data::Str(text) = &value.data
        && from == 0
        && to == text.len()
    {
        return Ok(value.clone());
    }
    let mut weave = Weave::new(m, value);
    weave.part(from, to);
    weave.finish(m)
}
