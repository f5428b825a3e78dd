//! A secret stays one, piece by piece, on its way through printing and functions that keep the pieces of a text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use purlin_gotmpl::{Data, Limits, Machine, Outside, Piece, Set, Str, Val};

/// Ways to print a text that keep its pieces.
const WAYS: &[&str] =
    &["{{ . }}", "{{ toYaml (list .) }}", "{{ printf \"as %s\" . }}", "{{ trimSuffix \"d\" . }}", "{{ nindent 2 . }}"];

/// The text `ab-cd`, whose halves come from different values.
fn halves(first: bool, second: bool) -> Str {
    let piece = |end: u32, tainted: bool| Piece { end, origin: end, site: 1, call: 0, tainted };
    Str::with_pieces(b"ab-cd".to_vec(), vec![piece(3, first), piece(5, second)])
}

/// Whether what is printed of the first half is secret, and of the second.
fn printed(template: &str, value: Val) -> (bool, bool) {
    let mut set = Set::new();
    set.add("main", template).unwrap();
    let (outside, limits) = (Outside { track: true, ..Outside::default() }, Limits::default());
    let mut machine = Machine::new(Arc::new(set).namespace(), &outside, &limits);
    let rope = machine.execute(&"main".into(), value).unwrap();
    let at = |letter: u8| {
        let at = rope.bytes.iter().position(|byte| *byte == letter).unwrap();
        rope.pieces.iter().find(|piece| piece.end as usize > at).unwrap().tainted
    };
    (at(b'b'), at(b'c'))
}

#[test]
fn a_text_that_is_secret_as_a_whole_is_so_in_every_piece() {
    for way in WAYS {
        let value = Val::new(Data::Str(halves(false, false)));
        assert_eq!(printed(way, value.clone()), (false, false), "{way}");
        assert_eq!(printed(way, value.taint(true)), (true, true), "{way}");
    }
}

#[test]
fn a_text_with_a_secret_piece_is_secret_there() {
    for way in WAYS {
        let value = Val::new(Data::Str(halves(false, true))).taint(true);
        assert_eq!(printed(way, value), (false, true), "{way}");
    }
}
