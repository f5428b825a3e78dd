//! Adds default values to a configuration, after profiles and before it is used.
//!
//! Constant defaults are columns of the table; this file holds the conditions that no column can express. It must not
//! know other configurations.

use crate::again::Known;
use crate::editions::LATEST;
use crate::emit::{has_settings, is_set, port};
use crate::entities::{Entity, Field, artifact, build, deploy, run};
use crate::item::{Data, Form, Item, Step, View};
use crate::rules;
use purlin_model::schema::Literal;
use purlin_syntax::{Diagnostic, Sink, Span};

/// Inputs of defaults besides the configuration.
pub struct Surround<'a, 'f> {
    /// Namespace of the current kube-context; empty if it has no namespace.
    pub namespace: &'a str,
    /// The user's home folder, for `~`.
    pub home: &'a str,
    /// Receives problems.
    pub sink: &'a Sink,
    /// Place for problems that are written nowhere.
    pub fallback: Span,
    /// What other variants of the project have found out.
    pub(crate) known: Option<&'a Known<'f>>,
}

/// Adds the defaults of a configuration. False if an error prevents it, which is reported.
pub fn fill<'f>(config: &mut Item<'f>, around: &Surround<'_, 'f>) -> bool {
    let mut sound = true;
    let build = config.slot("build");
    environment(build);
    if !build.view().get("tagPolicy").is_some_and(|policy| has_settings(policy, &build::TAG_POLICY)) {
        build.set("tagPolicy", default(Item::single("gitCommit", Item::empty_map())));
    }
    sound &= artifacts(build, around);
    environments(build, around);
    logs(config);
    sound &= helm(config, around);
    sound &= port_forward(config, around);
    tests(config);
    sound
}

fn default(item: Item<'_>) -> Item<'_> {
    item.stepped(Step::Default, None, None)
}

/// Fills in the constant defaults of a section.
fn constants(section: &mut Item<'_>, entity: &'static Entity) {
    for row in entity.fields(LATEST).filter(|row| row.default.is_some()) {
        constant(section, row);
    }
}

fn constant(section: &mut Item<'_>, row: &Field) {
    if section.view().raw(row.key).is_some_and(|value| is_set(value, row)) {
        return;
    }
    let value = match row.default {
        Some(Literal::Bool(value)) => Data::Bool(value),
        Some(Literal::Int(value)) => Data::Int(value),
        Some(Literal::Text(text)) => Data::Text(text.into()),
        _ => return,
    };
    section.set(row.key, default(value.into()));
}

/// Without a build environment, images are built on this machine.
fn environment(build: &mut Item<'_>) {
    let view = build.view();
    if ["local", "googleCloudBuild", "cluster"].iter().all(|key| view.get(key).is_none()) {
        build.set("local", default(Item::empty_map()));
    }
}

fn environments(build: &mut Item<'_>, around: &Surround<'_, '_>) {
    let has_artifacts = build.view().get("artifacts").is_some_and(|list| list.items().next().is_some());
    if has_artifacts
        && let Some(local) = build.get_mut("local")
        && local.view().get("concurrency").is_none()
    {
        local.set("concurrency", default(Data::Int(1).into()));
    }
    if let Some(cloud) = build.get_mut("googleCloudBuild") {
        constants(cloud, &build::GOOGLE_CLOUD_BUILD);
    }
    if let Some(cluster) = build.get_mut("cluster") {
        self::cluster(cluster, around);
    }
}

fn cluster(cluster: &mut Item<'_>, around: &Surround<'_, '_>) {
    constants(cluster, &build::CLUSTER_DETAILS);
    if cluster.view().text_of("namespace").is_empty() {
        let namespace = if around.namespace.is_empty() { "default" } else { around.namespace };
        cluster.set("namespace", default(Item::text(namespace)));
    }
    if !cluster.view().text_of("pullSecretPath").is_empty() {
        expand_home(cluster, "pullSecretPath", around.home);
        if cluster.view().text_of("pullSecretName").is_empty() {
            cluster.set("pullSecretName", default(Item::text("kaniko-secret")));
        }
    }
    if let Some(docker) = cluster.get_mut("dockerConfig") {
        expand_home(docker, "path", around.home);
        if docker.view().text_of("secretName").is_empty() {
            docker.set("secretName", default(Item::text("docker-cfg")));
        }
    }
}

fn expand_home(section: &mut Item<'_>, key: &str, home: &str) {
    let Some(text) = section.view().get(key).map(View::eco) else { return };
    if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        section.set(key, Item::text(format!("{home}{rest}")));
    }
}

