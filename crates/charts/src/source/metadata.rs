//! Reads `Chart.yaml` and `requirements.yaml`.

use purlin_gotmpl::semver::Version;
use purlin_model::check::describe_node;
use purlin_model::schema::{Edition, Kind, Shape};
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, Node, Tree, suggest};
use purlin_value::{Origin, Value};

use crate::chart::{Dependency, Metadata, Word};
use crate::{entities, rules};
use purlin_syntax::what;

/// A scalar as a text: Helm reads `true` and `1.10` into a text field as `true` and `1.1`.
fn scalar_text(node: Node<'_>) -> String {
    if !node.is_scalar() || node.is_null() {
        return String::new();
    }
    purlin_gotmpl::yaml_tree::key_text(node).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

fn text(node: Node<'_>, key: &str) -> String {
    node.get(key).map(scalar_text).unwrap_or_default()
}

fn texts(node: Node<'_>, key: &str) -> Vec<String> {
    node.get(key).map(|list| list.items().map(scalar_text).collect()).unwrap_or_default()
}

fn word(node: Node<'_>) -> Word {
    Word { text: scalar_text(node), from: Some(Origin::node(node)) }
}

fn words(node: Node<'_>, key: &str) -> Vec<Word> {
    node.get(key).map(|list| list.items().map(word).collect()).unwrap_or_default()
}

/// Reads the metadata of a chart.
pub fn read(tree: &Tree) -> Option<Metadata> {
    let Some(root) = tree.root().filter(|root| !root.is_null()) else {
        // An empty file is a chart without a name, reported like others.
        return Some(Metadata { api_version: "v1".to_owned(), ..Metadata::default() });
    };
    if !root.is_map() {
        return None;
    }
    let person = |node: Node<'_>| ["name", "email", "url"].map(|key| node.get(key).map(word).unwrap_or_default());
    let annotations = root.get("annotations").map(|map| {
        let pair = |entry: purlin_syntax::tree::Entry<'_>| (entry.name().to_owned(), word(entry.value));
        map.entries().map(pair).collect()
    });
    let api_version = text(root, "apiVersion");
    Some(Metadata {
        name: text(root, "name"),
        version: text(root, "version"),
        app_version: text(root, "appVersion"),
        description: text(root, "description"),
        kind: text(root, "type"),
        kube_version: text(root, "kubeVersion"),
        api_version: if api_version.is_empty() { "v1".to_owned() } else { api_version },
        home: text(root, "home"),
        icon: text(root, "icon"),
        condition: text(root, "condition"),
        tags: text(root, "tags"),
        deprecated: root.get("deprecated").and_then(Node::as_bool).unwrap_or(false),
        keywords: words(root, "keywords"),
        sources: words(root, "sources"),
        maintainers: root.get("maintainers").map(|list| list.items().map(person).collect()).unwrap_or_default(),
        annotations: annotations.unwrap_or_default(),
        dependencies: dependencies(root),
        switched_off: Vec::new(),
        origins: root.entries().map(|entry| (entry.name().to_owned(), Origin::node(entry.value))).collect(),
        odd: odd(tree, root),
    })
}

/// The keys of `Chart.yaml` that a chart cannot do without, and those that are close to them.
pub(crate) const KEYS: &[&str] = &["apiVersion", "appVersion", "kubeVersion", "name", "version", "type"];

/// Keys that Helm ignores, values that it cannot read, and duplicate keys.
fn odd(tree: &Tree, root: Node<'_>) -> Vec<Diagnostic> {
    let mut found = duplicates(tree);
    check(root, entities::CHART, "`Chart.yaml`", &mut found);
    for item in root.get("dependencies").into_iter().flat_map(Node::items).filter(|item| item.is_map()) {
        check(item, entities::DEPENDENCY, "a dependency", &mut found);
        if item.get("name").is_none_or(Node::is_null) {
            let message = "a dependency has no `name`";
            found.push(Diagnostic::at(&rules::METADATA, item.span(), message).hint("add `name:`, the chart's name"));
        }
    }
    let version = root.get("apiVersion").filter(|version| version.is_scalar());
    if let Some(version) = version.filter(|version| !matches!(version.text(), "v1" | "v2" | "")) {
        let message = what::unknown("`apiVersion`", version.text());
        found.push(Diagnostic::at(&rules::METADATA, version.span(), message).warning().hint("write `apiVersion: v2`"));
    }
    if let Some(first) = root.entries().next().filter(|_| root.get("apiVersion").is_none()) {
        let message = "`Chart.yaml` has no `apiVersion`, so Helm takes it for `v1`";
        let diagnostic = Diagnostic::at(&rules::METADATA, first.key.span(), message);
        found.push(diagnostic.warning().hint("add `apiVersion: v2`"));
    }
    found
}

/// Duplicate keys; Helm silently uses the last one.
pub fn duplicates(tree: &Tree) -> Vec<Diagnostic> {
    let twice = tree.diagnostics().iter().filter(|found| found.rule.name == "duplicate-key");
    twice.map(|found| found.clone().warning()).collect()
}

fn check(node: Node<'_>, kind: Kind, what: &str, found: &mut Vec<Diagnostic>) {
    let Some(entity) = entities::SCHEMA.entity(kind) else { return };
    let fields = || entity.fields(Edition(0));
    for entry in node.entries() {
        let Some(field) = fields().find(|field| field.key == entry.name()) else {
            let (set, unset): (Vec<&str>, Vec<&str>) =
                fields().map(|field| field.key).partition(|key| node.get(key).is_some());
            let twin = || set.into_iter().find(|key| suggest::is_typo(entry.name(), key));
            let hint = suggest::did_you_mean(entry.name(), unset)
                .or_else(|| twin().map(|key| format!("remove it; `{key}` is set").into()));
            // Other keys are notes of people and tools.
            if let Some(hint) = hint {
                let message = what::unknown("key", entry.name()).and(format!(" in {what}, which Helm ignores"));
                found.push(Diagnostic::at(&rules::METADATA, entry.key.span(), message).warning().hint(hint));
            }
            continue;
        };
        let value = entry.value;
        let (fits, wanted, hint) = match field.shape {
            Shape::List(_) | Shape::ListOf(_) => (value.is_list(), "a list", "start each item with `- `"),
            Shape::MapOf(_) => (value.is_map(), "a mapping", "write `key: value` lines below it"),
            Shape::Bool => (value.as_bool().is_some(), "a boolean", "write `true` or `false`, without quotes"),
            _ => (value.is_scalar(), "a string", "write one value"),
        };
        if !fits && !value.is_null() && !value.is_alias() {
            let message = what::expected(wanted, describe_node(value)).under(format!("`{}` of {what}: ", entry.name()));
            found.push(Diagnostic::at(&rules::METADATA, value.span(), message).hint(hint));
        }
    }
}

/// Reads the `dependencies` of a `Chart.yaml` or `requirements.yaml`.
pub fn dependencies(root: Node<'_>) -> Vec<Dependency> {
    let read_one = |node: Node<'_>| Dependency {
        name: text(node, "name"),
        version: text(node, "version"),
        repository: text(node, "repository"),
        alias: text(node, "alias"),
        condition: text(node, "condition"),
        tags: texts(node, "tags"),
        import_values: node
            .get("import-values")
            .map(|list| list.items().map(import_value).collect())
            .unwrap_or_default(),
        enabled: true,
        decided: Vec::new(),
        written: ["name", "version", "repository", "alias", "condition", "tags"]
            .into_iter()
            .filter_map(|key| Some((key, Origin::node(node.get(key)?))))
            .collect(),
    };
    root.get("dependencies")
        .map(|list| list.items().filter(|node| node.is_map()).map(read_one).collect())
        .unwrap_or_default()
}

