//! Validates a value against a schema.

use super::defaults::pointer;
use super::formats::fits_format;
use super::{Fault, MAX_DEPTH, Problem, Stopped, Validator, is_known, number, pattern, type_name};
use purlin_value::meter::steps_for;
use purlin_value::{Data, EcoString, Map, Meter, Tab, Value, weight};
use std::collections::HashMap;
use std::fmt::Write;

/// Steps of one visit: every keyword is looked up in the schema.
const VISIT_STEPS: u64 = 32;

/// The bytes of a problem beside its location and its quoted values.
const PROBLEM_BYTES: u64 = size_of::<Problem>() as u64;

pub(super) struct Checker<'v> {
    validator: &'v Validator,
    meter: &'v Meter,
    tab: Tab,
    /// Bytes of problems charged to the meter.
    held: u64,
}

impl Drop for Checker<'_> {
    fn drop(&mut self) {
        // The remaining problems are few enough to be reported; the caller holds them only for that.
        self.meter.release(self.held);
    }
}

/// The problems of a value, or why checking stopped.
type Checked = Result<Vec<Problem>, Stopped>;

/// The value under validation, and its problems.
struct Looked<'a> {
    rules: &'a Map,
    value: &'a Value,
    at: &'a str,
    depth: u32,
    found: Vec<Problem>,
    /// Bytes of problems not yet charged to the meter.
    unpaid: u64,
}

impl Looked<'_> {
    fn report(&mut self, fault: Fault) {
        self.unpaid += PROBLEM_BYTES + self.at.len() as u64 + quoted(&fault);
        self.found.push(Problem::new(self.at, fault, self.value));
    }

    fn report_caused(&mut self, fault: Fault, causes: Vec<Problem>) {
        self.unpaid += PROBLEM_BYTES + self.at.len() as u64;
        self.found.push(Problem { causes, ..Problem::new(self.at, fault, self.value) });
    }

    fn bound(&mut self, rule: &'static str, found: f64, breaks: fn(f64, f64) -> bool) {
        if let Some(wanted) = self.rules.get(rule).and_then(number).filter(|wanted| breaks(found, *wanted)) {
            self.report(Fault::Bound { rule, found, wanted });
        }
    }
}

impl<'v> Checker<'v> {
    pub fn new(validator: &'v Validator, meter: &'v Meter) -> Self {
        Checker { validator, meter, tab: Tab::default(), held: 0 }
    }

    /// Charges steps before they are used.
    pub fn spend(&self, steps: usize) -> Result<(), Stopped> {
        self.tab.charge(self.meter, steps as u64).map_err(Stopped::Exceeded)
    }

    /// Charges the steps of reading text.
    fn look_at(&self, bytes: u64) -> Result<(), Stopped> {
        self.tab.charge(self.meter, steps_for(bytes)).map_err(Stopped::Exceeded)
    }

