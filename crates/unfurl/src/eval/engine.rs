//! The evaluator: forcing values, variables, attributes; its caches and budgets.

use super::frame::{Frame, Mode, Scope, Source, Variable, find};
use super::lazy::{Lazy, Memo};
use super::trace::Trace;
use super::{form, path};
use crate::error::{Error, Kind, Result, limit};
use crate::jinja;
use crate::limits::{MAX_CALLS, MAX_DEPTH};
use crate::python;
use crate::query::{Query, parse};
use crate::tree::{NodeId, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_value::{Origin, Piece, Session};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Shorter texts are not worth hiding in messages: they would match anywhere.
const SHORTEST_SECRET: usize = 4;
/// Most secrets remembered for messages.
const MOST_SECRETS: usize = 1_000;
/// Most origins kept of what one attribute reads.
const MOST_READS: usize = 16;

type Cache<T> = RefCell<HashMap<EcoString, Rc<T>, foldhash::fast::RandomState>>;

/// What an ensemble's surroundings say.
#[derive(Debug, Default, Clone)]
pub struct Settings {
    /// Directory of the project; the ensemble's if empty.
    pub project_dir: EcoString,
    /// Directory of the home project.
    pub home_dir: EcoString,
    /// Repositories by name: their directories.
    pub repositories: Vec<(EcoString, EcoString)>,
    /// Values for `local` by name, unevaluated.
    pub locals: Option<ValMap>,
    /// Values for `secret` by name, unevaluated.
    pub secrets: Option<ValMap>,
    /// Other ensembles by name: the values their root shows.
    pub externals: HashMap<EcoString, Val>,
    /// Environment variables set by the ensemble's environment.
    pub variables: Vec<(EcoString, Val)>,
    /// Passwords of vaults; the first encrypts.
    pub vault: Vec<crate::vault::Secret>,
    /// What `get_ensemble_metadata` returns.
    pub metadata: Vec<(EcoString, Val)>,
}

/// Evaluates expressions against a tree.
pub struct Engine<'w> {
    /// The instances.
    pub tree: &'w Tree,
    /// Files, environment, origins and problems.
    pub session: &'w Session,
    /// What the ensemble's surroundings say.
    pub settings: Settings,
    queries: Cache<Query>,
    templates: Cache<jinja::Template>,
    steps: Cell<u64>,
    depth: Cell<usize>,
    /// Set whenever a secret is read, so that a template can tell whether it saw one.
    pub saw_secret: Cell<bool>,
    /// What was traced.
    pub trace: RefCell<Option<Trace>>,
    /// Problems that did not stop the evaluation: cycles.
    pub notices: RefCell<Vec<Error>>,
    /// Attributes being evaluated, outermost first.
    pub stack: RefCell<Vec<(NodeId, EcoString)>>,
    /// How many random values were drawn.
    pub drawn: Cell<u64>,
    /// Where the values come from that the present attribute has read so far.
    reads: RefCell<Vec<Origin>>,
    /// Secret texts that were met, so that no message repeats one.
    secrets: RefCell<HashSet<EcoString>>,
    /// Files that secrets were written to.
    secret_files: RefCell<HashSet<String>>,
}

/// An engine and the surroundings of one expression.
#[derive(Clone)]
pub struct Ctx<'e, 'w> {
    /// The evaluator.
    pub engine: &'e Engine<'w>,
    /// The surroundings.
    pub frame: Rc<Frame>,
}

impl<'w> Engine<'w> {
    /// An evaluator for a tree.
    pub fn new(tree: &'w Tree, session: &'w Session, settings: Settings) -> Self {
        Engine {
            tree,
            session,
            settings,
            queries: Cache::default(),
            templates: Cache::default(),
            steps: Cell::new(0),
            depth: Cell::new(0),
            saw_secret: Cell::new(false),
            trace: RefCell::new(None),
            notices: RefCell::new(Vec::new()),
            stack: RefCell::new(Vec::new()),
            drawn: Cell::new(0),
            reads: RefCell::new(Vec::new()),
            secrets: RefCell::new(HashSet::new()),
            secret_files: RefCell::new(HashSet::new()),
        }
    }

