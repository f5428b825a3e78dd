//! Checks of evaluated properties: their type, whether they may be null, their own conditions.

use crate::error::Result;
use crate::eval::frame::Frame;
use crate::eval::Engine;
use crate::tree::{NodeId, Schema};
use crate::val::Val;

/// Checks a value against what its type declares.
pub fn value(
    _engine: &Engine<'_>,
    _frame: &Frame,
    _node: NodeId,
    _name: &str,
    _schema: &Schema,
    _value: &Val,
) -> Result<()> {
    Ok(())
}
