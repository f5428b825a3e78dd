//! Collections under one name in several layers, overlaid key by key on demand.

use purlin_value::{Data, Eval, Lazy, Map, Thunk, Value};

/// One collection from several, the strongest first; keys in more than one of them are merged on demand.
pub fn merge_parts(parts: Vec<Value>, eval: &mut Eval<'_>) -> Value {
    let mut parts: Vec<Value> = parts.iter().map(|part| eval.force(part)).collect();
    if let Some(unknown) = parts.iter().find(|part| part.is_pending() || part.is_poison()) {
        return unknown.clone();
    }
    if parts.len() == 1 {
        return parts.pop().unwrap_or_default();
    }
    let Some(strongest) = parts.first().cloned() else { return Value::map(Map::new()) };
    let tainted = parts.iter().any(|part| part.is_tainted());
    let merged = match &strongest.data {
        Data::Map(_) => merge_maps(&parts),
        Data::List(_) => Value::list(merge_items(&parts)),
        _ => strongest.clone(),
    };
    merged.with_origin(strongest.origin).tainted_if(tainted)
}

fn merge_maps(parts: &[Value]) -> Value {
    let maps: Vec<&Map> = parts.iter().map_while(Value::as_map).collect();
    let mut merged = Map::new();
    // The weakest layer decides the order of keys.
    for map in maps.iter().rev() {
        for key in map.keys() {
            if merged.contains_key(key) {
                continue;
            }
            let values: Vec<Value> = maps.iter().filter_map(|m| m.get(key)).cloned().collect();
            merged.insert(key.clone(), overlay(values));
        }
    }
    Value::map(merged)
}

/// Items at the same index are overlaid, as in the original.
fn merge_items(parts: &[Value]) -> Vec<Value> {
    let lists: Vec<&[Value]> = parts.iter().map_while(Value::as_list).collect();
    let length = lists.iter().map(|list| list.len()).max().unwrap_or(0);
    let present =
        |at: usize| lists.iter().filter_map(|list| list.get(at)).filter(|item| !item.is_absent()).cloned().collect();
    (0..length).map(|at| overlay(present(at))).collect()
}

/// Several values for one key, the strongest first, as one lazy value.
pub fn overlay(mut values: Vec<Value>) -> Value {
    if values.len() > 1 {
        return Lazy::value(Overlay { values });
    }
    values.pop().unwrap_or_default()
}

/// Values of several layers for one key.
struct Overlay {
    values: Vec<Value>,
}

impl Thunk for Overlay {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let mut parts: Vec<Value> = Vec::new();
        let mut hidden = Vec::new();
        for value in &self.values {
            if parts.last().is_some_and(|value: &Value| !value.is_collection()) {
                hidden.push(value.origin);
                continue;
            }
            let value = eval.force(value);
            if parts.is_empty() || value.is_collection() {
                parts.push(value);
            } else {
                hidden.push(value.origin);
            }
        }
        let winner = merge_parts(parts, eval);
        let origin = eval.session.origins.chosen(winner.origin, "nearest scope", hidden);
        winner.with_origin(origin)
    }

    fn span(&self) -> Option<purlin_syntax::Span> {
        None
    }

    fn name(&self) -> String {
        "variables of several scopes".into()
    }
}
