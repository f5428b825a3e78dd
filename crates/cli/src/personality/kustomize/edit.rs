//! `edit`: changes the kustomization file of the working directory.

use super::{KUSTOMIZE, fail, paths};
use crate::border::rewrite_below;
use crate::invocation::{Exit, Invocation};
use crate::personality::arguments::{Arguments, Takes};
use crate::personality::unknown;
use purlin_host::named;
use purlin_kustomize::FILES;
use purlin_kustomize::file::KustomizationFile;
use purlin_kustomize::file::edit::{self, Generated, Notes};
use purlin_syntax::Limits;
use purlin_value::glob::{Glob, Notation};
use purlin_value::{Map, Value};
use std::path::PathBuf;

type Flags = &'static [(&'static str, char, Takes)];

const NONE: Flags = &[];
const FORCE: Flags = &[("force", 'f', Takes::Switch)];
const LABELS: Flags = &[
    ("force", 'f', Takes::Switch),
    ("without-selector", ' ', Takes::Switch),
    ("include-templates", ' ', Takes::Switch),
];
const IGNORING: Flags = &[("ignore-non-existence", 'i', Takes::Switch)];
const VERIFYING: Flags = &[("no-verify", ' ', Takes::Switch)];
const PATCH: Flags = &[
    ("path", ' ', Takes::Text),
    ("patch", ' ', Takes::Text),
    ("group", ' ', Takes::Text),
    ("version", ' ', Takes::Text),
    ("kind", ' ', Takes::Text),
    ("name", ' ', Takes::Text),
    ("namespace", ' ', Takes::Text),
    ("annotation-selector", ' ', Takes::Text),
    ("label-selector", ' ', Takes::Text),
];
const SOURCES: Flags = &[
    ("from-file", ' ', Takes::List),
    ("from-literal", ' ', Takes::List),
    ("from-env-file", ' ', Takes::Text),
    ("disableNameSuffixHash", ' ', Takes::Switch),
    ("behavior", ' ', Takes::Text),
    ("namespace", ' ', Takes::Text),
];
const SECRET_SOURCES: Flags = &[
    ("from-file", ' ', Takes::List),
    ("from-literal", ' ', Takes::List),
    ("from-env-file", ' ', Takes::Text),
    ("disableNameSuffixHash", ' ', Takes::Switch),
    ("type", ' ', Takes::Text),
    ("namespace", ' ', Takes::Text),
];
const LITERALS: Flags =
    &[("from-literal", ' ', Takes::List), ("namespace", ' ', Takes::Text), ("new-namespace", ' ', Takes::Text)];
const NAMESPACE: Flags = &[("namespace", ' ', Takes::Text)];

/// The file of the working directory, and its surroundings.
struct Work {
    cwd: PathBuf,
    path: &'static str,
    file: KustomizationFile,
}

/// A change of the file. Skipped items are noted; the text is further output.
type Change = fn(&mut Work, &Arguments) -> Result<Notes, String>;

