//! Values from files and flags, and their coalescing with the defaults of charts, as Helm 4 does it.

use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::{Data, EcoString, Exceeded, Map, Meter, Origins, Value};
use std::cell::Cell;
use std::fmt::{self, Display};

use crate::chart::Chart;
use crate::dependencies::because_enabled;
use crate::edition::Helm;

const GLOBAL: &str = "global";

/// Merges two mappings; the second one's values win, mappings are merged inside.
pub fn merge_maps(base: Value, over: Value, origins: Option<&Origins>) -> Value {
    let (Data::Map(low), Data::Map(high)) = (&base.data, &over.data) else {
        return if over.is_null() && base.as_map().is_some() { base } else { over };
    };
    let mut merged = low.as_ref().clone();
    for (key, value) in high.iter() {
        let next = match merged.get(key) {
            Some(known) if known.as_map().is_some() && value.as_map().is_some() => {
                merge_maps(known.clone(), value.clone(), origins)
            }
            Some(known) => chosen(value.clone(), known, "a later values file or flag", origins),
            None => value.clone(),
        };
        merged.insert(key.clone(), next);
    }
    // The keys of a secret map are secret too, and here they become keys of the whole.
    Value::of(merged.into(), over.origin, base.taint() | over.taint())
}

/// Puts a value under a dotted path; other values on the path are replaced by mappings.
pub fn put(base: Value, path: &str, value: Value) -> Value {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let mut map = base.as_map().cloned().unwrap_or_default();
    let inner = match rest {
        Some(rest) => put(map.get(key).cloned().unwrap_or_default(), rest, value),
        None => value,
    };
    map.insert(EcoString::from(key), inner);
    base.with(map.into())
}

/// The winner, remembering what it overrode. Defaults of charts inside are met twice, as a part of the outer chart's
/// and by themselves: a value does not override itself, nor one default twice.
fn chosen(winner: Value, loser: &Value, rule: &'static str, origins: Option<&Origins>) -> Value {
    let is_known =
        |origins: &Origins| winner.origin == loser.origin || origins.has_overridden(winner.origin, loser.origin);
    match origins {
        Some(origins) if !is_known(origins) => {
            let origin = origins.chosen(winner.origin, rule, vec![loser.origin]);
            winner.with_origin(origin)
        }
        _ => winner,
    }
}

/// Why values cannot be coalesced.
#[derive(Debug)]
pub enum Trouble {
    /// The values of a chart inside are no mapping.
    Subchart {
        /// The chart.
        name: String,
        /// Their type.
        found: &'static str,
        /// Helm's text.
        helm_text: String,
    },
    /// It takes more than a limit allows.
    Exceeded(Exceeded),
}

/// Helm's log messages about unused values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Values below a key that is no mapping in the chart's own values.
    NotAMapping {
        /// The chart, and the keys above.
        within: String,
        /// The key.
        key: String,
    },
    /// A mapping in the chart's own values that is overridden by another type.
    NotOverMapping(String),
    /// The same, for values of a chart inside.
    IsMapping(String),
    /// Globals that are no mapping, there or in the chart around.
    Globals(&'static str),
    /// A chart inside that lacks the values to import from it.
    NoImport(String),
    /// A case described only in Helm's words.
    Other(String),
}

impl Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotAMapping { within, key } => {
                write!(f, "warning: skipped value for {within}.{key}: Not a table.")
            }
            Warning::NotOverMapping(name) => write!(f, "warning: cannot overwrite table with non table for {name}"),
            Warning::IsMapping(name) => {
                write!(f, "warning: destination for {name} is a table. Ignoring non-table value")
            }
            Warning::Globals(side) => {
                write!(f, "warning: skipping globals because {side} {GLOBAL} is not a table.")
            }
            Warning::NoImport(chart) => write!(f, "Warning: ImportValues missing table from chart {chart}"),
            Warning::Other(text) => write!(f, "Warning: {text}"),
        }
    }
}

impl From<Exceeded> for Trouble {
    fn from(exceeded: Exceeded) -> Self {
        Trouble::Exceeded(exceeded)
    }
}

/// Budget for preparing the values of a chart; the bytes are returned when that is done.
pub struct Account<'m> {
    meter: &'m Meter,
    held: Cell<u64>,
}

impl<'m> Account<'m> {
    /// An account of a run.
    pub fn new(meter: &'m Meter) -> Self {
        Account { meter, held: Cell::new(0) }
    }

    /// Takes steps and bytes before they are used.
    pub fn charge(&self, steps: u64, bytes: u64) -> Result<(), Exceeded> {
        self.meter.charge(steps, bytes)?;
        self.held.set(self.held.get() + bytes);
        Ok(())
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        self.meter.release(self.held.get());
    }
}

/// The steps and the bytes of one entry of a table that is filled, and of one chart whose values are coalesced.
const ENTRY: (u64, u64) = (4, 64);
const CHART: (u64, u64) = (50, 256);

