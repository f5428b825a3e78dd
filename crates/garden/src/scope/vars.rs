//! Variables: layers of them, the files they come from, and the values set by `--var`.
//!
//! A scope of variables is a list of layers, the strongest first. A template in a layer sees its own layer and those
//! below; a variable that mentions itself means the one below.

use crate::bind::Binder;
use crate::dotenv;
use crate::draft::Draft;
use crate::expr::{self, OwnLayer};
use crate::ground::{Ground, fill};
use crate::place::{NodeRef, Place};
use crate::rules;
use crate::scopes::{Cell, Variables};
use crate::structure::check_shapes;
use crate::templates::syntax_problem;
use crate::varying::{Names, Varying};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Flavor, Source, Span};
use purlin_value::{Data, Eval, Lazy, Map, Scope, Thunk, Value, WorldError, path};
use std::sync::{Arc, PoisonError};

/// The variables that are visible at some place.
#[derive(Clone, Default)]
pub struct VarScope {
    /// Set on the command line; overrides all layers.
    flags: Option<Cell>,
    /// The strongest first.
    layers: Vec<Cell>,
    /// How many of them belong to the scope that is being added to.
    siblings: usize,
    /// For each layer which names it shares: those of project and environment are the same, those of an action its own.
    levels: Vec<u8>,
    level: u8,
    /// Differences between environments that are resolved together.
    varying: Arc<Varying>,
}

/// Source of the variables of a layer.
pub enum VarSource {
    /// A mapping of a configuration.
    Draft(Draft),
    /// A `.env` file.
    Env(Arc<Source>),
    /// A file that cannot be read, which was reported.
    Lost,
}

impl VarScope {
    /// The same variables below those of the command line.
    pub fn flagged(self, flags: Option<Cell>) -> Self {
        VarScope { flags, ..self }
    }

    /// The same variables as the ground of a new scope: an environment, an action.
    pub fn below(&self) -> VarScope {
        VarScope { siblings: 0, level: self.level.saturating_add(1), ..self.clone() }
    }

    /// The same for a scope whose variables override these: an environment.
    pub fn beside(&self) -> VarScope {
        VarScope { siblings: 0, ..self.clone() }
    }

    /// The layers below the strongest one, each with whether it shares the names of that one.
    fn others(&self) -> Vec<(Value, bool)> {
        let strongest = self.levels.first();
        let below = self.layers.iter().zip(&self.levels).skip(1);
        below.filter_map(|(cell, level)| Some((cell.get()?.clone(), Some(level) == strongest))).collect()
    }

    /// The same, with the differences between environments.
    pub fn watched(self, varying: Arc<Varying>) -> VarScope {
        VarScope { varying, ..self }
    }

    /// The names of the variables that were added since the scope was [below](Self::below).
    pub fn own_names(&self) -> Names {
        let layers = self.layers.iter().take(self.siblings).filter_map(|cell| cell.get());
        let names = |layer: &Value| match &layer.data {
            Data::Map(map) => Names::Some(map.keys().cloned().collect()),
            _ => Names::All,
        };
        layers.map(names).fold(Names::None, Names::and)
    }

    /// The layer that answers `var` in a scope.
    pub fn layer(&self) -> Variables {
        Variables::new(self.flags.iter().chain(&self.layers))
    }

    /// A scope with these variables.
    pub fn over(&self, scope: &Scope) -> Scope {
        scope.push(self.layer())
    }

    /// Evaluates every layer by itself, so that a mistake in a variable is found whatever overrides it.
    pub fn force_layers(&self, eval: &mut Eval<'_>) {
        for layer in self.layers.iter().filter_map(|cell| cell.get()) {
            eval.force_deep(layer);
        }
    }

    /// All variables as one mapping, still lazy.
    pub fn merged(&self) -> Value {
        let maps = self.flags.iter().chain(&self.layers).filter_map(|cell| cell.get().cloned());
        Lazy::value(Merged { maps: maps.collect(), varies: self.varying.has_variables() })
    }

    /// One variable, from the nearest layer that has it; collections of several layers are merged.
    pub fn get(&self, key: &str, eval: &mut Eval<'_>) -> Option<Value> {
        if self.varying.has_variable(key) {
            eval.vary();
        }
        let maps = self.flags.iter().chain(&self.layers).filter_map(|cell| cell.get());
        let found: Vec<Value> = maps.filter_map(|map| eval.force(map).get(key).cloned()).collect();
        (!found.is_empty()).then(|| expr::overlay(found))
    }

    /// The variables with an unreadable layer: names missing in all other layers may be in it, and are not reported.
    fn with_lost(&self, ground: &Ground<'_>) -> VarScope {
        let cell = ground.cell();
        fill(&cell, Value::poison());
        let mut scope = self.clone();
        scope.layers.push(cell);
        scope.levels.push(self.level);
        scope
    }

