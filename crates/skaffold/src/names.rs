//! Notes names for editors and renames: configurations, profiles and images of a run, where they are declared and used.
//!
//! Files are read as they are written, so that profiles which are not active count; images are also followed through
//! the origins of rendered manifests. It must not know what is done with names.

use crate::item::{Form, View};
use crate::load::{Document, File};
use crate::walk::Config;
use ecow::EcoString;
use purlin_model::{Manifest, Request};
use purlin_syntax::Span;
use purlin_value::names::{kind, unquoted};
use purlin_value::{Bound, NameId, Origin, Session, Value, image};
use std::collections::HashSet;
use std::rc::Rc;

/// Notes the names of one run.
pub(crate) struct Writer<'s> {
    session: &'s Session,
    /// The run, by its root file: names are unique in it.
    run: EcoString,
}

impl<'s> Writer<'s> {
    /// A writer for the run that starts at a file.
    pub(crate) fn new(session: &'s Session, file: &str) -> Self {
        Writer { session, run: file.into() }
    }

    fn id(&self, of: &'static str, name: &str) -> NameId {
        NameId::named(of, self.run.clone(), name)
    }

    /// The bytes of a scalar with exactly this name, at its start.
    fn bytes(&self, span: Span, name: &str) -> Option<Span> {
        let inner = unquoted(span, &self.session.sources);
        let source = self.session.sources.get(inner.file)?;
        let written = source.text().get(inner.start as usize..inner.end as usize)?;
        let length = u32::try_from(name.len()).ok()?;
        (!name.is_empty() && written.starts_with(name))
            .then(|| Span::new(inner.file, inner.start, inner.start + length))
    }

    fn declare(&self, of: &'static str, at: View<'_, '_>, whole: Option<Span>) {
        let name = at.text();
        let Some(span) = at.span().filter(|_| at.form() == Form::Scalar && !name.is_empty()) else { return };
        match self.bytes(span, &name) {
            Some(place) => {
                let whole = whole.filter(|whole| whole.file == place.file).unwrap_or(place);
                self.session.names.declare(self.id(of, &name), of, name.as_ref(), place, whole);
            }
            None => self.session.names.bound(self.id(of, &name), of, name.as_ref(), span, Bound::Computed),
        }
    }

    fn uses(&self, of: &'static str, at: View<'_, '_>) {
        let name = at.text();
        if let Some(span) = at.span().filter(|_| at.form() == Form::Scalar) {
            self.uses_at(of, &name, span);
        }
    }