    /// Whether a value matches. Its problems are discarded.
    pub fn fits(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> Result<bool, Stopped> {
        let held = self.held;
        let fits = self.check(schema, value, at, depth)?.is_empty();
        self.forget(held);
        Ok(fits)
    }

    /// Counts bytes that are held from now on.
    fn hold(&mut self, bytes: u64) -> Result<(), Stopped> {
        self.meter.charge(0, bytes).map_err(Stopped::Exceeded)?;
        self.held += bytes;
        Ok(())
    }

    /// Gives back the bytes held since.
    fn forget(&mut self, held: u64) {
        self.meter.release(self.held - held);
        self.held = held;
    }

    pub fn check(&mut self, schema: &Value, value: &Value, at: &str, depth: u32) -> Checked {
        if !is_known(value) {
            return Ok(Vec::new());
        }
        self.tab.charge(self.meter, VISIT_STEPS).map_err(Stopped::Exceeded)?;
        if depth > MAX_DEPTH {
            return Err(Stopped::TooDeep);
        }
        let rules = match &schema.data {
            Data::Bool(false) => return Ok(vec![Problem::new(at, Fault::Refused, value)]),
            Data::Map(rules) => rules,
            _ => return Ok(Vec::new()),
        };
        let mut looked = Looked { rules, value, at, depth, found: Vec::new(), unpaid: 0 };
        if let Some(reference) = rules.get("$ref").or_else(|| rules.get("$dynamicRef")).and_then(Value::as_str) {
            if let Some(target) = self.validator.targets.get(reference) {
                looked.found = self.check(target, value, at, depth + 1)?;
            }
            // Old drafts ignore everything beside a reference.
            if self.validator.old_draft {
                return Ok(looked.found);
            }
        }
        if let Some(wanted) = wrong_type(rules, value) {
            looked.report(Fault::Type(wanted));
        } else {
            self.equal(&mut looked)?;
            match &value.data {
                Data::Map(entries) => self.object(&mut looked, entries)?,
                Data::List(items) => self.array(&mut looked, items)?,
                Data::Str(text) => self.string(&mut looked, text)?,
                _ => numeric(&mut looked),
            }
            self.combined(&mut looked)?;
        }
        self.hold(looked.unpaid)?;
        Ok(looked.found)
    }

    /// `enum` and `const`
    fn equal(&self, looked: &mut Looked<'_>) -> Result<(), Stopped> {
        let (rules, value) = (looked.rules, looked.value);
        if let Some(whole) = rules.get("enum")
            && let Some(allowed) = whole.as_list()
        {
            self.look_at(weight::weight(whole).saturating_add(weight::weight(value)))?;
            if !is_among(allowed, value) {
                looked.report(Fault::Enum(allowed.to_vec()));
            }
        }
        if let Some(wanted) = rules.get("const") {
            self.look_at(weight::weight(wanted).saturating_add(weight::weight(value)))?;
            if !is_among(std::slice::from_ref(wanted), value) {
                looked.report(Fault::Const(wanted.clone()));
            }
        }
        Ok(())
    }

    /// Whether a text matches a pattern; `None` if the pattern cannot be used.
    pub fn matches(&self, pattern: &str, text: &str) -> Result<Option<bool>, Stopped> {
        let Some(pattern) = self.validator.pattern(pattern, self.meter)? else { return Ok(None) };
        self.spend(usize::try_from(pattern.work.first(text.len())).unwrap_or(usize::MAX))?;
        Ok(Some(pattern.regex.is_match(text)))
    }

    fn string(&self, looked: &mut Looked<'_>, text: &str) -> Result<(), Stopped> {
        self.look_at(text.len() as u64)?;
        let count = text.chars().count() as f64;
        looked.bound("minLength", count, |count, least| count < least);
        looked.bound("maxLength", count, |count, most| count > most);
        if let Some(pattern) = looked.rules.get("pattern").and_then(Value::as_str)
            && self.matches(pattern, text)? == Some(false)
        {
            looked.report(Fault::Pattern(pattern.into()));
        }
        if self.validator.old_draft
            && let Some(format) = looked.rules.get("format").and_then(Value::as_str)
            && !self.fits_format(format, text)?
        {
            looked.report(Fault::Format(format.into()));
        }
        Ok(())
    }

    fn fits_format(&self, format: &str, text: &str) -> Result<bool, Stopped> {
        if format != "regex" {
            return Ok(fits_format(format, text));
        }
        let compiled = pattern::compile(text, self.meter)?;
        self.meter.release(compiled.as_ref().map_or(0, |(_, bytes)| *bytes));
        Ok(compiled.is_some())
    }

    fn object(&mut self, looked: &mut Looked<'_>, entries: &Map) -> Result<(), Stopped> {
        let rules = looked.rules;
        let count = entries.len() as f64;
        looked.bound("minProperties", count, |count, least| count < least);
        looked.bound("maxProperties", count, |count, most| count > most);
        let required = rules.get("required").and_then(Value::as_list).unwrap_or_default();
        self.spend(required.len())?;
        let required = required.iter().filter_map(Value::as_str);
        let missing: Vec<EcoString> =
            required.filter(|name| !entries.contains_key(*name)).map(EcoString::from).collect();
        if !missing.is_empty() {
            looked.report(Fault::Missing(missing));
        }
        self.properties(looked, entries)?;
        for rule in ["dependencies", "dependentRequired", "dependentSchemas"] {
            let needs = rules.get(rule).and_then(Value::as_map);
            self.spend(needs.map_or(0, |map| map.len()))?;
            let needs = needs.into_iter().flat_map(|needs| needs.iter());
            for (key, needs) in needs.filter(|(key, _)| entries.contains_key(*key)) {
                let Some(list) = needs.as_list() else {
                    looked.found.append(&mut self.check(needs, looked.value, looked.at, looked.depth + 1)?);
                    continue;
                };
                self.spend(list.len())?;
                for name in list.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
                    looked.report(Fault::Dependent { key: name.into(), because: key.clone() });
                }
            }
        }
        Ok(())
    }

