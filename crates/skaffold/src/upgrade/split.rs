//! The one large step, `v2beta29` to `v3alpha1`: the sources of manifests were split from their deployment.

use super::{Step, each_release};
use crate::item::{Data, Form, Item, View};
use ecow::EcoString;

/// Moves the sources of manifests out of a pipeline's `deploy`.
pub fn pipeline(pipeline: &mut Item<'_>, step: &mut Step<'_>) {
    if let Some(kpt) = pipeline.view().at(&["deploy", "kpt"]) {
        let message = match &step.profile {
            Some(profile) => format!("`deploy.kpt` of profile `{profile}` cannot be converted"),
            None => "`deploy.kpt` of the main pipeline cannot be converted".to_owned(),
        };
        return step.fail(kpt, &message, "write it for the current version by hand");
    }
    kubectl(pipeline);
    kustomize(pipeline, step);
    helm(pipeline);
}

fn kubectl(pipeline: &mut Item<'_>) {
    let kubectl = pipeline.get_mut("deploy").and_then(|deploy| deploy.get_mut("kubectl"));
    let taken = kubectl.and_then(|kubectl| {
        kubectl.map();
        kubectl.move_entry("manifests", "rawYaml")
    });
    if let Some(manifests) = taken {
        pipeline.slot("manifests").put_entry(manifests);
    }
}

fn kustomize(pipeline: &mut Item<'_>, step: &mut Step<'_>) {
    let Some(mut old) = pipeline.get_mut("deploy").and_then(|deploy| deploy.take("kustomize")) else { return };
    let mut new = Item::empty_map();
    let paths = old.move_entry("paths", "paths").filter(|paths| paths.value.view().items().next().is_some());
    match paths {
        Some(paths) => new.put_entry(paths),
        None => new.set("paths", Item::texts(["."])),
    }
    if let Some(args) = old.move_entry("buildArgs", "buildArgs") {
        new.put_entry(args);
    }
    pipeline.slot("manifests").set("kustomize", new);
    let kubectl = pipeline.slot("deploy").slot("kubectl");
    kubectl.map();
    let conflict = merge_scalar(kubectl, &mut old, &["defaultNamespace"])
        .or_else(|| merge_scalar(kubectl, &mut old, &["flags", "disableValidation"]));
    if let Some((key, at)) = conflict {
        let message = format!("`{key}` is set differently for kustomize and kubectl, which become one");
        return step.fail(at.view(), &message, "make them agree, or remove one");
    }
    for key in ["global", "apply", "delete"] {
        append(kubectl, &mut old, "flags", key);
    }
    for key in ["before", "after"] {
        append(kubectl, &mut old, "hooks", key);
    }
}

/// Moves a single value; returns the key and location of the conflict if both are set and differ.
fn merge_scalar<'f>(to: &mut Item<'f>, from: &mut Item<'f>, path: &[&'static str]) -> Option<(&'static str, Item<'f>)> {
    let value = from.view().at(path)?.to_item();
    let last = path.last().copied()?;
    match to.view().at(path) {
        Some(own) if own.text() != value.view().text() => return Some((last, value)),
        Some(_) => {}
        None => match path {
            [section, key] => to.slot(section).set(key, value),
            _ => to.set(last, value),
        },
    }
    None
}

/// Appends a list to the other one's.
fn append<'f>(to: &mut Item<'f>, from: &mut Item<'f>, section: &str, key: &str) {
    let Some(more) = from.view().at(&[section, key]).filter(|list| list.items().next().is_some()) else { return };
    let more: Vec<Item<'f>> = more.items().map(View::to_item).collect();
    to.slot(section).slot(key).list().extend(more);
}

fn helm(pipeline: &mut Item<'_>) {
    each_release(pipeline, &mut |release| {
        let strategy = Strategy::of(release.view());
        release.take("imageStrategy");
        let Some(overrides) = release.take("artifactOverrides") else { return };
        let mut flat = Vec::new();
        crate::emit::flatten(overrides.view(), String::new(), &mut flat);
        let templates = release.slot("setValueTemplates");
        templates.map();
        for (key, image) in flat {
            for (key, template) in strategy.values(&key, &image.text()) {
                templates.set(&key, Item { place: image.span(), ..Item::text(template) });
            }
        }
    });
    let Some(helm) = pipeline.view().at(&["deploy", "helm"]) else { return };
    let mut source = Item::empty_map();
    for key in ["releases", "flags"] {
        if let Some(value) = helm.get(key) {
            source.set(key, value.to_item());
        }
    }
    pipeline.slot("manifests").set("helm", source);
}

/// How a release gets the image.
#[derive(Clone, Copy)]
enum Strategy {
    /// One value with the whole name.
    Whole,
    /// Repository and tag.
    RepositoryTag,
    /// Registry, repository and tag.
    RegistryRepositoryTag,
}

