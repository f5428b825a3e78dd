//! Looks keys up in scopes and values.
//!
//! A scope may answer with several partial collections (the layers of `var`); they are walked side by side, the
//! strongest first. A result found in several of them is merged only when it is read as a whole.

use super::ast::{At, Key, Part};
use super::eval::{Evaluator, Missing, Stop};
use super::layers::merge_parts;
use super::operate::shown_type;
use crate::number;
use crate::phases::{KEYS, fields};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::is_typo;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint};
use purlin_value::emit::REDACTED;
use purlin_value::meter::steps_for;
use purlin_value::world::USER_VARIABLES;
use purlin_value::{Data, Lookup, Origin, Value};

/// The place of a template among variables: a variable that mentions itself means the one below.
#[derive(Clone, Debug)]
pub struct Own {
    /// The keys that lead to it within its layer.
    pub path: Vec<EcoString>,
    /// The layer it belongs to.
    pub layer: OwnLayer,
    /// Whether it decides the shape of the collection at the path (`$merge`): then nothing inside can be read either.
    pub shapes: bool,
}

/// The layers that a self-reference skips.
#[derive(Clone, Copy, Debug)]
pub enum OwnLayer {
    /// One of the layers that `var` answers with.
    Variables {
        /// Its place among them, the strongest first.
        index: usize,
        /// How many of the layers below belong to the same action or environment.
        siblings: usize,
    },
    /// The scope itself, whose only layer it is.
    Scope,
}

impl Own {
    /// Its name in messages.
    pub fn name(&self) -> String {
        let path = self.path.join(".");
        match self.layer {
            OwnLayer::Variables { .. } => format!("var.{path}"),
            OwnLayer::Scope => path,
        }
    }

    fn is_asked_for(&self, steps: &[Step]) -> bool {
        let fits = self.shapes || steps.len() <= self.path.len();
        fits && steps.iter().zip(&self.path).all(|(step, key)| step.name == *key)
    }
}

/// A key with its place.
struct Step {
    name: EcoString,
    at: At,
    /// Whether the key comes from a secret: it is not shown, and its value is secret too.
    is_secret: bool,
    /// Where a computed key comes from.
    chosen_by: Vec<Origin>,
}

impl Step {
    /// The key in messages.
    fn shown(&self) -> EcoString {
        if self.is_secret { purlin_value::emit::REDACTED.into() } else { self.name.clone() }
    }
}

/// State of the walk: one value, or partial collections with the strongest first.
enum Found {
    One(Value),
    Parts(Vec<Value>),
}

/// Key of mappings that get more keys later; its value is what those wait for.
pub const REST: &str = "\u{0}rest";

/// Under these names a scope keeps variables.
pub(super) const VARIABLES: [&str; 2] = ["var", "variables"];

impl Evaluator<'_, '_> {
    /// Looks a whole path up in the scope.
    pub(super) fn lookup(&mut self, path: &[Part]) -> Result<Value, Stop> {
        let steps = match self.steps(path)? {
            Ok(steps) => steps,
            Err(pending) => return Ok(self.waiting_under(pending, path)),
        };
        let is_secret = steps.iter().any(|step| step.is_secret);
        self.around.clear();
        self.look_up(&steps).map(|value| self.chosen(value, &steps).tainted_if(is_secret))
    }

    /// A value under computed keys depends on them, and on the decisions behind the collections around it.
    fn chosen(&self, value: Value, steps: &[Step]) -> Value {
        let value = self.taken_from(value, self.around.iter().copied());
        let computed = steps.iter().filter(|step| !step.chosen_by.is_empty());
        computed.fold(value, |value, step| {
            if value.is_absent() {
                return value;
            }
            let decision = ecow::eco_format!("is `{}`", step.shown());
            let inputs = step.chosen_by.iter().copied();
            let origin = self.eval.session.origins.selected(value.origin, decision, self.place.part(step.at), inputs);
            value.with_origin(origin)
        })
    }

