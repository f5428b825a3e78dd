//! Skaffold's settings file of a user, `~/.skaffold/config`: values for all Kubernetes contexts and for single ones;
//! and the command `config` that lists and changes them.

use super::flags::Flags;
use super::surroundings;
use crate::border::write_atomically;
use crate::invocation::{Exit, Invocation};
use purlin_host::named;
use purlin_syntax::{Flavor, Limits, Source, yaml};
use purlin_value::emit::{Secrets, to_yaml};
use purlin_value::{Map, MergeKeys, Value, value_of};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The key of the values for all contexts.
const GLOBAL: &str = "global";
/// The key of the values of single contexts.
const CONTEXTS: &str = "kubeContexts";
/// The key for the context name of such an entry.
const CONTEXT: &str = "kube-context";
/// The key of the image registry.
const DEFAULT_REPO: &str = "default-repo";

/// Keys that can be set.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    DEFAULT_REPO, "multi-level-repo", "local-cluster", "insecure-registries", "debug-helpers-registry", "update-check",
    "kind-disable-load", "k3d-disable-load", "collect-metrics", "cluster",
];

/// Keys that change what Skaffold builds or where it pushes, and that are not supported here.
const UNUSED: &[&str] = &["multi-level-repo", "local-cluster", "insecure-registries"];

/// Takes the image registry from the file, unless the command line names one.
pub fn fill(invocation: &mut Invocation<'_>, flags: &mut Flags) {
    let Some(path) = path(invocation, flags) else { return };
    let settings = read(&path);
    let context = surroundings::cluster(invocation, flags.text("kube-context"), flags.text("kubeconfig")).context;
    let found = in_force(&settings, &context);
    if let Some(registry) = found.get(DEFAULT_REPO).and_then(Value::as_str).filter(|registry| !registry.is_empty()) {
        flags.or_text(DEFAULT_REPO, registry);
    }
    let asks = |value: &Value| value.as_bool() != Some(false) && value.as_list().is_none_or(|list| !list.is_empty());
    for key in UNUSED.iter().filter(|key| found.get(**key).is_some_and(asks)) {
        let _ = writeln!(invocation.stderr, "warning: `{key}` in `{}` has no effect", path.display());
    }
}

/// Runs `config list|set|unset`.
pub fn run(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let Some(path) = path(invocation, flags) else {
        return Err(super::usage(invocation, "`HOME` is not set; name the file with `--config`"));
    };
    let mut settings = read(&path);
    let named = surroundings::cluster(invocation, flags.text("kube-context"), flags.text("kubeconfig")).context;
    let context = if flags.switch("global", false) { String::new() } else { named };
    let scope = if context.is_empty() { "global".to_owned() } else { format!("{context}'s") };
    let (word, key, value) = (flags.word(1), flags.word(2), flags.word(3));
    match word {
        "list" => {
            let shown = match flags.switch("all", false) {
                true => whole(&settings),
                false => own(&settings, &context),
            };
            let text = to_yaml(&shown, Secrets::Hide).unwrap_or_default();
            return Ok(invocation.print(&format!("skaffold config: \n{text}")));
        }
        "set" | "unset" if !KEYS.contains(&key) => {
            let message = format!("unknown setting `{key}`; known are {}", KEYS.join(", "));
            return Err(super::usage(invocation, &message));
        }
        "set" => set(&mut settings, &context, key, Some(typed(key, value))),
        "unset" => set(&mut settings, &context, key, None),
        _ => return Err(super::usage(invocation, "`config` needs `list`, `set KEY VALUE` or `unset KEY`")),
    }
    let text = to_yaml(&whole(&settings), Secrets::Reveal).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = named::create_folder(folder).and_then(|()| write_atomically(&path, text.as_bytes()));
    if let Err(error) = written {
        return Err(invocation.refuse(&format!("could not write `{}`: {error}", path.display()), Exit::Io));
    }
    Ok(invocation.print(&match word {
        "set" => format!("set {scope} value {key} to {value}\n"),
        _ => format!("unset {scope} value {key}\n"),
    }))
}

