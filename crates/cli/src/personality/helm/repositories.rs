//! `helm repo` and `helm search repo`: Helm's own list of repositories, and the indexes that are kept of them.

use super::super::arguments::{Arguments, Takes};
use super::charted::{fetching, host_of};
use super::connected::{Homes, arguments};
use super::print::{Form, row, table, yaml};
use super::{fail, shown};
use crate::border::write_atomically;
use crate::fetch::Logins;
use crate::invocation::{Exit, Invocation};
use purlin_charts::release::written;
use purlin_charts::repository::{index_address, sort_newest_first};
use purlin_gotmpl::semver::{Range, Version};
use purlin_host::named;
use purlin_value::world::Remote;
use serde_json::{Map, Value as Json, json};

/// A repository of the list.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Its name.
    pub(super) name: String,
    /// Its address.
    pub(super) url: String,
    /// Its entry, with what newer versions of Helm keep there.
    entry: Json,
}

/// A file of YAML as JSON; `None` if it does not exist.
pub(super) fn read_yaml(invocation: &mut Invocation<'_>, path: &std::path::Path) -> Result<Option<Json>, Exit> {
    let bytes = match named::read(path, named::LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(invocation, &format!("could not read `{}`: {error}", path.display()))),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let tree = purlin_gotmpl::yaml::parse(&text, &purlin_syntax::Limits::default());
    let value = purlin_charts::yaml::value_of_tree(&tree, 0);
    let json = value
        .and_then(|value| written(&value))
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    json.map(Some).map_err(|why| fail(invocation, &format!("could not parse `{}`: {why}", path.display())))
}

/// The repositories that were added.
pub(super) fn known_repositories(invocation: &mut Invocation<'_>, homes: &Homes) -> Result<Vec<Known>, Exit> {
    let list = read_yaml(invocation, &homes.repositories)?.unwrap_or(Json::Null);
    let text = |entry: &Json, key: &str| entry.get(key).and_then(Json::as_str).unwrap_or("").to_owned();
    let entries = list.get("repositories").and_then(Json::as_array).into_iter().flatten();
    Ok(entries
        .map(|entry| Known { name: text(entry, "name"), url: text(entry, "url"), entry: entry.clone() })
        .collect())
}

fn write_repositories(invocation: &mut Invocation<'_>, homes: &Homes, known: &[Known]) -> Result<(), Exit> {
    let now = crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?;
    let entries: Vec<Json> = known.iter().map(|one| one.entry.clone()).collect();
    let list = json!({
        "apiVersion": "", "generated": purlin_cluster::release::rfc3339(now.0), "repositories": entries,
    });
    write(invocation, &homes.repositories, yaml(&list).as_bytes())
}

/// Writes a file of the user's.
pub(super) fn write(invocation: &mut Invocation<'_>, path: &std::path::Path, bytes: &[u8]) -> Result<(), Exit> {
    let made = path.parent().map_or(Ok(()), named::create_folder);
    made.and_then(|()| write_atomically(path, bytes)).map_err(|error| {
        fail(invocation, &format!("could not write `{}`: {error}", path.display()));
        Exit::Io
    })
}

#[rustfmt::skip]
const ADD: &[(&str, char, Takes)] = &[
    ("force-update", ' ', Takes::Switch),
    ("no-update", ' ', Takes::Switch),
    ("allow-deprecated-repos", ' ', Takes::Switch),
    ("timeout", ' ', Takes::Text),
    ("username", ' ', Takes::Text),
    ("password", ' ', Takes::Text),
    ("password-stdin", ' ', Takes::Switch),
    ("pass-credentials", ' ', Takes::Switch),
    ("ca-file", ' ', Takes::Text),
    ("cert-file", ' ', Takes::Text),
    ("key-file", ' ', Takes::Text),
    ("insecure-skip-tls-verify", ' ', Takes::Switch),
];

/// `helm repo`
pub(super) fn repo(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else {
        return Err(super::super::usage(invocation, "expected `helm repo add|list|update|remove|index`"));
    };
    match command.as_str() {
        "add" => add(invocation, rest),
        "list" | "ls" => list(invocation, rest),
        "update" | "up" => update(invocation, rest),
        "remove" | "rm" => remove(invocation, rest),
        "index" => super::packages::index(invocation, rest),
        other => Err(fail(invocation, &format!("unknown command {other:?} for \"helm repo\""))),
    }
}

