//! The objects of a `kubernetes` Deploy: those written in place, those of files, and those of a kustomization, in this
//! order.

use super::Inner;
use super::manifest_text::{ManifestText, documents_of};
use crate::action::Action;
use crate::expr::is_template;
use crate::files::matching;
use crate::live::About;
use crate::rules;
use purlin_model::{Ask, Manifest, Request, Resolved};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{Eval, Map, MergeKeys, Session, Value, path, value_of};

/// Inputs for collecting them.
pub(super) struct Objects<'a> {
    pub about: &'a About,
    pub action: &'a Action,
    pub spec: &'a Value,
}

impl Objects<'_> {
    pub fn resolve(&self, eval: &mut Eval<'_>) -> Inner {
        let mut found: Vec<Manifest> = Vec::new();
        let written = self.spec.get("manifests").and_then(Value::as_list).unwrap_or(&[]);
        found.extend(written.iter().map(|value| Manifest::new(self.action.config.file.clone(), value.clone())));
        for (key, with_templates) in [("manifestFiles", false), ("files", true), ("manifestTemplates", true)] {
            for file in self.files(key, eval.session) {
                self.read(&file, with_templates, eval, &mut found);
            }
        }
        found.extend(self.kustomization(eval.session));
        self.patch(eval.session, &mut found);
        let namespace = self.spec.get("namespace").filter(|namespace| namespace.as_str().is_some());
        if let Some(namespace) = namespace {
            found.iter_mut().for_each(|manifest| manifest.settle_in(namespace));
        }
        Manifest::tell_apart(&mut found);
        let mut resolved = Resolved::new(self.action.name.clone());
        resolved.nodes = found.iter().filter_map(|manifest| manifest.object("garden")).collect();
        resolved.manifests = found;
        Inner::Known(Box::new(resolved))
    }

    /// The files that patterns of a key mean, each once.
    fn files(&self, key: &str, session: &Session) -> Vec<String> {
        let Some(list) = self.spec.get(key) else { return Vec::new() };
        let folder = &self.action.source_folder;
        let mut found: Vec<String> = Vec::new();
        for item in list.as_list().unwrap_or(&[]) {
            let Some(pattern) = item.as_str() else { continue };
            let matching = matching(session, self.about.files(), folder, pattern);
            if matching.is_empty() {
                let place = self.about.place(self.action, Some(item), session);
                let message = format!("no file of `{}` matches `{pattern}` under `{key}`", self.action.key);
                self.about.report(session, Diagnostic::nowhere(&rules::INNER, message), place);
            }
            found.extend(matching);
        }
        found.dedup();
        found
    }

    fn read(&self, file: &str, with_templates: bool, eval: &mut Eval<'_>, found: &mut Vec<Manifest>) {
        let source = match eval.session.read_text(file) {
            Ok(source) => source,
            Err(diagnostic) => return self.about.report(eval.session, diagnostic, self.action.span()),
        };
        let documents = match with_templates && is_template(source.text()) {
            true => ManifestText { file, source: &source, env: self.about.env() }.documents(eval),
            false => {
                let tree = eval.session.parse_yaml(source, Flavor::Core11);
                documents_of(&tree).map(|root| value_of(root, MergeKeys::Apply)).collect()
            }
        };
        found.extend(documents.into_iter().flat_map(items_of_list).map(|value| Manifest::new(file, value)));
    }

    fn kustomization(&self, session: &Session) -> Vec<Manifest> {
        let Some(section) = self.spec.get("kustomize").filter(|section| !section.is_null()) else { return Vec::new() };
        let folder = section.get("path").and_then(Value::as_str).unwrap_or(".");
        let folder = path::join(&self.action.source_folder, folder);
        let span = self.about.place(self.action, Some(section), session);
        let arguments = section.get("extraArgs").cloned().unwrap_or_else(Value::null);
        let values = Value::map(Map::from_iter([("arguments".into(), arguments)]));
        let engines = self.about.engines();
        let ask = Ask { path: &folder, request: Request { engines, ..Request::default() }, values, span };
        let engine = engines.get("kustomization");
        let built = engine.and_then(|engine| engine.resolve_for(session, &ask, &self.about.who()));
        built.map(|built| built.manifests).unwrap_or_default()
    }

    /// Applies `patchResources` to objects: each gets the first patch for its kind and name.
    fn patch(&self, session: &Session, found: &mut [Manifest]) {
        let Some(patches) = self.spec.get("patchResources").and_then(Value::as_list) else { return };
        for manifest in found.iter_mut() {
            if let Some(patch) = patches.iter().find(|patch| is_for(patch, &manifest.value)) {
                self.change(session, manifest, patch);
            }
        }
        for patch in patches.iter().filter(|patch| !patch.is_null()) {
            if found.iter().any(|manifest| is_for(patch, &manifest.value) || manifest.value.is_pending()) {
                continue;
            }
            let text = |key: &str| patch.get(key).and_then(Value::as_str).unwrap_or_default();
            let message = what::lacking(format!("`{}`", self.action.key), text("kind"), text("name")).and(" to patch");
            let place = self.about.place(self.action, Some(patch), session);
            self.about.report(session, Diagnostic::nowhere(&rules::UNUSED_PATCH, message), place);
        }
    }

    /// An object after a patch; as it was if the patch fails, which is reported.
    fn change(&self, session: &Session, manifest: &mut Manifest, patch: &Value) {
        let given = |key: &str| patch.get(key).cloned().unwrap_or_default();
        let values = [("object", manifest.value.clone()), ("patch", given("patch")), ("strategy", given("strategy"))];
        let values = Value::map(values.into_iter().map(|(key, value)| (key.into(), value)).collect());
        let span = self.about.place(self.action, Some(patch), session);
        let ask = Ask { path: &self.action.source_folder, request: Request::default(), values, span };
        let engine = self.about.engines().get("patch");
        let patched = engine.and_then(|engine| engine.resolve_for(session, &ask, &self.about.who()));
        if let Some(patched) = patched.and_then(|mut patched| patched.manifests.pop()) {
            (manifest.value, manifest.text) = (patched.value, None);
        }
    }
}

/// Whether a patch names an object.
fn is_for(patch: &Value, object: &Value) -> bool {
    let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
    let same = |key: &str, value: Option<&Value>| {
        patch.get(key).and_then(Value::as_str).is_some_and(|text| value.and_then(Value::as_str) == Some(text))
    };
    same("kind", object.get("kind")) && same("name", name)
}

/// The objects of a `List`; any other document is one object.
fn items_of_list(document: Value) -> Vec<Value> {
    let is_list = document.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match document.get("items").and_then(Value::as_list).filter(|_| is_list) {
        Some(items) if items.first().is_none_or(|first| first.get("kind").is_some()) => items.to_vec(),
        _ => vec![document],
    }
}
