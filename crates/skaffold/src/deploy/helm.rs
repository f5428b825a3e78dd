//! Helm releases of a configuration, rendered by the engine for charts.
//!
//! Builds the engine's request: name, namespace, files, values and flags of a release with their templates expanded. It
//! must not know charts.

use crate::image;
use crate::item::{Form, View};
use crate::paths::is_address;
use crate::render::{Settings, from_file};
use crate::value::ValueOut;
use crate::walk::Config;
use crate::{emit, rules, template};
use purlin_model::{Ask, ChartOptions, Engines, Manifest, Request, SetFlag, SetKind, SetSource};
use purlin_syntax::{Diagnostic, Span};
use purlin_value::{Origin, Session, Value};
use std::collections::{BTreeMap, HashSet};

/// Context for rendering releases.
pub struct Helm<'a> {
    /// The session.
    pub session: &'a Session,
    /// Engines that render charts.
    pub engines: Engines,
    /// Built images and the target namespace.
    pub settings: &'a Settings,
    /// Whether releases are only checked: then values known only after a build are no error.
    pub is_rehearsal: bool,
}

/// The releases of a configuration; those of older documents are in both places and counted once.
pub fn releases<'a, 'f>(config: &'a Config<'f>) -> Vec<View<'a, 'f>> {
    let view = config.item.view();
    let items = |path: &[&str]| view.at(path).into_iter().flat_map(View::items).collect::<Vec<_>>();
    let mut found = items(&["manifests", "helm", "releases"]);
    let known: HashSet<_> = found.iter().map(|release| release.text_of("name")).collect();
    found.extend(
        items(&["deploy", "helm", "releases"]).into_iter().filter(|release| !known.contains(&release.text_of("name"))),
    );
    found
}

/// Whether a release's chart is a folder, so that it can be rendered.
pub fn is_local(release: View<'_, '_>) -> bool {
    let chart = release.text_of("chartPath");
    !chart.is_empty() && !is_address(&chart) && release.text_of("remoteChart").is_empty()
}