/// The words of a command, as many as it needs.
fn words<'f, const N: usize>(
    invocation: &mut Invocation<'_>,
    flags: &'f Arguments,
    usage: &str,
) -> Result<[&'f str; N], Exit> {
    let words: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    words.try_into().map_err(|_| {
        let command = usage.split(" [").next().unwrap_or(usage);
        let plural = if N == 1 { "" } else { "s" };
        fail(invocation, &format!("\"{command}\" requires {N} argument{plural}\n\nUsage:  {usage}"))
    })
}

fn add(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[ADD])?;
    super::charted::refuse(invocation, &flags)?;
    if flags.has("password-stdin") {
        return Err(fail(invocation, "`--password-stdin` is not supported: credentials of repositories are not used"));
    }
    let [name, url] = words(invocation, &flags, "helm repo add [NAME] [URL] [flags]")?;
    if name.contains('/') {
        let message = format!("repository name ({name}) contains '/', please specify a different name without '/'");
        return Err(fail(invocation, &message));
    }
    if url.starts_with("oci://") {
        let message = format!("{url:?} is a registry: name its charts directly, as in `helm install NAME {url}/CHART`");
        return Err(fail(invocation, &message));
    }
    let homes = Homes::of(invocation, &flags);
    let mut known = known_repositories(invocation, &homes)?;
    if let Some(old) = known.iter().find(|one| one.name == name).filter(|_| !flags.switch("force-update")) {
        if old.url != url {
            let message = format!("repository name ({name}) already exists, please specify a different name");
            return Err(fail(invocation, &message));
        }
        return Ok(invocation.print(&format!("{name:?} already exists with the same configuration, skipping\n")));
    }
    let entry = json!({
        "caFile": "", "certFile": "", "insecure_skip_tls_verify": false, "keyFile": "", "name": name,
        "pass_credentials_all": false, "password": "", "url": url, "username": "",
    });
    let added = Known { name: name.to_owned(), url: url.to_owned(), entry };
    fetch_index(invocation, &flags, &homes, &added).map_err(|(message, exit)| {
        let why = format!("looks like {url:?} is not a valid chart repository or cannot be reached: {message}");
        fail(invocation, &why);
        exit
    })?;
    known.retain(|one| one.name != name);
    known.push(added);
    write_repositories(invocation, &homes, &known)?;
    Ok(invocation.print(&format!("{name:?} has been added to your repositories\n")))
}

/// Gets the index of a repository and keeps it.
fn fetch_index(
    invocation: &mut Invocation<'_>,
    flags: &Arguments,
    homes: &Homes,
    one: &Known,
) -> Result<(), (String, Exit)> {
    let mut hosts = flags.list("allow-net").to_vec();
    hosts.extend(host_of(&one.url, false));
    let session = fetching(invocation, &hosts, &Logins::default()).map_err(|exit| (String::new(), exit))?;
    let address = index_address(&one.url);
    let found = session.world.fetch(&Remote::File { address }).map_err(|error| {
        let exit =
            if matches!(error, purlin_value::world::WorldError::Denied(_)) { Exit::Denied } else { Exit::Invalid };
        (error.reason().to_string(), exit)
    })?;
    let bytes = session.load_bytes(&found.path).map_err(|error| (error.reason().to_string(), Exit::Invalid))?;
    let tree = purlin_gotmpl::yaml::parse(&String::from_utf8_lossy(&bytes), &session.limits);
    if tree.root().is_none_or(|root| root.get("entries").is_none() && root.get("apiVersion").is_none()) {
        return Err(("no API version specified".to_owned(), Exit::Invalid));
    }
    let path = homes.cache.join(format!("{}-index.yaml", one.name));
    write(invocation, &path, &bytes).map_err(|exit| ("its index could not be kept".to_owned(), exit))?;
    let names: Vec<&str> = tree
        .root()
        .and_then(|root| root.get("entries"))
        .map(|entries| entries.entries().map(|entry| entry.name()).collect())
        .unwrap_or_default();
    let path = homes.cache.join(format!("{}-charts.txt", one.name));
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    write(invocation, &path, list.as_bytes()).map_err(|exit| ("its index could not be kept".to_owned(), exit))
}

const LIST: &[(&str, char, Takes)] = &[("output", 'o', Takes::Text), ("no-headers", ' ', Takes::Switch)];