    fn look_up(&mut self, steps: &[Step]) -> Result<Value, Stop> {
        let Some((head, rest)) = steps.split_first() else { return Err(Stop::Poison) };
        if self.asks_scope_for_itself(steps) {
            let Stop::Missing(mut missing) = self.missing(steps, 0, Vec::new(), Vec::new()) else {
                return Err(Stop::Poison);
            };
            missing.itself = self.own.map(Own::name);
            return Err(Stop::Missing(missing));
        }
        self.record_environment(steps);
        if self.env.varying.concerns(&head.name, rest.iter().map(|step| step.name.as_str())) {
            self.eval.vary();
        }
        let found = match self.env.scope.lookup(&head.name, self.eval) {
            Lookup::Found(value) => Found::One(value),
            Lookup::Parts(parts) => {
                // Only a variable may mean the one below it.
                let is_variable = matches!(self.own, Some(Own { layer: OwnLayer::Variables { .. }, .. }));
                let (all, count) = (if is_variable { parts.clone() } else { Vec::new() }, parts.len());
                let plain = self.without_own(&head.name, rest, parts);
                let shortened = plain.len() < count;
                let found = self.walk(Found::Parts(plain), steps, 1).map_err(|stop| match stop {
                    Stop::Missing(mut missing) if shortened => {
                        missing.itself = self.own.map(Own::name);
                        Stop::Missing(missing)
                    }
                    other => other,
                })?;
                let value = self.close(found)?;
                if !shortened {
                    self.warn_of_scope_trap(all, steps, &value);
                }
                return Ok(value);
            }
            Lookup::NotHere { available } => return Err(self.missing(steps, 0, available, Vec::new())),
            Lookup::Later { phase } => return Err(self.too_early(&head.name, head.at, phase)),
        };
        let found = self.walk(found, steps, 1)?;
        self.close(found)
    }

    /// Records which variables of the environment an expression reads.
    fn record_environment(&self, steps: &[Step]) {
        let world = &self.eval.session.world;
        let names: [Option<&str>; 3] = std::array::from_fn(|at| steps.get(at).map(|step| step.name.as_str()));
        match names {
            [Some("local"), Some("env"), Some(name)] => drop(world.env(name)),
            [Some("local"), Some("env") | None, _] => drop(world.env_all()),
            [Some("local"), Some("username" | "usernameLowerCase"), _] => {
                USER_VARIABLES.iter().for_each(|name| drop(world.env(name)));
            }
            _ => {}
        }
    }

    /// Looks a path up on a computed value.
    pub(super) fn member(&mut self, value: Value, path: &[Part]) -> Result<Value, Stop> {
        let steps = match self.steps(path)? {
            Ok(steps) => steps,
            Err(pending) => return Ok(pending),
        };
        let is_secret = steps.iter().any(|step| step.is_secret);
        self.around.clear();
        let found = self.walk(Found::One(value), &steps, 0)?;
        self.close(found).map(|value| self.chosen(value, &steps).tainted_if(is_secret))
    }

    /// A lookup under a key that is not known yet: it may take any part of the collection, and needs the other keys.
    fn waiting_under(&mut self, pending: Value, path: &[Part]) -> Value {
        let Some(first) = path.first() else { return pending };
        let is_name = |part: &&Part| matches!(part.key, Key::Name(_));
        let known: Vec<Part> = path.iter().take_while(is_name).cloned().collect();
        let mut inputs: Vec<Value> = self.unhurried(|evaluator| evaluator.lookup(&known)).into_iter().collect();
        for part in path {
            if let Key::Computed(node) = &part.key {
                inputs.extend(self.unhurried(|evaluator| evaluator.node(node)));
            }
        }
        self.waiting(pending, "key", first.at, inputs)
    }

