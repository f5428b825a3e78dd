//! Which charts inside a chart take part: declarations, aliases, conditions, tags and imported values.

use purlin_gotmpl::semver::{Range, Version};
use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::{Data, EcoString, Exceeded, Map, Origin, Origins, Value};

use crate::chart::{Chart, Dependency};
use crate::edition::{HELM_4, Helm};
use crate::values::{Account, Coalescer, Trouble, Warning};
use std::collections::HashMap;

/// The declared dependencies that are not there.
pub fn missing(chart: &Chart) -> Vec<String> {
    let there = |dependency: &&Dependency| chart.dependencies.iter().any(|child| child.name() == dependency.name);
    chart.metadata.dependencies.iter().filter(|d| !there(d)).map(|d| d.name.clone()).collect()
}

/// Whether a version is in a range; an invalid one is not.
pub(crate) fn is_compatible(range: &str, version: &str) -> bool {
    match (Range::parse(range), Version::parse(version)) {
        (Ok(range), Some(version)) => range.contains(&version),
        _ => false,
    }
}

/// Enables and disables dependencies, applies aliases and imports values. The deciding values are recorded if origins
/// are.
pub fn process(
    chart: &mut Chart,
    values: &Value,
    account: &Account<'_>,
    origins: Option<&Origins>,
    helm: &'static Helm,
) -> Result<Vec<Warning>, Trouble> {
    let mut warnings = Vec::new();
    enable(chart, values, "", &mut warnings, (account, helm))?;
    import(chart, &mut warnings, account, origins)?;
    Ok(warnings)
}

/// The origin of a value that depends on a dependency being enabled.
pub fn because_enabled(origins: Option<&Origins>, taken: Origin, decided: &[Origin]) -> Origin {
    let decided = decided.iter().copied();
    origins.map_or(taken, |origins| origins.selected(taken, "the dependency is enabled", None, decided))
}

/// A table whose values depend on an imported dependency being enabled.
fn imported_because(value: &Value, origins: Option<&Origins>, because: &[Origin]) -> Value {
    let Some(origins) = origins else { return value.clone() };
    match value.as_map() {
        Some(map) => {
            let inner = map.iter().map(|(key, item)| (key.clone(), imported_because(item, Some(origins), because)));
            value.clone().with(inner.collect::<Map>().into())
        }
        None => {
            let origin = origins.selected(value.origin, "the value is imported", None, because.iter().copied());
            value.clone().with_origin(origin)
        }
    }
}

/// The values that enabled a chart, by its full name, from the outermost chart inwards.
pub fn decided_on(chart: &Chart, name: &str) -> Vec<Origin> {
    let mut found = Vec::new();
    let inner = name.strip_prefix(chart.name()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let (mut chart, mut rest) = (chart, inner);
    while let Some((name, behind)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        let declared = chart.metadata.dependencies.iter().find(|one| one.name == name);
        found.extend(declared.into_iter().flat_map(|one| one.decided.iter().copied()));
        let Some(child) = chart.dependencies.iter().find(|child| child.name() == name) else { break };
        (chart, rest) = (child, behind);
    }
    found
}

/// Bytes charged for an imported value per byte of its written form: a copy with an origin of its own.
const IMPORT_BYTES: u64 = 16;

/// Steps charged for a copy of a chart, besides the parts that copies share.
const COPY_STEPS: u64 = 100;
const COPY_BYTES: u64 = 2_048;
const FILE_BYTES: u64 = 96;

/// Charges a chart, and all charts inside it, before it is copied: it is copied once for each name.
fn charge_copy(chart: &Chart, account: &Account<'_>) -> Result<(), Exceeded> {
    let files = (chart.templates.len() + chart.files.len() + chart.written.len()) as u64;
    let dependencies = chart.metadata.dependencies.len() as u64;
    account.charge(COPY_STEPS + files + dependencies, COPY_BYTES + FILE_BYTES * (files + 4 * dependencies))?;
    chart.dependencies.iter().try_for_each(|child| charge_copy(child, account))
}

fn enable(
    chart: &mut Chart,
    values: &Value,
    path: &str,
    warnings: &mut Vec<Warning>,
    (account, helm): (&Account<'_>, &'static Helm),
) -> Result<(), Trouble> {
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let declared = |child: &Chart| {
        let requirements = chart.metadata.dependencies.iter();
        requirements.clone().any(|d| d.name == child.name() && is_compatible(&d.version, &child.metadata.version))
    };
    for child in &chart.dependencies {
        charge_copy(child, account)?;
    }
    let mut children: Vec<Chart> = chart.dependencies.iter().filter(|child| !declared(child)).cloned().collect();
    let mut declarations: HashMap<String, usize> = HashMap::new();
    for dependency in &chart.metadata.dependencies {
        *declarations.entry(dependency.name.clone()).or_default() += 1;
    }
    for dependency in &mut chart.metadata.dependencies {
        let found = chart.dependencies.iter().find(|child| {
            child.name() == dependency.name && is_compatible(&dependency.version, &child.metadata.version)
        });
        if let Some(found) = found {
            if !dependency.alias.is_empty() {
                charge_copy(found, account)?;
            }
            let mut child = found.clone();
            // A version outside the range would leave it its own name, or leave it to another declaration.
            if !dependency.alias.is_empty() || declarations.get(&dependency.name).is_some_and(|count| *count > 1) {
                let named = dependency.written.iter().filter(|(key, _)| matches!(*key, "version" | "alias"));
                dependency.decided.extend(named.map(|(_, from)| *from).chain([child.metadata.origin("version")]));
            }
            if !dependency.alias.is_empty() {
                let alias = dependency.written.iter().find(|(key, _)| *key == "alias");
                child.metadata.renamed(&dependency.alias, alias.map_or(Origin::NONE, |(_, from)| *from));
            }
            children.push(child);
        }
    }
    for dependency in &mut chart.metadata.dependencies {
        if !dependency.alias.is_empty() {
            dependency.name = dependency.alias.clone();
        }
        dependency.enabled = true;
    }
    chart.dependencies = children;
    let mut coalescer = Coalescer::new(None, account, helm);
    let coalesced = coalescer.coalesce(chart, values)?;
    apply_tags(&mut chart.metadata.dependencies, &coalesced, warnings);
    apply_conditions(&mut chart.metadata.dependencies, &coalesced, path, warnings);
    let off: Vec<String> = chart.metadata.dependencies.iter().filter(|d| !d.enabled).map(|d| d.name.clone()).collect();
    let without = chart.metadata.dependencies.iter().filter(|dependency| !dependency.enabled);
    let decides = |key: &str| matches!(key, "version" | "alias" | "condition" | "tags");
    let written = |dependency: &Dependency| {
        let decided = dependency.written.iter().filter(|(key, _)| decides(key));
        decided.map(|(_, from)| *from).collect::<Vec<_>>()
    };
    let switches = without.flat_map(|dependency| dependency.decided.iter().copied().chain(written(dependency)));
    chart.metadata.switched_off = switches.collect();
    chart.dependencies.retain(|child| !off.iter().any(|name| name == child.name()));
    chart.metadata.dependencies.retain(|dependency| dependency.enabled);
    for child in &mut chart.dependencies {
        let inner = format!("{path}{}.", child.name());
        enable(child, &coalesced, &inner, warnings, (account, helm))?;
    }
    Ok(())
}

fn apply_tags(dependencies: &mut [Dependency], values: &Value, warnings: &mut Vec<Warning>) {
    let Some(tags) = values.get("tags").and_then(Value::as_map) else { return };
    for dependency in dependencies {
        let (mut on, mut off) = (false, false);
        for tag in &dependency.tags {
            let value = tags.get(tag.as_str());
            if let Some(value) = value.filter(|value| value.as_bool().is_some()) {
                dependency.decided.push(value.origin);
            }
            match value.map(|value| &value.data) {
                Some(Data::Bool(true)) => on = true,
                Some(Data::Bool(false)) => off = true,
                Some(_) => warnings
                    .push(Warning::Other(format!("Tag '{tag}' for chart {} returned non-bool value", dependency.name))),
                None => {}
            }
        }
        dependency.enabled = on || !off;
    }
}

fn apply_conditions(dependencies: &mut [Dependency], values: &Value, path: &str, warnings: &mut Vec<Warning>) {
    for dependency in dependencies {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            let value = lookup(values, &format!("{path}{condition}"));
            match value.map(|value| &value.data) {
                Some(Data::Bool(truth)) => {
                    dependency.enabled = *truth;
                    dependency.decided.extend(value.map(|value| value.origin));
                    break;
                }
                Some(Data::Map(_)) | None => {}
                Some(_) => {
                    let name = &dependency.name;
                    let text = format!("Condition path '{condition}' for chart {name} returned non-bool value");
                    warnings.push(Warning::Other(text));
                }
            }
        }
    }
}

