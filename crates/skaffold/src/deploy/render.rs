//! Turns configurations into Kubernetes manifests, as far as possible without a cluster: raw files, kustomizations,
//! helm releases, in this order.
//!
//! Kustomizations and charts are rendered by the engines in the request. Works on values, so that every part of the
//! result keeps its origin. It must not know how the result is printed.

use crate::glob::{Finder, Seen};
use crate::helm::{self, Helm};
use crate::item::View;
use crate::setters::{self, Setters};
use crate::transform::Selector;
use crate::walk::Config;
use crate::{glob, objects, rules, template};
use ecow::EcoString;
use purlin_model::{Ask, Engines, Manifest, Request};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{Map, Session, Value, path};
use std::collections::{BTreeMap, HashMap};

/// Default manifests of a single configuration without sources of manifests.
pub(crate) const DEFAULT_MANIFESTS: &str = "k8s/*.yaml";

/// Values inserted into manifests.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Built images by name: replacements for those in manifests.
    pub images: HashMap<String, String>,
    /// The same in the order they were given, for templates of releases.
    pub builds: Vec<(String, String)>,
    /// Labels for every resource.
    pub labels: Vec<(String, String)>,
    /// Namespace for resources without one.
    pub namespace: Option<String>,
    /// Namespace of all releases, over their own.
    pub release_namespace: Option<String>,
    /// Values for fields of manifests that a comment opens, and for releases.
    pub setters: Setters,
    /// Whether objects of a release state their namespace: the installer of a release puts them there.
    pub places_releases: bool,
}

/// A path relative to a configuration's file: to its folder if it was required, else to the user's working folder.
pub fn from_file(config: &Config<'_>, text: &str) -> String {
    match &config.base {
        Some(base) => path::join(base, text),
        None => path::join(&config.here, text),
    }
}

/// All manifests of all configurations, in order.
pub fn render(session: &Session, configs: &[Config<'_>], settings: &Settings, engines: Engines) -> Vec<Manifest> {
    let mut found = Vec::new();
    let single = configs.len() == 1;
    let helm = Helm { session, engines, settings, is_rehearsal: false };
    let names: BTreeMap<String, String> = session.world.env_table().into_iter().collect();
    let seen = Seen::default();
    for config in configs {
        for pattern in patterns(config, single) {
            let pattern = expanded(session, config, pattern, &names);
            let full = from_file(config, &pattern);
            let is_named = session.world.exists(&full);
            for file in glob::manifests(Finder::now(session, config.span, &seen), &full) {
                if is_manifest(&file) || (is_named && file == full) {
                    read(session, &file, config, settings, &mut found);
                }
            }
        }
        let arguments = config.item.view().at(&["manifests", "kustomize", "buildArgs"]);
        let arguments = arguments.map(|list| list.items().map(|item| Value::str(item.text())).collect::<Vec<_>>());
        let values = Value::map(Map::from_iter([("arguments".into(), Value::list(arguments.unwrap_or_default()))]));
        for (path, span) in kustomizations(config) {
            if !settings.setters.is_empty() {
                let message = "values of `--set` and `--set-value-file` do not reach kustomizations";
                let hint = "write the values in the kustomization";
                session
                    .sink
                    .push(Diagnostic::at(&rules::NOT_RENDERED, span.unwrap_or(config.span), message).hint(hint));
            }
            let path = expanded(session, config, path, &names);
            let folder = from_file(config, &path);
            let request = Request { engines, ..Request::default() };
            let ask = Ask { path: &folder, request, values: values.clone(), span };
            let engine = engines.get("kustomization").filter(|_| !crate::paths::is_address(&path));
            let built = engine.and_then(|engine| (engine.resolve)(session, &ask));
            found.extend(built.map(|built| built.manifests).unwrap_or_default());
        }
        for release in helm::releases(config).into_iter().filter(|release| helm::is_local(*release)) {
            found.extend(helm.render(config, release));
        }
    }
    let selector = Selector::of(configs);
    for manifest in &mut found {
        if let Some(changed) = selector.apply(session, &manifest.value, settings)
            && changed != manifest.value
        {
            *manifest = Manifest::new(manifest.source.clone(), changed);
        }
    }
    found
}

/// Renders the releases of charts to find problems with their values. The result is dropped.
pub fn rehearse(session: &Session, configs: &[Config<'_>], settings: &Settings, engines: Engines) {
    let helm = Helm { session, engines, settings, is_rehearsal: true };
    for config in configs {
        for release in helm::releases(config).into_iter().filter(|release| helm::is_local(*release)) {
            helm.render(config, release);
        }
    }
}

/// A path with its template expanded.
fn expanded(session: &Session, config: &Config<'_>, text: String, names: &BTreeMap<String, String>) -> String {
    if !text.contains("{{") {
        return text;
    }
    template::expand(&text, names).unwrap_or_else(|why| {
        session.sink.push(Diagnostic::at(&rules::TEMPLATE, config.span, why));
        text
    })
}

/// The folders of kustomizations, and where they are named.
pub fn kustomizations(config: &Config<'_>) -> Vec<(String, Option<purlin_syntax::Span>)> {
    let Some(section) = config.item.view().at(&["manifests", "kustomize"]) else { return Vec::new() };
    let paths = section.get("paths").into_iter().flat_map(View::items);
    let found: Vec<_> = paths.map(|path| (path.text().into_owned(), path.span())).collect();
    if found.is_empty() { vec![(".".to_owned(), section.span())] } else { found }
}

fn is_manifest(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
}

fn patterns(config: &Config<'_>, single: bool) -> Vec<String> {
    let view = config.item.view();
    let raw = view.at(&["manifests", "rawYaml"]);
    let written: Vec<String> = raw.into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect();
    let sources = ["kustomize", "helm", "kpt", "remoteManifests"];
    let other = sources.iter().any(|key| view.at(&["manifests", key]).is_some());
    let deployer = ["docker", "cloudrun", "helm"].iter().any(|key| view.at(&["deploy", key]).is_some());
    if single && written.is_empty() && !other && !deployer {
        return vec![DEFAULT_MANIFESTS.to_owned()];
    }
    written.into_iter().filter(|pattern| !crate::paths::is_address(pattern)).collect()
}

fn read(session: &Session, file: &str, config: &Config<'_>, settings: &Settings, found: &mut Vec<Manifest>) {
    let tree = match session.read_yaml(file, Flavor::GoObjects) {
        Ok(tree) => tree,
        Err(mut diagnostic) => {
            diagnostic.span = Some(config.span);
            return session.sink.push(diagnostic);
        }
    };
    let source = EcoString::from(tree.source().path());
    for root in tree.roots().filter(|root| !root.is_null()) {
        let value = setters::apply(session, root, &settings.setters);
        if value.as_map().is_none() {
            let message = what::expected("a Kubernetes object", value.kind_name());
            session.sink.push(Diagnostic::at(&rules::WRONG_TYPE, root.span(), message));
            continue;
        }
        session.sink.extend(objects::problems(root));
        found.push(Manifest::new(source.clone(), value));
    }
}

/// Reads the images of `--build-artifacts`: the output of a build. `None` if the file has another format.
pub fn built(text: &str, session: &Session) -> Option<Vec<(String, String)>> {
    let source = session.sources.insert("build artifacts", text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let builds = tree.root()?.get("builds")?;
    let pair = |item: purlin_syntax::Node<'_>| {
        Some((item.get("imageName")?.text().to_owned(), item.get("tag")?.text().to_owned()))
    };
    Some(builds.items().filter_map(pair).collect())
}
