//! Finds the parts of a JSON Schema that apply at a position of an incomplete text.

use crate::outline::{Level, Step};
use purlin_model::json_schema::LIKE;
use purlin_value::{Map, Value};

/// A schema to walk through.
pub struct Shapes<'s> {
    root: &'s Value,
}

/// References nest only a few levels deep; the bound is for schemas that charts provide.
const DEPTH: u32 = 40;

impl<'s> Shapes<'s> {
    /// The schema.
    pub fn new(root: &'s Value) -> Self {
        Shapes { root }
    }

    /// All schemas that apply to the value after some steps; the levels contain the scalars on the way.
    pub fn at(&self, path: &[Step], levels: &[Level]) -> Vec<&'s Map> {
        let mut now = Vec::new();
        self.expand(self.root, levels.first(), 0, &mut now);
        for (index, step) in path.iter().enumerate() {
            let mut next = Vec::new();
            for schema in now {
                for inner in step_into(schema, step) {
                    self.expand(inner, levels.get(index + 1), 0, &mut next);
                }
            }
            now = next;
        }
        now
    }

    /// A schema with everything that it refers to and that applies here.
    fn expand(&self, schema: &'s Value, level: Option<&Level>, depth: u32, out: &mut Vec<&'s Map>) {
        let Some(map) = schema.as_map().filter(|_| depth < DEPTH) else { return };
        if out.iter().any(|known| std::ptr::eq(*known, map)) {
            return;
        }
        out.push(map);
        for key in ["$ref", LIKE] {
            if let Some(target) = map.get(key).and_then(Value::as_str).and_then(|text| self.target(text)) {
                self.expand(target, level, depth + 1, out);
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in map.get(key).and_then(Value::as_list).unwrap_or_default() {
                self.expand(part, level, depth + 1, out);
            }
        }
        if let Some(condition) = map.get("if") {
            let branch = if level.is_some_and(|level| holds(condition, level)) { "then" } else { "else" };
            if let Some(part) = map.get(branch) {
                self.expand(part, level, depth + 1, out);
            }
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let mut at = self.root;
        for step in reference.strip_prefix("#/")?.split('/') {
            at = at.get(&step.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(at)
    }
}

fn step_into<'s>(schema: &'s Map, step: &Step) -> Vec<&'s Value> {
    match step {
        Step::Key(key) => {
            let own = schema.get("properties").and_then(|properties| properties.get(key));
            own.or_else(|| schema.get("additionalProperties").filter(|more| more.as_map().is_some()))
                .into_iter()
                .collect()
        }
        Step::Item => schema.get("items").into_iter().collect(),
    }
}

/// Whether a condition on scalars holds: constants, and words of a list.
fn holds(condition: &Value, level: &Level) -> bool {
    let required = condition.get("required").and_then(Value::as_list).unwrap_or_default();
    if !required.iter().filter_map(Value::as_str).all(|key| level.has(key)) {
        return false;
    }
    let properties = condition.get("properties").and_then(Value::as_map);
    properties.into_iter().flat_map(|map| map.iter()).all(|(key, wanted)| {
        let Some(found) = level.get(key) else { return true };
        let constant = wanted.get("const").and_then(Value::as_str).is_none_or(|wanted| wanted == found);
        let words = wanted.get("enum").and_then(Value::as_list);
        constant && words.is_none_or(|words| words.iter().any(|word| word.as_str() == Some(found)))
    })
}
