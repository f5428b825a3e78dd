//! State shared by all phases of one resolution: the run, the request, the parsed templates and the cells they fill.

use crate::bind::Env;
use crate::entities::SCHEMA;
use crate::names::Noted;
use crate::remote::Checkout;
use crate::scopes::Cell;
use crate::templates::Templates;
use crate::varying::Varying;
use crate::versions::Sources;
use purlin_model::Request;
use purlin_model::check::with_article;
use purlin_model::schema::{Edition, Kind, Literal};
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, FileId, Rule, Span, Tree};
use purlin_value::{EcoString, Eval, FastMap, Scope, Session, Value, path};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Outputs of actions that have run, by the action's key. Others are pending.
pub type KnownOutputs = BTreeMap<EcoString, Value>;

/// The ground of one resolution.
pub struct Ground<'s> {
    /// The run.
    pub session: &'s Session,
    /// The user's request.
    pub request: &'s Request,
    /// The project's folder, from the world's root.
    pub root: String,
    /// All parsed templates.
    pub templates: Arc<Templates>,
    /// Outputs of actions that have run.
    pub outputs: KnownOutputs,
    /// Files that were hashed already, for modules and actions.
    pub sources: Arc<Sources>,
    /// Differences between environments that are resolved together.
    pub varying: Arc<Varying>,
    /// Whether a value that differs was read.
    varies: AtomicBool,
    defaults: Arc<Defaults>,
    cells: Mutex<Vec<Cell>>,
    /// How many of the cells were there before actions were bound.
    standing_cells: AtomicUsize,
    trees: Mutex<Vec<Arc<Tree>>>,
    /// The variables of `.env` files without templates, which are the same in all scopes.
    pub env_files: Mutex<FastMap<FileId, Value>>,
    unfetched: AtomicBool,
    sources_fetched: Mutex<Vec<Checkout>>,
    /// Strings whose names are noted at the end, if the table of names is needed.
    pub noted: Option<Arc<Noted>>,
}

/// State kept for the next resolution of the same project.
#[derive(Default)]
pub struct Standing {
    root: String,
    templates: Arc<Templates>,
    sources: Arc<Sources>,
    defaults: Arc<Defaults>,
    cells: Vec<Cell>,
    trees: Vec<Arc<Tree>>,
}

impl<'s> Ground<'s> {
    /// The ground for a project in a folder.
    pub fn new(session: &'s Session, request: &'s Request, root: String) -> Self {
        Ground {
            session,
            request,
            root,
            templates: Arc::default(),
            outputs: request.known.iter().cloned().collect(),
            sources: Arc::default(),
            varying: Arc::default(),
            varies: AtomicBool::new(false),
            defaults: Arc::default(),
            cells: Mutex::default(),
            standing_cells: AtomicUsize::new(0),
            trees: Mutex::default(),
            env_files: Mutex::default(),
            unfetched: AtomicBool::new(false),
            sources_fetched: Mutex::default(),
            noted: session.names.is_on().then(Arc::default),
        }
    }

    /// State kept after this resolution: everything except the cells of its actions, which begin with this one.
    pub fn released_but(self, actions: &Cell) -> Standing {
        let mut cells = self.cells.into_inner().unwrap_or_else(PoisonError::into_inner);
        let made = self.standing_cells.into_inner().min(cells.len());
        cells.truncate(made);
        cells.retain(|cell| !Arc::ptr_eq(cell, actions));
        Standing {
            root: self.root,
            templates: self.templates,
            sources: self.sources,
            defaults: self.defaults,
            cells,
            trees: self.trees.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The ground of a resolution that continues another of the same project.
    pub fn resumed(session: &'s Session, request: &'s Request, standing: Standing) -> Self {
        let ground = Ground {
            templates: standing.templates,
            sources: standing.sources,
            defaults: standing.defaults,
            cells: Mutex::new(standing.cells),
            trees: Mutex::new(standing.trees),
            ..Ground::new(session, request, standing.root)
        };
        ground.stand();
        ground
    }

    /// Takes over the parts that do not depend on the environment: templates, defaults and trees.
    pub fn go_on_from(&mut self, other: &Ground<'_>) {
        self.templates = other.templates.clone();
        self.defaults = other.defaults.clone();
        let own = self.trees();
        let mut all = other.trees();
        all.extend(own.into_iter().filter(|tree| !other.has_tree(tree)));
        *self.trees.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }

    fn has_tree(&self, tree: &Arc<Tree>) -> bool {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|known| Arc::ptr_eq(known, tree))
    }

    /// From now on cells are those of bound actions.
    pub fn stand(&self) {
        self.standing_cells.store(self.cells(), Ordering::Relaxed);
    }

    /// Lets go of the tree of a file that has changed.
    pub fn drop_tree(&self, file: FileId) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().filter(|tree| tree.file() == file).for_each(|tree| self.templates.forget(tree));
        trees.retain(|tree| tree.file() != file);
    }

    /// Notes that a source of the project could not be fetched.
    pub fn miss_source(&self) {
        self.unfetched.store(true, Ordering::Relaxed);
    }

    /// Whether a source of the project is missing: then missing names may be declared there and are not reported.
    pub fn misses_source(&self) -> bool {
        self.unfetched.load(Ordering::Relaxed)
    }