impl Helm<'_> {
    /// The manifests of a release; empty if it cannot be rendered, which is reported.
    pub fn render(&self, config: &Config<'_>, release: View<'_, '_>) -> Vec<Manifest> {
        let Some(engine) = self.engines.get("chart") else { return Vec::new() };
        let asked = self.ask(config, release);
        let (folder, request, values) = match asked {
            Ok(asked) => asked,
            Err(_) if self.is_rehearsal => return Vec::new(),
            Err((span, why)) => {
                let diagnostic = Diagnostic::at(&rules::TEMPLATE, span.unwrap_or(config.span), why);
                self.session.sink.push(diagnostic);
                return Vec::new();
            }
        };
        // Files that are missing are reported where they are named.
        if self.is_rehearsal && request.values.iter().any(|file| !self.session.world.exists(file)) {
            return Vec::new();
        }
        if !self.session.world.exists(&folder) {
            if self.is_rehearsal {
                return Vec::new();
            }
            let chart = release.get("chartPath");
            let message = format!("no chart is found at `{}`", release.text_of("chartPath"));
            let span = chart.and_then(View::span).unwrap_or(config.span);
            self.session.sink.push(Diagnostic::at(&rules::MANIFEST, span, message));
            return Vec::new();
        }
        let namespace = request.namespace.clone().filter(|_| self.settings.places_releases).map(Value::from);
        let ask = Ask { path: &folder, request, values, span: release.span() };
        let mut manifests = (engine.resolve)(self.session, &ask).map(|chart| chart.manifests).unwrap_or_default();
        if let Some(namespace) = &namespace {
            manifests.iter_mut().for_each(|manifest| manifest.settle_in(namespace));
        }
        manifests
    }

    fn ask(
        &self,
        config: &Config<'_>,
        release: View<'_, '_>,
    ) -> Result<(String, Request, Value), (Option<Span>, String)> {
        let names = self.names();
        let whole = |key: &str| {
            let span = release.get(key).and_then(View::span);
            let text = release.text_of(key);
            match template::expand(&text, &names) {
                Ok(text) if text.contains(template::MISSING) => Err((
                    span,
                    format!("`{key}` uses an environment variable that is not set: `{}`", release.text_of(key)),
                )),
                Ok(text) => Ok(text),
                Err(why) => Err((span, why)),
            }
        };
        let part = |view: View<'_, '_>| template::expand(&view.text(), &names).map_err(|why| (view.span(), why));
        let (mut sets, mut sets_from) = (Vec::new(), Vec::new());
        for (key, value) in flat(release, "setValues") {
            sets_from.push(SetSource { span: value.span(), is_secret: false });
            sets.push(SetFlag { kind: SetKind::Typed, text: format!("{key}={}", value.text()) });
        }
        for (key, value) in flat(release, "setFiles") {
            let file = from_file(config, &value.text());
            sets_from.push(SetSource { span: value.span(), is_secret: false });
            sets.push(SetFlag { kind: SetKind::File, text: format!("{key}={file}") });
        }
        for (key, value) in flat(release, "setValueTemplates") {
            let key = template::expand(&key, &names).map_err(|why| (value.span(), why))?;
            let text = part(value)?;
            let text = text.strip_suffix('@').unwrap_or(&text);
            let is_secret = template::reads_secret(&value.text(), &names);
            sets_from.push(SetSource { span: value.span(), is_secret });
            sets.push(SetFlag { kind: SetKind::Typed, text: format!("{key}={text}") });
        }
        for (name, value) in &self.settings.setters {
            sets_from.push(SetSource::default());
            sets.push(SetFlag { kind: SetKind::Typed, text: format!("{name}={value}") });
        }
        let mut values = Vec::new();
        for file in release.get("valuesFiles").into_iter().flat_map(View::items) {
            values.push(from_file(config, &part(file)?));
        }
        let place = |key: &str| release.get(key).and_then(View::span);
        let from = |key: &str| Some(place(key).map_or(Origin::NONE, |span| self.session.origins.file(span)));
        let (release_from, namespace_from) = (from("name"), from("namespace"));
        let release_name = Some(whole("name")?);
        let mut chart = ChartOptions {
            release_name,
            release_from,
            namespace_from,
            sets_from,
            is_rehearsal: self.is_rehearsal,
            is_fetched_later: self.is_rehearsal,
            ..ChartOptions::default()
        };
        self.flags(config, &mut chart, &mut sets);
        chart.skip_tests |= release.get("skipTests").and_then(View::bool) == Some(true);
        let namespace = match &self.settings.release_namespace {
            Some(namespace) => namespace.clone(),
            None => whole("namespace")?,
        };
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        let folder = from_file(config, &whole("chartPath")?);
        let overrides = release.get("overrides").filter(|overrides| overrides.form() == Form::Map);
        let overrides = overrides.map_or_else(Value::null, |overrides| ValueOut::of(self.session, overrides));
        Ok((folder, Request { values, sets, namespace, chart, ..Request::default() }, overrides))
    }

    /// Flags for `helm template` that the engine supports; others are reported.
    fn flags(&self, config: &Config<'_>, chart: &mut ChartOptions, sets: &mut Vec<SetFlag>) {
        let flags = config.item.view().at(&["manifests", "helm", "flags", "template"]);
        let flags: Vec<View<'_, '_>> = flags.into_iter().flat_map(View::items).collect();
        let mut rest = flags.iter();
        while let Some(flag) = rest.next() {
            let text = flag.text().into_owned();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (text.clone(), None),
            };
            let mut value =
                || value.clone().or_else(|| rest.next().map(|next| next.text().into_owned())).unwrap_or_default();
            match name.as_str() {
                "--include-crds" => chart.include_crds = true,
                "--api-versions" | "-a" => chart.api_versions.push(value()),
                "--kube-version" => chart.kube_version = Some(value()),
                "--set" => sets.push(SetFlag { kind: SetKind::Typed, text: value() }),
                "--set-string" => sets.push(SetFlag { kind: SetKind::Text, text: value() }),
                "--skip-tests" => chart.skip_tests = true,
                _ => {
                    let message = format!("the flag `{text}` of `helm template` has no effect here");
                    let span = flag.span().unwrap_or(config.span);
                    self.session.sink.push(Diagnostic::at(&rules::NOT_RENDERED, span, message));
                }
            }
        }
    }

    /// Names for templates of a release: the environment, and the built images.
    fn names(&self) -> BTreeMap<String, String> {
        let mut names: BTreeMap<String, String> = self.session.world.env_table().into_iter().collect();
        for (at, (name, tag)) in self.settings.builds.iter().enumerate() {
            let place = if at == 0 { String::new() } else { (at + 1).to_string() };
            let suffix: String = name.chars().map(|c| if ".-/:".contains(c) { '_' } else { c }).collect();
            for (key, value) in image_names(name, tag) {
                names.insert(format!("{key}{place}"), value.clone());
                names.insert(format!("{key}_{suffix}"), value);
            }
        }
        names
    }
}

/// Names for templates about one image.
fn image_names(name: &str, tag: &str) -> Vec<(&'static str, String)> {
    let mut found = vec![("IMAGE_NAME", name.to_owned()), ("DIGEST", tag.to_owned())];
    if let Ok(parts) = image::parse(tag) {
        let domain = purlin_value::image::registry(&parts.name).unwrap_or_default();
        let bare = parts.name.strip_prefix(domain).map_or("", |rest| rest.trim_start_matches('/'));
        found.extend([
            ("IMAGE_REPO", parts.name.clone()),
            ("IMAGE_TAG", parts.tag.clone()),
            ("IMAGE_DIGEST", parts.digest.clone()),
            ("IMAGE_DOMAIN", domain.to_owned()),
            ("IMAGE_REPO_NO_DOMAIN", bare.to_owned()),
            ("IMAGE_FULLY_QUALIFIED", tag.to_owned()),
        ]);
    }
    let (algorithm, hex) = tag.split_once(':').unwrap_or(("", tag));
    if !algorithm.is_empty() {
        found.push(("DIGEST_ALGO", algorithm.to_owned()));
    }
    found.push(("DIGEST_HEX", hex.to_owned()));
    found
}

/// The settings of a section, dotted and sorted by key; null values are not set.
fn flat<'a, 'f: 'a>(release: View<'a, 'f>, key: &str) -> Vec<(String, View<'a, 'f>)> {
    let mut found = Vec::new();
    if let Some(section) = release.get(key) {
        emit::flatten(section, String::new(), &mut found);
    }
    found.retain(|(_, value)| value.form() != Form::Null);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