impl Strategy {
    fn of(release: View<'_, '_>) -> Strategy {
        match release.at(&["imageStrategy", "helm"]) {
            Some(helm) if helm.get("explicitRegistry").and_then(View::bool) == Some(true) => {
                Strategy::RegistryRepositoryTag
            }
            Some(_) => Strategy::RepositoryTag,
            None => Strategy::Whole,
        }
    }

    fn values(self, key: &str, image: &str) -> Vec<(String, String)> {
        let image = image.replace(['.', '-', '/', ':'], "_");
        let tag = || (format!("{key}.tag"), format!("{{{{.IMAGE_TAG_{image}}}}}@{{{{.IMAGE_DIGEST_{image}}}}}"));
        match self {
            Strategy::Whole => vec![(key.to_owned(), format!("{{{{.IMAGE_FULLY_QUALIFIED_{image}}}}}"))],
            Strategy::RepositoryTag => {
                vec![tag(), (format!("{key}.repository"), format!("{{{{.IMAGE_REPO_{image}}}}}"))]
            }
            Strategy::RegistryRepositoryTag => vec![
                tag(),
                (format!("{key}.repository"), format!("{{{{.IMAGE_REPO_NO_DOMAIN_{image}}}}}")),
                (format!("{key}.registry"), format!("{{{{.IMAGE_DOMAIN_{image}}}}}")),
            ],
        }
    }
}

/// Rewrites the paths of profiles' patches, which point into the pipeline as it was.
pub fn patches(config: &mut Item<'_>) {
    let releases: Vec<Strategy> =
        config.view().at(&["deploy", "helm", "releases"]).into_iter().flat_map(View::items).map(Strategy::of).collect();
    let Some(profiles) = config.get_mut("profiles").filter(|list| list.view().form() == Form::List) else { return };
    for profile in profiles.list().iter_mut() {
        let Some(patches) = profile.get_mut("patches").filter(|list| list.view().form() == Form::List) else {
            continue;
        };
        let rewritten = patches.view().items().flat_map(|patch| rewrite(patch, &releases)).collect();
        patches.data = Data::list(rewritten);
    }
}

/// Result for a patch: one patch, or two where a section now exists twice.
fn rewrite<'f>(patch: View<'_, 'f>, releases: &[Strategy]) -> Vec<Item<'f>> {
    let path = patch.text_of("path").into_owned();
    if let Some(values) = override_values(&path, patch, releases) {
        return values;
    }
    let with = |path: String, from: Option<String>| {
        let mut item = patch.to_item();
        item.set("path", Item::text(path));
        if let Some(from) = from {
            item.set("from", Item::text(from));
        }
        item
    };
    let from = patch.get("from").map(|from| from.text().into_owned());
    if path == "/deploy/helm" || path.starts_with("/deploy/helm/") {
        let source = |text: &str| text.replacen("/deploy/helm", "/manifests/helm", 1);
        return vec![with(source(&path), from.as_deref().map(source)), patch.to_item()];
    }
    let (new_path, new_from) = (moved(&path), from.as_deref().map(moved));
    if new_path == path && new_from == from {
        return vec![patch.to_item()];
    }
    vec![with(new_path, new_from)]
}

/// New path for a path of the old pipeline.
fn moved(path: &str) -> String {
    const MOVES: &[(&str, &str)] = &[
        ("/deploy/kubectl/manifests", "/manifests/rawYaml"),
        ("/deploy/kustomize/flags", "/deploy/kubectl/flags"),
        ("/deploy/kustomize/hooks", "/deploy/kubectl/hooks"),
        ("/deploy/kustomize/defaultNamespace", "/deploy/kubectl/defaultNamespace"),
        ("/deploy/kustomize", "/manifests/kustomize"),
    ];
    let fits =
        |old: &&(&str, &str)| path.strip_prefix(old.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match MOVES.iter().find(fits) {
        Some((old, new)) => path.replacen(old, new, 1),
        None => path.to_owned(),
    }
}

/// A patch of one artifact override becomes patches of the corresponding templates.
fn override_values<'f>(path: &str, patch: View<'_, 'f>, releases: &[Strategy]) -> Option<Vec<Item<'f>>> {
    let rest = path.strip_prefix("/deploy/helm/releases/")?;
    let (index, rest) = rest.split_once('/')?;
    let key = rest.strip_prefix("artifactOverrides/")?;
    let strategy = *releases.get(index.parse::<usize>().ok()?)?;
    let image = patch.text_of("value").into_owned();
    let values = strategy.values(key, &image).into_iter().map(|(key, template)| {
        let mut item = patch.to_item();
        let key: EcoString = key.replace('~', "~0").replace('/', "~1").into();
        item.set("path", Item::text(format!("/manifests/helm/releases/{index}/setValueTemplates/{key}")));
        item.set("value", Item::text(template));
        item
    });
    Some(values.collect())
}
