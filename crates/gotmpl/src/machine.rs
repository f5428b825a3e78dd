//! The evaluator: walks trees, keeps variables, output, limits and the current node, as Go's executor does.
//!
//! The machine of one render owns the heap. It knows functions only as rows of the list.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::hole::Hole;
use purlin_syntax::Sources;
use purlin_value::meter::{BYTES_PER_STEP, SLOW_BYTES, SLOW_STEPS};
use purlin_value::pattern::Refused;
use purlin_value::{Cost, Exceeded, Meter, Origins, Seed};

use crate::ast::{Branch, Expr, File, Invoke, NodeRef, Pipe, Stmt, Tree};
use crate::cause::Cause;
use crate::error::{ExecError, Fault, Limit};
use crate::func::Func;
use crate::funcs::regexes::Pattern;
use crate::hole::Effects;
use crate::keys::{Key, SpareKey};
use crate::random::Guessable;
use crate::rope::{Piece, Rope};
use crate::set::Namespace;
use crate::taint::holds_taint;
use crate::value::{Data, Heap, MapRef, Str, Table, Val};
use crate::yaml::Trees;

/// The limits of a render.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Evaluation steps.
    pub fuel: u64,
    /// Nesting of templates, structures and calls together.
    pub depth: u32,
    /// Bytes of one rendered file.
    pub output: usize,
    /// Bytes of one string.
    pub text: usize,
    /// Elements of one list.
    pub items: usize,
    /// Maximum number of nested includes of one template within itself.
    pub includes: u32,
    /// Maximum nesting of `tpl` calls.
    pub tpl: u32,
    /// Bytes of one compiled regular expression.
    pub regex: usize,
    /// Counts held memory: texts, lists, maps and output.
    pub meter: Arc<Meter>,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&Arc::new(Meter::new(&purlin_syntax::Limits::default())))
    }
}

impl Limits {
    /// The limits of a run, and its remaining budget.
    pub fn of(meter: &Arc<Meter>) -> Self {
        let limits = meter.limits();
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            fuel: meter.steps_left(),
            depth: 12_000,
            output: size(limits.output_bytes),
            text: size(limits.string_bytes),
            items: size(limits.list_items),
            includes: limits.include_depth,
            tpl: limits.tpl_depth,
            regex: size(limits.regex_bytes),
            meter: meter.clone(),
        }
    }
}

/// All input of a render from the outside.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// The one reading of the clock, nanoseconds since 1970 UTC.
    pub now: i128,
    /// The seed of random functions.
    pub seed: Seed,
    /// Receives the locations of guessable passwords and keys, if wanted.
    pub guessable: Option<Arc<Guessable>>,
    /// Whether origins and locations are recorded.
    pub track: bool,
    /// The table for origins of values made from several others.
    pub origins: Origins,
    /// The files of the values, for finding keys in.
    pub sources: Option<Arc<Sources>>,
    /// For runs whose output is discarded: the key that replaces all others, since making one takes longer than a
    /// chart.
    pub spare_key: Option<Arc<SpareKey>>,
    /// Whether `required` and `fail` only log.
    pub is_lint: bool,
    /// Answers `lookup`, if a cluster is described.
    pub lookup: Option<Lookup>,
}

/// Answers `lookup` in place of a cluster: version, kind, namespace and name of the requested object.
#[derive(Clone)]
pub struct Lookup(pub Arc<LookupFn>);

/// The function behind [`Lookup`].
pub type LookupFn = dyn Fn(&mut Heap, [&str; 4]) -> Val + Send + Sync;

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lookup")
    }
}

/// The context of printed text: a call of `include` or `tpl`, a branch, a loop.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Location of the call or condition.
    pub site: u32,
    /// The enclosing call.
    pub parent: u32,
    /// The origin of the condition or of the iterated value, 0 if unknown.
    pub because: u32,
    /// Its kind.
    pub under: Under,
}

/// The kind of context of printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// A called template.
    Call,
    /// A condition that is true.
    True,
    /// A condition that is false.
    False,
    /// A loop.
    Each,
    /// A template whose name comes from values.
    Named,
}

/// A file in the render's combined sources.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The file; its `base` is its start.
    pub file: Arc<File>,
    /// The origin of the text itself, for texts of `tpl`.
    pub origin: u32,
    /// Parts of the text that went into a digest.
    pub digested: Vec<Digested>,
}

