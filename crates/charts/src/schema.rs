//! Checks values against a JSON Schema (draft 4 to 2020-12, without anything remote).
//!
//! References lead only inside the schema itself: nothing is ever read or fetched.

use std::collections::HashMap;

use purlin_value::{Data, Origin, Value};
use regex::Regex;

/// Schema visits before checking gives up.
const MAX_VISITS: u32 = 2_000_000;

/// Deepest nesting of schemas.
const MAX_DEPTH: u32 = 200;

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// JSON pointer of the value.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// What led to it (`anyOf` and the like).
    pub causes: Vec<Problem>,
    /// Where the value came from.
    pub origin: Origin,
}

impl Problem {
    /// The problem in Helm's words, causes indented.
    pub fn text(&self, indent: usize) -> String {
        let mut out = format!("{}- at '{}': {}", "  ".repeat(indent), self.at, self.message);
        for cause in &self.causes {
            out.push('\n');
            out.push_str(&cause.text(indent + 1));
        }
        out
    }
}

/// A schema, read once.
pub struct Schema {
    root: Value,
    patterns: HashMap<String, Option<Regex>>,
    old_draft: bool,
}

impl Schema {
    /// Reads a schema; the message says why it cannot be used.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let root = crate::json::parse(text, Origin::NONE)?;
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default().to_owned();
        let old_draft = ["draft-04", "draft-06", "draft-07"].iter().any(|name| draft.contains(name));
        let mut schema = Self { root, patterns: HashMap::new(), old_draft };
        let root = schema.root.clone();
        schema.prepare(&root, 0)?;
        Ok(schema)
    }

    /// Compiles patterns and refuses references that lead outside.
    fn prepare(&mut self, node: &Value, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("the schema is nested too deeply".to_owned());
        }
        match &node.data {
            Data::List(items) => items.iter().try_for_each(|item| self.prepare(item, depth + 1)),
            Data::Map(map) => {
                if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                    self.check_reference(target)?;
                }
                if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
                    self.compile(pattern);
                }
                if let Some(patterns) = map.get("patternProperties").and_then(Value::as_map) {
                    let patterns: Vec<String> = patterns.keys().map(ToString::to_string).collect();
                    patterns.iter().for_each(|pattern| self.compile(pattern));
                }
                map.values().try_for_each(|item| self.prepare(item, depth + 1))
            }
            _ => Ok(()),
        }
    }

    fn check_reference(&self, target: &str) -> Result<(), String> {
        let remote = ["http:", "https:", "file:", "/"].iter().any(|start| target.starts_with(start));
        let own = self.root.get("$id").or_else(|| self.root.get("id")).and_then(Value::as_str).unwrap_or_default();
        let inside = !own.is_empty() && target.starts_with(own.trim_end_matches('#'));
        let is_elsewhere = match remote {
            true => !inside && !target.starts_with("http://json-schema.org/"),
            false => !target.starts_with('#') && self.resolve(target).is_none(),
        };
        if is_elsewhere {
            return Err(format!("the schema refers to `{target}`; schemas are not fetched or read from elsewhere"));
        }
        Ok(())
    }

    fn compile(&mut self, pattern: &str) {
        if !self.patterns.contains_key(pattern) {
            let built = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().ok();
            self.patterns.insert(pattern.to_owned(), built);
        }
    }

    /// Everything that does not fit.
    pub fn check(&self, value: &Value) -> Vec<Problem> {
        let mut checker = Checker { schema: self, visits: 0 };
        checker.check(&self.root, value, "", 0)
    }

    /// Everything in a value that does not fit one of the schema's definitions.
    pub fn check_definition(&self, name: &str, value: &Value) -> Vec<Problem> {
        let Some(definition) = self.root.get("definitions").and_then(|all| all.get(name)).cloned() else {
            return Vec::new();
        };
        let mut checker = Checker { schema: self, visits: 0 };
        checker.check(&definition, value, "", 0)
    }

    /// The schema's definitions by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.root.get("definitions").and_then(Value::as_map);
        all.into_iter().flat_map(|all| all.iter()).map(|(name, definition)| (name.as_str(), definition))
    }

    fn resolve(&self, reference: &str) -> Option<&Value> {
        let (base, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.root.get("$id").or_else(|| self.root.get("id")).and_then(Value::as_str).unwrap_or_default();
        let start = if base.is_empty() || base == own.trim_end_matches('#') {
            &self.root
        } else {
            find_id(&self.root, base, 0)?
        };
        if pointer.is_empty() {
            return Some(start);
        }
        let Some(path) = pointer.strip_prefix('/') else { return find_anchor(start, pointer, 0) };
        let mut current = start;
        for part in path.split('/') {
            let part = purlin_gotmpl::funcs::paths::unescape(part).replace("~1", "/").replace("~0", "~");
            current = match &current.data {
                Data::Map(map) => map.get(part.as_str())?,
                Data::List(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(current)
    }
}

fn children(node: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match &node.data {
        Data::Map(map) => Box::new(map.values()),
        Data::List(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

fn find_id<'v>(node: &'v Value, id: &str, depth: u32) -> Option<&'v Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let own = node.get("$id").or_else(|| node.get("id")).and_then(Value::as_str);
    if own.is_some_and(|own| own.trim_end_matches('#') == id || own.ends_with(&format!("/{id}"))) {
        return Some(node);
    }
    children(node).find_map(|child| find_id(child, id, depth + 1))
}

fn find_anchor<'v>(node: &'v Value, anchor: &str, depth: u32) -> Option<&'v Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let named = node.get("$anchor").or_else(|| node.get("$dynamicAnchor")).and_then(Value::as_str) == Some(anchor)
        || node.get("$id").and_then(Value::as_str) == Some(&format!("#{anchor}"));
    if named {
        return Some(node);
    }
    children(node).find_map(|child| find_anchor(child, anchor, depth + 1))
}

fn type_name(value: &Value) -> &'static str {
    match &value.data {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Int(_) | Data::BigInt(_) | Data::Float(_) => "number",
        Data::List(_) => "array",
        Data::Map(_) => "object",
        _ => "string",
    }
}

fn number(value: &Value) -> Option<f64> {
    match &value.data {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        Data::BigInt(text) => text.parse().ok(),
        _ => None,
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => number(value).is_some_and(|number| number.fract() == 0.0),
        _ => type_name(value) == name,
    }
}

/// Whether two JSON values are equal; numbers by value.
fn same(a: &Value, b: &Value, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a == b;
    }
    match (&a.data, &b.data) {
        (Data::Null, Data::Null) => true,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::List(a), Data::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b, depth + 1))
        }
        (Data::Map(a), Data::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, depth + 1)))
        }
        _ => false,
    }
}

