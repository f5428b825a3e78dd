//! `purlin kustomize`: `build`, `create` and `edit` with Kustomize's own flags.

mod edit;
mod paths;

use super::Personality;
use super::arguments::{Arguments, Takes};
use crate::border::{write_atomically, write_below};
use crate::disk::Permissions;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use purlin_host::named;
use purlin_kustomize::FILES;
use purlin_kustomize::file::{KustomizationFile, edit as change, go_yaml};
use purlin_model::{Ask, Manifest, Request};
use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use purlin_value::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The personality.
#[rustfmt::skip]
pub(super) const KUSTOMIZE: Personality = Personality {
    name: "kustomize",
    summary: "Builds and edits kustomizations as Kustomize does.",
    commands: &[
        ("build [DIR]", "the objects of a kustomization"),
        ("create", "a kustomization file in this folder"),
        ("edit set annotation|buildmetadata|configmap|image|label|namespace|nameprefix|namesuffix|replicas|secret", "change fields"),
        ("edit add annotation|base|buildmetadata|component|configmap|configuration|generator|label|patch|resource|secret|transformer", "add to fields"),
        ("edit remove annotation|buildmetadata|component|configmap|label|patch|resource|secret|transformer", "remove from fields"),
        ("edit fix", "replace fields that are deprecated"),
        ("version", "the version of Kustomize that is followed"),
    ],
    options: &[
        ("-o, --output PATH", "build: write to a file, or one file per object to a folder"),
        ("    --enable-helm", "build: render charts"),
        ("    --helm-kube-version VERSION", "build: version of Kubernetes for charts"),
        ("    --helm-api-versions VERSION", "build: further API versions for charts"),
        ("    --load-restrictor NAME", "build: `LoadRestrictionsNone` reads files outside of the kustomization"),
        ("    --reorder none|legacy", "build: order of objects where `sortOptions` is not set"),
        ("    --enable-managedby-label", "build: label objects with what built them"),
        ("    --enable-alpha-plugins", "build: accepted; plugins that are programs need `--allow-exec`"),
        ("    --autodetect", "create: add the manifests of this folder"),
        ("    --recursive", "create: look for them in folders below as well"),
        ("    --resources LIST", "create: files and folders to add"),
        ("-f, --force", "edit add: replace what is there"),
        ("    --no-verify", "edit add resource: add paths that do not exist"),
    ],
    refused: &["cfg", "completion", "docs", "fn", "localize", "openapi", "plugin"],
    run,
};

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else { return Err(super::unknown(invocation, &KUSTOMIZE, "")) };
    match command.as_str() {
        "build" => build(invocation, rest),
        "create" | "init" => create(invocation, rest),
        "edit" => edit::edit(invocation, rest),
        "version" => Ok(invocation.print(concat!("v5.5.0 (purlin ", env!("CARGO_PKG_VERSION"), ")\n"))),
        other => Err(super::unknown(invocation, &KUSTOMIZE, other)),
    }
}

/// Kustomize's exit code for any failure.
fn fail(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "Error: {message}");
    Exit::Invalid
}

/// Flags of `build`.
#[rustfmt::skip]
const BUILD: &[(&str, char, Takes)] = &[
    ("output", 'o', Takes::Text),
    ("load-restrictor", ' ', Takes::Text),
    ("reorder", ' ', Takes::Text),
    ("enable-helm", ' ', Takes::Switch),
    ("helm-command", ' ', Takes::Text),
    ("helm-api-versions", ' ', Takes::List),
    ("helm-kube-version", ' ', Takes::Text),
    ("helm-debug", ' ', Takes::Switch),
    ("enable-alpha-plugins", ' ', Takes::Switch),
    ("enable-exec", ' ', Takes::Switch),
    ("enable-managedby-label", ' ', Takes::Switch),
    ("as-current-user", ' ', Takes::Switch),
    ("network", ' ', Takes::Switch),
    ("network-name", ' ', Takes::Text),
    ("env", 'e', Takes::List),
    ("mount", ' ', Takes::List),
    ("stack-trace", ' ', Takes::Switch),
    ("allow-path", ' ', Takes::List),
    ("allow-net", ' ', Takes::List),
    ("allow-exec", ' ', Takes::Switch),
];

/// Flags of `build` that concern programs and containers, which this engine does not start.
const WITHOUT_EFFECT: &[&str] =
    &["helm-command", "helm-debug", "network", "network-name", "env", "mount", "as-current-user"];

