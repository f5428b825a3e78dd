//! Declarations and mentions of one file: names with their locations, from its tree and the tables.

use crate::place::Place;
use crate::scan;
use purlin_compiler::{SchemaOf, schema_of};
use purlin_model::schema::{Edition, Kind, Schema, Shape};
use purlin_syntax::{FileId, Flavor, Limits, Node, Source, Tree, yaml};
use purlin_tosca::edition::EXTENDED;
use purlin_value::{EcoString, path};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

// Kinds of names, in addition to the labels of TOSCA's tables.
pub use purlin_value::names::kind;

/// A name with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its kind.
    pub kind: &'static str,
    /// The whole name (`build.api`, `image.tag`).
    pub name: EcoString,
    /// The bytes of its last part, which a rename replaces.
    pub bytes: Range<usize>,
    /// The bytes of the whole declaration; those of the name for a mention.
    pub whole: Range<usize>,
}

/// Declarations and mentions of one file.
#[derive(Debug)]
pub struct Facts {
    /// Its text.
    pub source: Arc<Source>,
    /// Its tree; meaningless for templates that are not YAML.
    pub tree: Tree,
    /// Names that it declares.
    pub declared: Vec<Mark>,
    /// Names that it mentions.
    pub mentioned: Vec<Mark>,
    /// Number of uses of a key below another.
    pub keys: HashMap<(EcoString, EcoString), u32>,
    /// Number of uses of a word in lookups of expressions.
    pub words: HashMap<EcoString, u32>,
}

/// Whether a file is a template of a chart.
pub fn is_chart_template(file: &str) -> bool {
    let inside = file.starts_with("templates/") || file.contains("/templates/");
    inside && [".yaml", ".yml", ".tpl", ".txt", ".json"].iter().any(|ending| file.ends_with(ending))
}

/// Whether a file's name is that of a chart's values.
pub fn is_values_file(file: &str) -> bool {
    let name = path::file_name(file);
    name.starts_with("values") && (name.ends_with(".yaml") || name.ends_with(".yml"))
}

impl Facts {
    /// Reads a file.
    pub fn of(file: &str, text: &str, limits: &Limits) -> Facts {
        let source = Arc::new(Source::new(FileId(0), file, text));
        let is_template = is_chart_template(file);
        let parsed = if is_template { Source::new(FileId(0), file, "") } else { Source::new(FileId(0), file, text) };
        let tree = yaml::parse(Arc::new(parsed), Flavor::Core, limits);
        let mut gather = Gather {
            source: &source,
            declared: Vec::new(),
            mentioned: Vec::new(),
            keys: HashMap::new(),
            words: HashMap::new(),
        };
        if is_template {
            gather.go_template();
        }
        for root in tree.roots() {
            gather.count_keys(root);
            gather.document(file, root);
        }
        let Gather { declared, mentioned, keys, words, .. } = gather;
        Facts { source, tree, declared, mentioned, keys, words }
    }

    /// The name at an offset, declared or mentioned.
    pub fn at(&self, offset: usize) -> Option<&Mark> {
        let inside = |mark: &&Mark| mark.bytes.start <= offset && offset <= mark.bytes.end;
        let all = self.mentioned.iter().chain(&self.declared).filter(inside);
        all.min_by_key(|mark| mark.bytes.len())
    }

    /// The location of some bytes.
    pub fn place(&self, bytes: &Range<usize>) -> Place {
        Place::of(&self.source, bytes.clone())
    }
}

struct Gather<'s> {
    source: &'s Source,
    declared: Vec<Mark>,
    mentioned: Vec<Mark>,
    keys: HashMap<(EcoString, EcoString), u32>,
    words: HashMap<EcoString, u32>,
}

fn bytes(node: Node<'_>) -> Range<usize> {
    let span = node.span();
    let quoted =
        matches!(node.style(), purlin_syntax::Style::Single | purlin_syntax::Style::Double) && node.is_scalar();
    let inset = u32::from(quoted);
    (span.start + inset) as usize..(span.end.saturating_sub(inset)) as usize
}