/// A part of a template's own text whose origin was reserved before the file was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digested {
    /// The reserved origin.
    pub origin: u32,
    /// Its start; first in the combined sources, then in its file.
    pub start: u32,
    /// Its length.
    pub len: u32,
}

/// Heap memory is reported to the meter in portions of this many bytes.
const HEAP_PORTION: usize = 64 << 10;

/// Bytes of compiled regular expressions in the cache.
const MOST_COMPILED: u64 = 16 << 20;

/// Shorter texts are counted with their container.
const LARGE_TEXT: usize = 1 << 10;

/// Steps of calling another template.
pub(crate) const INCLUDE_STEPS: usize = 60;

/// Stack a render may need at most; run it on a thread with as much.
pub const STACK_BYTES: usize = 192 << 20;

/// Templates that a host implements itself; they override parsed ones of the same name.
pub trait Natives {
    /// The output of a template, or `None` if the host does not implement it.
    fn call(&self, machine: &mut Machine<'_>, name: &[u8], data: &Val) -> Option<Result<Val, Fault>>;
}

/// The state of one render.
pub struct Machine<'r> {
    /// Lists and maps.
    pub heap: Heap,
    /// Clock, seed, switches.
    pub outside: &'r Outside,
    /// Limits.
    pub limits: &'r Limits,
    /// The visible templates.
    pub namespace: Rc<Namespace>,
    /// Files in the order of their positions, those of `tpl` added as they occur.
    pub sources: Vec<SourceFile>,
    /// Parts of templates' own texts that went into digests.
    pub(crate) digested: RefCell<Table<u32, Digested>>,
    /// Calls so far; the first represents no call.
    pub calls: Vec<Call>,
    /// Number of active includes of each template.
    pub(crate) including: Table<Str, u32>,
    /// Texts of `tpl` already parsed.
    pub(crate) parsed: Table<(Str, u32), Rc<Namespace>>,
    /// Texts already read as YAML.
    pub(crate) trees: Trees,
    /// Regular expressions already compiled.
    pub(crate) regexes: Table<Str, Rc<Pattern>>,
    /// Messages that `required` and `fail` would have stopped with, as Helm logs them.
    pub logged: Vec<String>,
    /// Bytes of compiled regular expressions charged to the meter.
    compiled: u64,
    /// Number of random values drawn at each location.
    pub(crate) draws: Table<u32, u32>,
    /// RSA keys already made, by their random stream and their bits.
    pub(crate) keys: Table<([u8; 32], usize), Key>,
    /// Location of the function being called.
    pub site: u32,
    /// Number of `tpl` texts being executed.
    pub tpl_depth: u32,
    /// Whether one of them is a secret, or made from one: then all of its own text is secret.
    pub(crate) secret_text: bool,
    /// Templates the host implements itself.
    pub natives: Option<Rc<dyn Natives>>,
    /// Additional seed of random functions, so that parts of a render can be made in any order.
    pub(crate) salt: Vec<u8>,
    /// The data that each file is executed with when it is rendered by itself.
    pub contexts: Table<Str, MapRef>,
    /// The hole that decides whether a collection was changed, where statements were skipped because of it.
    pub unsure: Option<Hole>,
    next_base: u32,
    call: u32,
    out: Rope,
    vars: Vec<(u32, Val)>,
    fuel: u64,
    depth: u32,
    /// Bytes of the heap charged to the meter.
    settled: usize,
    /// Bytes of output charged to the meter.
    written: usize,
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        self.limits.meter.release((self.settled + self.written) as u64 + self.compiled);
    }
}

/// The execution of one template: Go's `state`.
pub(crate) struct Frame<'t> {
    pub tree: &'t Tree,
    pub node: NodeRef<'t>,
    base: usize,
}

pub(crate) enum Flow {
    Next,
    Break,
    Continue,
}

pub(crate) type Exec<T> = Result<T, Box<ExecError>>;

impl<'r> Machine<'r> {
    /// The files of the render, with the parts that digests read.
    pub fn take_sources(&mut self) -> Vec<SourceFile> {
        let mut sources = std::mem::take(&mut self.sources);
        for part in self.digested.take().into_values() {
            let at = sources.partition_point(|source| source.file.base <= part.start);
            if let Some(source) = at.checked_sub(1).and_then(|at| sources.get_mut(at)) {
                let start = part.start - source.file.base;
                source.digested.push(Digested { start, ..part });
            }
        }
        sources
    }