/// All changes: verb, object, flags.
#[rustfmt::skip]
const CHANGES: &[(&str, &str, Flags, Change)] = &[
    ("set", "annotation", NONE, |work, flags| work.pairs(flags, "commonAnnotations", "annotation", true)),
    ("set", "buildmetadata", NONE, set_build_metadata),
    ("set", "configmap", LITERALS, |work, flags| work.set_generated(flags, "configMapGenerator")),
    ("set", "image", NONE, |work, flags| edit::set_images(&mut work.file, words(flags, "image")?).map(none)),
    ("set", "label", NONE, |work, flags| work.pairs(flags, "commonLabels", "label", true)),
    ("set", "namespace", NONE, |work, flags| work.text(flags, "namespace", "namespace")),
    ("set", "nameprefix", NONE, |work, flags| work.text(flags, "namePrefix", "prefix")),
    ("set", "namesuffix", NONE, |work, flags| work.text(flags, "nameSuffix", "suffix")),
    ("set", "replicas", NONE, |work, flags| edit::set_replicas(&mut work.file, words(flags, "replicas")?).map(none)),
    ("set", "secret", LITERALS, |work, flags| work.set_generated(flags, "secretGenerator")),
    ("add", "annotation", FORCE, |work, flags| work.pairs(flags, "commonAnnotations", "annotation", flags.switch("force"))),
    ("add", "base", NONE, add_base),
    ("add", "buildmetadata", NONE, add_build_metadata),
    ("add", "component", NONE, |work, flags| work.add_existing(flags, "components", "component", false)),
    ("add", "configmap", SOURCES, |work, flags| work.add_generated(flags, "configMapGenerator", "")),
    ("add", "configuration", NONE, |work, flags| work.add_matching(flags, "configurations", "configuration")),
    ("add", "generator", NONE, |work, flags| work.add_matching(flags, "generators", "generator")),
    ("add", "label", LABELS, add_label),
    ("add", "patch", PATCH, |work, flags| { let patch = patch(flags, true)?; Ok(edit::add_patch(&mut work.file, patch)) }),
    ("add", "resource", VERIFYING, |work, flags| work.add_existing(flags, "resources", "resource", flags.switch("no-verify"))),
    ("add", "secret", SECRET_SOURCES, |work, flags| work.add_generated(flags, "secretGenerator", "Opaque")),
    ("add", "transformer", NONE, |work, flags| work.add_matching(flags, "transformers", "transformer")),
    ("remove", "annotation", IGNORING, |work, flags| work.remove_pairs(flags, "commonAnnotations", "annotation")),
    ("remove", "buildmetadata", NONE, remove_build_metadata),
    ("remove", "component", NONE, |work, flags| work.remove_matching(flags, "components", "component")),
    ("remove", "configmap", NAMESPACE, |work, flags| work.remove_generated(flags, "configMapGenerator", "configmap")),
    ("remove", "label", IGNORING, |work, flags| work.remove_pairs(flags, "commonLabels", "label")),
    ("remove", "patch", PATCH, |work, flags| { let patch = patch(flags, false)?; Ok(edit::remove_patch(&mut work.file, &patch)) }),
    ("remove", "resource", NONE, |work, flags| work.remove_matching(flags, "resources", "resource")),
    ("remove", "secret", NAMESPACE, |work, flags| work.remove_generated(flags, "secretGenerator", "secret")),
    ("remove", "transformer", NONE, |work, flags| work.remove_matching(flags, "transformers", "transformer")),
    ("fix", "", &[("vars", ' ', Takes::Switch)], fix),
];

/// Runs `edit …`.
pub(super) fn edit(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let word = |at: usize| args.get(at).map_or("", String::as_str);
    let found = CHANGES.iter().find(|(verb, object, ..)| *verb == word(0) && (object.is_empty() || *object == word(1)));
    let Some((_, object, known, change)) = found else {
        return Err(unknown(invocation, &KUSTOMIZE, format!("edit {} {}", word(0), word(1)).trim_end()));
    };
    let rest = args.get(if object.is_empty() { 1 } else { 2 }..).unwrap_or_default();
    let done = run(invocation, rest, known, *change);
    done.map_err(|message| fail(invocation, &message))
}

fn run(invocation: &mut Invocation<'_>, args: &[String], known: Flags, change: Change) -> Result<Exit, String> {
    let flags = Arguments::read(args, known)?;
    let (path, text) = read(invocation)?;
    let file =
        KustomizationFile::read(path, &text, &Limits::default()).map_err(|problem| problem.message.to_string())?;
    let mut work = Work { cwd: invocation.cwd.clone(), path, file };
    let notes = change(&mut work, &flags)?;
    for note in notes {
        let _ = writeln!(invocation.stderr, "{note}");
    }
    let new = work.file.write();
    if new == text {
        return Ok(Exit::Ok);
    }
    if work.file.loses_comments {
        let _ = writeln!(invocation.stderr, "warning: comments behind values in `{path}` are not kept");
    }
    let written = rewrite_below(&invocation.cwd, &invocation.cwd.join(path), new.as_bytes());
    written.map(|()| Exit::Ok).map_err(|error| format!("could not write `{path}`: {error}"))
}

/// The kustomization file of the working directory.
fn read(invocation: &Invocation<'_>) -> Result<(&'static str, String), String> {
    let mut found = FILES.iter().filter(|name| named::exists(&invocation.cwd.join(name)));
    let (Some(name), another) = (found.next(), found.next()) else {
        return Err("missing kustomization file `kustomization.yaml`".to_owned());
    };
    if let Some(another) = another {
        return Err(format!("found both `{name}` and `{another}`: expected one kustomization file"));
    }
    let text = named::stream_text(&invocation.cwd.join(name), named::LARGEST);
    text.map(|text| (*name, text)).map_err(|error| format!("could not read `{name}`: {error}"))
}

fn none(_: ()) -> Notes {
    Notes::new()
}

/// The words of a command, at least one.
fn words<'a>(flags: &'a Arguments, kind: &str) -> Result<&'a [String], String> {
    if flags.words.is_empty() { Err(format!("must specify {kind}")) } else { Ok(&flags.words) }
}