    /// The variables with a layer on top, its templates bound to the scope that results.
    pub fn with(&self, ground: &Ground<'_>, base: &Scope, source: &VarSource, pre_graph: bool) -> VarScope {
        let (scope, cell, mut binder) = self.with_layer(ground, base, pre_graph);
        let map = match source {
            VarSource::Draft(draft) => draft.bind(&mut binder),
            VarSource::Env(source) => env_map(ground, source, &mut binder),
            VarSource::Lost => return self.with_lost(ground),
        };
        if ground.noted.is_some() {
            crate::names::note_variables(ground.session, &map, &scope.others());
        }
        fill(&cell, map);
        scope
    }

    /// The variables with the layers that another scope was given on top of the same ones in another environment;
    /// `None` if they cannot be taken over.
    pub fn with_layers_of(
        &self,
        other: &VarScope,
        ground: &Ground<'_>,
        base: &Scope,
        pre_graph: bool,
    ) -> Option<VarScope> {
        let is_alike = self.flags.is_some() == other.flags.is_some() && self.siblings == 0;
        let mut scope = self.clone();
        for before in other.layers.iter().take(other.siblings).rev() {
            let before = before.get().filter(|_| is_alike)?;
            let (next, cell, binder) = scope.with_layer(ground, base, pre_graph);
            fill(&cell, binder.rebound(before)?);
            scope = next;
        }
        // A layer that could not be read cannot be taken over.
        (other.layers.len() - other.siblings == self.layers.len()).then_some(scope)
    }

    /// The variables with a layer on top that is still to be filled, and a binder for its contents.
    fn with_layer(&self, ground: &Ground<'_>, base: &Scope, pre_graph: bool) -> (VarScope, Cell, Binder) {
        let cell = ground.cell();
        let mut layers = Vec::with_capacity(self.layers.len() + 1);
        layers.push(cell.clone());
        layers.extend(self.layers.iter().cloned());
        let (flags, varying) = (self.flags.clone(), self.varying.clone());
        let levels = std::iter::once(self.level).chain(self.levels.iter().copied()).collect();
        let scope = VarScope { flags, layers, siblings: self.siblings + 1, levels, level: self.level, varying };
        let mut env = ground.plain_env(scope.over(base));
        env.pre_graph = pre_graph;
        let own = OwnLayer::Variables { index: usize::from(self.flags.is_some()), siblings: self.siblings };
        (scope, cell, Binder::of_layer(&Arc::new(env), own))
    }
}

/// All layers of variables as one mapping.
struct Merged {
    maps: Vec<Value>,
    /// Whether some of them differ between environments.
    varies: bool,
}

impl Thunk for Merged {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        if self.varies {
            eval.vary();
        }
        if self.maps.is_empty() { Value::map(Map::new()) } else { expr::merge_parts(self.maps.clone(), eval) }
    }

    fn span(&self) -> Option<Span> {
        None
    }

    fn name(&self) -> String {
        "var".into()
    }
}

/// The variables of a `.env` file; templates in their values are evaluated.
fn env_map(ground: &Ground<'_>, source: &Arc<Source>, binder: &mut Binder) -> Value {
    if expr::is_template(source.text()) {
        return bound_env_map(ground, source, binder);
    }
    let mut known = ground.env_files.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(source.id()).or_insert_with(|| bound_env_map(ground, source, binder)).clone()
}

fn bound_env_map(ground: &Ground<'_>, source: &Arc<Source>, binder: &mut Binder) -> Value {
    let mut map = Map::new();
    for variable in dotenv::parse(source.text()) {
        let span = source.span(variable.range.start, variable.range.end);
        let key = EcoString::from(variable.key);
        let value = if expr::is_template(&variable.value) {
            let place = Place::Verbatim(span);
            match expr::parse(&variable.value) {
                Ok(template) => binder.below(&key, |binder| binder.template(Arc::new(template), place)),
                Err(problems) => {
                    ground.session.sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
                    Value::poison()
                }
            }
        } else {
            Value::str(variable.value.as_str())
        };
        map.insert(key, value.with_origin(ground.session.origins.file(span)));
    }
    Value::map(map)
}

/// Whether a varfile is required.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// The user named it.
    Required,
    /// It is looked for by its usual name, or marked as optional.
    Optional,
}

/// A requested file of variables.
pub struct VarFile<'a> {
    /// Its path, as it is written.
    pub name: &'a str,
    /// Whether it is required.
    pub presence: Presence,
    /// Location of the reference to it.
    pub place: Option<Span>,
    /// Whether the path comes from a secret and is not shown.
    pub secret: bool,
}

