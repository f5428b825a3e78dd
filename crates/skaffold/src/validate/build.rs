//! Rules about artifacts and how they are built.

use super::Check;
use crate::again::{self, Judgement};
use crate::artifacts::Artifact;
use crate::entities::artifact::builders;
use crate::item::View;
use crate::walk::Config;
use crate::{image, rules};
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Sink};
use purlin_value::FastMap;

/// Checks the `build` and `test` sections of one configuration.
pub fn check(check: &Check<'_, '_>) {
    let config = check.config.item.view();
    let Some(build) = config.get("build") else { return };
    let environment = ["local", "googleCloudBuild", "cluster"].into_iter().find(|key| build.get(key).is_some());
    for artifact in build.get("artifacts").into_iter().flat_map(View::items) {
        // Aliases depend on what other artifacts build.
        let marks = check.marks().filter(|_| artifact.get("requires").is_none());
        let question = Judgement::Builder(environment);
        again::judge(marks, question, artifact, check.sink, || self::artifact(check, artifact, environment));
    }
    local(check, build);
    worker_pool(check, build);
}

fn artifact(check: &Check<'_, '_>, artifact: View<'_, '_>, environment: Option<&str>) {
    let name = artifact.text_of("image").into_owned();
    image_name(check, artifact, &name);
    network(check, artifact, &name);
    custom(check, artifact, &name);
    sync(check, artifact, &name);
    jib(check, artifact, &name);
    aliases(check, artifact, &name);
    if let Some(environment) = environment {
        builder(check, artifact, &name, environment);
    }
}

fn image_name(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let span = artifact.get("image").or(Some(artifact)).and_then(View::span);
    let taggers = "https://skaffold.dev/docs/how-tos/taggers/";
    match image::parse(name) {
        Err(_) if name.is_empty() => {
            let span = span.unwrap_or(check.config.span);
            let diagnostic = Diagnostic::at(&rules::IMAGE, span, what::missing("key", "image").and(" in an artifact"));
            check.push(diagnostic.hint("add `image:`, for example `image: shop/web`"));
        }
        Err(why) => {
            let span = span.unwrap_or(check.config.span);
            let diagnostic = Diagnostic::at(&rules::IMAGE, span, format!("invalid image name `{name}`: {why}"));
            check.push(diagnostic.hint("use lowercase letters, digits, `-`, `_`, `.` and `/`, for example `shop/web`"));
        }
        Ok(parts) if !parts.digest.is_empty() => {
            let words = format!("image `{name}` has a digest, which the build decides; see {taggers}");
            let message = Message::advising(words, "remove the digest from the image name");
            check.report(&rules::IMAGE, span, message);
        }
        Ok(parts) if !parts.tag.is_empty() => {
            let words = format!("image `{name}` has a tag, which `tagPolicy` decides; see {taggers}");
            let message = Message::advising(words, "remove the tag from the image name");
            check.report(&rules::IMAGE, span, message);
        }
        Ok(_) => {}
    }
}

/// `container:NAME` must be a name docker accepts; templates are not known yet.
fn network(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let Some(network) = artifact.at(&["docker", "network"]) else { return };
    let text = network.text();
    let Some(prefix) = text.get(..10).filter(|prefix| prefix.eq_ignore_ascii_case("container:")) else { return };
    let container = text.get(prefix.len()..).unwrap_or_default();
    if container.contains("{{") {
        return;
    }
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let fits = container.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric()) && container.bytes().all(inner);
    if !fits {
        let message =
            format!("artifact `{name}` uses the network of `{container}`, which is not a valid container name");
        check.report(&rules::VALUE, network.span(), message);
    }
}

fn custom(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let Some(dependencies) = artifact.at(&["custom", "dependencies"]) else { return };
    let set = |key: &str| dependencies.get(key).is_some();
    if set("ignore") && (set("dockerfile") || set("command")) {
        let message = format!("artifact `{name}`: `dependencies.ignore` works only with `dependencies.paths`");
        check.report(&rules::VALUE, dependencies.get("ignore").and_then(View::span), message);
    }
}

fn sync(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let Some(sync) = artifact.get("sync") else { return };
    for rule in sync.get("manual").into_iter().flat_map(View::items) {
        let (src, strip) = (rule.text_of("src"), rule.text_of("strip"));
        if !src.starts_with(strip.as_ref()) {
            let message = format!("sync pattern `{src}` does not start with `{strip}`, which is to be stripped");
            check.report(&rules::VALUE, rule.span(), message);
        }
    }
    let patterns = sync.get("infer").into_iter().flat_map(View::items);
    if let Some(ko) = artifact.get("ko") {
        let mut patterns = patterns.peekable();
        if patterns.peek().is_some() && ko.text_of("main").contains("...") {
            let message =
                format!("artifact `{name}` cannot infer what to sync when `ko.main` contains the `...` wildcard");
            check.report(&rules::VALUE, ko.get("main").and_then(View::span), message);
            return;
        }
        for pattern in patterns.filter(|pattern| !pattern.text().contains("kodata")) {
            let text = pattern.text();
            let message = format!("artifact `{name}`: pattern `{text}` must name the `kodata` folder, which ko syncs");
            let span = pattern.span().unwrap_or(check.config.span);
            check.push(Diagnostic::at(&rules::VALUE, span, message).hint("for all of it, write `kodata/**/*`"));
        }
    }
}

