//! Likely mistakes that Skaffold accepts silently, or rejects only when it builds or deploys: missing files, images
//! that are not built, patches of inactive profiles.
//!
//! Warnings only, and only where another intention is unlikely. It must not change anything.

use super::{Check, near_path, run_in, variable_name};
use crate::again::{self, Judgement, Known};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::entities::{Entity, Holds, holds, is_open};
use crate::glob::Finder;
use crate::item::{Form, Item, View};
use crate::load::{Document, File};
use crate::profile::family::{Member, Patched};
use crate::profile::{self, Application, patch};
use crate::render::from_file;
use crate::walk::Config;
use crate::{emit, helm, image, paths, rules, template};
use ecow::EcoString;
use purlin_gotmpl::Misread;
use purlin_model::Manifest;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Hint, Node, Sink, Span, suggest};
use purlin_value::{FastMap, FastSet, Meter, Session, Value, path};
use std::collections::BTreeSet;

/// Files of a chart's templates that are searched for a value before it counts as misspelt.
const MOST_TEMPLATES: usize = 200;
/// Values that are worked through at most for the patches of profiles that are not active.
const MOST_PATCHED: usize = 200_000;
/// Bytes of templates that are searched in the time of a step.
const SEARCHED_PER_STEP: u64 = 16;
/// Default name of a Dockerfile.
const DOCKERFILE: &str = "Dockerfile";
/// The highest port.
const LAST_PORT: i64 = 65_535;
/// Go's names for the systems that hooks may name.
#[rustfmt::skip]
const SYSTEMS: &[&str] = &[
    "darwin", "linux", "windows", "freebsd", "openbsd", "netbsd", "dragonfly", "solaris", "illumos", "aix", "android",
    "ios", "js", "plan9", "wasip1",
];
/// Prefixes of built images' names in templates; the longer ones first.
const IMAGE_NAMES: &[&str] = &[
    "IMAGE_REPO_NO_DOMAIN_",
    "IMAGE_FULLY_QUALIFIED_",
    "IMAGE_DOMAIN_",
    "IMAGE_DIGEST_",
    "IMAGE_NAME_",
    "IMAGE_REPO_",
    "IMAGE_TAG_",
];

/// Warns of likely mistakes in one configuration.
pub(super) fn check(check: &Check<'_, '_>, session: &Session) {
    let view = check.config.item.view();
    artifacts(check, session, view);
    for forward in view.get("portForward").into_iter().flat_map(View::items) {
        ports(check, forward);
    }
    let concurrency = view.at(&["build", "local", "concurrency"]).filter(|value| value.int().is_some_and(|n| n < 0));
    if let Some(value) = concurrency {
        warn(check, value.span(), &rules::VALUE, "`concurrency` is negative", "write `0` for no limit".to_owned());
    }
    tests(check, view);
    for release in helm::releases(check.config) {
        values_files(check, session, release);
        chart(check, release);
        images(check, session, release);
        set_values(check, session, release);
    }
    for section in ["kubectl", "helm"] {
        let hooks = view.at(&["deploy", section, "hooks"]);
        hooks.into_iter().for_each(|hooks| systems(check, hooks));
    }
    templates((check, session), view, &SKAFFOLD_CONFIG);
    patches(check, session);
    required_profiles(check, view);
    other_profiles(check, session);
}

/// Profiles that are passed on to required configurations, and those that decide about it.
fn required_profiles(check: &Check<'_, '_>, view: View<'_, '_>) {
    let own = own_profiles(check.config);
    for active in view
        .get("requires")
        .into_iter()
        .flat_map(View::items)
        .flat_map(|required| required.get("activeProfiles").into_iter().flat_map(View::items))
    {
        let by = active.get("activatedBy").into_iter().flat_map(View::items);
        for (name, known) in
            active.get("name").map(|name| (name, check.profiles)).into_iter().chain(by.map(|by| (by, &own)))
        {
            let text = name.text();
            if known.contains(text.as_ref()) || text.contains("{{") {
                continue;
            }
            let hint = suggest::did_you_mean(&text, known.iter().map(String::as_str));
            let hint = hint.unwrap_or_else(|| "name a profile that is declared under `profiles`".into());
            warn(check, name.span(), &rules::UNKNOWN_PROFILE, what::unknown("profile", &text), hint);
        }
    }
}