fn path(invocation: &Invocation<'_>, flags: &Flags) -> Option<PathBuf> {
    if let Some(file) = flags.text("config") {
        return Some(invocation.cwd.join(file));
    }
    let home = invocation.env.get("HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(home).join(".skaffold/config"))
}

/// The content of the file; empty if it is missing or unreadable.
fn read(path: &Path) -> Map {
    let text = named::read_text(path, named::LARGEST).unwrap_or_default();
    let source = Arc::new(Source::new(purlin_syntax::FileId(0), path.to_string_lossy().as_ref(), text));
    let tree = yaml::parse(source, Flavor::CoreGo, &Limits::default());
    let value = tree.root().filter(|_| tree.is_sound()).map(|root| value_of(root, MergeKeys::Apply));
    value.as_ref().and_then(Value::as_map).cloned().unwrap_or_default()
}

fn entries(settings: &Map) -> Vec<Map> {
    let list = settings.get(CONTEXTS).and_then(Value::as_list).unwrap_or(&[]);
    list.iter().filter_map(|entry| entry.as_map().cloned()).collect()
}

fn is_of(entry: &Map, context: &str) -> bool {
    entry.get(CONTEXT).and_then(Value::as_str) == Some(context)
}

/// The values of a context, or those of all contexts.
fn own(settings: &Map, context: &str) -> Value {
    let global = || settings.get(GLOBAL).and_then(Value::as_map).cloned().unwrap_or_default();
    let entry = || entries(settings).into_iter().find(|entry| is_of(entry, context));
    Value::map(if context.is_empty() { global() } else { entry().unwrap_or_default() })
}

/// The values in force for a context: its own override those for all contexts.
fn in_force(settings: &Map, context: &str) -> Map {
    let mut found = settings.get(GLOBAL).and_then(Value::as_map).cloned().unwrap_or_default();
    let entry = entries(settings).into_iter().find(|entry| is_of(entry, context));
    for (key, value) in entry.iter().flat_map(|entry| entry.iter()) {
        found.insert(key.clone(), value.clone());
    }
    found
}

/// Everything, with both parts.
fn whole(settings: &Map) -> Value {
    let global = settings.get(GLOBAL).cloned().unwrap_or_else(|| Value::map(Map::new()));
    let contexts = settings.get(CONTEXTS).cloned().unwrap_or_else(|| Value::list(Vec::new()));
    Value::map(Map::from_iter([(GLOBAL.into(), global), (CONTEXTS.into(), contexts)]))
}

/// A value converted to the type of its key.
fn typed(key: &str, text: &str) -> Value {
    match (key, text) {
        ("insecure-registries", _) => Value::list(vec![Value::str(text)]),
        (DEFAULT_REPO | "debug-helpers-registry", _) => Value::str(text),
        (_, "true") => Value::from(true),
        (_, "false") => Value::from(false),
        _ => Value::str(text),
    }
}

fn set(settings: &mut Map, context: &str, key: &str, value: Option<Value>) {
    let change = |entry: &mut Map| match value {
        Some(value) => {
            entry.insert(key.into(), value);
        }
        None => {
            let kept = entry.iter().filter(|(known, _)| *known != key);
            *entry = kept.map(|(known, value)| (known.clone(), value.clone())).collect();
        }
    };
    if context.is_empty() {
        let mut global = settings.get(GLOBAL).and_then(Value::as_map).cloned().unwrap_or_default();
        change(&mut global);
        settings.insert(GLOBAL.into(), Value::map(global));
        return;
    }
    let mut all = entries(settings);
    match all.iter_mut().find(|entry| is_of(entry, context)) {
        Some(entry) => change(entry),
        None => {
            let mut entry = Map::from_iter([(CONTEXT.into(), Value::str(context))]);
            change(&mut entry);
            all.push(entry);
        }
    }
    settings.insert(CONTEXTS.into(), Value::list(all.into_iter().map(Value::map).collect()));
}
