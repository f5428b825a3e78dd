//! The values schema as `gen` would write it now, so that values are checked before `gen` was run, and the names of
//! files that `gen` wrote from an earlier configuration.

use std::collections::HashSet;

use purlin_syntax::{Diagnostic, Span};
use purlin_value::world::{Remote, WorldError};
use purlin_value::{Origin, Session, Value, path};

use super::check::ROOT_KEYS;
use super::config::{self, SchemaConfig};
use super::generate::{Inputs, generate, settings, undefined};
use super::kinds::{Kinds, SETTINGS, preprocessors, read_config};
use crate::chart::Chart;
use crate::{json, rules};

/// The file with definitions that are added last.
pub const OWN_DEFINITIONS: &str = "config/values.schema.custom.json";

/// Generates a chart's schema from its configuration and reports mistakes in the configuration. Returns the
/// definitions, if they are available.
pub fn refresh(session: &Session, chart: &mut Chart, kinds: &Kinds) -> Option<Vec<Value>> {
    let schema = config::schema(&read_config(session, chart, "config/schema.yaml")?);
    let preprocessors = preprocessors(chart);
    let Some(definitions) = definitions(session, chart, &schema) else {
        // Kinds and settings come from the configuration alone.
        let inputs =
            Inputs { resources: &kinds.resources, schema: &schema, definitions: &[], preprocessors: &preprocessors };
        let outdated = Outdated { settings: settings(&inputs), has_other_schema: has_other_kinds(chart, kinds) };
        outdated.report(session, chart);
        return None;
    };
    let inputs = Inputs {
        resources: &kinds.resources,
        schema: &schema,
        definitions: &definitions,
        preprocessors: &preprocessors,
    };
    for missing in undefined(&inputs) {
        let message = format!("unknown definition `{}`", missing.name);
        let diagnostic = at(session, missing.origin, Diagnostic::nowhere(&rules::LOAD, message));
        let known = definitions.iter().filter_map(|file| file.get("definitions")?.as_map()).flat_map(|map| map.keys());
        let made = schema.rules.iter().map(|rule| rule.target.as_str());
        let hint = purlin_syntax::suggest::did_you_mean(&missing.name, known.map(|name| name.as_str()).chain(made));
        let otherwise = "correct the name, or add a rule that has it as its `target`";
        session.sink.push(diagnostic.hint(hint.unwrap_or_else(|| otherwise.into())));
    }
    // A rule without its source was reported above.
    let generated = generate(&inputs).ok()?;
    let other_schema = chart.schema.as_deref().filter(|text| !is_same_json(text, &generated.schema));
    Outdated { settings: generated.settings, has_other_schema: other_schema.is_some() }.report(session, chart);
    chart.schema = Some(generated.schema.into_bytes().into());
    Some(definitions)
}

/// The available definitions named by a chart that is not Metachart's.
pub fn named(session: &Session, chart: &Chart) -> Option<Vec<Value>> {
    let schema = config::schema(&read_config(session, chart, "config/schema.yaml")?);
    let read = |file: &config::DefinitionFile| read_definitions(session, &chart.folder, &file.name).ok();
    Some(schema.definitions.iter().filter_map(read).collect())
}

/// All definition files, the chart's own last.
fn definitions(session: &Session, chart: &Chart, schema: &SchemaConfig) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    for file in &schema.definitions {
        match read_definitions(session, &chart.folder, &file.name) {
            Ok(value) => found.push(value),
            Err(_) if chart.schema.is_some() && is_address(&file.name) => return None,
            Err(reason) => {
                let message = format!("values are not checked: could not read the definitions `{}`", file.name);
                let diagnostic = at(session, file.origin, Diagnostic::nowhere(&rules::WARNING, message));
                session.sink.push(diagnostic.hint(reason));
                return None;
            }
        }
    }
    if let Ok(own) = read_definitions(session, &chart.folder, OWN_DEFINITIONS) {
        found.push(own);
    }
    Some(found)
}

fn is_address(name: &str) -> bool {
    name.contains("://") && !name.starts_with(FILE)
}

/// Prefix of the address of a file on this machine.
const FILE: &str = "file://";

