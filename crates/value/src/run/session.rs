//! The shared state of one run: the world, the files, the origins, the problems and the limits.
//!
//! Every phase of every dialect gets a session by reference. There are no globals.

use crate::common::Common;
use crate::files::{Files, Read, Shelf, Text};
use crate::ignore::Ignores;
use crate::meter::{Allotment, Exceeded, Meter};
use crate::names::Names;
use crate::origin::{Origin, Origins};
use crate::path;
use crate::recorded::Recorded;
use crate::tracked::Tracked;
use crate::world::{Entry, World, WorldError};
use purlin_syntax::Findings;
use purlin_syntax::{
    Diagnostic, FileId, Flavor, IGNORE_MARK, Limits, Mark, Sink, Source, Sources, Span, Tree, json, sources, yaml,
};
use std::any::Any;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One run.
pub struct Session {
    /// Files, environment, clock: everything outside.
    pub world: Arc<dyn World>,
    /// All files read so far; consecutive runs may share them.
    pub sources: Arc<Sources>,
    /// The origins of derived values.
    pub origins: Origins,
    /// Declarations and uses of names; recorded only on request.
    pub names: Names,
    /// Problems found so far.
    pub sink: Sink,
    /// The limits.
    pub limits: Limits,
    /// The cost of evaluation so far; shared by everything that is evaluated in this run.
    pub meter: Arc<Meter>,
    /// Number of worker threads; 1 means the caller's thread only.
    pub threads: usize,
    /// The world that the files were read from, without the record of reads.
    outside: Arc<dyn World>,
    files: Arc<Files>,
    /// Findings shared with the other variants of the same project, if this is one of them.
    common: Option<Arc<Common>>,
    /// For a branch: its share of the memory.
    allotment: Option<Arc<Allotment>>,
    archive_bytes: AtomicU64,
    archive_files: AtomicU64,
}

/// The names in a folder, sorted; `None` inside if it cannot be read.
#[derive(Debug, Default)]
pub struct Listing(Option<Vec<Entry>>);

impl Listing {
    /// The names in a folder as it is now.
    pub fn of(world: &dyn World, folder: &str) -> Self {
        Listing(world.list(folder).ok())
    }

    /// Whether it is an empty folder.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(Vec::is_empty)
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The bare names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.name.as_str())
    }
}

impl Session {
    /// A run with default limits on one thread.
    pub fn new(world: Arc<dyn World>) -> Self {
        Self::with_limits(world, Limits::default(), 1)
    }

    /// A run.
    pub fn with_limits(world: Arc<dyn World>, limits: Limits, threads: usize) -> Self {
        let files = Arc::new(Files::new(world.root()));
        Self::over(world, files, Arc::new(Sources::new()), limits, threads)
    }

    fn over(outside: Arc<dyn World>, files: Arc<Files>, sources: Arc<Sources>, limits: Limits, threads: usize) -> Self {
        purlin_syntax::suggest::start();
        Session {
            world: Arc::new(Recorded::new(outside.clone(), files.clone())),
            outside,
            sources,
            origins: Origins::new(),
            names: Names::default(),
            sink: Sink::of_at_most(limits.problems),
            meter: Arc::new(Meter::new(&limits)),
            limits,
            threads: threads.max(1),
            files,
            common: None,
            allotment: None,
            archive_bytes: AtomicU64::new(0),
            archive_files: AtomicU64::new(0),
        }
    }

    /// A run that reads only files that are not on a shelf. `sources` are those of the runs that filled the shelf.
    pub fn resumed(world: Arc<dyn World>, limits: Limits, sources: Arc<Sources>, shelf: Arc<Shelf>) -> Self {
        let files = Arc::new(Files::with_shelf(world.root(), shelf));
        Self::over(world, files, sources, limits, 1)
    }

    /// A separate run over the same files: with its own problems, origins and steps of evaluation. For checking
    /// several projects of one repository, none of which may affect another.
    pub fn sibling(&self) -> Self {
        let (files, sources) = (self.files.clone(), self.sources.clone());
        let sibling = Self::over(self.outside.clone(), files, sources, self.limits.clone(), self.threads);
        Session { names: self.names.clone(), ..sibling }.within(self.allotment.clone())
    }

