//! Rules for the beta editions, one small change each.

use super::{Step, each_artifact, each_release};
use crate::item::{Data, Form, Item, View};

/// `v1beta4`: `useBuildkit` was off unless set; from the next edition on "not set" has another meaning.
pub fn buildkit(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(local) = pipeline.get_mut("build").and_then(|build| build.get_mut("local"))
        && local.view().get("useBuildkit").is_none()
    {
        local.set("useBuildkit", Data::Bool(false).into());
    }
}

/// `v1beta6`: kaniko was a build environment; it became a builder of each artifact, in a cluster.
pub fn kaniko(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    let Some(build) = pipeline.get_mut("build") else { return };
    let Some(mut kaniko) = build.take("kaniko") else { return };
    let mut cluster = Item::empty_map();
    for key in ["pullSecret", "pullSecretName", "namespace", "timeout", "dockerConfig"] {
        if let Some(value) = kaniko.take(key) {
            cluster.set(key, value);
        }
    }
    build.set("cluster", cluster);
    each_artifact(pipeline, &mut |artifact| {
        let mut builder = kaniko.clone();
        builder.map();
        if let Some(mut docker) = artifact.take("docker") {
            for key in ["dockerfile", "target", "buildArgs"] {
                if let Some(value) = docker.take(key) {
                    builder.set(key, value);
                }
            }
        }
        artifact.set("kaniko", builder);
    });
}

/// `v1beta8`: builders and environments given by name became sections.
pub fn plugins(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(build) = pipeline.get_mut("build")
        && let Some(mut environment) = build.take("executionEnvironment")
    {
        named_section(build, &mut environment, &["googleCloudBuild", "local"]);
    }
    each_artifact(pipeline, &mut |artifact| {
        if let Some(mut plugin) = artifact.take("plugin") {
            named_section(artifact, &mut plugin, &["docker", "bazel"]);
        }
    });
}

fn named_section<'f>(parent: &mut Item<'f>, section: &mut Item<'f>, known: &[&str]) {
    let name = section.view().text_of("name").into_owned();
    if known.contains(&name.as_str()) {
        let settings = section.take("properties").unwrap_or_else(Item::empty_map);
        parent.set(&name, settings);
    }
}

/// `v1beta9`: a map of patterns became rules. Matches were copied flat into the destination; rules keep folders, so
/// each gets the part of the path to strip.
pub fn sync(pipeline: &mut Item<'_>, step: &mut Step<'_>) {
    let step = &*step;
    each_artifact(pipeline, &mut |artifact| {
        let Some(map) = artifact.take("sync").filter(|sync| sync.view().form() == Form::Map) else { return };
        let rules: Vec<Item<'_>> = map
            .view()
            .entries()
            .map(|pair| {
                if pair.key.contains("**") && !pair.key.contains("***") {
                    let message = format!("sync pattern `{}` keeps its folders from now on", pair.key);
                    step.warn(pair.written.map(|node| node.span()), &message);
                }
                let rule = sync_rule(pair.key, &pair.value.text());
                let mut item = Item::empty_map();
                item.set("src", Item::text(rule.src));
                item.set("dest", Item::text(rule.dest));
                if !rule.strip.is_empty() {
                    item.set("strip", Item::text(rule.strip));
                }
                item
            })
            .collect();
        if !rules.is_empty() {
            artifact.set("sync", Item::single("manual", Data::list(rules).into()));
        }
    });
}

#[derive(Debug, PartialEq)]
struct SyncRule {
    src: String,
    dest: String,
    strip: String,
}

fn sync_rule(pattern: &str, dest: &str) -> SyncRule {
    let (src, strip) = match pattern.find("***") {
        Some(at) => (pattern.replace("***", "**"), pattern.get(..at).unwrap_or("")),
        None if pattern.contains("**") => (pattern.to_owned(), ""),
        None => (pattern.to_owned(), pattern.rfind('/').and_then(|at| pattern.get(..=at)).unwrap_or("")),
    };
    // Nothing is stripped for a destination that ends in the folder itself.
    let whole = format!("{}/", dest.trim_end_matches('/'));
    if strip.len() > 1
        && let Some(rest) = whole.strip_suffix(strip)
        && (rest.is_empty() || rest.ends_with('/') || strip.starts_with('/'))
    {
        let rest = match (rest.is_empty(), strip.starts_with('/')) {
            (true, true) => "/",
            (true, false) => ".",
            _ => rest,
        };
        return SyncRule { src, dest: rest.to_owned(), strip: String::new() };
    }
    SyncRule { src, dest: dest.to_owned(), strip: strip.to_owned() }
}

/// `v1beta13`: Jib's two builders became one.
pub fn jib(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_artifact(pipeline, &mut |artifact| {
        for (old, project, kind) in [("jibMaven", "module", "maven"), ("jibGradle", "project", "gradle")] {
            let Some(mut builder) = artifact.take(old) else { continue };
            let mut jib = Item::empty_map();
            if let Some(project) = builder.take(project) {
                jib.set("project", project);
            }
            let mut args: Vec<Item<'_>> =
                builder.view().get("args").into_iter().flat_map(View::items).map(View::to_item).collect();
            if let Some(profile) = builder.take("profile").filter(|profile| !profile.view().text().is_empty()) {
                args.extend([Item::text("--activate-profiles"), profile]);
            }
            if !args.is_empty() {
                jib.set("args", Data::list(args).into());
            }
            jib.set("type", Item::text(kind));
            artifact.set("jib", jib);
        }
    });
}