/// The only word of a command.
fn word<'a>(flags: &'a Arguments, kind: &str) -> Result<&'a str, String> {
    match flags.words.as_slice() {
        [word] => Ok(word),
        words => Err(format!("expected exactly one {kind}, found {}", words.len())),
    }
}

/// The items of the only word, a comma-separated list.
fn items(flags: &Arguments, kind: &str) -> Result<Vec<String>, String> {
    let list = word(flags, &format!("list of {kind}s, separated by commas"))?;
    let items: Vec<String> = list.split(',').map(str::to_owned).collect();
    if items.iter().any(String::is_empty) { Err(format!("invalid {kind}: a name is empty")) } else { Ok(items) }
}

impl Work {
    fn text(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let text = word(flags, &format!("{kind} value"))?;
        self.file.set(field, Value::str(text));
        Ok(Notes::new())
    }

    fn pairs(&mut self, flags: &Arguments, field: &str, kind: &str, force: bool) -> Result<Notes, String> {
        let pairs = edit::pairs(words(flags, kind)?, kind)?;
        edit::add_pairs(&mut self.file, field, kind, &pairs, force).map(none)
    }

    fn remove_pairs(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let keys = items(flags, kind)?;
        edit::remove_pairs(&mut self.file, field, kind, &keys, flags.switch("ignore-non-existence")).map(none)
    }

    /// Adds paths that exist, or are addresses; the file itself is left out.
    fn add_existing(
        &mut self,
        flags: &Arguments,
        field: &str,
        kind: &str,
        is_unchecked: bool,
    ) -> Result<Notes, String> {
        let given = words(flags, kind)?;
        let mut found = if is_unchecked { given.to_vec() } else { paths::existing(&self.cwd, given)? };
        found.retain(|path| path != self.path);
        Ok(edit::add_items(&mut self.file, field, kind, &found))
    }

    /// Adds paths that match patterns.
    fn add_matching(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let (mut found, mut notes) = (Vec::new(), Notes::new());
        for pattern in words(flags, kind)? {
            let paths = paths::matching(&self.cwd, pattern)?;
            if paths.is_empty() {
                notes.push(format!("`{pattern}` has no match"));
            }
            found.extend(paths);
        }
        notes.extend(edit::add_items(&mut self.file, field, kind, &found));
        Ok(notes)
    }

    /// Removes items that match patterns.
    fn remove_matching(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let read =
            |pattern: &String| Glob::read(pattern, Notation::GO).ok_or_else(|| format!("invalid pattern `{pattern}`"));
        let globs = words(flags, kind)?.iter().map(read).collect::<Result<Vec<Glob>, String>>()?;
        let has_removed = edit::remove_items(&mut self.file, field, |item| globs.iter().any(|glob| glob.matches(item)));
        Ok(if has_removed { Notes::new() } else { vec![format!("no {kind} matches; nothing was removed")] })
    }

    fn add_generated(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let name = word(flags, "name")?.to_owned();
        let text = |flag: &str| flags.text(flag).unwrap_or_default().to_owned();
        let (mut files, mut notes) = (Vec::new(), Notes::new());
        for source in flags.list("from-file").iter().flat_map(|list| list.split(',')) {
            self.file_sources(source, &mut files, &mut notes)?;
        }
        let (literals, env) = (flags.list("from-literal").to_vec(), text("from-env-file"));
        if files.is_empty() && literals.is_empty() && env.is_empty() {
            return Err("at least one of `--from-env-file`, `--from-file` or `--from-literal` must be set".to_owned());
        }
        let has_others = !files.is_empty() || !literals.is_empty();
        if !env.is_empty() && has_others {
            return Err("`--from-env-file` cannot be combined with `--from-file` or `--from-literal`".to_owned());
        }
        if !env.is_empty() && !named::is_file(&self.cwd.join(&env)) {
            return Err(format!("no file is found at `{env}`"));
        }
        if let Some(literal) = literals.iter().find(|literal| !literal.contains('=')) {
            return Err(format!("invalid literal `{literal}`: expected `KEY=VALUE`"));
        }
        let behavior = text("behavior");
        if !matches!(behavior.as_str(), "" | "create" | "merge" | "replace") {
            return Err(format!("`--behavior {behavior}`: expected `create`, `merge` or `replace`"));
        }
        let kind = flags.text("type").unwrap_or(kind).to_owned();
        let is_plain = flags.switch("disableNameSuffixHash");
        let new = Generated { name, namespace: text("namespace"), files, literals, env, behavior, kind, is_plain };
        edit::add_generated(&mut self.file, field, &new);
        Ok(notes)
    }

