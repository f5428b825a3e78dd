//! A kustomization file: its location, its allowed fields, and how they are read.

use crate::entities::{KUSTOMIZATION, rows};
use crate::{restriction, rules, shape};
use purlin_syntax::Message;
use purlin_syntax::rules::DUPLICATE_KEY;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Node, Span};
use purlin_value::meter::Exceeded;
use purlin_value::world::{World, WorldError};
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// Names of the file, in the order they are looked for.
pub const FILES: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The start of `apiVersion` in kustomizations.
pub const GROUP: &str = "kustomize.config.k8s.io/";
pub(crate) const VERSION: &str = "kustomize.config.k8s.io/v1beta1";
pub(crate) const COMPONENT_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// The version of Kubernetes' definitions that the original brings along.
const OPENAPI: &str = "v1.21.2";

/// Fields that only declare the type of the file.
const HEAD: &[&str] = &["apiVersion", "kind"];

/// Fields that need the installed tool.
const ELSEWHERE: &[&str] = &["validators"];

/// Why a kustomization is not built.
pub enum Problem {
    /// It is wrong.
    Wrong(Diagnostic),
    /// It concerns a resource that it does not have.
    Unmatched(Diagnostic),
    /// The problem has been reported.
    Reported,
    /// It has parts that are not built natively.
    Elsewhere {
        /// The unsupported part.
        what: String,
        /// Its location.
        span: Option<Span>,
    },
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Problem::Wrong(diagnostic)
    }
}

/// A problem with a part of a kustomization.
pub fn wrong(session: &Session, part: &Value, message: impl Into<Message>) -> Diagnostic {
    let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
    diagnostic.span = session.origins.span(part.origin, &session.sources);
    diagnostic
}

/// Charges steps and bytes for a part of a kustomization.
pub fn spend(session: &Session, part: &Value, steps: u64, bytes: u64) -> Result<(), Problem> {
    session.meter.charge(steps, bytes).map_err(|exceeded| over(session, part, exceeded))
}

/// The message that a part of a kustomization exceeds the remaining budget.
pub fn over(session: &Session, part: &Value, exceeded: Exceeded) -> Problem {
    let limit = wrong(session, part, exceeded.message()).hint(exceeded.hint());
    Diagnostic { rule: exceeded.rule(), ..limit }.into()
}

/// Bytes that a resource takes for each byte when it is written.
pub const BYTES_PER_WRITTEN: u64 = 8;

/// A kustomization.
pub struct Kustomization {
    /// The folder it is in.
    pub folder: String,
    /// Its file.
    pub file: String,
    /// Its fields.
    pub value: Value,
    reads_anywhere: bool,
    /// Whether no project composes it, so that the repository decides how it is built.
    is_alone: bool,
}