fn list(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[LIST])?;
    let form = shown::form(invocation, &flags)?;
    let homes = Homes::of(invocation, &flags);
    let known = known_repositories(invocation, &homes)?;
    if form != Form::Table {
        let entries = known.iter().map(|one| json!({ "name": one.name, "url": one.url })).collect();
        return Ok(invocation.print(&form.text(&Json::Array(entries))));
    }
    if known.is_empty() {
        let _ = writeln!(invocation.stderr, "no repositories to show");
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    if !flags.switch("no-headers") {
        rows.push(row(["NAME", "URL"]));
    }
    rows.extend(known.iter().map(|one| row([&one.name, &one.url])));
    Ok(invocation.print(&table(&rows)))
}

fn update(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let table = &[("fail-on-repo-update-fail", ' ', Takes::Switch), ("timeout", ' ', Takes::Text)];
    let flags = arguments(invocation, args, &[table])?;
    let homes = Homes::of(invocation, &flags);
    let known = known_repositories(invocation, &homes)?;
    if known.is_empty() {
        return Err(fail(invocation, "no repositories found. You must add one before updating"));
    }
    if let Some(name) = flags.words.iter().find(|name| !known.iter().any(|one| one.name == **name)) {
        return Err(fail(invocation, &format!("no repositories found matching '{name}'.  Nothing will be updated")));
    }
    invocation.print("Hang tight while we grab the latest from your chart repositories...\n");
    let mut failed = Vec::new();
    for one in known.iter().filter(|one| flags.words.is_empty() || flags.words.contains(&one.name)) {
        match fetch_index(invocation, &flags, &homes, one) {
            Ok(()) => {
                let line = format!("...Successfully got an update from the {:?} chart repository\n", one.name);
                invocation.print(&line);
            }
            Err((message, _)) => {
                let (name, url) = (&one.name, &one.url);
                invocation.print(&format!(
                    "...Unable to get an update from the {name:?} chart repository ({url}):\n\t{message}\n"
                ));
                failed.push(url.clone());
            }
        }
    }
    if !failed.is_empty() {
        let message = format!("failed to update the following repositories: [{}]", failed.join(" "));
        return Err(fail(invocation, &message));
    }
    Ok(invocation.print("Update Complete. ⎈Happy Helming!⎈\n"))
}

fn remove(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[])?;
    if flags.words.is_empty() {
        let message =
            "\"helm repo remove\" requires at least 1 argument\n\nUsage:  helm repo remove [REPO1 [REPO2 ...]] [flags]";
        return Err(fail(invocation, message));
    }
    let homes = Homes::of(invocation, &flags);
    let mut known = known_repositories(invocation, &homes)?;
    if known.is_empty() {
        return Err(fail(invocation, "no repositories configured"));
    }
    for name in &flags.words {
        let count = known.len();
        known.retain(|one| one.name != *name);
        if known.len() == count {
            return Err(fail(invocation, &format!("no repo named {name:?} found")));
        }
        write_repositories(invocation, &homes, &known)?;
        for file in ["index.yaml", "charts.txt"] {
            // Files that are not there need no removal.
            let _ = named::remove_file(&homes.cache.join(format!("{name}-{file}")));
        }
        invocation.print(&format!("{name:?} has been removed from your repositories\n"));
    }
    Ok(Exit::Ok)
}

#[rustfmt::skip]
const SEARCH: &[(&str, char, Takes)] = &[
    ("output", 'o', Takes::Text),
    ("regexp", 'r', Takes::Switch),
    ("versions", 'l', Takes::Switch),
    ("devel", ' ', Takes::Switch),
    ("version", ' ', Takes::Text),
    ("max-col-width", ' ', Takes::Text),
    ("fail-on-no-result", ' ', Takes::Switch),
];

/// A version of a chart in an index.
struct Found {
    name: String,
    version: String,
    app_version: String,
    description: String,
    score: usize,
}

