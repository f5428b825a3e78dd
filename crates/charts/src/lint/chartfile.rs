//! Findings of Helm's linter on `Chart.yaml`.

use purlin_gotmpl::semver::Version;
use purlin_syntax::{Kind, Node, Scalar, Tree};
use purlin_value::Session;

use super::{Level, Linted};
use crate::chart::{ChartFile, Metadata};
use crate::yaml::value_of_tree;
use crate::{load, metadata};

const FILE: &str = "Chart.yaml";

pub(super) fn check(session: &Session, path: &str, files: &[ChartFile], found: &mut Linted) {
    let Some(file) = files.iter().find(|file| file.name == FILE) else {
        found.add(Level::Error, FILE, "unable to parse YAML\n\tChart.yaml file is missing");
        return;
    };
    let tree = load::parse(session, path, file);
    let read = match value_of_tree(&tree, 0) {
        Ok(_) => metadata::read(&tree),
        Err(message) => {
            let message = format!("unable to parse YAML\n\terror converting YAML to JSON: {message}");
            found.add(Level::Error, FILE, message);
            return;
        }
    };
    let data = read.unwrap_or_default();
    let mut add = |level: Level, problem: Option<String>| {
        if let Some(message) = problem {
            found.add(level, FILE, message);
        }
    };
    let root = tree.root();
    let text = purlin_gotmpl::value::text_of(&file.bytes);
    let strict = root.and_then(|root| unexpected(&tree, root, &text));
    add(Level::Warning, strict.map(|what| format!("failed to strictly parse chart metadata file\n\t{what}")));
    add(Level::Error, name(&data));
    add(Level::Error, format_version(&data));
    add(Level::Error, not_a_string(root, "version"));
    add(Level::Error, version(&data));
    add(Level::Error, not_a_string(root, "appVersion"));
    add(Level::Error, maintainers(&data));
    let bad = data.sources.iter().find(|source| !is_request_url(&source.text));
    add(Level::Error, bad.map(|source| format!("invalid source URL '{}'", source.text)));
    add(Level::Info, data.icon.is_empty().then(|| "icon is recommended".to_owned()));
    let has_bad_icon = !data.icon.is_empty() && !is_request_url(&data.icon);
    add(Level::Error, has_bad_icon.then(|| format!("invalid icon URL '{}'", data.icon)));
    let is_v2 = data.api_version == "v2";
    let kind = !is_v2 && !data.kind.is_empty();
    let only_in = |what: &str, be: &str| {
        format!("{what} not valid in apiVersion '{}'. {be} valid in apiVersion 'v2'", data.api_version)
    };
    add(Level::Error, kind.then(|| only_in("chart type is", "It is")));
    // Those of `requirements.yaml` belong to the first format.
    let has_dependencies = root.and_then(|root| root.get("dependencies")).is_some_and(|list| list.items().count() > 0);
    let dependencies = (!is_v2 && has_dependencies).then(|| {
        let version = &data.api_version;
        format!("dependencies are not valid in the Chart file with apiVersion '{version}'. They are valid in apiVersion 'v2'")
    });
    add(Level::Error, dependencies);
    let is_strict = Version::parse_strict(&data.version).is_some();
    add(Level::Warning, (!is_strict).then(|| format!("version '{}' is not a valid SemVerV2", data.version)));
}

fn name(data: &Metadata) -> Option<String> {
    if data.name.is_empty() {
        return Some("name is required".to_owned());
    }
    let is_plain = !data.name.contains('/') || data.name == "/";
    (!is_plain).then(|| format!("chart name {:?} is invalid", data.name))
}

fn format_version(data: &Metadata) -> Option<String> {
    const WANTED: &str = "The value must be either \"v1\" or \"v2\"";
    match data.api_version.as_str() {
        "v1" | "v2" => None,
        "" => Some(format!("apiVersion is required. {WANTED}")),
        other => Some(format!("apiVersion '{other}' is not valid. {WANTED}")),
    }
}

fn version(data: &Metadata) -> Option<String> {
    if data.version.is_empty() {
        return Some("version is required".to_owned());
    }
    Version::parse(&data.version).is_none().then(|| format!("version '{}' is not a valid SemVer", data.version))
}