    /// All keys of a path, computed ones evaluated. A pending key makes the whole lookup pending.
    fn steps(&mut self, path: &[Part]) -> Result<Result<Vec<Step>, Value>, Stop> {
        let mut steps = Vec::with_capacity(path.len());
        for part in path {
            let (name, is_secret, chosen_by) = match &part.key {
                Key::Name(name) => (name.clone(), false, Vec::new()),
                Key::Computed(node) => {
                    let value = self.node(node)?;
                    let name = match &value.data {
                        Data::Pending(_) => return Ok(Err(value)),
                        Data::Str(text) => text.clone(),
                        Data::Int(_) | Data::Float(_) | Data::BigInt(_) => {
                            number::to_text(value.as_number().unwrap_or(f64::NAN))
                        }
                        _ => {
                            let message = what::must_be("a key in brackets", "a string or a number")
                                .and(format!(", not {}", shown_type(&value)));
                            return Err(self.failed(&rules::TEMPLATE_TYPE, part.at, message));
                        }
                    };
                    (name, value.is_tainted(), self.inputs_of(&value))
                }
            };
            steps.push(Step { name, at: part.at, is_secret, chosen_by });
        }
        Ok(Ok(steps))
    }

    fn asks_scope_for_itself(&self, steps: &[Step]) -> bool {
        self.own.is_some_and(|own| matches!(own.layer, OwnLayer::Scope) && own.is_asked_for(steps))
    }

    fn without_own(&self, head: &str, rest: &[Step], mut parts: Vec<Value>) -> Vec<Value> {
        let Some(own) = self.own.filter(|_| VARIABLES.contains(&head) && !rest.is_empty()) else { return parts };
        if let OwnLayer::Variables { index, .. } = own.layer
            && index < parts.len()
            && own.is_asked_for(rest)
        {
            parts.remove(index);
        }
        parts
    }

    /// The layers that a name is looked up in, without the one that refers to itself.
    pub(super) fn without_own_named(&self, head: &str, names: &[EcoString], parts: Vec<Value>) -> Vec<Value> {
        let step =
            |name: &EcoString| Step { name: name.clone(), at: At::default(), is_secret: false, chosen_by: Vec::new() };
        self.without_own(head, &names.iter().map(step).collect::<Vec<_>>(), parts)
    }

    /// The original looks variables up in another order where a variable mentions a name that several scopes have.
    /// We take the nearest; where that makes a difference, the user should know.
    fn warn_of_scope_trap(&mut self, mut parts: Vec<Value>, steps: &[Step], ours: &Value) {
        let Some(Own { layer: OwnLayer::Variables { index, siblings }, .. }) = self.own else { return };
        if ours.is_collection() || ours.is_pending() || *index >= parts.len() || steps.len() < 2 {
            return;
        }
        let below: Vec<Value> = parts.split_off(index + 1);
        let own = parts.split_off(*index);
        let mut theirs = parts;
        match siblings {
            0 => theirs.extend(below.into_iter().chain(own)),
            _ => {
                let mut below = below.into_iter();
                theirs.extend(below.next());
                theirs.extend(own);
                theirs.extend(below.skip(siblings.saturating_sub(1)));
            }
        }
        let found = self.walk(Found::Parts(theirs), steps, 1).and_then(|found| self.close(found));
        let shown = match found {
            Ok(value) if super::operate::same(&value, ours) || value.is_tainted() || ours.is_tainted() => return,
            Ok(value) => format!("`{}`", super::operate::text_of(&value)),
            Err(Stop::Missing(_)) => "nothing".to_owned(),
            Err(_) => return,
        };
        self.eval.vary();
        let path = path_text(steps);
        let message = format!(
            "`{path}` is `{}` here, from the nearest scope; Garden finds {shown}",
            super::operate::text_of(ours)
        );
        let mut diagnostic = Diagnostic::nowhere(&rules::VARIABLE_SCOPE, message);
        diagnostic.span = steps.last().and_then(|step| self.place.part(step.at));
        self.eval.session.sink.push(diagnostic.hint("give the variables of the two scopes different names"));
    }

    /// A key that may be missing, but that can never exist and resembles an existing one, is misspelt, and Garden
    /// ignores it silently.
    pub(super) fn warn_of_near(&mut self, missing: &Missing) {
        let known: Vec<&str> = match missing.under.as_str() {
            _ if missing.phase.is_some() || missing.itself.is_some() => return,
            under if VARIABLES.contains(&under.split('.').next().unwrap_or_default()) => {
                return self.warn_of_near_variable(missing);
            }
            "" => KEYS.iter().map(|key| key.name).collect(),
            under if CLOSED.contains(&under) => fields(under).to_vec(),
            _ => return,
        };
        if known.contains(&missing.key.as_str()) || self.eval.session.sink.pushed() >= HINTS {
            return;
        }
        let Some(near) = purlin_syntax::suggest::nearest(&missing.key, known) else { return };
        self.warn_of_missing(missing, near);
    }

