//! JSON Schema, draft 7, without remote references: they lead into the schema itself.

use super::Call;
use crate::error::{Kind, Result, limit, type_error, value_error};
use crate::eval::Ctx;
use crate::limits::MAX_DEPTH;
use crate::python::{self, Number};
use crate::val::{Data, MapKey, Val, ValMap};
use purlin_jinja::filters::regexes::{Options, compile};
use purlin_syntax::{Message, what};

/// `validate` and `validate_json`
pub fn validate(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let Some([data, schema]) = value.as_list() else {
        return type_error(format!("`{}` needs a value and a schema", call.name));
    };
    if let Some(problem) = malformed(ctx, schema, 0)? {
        return value_error(problem.under("the schema is not valid: "));
    }
    let checker = Checker { ctx, root: schema };
    let valid = checker.valid(&data.clone().plain(), schema, 0)?;
    Ok(Val::bool(valid).taint_if(value.tainted_within()))
}

/// Names of types that a schema may ask for.
const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// The problem of a schema itself, if any.
fn malformed(ctx: &Ctx<'_, '_>, schema: &Val, depth: usize) -> Result<Option<Message>> {
    let rules = match &schema.data {
        Data::Map(rules) if depth <= MAX_DEPTH => rules,
        Data::Map(_) | Data::Bool(_) => return Ok(None),
        _ => return Ok(Some(what::expected("a mapping or a boolean", schema.kind()))),
    };
    ctx.engine.spend(1 + rules.len())?;
    let inner = |schema: &Val| malformed(ctx, schema, depth + 1);
    for (key, rule) in rules.iter() {
        let Some(key) = key.as_str() else { continue };
        let expected = |what: &str| Some(format!("expected {what} for `{key}`, found {}", rule.kind()).into());
        let problem = match (key, &rule.data) {
            ("type", Data::Str(name)) => unknown_type(name),
            ("type", Data::List(names)) => names.iter().find_map(|name| unknown_type(name.as_str().unwrap_or(""))),
            ("type", _) => expected("a type or a list of types"),
            ("properties" | "patternProperties" | "definitions" | "$defs", Data::Map(parts)) => {
                first(parts.values(), inner)?
            }
            ("properties" | "patternProperties" | "definitions" | "$defs", _) => expected("a mapping"),
            ("items", Data::List(parts)) => first(parts.iter(), inner)?,
            (
                "items"
                | "additionalProperties"
                | "additionalItems"
                | "not"
                | "contains"
                | "propertyNames"
                | "if"
                | "then"
                | "else",
                _,
            ) => inner(rule)?,
            ("anyOf" | "allOf" | "oneOf", Data::List(parts)) if !parts.is_empty() => first(parts.iter(), inner)?,
            ("anyOf" | "allOf" | "oneOf", _) => expected("a list of schemas"),
            ("required", Data::List(names)) if names.iter().all(|name| name.as_str().is_some()) => None,
            ("required", _) => expected("a list of strings"),
            ("enum", Data::List(_)) => None,
            ("enum", _) => expected("a list"),
            ("pattern", Data::Str(pattern)) => match compile(ctx.engine, pattern, Options::default(), 0) {
                Ok(_) => None,
                Err(error) if error.kind == Kind::Limit => return Err(error),
                Err(_) => Some(what::about([pattern], format!("`{pattern}` is not a regular expression"))),
            },
            ("format" | "$ref" | "$schema" | "title" | "description", Data::Str(_)) => None,
            ("pattern" | "format" | "$ref" | "$schema" | "title" | "description", _) => expected("a string"),
            ("minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties", _) => {
                let fits = matches!(python::number(rule), Some(Number::Int(number)) if number >= 0);
                if fits { None } else { expected("an integer that is not negative") }
            }
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", _) => {
                if python::number(rule).is_some() { None } else { expected("a number") }
            }
            ("uniqueItems", Data::Bool(_)) => None,
            ("uniqueItems", _) => expected("a boolean"),
            _ => None,
        };
        if problem.is_some() {
            return Ok(problem);
        }
    }
    Ok(None)
}

