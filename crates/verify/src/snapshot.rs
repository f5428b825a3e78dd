//! Snapshots of values, in the files that helm-unittest keeps: a mapping from tests to numbered texts.
//!
//! A snapshot is the value as written by Go's YAML library; equal texts are equal snapshots.

use crate::Stop;
use purlin_syntax::write::{GoStyle, GoYamlWriter};
use purlin_syntax::{Flavor, Tree};
use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::{Data, EcoString, Map, MergeKeys, Meter, Secrets, Value, emit, value_of};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Texts by the name of their test and their number.
pub(crate) type Stored = BTreeMap<String, BTreeMap<u64, String>>;

/// The snapshots of one test.
pub(crate) struct Snapshots<'s> {
    stored: Option<&'s BTreeMap<u64, String>>,
    /// Whether stored ones are replaced instead of compared.
    updates: bool,
    meter: &'s Meter,
    count: Cell<u64>,
    pub(crate) taken: RefCell<Vec<Taken>>,
}

/// A snapshot that was compared.
pub(crate) struct Taken {
    pub(crate) number: u64,
    /// The text to store.
    pub(crate) text: String,
    pub(crate) is_new: bool,
    pub(crate) is_changed: bool,
}

/// The result of a comparison.
pub(crate) struct Compared {
    pub(crate) text: String,
    number: u64,
    stored: Option<String>,
    is_same: bool,
}

impl<'s> Snapshots<'s> {
    pub(crate) fn new(stored: &'s Stored, test: &str, updates: bool, meter: &'s Meter) -> Self {
        let (count, taken) = (Cell::new(0), RefCell::default());
        Snapshots { stored: stored.get(test), updates, meter, count, taken }
    }

    /// Compares a value with the next snapshot of the test.
    pub(crate) fn compare(&self, value: &Value) -> Result<Compared, Stop> {
        let number = self.count.get() + 1;
        self.count.set(number);
        let bytes = weight(value);
        self.meter.charge(steps_for(bytes), bytes).map_err(Stop::Exceeded)?;
        let text = written(value)?;
        let stored = self.stored.and_then(|texts| texts.get(&number)).cloned();
        let is_changed = stored.as_ref().is_some_and(|stored| *stored != text);
        let kept = if self.updates { None } else { stored.clone() };
        let taken = Taken { number, text: kept.unwrap_or_else(|| text.clone()), is_new: stored.is_none(), is_changed };
        self.taken.borrow_mut().push(taken);
        Ok(Compared { text, number, stored, is_same: self.updates || !is_changed })
    }
}

impl Compared {
    /// The failure message, if any.
    pub(crate) fn message(&self, is_negative: bool, path: &str) -> Option<String> {
        if self.is_same != is_negative {
            return None;
        }
        let subject = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
        if is_negative {
            return Some(format!("{subject}expected another value than snapshot {}", self.number));
        }
        let stored = self.stored.as_deref().unwrap_or_default();
        let line = stored.lines().zip(self.text.lines()).take_while(|(one, other)| one == other).count();
        let of = |text: &str| text.lines().nth(line).map_or("its end".to_owned(), |line| format!("`{}`", line.trim()));
        let (expected, found) = (of(stored), of(&self.text));
        let line = line + 1;
        Some(format!(
            "{subject}differs from snapshot {} in its line {line}: expected {expected}, found {found}",
            self.number
        ))
    }
}

/// A value as it is stored. Leading line breaks of its texts are removed, as in helm-unittest.
fn written(value: &Value) -> Result<String, Stop> {
    let mut writer = GoYamlWriter::new(GoStyle::Pretty);
    emit(&without_leading_lines(value), Secrets::Reveal, &mut writer);
    writer.finish().map_err(|_| Stop::Failed("the value cannot be written as a snapshot".to_owned()))
}

fn without_leading_lines(value: &Value) -> Value {
    match &value.data {
        Data::Str(text) if text.starts_with('\n') => Value::str(text.trim_start_matches('\n')),
        Data::List(items) => Value::list(items.iter().map(without_leading_lines).collect()),
        Data::Map(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), without_leading_lines(value)));
            Value::map(entries.collect::<Map>())
        }
        _ => value.clone(),
    }
}

/// The content of a snapshot file; empty if it is not one.
pub(crate) fn read(tree: &Tree) -> Stored {
    let mut stored = Stored::new();
    let Some(root) = tree.root() else { return stored };
    let value = value_of(root, MergeKeys::Apply);
    for (test, texts) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        let numbered = texts.as_map().into_iter().flat_map(|map| map.iter());
        let texts = numbered.filter_map(|(number, text)| Some((number.parse().ok()?, text.as_str()?.to_owned())));
        stored.insert(test.to_string(), texts.collect());
    }
    stored
}

/// The YAML flavor of snapshot files.
pub(crate) const FLAVOR: Flavor = Flavor::GoObjects;

/// The text of a snapshot file.
pub(crate) fn text_of(all: &Stored) -> Option<String> {
    let mut entries: Vec<(EcoString, Value)> = Vec::new();
    for (test, texts) in all {
        let texts = texts.iter().map(|(number, text)| (EcoString::from(number.to_string()), Value::str(text.as_str())));
        entries.push((test.as_str().into(), Value::map(texts.collect::<Map>())));
    }
    purlin_syntax::write::go_yaml::sort_keys(&mut entries, GoStyle::Pretty, |(test, _)| test.as_str());
    let mut writer = GoYamlWriter::new(GoStyle::Pretty);
    emit(&Value::map(entries.into_iter().collect::<Map>()), Secrets::Reveal, &mut writer);
    let text = writer.finish().ok()?;
    // Numbers of snapshots are written without quotes; everything deeper is indented further.
    let plain = |line: &str| {
        let quoted = line.strip_prefix("  \"").and_then(|rest| rest.split_once("\":"));
        match quoted.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((number, rest)) => format!("  {number}:{rest}\n"),
            None => format!("{line}\n"),
        }
    };
    Some(text.lines().map(plain).collect())
}
