//! `purlin.toml`: settings of a project, and the user's own settings for all projects.
//!
//! The nearest file at or above the project counts, up to the repository. It can choose a default environment, levels
//! of rules, paths to ignore and folders to search, and lower limits. Requested permissions, and raised limits, count
//! only if the user trusts the project.

use crate::border::{is_escape, read_below};
use crate::native;
use crate::settings_policy;
use crate::settings_remote::{self, Remote};
use purlin_charts::edition::Helm;
use purlin_compiler::{all_rules, policy_names, rules};
use purlin_host::named;
use purlin_syntax::{Diagnostic, Limits, Severity, Source, Sources, Span, suggest};
use purlin_value::WorldError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of the file.
pub(crate) const FILE: &str = "purlin.toml";

/// Maximum size of a settings file.
const MOST_BYTES: u64 = 1 << 20;

/// The level assigned to a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Error,
    Warn,
    Off,
}

/// Problems of some rules that are hidden for some files.
#[derive(Clone, Debug)]
pub(crate) struct Ignore {
    /// A pattern of paths, relative to the settings' folder.
    pub path: String,
    /// The rules; all if empty.
    pub rules: Vec<String>,
}

/// Permissions requested by the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    pub paths: Vec<PathBuf>,
    pub hosts: Vec<String>,
    pub exec: bool,
    pub write: bool,
}

impl Wishes {
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.hosts.is_empty() && !self.exec && !self.write
    }
}

/// The settings in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The settings file.
    pub file: Option<PathBuf>,
    pub environment: Option<String>,
    /// The version of Helm that charts are rendered as.
    pub helm_version: Option<String>,
    pub strict: bool,
    pub wishes: Wishes,
    pub levels: Vec<(String, Level)>,
    pub ignores: Vec<Ignore>,
    /// Folders to search for TOSCA profiles.
    pub profiles: Vec<PathBuf>,
    /// Patterns of places in which no projects are looked for, relative to the settings file.
    pub excluded: Vec<String>,
    pub limits: Vec<WantedLimit>,
    /// Built-in policies that objects are checked against.
    pub policies: Vec<String>,
    /// Policies in Rego and assertions in CEL.
    pub own_policies: Vec<Policy>,
    /// Programs that add to the graph of the project.
    pub plugins: Vec<NamedPlugin>,
    /// A server that runs actions or keeps their results.
    pub remote: Option<Remote>,
}

/// A table `[[policy]]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// A file or folder with Rego, relative to the settings file.
    pub path: Option<String>,
    /// Files and folders with documents, relative to the settings file.
    pub data: Vec<String>,
    pub namespaces: Vec<String>,
    pub name: String,
    pub when: Option<String>,
    /// An expression in CEL.
    pub assert: Option<String>,
    pub message: Option<String>,
    /// What it is evaluated over.
    pub over: String,
    pub environments: Vec<String>,
    pub is_warning: bool,
    pub at: Option<Span>,
}

/// A plugin that settings name.
#[derive(Clone, Debug)]
pub(crate) struct NamedPlugin {
    pub name: String,
    pub command: Vec<String>,
    pub at: Span,
}

/// A limit that settings change.
#[derive(Clone, Debug)]
pub(crate) struct WantedLimit {
    pub name: String,
    pub value: u64,
    at: Span,
}

impl WantedLimit {
    /// Whether it is looser than the limit in force.
    fn is_raised(&self, limits: &Limits) -> bool {
        limits.list().iter().any(|limit| limit.name == self.name && self.value > limit.default)
    }

    /// Sets the limit: a lower one always, a higher one only if the user trusts the project.
    pub(crate) fn apply(&self, limits: &mut Limits, is_trusted: bool) {
        if is_trusted || !self.is_raised(limits) {
            limits.set(&self.name, self.value);
        }
    }
}

impl Settings {
    /// The folder that paths in the settings are relative to.
    pub(crate) fn folder(&self) -> &Path {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }
}

