//! Loads a chart from a folder or an archive, with the charts inside it.

use std::sync::Arc;

use purlin_model::validate::Stopped;
use purlin_syntax::{Diagnostic, Flavor, Message, Rule, RuleClass, Span, Tree};
use purlin_value::rules::FILE_NOT_FOUND;
use purlin_value::world::FileKind;
use purlin_value::{Session, Value};

use crate::archive;
use crate::chart::{Chart, ChartFile, Metadata};
use crate::ignore::Ignore;
use crate::metadata;
use crate::rules;
use crate::yaml::value_of_tree;

/// Deepest nesting of charts in charts, and of folders.
const MAX_DEPTH: usize = purlin_syntax::limits::CHART_LEVELS;

/// Most files of one chart.
const MAX_FILES: usize = 100_000;

/// A chart, or values for it, that cannot be loaded.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// The reason, in Helm's words where they exist.
    pub message: String,
    /// The rule it falls under, if it is not simply that.
    pub rule: Option<&'static Rule>,
    /// Advice, if it differs from the rule's.
    pub hint: Option<&'static str>,
    /// Its subject.
    pub about: About,
}

/// The subject of an error in a chart or its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// No specific part.
    #[default]
    Chart,
    /// A file or folder that does not exist.
    Absent,
    /// A `Chart.yaml` that is not valid YAML.
    ChartFile,
    /// A `Chart.yaml` that is no mapping.
    ChartShape,
    /// A key of `Chart.yaml`, with the problem in plain words.
    Metadata(&'static str, Message),
    /// A chart for other versions of Kubernetes than the rendered one.
    Version {
        /// The versions it supports.
        wanted: String,
        /// The version there is.
        have: String,
    },
    /// Its default values.
    DefaultValues,
    /// Default values that are no mapping.
    DefaultShape,
    /// The values of a chart inside, which are no mapping.
    Subchart {
        /// The chart.
        name: String,
        /// Their type.
        found: String,
    },
    /// A value that a project sets.
    Set(Box<Setting>),
    /// A schema, or the values of all charts, that take more than a limit allows.
    Schema(Stopped),
    /// Values that an option gives, with the problem in plain words.
    Given(String),
}

/// A value that a project sets and that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Location in the project.
    pub span: Span,
    /// The problem.
    pub reason: String,
    /// Its release.
    pub release: String,
    /// Whether a comma in it starts another value.
    pub has_comma: bool,
}

impl From<String> for LoadError {
    fn from(message: String) -> Self {
        Self { message, rule: None, hint: None, about: About::Chart }
    }
}

impl From<Diagnostic> for LoadError {
    fn from(problem: Diagnostic) -> Self {
        let rule = Some(problem.rule).filter(|rule| rule.class == RuleClass::Limit);
        let about = if problem.rule == &FILE_NOT_FOUND { About::Absent } else { About::Chart };
        Self { message: problem.message, rule, hint: None, about }
    }
}

impl LoadError {
    /// An archive that is not one.
    pub fn archive(message: String) -> Self {
        Self { hint: Some("create the archive again with `helm package`"), ..Self::from(message) }
    }

    /// An error for excessive nesting.
    fn deep(message: String) -> Self {
        Self { rule: Some(&purlin_syntax::rules::LIMIT_DEPTH), ..Self::from(message) }
    }

    /// A document that is not valid YAML, or is more than the limits allow.
    pub fn yaml(tree: &Tree, about: About, message: String) -> Self {
        Self { rule: crate::yaml::limit_of(tree), about, ..Self::from(message) }
    }

    /// An error for a file with an unexpected shape.
    fn shape(about: About, message: &str) -> Self {
        Self { about, ..Self::from(message.to_owned()) }
    }

    /// A file of values that a user gives.
    pub fn given(self) -> Self {
        let is_absent = self.about == About::Absent;
        let hint = is_absent.then_some("correct the path; it is relative to the working directory");
        let rule = self.rule.or((!is_absent).then_some(&rules::VALUES));
        Self { rule, hint, about: About::Given(self.message.clone()), ..self }
    }
}

/// Loads the chart at a path of the world, once for all variants of a project.
pub fn load(session: &Session, path: &str) -> Result<Chart, LoadError> {
    match session.has_variants() {
        true => session.in_common(path, || Loaded(load_anew(session, path))).0.clone(),
        false => load_anew(session, path),
    }
}

/// Result of loading a chart.
struct Loaded(Result<Chart, LoadError>);