/// A value as messages quote it.
fn shown(value: &Value) -> String {
    match &value.data {
        Data::Str(text) => format!("'{text}'"),
        Data::Null => "null".to_owned(),
        Data::Bool(truth) => truth.to_string(),
        _ => match number(value) {
            Some(number) => grouped(number),
            None => format!("a value of type {}", type_name(value)),
        },
    }
}

/// A number with thousands grouped, as the original's messages have it.
fn grouped(number: f64) -> String {
    if number.fract() != 0.0 || number.abs() >= 1e15 {
        return purlin_gotmpl::number::print_float(number);
    }
    let digits = format!("{:.0}", number.abs());
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if number < 0.0 { format!("-{out}") } else { out }
}

fn names(list: &[&str]) -> String {
    list.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

struct Checker<'s> {
    schema: &'s Schema,
    visits: u32,
}

impl Checker<'_> {
    fn fits(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> bool {
        self.check(schema, value, at, depth).is_empty()
    }

    fn check(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> Vec<Problem> {
        // What is not known yet is judged when it is.
        if value.is_pending() {
            return Vec::new();
        }
        self.visits += 1;
        let mut found = Vec::new();
        let mut report = |at: &str, message: String| found.push(problem(at, message, value));
        if self.visits > MAX_VISITS || depth > MAX_DEPTH {
            report(at, "the schema takes too many steps to check".to_owned());
            return found;
        }
        let map = match &schema.data {
            Data::Bool(true) => return found,
            Data::Bool(false) => {
                report(at, "false schema".to_owned());
                return found;
            }
            Data::Map(map) => map,
            _ => return found,
        };
        if let Some(reference) = map.get("$ref").or_else(|| map.get("$dynamicRef")).and_then(Value::as_str) {
            if let Some(target) = self.schema.resolve(reference).cloned() {
                found.extend(self.check(&target, value, at, depth + 1));
            }
            // Old drafts look at nothing beside a reference.
            if self.schema.old_draft {
                return found;
            }
        }
        let rule = |name: &str| map.get(name);
        if let Some(wanted) = rule("type") {
            let list: Vec<&str> = match &wanted.data {
                Data::List(items) => items.iter().filter_map(Value::as_str).collect(),
                _ => wanted.as_str().into_iter().collect(),
            };
            if !list.is_empty() && !list.iter().any(|name| is_type(value, name)) {
                found.push(problem(at, format!("got {}, want {}", type_name(value), list.join(" or ")), value));
                return found;
            }
        }
        if let Some(allowed) = rule("enum").and_then(Value::as_list)
            && !allowed.iter().any(|item| same(item, value, 0))
        {
            let list: Vec<String> = allowed.iter().map(shown).collect();
            found.push(problem(at, format!("value must be one of {}", list.join(", ")), value));
        }
        if let Some(wanted) = rule("const")
            && !same(wanted, value, 0)
        {
            found.push(problem(at, format!("value must be {}", shown(wanted)), value));
        }
        match &value.data {
            Data::Map(_) => self.object(map, value, at, depth, &mut found),
            Data::List(_) => self.array(map, value, at, depth, &mut found),
            Data::Str(text) => self.string(map, text, value, at, &mut found),
            _ => numeric(map, value, at, &mut found),
        }
        self.combined(map, value, at, depth, &mut found);
        found
    }

    fn string(&self, map: &purlin_value::Map, text: &str, value: &Value, at: &str, found: &mut Vec<Problem>) {
        let limit = |name: &str| map.get(name).and_then(number);
        let count = text.chars().count() as f64;
        if let Some(least) = limit("minLength").filter(|least| count < *least) {
            found.push(problem(at, format!("minLength: got {}, want {}", grouped(count), grouped(least)), value));
        }
        if let Some(most) = limit("maxLength").filter(|most| count > *most) {
            found.push(problem(at, format!("maxLength: got {}, want {}", grouped(count), grouped(most)), value));
        }
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
            && let Some(Some(regex)) = self.schema.patterns.get(pattern)
            && !regex.is_match(text)
        {
            found.push(problem(at, format!("'{text}' does not match pattern '{pattern}'"), value));
        }
        if self.schema.old_draft
            && let Some(format) = map.get("format").and_then(Value::as_str)
            && !fits_format(format, text)
        {
            found.push(problem(at, format!("'{text}' is not valid {format}"), value));
        }
    }

    fn object(&mut self, map: &purlin_value::Map, value: &Value, at: &str, depth: u32, found: &mut Vec<Problem>) {
        let Some(entries) = value.as_map() else { return };
        let limit = |name: &str| map.get(name).and_then(number);
        let count = entries.len() as f64;
        if let Some(least) = limit("minProperties").filter(|least| count < *least) {
            found.push(problem(at, format!("minProperties: got {count}, want {least}"), value));
        }
        if let Some(most) = limit("maxProperties").filter(|most| count > *most) {
            found.push(problem(at, format!("maxProperties: got {count}, want {most}"), value));
        }
        if let Some(required) = map.get("required").and_then(Value::as_list) {
            let missing: Vec<&str> =
                required.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)).collect();
            match missing.as_slice() {
                [] => {}
                [one] => found.push(problem(at, format!("missing property '{one}'"), value)),
                many => found.push(problem(at, format!("missing properties {}", names(many)), value)),
            }
        }
        let properties = map.get("properties").and_then(Value::as_map);
        let patterns = map.get("patternProperties").and_then(Value::as_map);
        let additional = map.get("additionalProperties");
        let mut unknown = Vec::new();
        for (key, item) in entries.iter() {
            let inner = format!("{at}/{}", key.replace("~", "~0").replace("/", "~1"));
            let mut known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(key)) {
                known = true;
                found.extend(self.check(schema, item, &inner, depth + 1));
            }
            for (pattern, schema) in patterns.into_iter().flat_map(|patterns| patterns.iter()) {
                let regex = self.schema.patterns.get(pattern.as_str()).and_then(Option::as_ref);
                if regex.is_some_and(|regex| regex.is_match(key)) {
                    known = true;
                    found.extend(self.check(schema, item, &inner, depth + 1));
                }
            }
            if let Some(names) = map.get("propertyNames") {
                found.extend(self.check(names, &Value::str(key.clone()), at, depth + 1));
            }
            match additional {
                Some(Value { data: Data::Bool(false), .. }) if !known => unknown.push(key.as_str()),
                Some(schema) if !known => found.extend(self.check(schema, item, &inner, depth + 1)),
                _ => {}
            }
        }
        if !unknown.is_empty() {
            found.push(problem(at, format!("additional properties {} not allowed", names(&unknown)), value));
        }
        for rule in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (key, needs) in map.get(rule).and_then(Value::as_map).into_iter().flat_map(|needs| needs.iter()) {
                if !entries.contains_key(key) {
                    continue;
                }
                match needs.as_list() {
                    Some(list) => {
                        for name in list.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
                            found.push(problem(at, format!("properties '{name}' required, if '{key}' exists"), value));
                        }
                    }
                    None => found.extend(self.check(needs, value, at, depth + 1)),
                }
            }
        }
    }

    fn array(&mut self, map: &purlin_value::Map, value: &Value, at: &str, depth: u32, found: &mut Vec<Problem>) {
        let Some(items) = value.as_list() else { return };
        let limit = |name: &str| map.get(name).and_then(number);
        let count = items.len() as f64;
        if let Some(least) = limit("minItems").filter(|least| count < *least) {
            found.push(problem(at, format!("minItems: got {count}, want {least}"), value));
        }
        if let Some(most) = limit("maxItems").filter(|most| count > *most) {
            found.push(problem(at, format!("maxItems: got {count}, want {most}"), value));
        }
        if map.get("uniqueItems").and_then(Value::as_bool) == Some(true) && items.len() <= 10_000 {
            'outer: for (index, item) in items.iter().enumerate() {
                for (other, earlier) in items.iter().enumerate().take(index) {
                    if same(item, earlier, 0) {
                        found.push(problem(at, format!("items at {other} and {index} are equal"), value));
                        break 'outer;
                    }
                }
            }
        }
        let listed = map.get("prefixItems").or_else(|| map.get("items")).and_then(Value::as_list);
        let rest = match (listed, map.get("prefixItems")) {
            (Some(_), Some(_)) => map.get("items"),
            (Some(_), None) => map.get("additionalItems"),
            (None, _) => map.get("items"),
        };
        for (index, item) in items.iter().enumerate() {
            let inner = format!("{at}/{index}");
            let schema = listed.and_then(|listed| listed.get(index)).or(rest);
            if let Some(schema) = schema {
                found.extend(self.check(schema, item, &inner, depth + 1));
            }
        }
        if let Some(schema) = map.get("contains") {
            let fitting = items.iter().filter(|item| self.fits(schema, item, at, depth + 1)).count() as f64;
            let least = limit("minContains").unwrap_or(1.0);
            if fitting < least {
                found.push(problem(at, "no items match contains schema".to_owned(), value));
            }
        }
    }

    fn combined(&mut self, map: &purlin_value::Map, value: &Value, at: &str, depth: u32, found: &mut Vec<Problem>) {
        for schema in map.get("allOf").and_then(Value::as_list).unwrap_or_default() {
            let inner = self.check(schema, value, at, depth + 1);
            found.extend(inner);
        }
        if let Some(schemas) = map.get("anyOf").and_then(Value::as_list) {
            let mut causes = Vec::new();
            let mut fits = schemas.is_empty();
            for schema in schemas {
                let inner = self.check(schema, value, at, depth + 1);
                fits |= inner.is_empty();
                causes.extend(inner);
                if fits {
                    break;
                }
            }
            if !fits {
                found.push(Problem { causes, ..problem(at, "anyOf failed".to_owned(), value) });
            }
        }
        if let Some(schemas) = map.get("oneOf").and_then(Value::as_list) {
            let mut causes = Vec::new();
            let mut fitting = Vec::new();
            for (index, schema) in schemas.iter().enumerate() {
                let inner = self.check(schema, value, at, depth + 1);
                if inner.is_empty() {
                    fitting.push(index);
                }
                causes.extend(inner);
            }
            match fitting.as_slice() {
                [_] => {}
                [] => found.push(Problem { causes, ..problem(at, "oneOf failed, none matched".to_owned(), value) }),
                [a, b, ..] => found.push(problem(at, format!("oneOf failed, subschemas {a}, {b} matched"), value)),
            }
        }
        if let Some(schema) = map.get("not")
            && self.fits(schema, value, at, depth + 1)
        {
            found.push(problem(at, "not failed".to_owned(), value));
        }
        if let Some(condition) = map.get("if") {
            let branch = if self.fits(condition, value, at, depth + 1) { "then" } else { "else" };
            if let Some(schema) = map.get(branch) {
                let inner = self.check(schema, value, at, depth + 1);
                found.extend(inner);
            }
        }
    }
}

