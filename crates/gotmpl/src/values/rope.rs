//! Text with the origins of its parts: ranges with origin, location in a template, and taint.
//!
//! Recording can be switched off for a render; then only bytes are kept.

use purlin_value::Origin;

/// The number of an origin inside the engine, where 0 is none.
pub fn origin_number(origin: Origin) -> u32 {
    origin.to_bits().wrapping_add(1)
}

/// The origin of such a number.
pub fn origin_of(number: u32) -> Origin {
    Origin::from_bits(number.wrapping_sub(1))
}

/// A range of a text, from the end of the piece before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Byte offset right after the piece.
    pub end: u32,
    /// The origin of the value printed here, 0 for text of the template itself.
    pub origin: u32,
    /// The location in a template that printed it: an offset in the render's combined sources.
    pub site: u32,
    /// The context (`include`, `tpl`) it was printed in, an index into the render's calls; 0 is the outermost.
    pub call: u32,
    /// Whether it contains a secret.
    pub tainted: bool,
}

/// Bytes being written, with their pieces.
#[derive(Debug, Default)]
pub struct Rope {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// The pieces so far; empty if recording is off.
    pub pieces: Vec<Piece>,
}

impl Rope {
    /// Appends bytes that share one piece.
    pub fn push(&mut self, bytes: &[u8], piece: Piece) {
        if bytes.is_empty() {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len() as u32;
        match self.pieces.last_mut() {
            Some(last) if same(last, &piece) => last.end = end,
            _ => self.pieces.push(Piece { end, ..piece }),
        }
    }

    /// Appends a text with its own pieces, all of them secret if the whole value is.
    pub(crate) fn push_pieces(&mut self, bytes: &[u8], pieces: &[Piece], tainted: bool) {
        let mut start = 0usize;
        for piece in pieces {
            let end = (piece.end as usize).min(bytes.len());
            if let Some(part) = bytes.get(start..end) {
                self.push(part, Piece { tainted: piece.tainted || tainted, ..*piece });
            }
            start = end;
        }
    }
}

fn same(a: &Piece, b: &Piece) -> bool {
    a.origin == b.origin && a.site == b.site && a.call == b.call && a.tainted == b.tainted
}

/// The pieces of a byte range of a text.
pub fn slice(pieces: &[Piece], from: usize, to: usize) -> Vec<Piece> {
    let first = first_behind(pieces, from);
    let mut found = Vec::new();
    let mut start = from;
    for piece in pieces.get(first..).unwrap_or_default() {
        if start >= to {
            break;
        }
        start = piece.end as usize;
        found.push(Piece { end: (start.min(to) - from) as u32, ..*piece });
    }
    found
}

/// The index of the first piece that ends after an offset.
pub fn first_behind(pieces: &[Piece], at: usize) -> usize {
    pieces.partition_point(|piece| piece.end as usize <= at)
}
