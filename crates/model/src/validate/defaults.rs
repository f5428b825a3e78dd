//! Fills in the defaults of a schema.
//!
//! The positions follow AJV: in `properties` and in lists of `items`, at any depth, also behind references, `allOf`
//! and the branch of an `if` that applies; not inside `anyOf`, `oneOf` and `not`, where the applicable part is
//! undetermined.

use super::check::Checker;
use super::{MAX_DEPTH, Stopped, Validator, is_known};
use purlin_value::{Data, List, Map, Meter, Origin, Value};
use std::sync::Arc;

impl Validator {
    /// The value with defaults for missing parts. `origin` maps the JSON pointer of a default to its origin.
    pub fn with_defaults(
        &self,
        value: &Value,
        origin: &dyn Fn(&str) -> Origin,
        meter: &Meter,
    ) -> Result<Value, Stopped> {
        Filler { checker: Checker::new(self, meter), validator: self, origin }.fill(&self.root, value, "", 0)
    }
}

struct Filler<'v> {
    checker: Checker<'v>,
    validator: &'v Validator,
    origin: &'v dyn Fn(&str) -> Origin,
}

impl Filler<'_> {
    fn fill(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> Result<Value, Stopped> {
        let Some(rules) = schema.as_map().filter(|_| is_known(value)) else { return Ok(value.clone()) };
        self.checker.spend(1)?;
        if depth > MAX_DEPTH {
            return Err(Stopped::TooDeep);
        }
        let mut value = value.clone();
        if let Some(reference) = rules.get("$ref").and_then(Value::as_str) {
            if let Some(target) = self.validator.targets.get(reference) {
                value = self.fill(target, &value, at, depth + 1)?;
            }
            if self.validator.old_draft {
                return Ok(value);
            }
        }
        match value.data.clone() {
            Data::Map(map) => value = self.object(rules, &value, &map, at, depth)?,
            Data::List(items) => value = self.array(rules, &value, &items, at, depth)?,
            _ => {}
        }
        for schema in rules.get("allOf").and_then(Value::as_list).unwrap_or_default() {
            value = self.fill(schema, &value, at, depth + 1)?;
        }
        if let Some(condition) = rules.get("if") {
            let branch = if self.checker.fits(condition, &value, at, depth + 1)? { "then" } else { "else" };
            if let Some(schema) = rules.get(branch) {
                value = self.fill(schema, &value, at, depth + 1)?;
            }
        }
        Ok(value)
    }

    /// The schema's default for a missing value.
    fn default(&self, schema: &Value, at: &str) -> Option<Value> {
        let value = schema.get("default")?.clone();
        Some(if value.origin.is_known() { value } else { value.with_origin((self.origin)(at)) })
    }

    fn object(&mut self, rules: &Map, value: &Value, map: &Map, at: &str, depth: u32) -> Result<Value, Stopped> {
        let properties = rules.get("properties").and_then(Value::as_map);
        let patterns = rules.get("patternProperties").and_then(Value::as_map);
        let additional = rules.get("additionalProperties");
        if properties.is_none() && patterns.is_none() && additional.is_none() {
            return Ok(value.clone());
        }
        self.checker.spend(map.len() + properties.map_or(0, |map| map.len()))?;
        let mut filled = map.clone();
        for (key, schema) in properties.into_iter().flat_map(|all| all.iter()) {
            if !filled.contains_key(key)
                && let Some(default) = self.default(schema, &pointer(at, key))
            {
                filled.insert(key.clone(), default);
            }
        }
        for (key, item) in filled.iter_mut() {
            let inner = pointer(at, key);
            let own = properties.and_then(|all| all.get(key));
            let mut schemas: Vec<&Value> = own.into_iter().collect();
            for (pattern, schema) in patterns.into_iter().flat_map(|all| all.iter()) {
                if self.checker.matches(pattern, key)? == Some(true) {
                    schemas.push(schema);
                }
            }
            if schemas.is_empty() {
                schemas.extend(additional);
            }
            for schema in schemas {
                *item = self.fill(schema, item, &inner, depth + 1)?;
            }
        }
        Ok(Value::map(filled).with_origin(value.origin).part_of(value))
    }

    fn array(&mut self, rules: &Map, value: &Value, items: &List, at: &str, depth: u32) -> Result<Value, Stopped> {
        let listed = rules.get("prefixItems").or_else(|| rules.get("items")).and_then(Value::as_list);
        let rest = match listed {
            Some(_) if rules.contains_key("prefixItems") => rules.get("items"),
            Some(_) => rules.get("additionalItems"),
            None => rules.get("items"),
        };
        if listed.is_none() && rest.is_none() {
            return Ok(value.clone());
        }
        self.checker.spend(items.len())?;
        let mut filled: Vec<Value> = items.iter().cloned().collect();
        for (index, schema) in listed.unwrap_or_default().iter().enumerate().skip(items.len()) {
            // A list has no gaps.
            let Some(default) = self.default(schema, &pointer(at, &index.to_string())) else { break };
            filled.push(default);
        }
        for (index, item) in filled.iter_mut().enumerate() {
            if let Some(schema) = listed.and_then(|listed| listed.get(index)).or(rest) {
                *item = self.fill(schema, item, &pointer(at, &index.to_string()), depth + 1)?;
            }
        }
        Ok(Value::new(Data::List(Arc::new(filled.into()))).with_origin(value.origin).part_of(value))
    }
}

/// The JSON pointer of a part.
pub(super) fn pointer(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}
