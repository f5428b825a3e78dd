//! The cost of evaluation, counted in one place: steps, and bytes held.
//!
//! The session owns one [`Meter`]. Evaluators charge it *before* they loop or allocate, by the size of their input
//! and of the planned result. Steps only rise; bytes are given back where something is known to be released. Nothing
//! here knows the evaluated language.

use crate::rules::{LIMIT_FUEL, LIMIT_MEMORY};
use purlin_syntax::{Diagnostic, Limits, Rule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of bytes that are read or copied in one step.
pub const BYTES_PER_STEP: u64 = 4;

/// The steps for reading or copying this many bytes.
pub const fn steps_for(bytes: u64) -> u64 {
    bytes / BYTES_PER_STEP
}

/// Steps of a slow function per byte of input.
pub const SLOW_STEPS: u64 = 2;

/// Bytes that a slow function may hold while it runs, per byte of input.
pub const SLOW_BYTES: u64 = 16;

/// Cost of a function, required in its table entry, so that none can be listed without: the caller charges it before
/// the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The same for any input.
    Constant,
    /// It reads the text, or the items, of the arguments whose bits are set, the first being the lowest.
    Linear(u8),
    /// It walks its arguments to their full depth: they are charged as if written out.
    Deep,
    /// Like [`Cost::Deep`], with [`SLOW_STEPS`] steps per byte: it splits text into characters, matches it, or
    /// temporarily holds several times as much.
    Slow,
    /// It charges itself, because the size of its result is not bounded by its input.
    Own,
}

impl Cost {
    /// All arguments, without descending into collections.
    pub const ALL: Cost = Cost::Linear(u8::MAX);

    /// Whether an argument is read.
    pub fn looks_at(self, argument: usize) -> bool {
        match self {
            Cost::Linear(bits) => bits >> argument.min(7) & 1 == 1,
            Cost::Deep | Cost::Slow => true,
            Cost::Constant | Cost::Own => false,
        }
    }
}

/// A limit that would be exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// More than this many steps.
    Steps(u64),
    /// More than this many bytes.
    Bytes(u64),
}

impl Exceeded {
    /// The rule of the limit.
    pub fn rule(self) -> &'static Rule {
        match self {
            Exceeded::Steps(_) => &LIMIT_FUEL,
            Exceeded::Bytes(_) => &LIMIT_MEMORY,
        }
    }

    /// The message.
    pub fn message(self) -> String {
        match self {
            Exceeded::Steps(most) => format!("evaluation needs more than the {most} steps allowed"),
            Exceeded::Bytes(most) => format!("evaluation makes values of more than the {most} bytes allowed"),
        }
    }

    /// The hint.
    pub fn hint(self) -> &'static str {
        match self {
            Exceeded::Steps(_) => "look for a loop, or raise it with `--limit fuel=STEPS`",
            Exceeded::Bytes(_) => "look for values that grow, or raise it with `--limit memory=BYTES`",
        }
    }

    /// A diagnostic without a location.
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::nowhere(self.rule(), self.message()).hint(self.hint())
    }
}

/// The cost of one run so far, and its limits.
#[derive(Debug)]
pub struct Meter {
    steps: AtomicU64,
    bytes: AtomicU64,
    read: AtomicU64,
    told: AtomicBool,
    limits: Limits,
    allotment: Option<Arc<Allotment>>,
}

/// Minimum memory of a run beside others. It suffices for most projects, so that they are not resolved twice.
const LEAST_ALLOTTED: u64 = 32 << 20;

/// The share of the allowed memory of one of several concurrent runs: together they hold as much as a single one may.
/// A run that needs more is stopped, and its result is void; it must be repeated alone.
#[derive(Debug)]
pub(crate) struct Allotment {
    runs: u64,
    is_used_up: AtomicBool,
}

impl Allotment {
    /// For one of `runs` concurrent runs.
    pub(crate) fn of_one_in(runs: usize) -> Self {
        Allotment { runs: (runs as u64).max(1), is_used_up: AtomicBool::new(false) }
    }

    /// Whether there is no concurrent run.
    pub(crate) fn is_for_one(&self) -> bool {
        self.runs == 1
    }

    /// Whether the run was stopped for the sake of the others.
    pub(crate) fn is_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Records that the run needs more than its share.
    pub(crate) fn use_up(&self) {
        self.is_used_up.store(true, Ordering::Relaxed);
    }

