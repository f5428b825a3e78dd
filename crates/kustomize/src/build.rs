//! Builds a kustomization: gathers, generates, changes, names, sorts.
//!
//! The order is that of the original: resources, components, generators; then patches, namespace, prefix and suffix,
//! labels, annotations, JSON patches, replicas, images. Digests of names, references to names and the order of the
//! result come last, once for all.

use crate::arguments::Arguments;
use crate::edit::text;
use crate::kustomization::{Kustomization, Problem};
use crate::names::{add_namespace, affix};
use crate::resource::Resource;
use crate::{generate, images, installed, labels, order, patch, references, rules};
use purlin_model::{Ask, Manifest, Resolved};
use purlin_syntax::limits::KUSTOMIZATION_LEVELS;
use purlin_syntax::rules::LIMIT_DEPTH;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::world::FileKind;
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// Steps of building a base: its file is read again.
const STEPS_PER_BASE: u64 = 200;

/// Bytes that a resource takes for each byte when it is written: it is read anew for every way that leads to it.
const BYTES_PER_WRITTEN: u64 = 8;

/// Steps of a resource of a base: it is copied where something changes.
const STEPS_PER_RESOURCE: u64 = 50;

/// The manifests of the kustomization in a folder. `None` if it cannot be built, which is reported.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    let manifests = render(session, ask)?;
    let mut resolved = Resolved::new(path::file_name(ask.path));
    resolved.nodes = manifests.iter().filter_map(|manifest| manifest.object("kustomize")).collect();
    resolved.manifests = manifests;
    Some(resolved)
}

/// One object after one patch. The values are `object`, `patch` and its `strategy`. `None` if the patch fails, which is
/// reported.
pub fn resolve_patch(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    let [object, change, strategy] = ["object", "patch", "strategy"].map(|key| ask.values.get(key));
    let strategy = strategy.and_then(Value::as_str).unwrap_or("strategic");
    match patch::patched(session, object?, change?, strategy) {
        Ok(value) => {
            let mut resolved = Resolved::new("");
            resolved.manifests.push(Manifest::new("", value));
            Some(resolved)
        }
        Err(Problem::Wrong(problem)) => {
            session.sink.push(Diagnostic { span: problem.span.or(ask.span), ..problem });
            None
        }
        Err(Problem::Elsewhere { .. }) => None,
    }
}

fn render(session: &Session, ask: &Ask<'_>) -> Option<Vec<Manifest>> {
    let (folder, span) = (ask.path, ask.span);
    let (arguments, built) = match Arguments::read(session, &ask.values) {
        Ok(arguments) => {
            let built = Builder { session, arguments: &arguments, open: Vec::new() }.target(folder);
            (arguments, built)
        }
        Err((arguments, problem)) => (arguments, Err(problem)),
    };
    let problem = match built {
        Ok((resources, sorting)) => return Some(finished(resources, &sorting)),
        Err(Problem::Elsewhere { what, span }) => {
            return installed::run(session, folder, &arguments.written, &what, span);
        }
        Err(Problem::Wrong(problem)) => problem,
    };
    session.sink.push(Diagnostic { span: problem.span.or(span), ..problem });
    None
}

fn finished(mut resources: Vec<Resource>, sorting: &Value) -> Vec<Manifest> {
    for resource in resources.iter_mut().filter(|resource| resource.hashed) {
        let name = format!("{}-{}", resource.name(), generate::digest(resource));
        resource.rename(&name);
    }
    references::update(&mut resources);
    resources.iter_mut().for_each(Resource::drop_empty_annotations);
    order::sort(&mut resources, sorting);
    resources.into_iter().map(|resource| Manifest::new(resource.source, resource.value)).collect()
}

/// A build under way.
struct Builder<'s> {
    session: &'s Session,
    arguments: &'s Arguments,
    /// The folders being built, for cycles.
    open: Vec<String>,
}

