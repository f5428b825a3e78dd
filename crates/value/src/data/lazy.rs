//! Lazy values and the only way to force them.
//!
//! A lazy value is an expression with its scope, and a cell for the result. Forcing it twice computes it once (two
//! threads may race for a small cell; the first result is kept). Forcing it while it is being forced is a cycle: all
//! members become poison, whichever was forced first, and the cycle is reported once from its smallest position.

use crate::rules;
use crate::session::Session;
use crate::value::{Data, Map, Value};
use crate::weight::{height, weight};
use purlin_syntax::{Diagnostic, Span};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// An expression that can be evaluated when its value is needed.
pub trait Thunk: Send + Sync {
    /// Computes the value. Problems go to the session's sink; the result is then poison.
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value;

    /// Location of the expression.
    fn span(&self) -> Option<Span>;

    /// Its name, for messages about cycles (`variables.host`).
    fn name(&self) -> String;

    /// One part of the value, without making the others: `None` if all of it must be computed, also where there is no
    /// such part. It reads nothing but what was known when the value was bound.
    fn part(&self, _key: &str) -> Option<Value> {
        None
    }

    /// The same expression in another scope, whose type its dialect knows; `None` if it must be bound again.
    fn rebound(&self, _scope: &dyn Any) -> Option<Value> {
        None
    }
}

/// A value that is computed when it is first needed. The expression is kept in place, so that both are allocated at once.
pub struct Lazy<T: Thunk + ?Sized = dyn Thunk> {
    memo: OnceLock<Value>,
    /// Whether its inputs vary, or a problem was found in it. See [`Eval::vary`].
    varies: AtomicBool,
    thunk: T,
}

impl<T: Thunk + 'static> Lazy<T> {
    /// A lazy value.
    pub fn new(thunk: T) -> Self {
        Lazy { thunk, memo: OnceLock::new(), varies: AtomicBool::new(false) }
    }
}

impl Lazy {
    /// The same expression in another scope; see [`Thunk::rebound`].
    pub fn rebound(&self, scope: &dyn Any) -> Option<Value> {
        self.thunk.rebound(scope)
    }

    /// A lazy value as a value.
    pub fn value(thunk: impl Thunk + 'static) -> Value {
        Value::new(Data::Lazy(Arc::new(Lazy::new(thunk))))
    }

    /// The result, if it is already computed.
    pub fn known(&self) -> Option<&Value> {
        self.memo.get()
    }

    /// The result, if it is already computed, without problems, and the same in every variant of the project. Its
    /// parts may still be lazy and vary.
    pub fn steady(&self) -> Option<&Value> {
        self.memo.get().filter(|_| !self.varies.load(Ordering::Relaxed))
    }

    /// The same if all of its parts are computed too.
    pub fn settled(&self) -> Option<&Value> {
        let value = self.steady()?;
        let is_done = match &value.data {
            Data::List(list) => list.memo().is_known(),
            Data::Map(map) => map.memo().is_known(),
            Data::Lazy(_) | Data::Poison => false,
            _ => true,
        };
        is_done.then_some(value)
    }
}

impl std::fmt::Debug for Lazy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lazy({})", self.thunk.name())
    }
}

struct Frame {
    lazy: Arc<Lazy>,
    in_cycle: bool,
}

/// One chain of evaluation: the values being forced, and the remaining budget.
pub struct Eval<'s> {
    /// The run this belongs to.
    pub session: &'s Session,
    frames: Vec<Frame>,
    /// Addresses of the lazy values of all frames but the first [`SHORT`], so that cycle detection does not depend on
    /// the depth of the chain.
    active: HashSet<usize, foldhash::fast::RandomState>,
    /// Deeply forced values by address, so that shared ones are forced once; with the original, which keeps its
    /// address in use, and whether it varies.
    forced: HashMap<usize, (Value, Value, bool), foldhash::fast::RandomState>,
    /// Whether something that varies was read.
    varies: bool,
    steps: u64,
    bytes: u64,
    exhausted: bool,
}

/// Maximum nesting of forcing; a chain of that many variables is a mistake or an attack.
const FORCE_DEPTH: usize = purlin_syntax::limits::CHAIN_LEVELS;

/// Most chains are this short, and searching one costs less than maintaining a table.
const SHORT: usize = 16;