fn own_profiles(config: &Config<'_>) -> BTreeSet<String> {
    let document = config.file.documents.get(config.index);
    let profiles = document.and_then(|document| document.item.view().get("profiles"));
    profiles.into_iter().flat_map(View::items).map(|profile| profile.text_of("name").into_owned()).collect()
}

/// The names of all profiles.
pub(super) fn profiles(configs: &[Config<'_>]) -> BTreeSet<String> {
    configs.iter().flat_map(own_profiles).collect()
}

/// Folders that profiles which are not active name.
fn other_profiles(check: &Check<'_, '_>, session: &Session) {
    let config = check.config;
    let document = config.file.documents.get(config.index).filter(|_| !config.is_inline);
    let Some(profiles) = document.and_then(|document| document.item.view().get("profiles")) else { return };
    let active: FastSet<&str> = config.profiles.iter().map(|name| name.as_str()).collect();
    for profile in profiles.items() {
        let name = profile.text_of("name");
        if !active.contains(name.as_ref()) {
            let about = format!("{} {} {name}", config.file.path, config.index);
            let slips = session.in_common(&about, || FolderSlips(near_folders(check, session, profile)));
            session.sink.extend(slips.0.iter().cloned());
        }
    }
}

/// Misspelt folders of a profile: only the file and its surroundings matter.
struct FolderSlips(Vec<Diagnostic>);

fn near_folders(check: &Check<'_, '_>, session: &Session, profile: View<'_, '_>) -> Vec<Diagnostic> {
    // A missing file may be created before the profile is used; a similar name is a misspelling.
    let found = Sink::new();
    let own = Check { sink: &found, ..*check };
    super::folders(&own, profile, session);
    let is_near = |problem: &Diagnostic| problem.hints.iter().any(|hint| hint.name().is_some());
    found.into_findings().into_iter().filter(is_near).collect()
}

fn warn(
    check: &Check<'_, '_>,
    span: Option<Span>,
    rule: &'static purlin_syntax::Rule,
    message: impl Into<Message>,
    hint: impl Into<Hint>,
) {
    let span = span.unwrap_or(check.config.span);
    check.push(Diagnostic::at(rule, span, message).warning().hint(hint));
}

/// Whether a path can be looked up as written.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['{', '$', '*', '~']) && !paths::is_address(text)
}

fn artifacts(check: &Check<'_, '_>, session: &Session, view: View<'_, '_>) {
    let mut looked_for = FastMap::default();
    for artifact in view.at(&["build", "artifacts"]).into_iter().flat_map(View::items) {
        again::judge(check.marks(), Judgement::Dockerfile(check.spot()), artifact, check.sink, || {
            dockerfile(check, session, artifact, &mut looked_for);
            artifact.get("hooks").into_iter().for_each(|hooks| systems(check, hooks));
        });
    }
}

/// A missing Dockerfile, with a hint if another name is similar.
#[derive(Clone)]
struct Missing {
    message: String,
    near: Option<Hint>,
}

/// Warns of a missing Dockerfile. Artifacts that share one share the result.
fn dockerfile(
    check: &Check<'_, '_>,
    session: &Session,
    artifact: View<'_, '_>,
    looked_for: &mut FastMap<(String, String), Option<Missing>>,
) {
    let named = ["docker", "kaniko"].iter().find_map(|key| artifact.at(&[*key, "dockerfile"]));
    let context = artifact.text_of("context").into_owned();
    let context = if context.is_empty() { ".".to_owned() } else { context };
    let Some(text) = named.map(View::text).filter(|text| is_plain(text) && is_plain(&context)) else { return };
    let key = (context, text.to_string());
    let answer = looked_for.entry(key).or_insert_with_key(|(context, text)| missing(check, session, context, text));
    let Some(Missing { message, near }) = answer.clone() else { return };
    // An explicit default name is treated like an omitted one.
    match named.and_then(View::span).filter(|_| text != DOCKERFILE) {
        Some(span) => {
            let hint = near.unwrap_or_else(|| "correct the path; it starts at the artifact's `context`".into());
            warn(check, Some(span), &rules::FILE, message, hint);
        }
        // A default Dockerfile may be created by other means, or a profile has another builder.
        None => {
            if let Some(near) = near {
                let hint = format!("{near} Then name it as `docker.dockerfile`");
                let place = named.and_then(View::span).or(artifact.get("image").and_then(View::span));
                warn(check, place, &rules::FILE, message, hint);
            }
        }
    }
}

