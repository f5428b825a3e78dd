//! A kustomization file: where it is, which fields it may have, and how they are read.

use crate::rules;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::{Diagnostic, Flavor, Span};
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// Names of the file, in the order they are looked for.
const FILES: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields that are built natively.
const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "components",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "sortOptions",
];

/// Fields that need the installed tool.
const ELSEWHERE: &[&str] = &[
    "buildMetadata",
    "configurations",
    "crds",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "openapi",
    "replacements",
    "transformers",
    "validators",
    "vars",
];

/// Why a kustomization is not built.
pub enum Problem {
    /// It is wrong.
    Wrong(Diagnostic),
    /// It uses what is not built natively.
    Elsewhere {
        /// What that is.
        what: String,
        /// Where it is written.
        span: Option<Span>,
    },
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Problem::Wrong(diagnostic)
    }
}

/// A kustomization.
pub struct Kustomization {
    /// The folder it is in.
    pub folder: String,
    /// Its fields.
    pub value: Value,
    reads_anywhere: bool,
}

impl Kustomization {
    /// Reads the kustomization of a folder.
    pub fn read(session: &Session, folder: &str, reads_anywhere: bool) -> Result<Kustomization, Problem> {
        let file = FILES.iter().map(|name| path::join(folder, name)).find(|file| session.world.exists(file));
        let Some(file) = file else {
            let message = format!("`{folder}` has no `kustomization.yaml`");
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        };
        let tree = session.read_yaml(&file, Flavor::CoreGo)?;
        let Some(root) = tree.root().filter(|root| root.is_map()) else {
            let message = format!("`{file}` is empty: expected a mapping with `resources`");
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, tree.source().span(0, 0), message).into());
        };
        for entry in root.entries() {
            let key = entry.key.text();
            if ELSEWHERE.contains(&key) {
                return Err(Problem::Elsewhere { what: format!("`{key}`"), span: Some(entry.key.span()) });
            }
            if !FIELDS.contains(&key) {
                let message = format!("unknown key `{key}` in a kustomization");
                let known = FIELDS.iter().chain(ELSEWHERE).copied();
                let diagnostic = Diagnostic::at(&rules::KUSTOMIZATION, entry.key.span(), message);
                return Err(diagnostic.maybe_hint(did_you_mean(key, known)).into());
            }
        }
        Ok(Kustomization { folder: folder.to_owned(), value: value_of(root, MergeKeys::Apply), reads_anywhere })
    }

    /// The place of a file that it names. Kustomize takes only those of its folder; other folders are bases.
    pub fn own_file(&self, session: &Session, item: &Value, written: &str) -> Result<String, Problem> {
        let place = path::normalize(&path::join(&self.folder, written));
        let folder = path::normalize(&self.folder);
        let is_inside = match folder.as_str() {
            "." => !place.starts_with("../") && !place.starts_with('/'),
            folder => place.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        };
        if is_inside || self.reads_anywhere {
            return Ok(place);
        }
        let message = format!("`{written}` is not below the folder of its kustomization, and Kustomize refuses that");
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message)
            .hint("name a folder with a kustomization of its own, or pass `--load-restrictor=LoadRestrictionsNone`");
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

    /// Whether it is a component, which changes what the kustomization that names it has gathered.
    pub fn is_component(&self) -> bool {
        self.text("kind") == "Component"
    }
}
