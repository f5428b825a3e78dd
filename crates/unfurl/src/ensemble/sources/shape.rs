//! The shape of an ensemble's file and of a project's file, apart from the service template. This must not know the
//! meaning of their parts.

use crate::rules;
use crate::tree::{Priority, STATES, Status};
use crate::val::{Data, Val};
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Severity, Span, suggest};
use purlin_value::Session;

/// Versions of the format.
const VERSIONS: &[&str] = &["unfurl/v1alpha1", "unfurl/v1.0.0"];
/// Keys of a project.
const PROJECT_KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "ensembles",
    "environments",
    "default_environment",
    "projects",
    "localRepositories",
    "include_paths",
    "exclude_paths",
];
/// Keys of an ensemble's file.
const ENSEMBLE_KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "environment",
    "spec",
    "status",
    "changes",
    "lastJob",
    "changeLog",
    "jobsLog",
    "jobLog",
];
/// Keys of an ensemble that others refer to.
const EXTERNAL_KEYS: &[&str] = &["manifest", "uri", "instance", "schema", "version", "connections"];

/// Sections that may be empty.
const MAY_BE_EMPTY: &[&str] = &["connections", "environments", "service_template"];

/// Texts of a project's entry for an ensemble.
const ENSEMBLE_TEXTS: &[&str] = &["file", "project", "managedBy", "alias", "environment"];

/// The expected shape of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Mapping,
    /// A mapping from valid instance names.
    Named,
    List,
    Text,
}

/// Sections of an environment.
const ENVIRONMENT: &[(&str, Wanted)] = &[
    ("inputs", Wanted::Named),
    ("defaultProject", Wanted::Text),
    ("deployment_blueprint", Wanted::Text),
    ("variables", Wanted::Mapping),
    ("locals", Wanted::Named),
    ("secrets", Wanted::Named),
    ("connections", Wanted::Named),
    ("instances", Wanted::Named),
    ("repositories", Wanted::Mapping),
    ("imports", Wanted::List),
    ("external", Wanted::Named),
    ("name", Wanted::Text),
    ("cloudmaps", Wanted::Mapping),
    ("lfs_lock", Wanted::Mapping),
];

/// Sections of an ensemble's `spec`.
const SPEC: &[(&str, Wanted)] = &[
    ("service_template", Wanted::Mapping),
    ("inputs", Wanted::Named),
    ("instances", Wanted::Named),
    ("deployment_blueprints", Wanted::Named),
    ("resource_templates", Wanted::Named),
    ("discovered", Wanted::Named),
];

/// Reports unknown keys and wrong shapes of an ensemble's file, after its directives.
pub(in crate::ensemble) fn ensemble(session: &Session, document: &Val, is_template: bool) {
    let shape = Shape { session };
    // The template of ensembles has no `kind`.
    if !is_template {
        shape.head(document, &["Ensemble", "Manifest"]);
    }
    shape.near_keys(document, ENSEMBLE_KEYS.iter().copied(), "an ensemble");
    if let Some(metadata) = shape.section(document, "metadata", Wanted::Mapping)
        && metadata.get("uri").is_none()
    {
        shape.problem(
            metadata,
            "the ensemble's `metadata` has no `uri`",
            Some("add `uri:`, the address of the ensemble".into()),
        );
    }
    if let Some(environment) = shape.section(document, "environment", Wanted::Mapping) {
        shape.environment(environment);
    }
    if let Some(spec) = shape.section(document, "spec", Wanted::Mapping) {
        shape.near_keys(spec, SPEC.iter().map(|(key, _)| *key), "`spec`");
        shape.sections(spec, SPEC);
        // An environment names the blueprint.
        if let Some(named) = spec.get("deployment_blueprint") {
            shape.overlooked("deployment_blueprint", named, "`spec`", None);
        }
    }
    if let Some(status) = shape.section(document, "status", Wanted::Mapping) {
        shape.status(status);
        shape.instances(status, 0);
    }
    shape.section(document, "jobsLog", Wanted::Text);
    let changes = shape.section(document, "changes", Wanted::List).and_then(Val::as_list);
    for change in changes.into_iter().flatten() {
        match change.as_map() {
            Some(_) => shape.change(change, "this change"),
            None => shape.unexpected(change, "changes", "mappings with a `changeId`"),
        }
    }
    shape.section(document, "lock", Wanted::Mapping);
    if let Some(job) = shape.section(document, "lastJob", Wanted::Mapping) {
        shape.change(job, "the last job");
    }
}