    fn properties(&mut self, looked: &mut Looked<'_>, entries: &Map) -> Result<(), Stopped> {
        let rules = looked.rules;
        let properties = rules.get("properties").and_then(Value::as_map);
        let patterns = rules.get("patternProperties").and_then(Value::as_map);
        let additional = rules.get("additionalProperties");
        let depth = looked.depth + 1;
        let mut unknown = Vec::new();
        for (key, item) in entries.iter() {
            self.look_at((looked.at.len() + key.len()) as u64 + 16)?;
            let at = pointer(looked.at, key);
            let mut schemas: Vec<&Value> = properties.and_then(|properties| properties.get(key)).into_iter().collect();
            for (pattern, schema) in patterns.into_iter().flat_map(|patterns| patterns.iter()) {
                if self.matches(pattern, key)? == Some(true) {
                    schemas.push(schema);
                }
            }
            for schema in &schemas {
                looked.found.append(&mut self.check(schema, item, &at, depth)?);
            }
            if let Some(names) = rules.get("propertyNames") {
                looked.found.append(&mut self.check(names, &Value::str(key.clone()), looked.at, depth)?);
            }
            match additional.filter(|_| schemas.is_empty()) {
                Some(Value { data: Data::Bool(false), .. }) => unknown.push(key.clone()),
                Some(schema) => looked.found.append(&mut self.check(schema, item, &at, depth)?),
                None => {}
            }
        }
        if !unknown.is_empty() {
            self.spend(properties.map_or(0, |map| map.len()))?;
            let known = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
            looked.report(Fault::Additional { keys: unknown, known });
        }
        Ok(())
    }