fn jib(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let Some(kind) = artifact.at(&["jib", "type"]) else { return };
    if !matches!(kind.text().as_ref(), "" | "maven" | "gradle") {
        let message = format!("artifact `{name}`: Jib's `type` is `maven` or `gradle`, not `{}`", kind.text());
        check.report(&rules::VALUE, kind.span(), message);
    }
}

/// Aliases are unique, and build arguments or variables where the builder makes them so.
fn aliases(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str) {
    let mut seen: Vec<String> = Vec::new();
    let strict = artifact.get("docker").is_some() || artifact.get("custom").is_some();
    for needed in artifact.get("requires").into_iter().flat_map(View::items) {
        let alias = needed.text_of("alias").into_owned();
        let alias = if alias.is_empty() { needed.text_of("image").into_owned() } else { alias };
        if seen.contains(&alias) {
            let message = format!("artifact `{name}` uses the alias `{alias}` twice");
            check.report(&rules::BUILD_DEPENDENCY, needed.span(), message);
            continue;
        }
        // An image that is not built is one mistake, not two.
        let is_built = check.built.contains(needed.text_of("image").as_ref());
        let first = alias.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if strict && is_built && !(first && alias.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
            let words = format!("artifact `{name}`: alias `{alias}` is not a valid name of a build argument");
            let message = what::about([&alias], words);
            let diagnostic =
                Diagnostic::at(&rules::BUILD_DEPENDENCY, needed.span().unwrap_or(check.config.span), message);
            check.push(diagnostic.hint("set `alias` to letters, digits and `_` (`^[a-zA-Z_][a-zA-Z0-9_]*$`)"));
        }
        seen.push(alias);
    }
}

/// Which builders work where.
fn builder(check: &Check<'_, '_>, artifact: View<'_, '_>, name: &str, environment: &str) {
    let Some(kind) = builders().find(|row| artifact.get(row.key).is_some()).map(|row| row.key) else { return };
    let (works, label, choice): (bool, &str, &str) = match environment {
        "local" => (kind != "kaniko", "local", "`cluster` or `googleCloudBuild`"),
        "googleCloudBuild" => {
            (matches!(kind, "kaniko" | "docker" | "jib" | "buildpacks" | "ko"), "gcb", "`local`, or another builder")
        }
        _ => (matches!(kind, "kaniko" | "custom"), "cluster", "`kaniko` or `custom`, or another environment"),
    };
    // Two builders at once are reported as such.
    let several = builders().filter(|row| artifact.get(row.key).is_some()).count() > 1;
    if !works && !several {
        let span = artifact.get(kind).or(Some(artifact)).and_then(View::span).unwrap_or(check.config.span);
        let message =
            format!("artifact `{name}` is built with '{kind}', which is incompatible with the '{label}' builder");
        check.push(Diagnostic::at(&rules::BUILDER, span, message).hint(format!("use {choice}")));
    }
}

fn local(check: &Check<'_, '_>, build: View<'_, '_>) {
    let import = build.at(&["local", "tryImportMissing"]).filter(|import| import.bool() == Some(true));
    if let Some(import) = import
        && build.at(&["tagPolicy", "sha256"]).is_some()
    {
        let message = "tag policy 'sha256' cannot be used together with 'tryImportMissing'".to_owned();
        check.report(&rules::VALUE, import.span(), message);
    }
}

fn worker_pool(check: &Check<'_, '_>, build: View<'_, '_>) {
    let Some(pool) = build.at(&["googleCloudBuild", "workerPool"]) else { return };
    let text = pool.text();
    let parts: Vec<&str> = text.split('/').collect();
    let fits = parts.windows(6).any(|part| {
        matches!(part, ["projects", a, "locations", b, "workerPools", c] if !a.is_empty() && !b.is_empty() && !c.is_empty())
    });
    if !text.is_empty() && !fits {
        let message = format!("`{text}` is not a worker pool");
        let diagnostic = Diagnostic::at(&rules::VALUE, pool.span().unwrap_or(check.config.span), message);
        check.push(diagnostic.hint("write it as `projects/PROJECT/locations/REGION/workerPools/POOL`"));
    }
}

/// No two artifacts of a run build the same image.
pub fn unique_images(configs: &[Config<'_>], artifacts: &[Artifact<'_, '_>], sink: &Sink) {
    let mut first: FastMap<&str, usize> = FastMap::default();
    for (at, artifact) in artifacts.iter().enumerate() {
        let Some(&other) = first.get(artifact.image.as_str()) else {
            first.insert(&artifact.image, at);
            continue;
        };
        let owner = |at: usize| artifacts.get(at).and_then(|artifact| configs.get(artifact.config));
        let (Some(span), Some(one), Some(two)) = (artifact.span(), owner(other), owner(at)) else { continue };
        let message = built_twice(&artifact.image, one, two);
        let mut diagnostic = Diagnostic::at(&rules::DUPLICATE_IMAGE, span, message);
        if let Some(span) = artifacts.get(other).and_then(Artifact::span) {
            diagnostic = diagnostic.label(span, "the first one is here");
        }
        sink.push(diagnostic.hint("each image is built by one artifact of all configurations"));
    }
}

fn built_twice(image: &str, one: &Config<'_>, two: &Config<'_>) -> String {
    let (first, second) = (&one.file.path, &two.file.path);
    if first != second {
        return format!("image `{image}` is built in `{first}` and in `{second}`");
    }
    if one.index == two.index {
        return what::duplicate("image", image).to_string();
    }
    format!("image `{image}` is built by two modules of `{first}`: `{}` and `{}`", one.label(), two.label())
}