/// Reports unknown keys and wrong shapes of a project's file, after its directives.
pub(in crate::ensemble) fn project(session: &Session, config: &Val) {
    let shape = Shape { session };
    shape.head(config, &["Project"]);
    shape.known_keys(config, PROJECT_KEYS, "a project");
    if let Some(ensembles) = shape.section(config, "ensembles", Wanted::List) {
        for entry in ensembles.as_list().unwrap_or(&[]) {
            match entry.as_map() {
                Some(_) if entry.get("file").is_none() => {
                    shape.problem(
                        entry,
                        "this ensemble of the project has no `file`",
                        Some("add `file:` with the path of the ensemble".into()),
                    );
                }
                Some(_) => {
                    for key in ENSEMBLE_TEXTS {
                        shape.section(entry, key, Wanted::Text);
                    }
                    if let Some(value) = entry.get("default").filter(|value| !matches!(value.data, Data::Bool(_))) {
                        let message = what::expected("true or false", value.kind()).under("`default`: ");
                        shape.problem(value, message, Some("write `true`, or remove it".into()));
                    }
                }
                None => shape.unexpected(entry, "ensembles", "mappings with a `file`"),
            }
        }
    }
    shape.section(config, "default_environment", Wanted::Text);
    shape.section(config, "projects", Wanted::Mapping);
    shape.section(config, "localRepositories", Wanted::Mapping);
    let environments = shape.section(config, "environments", Wanted::Mapping);
    environments.into_iter().for_each(|environments| shape.names(environments, "environments"));
    for (_, environment) in environments.and_then(Val::as_map).into_iter().flatten() {
        match &environment.data {
            Data::Map(_) => shape.environment(environment),
            Data::Null => {}
            _ => shape.unexpected(environment, "environments", "mappings"),
        }
    }
}

struct Shape<'a> {
    session: &'a Session,
}