/// The bytes of the last part of a dotted name.
fn last_part(whole: Range<usize>, text: &str) -> Range<usize> {
    let cut = text.rfind('.').map_or(0, |at| at + 1);
    whole.start + cut.min(whole.len())..whole.end
}

impl Gather<'_> {
    fn declare(&mut self, kind: &'static str, name: impl Into<EcoString>, at: Node<'_>, whole: Node<'_>) {
        let (bytes, span) = (bytes(at), whole.span());
        let whole = (span.start as usize).min(bytes.start)..(span.end as usize).max(bytes.end);
        self.declared.push(Mark { kind, name: name.into(), bytes, whole });
    }

    fn mention(&mut self, kind: &'static str, name: impl Into<EcoString>, at: Node<'_>) {
        let name = name.into();
        let bytes = last_part(bytes(at), at.text());
        if !name.is_empty() {
            self.mentioned.push(Mark { kind, name, whole: bytes.clone(), bytes });
        }
    }

    fn mention_at(&mut self, kind: &'static str, name: impl Into<EcoString>, bytes: Range<usize>) {
        self.mentioned.push(Mark { kind, name: name.into(), whole: bytes.clone(), bytes });
    }

    fn count_keys(&mut self, root: Node<'_>) {
        let mut open: Vec<(EcoString, Node<'_>)> = vec![(EcoString::new(), root)];
        while let Some((parent, node)) = open.pop() {
            for entry in node.entries().filter(|_| !node.is_alias()) {
                let key = entry.key.eco_text();
                *self.keys.entry((parent.clone(), key.clone())).or_default() += 1;
                open.push((key, entry.value));
            }
            if !node.is_alias() {
                open.extend(node.items().map(|item| (parent.clone(), item)));
            }
        }
    }

    fn document(&mut self, file: &str, root: Node<'_>) {
        match schema_of(file, root) {
            Some(SchemaOf::Garden) => self.garden(root),
            Some(SchemaOf::Skaffold(_)) => self.skaffold(root),
            Some(SchemaOf::Tosca(edition)) => self.tosca(root, edition),
            Some(SchemaOf::Ensemble) => {
                if let Some(service) = root.get("spec").and_then(|spec| spec.get("service_template")) {
                    self.tosca(service, EXTENDED);
                }
            }
            Some(SchemaOf::Chart) => {
                if let Some(name) = root.get("name") {
                    self.declare(kind::CHART, name.text(), name, root);
                }
            }
            _ if is_values_file(file) => self.values(root, &EcoString::new(), 0),
            _ => {}
        }
    }

    fn garden(&mut self, root: Node<'_>) {
        let text = |key: &str| root.get(key).filter(|node| node.is_scalar());
        let (own_kind, name) = (text("kind").map_or("", Node::text), text("name"));
        match (own_kind, name) {
            ("Build" | "Deploy" | "Run" | "Test", Some(name)) => {
                self.declare(kind::ACTION, format!("{}.{}", own_kind.to_lowercase(), name.text()), name, root);
            }
            ("Module", Some(name)) => self.declare(kind::MODULE, name.text(), name, root),
            ("ConfigTemplate" | "ModuleTemplate", Some(name)) => self.declare(kind::TEMPLATE, name.text(), name, root),
            ("Project", Some(name)) => self.declare(kind::PROJECT, name.text(), name, root),
            _ => {}
        }
        self.keys_of(root.get("variables"), kind::VARIABLE);
        if own_kind == "ConfigTemplate" || own_kind == "ModuleTemplate" {
            self.keys_of(root.get("inputs"), kind::INPUT);
            for config in root.get("configs").into_iter().flat_map(Node::items) {
                self.garden(config);
            }
        }
        for environment in root.get("environments").into_iter().flat_map(Node::items) {
            match environment.get("name") {
                Some(name) if environment.is_map() => {
                    self.declare(kind::ENVIRONMENT, name.text(), name, environment);
                    self.keys_of(environment.get("variables"), kind::VARIABLE);
                }
                _ if environment.is_scalar() => self.mention(kind::ENVIRONMENT, environment.text(), environment),
                _ => {}
            }
        }
        for provider in root.get("providers").into_iter().flat_map(Node::items) {
            if let Some(name) = provider.get("name") {
                self.declare(kind::PROVIDER, name.text(), name, provider);
            }
        }
        if let Some(chosen) = text("defaultEnvironment") {
            self.mention(kind::ENVIRONMENT, chosen.text().split('.').next().unwrap_or(""), chosen);
        }
        if let Some(template) = text("template").filter(|_| own_kind == "RenderTemplate") {
            self.mention(kind::TEMPLATE, template.text(), template);
            for entry in root.get("inputs").into_iter().flat_map(Node::entries) {
                self.mention(kind::INPUT, entry.key.eco_text(), entry.key);
            }
        }
        self.garden_dependencies(root);
        let span = root.span();
        self.expressions(span.start as usize..span.end as usize);
    }

    fn garden_dependencies(&mut self, root: Node<'_>) {
        for item in root.get("dependencies").into_iter().flat_map(Node::items) {
            if item.is_scalar() {
                self.mention(kind::ACTION, item.text().to_lowercase(), item);
            } else if let (Some(of), Some(name)) = (item.get("kind"), item.get("name")) {
                self.mention(kind::ACTION, format!("{}.{}", of.text().to_lowercase(), name.text()), name);
            }
        }
        let builds = root.get("copyFrom").into_iter().flat_map(Node::items).filter_map(|item| item.get("build"));
        for build in root.get("build").into_iter().chain(builds).filter(|build| build.is_scalar()) {
            self.mention(kind::ACTION, format!("build.{}", build.text()), build);
        }
        let built = root.get("build").and_then(|build| build.get("dependencies"));
        for item in built.into_iter().flat_map(Node::items) {
            let name = item.get("name").unwrap_or(item);
            self.mention(kind::MODULE, name.eco_text(), name);
        }
    }

    /// The keys of a mapping of variables, nested ones by their dotted path.
    fn keys_of(&mut self, map: Option<Node<'_>>, of: &'static str) {
        let Some(map) = map else { return };
        let mut open: Vec<(EcoString, Node<'_>)> = vec![(EcoString::new(), map)];
        while let Some((prefix, node)) = open.pop() {
            for entry in node.entries().filter(|entry| !entry.key.text().starts_with('$')) {
                let name = match prefix.is_empty() {
                    true => entry.key.eco_text(),
                    false => EcoString::from(format!("{prefix}.{}", entry.key.text())),
                };
                self.declare(of, name.clone(), entry.key, entry.value);
                if of != kind::INPUT {
                    open.push((name, entry.value));
                }
            }
        }
    }

    /// Mentions in `${…}`.
    fn expressions(&mut self, whole: Range<usize>) {
        let text = self.source.text();
        for lookup in scan::lookups(text, whole) {
            for part in &lookup.parts {
                *self.words.entry(text.get(part.clone()).unwrap_or("").into()).or_default() += 1;
            }
            let part = |index: usize| lookup.parts.get(index).map(|part| text.get(part.clone()).unwrap_or(""));
            let (Some(first), Some(second)) = (part(0), part(1)) else { continue };
            match first {
                "actions" => {
                    if let (Some(third), Some(at)) = (part(2), lookup.parts.get(2)) {
                        self.mention_at(kind::ACTION, format!("{second}.{third}"), at.clone());
                        if part(3) == Some("var")
                            && let (Some(name), Some(at)) = (part(4), lookup.parts.get(4))
                        {
                            self.mention_at(kind::VARIABLE, name, at.clone());
                        }
                    }
                }
                "runtime" => {
                    let of = if second == "services" { "deploy" } else { "run" };
                    if let (Some(third), Some(at)) = (part(2), lookup.parts.get(2)) {
                        self.mention_at(kind::ACTION, format!("{of}.{third}"), at.clone());
                    }
                }
                "var" | "variables" => {
                    let mut name = String::new();
                    for at in lookup.parts.get(1..).unwrap_or_default() {
                        if !name.is_empty() {
                            name.push('.');
                        }
                        name.push_str(text.get(at.clone()).unwrap_or(""));
                        self.mention_at(kind::VARIABLE, name.as_str(), at.clone());
                    }
                }
                _ => {
                    let of = match first {
                        "inputs" => kind::INPUT,
                        "modules" => kind::MODULE,
                        "providers" => kind::PROVIDER,
                        _ => continue,
                    };
                    if let Some(at) = lookup.parts.get(1) {
                        self.mention_at(of, second, at.clone());
                    }
                }
            }
        }
    }

    fn skaffold(&mut self, root: Node<'_>) {
        if let Some(name) = root.get("metadata").and_then(|metadata| metadata.get("name")) {
            self.declare(kind::CONFIG, name.text(), name, root);
        }
        let profiles: Vec<Node<'_>> = root.get("profiles").into_iter().flat_map(Node::items).collect();
        for section in std::iter::once(root).chain(profiles.iter().copied()) {
            let artifacts = section.get("build").and_then(|build| build.get("artifacts"));
            for artifact in artifacts.into_iter().flat_map(Node::items) {
                if let Some(image) = artifact.get("image") {
                    self.declare(kind::IMAGE, image.text(), image, artifact);
                }
                let needed = artifact.get("requires").into_iter().flat_map(Node::items);
                for image in needed.filter_map(|item| item.get("image")) {
                    self.mention_whole(kind::IMAGE, image);
                }
            }
            let tests = section.get("test").into_iter().flat_map(Node::items);
            for image in tests.filter_map(|item| item.get("image")) {
                self.mention_whole(kind::IMAGE, image);
            }
        }
        for profile in profiles {
            if let Some(name) = profile.get("name") {
                self.declare(kind::PROFILE, name.text(), name, profile);
            }
        }
        for required in root.get("requires").into_iter().flat_map(Node::items) {
            for config in required.get("configs").into_iter().flat_map(Node::items) {
                self.mention_whole(kind::CONFIG, config);
            }
            for active in required.get("activeProfiles").into_iter().flat_map(Node::items) {
                if let Some(name) = active.get("name") {
                    self.mention_whole(kind::PROFILE, name);
                }
                for name in active.get("activatedBy").into_iter().flat_map(Node::items) {
                    self.mention_whole(kind::PROFILE, name);
                }
            }
        }
    }

    /// A mention of a name that may have dots in it.
    fn mention_whole(&mut self, of: &'static str, at: Node<'_>) {
        if at.is_scalar() && !at.text().is_empty() {
            self.mention_at(of, at.eco_text(), bytes(at));
        }
    }

    fn values(&mut self, node: Node<'_>, prefix: &EcoString, depth: u32) {
        for entry in node.entries().filter(|entry| depth < 40 && !entry.key.is_merge_key()) {
            let name = match prefix.is_empty() {
                true => entry.key.eco_text(),
                false => EcoString::from(format!("{prefix}.{}", entry.key.text())),
            };
            self.declare(kind::VALUE, name.clone(), entry.key, entry.value);
            self.values(entry.value, &name, depth + 1);
        }
    }

    /// Values and named templates in a template of a chart.
    fn go_template(&mut self) {
        let text = self.source.text();
        for action in scan::go_actions(text) {
            for (name, at) in scan::values_paths(text, action.clone()) {
                self.mention_at(kind::VALUE, name, at);
            }
            for (word, name, at) in scan::named_templates(text, action.clone()) {
                if matches!(word, "define" | "block") {
                    let whole = action.clone();
                    self.declared.push(Mark { kind: kind::NAMED_TEMPLATE, name: name.into(), bytes: at, whole });
                } else {
                    self.mention_at(kind::NAMED_TEMPLATE, name, at);
                }
            }
        }
    }

    fn tosca(&mut self, root: Node<'_>, edition: Edition) {
        let mut walk = TableWalk { schema: &purlin_tosca::entities::SCHEMA, edition, gather: self };
        walk.entity(purlin_tosca::entities::FILE, root, 0);
    }
}

/// Follows the rows of a table through a tree.
struct TableWalk<'g, 's> {
    schema: &'static Schema,
    edition: Edition,
    gather: &'g mut Gather<'s>,
}

/// Rows nest only a few levels deep; data types may nest further.
const DEPTH: u32 = 60;

impl TableWalk<'_, '_> {
    fn entity(&mut self, kind: Kind, node: Node<'_>, depth: u32) {
        let Some(entity) = self.schema.entity(kind).filter(|_| depth < DEPTH) else { return };
        if !node.is_map() {
            let short = entity.short.iter().find(|short| short.window.has(self.edition));
            if let Some(field) = short.and_then(|short| entity.field_of(short.slot, self.edition)) {
                self.shape(kind, &field.shape, field.key, node, depth);
            }
            return;
        }
        for entry in node.entries() {
            let key = entry.key.text();
            match entity.field_or_alias(key, self.edition) {
                Some(field) => self.shape(kind, &field.shape, key, entry.value, depth),
                None => {
                    if let Some(Shape::Map(inner)) = entity.rest_in(self.edition).map(|rest| rest.shape) {
                        self.entity(inner, entry.value, depth + 1);
                    }
                }
            }
        }
    }

    fn shape(&mut self, own: Kind, shape: &'static Shape, key: &str, node: Node<'_>, depth: u32) {
        match shape {
            Shape::One(kind) => self.entity(*kind, node, depth + 1),
            Shape::List(kind) => node.items().for_each(|item| self.entity(*kind, item, depth + 1)),
            Shape::Map(kind) => self.declared(*kind, key, node, depth),
            Shape::Sequence(kind) | Shape::Repeating(kind) => {
                self.declared(*kind, key, node, depth);
                node.items().for_each(|item| self.declared(*kind, key, item, depth));
            }
            Shape::Reference(kinds) | Shape::Names(kinds) => self.names(kinds, node),
            Shape::Parent => self.names(&[own], node),
            Shape::Union(shapes) => shapes.iter().for_each(|shape| self.shape(own, shape, key, node, depth)),
            _ => self.calls(node, depth),
        }
    }

    fn declared(&mut self, kind: Kind, key: &str, node: Node<'_>, depth: u32) {
        let label = if key == "inputs" && depth <= 2 { kind::INPUT } else { self.schema.label(kind) };
        for entry in node.entries() {
            self.gather.declare(label, entry.key.eco_text(), entry.key, entry.value);
            self.entity(kind, entry.value, depth + 1);
        }
    }

    fn names(&mut self, kinds: &[Kind], node: Node<'_>) {
        let Some(label) = kinds.first().map(|kind| self.schema.label(*kind)) else { return };
        let items: Vec<Node<'_>> = if node.is_list() { node.items().collect() } else { vec![node] };
        for item in items.into_iter().filter(|item| item.is_scalar() && !item.is_null()) {
            // The prefix names the import.
            let name = item.text().rsplit(':').next().unwrap_or("");
            let whole = bytes(item);
            let at = whole.end - name.len().min(whole.len())..whole.end;
            // If a name may have several kinds, the declaration decides later.
            for kind in kinds {
                self.gather.mention_at(self.schema.label(*kind), name, at.clone());
            }
            if kinds.is_empty() {
                self.gather.mention_at(label, name, at);
            }
        }
    }

    /// Function calls in values.
    fn calls(&mut self, node: Node<'_>, depth: u32) {
        if depth > DEPTH {
            return;
        }
        for entry in node.entries() {
            let name = entry.key.text().trim_start_matches('$');
            let first = entry.value.items().next().unwrap_or(entry.value);
            if name == "get_input" && first.is_scalar() {
                self.gather.mention_whole(kind::INPUT, first);
            } else if name.starts_with("get_") && first.is_scalar() && entry.value.is_list() {
                self.gather.mention_whole("node template", first);
            }
            self.calls(entry.value, depth + 1);
        }
        node.items().for_each(|item| self.calls(item, depth + 1));
    }
}