fn load_anew(session: &Session, path: &str) -> Result<Chart, LoadError> {
    from_files(session, files(session, path)?, path, 0)
}

/// The files of the chart in a folder or an archive.
pub(crate) fn files(session: &Session, path: &str) -> Result<Vec<ChartFile>, LoadError> {
    let world = &session.world;
    let stat = world.stat(path).map_err(|error| LoadError::from(error.diagnostic(path)))?;
    if stat.kind == FileKind::Folder {
        return folder_files(session, path);
    }
    let packed = session.load_bytes(path).map_err(|error| LoadError::from(error.diagnostic(path)))?;
    if !archive::is_archive(&packed) {
        return Err(LoadError::archive(format!("file {path:?} does not appear to be a gzipped archive")));
    }
    archive_files(session, path, &packed)
}

/// Loads a chart from the bytes of its archive.
pub fn load_archive(session: &Session, path: &str, packed: &[u8]) -> Result<Chart, LoadError> {
    from_files(session, archive_files(session, path, packed)?, path, 0)
}

fn without_mark(bytes: Arc<[u8]>) -> Arc<[u8]> {
    match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.into(),
        None => bytes,
    }
}

fn archive_files(session: &Session, path: &str, packed: &[u8]) -> Result<Vec<ChartFile>, LoadError> {
    let files = archive::unpack(packed, &session.limits)?;
    let bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    session.account_archive(path, bytes, files.len() as u64)?;
    Ok(files.into_iter().map(|(name, bytes)| ChartFile::new(name, without_mark(bytes.into()))).collect())
}

/// The files of a chart in a folder, but those it ignores.
pub fn folder_files(session: &Session, folder: &str) -> Result<Vec<ChartFile>, LoadError> {
    let written = session.load_bytes(&format!("{folder}/{IGNORE_FILE}")).ok();
    let ignore = Ignore::parse(&String::from_utf8_lossy(written.as_deref().unwrap_or_default()))?;
    let mut walk = Walk { session, folder, ignore, written, files: Vec::new() };
    walk.enter("", 0)?;
    Ok(walk.files)
}

/// The file that lists paths excluded from a chart.
const IGNORE_FILE: &str = ".helmignore";

/// A walk over the folder of a chart.
struct Walk<'s> {
    session: &'s Session,
    folder: &'s str,
    ignore: Ignore,
    /// Contents of the ignore file; it is part of the chart, too.
    written: Option<Arc<[u8]>>,
    files: Vec<ChartFile>,
}

impl Walk<'_> {
    fn enter(&mut self, prefix: &str, depth: usize) -> Result<(), LoadError> {
        let (world, folder) = (&self.session.world, self.folder);
        if depth > MAX_DEPTH {
            return Err(LoadError::deep(format!("folders are nested deeper than {MAX_DEPTH} in `{folder}`")));
        }
        let here = if prefix.is_empty() { folder.to_owned() } else { format!("{folder}/{prefix}") };
        let entries = world.list(&here).map_err(|error| LoadError::from(error.diagnostic(&here)))?;
        for entry in entries {
            let name = if prefix.is_empty() { entry.name.clone() } else { format!("{prefix}/{}", entry.name) };
            let full = format!("{folder}/{name}");
            let is_folder = match entry.kind {
                FileKind::Link => match world.stat(&full) {
                    Ok(stat) => stat.kind == FileKind::Folder,
                    Err(error) => return Err(error.diagnostic(&full).into()),
                },
                kind => kind == FileKind::Folder,
            };
            if self.ignore.ignores(&name, is_folder) {
                continue;
            }
            if is_folder {
                self.enter(&name, depth + 1)?;
                continue;
            }
            if self.files.len() >= MAX_FILES {
                return Err(LoadError::from(format!("the chart has more than {MAX_FILES} files")));
            }
            let known = self.written.clone().filter(|_| name == IGNORE_FILE);
            let bytes = match known {
                Some(bytes) => bytes,
                None => self.session.load_bytes(&full).map_err(|error| LoadError::from(error.diagnostic(&full)))?,
            };
            self.files.push(ChartFile::new(name, without_mark(bytes)));
        }
        Ok(())
    }
}

/// A file of a chart as YAML.
pub(crate) fn parse(session: &Session, folder: &str, file: &ChartFile) -> Arc<Tree> {
    let text = purlin_gotmpl::value::text_of(&file.bytes).into_owned();
    let path = purlin_value::path::normalize(&format!("{folder}/{}", file.name));
    let source = session.sources.insert(&path, text);
    session.sources.add(purlin_syntax::yaml::parse(source, Flavor::Go, &session.limits))
}