    /// A machine for a set of templates.
    pub fn new(namespace: Rc<Namespace>, outside: &'r Outside, limits: &'r Limits) -> Self {
        let next_base = namespace.end_of_sources();
        let sources = namespace.sources();
        Self {
            heap: Heap::default(),
            outside,
            limits,
            namespace,
            sources,
            digested: RefCell::default(),
            calls: vec![Call { site: 0, parent: 0, because: 0, under: Under::Call }],
            including: Table::default(),
            parsed: Table::default(),
            trees: Trees::default(),
            regexes: Table::default(),
            logged: Vec::new(),
            compiled: 0,
            draws: Table::default(),
            keys: Table::default(),
            site: 0,
            tpl_depth: 0,
            secret_text: false,
            natives: None,
            salt: Vec::new(),
            contexts: Table::default(),
            unsure: None,
            next_base,
            call: 0,
            out: Rope::default(),
            vars: Vec::new(),
            fuel: limits.fuel,
            depth: 0,
            settled: 0,
            written: 0,
        }
    }

    /// Executes a template by name into a fresh rope.
    pub fn execute(&mut self, name: &Str, data: Val) -> Exec<Rope> {
        let Some(tree) = self.namespace.get(name) else {
            return Err(self.stopped(name, Cause::NoTemplate(name.clone()).into()));
        };
        self.execute_tree(&tree, data)
    }

    /// Counts output that outlives the machine.
    pub fn keep(&self, rope: &Rope) -> Result<(), Fault> {
        let pieces = size_of_val(rope.pieces.as_slice());
        let kept = (rope.bytes.len() + pieces) as u64;
        self.limits.meter.charge(0, kept).map_err(|_| Fault::Limit(Limit::Heap))
    }

    /// The error of a template as a whole.
    pub fn stopped(&self, name: &Str, fault: Fault) -> Box<ExecError> {
        Box::new(ExecError {
            file: String::new(),
            line: 0,
            column: 0,
            offset: 0,
            template: name.text().into_owned(),
            node: String::new(),
            function: None,
            fault,
            origin: 0,
        })
    }

    /// Executes a tree into a fresh rope.
    pub fn execute_tree(&mut self, tree: &Tree, data: Val) -> Exec<Rope> {
        let outer = std::mem::take(&mut self.out);
        let outer_call = self.call;
        if self.outside.track && self.site != 0 {
            self.enter(self.site, 0, Under::Call);
        }
        let written = self.written;
        let result = self.run_tree(tree, data);
        self.call = outer_call;
        let rope = std::mem::replace(&mut self.out, outer);
        let held = self.written - written;
        self.written = written;
        self.limits.meter.release(held as u64);
        result.map(|()| rope)
    }

    /// Executes a template whose name may come from values: then the name decides everything printed.
    pub(crate) fn execute_called(&mut self, name: &Str, from: &Val, data: Val) -> Exec<Rope> {
        let outer_call = self.call;
        let because = self.known_origin(from);
        if because != 0 {
            self.enter(self.site, because, Under::Named);
        }
        let result = self.execute_named(name, data);
        self.call = outer_call;
        result
    }

    /// The position after the last source, and a new base for a text of this length.
    pub(crate) fn new_base(&mut self, len: usize) -> u32 {
        let base = self.next_base;
        self.next_base = self.next_base.saturating_add(len as u32 + 1);
        base
    }

    fn run_tree(&mut self, tree: &Tree, data: Val) -> Exec<()> {
        let base = self.vars.len();
        self.vars.push((0, data.clone()));
        let mut frame = Frame { tree, node: NodeRef::None, base };
        let result = self.walk(&mut frame, &data, &tree.root);
        self.vars.truncate(base);
        result.map(|_| ())
    }

    // Errors and limits.

    pub(crate) fn fail<T>(&self, frame: &Frame<'_>, fault: impl Into<Fault>) -> Exec<T> {
        Err(self.error(frame, None, fault.into()))
    }