    /// The share of `most` bytes.
    fn part_of(&self, most: u64) -> u64 {
        most.min((most / self.runs).max(LEAST_ALLOTTED))
    }
}

impl Meter {
    /// A meter at zero.
    pub fn new(limits: &Limits) -> Self {
        let zero = || AtomicU64::new(0);
        let (told, limits) = (AtomicBool::new(false), limits.clone());
        Meter { steps: zero(), bytes: zero(), read: zero(), told, limits, allotment: None }
    }

    /// The same for a run beside others.
    pub(crate) fn within(self, allotment: Option<Arc<Allotment>>) -> Self {
        Meter { allotment, ..self }
    }

    /// The limits it watches.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A meter with the same limits and no steps yet; held bytes stay counted.
    pub fn renewed(&self) -> Self {
        let meter = Meter::new(&self.limits).within(self.allotment.clone());
        meter.was_read(self.read.load(Ordering::Relaxed));
        add(&meter.bytes, self.bytes.load(Ordering::Relaxed));
        meter
    }

    /// Charges steps and bytes before they are used. A rejected charge stays counted, so that continuing is rejected
    /// as well.
    pub fn charge(&self, steps: u64, bytes: u64) -> Result<(), Exceeded> {
        let taken = add(&self.steps, steps);
        if taken > self.limits.fuel {
            return Err(Exceeded::Steps(self.limits.fuel));
        }
        if bytes == 0 {
            return Ok(());
        }
        let held = add(&self.bytes, bytes);
        let most = self.most_bytes();
        let allotted = self.allotment.as_ref().map_or(most, |allotment| allotment.part_of(most));
        if held > allotted {
            self.allotment.iter().for_each(|allotment| allotment.use_up());
            // Rejected bytes are not allocated.
            self.release(bytes);
            return Err(Exceeded::Bytes(most));
        }
        Ok(())
    }

    /// Charges bytes that are held temporarily; dropping the result gives them back.
    pub fn hold(&self, bytes: u64) -> Result<Held<'_>, Exceeded> {
        self.charge(0, bytes)?;
        Ok(Held { meter: self, bytes })
    }

    /// Gives back bytes that are no longer held.
    pub fn release(&self, bytes: u64) {
        let less = |held: u64| Some(held.saturating_sub(bytes));
        let _ = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// The cost so far.
    pub(crate) fn spent(&self) -> Spent {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Spent { steps: load(&self.steps), bytes: load(&self.bytes), read: load(&self.read) }
    }

    /// Adds the cost of another run whose result this one receives.
    pub(crate) fn take_over(&self, spent: Spent) {
        add(&self.steps, spent.steps);
        add(&self.bytes, spent.bytes);
        self.was_read(spent.read);
    }

    /// Records the bytes of files read: large input may resolve to large output.
    pub(crate) fn was_read(&self, bytes: u64) {
        add(&self.read, bytes);
    }

    /// Whether an exceeded limit is still to be reported; true once.
    pub fn is_news(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// Number of steps an evaluator may count by itself before reporting to the meter: a negligible amount.
    #[inline]
    pub(crate) fn portion(&self) -> u64 {
        if self.limits.fuel < PORTION * PORTION { 1 } else { PORTION }
    }

    /// Whether less than half of the allowed steps or bytes is left.
    pub fn is_half_used(&self) -> bool {
        self.steps_left() < self.limits.fuel / 2 || self.bytes_left() < self.most_bytes() / 2
    }

    /// The remaining steps.
    pub fn steps_left(&self) -> u64 {
        self.limits.fuel.saturating_sub(self.steps.load(Ordering::Relaxed))
    }

    /// The remaining bytes.
    pub fn bytes_left(&self) -> u64 {
        self.most_bytes().saturating_sub(self.bytes.load(Ordering::Relaxed))
    }

    /// Maximum bytes of a result when written as a whole: large input may resolve to large output.
    pub fn most_output(&self) -> u64 {
        let read = self.read.load(Ordering::Relaxed);
        self.limits.output_bytes.max(self.limits.memory(read) / 2)
    }

    fn most_bytes(&self) -> u64 {
        self.limits.memory(self.read.load(Ordering::Relaxed))
    }
}

/// A cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    steps: u64,
    bytes: u64,
    read: u64,
}

