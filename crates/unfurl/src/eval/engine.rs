//! The evaluator: forcing values, variables, attributes; its caches and budgets.

use super::form;
use super::frame::{Frame, Mode, Scope, Variable};
use super::lazy::{Lazy, Memo};
use super::solve::Solver;
use super::trace::Trace;
use crate::error::{Error, Result};
use crate::jinja;
use crate::limits::MAX_DEPTH;
use crate::query::{Query, parse};
use crate::tree::{NodeId, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_jinja::Evaluation;
use purlin_value::Session;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

type Cache<T> = RefCell<HashMap<EcoString, Rc<T>, foldhash::fast::RandomState>>;

/// The settings from an ensemble's surroundings.
#[derive(Debug, Default, Clone)]
pub struct Settings {
    /// Directory of the project; the ensemble's if empty.
    pub project_dir: EcoString,
    /// Directory of the home project.
    pub home_dir: EcoString,
    /// Repositories by name: their directories.
    pub repositories: Vec<(EcoString, EcoString)>,
    /// Repositories by name: their addresses.
    pub addresses: Vec<(EcoString, EcoString)>,
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
    /// The settings from the ensemble's surroundings.
    pub settings: Settings,
    queries: Cache<Query>,
    /// What the evaluation costs and has read.
    pub evaluation: Evaluation<'w>,
    /// Whether a variable of the ensemble's environment is being evaluated.
    pub in_variables: Cell<bool>,
    /// The recorded trace.
    pub trace: RefCell<Option<Trace>>,
    /// Problems that did not stop the evaluation: cycles.
    pub notices: RefCell<Vec<Error>>,
    /// Attributes of a cycle, and those that read them and may be null for that reason.
    pub cyclic: RefCell<HashSet<(NodeId, EcoString)>>,
    /// Attributes being evaluated, outermost first.
    pub stack: RefCell<Vec<(NodeId, EcoString)>>,
    /// How many random values were drawn.
    pub drawn: Cell<u64>,
    /// Attributes that wait for others.
    pub(super) solver: Solver,
    /// Files that secrets were written to.
    secret_files: RefCell<HashSet<String>>,
    /// Evaluated attributes, in order, if they are recorded.
    pub touched: RefCell<Option<Vec<(NodeId, EcoString)>>>,
}

/// An engine and the surroundings of one expression.
#[derive(Clone)]
pub struct Ctx<'e, 'w> {
    /// The evaluator.
    pub engine: &'e Engine<'w>,
    /// The surroundings.
    pub frame: Rc<Frame>,
}

impl<'w> std::ops::Deref for Engine<'w> {
    type Target = Evaluation<'w>;

    fn deref(&self) -> &Evaluation<'w> {
        &self.evaluation
    }
}