/// `v2alpha1`: the init image moved out of the build context.
pub fn init_image(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_artifact(pipeline, &mut |artifact| {
        let Some(kaniko) = artifact.get_mut("kaniko") else { return };
        let Some(mut context) = kaniko.take("buildContext") else { return };
        if let Some(image) = context.get_mut("localDir").and_then(|folder| folder.take("initImage")) {
            kaniko.set("initImage", image);
        }
    });
}

/// `v2alpha2`: one path became a list.
pub fn kustomize_paths(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(kustomize) = pipeline.get_mut("deploy").and_then(|deploy| deploy.get_mut("kustomize"))
        && let Some(path) = kustomize.take("path")
    {
        kustomize.set("paths", Data::list(vec![path]).into());
    }
}

/// `v2beta3`: `values` became `artifactOverrides`.
pub fn artifact_overrides(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_release(pipeline, &mut |release| release.rename("values", "artifactOverrides"));
}

/// `v2beta4`: clearer names.
pub fn renames(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    if let Some(cluster) = pipeline.get_mut("build").and_then(|build| build.get_mut("cluster")) {
        cluster.rename("pullSecret", "pullSecretPath");
    }
    each_artifact(pipeline, &mut |artifact| artifact.rename("buildpack", "buildpacks"));
}

/// `v2beta8`: `auto` became a switch.
pub fn auto_sync(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_artifact(pipeline, &mut |artifact| {
        if let Some(sync) = artifact.get_mut("sync")
            && sync.view().get("auto").is_some_and(|auto| auto.form() == Form::Map)
        {
            sync.set("auto", Data::Bool(true).into());
        }
    });
}

/// `v2beta12`: charts in repositories got a key of their own.
pub fn remote_charts(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_release(pipeline, &mut |release| {
        if release.take("remote").is_some_and(|remote| remote.view().bool() == Some(true)) {
            release.rename("chartPath", "remoteChart");
        }
    });
}

/// `v2beta16`: the place of a secret in the build is no longer chosen here.
pub fn secret_targets(pipeline: &mut Item<'_>, step: &mut Step<'_>) {
    let step = &*step;
    each_artifact(pipeline, &mut |artifact| {
        let Some(secret) = artifact.get_mut("docker").and_then(|docker| docker.get_mut("secret")) else { return };
        if let Some(target) = secret.take("dst") {
            step.warn(target.view().span(), "`dst` of a docker secret is dropped; name the place in the Dockerfile");
        }
    });
}

/// `v2beta22`: one secret became a list.
pub fn secrets(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_artifact(pipeline, &mut |artifact| {
        if let Some(docker) = artifact.get_mut("docker")
            && let Some(secret) = docker.take("secret")
        {
            docker.set("secrets", Data::list(vec![secret]).into());
        }
    });
}

/// `v2beta27`: platforms moved from ko to the artifact.
pub fn ko_platforms(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    each_artifact(pipeline, &mut |artifact| {
        let platforms = artifact.get_mut("ko").and_then(|ko| ko.take("platforms"));
        if let Some(platforms) = platforms.filter(|list| list.view().items().next().is_some()) {
            artifact.set("platforms", platforms);
        }
    });
}

/// `v3`: manifests fetched from a cluster became a source of manifests, with the context they come from.
pub fn remote_manifests(pipeline: &mut Item<'_>, _: &mut Step<'_>) {
    let context = pipeline.view().at(&["deploy", "kubeContext"]).map(View::to_item);
    let taken = pipeline
        .get_mut("deploy")
        .and_then(|deploy| deploy.get_mut("kubectl"))
        .and_then(|kubectl| kubectl.take("remoteManifests"));
    let Some(manifests) = taken.filter(|list| list.view().items().next().is_some()) else { return };
    let remote: Vec<Item<'_>> = manifests
        .view()
        .items()
        .map(|manifest| {
            let mut item = Item::single("manifest", manifest.to_item());
            if let Some(context) = &context {
                item.set("kubeContext", context.clone());
            }
            item
        })
        .collect();
    pipeline.slot("manifests").set("remoteManifests", Data::list(remote).into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sync_rules_strip_what_was_flattened() {
        for (pattern, dest, expected) in [
            ("/public/A/B/a.html", "/public/A/B", ("/public/A/B/a.html", "/", "")),
            ("/b.html", "/www", ("/b.html", "/www", "/")),
            ("public/A/d.html", "public/A/", ("public/A/d.html", ".", "")),
            ("public/*", "/app/public/", ("public/*", "/app/", "")),
            ("b/*", "/ab/", ("b/*", "/ab/", "b/")),
            ("src/***/*.js", "app/", ("src/**/*.js", "app/", "src/")),
            ("src/**/*.js", "app/", ("src/**/*.js", "app/", "")),
        ] {
            let rule = sync_rule(pattern, dest);
            assert_eq!((rule.src.as_str(), rule.dest.as_str(), rule.strip.as_str()), expected, "{pattern}");
        }
    }
}