    /// An environment for templates in a scope.
    pub fn env(&self, scope: Scope) -> Arc<Env> {
        Arc::new(self.plain_env(scope))
    }

    /// A copy that the caller can change.
    pub(crate) fn plain_env(&self, scope: Scope) -> Env {
        let (templates, varying) = (self.templates.clone(), self.varying.clone());
        Env { templates, scope, keep_escapes: false, pre_graph: false, varying, noted: self.noted.clone() }
    }

    /// Records the reads of an evaluation.
    pub fn note(&self, eval: &Eval<'_>) {
        if eval.varies() {
            self.varies.store(true, Ordering::Relaxed);
        }
    }

    /// Does some work. Returns whether it read values that differ between environments, or met a problem.
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        let (around, problems) = (self.varies.swap(false, Ordering::Relaxed), self.session.sink.pushed());
        let done = work();
        let varies = self.varies.load(Ordering::Relaxed) || self.session.sink.pushed() > problems;
        self.varies.store(around || varies, Ordering::Relaxed);
        (done, varies)
    }

    /// The defaults of tables.
    pub fn defaults(&self) -> &Arc<Defaults> {
        &self.defaults
    }

    /// A new cell that lives as long as the resolution.
    pub fn cell(&self) -> Cell {
        let cell = Cell::default();
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).push(cell.clone());
        cell
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Removes the cells after the first `from`; from now on they live as long as the caller keeps them.
    pub fn take_cells(&self, from: usize) -> Vec<Cell> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let from = from.min(cells.len());
        cells.split_off(from)
    }

    /// Keeps trees, which origins point into.
    pub fn keep_trees(&self, trees: impl IntoIterator<Item = Arc<Tree>>) {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).extend(trees);
    }

    /// The trees that were read.
    pub fn trees(&self) -> Vec<Arc<Tree>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports a problem at a place.
    pub fn report(&self, rule: &'static Rule, span: Option<Span>, message: impl Into<Message>) {
        self.push(Diagnostic::nowhere(rule, message), span);
    }

    /// Reports a name of an action that comes from a secret.
    pub fn report_secret_name(&self, field: &str, span: Option<Span>) {
        let message = format!("`{field}` cannot come from a secret, since names of actions are shown");
        let diagnostic = Diagnostic::nowhere(&crate::rules::SECRET_NAME, message);
        self.push(diagnostic.hint("use a variable for a value that is not a secret"), span);
    }

    /// Reports a prepared diagnostic at a place.
    pub fn push(&self, mut diagnostic: Diagnostic, span: Option<Span>) {
        diagnostic.span = diagnostic.span.or(span);
        self.session.sink.push(diagnostic);
    }

    /// Where a value is written.
    pub fn span_of(&self, value: &Value) -> Option<Span> {
        self.session.origins.span(value.origin, &self.session.sources)
    }

    /// The full path of a folder or file of the world.
    pub fn full_path(&self, relative: &str) -> EcoString {
        if path::is_absolute(relative) {
            return relative.into();
        }
        let root = self.session.world.root().trim_end_matches('/');
        if relative == "." { root.into() } else { path::normalize(&format!("{root}/{relative}")).into() }
    }

    /// Keeps a source of the project that was fetched.
    pub(crate) fn note_source(&self, checkout: &Checkout) {
        let mut sources_fetched = self.sources_fetched.lock().unwrap_or_else(PoisonError::into_inner);
        if !sources_fetched.contains(checkout) {
            sources_fetched.push(checkout.clone());
        }
    }

    /// The source of the project that holds a file.
    pub(crate) fn source_of(&self, file: &str) -> Option<Checkout> {
        let sources_fetched = self.sources_fetched.lock().unwrap_or_else(PoisonError::into_inner);
        sources_fetched.iter().find(|checkout| checkout.holds(file)).cloned()
    }
}

/// The defaults of rows, each made once.
#[derive(Default)]
pub struct Defaults {
    rows: Mutex<FastMap<Kind, RowDefaults>>,
}

/// The keys of a row that have a default, with it.
pub type RowDefaults = Arc<[(EcoString, Value)]>;

impl Defaults {
    /// The defaults of a row.
    pub fn of(&self, kind: Kind, session: &Session) -> RowDefaults {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.entry(kind).or_insert_with(|| row_defaults(kind, session)).clone()
    }
}

fn row_defaults(kind: Kind, session: &Session) -> RowDefaults {
    let Some(entity) = SCHEMA.entity(kind) else { return Arc::from([]) };
    let fields = entity.fields(Edition(0)).filter_map(|field| Some((field.key, field.default?)));
    let value = |(key, default): (&'static str, Literal)| {
        let detail = ecow::eco_format!("default of `{key}` in {}", with_article(entity.label));
        (EcoString::from(key), default.value().with_origin(session.origins.fallback(detail, None)))
    };
    fields.map(value).collect()
}

/// Fills a cell that is filled once.
pub fn fill(cell: &Cell, value: Value) {
    // A second value would be a bug; the first one is kept.
    let filled = cell.set(value);
    debug_assert!(filled.is_ok());
}