/// A value that YAML parses as another type than string.
fn not_a_string(root: Option<Node<'_>>, key: &str) -> Option<String> {
    let value = root?.get(key)?;
    let kind = match value.kind() {
        Kind::Map => "map[string]interface {}",
        Kind::List => "[]interface {}",
        _ => match value.scalar() {
            Scalar::Str | Scalar::Timestamp => return None,
            Scalar::Bool(_) => "bool",
            _ if value.is_null() => "<nil>",
            _ => "float64",
        },
    };
    Some(format!("{key} should be of type string but it's of type {kind}"))
}

fn maintainers(data: &Metadata) -> Option<String> {
    data.maintainers.iter().find_map(|[name, email, url]| {
        let (name, email, url) = (&name.text, &email.text, &url.text);
        if name.is_empty() {
            Some("each maintainer requires a name".to_owned())
        } else if !email.is_empty() && !is_email(email) {
            Some(format!("invalid email '{email}' for maintainer '{name}'"))
        } else if !url.is_empty() && !is_url(url) {
            Some(format!("invalid url '{url}' for maintainer '{name}'"))
        } else {
            None
        }
    })
}

/// An address with a domain of at least two parts.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_local = |ch: char| ch.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(ch);
    !local.is_empty()
        && local.chars().all(is_local)
        && local.split('.').all(|part| !part.is_empty())
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_part = |ch: char| ch.is_alphanumeric() || matches!(ch, '-' | '_');
    !label.is_empty() && label.chars().all(is_part) && !label.starts_with('-') && !label.ends_with('-')
}

/// An address with or without a scheme.
fn is_url(text: &str) -> bool {
    let rest = match text.split_once("://") {
        Some((scheme, rest)) if ["http", "https", "ftp", "tcp", "udp", "ws", "wss"].contains(&scheme) => rest,
        Some(_) => return false,
        None => text,
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    !text.chars().any(char::is_whitespace) && text.len() < 2_083 && host.split('.').all(is_label)
}

/// An address with a scheme.
fn is_request_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = |ch: char| ch.is_ascii_alphanumeric() || "+-.".contains(ch);
    let starts_well = scheme.starts_with(|ch: char| ch.is_ascii_alphabetic());
    starts_well && scheme.chars().all(is_scheme) && rest.starts_with('/') && !text.chars().any(|ch| ch <= ' ')
}

/// The first key that a strict reader does not expect: duplicate keys come before unknown ones.
fn unexpected(tree: &Tree, root: Node<'_>, text: &str) -> Option<String> {
    if let Some(twice) = metadata::duplicates(tree).first() {
        let (start, end) = twice.span.map_or((0, 0), |span| (span.start as usize, span.end as usize));
        let line = 1 + text.get(..start).unwrap_or_default().matches('\n').count();
        let key = text.get(start..end).unwrap_or_default();
        return Some(format!(
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line {line}: key {key:?} already set in map"
        ));
    }
    let key = unknown_key(root, ROOT_KEYS)?;
    Some(format!("error unmarshaling JSON: while decoding JSON: json: unknown field {key:?}"))
}

/// The first unknown key in the order of keys, those of lists inside where their key is.
fn unknown_key(node: Node<'_>, known: &[&str]) -> Option<String> {
    let mut entries: Vec<(&str, Node<'_>)> = node.entries().map(|entry| (entry.name(), entry.value)).collect();
    entries.sort_by_key(|(name, _)| *name);
    entries.into_iter().find_map(|(name, value)| {
        if !known.iter().any(|key| key.eq_ignore_ascii_case(name)) {
            return Some(name.to_owned());
        }
        let inside = match name {
            "dependencies" => DEPENDENCY_KEYS,
            "maintainers" => MAINTAINER_KEYS,
            _ => return None,
        };
        value.items().filter(|item| item.is_map()).find_map(|item| unknown_key(item, inside))
    })
}

const ROOT_KEYS: &[&str] = &[
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
];
const MAINTAINER_KEYS: &[&str] = &["name", "email", "url"];
const DEPENDENCY_KEYS: &[&str] =
    &["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"];