/// A Dockerfile is looked for in the context, then where Skaffold runs.
fn missing(check: &Check<'_, '_>, session: &Session, context: &str, text: &str) -> Option<Missing> {
    let written = path::join(context, text);
    let exists = |text: &str| check.exists(session, &from_file(check.config, text));
    if path::is_absolute(text) || !exists(context) || exists(&written) || exists(text) {
        return None;
    }
    // A folder without anything in it is where another repository is checked out.
    let is_empty = session.listed(&from_file(check.config, context)).is_empty();
    if is_empty || is_further_up(check, session, &written) || is_further_up(check, session, text) {
        return None;
    }
    let near = near_path(check, session, &written).map(|near| {
        let near =
            near.strip_prefix(context.trim_end_matches('/')).map_or(near.as_str(), |rest| rest.trim_start_matches('/'));
        Hint::meant(text, near)
    });
    Some(Missing { message: format!("no Dockerfile is found at `{}`", path::normalize(&written)), near })
}

/// Whether a path exists if Skaffold runs further up.
fn is_further_up(check: &Check<'_, '_>, session: &Session, text: &str) -> bool {
    run_in(check, |full| check.exists(session, full), text).is_some()
}

/// Hooks that name a system run on no other.
fn systems(check: &Check<'_, '_>, hooks: View<'_, '_>) {
    let lists = ["before", "after"].into_iter().filter_map(|key| hooks.get(key));
    for hook in lists.flat_map(View::items) {
        let hook = hook.get("host").unwrap_or(hook);
        for system in hook.get("os").into_iter().flat_map(View::items) {
            let text = system.text();
            if SYSTEMS.contains(&text.as_ref()) || text.contains("{{") {
                continue;
            }
            let is_mac = matches!(text.to_lowercase().as_str(), "mac" | "macos" | "osx");
            let hint = match suggest::did_you_mean(&text, SYSTEMS.iter().copied()) {
                _ if is_mac => Hint::meant(text.as_ref(), "darwin"),
                Some(hint) => hint,
                None => "use `darwin`, `linux` or `windows`".into(),
            };
            let message = what::unknown("operating system", &text);
            warn(check, system.span(), &rules::VALUE, message, hint);
        }
    }
}

fn ports(check: &Check<'_, '_>, forward: View<'_, '_>) {
    for key in ["port", "localPort"] {
        let Some(port) = forward.get(key) else { continue };
        if let Some(number) = port.int().filter(|number| !(0..=LAST_PORT).contains(number)) {
            let message = format!("`{key}` is {number}, and the highest port is {LAST_PORT}");
            warn(check, port.span(), &rules::VALUE, &message, format!("write a port from 1 to {LAST_PORT}"));
        }
    }
}

/// Tests of an image that is not built are never run.
fn tests(check: &Check<'_, '_>, view: View<'_, '_>) {
    for image in view.get("test").into_iter().flat_map(View::items).filter_map(|test| test.get("image")) {
        let text = image.text();
        if check.built.is_empty() || !is_plain(&text) || check.built.contains(text.as_ref()) || check.in_profile(&text)
        {
            continue;
        }
        let message = format!("no artifact builds `{text}`, so its tests are never run");
        let hint = suggest::did_you_mean(&text, check.built.iter().map(String::as_str));
        let hint = hint.unwrap_or_else(|| "name the image of an artifact".into());
        warn(check, image.span(), &rules::BUILD_DEPENDENCY, message, hint);
    }
}

fn values_files(check: &Check<'_, '_>, session: &Session, release: View<'_, '_>) {
    let files = release.get("valuesFiles").into_iter().flat_map(View::items);
    let set_files = release.get("setFiles").map(|section| {
        let mut found = Vec::new();
        emit::flatten(section, String::new(), &mut found);
        found
    });
    let files = files.chain(set_files.into_iter().flatten().map(|(_, value)| value));
    for file in files {
        let text = file.text();
        if !is_plain(&text) || text.contains("..") && check.config.base.is_none() {
            continue;
        }
        if session.world.exists(&from_file(check.config, &text)) || is_further_up(check, session, &text) {
            continue;
        }
        let near = near_path(check, session, &text).map(|near| Hint::meant(text.as_ref(), near));
        let hint = near.unwrap_or_else(|| "correct the path; it starts at the folder of `skaffold.yaml`".into());
        let message = format!("no values file is found at `{text}`");
        warn(check, file.span(), &rules::MANIFEST, message, hint);
    }
}