/// Bytes are passed to the session's meter in portions, like steps, to avoid contention between threads.
const BYTE_PORTION: u64 = 64 * 1024;

/// Memory of a list item and a map entry, with their share of the collection.
pub const ITEM_BYTES: u64 = size_of::<Value>() as u64;
/// See [`ITEM_BYTES`].
pub const ENTRY_BYTES: u64 = 2 * ITEM_BYTES + 16;

impl<'s> Eval<'s> {
    /// A fresh chain.
    pub fn new(session: &'s Session) -> Self {
        Eval {
            session,
            frames: Vec::new(),
            active: HashSet::default(),
            forced: HashMap::default(),
            varies: false,
            steps: 0,
            bytes: 0,
            exhausted: false,
        }
    }

    /// Computes a lazy value; any other value is returned unchanged. The parts of a collection stay lazy.
    pub fn force(&mut self, value: &Value) -> Value {
        let mut value = match &value.data {
            Data::Lazy(lazy) => self.force_lazy(lazy).tainted_by(value.taint()),
            _ => value.clone(),
        };
        while let Data::Lazy(lazy) = &value.data {
            let taint = value.taint();
            value = self.force_lazy(&lazy.clone()).tainted_by(taint);
        }
        // Any reader of a secret may quote it in a message; it is hidden in the sink, not by each reader.
        if value.is_tainted()
            && let Some(text) = value.as_str()
        {
            self.session.sink.hide(text);
        }
        value
    }

    /// A part of a lazy value that is known without computing the value, which may never be needed. The part may be lazy
    /// itself.
    pub fn part(&self, value: &Value, key: &str) -> Option<Value> {
        let Data::Lazy(lazy) = &value.data else { return None };
        if lazy.memo.get().is_some() {
            return None;
        }
        lazy.thunk.part(key).map(|part| part.tainted_by(value.taint()))
    }

    fn force_lazy(&mut self, lazy: &Arc<Lazy>) -> Value {
        if let Some(value) = lazy.memo.get() {
            self.varies |= lazy.varies.load(Ordering::Relaxed);
            return value.clone();
        }
        if self.is_active(lazy) {
            self.report_cycle(lazy);
            return Value::poison();
        }
        if self.frames.len() >= FORCE_DEPTH {
            return self.too_deep(lazy.thunk.span());
        }
        self.enter(lazy);
        let (mut value, varies) = self.watched(|eval| lazy.thunk.evaluate(eval));
        if self.leave() {
            // An operand may have turned the poison into another value, depending on the starting point: every member
            // is poison.
            value = Value::poison();
        }
        if varies || value.is_poison() {
            lazy.varies.store(true, Ordering::Relaxed);
            self.varies = true;
        }
        lazy.memo.get_or_init(|| value).clone()
    }

    /// Whether a lazy value is being forced.
    fn is_active(&self, lazy: &Arc<Lazy>) -> bool {
        self.frames.iter().take(SHORT).any(|frame| Arc::ptr_eq(&frame.lazy, lazy))
            || (self.frames.len() > SHORT && self.active.contains(&(Arc::as_ptr(lazy).addr())))
    }

    fn enter(&mut self, lazy: &Arc<Lazy>) {
        if self.frames.len() >= SHORT {
            self.active.insert(Arc::as_ptr(lazy).addr());
        }
        self.frames.push(Frame { lazy: lazy.clone(), in_cycle: false });
    }

    /// Whether the value forced last turned out to be part of a cycle.
    fn leave(&mut self) -> bool {
        let Some(frame) = self.frames.pop() else { return false };
        if self.frames.len() >= SHORT {
            self.active.remove(&(Arc::as_ptr(&frame.lazy).addr()));
        }
        frame.in_cycle
    }

    /// Records the read of something that differs between variants of a project, such as its environments. Every
    /// value that is being computed remembers it.
    pub fn vary(&mut self) {
        self.varies = true;
    }

    /// Whether something that varies was read so far.
    pub fn varies(&self) -> bool {
        self.varies
    }