/// Coalesces user values with the defaults of a chart and of all charts inside it.
pub struct Coalescer<'o> {
    /// Charged for steps and bytes: tables are shared until they are filled, and separate copies afterwards.
    pub account: &'o Account<'o>,
    /// Records overridden values, if enabled.
    pub origins: Option<&'o Origins>,
    /// Warnings that Helm would give.
    pub warnings: Vec<Warning>,
    /// Whether nulls are kept, as when values are merged for importing.
    keep_null: bool,
    /// The version of Helm.
    helm: &'static Helm,
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// A default without the nulls in it.
fn without_nulls(value: &Value) -> Value {
    let Some(map) = value.as_map() else { return value.clone() };
    if !value.any(Value::is_null) {
        return value.clone();
    }
    let kept: Map =
        map.iter().filter(|(_, item)| !item.is_null()).map(|(key, item)| (key.clone(), without_nulls(item))).collect();
    value.clone().with(kept.into())
}

impl<'o> Coalescer<'o> {
    /// A coalescer that drops keys set to null.
    pub fn new(origins: Option<&'o Origins>, account: &'o Account<'o>, helm: &'static Helm) -> Self {
        Self { account, origins, warnings: Vec::new(), keep_null: false, helm }
    }

    /// The same for values that are merged before users give theirs: nulls are kept.
    #[must_use]
    pub fn keeping_nulls(self) -> Self {
        Self { keep_null: true, ..self }
    }

    fn charge(&self, (steps, bytes): (u64, u64), count: usize) -> Result<(), Exceeded> {
        let count = count as u64;
        self.account.charge(steps * count, bytes * count)
    }

    /// The values a chart is rendered with.
    pub fn coalesce(&mut self, chart: &Chart, values: &Value) -> Result<Value, Trouble> {
        let mut map = values.as_map().cloned().unwrap_or_default();
        self.chart(chart, &mut map, "")?;
        Ok(values.clone().with(map.into()))
    }

    fn chart(&mut self, chart: &Chart, values: &mut Map, prefix: &str) -> Result<(), Trouble> {
        self.charge(CHART, 1)?;
        self.defaults(chart, values, prefix)?;
        self.dependencies(chart, values, prefix)
    }