fn problem(at: &str, message: String, value: &Value) -> Problem {
    Problem { at: at.to_owned(), message, causes: Vec::new(), origin: value.origin }
}

fn numeric(map: &purlin_value::Map, value: &Value, at: &str, found: &mut Vec<Problem>) {
    let Some(size) = number(value) else { return };
    let mut bound = |name: &str, breaks: fn(f64, f64) -> bool| {
        let Some(limit) = map.get(name).and_then(number) else { return };
        if breaks(size, limit) {
            found.push(problem(at, format!("{name}: got {}, want {}", grouped(size), grouped(limit)), value));
        }
    };
    // Draft 4 writes exclusiveness as a boolean beside the bound.
    let strict = |name: &str| map.get(name).and_then(Value::as_bool) == Some(true);
    bound("minimum", if strict("exclusiveMinimum") { |a, b| a <= b } else { |a, b| a < b });
    bound("maximum", if strict("exclusiveMaximum") { |a, b| a >= b } else { |a, b| a > b });
    bound("exclusiveMinimum", |a, b| a <= b);
    bound("exclusiveMaximum", |a, b| a >= b);
    bound("multipleOf", |a, b| b != 0.0 && (a / b).fract() != 0.0);
}

/// The formats that charts use; unknown ones fit.
fn fits_format(format: &str, text: &str) -> bool {
    match format {
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "email" => text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()),
        "uri" => {
            text.split_once(':').is_some_and(|(scheme, _)| {
                scheme.starts_with(|ch: char| ch.is_ascii_alphabetic())
                    && scheme.chars().all(|ch| ch.is_ascii_alphanumeric() || matches!(ch, '+' | '-' | '.'))
            }) && !text.contains(' ')
        }
        "hostname" => {
            text.len() <= 253
                && text.trim_end_matches('.').split('.').all(|label| {
                    !label.is_empty()
                        && label.len() <= 63
                        && !label.starts_with('-')
                        && !label.ends_with('-')
                        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                })
        }
        "date" => purlin_gotmpl::time::Time::parse("2006-01-02", text).is_ok(),
        "date-time" => purlin_gotmpl::time::Time::parse("2006-01-02T15:04:05Z07:00", &text.to_uppercase()).is_ok(),
        "regex" => Regex::new(text).is_ok(),
        _ => true,
    }
}
