//! Plain output data: the contents of a vertex of the Clout, ready to be written in any format.
//!
//! Parts that many vertexes share are built once and referred to.

use crate::coerce;
use crate::evaluate::text_of;
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::write::Emit;
use std::sync::Arc;

/// Output data.
#[derive(Clone, Debug)]
pub enum Out {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Str(EcoString),
    /// Bytes, as their Base64 text.
    Bytes(EcoString),
    /// A list.
    List(Vec<Out>),
    /// A map with names from the service.
    Map(Vec<(EcoString, Out)>),
    /// A map with names from the format.
    Fields(Vec<(&'static str, Out)>),
    /// A part shared by several places.
    Shared(Arc<Shared>),
}

/// Output data used in several places.
#[derive(Debug)]
pub struct Shared {
    /// Its number for writers, unique within the output.
    number: u64,
    out: Out,
}

impl Out {
    /// A text.
    pub fn str(text: impl Into<EcoString>) -> Out {
        Out::Str(text.into())
    }

    /// A map with the names of the format.
    pub fn map<const N: usize>(entries: [(&'static str, Out); N]) -> Out {
        Out::Fields(entries.into())
    }

    /// A shared part, with a number of its own.
    pub fn shared(self, number: u64) -> Arc<Shared> {
        Arc::new(Shared { number, out: self })
    }

    /// Writes it.
    pub fn emit(&self, emit: &mut dyn Emit) {
        match self {
            Out::Null => emit.null(),
            Out::Bool(value) => emit.bool(*value),
            Out::Int(value) => emit.int(*value),
            // The largest unsigned number means "unbounded"; as a float it would lose digits.
            Out::Float(value) if *value == u64::MAX as f64 => emit.number("18446744073709551615"),
            Out::Float(value) => emit.float(*value),
            Out::Str(text) => emit.string(text),
            Out::Bytes(text) => emit.binary(text),
            Out::List(items) => {
                emit.begin_list(items.len());
                items.iter().for_each(|item| item.emit(emit));
                emit.end_list();
            }
            Out::Map(entries) => emit_map(entries.iter().map(|(key, value)| (key.as_str(), value)), emit),
            Out::Fields(entries) => emit_map(entries.iter().map(|(key, value)| (*key, value)), emit),
            Out::Shared(shared) => {
                if !emit.begin_part(shared.number) {
                    shared.out.emit(emit);
                    emit.end_part();
                }
            }
        }
    }
}

impl From<&Val> for Out {
    fn from(value: &Val) -> Out {
        match &value.data {
            Data::Null | Data::Poison | Data::Pending(_) => Out::Null,
            Data::Bool(value) => Out::Bool(*value),
            Data::Int(value) => Out::Int(*value),
            Data::Float(value) => Out::Float(*value),
            Data::Str(text) | Data::Timestamp(text) => Out::Str(text.clone()),
            Data::List(items) => Out::List(items.iter().map(Out::from).collect()),
            Data::Map(entries) => match coerce::as_bytes(entries) {
                Some(written) => Out::Map(vec![
                    (coerce::ORIGINAL.into(), Out::Str(written.clone())),
                    (coerce::BYTES.into(), Out::Bytes(written.clone())),
                ]),
                None => Out::Map(entries.iter().map(|(key, value)| (key_text(key), Out::from(value))).collect()),
            },
            Data::Call(call) => Out::map([("$functionCall", Out::Str(call.name.clone()))]),
        }
    }
}

fn emit_map<'a>(entries: impl ExactSizeIterator<Item = (&'a str, &'a Out)>, emit: &mut dyn Emit) {
    emit.begin_map(entries.len());
    for (key, value) in entries {
        emit.key(key);
        value.emit(emit);
    }
    emit.end_map();
}

/// A key as text, since output formats know no other keys.
pub fn key_text(key: &Val) -> EcoString {
    text_of(key).unwrap_or_default()
}