    fn defaults(&mut self, chart: &Chart, values: &mut Map, prefix: &str) -> Result<(), Exceeded> {
        let prefix = join(prefix, chart.name());
        let Some(defaults) = chart.defaults().as_map() else { return Ok(()) };
        self.charge(ENTRY, defaults.len())?;
        for (key, default) in defaults.iter() {
            let Some(value) = values.get(key) else {
                self.add(values, key, default, self.keep_null)?;
                continue;
            };
            if value.is_null() {
                if !self.keep_null {
                    values.shift_remove(key);
                }
                continue;
            }
            if value.is_pending() {
                continue;
            }
            match (value.as_map().is_some(), default.as_map()) {
                (true, Some(table)) => {
                    // Sections of charts inside keep their nulls, which those charts' own defaults are yet to meet.
                    let is_child = chart.dependencies.iter().any(|child| child.name() == key);
                    let table = table.clone();
                    let value = value.clone().tainted_by(default.taint());
                    let mut inner = value.as_map().cloned().unwrap_or_default();
                    self.tables(&mut inner, &table, &join(&prefix, key), self.keep_null || is_child)?;
                    values.insert(key.clone(), value.with(inner.into()));
                }
                (true, None) if !default.is_null() => {
                    let (within, key) = (prefix.to_string(), key.to_string());
                    self.warnings.push(Warning::NotAMapping { within, key });
                }
                (false, _) => {
                    let winner = chosen(value.clone(), default, "values over chart defaults", self.origins);
                    values.insert(key.clone(), winner);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies a default that the user did not mention.
    fn add(&self, values: &mut Map, key: &EcoString, default: &Value, keep_null: bool) -> Result<(), Exceeded> {
        if keep_null || self.helm.keeps_default_nulls {
            values.insert(key.clone(), default.clone());
        } else if !default.is_null() {
            // Nulls are searched for in the whole value.
            self.account.charge(steps_for(weight(default)), 0)?;
            values.insert(key.clone(), without_nulls(default));
        }
        Ok(())
    }

    /// Fills a table from a weaker one, as a whole.
    pub(crate) fn fill(&mut self, strong: &mut Map, weak: &Map) -> Result<(), Exceeded> {
        self.tables(strong, weak, "", self.keep_null)
    }

    /// Fills a table from a weaker one.
    fn tables(&mut self, strong: &mut Map, weak: &Map, prefix: &str, keep_null: bool) -> Result<(), Exceeded> {
        self.charge(ENTRY, strong.len() + weak.len())?;
        for (key, default) in weak.iter() {
            let full = join(prefix, key);
            let Some(value) = strong.get(key) else {
                self.add(strong, key, default, keep_null)?;
                continue;
            };
            if value.is_null() {
                // A null removes a default; beside another null it is kept.
                if !keep_null && !default.is_null() {
                    strong.shift_remove(key);
                }
                continue;
            }
            if value.is_pending() {
                continue;
            }
            match (value.as_map(), default.as_map()) {
                (Some(inner), Some(table)) => {
                    let (mut inner, table) = (inner.clone(), table.clone());
                    let value = value.clone().tainted_by(default.taint());
                    self.tables(&mut inner, &table, &full, keep_null)?;
                    strong.insert(key.clone(), value.with(inner.into()));
                }
                (None, Some(_)) => {
                    self.warnings.push(Warning::NotOverMapping(full));
                }
                (Some(_), None) if !default.is_null() => {
                    self.warnings.push(Warning::IsMapping(full));
                }
                _ => {
                    let winner = chosen(value.clone(), default, "values over chart defaults", self.origins);
                    strong.insert(key.clone(), winner);
                }
            }
        }
        Ok(())
    }

    fn dependencies(&mut self, chart: &Chart, values: &mut Map, prefix: &str) -> Result<(), Trouble> {
        for child in &chart.dependencies {
            let mut section = match values.get(child.name()) {
                None => Map::new(),
                Some(Value { data: Data::Map(map), .. }) => map.as_ref().clone(),
                Some(Value { data: Data::Pending(_), .. }) => continue,
                Some(other) => {
                    return Err(Trouble::Subchart {
                        name: child.name().to_owned(),
                        found: kind_of(other),
                        helm_text: format!("type mismatch on {}: {}", child.name(), go_truth(other)),
                    });
                }
            };
            let whole = values.get(child.name()).cloned().unwrap_or_default();
            let path = join(prefix, chart.name());
            self.globals(&mut section, values, &path)?;
            self.chart(child, &mut section, &path)?;
            let decided = chart.metadata.dependencies.iter().find(|one| one.name == child.name());
            let decided = decided.map(|one| one.decided.as_slice()).unwrap_or_default();
            let origin = because_enabled(self.origins, whole.origin, decided);
            values.insert(EcoString::from(child.name()), whole.with(section.into()).with_origin(origin));
        }
        Ok(())
    }

    /// Hands the parent's globals down.
    fn globals(&mut self, section: &mut Map, parent: &Map, prefix: &str) -> Result<(), Exceeded> {
        let table = |map: &Map| match map.get(GLOBAL) {
            None => Some((Map::new(), Value::null())),
            Some(value) => value.as_map().map(|map| (map.clone(), value.clone())),
        };
        let Some((mut own, before)) = table(section) else {
            self.warnings.push(Warning::Globals("destination"));
            return Ok(());
        };
        let Some((given, whole)) = table(parent) else {
            self.warnings.push(Warning::Globals("source"));
            return Ok(());
        };
        self.charge(ENTRY, own.len() + given.len())?;
        for (key, value) in given.iter() {
            match (value.as_map(), own.get(key)) {
                (Some(_), None) | (None, None) => {
                    own.insert(key.clone(), value.clone());
                }
                (Some(strong), Some(known)) => {
                    let Some(weak) = known.as_map() else { continue };
                    let (mut strong, weak) = (strong.clone(), weak.clone());
                    self.tables(&mut strong, &weak, &join(prefix, key), true)?;
                    let value = value.clone().tainted_by(known.taint());
                    own.insert(key.clone(), value.with(strong.into()));
                }
                (None, Some(known)) => {
                    if known.as_map().is_none() {
                        own.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        section.insert(EcoString::from(GLOBAL), whole.tainted_by(before.taint()).with(own.into()));
        Ok(())
    }

    /// Fills one table from another, keeping nulls, as required for importing values.
    pub fn merge_tables(&mut self, strong: &Value, weak: &Value) -> Result<Value, Exceeded> {
        let (Some(high), Some(low)) = (strong.as_map(), weak.as_map()) else {
            return Ok(if strong.is_null() { weak.clone() } else { strong.clone() });
        };
        let (mut high, low) = (high.clone(), low.clone());
        self.tables(&mut high, &low, "", true)?;
        Ok(strong.clone().tainted_by(weak.taint()).with(high.into()))
    }
}

/// Go's format of a value that should have been a table, with the wrong verb the original uses.
fn kind_of(value: &Value) -> &'static str {
    match &value.data {
        Data::Bool(_) => "a boolean",
        Data::Str(_) => "a string",
        Data::Float(_) => "a number",
        Data::Int(_) => "an integer",
        Data::Null => "null",
        _ => "a list",
    }
}

fn go_truth(value: &Value) -> String {
    match &value.data {
        Data::Bool(truth) => truth.to_string(),
        Data::Str(text) => format!("%!t(string={text})"),
        Data::Float(number) => format!("%!t(float64={})", purlin_gotmpl::number::print_float(*number)),
        Data::Int(number) => format!("%!t(int64={number})"),
        Data::Null => "%!t(<nil>)".to_owned(),
        _ => "a list".to_owned(),
    }
}
