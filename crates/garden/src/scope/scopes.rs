//! The layers that scopes of this dialect are made of.

use ecow::EcoString;
use purlin_value::{Eval, Layer, Lookup, Value};
use std::sync::{Arc, OnceLock, Weak};

/// A mapping that is filled in after the templates in it were bound, since they may refer to it.
///
/// The resolution of a project owns the cell; layers only point to it, so that no reference cycle keeps it alive.
pub type Cell = Arc<OnceLock<Value>>;

/// The layers of variables, the strongest first, as one layer.
pub struct Variables {
    layers: Vec<Weak<OnceLock<Value>>>,
}

impl Variables {
    /// Variables of several scopes, the strongest first.
    pub fn new<'c>(layers: impl IntoIterator<Item = &'c Cell>) -> Self {
        Variables { layers: layers.into_iter().map(Arc::downgrade).collect() }
    }

    fn maps(&self) -> Vec<Value> {
        self.layers.iter().filter_map(Weak::upgrade).filter_map(|cell| cell.get().cloned()).collect()
    }
}

impl Layer for Variables {
    fn name(&self) -> &str {
        "variables"
    }

    fn get(&self, key: &str, _eval: &mut Eval<'_>) -> Lookup {
        match key {
            "var" | "variables" => Lookup::Parts(self.maps()),
            _ => Lookup::NotHere { available: Vec::new() },
        }
    }

    fn keys(&self) -> Vec<EcoString> {
        vec!["var".into(), "variables".into()]
    }
}

/// A mapping whose keys are names of the scope, filled in later.
pub struct Late {
    name: &'static str,
    map: Weak<OnceLock<Value>>,
}

impl Late {
    /// A layer over a cell.
    pub fn new(name: &'static str, cell: &Cell) -> Self {
        Late { name, map: Arc::downgrade(cell) }
    }

    fn value(&self) -> Option<Value> {
        self.map.upgrade()?.get().cloned()
    }
}

impl Layer for Late {
    fn name(&self) -> &str {
        self.name
    }

    fn get(&self, key: &str, _eval: &mut Eval<'_>) -> Lookup {
        match self.value().as_ref().and_then(|map| map.get(key)) {
            Some(value) => Lookup::Found(value.clone()),
            // The lookup that fails in all layers asks them for their keys.
            None => Lookup::NotHere { available: Vec::new() },
        }
    }

    fn keys(&self) -> Vec<EcoString> {
        let value = self.value();
        value.as_ref().and_then(Value::as_map).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }
}
