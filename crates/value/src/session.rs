//! What one run shares: the world, the files, the origins, the problems and the limits.
//!
//! Every phase of every dialect is handed a session by reference. There are no globals.

use crate::origin::Origins;
use crate::rules;
use crate::world::{World, WorldError};
use purlin_syntax::{Diagnostic, Flavor, Limits, Sink, Source, Sources, Span, Tree, sources, yaml};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of evaluation that a run may still take.
#[derive(Debug)]
pub struct Fuel {
    left: AtomicU64,
}

impl Fuel {
    /// A full tank.
    pub fn new(steps: u64) -> Self {
        Fuel { left: AtomicU64::new(steps) }
    }

    /// Takes steps; false if there are not enough left.
    pub fn take(&self, steps: u64) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(steps)).is_ok()
    }
}

/// One run.
pub struct Session {
    /// Files, environment, clock: everything outside.
    pub world: Arc<dyn World>,
    /// All files read so far; runs that follow each other may share them.
    pub sources: Arc<Sources>,
    /// Where derived values come from.
    pub origins: Origins,
    /// Problems found so far.
    pub sink: Sink,
    /// What is allowed.
    pub limits: Limits,
    /// Steps of evaluation left; shared by all that are evaluated in this run.
    pub fuel: Arc<Fuel>,
    /// How many threads may work; 1 means none but the caller's.
    pub threads: usize,
    bytes: AtomicU64,
}

impl Session {
    /// A run with default limits on one thread.
    pub fn new(world: Arc<dyn World>) -> Self {
        Self::with_limits(world, Limits::default(), 1)
    }

    /// A run.
    pub fn with_limits(world: Arc<dyn World>, limits: Limits, threads: usize) -> Self {
        Session {
            world,
            sources: Arc::new(Sources::new()),
            origins: Origins::new(),
            sink: Sink::new(),
            fuel: Arc::new(Fuel::new(limits.fuel)),
            limits,
            threads: threads.max(1),
            bytes: AtomicU64::new(0),
        }
    }

    /// A run of its own over the same files: other problems, other origins, all steps of evaluation. For checking
    /// several projects of one repository, none of which may suffer from another.
    pub fn sibling(&self) -> Self {
        Session {
            world: self.world.clone(),
            sources: self.sources.clone(),
            ..Self::with_limits(self.world.clone(), self.limits.clone(), self.threads)
        }
    }

    /// Reads a file as text and registers it. Problems come back as a diagnostic without a place; the caller, who
    /// knows what named the file, adds it.
    pub fn read_text(&self, path: &str) -> Result<Arc<Source>, Diagnostic> {
        let bytes = self.world.read(path).map_err(|error| error.diagnostic(path))?;
        self.account(path, bytes.len() as u64)?;
        let (text, problem) = sources::decode(&bytes);
        let source = self.sources.insert(path, text);
        if let Some((at, what)) = problem {
            self.sink.push(sources::encoding_problem(&source, at, what));
        }
        Ok(source)
    }

    /// Reads and parses a YAML (or JSON) file. Its own problems go to the sink; it is there as far as it was read.
    pub fn read_yaml(&self, path: &str, flavor: Flavor) -> Result<Arc<Tree>, Diagnostic> {
        let source = self.read_text(path)?;
        Ok(self.parse_yaml(source, flavor))
    }

    /// Parses a text that is registered already.
    pub fn parse_yaml(&self, source: Arc<Source>, flavor: Flavor) -> Arc<Tree> {
        let tree = self.sources.add(yaml::parse(source, flavor, &self.limits));
        self.sink.extend(tree.diagnostics().iter().cloned());
        tree
    }

    /// Counts a file's bytes against the limits.
    pub(crate) fn account(&self, path: &str, bytes: u64) -> Result<(), Diagnostic> {
        if bytes > self.limits.file_bytes {
            let message = format!("`{path}` has {bytes} bytes, more than the {} allowed", self.limits.file_bytes);
            let diagnostic = Diagnostic::nowhere(&purlin_syntax::rules::LIMIT_FILE, message);
            return Err(diagnostic.hint("raise it with `--limit file-size=BYTES`"));
        }
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if total > self.limits.total_bytes {
            let message = format!("all files together have more than the {} bytes allowed", self.limits.total_bytes);
            return Err(Diagnostic::nowhere(&purlin_syntax::rules::LIMIT_TOTAL, message));
        }
        Ok(())
    }

    /// Reports that evaluation has used up its steps.
    pub fn report_out_of_fuel(&self, span: Option<Span>) {
        let message = format!("evaluation needs more than the {} steps allowed", self.limits.fuel);
        let mut diagnostic = Diagnostic::nowhere(&rules::LIMIT_FUEL, message);
        diagnostic.span = span;
        self.sink.push(diagnostic.hint("look for a loop, or raise it with `--limit fuel=STEPS`"));
    }

    /// Reports what the world refused, at the place that asked for it.
    pub fn report_world(&self, error: &WorldError, path: &str, span: Option<Span>) {
        let mut diagnostic = error.diagnostic(path);
        diagnostic.span = span;
        self.sink.push(diagnostic);
    }
}