/// Finds the settings of a path: the nearest file at or above it, up to its repository.
pub(crate) fn find(start: &Path, repository: &Path) -> Option<PathBuf> {
    let folder = if named::is_folder(start) { start } else { start.parent()? };
    let within = folder.ancestors().take_while(|folder| folder.starts_with(repository));
    // A link counts by its name: a dangling link is a mistake, not a missing file.
    let is_there = |file: &PathBuf| named::itself(file).is_ok_and(|there| !there.is_dir());
    within.map(|folder| folder.join(FILE)).find(is_there)
}

/// The text of settings in a repository. A link that leads out of the repository is not followed.
pub(crate) fn text_of(file: &Path, repository: &Path) -> Result<String, WorldError> {
    let bytes = read_below(repository, file, MOST_BYTES).map_err(|error| match error.kind() {
        _ if is_escape(&error) => WorldError::Denied("it is a link that leads out of the project".to_owned()),
        std::io::ErrorKind::NotFound => WorldError::NotFound,
        _ => WorldError::Failed(error.to_string()),
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(WorldError::TooLarge(format!("has more than the {MOST_BYTES} bytes allowed")));
    }
    String::from_utf8(bytes).map_err(|_| WorldError::Failed("it is not UTF-8".to_owned()))
}

/// Reads settings. All problems are returned as diagnostics.
pub(crate) fn read(file: &Path, shown: &str, text: &str, sources: &Sources) -> (Settings, Vec<Diagnostic>) {
    let source = sources.insert(shown, text);
    let settings = Settings { file: Some(file.to_owned()), ..Settings::default() };
    let mut reader = Reader { source, found: Vec::new(), settings };
    match DeTable::parse(text) {
        Ok(table) => reader.top(table.get_ref()),
        Err(error) => reader.not_toml(&error),
    }
    (reader.settings, reader.found)
}

/// Settings that only a user can grant. `limits` are those in force without the settings.
pub(crate) fn refused(settings: &Settings, shown: &str, limits: &Limits) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !settings.wishes.is_empty() {
        let message = format!("`{shown}` asks for permissions, which are not granted");
        let hint = "add `--trust` if you trust this project";
        found.push(Diagnostic::nowhere(&rules::SETTINGS, message).warning().hint(hint));
    }
    if let Some(remote) = &settings.remote {
        let server = remote.address.as_ref().map_or_else(|| "a server".to_owned(), |address| format!("`{address}`"));
        let message = format!("`[remote]` is not used: it asks to send files of this project to {server}");
        let hint = "add `--trust` if you trust this project, or write the table into your own settings";
        let mut diagnostic = Diagnostic::nowhere(&rules::SETTINGS, message).warning().hint(hint);
        diagnostic.span = remote.at;
        found.push(diagnostic);
    }
    for limit in settings.limits.iter().filter(|limit| limit.is_raised(limits)) {
        let message = format!("the limit `{}` is not raised: a project can only lower limits", limit.name);
        let hint = format!("add `--limit {}={}`, or `--trust` if you trust this project", limit.name, limit.value);
        found.push(Diagnostic::at(&rules::SETTINGS, limit.at, message).warning().hint(hint));
    }
    found
}

/// The user's settings for all projects: `purlin/purlin.toml` in the folder of the user's configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct User {
    /// Projects in these folders are trusted.
    trusted: Vec<PathBuf>,
    pub limits: Vec<WantedLimit>,
    /// Patterns of environment variables that projects may read; all if not set.
    pub env_allow: Option<Vec<String>>,
    /// A server that runs actions or keeps their results.
    pub remote: Option<Remote>,
}

impl User {
    /// Reads the settings of the user that this environment belongs to, with their problems.
    pub(crate) fn of(env: &BTreeMap<String, String>) -> (User, Vec<Diagnostic>) {
        User::read(env, &Sources::new())
    }