    /// The context of an instance, without variables.
    pub fn context<'e>(&'e self, node: NodeId) -> Ctx<'e, 'w> {
        self.context_with(node, Vec::new(), Mode::default())
    }

    /// The context of an instance with variables.
    pub fn context_with<'e>(&'e self, node: NodeId, variables: Vec<Variable>, mode: Mode) -> Ctx<'e, 'w> {
        let current = Val::node(node);
        let scope = (!variables.is_empty()).then(|| {
            let home = current.clone();
            Rc::new(Scope { variables, parent: None, home, mode, dir: EcoString::new() })
        });
        let frame = Frame { start: current.clone(), current, scope, mode, dir: EcoString::new() };
        Ctx { engine: self, frame: Rc::new(frame) }
    }

    /// The parsed form of a query.
    pub fn query(&self, text: &str) -> Result<Rc<Query>> {
        if let Some(query) = self.queries.borrow().get(text) {
            return Ok(Rc::clone(query));
        }
        let query = parse(text).map_err(|error| Box::<Error>::from(error).within(text))?;
        let query = Rc::new(query);
        self.queries.borrow_mut().insert(text.into(), Rc::clone(&query));
        Ok(query)
    }

    /// The parsed form of a template with the usual delimiters.
    pub fn template(&self, text: &str) -> Result<Rc<jinja::Template>> {
        if let Some(template) = self.templates.borrow().get(text) {
            return Ok(Rc::clone(template));
        }
        let template = Rc::new(jinja::Template::parse(text)?);
        self.templates.borrow_mut().insert(text.into(), Rc::clone(&template));
        Ok(template)
    }

    /// Pays for work done.
    pub fn spend(&self, steps: usize) -> Result<()> {
        let total = self.steps.get() + steps as u64;
        self.steps.set(total);
        let most = self.session.limits.fuel;
        if total > most {
            return limit(format!("the evaluation takes more than {most} steps"));
        }
        Ok(())
    }

    /// Starts the budget anew, for an expression that stands by itself.
    pub fn refill(&self) {
        self.steps.set(0);
    }

    /// Runs something one level deeper.
    pub fn deeper<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let depth = self.depth.get();
        if depth >= MAX_CALLS {
            return limit(format!("expressions need each other more than {MAX_CALLS} deep"));
        }
        self.depth.set(depth + 1);
        let result = run();
        self.depth.set(depth);
        result
    }

    /// An item of a lazy collection.
    pub fn item(&self, lazy: &Lazy, index: usize) -> Result<Option<Val>> {
        let Some(raw) = lazy.raw_at(index) else {
            return Ok(None);
        };
        let memo = lazy.cells.borrow().get(index).cloned().unwrap_or_default();
        let value = match memo {
            Memo::Done(value) => value,
            Memo::Busy => {
                self.notice_cycle(None);
                Val::null()
            }
            Memo::Empty => {
                self.set_cell(lazy, index, Memo::Busy);
                let ctx = Ctx { engine: self, frame: Rc::clone(&lazy.frame) };
                match self.deeper(|| ctx.evaluate(raw)) {
                    Ok(value) => {
                        self.set_cell(lazy, index, Memo::Done(value.clone()));
                        value
                    }
                    Err(error) => {
                        self.set_cell(lazy, index, Memo::Empty);
                        return Err(error);
                    }
                }
            }
        };
        self.note_read(&value);
        Ok(Some(value))
    }

    fn set_cell(&self, lazy: &Lazy, index: usize, memo: Memo) {
        if let Some(cell) = lazy.cells.borrow_mut().get_mut(index) {
            *cell = memo;
        }
    }

    /// Remembers that a value was read.
    pub fn note_read(&self, value: &Val) {
        if value.tainted {
            self.saw_secret.set(true);
            self.note_secret(value);
        }
        if value.origin.is_known() {
            let mut reads = self.reads.borrow_mut();
            if reads.len() < MOST_READS && !reads.contains(&value.origin) {
                reads.push(value.origin);
            }
        }
    }

    /// Remembers a secret's text.
    pub fn note_secret(&self, value: &Val) {
        if let Some(text) = value.as_str().filter(|text| text.len() >= SHORTEST_SECRET) {
            let mut secrets = self.secrets.borrow_mut();
            if secrets.len() < MOST_SECRETS && !secrets.contains(text) {
                secrets.insert(text.into());
            }
        }
    }

    /// An error without the secrets that were met.
    pub fn scrubbed(&self, mut error: Box<Error>) -> Box<Error> {
        for secret in self.secrets.borrow().iter() {
            if error.message.contains(secret.as_str()) {
                error.message = error.message.replace(secret.as_str(), super::show::REDACTED);
            }
            error.hint = error.hint.take().filter(|hint| !hint.contains(secret.as_str()));
        }
        error
    }

    /// Remembers that a secret was written to a file.
    pub fn note_secret_file(&self, path: &str) {
        self.secret_files.borrow_mut().insert(path.to_owned());
    }

    /// Whether a secret was written to a file.
    pub fn is_secret_file(&self, path: &str) -> bool {
        self.secret_files.borrow().contains(path)
    }

    /// The origin of what an expression computed: where it is written, and what went in.
    fn derived(&self, raw: &Val, reads: Vec<Origin>) -> Origin {
        let span = self.session.origins.span(raw.origin, &self.session.sources);
        let pieces = reads.into_iter().map(|origin| Piece { start: 0, end: 0, origin }).collect();
        self.session.origins.derived(step_of(raw), span, pieces)
    }

    /// Reports that an attribute, or a part of one, needs itself.
    pub fn notice_cycle(&self, again: Option<(NodeId, &str)>) {
        let stack = self.stack.borrow();
        let from = again.and_then(|(id, name)| stack.iter().position(|(node, known)| *node == id && known == name));
        let members = stack.get(from.unwrap_or_else(|| stack.len().saturating_sub(1))..).unwrap_or(&[]);
        let names: Vec<String> =
            members.iter().map(|(node, name)| format!("`{}::{name}`", self.tree.node(*node).name)).collect();
        let message = match names.as_slice() {
            [] => "a value refers to itself, so it is null".to_owned(),
            [one] => format!("{one} refers to itself, so it is null"),
            _ => format!("these refer to each other, so they are null: {}", names.join(", ")),
        };
        let mut error = Error::new(Kind::Cycle, message);
        if let Some((node, name)) = members.first() {
            let attribute = self.tree.node(*node).attributes.get(name);
            error.origin = attribute.map_or(Origin::NONE, |attribute| attribute.raw.origin);
        }
        let mut notices = self.notices.borrow_mut();
        if notices.len() < crate::limits::MAX_TRACE {
            notices.push(*error);
        }
    }

    /// Evaluates everything inside a value.
    pub fn force(&self, value: Val) -> Result<Val> {
        if is_plain(&value) {
            return Ok(value);
        }
        self.deeper(|| self.force_parts(value))
    }

    fn force_parts(&self, value: Val) -> Result<Val> {
        let (tainted, origin) = (value.tainted, value.origin);
        let data = match &value.data {
            Data::List(items) => {
                self.spend(items.len())?;
                let forced: Result<Vec<Val>> = items.iter().map(|item| self.force(item.clone())).collect();
                Data::List(Rc::new(items.with(forced?)))
            }
            Data::Map(entries) => {
                self.spend(entries.len())?;
                let mut forced = ValMap::with_capacity_and_hasher(entries.len(), Default::default());
                for (key, item) in entries.iter() {
                    forced.insert(key.clone(), self.force(item.clone())?);
                }
                Data::Map(Rc::new(forced))
            }
            Data::Lazy(lazy) => return self.force_lazy(lazy).map(|v| v.taint_if(tainted).from_origin(origin)),
            Data::Attributes(id) => return self.all_attributes(*id),
            Data::Names(id) => return super::special::names(self, *id),
            Data::AllNodes => {
                let nodes = self.tree.named().map(|(name, id)| (MapKey::Str(name.clone()), Val::node(id)));
                Data::Map(Rc::new(nodes.collect()))
            }
            Data::AllAttributes => {
                let mut all = ValMap::default();
                for (name, id) in self.tree.named() {
                    all.insert(MapKey::Str(name.clone()), self.all_attributes(id)?);
                }
                Data::Map(Rc::new(all))
            }
            _ => return Ok(value),
        };
        Ok(Val { data, tainted, origin })
    }

    fn force_lazy(&self, lazy: &Lazy) -> Result<Val> {
        self.spend(lazy.len())?;
        let mut items = Vec::with_capacity(lazy.len());
        for index in 0..lazy.len() {
            let item = self.item(lazy, index)?.unwrap_or_else(Val::null);
            items.push(self.force(item)?);
        }
        if lazy.is_list() {
            return Ok(Val::list(items));
        }
        let mut entries = ValMap::with_capacity_and_hasher(items.len(), Default::default());
        for (index, item) in items.into_iter().enumerate() {
            if let Some(key) = lazy.key_at(index) {
                entries.insert(key.clone(), item);
            }
        }
        Ok(Val::map(entries))
    }

    /// All attributes of an instance, evaluated.
    pub fn all_attributes(&self, id: NodeId) -> Result<Val> {
        let mut entries = ValMap::default();
        for name in self.tree.node(id).attributes.keys() {
            if let Some(value) = self.attribute(id, name)? {
                entries.insert(MapKey::Str(name.clone()), self.force(value)?);
            }
        }
        Ok(Val::map(entries))
    }

    /// An attribute of an instance, evaluated; none if it has no such attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Result<Option<Val>> {
        let Some(attribute) = self.tree.node(id).attributes.get(name) else {
            return self.delegate(id, name);
        };
        let memo = attribute.memo.borrow().clone();
        let value = match memo {
            Memo::Done(value) => value,
            Memo::Busy => {
                self.notice_cycle(Some((id, name)));
                Val::null()
            }
            Memo::Empty => {
                *attribute.memo.borrow_mut() = Memo::Busy;
                self.stack.borrow_mut().push((id, name.into()));
                let result = self.deeper(|| self.evaluate_attribute(id, name, attribute));
                self.stack.borrow_mut().pop();
                *attribute.memo.borrow_mut() = match &result {
                    Ok(value) => Memo::Done(value.clone()),
                    Err(_) => Memo::Empty,
                };
                result.map_err(|mut error| {
                    error.through.push(format!("`{name}` of `{}`", self.tree.node(id).name));
                    if !error.origin.is_known() {
                        error.origin = attribute.raw.origin;
                    }
                    self.scrubbed(error)
                })?
            }
        };
        self.note_read(&value);
        Ok(Some(value))
    }

    fn evaluate_attribute(&self, id: NodeId, name: &str, attribute: &crate::tree::Attribute) -> Result<Val> {
        let mode = Mode { attribute: true, ..Mode::default() };
        let mut frame = Frame {
            current: Val::node(id),
            start: Val::node(id),
            scope: None,
            mode,
            dir: self.tree.node(id).source_dir.clone(),
        };
        let ctx = Ctx { engine: self, frame: Rc::new(frame.clone()) };
        let outer = self.reads.take();
        let result = ctx.evaluate(&attribute.raw);
        let reads = self.reads.replace(outer);
        let mut value = result?;
        if attribute.raw.origin.is_known() && !is_static(&attribute.raw, 0) {
            value.origin = match value.as_str() {
                // Text that knows its pieces keeps them.
                Some(text) if value.origin.is_known() && value.origin != attribute.raw.origin => {
                    self.session.origins.derived(
                        step_of(&attribute.raw),
                        self.session.origins.span(attribute.raw.origin, &self.session.sources),
                        vec![piece(0, text.len(), value.origin)],
                    )
                }
                _ => self.derived(&attribute.raw, reads),
            };
        }
        if let Some(schema) = &attribute.schema {
            if !schema.sensitive_parts.is_empty() {
                value = crate::ensemble::validate::mark_parts(self.force(value)?, &schema.sensitive_parts);
            }
            if let Some(transform) = &schema.transform {
                let scope = ctx.layer(vec![Variable::ready("value", value)]);
                frame.scope = Some(scope);
                let ctx = Ctx { engine: self, frame: Rc::new(frame.clone()) };
                value = ctx.map_value(transform)?;
            }
            crate::ensemble::validate::value(self, &frame, id, name, schema, &value)?;
        }
        Ok(value.taint_if(attribute.sensitive))
    }

    /// Attributes that another instance or an expression supplies (`.interfaces`).
    fn delegate(&self, id: NodeId, name: &str) -> Result<Option<Val>> {
        let node = self.tree.node(id);
        let Some(interfaces) = node.attributes.get(".interfaces") else {
            return Ok(None);
        };
        if name == ".interfaces" || name == "default" || name == "inheritFrom" {
            return Ok(None);
        }
        if interfaces.raw.get("inherit").is_some()
            && let Some(Val { data: Data::Node(from), .. }) = self.attribute(id, "inheritFrom")?
        {
            return self.deeper(|| self.attribute(from, name));
        }
        if interfaces.raw.get("default").is_some()
            && let Some(default) = node.attributes.get("default")
        {
            let key = Variable::ready("key", Val::str(name));
            let ctx = self.context_with(id, vec![key], Mode::default());
            return self.deeper(|| ctx.map_value(&default.raw)).map(Some);
        }
        Ok(None)
    }
}