    pub(crate) fn error(&self, frame: &Frame<'_>, function: Option<&str>, fault: Fault) -> Box<ExecError> {
        let offset = frame.node.pos().unwrap_or(0);
        let text = frame.tree.file.text.bytes();
        let before = text.get(..offset as usize).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() as u32 + 1;
        let column = memchr::memrchr(b'\n', before).map_or(offset, |at| offset - at as u32 - 1);
        Box::new(ExecError {
            file: frame.tree.file.name.clone(),
            line,
            column,
            offset,
            template: frame.tree.name.text().into_owned(),
            node: frame.node.to_string(),
            function: function.map(str::to_owned),
            fault,
            origin: 0,
        })
    }

    pub(crate) fn step(&mut self, frame: &Frame<'_>) -> Exec<()> {
        if self.fuel == 0 {
            return self.fail(frame, Fault::Limit(Limit::Fuel));
        }
        self.fuel -= 1;
        Ok(())
    }

    /// Charges steps for bulk work of a function.
    pub fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        let steps = steps as u64;
        if self.fuel < steps {
            self.fuel = 0;
            return Err(Fault::Limit(Limit::Fuel));
        }
        self.fuel -= steps;
        self.settle()
    }

    /// Reports heap memory to the meter, in portions.
    fn settle(&mut self) -> Result<(), Fault> {
        let more = self.heap.held().saturating_sub(self.settled);
        if more < HEAP_PORTION {
            return Ok(());
        }
        self.settled += more;
        self.limits.meter.charge(0, more as u64).map_err(|_| Fault::Limit(Limit::Heap))
    }

    /// Compiles a regular expression and charges for it; the inner error is why it is invalid.
    pub(crate) fn compile<R>(
        &self,
        build: impl Fn(usize) -> Result<Option<R>, String>,
    ) -> Result<Result<(R, u64), String>, Fault> {
        match purlin_value::pattern::compile(&self.limits.meter, self.limits.regex as u64, build) {
            Ok(compiled) => Ok(Ok(compiled)),
            Err(Refused::Invalid(reason)) => Ok(Err(reason)),
            Err(Refused::TooLarge) => Err(Fault::Limit(Limit::Regex)),
            Err(Refused::Exceeded(Exceeded::Steps(_))) => Err(Fault::Limit(Limit::Fuel)),
            Err(Refused::Exceeded(Exceeded::Bytes(_))) => Err(Fault::Limit(Limit::Heap)),
        }
    }

    /// Caches a compiled regular expression of this size; the cache is cleared when it is full.
    pub(crate) fn keep_regex(&mut self, pattern: Str, regex: Rc<Pattern>, bytes: u64) {
        self.compiled += bytes;
        if self.compiled > MOST_COMPILED {
            self.regexes.clear();
            self.limits.meter.release(self.compiled - bytes);
            self.compiled = bytes;
        }
        self.regexes.insert(pattern, regex);
    }

    /// Calls a function: charges for it before, and for its result after.
    pub fn call(&mut self, func: &Func, args: &[Val]) -> Result<Val, Fault> {
        let held = self.charge_call(func, args)?;
        let result = (func.run)(self, args);
        self.limits.meter.release(held);
        self.hold(func, result?)
    }

    /// Charges a function for its input, and returns the bytes that it may hold while it runs.
    fn charge_call(&mut self, func: &Func, args: &[Val]) -> Result<u64, Fault> {
        let mut steps = 1;
        if func.cost == Cost::Slow {
            let mut bytes = 0u64;
            for value in args {
                bytes += self.size(value)?.1 as u64;
            }
            self.spend(steps + (bytes * SLOW_STEPS) as usize)?;
            let held = bytes * SLOW_BYTES;
            return self.limits.meter.charge(0, held).map(|()| held).map_err(|_| Fault::Limit(Limit::Heap));
        }
        for (at, value) in args.iter().enumerate() {
            if !func.cost.looks_at(at) {
                continue;
            }
            steps += match &value.data {
                Data::Str(text) | Data::Bytes(text) => text.len() / BYTES_PER_STEP as usize,
                Data::List(_) | Data::Map(_) if func.cost == Cost::Deep => self.weigh(value)?,
                Data::List(list) => self.heap.items(*list).len() / 4,
                Data::Map(map) => self.heap.unread_map(*map).entries.len() / 4,
                _ => 0,
            };
        }
        self.spend(steps).map(|()| 0)
    }

    /// The steps of walking a value: shared parts count at each occurrence. A fault if it is larger than may be
    /// written out.
    pub fn weigh(&self, value: &Val) -> Result<usize, Fault> {
        let (parts, bytes) = self.size(value)?;
        Ok(parts + bytes / BYTES_PER_STEP as usize)
    }

    /// The parts and bytes of a value when written out; a fault if it is too large.
    fn size(&self, value: &Val) -> Result<(usize, usize), Fault> {
        self.heap.weigh(value, self.limits.output).ok_or(Fault::Limit(Limit::Output))
    }

    /// Counts a result as held; a large text is counted until it is released.
    fn hold(&mut self, func: &Func, mut result: Val) -> Result<Val, Fault> {
        if let Data::Str(text) | Data::Bytes(text) = &mut result.data {
            if text.len() > self.limits.text && func.cost != Cost::Own {
                return Err(Fault::Limit(Limit::Text));
            }
            self.hold_text(text)?;
        }
        self.settle()?;
        Ok(result)
    }

    /// Counts a text, if it is large, until it is released.
    pub fn hold_text(&self, text: &mut Str) -> Result<(), Fault> {
        if text.len() < LARGE_TEXT {
            return Ok(());
        }
        text.hold(&self.limits.meter).map_err(|_| Fault::Limit(Limit::Heap))
    }

    /// The steps taken so far.
    pub fn spent(&self) -> u64 {
        self.limits.fuel - self.fuel
    }

    pub(crate) fn deeper(&mut self, frame: &Frame<'_>) -> Exec<()> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return self.fail(frame, Fault::Limit(Limit::Depth));
        }
        Ok(())
    }

    pub(crate) fn shallower(&mut self) {
        self.depth -= 1;
    }

    // Statements.

    fn walk<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, list: &'t [Stmt]) -> Exec<Flow> {
        self.deeper(frame)?;
        for stmt in list {
            match self.walk_one(frame, dot, stmt)? {
                Flow::Next => {}
                flow => {
                    self.shallower();
                    return Ok(flow);
                }
            }
        }
        self.shallower();
        Ok(Flow::Next)
    }

    fn walk_one<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, stmt: &'t Stmt) -> Exec<Flow> {
        frame.node = NodeRef::Stmt(stmt);
        self.step(frame)?;
        match stmt {
            Stmt::Text(text) => {
                let bytes = frame.tree.file.text.bytes().get(text.pos as usize..text.end as usize);
                self.write(frame, bytes.unwrap_or_default(), 0, frame.tree.file.base + text.pos, self.secret_text)?;
            }
            Stmt::Action(pipe) => {
                let value = self.eval_pipeline(frame, dot, pipe)?;
                if pipe.decl.is_empty() {
                    self.print(frame, &value, pipe.pos)?;
                }
            }
            Stmt::If(branch) => return self.walk_condition(frame, dot, branch, false),
            Stmt::With(branch) => return self.walk_condition(frame, dot, branch, true),
            Stmt::Range(branch) => self.walk_range(frame, dot, branch)?,
            Stmt::Template(invoke) => self.walk_template(frame, dot, invoke)?,
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    /// Sets the context of the text printed from here on. Returns the previous context.
    fn enter(&mut self, site: u32, because: u32, under: Under) -> u32 {
        let parent = self.call;
        if self.outside.track {
            self.call = self.calls.len() as u32;
            self.calls.push(Call { site, parent, because, under });
            self.heap.hold(size_of::<Call>());
        }
        parent
    }

    fn walk_condition<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, branch: &'t Branch, with: bool) -> Exec<Flow> {
        let mark = self.vars.len();
        let value = self.eval_pipeline(frame, dot, &branch.pipe)?;
        let site = frame.tree.file.base + branch.pipe.pos;
        let outer = self.call;
        let flow = if self.heap.is_undecided(&value) {
            self.leave_open(frame, &value, branch).map(|()| Flow::Next)
        } else if self.heap.truth(&value) {
            self.enter(site, self.known_origin(&value), Under::True);
            self.walk(frame, if with { &value } else { dot }, &branch.body)
        } else if let Some(otherwise) = &branch.otherwise {
            self.enter(site, self.known_origin(&value), Under::False);
            self.walk(frame, dot, otherwise)
        } else {
            Ok(Flow::Next)
        };
        self.call = outer;
        self.vars.truncate(mark);
        flow
    }

    fn walk_range<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, branch: &'t Branch) -> Exec<()> {
        let outer = self.vars.len();
        let value = self.eval_pipeline(frame, dot, &branch.pipe)?;
        if self.heap.is_undecided(&value) {
            self.leave_open(frame, &value, branch)?;
            self.vars.truncate(outer);
            return Ok(());
        }
        let site = frame.tree.file.base + branch.pipe.pos;
        let outer_call = self.enter(site, self.known_origin(&value), Under::Each);
        let ran = self.range_over(frame, &value, branch)?;
        self.call = outer_call;
        if !ran && let Some(otherwise) = &branch.otherwise {
            self.enter(site, self.known_origin(&value), Under::False);
            self.walk(frame, dot, otherwise)?;
            self.call = outer_call;
        }
        self.vars.truncate(outer);
        Ok(())
    }

    /// Runs neither side of a branch whose condition is pending: a mark takes its place, and the variables that
    /// either side would assign are pending too.
    fn leave_open<'t>(&mut self, frame: &mut Frame<'t>, value: &Val, branch: &'t Branch) -> Exec<()> {
        let Some(hole) = value.as_str().cloned() else { return Ok(()) };
        let mut effects = Effects::default();
        effects.of(&frame.tree.file, &branch.body);
        effects.of(&frame.tree.file, branch.otherwise.as_deref().unwrap_or_default());
        for slot in effects.assigned {
            let vars = self.vars.get_mut(frame.base..).unwrap_or_default();
            if let Some((_, place)) = vars.iter_mut().rev().find(|(known, _)| *known == slot) {
                *place = value.clone();
            }
        }
        if self.unsure.is_none() && (effects.changes || self.any_changes(effects.called)) {
            self.unsure = self.heap.holes.within(hole.bytes());
        }
        if !effects.prints {
            return Ok(());
        }
        let site = frame.tree.file.base + branch.pipe.pos;
        // A comment can only start after white space.
        let space: &[u8] = if self.out.bytes.last().is_none_or(u8::is_ascii_whitespace) { b"" } else { b" " };
        let mark = [space, &crate::hole::mark(&hole)].concat();
        self.write(frame, &mark, value.origin, site, value.is_tainted())
    }

    /// Whether one of these templates, or one that they call, modifies collections.
    fn any_changes(&self, mut called: Vec<Str>) -> bool {
        let mut seen = std::collections::HashSet::new();
        while let Some(name) = called.pop() {
            let Some(tree) = self.namespace.get(&name).filter(|_| seen.insert(name)) else { continue };
            let mut effects = Effects::default();
            effects.of(&tree.file, &tree.root);
            if effects.changes {
                return true;
            }
            called.extend(effects.called);
        }
        false
    }

    /// Runs the body for each element; false if there are none.
    fn range_over<'t>(&mut self, frame: &mut Frame<'t>, value: &Val, branch: &'t Branch) -> Exec<bool> {
        match &value.data {
            Data::Nil => Ok(false),
            Data::List(list) => {
                let count = self.heap.items(*list).len();
                for index in 0..count {
                    let Some(element) = self.heap.element(*list, index) else { break };
                    let index = Val::int(index as i64).at(value.origin);
                    if !self.iterate(frame, branch, index, element)? {
                        break;
                    }
                }
                Ok(count > 0)
            }
            Data::Bytes(bytes) => {
                for (index, byte) in bytes.bytes().iter().enumerate() {
                    if !self.iterate(frame, branch, Val::int(index as i64), Val::new(Data::Uint8(*byte)))? {
                        break;
                    }
                }
                Ok(!bytes.is_empty())
            }
            Data::Map(map) => {
                let body = self.heap.get_map(*map);
                let boxes = map.kind.boxes();
                let entries: Vec<(Str, Val)> = body.entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                let any = !entries.is_empty();
                let names_keys = branch.pipe.decl.len() > 1;
                for (key, element) in entries {
                    let key = if names_keys { self.key_of(key, &element) } else { Val::NIL };
                    let element = if boxes { element.boxed() } else { element };
                    if !self.iterate(frame, branch, key, element)? {
                        break;
                    }
                }
                Ok(any)
            }
            Data::Int(count) | Data::Int64(count) => self.range_integer(frame, value, *count, branch),
            Data::Uint8(count) => self.range_integer(frame, value, i64::from(*count), branch),
            Data::Uint64(count) => self.range_integer(frame, value, (*count).min(i64::MAX as u64) as i64, branch),
            _ => {
                let text = crate::print::sprint(&self.heap, value);
                self.fail(frame, Cause::NotIterable(String::from_utf8_lossy(&text).into_owned()))
            }
        }
    }

    fn range_integer<'t>(&mut self, frame: &mut Frame<'t>, value: &Val, count: i64, branch: &'t Branch) -> Exec<bool> {
        if branch.pipe.decl.len() > 1 {
            let text = crate::print::sprint(&self.heap, value);
            let text = String::from_utf8_lossy(&text).into_owned();
            return self.fail(frame, format!("can't use {text} to iterate over more than one variable"));
        }
        for number in 0..count {
            let element = match value.data {
                Data::Int(_) => Val::int(number),
                Data::Uint64(_) => Val::new(Data::Uint64(number as u64)),
                _ => Val::new(Data::Int64(number)),
            };
            if !self.iterate(frame, branch, Val::NIL, element.at(value.origin))? {
                break;
            }
        }
        Ok(count > 0)
    }

    /// One iteration of a range; false on `break`.
    fn iterate<'t>(&mut self, frame: &mut Frame<'t>, branch: &'t Branch, index: Val, element: Val) -> Exec<bool> {
        self.step(frame)?;
        let pipe = &branch.pipe;
        let mark = self.vars.len();
        match (pipe.decl.as_slice(), pipe.assigns) {
            ([], _) => {}
            ([one], true) => self.assign(frame, one.slot, &one.name, element.clone())?,
            ([one, two, ..], true) => {
                self.assign(frame, one.slot, &one.name, index)?;
                self.assign(frame, two.slot, &two.name, element.clone())?;
            }
            // The pipeline has pushed the variables; they are set again in each iteration.
            ([_], false) => self.set_top(1, element.clone()),
            (_, false) => {
                self.set_top(1, element.clone());
                self.set_top(2, index);
            }
        }
        let flow = self.walk(frame, &element, &branch.body)?;
        self.vars.truncate(mark);
        Ok(!matches!(flow, Flow::Break))
    }

    fn set_top(&mut self, from_top: usize, value: Val) {
        let at = self.vars.len().checked_sub(from_top);
        if let Some((_, place)) = at.and_then(|at| self.vars.get_mut(at)) {
            *place = value;
        }
    }

    fn walk_template<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, invoke: &'t Invoke) -> Exec<()> {
        let Some(tree) = self.namespace.get(&invoke.name) else {
            let message = format!("template {} not defined", crate::quote::quote(invoke.name.bytes()));
            return self.fail(frame, message);
        };
        self.deeper(frame)?;
        // The template's own list is one level deeper; reported here, at the call.
        if self.depth >= self.limits.depth {
            return self.fail(frame, Fault::Limit(Limit::Depth));
        }
        let data = match &invoke.pipe {
            Some(pipe) => self.eval_pipeline(frame, dot, pipe)?,
            None => Val::NIL,
        };
        self.spend(INCLUDE_STEPS).map_err(|fault| self.error(frame, None, fault))?;
        let outer_call = self.call;
        if self.outside.track {
            self.enter(frame.tree.file.base + invoke.pos, 0, Under::Call);
        }
        self.run_tree(&tree, data)?;
        self.call = outer_call;
        self.shallower();
        Ok(())
    }

    // Output.

    /// Charges output that is about to be written.
    fn make_room(&mut self, frame: &Frame<'_>, bytes: usize) -> Exec<()> {
        let size = self.out.bytes.len() + bytes;
        if size > self.limits.output {
            return self.fail(frame, Fault::Limit(Limit::Output));
        }
        if bytes >= LARGE_TEXT {
            let steps = self.spend(bytes / BYTES_PER_STEP as usize);
            steps.map_err(|fault| self.error(frame, None, fault))?;
        }
        // The rope doubles its capacity whenever it is full.
        let more = size.saturating_sub(self.out.bytes.capacity());
        if more > 0 && size > LARGE_TEXT {
            self.written += size;
            if self.limits.meter.charge(0, size as u64).is_err() {
                self.written -= size;
                return self.fail(frame, Fault::Limit(Limit::Heap));
            }
        }
        Ok(())
    }

    fn write(&mut self, frame: &Frame<'_>, bytes: &[u8], origin: u32, site: u32, tainted: bool) -> Exec<()> {
        self.make_room(frame, bytes.len())?;
        if self.outside.track {
            self.out.push(bytes, Piece { end: 0, origin, site, call: self.call, tainted });
        } else {
            self.out.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn print(&mut self, frame: &Frame<'_>, value: &Val, pos: u32) -> Exec<()> {
        let site = frame.tree.file.base + pos;
        match &value.data {
            Data::Str(text) => match text.pieces() {
                Some(pieces) if self.outside.track => {
                    self.make_room(frame, text.len())?;
                    self.out.push_pieces(text.bytes(), pieces, value.is_tainted_as_whole());
                    Ok(())
                }
                _ => self.write(frame, text.bytes(), value.origin, site, value.is_tainted()),
            },
            Data::Nil => self.write(frame, b"<no value>", 0, site, false),
            _ => {
                let steps = self.weigh(value).and_then(|steps| self.spend(steps));
                steps.map_err(|fault| self.error(frame, None, fault))?;
                let text = crate::print::sprint(&self.heap, value);
                let tainted =
                    value.is_tainted() || self.outside.track && holds_taint(&self.heap, std::slice::from_ref(value));
                self.write(frame, &text, value.origin, site, tainted)
            }
        }
    }

    // Pipelines.

    pub(crate) fn eval_pipeline<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, pipe: &'t Pipe) -> Exec<Val> {
        frame.node = NodeRef::Pipe(pipe);
        let mut last: Option<Val> = None;
        for command in &pipe.cmds {
            let value = self.eval_command(frame, dot, command, last.take())?;
            last = Some(value.unboxed());
        }
        let value = last.unwrap_or(Val::NIL);
        for variable in &pipe.decl {
            if pipe.assigns {
                self.assign(frame, variable.slot, &variable.name, value.clone())?;
            } else {
                self.vars.push((variable.slot, value.clone()));
            }
        }
        Ok(value)
    }

    fn assign(&mut self, frame: &Frame<'_>, slot: u32, name: &str, value: Val) -> Exec<()> {
        let base = frame.base;
        let found = self.vars.get_mut(base..).unwrap_or_default().iter_mut().rev().find(|(known, _)| *known == slot);
        match found {
            Some((_, place)) => {
                *place = value;
                Ok(())
            }
            None => self.fail(frame, format!("undefined variable: {name}")),
        }
    }

    pub(crate) fn variable(&self, frame: &Frame<'_>, slot: u32, name: &str) -> Exec<Val> {
        let vars = self.vars.get(frame.base..).unwrap_or_default();
        match vars.iter().rev().find(|(known, _)| *known == slot) {
            Some((_, value)) => Ok(value.clone()),
            None => self.fail(frame, format!("undefined variable: {name}")),
        }
    }

    /// Whether an operand is a constant, whose type adapts to the parameter.
    pub(crate) fn is_constant(expr: &Expr) -> bool {
        matches!(expr, Expr::Bool(..) | Expr::Number(_) | Expr::Str(_) | Expr::Nil(_))
    }
}