impl Shape<'_> {
    fn problem(&self, at: &Val, message: impl Into<Message>, hint: Option<Hint>) {
        self.problem_at(self.session.origins.span(at.origin, &self.session.sources), message, hint);
    }

    /// A problem of a key: points at the key if it is written right before the value, otherwise at the value.
    fn key_problem(&self, key: &str, value: &Val, message: impl Into<Message>, hint: Option<Hint>) {
        match self.session.origins.key_span(value.origin, key, &self.session.sources) {
            Some(span) => self.problem_at(Some(span), message, hint),
            None => self.problem(value, message, hint),
        }
    }

    fn problem_at(&self, span: Option<Span>, message: impl Into<Message>, hint: Option<Hint>) {
        let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message).maybe_hint(hint);
        diagnostic.severity = Severity::Error;
        diagnostic.span = span;
        self.session.sink.push(diagnostic);
    }

    fn unexpected(&self, value: &Val, key: &str, wanted: &str) {
        self.problem(value, what::expected(wanted, value.kind()).under(format!("`{key}`: ")), None);
    }

    /// The version of the format, and the kind of file.
    fn head(&self, document: &Val, kinds: &[&str]) {
        for (key, allowed) in [("apiVersion", VERSIONS), ("kind", kinds)] {
            let Some(value) = document.get(key) else {
                let first = allowed.first().copied().unwrap_or_default();
                self.problem(
                    document,
                    what::missing("key", key).words(format!("`{key}` is missing")),
                    Some(format!("add `{key}: {first}`").into()),
                );
                continue;
            };
            self.one_of(value, key, allowed);
        }
    }

    fn one_of(&self, value: &Val, key: &str, allowed: &[&str]) {
        let Some(text) = value.as_str() else { return self.unexpected(value, key, "a string") };
        if !allowed.contains(&text) {
            let near = suggest::nearest(text, allowed.iter().copied());
            let hint = match near {
                Some(near) => Hint::meant(text, near),
                None => format!("expected one of: {}", allowed.join(", ")).into(),
            };
            self.problem(value, format!("`{text}` is not a known `{key}`"), Some(hint));
        }
    }

    /// A section, if it exists and has the expected shape.
    fn section<'v>(&self, of: &'v Val, key: &str, wanted: Wanted) -> Option<&'v Val> {
        let value = of.get(key)?;
        if value.is_null() && MAY_BE_EMPTY.contains(&key) {
            return None;
        }
        let (fits, noun) = match wanted {
            Wanted::Mapping | Wanted::Named => (value.as_map().is_some(), "a mapping"),
            Wanted::List => (value.as_list().is_some(), "a list"),
            Wanted::Text => (value.as_str().is_some(), "a string"),
        };
        if !fits && value.is_null() {
            let empty = match wanted {
                Wanted::List => format!("write `{key}: []`, or remove it"),
                Wanted::Text => "write a string, or remove it".to_owned(),
                _ => format!("write `{key}: {{}}`, or remove it"),
            };
            self.key_problem(
                key,
                value,
                what::expected(noun, "nothing").under(format!("`{key}`: ")),
                Some(empty.into()),
            );
            return None;
        }
        if !fits {
            self.unexpected(value, key, noun);
            return None;
        }
        if wanted == Wanted::Named {
            self.names(value, key);
        }
        Some(value)
    }

    fn sections(&self, of: &Val, wanted: &[(&str, Wanted)]) {
        for (key, wanted) in wanted {
            self.section(of, key, *wanted);
        }
    }

    /// Names begin with a letter, a dot or an underscore, and continue with digits, colons and hyphens too.
    fn names(&self, section: &Val, key: &str) {
        for (name, value) in section.as_map().into_iter().flatten() {
            let Some(text) = name.as_str() else { continue };
            let first = |c: char| c.is_ascii_alphabetic() || c == '.' || c == '_';
            let further = |c: char| first(c) || c.is_ascii_digit() || c == ':' || c == '-';
            let mut chars = text.chars();
            if !(chars.next().is_some_and(first) && chars.all(further)) {
                let shown = crate::convert::key_text(name);
                let message = format!("`{shown}` is not allowed as a name under `{key}`");
                let hint = "begin it with a letter, and use letters, digits, `.`, `_`, `:` and `-`";
                self.key_problem(text, value, message, Some(hint.into()));
            }
        }
    }

    fn known_keys(&self, of: &Val, known: &[&str], owner: &str) {
        for (key, value) in of.as_map().into_iter().flatten() {
            let Some(key) = key.as_str().filter(|key| !known.contains(key)) else { continue };
            let near = suggest::nearest(key, known.iter().copied());
            let elsewhere = || "remove it, or move it to the section that it belongs to".into();
            let hint = Some(near.map_or_else(elsewhere, |near| Hint::meant(key, near)));
            self.key_problem(key, value, what::unknown("key", key).and(format!(" of {owner}")), hint);
        }
    }

    /// Keys that the original silently ignores.
    fn overlooked_keys(&self, of: &Val, known: &[(&str, Wanted)], owner: &str) {
        for (key, value) in of.as_map().into_iter().flatten() {
            let Some(key) = key.as_str().filter(|key| known.iter().all(|(known, _)| known != key)) else { continue };
            self.overlooked(key, value, owner, suggest::nearest(key, known.iter().map(|(known, _)| *known)));
        }
    }

    /// Other keys are allowed and ignored; those similar to a known one are probably misspelt.
    fn near_keys<'k>(&self, of: &Val, known: impl Iterator<Item = &'k str> + Clone, owner: &str) {
        for (key, value) in of.as_map().into_iter().flatten() {
            let Some(key) = key.as_str().filter(|key| !known.clone().any(|known| known == *key)) else { continue };
            // A missing required key is an error, which names the misspelt one.
            let is_required = |key: &&str| matches!(*key, "spec" | "service_template");
            let missing = known.clone().filter(|known| of.get(known).is_none() && !is_required(known));
            if let Some(near) = suggest::nearest(key, missing) {
                self.overlooked(key, value, owner, Some(near));
            }
        }
    }

    fn overlooked(&self, key: &str, value: &Val, owner: &str, near: Option<&str>) {
        let (origins, sources) = (&self.session.origins, &self.session.sources);
        let message = what::unknown("key", key).and(format!(" in {owner}, which has no effect"));
        let hint = near.map_or_else(|| "remove it".into(), |near| Hint::meant(key, near));
        let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message).warning().hint(hint);
        diagnostic.span = origins.key_span(value.origin, key, sources).or_else(|| origins.span(value.origin, sources));
        self.session.sink.push(diagnostic);
    }

    fn environment(&self, environment: &Val) {
        self.sections(environment, ENVIRONMENT);
        self.overlooked_keys(environment, ENVIRONMENT, "an environment");
        self.repositories(environment);
        if let Some(lock) = environment.get("lfs_lock").and_then(|lock| lock.get("lock")) {
            self.one_of(lock, "lock", &["no", "try", "require"]);
        }
        let external = environment.get("external").and_then(Val::as_map);
        for (_, entry) in external.into_iter().flatten() {
            match &entry.data {
                Data::Map(_) => self.known_keys(entry, EXTERNAL_KEYS, "an external ensemble"),
                Data::Null => {}
                _ => self.unexpected(entry, "external", "mappings with a `manifest`"),
            }
        }
    }

    /// The number of a job or task: an `A` and eleven letters or digits.
    fn change(&self, job: &Val, owner: &str) {
        let Some(id) = job.get("changeId") else {
            return self.problem(job, format!("{owner} has no `changeId`"), None);
        };
        let is_one =
            |text: &str| text.len() == 12 && text.starts_with('A') && text.chars().all(|c| c.is_ascii_alphanumeric());
        if !id.as_str().is_some_and(is_one) {
            self.problem(id, what::expected_only("`A` and eleven letters or digits").under("`changeId`: "), None);
        }
    }

    /// Repositories of an environment: an address each, or the name of another one.
    fn repositories(&self, environment: &Val) {
        for (name, entry) in environment.get("repositories").and_then(Val::as_map).into_iter().flatten() {
            let name = name.as_str().unwrap_or("repositories");
            if entry.as_map().is_some() && entry.get("url").is_none() {
                let message = format!("the repository `{name}` has no `url`");
                self.key_problem(name, entry, message, Some("add `url:` with its address".into()));
            }
        }
    }

    /// The stored data of an instance, or of the whole.
    fn status(&self, said: &Val) {
        let names = Status::ALL.map(Status::name);
        if let Some(ready) = self.section(said, "readyState", Wanted::Mapping) {
            for (key, allowed) in [("effective", &names[..]), ("local", &names[..]), ("state", &STATES[..])] {
                if let Some(value) = ready.get(key).filter(|value| !value.is_null()) {
                    self.one_of(value, key, allowed);
                }
            }
        }
        if let Some(priority) = said.get("priority").filter(|value| !value.is_null()) {
            self.one_of(priority, "priority", &Priority::ALL.map(Priority::name));
        }
    }

    fn instances(&self, of: &Val, depth: usize) {
        let instances = self.section(of, "instances", Wanted::Named).and_then(Val::as_map);
        for (name, said) in instances.into_iter().flatten().filter(|_| depth < crate::limits::MAX_DEPTH) {
            if said.as_map().is_none() {
                let key = name.as_str().unwrap_or("instances");
                self.unexpected(said, key, "a mapping");
                continue;
            }
            if let Some(template) =
                said.get("template").filter(|value| value.as_str().is_none() && value.as_map().is_none())
            {
                self.unexpected(template, "template", "a name or a mapping");
            }
            self.sections(said, &[("attributes", Wanted::Named), ("properties", Wanted::Named)]);
            self.status(said);
            self.instances(said, depth + 1);
        }
    }
}