impl Kustomization {
    /// Reads the kustomization of a folder.
    pub fn read(
        session: &Session,
        folder: &str,
        reads_anywhere: bool,
        is_alone: bool,
    ) -> Result<Kustomization, Problem> {
        let mut files = FILES.iter().map(|name| path::join(folder, name)).filter(|file| session.world.exists(file));
        let (file, another) = (files.next(), files.next());
        if let (Some(file), Some(another)) = (&file, another) {
            let message = format!("both `{file}` and `{another}` are there: expected one kustomization file");
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        }
        let Some(file) = file else {
            if let Err(error @ WorldError::Denied(_)) = session.world.stat(folder) {
                return Err(error.diagnostic(folder).into());
            }
            let hint = "correct the path, or create `kustomization.yaml` there";
            let message = Message::advising(format!("`{folder}` has no `kustomization.yaml`"), hint);
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        };
        let tree = session.load_tree(&session.read_text(&file)?, Flavor::Go);
        session.sink.extend(tree.diagnostics().iter().cloned().map(tolerated));
        let Some(root) = tree.root().filter(|root| root.is_map()) else {
            let message = format!("`{file}` is empty: expected a mapping with `resources`");
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, tree.source().span(0, 0), message).into());
        };
        let value = value_of(root, MergeKeys::Apply);
        let value = match shape::check(root, KUSTOMIZATION)? {
            true => shape::in_known_case(&value, KUSTOMIZATION),
            false => value,
        };
        let kustomization = Kustomization { folder: folder.to_owned(), file, value, reads_anywhere, is_alone };
        kustomization.check(root)?;
        Ok(kustomization)
    }

    /// Checks beyond keys and types that the original makes, and for parts that only an installed tool can build.
    fn check(&self, root: Node<'_>) -> Result<(), Problem> {
        let is_set = |key: &&str| self.value.get(key).is_some_and(|value| !is_empty(value));
        let span = |key: &str| {
            let entry = root.entries().find(|entry| entry.key.text().eq_ignore_ascii_case(key));
            entry.map(|entry| entry.key.span())
        };
        let wrong = |key: &str, message: Message| {
            let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
            diagnostic.span = span(key).or(Some(root.span()));
            diagnostic
        };
        let (kind, version) = (self.text("kind"), self.text("apiVersion"));
        if !matches!(kind, "" | "Kustomization" | "Component") {
            let message = what::expected("`Kustomization` or `Component`", format!("`{kind}`")).under("`kind`: ");
            return Err(wrong("kind", message).into());
        }
        let known = if kind == "Component" { COMPONENT_VERSION } else { VERSION };
        if !version.is_empty() && version != known {
            let message = what::expected(format!("`{known}`"), format!("`{version}`")).under("`apiVersion`: ");
            return Err(wrong("apiVersion", message).into());
        }
        let has_content = rows(KUSTOMIZATION).map(|row| row.key).filter(|key| !HEAD.contains(key));
        if !has_content.clone().any(|key| self.value.get(key).is_some_and(|value| !value.is_null())) {
            let message = format!("`{}` is empty: expected a mapping with `resources`", self.file);
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, root.span(), message).into());
        }
        if let Some(key) = ELSEWHERE.iter().copied().find(is_set) {
            return Err(Problem::Elsewhere { what: format!("`{key}`"), span: span(key) });
        }
        let openapi =
            |key: &str| self.value.get("openapi").and_then(|openapi| openapi.get(key)).and_then(Value::as_str);
        if let Some(version) = openapi("version").filter(|version| *version != OPENAPI && openapi("path").is_none()) {
            let message = format!("`openapi.version`: expected `{OPENAPI}`, found `{version}`");
            let message = Message::advising(message, format!("write `{OPENAPI}`"));
            return Err(wrong("openapi", message).into());
        }
        if openapi("path").is_some() {
            return Err(Problem::Elsewhere { what: "`openapi.path`".to_owned(), span: span("openapi") });
        }
        Ok(())
    }

    /// The location of a named file. Kustomize allows only files of its folder, after resolving links; other folders
    /// are bases. Flux allows all, and so does Kustomize with an option.
    pub fn own_file(&self, session: &Session, item: &Value, written: &str) -> Result<String, Problem> {
        if written.starts_with("https://") || written.starts_with("http://") {
            let span = session.origins.span(item.origin, &session.sources);
            return Err(Problem::Elsewhere { what: format!("the remote file `{written}`"), span });
        }
        let place = path::normalize(&path::join(&self.folder, written));
        if self.reads_anywhere {
            return Ok(place);
        }
        let is_below = is_inside(&path::normalize(&self.folder), &place);
        let (message, hint) = if !is_below {
            // A missing path is reported as missing, not as disallowed.
            if let Err(error) = session.world.stat(&place) {
                let mut diagnostic = session.refusal(&error, &place);
                diagnostic.span = session.origins.span(item.origin, &session.sources);
                return Err(diagnostic.into());
            }
            let hint =
                "name a folder with a kustomization of its own, or pass `--load-restrictor=LoadRestrictionsNone`";
            (format!("`{written}` is not below the folder of its kustomization, and Kustomize refuses that"), hint)
        } else if let Some(target) = leads_out(&*session.world, &self.folder, &place) {
            let hint = "copy the file, or pass `--load-restrictor=LoadRestrictionsNone`";
            let message = format!(
                "`{written}` is a link to `{target}`, which is not below the folder of its kustomization, and Kustomize refuses that"
            );
            (message, hint)
        } else {
            return Ok(place);
        };
        if self.is_alone && restriction::is_lifted(session) {
            return Ok(place);
        }
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).hint(hint);
        diagnostic.span = session.origins.span(item.origin, &session.sources);
        Err(diagnostic.into())
    }

    /// The items of a list; a single value counts as one.
    pub fn list(&self, key: &str) -> Vec<Value> {
        match self.value.get(key) {
            Some(value) if value.is_null() => Vec::new(),
            Some(value) => value.as_list().map_or_else(|| vec![value.clone()], <[Value]>::to_vec),
            None => Vec::new(),
        }
    }

    /// The text of a field; empty if it is not set.
    pub fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is a component, which changes the resources collected by the kustomization that names it.
    pub fn is_component(&self) -> bool {
        self.text("kind") == "Component"
    }
}

/// Of a duplicate key the original takes the last one without a word.
fn tolerated(found: Diagnostic) -> Diagnostic {
    if found.rule.name == DUPLICATE_KEY.name { found.warning().hint("Kustomize takes the last one") } else { found }
}

/// Whether a path is below a folder.
fn is_inside(folder: &str, place: &str) -> bool {
    match folder {
        "." => !place.starts_with("../") && place != ".." && !path::is_absolute(place),
        folder => place.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// Links that are followed before a path is taken for a cycle.
const MOST_LINKS: usize = 40;

/// The target of a path below a folder, if a link on the way leads out of the folder.
fn leads_out(world: &dyn World, folder: &str, place: &str) -> Option<String> {
    let folder = path::normalize(folder);
    let real = real_path(world, &folder, place)?;
    // The folder itself may be reached by a link.
    let home = real_path(world, ".", &folder).unwrap_or(folder);
    (!is_inside(&home, &real)).then_some(real)
}

/// Resolves links below `known`, which is already resolved. `None` if there was no link to resolve.
fn real_path(world: &dyn World, known: &str, place: &str) -> Option<String> {
    let mut done = known.to_owned();
    let below = if known == "." { place } else { place.strip_prefix(known)?.trim_start_matches('/') };
    let mut left: Vec<String> = below.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(name) = left.pop() {
        let next = path::normalize(&path::join(&done, &name));
        let Ok(target) = world.read_link(&next) else {
            done = next;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return None;
        }
        let target = match target.strip_prefix(world.root()).and_then(|rest| rest.strip_prefix('/')) {
            Some(within) => within.to_owned(),
            None if path::is_absolute(&target) => return Some(target),
            None => path::normalize(&path::join(&done, &target)),
        };
        if target.starts_with("..") {
            return Some(target);
        }
        // The target of a link may itself contain links, from the root on.
        left.extend(target.split('/').rev().map(str::to_owned));
        done = ".".to_owned();
    }
    (links > 0).then_some(done)
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_list().is_some_and(<[Value]>::is_empty)
        || value.as_map().is_some_and(|map| map.is_empty())
}
