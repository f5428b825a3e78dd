//! The objects of a `kubernetes` Deploy: those written in place, those of files, and those of a kustomization, in this
//! order.

use super::Inner;
use crate::action::Action;
use crate::bind::Binder;
use crate::expr::is_template;
use crate::files::matching;
use crate::live::About;
use crate::place::{NodeRef, Place};
use crate::rules;
use crate::templates::syntax_problem;
use ecow::EcoString;
use purlin_model::{Ask, Manifest, Request, Resolved};
use purlin_syntax::scalar::resolve_plain;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Node, Scalar, Source, Style, Tree};
use purlin_value::{Data, Eval, Map, MergeKeys, Session, Value, path, value_of};
use std::sync::Arc;

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
        for (key, with_templates) in [("files", true), ("manifestTemplates", true), ("manifestFiles", false)] {
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
        let session = eval.session;
        let source = match session.read_text(file) {
            Ok(source) => source,
            Err(diagnostic) => return self.about.report(session, diagnostic, self.action.span()),
        };
        let tree = session.load_tree(&source, Flavor::Core);
        if with_templates && !tree.is_sound() && is_template(source.text()) {
            return self.read_as_text(file, &source, eval, found);
        }
        session.sink.extend(tree.diagnostics().iter().cloned());
        if with_templates {
            self.about.env().templates.read(&tree, session);
        }
        for root in tree.roots().filter(|root| !root.is_null()) {
            let value = match with_templates {
                true => self.filled(&tree, root, eval),
                false => value_of(root, MergeKeys::Apply),
            };
            found.push(Manifest::new(file, value));
        }
    }

    /// A file that is YAML only once its templates are evaluated: they are part of its text.
    fn read_as_text(&self, file: &str, source: &Arc<Source>, eval: &mut Eval<'_>, found: &mut Vec<Manifest>) {
        let session = eval.session;
        let place = Place::Verbatim(source.span(0, source.text().len()));
        let template = match crate::expr::parse(source.text()) {
            Ok(template) => Arc::new(template),
            Err(problems) => {
                return session.sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
            }
        };
        let bound = Binder::new(self.about.env()).template(template, place);
        let value = eval.force(&bound);
        if value.is_poison() {
            return;
        }
        if value.is_pending() {
            return found.push(Manifest::new(file, value));
        }
        let text = session.sources.insert(file, crate::expr::text_of(&value).as_str());
        if value.is_tainted() {
            session.sources.hide(text.span(0, text.text().len()));
        }
        let tree = session.parse_yaml(text, Flavor::Core);
        let roots = tree.roots().filter(|root| !root.is_null());
        let whole = |root| value_of(root, MergeKeys::Apply).tainted_by(value.taint());
        found.extend(roots.map(|root| Manifest::new(file, whole(root))));
    }

    /// A document with its templates evaluated. Garden treats them as part of the text: the result of a plain scalar is
    /// parsed as YAML again, and a quoted one remains a string.
    fn filled(&self, tree: &Arc<Tree>, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let whole = NodeRef::new(tree, node);
        let target = node.target();
        if target.is_list() {
            let items: Vec<Value> = target.items().map(|item| self.filled(tree, item, eval)).collect();
            return value_of(node, MergeKeys::Apply).with(items.into());
        }
        if target.is_map() {
            let entries = crate::bind::entries(target);
            let entries: Map = entries.into_iter().map(|(key, item)| (key, self.filled(tree, item, eval))).collect();
            return value_of(node, MergeKeys::Apply).with(entries.into());
        }
        let bound = Binder::new(self.about.env()).bind(&whole);
        let is_computed = matches!(bound.data, Data::Lazy(_));
        let value = eval.force_deep(&bound);
        if !is_computed || value.is_pending() || value.is_poison() {
            return value;
        }
        let text = crate::expr::text_of(&value);
        match target.style() {
            Style::Plain if value.as_str().is_some() => retyped(&value, &text),
            Style::Plain => value,
            _ => value.clone().with(Data::Str(text)),
        }
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

/// The value of a text parsed as YAML, with its origin unchanged.
fn retyped(value: &Value, text: &EcoString) -> Value {
    let data = match resolve_plain(text, Flavor::Core) {
        Scalar::Null => Data::Null,
        Scalar::Bool(value) => Data::Bool(value),
        Scalar::Int(value) => Data::Int(value),
        Scalar::Float(value) => Data::Float(value),
        Scalar::BigInt => Data::BigInt(text.clone()),
        Scalar::Str | Scalar::Timestamp => return value.clone(),
    };
    value.clone().with(data)
}