    /// A separate run with its own files, for work that one of `threads` threads does in parallel. It is merged in a
    /// fixed order ([`Session::join`]) or discarded.
    pub fn branch(&self, threads: usize) -> Self {
        let allotment = Arc::new(Allotment::of_one_in(threads));
        let files = Arc::new(self.files.branch(allotment.clone()));
        let (sources, outside) = (Arc::new(self.sources.apart()), self.outside.clone());
        let inner = (self.threads / threads.max(1)).max(1);
        let branch = Self::over(outside, files, sources, self.limits.clone(), inner);
        branch.within(Some(allotment))
    }

    fn within(self, allotment: Option<Arc<Allotment>>) -> Self {
        let meter = Arc::new(Meter::new(&self.limits).within(allotment.clone()));
        Session { meter, allotment, ..self }
    }

    /// Whether this is a branch that needs more memory than its share, so that it must be repeated alone.
    pub fn is_cut_short(&self) -> bool {
        self.allotment.as_ref().is_some_and(|allotment| allotment.is_used_up())
    }

    /// Takes over the files and findings of a branch, as if this run had done its work: files that both have read are
    /// unified. If the branch has read so much that this run might have refused it, nothing is taken over and the
    /// result is false.
    #[must_use]
    pub fn join(&self, branch: &Session) -> bool {
        if !self.files.has_room_for(&branch.files, &self.limits) {
            return false;
        }
        let brought = branch.files.hand_over();
        let mut known = self.files.same_as(&brought);
        for source in branch.sources.all().iter().filter(|source| !brought.is_file(source)) {
            known.extend(self.sources.known(source.path(), source.text()).map(|here| (source.id(), here)));
        }
        let moved = self.sources.adopt(&branch.sources, &known);
        self.files.adopt(brought, &moved);
        let mut problems = branch.sink.hand_on();
        problems.iter_mut().flat_map(Diagnostic::spans_mut).for_each(|span| *span = moved.span(*span));
        self.sink.extend(problems);
        true
    }

    /// A problem about a value, with the location that wrote the value if that is another one.
    pub fn written_here(&self, problem: Diagnostic, value: Origin) -> Diagnostic {
        let Some(span) = self.origins.written(value, &self.sources) else { return problem };
        let touches = |known: &Span| known.file == span.file && known.start < span.end && span.start < known.end;
        let mut shown = problem.span.iter().chain(problem.labels.iter().map(|label| &label.span));
        if problem.span.is_none() || shown.any(touches) {
            return problem;
        }
        problem.written(span)
    }

    /// Runs a piece of work in a separate run over the same files; returns its findings.
    pub fn beside<T>(&self, work: impl FnOnce(&Session) -> T) -> (T, Findings) {
        let own = self.sibling();
        own.sink.apart(|| work(&own))
    }

    /// A sibling that records origins in the same table, so that one can look up values of the other.
    pub fn twin(&self) -> Self {
        Session { origins: self.origins.clone(), common: self.common.clone(), ..self.sibling() }
    }

    /// The same run, also recording names ([`Names`]).
    #[must_use]
    pub fn noting_names(self) -> Self {
        Session { names: Names::on(), ..self }
    }

    /// Twins for the variants of a project. Findings that do not depend on the variant are computed once
    /// ([`Session::in_common`]), and released with the last twin.
    pub fn twins(&self, count: usize) -> Vec<Self> {
        let common = (count > 1).then(Arc::<Common>::default);
        (0..count).map(|_| Session { common: common.clone(), ..self.twin() }).collect()
    }

    /// Whether there are other variants of the project to share findings with.
    pub fn has_variants(&self) -> bool {
        self.common.is_some()
    }