fn artifacts<'f>(build: &mut Item<'f>, around: &Surround<'_, 'f>) -> bool {
    let in_cluster = build.view().get("cluster").is_some();
    let Some(list) = build.get_mut("artifacts").filter(|list| list.view().form() == Form::List) else { return true };
    let mut sound = true;
    let place = list.view().span();
    for (at, artifact) in list.list().iter_mut().enumerate() {
        if artifact.view().form() == Form::Null {
            let span = artifact.view().span().or(place).unwrap_or(around.fallback);
            let message = format!("artifact {at} is empty");
            let hint = "give it an `image`, or remove it";
            around.sink.push(Diagnostic::at(&rules::EMPTY_ITEM, span, message).hint(hint));
            sound = false;
            continue;
        }
        match around.known {
            Some(known) => known.fill(artifact, in_cluster, |artifact| self::artifact(artifact, in_cluster)),
            None => self::artifact(artifact, in_cluster),
        }
    }
    sound
}

/// Fills in the folders of artifacts and tests alone. They differ from file to file, unlike all other defaults.
pub fn contexts(config: &mut Item<'_>) {
    if let Some(list) = config.get_mut("build").and_then(|build| build.get_mut("artifacts")) {
        context(list, &artifact::ARTIFACT);
    }
    if let Some(list) = config.get_mut("test") {
        context(list, &run::TEST_CASE);
    }
}

fn context(list: &mut Item<'_>, entity: &'static Entity) {
    if list.view().form() != Form::List {
        return;
    }
    for row in entity.fields(LATEST).filter(|row| row.key == "context" && row.default.is_some()) {
        list.list().iter_mut().filter(|item| item.view().form() == Form::Map).for_each(|item| constant(item, row));
    }
}

fn artifact(item: &mut Item<'_>, in_cluster: bool) {
    constants(item, &artifact::ARTIFACT);
    sync(item);
    let has = |item: &Item<'_>, key: &str| item.view().get(key).is_some();
    if in_cluster && !has(item, "custom") && !has(item, "buildpacks") && !has(item, "kaniko") {
        item.set("kaniko", default(Item::empty_map()));
    }
    let mut builders = artifact::builders();
    if builders.all(|row| !has(item, row.key)) {
        item.set("docker", default(Item::empty_map()));
    }
    let has_docker = has(item, "docker");
    if let Some(docker) = item.get_mut("docker") {
        constants(docker, &artifact::DOCKER_ARTIFACT);
    } else if let Some(kaniko) = item.get_mut("kaniko")
        && !has_docker
    {
        constants(kaniko, &artifact::KANIKO_ARTIFACT);
        if let Some(cache) = kaniko.get_mut("cache") {
            constants(cache, &artifact::KANIKO_CACHE);
        }
    }
    if let Some(custom) = item.get_mut("custom") {
        whole_folder(custom);
    }
    if let Some(buildpacks) = item.get_mut("buildpacks") {
        self::buildpacks(buildpacks);
    }
    aliases(item);
}

/// Files that trigger a rebuild: all of the context by default.
fn whole_folder(builder: &mut Item<'_>) {
    if builder.view().get("dependencies").is_none() {
        builder.set("dependencies", default(Item::single("paths", Item::texts(["."]))));
    }
}