/// `build`: the objects of a kustomization.
fn build(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = Arguments::read(args, BUILD).map_err(|message| fail(invocation, &message))?;
    let folder = match flags.words.as_slice() {
        [] => ".",
        [folder] => folder,
        _ => return Err(fail(invocation, "specify one path to a kustomization")),
    };
    if paths::is_remote(folder) {
        let hint = "clone the repository and name the folder";
        return Err(fail(invocation, &format!("`{folder}` is remote, which is not supported; {hint}")));
    }
    check(&flags).map_err(|message| fail(invocation, &message))?;
    for name in WITHOUT_EFFECT.iter().filter(|name| flags.has(name)) {
        let _ = writeln!(invocation.stderr, "warning: `--{name}` has no effect");
    }
    let mut setup = Setup::of(folder);
    setup.permissions = Permissions {
        paths: flags.list("allow-path").iter().map(Into::into).collect(),
        hosts: flags.list("allow-net").to_vec(),
        exec: flags.switch("allow-exec"),
        ..Permissions::default()
    };
    let (session, path) = open_session(invocation, &setup)?;
    let request = Request { engines: purlin_compiler::ENGINES, manifests: true, ..Request::default() };
    let values = Map::from_iter([("arguments".into(), Value::list(engine_arguments(&flags)))]);
    let ask = Ask { path: &path, request, values: Value::map(values), span: None };
    let resolved = purlin_kustomize::resolve(&session, &ask);
    match report(invocation, &session, Style::given(invocation)) {
        Exit::Ok => {}
        exit => return Err(exit),
    }
    let manifests = resolved.map(|resolved| resolved.manifests).unwrap_or_default();
    hand_out(invocation, flags.text("output"), &manifests)
}

/// Refuses invalid values of flags.
fn check(flags: &Arguments) -> Result<(), String> {
    let known: &[(&str, &[&str])] = &[
        ("load-restrictor", &["", "LoadRestrictionsNone", "LoadRestrictionsRootOnly"]),
        ("reorder", &["legacy", "none"]),
    ];
    for (name, values) in known {
        if let Some(given) = flags.text(name).filter(|given| !values.contains(given)) {
            let values: Vec<&str> = values.iter().copied().filter(|value| !value.is_empty()).collect();
            return Err(format!("illegal flag value `--{name} {given}`; legal values: {}", values.join(", ")));
        }
    }
    Ok(())
}

/// Arguments for the engine.
fn engine_arguments(flags: &Arguments) -> Vec<Value> {
    let switches = ["enable-helm", "enable-alpha-plugins", "enable-exec", "enable-managedby-label"];
    let on = switches.iter().filter(|name| flags.switch(name)).map(|name| format!("--{name}"));
    let texts = ["load-restrictor", "reorder", "helm-kube-version"];
    let texts = texts.iter().filter_map(|name| {
        let text = flags.text(name).filter(|text| !text.is_empty())?;
        Some(format!("--{name}={text}"))
    });
    let versions = flags.list("helm-api-versions").iter().map(|version| format!("--helm-api-versions={version}"));
    on.chain(texts).chain(versions).map(Value::from).collect()
}

/// Prints objects, writes them to a file, or each to a file of its own in a folder.
fn hand_out(invocation: &mut Invocation<'_>, output: Option<&str>, manifests: &[Manifest]) -> Result<Exit, Exit> {
    let bodies: Vec<String> = manifests.iter().map(|manifest| go_yaml(&manifest.value)).collect();
    let text = bodies.join("---\n");
    let Some(output) = output.filter(|output| !output.is_empty()) else { return Ok(invocation.print(&text)) };
    let target = invocation.cwd.join(output);
    let written = if named::is_folder(&target) {
        let names = file_names(manifests);
        names.iter().zip(&bodies).try_for_each(|(name, body)| write_below(&target, name, body.as_bytes()))
    } else {
        write_atomically(&target, text.as_bytes())
    };
    match written {
        Ok(()) => Ok(Exit::Ok),
        Err(error) => Err(fail(invocation, &format!("could not write `{output}`: {error}"))),
    }
}

/// A file for each object: `GROUP_VERSION_KIND_NAME.yaml`, after its namespace where there are several.
fn file_names(manifests: &[Manifest]) -> Vec<String> {
    let text = |value: &Value, path: &str| value.at(path).and_then(|found| found.as_str().map(str::to_owned));
    let namespaced = |value: &Value| {
        let (version, kind) = (text(value, "apiVersion").unwrap_or_default(), text(value, "kind").unwrap_or_default());
        purlin_kustomize::is_namespaced(&version, &kind)
    };
    let namespace = |value: &Value| {
        let own = text(value, "metadata.namespace").filter(|own| !own.is_empty());
        namespaced(value).then(|| own.unwrap_or_else(|| "default".to_owned()))
    };
    let all: BTreeSet<String> = manifests.iter().filter_map(|manifest| namespace(&manifest.value)).collect();
    let name = |manifest: &Manifest| {
        let value = &manifest.value;
        let version = text(value, "apiVersion").unwrap_or_default();
        let (group, version) =
            version.split_once('/').map_or(("", version.as_str()), |(group, version)| (group, version));
        let (kind, own) = (text(value, "kind").unwrap_or_default(), text(value, "metadata.name").unwrap_or_default());
        let parts = [group, version, &kind].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let file = format!("{}_{own}.yaml", parts.join("_")).to_lowercase();
        match namespace(value).filter(|_| all.len() > 1) {
            Some(namespace) => format!("{}_{file}", namespace.to_lowercase()),
            None => file,
        }
        // An object's name must not become a path.
        .replace(['/', '\\'], "_")
    };
    manifests.iter().map(name).collect()
}