fn chart(check: &Check<'_, '_>, release: View<'_, '_>) {
    if release.text_of("chartPath").is_empty() && release.text_of("remoteChart").is_empty() {
        let name = release.get("name");
        let message = format!("the release `{}` names no chart", release.text_of("name"));
        let hint = "add `chartPath:` with the folder of a chart, or `remoteChart:`".to_owned();
        warn(check, name.and_then(View::span).or(release.span()), &rules::MANIFEST, message, hint);
    }
}

/// Variables of built images in the templates of a release.
fn images(check: &Check<'_, '_>, session: &Session, release: View<'_, '_>) {
    let Some(section) = release.get("setValueTemplates") else { return };
    let mut found = Vec::new();
    emit::flatten(section, String::new(), &mut found);
    if found.len() * check.built.len() > MOST_COMPARED {
        return;
    }
    let mut seen = FastSet::default();
    for (_, value) in found {
        let text = value.text();
        for name in template::fields(&text) {
            let Some((prefix, image)) =
                IMAGE_NAMES.iter().find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))
            else {
                continue;
            };
            if check.has_variable(image)
                || session.world.env(name).is_some()
                || !seen.insert((value.span(), image.to_owned()))
            {
                continue;
            }
            let Some(meant) = check.built.iter().find(|built| suggest::is_slip(image, &variable_name(built))) else {
                continue;
            };
            // An older edition names the image itself.
            let is_template = value.span().is_some_and(|span| is_template(session, span));
            let (message, hint) = if is_template {
                let message = what::unknown("variable", name).and(": no artifact builds this image");
                (message, Hint::meant(name, format!("{prefix}{}", variable_name(meant))))
            } else {
                ("no artifact builds this image".into(), Hint::meant(value.text(), meant.as_str()))
            };
            warn(check, value.span(), &rules::BUILD_DEPENDENCY, message, hint);
        }
    }
}

fn is_template(session: &Session, span: Span) -> bool {
    let source = session.sources.get(span.file);
    source.is_some_and(|source| {
        source.text().get(span.start as usize..span.end as usize).unwrap_or_default().contains("{{")
    })
}

/// Keys that are nearly those of the chart's values, and that its templates do not mention.
fn set_values(check: &Check<'_, '_>, session: &Session, release: View<'_, '_>) {
    let text = release.text_of("chartPath");
    if !is_plain(&text) || !release.text_of("repo").is_empty() {
        return;
    }
    let sections: Vec<View<'_, '_>> =
        ["setValues", "setValueTemplates", "overrides"].iter().filter_map(|key| release.get(key)).collect();
    let folder = from_file(check.config, &text);
    let file = path::join(&folder, "values.yaml");
    if sections.is_empty() || !session.world.exists(&file) {
        return;
    }
    let Ok(text) = session.load_text(&file, &file) else { return };
    let tree = session.load_tree(&text.source, Flavor::GoObjects);
    let Some(root) = tree.root().filter(|root| root.is_map()) else { return };
    for section in sections {
        let mut found = Vec::new();
        emit::flatten(section, String::new(), &mut found);
        for (key, value) in found {
            let Some((part, meant)) = misspelt(root, &key) else { continue };
            if is_mentioned(check, session, &folder, part) {
                continue;
            }
            let written = written_key(section, &key);
            let message = what::lacking("the chart", "value", &key);
            let meant = key.replacen(part, meant, 1);
            warn(check, written.or(value.span()), &rules::MANIFEST, message, Hint::meant(key.as_str(), meant));
        }
    }
}

/// The part of a dotted key that no value has, and its most likely correction.
fn misspelt<'k, 't>(root: Node<'t>, key: &'k str) -> Option<(&'k str, &'t str)> {
    let mut node = root;
    for part in key.split('.') {
        if part.contains(['[', '\\', '{']) || !node.is_map() {
            return None;
        }
        match node.get(part) {
            Some(next) => node = next,
            None => {
                let mut keys = node.entries().map(|entry| entry.key.text());
                let meant = keys.find(|known| suggest::is_slip(part, known))?;
                return Some((part, meant));
            }
        }
    }
    None
}

