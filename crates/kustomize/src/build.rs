//! Builds a kustomization: gathers, generates, changes, names, sorts.
//!
//! The order is that of the original: resources, generators, components; then what changes resources (`transform.rs`).
//! Digests of names, references to names, variables and the order of the result come last, once for all.

use crate::arguments::Arguments;
use crate::config::{Config, Known};
use crate::edit::text;
use crate::fieldspec::merging;
use crate::index::{Index, Places, STEPS_PER_IMAGES, names, work_of_all};
use crate::installed::Refused;
use crate::kustomization::{BYTES_PER_WRITTEN, Kustomization, Problem, over, spend, wrong};
use crate::notes::{self, Wanted};
use crate::resource::{Resource, duplicate};
use crate::vars::{self, Vars};
use crate::{generate, helm, installed, noted, order, patch, plugins, references, rules, transform};
use purlin_model::{Ask, Engines, Manifest, Resolved};
use purlin_syntax::Message;
use purlin_syntax::limits::KUSTOMIZATION_LEVELS;
use purlin_syntax::rules::LIMIT_DEPTH;
use purlin_syntax::suggest::is_slip;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Hint, Node, Span};
use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::world::FileKind;
use purlin_value::{MergeKeys, Origin, Session, Value, WorldError, path, value_of};
use std::sync::Arc;

/// Steps of building a base: its file is looked for and read again.
const STEPS_PER_BASE: u64 = 1_000;

/// Bytes charged for an earlier name of a resource, besides the name and its copies.
const NAME_BYTES: u64 = 128;
const COPIES_OF_NAME: u64 = 4;

/// Steps of looking whether a resource is called as another one.
const STEPS_PER_NAMED: u64 = 8;

/// Steps of a resource of a base: it is copied when it is changed.
const STEPS_PER_RESOURCE: u64 = 50;

/// The manifests of the kustomization in a folder. `None` if it cannot be built, which is reported.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    resolve_as(session, ask, false)
}

/// The same for a kustomization without a composing project, which may be built without the restriction to its folder.
pub fn resolve_alone(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    resolve_as(session, ask, true)
}

fn resolve_as(session: &Session, ask: &Ask<'_>, is_alone: bool) -> Option<Resolved> {
    let mut manifests = render(session, ask, is_alone)?;
    Manifest::tell_apart(&mut manifests);
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
        Err(Problem::Wrong(problem) | Problem::Unmatched(problem)) => {
            session.sink.push(Diagnostic { span: problem.span.or(ask.span), ..problem });
            None
        }
        Err(Problem::Elsewhere { .. } | Problem::Reported) => None,
    }
}

fn render(session: &Session, ask: &Ask<'_>, is_alone: bool) -> Option<Vec<Manifest>> {
    let (folder, span) = (ask.path, ask.span);
    let (arguments, built) = match Arguments::read(session, &ask.values) {
        Ok(arguments) => {
            let builder = Builder::new(session, &arguments, ask.request.engines, is_alone, None);
            let built = Builder { is_part: ask.request.is_part, ..builder }.build(folder);
            (arguments, built)
        }
        Err((arguments, problem)) => (arguments, Err(problem)),
    };
    let problem = match built {
        Ok(manifests) => return Some(manifests),
        Err(Problem::Reported) => return None,
        Err(Problem::Elsewhere { what, span }) => {
            match installed::run(session, folder, &arguments.written, &what, span) {
                Ok(manifests) => return Some(manifests),
                // A check of the project is more useful with the rest than without any result.
                Err(Refused::Permission(_)) if is_alone && !ask.request.manifests => {
                    return Builder::new(session, &arguments, ask.request.engines, is_alone, Some(Vec::new()))
                        .rest(folder);
                }
                Err(Refused::Permission(problem) | Refused::Failed(problem)) => problem,
            }
        }
        Err(Problem::Wrong(problem) | Problem::Unmatched(problem)) => problem,
    };
    session.sink.push(Diagnostic { span: problem.span.or(span), ..problem });
    None
}

/// Collected resources, known fields and variables.
pub struct Gathered {
    pub resources: Vec<Resource>,
    pub known: Known,
    pub vars: Vars,
}

impl Gathered {
    pub fn new() -> Gathered {
        Gathered { resources: Vec::new(), known: Known::new(), vars: Vars::new() }
    }
}