impl Builder<'_> {
    /// The resources of a folder and how they are sorted.
    fn target(&mut self, folder: &str) -> Result<(Vec<Resource>, Value), Problem> {
        let kustomization = self.enter(folder)?;
        let mut resources = Vec::new();
        self.accumulate(&kustomization, &mut resources)?;
        self.open.pop();
        Ok((resources, kustomization.value.get("sortOptions").cloned().unwrap_or_else(Value::null)))
    }

    fn enter(&mut self, folder: &str) -> Result<Kustomization, Problem> {
        let folder = path::normalize(folder);
        if self.open.len() >= KUSTOMIZATION_LEVELS && !self.open.contains(&folder) {
            let message = format!("kustomizations are nested more than {KUSTOMIZATION_LEVELS} levels deep");
            return Err(Diagnostic::nowhere(&LIMIT_DEPTH, message).into());
        }
        if self.open.contains(&folder) {
            let way = self.open.iter().skip_while(|open| **open != folder).chain([&folder]).cloned();
            let message = format!("circular kustomizations: {}", way.collect::<Vec<_>>().join(" → "));
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        }
        let kustomization = Kustomization::read(self.session, &folder, self.arguments.reads_anywhere)?;
        self.open.push(folder);
        Ok(kustomization)
    }

    /// Adds what a kustomization has and changes what it is about: its own resources, or for a component all.
    fn accumulate(&mut self, kustomization: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Problem> {
        for key in ["resources", "bases"] {
            for item in kustomization.list(key) {
                self.resource(kustomization, &item, resources)?;
            }
        }
        for item in kustomization.list("components") {
            let place = self.local(kustomization, &item)?;
            let component = self.enter(&place).map_err(|problem| self.at(problem, &item))?;
            if !component.is_component() {
                return Err(self.wrong(&item, format!("`{}` is no component", text(&item, &[]))).into());
            }
            self.accumulate(&component, resources)?;
            self.open.pop();
        }
        generate::generate(self.session, kustomization, resources)?;
        self.transform(kustomization, resources)
    }

    fn transform(&self, kustomization: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Problem> {
        let session = self.session;
        patch::strategic_files(session, kustomization, resources)?;
        patch::patches(session, kustomization, resources)?;
        add_namespace(kustomization.text("namespace"), resources);
        affix(kustomization.text("namePrefix"), kustomization.text("nameSuffix"), resources);
        labels::labels(kustomization, resources);
        labels::annotations(kustomization, resources);
        patch::json_files(session, kustomization, resources)?;
        images::replicas(session, kustomization, resources)?;
        images::images(kustomization, resources);
        Ok(())
    }

    /// A file of resources, or the folder of another kustomization.
    fn resource(
        &mut self,
        kustomization: &Kustomization,
        item: &Value,
        resources: &mut Vec<Resource>,
    ) -> Result<(), Problem> {
        let place = self.local(kustomization, item)?;
        if self.session.world.stat(&place).is_ok_and(|stat| stat.kind == FileKind::Folder) {
            let (found, _) = self.target(&place).map_err(|problem| self.at(problem, item))?;
            self.charge(&found, item)?;
            resources.extend(found);
            return Ok(());
        }
        let place = kustomization.own_file(self.session, item, text(item, &[]))?;
        let tree = match self.session.read_yaml(&place, Flavor::GoObjects) {
            Ok(tree) => tree,
            Err(problem) => return Err(self.at(problem.into(), item)),
        };
        for root in tree.roots().filter(|root| !root.is_null()) {
            let value = value_of(root, MergeKeys::Apply);
            let weight = weight(&value);
            self.spend(steps_for(weight), weight.saturating_mul(BYTES_PER_WRITTEN), item)?;
            let items = value.get("items").and_then(Value::as_list).filter(|_| text(&value, &["kind"]) == "List");
            let single = [value.clone()];
            for value in items.unwrap_or(&single) {
                let resource = Resource::new(value.clone(), tree.source().path().into());
                if resource.kind().is_empty() {
                    let message = format!("a resource in `{place}` has no `kind`");
                    return Err(Diagnostic::at(&rules::KUSTOMIZATION, root.span(), message).into());
                }
                resources.push(resource);
            }
        }
        Ok(())
    }

    /// Charges the resources of a base: each way that leads to it takes all of them again.
    fn charge(&self, found: &[Resource], item: &Value) -> Result<(), Problem> {
        let count = found.len() as u64;
        self.spend(STEPS_PER_BASE + count * STEPS_PER_RESOURCE, count * size_of::<Resource>() as u64, item)
    }

    fn spend(&self, steps: u64, bytes: u64, item: &Value) -> Result<(), Problem> {
        self.session.meter.charge(steps, bytes).map_err(|exceeded| {
            let limit = self.wrong(item, exceeded.message()).hint(exceeded.hint());
            Diagnostic { rule: exceeded.rule(), ..limit }.into()
        })
    }

    /// The place of something local; addresses are left to the installed tool.
    fn local(&self, kustomization: &Kustomization, item: &Value) -> Result<String, Problem> {
        let Some(written) = item.as_str().filter(|text| !text.is_empty()) else {
            return Err(self.wrong(item, "expected a path, found nothing".to_owned()).into());
        };
        let place = path::join(&kustomization.folder, written);
        let remote = written.contains("://") || written.starts_with("git@") || written.starts_with("github.com/");
        if remote || (written.contains("?ref=") && !self.session.world.exists(&place)) {
            let span = self.session.origins.span(item.origin, &self.session.sources);
            return Err(Problem::Elsewhere { what: format!("the remote resource `{written}`"), span });
        }
        Ok(place)
    }

    fn wrong(&self, item: &Value, message: String) -> Diagnostic {
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
        diagnostic.span = self.session.origins.span(item.origin, &self.session.sources);
        diagnostic
    }

    /// A problem with the place that led to it, if it has none of its own.
    fn at(&self, problem: Problem, item: &Value) -> Problem {
        match problem {
            Problem::Wrong(mut diagnostic) => {
                let place = || self.session.origins.span(item.origin, &self.session.sources);
                diagnostic.span = diagnostic.span.or_else(place);
                Problem::Wrong(diagnostic)
            }
            other => other,
        }
    }
}