/// What computes a value as written.
fn step_of(raw: &Val) -> &'static str {
    if matches!(raw.data, Data::Str(_)) { "template" } else { "eval" }
}

/// A part of a text.
pub fn piece(start: usize, end: usize, origin: Origin) -> Piece {
    let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Piece { start: clamp(start), end: clamp(end), origin }
}

/// Whether nothing inside a value is left to evaluate.
fn is_plain(value: &Val) -> bool {
    match &value.data {
        Data::List(items) => items.iter().all(is_scalar),
        Data::Map(entries) => entries.values().all(is_scalar),
        Data::Lazy(_) | Data::Attributes(_) | Data::Names(_) | Data::AllNodes | Data::AllAttributes => false,
        _ => true,
    }
}

fn is_scalar(value: &Val) -> bool {
    !matches!(
        value.data,
        Data::List(_)
            | Data::Map(_)
            | Data::Lazy(_)
            | Data::Attributes(_)
            | Data::Names(_)
            | Data::AllNodes
            | Data::AllAttributes
    )
}

impl<'e, 'w> Ctx<'e, 'w> {
    /// The same context with another frame.
    pub fn with(&self, frame: Frame) -> Ctx<'e, 'w> {
        Ctx { engine: self.engine, frame: Rc::new(frame) }
    }