    /// The same, with problems located in these sources.
    pub(crate) fn read(env: &BTreeMap<String, String>, sources: &Sources) -> (User, Vec<Diagnostic>) {
        let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let configuration = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
        let Some(folder) = configuration.or_else(|| folder("APPDATA")) else { return Default::default() };
        let file = folder.join("purlin").join(FILE);
        let shown = file.to_string_lossy().into_owned();
        // It is the user's own file, so it may be a link to any other file.
        let text = match native::canonical(&file) {
            Ok(real) => text_of(&real, real.parent().unwrap_or(&folder)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Default::default(),
            Err(error) => Err(WorldError::Failed(error.to_string())),
        };
        let text = match text {
            Ok(text) => text,
            Err(error) => return (User::default(), vec![error.diagnostic(&shown)]),
        };
        let settings = Settings { file: Some(file), ..Settings::default() };
        let mut reader = Reader { source: sources.insert(&shown, text.as_str()), found: Vec::new(), settings };
        let mut user = User::default();
        match DeTable::parse(&text) {
            Ok(table) => reader.user(table.get_ref(), env, &mut user),
            Err(error) => reader.not_toml(&error),
        }
        user.limits = reader.settings.limits;
        user.remote = reader.settings.remote;
        (user, reader.found)
    }

    /// Whether the user trusts the project that a folder belongs to.
    pub(crate) fn trusts(&self, folder: &Path) -> bool {
        let real = native::canonical_or_same(folder.to_owned());
        self.trusted.iter().any(|trusted| real.starts_with(native::canonical_or_same(trusted.clone())))
    }
}

/// An absolute folder, which may begin with `~`. A relative one would depend on the working directory.
fn absolute(home: Option<&Path>, folder: &str) -> Option<PathBuf> {
    match folder.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute()),
    }
}

pub(crate) struct Reader {
    source: Arc<Source>,
    found: Vec<Diagnostic>,
    pub(crate) settings: Settings,
}

type Entry<'t> = (&'t Spanned<toml::de::DeString<'t>>, &'t Spanned<DeValue<'t>>);

const OF_USER: &[&str] = &["trust", "limits", "env-allow", "remote"];

const TOP: &[&str] = &[
    "environment",
    "helm-version",
    "strict",
    "policies",
    "policy",
    "permissions",
    "rules",
    "ignore",
    "search",
    "limits",
    "plugins",
    "remote",
];

impl Reader {
    pub(crate) fn span(&self, range: std::ops::Range<usize>) -> Span {
        self.source.span(range.start, range.end)
    }

    pub(crate) fn problem(&mut self, at: std::ops::Range<usize>, message: String, hint: &str) {
        let span = self.span(at);
        self.found.push(Diagnostic::at(&rules::SETTINGS, span, message).hint(hint));
    }

    /// A problem of a secret: shown at something above it, if that is on another line.
    pub(crate) fn problem_above(
        &mut self,
        above: std::ops::Range<usize>,
        secret: std::ops::Range<usize>,
        message: String,
        hint: &str,
    ) {
        let between = self.source.text().get(above.end..secret.start).unwrap_or_default();
        if between.contains('\n') {
            return self.problem(above, message, hint);
        }
        self.found.push(Diagnostic::nowhere(&rules::SETTINGS, message).hint(hint));
    }

    fn not_toml(&mut self, error: &toml::de::Error) {
        let span = error.span().map_or(0..1, |span| span);
        self.problem(span, format!("invalid TOML: {}", error.message()), "compare with the reference of settings");
    }