/// The first problem of some schemas.
fn first<'v>(
    schemas: impl Iterator<Item = &'v Val>,
    problem: impl Fn(&Val) -> Result<Option<Message>>,
) -> Result<Option<Message>> {
    for schema in schemas {
        let found = problem(schema)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn unknown_type(name: &str) -> Option<Message> {
    (!TYPES.contains(&name)).then(|| what::unknown("type", name))
}

struct Checker<'c, 'e, 'w> {
    ctx: &'c Ctx<'e, 'w>,
    root: &'c Val,
}

impl Checker<'_, '_, '_> {
    fn valid(&self, data: &Val, schema: &Val, depth: usize) -> Result<bool> {
        self.ctx.engine.spend(1)?;
        if depth > MAX_DEPTH {
            return limit(format!("the schema is nested deeper than {MAX_DEPTH}"));
        }
        let rules = match &schema.data {
            Data::Bool(allowed) => return Ok(*allowed),
            Data::Map(rules) => rules,
            _ => return type_error(format!("a schema is a map or a boolean, not {}", schema.kind())),
        };
        if let Some(reference) = get(rules, "$ref").and_then(Val::as_str) {
            let Some(target) = self.resolve(reference) else {
                return type_error(format!("the schema has nothing at `{reference}`"));
            };
            return self.valid(data, target, depth + 1);
        }
        Ok(self.simple(data, rules)?
            && self.composed(data, rules, depth)?
            && self.of_map(data, rules, depth)?
            && self.of_list(data, rules, depth)?)
    }

    fn resolve(&self, reference: &str) -> Option<&Val> {
        let mut here = self.root;
        for part in reference.strip_prefix('#')?.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            here = match &here.data {
                Data::List(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => here.get(&part)?,
            };
        }
        Some(here)
    }

    fn simple(&self, data: &Val, rules: &ValMap) -> Result<bool> {
        if let Some(kind) = get(rules, "type") {
            let names: Vec<&str> = match kind.as_list() {
                Some(names) => names.iter().filter_map(Val::as_str).collect(),
                None => kind.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is_type(data, name)) {
                return Ok(false);
            }
        }
        if get(rules, "const").is_some_and(|wanted| !same(data, wanted)) {
            return Ok(false);
        }
        if let Some(wanted) = get(rules, "enum").and_then(Val::as_list)
            && !wanted.iter().any(|wanted| same(data, wanted))
        {
            return Ok(false);
        }
        if let Some(number) = plain_number(data) {
            let bound = |name: &str| get(rules, name).and_then(plain_number).map(Number::to_f64);
            let x = number.to_f64();
            let fits = bound("minimum").is_none_or(|low| x >= low)
                && bound("maximum").is_none_or(|high| x <= high)
                && bound("exclusiveMinimum").is_none_or(|low| x > low)
                && bound("exclusiveMaximum").is_none_or(|high| x < high)
                && bound("multipleOf").is_none_or(|of| of != 0.0 && (x / of).fract().abs() < 1e-9);
            if !fits {
                return Ok(false);
            }
        }
        if let Data::Str(text) = &data.data {
            let length = text.chars().count();
            if !within(rules, "minLength", "maxLength", length) {
                return Ok(false);
            }
            if let Some(pattern) = get(rules, "pattern").and_then(Val::as_str) {
                return matches(self.ctx, pattern, text);
            }
        }
        Ok(true)
    }

    fn composed(&self, data: &Val, rules: &ValMap, depth: usize) -> Result<bool> {
        let all = |name: &str| get(rules, name).and_then(Val::as_list).unwrap_or(&[]);
        for schema in all("allOf") {
            if !self.valid(data, schema, depth + 1)? {
                return Ok(false);
            }
        }
        for (name, exactly) in [("anyOf", false), ("oneOf", true)] {
            if get(rules, name).is_none() {
                continue;
            }
            let mut count = 0;
            for schema in all(name) {
                count += usize::from(self.valid(data, schema, depth + 1)?);
            }
            if count == 0 || (exactly && count != 1) {
                return Ok(false);
            }
        }
        if let Some(schema) = get(rules, "not")
            && self.valid(data, schema, depth + 1)?
        {
            return Ok(false);
        }
        if let Some(condition) = get(rules, "if") {
            let branch = if self.valid(data, condition, depth + 1)? { "then" } else { "else" };
            if let Some(schema) = get(rules, branch) {
                return self.valid(data, schema, depth + 1);
            }
        }
        Ok(true)
    }

    fn of_map(&self, data: &Val, rules: &ValMap, depth: usize) -> Result<bool> {
        let Some(entries) = data.as_map() else {
            return Ok(true);
        };
        let required = get(rules, "required").and_then(Val::as_list).unwrap_or(&[]);
        if required.iter().filter_map(Val::as_str).any(|name| data.get(name).is_none()) {
            return Ok(false);
        }
        if !within(rules, "minProperties", "maxProperties", entries.len()) {
            return Ok(false);
        }
        for (key, value) in entries {
            let name = crate::convert::key_text(key);
            if !self.entry(&name, value, rules, depth)? {
                return Ok(false);
            }
        }
        for (name, needed) in get(rules, "dependencies").and_then(Val::as_map).into_iter().flatten() {
            if !entries.contains_key(name) {
                continue;
            }
            let held = match needed.as_list() {
                Some(names) => names.iter().filter_map(Val::as_str).all(|name| data.get(name).is_some()),
                None => self.valid(data, needed, depth + 1)?,
            };
            if !held {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn entry(&self, name: &str, value: &Val, rules: &ValMap, depth: usize) -> Result<bool> {
        if let Some(schema) = get(rules, "propertyNames")
            && !self.valid(&Val::str(name), schema, depth + 1)?
        {
            return Ok(false);
        }
        let mut known = false;
        if let Some(schema) = get(rules, "properties").and_then(|all| all.get(name)) {
            known = true;
            if !self.valid(value, schema, depth + 1)? {
                return Ok(false);
            }
        }
        for (pattern, schema) in get(rules, "patternProperties").and_then(Val::as_map).into_iter().flatten() {
            if matches(self.ctx, pattern.as_str().unwrap_or(""), name)? {
                known = true;
                if !self.valid(value, schema, depth + 1)? {
                    return Ok(false);
                }
            }
        }
        match get(rules, "additionalProperties") {
            Some(schema) if !known => self.valid(value, schema, depth + 1),
            _ => Ok(true),
        }
    }

    fn of_list(&self, data: &Val, rules: &ValMap, depth: usize) -> Result<bool> {
        let Some(items) = data.as_list() else {
            return Ok(true);
        };
        if !within(rules, "minItems", "maxItems", items.len()) {
            return Ok(false);
        }
        if get(rules, "uniqueItems").is_some_and(python::truthy) {
            let repeated = items.iter().enumerate().any(|(at, item)| items.iter().take(at).any(|o| same(o, item)));
            if repeated {
                return Ok(false);
            }
        }
        let places = get(rules, "items").and_then(Val::as_list);
        for (at, item) in items.iter().enumerate() {
            let schema = match places {
                Some(places) => places.get(at).or_else(|| get(rules, "additionalItems")),
                None => get(rules, "items"),
            };
            if let Some(schema) = schema
                && !self.valid(item, schema, depth + 1)?
            {
                return Ok(false);
            }
        }
        if let Some(schema) = get(rules, "contains") {
            for item in items {
                if self.valid(item, schema, depth + 1)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        Ok(true)
    }
}

fn get<'v>(rules: &'v ValMap, name: &str) -> Option<&'v Val> {
    rules.get(&MapKey::Str(name.into()))
}

fn within(rules: &ValMap, low: &str, high: &str, size: usize) -> bool {
    let bound = |name: &str| match get(rules, name).map(|bound| &bound.data) {
        Some(Data::Int(n)) => usize::try_from(*n).ok(),
        _ => None,
    };
    bound(low).is_none_or(|low| size >= low) && bound(high).is_none_or(|high| size <= high)
}

fn matches(ctx: &Ctx<'_, '_>, pattern: &str, text: &str) -> Result<bool> {
    let compiled = compile(ctx.engine, pattern, Options::default(), text.len());
    match compiled {
        Ok(compiled) => compiled.is_match(text),
        Err(error) if error.kind == Kind::Limit => Err(error),
        Err(_) => type_error(format!("`{pattern}` is not a valid pattern")),
    }
}

/// JSON booleans are not numbers.
fn plain_number(value: &Val) -> Option<Number> {
    if matches!(value.data, Data::Bool(_)) { None } else { python::number(value) }
}

fn same(left: &Val, right: &Val) -> bool {
    let booleans = (matches!(left.data, Data::Bool(_)), matches!(right.data, Data::Bool(_)));
    booleans.0 == booleans.1 && python::equal(left, right)
}

fn is_type(value: &Val, name: &str) -> bool {
    match (&value.data, name) {
        (Data::Null, "null") | (Data::Bool(_), "boolean") | (Data::Str(_), "string") => true,
        (Data::List(_), "array") | (Data::Map(_), "object") => true,
        (Data::Int(_), "integer" | "number") | (Data::Float(_), "number") => true,
        (Data::Float(x), "integer") => x.fract() == 0.0,
        _ => false,
    }
}