    /// A layer of variables over the present ones.
    pub fn layer(&self, variables: Vec<Variable>) -> Rc<Scope> {
        Rc::new(Scope {
            variables,
            parent: self.frame.scope.clone(),
            home: self.frame.current.clone(),
            mode: self.frame.mode,
            dir: self.frame.dir.clone(),
        })
    }

    /// The same context with further variables.
    pub fn with_variables(&self, variables: Vec<Variable>) -> Ctx<'e, 'w> {
        if variables.is_empty() {
            return self.clone();
        }
        let scope = Some(self.layer(variables));
        self.with(Frame { scope, ..(*self.frame).clone() })
    }

    /// The same context at another current item.
    pub fn at(&self, current: Val) -> Ctx<'e, 'w> {
        self.with(Frame { current, ..(*self.frame).clone() })
    }

    /// Whether undefined names are errors.
    pub fn strict(&self) -> bool {
        self.frame.mode.strict
    }

    /// The instance the expression belongs to: the current one, or where it started.
    pub fn instance(&self) -> NodeId {
        match (&self.frame.current.data, &self.frame.start.data) {
            (Data::Node(id), _) | (_, Data::Node(id)) => *id,
            _ => self.engine.tree.root(),
        }
    }

    /// A variable's value; none if there is no such variable.
    pub fn variable(&self, name: &str) -> Result<Option<Val>> {
        if let Some((scope, variable)) = find(&self.frame.scope, name) {
            let value = self.read_variable(scope, variable)?;
            self.engine.note_read(&value);
            return Ok(Some(value));
        }
        Ok(match name {
            "true" => Some(Val::bool(true)),
            "false" => Some(Val::bool(false)),
            "null" => Some(Val::null()),
            "start" => Some(self.frame.start.clone()),
            _ => None,
        })
    }