impl<'w> Engine<'w> {
    /// An evaluator for a tree.
    pub fn new(tree: &'w Tree, session: &'w Session, settings: Settings) -> Self {
        Engine {
            tree,
            settings,
            queries: Cache::default(),
            evaluation: Evaluation::new(session),
            in_variables: Cell::new(false),
            trace: RefCell::new(None),
            notices: RefCell::new(Vec::new()),
            cyclic: RefCell::default(),
            stack: RefCell::new(Vec::new()),
            drawn: Cell::new(0),
            solver: Solver::default(),
            secret_files: RefCell::new(HashSet::new()),
            touched: RefCell::new(None),
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
                match self.unless_postponed(self.deeper(|| ctx.evaluate(raw))) {
                    Ok(value) => {
                        self.set_cell(lazy, index, Memo::Done(value.clone()));
                        value
                    }
                    Err(mut error) => {
                        self.set_cell(lazy, index, Memo::Empty);
                        if !error.origin.is_known() {
                            error.origin = raw.origin;
                        }
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

    /// Adds a step to the trace, without secrets.
    pub fn say(&self, step: impl FnOnce() -> String) {
        if let Some(trace) = self.trace.borrow_mut().as_mut() {
            trace.say(self.without_secrets(step()));
        }
    }

    /// An error without secrets.
    pub(crate) fn scrubbed(&self, mut error: Box<Error>) -> Box<Error> {
        error.message = self.without_secrets(std::mem::take(&mut error.message));
        let plain = error.plain.take();
        error.plain = plain.filter(|plain| self.without_secrets(plain.to_string()) == plain.to_string());
        error.hint = error.hint.take().filter(|hint| *self.without_secrets(hint.to_string()) == **hint);
        error
    }

    /// Remembers that a secret was written to a file.
    pub(crate) fn note_secret_file(&self, path: &str) {
        self.secret_files.borrow_mut().insert(path.to_owned());
    }

    /// Whether a secret was written to a file.
    pub(crate) fn is_secret_file(&self, path: &str) -> bool {
        self.secret_files.borrow().contains(path)
    }

    /// Evaluates all parts of a value.
    pub fn force(&self, value: Val) -> Result<Val> {
        if is_plain(&value) {
            return Ok(value);
        }
        if let Some(forced) = self.sizes.forced(&value) {
            return Ok(value.with(forced));
        }
        let forced = self.deeper(|| self.force_parts(value.clone()))?;
        self.weigh(&forced)?;
        self.sizes.note_forced(value, &forced);
        Ok(forced)
    }

    fn force_parts(&self, value: Val) -> Result<Val> {
        let (taint, origin) = (value.taint_of(), value.origin);
        let data = match &value.data {
            Data::List(items) => {
                self.charge(items.len(), items.len() * size_of::<Val>())?;
                let forced: Result<Vec<Val>> = items.iter().map(|item| self.force(item.clone())).collect();
                Data::List(Rc::new(items.with(forced?)))
            }
            Data::Map(entries) => {
                self.charge(entries.len(), entries.len() * 2 * size_of::<Val>())?;
                let mut forced = ValMap::with_capacity_and_hasher(entries.len(), Default::default());
                for (key, item) in entries.iter() {
                    forced.insert(key.clone(), self.force(item.clone())?);
                }
                Data::Map(Rc::new(forced))
            }
            Data::Lazy(lazy) => {
                return self.force_lazy(lazy).map(|v| v.taint_if(taint.is_secret()).from_origin(origin));
            }
            Data::Attributes(id) => return self.all_attributes(*id),
            Data::Names(id) => return super::special::names(self, *id),
            Data::AllNodes(of) => {
                let nodes = self.tree.named_in(*of).map(|(name, id)| (MapKey::Str(name.clone()), Val::node(id)));
                Data::Map(Rc::new(nodes.collect()))
            }
            Data::AllAttributes(of) => {
                let mut all = ValMap::default();
                for (name, id) in self.tree.named_in(*of) {
                    all.insert(MapKey::Str(name.clone()), self.all_attributes(id)?);
                }
                Data::Map(Rc::new(all))
            }
            _ => return Ok(value),
        };
        Ok(Val::of(data, origin, taint))
    }

    fn force_lazy(&self, lazy: &Lazy) -> Result<Val> {
        self.charge(lazy.len(), lazy.len() * 2 * size_of::<Val>())?;
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
}

/// Whether a value has no unevaluated parts.
fn is_plain(value: &Val) -> bool {
    match &value.data {
        Data::List(items) => items.iter().all(is_scalar),
        Data::Map(entries) => entries.values().all(is_scalar),
        Data::Lazy(_) | Data::Attributes(_) | Data::Names(_) | Data::AllNodes(_) | Data::AllAttributes(_) => false,
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
            | Data::AllNodes(_)
            | Data::AllAttributes(_)
    )
}

/// Whether a value as written has no expression and no template.
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
        Data::Lazy(_) | Data::Pending(_) | Data::Broken => false,
        _ => true,
    }
}
