//! The projects of a workspace, resolved again when something they have read changes.
//!
//! Texts and trees stay on a shelf between runs; a project's recorded reads are its dependencies. Unreferenced entries
//! are dropped, so that memory does not grow with the number of edits.

use crate::buffers::{Buffers, Desk};
use crate::house::{self, House, Keeper};
use crate::names::Edit;
use crate::place::Place;
use purlin_compiler::{Claim, DIALECTS, Found, search};
use purlin_model::detect::judge;
use purlin_model::{Glance, Kept, Request, Resolved, Role};
use purlin_syntax::{Diagnostic, FileId, Findings, Hint, Limits, Relation, Severity, Sources, Span};
use purlin_value::{Read, Session, Shelf, World, path};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// One problem, as an editor shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its location.
    pub place: Place,
    /// Its severity.
    pub severity: Severity,
    /// The rule's name.
    pub rule: &'static str,
    /// The message.
    pub message: String,
    /// Advice on fixing it.
    pub hints: Vec<String>,
    /// The word that its hint concerns.
    pub word: Option<String>,
    /// The edit suggested by the hint.
    pub edit: Option<Edit>,
    /// Further locations, each with a message.
    pub related: Vec<(Place, String)>,
    /// The same edit at other occurrences of the word.
    pub uses: Vec<Edit>,
}

/// The result of one project.
pub struct Outcome {
    /// The file that makes it a project.
    pub claim: Claim,
    /// The run that resolved it.
    pub session: Session,
    /// The project, as far as it could be resolved.
    pub resolved: Option<Resolved>,
    /// Its problems, before settings and comments are applied.
    found: Vec<Diagnostic>,
    /// The files whose text it has read.
    pub files: HashSet<String>,
    reads: HashSet<Read>,
    ids: HashSet<FileId>,
    /// The last result with content, if this one has none.
    last: Option<Arc<Outcome>>,
}

/// All projects at one moment.
#[derive(Default, Clone)]
pub struct Picture {
    /// The projects, in the order in which they are checked.
    pub outcomes: Vec<Arc<Outcome>>,
    /// Problems by file.
    pub problems: BTreeMap<String, Vec<Problem>>,
    /// The request for projects, for any variant.
    pub request: Request,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its content changed.
    Content(String),
    /// It appeared or disappeared.
    Presence(String),
    /// An unknown change.
    Everything,
}

/// The variant that a workspace is resolved for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The environment; the project's own default if there is none.
    pub environment: Option<String>,
    /// Profiles to activate.
    pub profiles: Vec<String>,
}

/// Nodes are numbered with 31 bits; beyond this number everything starts afresh.
const MOST_NODES: u32 = 1 << 30;

/// The projects below a folder.
pub struct Workspace {
    desk: Arc<Desk>,
    sources: Arc<Sources>,
    shelf: Arc<Shelf>,
    limits: Limits,
    start: String,
    choice: Choice,
    found: Found,
    /// Files that belong to no project.
    outside: Vec<Diagnostic>,
    /// The detected format of each changed file.
    judged: HashMap<String, Option<(&'static str, Role)>>,
    outcomes: Vec<Arc<Outcome>>,
    /// State that dialects keep between resolutions, by the project's file.
    kept: HashMap<String, Kept>,
    is_new: bool,
    /// Reads the settings of the folder.
    keeper: Option<Keeper>,
    house: House,
}

impl Workspace {
    /// The projects below a folder of a world, not read yet.
    pub fn new(desk: Arc<Desk>, start: &str, limits: Limits) -> Self {
        Workspace {
            desk,
            sources: Arc::new(Sources::new()),
            shelf: Arc::new(Shelf::new()),
            limits,
            start: start.to_owned(),
            choice: Choice::default(),
            found: Found::default(),
            outside: Vec::new(),
            judged: HashMap::new(),
            outcomes: Vec::new(),
            kept: HashMap::new(),
            is_new: true,
            keeper: None,
            house: House::default(),
        }
    }

