//! stub
use crate::editions::Edition;
use crate::item::Item;
use purlin_syntax::{Sink, Span};
/// stub
pub fn upgrade(_: &mut Item<'_>, _: Edition, _: Edition, _: &Sink, _: Span) -> bool {
    true
}