    fn uses_at(&self, of: &'static str, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        match self.bytes(span, name) {
            Some(place) => self.session.names.uses(self.id(of, name), of, name, place),
            None => self.session.names.bound(self.id(of, name), of, name, span, Bound::Computed),
        }
    }

    /// The name of an image that may have a tag or a digest behind it.
    fn uses_image(&self, text: &str, span: Span) {
        self.uses_at(kind::IMAGE, image::parts(text).name, span);
    }

    /// Declarations and references in the files of a run, whichever of their profiles is active.
    pub(crate) fn files<'f>(&self, files: &[Rc<File<'f>>]) {
        let mut images = HashSet::new();
        for document in files.iter().flat_map(|file| &file.documents) {
            let view = document.item.view();
            sections(view).for_each(|section| images.extend(artifacts(section).map(|one| one.text_of("image"))));
        }
        for file in files {
            file.documents.iter().for_each(|document| self.document(file, document));
        }
        for document in files.iter().flat_map(|file| &file.documents) {
            sections(document.item.view()).for_each(|section| self.images(section, &images));
        }
    }

    fn document(&self, file: &File<'_>, document: &Document<'_>) {
        let view = document.item.view();
        if let Some(name) = view.at(&["metadata", "name"]) {
            self.declare(kind::CONFIG, name, Some(document.span));
        }
        // A module inside a document has the document's profiles.
        if document.owner.is_some() {
            return;
        }
        for name in items(view, "modules").filter_map(|module| module.get("name")) {
            let is_here = document.root.get("modules").is_some() && file.has(&name.eco());
            if !is_here {
                self.uses(kind::CONFIG, name);
            }
        }
        for required in items(view, "requires") {
            items(required, "configs").for_each(|name| self.uses(kind::CONFIG, name));
            for active in items(required, "activeProfiles") {
                active.get("name").into_iter().for_each(|name| self.uses(kind::PROFILE, name));
                items(active, "activatedBy").for_each(|name| self.uses(kind::PROFILE, name));
            }
        }
        for profile in items(view, "profiles") {
            if let Some(name) = profile.get("name") {
                self.declare(kind::PROFILE, name, profile.span());
            }
            for module in items(profile, "modules") {
                module.get("name").into_iter().for_each(|name| self.uses(kind::CONFIG, name));
                items(module, "activeProfiles").for_each(|name| self.uses(kind::PROFILE, name));
            }
            for path in items(profile, "patches").flat_map(|patch| [patch.get("path"), patch.get("from")]).flatten() {
                self.pointer(path);
            }
        }
    }

    /// `/modules/name=api/build/artifacts/image=app/…`
    fn pointer(&self, path: View<'_, '_>) {
        let Some(span) = path.span() else { return };
        let (text, whole) = (path.text(), unquoted(span, &self.session.sources));
        let mut at = 0;
        for part in text.split('/') {
            let named = part.split_once('=').and_then(|(key, name)| Some((place_of(key)?, key.len() + 1, name)));
            if let Some((of, offset, name)) = named {
                let start = u32::try_from(at + offset).ok().and_then(|offset| whole.start.checked_add(offset));
                let place = start.map(|start| Span::new(whole.file, start, whole.end.max(start)));
                place.into_iter().for_each(|place| self.uses_at(of, name, place));
            }
            at += part.len() + 1;
        }
    }

    fn images(&self, section: View<'_, '_>, known: &HashSet<std::borrow::Cow<'_, str>>) {
        for artifact in artifacts(section) {
            if let Some(image) = artifact.get("image") {
                self.declare(kind::IMAGE, image, artifact.span());
            }
            for required in items(artifact, "requires") {
                required.get("image").into_iter().for_each(|image| self.uses(kind::IMAGE, image));
                let module = required.get("module").and_then(|module| module.get("name"));
                module.into_iter().for_each(|name| self.uses(kind::CONFIG, name));
            }
        }
        let mut named: Vec<View<'_, '_>> = items(section, "test").filter_map(|test| test.get("image")).collect();
        named.extend(section.at(&["deploy", "docker"]).into_iter().flat_map(|docker| items(docker, "images")));
        for list in ["verify", "customActions"] {
            for item in items(section, list) {
                let containers = item.get("container").into_iter().chain(items(item, "containers"));
                named.extend(containers.filter_map(|container| container.get("image")));
            }
        }
        let is_built = |view: &View<'_, '_>| known.contains(image::parts(&view.text()).name);
        for view in named.into_iter().filter(is_built) {
            view.span().into_iter().for_each(|span| self.uses_image(&view.text(), span));
        }
        self.templates(section, known);
    }

    /// Templates read images under names that are made of theirs.
    fn templates(&self, section: View<'_, '_>, known: &HashSet<std::borrow::Cow<'_, str>>) {
        let mut open: Vec<View<'_, '_>> =
            ["build", "manifests", "deploy"].iter().filter_map(|key| section.get(key)).collect();
        while let Some(view) = open.pop() {
            open.extend(view.all_items());
            open.extend(view.entries().map(|pair| pair.value));
            let text = if view.form() == Form::Scalar { view.text() } else { continue };
            let Some(span) = view.span().filter(|_| text.contains("{{")) else { continue };
            for image in known.iter().filter(|image| text.contains(&format!("_{}", in_variables(image)))) {
                self.session.names.bound(self.id(kind::IMAGE, image), kind::IMAGE, image.as_ref(), span, Bound::Text);
            }
        }
    }

    /// Names in the resolved configurations of a run: the requested profiles, and images in manifests.
    pub(crate) fn result(&self, configs: &[Config<'_>], manifests: &[Manifest], request: &Request) {
        let place = |origin: Origin| self.session.origins.span(origin, &self.session.sources);
        for (name, origin) in request.profiles.iter().zip(&request.skaffold.profiles_from) {
            let name = name.strip_prefix('-').unwrap_or(name);
            place(*origin).into_iter().for_each(|span| self.uses_at(kind::PROFILE, name, span));
        }
        let mut images = HashSet::new();
        for config in configs {
            for artifact in artifacts(config.item.view()).filter_map(|artifact| artifact.get("image")) {
                images.insert(artifact.text().into_owned());
                self.declare(kind::IMAGE, artifact, None);
            }
        }
        for value in manifests.iter().flat_map(|manifest| images_of(&manifest.value)) {
            let Some(text) = value.as_str().filter(|text| images.contains(image::parts(text).name)) else { continue };
            place(value.origin).into_iter().for_each(|span| self.uses_image(text, span));
        }
    }
}

fn place_of(key: &str) -> Option<&'static str> {
    match key {
        "name" => Some(kind::CONFIG),
        "image" => Some(kind::IMAGE),
        _ => None,
    }
}

/// An image's name as a part of the names of variables.
fn in_variables(image: &str) -> String {
    image.chars().map(|c| if ".-/:".contains(c) { '_' } else { c }).collect()
}

fn items<'a, 'f: 'a>(view: View<'a, 'f>, key: &str) -> impl Iterator<Item = View<'a, 'f>> + use<'a, 'f> {
    view.get(key).into_iter().flat_map(View::items)
}

/// A configuration and its profiles, which have the same sections.
fn sections<'a, 'f: 'a>(view: View<'a, 'f>) -> impl Iterator<Item = View<'a, 'f>> + use<'a, 'f> {
    std::iter::once(view).chain(items(view, "profiles"))
}

fn artifacts<'a, 'f: 'a>(section: View<'a, 'f>) -> impl Iterator<Item = View<'a, 'f>> + use<'a, 'f> {
    section.at(&["build", "artifacts"]).into_iter().flat_map(View::items)
}

fn images_of(value: &Value) -> Vec<&Value> {
    let (mut left, mut found) = (vec![value], Vec::new());
    while let Some(value) = left.pop() {
        for (key, inner) in value.as_map().into_iter().flat_map(|map| map.iter()) {
            found.extend((key == "image").then_some(inner));
            left.push(inner);
        }
        left.extend(value.as_list().unwrap_or_default());
    }
    found
}