fn buildpacks(item: &mut Item<'_>) {
    constants(item, &artifact::BUILDPACK_ARTIFACT);
    whole_folder(item);
    let view = item.view();
    let has_packs = view.get("buildpacks").is_some_and(|list| list.items().next().is_some());
    if view.text_of("builder").is_empty() && !has_packs {
        item.set("builder", default(Item::text("gcr.io/buildpacks/builder:v1")));
        item.set("trustBuilder", default(Data::Bool(true).into()));
    }
}

/// `sync: {}` lets the builder decide; buildpacks do so even without it.
fn sync(artifact: &mut Item<'_>) {
    let view = artifact.view();
    let decides = view.get("jib").is_some() || view.get("buildpacks").is_some();
    match view.get("sync") {
        None if view.get("buildpacks").is_some() => {
            artifact.set("sync", default(Item::single("auto", Data::Bool(true).into())));
        }
        None => {}
        Some(sync) => {
            let chosen = ["manual", "infer", "auto"]
                .iter()
                .any(|key| sync.get(key).is_some_and(|value| *key == "auto" || value.items().next().is_some()));
            if chosen {
                return;
            }
            let (key, value) =
                if decides { ("auto", Data::Bool(true).into()) } else { ("infer", Item::texts(["**/*"])) };
            if let Some(sync) = artifact.get_mut("sync") {
                sync.set(key, default(value));
            }
        }
    }
}

/// A required image is known to the builder by its own name unless it has an alias.
fn aliases(artifact: &mut Item<'_>) {
    let Some(requires) = artifact.get_mut("requires").filter(|list| list.view().form() == Form::List) else { return };
    for dependency in requires.list().iter_mut() {
        let view = dependency.view();
        if view.form() == Form::Map && view.text_of("alias").is_empty() {
            let image = view.text_of("image").into_owned();
            dependency.set("alias", default(Item::text(image)));
        }
    }
}

fn logs(config: &mut Item<'_>) {
    let deploy = config.slot("deploy");
    if deploy.view().at(&["logs", "prefix"]).is_none_or(|prefix| prefix.text().is_empty()) {
        let logs = deploy.slot("logs");
        constants(logs, &deploy::LOGS_CONFIG);
    }
}

fn helm(config: &mut Item<'_>, around: &Surround<'_, '_>) -> bool {
    let Some(helm) = config.get_mut("deploy").and_then(|deploy| deploy.get_mut("helm")) else { return true };
    constants(helm, &deploy::LEGACY_HELM_DEPLOY);
    crate::releases::check(helm.view(), around.sink, around.fallback)
}

fn port_forward(config: &mut Item<'_>, around: &Surround<'_, '_>) -> bool {
    let Some(list) = config.get_mut("portForward").filter(|list| list.view().form() == Form::List) else { return true };
    let mut sound = true;
    let place = list.view().span();
    for (at, item) in list.list().iter_mut().enumerate() {
        if item.view().form() == Form::Null {
            let span = item.view().span().or(place).unwrap_or(around.fallback);
            let message = format!("port forward {at} is empty");
            around.sink.push(Diagnostic::at(&rules::EMPTY_ITEM, span, message));
            sound = false;
            continue;
        }
        constants(item, &run::PORT_FORWARD_RESOURCE);
        let view = item.view();
        let port = view.get("port").and_then(port);
        if let Some(port) = port
            && view.raw("localPort").and_then(View::int).unwrap_or(0) == 0
        {
            let written = view.get("port").filter(|written| written.int() == Some(port)).map(View::to_item);
            item.set("localPort", written.unwrap_or_else(|| default(Data::Int(port).into())));
        }
    }
    sound
}

fn tests(config: &mut Item<'_>) {
    let Some(list) = config.get_mut("test").filter(|list| list.view().form() == Form::List) else { return };
    for item in list.list().iter_mut().filter(|item| item.view().form() == Form::Map) {
        constants(item, &run::TEST_CASE);
    }
}
