//! Completion at a position: keys and words of the schema, names, and items of embedded languages.

use crate::Ide;
use crate::context::Context;
use crate::facts::{Facts, Mark, kind};
use crate::functions::tosca_functions;
use crate::outline::{Cursor, Level, Spot, Step};
use crate::place::Place;
use crate::shapes::Shapes;
use crate::tosca;
use purlin_compiler::SchemaOf;
use purlin_model::json_schema::{NAMES, TAKES};
use purlin_syntax::{FileId, Source};
use purlin_value::{Map, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The kind of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProposalKind {
    /// A key.
    Key,
    /// One of the allowed words of a key.
    Word,
    /// The name of a declaration elsewhere.
    Name,
    /// A function or filter.
    Function,
    /// A key of a lookup in an expression.
    Field,
}

impl ProposalKind {
    /// The word for the kind.
    pub fn word(self) -> &'static str {
        match self {
            ProposalKind::Key => "key",
            ProposalKind::Word => "word",
            ProposalKind::Name => "name",
            ProposalKind::Function => "function",
            ProposalKind::Field => "field",
        }
    }
}

/// A completion proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The text to write.
    pub text: String,
    /// Its kind.
    pub kind: ProposalKind,
    /// Its type or the location of its declaration, in a few words.
    pub detail: String,
    /// Its documentation.
    pub doc: String,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// The bytes that it replaces.
    pub place: Place,
    /// Its score; more is better.
    pub(crate) score: u32,
}

/// Maximum length of a list.
const MOST: usize = 200;

/// Collects proposals for one position.
pub(crate) struct Proposals<'c> {
    pub context: &'c Context,
    place: Place,
    range: Range<usize>,
    found: Vec<Proposal>,
    /// The index of each text in the list.
    index: HashMap<String, usize>,
}

impl<'c> Proposals<'c> {
    pub fn new(context: &'c Context, range: Range<usize>) -> Self {
        let source = Source::new(FileId(0), context.file.as_str(), context.text.clone());
        let place = Place::of(&source, range.clone());
        Proposals { context, place, range, found: Vec::new(), index: HashMap::new() }
    }

    /// Adds a proposal unless it is there already.
    pub fn add(&mut self, text: &str, kind: ProposalKind, detail: &str, doc: &str, score: u32) {
        if let Some(known) = self.index.get(text).and_then(|at| self.found.get_mut(*at)) {
            known.score = known.score.max(score);
            return;
        }
        self.index.insert(text.to_owned(), self.found.len());
        self.found.push(Proposal {
            text: text.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: doc.to_owned(),
            deprecated: false,
            place: self.place.clone(),
            score,
        });
    }

    /// Marks a proposal as deprecated.
    fn deprecate(&mut self, text: &str) {
        if let Some(known) = self.found.iter_mut().find(|known| known.text == text) {
            known.deprecated = true;
            known.score = 0;
        }
    }

    /// The proposals that match the typed text, the likeliest first.
    fn finish(mut self) -> Vec<Proposal> {
        let typed = self.context.text.get(self.range.start..self.context.offset.min(self.range.end)).unwrap_or("");
        let typed = typed.trim_start_matches(['"', '\'']).to_lowercase();
        self.found.retain(|proposal| has_in_order(&proposal.text.to_lowercase(), &typed));
        let begins = |proposal: &Proposal| proposal.text.to_lowercase().starts_with(&typed);
        self.found.sort_by(|a, b| begins(b).cmp(&begins(a)).then(b.score.cmp(&a.score)));
        self.found.truncate(MOST);
        self.found
    }
}