/// Location of a dotted key: whole, or as the last of nested ones.
fn written_key(section: View<'_, '_>, key: &str) -> Option<Span> {
    for pair in section.entries() {
        if pair.key == key {
            return pair.written.map(|node| node.span());
        }
        if let Some(rest) = key.strip_prefix(pair.key).and_then(|rest| rest.strip_prefix('.')) {
            return written_key(pair.value, rest).or(pair.written.map(|node| node.span()));
        }
    }
    None
}

/// Whether a template of a chart, or of a chart inside it, mentions a value.
fn is_mentioned(check: &Check<'_, '_>, session: &Session, folder: &str, name: &str) -> bool {
    let files = crate::glob::expand(Finder::kept(session, check.config.span), &path::join(folder, "**/*"));
    if files.len() > MOST_TEMPLATES {
        return true;
    }
    files.iter().any(|file| {
        let bytes = session.load_bytes(file).ok();
        let searched = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64) / SEARCHED_PER_STEP;
        if let Err(exceeded) = session.meter.charge(searched, 0) {
            session.report_exceeded(exceeded, Some(check.config.span));
            return true;
        }
        file.ends_with(".tgz") || bytes.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(name))
    })
}

/// Templates that cannot be parsed fail when an image is built or deployed.
fn templates<'a, 'f: 'a>(around: (&Check<'_, '_>, &Session), view: View<'a, 'f>, entity: &'static Entity) {
    if is_open(entity) || view.form() != Form::Map {
        return;
    }
    for pair in view.entries() {
        let Some(row) = entity.field(pair.key, crate::editions::LATEST) else { continue };
        match holds(row) {
            Holds::One(inner) => templates(around, pair.value, inner),
            Holds::Many(inner) => pair.value.items().for_each(|item| {
                let check = around.0;
                let question = Judgement::Templates(inner.kind);
                again::judge(check.marks(), question, item, check.sink, || templates(around, item, inner));
            }),
            // Tags are checked by themselves, since Skaffold does that before it builds.
            _ if row.is_template && !matches!(entity.label, "envTemplate" | "customTemplate") => {
                texts(pair.value, &mut |text| template_text(around, text));
            }
            _ => {}
        }
    }
}

fn texts<'a, 'f: 'a>(view: View<'a, 'f>, run: &mut impl FnMut(View<'a, 'f>)) {
    match view.form() {
        Form::Map => view.entries().for_each(|pair| texts(pair.value, run)),
        Form::List => view.items().for_each(|item| texts(item, run)),
        _ => run(view),
    }
}

fn template_text((check, session): (&Check<'_, '_>, &Session), view: View<'_, '_>) {
    let text = view.text();
    if !text.contains("{{") {
        return;
    }
    template::variables(&text).for_each(|name| drop(session.world.env(name)));
    // A function that is not known here may be known there.
    let why = template::parse(&text).err();
    if let Some(why) = why.filter(|why| !matches!(why.what, Misread::UnknownFunction(_))) {
        let hint = "close every `{{` with `}}`".to_owned();
        warn(check, view.span(), &rules::TEMPLATE, why.message, hint);
    }
}

/// Patches of profiles that are not active. A patch may count on another profile, so it fails only if it fails with
/// them too.
fn patches(check: &Check<'_, '_>, session: &Session) {
    let config = check.config;
    let Some(document) = config.file.documents.get(config.index) else { return };
    let Some(profiles) = document.item.view().get("profiles") else { return };
    if Member::of(&config.file, document).is_some() {
        return;
    }
    let has_patches = |profile: &View<'_, '_>| profile.get("patches").is_some_and(|list| list.items().next().is_some());
    let names: Vec<EcoString> = profiles.items().map(|profile| profile.text_of("name").as_ref().into()).collect();
    let idle = profiles.items().filter(has_patches).map(|profile| EcoString::from(profile.text_of("name").as_ref()));
    let active: FastSet<&EcoString> = config.profiles.iter().collect();
    let idle: Vec<EcoString> = idle.filter(|name| !active.contains(name)).collect();
    let about = format!("{} {}", config.file.path, config.index);
    let count = || patch::expanded(document.item.view()) as u64;
    let known = config.file.known.as_deref();
    let size = || match known {
        Some(known) => known.values(config.number(), count) as usize,
        None => session.in_common(&about, || Expanded(count() as usize)).0,
    };
    if idle.is_empty() || idle.len() * names.len() * size() > MOST_PATCHED {
        return;
    }
    for name in &idle {
        let about = format!("{} {} {name}", config.file.path, config.index);
        let slip =
            session.in_common(&about, || PatchSlip(failing_patch(session, (&config.file, document), &names, name)));
        if let PatchSlip(Some(problem)) = slip.as_ref() {
            check.push(problem.clone());
        }
    }
}

