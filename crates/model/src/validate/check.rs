//! Judges a value by a schema.

use super::defaults::pointer;
use super::formats::fits_format;
use super::{Fault, MAX_DEPTH, Problem, Validator, is_known, number, type_name};
use purlin_value::{Data, EcoString, Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

/// Schema visits before checking gives up.
const MAX_VISITS: u32 = 2_000_000;

pub(super) struct Checker<'v> {
    validator: &'v Validator,
    visits: u32,
}

/// A value that is looked at, and what was found wrong with it.
struct Looked<'a> {
    rules: &'a Map,
    value: &'a Value,
    at: &'a str,
    depth: u32,
    found: Vec<Problem>,
}

impl Looked<'_> {
    fn report(&mut self, fault: Fault) {
        self.found.push(Problem::new(self.at, fault, self.value));
    }

    fn bound(&mut self, rule: &'static str, found: f64, breaks: fn(f64, f64) -> bool) {
        if let Some(wanted) = self.rules.get(rule).and_then(number).filter(|wanted| breaks(found, *wanted)) {
            self.report(Fault::Bound { rule, found, wanted });
        }
    }
}

impl<'v> Checker<'v> {
    pub fn new(validator: &'v Validator) -> Self {
        Checker { validator, visits: 0 }
    }

    pub fn fits(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> bool {
        self.check(schema, value, at, depth).is_empty()
    }

    pub fn check(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> Vec<Problem> {
        if !is_known(value) {
            return Vec::new();
        }
        self.visits += 1;
        if self.visits > MAX_VISITS || depth > MAX_DEPTH {
            return vec![Problem::new(at, Fault::TooManySteps, value)];
        }
        let rules = match &schema.data {
            Data::Bool(false) => return vec![Problem::new(at, Fault::Refused, value)],
            Data::Map(rules) => rules,
            _ => return Vec::new(),
        };
        let mut looked = Looked { rules, value, at, depth, found: Vec::new() };
        if let Some(reference) = rules.get("$ref").or_else(|| rules.get("$dynamicRef")).and_then(Value::as_str) {
            if let Some(target) = self.validator.targets.get(reference) {
                looked.found = self.check(target, value, at, depth + 1);
            }
            // Old drafts look at nothing beside a reference.
            if self.validator.old_draft {
                return looked.found;
            }
        }
        if let Some(wanted) = wrong_type(rules, value) {
            looked.report(Fault::Type(wanted));
            return looked.found;
        }
        if let Some(allowed) = rules.get("enum").and_then(Value::as_list)
            && !allowed.iter().any(|item| same(item, value))
        {
            looked.report(Fault::Enum(allowed.to_vec()));
        }
        if let Some(wanted) = rules.get("const").filter(|wanted| !same(wanted, value)) {
            looked.report(Fault::Const(wanted.clone()));
        }
        match &value.data {
            Data::Map(entries) => self.object(&mut looked, entries),
            Data::List(items) => self.array(&mut looked, items),
            Data::Str(text) => self.string(&mut looked, text),
            _ => numeric(&mut looked),
        }
        self.combined(&mut looked);
        looked.found
    }

    fn string(&self, looked: &mut Looked<'_>, text: &str) {
        let count = text.chars().count() as f64;
        looked.bound("minLength", count, |count, least| count < least);
        looked.bound("maxLength", count, |count, most| count > most);
        if let Some(pattern) = looked.rules.get("pattern").and_then(Value::as_str)
            && self.validator.matches(pattern, text) == Some(false)
        {
            looked.report(Fault::Pattern(pattern.into()));
        }
        if self.validator.old_draft
            && let Some(format) = looked.rules.get("format").and_then(Value::as_str)
            && !fits_format(format, text)
        {
            looked.report(Fault::Format(format.into()));
        }
    }

    fn object(&mut self, looked: &mut Looked<'_>, entries: &Map) {
        let rules = looked.rules;
        let count = entries.len() as f64;
        looked.bound("minProperties", count, |count, least| count < least);
        looked.bound("maxProperties", count, |count, most| count > most);
        let required = rules.get("required").and_then(Value::as_list).unwrap_or_default();
        let required = required.iter().filter_map(Value::as_str);
        let missing: Vec<EcoString> =
            required.filter(|name| !entries.contains_key(*name)).map(EcoString::from).collect();
        if !missing.is_empty() {
            looked.report(Fault::Missing(missing));
        }
        self.properties(looked, entries);
        for rule in ["dependencies", "dependentRequired", "dependentSchemas"] {
            let needs = rules.get(rule).and_then(Value::as_map);
            let needs = needs.into_iter().flat_map(|needs| needs.iter());
            for (key, needs) in needs.filter(|(key, _)| entries.contains_key(*key)) {
                let Some(list) = needs.as_list() else {
                    looked.found.extend(self.check(needs, looked.value, looked.at, looked.depth + 1));
                    continue;
                };
                for name in list.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
                    looked.report(Fault::Dependent { key: name.into(), because: key.clone() });
                }
            }
        }
    }

    fn properties(&mut self, looked: &mut Looked<'_>, entries: &Map) {
        let rules = looked.rules;
        let properties = rules.get("properties").and_then(Value::as_map);
        let patterns = rules.get("patternProperties").and_then(Value::as_map);
        let additional = rules.get("additionalProperties");
        let mut unknown = Vec::new();
        for (key, item) in entries.iter() {
            let inner = pointer(looked.at, key);
            let own = properties.and_then(|properties| properties.get(key));
            let matching = patterns.into_iter().flat_map(|patterns| patterns.iter());
            let matching = matching.filter(|(pattern, _)| self.validator.matches(pattern, key) == Some(true));
            let schemas: Vec<&Value> = own.into_iter().chain(matching.map(|(_, schema)| schema)).collect();
            for schema in &schemas {
                looked.found.extend(self.check(schema, item, &inner, looked.depth + 1));
            }
            if let Some(names) = rules.get("propertyNames") {
                looked.found.extend(self.check(names, &Value::str(key.clone()), looked.at, looked.depth + 1));
            }
            match additional.filter(|_| schemas.is_empty()) {
                Some(Value { data: Data::Bool(false), .. }) => unknown.push(key.clone()),
                Some(schema) => looked.found.extend(self.check(schema, item, &inner, looked.depth + 1)),
                None => {}
            }
        }
        if !unknown.is_empty() {
            let known = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
            looked.report(Fault::Additional { keys: unknown, known });
        }
    }

    fn array(&mut self, looked: &mut Looked<'_>, items: &[Value]) {
        let rules = looked.rules;
        let count = items.len() as f64;
        looked.bound("minItems", count, |count, least| count < least);
        looked.bound("maxItems", count, |count, most| count > most);
        if rules.get("uniqueItems").and_then(Value::as_bool) == Some(true)
            && let Some((first, second)) = equal_items(items)
        {
            looked.report(Fault::Equal(first, second));
        }
        let listed = rules.get("prefixItems").or_else(|| rules.get("items")).and_then(Value::as_list);
        let rest = match listed {
            Some(_) if rules.contains_key("prefixItems") => rules.get("items"),
            Some(_) => rules.get("additionalItems"),
            None => rules.get("items"),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = listed.and_then(|listed| listed.get(index)).or(rest) {
                looked.found.extend(self.check(schema, item, &format!("{}/{index}", looked.at), looked.depth + 1));
            }
        }
        if let Some(schema) = rules.get("contains") {
            let fitting = items.iter().filter(|item| self.fits(schema, item, looked.at, looked.depth + 1)).count();
            let least = rules.get("minContains").and_then(number).unwrap_or(1.0);
            if (fitting as f64) < least {
                looked.report(Fault::Contains);
            }
            looked.bound("maxContains", fitting as f64, |count, most| count > most);
        }
    }

    fn combined(&mut self, looked: &mut Looked<'_>) {
        let (rules, value, at, depth) = (looked.rules, looked.value, looked.at, looked.depth + 1);
        let schemas = |rule: &str| rules.get(rule).and_then(Value::as_list).unwrap_or_default();
        for schema in schemas("allOf") {
            looked.found.extend(self.check(schema, value, at, depth));
        }
        self.any_of(looked, schemas("anyOf"));
        self.one_of(looked, schemas("oneOf"));
        if let Some(schema) = rules.get("not")
            && self.fits(schema, value, at, depth)
        {
            looked.report(Fault::Not);
        }
        if let Some(condition) = rules.get("if") {
            let branch = if self.fits(condition, value, at, depth) { "then" } else { "else" };
            if let Some(schema) = rules.get(branch) {
                looked.found.extend(self.check(schema, value, at, depth));
            }
        }
    }

    fn any_of(&mut self, looked: &mut Looked<'_>, schemas: &[Value]) {
        let mut causes = Vec::new();
        for schema in schemas {
            let inner = self.check(schema, looked.value, looked.at, looked.depth + 1);
            if inner.is_empty() {
                return;
            }
            causes.extend(inner);
        }
        if !schemas.is_empty() {
            looked.found.push(Problem { causes, ..Problem::new(looked.at, Fault::AnyOf, looked.value) });
        }
    }

    fn one_of(&mut self, looked: &mut Looked<'_>, schemas: &[Value]) {
        let (mut causes, mut fitting) = (Vec::new(), Vec::new());
        for (index, schema) in schemas.iter().enumerate() {
            let inner = self.check(schema, looked.value, looked.at, looked.depth + 1);
            if inner.is_empty() {
                fitting.push(index);
            }
            causes.extend(inner);
        }
        match fitting.as_slice() {
            [first, second, ..] => looked.report(Fault::SeveralOfOneOf(*first, *second)),
            [] if !schemas.is_empty() => {
                looked.found.push(Problem { causes, ..Problem::new(looked.at, Fault::NoneOfOneOf, looked.value) });
            }
            _ => {}
        }
    }
}

/// The types that a value should have one of, if it has none of them.
fn wrong_type(rules: &Map, value: &Value) -> Option<Vec<EcoString>> {
    let wanted = rules.get("type")?;
    let names = wanted.as_list().unwrap_or(std::slice::from_ref(wanted));
    let names: Vec<EcoString> = names.iter().filter_map(Value::as_str).map(EcoString::from).collect();
    let fits = |name: &EcoString| match name.as_str() {
        "integer" => number(value).is_some_and(|number| number.fract() == 0.0),
        name => type_name(value) == name,
    };
    (!names.is_empty() && !names.iter().any(fits)).then_some(names)
}

fn numeric(looked: &mut Looked<'_>) {
    let Some(size) = number(looked.value) else { return };
    // Draft 4 writes exclusiveness as a boolean beside the bound.
    let strict = |name: &str| looked.rules.get(name).and_then(Value::as_bool) == Some(true);
    let (above, below) = (strict("exclusiveMinimum"), strict("exclusiveMaximum"));
    looked.bound("minimum", size, if above { |a, b| a <= b } else { |a, b| a < b });
    looked.bound("maximum", size, if below { |a, b| a >= b } else { |a, b| a > b });
    looked.bound("exclusiveMinimum", size, |a, b| a <= b);
    looked.bound("exclusiveMaximum", size, |a, b| a >= b);
    looked.bound("multipleOf", size, |a, b| b != 0.0 && (a / b).fract() != 0.0);
}

/// The first two items that are equal.
fn equal_items(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let mut text = String::new();
        canonical(item, 0, &mut text);
        if let Some(first) = seen.insert(text, index) {
            return Some((first, index));
        }
    }
    None
}