/// Whether a text has all letters of a word, in their order: `bld` finds `build`.
fn has_in_order(text: &str, word: &str) -> bool {
    let mut letters = text.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

impl Ide {
    /// Proposals at an offset of a file, the likeliest first.
    pub fn complete(&self, file: &str, offset: usize) -> Vec<Proposal> {
        let Some(context) = self.context(file, offset) else { return Vec::new() };
        if context.inside.is_some() {
            return self.complete_expression(&context).map(Proposals::finish).unwrap_or_default();
        }
        if context.cursor.spot == Spot::Text || (context.of.is_none() && context.cursor.path.is_empty()) {
            return Vec::new();
        }
        let range = context.cursor.word.clone();
        let mut proposals = Proposals::new(&context, range);
        let related = self.related(file);
        match context.cursor.spot {
            Spot::Key => self.keys(&context, &related, &mut proposals),
            Spot::Value => self.words(&context, &related, &mut proposals),
            Spot::Item => {
                self.words(&context, &related, &mut proposals);
                self.keys(&context, &related, &mut proposals);
            }
            Spot::Text => {}
        }
        proposals.finish()
    }

    /// Keys of the mapping at the cursor.
    fn keys(&self, context: &Context, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
        let Some(schema) = self.schema_for(context) else { return };
        let cursor = &context.cursor;
        let typed = context.text.get(cursor.word.clone()).unwrap_or("");
        let present = |key: &str| key != typed && cursor.level().is_some_and(|level| level.has(key));
        let parent = cursor.last_key().unwrap_or("");
        let often = |key: &str| -> u32 {
            let key = (parent.into(), key.into());
            related.iter().map(|facts| facts.keys.get(&key).copied().unwrap_or(0)).sum()
        };
        let shapes = Shapes::new(&schema);
        for map in shapes.at(&cursor.path, &cursor.levels) {
            let required: Vec<&str> = map
                .get("required")
                .and_then(Value::as_list)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let properties = map.get("properties").and_then(Value::as_map);
            for (index, (key, property)) in properties.into_iter().flat_map(|map| map.iter()).enumerate() {
                if present(key) {
                    continue;
                }
                let doc = property.get("description").and_then(Value::as_str).unwrap_or("");
                let first = 100u32.saturating_sub(u32::try_from(index).unwrap_or(100)) + usual(key);
                let needed = if required.contains(&key.as_str()) { 2_000 } else { 0 };
                let score = first + needed + often(key).min(100) * 200 + evidence(&shapes, cursor, key);
                proposals.add(key, ProposalKind::Key, &takes(property), doc, score);
                if property.get("deprecated").and_then(Value::as_bool) == Some(true) {
                    proposals.deprecate(key);
                }
            }
        }
        tosca::keys(context, related, proposals);
        if proposals.found.is_empty() {
            tosca::calls(context, related, proposals);
        }
        if proposals.found.is_empty() {
            // If the schema has no properties, keys written elsewhere under the same key are proposed.
            let keys = related.iter().flat_map(|facts| facts.keys.iter()).filter(|((above, _), _)| above == parent);
            let mut counted: HashMap<&str, u32> = HashMap::new();
            keys.for_each(|((_, key), count)| *counted.entry(key).or_default() += count);
            for (key, count) in counted.into_iter().filter(|(key, _)| !key.is_empty() && !present(key)) {
                proposals.add(key, ProposalKind::Key, "", "", count);
            }
        }
    }

    /// Values of the key at the cursor.
    fn words(&self, context: &Context, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
        let cursor = &context.cursor;
        let mut kinds: Vec<&'static str> = names_by_place(context);
        if let Some(schema) = self.schema_for(context) {
            let shapes = Shapes::new(&schema);
            let mut all = shapes.at(&cursor.path, &cursor.levels);
            // The kinds of names are listed for the key, not for the items of its list.
            if cursor.path.last() == Some(&Step::Item) {
                let above = cursor.path.len() - 1;
                all.extend(shapes.at(&cursor.path[..above], &cursor.levels));
            }
            for map in all {
                self.words_of(map, proposals);
                let names = map.get(NAMES).and_then(Value::as_list).unwrap_or_default();
                kinds.extend(names.iter().filter_map(Value::as_str).filter_map(label));
            }
        }
        let mentions = mentions(related);
        for facts in related {
            let own = if facts.source.path() == context.file { 50 } else { 0 };
            // Where both a node and a node type are allowed, it is mostly a node.
            let first = |kind: &str| if kind == "node template" { 60 } else { 0 };
            for mark in facts.declared.iter().filter(|mark| kinds.contains(&mark.kind)) {
                let text = shown_name(context, mark);
                let often = mentions.get(&(mark.kind, mark.name.as_str())).copied().unwrap_or(0).min(20);
                let detail = format!("{} in {}", mark.kind, facts.source.path());
                proposals.add(&text, ProposalKind::Name, &detail, "", 1_000 + own + first(mark.kind) + often * 10);
            }
        }
        for name in tosca::builtin_names(context, &kinds) {
            let often: u32 = kinds.iter().filter_map(|kind| mentions.get(&(*kind, name.as_str()))).sum();
            proposals.add(&name, ProposalKind::Name, "built in", "", 900 + often.min(40) * 10 + common_type(&name));
        }
        tosca::arguments(context, related, proposals);
        if kinds.contains(&"data type") {
            for (index, name) in PRIMITIVES.iter().enumerate() {
                let first = 10u32.saturating_sub(u32::try_from(index).unwrap_or(10));
                proposals.add(name, ProposalKind::Name, "built in", "", 1_100 + first);
            }
        }
        if let Some(SchemaOf::Tosca(edition)) = context.of
            && cursor.path.iter().any(
                |step| matches!(step, Step::Key(key) if key == "properties" || key == "inputs" || key == "outputs"),
            )
        {
            for (name, signature, doc) in tosca_functions(edition) {
                proposals.add(&format!("{{ {name}: }}"), ProposalKind::Function, &signature, doc, 10);
            }
        }
    }

    fn words_of(&self, map: &Map, proposals: &mut Proposals<'_>) {
        let mut word = |value: &Value, score: u32| {
            let text = match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.as_bool().map(|truth| truth.to_string()).unwrap_or_default(),
            };
            if !text.is_empty() {
                proposals.add(&text, ProposalKind::Word, "", "", score);
            }
        };
        for key in ["enum", "examples"] {
            map.get(key).and_then(Value::as_list).unwrap_or_default().iter().for_each(|value| word(value, 500));
        }
        map.get("const").into_iter().for_each(|value| word(value, 600));
        map.get("default").into_iter().for_each(|value| word(value, 550));
        let is_boolean = map.get("type").and_then(Value::as_str) == Some("boolean")
            || map
                .get("type")
                .and_then(Value::as_list)
                .is_some_and(|list| list.iter().any(|item| item.as_str() == Some("boolean")) && list.len() == 2)
            || map.get(TAKES).and_then(Value::as_str) == Some("true or false");
        if is_boolean {
            word(&Value::from(true), 520);
            word(&Value::from(false), 510);
        }
    }
}