impl Builder<'_> {
    /// Final steps, after all resources are collected and changed.
    fn finish(&self, mut gathered: Gathered, top: &Kustomization) -> Result<Vec<Manifest>, Problem> {
        let resources = &mut gathered.resources;
        for resource in resources.iter_mut().filter(|resource| resource.hashed) {
            generate::add_digest(&self.session.origins, resource);
        }
        let config = Arc::clone(gathered.known.fields());
        references::update(self.session, &top.value, &config, resources)?;
        let most = self.session.meter.most_output();
        let unused = vars::fill(&self.session.origins, &gathered.vars, &config, resources, most)
            .map_err(|why| self.wrong_at(why))?;
        // A kustomization that builds on this one may use them.
        for name in unused.into_iter().filter(|_| !self.is_part) {
            let message = format!("variable `{name}` is never used");
            let origin = gathered.vars.get(&name).map_or(Origin::NONE, |var| var.origin);
            let mut warning = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).warning();
            warning.span = self.session.origins.span(origin, &self.session.sources);
            self.session.sink.push(warning);
        }
        if let Some((resource, key)) = resources.iter().find_map(|one| Some((one, missing(one)?))) {
            let message = format!("a resource of kind `{}` has no `{key}` after all transformations", resource.kind());
            return Err(self.wrong(&resource.value, message).into());
        }
        resources.retain(|resource| !is_local(resource));
        self.check_unique(top, 0, resources)?;
        let sorting = top.value.get("sortOptions").filter(|sorting| !sorting.is_null());
        if sorting.is_some() || !self.arguments.keeps_order {
            order::sort(resources, sorting).map_err(|why| self.wrong(&top.value, why))?;
        }
        resources.iter_mut().for_each(Resource::drop_empty_annotations);
        resources.iter_mut().for_each(Resource::write_annotations_as_strings);
        self.wanted.write(resources);
        let resources = std::mem::take(resources);
        Ok(resources.into_iter().map(|resource| Manifest::new(resource.source, resource.value)).collect())
    }
}

/// Whether a resource is only for tools that read the files.
fn is_local(resource: &Resource) -> bool {
    let annotations = resource.value.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let mark = annotations.and_then(|annotations| annotations.get("config.kubernetes.io/local-config"));
    mark.is_some_and(|mark| mark.as_str() != Some("false") && mark.as_bool() != Some(false))
}

/// A build under way.
pub struct Builder<'s> {
    pub session: &'s Session,
    arguments: &'s Arguments,
    /// Engines for charts.
    engines: Engines,
    /// Whether no project composes the kustomization.
    is_alone: bool,
    /// Whether another kustomization of the run builds on it.
    is_part: bool,
    /// The folders being built, for cycles.
    open: Vec<String>,
    /// Which origins of resources are noted.
    wanted: Wanted,
    /// Whether any are noted.
    notes: bool,
    /// The path from the top folder to the one being built, as written.
    trail: String,
    /// Parts left out because only an installed tool can build them, with their locations; `None` if parts are not left
    /// out.
    left_out: Option<Vec<(String, Option<Span>)>>,
}

impl<'s> Builder<'s> {
    fn new(
        session: &'s Session,
        arguments: &'s Arguments,
        engines: Engines,
        is_alone: bool,
        left_out: Option<Vec<(String, Option<Span>)>>,
    ) -> Self {
        let (wanted, open, trail) = (Wanted::default(), Vec::new(), String::new());
        Builder { session, arguments, engines, is_alone, is_part: false, open, wanted, notes: false, trail, left_out }
    }
}