    fn read_variable(&self, scope: &Rc<Scope>, variable: &Variable) -> Result<Val> {
        let (raw, memo) = match &variable.value {
            Source::Ready(value) => return Ok(value.clone()),
            Source::Written(raw, memo) => (raw, memo),
        };
        let state = memo.borrow().clone();
        match state {
            Memo::Done(value) => Ok(value),
            Memo::Busy => {
                Err(Error::new(Kind::Cycle, format!("the variable `${}` is defined by itself", variable.name)))
            }
            Memo::Empty => {
                *memo.borrow_mut() = Memo::Busy;
                let ctx = self.with(Frame {
                    current: scope.home.clone(),
                    start: self.frame.start.clone(),
                    scope: Some(Rc::clone(scope)),
                    mode: scope.mode,
                    dir: scope.dir.clone(),
                });
                let result = self.engine.deeper(|| ctx.evaluate(raw));
                *memo.borrow_mut() = match &result {
                    Ok(value) => Memo::Done(value.clone()),
                    Err(_) => Memo::Empty,
                };
                result
            }
        }
    }

    /// Evaluates a value as written: expressions and templates in it are computed, collections become lazy.
    pub fn evaluate(&self, raw: &Val) -> Result<Val> {
        match &raw.data {
            Data::Str(text) if jinja::is_template(text) => {
                let value = jinja::render(self, text)?;
                let origin = if value.origin.is_known() { value.origin } else { raw.origin };
                Ok(value.taint_if(raw.tainted).from_origin(origin))
            }
            Data::Map(entries) => {
                if let Some(form) = form::Form::of(entries) {
                    let value = form::one(self, &form)?;
                    let origin = if !value.origin.is_known() { raw.origin } else { value.origin };
                    return Ok(value.taint_if(raw.tainted).from_origin(origin));
                }
                Ok(self.lazily(raw))
            }
            Data::List(_) => Ok(self.lazily(raw)),
            _ => Ok(raw.clone()),
        }
    }