/// Reads a varfile by its extension: YAML, JSON, or `.env`.
pub fn read_varfile(ground: &Ground<'_>, folder: &str, wanted: &VarFile<'_>) -> Option<VarSource> {
    let file = path::join(folder, wanted.name);
    let kind = wanted.name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    let source = match ground.session.world.stat(&file) {
        Ok(_) => ground.session.read_text(&file),
        Err(WorldError::NotFound) if wanted.presence == Presence::Optional => return None,
        Err(error) => Err(not_there(ground, wanted, &file, error)),
    };
    match source {
        Ok(source) if matches!(kind.as_str(), "yml" | "yaml" | "json") => read_map(ground, source, &kind),
        Ok(source) => Some(VarSource::Env(source)),
        Err(_) if wanted.secret => {
            ground.report(&rules::VARFILE, wanted.place, "the varfile that a secret names cannot be read");
            Some(VarSource::Lost)
        }
        Err(diagnostic) => {
            ground.push(diagnostic, wanted.place);
            Some(VarSource::Lost)
        }
    }
}

fn not_there(ground: &Ground<'_>, wanted: &VarFile<'_>, file: &str, error: WorldError) -> Diagnostic {
    match error {
        WorldError::NotFound if ground.session.is_left_out(file) => ground.session.refusal(&error, file),
        WorldError::NotFound => {
            let message = format!("could not find varfile `{}`", wanted.name);
            let hint = format!("it was looked for at `{}`", ground.session.sources.shown(file));
            Diagnostic::nowhere(&rules::VARFILE, message).hint(hint)
        }
        WorldError::Denied(hint) => {
            let message = format!("varfile `{}` is outside the project", wanted.name);
            Diagnostic::nowhere(&rules::OUTSIDE_PROJECT, message).hint(hint)
        }
        error => error.diagnostic(file),
    }
}

fn read_map(ground: &Ground<'_>, source: Arc<Source>, kind: &str) -> Option<VarSource> {
    let name = source.path().to_owned();
    let tree = ground.session.parse_yaml(source, Flavor::Core);
    ground.keep_trees([tree.clone()]);
    ground.templates.read(&tree, ground.session);
    check_shapes(&tree, &ground.session.sink);
    let roots: Vec<_> = tree.roots().filter(|root| !root.is_null()).collect();
    match roots.as_slice() {
        [] => None,
        [root] if root.is_map() => Some(VarSource::Draft(Draft::Node(NodeRef::new(&tree, *root)))),
        [root] => {
            let what = if kind == "json" { "JSON" } else { "YAML" };
            let message = format!("varfile `{name}` must hold a map, as {what}");
            ground.report(&rules::VARFILE, Some(root.span()), message);
            Some(VarSource::Lost)
        }
        [_, second, ..] => {
            let message = format!("varfile `{name}` must hold a single document");
            ground.report(&rules::VARFILE, Some(second.span()), message);
            Some(VarSource::Lost)
        }
    }
}

/// Variables set by `--var` and `--var-file`, as the strongest layer. A name that exists with its dots is that
/// variable; otherwise dots and brackets lead into maps and lists.
pub fn flag_map(ground: &Ground<'_>, known: &[EcoString]) -> Value {
    let mut map = Value::map(Map::new());
    for (name, text) in &ground.request.vars {
        // Without the value, which may be secret.
        let origin = ground.session.origins.flag(ecow::eco_format!("--var {name}"));
        let value = Value::str(text.as_str()).with_origin(origin);
        let steps = if known.iter().any(|key| key == name) { vec![name.as_str()] } else { path_steps(name) };
        map = set_path(&map, &steps, value);
    }
    map
}

fn path_steps(name: &str) -> Vec<&str> {
    name.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty()).collect()
}

/// Sets a value in nested maps; a number makes or extends a list.
fn set_path(base: &Value, steps: &[&str], value: Value) -> Value {
    let Some((step, rest)) = steps.split_first() else { return value };
    let index = step.parse::<usize>().ok().filter(|_| base.as_map().is_none_or(|map| map.is_empty()));
    if let Some(index) = index.filter(|index| *index < 1000) {
        let mut items: Vec<Value> = base.as_list().map(<[Value]>::to_vec).unwrap_or_default();
        items.resize(items.len().max(index + 1), Value::absent());
        if let Some(item) = items.get_mut(index) {
            *item = set_path(item, rest, value);
        }
        return Value::list(items);
    }
    let mut map: Map = base.as_map().cloned().unwrap_or_default();
    let inner = map.get(*step).cloned().unwrap_or_else(|| Value::map(Map::new()));
    map.insert((*step).into(), set_path(&inner, rest, value));
    Value::map(map)
}

/// The names at the top of all layers, for telling dotted names from paths.
pub fn known_names(scope: &VarScope) -> Vec<EcoString> {
    let maps = scope.layers.iter().filter_map(|cell| cell.get());
    maps.filter_map(Value::as_map).flat_map(|map| map.keys().cloned()).collect()
}