    /// Runs work whose result is kept elsewhere, and returns whether it varies.
    pub fn watched<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let (around, problems) = (std::mem::take(&mut self.varies), self.session.sink.pushed());
        let done = work(self);
        // A problem is reported in every variant, so it counts as varying.
        let varies = self.varies || self.session.sink.pushed() > problems;
        self.varies = around || varies;
        (done, varies)
    }

    /// Forces a value and everything in it. A result that would be too large when written out is reported and becomes
    /// poison.
    pub fn force_deep(&mut self, value: &Value) -> Value {
        let value = self.force_deep_at(value, 0);
        let most = self.session.limits.output_bytes;
        if !value.is_collection() || weight(&value) <= most {
            return value;
        }
        let message = format!("this value has more than the {most} bytes allowed when it is written out");
        let mut diagnostic = Diagnostic::nowhere(&rules::LIMIT_OUTPUT, message);
        diagnostic.span = self.session.origins.span(value.origin, &self.session.sources).or_else(|| self.place());
        let hint = "look for values that hold others several times, or raise it with `--limit output-size=BYTES`";
        self.session.sink.push(diagnostic.hint(hint));
        Value::poison()
    }

    fn force_deep_at(&mut self, value: &Value, depth: u32) -> Value {
        let value = self.force(value);
        let (address, holders, memo) = match &value.data {
            Data::List(list) => (Arc::as_ptr(list) as usize, Arc::strong_count(list), list.memo()),
            Data::Map(map) => (Arc::as_ptr(map) as usize, Arc::strong_count(map), map.memo()),
            _ => return value,
        };
        let most = self.session.limits.depth;
        if depth.saturating_add(memo.height()) > most {
            let span = self.session.origins.span(value.origin, &self.session.sources);
            return self.too_deep(span);
        }
        if memo.is_known() {
            return value;
        }
        // One reference belongs to the caller, one to this frame: more means that it may occur again.
        let shared = holders > 2;
        if shared && let Some((_, forced, varies)) = self.forced.get(&address) {
            self.varies |= varies;
            let forced = value.with(forced.data.clone());
            if depth.saturating_add(height(&forced)) > most {
                return self.too_deep(self.place());
            }
            return forced;
        }
        let around = std::mem::take(&mut self.varies);
        let data = self.forced_parts(&value, depth);
        let varies = self.varies;
        self.varies |= around;
        let Some(data) = data else { return value };
        let forced = value.clone().with(data);
        if shared {
            // Its size is now known, and with it that nothing in it is left to force.
            weight(&forced);
            self.forced.insert(address, (value, forced.clone(), varies));
        }
        forced
    }

    /// The parts of a collection, forced; `None` if none of them needs it.
    fn forced_parts(&mut self, value: &Value, depth: u32) -> Option<Data> {
        match &value.data {
            Data::List(list) if list.iter().any(needs_forcing) => {
                // The result has as many parts as its source, which was counted.
                if !self.spend(list.len() as u64) {
                    return Some(Data::Poison);
                }
                let items: Vec<Value> = list.iter().map(|item| self.force_deep_at(item, depth + 1)).collect();
                Some(Data::List(Arc::new(items.into())))
            }
            Data::Map(map) if map.values().any(needs_forcing) => {
                if !self.spend(map.len() as u64) {
                    return Some(Data::Poison);
                }
                let mut forced = Map::with_capacity(map.len());
                for (key, item) in map.iter() {
                    let item = self.force_deep_at(item, depth + 1);
                    if !item.is_absent() {
                        forced.insert(key.clone(), item);
                    }
                }
                Some(Data::Map(Arc::new(forced)))
            }
            _ => None,
        }
    }

    /// Location of the value being forced.
    fn place(&self) -> Option<Span> {
        self.frames.last().and_then(|frame| frame.lazy.thunk.span())
    }

    fn too_deep(&mut self, span: Option<Span>) -> Value {
        let message = "this value depends on too long a chain of other values, or is nested too deep";
        let mut diagnostic = Diagnostic::nowhere(&purlin_syntax::rules::LIMIT_DEPTH, message);
        diagnostic.span = span;
        self.session.sink.push(diagnostic);
        Value::poison()
    }

    /// Counts steps of evaluation. False once a limit of the run is exceeded, which is reported at that point.
    pub fn spend(&mut self, steps: u64) -> bool {
        self.charge(steps, 0)
    }

    /// Counts steps, and bytes that are about to be allocated. False once a limit of the run is exceeded, which is
    /// reported at that point.
    pub fn charge(&mut self, steps: u64, bytes: u64) -> bool {
        self.steps = self.steps.saturating_add(steps);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.steps >= self.session.meter.portion() || self.bytes >= BYTE_PORTION {
            self.settle();
        }
        !self.exhausted
    }

    /// Passes the counts to the meter.
    fn settle(&mut self) {
        let (steps, bytes) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.bytes));
        if self.exhausted {
            return;
        }
        if let Err(exceeded) = self.session.meter.charge(steps, bytes) {
            self.exhausted = true;
            self.session.report_exceeded(exceeded, self.place());
        }
    }

    /// Number of values being forced.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    fn report_cycle(&mut self, lazy: &Arc<Lazy>) {
        let Some(from) = self.frames.iter().position(|frame| Arc::ptr_eq(&frame.lazy, lazy)) else { return };
        let members: Vec<(String, Option<Span>)> =
            self.frames.iter().skip(from).map(|frame| (frame.lazy.thunk.name(), frame.lazy.thunk.span())).collect();
        for frame in self.frames.iter_mut().skip(from) {
            frame.in_cycle = true;
        }
        self.session.sink.push(cycle_diagnostic(self.session, members));
    }
}