    fn array(&mut self, looked: &mut Looked<'_>, items: &[Value]) -> Result<(), Stopped> {
        let rules = looked.rules;
        let count = items.len() as f64;
        looked.bound("minItems", count, |count, least| count < least);
        looked.bound("maxItems", count, |count, most| count > most);
        if rules.get("uniqueItems").and_then(Value::as_bool) == Some(true)
            && let Some((first, second)) = self.equal_items(looked.value, items)?
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
                let at = format!("{}/{index}", looked.at);
                looked.found.append(&mut self.check(schema, item, &at, looked.depth + 1)?);
            }
        }
        if let Some(schema) = rules.get("contains") {
            let mut fitting = 0.0;
            for item in items {
                fitting += f64::from(self.fits(schema, item, looked.at, looked.depth + 1)?);
            }
            let least = rules.get("minContains").and_then(number).unwrap_or(1.0);
            if fitting < least {
                looked.report(Fault::Contains);
            }
            looked.bound("maxContains", fitting, |count, most| count > most);
        }
        Ok(())
    }

    /// The first two items that are equal.
    fn equal_items(&self, list: &Value, items: &[Value]) -> Result<Option<(usize, usize)>, Stopped> {
        let bytes = weight::weight(list);
        self.look_at(bytes)?;
        self.meter.charge(0, bytes).map_err(Stopped::Exceeded)?;
        let found = first_equal(items);
        self.meter.release(bytes);
        Ok(found)
    }

    fn combined(&mut self, looked: &mut Looked<'_>) -> Result<(), Stopped> {
        let (rules, value, at, depth) = (looked.rules, looked.value, looked.at, looked.depth + 1);
        let schemas = |rule: &str| rules.get(rule).and_then(Value::as_list).unwrap_or_default();
        for schema in schemas("allOf") {
            looked.found.append(&mut self.check(schema, value, at, depth)?);
        }
        self.any_of(looked, schemas("anyOf"))?;
        self.one_of(looked, schemas("oneOf"))?;
        if let Some(schema) = rules.get("not")
            && self.fits(schema, value, at, depth)?
        {
            looked.report(Fault::Not);
        }
        if let Some(condition) = rules.get("if") {
            let branch = if self.fits(condition, value, at, depth)? { "then" } else { "else" };
            if let Some(schema) = rules.get(branch) {
                looked.found.append(&mut self.check(schema, value, at, depth)?);
            }
        }
        Ok(())
    }

    fn any_of(&mut self, looked: &mut Looked<'_>, schemas: &[Value]) -> Result<(), Stopped> {
        let held = self.held;
        let mut causes = Vec::new();
        for schema in schemas {
            let mut found = self.check(schema, looked.value, looked.at, looked.depth + 1)?;
            if found.is_empty() {
                self.forget(held);
                return Ok(());
            }
            causes.append(&mut found);
        }
        if !schemas.is_empty() {
            looked.report_caused(Fault::AnyOf, causes);
        }
        Ok(())
    }

    fn one_of(&mut self, looked: &mut Looked<'_>, schemas: &[Value]) -> Result<(), Stopped> {
        let held = self.held;
        let (mut causes, mut fitting) = (Vec::new(), Vec::new());
        for (index, schema) in schemas.iter().enumerate() {
            let mut found = self.check(schema, looked.value, looked.at, looked.depth + 1)?;
            if found.is_empty() {
                fitting.push(index);
            }
            causes.append(&mut found);
        }
        if fitting.is_empty() && !schemas.is_empty() {
            looked.report_caused(Fault::NoneOfOneOf, causes);
            return Ok(());
        }
        self.forget(held);
        if let [first, second, ..] = fitting.as_slice() {
            looked.report(Fault::SeveralOfOneOf(*first, *second));
        }
        Ok(())
    }
}

/// The bytes of a fault's quoted values.
fn quoted(fault: &Fault) -> u64 {
    let names = |names: &[EcoString]| names.iter().map(|name| name.len() as u64 + 16).sum::<u64>();
    match fault {
        Fault::Enum(allowed) => size_of_val(allowed.as_slice()) as u64,
        Fault::Missing(keys) => names(keys),
        Fault::Additional { keys, known } => names(keys) + names(known),
        Fault::Pattern(text) | Fault::Format(text) => text.len() as u64,
        _ => 0,
    }
}

/// The types that a value may have, if it has none of them.
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
    // Draft 4 marks exclusive bounds with a boolean beside the bound.
    let strict = |name: &str| looked.rules.get(name).and_then(Value::as_bool) == Some(true);
    let (above, below) = (strict("exclusiveMinimum"), strict("exclusiveMaximum"));
    looked.bound("minimum", size, if above { |a, b| a <= b } else { |a, b| a < b });
    looked.bound("maximum", size, if below { |a, b| a >= b } else { |a, b| a > b });
    looked.bound("exclusiveMinimum", size, |a, b| a <= b);
    looked.bound("exclusiveMaximum", size, |a, b| a >= b);
    looked.bound("multipleOf", size, |a, b| b != 0.0 && (a / b).fract() != 0.0);
}

fn first_equal(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(first) = seen.insert(canonical_text(item), index) {
            return Some((first, index));
        }
    }
    None
}

/// Whether a value equals one of several; numbers by value, mappings in any order.
fn is_among(allowed: &[Value], value: &Value) -> bool {
    let text = canonical_text(value);
    allowed.iter().any(|one| type_name(one) == type_name(value) && canonical_text(one) == text)
}

fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, 0, &mut text);
    text
}

/// Text that is the same for equal values. Beyond the maximum depth all values count as equal.
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