/// Flags of `create`.
#[rustfmt::skip]
const CREATE: &[(&str, char, Takes)] = &[
    ("resources", ' ', Takes::Text),
    ("namespace", ' ', Takes::Text),
    ("annotations", ' ', Takes::Text),
    ("labels", ' ', Takes::Text),
    ("nameprefix", ' ', Takes::Text),
    ("namesuffix", ' ', Takes::Text),
    ("autodetect", ' ', Takes::Switch),
    ("recursive", ' ', Takes::Switch),
];

/// `create`: a kustomization file in this folder.
fn create(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let done = created(invocation, args);
    done.map_err(|message| fail(invocation, &message))
}

fn created(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, String> {
    let flags = Arguments::read(args, CREATE)?;
    let text = |name: &str| flags.text(name).unwrap_or_default().to_owned();
    let listed = |name: &str| -> Vec<String> {
        text(name).split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
    };
    let mut resources = paths::existing(&invocation.cwd, &listed("resources"))?;
    if FILES.iter().any(|name| named::exists(&invocation.cwd.join(name))) {
        return Err("kustomization file already exists".to_owned());
    }
    if flags.switch("autodetect") {
        let mut found = Vec::new();
        detect(&invocation.cwd, "", flags.switch("recursive"), &mut found)?;
        found.retain(|path| !resources.contains(path));
        resources.extend(found);
    }
    let mut file = KustomizationFile::empty();
    file.set_list("resources", resources.into_iter().map(Value::from).collect());
    for (flag, field) in [("namespace", "namespace"), ("nameprefix", "namePrefix"), ("namesuffix", "nameSuffix")] {
        file.set(field, Value::from(text(flag)));
    }
    for (flag, field, kind) in [("annotations", "commonAnnotations", "annotation"), ("labels", "commonLabels", "label")]
    {
        change::add_pairs(&mut file, field, kind, &change::pairs(&listed(flag), kind)?, true)?;
    }
    write_atomically(&invocation.cwd.join("kustomization.yaml"), file.write().as_bytes())
        .map_err(|error| format!("could not write `kustomization.yaml`: {error}"))?;
    Ok(Exit::Ok)
}

/// Maximum depth of the search.
const MOST_LEVELS: usize = 100;

/// The files below a folder that hold objects, and folders that are kustomizations, in the order of their names.
fn detect(cwd: &Path, folder: &str, is_recursive: bool, found: &mut Vec<String>) -> Result<(), String> {
    if folder.split('/').count() > MOST_LEVELS {
        return Err(format!("folders are nested more than {MOST_LEVELS} levels deep"));
    }
    for (name, is_folder) in paths::listed(&cwd.join(folder))? {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let full = cwd.join(&path);
        match is_folder {
            true if !is_recursive => {}
            true if FILES.iter().any(|name| named::exists(&full.join(name))) => found.push(path),
            true => detect(cwd, &path, is_recursive, found)?,
            false if holds_objects(&full) => found.push(path),
            false => {}
        }
    }
    Ok(())
}

/// Whether every document of a file is an object. This holds for an empty file.
fn holds_objects(file: &Path) -> bool {
    let Ok(text) = named::read_text(file, named::LARGEST) else { return false };
    let source = Source::new(FileId(0), file.to_string_lossy().as_ref(), text);
    let tree = yaml::parse(source.into(), Flavor::Go, &Limits::default());
    let has_text =
        |root: purlin_syntax::Node<'_>, key: &str| root.get(key).is_some_and(|value| value.as_str().is_some());
    let has_name =
        |root: purlin_syntax::Node<'_>| root.get("metadata").is_some_and(|metadata| has_text(metadata, "name"));
    let is_list = |root: purlin_syntax::Node<'_>| root.get("kind").is_some_and(|kind| kind.text().ends_with("List"));
    tree.is_sound()
        && tree
            .roots()
            .filter(|root| !root.is_null())
            .all(|root| has_text(root, "kind") && (has_name(root) || is_list(root)))
}