impl Builder<'_> {
    /// The buildable parts of a folder; the rest is one warning.
    fn rest(mut self, folder: &str) -> Option<Vec<Manifest>> {
        let (built, findings) = self.session.sink.apart(|| self.build(folder));
        let left_out = self.left_out.unwrap_or_default();
        // Entries may concern parts that are left out.
        self.session.sink.extend(findings.into_iter().filter(|found| found.rule.name != rules::NO_EFFECT.name));
        let built = match built {
            Ok(manifests) => manifests,
            Err(Problem::Elsewhere { what, span }) => {
                self.session.sink.push(unbuilt(&[(what, span)]));
                return Some(Vec::new());
            }
            Err(Problem::Unmatched(_) | Problem::Reported) => Vec::new(),
            Err(Problem::Wrong(problem)) => {
                self.session.sink.push(problem);
                Vec::new()
            }
        };
        self.session.sink.push(unbuilt(&left_out));
        Some(built)
    }

    /// Leaves out parts that only an installed tool can build, and dependent ones, if enabled.
    fn unless_left_out(&mut self, done: Result<(), Problem>) -> Result<(), Problem> {
        let Some(left_out) = &mut self.left_out else { return done };
        match done {
            Err(Problem::Elsewhere { what, span }) => {
                left_out.push((what, span));
                Ok(())
            }
            Err(Problem::Unmatched(_)) if !left_out.is_empty() => Ok(()),
            other => other,
        }
    }

    /// All of a folder.
    fn build(&mut self, folder: &str) -> Result<Vec<Manifest>, Problem> {
        let kustomization = self.enter(folder)?;
        self.wanted = Wanted::read(&kustomization, self.arguments.is_managed);
        self.notes = !kustomization.list("buildMetadata").is_empty();
        let mut gathered = Gathered::new();
        self.accumulate(&kustomization, &mut gathered)?;
        self.open.pop();
        self.finish(gathered, &kustomization)
    }

    fn enter(&mut self, folder: &str) -> Result<Kustomization, Problem> {
        let folder = path::normalize(folder);
        if self.open.len() >= KUSTOMIZATION_LEVELS && !self.open.contains(&folder) {
            let message = format!("kustomizations are nested more than {KUSTOMIZATION_LEVELS} levels deep");
            return Err(Diagnostic::nowhere(&LIMIT_DEPTH, message).into());
        }
        if self.open.contains(&folder) {
            let way = self.open.iter().skip_while(|open| **open != folder).chain([&folder]).cloned();
            let message = what::cycle(way).under("circular kustomizations: ");
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        }
        let kustomization = Kustomization::read(self.session, &folder, self.arguments.reads_anywhere, self.is_alone)?;
        self.open.push(folder);
        Ok(kustomization)
    }

    /// Adds the resources of a kustomization and applies its changes to them, or for a component to all resources.
    fn accumulate(&mut self, kustomization: &Kustomization, gathered: &mut Gathered) -> Result<(), Problem> {
        let known = gathered.resources.len();
        for key in ["resources", "bases"] {
            for item in kustomization.list(key) {
                let (depth, trail) = (self.open.len(), self.trail.clone());
                let done = self.resource(kustomization, &item, gathered);
                self.unless_left_out(done)?;
                self.open.truncate(depth);
                self.trail = trail;
            }
        }
        self.check_unique(kustomization, known, &gathered.resources)?;
        // Components may rename existing resources.
        let known = if kustomization.list("components").is_empty() { gathered.resources.len() } else { 0 };
        self.configure(kustomization, &mut gathered.known)?;
        self.generate(kustomization, &mut gathered.resources)?;
        for item in kustomization.list("components") {
            let place = match self.local(kustomization, &item) {
                Ok(place) => place,
                Err(problem) => {
                    self.unless_left_out(Err(problem))?;
                    continue;
                }
            };
            // Each path to a component applies it again.
            self.spend(STEPS_PER_BASE, 0, &item)?;
            let component = self.enter(&place).map_err(|problem| self.at(problem, &item))?;
            if !component.is_component() {
                return Err(self.wrong(&item, format!("`{}` is not a component", text(&item, &[]))).into());
            }
            self.below(&item, |builder| builder.accumulate(&component, gathered))?;
            self.open.pop();
        }
        self.check_unique(kustomization, known, &gathered.resources)?;
        self.transform(kustomization, gathered)?;
        let vars = kustomization.list("vars");
        vars::gather(self.session, &vars, &mut gathered.vars, &mut gathered.resources)
    }

    /// Does some work with the path to a folder added.
    fn below<T>(&mut self, item: &Value, work: impl FnOnce(&mut Self) -> T) -> T {
        let trail = self.trail.clone();
        self.trail = path::join(&trail, text(item, &[]));
        let done = work(self);
        self.trail = trail;
        done
    }

    /// Adds the fields of `configurations` and `crds`.
    fn configure(&self, kustomization: &Kustomization, known: &mut Known) -> Result<(), Problem> {
        for (key, is_config) in [("configurations", true), ("crds", false)] {
            for item in kustomization.list(key) {
                let place = kustomization.own_file(self.session, &item, text(&item, &[]))?;
                let tree = self.session.read_yaml(&place, Flavor::CoreGo);
                let tree = tree.map_err(|problem| self.at(problem.into(), &item))?;
                let Some(root) = tree.root() else { continue };
                let value = value_of(root, MergeKeys::Apply);
                let config = match is_config {
                    true => Config::read(&value).map_err(|key| {
                        let span = root.entries().find(|entry| entry.key.text() == key).map(|entry| entry.key.span());
                        let message = format!("unknown key `{key}` in a configuration of transformers");
                        Diagnostic::at(&rules::KUSTOMIZATION, span.unwrap_or(root.span()), message)
                    })?,
                    false => Config::of_definitions(&self.session.meter, &value)
                        .map_err(|exceeded| over(self.session, &item, exceeded))?,
                };
                self.spend(merging(known.fields().fields(), config.fields()), 0, &item)?;
                known.add(&config).map_err(|why| self.wrong(&item, why))?;
            }
        }
        Ok(())
    }

    fn generate(&mut self, kustomization: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Problem> {
        let has = |key: &str| !kustomization.list(key).is_empty();
        let charts = helm::entries(kustomization);
        if charts.is_empty() && !["configMapGenerator", "secretGenerator", "generators"].into_iter().any(has) {
            return Ok(());
        }
        self.spend(work_of_all(resources, 1), 0, &kustomization.value)?;
        let mut names = names(resources);
        for (key, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
            for rule in kustomization.list(key) {
                let note = self.note(kustomization, &format!("{kind}Generator"));
                let done = generate::make(self.session, kustomization, &rule, kind).and_then(|mut made| {
                    made.0.origin = note;
                    generate::place(self.session, made, resources, &mut names)
                });
                self.unless_left_out(done)?;
            }
        }
        for entry in charts {
            let note = self.note(kustomization, "HelmChartInflationGenerator");
            let done = self.chart(kustomization, &entry, note, resources, &mut names);
            self.unless_left_out(done)?;
        }
        for config in self.plugins(kustomization, "generators")? {
            if config.kind() == "HelmChartInflationGenerator" && text(&config.value, &["apiVersion"]) == "builtin" {
                let note = self.own_note(kustomization, &config);
                self.chart(kustomization, &config.value, note, resources, &mut names)?;
                continue;
            }
            let note = self.own_note(kustomization, &config);
            for mut made in plugins::generate(self.session, kustomization, &config)? {
                made.0.origin = note.clone();
                generate::place(self.session, made, resources, &mut names)?;
            }
        }
        Ok(())
    }

    /// Adds the objects of a chart.
    fn chart(
        &self,
        kustomization: &Kustomization,
        entry: &Value,
        note: Option<String>,
        resources: &mut Vec<Resource>,
        names: &mut Places,
    ) -> Result<(), Problem> {
        // Without a composing project, there is no place for an option that enables charts.
        if !self.is_alone && !self.arguments.renders_charts {
            let problem = self.wrong(entry, "charts are rendered only with `--enable-helm`".to_owned());
            return Err(problem.hint("add `--enable-helm` to the arguments of the build").into());
        }
        for mut made in helm::render(self.session, kustomization, entry, self.engines, self.arguments)? {
            made.origin.clone_from(&note);
            generate::place(self.session, (made, "create".into()), resources, names)?;
        }
        Ok(())
    }

    fn transform(&mut self, kustomization: &Kustomization, gathered: &mut Gathered) -> Result<(), Problem> {
        let config = Arc::clone(gathered.known.fields());
        let resources = &mut gathered.resources;
        self.spend(resources.len() as u64, 0, &kustomization.value)?;
        for step in transform::STEPS {
            let mut index = Index::default();
            let items = step.items(kustomization);
            for (at, item) in items.iter().cloned().enumerate() {
                let noted = step.noted(kustomization, items.len() - at - 1);
                if step.goes_through_all() {
                    self.spend(work_of_all(resources, 1), 0, &item)?;
                }
                // A resource that is renamed keeps all names that it had.
                let names = resources.iter().map(|resource| resource.name().len() as u64 * COPIES_OF_NAME + NAME_BYTES);
                let kept = if step.renames { names.sum() } else { 0 };
                self.spend(0, kept, &item)?;
                let done = step.run(self.session, kustomization, &config, &item, &mut index, resources);
                let done = done.map_err(|problem| self.at(problem, &item));
                self.unless_left_out(done)?;
                if let Some(note) = self.note(kustomization, step.kind) {
                    (0..noted).for_each(|_| notes::changed(&note, resources));
                }
            }
        }
        for config in self.plugins(kustomization, "transformers")? {
            self.spend(work_of_all(resources, STEPS_PER_IMAGES), 0, &config.value)?;
            plugins::transform(self.session, kustomization, &config, resources)?;
            if let Some(note) = self.own_note(kustomization, &config) {
                notes::changed(&note, resources);
            }
        }
        Ok(())
    }

    fn note(&self, kustomization: &Kustomization, kind: &str) -> Option<String> {
        self.notes.then(|| notes::configured(&self.trail, path::file_name(&kustomization.file), kind, ["", ""]))
    }

    /// The note of a generator or transformer that has a configuration of its own, usually in another file.
    fn own_note(&self, kustomization: &Kustomization, config: &Resource) -> Option<String> {
        let file = path::relative(path::parent(&kustomization.file), &config.source);
        self.notes.then(|| notes::configured(&self.trail, &file, config.kind(), [config.name(), config.namespace()]))
    }

    /// The configurations of `generators` or `transformers`: written in place, in files or in folders.
    fn plugins(&mut self, kustomization: &Kustomization, key: &str) -> Result<Vec<Resource>, Problem> {
        let (mut found, mut gathered) = (Vec::new(), Gathered::new());
        for item in kustomization.list(key) {
            let written = text(&item, &[]);
            match written.contains('\n') || written.starts_with('{') {
                true => {
                    let values = patch::parse(self.session, kustomization, written).into_iter();
                    found.extend(values.map(|value| Resource::new(value, kustomization.file.as_str().into())));
                }
                false => self.resource(kustomization, &item, &mut gathered)?,
            }
        }
        found.extend(gathered.resources);
        Ok(found)
    }

    /// Reports two resources with the same name. With `known` resources, none was added since the last check.
    fn check_unique(&self, kustomization: &Kustomization, known: usize, resources: &[Resource]) -> Result<(), Problem> {
        if resources.len() == known {
            return Ok(());
        }
        self.spend(resources.len() as u64 * STEPS_PER_NAMED, 0, &kustomization.value)?;
        let Some(resource) = duplicate(resources) else { return Ok(()) };
        let message = format!("duplicate resource: {} `{}`", resource.kind(), resource.name());
        let mut problem = self.wrong(&kustomization.value, message);
        let place = self.session.origins.span(resource.value.origin, &self.session.sources);
        problem.span = place.or(problem.span);
        Err(problem.into())
    }

    /// A file of resources, or the folder of another kustomization.
    fn resource(
        &mut self,
        kustomization: &Kustomization,
        item: &Value,
        gathered: &mut Gathered,
    ) -> Result<(), Problem> {
        let place = self.local(kustomization, item)?;
        match self.session.world.stat(&place) {
            Ok(stat) if stat.kind == FileKind::Folder => return self.base(&place, item, gathered),
            Err(error @ WorldError::Denied(_)) => return Err(self.at(error.diagnostic(&place).into(), item)),
            _ => {}
        }
        let place = kustomization.own_file(self.session, item, text(item, &[]))?;
        let tree = match self.session.read_yaml(&place, Flavor::GoObjects) {
            Ok(tree) => tree,
            Err(problem) => return Err(self.at(problem.into(), item)),
        };
        let origin = self.notes.then(|| notes::read_from(&self.trail, text(item, &[])));
        for root in tree.roots().filter(|root| !root.is_null()) {
            let value = value_of(root, MergeKeys::Apply);
            let weight = weight(&value);
            // It is read again for every path to it.
            self.spend(steps_for(weight), weight.saturating_mul(BYTES_PER_WRITTEN), item)?;
            for value in parts(&value) {
                let mut resource = Resource::new(value, tree.source().path().into());
                resource.origin.clone_from(&origin);
                if let Some(key) = missing(&resource) {
                    let message = format!("a resource in `{place}` has no `{key}`");
                    let (span, hint) = lacking(root, key);
                    return Err(Diagnostic::at(&rules::KUSTOMIZATION, span, message).maybe_hint(hint).into());
                }
                noted::declare(self.session, &mut resource);
                gathered.resources.push(resource);
            }
        }
        Ok(())
    }

    /// Another kustomization.
    fn base(&mut self, place: &str, item: &Value, gathered: &mut Gathered) -> Result<(), Problem> {
        let base = self.enter(place).map_err(|problem| self.at(problem, item))?;
        if base.is_component() {
            let message = format!("`{}` is a component", text(item, &[]));
            return Err(self.wrong(item, message).hint("list it under `components`").into());
        }
        let mut found = Gathered::new();
        self.below(item, |builder| builder.accumulate(&base, &mut found)).map_err(|problem| self.at(problem, item))?;
        self.open.pop();
        self.charge(&found.resources, item)?;
        gathered.resources.extend(found.resources);
        gathered.known.add_known(&found.known).map_err(|why| self.wrong(item, why))?;
        vars::absorb(&mut gathered.vars, found.vars).map_err(|why| self.wrong_at(why).into())
    }

    /// Charges the resources of a base: each path to it includes all of them again.
    fn charge(&self, found: &[Resource], item: &Value) -> Result<(), Problem> {
        let count = found.len() as u64;
        self.spend(STEPS_PER_BASE + count * STEPS_PER_RESOURCE, count * size_of::<Resource>() as u64, item)
    }

    fn spend(&self, steps: u64, bytes: u64, item: &Value) -> Result<(), Problem> {
        spend(self.session, item, steps, bytes)
    }

    /// The location of a local path; addresses are left to the installed tool.
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

    fn wrong_at(&self, (origin, message): (Origin, String)) -> Diagnostic {
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
        diagnostic.span = self.session.origins.span(origin, &self.session.sources);
        diagnostic
    }

    fn wrong(&self, item: &Value, message: impl Into<Message>) -> Diagnostic {
        wrong(self.session, item, message)
    }

    /// A problem with the location of the item, if it has none of its own.
    fn at(&self, problem: Problem, item: &Value) -> Problem {
        match problem {
            Problem::Wrong(diagnostic) => Problem::Wrong(self.placed(diagnostic, item)),
            Problem::Unmatched(diagnostic) => Problem::Unmatched(self.placed(diagnostic, item)),
            other => other,
        }
    }

    fn placed(&self, diagnostic: Diagnostic, item: &Value) -> Diagnostic {
        let place = || self.session.origins.span(item.origin, &self.session.sources);
        Diagnostic { span: diagnostic.span.or_else(place), ..diagnostic }
    }
}