/// The keys used most, the most frequent first: the first rows of a table are not always the most useful.
#[rustfmt::skip]
const USUAL: &[&str] = &[
    "name", "type", "kind", "apiVersion", "spec", "service_template", "topology_template", "node_templates", "node_types",
    "properties", "requirements", "capabilities", "derived_from", "description", "imports", "inputs", "outputs", "value",
    "default", "required", "interfaces", "operations", "implementation", "node", "relationship", "host", "file", "attributes",
    "data_types", "capability_types", "relationship_types", "artifact_types", "entry_schema", "constraints", "valid_values",
    "build", "deploy", "manifests", "profiles", "artifacts", "image", "context", "docker", "dockerfile", "custom",
    "buildpacks", "jib", "sync", "requires", "path", "helm", "kubectl", "kustomize", "rawYaml", "releases", "chartPath",
    "portForward", "tagPolicy", "local", "patches", "activation", "dependencies", "variables", "environments", "providers",
    "defaultEnvironment", "defaultHostname", "command", "script", "args", "env", "ports", "containerPort", "ingresses", "port",
    "hostname", "source", "include", "exclude", "values", "chart", "version", "template", "steps", "metadata", "types",
];

/// The frequency of a key, from 0 to 400.
fn usual(key: &str) -> u32 {
    let place = USUAL.iter().position(|known| *known == key).and_then(|place| u32::try_from(place).ok());
    place.map_or(0, |place| 400u32.saturating_sub(place * 4))
}