/// The value under a dotted path.
pub fn lookup<'v>(values: &'v Value, path: &str) -> Option<&'v Value> {
    let mut current = values;
    for name in path.split('.') {
        current = current.as_map()?.get(name)?;
    }
    Some(current)
}

/// Imports values of charts inside into their parents' defaults, the innermost first.
fn import(
    chart: &mut Chart,
    warnings: &mut Vec<Warning>,
    account: &Account<'_>,
    origins: Option<&Origins>,
) -> Result<(), Trouble> {
    for child in &mut chart.dependencies {
        import(child, warnings, account, origins)?;
    }
    // Helm merges the values of all charts here, including nulls, whether or not values are imported.
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let mut merger = Coalescer::new(None, account, &HELM_4).keeping_nulls();
    let merged = merger.coalesce(chart, &Value::map(Map::new()))?;
    let mut imported = Value::map(Map::new());
    for dependency in &chart.metadata.dependencies {
        for entry in &dependency.import_values {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (child, parent) = match entry.as_str() {
                Some(name) => (format!("exports.{name}"), ".".to_owned()),
                None => (text("child"), text("parent")),
            };
            let found =
                lookup(&merged, &format!("{}.{child}", dependency.name)).filter(|value| value.as_map().is_some());
            match found {
                Some(table) => {
                    let because: Vec<Origin> = dependency.decided.iter().copied().chain([entry.origin]).collect();
                    let count = weight(table);
                    account.charge(steps_for(count), count.saturating_mul(IMPORT_BYTES))?;
                    let table = imported_because(table, origins, &because);
                    imported = merger.merge_tables(&imported, &at_path(&parent, &table))?;
                }
                None => warnings.push(Warning::NoImport(dependency.name.clone())),
            }
        }
    }
    let is_imported = imported.as_map().is_some_and(|map| !map.is_empty());
    let merged = if is_imported { merger.merge_tables(&merged, &imported)? } else { merged };
    if chart.metadata.dependencies.iter().any(|dependency| !dependency.import_values.is_empty()) {
        chart.values = merged.clone();
    }
    chart.merged = Some(merged);
    Ok(())
}

/// A table with the value under a dotted path; `.` is the table itself.
fn at_path(path: &str, value: &Value) -> Value {
    if path == "." {
        return value.clone();
    }
    path.rsplit('.').fold(value.clone(), |inner, name| {
        let mut map = Map::new();
        map.insert(EcoString::from(name), inner);
        Value::map(map)
    })
}