    /// The files of `[KEY=]PATTERN`.
    fn file_sources(&self, source: &str, files: &mut Vec<String>, notes: &mut Notes) -> Result<(), String> {
        let (key, pattern) = source.split_once('=').map_or((None, source), |(key, pattern)| (Some(key), pattern));
        let found = paths::matching(&self.cwd, pattern)?;
        match (key, found.as_slice()) {
            (Some(key), [file]) => files.push(format!("{key}={file}")),
            (Some(_), found) => {
                return Err(format!("`{pattern}`: expected one file, found {}", found.len()));
            }
            (None, []) => notes.push(format!("`{pattern}` has no match")),
            (None, found) => files.extend_from_slice(found),
        }
        Ok(())
    }

    fn set_generated(&mut self, flags: &Arguments, field: &str) -> Result<Notes, String> {
        let text = |flag: &str| flags.text(flag).unwrap_or_default().to_owned();
        let literals = flags.list("from-literal").to_vec();
        if literals.is_empty() && text("new-namespace").is_empty() {
            return Err("at least one of `--from-literal` or `--new-namespace` must be set".to_owned());
        }
        let name = word(flags, "name")?.to_owned();
        let new = Generated { name, namespace: text("namespace"), literals, ..Generated::default() };
        edit::set_generated(&mut self.file, field, &new, &text("new-namespace")).map(none)
    }

    fn remove_generated(&mut self, flags: &Arguments, field: &str, kind: &str) -> Result<Notes, String> {
        let names = items(flags, kind)?;
        edit::remove_generated(&mut self.file, field, &names, flags.text("namespace").unwrap_or_default())
    }
}

fn set_build_metadata(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    let options = edit::build_metadata(word(flags, "list of options")?)?;
    work.file.set_list("buildMetadata", options.into_iter().map(Value::from).collect());
    Ok(Notes::new())
}

fn add_build_metadata(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    let options = edit::build_metadata(word(flags, "list of options")?)?;
    edit::add_build_metadata(&mut work.file, &options).map(none)
}

fn remove_build_metadata(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    let options = edit::build_metadata(word(flags, "list of options")?)?;
    edit::remove_items(&mut work.file, "buildMetadata", |item| options.iter().any(|option| option == item));
    Ok(Notes::new())
}

fn add_base(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    let paths = items(flags, "base")?;
    if let Some(missing) = paths.iter().find(|path| !named::exists(&work.cwd.join(path))) {
        return Err(format!("`{missing}` does not exist"));
    }
    edit::add_bases(&mut work.file, &paths).map(none)
}

fn add_label(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    let (in_templates, force) = (flags.switch("include-templates"), flags.switch("force"));
    if !flags.switch("without-selector") {
        return match in_templates {
            true => Err("`--include-templates` needs `--without-selector`".to_owned()),
            false => work.pairs(flags, "commonLabels", "label", force),
        };
    }
    let pairs = edit::pairs(words(flags, "label")?, "label")?;
    edit::add_labels(&mut work.file, &pairs, force, in_templates).map(none)
}

/// The patch described by the flags.
fn patch(flags: &Arguments, is_new: bool) -> Result<Value, String> {
    if let [word, ..] = flags.words.as_slice() {
        return Err(format!("unexpected argument `{word}`"));
    }
    let text = |flag: &str| flags.text(flag).filter(|text| !text.is_empty());
    match (text("patch"), text("path")) {
        (Some(_), Some(_)) => return Err("`--patch` and `--path` cannot be set at the same time".to_owned()),
        (None, None) if is_new => return Err("must provide either `--patch` or `--path`".to_owned()),
        _ => {}
    }
    let keys = [
        ("group", "group"),
        ("version", "version"),
        ("kind", "kind"),
        ("name", "name"),
        ("namespace", "namespace"),
        ("annotation-selector", "annotationSelector"),
        ("label-selector", "labelSelector"),
    ];
    let entry = |(flag, key): (&str, &str)| Some((key.into(), Value::str(text(flag)?)));
    let target: Map = keys.into_iter().filter_map(entry).collect();
    let mut patch: Map = [("path", "path"), ("patch", "patch")].into_iter().filter_map(entry).collect();
    if !target.is_empty() {
        patch.insert("target".into(), Value::map(target));
    }
    Ok(Value::map(patch))
}

fn fix(work: &mut Work, flags: &Arguments) -> Result<Notes, String> {
    if flags.switch("vars") {
        return Err("`--vars` is not supported by Purlin".to_owned());
    }
    let cwd = work.cwd.clone();
    edit::fix(&mut work.file, |path| !path.contains('\n') && named::is_file(&cwd.join(path)))?;
    Ok(Notes::new())
}