/// The message that parts of a kustomization are not built, at the first of them.
fn unbuilt(left_out: &[(String, Option<Span>)]) -> Diagnostic {
    let (first, span) = left_out.first().cloned().unwrap_or_default();
    let message = match left_out.len() {
        0 | 1 => format!("{first} needs an installed tool; the rest is checked without it"),
        count => format!("{first} and {} more need an installed tool; the rest is checked without them", count - 1),
    };
    let mut warning = Diagnostic::nowhere(&rules::UNSUPPORTED, message).warning().hint(installed::HINT);
    warning.span = span;
    warning
}

/// The objects of a list of objects, or the object itself.
fn parts(value: &Value) -> Vec<Value> {
    let items = value.get("items").filter(|_| text(value, &["kind"]).ends_with("List"));
    match items.map(|items| (items.as_list(), items.is_null())) {
        Some((Some(items), _)) => items.iter().flat_map(parts).collect(),
        Some((None, true)) => Vec::new(),
        _ => vec![value.clone()],
    }
}

/// The place of a key that a resource lacks: one that was meant to be it, the mapping that it belongs to, or the resource.
fn lacking(root: Node<'_>, key: &str) -> (Span, Option<Hint>) {
    let (around, key) = match key.split_once('.') {
        Some((outer, inner)) => (root.entries().find(|entry| entry.name() == outer), inner),
        None => (None, key),
    };
    let inside = around.as_ref().map_or(root, |entry| entry.value);
    let is_meant = |name: &str| name == key || is_slip(name, key) || name.eq_ignore_ascii_case(key);
    match inside.entries().find(|entry| is_meant(entry.name())) {
        Some(entry) if entry.name() == key => (entry.value.span(), None),
        Some(entry) => (entry.key.span(), Some(Hint::meant(entry.name(), key))),
        None => (around.map_or(root.span(), |entry| entry.key.span()), None),
    }
}

/// The key that a resource must have and does not.
fn missing(resource: &Resource) -> Option<&'static str> {
    match resource.kind() {
        "" => Some("kind"),
        _ if resource.name().is_empty() && !resource.kind().ends_with("List") => Some("metadata.name"),
        _ => None,
    }
}