    /// The same with settings of the folder, which are read again whenever their file changes.
    #[must_use]
    pub fn kept_by(mut self, keeper: Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Resolves for another environment or other profiles from now on.
    pub fn choose(&mut self, choice: Choice) {
        if self.choice != choice {
            self.choice = choice;
            self.outcomes.clear();
            self.kept.clear();
        }
    }

    /// Resolves everything that changes affect. `stop` is called between projects; if it returns true, nothing is
    /// returned, and the changes must be passed in again.
    pub fn refresh(&mut self, changes: &[Change], buffers: &Buffers, stop: &dyn Fn() -> bool) -> Option<Picture> {
        let everything = changes.contains(&Change::Everything) || self.sources.numbered() > MOST_NODES;
        if everything {
            self.start_afresh();
        }
        for change in changes {
            self.forget(change, buffers);
        }
        let mut gone: HashSet<FileId> = HashSet::new();
        if self.is_new || changes.iter().any(house::is_concerned) {
            gone.extend(self.read_settings());
        }
        if self.is_new || changes.iter().any(|change| self.changes_claims(change)) {
            let session = self.session();
            self.found = search(&session, &self.request(), std::slice::from_ref(&self.start));
            self.is_new = false;
        }
        let mut before: HashMap<String, Arc<Outcome>> = HashMap::new();
        for outcome in self.outcomes.drain(..) {
            before.insert(outcome.claim.file().to_owned(), outcome);
        }
        let mut read: HashSet<String> = HashSet::new();
        let mut outcomes: Vec<Arc<Outcome>> = Vec::new();
        let mut stopped = false;
        for claim in self.found.claims.clone() {
            if claim.is_shared() && read.contains(claim.file()) {
                continue;
            }
            let known = before.remove(claim.file());
            let is_current = known.as_ref().is_some_and(|known| !changes.iter().any(|change| known.mentions(change)));
            stopped = stopped || (!is_current && !outcomes.is_empty() && stop());
            let outcome = match known {
                // A project whose resolution was stopped keeps its last result; the changes come again.
                Some(known) if is_current || stopped => known,
                None if stopped => continue,
                known => {
                    gone.extend(known.iter().flat_map(|known| known.ids.iter().copied()));
                    let again = known.as_ref().and_then(|known| self.resolve_again(&claim, known, changes));
                    let outcome = again.unwrap_or_else(|| self.resolve(&claim));
                    Arc::new(outcome.after(known))
                }
            };
            read.extend(outcome.files.iter().cloned());
            outcomes.push(outcome);
        }
        gone.extend(before.values().flat_map(|outcome| outcome.ids.iter().copied()));
        before.keys().for_each(|file| drop(self.kept.remove(file)));
        self.outcomes = outcomes;
        gone.extend(self.look_outside(&read));
        self.release(gone);
        (!stopped).then(|| self.picture())
    }

    /// Records the files that belong to no project; returns the files that were registered to do so.
    fn look_outside(&mut self, read: &HashSet<String>) -> Vec<FileId> {
        let (session, first) = (self.session(), self.sources.len());
        let ((), found) = session.sink.apart(|| self.found.report_outside(&session, &|file| read.contains(file)));
        self.outside = found.into_vec();
        (first..self.sources.len()).filter_map(|id| u32::try_from(id).ok()).map(FileId).collect()
    }

    fn start_afresh(&mut self) {
        self.desk.forget_all();
        self.sources = Arc::new(Sources::new());
        self.shelf = Arc::new(Shelf::new());
        self.outcomes.clear();
        self.kept.clear();
        self.judged.clear();
        self.is_new = true;
    }

    fn forget(&self, change: &Change, buffers: &Buffers) {
        match change {
            Change::Content(path) => {
                self.shelf.forget(path);
                // An open text is never read from the disk.
                if buffers.get(path).is_none() {
                    self.desk.forget(path);
                }
            }
            Change::Presence(path) => {
                self.shelf.forget(path);
                self.desk.forget(path);
            }
            Change::Everything => {}
        }
    }

    /// Whether a change may add or remove a project.
    fn changes_claims(&mut self, change: &Change) -> bool {
        let Change::Content(path) = change else { return true };
        let session = self.session();
        let now = judge(&Glance::found(&session, path), DIALECTS).map(|judged| (judged.dialect.name, judged.sign.role));
        let is_ignore_file = path::file_name(path) == ".gitignore";
        match self.judged.insert(path.clone(), now) {
            Some(before) => before != now || is_ignore_file,
            // First occurrence: its format is unchanged unless the list of projects says otherwise.
            None => {
                let listed =
                    self.found.claims.iter().find(|claim| claim.file() == path).map(|claim| claim.dialect().name);
                let is_project =
                    now.filter(|(_, role)| matches!(role, Role::Project | Role::Part)).map(|(name, _)| name);
                listed != is_project || is_ignore_file
            }
        }
    }

    fn session(&self) -> Session {
        let world: Arc<dyn World> = self.desk.clone();
        Session::resumed(world, self.limits.clone(), self.sources.clone(), self.shelf.clone())
    }

    /// The same request as `check`, so that an editor shows the same problems.
    fn request(&self) -> Request {
        let environment = self.choice.environment.clone().or_else(|| self.house.environment.clone());
        let mut request = Request { environment, profiles: self.choice.profiles.clone(), ..Request::default() };
        request.tosca.profile_paths.extend(self.house.profile_paths.iter().cloned());
        request.chart.helm_version.clone_from(&self.house.helm_version);
        request.policies.clone_from(&self.house.policies);
        request.own_policies.clone_from(&self.house.own_policies);
        request.evaluator = self.house.evaluator;
        request.chart.ci_values = true;
        request.chart.is_rehearsal = true;
        request
    }

    /// Reads the settings of the folder again; returns the files registered for the previous ones.
    fn read_settings(&mut self) -> Vec<FileId> {
        let Some(keeper) = self.keeper.clone() else { return Vec::new() };
        let first = self.sources.len();
        let house = house::read(&*self.desk, &self.start, &self.sources, &keeper);
        let made = (first..self.sources.len()).filter_map(|id| u32::try_from(id).ok()).map(FileId).collect();
        let before = std::mem::replace(&mut self.house, House { ids: made, ..house });
        let asked = |house: &House| {
            let policies = (house.policies.clone(), house.own_policies.clone());
            (house.environment.clone(), house.helm_version.clone(), house.profile_paths.clone(), policies)
        };
        if asked(&before) != asked(&self.house) {
            self.outcomes.clear();
            self.kept.clear();
        }
        before.ids
    }

    fn resolve(&mut self, claim: &Claim) -> Outcome {
        let session = self.session();
        let first = self.sources.len();
        let request = self.request();
        let (made, found) = session.sink.apart(|| claim.resolve_and_keep(&session, &request));
        self.keep(claim, made.kept);
        self.outcome(claim, session, (made.resolved, found), first)
    }

    /// Resolves the affected part of a project, if only the content of files has changed and its dialect supports it.
    fn resolve_again(&mut self, claim: &Claim, known: &Outcome, changes: &[Change]) -> Option<Outcome> {
        let kept = self.kept.remove(claim.file())?;
        let mut changed = Vec::new();
        for change in changes.iter().filter(|change| known.mentions(change)) {
            let Change::Content(file) = change else { return None };
            changed.push(file.clone());
        }
        let session = known.session.continued(&changed);
        let first = self.sources.len();
        let request = self.request();
        let (made, found) = session.sink.apart(|| claim.resolve_again(&session, &request, kept, &changed));
        let made = made?;
        self.keep(claim, made.kept);
        let mut outcome = self.outcome(claim, session, (made.resolved, found), first);
        let is_gone =
            |id: &FileId| self.sources.get(*id).is_some_and(|source| changed.iter().any(|f| f == source.path()));
        outcome.ids.extend(known.ids.iter().filter(|id| !is_gone(id)));
        Some(outcome)
    }

    fn keep(&mut self, claim: &Claim, kept: Option<Kept>) {
        match kept {
            Some(kept) => drop(self.kept.insert(claim.file().to_owned(), kept)),
            None => drop(self.kept.remove(claim.file())),
        }
    }

    /// The result of a project; `first` is the first file that was registered for it.
    fn outcome(
        &self,
        claim: &Claim,
        session: Session,
        (resolved, mut found): (Option<Resolved>, Findings),
        first: usize,
    ) -> Outcome {
        let made = (first..self.sources.len()).filter_map(|id| u32::try_from(id).ok()).map(FileId);
        let mut ids: HashSet<FileId> = made.collect();
        ids.extend(session.ids());
        let path_of = |id: FileId| self.sources.get(id).map(|source| source.path().to_owned());
        let files = session.ids().into_iter().filter_map(path_of).collect();
        if let Some(resolved) = &resolved {
            claim.judge(&session, &self.request(), resolved, &mut found);
        }
        let found = found.into_vec();
        // A chart's files may be known from an earlier run.
        ids.extend(found.iter().flat_map(Diagnostic::files));
        let reads = session.reads().into_iter().collect();
        Outcome { claim: claim.clone(), session, resolved, found, files, reads, ids, last: None }
    }

    /// Drops files that neither a result nor the shelf refers to.
    fn release(&self, mut gone: HashSet<FileId>) {
        if gone.is_empty() {
            return;
        }
        let shelved = self.shelf.ids();
        gone.retain(|id| !shelved.contains(id) && !self.outcomes.iter().any(|outcome| outcome.ids.contains(id)));
        self.sources.release(&gone);
    }

    fn picture(&self) -> Picture {
        let mut problems: BTreeMap<String, Vec<Problem>> = BTreeMap::new();
        let mut seen: HashSet<(&'static str, Place, String)> = HashSet::new();
        let mut note = |project: &str, diagnostic: &Diagnostic| {
            let problem = problem(&self.sources, project, diagnostic);
            // Problems of a file shared by several projects are reported once.
            if seen.insert((problem.rule, problem.place.clone(), problem.message.clone())) {
                problems.entry(problem.place.file.clone()).or_default().push(problem);
            }
        };
        let inner = self.inner();
        let is_own = |outcome: &&Arc<Outcome>| !is_taken(&outcome.claim, &inner);
        let own = self.outcomes.iter().filter(is_own).map(|outcome| (outcome.claim.file(), &outcome.found));
        let all = own.chain([(self.start.as_str(), &self.outside), (&self.house.file, &self.house.found)]);
        let mut placed = Vec::new();
        for (number, (project, found)) in (1..).zip(all) {
            for diagnostic in found {
                match diagnostic.span {
                    Some(_) => placed.push(Diagnostic { project: number, ..diagnostic.clone() }),
                    None => self.judged(vec![diagnostic.clone()], None).iter().for_each(|one| note(project, one)),
                }
            }
        }
        let ids: HashSet<FileId> = self.outcomes.iter().flat_map(|outcome| outcome.session.ids()).collect();
        self.judged(placed, Some(&ids)).iter().for_each(|one| note(&self.start, one));
        for list in problems.values_mut() {
            list.sort_by(|a, b| (a.place.start, a.rule, &a.message).cmp(&(b.place.start, b.rule, &b.message)));
        }
        Picture {
            outcomes: self.outcomes.clone(),
            problems,
            request: Request { environment: None, profiles: Vec::new(), ..self.request() },
        }
    }
}

impl Workspace {
    /// Applies settings and comments to diagnostics.
    fn judged(&self, found: Vec<Diagnostic>, ids: Option<&HashSet<FileId>>) -> Vec<Diagnostic> {
        match &self.house.judge {
            Some(judge) => judge(found, &self.sources, ids),
            None => found,
        }
    }

    /// Projects within other projects: their problems are reported there, with the values they get.
    fn inner(&self) -> HashSet<&str> {
        let resolved = self.outcomes.iter().filter_map(|outcome| outcome.resolved.as_ref());
        resolved.flat_map(|resolved| resolved.inner.iter().map(String::as_str)).collect()
    }
}

/// Whether a project is such an inner project.
fn is_taken(claim: &Claim, inner: &HashSet<&str>) -> bool {
    inner.contains(claim.file()) || inner.contains(path::normalize(path::parent(claim.file())).as_str())
}

impl Outcome {
    /// The same after an earlier result of the project: if this one has no content, the last one that had is kept.
    fn after(mut self, before: Option<Arc<Outcome>>) -> Self {
        if self.has_nodes() {
            return self;
        }
        let good = before.and_then(|before| if before.has_nodes() { Some(before) } else { before.last.clone() });
        self.ids.extend(good.iter().flat_map(|good| good.ids.iter().copied()));
        self.last = good;
        self
    }

    fn has_nodes(&self) -> bool {
        self.resolved.as_ref().is_some_and(|resolved| !resolved.nodes.is_empty())
    }

    /// The last result with content: this one, or an earlier one.
    pub(crate) fn good(&self) -> &Outcome {
        self.last.as_deref().unwrap_or(self)
    }

    /// Whether the content of a file was read.
    pub(crate) fn has_file(&self, file: &str) -> bool {
        self.reads.contains(&Read::File(file.to_owned()))
    }

    /// All files whose content was read.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.reads.iter().filter_map(|read| match read {
            Read::File(file) => Some(file.clone()),
            _ => None,
        })
    }