    /// A collection whose items are evaluated on access; as it is if there is nothing to evaluate.
    fn lazily(&self, raw: &Val) -> Val {
        if is_static(raw, 0) {
            return raw.clone();
        }
        let lazy = Lazy::new(raw.clone(), Rc::clone(&self.frame));
        Val { data: Data::Lazy(Rc::new(lazy)), tainted: raw.tainted, origin: raw.origin }
    }

    /// Evaluates a value as written, completely.
    pub fn map_value(&self, raw: &Val) -> Result<Val> {
        let value = self.evaluate(raw).and_then(|value| self.engine.force(value));
        value.map_err(|error| self.engine.scrubbed(error))
    }

    /// `str(value)`.
    pub fn text(&self, value: &Val) -> Result<EcoString> {
        if let Data::Str(text) = &value.data {
            return Ok(text.clone());
        }
        let value = self.engine.force(value.clone())?;
        Ok(python::to_text(&value, self.engine.tree))
    }

    /// The matches of a query, evaluated from here.
    pub fn query(&self, text: &str) -> Result<Vec<Val>> {
        let query = self.engine.query(text)?;
        path::run(self, &query, text)
    }
}

/// Whether nothing in a value as written is an expression or a template.
pub fn is_static(raw: &Val, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match &raw.data {
        Data::Str(text) => !jinja::is_template(text),
        Data::List(items) => items.iter().all(|item| is_static(item, depth + 1)),
        Data::Map(entries) => {
            form::Form::of(entries).is_none() && entries.values().all(|item| is_static(item, depth + 1))
        }
        Data::Lazy(_) => false,
        _ => true,
    }
}