    /// A finding that is the same in all variants of a project: computed once, and charged to each. `find` must
    /// report nothing, and may depend on nothing but files, limits and `about`; each kind of finding has a type of
    /// its own.
    pub fn in_common<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce() -> T) -> Arc<T> {
        match &self.common {
            Some(common) => common.finding(about, &self.meter, find),
            None => Arc::new(find()),
        }
    }

    /// A run that continues this one after the content of some files has changed: it keeps the files read, records
    /// origins in the same table and charges the same meter, but has its own problems.
    pub fn continued(&self, changed: &[String]) -> Self {
        changed.iter().for_each(|path| self.files.drop_content(path));
        Session { meter: self.meter.clone(), ..self.twin() }
    }

    /// The bytes of a file, counted against the limits. They are cached as long as they are in use.
    pub fn load_bytes(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        let key = self.files.key(path);
        if let Some(bytes) = self.files.bytes(&key) {
            self.meter.was_read(bytes.len() as u64);
            return Ok(bytes);
        }
        let bytes = self.world.read(path)?;
        self.files.account(&key, bytes.len() as u64, &self.limits)?;
        self.meter.was_read(bytes.len() as u64);
        self.files.keep_bytes(key, &bytes);
        Ok(bytes)
    }

    /// The text of a file, read and decoded once, registered under the path that messages show. Reports nothing.
    pub fn load_text(&self, path: &str, shown: &str) -> Result<Text, WorldError> {
        let key = self.files.key(path);
        if let Some(text) = self.files.text(&key) {
            return Ok(text);
        }
        if let Some(text) = self.files.shelved(&key) {
            self.meter.was_read(text.source.text().len() as u64);
            return Ok(text);
        }
        let bytes = self.load_bytes(path)?;
        let (text, problem) = sources::decode(&bytes);
        let source = self.sources.insert(shown, text);
        let problem = problem.map(|(at, what)| sources::encoding_problem(&source, at, what));
        let text = Text { source, problem };
        self.files.keep_text(key, text.clone());
        Ok(text)
    }

    /// The tree of a text, parsed once for each flavour. Reports nothing.
    pub fn load_tree(&self, source: &Arc<Source>, flavor: Flavor) -> Arc<Tree> {
        if let Some(tree) = self.files.tree(source.id(), flavor) {
            return tree;
        }
        self.keep_tree(yaml::parse(source.clone(), flavor, &self.limits), flavor)
    }

    /// Registers a tree that was parsed elsewhere, for example on another thread.
    pub fn keep_tree(&self, tree: Tree, flavor: Flavor) -> Arc<Tree> {
        let tree = self.sources.add(tree);
        self.files.keep_tree(flavor, &tree);
        tree
    }

    /// Whether the text of a file was read, in this run or in one that shares its files.
    pub fn has_read(&self, path: &str) -> bool {
        self.files.text(&self.files.key(path)).is_some()
    }

    /// Releases texts that came after a mark: those that belong to no loaded file, such as templates of charts in
    /// archives, unless a problem points at them or a comment in them suppresses one.
    pub fn release_since(&self, mark: &Mark, problems: &[Diagnostic]) {
        let shown: HashSet<FileId> = problems.iter().flat_map(Diagnostic::files).collect();
        let is_kept = |source: &Source| {
            let known = || self.files.text(&self.files.key(source.path()));
            let keeps_quiet = || source.text().contains(IGNORE_MARK);
            shown.contains(&source.id()) || keeps_quiet() || known().is_some_and(|text| text.source.id() == source.id())
        };
        let late = self.sources.since(mark);
        let gone = late.iter().filter(|source| !is_kept(source)).map(|source| source.id()).collect();
        self.sources.release_since(mark, &gone);
        self.files.drop_unheld_bytes();
    }

    /// The files whose text was read so far.
    pub fn ids(&self) -> Vec<FileId> {
        self.files.ids()
    }

    /// Everything that results depend on so far: files, folders, missing paths, environment variables.
    pub fn reads(&self) -> BTreeSet<Read> {
        self.files.reads()
    }

    /// A finding of a search through files: computed once, shared by all runs over the same files. `about` identifies
    /// the searched files; each kind of finding has a type of its own.
    pub fn finding<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce() -> T) -> Arc<T> {
        self.files.finding(about, find)
    }

    /// The same, shared by all branches of a run: it must contain no ids or locations of files. `find` gets the run
    /// to use: in a branch a separate one, so that no branch pays for another.
    pub fn finding_of_run<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce(&Session) -> T) -> Arc<T> {
        let find = || if self.files.is_branch() { find(&self.branch(1)) } else { find(self) };
        self.files.finding_of_trunk(about, find)
    }

    /// The same for a finding about a shared file alone ([`purlin_syntax::Sources::share`]): its locations hold in all
    /// branches.
    pub fn finding_in_shared<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce() -> T) -> Arc<T> {
        self.files.finding_of_trunk(about, find)
    }

    /// The names in a folder, sorted, read once per run: for checks that look into a folder for each name in a file.
    /// Callers that must see files created by actions ask the world.
    pub fn listed(&self, folder: &str) -> Arc<Listing> {
        self.files.finding(&self.files.key(folder), || Listing::of(self.world.as_ref(), folder))
    }

    /// Whether git ignores a path in the repository at the world's root: `.gitignore` matches it or a folder above
    /// it, and it is not tracked. A missing file there is generated by a tool, or kept secret.
    pub fn is_left_out(&self, place: &str) -> bool {
        let place = path::normalize(place);
        if path::is_absolute(&place) || place.starts_with("..") || !self.world.exists(".git") {
            return false;
        }
        let world = self.world.as_ref();
        let ignores = self.finding(path::parent(&place), || Ignores::above(world, &place));
        ignores.covers(&place) && !self.finding_of_run("", |session| Tracked::of(session.world.as_ref())).holds(&place)
    }

    /// A finding of a search through one text: computed once, for all runs that share it. It may depend on nothing
    /// but the text; each kind of finding has a type of its own.
    pub fn finding_in<T: Any + Send + Sync>(&self, source: &Source, find: impl FnOnce() -> T) -> Arc<T> {
        self.files.finding_in(source, find)
    }

    /// Reads a file as text and registers it. Problems are returned as a diagnostic without a location; the caller,
    /// who knows the reference to the file, adds it.
    pub fn read_text(&self, path: &str) -> Result<Arc<Source>, Diagnostic> {
        let text = self.load_text(path, path).map_err(|error| self.refusal(&error, path))?;
        self.sink.extend(text.problem);
        Ok(text.source)
    }

    /// Reads and parses a YAML (or JSON) file. Its own problems go to the sink; the tree is as complete as the file
    /// is readable.
    pub fn read_yaml(&self, path: &str, flavor: Flavor) -> Result<Arc<Tree>, Diagnostic> {
        let source = self.read_text(path)?;
        Ok(self.parse_yaml(source, flavor))
    }

    /// Reads one JSON file, strictly; problems inside it go to the sink.
    pub fn read_json(&self, path: &str) -> Result<Arc<Tree>, Diagnostic> {
        let tree = self.sources.add(json::parse(self.read_text(path)?, &self.limits));
        self.sink.extend(tree.diagnostics().iter().cloned());
        Ok(tree)
    }

    /// Parses a text that is registered already.
    pub fn parse_yaml(&self, source: Arc<Source>, flavor: Flavor) -> Arc<Tree> {
        let tree = self.load_tree(&source, flavor);
        self.sink.extend(tree.diagnostics().iter().cloned());
        tree
    }

    /// Counts the content of an archive. The limits apply to all archives of a run together, nested ones included.
    pub fn account_archive(&self, path: &str, bytes: u64, files: u64) -> Result<(), Diagnostic> {
        let count = |counter: &AtomicU64, more: u64| counter.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        let (bytes, files) = (count(&self.archive_bytes, bytes), count(&self.archive_files, files));
        let (most_bytes, most_files) = (self.limits.archive_bytes, self.limits.archive_entries);
        let (what, most, limit) = if bytes > most_bytes {
            ("bytes", most_bytes, "archive-size=BYTES")
        } else if files > most_files {
            ("files", most_files, "archive-entries=COUNT")
        } else {
            return Ok(());
        };
        let message = format!("with `{path}` all archives together hold more than the {most} {what} allowed");
        let diagnostic = Diagnostic::nowhere(&crate::rules::LIMIT_ARCHIVE, message);
        Err(diagnostic.hint(format!("raise it with `--limit {limit}`")))
    }

    /// Reports once that evaluation has exceeded a limit of the meter.
    pub fn report_exceeded(&self, exceeded: Exceeded, span: Option<Span>) {
        if !self.meter.is_news() {
            return;
        }
        let mut diagnostic = exceeded.diagnostic();
        diagnostic.span = span;
        self.sink.push(diagnostic);
    }

    /// The diagnostic for an error of the world, without a location. It distinguishes files that are missing by
    /// mistake from those that a fresh clone of the repository does not have yet.
    pub fn refusal(&self, error: &WorldError, path: &str) -> Diagnostic {
        if matches!(error, WorldError::NotFound) && self.is_left_out(path) {
            let message = format!("`{path}` does not exist, and `.gitignore` names it");
            let hint = "make it first; files that git ignores are generated, or hold secrets";
            return Diagnostic::nowhere(&crate::rules::FILE_NOT_MADE, message).hint(hint);
        }
        error.diagnostic(path)
    }

    /// Reports an error of the world, at the location of the request.
    pub fn report_world(&self, error: &WorldError, path: &str, span: Option<Span>) {
        let mut diagnostic = self.refusal(error, path);
        diagnostic.span = span;
        self.sink.push(diagnostic);
    }
}