    /// A variable that may be missing is often set only by some environments or users. It is misspelt if it is one
    /// letter off and no file that was read has a key of this name.
    fn warn_of_near_variable(&mut self, missing: &Missing) {
        let session = self.eval.session;
        let within = missing.without.iter().filter(|value| !value.is_tainted()).filter_map(Value::as_map);
        let known = missing.available.iter().chain(within.flat_map(|map| map.keys())).take(KEYS_COMPARED);
        let near = known.into_iter().find(|known| is_typo(&missing.key, known)).cloned();
        let Some(near) = near.filter(|_| session.sink.pushed() < HINTS) else { return };
        for source in session.sources.all() {
            if !self.eval.charge(steps_for(source.text().len() as u64), 0) || declares(source.text(), &missing.key) {
                return;
            }
        }
        self.warn_of_missing(missing, &near);
    }

    fn warn_of_missing(&mut self, missing: &Missing, near: &str) {
        let place = if missing.under.is_empty() { String::new() } else { format!(" under `{}`", missing.under) };
        let words = format!("could not find key `{}`{place}, which counts as missing here", missing.key);
        let message = what::undeclared(&missing.under, "key", &missing.key).words(words);
        let mut diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_KEY, message).warning();
        diagnostic.span = self.place.part(missing.at);
        self.eval.session.sink.push(diagnostic.hint(Hint::meant(missing.key.as_str(), near)));
    }

    fn walk(&mut self, mut found: Found, steps: &[Step], from: usize) -> Result<Found, Stop> {
        for (index, step) in steps.iter().enumerate().skip(from) {
            found = match found {
                Found::One(value) => match self.step(&value, steps, index, step)? {
                    Some(next) => Found::One(next),
                    None => return Ok(Found::One(self.pending_path(value, steps))),
                },
                Found::Parts(parts) => self.step_parts(parts, steps, index, step)?,
            };
        }
        Ok(found)
    }

    /// Records a collection on the path.
    fn go_into(&mut self, value: &Value) {
        if value.origin.is_derived() {
            self.around.push(value.origin);
        }
    }

    /// One step into one value; `None` if the value is pending.
    fn step(&mut self, value: &Value, steps: &[Step], index: usize, step: &Step) -> Result<Option<Value>, Stop> {
        if let Some(part) = self.eval.part(value, &step.name) {
            return Ok(Some(part));
        }
        let value = self.eval.force(value);
        self.go_into(&value);
        let found = match &value.data {
            Data::Map(map) => map.get(&step.name).cloned(),
            Data::List(list) if step.name == "length" => Some(Value::from(i64::try_from(list.len()).unwrap_or(0))),
            Data::List(list) => step.name.parse::<usize>().ok().and_then(|at| list.get(at)).cloned(),
            Data::Pending(_) => return Ok(None),
            Data::Poison => return Err(Stop::Poison),
            _ => return Err(self.on_primitive(&value, steps, index)),
        };
        match found {
            Some(next) => Ok(Some(next.part_of(&value))),
            None if value.get(REST).is_some() => Ok(None),
            None => Err(self.missing(steps, index, Vec::new(), vec![value])),
        }
    }

    /// One step into partial collections: every one that has the key contributes, down to the first plain value.
    fn step_parts(&mut self, parts: Vec<Value>, steps: &[Step], index: usize, step: &Step) -> Result<Found, Stop> {
        let mut next: Vec<Value> = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let forced;
            let part = match &part.data {
                Data::Lazy(_) => {
                    forced = self.eval.force(part);
                    &forced
                }
                _ => part,
            };
            let found = match &part.data {
                Data::Map(map) => map.get(&step.name).cloned(),
                Data::List(list) if step.name == "length" => Some(Value::from(i64::try_from(list.len()).unwrap_or(0))),
                Data::List(list) => step.name.parse::<usize>().ok().and_then(|at| list.get(at)).cloned(),
                Data::Poison => return Err(Stop::Poison),
                // It may hold the key, and it is stronger than the layers after it.
                Data::Pending(_) if next.is_empty() => return Ok(Found::One(self.pending_path(part.clone(), steps))),
                _ => None,
            };
            let Some(value) = found else { continue };
            self.go_into(part);
            let value = self.eval.force(&value.part_of(part));
            if value.is_poison() {
                return Err(Stop::Poison);
            }
            if !value.is_collection() {
                if next.is_empty() {
                    return Ok(Found::One(self.over_weaker(value, &parts, place, step)));
                }
                break;
            }
            next.push(value);
        }
        if next.is_empty() {
            let without = parts.iter().map(|part| self.eval.force(part)).collect();
            return Err(self.missing(steps, index, Vec::new(), without));
        }
        Ok(Found::Parts(next))
    }

    /// The winner among several scopes remembers the values it overrides; nothing is evaluated for that.
    fn over_weaker(&self, winner: Value, parts: &[Value], place: usize, step: &Step) -> Value {
        let weaker = parts.iter().skip(place + 1).filter_map(|part| part.get(&step.name));
        let overrode: Vec<purlin_value::Origin> = weaker.map(|value| value.origin).collect();
        if overrode.is_empty() || winner.is_absent() {
            return winner;
        }
        let origin = self.eval.session.origins.chosen(winner.origin, "nearest scope", overrode);
        winner.with_origin(origin)
    }

    fn close(&mut self, found: Found) -> Result<Value, Stop> {
        let value = match found {
            Found::One(value) => self.eval.force(&value),
            Found::Parts(parts) => merge_parts(parts, self.eval),
        };
        if value.is_poison() {
            return Err(Stop::Poison);
        }
        Ok(match value.get(REST) {
            Some(rest) => rest.clone().tainted_by(value.taint()),
            None => value,
        })
    }

    /// Values below a pending value are pending too; they are shown by the path the user wrote.
    fn pending_path(&self, value: Value, steps: &[Step]) -> Value {
        let value = match &value.data {
            Data::Lazy(lazy) => lazy.known().map_or(value.clone(), |known| known.clone().tainted_by(value.taint())),
            _ => value,
        };
        let value = value.get(REST).map_or(value.clone(), |rest| rest.clone().tainted_by(value.taint()));
        let Data::Pending(pending) = &value.data else { return value };
        let mut pending = (**pending).clone();
        pending.what = path_text(steps);
        value.clone().with(Data::Pending(pending.into()))
    }

    fn missing(&self, steps: &[Step], index: usize, available: Vec<EcoString>, without: Vec<Value>) -> Stop {
        let (key, at) = steps.get(index).map_or((EcoString::new(), At::default()), |s| (s.shown(), s.at));
        let under = path_text(steps.get(..index).unwrap_or(&[]));
        Stop::Missing(Box::new(Missing { key, under, at, available, without, phase: None, itself: None }))
    }

    fn too_early(&self, key: &EcoString, at: At, phase: &'static str) -> Stop {
        let missing = Missing {
            key: key.clone(),
            under: EcoString::new(),
            at,
            available: Vec::new(),
            without: Vec::new(),
            phase: Some(phase),
            itself: None,
        };
        Stop::Missing(Box::new(missing))
    }

    fn on_primitive(&self, value: &Value, steps: &[Step], index: usize) -> Stop {
        let (key, at) = steps.get(index).map_or((EcoString::new(), At::default()), |s| (s.shown(), s.at));
        let path = path_text(steps.get(..index).unwrap_or(&[]));
        let message = if path.is_empty() {
            what::unknown("key", key).and(format!(" in {}", shown_type(value)))
        } else {
            what::expected("a mapping or list", shown_type(value))
                .under(format!("cannot read key `{key}` of `{path}`: "))
                .hint(Some("remove the key, or make the value a mapping"))
        };
        self.failed(&rules::TEMPLATE_TYPE, at, message)
    }
}