impl Drop for Eval<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}

fn needs_forcing(value: &Value) -> bool {
    matches!(value.data, Data::Lazy(_) | Data::List(_) | Data::Map(_))
}

/// One report per cycle, independent of the starting point: it starts at the smallest position.
fn cycle_diagnostic(session: &Session, mut members: Vec<(String, Option<Span>)>) -> Diagnostic {
    let place = |member: &(String, Option<Span>)| {
        let span = member.1?;
        let path = session.sources.get(span.file).map(|source| source.path().to_owned());
        Some((path, span.start))
    };
    let first = (0..members.len()).min_by_key(|&at| members.get(at).map(place)).unwrap_or(0);
    members.rotate_left(first);
    Diagnostic::cycle(&rules::VALUE_CYCLE, "circular reference", &members)
        .hint("give one of them a value that does not use the others")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::world::MemoryWorld;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    type Cells = Arc<Mutex<Vec<Value>>>;

    /// A cell that adds one to the cell at `next`, or is 0.
    struct Link {
        cells: Cells,
        next: Option<usize>,
        runs: Arc<AtomicU32>,
    }

    impl Thunk for Link {
        fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let Some(next) = self.next else { return Value::from(0) };
            let next = self.cells.lock().unwrap()[next].clone();
            eval.force(&next).as_int().map_or(Value::poison(), |n| Value::from(n + 1))
        }
        fn span(&self) -> Option<Span> {
            None
        }
        fn name(&self) -> String {
            format!("to {:?}", self.next)
        }
    }

    fn chain(links: &[Option<usize>]) -> (Cells, Arc<AtomicU32>) {
        let cells: Cells = Arc::default();
        let runs = Arc::new(AtomicU32::new(0));
        for &next in links {
            let link = Link { cells: cells.clone(), next, runs: runs.clone() };
            cells.lock().unwrap().push(Lazy::value(link));
        }
        (cells, runs)
    }

    #[test]
    fn forcing_computes_once() {
        let (cells, runs) = chain(&[None, Some(0), Some(1)]);
        let session = Session::new(Arc::new(MemoryWorld::new()));
        let last = cells.lock().unwrap()[2].clone();
        assert_eq!(Eval::new(&session).force(&last), Value::from(2));
        assert_eq!(Eval::new(&session).force(&last), Value::from(2));
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_cycle_poisons_all_members_and_is_reported_once() {
        for start in 0..3 {
            let (cells, _) = chain(&[Some(1), Some(2), Some(0)]);
            let session = Session::new(Arc::new(MemoryWorld::new()));
            let mut eval = Eval::new(&session);
            for at in 0..3 {
                let cell = cells.lock().unwrap()[(start + at) % 3].clone();
                assert!(eval.force(&cell).is_poison());
            }
            assert_eq!(session.sink.take().len(), 1);
        }
    }

    #[test]
    fn a_very_long_chain_is_a_limit_and_not_an_overflow() {
        let links: Vec<_> = (0..20_000).map(|at: usize| at.checked_sub(1)).collect();
        let work = move || {
            let (cells, _) = chain(&links);
            let session = Session::new(Arc::new(MemoryWorld::new()));
            let last = cells.lock().unwrap()[19_999].clone();
            assert!(Eval::new(&session).force(&last).is_poison());
            assert_eq!(session.sink.take()[0].rule.name, "limit-depth");
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
    }
}