/// Whether two JSON values are equal; numbers by value, mappings in any order.
fn same(a: &Value, b: &Value) -> bool {
    let text = |value: &Value| {
        let mut text = String::new();
        canonical(value, 0, &mut text);
        text
    };
    type_name(a) == type_name(b) && text(a) == text(b)
}

/// Text that is the same for equal values. Beyond the greatest depth nothing is told apart.
fn canonical(value: &Value, depth: u32, out: &mut String) {
    if depth > MAX_DEPTH {
        return;
    }
    match &value.data {
        Data::Map(map) => {
            let mut entries: Vec<(&EcoString, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, item) in entries {
                let _ = write!(out, "{key:?}:");
                canonical(item, depth + 1, out);
            }
            out.push('}');
        }
        Data::List(items) => {
            out.push('[');
            for item in items.iter() {
                canonical(item, depth + 1, out);
                out.push(',');
            }
            out.push(']');
        }
        Data::Str(text) => {
            let _ = write!(out, "{text:?}");
        }
        Data::Bool(truth) => {
            let _ = write!(out, "{truth}");
        }
        _ => match number(value) {
            // Zero has two signs and one value.
            Some(number) => {
                let _ = write!(out, "{:?}", number + 0.0);
            }
            None => out.push_str("null"),
        },
    }
}
