//! Scopes: the meaning of names at a location.
//!
//! A scope is a chain of layers that a dialect supplies (`project`, `var`, `inputs`, `SELF`). The nearest layer with
//! the key answers. Expression languages use scopes only, and never access the data behind them.

use crate::lazy::Eval;
use crate::value::Value;
use ecow::EcoString;
use std::sync::Arc;

/// A layer's answer for a key.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// The value; it may be lazy.
    Found(Value),
    /// Several partial collections, in descending precedence, for the caller to merge key by key.
    Parts(Vec<Value>),
    /// The key is unknown here; other keys exist.
    NotHere {
        /// The known keys.
        available: Vec<EcoString>,
    },
    /// It exists, but only from a later phase on.
    Later {
        /// The phase, in a user's words (`when actions are resolved`).
        phase: &'static str,
    },
}

/// One layer of a scope.
pub trait Layer: Send + Sync {
    /// Its name, for messages and `why`.
    fn name(&self) -> &str;

    /// Its answer for a key.
    fn get(&self, key: &str, eval: &mut Eval<'_>) -> Lookup;

    /// The keys it has, for suggestions and completion.
    fn keys(&self) -> Vec<EcoString>;
}

struct Link {
    layer: Arc<dyn Layer>,
    below: Option<Scope>,
}

/// A chain of layers. Cheap to clone and to extend.
#[derive(Clone)]
pub struct Scope(Arc<Link>);

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.layers().map(|layer| layer.name().to_owned())).finish()
    }
}

impl Scope {
    /// A scope of one layer.
    pub fn new(layer: impl Layer + 'static) -> Self {
        Scope(Arc::new(Link { layer: Arc::new(layer), below: None }))
    }

    /// The scope with a layer on top.
    pub fn push(&self, layer: impl Layer + 'static) -> Self {
        self.push_shared(Arc::new(layer))
    }

    /// The scope with a shared layer on top.
    pub fn push_shared(&self, layer: Arc<dyn Layer>) -> Self {
        Scope(Arc::new(Link { layer, below: Some(self.clone()) }))
    }

    /// The layers, topmost first.
    pub fn layers(&self) -> impl Iterator<Item = &Arc<dyn Layer>> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let here = next?;
            next = here.0.below.as_ref();
            Some(&here.0.layer)
        })
    }

    /// The answer of the nearest layer that knows the key. Otherwise, the first one that will know it later, or else
    /// the keys of all layers.
    pub fn lookup(&self, key: &str, eval: &mut Eval<'_>) -> Lookup {
        let mut later = None;
        for layer in self.layers() {
            match layer.get(key, eval) {
                Lookup::NotHere { .. } => {}
                Lookup::Later { phase } => {
                    later.get_or_insert(phase);
                }
                found => return found,
            }
        }
        match later {
            Some(phase) => Lookup::Later { phase },
            None => Lookup::NotHere { available: self.keys() },
        }
    }

    /// The keys of all layers, nearest first, each once.
    pub fn keys(&self) -> Vec<EcoString> {
        let mut found: Vec<EcoString> = Vec::new();
        for key in self.layers().flat_map(|layer| layer.keys()) {
            if !found.contains(&key) {
                found.push(key);
            }
        }
        found
    }
}

/// A layer that is a mapping.
pub struct MapLayer {
    name: EcoString,
    map: Value,
}

impl MapLayer {
    /// A layer over a mapping; any other value makes an empty layer.
    pub fn new(name: impl Into<EcoString>, map: Value) -> Self {
        MapLayer { name: name.into(), map }
    }
}

impl Layer for MapLayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, key: &str, _eval: &mut Eval<'_>) -> Lookup {
        match self.map.get(key) {
            Some(value) => Lookup::Found(value.clone().tainted_by(self.map.taint())),
            // The scope asks all layers for their keys if the key is unknown everywhere.
            None => Lookup::NotHere { available: Vec::new() },
        }
    }

    fn keys(&self) -> Vec<EcoString> {
        self.map.as_map().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::value::Map;
    use crate::world::MemoryWorld;

    #[test]
    fn the_nearest_layer_answers() {
        let layer = |name: &str, pairs: &[(&str, i64)]| {
            let map: Map = pairs.iter().map(|&(k, v)| (EcoString::from(k), Value::from(v))).collect();
            MapLayer::new(name, Value::map(map))
        };
        let scope = Scope::new(layer("low", &[("a", 1), ("b", 2)])).push(layer("high", &[("a", 3)]));
        let session = Session::new(Arc::new(MemoryWorld::new()));
        let mut eval = Eval::new(&session);
        let mut find = |key: &str| match scope.lookup(key, &mut eval) {
            Lookup::Found(value) => value.as_int().map(|n| n.to_string()).unwrap_or_default(),
            Lookup::NotHere { available } => available.join(","),
            other => format!("{other:?}"),
        };
        assert_eq!((find("a"), find("b"), find("c")), ("3".into(), "2".into(), "a,b".into()));
    }
}