impl Spent {
    /// The cost since an earlier point.
    pub(crate) fn since(self, before: Spent) -> Spent {
        Spent {
            steps: self.steps.saturating_sub(before.steps),
            bytes: self.bytes.saturating_sub(before.bytes),
            read: self.read.saturating_sub(before.read),
        }
    }
}

/// Bytes that are given back on drop.
#[derive(Debug)]
pub struct Held<'m> {
    meter: &'m Meter,
    bytes: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.meter.release(self.bytes);
        }
    }
}

/// Adds without ever wrapping: no charge comes near half of the number range.
fn add(counter: &AtomicU64, amount: u64) -> u64 {
    let amount = amount.min(u64::MAX / 1024);
    let before = counter.fetch_add(amount, Ordering::Relaxed);
    if before > u64::MAX / 2 {
        counter.store(u64::MAX / 2, Ordering::Relaxed);
    }
    before.saturating_add(amount)
}

/// Steps counted by one evaluator and passed to the meter in portions, so that counting costs an addition.
#[derive(Debug, Default)]
pub struct Tab {
    steps: std::cell::Cell<u64>,
}

/// Size of a portion of steps.
const PORTION: u64 = 256;

impl Tab {
    /// Charges steps; the meter is updated in portions.
    #[inline]
    pub fn charge(&self, meter: &Meter, steps: u64) -> Result<(), Exceeded> {
        let steps = self.steps.get().saturating_add(steps);
        self.steps.set(steps);
        if steps < meter.portion() { Ok(()) } else { self.settle(meter) }
    }

    /// Passes the rest to the meter.
    pub fn settle(&self, meter: &Meter) -> Result<(), Exceeded> {
        meter.charge(self.steps.take(), 0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn meter(fuel: u64, memory_floor: u64) -> Meter {
        Meter::new(&Limits { fuel, memory_floor, ..Limits::default() })
    }

    #[test]
    fn steps_and_bytes_are_refused_before_they_are_used() {
        let meter = meter(10, 100);
        assert_eq!(meter.charge(4, 60), Ok(()));
        assert_eq!(meter.charge(0, 60), Err(Exceeded::Bytes(100)));
        assert_eq!(meter.charge(0, 40), Ok(()));
        meter.release(50);
        assert_eq!(meter.charge(0, 50), Ok(()));
        assert_eq!(meter.charge(7, 0), Err(Exceeded::Steps(10)));
        assert_eq!(meter.charge(0, 0), Err(Exceeded::Steps(10)));
    }

    #[test]
    fn a_run_beside_others_is_stopped_at_its_part() {
        let allotment = Arc::new(Allotment::of_one_in(4));
        let meter = meter(10, 256 << 20).within(Some(allotment.clone()));
        assert_eq!(meter.charge(0, 64 << 20), Ok(()));
        assert!(!allotment.is_used_up());
        assert_eq!(meter.renewed().charge(0, 1), Err(Exceeded::Bytes(256 << 20)));
        assert!(allotment.is_used_up());
        let few = Meter::new(&Limits { memory_floor: 1 << 20, ..Limits::default() });
        let few = few.within(Some(Arc::new(Allotment::of_one_in(64))));
        assert_eq!(few.charge(0, 1 << 20), Ok(()), "little is not divided");
    }

    #[test]
    fn what_is_read_allows_for_more() {
        let meter = meter(10, 100);
        meter.was_read(1_000);
        assert_eq!(meter.charge(0, 64_000), Ok(()));
        assert_eq!(meter.charge(0, 1), Err(Exceeded::Bytes(64_000)));
    }

    #[test]
    fn huge_charges_do_not_wrap() {
        let meter = meter(u64::MAX / 4, 100);
        for _ in 0..5_000 {
            let _ = meter.charge(u64::MAX, 0);
        }
        assert!(meter.charge(1, 0).is_err());
    }

    #[test]
    fn a_tab_is_settled_in_portions() {
        let (meter, tab) = (meter(100_000, 100), Tab::default());
        assert!((0..100_000).all(|_| tab.charge(&meter, 1).is_ok()));
        assert!(meter.steps_left() < 100_000);
        assert!((0..PORTION).any(|_| tab.charge(&meter, 1).is_err()));
    }

    #[test]
    fn a_tab_is_exact_where_few_steps_are_allowed() {
        let (meter, tab) = (meter(3, 100), Tab::default());
        assert!((0..3).all(|_| tab.charge(&meter, 1).is_ok()));
        assert!(tab.charge(&meter, 1).is_err());
    }
}