/// A file by its path: an absolute one, or one of the chart or of where the user is, as the original looks for it.
fn local(session: &Session, chart: &str, name: &str) -> Result<String, String> {
    let below_root = name.strip_prefix(session.world.root()).and_then(|rest| rest.strip_prefix('/'));
    let candidates = match below_root {
        Some(inside) => vec![inside.to_owned()],
        None if path::is_absolute(name) => vec![name.to_owned()],
        None => vec![path::join(chart, name), path::join(session.world.here(), name)],
    };
    let found = candidates.iter().find(|path| session.world.exists(path));
    let refused = || {
        candidates.iter().find_map(|path| match session.world.stat(path) {
            Err(error @ WorldError::Denied(_)) => Some(error.reason().to_owned()),
            _ => None,
        })
    };
    found.cloned().ok_or_else(|| refused().unwrap_or_else(|| "the file does not exist".to_owned()))
}

/// A definition file: fetched if it is an address, otherwise from the chart, then from the working folder, as in the
/// original. The error message contains advice.
pub fn read_definitions(session: &Session, chart: &str, name: &str) -> Result<Value, String> {
    let place = match name.split_once("://") {
        Some(("http" | "https", _)) => session
            .world
            .fetch(&Remote::File { address: name.to_owned() })
            .map(|fetched| fetched.path)
            .map_err(|error| error.reason().to_owned())?,
        Some(("file", file)) => local(session, chart, file)?,
        Some((scheme, _)) => return Err(format!("`{scheme}:` is not supported; save the file beside the chart")),
        None => local(session, chart, name)?,
    };
    let bytes = session.load_bytes(&place).map_err(|error: WorldError| error.reason().to_owned())?;
    json::parse(&bytes, Origin::NONE)
}

fn at(session: &Session, origin: Origin, mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.span = session.origins.span(origin, &session.sources);
    diagnostic
}

/// Whether the written schema has other kinds at the root of the values than the configuration.
fn has_other_kinds(chart: &Chart, kinds: &Kinds) -> bool {
    let Some(written) = chart.schema.as_deref().and_then(|text| json::parse(text, Origin::NONE).ok()) else {
        return false;
    };
    let Some(properties) = written.get("properties").and_then(Value::as_map) else { return false };
    let written = properties.keys().map(|key| key.as_str()).filter(|key| !ROOT_KEYS.contains(key));
    let written: HashSet<&str> = written.collect();
    let own = kinds.resources.iter().filter(|resource| resource.root).map(|resource| resource.key.as_str());
    written != own.collect()
}

/// Current output of `gen`.
struct Outdated {
    settings: String,
    has_other_schema: bool,
}

impl Outdated {
    /// Names the files that `gen` wrote and would write differently now.
    fn report(&self, session: &Session, chart: &Chart) {
        let settings = chart.templates.iter().find(|file| file.name == SETTINGS);
        let settings = settings.filter(|file| !is_same_text(&file.bytes, &self.settings));
        let names = [self.has_other_schema.then_some("values.schema.json"), settings.map(|_| SETTINGS)];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        let Some(first) = names.first() else { return };
        let shown = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let verb = if names.len() == 1 { "was" } else { "were" };
        let message = format!("{shown} {verb} generated from another configuration than `config/` holds now");
        let mut diagnostic = Diagnostic::nowhere(&rules::OUTDATED, message);
        diagnostic.span = start_of(session, &path::join(&chart.folder, first));
        let hint = format!("run `purlin metachart gen -r {}`", session.sources.shown(&chart.folder));
        session.sink.push(diagnostic.hint(hint));
    }
}

fn start_of(session: &Session, path: &str) -> Option<Span> {
    let text = session.load_text(path, path).ok()?;
    Some(text.source.span(0, 1))
}

fn is_same_json(written: &[u8], made: &str) -> bool {
    if written == made.as_bytes() {
        return true;
    }
    let parsed = |text: &[u8]| json::parse(text, Origin::NONE).ok();
    parsed(written).is_some_and(|written| parsed(made.as_bytes()) == Some(written))
}

fn is_same_text(written: &[u8], made: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    words(&String::from_utf8_lossy(written)) == words(made)
}
