//! `helm package`, `pull`, `repo index` and `env`: archives of charts, and where Helm keeps its files.

use super::super::arguments::{Arguments, Takes};
use super::charted::{self, CHART, Source, fetched};
use super::connected::{Homes, arguments};
use super::print::{json, yaml};
use super::{fail, repositories};
use crate::border::write_below;
use crate::disk::Permissions;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use purlin_charts::archive;
use purlin_charts::load::load_archive;
use purlin_charts::packed::{Changes, package};
use purlin_charts::release::metadata_json;
use purlin_charts::repository::sort_newest_first;
use purlin_host::named;
use purlin_host::native;
use purlin_value::encoding::hex;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

#[rustfmt::skip]
const PACKAGE: &[(&str, char, Takes)] = &[
    ("version", ' ', Takes::Text),
    ("app-version", ' ', Takes::Text),
    ("destination", 'd', Takes::Text),
    ("dependency-update", 'u', Takes::Switch),
    ("sign", ' ', Takes::Switch),
    ("key", ' ', Takes::Text),
    ("keyring", ' ', Takes::Text),
    ("passphrase-file", ' ', Takes::Text),
];

/// `helm package`
pub(super) fn pack(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[PACKAGE])?;
    if flags.words.is_empty() {
        return Err(fail(invocation, "need at least one argument, the path to the chart"));
    }
    if flags.switch("sign") {
        return Err(fail(invocation, "`--sign` is not supported: archives are not signed; `gpg --clearsign` does"));
    }
    let folder = flags.text("destination").unwrap_or(".");
    for chart in &flags.words {
        if !named::is_folder(&invocation.cwd.join(chart)) {
            return Err(fail(invocation, &format!("path {chart:?} is not a folder with a chart")));
        }
        if flags.switch("dependency-update") {
            super::dependency::update_missing(invocation, chart, flags.list("allow-net"))?;
        }
        let (session, path) = open_session(invocation, &Setup::of(chart.as_str()))?;
        let changes = Changes { version: flags.text("version"), app_version: flags.text("app-version") };
        let made = package(&session, &path, changes).map_err(|message| fail(invocation, &message))?;
        let saved = save(invocation, folder, &made.name, &made.bytes)?;
        invocation.print(&format!("Successfully packaged chart and saved it to: {saved}\n"));
    }
    Ok(Exit::Ok)
}

/// Writes an archive and returns its whole path.
fn save(invocation: &mut Invocation<'_>, folder: &str, name: &str, bytes: &[u8]) -> Result<String, Exit> {
    let target = invocation.cwd.join(folder);
    let written = named::create_folder(&target).and_then(|()| write_below(&target, name, bytes));
    written.map_err(|error| {
        fail(invocation, &format!("failed to save: could not write `{folder}/{name}`: {error}"));
        Exit::Io
    })?;
    Ok(native::canonical_or_same(target.join(name)).display().to_string())
}

#[rustfmt::skip]
const PULL: &[(&str, char, Takes)] = &[
    ("untar", ' ', Takes::Switch),
    ("untardir", ' ', Takes::Text),
    ("prov", ' ', Takes::Switch),
    ("destination", 'd', Takes::Text),
];

/// `helm pull`
pub(super) fn pull(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[CHART, PULL])?;
    charted::refuse(invocation, &flags)?;
    if flags.switch("prov") {
        return Err(fail(invocation, "`--prov` is not supported: signatures are not checked"));
    }
    if flags.words.is_empty() {
        let message = "\"helm pull\" requires at least 1 argument\n\nUsage:  helm pull [chart URL | repo/chartname] [...] [flags]";
        return Err(fail(invocation, message));
    }
    for reference in &flags.words {
        let source = Source::of(invocation, &flags, (reference, ""))?;
        let session = source.session(invocation)?;
        let path = fetched(&session, &source).map_err(|(message, exit)| {
            fail(invocation, &message);
            exit
        })?;
        let bytes = session.load_bytes(&path).map_err(|error| fail(invocation, error.reason()))?;
        let chart = load_archive(&session, &path, &bytes).map_err(|error| fail(invocation, &error.message))?;
        let (name, version) = (chart.name().to_owned(), chart.metadata.version.clone());
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') || version.contains(['/', '\\']) {
            return Err(fail(invocation, &format!("the chart has the name {name:?} and the version {version:?}")));
        }
        let folder = flags.text("destination").unwrap_or(".").to_owned();
        if !flags.switch("untar") {
            save(invocation, &folder, &format!("{name}-{version}.tgz"), &bytes)?;
            continue;
        }
        let below = flags.text("untardir").unwrap_or(".");
        let target = invocation.cwd.join(&folder).join(below);
        if named::exists(&target.join(&name)) {
            let message = format!("failed to untar: a file or directory with the name {below}/{name} already exists");
            return Err(fail(invocation, &message));
        }
        let files = archive::unpack(&bytes, &session.limits).map_err(|error| fail(invocation, &error.message))?;
        let made = named::create_folder(&target.join(&name));
        let mut files = files.iter();
        let written =
            made.and_then(|()| files.try_for_each(|(file, bytes)| write_below(&target.join(&name), file, bytes)));
        written.map_err(|error| {
            fail(invocation, &format!("failed to untar: {error}"));
            Exit::Io
        })?;
    }
    Ok(Exit::Ok)
}

