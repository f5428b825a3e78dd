//! Validates the parts of an object against the types of their fields.

use crate::facts::{fact, is_needed};
use crate::finding::{Finding, Spot};
use crate::here::{Here, known};
use crate::table::{Minor, Shape, Table, Type};
use crate::{rules, scalars, structure, values};
use purlin_syntax::{Hint, suggest};
use purlin_value::{Data, Value};
use std::collections::HashMap;

/// The validation of one object.
pub struct Judge<'a> {
    /// The API.
    pub table: &'static Table,
    /// The version of Kubernetes.
    pub at: Minor,
    /// The id of the object.
    pub object: &'a str,
    /// The findings so far.
    pub found: Vec<Finding>,
}

/// Lists in which clusters reject two items with one key; in others the last one counts.
const UNIQUE: &[&str] = &["containers", "initContainers", "volumes", "volumeMounts", "paths"];

impl Judge<'_> {
    /// Reports an invalid value.
    pub fn wrong(&mut self, here: &Here<'_, '_>, wrong: impl Into<String>) -> &mut Finding {
        self.push(Finding::value(&rules::VALUE, here, self.object, wrong))
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) -> &mut Finding {
        self.found.push(finding);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Validates a value against the shape of its field.
    pub fn check(&mut self, here: &Here<'_, '_>, shape: &Shape) {
        let Some(value) = known(here.value).filter(|value| !value.is_null()) else { return };
        match shape {
            Shape::Any => {}
            Shape::Text(values) => match value.as_str() {
                Some(text) => self.check_choice(here, text, *values),
                None => self.mismatch(here, "a string"),
            },
            Shape::Integer { is_long } => self.check_integer(here, *is_long),
            Shape::Number if value.as_number().is_none() => self.mismatch(here, "a number"),
            Shape::Boolean if value.as_bool().is_none() => self.mismatch(here, "`true` or `false`"),
            Shape::Number | Shape::Boolean => {}
            Shape::Bytes => self.check_text(here, scalars::is_base64, "base64"),
            Shape::Time => self.check_text(here, scalars::is_time, "a time such as `2026-01-31T12:00:00Z`"),
            Shape::Quantity => self.check_quantity(here),
            Shape::IntOrString => {
                if !matches!(value.data, Data::Int(_) | Data::Str(_)) && whole(value).is_none() {
                    self.mismatch(here, "an integer or a string");
                }
            }
            Shape::List(item, keys) => self.check_list(here, item, keys),
            Shape::Map(inner) => match value.as_map() {
                Some(map) => map.iter().for_each(|(key, value)| self.check(&here.entry(key, value), inner)),
                None => self.mismatch(here, "a mapping"),
            },
            Shape::Type(id) => {
                if let Some(of) = self.table.get(*id) {
                    self.check_type(here, of);
                }
            }
        }
    }

    fn check_choice(&mut self, here: &Here<'_, '_>, text: &str, values: Option<usize>) {
        let Some(values) = values.map(|id| self.table.values(id)) else { return };
        if text.is_empty() || values.clone().any(|value| value == text) || here.is_under("status") {
            return;
        }
        let (what, hint) = values::choice(text, &values.collect::<Vec<_>>());
        self.wrong(here, what).hint = hint;
    }

    fn check_integer(&mut self, here: &Here<'_, '_>, is_long: bool) {
        match whole(here.value) {
            Some(number) if is_long || i32::try_from(number).is_ok() => {}
            Some(number) => {
                self.wrong(here, format!(": expected an integer of 32 bits, found `{number}`"));
            }
            None => self.mismatch(here, "an integer"),
        }
    }

    fn check_text(&mut self, here: &Here<'_, '_>, is_right: fn(&str) -> bool, what: &str) {
        match here.value.as_str() {
            Some(text) if text.is_empty() || is_right(text) => {}
            Some(text) => {
                self.wrong(here, format!(": expected {what}, found `{}`", values::short(text)));
            }
            None => self.mismatch(here, what),
        }
    }

    fn check_quantity(&mut self, here: &Here<'_, '_>) {
        match here.value.as_str() {
            Some(text) if scalars::is_quantity(text) => {}
            Some(text) => {
                let meant = scalars::meant_quantity(text).map(|meant| Hint::meant(text, meant));
                let finding = self.wrong(
                    here,
                    format!(": expected a quantity such as `500m` or `1Gi`, found `{}`", values::short(text)),
                );
                finding.hint = meant;
            }
            None if here.value.as_number().is_some() => {}
            None => self.mismatch(here, "a quantity such as `500m` or `1Gi`"),
        }
    }

    fn check_list(&mut self, here: &Here<'_, '_>, item: &Shape, keys: &[&'static str]) {
        if here.value.as_list().is_none() {
            return self.mismatch(here, "a list");
        }
        for one in here.items() {
            self.check(&one, item);
        }
        self.check_twice(here, keys);
    }

    /// Reports items with the same identity.
    fn check_twice(&mut self, here: &Here<'_, '_>, keys: &[&'static str]) {
        let name = here.last_key().map(|(key, _)| key).unwrap_or_default();
        if keys.is_empty() || here.is_under("status") {
            return;
        }
        let mut seen: HashMap<Vec<String>, &Value> = HashMap::new();
        for item in here.items() {
            let Some(identity) = keys.iter().map(|key| identity(&item, key)).collect::<Option<Vec<String>>>() else {
                continue;
            };
            let Some(first) = seen.get(&identity).copied() else {
                seen.insert(identity, item.value);
                continue;
            };
            let marked = item.set(keys[0]);
            let place = marked.as_ref().unwrap_or(&item);
            let shown = identity.first().map(String::as_str).unwrap_or_default();
            let message = format!(": `{}` is a duplicate {} in `{name}`", values::short(shown), keys[0]);
            let is_refused = UNIQUE.contains(&name);
            let finding = self.wrong(place, message);
            if !is_refused {
                finding.severity = purlin_syntax::Severity::Warning;
                finding.hint = Some("only the last one counts; remove the others".into());
            }
            finding.other = Some((first.get(keys[0]).unwrap_or(first).origin, "the first one".to_owned()));
        }
    }

    fn check_type(&mut self, here: &Here<'_, '_>, of: &Type) {
        let Some(map) = here.value.as_map() else { return self.mismatch(here, "a mapping") };
        for (key, value) in map.iter() {
            let here_is = here.entry(key, value);
            if is_pending(key) {
                continue;
            }
            match of.field(key).filter(|field| field.range.holds(self.at)) {
                Some(field) => {
                    let before = self.found.len();
                    self.check(&here_is, &field.shape);
                    // A value of the wrong type is reported only once.
                    if let Some(fact) = fact(of.short(), field.name).filter(|_| self.found.len() == before) {
                        values::check(self, &here_is, fact);
                    }
                }
                None => self.unknown(&here_is, key, of),
            }
        }
        let is_there = |name: &str| map.get(name).is_some_and(|value| !value.is_null());
        for field in &of.fields {
            if field.is_required
                && field.range.holds(self.at)
                && !is_there(field.name)
                && is_needed(of.short(), field.name)
            {
                self.missing(here, field.name);
            }
        }
        structure::check(self, here, of.short());
    }

    fn unknown(&mut self, here: &Here<'_, '_>, key: &str, of: &Type) {
        if of.short() == "ObjectMeta" && here.value.is_null() {
            return;
        }
        let around = here.above().map(ToString::to_string).filter(|around| !around.is_empty());
        let around = around.map(|around| format!(" under `{around}`")).unwrap_or_default();
        let at = self.at;
        let hint: Option<Hint> = match of.field(key) {
            Some(field) if field.range.first > at => {
                Some(format!("Kubernetes 1.{} and later have it; this is 1.{at}", field.range.first).into())
            }
            Some(field) => Some(format!("Kubernetes 1.{} was the last version with it", field.range.last).into()),
            None => {
                let names = of.fields.iter().filter(|field| field.range.holds(at)).map(|field| field.name);
                let same = of.fields.iter().find(|field| field.name.eq_ignore_ascii_case(key)).map(|field| field.name);
                let near = same.or_else(|| suggest::nearest(key, names.clone()));
                near.map(|near| Hint::meant(key, near)).or_else(|| self.belongs(of, key))
            }
        };
        let mut finding = Finding::key(&rules::SCHEMA, here, self.object, "");
        finding.subject = format!("unknown key `{key}`{around}");
        finding.hint = hint;
        self.push(finding);
    }

    /// The hint for a key that belongs under a field of this type.
    fn belongs(&self, of: &Type, key: &str) -> Option<Hint> {
        let inner = |shape: &Shape| match shape {
            Shape::Type(id) => Some(*id),
            Shape::List(item, _) => match **item {
                Shape::Type(id) => Some(id),
                _ => None,
            },
            _ => None,
        };
        let has = |id: usize| self.table.get(id).is_some_and(|of| of.field(key).is_some());
        let mut owners =
            of.fields.iter().filter(|field| field.range.holds(self.at) && inner(&field.shape).is_some_and(has));
        let owner = owners.next()?;
        owners.next().is_none().then(|| format!("it belongs under `{}`", owner.name).into())
    }

    /// Reports a missing key, located at the key of the mapping without it. A misspelt one is already reported as
    /// unknown.
    pub fn missing<'v>(&mut self, here: &Here<'v, '_>, key: &'v str) -> Option<&mut Finding> {
        let mut entries = here.value.as_map().into_iter().flat_map(|map| map.iter());
        if entries.any(|(written, value)| suggest::is_slip(written, key) && self.is_unknown(written, value)) {
            return None;
        }
        let around = here.to_string();
        let under = if around.is_empty() { String::new() } else { format!(" under `{around}`") };
        let written = here.key(key);
        let mut finding = Finding::key(&rules::SCHEMA, written.as_ref().unwrap_or(here), self.object, "");
        finding.subject = format!("missing `{key}`{under}");
        finding.hint = Some(match &written {
            Some(_) => format!("write a value after `{key}:`").into(),
            None => format!("add `{key}:`").into(),
        });
        Some(self.push(finding))
    }

    /// Whether a key was reported as unknown.
    fn is_unknown(&self, key: &str, value: &Value) -> bool {
        let is_it = |spot: &Spot| matches!(spot, Spot::Key(known, origin) if known == key && *origin == value.origin);
        self.found.iter().any(|finding| is_it(&finding.spot))
    }

    fn mismatch(&mut self, here: &Here<'_, '_>, expected: &str) {
        let found = values::found(here.value);
        let hint = values::rewrite(here.value, expected).or_else(|| values::write(expected));
        let message = format!(": expected {expected}, found {found}");
        let mut finding = Finding::value(&rules::SCHEMA, here, self.object, message).maybe_hint(hint);
        finding.is_text = Some(here.value.as_str().is_some()).filter(|_| !here.value.is_collection());
        self.push(finding);
    }
}

/// The integer value, `2.0` included.
pub fn whole(value: &Value) -> Option<i64> {
    let float = || value.as_number().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    #[allow(clippy::cast_possible_truncation)]
    value.as_int().or_else(|| matches!(value.data, Data::Float(_)).then(float).flatten().map(|number| number as i64))
}

/// Whether a key is unknown or incomplete.
pub fn is_pending(key: &str) -> bool {
    key.contains("(pending:")
}

/// The identity of an item by one key. The default protocol is TCP.
fn identity(item: &Here<'_, '_>, key: &'static str) -> Option<String> {
    let Some(value) = item.set(key) else { return (key == "protocol").then(|| "TCP".to_owned()) };
    let value = known(value.value)?;
    value.as_str().map(str::to_owned).or_else(|| value.as_int().map(|number| number.to_string()))
}