/// Keys with a fixed set of fields.
const CLOSED: &[&str] = &["environment", "project", "git", "local", "datetime", "command"];

/// Maximum number of keys that a message considers: a collection may have as many as a file has lines.
const KEYS_LOOKED_AT: usize = 10_000;

/// Missing keys that get suggestions. Each suggestion compares all keys, and a longer report is not read.
pub(super) const HINTS: usize = 200;

/// Variables that a missing one is compared with; more are not written by hand.
const KEYS_COMPARED: usize = 200;

/// Whether a text has a key of this name, in YAML, JSON or a file of environment variables.
fn declares(text: &str, name: &str) -> bool {
    let follows = |at: usize| text.get(at + name.len()..).unwrap_or_default().trim_start_matches(['"', '\'', ' ']);
    text.match_indices(name).any(|(at, _)| follows(at).starts_with([':', '=']) && !follows(at).starts_with("=="))
}

/// The keys of a value that a message may list.
fn available_keys(value: &Value) -> Vec<EcoString> {
    match &value.data {
        // The keys of a secret are secret.
        _ if value.is_tainted() => Vec::new(),
        Data::Map(map) => map.keys().filter(|key| !key.starts_with('_')).take(KEYS_LOOKED_AT).cloned().collect(),
        Data::List(list) => (0..list.len().min(10)).map(|index| ecow::eco_format!("{index}")).collect(),
        _ => Vec::new(),
    }
}