const INDEX: &[(&str, char, Takes)] =
    &[("url", ' ', Takes::Text), ("merge", ' ', Takes::Text), ("json", ' ', Takes::Switch)];

/// `helm repo index`
pub(super) fn index(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[INDEX])?;
    let [folder] = flags.words.as_slice() else {
        return Err(fail(
            invocation,
            "\"helm repo index\" requires 1 argument\n\nUsage:  helm repo index [DIR] [flags]",
        ));
    };
    let mut entries: Map<String, Json> = Map::new();
    let now = crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?;
    let now = purlin_cluster::release::rfc3339(now.0);
    let mut setup = Setup::of(folder.as_str());
    setup.permissions = Permissions::default();
    let (session, path) = open_session(invocation, &setup)?;
    for file in archives_below(&session, &path) {
        let full = purlin_value::path::join(&path, &file);
        let bytes = session.load_bytes(&full).map_err(|error| fail(invocation, error.reason()))?;
        let chart = load_archive(&session, &full, &bytes).map_err(|error| fail(invocation, &error.message))?;
        let text = metadata_json(&chart.metadata).map_err(|message| fail(invocation, &message))?;
        let Ok(Json::Object(mut entry)) = serde_json::from_str(&text) else { continue };
        let url = match flags.text("url").filter(|url| !url.is_empty()) {
            Some(base) => format!("{}/{file}", base.trim_end_matches('/')),
            None => file.clone(),
        };
        entry.insert("urls".into(), Json::Array(vec![url.into()]));
        entry.insert("created".into(), now.clone().into());
        entry.insert("digest".into(), hex(&Sha256::digest(&bytes)).into());
        add(&mut entries, chart.name(), Json::Object(entry));
    }
    if let Some(merge) = flags.text("merge") {
        let old = repositories::read_yaml(invocation, &invocation.cwd.join(merge))?.unwrap_or(Json::Null);
        for (name, versions) in old.get("entries").and_then(Json::as_object).into_iter().flatten() {
            versions.as_array().into_iter().flatten().for_each(|version| add(&mut entries, name, version.clone()));
        }
    }
    for versions in entries.values_mut().filter_map(Json::as_array_mut) {
        sort_newest_first(versions, |version| version.get("version").and_then(Json::as_str).unwrap_or(""));
    }
    let mut index = Map::new();
    index.insert("apiVersion".into(), "v1".into());
    index.insert("entries".into(), Json::Object(entries));
    index.insert("generated".into(), now.into());
    let index = Json::Object(index);
    let text = if flags.switch("json") { json(&index) } else { yaml(&index) };
    let target = invocation.cwd.join(folder).join("index.yaml");
    repositories::write(invocation, &target, text.as_bytes())?;
    Ok(Exit::Ok)
}

/// Adds a version of a chart unless it is there: those found now come before those merged in.
fn add(entries: &mut Map<String, Json>, name: &str, entry: Json) {
    let slot = entries.entry(name.to_owned()).or_insert_with(|| Json::Array(Vec::new()));
    if let Some(versions) = slot.as_array_mut() {
        let is_known = versions.iter().any(|known| known.get("version") == entry.get("version"));
        if !is_known {
            versions.push(entry);
        }
    }
}

/// Archives in a folder and in the folders directly inside, as Helm looks for them.
fn archives_below(session: &purlin_value::Session, folder: &str) -> Vec<String> {
    use purlin_value::world::FileKind;
    let is_archive = |name: &str| name.ends_with(".tgz");
    let mut found = Vec::new();
    for entry in session.world.list(folder).unwrap_or_default() {
        if entry.kind != FileKind::Folder {
            found.extend(is_archive(&entry.name).then_some(entry.name));
            continue;
        }
        let inner = session.world.list(&purlin_value::path::join(folder, &entry.name)).unwrap_or_default();
        let inner = inner.into_iter().filter(|one| one.kind != FileKind::Folder && is_archive(&one.name));
        found.extend(inner.map(|one| format!("{}/{}", entry.name, one.name)));
    }
    found.sort();
    found
}