/// Value types of every edition of TOSCA, the most frequent first.
const PRIMITIVES: &[&str] =
    &["string", "integer", "boolean", "list", "map", "float", "version", "timestamp", "range", "scalar-unit.size"];

/// Built-in types that are used most.
#[rustfmt::skip]
const COMMON_TYPES: &[&str] = &[
    "tosca.nodes.Root", "tosca.nodes.Compute", "tosca.nodes.SoftwareComponent", "tosca.capabilities.Endpoint",
    "tosca.capabilities.Node", "tosca.capabilities.Compute", "tosca.relationships.HostedOn", "tosca.relationships.ConnectsTo",
    "tosca.relationships.DependsOn", "tosca.datatypes.Root", "tosca.artifacts.File", "tosca.artifacts.Implementation.Bash",
    "tosca.interfaces.node.lifecycle.Standard", "tosca.policies.Scaling", "tosca.policies.Placement", "tosca.groups.Root",
];

fn common_type(name: &str) -> u32 {
    if COMMON_TYPES.contains(&name) { 60 } else { 0 }
}

/// How well the value written under a key fits another key: its scalar, or the keys of its mapping.
fn evidence(shapes: &Shapes<'_>, cursor: &Cursor, key: &str) -> u32 {
    let below = &cursor.below;
    if below.scalar.is_empty() && below.keys.is_empty() {
        return 0;
    }
    let mut path = cursor.path.clone();
    let mut levels = cursor.levels.clone();
    path.push(Step::Key(key.to_owned()));
    levels.push(Level::default());
    if below.is_list && !below.keys.is_empty() {
        path.push(Step::Item);
        levels.push(Level::default());
    }
    let all = shapes.at(&path, &levels);
    let has = |name: &String| all.iter().any(|map| map.get("properties").is_some_and(|keys| keys.get(name).is_some()));
    if !below.keys.is_empty() {
        let known = below.keys.iter().filter(|name| has(name)).count();
        if known > 0 || below.is_list {
            return u32::try_from(known.min(10)).unwrap_or(0) * 2_500;
        }
        // The keys may be user-defined names; then their values decide.
        path.extend(below.keys.first().map(|name| Step::Key(name.clone())));
        levels.push(Level::default());
        let inner = shapes.at(&path, &levels);
        let has =
            |name: &String| inner.iter().any(|map| map.get("properties").is_some_and(|keys| keys.get(name).is_some()));
        let known = below.inner.iter().filter(|name| has(name)).count();
        let is_mapping = if inner.is_empty() { 0 } else { 1_000 };
        return is_mapping + u32::try_from(known.min(10)).unwrap_or(0) * 2_000;
    }
    let words = all.iter().filter_map(|map| map.get("enum")?.as_list()).flatten();
    if words.filter_map(Value::as_str).any(|word| word == below.scalar) {
        return 10_000;
    }
    let found = match below.scalar.as_str() {
        scalar if scalar.starts_with('[') => "array",
        scalar if scalar.starts_with('{') => "object",
        "true" | "false" => "boolean",
        scalar if scalar.parse::<f64>().is_ok() => "number",
        _ => "string",
    };
    let is_type = |name: Option<&str>| name == Some(found) || (found == "number" && name == Some("integer"));
    // A property without constraints accepts this too.
    let takes_any =
        |map: &&Map| ["type", "enum", "anyOf", "oneOf", "properties"].iter().all(|key| map.get(*key).is_none());
    let fits = all.iter().any(|map| {
        if takes_any(map) {
            return true;
        }
        let of = map.get("type");
        let several = of.and_then(Value::as_list).is_some_and(|list| list.iter().any(|one| is_type(one.as_str())));
        is_type(of.and_then(Value::as_str)) || several
    });
    if fits { 1_500 } else { 0 }
}