/// A path as the user would write it.
fn path_text(steps: &[Step]) -> EcoString {
    let mut text = EcoString::new();
    for step in steps {
        let name = step.shown();
        if name.contains(['.', '$', '{', '}']) {
            text.push_str(&ecow::eco_format!("[\"{name}\"]"));
            continue;
        }
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&name);
    }
    text
}

impl Missing {
    /// The existing keys, each once.
    fn keys(&self) -> Vec<EcoString> {
        let mut seen = std::collections::HashSet::new();
        let within = self.without.iter().flat_map(available_keys);
        self.available.iter().cloned().chain(within).filter(|key| seen.insert(key.clone())).collect()
    }

    /// The diagnostic for a key that was not found; with the existing keys if that helps.
    pub(super) fn diagnostic(&self, has_hint: bool) -> Diagnostic {
        if let Some(phase) = self.phase {
            let message = format!("`{}` is not available here: it exists {phase}", self.key);
            return Diagnostic::nowhere(&rules::KEY_TOO_EARLY, message);
        }
        if let Some(itself) = &self.itself {
            let words = format!("could not find key `{}` outside of `{itself}`, which refers to itself", self.key);
            let message = what::undeclared(&self.under, "key", &self.key).words(words);
            return Diagnostic::nowhere(&rules::UNKNOWN_KEY, message);
        }
        let place = if self.under.is_empty() { String::new() } else { format!(" under `{}`", self.under) };
        let words = format!("could not find key `{}`{place}", self.key);
        let message = what::undeclared(&self.under, "key", &self.key).words(words);
        let diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_KEY, message);
        // The names of a user's environment variables are private.
        if self.under == "local.env" {
            let allow = if self.key == REDACTED { "" } else { self.key.as_str() };
            let allow = ["local.env", allow].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
            let hint = "set this environment variable, add a fallback with `||`, or allow it to be unset with";
            return diagnostic.hint(format!("{hint} `--pending {allow}`"));
        }
        if !has_hint {
            return diagnostic;
        }
        let keys = self.keys();
        match purlin_syntax::suggest::nearest(&self.key, keys.iter().map(EcoString::as_str)) {
            Some(near) => diagnostic.hint(Hint::meant(self.key.as_str(), near)),
            None if keys.is_empty() => diagnostic.hint("no keys are defined here"),
            None => diagnostic.hint(format!("available keys: {}", key_list(&keys))),
        }
    }
}

fn key_list(keys: &[EcoString]) -> String {
    const SHOWN: usize = 20;
    let mut text = keys.iter().take(SHOWN).map(EcoString::as_str).collect::<Vec<_>>().join(", ");
    if keys.len() > SHOWN {
        text.push_str(&format!(" and {} more", keys.len() - SHOWN));
    }
    text
}