/// Size of a document when written out.
struct Expanded(usize);

/// The patch of a profile that cannot be applied, whichever other profiles are active: the file alone determines this.
struct PatchSlip(Option<Diagnostic>);

fn failing_patch<'f>(
    session: &Session,
    (file, document): (&File<'f>, &Document<'f>),
    names: &[EcoString],
    name: &EcoString,
) -> Option<Diagnostic> {
    let meter = Meter::new(&session.limits);
    let known = file.known.as_deref().map(|known| (known, file.first + document.index));
    let tried = |item: &mut Item<'f>, name: &EcoString, known: Option<(&Known<'f>, usize)>| {
        let sink = Sink::new();
        let mut patched = Patched::default();
        let mut how = Application {
            sink: &sink,
            meter: &meter,
            fallback: document.span,
            founding: true,
            member: None,
            patched: &mut patched,
            reasons: FastMap::default(),
            known,
        };
        let active = [name.clone()];
        profile::apply(item, &active, &mut how);
        sink.into_findings().into_iter().find(Diagnostic::is_error)
    };
    tried(&mut document.item.clone(), name, known)?;
    let mut item = document.item.clone();
    for other in names.iter().filter(|other| *other != name) {
        let mut copy = item.clone();
        if tried(&mut copy, other, None).is_none() {
            item = copy;
        }
    }
    tried(&mut item, name, None).map(Diagnostic::warning)
}

/// Images of manifests that resemble those of an artifact which no manifest uses: the built image would never get
/// there.
pub(crate) fn unused_images(session: &Session, configs: &[Config<'_>], manifests: &[Manifest]) {
    let built = super::built(configs);
    if built.is_empty() || manifests.is_empty() {
        return;
    }
    let mut used: Vec<&Value> = Vec::new();
    manifests.iter().for_each(|manifest| images_of(&manifest.value, &mut used));
    let name = |text: &str| purlin_value::image::parts(text).name.to_owned();
    let names: FastSet<String> = used.iter().filter_map(|value| value.as_str()).map(name).collect();
    let unused: Vec<&String> = built.iter().filter(|image| !names.contains(*image)).collect();
    if used.len() * unused.len() > MOST_COMPARED {
        return;
    }
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let mut seen = FastSet::default();
    for value in &used {
        let Some(image) = value.as_str().map(name).filter(|image| !built.contains(image)) else { continue };
        let is_meant = |built: &&&String| letters(built) != letters(&image) && suggest::is_slip(&image, built);
        let Some(meant) = unused.iter().find(is_meant).filter(|_| seen.insert(image.clone())) else { continue };
        let message = format!("no artifact builds `{image}`, and no manifest uses `{meant}`");
        let mut found =
            Diagnostic::nowhere(&rules::IMAGE, message).warning().hint(Hint::meant(image.as_str(), meant.as_str()));
        found.span = session.origins.span(value.origin, &session.sources);
        session.sink.push(found);
    }
}

/// Maximum number of comparisons between names; longer lists are generated by programs.
const MOST_COMPARED: usize = 20_000;

fn images_of<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        for (key, inner) in value.as_map().into_iter().flat_map(|map| map.iter()) {
            if key == "image" && inner.as_str().is_some() {
                found.push(inner);
            }
            left.push(inner);
        }
        left.extend(value.as_list().unwrap_or_default());
    }
}

/// The images that artifacts of profiles build.
pub(super) fn profile_images(configs: &[Config<'_>]) -> BTreeSet<String> {
    let profiles = configs.iter().filter_map(|config| {
        let document = config.file.documents.get(config.index)?;
        document.item.view().get("profiles")
    });
    let artifacts = profiles.flat_map(View::items).filter_map(|profile| profile.at(&["build", "artifacts"]));
    let images = artifacts.flat_map(View::items).map(|artifact| artifact.text_of("image").into_owned());
    images.filter(|name| image::parse(name).is_ok()).collect()
}