fn import_value(node: Node<'_>) -> Value {
    crate::yaml::value_of(node).unwrap_or_default()
}

/// An error in the metadata.
#[derive(Clone, Debug)]
pub struct Flaw {
    /// The key.
    pub key: &'static str,
    /// Helm's text.
    pub helm_text: String,
    /// The message for native commands.
    pub message: Message,
}

/// Checks the metadata and returns the first error.
pub fn validate(metadata: &Metadata) -> Result<(), Flaw> {
    let wrong = |key: &'static str, helm: &str, message: Message| {
        Err(Flaw { key, helm_text: format!("validation: {helm}"), message })
    };
    let missing = |key: &'static str| {
        wrong(
            key,
            &format!("chart.metadata.{key} is required"),
            what::missing("key", key).words(format!("`Chart.yaml` has no `{key}`")),
        )
    };
    if metadata.name.is_empty() {
        return missing("name");
    }
    if metadata.name.contains('/') || metadata.name == "." || metadata.name == ".." {
        let helm = format!("chart.metadata.name {:?} is invalid", metadata.name);
        return wrong("name", &helm, format!("`{}` cannot be the name of a chart", metadata.name).into());
    }
    if metadata.version.is_empty() {
        return missing("version");
    }
    if Version::parse(&metadata.version).is_none() {
        let helm = format!("chart.metadata.version {:?} is invalid", metadata.version);
        let message = what::expected("a semantic version such as `1.2.3`", format!("`{}`", metadata.version));
        return wrong("version", &helm, message);
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        let message = what::expected("`application` or `library`", format!("`{}`", metadata.kind));
        return wrong("type", "chart.metadata.type must be application or library", message);
    }
    for dependency in &metadata.dependencies {
        let plain = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '-' | '_');
        if !dependency.alias.chars().all(|ch| plain(ch) || ch == '.') {
            let helm = format!("dependency {:?} has disallowed characters in the alias", dependency.name);
            let message = format!("the alias `{}` may only have letters, digits, `-`, `_` and `.`", dependency.alias);
            return wrong("dependencies", &helm, message.into());
        }
    }
    Ok(())
}