impl Machine<'_> {
    /// The call being executed.
    pub(crate) fn current_call(&self) -> u32 {
        self.call
    }

    /// A text, unless it is longer than allowed.
    pub fn limited(&self, text: Vec<u8>) -> Result<Val, Fault> {
        if text.len() > self.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
        Ok(Val::str(text))
    }

    /// A text with pieces, unless it is longer than allowed.
    pub(crate) fn limited_rope(&self, rope: Rope) -> Result<Val, Fault> {
        if rope.bytes.len() > self.limits.output {
            return Err(Fault::Limit(Limit::Text));
        }
        let tainted = rope.pieces.iter().any(|piece| piece.tainted);
        Ok(Val::new(Data::Str(Str::with_pieces(rope.bytes, rope.pieces))).taint(tainted))
    }

    /// A list, unless it is longer than allowed.
    pub(crate) fn limited_items(&mut self, count: usize) -> Result<(), Fault> {
        if count > self.limits.items {
            return Err(Fault::Limit(Limit::Items));
        }
        self.spend(count / 4)
    }

    /// Whether this many more bytes may be held, checked before allocation.
    pub(crate) fn has_room(&self, bytes: usize) -> Result<(), Fault> {
        self.limits.meter.hold(bytes as u64).map(drop).map_err(|_| Fault::Limit(Limit::Heap))
    }
}
