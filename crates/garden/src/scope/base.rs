//! The keys every template can use: `local`, `command`, `datetime`, `project`, `git`, `secrets` and `imported`.

use crate::config::Document;
use crate::expr::REST;
use crate::functions::dates::Instant;
use crate::ground::Ground;
use crate::phases::LaterKeys;
use crate::place::NodeRef;
use purlin_syntax::credentials::is_secret_variable;
use purlin_value::{EcoString, Map, MapLayer, Origin, Scope, Value, path};

/// The scope at the bottom of all others.
pub fn base_scope(ground: &Ground<'_>, document: &Document) -> Scope {
    let written = document.field("name");
    let origin = written.as_ref().and_then(NodeRef::get).map_or(Origin::NONE, Origin::node);
    let name = Value::str(document.plain("name").unwrap_or_default()).with_origin(origin);
    let project = Map::from_iter([("name".into(), name)]);
    let map = Map::from_iter([
        ("local".into(), local(ground)),
        ("command".into(), command(ground)),
        ("datetime".into(), datetime(ground)),
        ("project".into(), Value::map(project)),
        ("git".into(), git(ground)),
    ]);
    Scope::new(LaterKeys).push(MapLayer::new("environment of the tool", Value::map(map)))
}

/// What values outside the project come from, in a user's words.
const MACHINE: &str = "this machine";
const COMMAND: &str = "this command";
const CLOCK: &str = "the clock";
const GIT: &str = "the git repository";

/// A value that may differ in the next run of the same project.
fn outside(ground: &Ground<'_>, what: &str, text: impl Into<EcoString>) -> Value {
    Value::str(text).with_origin(ground.session.origins.outside(what))
}

fn local(ground: &Ground<'_>) -> Value {
    let world = &ground.session.world;
    let origins = &ground.session.origins;
    let variable = |(name, text): (String, String)| {
        let origin = origins.env(name.as_str());
        let is_secret = is_secret_variable(&name) && !text.is_empty();
        (EcoString::from(name), Value::str(text).with_origin(origin).tainted_if(is_secret))
    };
    let mut env: Map = world.env_table().into_iter().map(variable).collect();
    allow_unset(ground, &mut env);
    let mut known = Map::from_iter([
        (
            "artifactsPath".into(),
            outside(ground, MACHINE, ground.full_path(&path::join(&ground.root, ".garden/artifacts"))),
        ),
        ("env".into(), Value::map(env)),
        ("arch".into(), outside(ground, MACHINE, architecture())),
        ("platform".into(), outside(ground, MACHINE, platform())),
        ("projectPath".into(), outside(ground, MACHINE, ground.full_path(&ground.root))),
    ]);
    // The user may be unknown; then the keys are missing rather than empty.
    let username = world.user();
    if !username.is_empty() {
        known.insert("usernameLowerCase".into(), outside(ground, MACHINE, username.to_lowercase()));
        known.insert("username".into(), outside(ground, MACHINE, username));
    }
    Value::map(known)
}

/// Variables that may be unset, as the user allows: `--pending local.env` for all, `--pending local.env.NAME` for one.
/// They are pending, so that a project can be checked where they are not set.
fn allow_unset(ground: &Ground<'_>, env: &mut Map) {
    for path in ground.request.pending.iter().map(|text| text.split('=').next().unwrap_or(text)) {
        let Some(name) = path.strip_prefix("local.env") else { continue };
        let name = match name.strip_prefix('.') {
            Some(name) if name != "*" => name,
            None if !name.is_empty() => continue,
            _ => REST,
        };
        let what = if name == REST { "local.env".into() } else { ecow::eco_format!("local.env.{name}") };
        env.entry(name.into()).or_insert_with(|| Value::pending("environment", what));
    }
}

/// As Node.js would call it, since projects compare with those names.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn command(ground: &Ground<'_>) -> Value {
    let name = outside(ground, COMMAND, ground.request.command());
    let params = Value::map(Map::new()).with_origin(name.origin);
    Value::map(Map::from_iter([("name".into(), name), ("params".into(), params)]))
}

fn datetime(ground: &Ground<'_>) -> Value {
    let millis = i64::try_from(ground.session.world.now().0 / 1_000_000).unwrap_or(0);
    let now = Instant::from_millis(millis).map(Instant::iso).unwrap_or_default();
    let today = now.split('T').next().unwrap_or("").to_owned();
    Value::map(Map::from_iter([
        ("now".into(), outside(ground, CLOCK, now)),
        ("today".into(), outside(ground, CLOCK, today)),
        ("timestamp".into(), Value::from(millis.div_euclid(1000)).with_origin(ground.session.origins.outside(CLOCK))),
    ]))
}

/// State read from the repository's own files; no command is run for it.
fn git(ground: &Ground<'_>) -> Value {
    let mut map = Map::new();
    if let Some(folder) = git_folder(ground) {
        let read = |name: &str| {
            let bytes = ground.session.load_bytes(&path::join(&folder, name)).ok()?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        };
        let head = read("HEAD").unwrap_or_default();
        let branch = head.strip_prefix("ref: refs/heads/").map(str::to_owned);
        let commit = match &branch {
            Some(branch) => read(&format!("refs/heads/{branch}")).or_else(|| packed_ref(&read("packed-refs")?, branch)),
            None => Some(head.clone()),
        };
        map.insert("branch".into(), outside(ground, GIT, branch.unwrap_or_default()));
        map.insert("commitHash".into(), outside(ground, GIT, commit.unwrap_or_default()));
        let url = read("config").and_then(|text| origin_url(&text)).unwrap_or_default();
        let secret = has_credentials(&url);
        map.insert("originUrl".into(), outside(ground, GIT, url).tainted_if(secret));
    }
    for key in ["branch", "commitHash", "originUrl"] {
        map.entry(key.into()).or_insert_with(|| outside(ground, GIT, ""));
    }
    Value::map(map)
}

fn git_folder(ground: &Ground<'_>) -> Option<String> {
    let mut folder = ground.root.as_str();
    loop {
        let candidate = path::join(folder, ".git");
        if ground.session.world.exists(&path::join(&candidate, "HEAD")) {
            return Some(candidate);
        }
        if folder == "." || folder == "/" {
            return None;
        }
        folder = path::parent(folder);
    }
}

fn packed_ref(text: &str, branch: &str) -> Option<String> {
    let wanted = format!("refs/heads/{branch}");
    text.lines()
        .find_map(|line| line.split_once(' ').filter(|(_, name)| *name == wanted))
        .map(|(hash, _)| hash.to_owned())
}

/// Whether an address holds a password or token: `https://token@host` or `ssh://user:password@host`. The user of an
/// `ssh` address alone is not a credential.
fn has_credentials(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').is_some_and(|(user, _)| scheme.starts_with("http") || user.contains(':'))
}

fn origin_url(config: &str) -> Option<String> {
    let section = config.split("[remote \"origin\"]").nth(1)?;
    let own = section.split("\n[").next()?;
    let line = own.lines().find_map(|line| line.trim().strip_prefix("url"))?;
    Some(line.trim_start().strip_prefix('=')?.trim().to_owned())
}