/// `helm create`
pub(super) fn create(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[&[("starter", 'p', Takes::Text)]])?;
    if flags.has("starter") {
        return Err(fail(invocation, "`--starter` is not supported: copy the folder of the starter"));
    }
    let [folder] = flags.words.as_slice() else {
        return Err(fail(invocation, "\"helm create\" requires 1 argument\n\nUsage:  helm create NAME [flags]"));
    };
    let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_plain = |ch: char| ch.is_ascii_alphanumeric() || "._-".contains(ch);
    if name.is_empty() || name.len() > 250 || !name.chars().all(is_plain) || name.starts_with('.') {
        let why = "chart name must match the regular expression \"^[a-zA-Z0-9._-]+$\"";
        return Err(fail(invocation, why));
    }
    let target = invocation.cwd.join(folder);
    if named::exists(&target.join("Chart.yaml")) {
        return Err(fail(invocation, &format!("`{folder}/Chart.yaml` is already there; nothing was written")));
    }
    let made = named::create_folder(&target);
    let mut files = crate::commands::chart_files(name).into_iter();
    let written = made.and_then(|()| files.try_for_each(|(file, text)| write_below(&target, file, text.as_bytes())));
    written.map_err(|error| {
        fail(invocation, &format!("could not write `{folder}`: {error}"));
        Exit::Io
    })?;
    Ok(invocation.print(&format!("Creating {folder}\n")))
}

/// `helm env`
pub(super) fn env(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[])?;
    let homes = Homes::of(invocation, &flags);
    let all = variables(invocation, &flags, &homes);
    let text = match flags.words.as_slice() {
        [] => all.iter().map(|(name, value)| format!("{name}=\"{value}\"\n")).collect(),
        [name] => {
            let found = all.iter().find(|(known, _)| known == name);
            format!("{}\n", found.map_or("", |(_, value)| value))
        }
        _ => return Err(fail(invocation, "\"helm env\" accepts at most 1 argument\n\nUsage:  helm env [flags]")),
    };
    Ok(invocation.print(&text))
}

fn variables(invocation: &Invocation<'_>, flags: &Arguments, homes: &Homes) -> Vec<(&'static str, String)> {
    let env = |name: &str, usual: &str| invocation.env.get(name).cloned().unwrap_or_else(|| usual.to_owned());
    let shown = |path: &std::path::Path| path.display().to_string();
    let given = |flag: &str, name: &str, usual: &str| flags.text(flag).map_or_else(|| env(name, usual), str::to_owned);
    let mut all = vec![
        ("HELM_BIN", "purlin helm".to_owned()),
        ("HELM_BURST_LIMIT", env("HELM_BURST_LIMIT", "100")),
        ("HELM_CACHE_HOME", shown(&homes.cache_home)),
        ("HELM_CONFIG_HOME", shown(&homes.config)),
        ("HELM_CONTENT_CACHE", env("HELM_CONTENT_CACHE", &shown(&homes.cache_home.join("content")))),
        ("HELM_DATA_HOME", shown(&homes.data)),
        ("HELM_DEBUG", flags.switch("debug").to_string()),
        ("HELM_KUBEAPISERVER", given("kube-apiserver", "HELM_KUBEAPISERVER", "")),
        ("HELM_KUBEASGROUPS", env("HELM_KUBEASGROUPS", "")),
        ("HELM_KUBEASUSER", given("kube-as-user", "HELM_KUBEASUSER", "")),
        ("HELM_KUBECAFILE", given("kube-ca-file", "HELM_KUBECAFILE", "")),
        ("HELM_KUBECONTEXT", given("kube-context", "HELM_KUBECONTEXT", "")),
        ("HELM_KUBEINSECURE_SKIP_TLS_VERIFY", flags.switch("kube-insecure-skip-tls-verify").to_string()),
        ("HELM_KUBETLS_SERVER_NAME", given("kube-tls-server-name", "HELM_KUBETLS_SERVER_NAME", "")),
        // The token of the user is not shown, unlike in Helm.
        ("HELM_KUBETOKEN", String::new()),
        ("HELM_MAX_HISTORY", env("HELM_MAX_HISTORY", "10")),
        ("HELM_NAMESPACE", given("namespace", "HELM_NAMESPACE", "default")),
        ("HELM_PLUGINS", env("HELM_PLUGINS", &shown(&homes.data.join("plugins")))),
        ("HELM_QPS", env("HELM_QPS", "0.00")),
        ("HELM_REGISTRY_CONFIG", shown(&homes.registry)),
        ("HELM_REPOSITORY_CACHE", shown(&homes.cache)),
        ("HELM_REPOSITORY_CONFIG", shown(&homes.repositories)),
    ];
    all.sort_unstable();
    all
}
