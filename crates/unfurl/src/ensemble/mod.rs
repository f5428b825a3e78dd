//! Ensembles: reading them, building the tree of instances, resolving it.

pub mod validate;

use crate::error::Result;
use crate::eval::Ctx;
use crate::functions::topology::input;
use crate::val::{MapKey, Val, ValMap};

/// What `ROOT` and `TOPOLOGY` are in a template: the topology's inputs and outputs.
pub fn root_value(ctx: &Ctx<'_, '_>) -> Result<Val> {
    let mut inputs = ValMap::default();
    for name in ctx.engine.tree.inputs.keys() {
        if let Some(value) = input(ctx, name)? {
            inputs.insert(MapKey::Str(name.clone()), value);
        }
    }
    Ok(Val::record([("inputs", Val::map(inputs))]))
}