    /// Whether a change concerns a path that was read or looked up.
    fn mentions(&self, change: &Change) -> bool {
        let has = |read: Read| self.reads.contains(&read);
        match change {
            Change::Everything => true,
            Change::Content(path) => has(Read::File(path.clone())),
            Change::Presence(path) => {
                has(Read::File(path.clone()))
                    || has(Read::Present(path.clone()))
                    || has(Read::Absent(path.clone()))
                    || self.looked_into(path)
            }
        }
    }

    /// Whether a folder above a path was listed, or was missing.
    fn looked_into(&self, path: &str) -> bool {
        let mut folder = path;
        loop {
            let parent = path::parent(folder);
            if self.reads.contains(&Read::Folder(parent.to_owned())) {
                return true;
            }
            if parent == folder || parent == "." {
                return false;
            }
            folder = parent;
        }
    }
}

/// A diagnostic as an editor shows it; without a location it is shown at the top of the project's file.
fn problem(sources: &Sources, project: &str, diagnostic: &Diagnostic) -> Problem {
    let place = diagnostic.span.and_then(|span| Place::of_span(sources, span));
    let label =
        |label: &purlin_syntax::diagnostic::Label| Some((Place::of_span(sources, label.span)?, label.message.clone()));
    let edit = |span: Span| {
        let edit = diagnostic.edit_in(span, &*sources.get(span.file)?)?;
        Some(Edit { place: Place::of_span(sources, edit.span)?, text: edit.text })
    };
    let uses = diagnostic.labels.iter().filter(|label| label.relation == Relation::Use);
    Problem {
        place: place.unwrap_or_else(|| Place::top(project)),
        severity: diagnostic.severity,
        rule: diagnostic.rule.name,
        message: diagnostic.message.clone(),
        hints: diagnostic.hints.iter().map(ToString::to_string).collect(),
        word: diagnostic.hints.iter().find_map(Hint::name).map(|meant| meant.wrong.clone()),
        edit: diagnostic.span.and_then(edit),
        uses: uses.filter_map(|label| edit(label.span)).collect(),
        related: diagnostic.labels.iter().chain(&diagnostic.trace).filter_map(label).collect(),
    }
}