/// The type of a property, in a few words.
fn takes(property: &Value) -> String {
    if let Some(text) = property.get(TAKES).and_then(Value::as_str) {
        return text.to_owned();
    }
    let words = property.get("enum").and_then(Value::as_list);
    if let Some(words) = words {
        return words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    let of = property.get("type").or_else(|| {
        let forms = property.get("anyOf").and_then(Value::as_list)?;
        forms.iter().find_map(|form| form.get("type"))
    });
    match of.map(|of| (of.as_str(), of.as_list())) {
        Some((Some(name), _)) => name.to_owned(),
        Some((_, Some(names))) => names.iter().filter_map(Value::as_str).next().unwrap_or("").to_owned(),
        _ => String::new(),
    }
}

/// The notation of a name at a position.
fn shown_name(context: &Context, mark: &Mark) -> String {
    let is_bare = context.cursor.last_key() == Some("build");
    match (mark.kind, is_bare) {
        (kind::ACTION, true) => mark.name.rsplit('.').next().unwrap_or("").to_owned(),
        _ => mark.name.to_string(),
    }
}

/// The number of mentions of each name.
fn mentions(related: &[Arc<Facts>]) -> HashMap<(&'static str, &str), u32> {
    let mut counts = HashMap::new();
    for mark in related.iter().flat_map(|facts| facts.mentioned.iter()) {
        *counts.entry((mark.kind, mark.name.as_str())).or_default() += 1;
    }
    counts
}

/// Kinds of names for keys that are plain text in the tables.
fn names_by_place(context: &Context) -> Vec<&'static str> {
    let cursor = &context.cursor;
    let key = cursor.last_key().unwrap_or("");
    let own_kind = cursor.root("kind").unwrap_or("");
    let has = |name: &str| cursor.path.iter().any(|step| matches!(step, Step::Key(key) if key == name));
    match context.of {
        Some(SchemaOf::Garden) => match key {
            "dependencies" if own_kind == "Module" => vec![kind::MODULE],
            "dependencies" | "build" => vec![kind::ACTION],
            "template" if own_kind == "RenderTemplate" => vec![kind::TEMPLATE],
            "environments" | "defaultEnvironment" => vec![kind::ENVIRONMENT],
            _ => Vec::new(),
        },
        Some(SchemaOf::Skaffold(_)) => match key {
            "configs" => vec![kind::CONFIG],
            "activatedBy" => vec![kind::PROFILE],
            "name" if has("activeProfiles") => vec![kind::PROFILE],
            "image" if has("requires") || has("test") => vec![kind::IMAGE],
            _ => Vec::new(),
        },
        Some(SchemaOf::Tosca(_) | SchemaOf::Ensemble) => match key.trim_start_matches('$') {
            "get_input" => vec![kind::INPUT],
            "get_property" | "get_attribute" | "get_artifact" | "node" => vec!["node template"],
            _ if key != "requirements" && has("requirements") && has("node_templates") => vec!["node template"],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The label of a kind of TOSCA, as a constant.
fn label(name: &str) -> Option<&'static str> {
    purlin_tosca::entities::SCHEMA.entities.iter().map(|entity| entity.label).find(|label| *label == name)
}

pub(crate) fn find_type<'f>(related: &'f [Arc<Facts>], name: &str) -> Option<(&'f Facts, &'f Mark)> {
    related.iter().find_map(|facts| {
        let mark = facts.declared.iter().find(|mark| mark.kind.ends_with("type") && mark.name == name)?;
        Some((&**facts, mark))
    })
}

/// The value of a declared key.
pub(crate) fn value_at<'f>(facts: &'f Facts, mark: &Mark) -> Option<purlin_syntax::Node<'f>> {
    let count = u32::try_from(facts.tree.len()).ok()?;
    // Nodes are in the order of the text, so the first at or after the key's own location is the key.
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let start = facts.tree.node(middle)?.span().start as usize;
        if start < mark.bytes.start { low = middle + 1 } else { high = middle }
    }
    let key = (low..count.min(low + 3)).find(|index| {
        facts.tree.node(*index).is_some_and(|node| node.is_scalar() && node.span().end as usize >= mark.bytes.end)
    })?;
    facts.tree.node(key + 1)
}