/// `helm search repo`
pub(super) fn search(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    match args.first().map(String::as_str) {
        Some("repo") => {}
        Some("hub") => {
            let message = "`helm search hub` is not supported: it asks a service that no project names";
            return Err(fail(invocation, message));
        }
        _ => return Err(super::super::usage(invocation, "expected `helm search repo [KEYWORD]`")),
    }
    let flags = arguments(invocation, args.get(1..).unwrap_or_default(), &[SEARCH])?;
    let form = shown::form(invocation, &flags)?;
    let homes = Homes::of(invocation, &flags);
    let known = known_repositories(invocation, &homes)?;
    if known.is_empty() {
        return Err(fail(invocation, "no repositories configured"));
    }
    let range = match flags.text("version").filter(|version| !version.is_empty()) {
        Some(version) => version.to_owned(),
        None if flags.switch("devel") => ">0.0.0-0".to_owned(),
        None => ">0.0.0".to_owned(),
    };
    let range = Range::parse(&range)
        .map_err(|why| fail(invocation, &format!("an invalid version/constraint format: {why}")))?;
    let keyword = flags.words.join(" ");
    let matcher = matcher(&keyword, flags.switch("regexp")).map_err(|message| fail(invocation, &message))?;
    let mut found = Vec::new();
    for one in &known {
        let path = homes.cache.join(format!("{}-index.yaml", one.name));
        match read_yaml(invocation, &path) {
            Ok(Some(index)) => found.extend(entries_of(&one.name, &index, &matcher, &range, flags.switch("versions"))),
            _ => {
                let message = format!("repo is corrupt or missing. Try 'helm repo update'. repo={}", one.name);
                let _ = writeln!(invocation.stderr, "level=WARN msg={message:?}");
            }
        }
    }
    found.sort_by(|a, b| (a.score, &a.name).cmp(&(b.score, &b.name)));
    if found.is_empty() && flags.switch("fail-on-no-result") {
        return Err(fail(invocation, "no results found"));
    }
    let most = super::connected::number(invocation, &flags, "max-col-width", 50usize)?;
    Ok(invocation.print(&search_text(&found, form, most)))
}

type Matcher = Box<dyn Fn(&str) -> Option<usize>>;

/// The place of a keyword in a text.
fn matcher(keyword: &str, is_pattern: bool) -> Result<Matcher, String> {
    if is_pattern && !keyword.is_empty() {
        let pattern = super::pattern(keyword)?;
        return Ok(Box::new(move |text| pattern.find(text).map(|found| found.start())));
    }
    let keyword = keyword.to_lowercase();
    Ok(Box::new(move |text| text.find(&keyword)))
}

fn entries_of(repository: &str, index: &Json, matcher: &Matcher, range: &Range, all: bool) -> Vec<Found> {
    let mut found = Vec::new();
    let entries = index.get("entries").and_then(Json::as_object).into_iter().flatten();
    for (chart, versions) in entries {
        let mut versions: Vec<&Json> = versions.as_array().into_iter().flatten().collect();
        let text = |version: &Json, key: &str| version.get(key).and_then(Json::as_str).unwrap_or("").to_owned();
        sort_newest_first(&mut versions, |version| version.get("version").and_then(Json::as_str).unwrap_or(""));
        let name = format!("{repository}/{chart}");
        let fits = |version: &&&Json| {
            Version::parse(&text(version, "version")).is_some_and(|version| range.contains(&version))
        };
        let chosen: Vec<&&Json> = versions.iter().filter(fits).take(if all { usize::MAX } else { 1 }).collect();
        for version in chosen {
            let keywords = version.get("keywords").and_then(Json::as_array).into_iter().flatten();
            let keywords: Vec<&str> = keywords.filter_map(Json::as_str).collect();
            let description = text(version, "description");
            let line = format!("{name}\u{b}{repository}/{chart}\u{b}{description}\u{b}{}", keywords.join(" "));
            let Some(place) = matcher(&line.to_lowercase()) else { continue };
            let score = line.get(..place).unwrap_or_default().matches('\u{b}').count();
            let (version, app_version) = (text(version, "version"), text(version, "appVersion"));
            found.push(Found { name: name.clone(), version, app_version, description, score });
        }
    }
    found
}

fn search_text(found: &[Found], form: Form, most: usize) -> String {
    if form != Form::Table {
        let entries = found.iter().map(|one| {
            let mut entry = Map::new();
            entry.insert("name".into(), one.name.clone().into());
            entry.insert("version".into(), one.version.clone().into());
            entry.insert("app_version".into(), one.app_version.clone().into());
            entry.insert("description".into(), one.description.clone().into());
            Json::Object(entry)
        });
        return form.text(&Json::Array(entries.collect()));
    }
    if found.is_empty() {
        return "No results found\n".to_owned();
    }
    let cut = |text: &str| match text.chars().count() > most && most > 3 {
        true => format!("{}...", text.chars().take(most - 3).collect::<String>()),
        false => text.to_owned(),
    };
    let mut rows = vec![row(["NAME", "CHART VERSION", "APP VERSION", "DESCRIPTION"])];
    rows.extend(
        found
            .iter()
            .map(|one| row([&cut(&one.name), &cut(&one.version), &cut(&one.app_version), &cut(&one.description)])),
    );
    table(&rows)
}