/// Sorts a chart's files by kind.
fn from_files(session: &Session, files: Vec<ChartFile>, folder: &str, depth: usize) -> Result<Chart, LoadError> {
    if depth > MAX_DEPTH {
        return Err(LoadError::deep(format!("charts are nested deeper than {MAX_DEPTH} in `{folder}`")));
    }
    let Some(chart_file) = files.iter().find(|file| file.name == "Chart.yaml") else {
        return Err(LoadError::from("Chart.yaml file is missing".to_owned()));
    };
    let tree = parse(session, folder, chart_file);
    if let Err(message) = value_of_tree(&tree, 0) {
        let message = format!("cannot load Chart.yaml: error converting YAML to JSON: {message}");
        return Err(LoadError::yaml(&tree, About::ChartFile, message));
    }
    let Some(mut metadata) = metadata::read(&tree) else {
        return Err(LoadError::shape(About::ChartShape, "cannot load Chart.yaml: expected a mapping"));
    };
    let mut values = Value::null();
    let mut written = Vec::new();
    let mut schema = None;
    let mut templates = Vec::new();
    let mut others = Vec::new();
    let mut inner: Vec<(String, Vec<ChartFile>)> = Vec::new();
    let v1 = metadata.api_version == "v1";
    for file in files {
        match file.name.as_str() {
            "Chart.lock" => {}
            "Chart.yaml" => written.push(file),
            "values.yaml" => {
                values = default_values(session, folder, &file, &mut metadata)?;
                written.push(file);
            }
            "values.schema.json" => schema = Some(file.bytes),
            "requirements.yaml" => {
                // Parsed in every format, but only charts of the first format may use it.
                let tree = parse(session, folder, &file);
                if let Some(root) = tree.root().filter(|root| root.get("dependencies").is_some()) {
                    metadata.dependencies = metadata::dependencies(root);
                }
                if v1 {
                    others.push(file);
                }
            }
            "requirements.lock" if !v1 => {}
            name if name.starts_with("templates/") => templates.push(file),
            name => match name.strip_prefix("charts/") {
                Some(rest) => {
                    if name.ends_with(".prov") {
                        others.push(file);
                        continue;
                    }
                    let (chart, path) = rest.split_once('/').unwrap_or((rest, rest));
                    let entry = ChartFile::new(path, file.bytes.clone());
                    match inner.iter_mut().find(|(name, _)| name == chart) {
                        Some((_, files)) => files.push(entry),
                        None => inner.push((chart.to_owned(), vec![entry])),
                    }
                }
                None => others.push(file),
            },
        }
    }
    let mut dependencies = Vec::new();
    for (name, files) in inner {
        if name.starts_with(['_', '.']) {
            continue;
        }
        let path = format!("{folder}/charts/{name}");
        let files = match files.as_slice() {
            [only] if name.ends_with(".tgz") && only.name == name => archive_files(session, &path, &only.bytes)?,
            // A plain file directly in charts/ is no chart.
            [only] if only.name == name => continue,
            _ => files,
        };
        let child = from_files(session, files, &path, depth + 1);
        dependencies.push(child.map_err(|error| {
            let message = format!("error unpacking subchart {name} in {}: {}", metadata.name, error.message);
            LoadError { message, about: About::Chart, ..error }
        })?);
    }
    let folder = folder.to_owned();
    Ok(Chart { metadata, values, merged: None, schema, written, templates, files: others, dependencies, folder })
}

fn default_values(
    session: &Session,
    folder: &str,
    file: &ChartFile,
    metadata: &mut Metadata,
) -> Result<Value, LoadError> {
    let tree = parse(session, folder, file);
    metadata.odd.extend(metadata::duplicates(&tree));
    let mut all = Value::null();
    for document in 0..tree.roots().len().max(1) {
        let value = value_of_tree(&tree, document).map_err(|message| {
            let message = format!("cannot load values.yaml: error converting YAML to JSON: {message}");
            LoadError::yaml(&tree, About::DefaultValues, message)
        })?;
        if value.as_map().is_none() && !value.is_null() {
            return Err(LoadError::shape(About::DefaultShape, "cannot load values.yaml: expected a mapping"));
        }
        all = crate::values::merge_maps(all, value, None);
    }
    Ok(all)
}