    /// The settings of a user, for all projects.
    fn user(&mut self, table: &DeTable<'_>, env: &BTreeMap<String, String>, user: &mut User) {
        let home = env.get("HOME").map(PathBuf::from);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "trust" => {
                    for folder in self.texts(value) {
                        match absolute(home.as_deref(), &folder) {
                            Some(folder) => user.trusted.push(folder),
                            None => {
                                let message = format!("expected an absolute folder, found `{folder}`");
                                self.problem(value.span(), message, "begin with `/` or `~/`");
                            }
                        }
                    }
                }
                "limits" => self.entries(value, Self::limit),
                "env-allow" => user.env_allow = Some(self.texts(value)),
                "remote" => self.settings.remote = settings_remote::read(self, key.span(), value),
                _ => self.unknown(key, OF_USER),
            }
        }
    }

    pub(crate) fn unknown(&mut self, key: &Spanned<toml::de::DeString<'_>>, known: &[&str]) {
        let name = key.get_ref();
        let hint = suggest::did_you_mean(name, known.iter().copied());
        let hint = hint.unwrap_or_else(|| format!("known keys: {}", known.join(", ")).into());
        self.problem(key.span(), format!("unknown key `{name}`"), &hint);
    }

    fn top(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "environment" => self.settings.environment = self.text(value),
                "helm-version" => self.settings.helm_version = self.helm_version(value),
                "strict" => self.settings.strict = self.truth(value),
                "policies" => self.policies(value),
                "policy" => settings_policy::read(self, value),
                "permissions" => self.entries(value, Self::permission),
                "rules" => self.entries(value, Self::rule),
                "ignore" => self.ignores(value),
                "search" => self.entries(value, Self::search),
                "limits" => self.entries(value, Self::limit),
                "plugins" => self.entries(value, Self::plugin),
                "remote" => self.settings.remote = settings_remote::read(self, key.span(), value),
                _ => self.unknown(key, TOP),
            }
        }
    }

    fn entries(&mut self, value: &Spanned<DeValue<'_>>, read: fn(&mut Self, Entry<'_>)) {
        match value.get_ref() {
            DeValue::Table(table) => table.iter().for_each(|entry| read(self, entry)),
            _ => self.wrong(value, "a table"),
        }
    }

    fn helm_version(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = self.text(value)?;
        if Helm::named(&text).is_none() {
            self.problem(value.span(), format!("unknown version of Helm `{text}`"), "write \"3\" or \"4\"");
            return None;
        }
        Some(text)
    }

    /// A program under the name of the plugin.
    fn plugin(&mut self, (key, value): Entry<'_>) {
        let DeValue::Table(table) = value.get_ref() else { return self.wrong(value, "a table") };
        let at = self.span(key.span());
        let mut command = Vec::new();
        for (own, value) in table {
            match own.get_ref().as_ref() {
                "command" => command = self.texts(value),
                _ => self.unknown(own, &["command"]),
            }
        }
        if command.is_empty() {
            let message = format!("the plugin `{}` has no `command`", key.get_ref());
            return self.problem(key.span(), message, "write `command = [\"./plugin\"]`");
        }
        self.settings.plugins.push(NamedPlugin { name: key.get_ref().to_string(), command, at });
    }

    pub(crate) fn wrong(&mut self, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.problem(value.span(), format!("expected {wanted}, found {found}"), &format!("write {wanted}"));
    }

    pub(crate) fn text(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text.to_string());
        }
        self.wrong(value, "a string");
        None
    }

    pub(crate) fn truth(&mut self, value: &Spanned<DeValue<'_>>) -> bool {
        if let DeValue::Boolean(truth) = value.get_ref() {
            return *truth;
        }
        self.wrong(value, "a boolean");
        false
    }

    pub(crate) fn texts(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        match value.get_ref() {
            DeValue::Array(items) => items.iter().filter_map(|item| self.text(item)).collect(),
            _ => {
                self.wrong(value, "a list of strings");
                Vec::new()
            }
        }
    }

    fn policies(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(items) = value.get_ref() else { return self.wrong(value, "a list of strings") };
        let known = policy_names();
        for item in items {
            let Some(name) = self.text(item) else { continue };
            if known.contains(&name.as_str()) {
                self.settings.policies.push(name);
                continue;
            }
            let hint = suggest::did_you_mean(&name, known.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("the policies are {}", known.join(", ")).into());
            self.problem(item.span(), format!("unknown policy `{name}`"), &hint);
        }
    }

    fn folders(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<PathBuf> {
        let folder = self.settings.folder().to_owned();
        self.texts(value).into_iter().map(|path| folder.join(path)).collect()
    }

    fn permission(&mut self, (key, value): Entry<'_>) {
        match key.get_ref().as_ref() {
            "paths" => self.settings.wishes.paths = self.folders(value),
            "hosts" => self.settings.wishes.hosts = self.texts(value),
            "exec" => self.settings.wishes.exec = self.truth(value),
            "write" => self.settings.wishes.write = self.truth(value),
            _ => self.unknown(key, &["paths", "hosts", "exec", "write"]),
        }
    }

    fn rule(&mut self, (key, value): Entry<'_>) {
        if !self.is_rule(key.get_ref(), key.span()) {
            return;
        }
        let level = match self.text(value).as_deref() {
            Some("error") => Level::Error,
            Some("warn" | "warning") => Level::Warn,
            Some("off") => Level::Off,
            Some(other) => {
                let hint = "write `error`, `warn` or `off`";
                return self.problem(value.span(), format!("unknown level `{other}`"), hint);
            }
            None => return,
        };
        self.settings.levels.push((key.get_ref().to_string(), level));
    }

    fn is_rule(&mut self, name: &str, at: std::ops::Range<usize>) -> bool {
        let known = all_rules();
        if known.iter().any(|rule| rule.name == name) {
            return true;
        }
        let hint = suggest::did_you_mean(name, known.iter().map(|rule| rule.name));
        let hint = hint.unwrap_or_else(|| "`purlin explain` lists all rules".into());
        self.problem(at, format!("unknown rule `{name}`"), &hint);
        false
    }

    fn ignores(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(items) = value.get_ref() else {
            return self.wrong(value, "a list of tables (`[[ignore]]`)");
        };
        for item in items.iter() {
            let DeValue::Table(table) = item.get_ref() else {
                self.wrong(item, "a table");
                continue;
            };
            let mut ignore = Ignore { path: "**".to_owned(), rules: Vec::new() };
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "path" => ignore.path = self.text(value).unwrap_or_default(),
                    "rules" => {
                        let names = self.texts(value);
                        ignore.rules = names.into_iter().filter(|name| self.is_rule(name, value.span())).collect();
                    }
                    _ => self.unknown(key, &["path", "rules"]),
                }
            }
            self.settings.ignores.push(ignore);
        }
    }

    fn search(&mut self, (key, value): Entry<'_>) {
        match key.get_ref().as_ref() {
            "profiles" => self.settings.profiles = self.folders(value),
            "exclude" => self.settings.excluded = self.texts(value),
            _ => self.unknown(key, &["profiles", "exclude"]),
        }
    }

    fn limit(&mut self, (key, value): Entry<'_>) {
        let name = key.get_ref().to_string();
        let DeValue::Integer(number) = value.get_ref() else { return self.wrong(value, "an integer") };
        let Ok(number) = u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()) else {
            return self.problem(value.span(), "expected an integer that is not negative".to_owned(), "write a number");
        };
        if Limits::default().set(&name, number) {
            let at = self.span(key.span());
            self.settings.limits.push(WantedLimit { name, value: number, at });
            return;
        }
        let list = Limits::default();
        let names: Vec<&str> = list.list().iter().map(|limit| limit.name).collect();
        let hint = suggest::did_you_mean(&name, names).unwrap_or_else(|| "`purlin limits` lists them".into());
        self.problem(key.span(), format!("unknown limit `{name}`"), &hint);
    }
}

impl Settings {
    /// Applies the settings to a diagnostic of a file; `None` if it is hidden.
    ///
    /// Problems of limits, permissions or unreadable files are never hidden.
    pub(crate) fn judge(&self, mut diagnostic: Diagnostic, path: &str) -> Option<Diagnostic> {
        if diagnostic.rule.class != purlin_syntax::RuleClass::Invalid {
            return Some(diagnostic);
        }
        let name = diagnostic.rule.name;
        let hides = |ignore: &Ignore| {
            let names = ignore.rules.is_empty() || ignore.rules.iter().any(|rule| rule == name);
            names && purlin_value::glob::Glob::new(&ignore.path).covers(path)
        };
        if self.ignores.iter().any(hides) {
            return None;
        }
        match self.levels.iter().rev().find(|(rule, _)| rule == name) {
            Some((_, Level::Off)) => return None,
            Some((_, Level::Warn)) => diagnostic.severity = diagnostic.severity.min(Severity::Warning),
            Some((_, Level::Error)) => diagnostic.severity = Severity::Error,
            None => {}
        }
        if self.strict && diagnostic.severity == Severity::Warning {
            diagnostic.severity = Severity::Error;
        }
        Some(diagnostic)
    }
}
